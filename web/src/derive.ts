// SPDX-License-Identifier: Apache-2.0
// What is derived from the call tree and its weights: callers of a function, what it calls, the tree turned over, lines.
import type { Model } from "./model";
import { noWeights, outermost, type Trie, TrieBuilder, type Weights } from "./trie";

export interface Derived {
    trie: Trie;
    /** One for each set of weights that was given: two in a comparison. */
    weights: Weights[];
    /** True where the tree was cut, because it would have grown too large. */
    cut: boolean;
}

/** A turned tree can be as large as all stacks written out. */
const LARGEST = 3_000_000;

function spread(builder: TrieBuilder, own: number[][], many: number): { trie: Trie; weights: Weights[] } {
    const { trie, to } = builder.finish();
    const weights = Array.from({ length: many }, () => noWeights(trie.size));
    weights.forEach((w, k) => {
        for (let b = 0; b < to.length; b++) {
            const x = to[b]!;
            w.selfSamples[x] = own[4 * k]![b] ?? 0;
            w.selfPeriod[x] = own[4 * k + 1]![b] ?? 0;
            w.samples[x] = own[4 * k + 2]![b] ?? 0;
            w.period[x] = own[4 * k + 3]![b] ?? 0;
        }
    });
    return { trie, weights };
}

function add(own: number[][], node: number, k: number, selfSamples: number, selfPeriod: number, samples: number, period: number): void {
    const put = (i: number, v: number) => (own[4 * k + i]![node] = (own[4 * k + i]![node] ?? 0) + v);
    put(0, selfSamples);
    put(1, selfPeriod);
    put(2, samples);
    put(3, period);
}

/** What node 0 (all) weighs: the sum of the first level. */
function closeRoot(d: { trie: Trie; weights: Weights[] }): void {
    for (const w of d.weights) {
        for (let x = 1; x < d.trie.size; x = d.trie.end[x]!) {
            w.samples[0]! += w.samples[x]!;
            w.period[0]! += w.period[x]!;
        }
    }
}

/** Callees: the subtrees of all outermost calls of a function, merged; its own node is the only one of the first level. */
export function callees(trie: Trie, all: Weights[], func: number): Derived {
    const builder = new TrieBuilder();
    const own: number[][] = Array.from({ length: 4 * all.length }, () => []);
    const at = new Int32Array(trie.size);
    outermost(trie, (f) => f === func, (x) => {
        for (let y = x; y < trie.end[x]!; y++) {
            const node = (at[y] = builder.child(y === x ? -1 : at[trie.parent[y]!]!, trie.func[y]!));
            all.forEach((w, k) => add(own, node, k, w.selfSamples[y]!, w.selfPeriod[y]!, w.samples[y]!, w.period[y]!));
        }
    });
    const d = spread(builder, own, all.length);
    closeRoot(d);
    return { ...d, cut: false };
}

/** Callers: from all outermost calls of a function towards the root, merged; a node's own weight is what starts there. */
export function callers(trie: Trie, all: Weights[], func: number): Derived {
    const starts: number[] = [];
    outermost(trie, (f) => f === func, (x) => starts.push(x));
    return turned(trie, all, starts, (w, x) => [w.samples[x]!, w.period[x]!]);
}

/** The whole tree turned over: functions by their own time, below each who called it. */
export function inverted(trie: Trie, all: Weights[]): Derived {
    const starts: number[] = [];
    for (let x = 1; x < trie.size; x++) if (all.some((w) => w.selfSamples[x] || w.selfPeriod[x])) starts.push(x);
    return turned(trie, all, starts, (w, x) => [w.selfSamples[x]!, w.selfPeriod[x]!]);
}

