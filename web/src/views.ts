// SPDX-License-Identifier: Apache-2.0
// The views below the time strip: flame graph, table, sandwich. Each shows the present state when told to.
import type { App } from "./app";
import { functionColumns, type FunctionRow, functionRows } from "./columns";
import { type Tooltip } from "./describe";
import { h, put, segmented, toggle } from "./dom";
import { Graph } from "./graph";
import { Grid } from "./grid";
import { percent, whole } from "./units";

export interface ViewOf {
    readonly root: HTMLElement;
    show(fresh: boolean): void;
    focus(): void;
    /** To the next find of the search. */
    next?(step: number): void;
    back?(): boolean;
}

/** Which colours mean what, with shares of the whole recording. */
export function legend(app: App): HTMLElement {
    const { palette } = app;
    return h("ul", { class: "legend", tabindex: innerWidth > 720 ? undefined : "0", "aria-label": `colours by ${app.state.colour}, with their share of self` }, ...palette.legend.map((l) => {
        const dot = h("i", { class: "dot", "aria-hidden": "true" });
        dot.style.background = l.fill;
        return h("li", {}, dot, l.label, h("span", { class: "dim" }, ` ${percent(l.share, 1)}`));
    }));
}

/** The callers of the zoomed node, each a way back to it. */
export function crumbs(app: App, zoom: number[], go: (path: number[]) => void): HTMLElement {
    const item = (label: string, path: number[], last: boolean) =>
        h("li", {}, h("button", { type: "button", title: label, "aria-current": last ? "true" : undefined, onclick: () => go(path) }, label));
    if (!zoom.length) return h("p", { class: "crumbs note" }, "Click or Enter zooms, Esc goes back, / searches, arrow keys walk.");
    const nav = h("nav", { class: "crumbs", "aria-label": "callers of what is shown" }, h("ol", {},
        item("all", [], !zoom.length), ...zoom.map((f, i) => item(app.label(f), zoom.slice(0, i + 1), i === zoom.length - 1))));
    requestAnimationFrame(() => (nav.scrollLeft = nav.scrollWidth));
    return nav;
}

function tools(app: App): HTMLElement {
    const s = app.state;
    return h("div", { class: "tools" },
        segmented("tree", [{ value: "calls", label: "Calls" }, { value: "callers", label: "Callers", title: "functions by their own time, and who called them (i)" }],
            s.turned ? "callers" : "calls", (v) => app.set({ turned: v === "callers", zoom: [] })),
        segmented("order of siblings", [{ value: "weight", label: "Heaviest" }, { value: "name", label: "By name" }], s.order, (order) => app.set({ order })),
        segmented("direction", [{ value: "down", label: "Icicle" }, { value: "up", label: "Flame" }], s.up ? "up" : "down", (v) => app.set({ up: v === "up" })),
        segmented("colours", [{ value: "object", label: "Object" }, { value: "kind", label: "Kind" }, { value: "grade", label: "Grade" }], s.colour, (colour) => app.set({ colour })),
        !s.turned && toggle("Thread names", s.comm, "threads' names (comm) as the first level", (comm) => app.set({ comm, zoom: [] })));
}

export class FlameView implements ViewOf {
    readonly root = h("div", { class: "view" });
    private readonly graph: Graph;
    private readonly bar = h("div", { class: "bar" });

    constructor(private readonly app: App, tip: Tooltip) {
        this.graph = new Graph("flame graph", app, tip, { zoomed: (zoom) => app.set({ zoom }) });
        this.root.append(this.bar, this.graph.root);
    }

