// SPDX-License-Identifier: Apache-2.0
// Two events or recordings against each other: one tree coloured by what changed, and the functions by how much.
import { difference, type Difference } from "./analysis";
import type { App } from "./app";
import { differenceColour } from "./colour";
import type { Tooltip } from "./describe";
import { h, put, segmented } from "./dom";
import { Graph } from "./graph";
import { type Column, Grid } from "./grid";
import { baseName, shown } from "./names";
import type { EventInfo } from "./tree";
import { large, percent, quantity, signedPercent, whole } from "./units";
import { intervalText, isProved, type Judged, proofText } from "./verdict";
import { crumbs, type ViewOf } from "./views";

interface Row extends Difference {
    func: number;
    name: string;
    amountA: number;
    amountB: number;
    change: number;
    proof: Judged | null;
}

function columns(app: App): Column<Row>[] {
    const unit = () => (app.state.metric === "period" ? app.event.unit : "");
    const side = (key: "a" | "b"): Column<Row> => ({
        key, label: `self ${key.toUpperCase()}`,
        cell: (r) => (app.state.absolute ? quantity(key === "a" ? r.amountA : r.amountB, unit()) : percent(r[key], 1)), compare: (x, y) => x[key] - y[key],
    });
    return [
        {
            key: "change", label: "change", title: "B less A; sorted by what is proved, then by its size",
            cell: (r) => (app.state.absolute ? `${r.change > 0 ? "+" : ""}${large(r.change)}` : signedPercent(r.change)),
            bar: (r) => (app.state.absolute ? r.relative : r.change), compare: (x, y) => Number(isProved(x.proof)) - Number(isProved(y.proof)) || Math.abs(x.change) - Math.abs(y.change),
        },
        side("a"), side("b"),
        { key: "sure", label: "proved", title: "what sonde diff --verdict says", cell: (r) => proofText(r.proof).replace("proved ", ""), compare: (x, y) => (x.proof?.says ?? -1) - (y.proof?.says ?? -1) },
        { key: "interval", label: "interval", minor: true, wide: true, title: "the change of its share lies in it, with that of all other functions, in 95 % of comparisons", cell: (r) => intervalText(r.proof), compare: (x, y) => (x.proof?.low ?? -1) - (y.proof?.low ?? -1) },
        { key: "name", label: "function", text: true, cell: (r) => r.name, compare: (x, y) => (x.name < y.name ? -1 : x.name > y.name ? 1 : 0) },
    ];
}

export class DiffView implements ViewOf {
    readonly root = h("div", { class: "view diff" });
    private readonly graph: Graph;
    private readonly grid: Grid<Row>;
    private readonly bar = h("div", { class: "bar" });
    private width: Float64Array | null = null;
    private widthKey = "";
    private key = "";

    constructor(private readonly app: App, tip: Tooltip) {
        this.graph = new Graph("difference graph", app, tip, { zoomed: (zoom) => app.set({ zoom }) });
        this.grid = new Grid<Row>("changes by function", columns(app), "-change", {
            chosen: (r) => app.set({ func: r.func }), entered: () => app.set({ view: "function" }), id: (r) => r.func,
        });
        this.root.append(this.bar, h("div", { class: "both" }, this.graph.root, h("div", { class: "side" }, this.grid.root)));
    }

    show(fresh: boolean): void {
        const { app } = this;
        const { state, analysis } = app;
        if (analysis.sides.length < 2) return; // the sums of both are on their way
        const { calls, weights } = analysis.weighed(state.comm);
        const key = `${state.metric} ${state.absolute} ${state.comm}`;
        if (fresh || key !== this.widthKey) {
            this.widthKey = key;
            this.width = this.mixed(weights[0]![state.metric], weights[1]![state.metric]);
        }
        this.graph.show({ trie: calls.trie, weights, zoom: state.zoom, up: state.up, width: this.width! });
        this.showBar();
        const rowsKey = `${key} ${state.search}`;
        if (fresh || rowsKey !== this.key) this.grid.show(this.rows(), state.func, "no function has samples here");
        else this.grid.mark(state.func);
        this.key = rowsKey;
    }

