// SPDX-License-Identifier: Apache-2.0
// The page's modules without a DOM, compiled for tests in node.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const source = fileURLToPath(new URL("../src/", import.meta.url));
const MODULES = ["block", "tree", "time", "density", "trie", "model", "derive", "analysis", "layout", "names", "units", "state", "verdict"];

/** All exports of all of them, in one object. */
export async function modules() {
    const folder = mkdtempSync(join(tmpdir(), "sonde-page-"));
    const outfile = join(folder, "all.mjs");
    const contents = MODULES.map((m) => `export * from "./${m}";`).join("\n");
    try {
        await build({ stdin: { contents, resolveDir: source, loader: "ts" }, bundle: true, format: "esm", platform: "neutral", outfile, logLevel: "warning" });
        return await import(pathToFileURL(outfile));
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
