// SPDX-License-Identifier: Apache-2.0
// Draws the cells of a flame graph.
import type { Cells } from "./layout";
import type { Trie } from "./trie";

export const ROW = 20;
const FONT_SIZE = 12;
const PAD = 5;
/** What the search found, light and dark. */
const FOUND = ["oklch(0.8 0.15 330)", "oklch(0.55 0.2 330)"] as const;

export interface Paint {
    dark: boolean;
    font: string;
    /** Fill of a node. */
    fill(node: number): string;
    label(node: number): string;
    /** 0 exact, 1 inferred, 2 stale, 3 unknown. */
    grade(node: number): number;
    /** Functions that the search found; null: no search. */
    match: Uint8Array | null;
    /** Whether the search found something in a cell of many, which begins at a node. */
    foundIn(first: number, many: number): boolean;
    /** The function that is selected; its other cells are marked too. */
    func: number;
    accent: string;
    background: string;
    ink: string;
}

/** Widths of characters at the size drawn: adding them up costs far less than asking the canvas for each name. */
class Ruler {
    private widths = new Map<number, number>();
    private font = "";

    cut(context: CanvasRenderingContext2D, text: string, room: number): string {
        if (this.font !== context.font) {
            this.font = context.font;
            this.widths.clear();
        }
        const dots = this.width(context, 0x2026);
        let sum = 0;
        let fits = 0;
        for (let i = 0; i < text.length; i++) {
            const code = text.codePointAt(i)!;
            if (code > 0xffff) i++;
            sum += this.width(context, code);
            if (sum + dots <= room) fits = i + 1;
            if (sum > room) return fits < 2 ? "" : text.slice(0, fits) + "…";
        }
        return text;
    }

    private width(context: CanvasRenderingContext2D, code: number): number {
        let w = this.widths.get(code);
        if (w === undefined) this.widths.set(code, (w = context.measureText(String.fromCodePoint(code)).width));
        return w;
    }
}

const ruler = new Ruler();
const hatches = new Map<string, CanvasPattern>();

/** Diagonal lines of one colour. */
function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
    let pattern = hatches.get(colour);
    if (!pattern) {
        const tile = document.createElement("canvas");
        tile.width = tile.height = 6;
        const t = tile.getContext("2d")!;
        t.strokeStyle = colour;
        t.lineWidth = 1.2;
        t.beginPath();
        for (const d of [-6, 0, 6]) {
            t.moveTo(d - 1, 7);
            t.lineTo(d + 7, -1);
        }
        t.stroke();
        const made = context.createPattern(tile, "repeat");
        if (!made) return colour;
        hatches.set(colour, (pattern = made));
    }
    return pattern;
}

/** Inferred: a dotted line below; stale: hatched; unknown: an outline only. */
function paintGrade(context: CanvasRenderingContext2D, grade: number, x: number, y: number, w: number, p: Paint): void {
    if (w < 3) return;
    if (grade === 1) {
        context.fillStyle = p.dark ? "rgb(255 255 255 / 0.55)" : "rgb(0 0 0 / 0.5)";
        for (let dot = x + 2; dot < x + w - 2; dot += 4) context.fillRect(dot, y + ROW - 3, 1.5, 1.5);
    } else if (grade === 2) {
        context.fillStyle = hatch(context, p.dark ? "rgb(255 255 255 / 0.2)" : "rgb(0 0 0 / 0.17)");
        context.fillRect(x, y, w, ROW - 1);
    } else {
        context.strokeStyle = p.dark ? "rgb(255 255 255 / 0.32)" : "rgb(0 0 0 / 0.3)";
        context.lineWidth = 1;
        context.strokeRect(x + 0.5, y + 0.5, w - 1, ROW - 2);
    }
}

function fillOf(p: Paint, node: number, func: number): string {
    if (p.match) {
        if (p.match[func]) return FOUND[p.dark ? 1 : 0];
        return p.dark ? "oklch(0.3 0.008 260)" : "oklch(0.94 0.004 260)";
    }
    return p.fill(node);
}

/** All rectangles first, then all text: changing between the two is what costs. */
export function paintCells(context: CanvasRenderingContext2D, cells: Cells, trie: Trie, p: Paint, width: number, height: number,
    y: (depth: number) => number): void {
    context.fillStyle = p.background;
    context.fillRect(0, 0, width, height);
    const edge = (x: number) => Math.round(x * 2) / 2;
    for (let i = 0; i < cells.count; i++) {
        const node = cells.node[i]!;
        const left = edge(Math.max(-1, cells.x[i]!));
        const right = edge(Math.min(width + 1, cells.x[i]! + cells.w[i]!));
        // A gap of a pixel tells neighbours apart, but not where it would leave nothing of them.
        const w = Math.max(0.5, right - left - (right - left > 2.5 ? 1 : 0.5));
        const top = y(cells.depth[i]!);
        if (cells.merged[i]) {
            const found = p.match && p.foundIn(node, cells.merged[i]!);
            context.fillStyle = found ? FOUND[p.dark ? 1 : 0] : hatch(context, p.dark ? "rgb(255 255 255 / 0.28)" : "rgb(0 0 0 / 0.24)");
            context.fillRect(left, top, w, ROW - 1);
            continue;
        }
        const func = trie.func[node]!;
        const grade = p.grade(node);
        context.fillStyle = fillOf(p, node, func);
        // What has no name is an outline around a breath of its object's colour.
        if (grade === 3 && !p.match) context.globalAlpha = 0.22;
        context.fillRect(left, top, w, ROW - 1);
        context.globalAlpha = 1;
        if (grade) paintGrade(context, grade, left, top, w, p);
        if (func >= 0 && func === p.func && w > 2) {
            context.fillStyle = p.accent;
            context.fillRect(left, top + ROW - 3, w, 2);
        }
    }
    paintLabels(context, cells, p, width, y);
}

function paintLabels(context: CanvasRenderingContext2D, cells: Cells, p: Paint, width: number, y: (depth: number) => number): void {
    context.font = `${FONT_SIZE}px ${p.font}`;
    context.textBaseline = "middle";
    context.direction = "ltr";
    context.fillStyle = p.ink;
    for (let i = 0; i < cells.count; i++) {
        const left = Math.max(0, cells.x[i]!);
        const room = Math.min(width, cells.x[i]! + cells.w[i]!) - left - 2 * PAD;
        if (room < 14 || cells.merged[i]) continue;
        const text = ruler.cut(context, p.label(cells.node[i]!), room);
        if (text) context.fillText(text, left + PAD, y(cells.depth[i]!) + ROW / 2);
    }
}

/** The cell under the mouse, or the one that the keys are at. */
export function paintMark(context: CanvasRenderingContext2D, cells: Cells, i: number, y: (depth: number) => number, focused: boolean, p: Paint): void {
    const left = cells.x[i]!;
    const w = Math.max(2, cells.w[i]! - 1);
    const top = y(cells.depth[i]!);
    context.strokeStyle = focused ? p.accent : p.dark ? "rgb(255 255 255 / 0.75)" : "rgb(0 0 0 / 0.65)";
    context.lineWidth = focused ? 2 : 1;
    const inset = focused ? 1 : 0.5;
    context.strokeRect(Math.max(0, left) + inset, top + inset, Math.min(w, context.canvas.clientWidth - Math.max(0, left)) - 2 * inset, ROW - 1 - 2 * inset);
}