    /** A cell is as wide as the mean of its shares: what is only in A or only in B is seen, too. */
    private mixed(a: Float64Array, b: Float64Array): Float64Array {
        const { absolute } = this.app.state;
        const [sizeA, sizeB] = absolute ? [1, 1] : [a[0] || 1, b[0] || 1];
        return a.map((v, x) => v / sizeA + b[x]! / sizeB);
    }

    private rows(): Row[] {
        const { app } = this;
        const { metric, absolute } = app.state;
        const [a, b] = [app.analysis.functions(0), app.analysis.functions(1)];
        const [allA, allB] = [app.analysis.total(0), app.analysis.total(1)];
        const self = metric === "period" ? "selfPeriod" : "selfSamples";
        const rows: Row[] = [];
        for (let func = 0; func < app.model.funcs.count; func++) {
            if ((!a.samples[func] && !b.samples[func]) || (app.match && !app.match[func])) continue;
            const d = difference(a[self][func]!, b[self][func]!, allA[metric], allB[metric], absolute);
            const [amountA, amountB] = [a[self][func]!, b[self][func]!];
            rows.push({ ...d, func, name: app.label(func), amountA, amountB, proof: app.proof(func), change: absolute ? amountB - amountA : d.b - d.a });
        }
        return rows;
    }

    private sideLabel(e: EventInfo, letter: string): string {
        const recording = this.app.tree.recordings[e.recording];
        return `${letter}: ${shown(e.name, 40)}${recording ? ` in ${shown(baseName(recording.path), 40)}` : ""}`;
    }

    /** Why nothing is said about what is proved. */
    private unjudged(): string {
        const { app } = this;
        if (app.judged || !app.tree.verdicts.length) return "";
        return "; proved or not is told of whole recordings, by shares of what was counted";
    }

    private showBar(): void {
        const { app } = this;
        const { events } = app.tree;
        const pick = (label: string, now: number, chosen: (i: number) => void) => {
            const select = h("select", { "aria-label": label, onchange: () => chosen(select.selectedIndex) },
                ...events.map((e, i) => h("option", { selected: i === now }, this.sideLabel(e, label))));
            return select;
        };
        const scale = [-1, -0.5, -0.2, 0, 0.2, 0.5, 1].map((d) => {
            const dot = h("i", { class: "dot", "aria-hidden": "true" });
            dot.style.background = differenceColour(d, true, app.dark);
            return dot;
        });
        const [a, b] = [app.analysis.total(0), app.analysis.total(1)];
        put(this.bar, h("div", { class: "tools" },
            pick("A", app.state.event, (event) => app.set({ event, other: event === app.other ? app.state.event : app.other })), pick("B", app.other, (other) => app.set({ other })),
            segmented("compare", [{ value: "shares", label: "Shares", title: "each against its own total" }, { value: "amounts", label: "Amounts", title: "as they are" }],
                app.state.absolute ? "amounts" : "shares", (v) => app.set({ absolute: v === "amounts" }))),
        h("p", { class: "note" }, `${whole(a.samples)} and ${whole(b.samples)} samples${this.unjudged()}`),
        h("div", { class: "line" }, crumbs(app, app.state.zoom, (zoom) => app.set({ zoom })),
            h("p", { class: "legend" }, h("span", {}, "less in B"), ...scale, h("span", {}, "more in B"), app.judged && h("span", { class: "dim" }, "pale: not proved of the function itself"))));
    }

    focus(): void {
        this.graph.focus();
    }

    next(step: number): void {
        this.graph.next(step);
    }

    back(): boolean {
        if (!this.app.state.zoom.length) return false;
        this.graph.back();
        return true;
    }
}
