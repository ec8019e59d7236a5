// SPDX-License-Identifier: Apache-2.0
// The flame graph on a canvas: scrolling, zooming, hovering, and the keys that walk it. What the cells mean comes from outside.
import { fit, h } from "./dom";
import { Cells, layout, Shape } from "./layout";
import { type Paint, paintCells, paintMark, ROW } from "./paint";
import { Twin } from "./twin";

export interface FlameEvents {
    /** The node was zoomed to by hand. */
    zoomed(node: number): void;
    /** The node was chosen, by hand or by walking; `acted`: clicked or entered. */
    chosen(node: number): void;
    hovered(node: number, merged: number, x: number, y: number): void;
    left(): void;
    back(): void;
    /** What a screen reader says of a node. */
    told(node: number): string;
}

const EASE_MS = 130;

export class Flame {
    readonly root: HTMLElement;
    private readonly canvas = h("canvas", { "aria-hidden": "true" });
    private readonly over = h("canvas", { "aria-hidden": "true", class: "over" });
    private readonly scroller: HTMLElement;
    private readonly spacer = h("div", { class: "spacer" });
    private readonly twin: Twin;
    private readonly cells = new Cells();
    private shape: Shape | null = null;
    private paint: Paint | null = null;
    private up = false;
    private zoom = 0;
    /** Levels at the root that are not drawn. */
    private skip = 0;
    private cursor = 0;
    private hover = -1;
    private view = { from: 0, to: 1 };
    private target = { from: 0, to: 1 };
    private started = 0;
    private frame = 0;
    /** How long the last frames took, in ms: read by the measuring script. */
    readonly times: number[] = [];

    constructor(label: string, private readonly events: FlameEvents) {
        this.twin = new Twin(label, (node) => this.events.told(node));
        const stage = h("div", { class: "stage" }, this.canvas, this.over, this.twin.root);
        this.scroller = h("div", { class: "scroller", tabindex: "-1" }, this.spacer, stage);
        this.root = h("div", { class: "flame" }, this.scroller);
        this.scroller.addEventListener("scroll", () => this.draw());
        this.over.addEventListener("mousemove", (e) => this.moved(e));
        this.over.addEventListener("mouseleave", () => this.left());
        this.over.addEventListener("click", (e) => this.clicked(e));
        this.twin.root.addEventListener("keydown", (e) => this.key(e));
        this.twin.root.addEventListener("focus", () => this.draw());
        this.twin.root.addEventListener("blur", () => this.draw());
        new ResizeObserver(() => this.resized()).observe(this.root);
    }

    focus(): void {
        this.twin.root.focus({ preventScroll: true });
    }

    get place(): { zoom: number; cursor: number } {
        return { zoom: this.zoom, cursor: this.cursor };
    }

    /** A new tree or new weights. */
    show(shape: Shape, paint: Paint, zoom: number, up: boolean, cursor: number, skip = 0): void {
        const same = this.shape?.trie === shape.trie;
        const turned = this.up !== up || !same;
        this.shape = shape;
        this.paint = paint;
        this.up = up;
        this.skip = skip;
        this.cursor = cursor;
        this.hover = -1;
        const moved = this.zoom !== zoom;
        this.zoom = zoom;
        this.size();
        this.aim(same && moved);
        if (turned || moved) this.scrollTo(zoom);
        this.twin.show(shape, zoom, cursor);
        this.draw();
    }

    /** Colours, search or selection changed; the cells stay where they are. */
    repaint(paint: Paint, cursor: number): void {
        this.paint = paint;
        if (cursor !== this.cursor && this.shape) this.walkTo(cursor, false);
        this.draw();
    }

    private size(): void {
        const rows = (this.shape?.trie.deepest ?? 0) + 1 - this.skip;
        this.spacer.style.height = `${Math.min(rows * ROW + 4, 8_000_000)}px`;
    }

    private resized(): void {
        if (this.up) this.scrollTo(this.zoom);
        this.draw();
    }

    private aim(smooth: boolean): void {
        this.target = this.shape!.place(this.zoom);
        const still = !smooth || matchMedia("(prefers-reduced-motion: reduce)").matches;
        this.started = still ? 0 : performance.now();
        if (still) this.view = { ...this.target };
    }

    private top(level: number): number {
        const depth = level - this.skip;
        return this.up ? Math.max(this.spacer.offsetHeight, this.scroller.clientHeight) - (depth + 1) * ROW : depth * ROW;
    }

    /** Keeps two callers of a zoomed node in sight. */
    private scrollTo(node: number): void {
        const depth = Math.max(this.skip, this.shape!.trie.depth[node]! - 2);
        this.scroller.scrollTop = this.up ? this.top(depth) + ROW - this.scroller.clientHeight : this.top(depth);
    }

    private reveal(node: number): void {
        const y = this.top(this.shape!.trie.depth[node]!);
        const { scrollTop, clientHeight } = this.scroller;
        if (y < scrollTop) this.scroller.scrollTop = y - ROW;
        else if (y + ROW > scrollTop + clientHeight) this.scroller.scrollTop = y + 2 * ROW - clientHeight;
    }

    draw(): void {
        this.frame ||= requestAnimationFrame((now) => {
            this.frame = 0;
            const began = performance.now();
            this.drawNow(now);
            this.times.push(performance.now() - began);
            if (this.times.length > 2000) this.times.splice(0, 1000);
        });
    }

