// SPDX-License-Identifier: Apache-2.0
// Makes dist/page.html: one file, with hashes of its own style and script in its security policy. `build.mjs OUT` writes elsewhere.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const TOP = dirname(fileURLToPath(import.meta.url));
const LIMIT = 60 * 1024; // compressed
const source = (name) => join(TOP, "src", name);

async function bundled(entry, define = {}) {
    const result = await build({
        entryPoints: [source(entry)], bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8",
        legalComments: "none", define, absWorkingDir: TOP, logLevel: "warning",
    });
    // Inside <script> the text must not end the element, nor begin a comment.
    return result.outputFiles[0].text.trim().replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
}

const worker = await bundled("worker.ts");
const script = await bundled("main.ts", { WORKER_CODE: JSON.stringify(worker) });
const style = await bundled("style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "worker-src blob:", "base-uri 'none'",
    "form-action 'none'"].join("; ");
const parts = { CSP: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(source("page.html"), "utf8").replace(/@(CSP|STYLE|SCRIPT)@/g, (_, part) => parts[part]);
const out = process.argv[2] ?? join(TOP, "dist", "page.html");
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
const size = gzipSync(page, { level: 9 }).length;
console.log(`${page.length} bytes, ${size} compressed`);
if (size > LIMIT) {
    console.error(`the page is larger than ${LIMIT} bytes compressed`);
    process.exit(1);
}
