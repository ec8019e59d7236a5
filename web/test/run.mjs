// SPDX-License-Identifier: Apache-2.0
// All tests of the page: its types, its sums, the built file byte for byte, and what a person does with it in a browser.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromiumPath } from "./browser.mjs";

const TOP = fileURLToPath(new URL("..", import.meta.url));
let failed = false;

function run(what, command, args) {
    const { status } = spawnSync(command, args, { cwd: TOP, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) {
        failed = true;
        console.log(`FAILED: ${what}`);
    }
}

function checkBuilt() {
    const folder = mkdtempSync(join(tmpdir(), "sonde-dist-"));
    const fresh = join(folder, "page.html");
    run("build", process.execPath, ["build.mjs", fresh]);
    if (!failed && !readFileSync(fresh).equals(readFileSync(join(TOP, "dist/page.html")))) {
        failed = true;
        console.log("FAILED: dist/page.html is not what its sources build: run `npm run build` in web/ and commit it");
    }
    rmSync(folder, { recursive: true, force: true });
}

run("types", process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."]);
checkBuilt();
const browser = chromiumPath() !== null;
const files = ["model", "hostile", ...(browser ? ["page"] : [])].map((name) => `test/${name}.test.mjs`);
run("tests", process.execPath, ["--test", "--test-concurrency=1", ...files]);
if (!browser) {
    console.log("SKIP: chromium is not installed: the page was not tried in a browser");
    process.exitCode = 77;
}
if (failed || (!browser && process.env.CI === "true")) process.exitCode = 1;
