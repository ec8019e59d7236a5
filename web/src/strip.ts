// SPDX-License-Identifier: Apache-2.0
// The time strip: when there were samples, of all and of each thread or CPU. A range that is chosen here filters everything.
import type { App } from "./app";
import type { Client } from "./client";
import type { Density } from "./density";
import { fit, h, put, segmented, toggle } from "./dom";
import { shownOften } from "./names";
import type { Range } from "./time";
import { clock, duration, percent, step, whole } from "./units";

const OVERVIEW = 34;
const LANE = 15;
const MOST_LANES = 64;
const FEW_LANES = 2;

export class Strip {
    readonly root = h("section", { class: "strip", "aria-label": "time", hidden: true });
    private readonly bar = h("div", { class: "stripbar" });
    private readonly overview = h("canvas", { "aria-hidden": "true" });
    private readonly axis = h("div", { class: "axis", "aria-hidden": "true" });
    private readonly lanes = h("canvas", { "aria-hidden": "true" });
    private readonly labels = h("div", { class: "labels", role: "group", "aria-label": "threads" });
    private readonly brush: HTMLElement;
    private readonly shades = [h("i", { class: "shade" }), h("i", { class: "shade" }), h("i", { class: "edge" }), h("i", { class: "edge" })];
    private readonly area: HTMLElement;
    private readonly sides = h("div", { class: "sides", "aria-hidden": "true" });
    private readonly told = h("output", { class: "told" });
    /** One, or those of A and B. */
    private densities: Density[] = [];
    private asked = "";
    private hovered: string | null = null;
    private drag: { from: number; now: number } | null = null;

    constructor(private readonly app: App, private readonly client: Client) {
        this.brush = h("div", {
            class: "brush", tabindex: "0", role: "slider", "aria-label": "range of time; arrow keys move it, with shift they change its end, plus and minus its length, Escape clears it",
            "aria-valuemin": "0", "aria-valuemax": "1000", "aria-valuenow": "0",
        }, ...this.shades);
        this.area = h("div", { class: "area" }, this.sides, this.overview, this.axis, h("div", { class: "lanes" }, this.labels, this.lanes), this.brush);
        this.root.append(this.bar, this.area);
        this.brush.addEventListener("pointerdown", (e) => this.pressed(e));
        this.brush.addEventListener("pointermove", (e) => this.dragged(e));
        this.brush.addEventListener("pointerup", () => this.released());
        this.brush.addEventListener("pointercancel", () => this.released());
        this.brush.addEventListener("pointerleave", () => {
            this.hovered = null;
            if (this.app.time) this.showBar();
        });
        this.brush.addEventListener("keydown", (e) => this.key(e));
        this.area.addEventListener("scroll", () => this.placeBrush());
        new ResizeObserver(() => this.show()).observe(this.root);
    }

    focus(): void {
        this.brush.focus({ preventScroll: true });
    }

    private get span(): number {
        return this.app.time ? this.app.time.spanNs + this.app.time.unitNs : 1;
    }

    /** What of it is shown. */
    private get view(): Range {
        return this.app.state.span ?? { from: 0, to: this.span };
    }

    private get shown(): number {
        return this.view.to - this.view.from;
    }

    private get gutter(): number {
        return this.labels.offsetWidth;
    }

    private get columns(): number {
        return Math.max(10, Math.floor(this.area.clientWidth - this.gutter));
    }

    show(): void {
        const { app } = this;
        if (!app.time) return;
        this.root.hidden = false;
        const { state } = app;
        this.root.classList.toggle("tall", state.tall);
        this.showBar();
        this.placeBrush();
        const columns = this.columns;
        const { sides } = app;
        this.root.classList.toggle("twosided", sides.length > 1);
        // Of two sides each shall be seen.
        const lanes = sides.length > 1 && !state.tall ? FEW_LANES : MOST_LANES;
        const key = JSON.stringify([sides, lanes, state.lanes, columns, state.span, app.match ? state.search : state.func]);
        if (key === this.asked) {
            this.paint();
            return;
        }
        this.asked = key;
        const [view, marked] = [this.view, app.markedRows];
        this.client.density(sides.map((event) => ({ event, by: state.lanes, columns, view, lanes, marked })), (d) => {
            this.densities = d;
            this.paint();
        });
    }

