// SPDX-License-Identifier: Apache-2.0
// The sums of a profile, computed from its stacks one by one: slow and plain, to compare the page's with.

/** Function of a frame as text: name and object. */
export const functionOf = (p, f) => `${p.strings[p.frame.name[f]]}|${p.strings[p.frame.dso[f]]}`;

/** The frames of a node's stack, root first. */
export function stackOf(p, node) {
    const stack = [];
    for (let x = node; x >= 0; x = p.node.parent[x]) stack.unshift(p.node.frame[x]);
    return stack;
}

/** Every sample as {event, stack of frames, thread, cpu, time, period, comm}; from the time block where there is one. */
export function* samplesOf(p) {
    for (let i = 0; i < p.time.row.length; i++) {
        const r = p.time.row[i];
        yield {
            event: p.row.event[r], row: r, frames: stackOf(p, p.row.node[r]), comm: p.strings[p.row.comm[r]], thread: p.time.thread[i], cpu: p.time.cpu[i],
            ns: p.time.time[i] * 1000, period: p.time.period ? p.time.period[i] : p.row.period[r] / p.row.samples[r],
        };
    }
}

export function add(map, key, period, samples = 1) {
    const now = map.get(key) ?? { samples: 0, period: 0 };
    now.samples += samples;
    now.period += period;
    map.set(key, now);
}

/** Sums by function, by path of functions, by pair of caller and callee, by line. */
export function sums(p, wanted) {
    const s = { self: new Map(), total: new Map(), path: new Map(), edge: new Map(), line: new Map(), all: { samples: 0, period: 0 } };
    for (const sample of samplesOf(p)) {
        if (!wanted(sample)) continue;
        const funcs = sample.frames.map((f) => functionOf(p, f));
        s.all.samples++;
        s.all.period += sample.period;
        add(s.self, funcs.at(-1), sample.period);
        for (const f of new Set(funcs)) add(s.total, f, sample.period);
        for (let d = 1; d <= funcs.length; d++) add(s.path, funcs.slice(0, d).join(">"), sample.period);
        for (const e of new Set(funcs.map((f, i) => `${funcs[i - 1] ?? ""}>${f}`))) add(s.edge, e, sample.period);
        for (const l of new Set(sample.frames.map((f, i) => `${funcs[i]}@${p.strings[p.frame.file[f]]}:${p.frame.line[f]}`))) add(s.line, l, sample.period);
    }
    return s;
}
