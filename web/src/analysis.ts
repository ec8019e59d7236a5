// SPDX-License-Identifier: Apache-2.0
// One choice of event, range and filters, and what is computed from it, each thing when it is first asked for. No DOM.
import { callees, callers, type Derived, type Edge, edges, inverted, type Line, lines } from "./derive";
import type { CallTree, FunctionSums, Model, RowSums } from "./model";
import type { Weights } from "./trie";

export interface Side {
    event: number;
    sums: RowSums;
}

export interface Amount {
    samples: number;
    period: number;
}

export interface Weighed {
    calls: CallTree;
    weights: Weights[];
}

export class Analysis {
    private readonly kept = new Map<string, unknown>();

    /** `sides`: one, or two that are compared. `keep`: which rows the filters let through; null: all. */
    constructor(readonly model: Model, readonly sides: Side[], readonly keep: Uint8Array | null) {}

    private once<T>(key: string, make: () => T): T {
        if (!this.kept.has(key)) this.kept.set(key, make());
        return this.kept.get(key) as T;
    }

    weighed(byComm: boolean): Weighed {
        return this.once(`weighed ${byComm}`, () => {
            const calls = byComm ? this.model.callsByComm() : this.model.calls;
            return { calls, weights: this.sides.map((s) => this.model.weigh(calls, s.event, s.sums, this.keep)) };
        });
    }

    total(side = 0): Amount {
        const w = this.weighed(false).weights[side]!;
        return { samples: w.samples[0]!, period: w.period[0]! };
    }

    functions(side = 0): FunctionSums {
        return this.once(`functions ${side}`, () => this.model.functionSums(this.weighed(false).weights[side]!));
    }

    callees(func: number): Derived {
        return this.once(`callees ${func}`, () => callees(this.model.calls.trie, this.weighed(false).weights, func));
    }

    callers(func: number): Derived {
        return this.once(`callers ${func}`, () => callers(this.model.calls.trie, this.weighed(false).weights, func));
    }

    inverted(): Derived {
        return this.once("inverted", () => inverted(this.model.calls.trie, this.weighed(false).weights));
    }

    edges(func: number): { callers: Edge[]; callees: Edge[] } {
        return this.once(`edges ${func}`, () => edges(this.model, this.weighed(false).weights[0]!, func));
    }

    lines(func: number): Line[] {
        return this.once(`lines ${func}`, () => lines(this.model, this.sides[0]!.event, this.sides[0]!.sums, this.keep, func));
    }
}

/** How a node or function differs between two sides. */
export interface Difference {
    /** Shares of the total of each side. */
    a: number;
    b: number;
    /** -1: only in A; 1: only in B. By shares, or by amounts where both sides are to be compared as they are. */
    relative: number;
}

export function difference(a: number, b: number, totalA: number, totalB: number, absolute: boolean): Difference {
    const shareA = totalA ? a / totalA : 0;
    const shareB = totalB ? b / totalB : 0;
    const [x, y] = absolute ? [a, b] : [shareA, shareB];
    const relative = x + y > 0 ? (y - x) / (x + y) : 0;
    return { a: shareA, b: shareB, relative };
}
