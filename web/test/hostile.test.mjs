// SPDX-License-Identifier: Apache-2.0
// Blocks that lie, names that deceive, links that make no sense.
import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { modules } from "./compile.mjs";
import { block, column, timeBlock, treeBlock } from "./encode.mjs";
import { profile, random } from "./generate.mjs";

const page = await modules();
const base64 = (bytes) => Buffer.from(gzipSync(bytes)).toString("base64");
const SMALL = { frames: 20, nodes: 60, depth: 9, samples: 200, threads: 3, events: 2, seconds: 1 };

const readTree = (bytes) => page.readTree(page.open(base64(bytes)));
const refused = (promise, about) => assert.rejects(promise, (e) => e instanceof page.BlockError && (!about || about.test(e.message)) || assert.fail(String(e)));

test("numbers of all sizes come back as they were", () => {
    const values = [0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 63];
    for (const name of ["n", "n+"]) {
        const list = name === "n+" ? values.slice(0, -1) : values, out = new Float64Array(list.length);
        page.decode(name, column(name, list), name === "n+", out, 2 ** 64);
        assert.deepEqual([...out], list);
    }
});

test("varints that do not end, or go on too long", () => {
    const decode = (bytes, count) => () => page.decode("x", Uint8Array.from(bytes), false, new Float64Array(count), 2 ** 64);
    for (const bad of [decode([128], 1), decode([1], 2), decode([1, 2], 1), decode(Array(11).fill(255).concat(1), 1), decode([], 1)]) assert.throws(bad, page.BlockError);
});

test("columns that point outside", async () => {
    const wrong = [
        (p) => (p.frame.name[3] = 1e6), (p) => (p.frame.dso[3] = p.strings.length), (p) => (p.frame.grade[0] = 4), (p) => (p.frame.level[0] = 7),
        (p) => (p.node.frame[5] = p.frame.name.length), (p) => (p.row.event[0] = 2), (p) => (p.row.node[0] = p.node.frame.length),
        (p) => p.row.comm.pop(), (p) => p.node.frame.pop(), (p) => delete p.row.period, (p) => (p.events = []), (p) => (p.strings = [1, 2]), (p) => (p.strings = "no"),
    ];
    for (const spoil of wrong) {
        const p = profile(SMALL);
        spoil(p);
        await refused(readTree(treeBlock(p)));
    }
    const one = { "frame.name": [0], "frame.dso": [0], "row.event": [0], "row.comm": [0], "row.node+": [0], "row.samples": [1], "row.period": [1] };
    const before = block("sonde-tree", { strings: [""], events: [{}] }, { ...one, "node.up": [1], "node.frame+": [0] });
    await refused(readTree(before), /before its parent/);
});

test("headers that lie", async () => {
    const whole = treeBlock(profile(SMALL));
    const length = Buffer.from(whole).readUInt32LE(0);
    const changed = (change) => {
        const header = JSON.parse(whole.subarray(4, 4 + length));
        change(header);
        const json = Buffer.from(JSON.stringify(header)), size = Buffer.alloc(4);
        size.writeUInt32LE(json.length);
        return Buffer.concat([size, json, whole.subarray(4 + length)]);
    };
    for (const change of [
        (h) => (h.version = 2), (h) => (h.format = "sonde-time"), (h) => (h.columns[0][1] = 1e9), (h) => (h.columns[0][2] += 1), (h) => (h.columns[0][1] = -1),
        (h) => (h.columns[0][2] = 1e15), (h) => (h.columns = 5), (h) => (h.columns[2] = h.columns[1]), (h) => (h.columns[0] = null), (h) => (h.columns = [["frame.name", 2 ** 27, 2 ** 27]]),
    ]) await refused(readTree(changed(change)));
    await refused(readTree(Buffer.from([255, 255, 255, 255, 1])));
    await refused(readTree(Buffer.from([4, 0, 0, 0, 1, 2, 3, 4])));
    await assert.rejects(page.readTree(page.open("AAAA")));
    await refused((async () => page.readTree(page.open("!not base64!")))());
    await readTree(changed((h) => (h.news = { a: 1 })));
});

