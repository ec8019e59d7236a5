// SPDX-License-Identifier: Apache-2.0
// A table of any length: only the rows in sight exist. Sorted by the column headings, walked with the arrow keys.
import { h, put } from "./dom";

export interface Column<T> {
    key: string;
    label: string;
    title?: string;
    /** Left out on narrow screens. */
    minor?: boolean;
    /** Its cells are twice as long as those of a number. */
    wide?: boolean;
    /** Names are text and take the room that is left; the others are numbers. */
    text?: boolean;
    cell(row: T): string;
    /** What the cell says in full, where its text is rounded: shown on hover. */
    full?(row: T): string;
    /** A bar behind the number: 0 to 1; below 0 it is of the other colour. */
    bar?(row: T): number;
    compare(a: T, b: T): number;
}

export interface GridEvents<T> {
    chosen(row: T): void;
    entered(row: T): void;
    sorted?(key: string): void;
    id(row: T): number;
}

const ROW = 26;
let grids = 0;

export class Grid<T> {
    readonly root: HTMLElement;
    private readonly head = h("div", { role: "row", class: "row head" });
    private readonly body = h("div", { class: "rows", role: "rowgroup" });
    private readonly empty = h("p", { class: "empty", hidden: true });
    private readonly id = `grid${++grids}`;
    private all: T[] = [];
    private sort = "";
    private cursor = -1;
    private pending = 0;
    private drawn = "";
    /** The longest bar of each column: it fills its cell. */
    private longest = new Map<Column<T>, number>();

