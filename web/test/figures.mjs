// SPDX-License-Identifier: Apache-2.0
// figures.mjs PAGE.html...: what each page's table of functions shows, read from its DOM, as a line of JSON a page:
// {"event": [["function", "object", self period, total period], ...], ...}.
import { launch } from "./browser.mjs";

/** Runs in the page: all rows of the table in sight, which it draws as it is scrolled. */
async function rows() {
    const grid = [...document.querySelectorAll('[role="grid"]')].find((g) => g.offsetParent);
    const heads = [...grid.querySelectorAll('[role="columnheader"]')].map((c) => c.textContent.replace(/ [↓↑]$/, ""));
    const at = (name) => heads.indexOf(name);
    const exact = (cell) => Number(cell.title.replace(/\D/g, ""));
    const found = new Map();
    for (let y = 0; y <= grid.scrollHeight; y += 200) {
        grid.scrollTop = y;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        for (const row of grid.querySelectorAll('.rows [role="row"]')) {
            const cells = row.children;
            found.set(row.getAttribute("aria-rowindex"), [
                cells[at("function")].textContent, cells[at("object")].textContent, exact(cells[at("self period")]), exact(cells[at("total period")]),
            ]);
        }
    }
    return [...found.values()];
}

const browser = await launch();
for (const path of process.argv.slice(2)) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(`file://${path}`);
    await page.waitForSelector(".flame canvas");
    await page.keyboard.press("2");
    const events = await page.$$eval("select option", (list) => list.map((o) => o.textContent));
    const result = {};
    for (let i = 0; i < Math.max(1, events.length); i++) {
        await page.waitForFunction((n) => (document.querySelector("select")?.selectedIndex ?? 0) === n, i);
        result[events[i] ?? ""] = await page.evaluate(rows);
        await page.keyboard.press("e");
    }
    console.log(JSON.stringify(result));
    await page.close();
}
await browser.close();
