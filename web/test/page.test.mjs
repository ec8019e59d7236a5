// SPDX-License-Identifier: Apache-2.0
// The built page in Chromium, as a person uses it: by mouse, by keyboard alone, on a phone, with data that means harm.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { fill, page as filled, timeBlock, treeBlock } from "./encode.mjs";
import { profile } from "./generate.mjs";
import { sums } from "./naive.mjs";

const template = readFileSync(fileURLToPath(new URL("../dist/page.html", import.meta.url)), "utf8");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "sonde-page-"));
const SHAPE = { seed: 12, frames: 300, nodes: 3000, depth: 30, samples: 20000, threads: 9, seconds: 4 };
const one = profile(SHAPE);
const two = profile({ ...SHAPE, events: 2, recordings: ["before.data", "after.data"] });
let browser;

const saved = (name, html) => {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, html);
    return `file://${path}`;
};
const urls = { one: saved("one", filled(template, one)), two: saved("two", filled(template, two)) };

before(async () => {
    browser = await launch();
});
after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
});

/** Opens a page; whatever it complains of, or asks the network for, fails the test. */
async function open(url, { width = 1280, height = 800, scheme = "light", ready = ".labels button" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    const trouble = [];
    page.on("pageerror", (e) => trouble.push(e.message));
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && trouble.push(m.text()));
    page.on("dialog", (d) => trouble.push(`dialog ${d.message()}`) && d.dismiss());
    page.on("request", (r) => /^(file|blob):/.test(r.url()) || trouble.push(`request ${r.url().slice(0, 100)}`));
    await page.goto(url);
    if (ready) await page.waitForSelector(ready);
    const close = async () => {
        assert.deepEqual(trouble, []);
        await context.close();
    };
    return { page, close };
}

const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const text = (page, selector) => page.locator(selector).first().innerText();
/** Until what is shown says so: the sums come from a worker. */
const until = (page, selector, part) => page.locator(selector, { hasText: part }).first().waitFor();
const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (part, all) => `${((100 * part) / all).toFixed(2)}%`;

