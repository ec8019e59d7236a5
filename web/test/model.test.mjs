// SPDX-License-Identifier: Apache-2.0
// The page's sums against naive ones, on random profiles, to the last unit.
import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { modules } from "./compile.mjs";
import { timeBlock, treeBlock } from "./encode.mjs";
import { profile, random } from "./generate.mjs";
import { samplesOf, sums } from "./naive.mjs";

const page = await modules();
const base64 = (block) => Buffer.from(gzipSync(block)).toString("base64");

/** A small profile with recursion, several events, periods that differ. */
function small(seed) {
    const p = profile({ seed, frames: 40, nodes: 400, depth: 14, samples: 3000, threads: 7, events: 3, seconds: 2 });
    const next = random(seed + 1000);
    p.time.period = p.time.row.map(() => 1 + Math.floor(next() * 1e6));
    p.row.period.fill(0);
    p.time.row.forEach((r, i) => (p.row.period[r] += p.time.period[i]));
    return p;
}

async function opened(p) {
    const tree = await page.readTree(page.open(base64(treeBlock(p))));
    const time = await page.readTime(page.open(base64(timeBlock(p))), tree);
    const model = new page.Model(tree);
    return { tree, time, model, key: (f) => (f < 0 ? "" : `${model.name(f)}|${model.object(f)}`) };
}

function analysis(o, filter, keep = null) {
    const recorded = !filter.range && !filter.threads && !filter.cpus;
    const summed = recorded ? o.model.recorded() : page.rowSums(o.time, o.tree, filter);
    return new page.Analysis(o.model, [{ event: filter.event, sums: summed }], keep);
}

const plain = (map) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

/** A trie's nodes as {path of functions: sums}. */
function paths(o, trie, w) {
    const path = [""], found = new Map();
    for (let x = 1; x < trie.size; x++) {
        path[x] = path[trie.parent[x]] + (trie.parent[x] ? ">" : "") + o.key(trie.func[x]);
        if (w.samples[x]) found.set(path[x], { samples: w.samples[x], period: w.period[x] });
    }
    return found;
}

function byFunction(o, samples, period) {
    const found = new Map();
    samples.forEach((n, f) => n && found.set(o.key(f), { samples: n, period: period[f] }));
    return found;
}

function compare(o, p, a, naive) {
    const f = a.functions();
    assert.deepEqual(a.total(), naive.all);
    assert.deepEqual(plain(byFunction(o, f.selfSamples, f.selfPeriod)), plain(naive.self));
    assert.deepEqual(plain(byFunction(o, f.samples, f.period)), plain(naive.total));
    const { calls, weights } = a.weighed(false);
    assert.deepEqual(plain(paths(o, calls.trie, weights[0])), plain(naive.path));
    for (let func = 0; func < o.model.funcs.count; func += 5) {
        const pairs = new Map([...a.edges(func).callers.map((e) => [`${o.key(e.func)}>${o.key(func)}`, { samples: e.samples, period: e.period }])]);
        assert.deepEqual(plain(pairs), plain(new Map([...naive.edge].filter(([k]) => k.endsWith(`>${o.key(func)}`)))));
        const callees = new Map([...a.edges(func).callees.map((e) => [`${o.key(func)}>${o.key(e.func)}`, { samples: e.samples, period: e.period }])]);
        assert.deepEqual(plain(callees), plain(new Map([...naive.edge].filter(([k]) => k.startsWith(`${o.key(func)}>`)))));
        for (const line of a.lines(func)) {
            const want = naive.line.get(`${o.key(func)}@${p.strings[line.file]}:${line.line}`);
            assert.deepEqual({ samples: line.samples, period: line.period }, want);
        }
    }
}

for (const seed of [1, 2, 3, 4]) {
    test(`sums equal naive ones, profile ${seed}`, async () => {
        const p = small(seed), o = await opened(p);
        for (let event = 0; event < 3; event++) {
            const range = { from: 300_000_000 * seed, to: 300_000_000 * seed + 777_001_000 };
            compare(o, p, analysis(o, { event }), sums(p, (s) => s.event === event));
            compare(o, p, analysis(o, { event, range }), sums(p, (s) => s.event === event && s.ns >= range.from && s.ns < range.to));
            compare(o, p, analysis(o, { event, range: null, threads: [1, 4], cpus: null }), sums(p, (s) => s.event === event && [1, 4].includes(s.thread)));
            compare(o, p, analysis(o, { event, range, threads: null, cpus: [2] }),
                sums(p, (s) => s.event === event && s.cpu === 2 && s.ns >= range.from && s.ns < range.to));
        }
    });
}

