// SPDX-License-Identifier: Apache-2.0
// One function: who calls it, what it calls, and on which lines its time is.
import type { App } from "./app";
import { share } from "./columns";
import type { Edge, Line } from "./derive";
import { gradeOf } from "./describe";
import { h, put } from "./dom";
import { type Column, Grid } from "./grid";
import { shown } from "./names";
import { GRADES } from "./tree";
import { percent, quantity, whole } from "./units";
import type { ViewOf } from "./views";

interface LineRow extends Line {
    text: string;
    id: number;
}

function edgeColumns(app: App, label: string): Column<Edge>[] {
    const name = (e: Edge) => (e.func < 0 ? "(called by nobody)" : app.label(e.func));
    return [
        share(app, "share", "total", "share of all samples that have this call in their stack"),
        { key: "samples", label: "samples", minor: true, cell: (e) => whole(e.samples), compare: (a, b) => a.samples - b.samples },
        { key: "name", label, text: true, cell: name, compare: (a, b) => (name(a) < name(b) ? -1 : 1) },
        { key: "object", label: "object", text: true, minor: true, cell: (e) => app.object(e.func), compare: (a, b) => a.func - b.func },
    ];
}

function lineColumns(app: App): Column<LineRow>[] {
    const self = (r: LineRow) => (app.state.metric === "period" ? r.selfPeriod : r.selfSamples);
    const all = () => app.analysis.total()[app.state.metric] || 1;
    return [
        { key: "self", label: "self", cell: (r) => percent(self(r), all()), bar: (r) => self(r) / all(), compare: (a, b) => self(a) - self(b) },
        share(app, "total", "total", "share of all samples with this line in their stack"),
        { key: "samples", label: "samples", minor: true, cell: (r) => whole(r.samples), compare: (a, b) => a.samples - b.samples },
        { key: "line", label: "line", text: true, cell: (r) => r.text, compare: (a, b) => a.file - b.file || a.line - b.line },
    ];
}

export class FunctionView implements ViewOf {
    readonly root = h("div", { class: "view function" });
    private readonly head = h("div", { class: "title big" });
    private readonly callers: Grid<Edge>;
    private readonly callees: Grid<Edge>;
    private readonly lines: Grid<LineRow>;
    private readonly linesBox: HTMLElement;
    private key = "";

    constructor(private readonly app: App) {
        const go = (e: Edge) => e.func >= 0 && app.set({ func: e.func });
        const edges = (label: string, heading: string) => new Grid<Edge>(label, edgeColumns(app, heading), "-share", {
            chosen: (e) => app.point(e.func), entered: go, id: (e) => e.func,
        });
        this.callers = edges("callers", "caller");
        this.callees = edges("callees", "callee");
        this.lines = new Grid<LineRow>("lines", lineColumns(app), "-total", { chosen: () => undefined, entered: () => undefined, id: (r) => r.id });
        const box = (title: string, grid: { root: HTMLElement }) => h("section", { class: "box", "aria-label": title }, h("h2", { class: "label" }, title), grid.root);
        this.linesBox = box("Lines", this.lines);
        this.root.append(this.head, h("div", { class: "boxes" }, box("Callers", this.callers), box("Callees", this.callees), this.linesBox));
    }

    show(fresh: boolean): void {
        const { app } = this;
        const func = app.state.func >= 0 ? app.state.func : this.hottest();
        const key = `${func} ${app.state.metric}`;
        if (!fresh && key === this.key) return;
        this.key = key;
        if (func < 0) {
            put(this.head, "no function has samples here");
            return;
        }
        if (app.pointed < 0) app.point(func);
        this.showHead(func);
        const { callers, callees } = app.analysis.edges(func);
        this.callers.show([...callers], -2, "no callers");
        this.callees.show([...callees], -2, "it calls nothing that was sampled");
        const { strings } = app.tree;
        const rows = app.analysis.lines(func).map((l, id) => ({ ...l, id, text: `${shown(strings[l.file]!) || "?"}:${l.line}` }));
        this.linesBox.hidden = rows.length === 0;
        this.lines.show(rows, -1, "");
    }

    private hottest(): number {
        const { selfPeriod } = this.app.analysis.functions();
        let best = -1;
        selfPeriod.forEach((v, f) => {
            if (v > 0 && (best < 0 || v > selfPeriod[best]!)) best = f;
        });
        return best;
    }

    private showHead(func: number): void {
        const { app } = this;
        const sums = app.analysis.functions();
        const all = app.analysis.total();
        const { grade, level, why } = gradeOf(app, func);
        const unit = app.event.unit;
        const number = (label: string, samples: number, period: number) => {
            const part = app.state.metric === "period" ? [period, all.period] as const : [samples, all.samples] as const;
            return h("div", { class: "number" }, h("span", { class: "dim" }, label), h("strong", {}, percent(...part)),
                h("span", { class: "dim" }, `${whole(samples)} samples · ${quantity(period, unit)}`));
        };
        put(this.head,
            h("div", { class: "what" }, h("h2", {}, app.label(func)), h("p", { class: "dim" }, shown(app.model.object(func)) || "no object"),
                h("p", { class: `grade g${grade}` }, `${GRADES[grade]}, ${level}`, why && h("span", { class: "dim" }, ` – ${why}`))),
            number("self", sums.selfSamples[func]!, sums.selfPeriod[func]!), number("total", sums.samples[func]!, sums.period[func]!));
    }

    focus(): void {
        this.callers.focus();
    }
}