    private showBar(): void {
        const { app, densities } = this;
        const { state } = app;
        const time = app.time!;
        const range = state.range;
        this.told.textContent = range
            ? `${this.clock(range.from)} – ${this.clock(range.to)} (${duration(range.to - range.from)})`
            : this.hovered ?? duration(time.spanNs);
        const many = densities.reduce((sum, d) => sum + (d.by === state.lanes ? d.lanesInAll : 0), 0);
        const drawn = densities.reduce((sum, d) => sum + (d.by === state.lanes ? d.keys.length : 0), 0);
        const coarse = time.buckets ? `${whole(time.buckets)} steps: the recording is too large for exact times` : "";
        put(this.bar, h("h2", {}, "Time"), this.told,
            range && h("button", { type: "button", class: "link", onclick: () => app.set({ range: null }) }, "clear"),
            range && h("button", { type: "button", class: "link", title: "show only this part of the strip (z)", onclick: () => this.zoomIn() }, "zoom in"),
            state.span && h("button", { type: "button", class: "link", title: "show the whole strip (z)", onclick: () => app.set({ span: null }) }, "whole strip"),
            coarse && h("span", { class: "note" }, coarse), h("span", { class: "gap" }),
            many > drawn && h("span", { class: "note" }, `${drawn} of ${whole(many)} ${state.lanes}s`),
            time.hasCpu && segmented("lanes", [{ value: "thread", label: "Threads" }, { value: "cpu", label: "CPUs" }], state.lanes, (lanes) => app.set({ lanes })),
            many > 4 && toggle(state.tall ? "Fewer lanes" : "More lanes", state.tall, "show more lanes", (tall) => app.set({ tall })));
        this.brush.setAttribute("aria-valuetext", this.told.textContent);
        this.brush.setAttribute("aria-valuenow", String(Math.round(((range?.from ?? 0) / this.span) * 1000)));
    }

    private clock(ns: number): string {
        return clock(ns, step(this.shown, 1000), this.view.to);
    }

    private zoomIn(): void {
        this.app.set({ span: this.app.state.range });
    }

    /** To the range and back to the whole, by key. */
    flipZoom(): void {
        const { span, range } = this.app.state;
        const same = span && range && span.from === range.from && span.to === range.to;
        this.app.set({ span: same ? null : range });
    }

    private placeBrush(): void {
        const gutter = this.gutter;
        this.brush.style.left = `${gutter}px`;
        this.brush.style.height = `${Math.max(OVERVIEW, this.area.scrollHeight)}px`;
        const range = this.app.state.range;
        this.brush.classList.toggle("on", range !== null);
        if (!range) return;
        const x = (ns: number) => Math.max(0, Math.min(100, (100 * (ns - this.view.from)) / this.shown));
        const [left, right, first, last] = this.shades as [HTMLElement, HTMLElement, HTMLElement, HTMLElement];
        left.style.left = "0";
        left.style.width = `${x(range.from)}%`;
        right.style.left = `${x(range.to)}%`;
        right.style.width = `${100 - x(range.to)}%`;
        first.style.left = `${x(range.from)}%`;
        last.style.left = `${x(range.to)}%`;
    }

    // --- drawing ---

    private paint(): void {
        const all = this.densities;
        if (!all.length) return;
        this.showBar();
        this.showLabels();
        const style = getComputedStyle(document.body);
        const colours = { plain: style.getPropertyValue("--density").trim(), marked: style.getPropertyValue("--accent").trim() };
        this.paintOverview(all, colours);
        this.paintLanes(all, colours);
        this.showAxis(all[0]!.columns);
        this.placeBrush();
    }