test("a block cut anywhere, or with a byte changed, is read or refused, never worse", async () => {
    const p = profile(SMALL), tree = treeBlock(p), time = timeBlock(p), next = random(11);
    const read = await readTree(tree);
    for (let i = 0; i < 400; i++) {
        const bytes = Buffer.from(i % 2 ? tree : time), at = Math.floor(next() * bytes.length);
        const bad = i % 4 < 2 ? bytes.subarray(0, at) : (bytes[at] ^= 1 << Math.floor(next() * 8), bytes);
        try {
            if (i % 2) new page.Model(await readTree(bad));
            else await page.readTime(page.open(base64(bad)), read);
        } catch (error) {
            assert.ok(error instanceof page.BlockError, String(error.stack));
        }
    }
});

test("samples out of order, or of rows that are not there", async () => {
    for (const spoil of [(t) => t.time.reverse(), (t) => (t.row[0] = 1e6), (t) => (t.thread[0] = 3), (t) => (t.time = t.time.slice(1)), (t) => (t.last_ns = "1"), (t) => (t.time[199] = 1e12)]) {
        const p = profile(SMALL), tree = await readTree(treeBlock(p));
        spoil(p.time);
        await refused(page.readTime(page.open(base64(timeBlock(p))), tree));
    }
});

test("a chain a hundred thousand deep", async () => {
    const p = profile(SMALL), deep = 100_000;
    p.node = { parent: Array.from({ length: deep }, (_, i) => i - 1), frame: Array.from({ length: deep }, (_, i) => i % 20) };
    p.row.node = p.row.node.map(() => deep - 1);
    const model = new page.Model(await readTree(treeBlock(p)));
    const a = new page.Analysis(model, [{ event: 0, sums: model.recorded() }], null);
    a.functions();
    a.edges(0);
    assert.ok(a.inverted().trie.size > 1 && a.weighed(true).calls.trie.deepest === deep + 1);
});

test("names are shown as they are, not as they would like to be", () => {
    assert.equal(page.shown("a\u0000b\u202ec\u200bd\u001b[31m\u007f\ufeff"), "a␀b\\u202ec\\u200bd␛[31m␡\\ufeff");
    assert.equal(page.shown("\ud800x"), "\\ud800x");
    assert.equal(page.shown("\u{e0041}x"), "\\u{e0041}x");
    assert.equal(page.shown("naïve::größe<日本>(λ)"), "naïve::größe<日本>(λ)");
    const long = page.shown("begin" + "x".repeat(1e6) + "end");
    assert.ok(long.length <= 201 && long.startsWith("begin") && long.endsWith("end") && long.includes("…"));
});

test("links: what is chosen comes back, nonsense does not", () => {
    const state = {
        ...page.DEFAULTS, view: "diff", event: 2, zoom: [1, 77, 40000], func: 5, search: "a&b=c#/x/", range: { from: 5, to: 1764e6 }, threads: [3, 9], up: true, theme: "dark", sort: "name",
    };
    assert.deepEqual(page.fromHash("#" + page.toHash(state)), state);
    assert.equal(page.toHash(page.DEFAULTS), "");
    const two = page.usualState(2);
    assert.deepEqual([page.usualState(1).view, two.view, page.toHash(two, two), page.toHash(page.DEFAULTS, two)], ["flame", "diff", "", "v=flame"]);
    assert.deepEqual([page.fromHash("", two), page.fromHash("#v=flame", two)], [two, page.DEFAULTS]);
    assert.deepEqual(page.fromHash("#v=evil&e=1e9&z=..-.~&r=9-1&m=constructor&t=x&f=NaN&up=2&__proto__=1"), page.DEFAULTS);
});

test("text of numbers", () => {
    assert.equal(page.whole(1234567), "1,234,567");
    assert.equal(page.percent(1, 3), "33.33%");
    assert.equal(page.percent(1, 1e9), "<0.01%");
    assert.equal(page.percent(0, 0), "–");
    assert.equal(page.large(4567000000), "4.57 G");
    assert.equal(page.large(999600), "1.00 M");
    assert.equal(page.duration(1234567), "1.23 ms");
    assert.equal(page.signedPercent(-0.0123), "−1.23%");
    assert.ok(block("x", {}, {}).length > 4);
});