test("a filter by function keeps and leaves out whole stacks; a search counts recursion once", async () => {
    const p = small(5), o = await opened(p);
    for (const text of ["parse", "object:libc", "=" + p.strings[p.frame.name[3]], "/^_/"]) {
        const accepts = page.matcher(text);
        const has = (s) => s.frames.some((f) => accepts(p.strings[p.frame.name[f]], p.strings[p.frame.dso[f]])) || accepts(s.comm, "");
        const match = o.model.matching(accepts), rows = o.model.rowsWith(match);
        const naive = sums(p, (s) => s.event === 1 && has(s));
        compare(o, p, analysis(o, { event: 1 }, rows), naive);
        compare(o, p, analysis(o, { event: 1 }, rows.map((r) => 1 - r)), sums(p, (s) => s.event === 1 && !has(s)));
        const { calls, weights } = analysis(o, { event: 1 }).weighed(true);
        assert.deepEqual(o.model.matched(calls.trie, weights[0], match), naive.all);
    }
});

test("sandwich and turned tree hold the same sums", async () => {
    const p = small(6), o = await opened(p), a = analysis(o, { event: 0 }), f = a.functions();
    const turned = a.inverted();
    for (let x = 1; x < turned.trie.size; x = turned.trie.end[x]) {
        assert.equal(turned.weights[0].period[x], f.selfPeriod[turned.trie.func[x]]);
    }
    for (let func = 0; func < o.model.funcs.count; func++) {
        const up = a.callers(func), down = a.callees(func);
        assert.equal(up.weights[0].period[0], f.period[func]);
        assert.equal(down.weights[0].samples[0], f.samples[func]);
        for (const d of [up, down]) {
            const w = d.weights[0];
            for (let x = 1; x < d.trie.size; x++) {
                let below = w.selfPeriod[x];
                for (let c = x + 1; c < d.trie.end[x]; c = d.trie.end[c]) below += w.period[c];
                assert.equal(below, w.period[x]);
            }
        }
    }
});

test("threads' names as roots", async () => {
    const p = small(7), o = await opened(p), { calls, weights } = analysis(o, { event: 2 }).weighed(true);
    const want = new Map();
    for (const s of samplesOf(p)) if (s.event === 2) want.set(s.comm, (want.get(s.comm) ?? 0) + 1);
    const found = new Map();
    for (let x = 1; x < calls.trie.size; x = calls.trie.end[x]) if (weights[0].samples[x]) found.set(o.model.name(calls.trie.func[x]), weights[0].samples[x]);
    assert.deepEqual(plain(found), plain(want));
});

test("density of lanes adds up to the samples in view", async () => {
    const p = small(8), o = await opened(p), match = o.model.matching(page.matcher("parse"));
    const d = page.density(o.time, { event: 1, by: "thread", columns: 97, view: { from: 0, to: 2e9 + 1000 }, lanes: 3, marked: o.model.rowsWith(match) });
    const all = [...samplesOf(p)].filter((s) => s.event === 1);
    const row = (k, of = d.counts) => of.slice(k * 97, k * 97 + 97).reduce((a, b) => a + b, 0);
    assert.equal(row(0), all.length);
    d.keys.forEach((thread, lane) => assert.equal(row(lane + 1), all.filter((s) => s.thread === thread).length));
    assert.ok(d.keys.length === 3 && d.lanesInAll === 7 && row(0, d.marked) <= all.length);
});

test("a time block of buckets", async () => {
    const p = small(9);
    const t = p.time;
    const exact = sums(p, (s) => s.event === 0);
    const order = [...t.row.keys()].sort((a, b) => p.row.event[t.row[a]] - p.row.event[t.row[b]] || t.time[a] - t.time[b]);
    p.time = {
        ...t, buckets: 1000, bucket: order.map((i) => Math.floor(t.time[i] / 2001)), row: order.map((i) => t.row[i]), thread: order.map((i) => t.thread[i]),
        samples: order.map(() => 1), period: order.map((i) => t.period[i]),
    };
    const o = await opened(p);
    assert.equal(o.time.buckets, 1000);
    const a = analysis(o, { event: 0, range: { from: 0, to: 4e9 }, threads: null, cpus: null });
    assert.deepEqual(a.total(), exact.all);
});

