// SPDX-License-Identifier: Apache-2.0
// speedscope.mjs FILE...: the table that speedscope's own page shows of each file, as a line of JSON a file:
// [["function", "self", "total"], ...], the figures as it words them.
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { launch } from "./browser.mjs";

const root = join(dirname(createRequire(import.meta.url).resolve("speedscope/package.json")), "dist/release");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".woff2": "font/woff2" };

/** Its page loads modules, which browsers refuse from files. */
function serve() {
    const server = http.createServer((request, response) => {
        const path = request.url === "/" ? "/index.html" : new URL(request.url, "http://x").pathname;
        try {
            const body = readFileSync(join(root, path));
            response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(body);
        } catch {
            response.writeHead(404).end();
        }
    });
    return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

const server = await serve();
const browser = await launch();
for (const path of process.argv.slice(2)) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1800 } });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.setInputFiles('input[type="file"]', path);
    await page.waitForSelector("canvas");
    await page.keyboard.press("3"); // Sandwich
    await page.waitForFunction(() => [...document.querySelectorAll("table tr")].some((row) => row.children.length === 3));
    const rows = (await page.$$eval("table tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent))))
        .filter((cells) => cells.length === 3 && cells[0].includes("%") && cells[1].includes("%")); // not the list of profiles
    console.log(JSON.stringify(rows.map(([total, self, name]) => [name, self, total])));
    await page.close();
}
await browser.close();
server.close();