    constructor(label: string, private readonly columns: Column<T>[], sort: string, private readonly events: GridEvents<T>) {
        this.root = h("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": label },
            h("div", { role: "rowgroup", class: "headgroup" }, this.head), this.body);
        this.sort = sort;
        this.root.addEventListener("scroll", () => this.draw());
        this.root.addEventListener("keydown", (e) => this.key(e));
        this.body.addEventListener("click", (e) => this.clicked(e, false));
        this.body.addEventListener("dblclick", (e) => this.clicked(e, true));
        new ResizeObserver(() => this.draw()).observe(this.root);
        this.heads();
    }

    /** `chosen`: the id of the row to mark; `none`: what to say where there is no row. */
    show(rows: T[], chosen: number, none: string, sort = this.sort): void {
        this.all = rows;
        if (sort !== this.sort) {
            this.sort = sort;
            this.heads();
        }
        this.order();
        for (const c of this.columns) if (c.bar) this.longest.set(c, rows.reduce((most, row) => Math.max(most, Math.abs(c.bar!(row))), 0));
        this.mark(chosen);
        this.empty.textContent = none;
        this.empty.hidden = rows.length > 0;
        this.root.setAttribute("aria-rowcount", String(rows.length + 1));
        this.drawn = "";
        this.draw();
    }

    mark(chosen: number): void {
        const at = this.all.findIndex((row) => this.events.id(row) === chosen);
        if (at === this.cursor) return;
        this.cursor = at;
        if (at >= 0) this.reveal();
        this.drawn = "";
        this.draw();
    }

    focus(): void {
        this.root.focus({ preventScroll: true });
    }

    private order(): void {
        const column = this.columns.find((c) => c.key === this.sort.replace("-", "")) ?? this.columns[0]!;
        const sign = this.sort.startsWith("-") ? -1 : 1;
        this.all.sort((a, b) => sign * column.compare(a, b) || this.events.id(a) - this.events.id(b));
    }

    private heads(): void {
        put(this.head, ...this.columns.map((c) => {
            const now = this.sort.replace("-", "") === c.key;
            const down = this.sort.startsWith("-");
            return h("div", { role: "columnheader", class: this.classOf(c), "aria-sort": now ? (down ? "descending" : "ascending") : "none" },
                h("button", { type: "button", title: c.title, onclick: () => this.resort(c) }, c.label, now ? (down ? " ↓" : " ↑") : ""));
        }));
    }

    private resort(c: Column<T>): void {
        const now = this.sort.replace("-", "") === c.key;
        this.sort = now ? (this.sort.startsWith("-") ? c.key : `-${c.key}`) : c.text ? c.key : `-${c.key}`;
        const chosen = this.all[this.cursor];
        this.heads();
        this.order();
        this.cursor = chosen ? this.all.indexOf(chosen) : -1;
        this.root.scrollTop = 0;
        this.drawn = "";
        this.draw();
        this.events.sorted?.(this.sort);
    }

    private classOf(c: Column<T>): string {
        return `cell${c.text ? " text" : ""}${c.minor ? " minor" : ""}${c.wide ? " wide" : ""}`;
    }

    draw(): void {
        this.pending ||= requestAnimationFrame(() => {
            this.pending = 0;
            this.drawNow();
        });
    }

    private drawNow(): void {
        const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - 4);
        const last = Math.min(this.all.length, first + Math.ceil(this.root.clientHeight / ROW) + 8);
        const key = `${first} ${last}`;
        if (key === this.drawn) return;
        this.drawn = key;
        this.body.style.height = `${Math.min(this.all.length * ROW, 8_000_000)}px`;
        const rows: HTMLElement[] = [];
        for (let i = first; i < last; i++) rows.push(this.row(this.all[i]!, i));
        put(this.body, ...rows, this.empty);
        const active = this.cursor >= first && this.cursor < last ? `${this.id}-${this.cursor}` : "";
        if (active) this.root.setAttribute("aria-activedescendant", active);
        else this.root.removeAttribute("aria-activedescendant");
    }

    private row(row: T, i: number): HTMLElement {
        const line = h("div", {
            role: "row", class: "row", id: `${this.id}-${i}`, "aria-rowindex": i + 2, "aria-selected": String(i === this.cursor),
        }, ...this.columns.map((c) => this.cell(c, row)));
        line.style.transform = `translateY(${i * ROW}px)`;
        return line;
    }

    private cell(c: Column<T>, row: T): HTMLElement {
        const text = c.cell(row);
        const cell = h("div", { role: "gridcell", class: this.classOf(c), title: c.full ? c.full(row) : c.text ? text : undefined }, text);
        const bar = c.bar?.(row) ?? 0;
        if (bar) {
            const strip = h("i", { class: bar < 0 ? "bar less" : "bar", "aria-hidden": "true" });
            strip.style.width = `${Math.min(100, (100 * Math.abs(bar)) / (this.longest.get(c) || 1))}%`;
            cell.prepend(strip);
        }
        return cell;
    }

    private reveal(): void {
        const y = this.cursor * ROW;
        const { scrollTop, clientHeight } = this.root;
        const room = clientHeight - ROW; // the headings cover the first row
        if (y < scrollTop) this.root.scrollTop = y;
        else if (y + ROW > scrollTop + room) this.root.scrollTop = y + ROW - room;
    }

    private walk(to: number): void {
        if (!this.all.length) return;
        this.cursor = Math.max(0, Math.min(this.all.length - 1, to));
        this.reveal();
        this.drawn = "";
        this.draw();
        this.events.chosen(this.all[this.cursor]!);
    }

    private clicked(e: MouseEvent, twice: boolean): void {
        const line = (e.target as Element).closest('[role="row"]');
        if (!line) return;
        const i = Number(line.getAttribute("aria-rowindex")) - 2;
        if (twice) this.events.entered(this.all[i]!);
        else this.walk(i);
    }

    private key(e: KeyboardEvent): void {
        if (e.target !== this.root || e.ctrlKey || e.metaKey || e.altKey) return;
        const page = Math.max(1, Math.floor(this.root.clientHeight / ROW) - 2);
        const steps: Record<string, number> = {
            ArrowDown: this.cursor + 1, j: this.cursor + 1, ArrowUp: this.cursor - 1, k: this.cursor - 1, PageDown: this.cursor + page,
            PageUp: this.cursor - page, Home: 0, End: this.all.length - 1,
        };
        if (e.key in steps) this.walk(steps[e.key]!);
        else if (e.key === "Enter" && this.cursor >= 0) this.events.entered(this.all[this.cursor]!);
        else return;
        e.preventDefault();
        e.stopPropagation();
    }
}
