// SPDX-License-Identifier: Apache-2.0
// Numbers as text. Always in the same form, whatever the browser's language: people compare them with a terminal's.

export function whole(n: number): string {
    const text = String(Math.round(n));
    return n < 1e3 ? text : text.replace(/\B(?=(\d{3})+$)/g, ",");
}

export function percent(part: number, all: number): string {
    if (!(all > 0)) return "–";
    const p = (100 * part) / all;
    return p > 0 && p < 0.005 ? "<0.01%" : `${p.toFixed(2)}%`;
}

export function signedPercent(difference: number): string {
    const p = (100 * difference).toFixed(2);
    return Number(p) === 0 ? "0.00%" : `${difference < 0 ? "−" : "+"}${p.replace("-", "")}%`;
}

/** Three digits and a letter: 4.57 G. */
export function large(n: number): string {
    const letters = ["", " k", " M", " G", " T", " P", " E"];
    let i = 0;
    let v = Math.abs(n);
    while (v >= 999.5 && i < letters.length - 1) {
        v /= 1000;
        i++;
    }
    const digits = i === 0 ? (Number.isInteger(v) ? 0 : 2) : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
    return (n < 0 ? "−" : "") + v.toFixed(digits) + letters[i];
}

export function duration(ns: number): string {
    const v = Math.abs(ns);
    if (v < 1000) return `${Math.round(v)} ns`;
    if (v < 1e6) return `${(v / 1e3).toFixed(v < 1e4 ? 2 : 1)} µs`;
    if (v < 1e9) return `${(v / 1e6).toFixed(v < 1e7 ? 2 : 1)} ms`;
    if (v < 120e9) return `${(v / 1e9).toFixed(v < 10e9 ? 3 : 2)} s`;
    const minutes = Math.floor(v / 60e9);
    return `${minutes} min ${Math.round((v - minutes * 60e9) / 1e9)} s`;
}

/** An amount of an event in its unit. */
export function quantity(n: number, unit: string): string {
    return unit === "ns" ? duration(n) : large(n);
}

/** A round step for an axis, so that about `many` marks fit. */
export function step(span: number, many: number): number {
    const raw = span / Math.max(1, many);
    const power = 10 ** Math.floor(Math.log10(raw));
    const digit = raw / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/** A time on an axis that ends at `last` and has marks `every` ns apart: in one unit all along. */
export function clock(ns: number, every: number, last: number): string {
    const unit = last >= 1e9 ? [1e9, "s"] as const : last >= 1e6 ? [1e6, "ms"] as const : [1e3, "µs"] as const;
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(every / unit[0]) - 1e-9)));
    return `${(ns / unit[0]).toFixed(digits)} ${unit[1]}`;
}
