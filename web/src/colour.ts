// SPDX-License-Identifier: Apache-2.0
// Colours of cells. Hues are spread evenly at one lightness, so no cell shouts; objects get them in the order of their weight.
import type { Model } from "./model";
import type { Colour } from "./state";
import { LEVELS, GRADES } from "./tree";
import { baseName, shownOften } from "./names";

/** What a cell is coloured as. */
export interface Palette {
    /** Colour of each function (and of comms behind them). */
    of(func: number): string;
    legend: { label: string; share: number; fill: string }[];
}

const HUES = [62, 250, 150, 18, 300, 200, 95, 340, 175, 275, 120, 228];
const OTHER = 12; // objects after the first twelve

/** Functions of one class differ a little, so that neighbours can be told apart. */
const TINTS = 4;

function cellColour(hue: number, dark: boolean, chroma = 1, tint = 1): string {
    const light = (dark ? 0.445 : 0.86) + (tint - 1.5) * (dark ? 0.022 : 0.02);
    return `oklch(${light.toFixed(3)} ${((dark ? 0.075 : 0.078) * chroma).toFixed(4)} ${hue + (tint - 1.5) * 5})`;
}

function neutral(dark: boolean): string {
    return dark ? "oklch(0.36 0.008 260)" : "oklch(0.905 0.006 260)";
}

/** The recording's own weights decide, not the filtered ones: colours stay while a range is dragged. */
function objectClasses(model: Model, self: Float64Array): { classOf: Uint8Array; labels: string[]; shares: number[] } {
    const sums = new Map<number, number>();
    for (let f = 0; f < model.funcs.count; f++) {
        const dso = model.funcs.dso[f]!;
        sums.set(dso, (sums.get(dso) ?? 0) + self[f]!);
    }
    const ranked = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const all = ranked.reduce((sum, [, v]) => sum + v, 0) || 1;
    const classFor = new Map(ranked.map(([dso], i) => [dso, Math.min(i, OTHER)]));
    const labels = ranked.slice(0, OTHER).map(([dso]) => shownOften(baseName(model.tree.strings[dso]!)) || "[unknown]");
    const shares = ranked.slice(0, OTHER).map(([, v]) => v / all);
    if (ranked.length > OTHER) {
        labels.push("others");
        shares.push(ranked.slice(OTHER).reduce((sum, [, v]) => sum + v, 0) / all);
    }
    return { classOf: Uint8Array.from(model.funcs.dso, (dso) => classFor.get(dso)!), labels, shares };
}

function sharesOf(classOf: Uint8Array, self: Float64Array, many: number): number[] {
    const sums = new Array<number>(many).fill(0);
    let all = 0;
    classOf.forEach((c, f) => {
        sums[c]! += self[f]!;
        all += self[f]!;
    });
    return sums.map((s) => s / (all || 1));
}

const LEVEL_HUES = [62, 250, 300, 275, 340, 150, 95];
const GRADE_HUES = [175, 95, 40, 0];

export function palette(model: Model, by: Colour, self: Float64Array, dark: boolean): Palette {
    const fill: string[][] = [];
    const tints = (hue: number, chroma = 1) => Array.from({ length: TINTS }, (_, i) => cellColour(hue, dark, chroma, i));
    let known: { classOf: Uint8Array; labels: string[]; shares: number[] };
    if (by === "object") {
        known = objectClasses(model, self);
        for (const hue of HUES) fill.push(tints(hue));
        fill.push([neutral(dark)]);
    } else {
        const classOf = by === "kind" ? model.funcs.level : model.funcs.grade;
        const labels = by === "kind" ? LEVELS : GRADES;
        known = { classOf, labels, shares: sharesOf(classOf, self, labels.length) };
        (by === "kind" ? LEVEL_HUES : GRADE_HUES).forEach((hue, i) =>
            fill.push(by === "grade" && i === 3 ? [neutral(dark)] : tints(hue, by === "grade" && i === 0 ? 0.45 : 1)));
    }
    const comm = dark ? "oklch(0.33 0.01 260)" : "oklch(0.93 0.004 260)";
    const legend = known.labels.map((label, i) => ({ label, share: known.shares[i]!, fill: fill[i]![1] ?? fill[i]![0]! }));
    const { classOf } = known;
    const of = (func: number): string => {
        if (func < 0 || func >= classOf.length) return comm;
        const kinds = fill[classOf[func]!]!;
        return kinds[(Math.imul(func, 0x9e3779b1) >>> 20) % kinds.length]!;
    };
    return { of, legend: legend.filter((l) => l.share > 0) };
}

/** Blue: less in B; orange: more in B; both also for those who do not tell red from green. `d`: -1 to 1. */
export function differenceColour(d: number, strong: boolean, dark: boolean): string {
    const size = Math.min(1, Math.abs(d) * 1.6) * (strong ? 1 : 0.25);
    const step = Math.round(size * 10) / 10; // few different colours: canvases are slow to change them
    if (step === 0) return dark ? "oklch(0.36 0.005 260)" : "oklch(0.93 0.003 260)";
    const hue = d < 0 ? 250 : 60;
    return dark ? `oklch(${0.37 + 0.16 * step} ${0.02 + 0.11 * step} ${hue})` : `oklch(${0.93 - 0.17 * step} ${0.01 + 0.12 * step} ${hue})`;
}
