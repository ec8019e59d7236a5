// SPDX-License-Identifier: Apache-2.0
// Measures the page on one and ten million samples: measure.mjs [FOLDER]. Times are of this machine; nothing is asserted.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { page as fill } from "./encode.mjs";
import { profile } from "./generate.mjs";

const out = process.argv[2] ?? "/tmp";
mkdirSync(out, { recursive: true });
const template = readFileSync(fileURLToPath(new URL("../dist/page.html", import.meta.url)), "utf8");
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))] ?? 0;

/** Milliseconds since navigation when a mark was set, and when the frame after it was drawn. */
async function marked(page, name) {
    await page.waitForFunction((n) => performance.getEntriesByName(n).length > 0, name, { timeout: 120000 });
    return page.evaluate((n) => performance.getEntriesByName(n)[0].startTime, name);
}

/** Drags a range over the strip, a step a frame, and gathers how long scripts ran in each frame. */
async function frames(page, act) {
    await page.evaluate(() => {
        window.frames_ = [];
        const raf = window.requestAnimationFrame.bind(window);
        window.requestAnimationFrame = (f) => raf((t) => {
            const began = performance.now();
            f(t);
            window.frames_.push(performance.now() - began);
        });
    });
    await act();
    return page.evaluate(() => window.frames_);
}

async function drag(page) {
    const box = await page.locator(".brush").boundingBox();
    const y = box.y + 10;
    await page.mouse.move(box.x + 50, y);
    await page.mouse.down();
    for (let x = 60; x < box.width * 0.8; x += 8) await page.mouse.move(box.x + x, y);
    await page.mouse.up();
}

async function walkAndZoom(page) {
    await page.focus(".twin");
    for (let i = 0; i < 12; i++) {
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        await page.waitForTimeout(160);
    }
    for (let i = 0; i < 6; i++) {
        await page.keyboard.press("Escape");
        await page.waitForTimeout(160);
    }
}

async function measure(samples) {
    const file = join(out, `${samples}.html`);
    const p = profile({ samples });
    writeFileSync(file, fill(template, p));
    const browser = await launch();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`file://${file}`, { waitUntil: "commit" });
    const told = { samples, nodes: p.node.parent.length, rows: p.row.node.length, megabytes: (readFileSync(file).length / 1e6).toFixed(1) };
    told["tree ms"] = Math.round(await marked(page, "tree-drawn"));
    told["time ms"] = Math.round(await marked(page, "time-drawn"));
    told["time arrays MB"] = await page.evaluate(() => Number(document.documentElement.dataset.timeBytes) / 1e6);
    await page.waitForSelector(".labels button");
    told["range ms"] = await page.evaluate(() => new Promise((done) => {
        const began = performance.now();
        const about = document.querySelector(".about");
        const before = about.textContent;
        new MutationObserver(() => about.textContent !== before && requestAnimationFrame(() => done(Math.round(performance.now() - began)))).observe(about, { childList: true });
        location.hash = "r=5000000000-15000000000";
    }));
    const dragged = await frames(page, () => drag(page));
    const walked = await frames(page, () => walkAndZoom(page));
    for (const [name, list] of [["drag", dragged], ["zoom", walked]]) {
        told[`${name}: frames, p50, p95, max ms`] = `${list.length}, ${[0.5, 0.95, 1].map((q) => quantile(list, q).toFixed(1)).join(", ")}`;
    }
    await browser.close();
    console.log(told);
}

for (const samples of process.argv[3] ? [Number(process.argv[3])] : [1_000_000, 10_000_000]) await measure(samples);
