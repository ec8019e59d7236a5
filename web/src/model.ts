// SPDX-License-Identifier: Apache-2.0
// From rows, a range and filters to the weights of nodes and functions. No DOM: the tests compare it with a naive reading of
// the stacks. Everything that does not depend on the weights is made once.
import type { Tree } from "./tree";
import { addUp, noWeights, outermost, type Trie, TrieBuilder, type Weights } from "./trie";
import { type Judged, sameFunctions, turnedRound } from "./verdict";

/** Sums of each row of the tree block: all of them, or what a range of time lets through. */
export interface RowSums {
    samples: Float64Array;
    period: Float64Array;
}

export interface Functions {
    count: number;
    name: Uint32Array;
    dso: Uint32Array;
    /** Of its frames: the level of the first, and the worst grade with a frame that has it. */
    level: Uint8Array;
    grade: Uint8Array;
    frame: Uint32Array;
}

export interface FunctionSums {
    selfSamples: Float64Array;
    selfPeriod: Float64Array;
    samples: Float64Array;
    period: Float64Array;
}

export interface CallTree {
    trie: Trie;
    /** The node of each row. */
    rowNode: Uint32Array;
}

/** A name in an object is one function, whatever lines its frames have; so are names that were compared as one. */
function findFunctions(tree: Tree): { funcs: Functions; ofFrame: Uint32Array; known: Map<number, number> } {
    const { name, dso, level, grade } = tree.frame;
    const ofFrame = new Uint32Array(name.length);
    const known = new Map<number, number>();
    const frames: number[] = [];
    const keys: number[] = [];
    const same = sameFunctions(tree);
    for (let f = 0; f < name.length; f++) {
        const own = name[f]! * tree.strings.length + dso[f]!;
        const key = same.get(own) ?? own;
        let func = known.get(key);
        if (func === undefined) {
            func = frames.push(f) - 1;
            known.set(key, func);
            keys.push(key);
        } else if (grade[f]! > grade[frames[func]!]!) {
            frames[func] = f;
        }
        ofFrame[f] = func;
    }
    const frame = Uint32Array.from(frames);
    const pick = (column: Uint32Array) => Uint8Array.from(frame, (f) => column[f]!);
    const funcs = {
        count: frame.length, name: Uint32Array.from(keys, (k) => Math.floor(k / tree.strings.length)),
        dso: Uint32Array.from(keys, (k) => k % tree.strings.length), level: pick(level),
        grade: pick(grade), frame,
    };
    return { funcs, ofFrame, known };
}

export class Model {
    readonly funcs: Functions;
    readonly funcOfFrame: Uint32Array;
    readonly calls: CallTree;
    /** The node of the call tree of each recorded node. */
    readonly nodeTo: Uint32Array;
    readonly eventRows: Uint32Array[];
    private byComm: CallTree | null = null;
    /** By the number of a name in an object. */
    private readonly known: Map<number, number>;
    private readonly judgedOf = new Map<string, (Judged | null)[] | null>();

    constructor(readonly tree: Tree) {
        const { funcs, ofFrame, known } = findFunctions(tree);
        this.known = known;
        this.funcs = funcs;
        this.funcOfFrame = ofFrame;
        const builder = new TrieBuilder();
        const built = new Int32Array(tree.nodeFrame.length).fill(-1);
        for (let x = 1; x < built.length; x++) built[x] = builder.child(built[tree.nodeParent[x]!]!, ofFrame[tree.nodeFrame[x]!]!);
        const { trie, to } = builder.finish();
        this.nodeTo = Uint32Array.from(built, (b) => (b < 0 ? 0 : to[b]!));
        this.calls = { trie, rowNode: tree.row.node.map((x) => this.nodeTo[x]!) };
        const rows: number[][] = tree.events.map(() => []);
        tree.row.event.forEach((e, r) => rows[e]!.push(r));
        this.eventRows = rows.map((r) => Uint32Array.from(r));
    }

    /** The name of a function, or of the comm that stands for one at the root; empty where there is none. */
    name(func: number): string {
        if (func < 0) return "all";
        return this.tree.strings[func < this.funcs.count ? this.funcs.name[func]! : func - this.funcs.count]!;
    }

    object(func: number): string {
        return func < 0 || func >= this.funcs.count ? "" : this.tree.strings[this.funcs.dso[func]!]!;
    }

    /** What is proved of each function between two events; null: these were not compared. */
    judged(a: number, b: number): (Judged | null)[] | null {
        const key = `${a} ${b}`;
        if (!this.judgedOf.has(key)) this.judgedOf.set(key, this.findJudged(a, b));
        return this.judgedOf.get(key)!;
    }