test("a difference is by shares", () => {
    const d = (a, b) => page.difference(a, b, 1000, 2000, false);
    assert.equal(d(0, 0).relative, 0);
    assert.equal(d(0, 10).relative, 1);
    assert.equal(d(10, 0).relative, -1);
    assert.equal(d(10, 20).relative, 0);
    assert.equal(page.difference(10, 30, 1000, 2000, true).relative, 0.5);
});

test("what is proved: functions that were compared as one are one, from either side", async () => {
    const p = small(10), plain = await opened(p);
    const at = (f) => [plain.model.funcs.name[f], plain.model.funcs.dso[f]];
    const row = [0.1, 0.3, 0.15, 0.25, 3];
    p.verdicts = [{ base: 0, new: 2, level: 0.95, rows: [row, [0.2, 0.1, null, null, 0]], functions: [...at(3), 0, ...at(5), 0, ...at(7), 1] }];
    const { model } = await opened(p);
    assert.equal(model.funcs.count, plain.model.funcs.count - 1);
    const func = (f) => [...model.funcs.name.keys()].find((x) => model.funcs.name[x] === at(f)[0] && model.funcs.dso[x] === at(f)[1]);
    assert.ok(func(3) !== undefined && func(5) === undefined && func(8) !== undefined);
    const self = (m, e, f) => new page.Analysis(m, [{ event: e, sums: m.recorded() }], null).functions().selfPeriod[f];
    for (const e of [0, 2]) assert.equal(self(model, e, func(3)), self(plain.model, e, 3) + self(plain.model, e, 5));
    assert.deepEqual(model.judged(0, 2)[func(3)], { base: 0.1, now: 0.3, low: 0.15, high: 0.25, says: page.MORE });
    assert.deepEqual(model.judged(2, 0)[func(3)], { base: 0.3, now: 0.1, low: -0.25, high: -0.15, says: page.LESS });
    assert.equal(model.judged(0, 2)[func(7)].says, page.FEW);
    assert.equal(page.intervalText(model.judged(0, 2)[func(7)]), "");
    assert.equal(model.judged(0, 2)[func(8)], null);
    assert.equal(model.judged(0, 1), null);
    assert.ok(page.isProved(model.judged(2, 0)[func(3)]) && !page.isProved(null) && !page.isProved(model.judged(0, 2)[func(7)]));
});

test("verdicts that mean nothing are left out", async () => {
    for (const verdicts of [null, 7, "x", [null], [{ base: 9, new: 0 }], [{ base: 0, new: -1 }], [{ base: 0, new: 1, rows: 3, functions: {} }],
        [{ base: 0, new: 1, rows: [[1]], functions: [1e9, 0, 0, 0, 0, 7, 1.5, 0, 0, "0", 0, 0, 1, 1] }], [{ base: 0, new: 1, rows: ["<b>"], functions: [1, 0, 0] }]]) {
        const p = small(11);
        p.verdicts = verdicts;
        const { model, tree } = await opened(p);
        for (const v of tree.verdicts) assert.ok(v.rows.every((r) => r.says === page.FEW) && v.functions.length <= 3);
        model.judged(0, 1);
    }
    const many = page.verdicts([{ base: 0, new: 1, rows: new Array(100000).fill([]), functions: new Array(300000).fill(0) }], 2, 1)[0];
    assert.ok(many.rows.length === 4000 && many.functions.length === 48000);
});

test("cells of a frame: never more than the limit, never wider than the window's siblings allow", async () => {
    const p = profile({ seed: 3, frames: 3000, nodes: 30000, samples: 60000 }), o = await opened(p);
    const { calls, weights } = analysis(o, { event: 0 }).weighed(false);
    for (const order of ["weight", "name"]) {
        const shape = new page.Shape(calls.trie, weights[0].period, order, (f) => o.model.name(f));
        for (const pixels of [300, 1280, 20000]) {
            const cells = new page.Cells();
            page.layout(shape, { from: 0, to: 1, pixels, top: 0, bottom: 500 }, cells);
            assert.ok(cells.count > 50 && cells.count <= page.MOST_CELLS);
            const rows = new Map();
            for (let i = 0; i < cells.count; i++) rows.set(cells.depth[i], (rows.get(cells.depth[i]) ?? 0) + cells.w[i]);
            for (const sum of rows.values()) assert.ok(sum <= pixels * 1.0001);
        }
        const node = 1 + Math.floor(calls.trie.size / 2), place = shape.place(node);
        assert.ok(Math.abs(place.to - place.from - weights[0].period[node] / weights[0].period[0]) < 1e-12);
        if (weights[0].period[node]) assert.equal(shape.follow(shape.path(node)), node);
    }
});
