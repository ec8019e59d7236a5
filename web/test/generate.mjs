// SPDX-License-Identifier: Apache-2.0
// Profiles for tests: random but seeded, shaped like a build of a compiler: few hot paths, many thin ones, threads that come and go.

/** A small generator of random numbers in [0, 1): the same for the same seed everywhere. */
export function random(seed) {
    let a = seed >>> 0;
    return () => {
        a = (a + 0x6d2b79f5) >>> 0;
        let t = Math.imul(a ^ (a >>> 15), a | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const OBJECTS = [
    { dso: "cc1plus", level: 0, share: 0.46, space: ["", "cp_parser_", "gimple_", "tree_", "cpp_", "rtx_", "df_", "ira_", "lra_"] },
    { dso: "[kernel.kallsyms]", level: 1, share: 0.2, space: ["", "do_", "__x64_sys_", "ext4_", "mem_cgroup_", "tcp_", "sched_", "vfs_"] },
    { dso: "libc.so.6", level: 0, share: 0.08, space: ["_int_", "__libc_", "_IO_", "__mem", "str"] },
    { dso: "libstdc++.so.6.0.33", level: 0, share: 0.06, space: ["std::string::", "std::__detail::_", "std::locale::"] },
    { dso: "python3.11", level: 0, share: 0.08, space: ["_PyEval_", "PyObject_", "_PyDict_", "list_", "unicode_"] },
    { dso: "libLLVM-18.so.1", level: 0, share: 0.07, space: ["llvm::SelectionDAG::", "llvm::InstCombiner::", "llvm::MCStreamer::"] },
    { dso: "[JIT] tid 4711", level: 5, share: 0.03, space: ["LazyCompile:*", "RegExp:", "Builtin:"] },
    { dso: "ld-linux-x86-64.so.2", level: 0, share: 0.02, space: ["_dl_", "do_"] },
];
const VERBS = ["parse", "lookup", "fold", "walk", "emit", "lower", "visit", "alloc", "free", "hash", "copy", "scan", "resolve", "merge",
    "insert", "expand", "schedule", "propagate", "read", "write", "fault", "map", "split", "reload", "canonicalize"];
const NOUNS = ["expression", "statement", "declaration", "type", "token", "page", "range", "node", "entry", "block", "edge", "operand",
    "constant", "symbol", "inode", "buffer", "pattern", "register", "loop", "insn", "scope", "template_args", "specialization", "slot"];
const WHY = ["", "symbol table of the file with the recorded build-id", "no build-id recorded; same inode and mtime",
    "file replaced after the recording: build-id differs", "address in no known mapping"];

/** Functions with names, spread over objects; most have a few source lines, so there are more frames than functions. */
function frames(count, next, strings) {
    const intern = new Map(strings.map((s, i) => [s, i]));
    const id = (s) => intern.get(s) ?? (intern.set(s, strings.length), strings.push(s) - 1);
    const frame = { name: [], dso: [], file: [], line: [], level: [], grade: [], why: [] };
    while (frame.name.length < count) {
        let pick = next(), o = 0;
        while (o < OBJECTS.length - 1 && pick > OBJECTS[o].share) pick -= OBJECTS[o++].share;
        const { dso, level, space } = OBJECTS[o], choose = (list) => list[Math.floor(next() * list.length)];
        let name = choose(space) + choose(VERBS) + "_" + choose(NOUNS) + (next() < 0.6 ? "_" + choose(NOUNS) : "");
        if (dso === "libLLVM-18.so.1") name += `(llvm::${choose(NOUNS)}&, unsigned int)`;
        const g = next(), grade = g < 0.86 ? 0 : g < 0.93 ? 1 : g < 0.96 ? 2 : 3;
        const file = level === 0 && grade === 0 ? id(`/src/${dso.split(".")[0]}/${choose(NOUNS)}.cc`) : 0;
        const lines = file ? 1 + Math.floor(next() * 3) : 1, first = 20 + Math.floor(next() * 3000);
        for (let k = 0; k < lines && frame.name.length < count; k++) {
            frame.name.push(grade === 3 ? 0 : id(name));
            frame.dso.push(id(dso));
            frame.file.push(file);
            frame.line.push(file ? first + 7 * k : 0);
            frame.level.push(level === 0 && next() < 0.08 ? 6 : level);
            frame.grade.push(grade);
            frame.why.push(id(WHY[grade + 1]));
        }
    }
    return { frame, id };
}

/** Frames in the order in which they call each other: programs first, then libraries, the kernel last. */
function layered(frame) {
    const rank = new Map(["cc1plus", "python3.11", "libLLVM-18.so.1", "[JIT] tid 4711", "ld-linux-x86-64.so.2", "libstdc++.so.6.0.33", "libc.so.6",
        "[kernel.kallsyms]"].map((dso, i) => [dso, i]));
    return (strings) => {
        const order = frame.dso.map((dso, i) => [rank.get(strings[dso]), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);
        for (const key of Object.keys(frame)) frame[key] = order.map((i) => frame[key][i]);
    };
}

/** Random walks over a random call graph, until there are `nodes` nodes: parents come before children. Most walks take the
    same few ways, some stray: so there are hot paths and many thin ones. */
function walks(shape, next, frameCount) {
    const reach = frameCount / 7;
    const callees = Array.from({ length: frameCount }, (_, f) => Array.from({ length: 1 + Math.floor(next() * 5) }, () =>
        next() < 0.03 ? f : Math.min(frameCount - 1, f + 1 + Math.floor(next() ** 2 * reach))));
    const stop = Array.from({ length: frameCount }, (_, f) => 0.1 + 0.6 * next() ** 1.5 + 0.3 * (f / frameCount) ** 4);
    const parent = [], frame = [], child = new Map(), end = new Map();
    const step = (up, f) => {
        const key = (up + 1) * frameCount + f;
        let node = child.get(key);
        if (node === undefined) {
            node = parent.push(up) - 1;
            frame.push(f);
            child.set(key, node);
        }
        return node;
    };
    for (let guard = 0; parent.length < shape.nodes && guard < shape.nodes * 40; guard++) {
        let f = Math.floor(next() ** 3 * Math.min(4, frameCount)), node = -1;
        for (let d = 0; d < shape.depth && parent.length < shape.nodes; d++) {
            node = step(node, f);
            if (next() < stop[f]) break;
            const stray = next() < 0.12 + 0.03 * d;
            f = stray ? Math.min(frameCount - 1, f + Math.floor(next() * reach)) : callees[f][Math.floor(next() ** 2 * callees[f].length)];
        }
        if (node >= 0) end.set(node, (end.get(node) ?? 0) + 1);
    }
    return { parent, frame, ends: [...end] };
}

const DEFAULT = { seed: 1, frames: 9500, nodes: 74000, depth: 80, samples: 1_000_000, threads: 24, cpus: 8, events: 1, seconds: 30, time: true };

/** Rows (event, comm, node), with how likely each is, and for each event and comm the sums to draw from. */
function rows(ends, comms, shape, next) {
    const row = { event: [], comm: [], node: [], samples: [], period: [] }, draw = [];
    for (let e = 0; e < shape.events; e++) {
        draw.push(comms.map(() => ({ rows: [], sums: [], sum: 0 })));
        ends.forEach(([node, many], i) => {
            const c = i % 7 < 3 ? 0 : i % comms.length, d = draw[e][c];
            d.rows.push(row.event.push(e) - 1);
            row.comm.push(comms[c]);
            row.node.push(node);
            row.samples.push(0);
            row.period.push(0);
            d.sums.push(d.sum += many ** 0.75 * (e && i % 5 === 0 ? 3 : 1));
        });
    }
    return { row, draw };
}

function drawRow(d, next) {
    const x = next() * d.sum;
    let low = 0, high = d.sums.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (d.sums[middle] < x) low = middle + 1;
        else high = middle;
    }
    return d.rows[low];
}

/** When which thread runs: bursts of each its own length. */
function schedule(shape, next) {
    return Array.from({ length: shape.threads }, (_, i) => {
        const start = i < 4 ? 0 : next() * 0.8, end = i < 4 ? 1 : Math.min(1, start + 0.1 + next() * 0.4);
        return { start, end, beat: 5 + next() * 40, duty: 0.35 + next() * 0.6 };
    });
}

/** Samples do not come evenly: machines idle at times. */
function warped(x) {
    return x + 0.06 * Math.sin(2 * Math.PI * x) / 2 + 0.3 * Math.sin(2 * Math.PI * 7 * x) / (2 * Math.PI * 7) + 0.15 * Math.sin(2 * Math.PI * 31 * x) / (2 * Math.PI * 31);
}

function samples(p, shape, draw, threadComm, next) {
    const each = Math.floor(shape.samples / shape.events), total = each * shape.events;
    const time = new Float64Array(total), row = new Uint32Array(total), thread = new Uint32Array(total), cpu = new Uint32Array(total);
    const plan = schedule(shape, next), span = shape.seconds * 1e6;
    for (let i = 0; i < total; i++) {
        const e = Math.floor(i / each), x = (i % each) / each;
        let t = Math.floor(next() * shape.threads);
        for (let k = 0; k < 8; k++, t = (t + 1) % shape.threads) {
            const s = plan[t];
            if (x >= s.start && x < s.end && (x * s.beat) % 1 < s.duty) break;
        }
        time[i] = Math.floor(warped(x) * span);
        thread[i] = t;
        cpu[i] = 1 + (t * 5 + Math.floor(x * 40)) % shape.cpus;
        row[i] = drawRow(draw[e][threadComm[t]], next);
        p.row.samples[row[i]]++;
        p.row.period[row[i]] += 1000000;
    }
    return { first_ns: "1764000000000000000", last_ns: String(1764000000000000000n + BigInt(span) * 1000n), time, row, thread, cpu };
}

/** A whole profile of the given shape; only rows that got samples stay. */
export function profile(wanted = {}) {
    const shape = { ...DEFAULT, ...wanted }, next = random(shape.seed);
    const strings = [""], { frame, id } = frames(shape.frames, next, strings);
    layered(frame)(strings);
    const { parent, frame: nodeFrame, ends } = walks(shape, next, frame.name.length);
    const comms = ["cc1plus", "python3", "ninja", "ld.lld", "node"].map(id), threadComm = [];
    const thread = { pid: [], tid: [], comm: [] };
    for (let t = 0; t < shape.threads; t++) {
        threadComm.push(t % comms.length);
        thread.pid.push(4000 + (t >> 1));
        thread.tid.push(4000 + t);
        thread.comm.push(comms[t % comms.length]);
    }
    const { row, draw } = rows(ends, comms, shape, next);
    const p = { title: shape.title ?? "ninja -j8 all", strings, frame, node: { parent, frame: nodeFrame }, thread, row };
    const time = samples(p, shape, draw, threadComm, next);
    keepUsed(p, time);
    if (shape.time) p.time = time;
    p.recordings = (shape.recordings ?? ["perf.data"]).map((path) => ({
        path, host: "builder-3", os: "6.12.9-amd64", arch: "x86_64", cmdline: "sonde record -g -- ninja -j8 all",
        cpu: "AMD EPYC 9354", start_ns: time.first_ns, duration_ns: String(shape.seconds * 1e9),
    }));
    p.events = Array.from({ length: shape.events }, (_, e) => ({
        name: p.recordings.length > 1 ? "cycles" : ["cycles", "cache-misses", "page-faults"][e % 3], unit: e ? "events" : "cycles",
        recording: p.recordings.length > 1 ? e : 0, lost: 0,
        samples: sumOf(p.row, e, "samples"), period: String(sumOf(p.row, e, "period")),
    }));
    return p;
}

function sumOf(row, event, what) {
    return row.event.reduce((sum, e, i) => (e === event ? sum + row[what][i] : sum), 0);
}

function keepUsed(p, time) {
    const to = new Uint32Array(p.row.event.length), kept = { event: [], comm: [], node: [], samples: [], period: [] };
    for (let i = 0; i < to.length; i++) {
        if (!p.row.samples[i]) continue;
        to[i] = kept.event.length;
        for (const k of Object.keys(kept)) kept[k].push(p.row[k][i]);
    }
    p.row = kept;
    time.row = time.row.map((r) => to[r]);
}