    /** One below the other, in the same scale. */
    private paintOverview(all: Density[], colours: { plain: string; marked: string }): void {
        const columns = all[0]!.columns;
        const context = fit(this.overview, columns, all.length * OVERVIEW);
        this.overview.style.marginLeft = `${this.gutter}px`;
        context.clearRect(0, 0, columns, all.length * OVERVIEW);
        let most = 1;
        for (const d of all) for (let x = 0; x < columns; x++) most = Math.max(most, d.counts[x]!);
        all.forEach((d, side) => {
            const bottom = (side + 1) * OVERVIEW;
            for (const [sums, colour] of [[d.counts, colours.plain], [d.marked, colours.marked]] as const) {
                if (!sums) continue;
                context.fillStyle = colour;
                for (let x = 0; x < columns; x++) {
                    const tall = (sums[x]! / most) * (OVERVIEW - 2);
                    if (tall > 0) context.fillRect(x, bottom - tall, 1, tall);
                }
            }
        });
    }

    private paintLanes(all: Density[], colours: { plain: string; marked: string }): void {
        const many = all.reduce((sum, d) => sum + d.keys.length, 0);
        const columns = all[0]!.columns;
        const context = fit(this.lanes, columns, Math.max(1, many * LANE));
        context.clearRect(0, 0, columns, many * LANE);
        let most = 1;
        for (const d of all) for (let i = columns; i < d.counts.length; i++) most = Math.max(most, d.counts[i]!);
        let first = 0;
        for (const d of all) {
            this.paintLanesOf(d, colours, context, first, most);
            first += d.keys.length;
        }
    }

