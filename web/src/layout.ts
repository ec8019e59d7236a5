// SPDX-License-Identifier: Apache-2.0
// Where the cells of a flame graph are. Only what is seen is visited; siblings too narrow to be seen are one cell together, and
// where there are still too many cells the limit of what counts as narrow is raised.
import type { Trie } from "./trie";

export const MOST_CELLS = 4000;

export type Order = "weight" | "name";

/** A trie with the width of its nodes, and its children in the order in which they are drawn. */
export class Shape {
    private readonly sorted = new Map<number, Uint32Array>();

    constructor(readonly trie: Trie, readonly width: Float64Array, private readonly order: Order, private readonly name: (func: number) => string) {}

    children(node: number): Uint32Array {
        let list = this.sorted.get(node);
        if (!list) this.sorted.set(node, (list = this.sort(node)));
        return list;
    }

    private sort(node: number): Uint32Array {
        const { trie, width } = this;
        const list: number[] = [];
        for (let c = node + 1; c < trie.end[node]!; c = trie.end[c]!) if (width[c]! > 0) list.push(c);
        if (this.order === "weight") {
            list.sort((a, b) => width[b]! - width[a]! || a - b);
        } else {
            const names = new Map(list.map((c) => [c, this.name(trie.func[c]!)]));
            list.sort((a, b) => (names.get(a)! < names.get(b)! ? -1 : names.get(a)! > names.get(b)! ? 1 : a - b));
        }
        return Uint32Array.from(list);
    }

    /** Where a node stands, as parts of the whole. */
    place(node: number): { from: number; to: number } {
        const all = this.width[0]! || 1;
        const path: number[] = [];
        for (let x = node; x > 0; x = this.trie.parent[x]!) path.push(x);
        let from = 0;
        let parent = 0;
        for (const x of path.reverse()) {
            for (const c of this.children(parent)) {
                if (c === x) break;
                from += this.width[c]!;
            }
            parent = x;
        }
        return { from: from / all, to: (from + this.width[node]!) / all };
    }

    /** The node that a path of functions leads to, as far as it exists. */
    follow(path: number[]): number {
        let node = 0;
        for (const func of path) {
            let next = 0;
            for (let c = node + 1; c < this.trie.end[node]!; c = this.trie.end[c]!) if (this.trie.func[c] === func) next = c;
            if (!next || !(this.width[next]! > 0)) break;
            node = next;
        }
        return node;
    }

    path(node: number): number[] {
        const path: number[] = [];
        for (let x = node; x > 0; x = this.trie.parent[x]!) path.push(this.trie.func[x]!);
        return path.reverse();
    }
}

export interface Window {
    from: number;
    to: number;
    /** Width in pixels, and which depths are in sight. */
    pixels: number;
    top: number;
    bottom: number;
}

/** Cells by columns; `merged` is how many nodes a cell stands for (0: it is the node itself). */
export class Cells {
    count = 0;
    readonly x = new Float32Array(MOST_CELLS);
    readonly w = new Float32Array(MOST_CELLS);
    readonly depth = new Uint32Array(MOST_CELLS);
    readonly node = new Uint32Array(MOST_CELLS);
    readonly merged = new Uint32Array(MOST_CELLS);

    add(x: number, w: number, depth: number, node: number, merged: number): boolean {
        if (this.count >= MOST_CELLS) return false;
        const i = this.count++;
        this.x[i] = x;
        this.w[i] = w;
        this.depth[i] = depth;
        this.node[i] = node;
        this.merged[i] = merged;
        return true;
    }
}

/** Fills `cells`; coordinates are pixels of the window. */
export function layout(shape: Shape, win: Window, cells: Cells): void {
    for (let least = 1; least < 1024; least *= 1.5) {
        cells.count = 0;
        if (fill(shape, win, cells, least)) return;
    }
}

function fill(shape: Shape, win: Window, cells: Cells, least: number): boolean {
    const { trie, width } = shape;
    const all = width[0]!;
    if (!(all > 0)) return true;
    const scale = win.pixels / Math.max(win.to - win.from, 1e-12) / all;
    const offset = win.from * all;
    const nodes = [0];
    const starts = [0];
    while (nodes.length) {
        const node = nodes.pop()!;
        const start = starts.pop()!;
        const depth = trie.depth[node]!;
        if (depth >= win.top && !cells.add((start - offset) * scale, width[node]! * scale, depth, node, 0)) return false;
        if (depth >= win.bottom) continue;
        if (!fillChildren(shape, start, node, { scale, offset, least, pixels: win.pixels, top: win.top }, cells, nodes, starts)) return false;
    }
    return true;
}

interface Scale {
    scale: number;
    offset: number;
    least: number;
    pixels: number;
    top: number;
}

/** Pushes the children that are seen, and adds cells for runs of those too narrow. */
function fillChildren(shape: Shape, start: number, node: number, s: Scale, cells: Cells, nodes: number[], starts: number[]): boolean {
    const depth = shape.trie.depth[node]! + 1;
    let at = start;
    let run = -1; // where a run of narrow siblings begins
    let first = 0;
    let many = 0;
    const close = (): boolean => {
        if (run < 0) return true;
        const x = (run - s.offset) * s.scale;
        const w = (at - run) * s.scale;
        run = -1;
        return depth < s.top || w < 0.3 || cells.add(x, w, depth, first, many);
    };
    for (const c of shape.children(node)) {
        const w = shape.width[c]!;
        const x = (at - s.offset) * s.scale;
        if (x > s.pixels) break;
        if (x + w * s.scale >= 0) {
            if (w * s.scale < s.least) {
                if (run < 0) [run, first, many] = [at, c, 0];
                many++;
            } else {
                if (!close()) return false;
                nodes.push(c);
                starts.push(at);
            }
        }
        at += w;
    }
    return close();
}
