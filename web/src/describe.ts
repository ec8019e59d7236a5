// SPDX-License-Identifier: Apache-2.0
// What the tooltip, the bar below and a screen reader say of a node or a function.
import { difference } from "./analysis";
import type { App } from "./app";
import { h } from "./dom";
import { shown } from "./names";
import { GRADES, LEVELS } from "./tree";
import type { Trie, Weights } from "./trie";
import { percent, quantity, signedPercent, whole } from "./units";
import { intervalText, proofText } from "./verdict";

export interface Subject {
    trie: Trie;
    weights: Weights[];
    node: number;
    zoom: number;
}

export function place(app: App, func: number): string {
    if (func < 0 || func >= app.model.funcs.count) return "";
    const { strings, frame } = app.tree;
    const f = app.model.funcs.frame[func]!;
    return frame.file[f] ? `${shown(strings[frame.file[f]!]!)}:${frame.line[f]}` : "";
}

export function gradeOf(app: App, func: number): { grade: number; level: string; why: string } {
    const { funcs, tree } = app.model;
    if (func < 0 || func >= funcs.count) return { grade: 0, level: "thread name", why: "" };
    return {
        grade: funcs.grade[func]!, level: LEVELS[funcs.level[func]!]!, why: shown(tree.strings[tree.frame.why[funcs.frame[func]!]!]!),
    };
}

/** One line: name, share, samples. */
export function told(app: App, s: Subject): string {
    const w = s.weights[0]!;
    const { metric } = app.state;
    const func = s.trie.func[s.node]!;
    const grade = gradeOf(app, func).grade;
    const share = percent(w[metric][s.node]!, w[metric][0]!);
    const other = s.weights[1] ? `, then ${percent(s.weights[1][metric][s.node]!, s.weights[1][metric][0]!)}` : "";
    return `${app.label(func)} ${share}${other}, ${whole(w.samples[s.node]!)} samples${grade ? `, ${GRADES[grade]}` : ""}`;
}

function amounts(app: App, s: Subject): [string, string[]][] {
    const w = s.weights[0]!;
    const { event, state } = app;
    const line = (samples: number, period: number): string[] => {
        const value = state.metric === "period" ? period : samples;
        return [whole(samples), quantity(period, event.unit), percent(value, w[state.metric][0]!),
            s.zoom ? percent(value, w[state.metric][s.zoom]!) : ""];
    };
    return [
        ["", ["samples", shown(event.name, 20), "of all", s.zoom ? "of zoomed" : ""]],
        ["total", line(w.samples[s.node]!, w.period[s.node]!)],
        ["self", line(w.selfSamples[s.node]!, w.selfPeriod[s.node]!)],
    ];
}

function compared(app: App, s: Subject): [string, string[]][] {
    const [a, b] = s.weights as [Weights, Weights];
    const { metric, absolute } = app.state;
    const d = difference(a[metric][s.node]!, b[metric][s.node]!, a[metric][0]!, b[metric][0]!, absolute);
    const proof = app.proof(s.trie.func[s.node]!);
    const line = (w: Weights) => [whole(w.samples[s.node]!), quantity(w.period[s.node]!, app.event.unit), percent(w[metric][s.node]!, w[metric][0]!)];
    const change = absolute ? whole(b.samples[s.node]! - a.samples[s.node]!) : signedPercent(d.b - d.a);
    return [
        ["", ["samples", "amount", "share"]],
        ["A", line(a)],
        ["B", line(b)],
        ["change", ["", "", change]],
        ...(proof ? [["self", ["", proofText(proof), intervalText(proof)]] as [string, string[]]] : []),
    ];
}

export function tooltip(app: App, s: Subject, merged: number): HTMLElement {
    if (merged) return h("div", {}, h("p", { class: "name" }, `${whole(merged)} narrow cells`), h("p", { class: "dim" }, "zoom in to see them"));
    const func = s.trie.func[s.node]!;
    const { grade, level, why } = gradeOf(app, func);
    const rows = s.weights.length > 1 ? compared(app, s) : amounts(app, s);
    const table = h("table", {}, h("tbody", {}, ...rows.map(([name, cells], i) =>
        h("tr", {}, h("th", {}, name), ...cells.filter((c, k) => c || k < 3).map((c) => h(i ? "td" : "th", {}, c))))));
    const object = func >= 0 ? shown(app.model.object(func)) : "";
    const where = place(app, func);
    return h("div", {},
        h("p", { class: "name" }, app.label(func)),
        object && h("p", { class: "dim" }, object),
        where && h("p", { class: "dim" }, where),
        table,
        func >= 0 && h("p", { class: `grade g${grade}` }, `${GRADES[grade]}, ${level}`, why && h("span", { class: "dim" }, ` – ${why}`)));
}

/** Follows the mouse, and stays inside the window. */
export class Tooltip {
    readonly root = h("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
    private key = "";

    show(key: string, make: () => HTMLElement, x: number, y: number): void {
        if (key !== this.key || this.root.hidden) {
            this.key = key;
            this.root.replaceChildren(make());
            this.root.hidden = false;
        }
        const box = this.root.getBoundingClientRect();
        const left = x + 14 + box.width > innerWidth ? Math.max(4, x - box.width - 10) : x + 14;
        const top = y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18;
        this.root.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    }

    hide(): void {
        this.root.hidden = true;
    }
}
