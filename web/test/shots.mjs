// SPDX-License-Identifier: Apache-2.0
// Takes screenshots of every view: shots.mjs FOLDER [PAGE]. For eyes, not for comparing.
import { mkdirSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { page as fill } from "./encode.mjs";
import { profile } from "./generate.mjs";

const out = process.argv[2] ?? "shots";
const only = process.argv[3];
mkdirSync(out, { recursive: true });
const template = readFileSync(fileURLToPath(new URL("../dist/page.html", import.meta.url)), "utf8");
const one = join(out, "one.html");
const two = join(out, "two.html");
writeFileSync(one, fill(template, profile({ samples: 200000 })));
writeFileSync(two, fill(template, profile({ samples: 100000, frames: 900, nodes: 6000, events: 2, recordings: ["before.data", "after.data"], seed: 4 })));
const SCENES = [
    ["flame", one, "", 0], ["zoomed", one, "", 2], ["search", one, "q=parse_declaration", 0], ["range", one, "r=6000000000-14000000000", 1],
    ["grade", one, "c=grade", 0], ["kind", one, "c=kind&up=1", 0], ["callers", one, "inv=1", 0], ["comm", one, "comm=1&tall=1", 0], ["table", one, "v=table", 0],
    ["sandwich", one, "v=sandwich&f=a", 0], ["function", one, "v=function&f=a", 0], ["diff", two, "v=diff", 0], ["help", one, "", 0],
];
const browser = await launch();
for (const [size, width, height] of [["wide", 1280, 800], ["phone", 390, 844]]) {
    for (const scheme of ["light", "dark"]) {
        const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: size === "phone" ? 2 : 1 });
        for (const [name, file, hash, downs] of SCENES) {
            if (only && !name.match(only)) continue;
            const page = await context.newPage();
            page.on("pageerror", (e) => console.log(name, e.message));
            page.on("console", (m) => console.log(name, m.text()));
            await page.goto(`file://${file.startsWith("/") ? "" : process.cwd() + "/"}${file}#${hash}`);
            await page.waitForSelector(".strip:not([hidden]) .labels button");
            if (downs) {
                await page.focus(".twin");
                for (let i = 0; i < downs; i++) await page.keyboard.press("ArrowDown");
                if (name === "zoomed") await page.keyboard.press("Enter");
            }
            if (name === "flame" && size === "wide") await page.mouse.move(300, 330);
            if (name === "help") await page.keyboard.press("?");
            await page.waitForTimeout(350);
            await page.screenshot({ path: join(out, `${size}-${scheme}-${name}.png`) });
            await page.close();
        }
        await context.close();
    }
}
await browser.close();
