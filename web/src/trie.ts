// SPDX-License-Identifier: Apache-2.0
// Trees of functions, as the flame graph shows them: merged from the recorded nodes, in preorder (see tree.ts), node 0 = all.
import { preorder } from "./tree";

export interface Trie {
    /** How many nodes there are, with node 0. */
    size: number;
    parent: Uint32Array;
    end: Uint32Array;
    /** Function of each node; -1 for node 0. Numbers from the count of functions on are comms. */
    func: Int32Array;
    depth: Uint32Array;
    deepest: number;
}

/** Samples and periods of the nodes of a trie: of the node alone, and of its whole subtree. */
export interface Weights {
    selfSamples: Float64Array;
    selfPeriod: Float64Array;
    samples: Float64Array;
    period: Float64Array;
}

/** Collects nodes by (parent, function); parents come before children, roots have the parent -1. */
export class TrieBuilder {
    private parents: number[] = [];
    private funcs: number[] = [];
    private slots = new Int32Array(1024).fill(-1);

    get count(): number {
        return this.parents.length;
    }

    child(parent: number, func: number): number {
        let slot = this.hash(parent, func);
        for (let node = this.slots[slot]!; node >= 0; node = this.slots[slot]!) {
            if (this.parents[node] === parent && this.funcs[node] === func) return node;
            slot = (slot + 1) & (this.slots.length - 1);
        }
        const node = this.parents.push(parent) - 1;
        this.funcs.push(func);
        this.slots[slot] = node;
        if (this.parents.length * 2 > this.slots.length) this.grow();
        return node;
    }

    parentOf(node: number): number {
        return this.parents[node]!;
    }

    private hash(parent: number, func: number): number {
        const mixed = Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(func + 1, 0x85ebca6b);
        return (mixed ^ (mixed >>> 15)) & (this.slots.length - 1);
    }

    private grow(): void {
        this.slots = new Int32Array(this.slots.length * 2).fill(-1);
        for (let node = 0; node < this.parents.length; node++) {
            let slot = this.hash(this.parents[node]!, this.funcs[node]!);
            while (this.slots[slot]! >= 0) slot = (slot + 1) & (this.slots.length - 1);
            this.slots[slot] = node;
        }
    }

    /** The trie, and where each node of the builder went. */
    finish(): { trie: Trie; to: Uint32Array } {
        const { to, up, end } = preorder(Int32Array.from(this.parents));
        const size = this.parents.length + 1;
        const func = new Int32Array(size).fill(-1);
        this.funcs.forEach((f, i) => (func[to[i]!] = f));
        const depth = new Uint32Array(size);
        let deepest = 0;
        for (let x = 1; x < size; x++) {
            depth[x] = depth[up[x]!]! + 1;
            if (depth[x]! > deepest) deepest = depth[x]!;
        }
        return { trie: { size, parent: up, end, func, depth, deepest }, to };
    }
}

export function noWeights(size: number): Weights {
    const zeros = () => new Float64Array(size);
    return { selfSamples: zeros(), selfPeriod: zeros(), samples: zeros(), period: zeros() };
}

/** Adds each node's own weight to all nodes above it. */
export function addUp(trie: Trie, own: Float64Array, total: Float64Array): void {
    total.set(own);
    for (let x = trie.size - 1; x > 0; x--) total[trie.parent[x]!]! += total[x]!;
}

/** Calls `visit` with each node of the functions in `wanted` that has none of them above it: so recursion counts once. */
export function outermost(trie: Trie, wanted: (func: number) => boolean, visit: (node: number) => void): void {
    for (let x = 1; x < trie.size; ) {
        if (wanted(trie.func[x]!)) {
            visit(x);
            x = trie.end[x]!;
        } else {
            x++;
        }
    }
}
