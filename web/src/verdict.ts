// SPDX-License-Identifier: Apache-2.0
// What is proved of the functions of two recordings: the intervals of `sonde diff --verdict`, which came with the data.
import type { Tree } from "./tree";
import { signedPercent } from "./units";

export const [FEW, NOT_PROVED, LESS, MORE] = [0, 1, 2, 3];

/** Shares of all samples; the interval is about their difference (NaN: too few samples). */
export interface Judged {
    base: number;
    now: number;
    low: number;
    high: number;
    says: number;
}

/** Of one event in both recordings; `functions`: name, object and row of each. */
export interface Verdict {
    base: number;
    now: number;
    level: number;
    rows: Judged[];
    functions: number[];
}

const MOST_ROWS = 4000;
const MOST_FUNCTIONS = 16000;
const real = (value: unknown): number => (typeof value === "number" ? value : NaN);
const isIndex = (value: unknown, limit: number): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) < limit;

function judged(value: unknown): Judged {
    const [base, now, low, high, says] = Array.isArray(value) ? value : [];
    return { base: real(base), now: real(now), low: real(low), high: real(high), says: isIndex(says, 4) ? says : FEW };
}

/** What of a header's list can be used; the rest is left out. */
export function verdicts(value: unknown, events: number, strings: number): Verdict[] {
    const found: Verdict[] = [];
    for (const v of (Array.isArray(value) ? value : []).slice(0, 1000)) {
        if (typeof v !== "object" || !v || !isIndex(v.base, events) || !isIndex(v.new, events)) continue;
        const rows = (Array.isArray(v.rows) ? v.rows : []).slice(0, MOST_ROWS).map(judged);
        const all: unknown[] = Array.isArray(v.functions) ? v.functions.slice(0, 3 * MOST_FUNCTIONS) : [];
        const functions: number[] = [];
        for (let i = 0; i + 2 < all.length; i += 3) {
            const [name, dso, row] = [all[i], all[i + 1], all[i + 2]];
            if (isIndex(name, strings) && isIndex(dso, strings) && isIndex(row, rows.length)) functions.push(name, dso, row);
        }
        found.push({ base: v.base, now: v.new, level: real(v.level), rows, functions });
    }
    return found;
}

/** Names of one row are one function: by the number of a name in an object, that of the first name. */
export function sameFunctions(tree: Pick<Tree, "verdicts" | "strings">): Map<number, number> {
    const same = new Map<number, number>();
    for (const { functions } of tree.verdicts) {
        const first = new Map<number, number>();
        for (let i = 0; i < functions.length; i += 3) {
            const key = functions[i]! * tree.strings.length + functions[i + 1]!;
            const row = functions[i + 2]!;
            if (!first.has(row)) first.set(row, same.get(key) ?? key);
            if (!same.has(key)) same.set(key, first.get(row)!);
        }
    }
    return same;
}

/** The same seen from the other side. */
export const turnedRound = (r: Judged): Judged =>
    ({ base: r.now, now: r.base, low: -r.high, high: -r.low, says: r.says === MORE ? LESS : r.says === LESS ? MORE : r.says });

export const isProved = (r: Judged | null): boolean => r !== null && r.says >= LESS;

export const proofText = (r: Judged | null): string => (r === null ? "" : ["few samples", "not proved", "proved less", "proved more"][r.says]!);

export const intervalText = (r: Judged | null): string =>
    (r === null || Number.isNaN(r.low) || Number.isNaN(r.high) ? "" : `${signedPercent(r.low)} to ${signedPercent(r.high)}`);