    private drawNow(now: number): void {
        const { shape, paint } = this;
        const width = this.scroller.clientWidth;
        const height = this.scroller.clientHeight;
        if (!shape || !paint || width < 2 || height < 2) return;
        this.ease(now);
        const scroll = this.scroller.scrollTop;
        const bottom = Math.max(this.spacer.offsetHeight, height);
        const [top, last] = this.up
            ? [Math.floor((bottom - scroll - height) / ROW) - 1, Math.ceil((bottom - scroll) / ROW)]
            : [Math.floor(scroll / ROW), Math.ceil((scroll + height) / ROW)];
        layout(shape, { ...this.view, pixels: width, top: Math.max(0, top) + this.skip, bottom: last + this.skip }, this.cells);
        const y = (depth: number) => this.top(depth) - scroll;
        paintCells(fit(this.canvas, width, height), this.cells, shape.trie, paint, width, height, y);
        this.drawOver(width, height, y);
    }

    private ease(now: number): void {
        if (!this.started) return;
        const part = Math.min(1, Math.max(0, now - this.started) / EASE_MS);
        const smooth = 1 - (1 - part) ** 3;
        this.view = {
            from: this.view.from + (this.target.from - this.view.from) * smooth,
            to: this.view.to + (this.target.to - this.view.to) * smooth,
        };
        if (part < 1) this.draw();
        else {
            this.started = 0;
            this.view = { ...this.target };
        }
    }

    private drawOver(width: number, height: number, y: (depth: number) => number): void {
        const context = fit(this.over, width, height);
        context.clearRect(0, 0, width, height);
        for (let i = 0; i < this.cells.count; i++) {
            const node = this.cells.node[i]!;
            const focused = node === this.cursor && !this.cells.merged[i] && document.activeElement === this.twin.root;
            if (i === this.hover || focused) paintMark(context, this.cells, i, y, focused, this.paint!);
        }
    }

    private redrawOver(): void {
        const scroll = this.scroller.scrollTop;
        this.drawOver(this.scroller.clientWidth, this.scroller.clientHeight, (depth) => this.top(depth) - scroll);
    }

    private hit(e: MouseEvent): number {
        const box = this.over.getBoundingClientRect();
        const [x, y] = [e.clientX - box.left, e.clientY - box.top + this.scroller.scrollTop];
        const bottom = Math.max(this.spacer.offsetHeight, this.scroller.clientHeight);
        const depth = Math.floor((this.up ? bottom - y : y) / ROW) + this.skip;
        const { cells } = this;
        for (let i = 0; i < cells.count; i++) {
            if (cells.depth[i] === depth && x >= cells.x[i]! && x < cells.x[i]! + Math.max(1, cells.w[i]!)) return i;
        }
        return -1;
    }

    private moved(e: MouseEvent): void {
        const i = this.hit(e);
        if (i !== this.hover) {
            this.hover = i;
            this.redrawOver();
        }
        this.over.style.cursor = i < 0 ? "" : "pointer";
        if (i < 0) this.events.left();
        else this.events.hovered(this.cells.node[i]!, this.cells.merged[i]!, e.clientX, e.clientY);
    }

    private left(): void {
        this.hover = -1;
        this.redrawOver();
        this.events.left();
    }

    private clicked(e: MouseEvent): void {
        const i = this.hit(e);
        this.focus();
        if (i < 0) return;
        let node = this.cells.node[i]!;
        if (this.cells.merged[i]) node = this.shape!.trie.parent[node]!; // the parent's zoom makes the narrow ones wider
        this.walkTo(node, true);
        if (!e.altKey && !e.ctrlKey && !e.metaKey) this.events.zoomed(node);
    }

    private walkTo(node: number, tell: boolean): void {
        this.cursor = node;
        this.reveal(node);
        this.twin.show(this.shape!, this.zoom, node);
        this.draw();
        if (tell) this.events.chosen(node);
    }

    /** The neighbour on the same level: a sibling, else the nearest cell beside it that is drawn. */
    private beside(step: number): number {
        const { shape, cells, cursor } = this;
        const siblings = shape!.children(shape!.trie.parent[cursor]!);
        const next = cursor ? siblings[siblings.indexOf(cursor) + step] : undefined;
        if (next !== undefined) return next;
        const depth = shape!.trie.depth[cursor]!;
        let here = -1;
        for (let i = 0; i < cells.count; i++) if (cells.node[i] === cursor && !cells.merged[i]) here = cells.x[i]!;
        let best = cursor;
        let nearest = Infinity;
        for (let i = 0; i < cells.count; i++) {
            const away = (cells.x[i]! - here) * step;
            if (cells.depth[i] === depth && !cells.merged[i] && away > 0 && away < nearest) [best, nearest] = [cells.node[i]!, away];
        }
        return best;
    }

    private key(e: KeyboardEvent): void {
        if (!this.shape || e.ctrlKey || e.metaKey || e.altKey) return;
        const { trie } = this.shape;
        const away = this.up ? ["ArrowUp", "k"] : ["ArrowDown", "j"];
        const home = this.up ? ["ArrowDown", "j"] : ["ArrowUp", "k"];
        if (away.includes(e.key)) this.walkTo(this.shape.children(this.cursor)[0] ?? this.cursor, true);
        else if (home.includes(e.key)) this.walkTo(trie.parent[this.cursor]!, true);
        else if (e.key === "ArrowLeft" || e.key === "h") this.walkTo(this.beside(-1), true);
        else if (e.key === "ArrowRight" || e.key === "l") this.walkTo(this.beside(1), true);
        else if (e.key === "Enter" || e.key === " ") this.events.zoomed(this.cursor);
        else if (e.key === "Home") {
            this.walkTo(0, true);
            this.events.zoomed(0);
        } else if (e.key === "Backspace" || (e.key === "Escape" && this.zoom)) this.events.back();
        else return;
        e.preventDefault();
        e.stopPropagation();
    }
}