test("opens: title, sums, a drawn graph; the table says what a naive reading says", async () => {
    const { page, close } = await open(`${urls.one}#v=table`);
    assert.equal(await page.title(), "ninja -j8 all");
    await until(page, ".about", "20,000 samples");
    const naive = sums(one, () => true);
    const best = [...naive.self].sort((a, b) => b[1].samples - a[1].samples)[0];
    const [name, object] = best[0].split("|");
    const cells = await page.locator('.rows [role="row"]').first().locator('[role="gridcell"]').allInnerTexts();
    assert.deepEqual(cells, [percent(best[1].samples, 20000), percent(naive.total.get(best[0]).samples, 20000), count(best[1].samples),
        count(naive.total.get(best[0]).samples), cells[4], cells[5], name || "[unknown]", object]);
    await page.keyboard.press("1");
    await page.waitForSelector(".flame canvas");
    await settled(page);
    const drawn = await page.evaluate(() => {
        const canvas = document.querySelector(".flame canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    });
    assert.ok(drawn > 20, `${drawn} colours`);
    await close();
});

test("zooms by click and back; the link brings it back, and so does the browser's own button", async () => {
    const { page, close } = await open(urls.one);
    const box = await page.locator(".flame").boundingBox();
    await page.mouse.move(box.x + 100, box.y + 50);
    await page.waitForSelector(".tooltip:not([hidden])");
    assert.match(await text(page, ".tooltip"), /samples\s+cycles\s+of all\s+total/);
    await page.mouse.click(box.x + 100, box.y + 50);
    const zoom = hash(page).get("z");
    assert.equal(zoom.split(".").length, 2);
    assert.equal(await page.locator(".crumbs li").count(), 3);
    const chosen = await text(page, ".inspector strong");
    await page.reload();
    await page.waitForSelector(".labels button");
    assert.equal(await page.locator(".crumbs li").count(), 3);
    assert.equal(await text(page, ".inspector strong"), chosen);
    await page.locator(".crumbs button").first().click();
    assert.equal(hash(page).get("z"), null);
    await page.goBack();
    await page.waitForSelector(".crumbs li");
    assert.equal(hash(page).get("z"), zoom);
    await close();
});

test("a brushed range filters everything, exactly", async () => {
    const { page, close } = await open(`${urls.one}#v=table`);
    const box = await page.locator(".brush").boundingBox();
    await page.mouse.move(box.x + box.width * 0.2, box.y + 15);
    await page.mouse.down();
    for (let k = 2; k <= 6; k++) await page.mouse.move(box.x + box.width * k * 0.1, box.y + 15);
    await page.mouse.up();
    const [from, to] = hash(page).get("r").split("-").map(Number);
    const naive = sums(one, (s) => s.ns >= from && s.ns < to);
    await until(page, ".about", `${count(naive.all.samples)} samples`);
    const best = [...naive.self].map(([, v]) => v.samples).sort((a, b) => b - a)[0];
    await until(page, '.rows [role="row"]', percent(best, naive.all.samples));
    await page.locator(".labels button").first().click();
    await page.waitForSelector(".chip");
    const thread = parseInt(hash(page).get("tid"), 36);
    await until(page, ".about", `${count(sums(one, (s) => s.ns >= from && s.ns < to && s.thread === thread).all.samples)} samples`);
    await page.locator(".chip").click();
    await page.locator(".stripbar .link", { hasText: "clear" }).click();
    await until(page, ".about", "20,000 samples");
    await close();
});

test("searches: the share counts recursion once; only and without", async () => {
    const { page, close } = await open(urls.one);
    await page.keyboard.press("/");
    await page.keyboard.type("parse");
    const found = sums(one, (s) => s.frames.some((f) => one.strings[one.frame.name[f]].includes("parse"))).all.samples;
    await until(page, ".found", percent(found, 20000));
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(await text(page, ".inspector strong"), /parse/);
    const first = await page.locator('.twin [aria-selected="true"]').getAttribute("id");
    await page.keyboard.press("n");
    assert.notEqual(await page.locator('.twin [aria-selected="true"]').getAttribute("id"), first);
    await page.keyboard.press("N");
    assert.equal(await page.locator('.twin [aria-selected="true"]').getAttribute("id"), first);
    const name = await text(page, ".inspector strong");
    await page.locator(".acts button", { hasText: "Without" }).click();
    const left = sums(one, (s) => !s.frames.some((f) => one.strings[one.frame.name[f]] === name)).all.samples;
    await until(page, ".about", `${count(left)} samples`);
    await close();
});

test("everything by keyboard alone", async () => {
    const { page, close } = await open(urls.two);
    const press = async (...keys) => {
        for (const key of keys) await page.keyboard.press(key);
        await settled(page);
    };
    const selected = () => page.locator('.twin [aria-selected="true"]').first();
    await press("g", "ArrowDown", "ArrowDown");
    assert.equal(await selected().getAttribute("aria-level"), "3");
    await press("l", "h", "k", "j", "Enter");
    assert.equal(hash(page).get("z").split(".").length, 2);
    await press("Escape");
    assert.equal(hash(page).get("z"), null);
    await press("?");
    assert.ok(await page.locator("dialog[open]").isVisible());
    await press("Escape");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await press("r", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "+");
    assert.ok(hash(page).get("r"));
    await press("z");
    assert.equal(hash(page).get("tz"), hash(page).get("r"));
    await press("z");
    assert.equal(hash(page).get("tz"), null);
    await press("Escape");
    assert.equal(hash(page).get("r"), null);
    await press("2", "g", "ArrowDown", "ArrowDown", "Enter");
    assert.equal(hash(page).get("v"), "function");
    await press("3");
    assert.equal(hash(page).get("v"), "sandwich");
    assert.ok(await page.locator(".sandwich .title strong").isVisible());
    await press("5");
    await page.waitForSelector('.diff .rows [role="row"]');
    await press("t", "m", "i", "u", "w", "o");
    const now = hash(page);
    assert.deepEqual(["t", "m", "inv", "up", "comm", "o"].map((k) => now.get(k)), ["light", "samples", "1", "1", "1", "name"]);
    await press("e");
    assert.equal(hash(page).get("e"), "1");
    await press("1", "Tab");
    assert.ok(await page.evaluate(() => document.activeElement !== document.body));
    await close();
});

test("a sandwich's halves and the function page agree with the table", async () => {
    const { page, close } = await open(`${urls.one}#v=sandwich`);
    const name = await text(page, ".sandwich .title strong");
    const total = (await text(page, ".sandwich .title")).match(/total (\S+)/)[1];
    assert.ok((await page.locator('.sandwich .half:first-child [role="treeitem"]').allInnerTexts()).some((t) => t.startsWith(`${name} `)) || name);
    await page.keyboard.press("4");
    await until(page, ".function .title h2", name);
    assert.equal(await text(page, ".function .number:last-child strong"), total);
    await close();
});

test("a comparison: shares, and what changed most", async () => {
    const { page, close } = await open(urls.two); // what two recordings begin with
    await page.waitForSelector('.diff .rows [role="row"]');
    const [a, b] = [0, 1].map((event) => sums(two, (s) => s.event === event));
    const share = (s, k) => (s.self.get(k)?.samples ?? 0) / s.all.samples;
    const most = [...new Set([...a.self.keys(), ...b.self.keys()])].map((k) => share(b, k) - share(a, k)).sort((x, y) => Math.abs(y) - Math.abs(x))[0];
    assert.equal((await text(page, '.diff .rows [role="row"]')).split("\n")[0], `${most < 0 ? "−" : "+"}${(100 * Math.abs(most)).toFixed(2)}%`);
    await page.locator(".segmented button", { hasText: "Amounts" }).click();
    assert.equal(hash(page).get("abs"), "1");
    await close();
});

test("a comparison that was judged: proved or not, and both sides in the strip", async () => {
    const p = profile({ ...SHAPE, events: 2, recordings: ["before.data", "after.data"] });
    const [a, b] = [0, 1].map((event) => sums(p, (s) => s.event === event));
    const share = (s, k) => (s.self.get(k)?.samples ?? 0) / s.all.samples;
    const names = [...new Set([...a.self.keys(), ...b.self.keys()])];
    const least = names.sort((x, y) => Math.abs(share(b, x) - share(a, x)) - Math.abs(share(b, y) - share(a, y)))[0];
    const f = [...p.frame.name.keys()].find((i) => `${p.strings[p.frame.name[i]]}|${p.strings[p.frame.dso[i]]}` === least);
    p.verdicts = [{ base: 0, new: 1, level: 0.95, rows: [[0.1, 0.2, 0.05, 0.15, 3]], functions: [p.frame.name[f], p.frame.dso[f], 0] }];
    const { page, close } = await open(`${saved("judged", filled(template, p))}#v=diff`);
    await page.waitForSelector('.diff .rows [role="row"]');
    const first = await text(page, '.diff .rows [role="row"]');
    assert.ok(first.includes("more") && first.includes("+5.00% to +15.00%") && first.includes(least.split("|")[0]), first);
    await page.waitForSelector(".strip .sides span");
    assert.equal((await page.locator(".strip .sides span").allInnerTexts()).join(), "A,B");
    const lanes = await page.locator(".strip .labels button").allInnerTexts();
    assert.ok(lanes.some((l) => l.startsWith("A ")) && lanes.some((l) => l.startsWith("B ")), lanes.join());
    await page.locator(".segmented button", { hasText: "Amounts" }).click();
    await until(page, ".diff .bar .note", /told of whole recordings/);
    assert.ok(!(await page.locator(".diff .rows").innerText()).includes("+5.00% to"));
    await page.keyboard.press("1");
    await page.waitForFunction(() => document.querySelectorAll(".strip .sides span").length === 0);
    await close();
});

const EVIL = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "safe\u202egnp.exe", "nul\u0000\u001b[31m\u200bend", "M".repeat(1 << 20),
    "${window.hacked=1}", "__proto__", "constructor", "]]><!--", "\ud800"];

test("names that mean harm are only text", async () => {
    const p = profile({ ...SHAPE, samples: 3000, title: EVIL[0] });
    const fresh = EVIL.map((name) => p.strings.push(name) - 1);
    p.frame.name = p.frame.name.map((n, i) => (i < 60 ? fresh[i % fresh.length] : n));
    p.frame.dso = p.frame.dso.map((n, i) => (i < 60 ? fresh[(i + 3) % fresh.length] : n));
    p.thread.comm = p.thread.comm.map((c, i) => fresh[i % fresh.length]);
    p.frame.why = p.frame.why.map(() => fresh[1]);
    p.recordings[0].host = EVIL[1];
    p.notes = EVIL;
    for (const view of ["flame", "table", "sandwich", "function"]) {
        const { page, close } = await open(`${saved("evil", filled(template, p))}#v=${view}&q=${encodeURIComponent("</script>")}`);
        await page.keyboard.press("g");
        await page.keyboard.press("ArrowDown");
        await page.mouse.move(400, 500);
        await settled(page);
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        assert.equal(await page.locator("img").count(), 0);
        const all = await page.evaluate(() => document.body.innerText);
        assert.doesNotMatch(all, /[\u202e\u200b\u0000\u001b]/);
        assert.ok(all.length < 300000, `${all.length} characters`);
        await close();
    }
});

test("broken blocks: one line, no exception", async () => {
    const [tree, time] = [gzipSync(treeBlock(one)), gzipSync(timeBlock(one))];
    const cases = {
        "no profile": [{}, ".message", "no profile in it"],
        "not gzip": [{ "sonde-tree": Buffer.from("hello") }, ".message", "tree block cannot be read"],
        "tree cut": [{ "sonde-tree": tree.subarray(0, tree.length / 2) }, ".message", "tree block cannot be read"],
        "time cut": [{ "sonde-tree": tree, "sonde-time": time.subarray(0, time.length / 2) }, ".notes", "time block cannot be read"],
        "time not gzip": [{ "sonde-tree": tree, "sonde-time": Buffer.from("<b>hi</b>") }, ".notes", "time block cannot be read"],
    };
    for (const [name, [blocks, selector, part]] of Object.entries(cases)) {
        const { page, close } = await open(saved("broken", fill(template, name, blocks)), { ready: null });
        await until(page, selector, part);
        if (blocks["sonde-time"]) assert.ok(await page.locator(".flame").isVisible());
        await close();
    }
    const { page, close } = await open(saved("still", fill(template, "no time", { "sonde-tree": tree })), { ready: ".flame" });
    assert.ok(await page.locator(".strip").isHidden());
    await close();
});

/** axe-core through the debugger: the page's own policy forbids to add a script. */
async function findings(page) {
    const session = await page.context().newCDPSession(page);
    const ask = async (expression) => (await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;
    await ask(`${axe}; true`);
    return ask("axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + n.failureSummary).join(' | ')))");
}

for (const [size, width, height] of [["wide", 1280, 800], ["phone", 390, 844]]) {
    for (const scheme of ["light", "dark"]) {
        test(`axe-core finds nothing, and nothing sticks out: ${size}, ${scheme}`, async () => {
            for (const view of ["flame", "flame&q=parse&r=1000000000-2000000000&f=3&only=e", "table", "sandwich", "function", "diff"]) {
                const { page, close } = await open(`${urls.two}#v=${view}`, { width, height, scheme });
                await settled(page);
                assert.deepEqual(await findings(page), [], view);
                assert.deepEqual(await page.evaluate(() => [document.scrollingElement.scrollWidth, document.scrollingElement.scrollHeight]), [width, height]);
                await close();
            }
            const { page, close } = await open(urls.one, { width, height, scheme });
            await page.keyboard.press("?");
            assert.deepEqual(await findings(page), []);
            await close();
        });
    }
}