    /** One pixel for each lane and column, drawn larger: thousands of rectangles would take too long. */
    private paintLanesOf(d: Density, colours: { plain: string; marked: string }, context: CanvasRenderingContext2D, first: number, most: number): void {
        const many = d.keys.length;
        if (!many) return;
        const small = h("canvas", { width: d.columns, height: many });
        const pixels = small.getContext("2d")!;
        context.imageSmoothingEnabled = false;
        for (const [sums, colour] of [[d.counts, colours.plain], [d.marked, colours.marked]] as const) {
            if (!sums) continue;
            const rgb = parseInt(colour.slice(1), 16);
            const image = pixels.createImageData(d.columns, many);
            const words = new Uint32Array(image.data.buffer);
            const base = ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >>> 16); // little endian: A B G R
            for (let i = 0; i < words.length; i++) {
                const part = sums[d.columns + i]! / most;
                if (part > 0) words[i] = base | (Math.round(50 + 205 * Math.sqrt(part)) << 24);
            }
            pixels.putImageData(image, 0, 0);
            for (let lane = 0; lane < many; lane++) context.drawImage(small, 0, lane, d.columns, 1, 0, (first + lane) * LANE + 1, d.columns, LANE - 3);
        }
    }

    private showLabels(): void {
        const { tree, state } = this.app;
        const all = this.densities;
        const names = all.length > 1 ? ["A", "B"] : [""];
        this.sides.replaceChildren(...names.filter(Boolean).map((name, i) => {
            const mark = h("span", {}, name);
            mark.style.top = `${i * OVERVIEW + 2}px`;
            return mark;
        }));
        put(this.labels, ...all.flatMap((d, side) => {
            const chosen = d.by === "thread" ? state.threads : state.cpus;
            return d.keys.map((key, i) => {
                const name = d.by === "cpu" ? (key ? `CPU ${key - 1}` : "CPU unknown")
                    : `${shownOften(tree.strings[tree.thread.comm[key] ?? 0] ?? "")} ${tree.thread.tid[key] ?? ""}`;
                const label = names[side] ? `${names[side]} ${name}` : name;
                return h("button", {
                    type: "button", "aria-pressed": String(chosen.includes(key)),
                    title: `${label}: ${percent(d.totals[i]!, tree.events[d.event]!.samples)}; only this one`, onclick: () => this.choose(d.by, key),
                }, label);
            });
        }));
    }

    private choose(by: "thread" | "cpu", key: number): void {
        const { threads, cpus } = this.app.state;
        const flip = (list: number[]) => (list.includes(key) ? list.filter((k) => k !== key) : [...list, key]);
        this.app.set(by === "thread" ? { threads: flip(threads) } : { cpus: flip(cpus) });
    }

    private showAxis(columns: number): void {
        const { from, to } = this.view;
        const every = step(to - from, columns / 110);
        const marks: HTMLElement[] = [];
        for (let t = Math.ceil(from / every) * every; t < to; t += every) {
            const x = ((t - from) / (to - from)) * columns;
            if (x > columns - 50) break;
            const mark = h("span", {}, clock(t, every, to));
            mark.style.left = `${x + this.gutter}px`;
            marks.push(mark);
        }
        put(this.axis, ...marks);
    }

    // --- choosing a range ---

    private timeAt(e: PointerEvent): number {
        const box = this.brush.getBoundingClientRect();
        return this.view.from + Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * this.shown;
    }

    private pressed(e: PointerEvent): void {
        if (e.button) return;
        this.brush.setPointerCapture(e.pointerId);
        const at = this.timeAt(e);
        const range = this.app.state.range;
        const near = (6 / this.columns) * this.shown;
        let from = at;
        if (range && Math.abs(at - range.from) < near) from = range.to;
        else if (range && Math.abs(at - range.to) < near) from = range.from;
        this.drag = { from, now: at };
    }

    private dragged(e: PointerEvent): void {
        if (!this.drag) {
            this.hovered = `at ${this.clock(this.timeAt(e))}`;
            if (!this.app.state.range) this.told.textContent = this.hovered;
            return;
        }
        this.drag.now = this.timeAt(e);
        if (Math.abs(this.drag.now - this.drag.from) > (2 / this.columns) * this.shown) this.app.set({ range: this.dragRange() }, true);
    }

    private released(): void {
        if (!this.drag) return;
        const wide = Math.abs(this.drag.now - this.drag.from) > (2 / this.columns) * this.shown;
        const range = wide ? this.dragRange() : null;
        this.drag = null;
        this.app.set({ range });
    }

    private dragRange(): Range {
        const { from, now } = this.drag!;
        return this.whole({ from: Math.min(from, now), to: Math.max(from, now) });
    }

    private whole(range: Range): Range {
        const from = Math.max(0, Math.round(range.from));
        return { from, to: Math.max(from + 1, Math.min(Math.ceil(this.span), Math.round(range.to))) };
    }

    private key(e: KeyboardEvent): void {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const { range } = this.app.state;
        const now = range ?? { from: this.view.from, to: this.view.from + this.shown / 10 };
        const size = now.to - now.from;
        const small = Math.max(this.shown / 100, 1);
        const moved = (by: number) => {
            const room = Math.max(-now.from, Math.min(this.span - now.to, by));
            return { from: now.from + room, to: now.to + room };
        };
        let next: Range | null;
        if (e.key === "Escape" && range) next = null;
        else if (e.key === "ArrowRight" || e.key === "l") next = moved(small);
        else if (e.key === "ArrowLeft" || e.key === "h") next = moved(-small);
        else if (e.key === "Home") next = moved(-this.span);
        else if (e.key === "End") next = moved(this.span);
        else if (e.key === "+" || e.key === "=") next = { from: now.from - size / 4, to: now.to + size / 4 };
        else if (e.key === "-") next = { from: now.from + size / 6, to: now.to - size / 6 };
        else return;
        if (e.shiftKey && e.key.startsWith("Arrow")) next = { from: now.from, to: Math.max(now.from + 1, now.to + (e.key === "ArrowRight" ? small : -small)) };
        e.preventDefault();
        e.stopPropagation();
        this.app.set({ range: next && (range || e.key !== "-") ? this.whole(next) : null }, next !== null);
    }
}