    show(): void {
        const { app } = this;
        const { state, analysis } = app;
        const go = (zoom: number[]) => app.set({ zoom });
        if (state.turned) {
            const d = analysis.inverted();
            this.graph.show({ trie: d.trie, weights: d.weights, zoom: state.zoom, up: state.up });
        } else {
            const { calls, weights } = analysis.weighed(state.comm);
            this.graph.show({ trie: calls.trie, weights, zoom: state.zoom, up: state.up });
        }
        const cut = state.turned && analysis.inverted().cut ? "far callers are left out" : "";
        put(this.bar, tools(app), cut && h("p", { class: "note" }, cut), h("div", { class: "line" }, crumbs(app, state.zoom, go), legend(app)));
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

/** A table of functions whose chosen row is the chosen function. */
export function functionGrid(app: App, label: string, short: boolean, entered: (row: FunctionRow) => void): Grid<FunctionRow> {
    return new Grid<FunctionRow>(label, functionColumns(app, short), app.state.sort, {
        chosen: (row) => app.set({ func: row.func }), entered, id: (row) => row.func,
        ...(short ? {} : { sorted: (sort: string) => app.set({ sort }) }),
    });
}

export class TableView implements ViewOf {
    readonly root = h("div", { class: "view" });
    private readonly grid: Grid<FunctionRow>;
    private readonly count = h("p", { class: "note" });
    private key = "";

    constructor(private readonly app: App) {
        this.grid = functionGrid(app, "functions", false, () => app.set({ view: "function" }));
        this.root.append(h("div", { class: "bar" }, this.count), this.grid.root);
    }

    show(fresh: boolean): void {
        const { app } = this;
        const key = `${app.state.search} ${app.state.metric} ${app.state.sort}`;
        if (!fresh && key === this.key) {
            this.grid.mark(app.state.func);
            return;
        }
        this.key = key;
        const rows = functionRows(app);
        this.grid.show(rows, app.state.func, "no function has samples here", app.state.sort);
        this.count.textContent = `${whole(rows.length)} functions${app.match ? ` match “${app.state.search}”` : ""}, Enter opens one`;
    }

    focus(): void {
        this.grid.focus();
    }
}

export class SandwichView implements ViewOf {
    readonly root = h("div", { class: "view split" });
    private readonly grid: Grid<FunctionRow>;
    private readonly above: Graph;
    private readonly below: Graph;
    private readonly title = h("div", { class: "title" });
    private zooms: { above: number[]; below: number[] } = { above: [], below: [] };
    private func = -1;
    private key = "";

    constructor(private readonly app: App, tip: Tooltip) {
        this.grid = functionGrid(app, "functions", true, () => this.below.focus());
        this.above = new Graph("callers", app, tip, { stays: true, zoomed: (above) => this.zoom({ above }) });
        this.below = new Graph("callees", app, tip, { stays: true, zoomed: (below) => this.zoom({ below }) });
        this.root.append(h("div", { class: "side" }, this.grid.root), h("div", { class: "sandwich" },
            h("div", { class: "half" }, h("h2", { class: "label" }, "Callers"), this.above.root), this.title,
            h("div", { class: "half" }, h("h2", { class: "label" }, "Callees"), this.below.root)));
    }

    private zoom(change: Partial<SandwichView["zooms"]>): void {
        this.zooms = { ...this.zooms, ...change };
        this.show(false);
    }

    /** Cells that are walked over are selected; the sandwich stays on its function until another row is chosen. */
    private centre(rows: FunctionRow[]): number {
        const { func } = this.app.state;
        if (func >= 0) return func;
        return rows.reduce((best, r) => (best < 0 || r.selfPeriod > rows.find((x) => x.func === best)!.selfPeriod ? r.func : best), -1);
    }

    show(fresh: boolean): void {
        const { app } = this;
        const key = `${app.state.search} ${app.state.metric}`;
        if (fresh || key !== this.key) {
            this.key = key;
            this.grid.show(functionRows(app), app.state.func, "no function has samples here");
        }
        const func = this.centre(fresh || this.func < 0 ? functionRows(app) : []);
        if (func >= 0 && func !== this.func) {
            this.func = func;
            this.zooms = { above: [], below: [] };
        }
        this.grid.mark(this.func);
        if (this.func < 0) return;
        const up = app.analysis.callers(this.func);
        const down = app.analysis.callees(this.func);
        const share = percent(down.weights[0]![app.state.metric][0]!, app.analysis.total()[app.state.metric]);
        put(this.title, h("strong", {}, app.label(this.func)), h("span", { class: "dim" }, ` ${app.object(this.func)} `), `total ${share}`);
        const inner = (d: typeof up) => ({ trie: d.trie, weights: d.weights });
        this.above.show({ ...inner(up), zoom: this.zooms.above, up: true, bare: true });
        this.below.show({ ...inner(down), zoom: this.zooms.below, up: false, bare: true });
    }

    focus(): void {
        this.grid.focus();
    }

    next(step: number): void {
        this.below.next(step);
    }
}