    private findJudged(a: number, b: number): (Judged | null)[] | null {
        const { verdicts, strings } = this.tree;
        const verdict = verdicts.find((v) => (v.base === a && v.now === b) || (v.base === b && v.now === a));
        if (!verdict) return null;
        const same = sameFunctions(this.tree);
        const of: (Judged | null)[] = new Array<Judged | null>(this.funcs.count).fill(null);
        for (let i = 0; i < verdict.functions.length; i += 3) {
            const own = verdict.functions[i]! * strings.length + verdict.functions[i + 1]!;
            const func = this.known.get(same.get(own) ?? own);
            const row = verdict.rows[verdict.functions[i + 2]!]!;
            if (func !== undefined) of[func] ??= verdict.base === a ? row : turnedRound(row);
        }
        return of;
    }

    /** The call tree with the threads' names (comms) as its first level. */
    callsByComm(): CallTree {
        this.byComm ??= this.buildByComm();
        return this.byComm;
    }

    private buildByComm(): CallTree {
        const { trie, rowNode } = this.calls;
        const builder = new TrieBuilder();
        const { comm } = this.tree.row;
        const known = new Map<number, number>();
        const path: number[] = [];
        const built = Array.from(rowNode, (node, r) => {
            let x = node;
            let at: number | undefined;
            path.length = 0;
            for (; x > 0 && (at = known.get(comm[r]! * trie.size + x)) === undefined; x = trie.parent[x]!) path.push(x);
            at ??= builder.child(-1, this.funcs.count + comm[r]!);
            for (let i = path.length - 1; i >= 0; i--) {
                at = builder.child(at, trie.func[path[i]!]!);
                known.set(comm[r]! * trie.size + path[i]!, at);
            }
            return at;
        });
        const done = builder.finish();
        return { trie: done.trie, rowNode: Uint32Array.from(built, (b) => done.to[b]!) };
    }

    /** The recorded sums, unfiltered. */
    recorded(): RowSums {
        return { samples: this.tree.row.samples, period: this.tree.row.period };
    }

    /** Weights of all nodes, of one event. `keep`: which rows count (null: all). */
    weigh(calls: CallTree, event: number, sums: RowSums, keep: Uint8Array | null): Weights {
        const w = noWeights(calls.trie.size);
        for (const r of this.eventRows[event] ?? []) {
            if (keep && !keep[r]) continue;
            const x = calls.rowNode[r]!;
            w.selfSamples[x]! += sums.samples[r]!;
            w.selfPeriod[x]! += sums.period[r]!;
        }
        addUp(calls.trie, w.selfSamples, w.samples);
        addUp(calls.trie, w.selfPeriod, w.period);
        return w;
    }

    /** Self and total of each function; a sample counts once in a total, however often the function is in its stack. */
    functionSums(w: Weights): FunctionSums {
        const { trie } = this.calls;
        const zeros = () => new Float64Array(this.funcs.count);
        const sums = { selfSamples: zeros(), selfPeriod: zeros(), samples: zeros(), period: zeros() };
        const open = new Uint32Array(this.funcs.count); // where the outermost call of a function ends
        for (let x = 1; x < trie.size; x++) {
            const f = trie.func[x]!;
            sums.selfSamples[f]! += w.selfSamples[x]!;
            sums.selfPeriod[f]! += w.selfPeriod[x]!;
            if (x < open[f]!) continue;
            open[f] = trie.end[x]!;
            sums.samples[f]! += w.samples[x]!;
            sums.period[f]! += w.period[x]!;
        }
        return sums;
    }

    /** Which functions (and comms behind them) a test of name and object accepts. */
    matching(test: (name: string, object: string) => boolean): Uint8Array {
        const { strings } = this.tree;
        const match = new Uint8Array(this.funcs.count + strings.length);
        for (let f = 0; f < this.funcs.count; f++) match[f] = test(this.name(f), this.object(f)) ? 1 : 0;
        for (const c of new Set(this.tree.row.comm)) match[this.funcs.count + c] = test(strings[c]!, "") ? 1 : 0;
        return match;
    }

    /** Which rows have one of the functions in their stack. */
    rowsWith(match: Uint8Array): Uint8Array {
        const { trie, rowNode } = this.calls;
        const has = new Uint8Array(trie.size);
        for (let x = 1; x < trie.size; x++) has[x] = has[trie.parent[x]!]! || match[trie.func[x]!]! ? 1 : 0;
        return Uint8Array.from(rowNode, (x, r) => has[x]! | match[this.funcs.count + this.tree.row.comm[r]!]!);
    }

    /** The sum of all stacks that have one of the functions in them, each counted once. */
    matched(trie: Trie, w: Weights, match: Uint8Array): { samples: number; period: number } {
        const sum = { samples: 0, period: 0 };
        outermost(trie, (f) => match[f] === 1, (x) => {
            sum.samples += w.samples[x]!;
            sum.period += w.period[x]!;
        });
        return sum;
    }
}