/** Level by level, so that where there is too much the far callers are what is left out. */
function turned(trie: Trie, all: Weights[], starts: number[], weight: (w: Weights, x: number) => [number, number]): Derived {
    const builder = new TrieBuilder();
    const own: number[][] = Array.from({ length: 4 * all.length }, () => []);
    let origin = Uint32Array.from(starts);
    let here = origin.slice(); // the node of the call tree where each path stands
    let node = new Int32Array(starts.length).fill(-1);
    while (origin.length && builder.count < LARGEST) {
        let left = 0;
        for (let i = 0; i < origin.length; i++) {
            const x = here[i]!;
            const up = trie.parent[x]!;
            const to = builder.child(node[i]!, trie.func[x]!);
            all.forEach((w, k) => {
                const [samples, period] = weight(w, origin[i]!);
                add(own, to, k, up ? 0 : samples, up ? 0 : period, samples, period);
            });
            if (!up) continue;
            origin[left] = origin[i]!;
            here[left] = up;
            node[left++] = to;
        }
        origin = origin.subarray(0, left);
        here = here.subarray(0, left);
        node = node.subarray(0, left);
    }
    const d = spread(builder, own, all.length);
    closeRoot(d);
    return { ...d, cut: origin.length > 0 };
}

export interface Edge {
    /** Another function; -1: none (called by nobody). */
    func: number;
    samples: number;
    period: number;
}

/** Who calls a function, and what it calls: each sample counts once for each such pair in its stack. */
export function edges(model: Model, w: Weights, func: number): { callers: Edge[]; callees: Edge[] } {
    const { trie } = model.calls;
    const sides = [new Map<number, Edge>(), new Map<number, Edge>()];
    const open = [new Map<number, number>(), new Map<number, number>()];
    const count = (side: number, other: number, x: number) => {
        if (x < (open[side]!.get(other) ?? 0)) return;
        open[side]!.set(other, trie.end[x]!);
        if (!w.samples[x] && !w.period[x]) return;
        const edge = sides[side]!.get(other) ?? { func: other, samples: 0, period: 0 };
        edge.samples += w.samples[x]!;
        edge.period += w.period[x]!;
        sides[side]!.set(other, edge);
    };
    for (let x = 1; x < trie.size; x++) {
        const up = trie.func[trie.parent[x]!]!;
        if (trie.func[x] === func) count(0, up, x);
        if (up === func) count(1, trie.func[x]!, x);
    }
    return { callers: [...sides[0]!.values()], callees: [...sides[1]!.values()] };
}

export interface Line {
    /** String index of the file, 0 where the frame has none. */
    file: number;
    line: number;
    selfSamples: number;
    selfPeriod: number;
    samples: number;
    period: number;
}

/** The lines of a function's frames, from the recorded nodes: a sample counts once for a line. */
export function lines(model: Model, event: number, sums: { samples: Float64Array; period: Float64Array }, keep: Uint8Array | null, func: number): Line[] {
    const { nodeParent, nodeEnd, nodeFrame, frame, row } = model.tree;
    const total = noWeights(nodeFrame.length);
    for (const r of model.eventRows[event] ?? []) {
        if (keep && !keep[r]) continue;
        total.selfSamples[row.node[r]!]! += sums.samples[r]!;
        total.selfPeriod[row.node[r]!]! += sums.period[r]!;
    }
    total.samples.set(total.selfSamples);
    total.period.set(total.selfPeriod);
    for (let x = nodeFrame.length - 1; x > 0; x--) {
        total.samples[nodeParent[x]!]! += total.samples[x]!;
        total.period[nodeParent[x]!]! += total.period[x]!;
    }
    const found = new Map<string, Line & { open: number }>();
    for (let x = 1; x < nodeFrame.length; x++) {
        const f = nodeFrame[x]!;
        if (model.funcOfFrame[f] !== func || !total.samples[x]) continue;
        const key = `${frame.file[f]}:${frame.line[f]}`;
        let line = found.get(key);
        if (!line) {
            line = { file: frame.file[f]!, line: frame.line[f]!, selfSamples: 0, selfPeriod: 0, samples: 0, period: 0, open: 0 };
            found.set(key, line);
        }
        line.selfSamples += total.selfSamples[x]!;
        line.selfPeriod += total.selfPeriod[x]!;
        if (x < line.open) continue;
        line.open = nodeEnd[x]!;
        line.samples += total.samples[x]!;
        line.period += total.period[x]!;
    }
    return [...found.values()].filter((l) => l.file || l.line).sort((a, b) => b.samples - a.samples || a.line - b.line);
}
