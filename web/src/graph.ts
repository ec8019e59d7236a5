// SPDX-License-Identifier: Apache-2.0
// A flame graph of the profile: joins the canvas with what its cells mean. Used by the views, each with its own tree.
import { type Difference, difference } from "./analysis";
import type { App } from "./app";
import { differenceColour } from "./colour";
import { gradeOf, type Subject, type Tooltip, tooltip, told } from "./describe";
import { Flame } from "./flame";
import { Shape } from "./layout";
import type { Paint } from "./paint";
import type { Trie, Weights } from "./trie";
import { isProved } from "./verdict";

export interface GraphWanted {
    trie: Trie;
    weights: Weights[];
    zoom: number[];
    up: boolean;
    /** The root is not drawn: it would only repeat the level below it. */
    bare?: boolean;
    /** Where the widths differ from those of the metric. */
    width?: Float64Array;
}

export interface GraphEvents {
    zoomed(path: number[]): void;
    /** Walking selects functions unless the view stays with the one it has. */
    stays?: boolean;
}

export class Graph {
    readonly flame: Flame;
    private wanted: GraphWanted | null = null;
    private shape: Shape | null = null;
    private shapeKey = "";
    private readonly zooms: number[][] = [];
    private matchAt = 0;
    /** Which nodes have a find at or below them. */
    private below: { match: Uint8Array; trie: Trie; has: Uint8Array } | null = null;

    constructor(label: string, private readonly app: App, private readonly tip: Tooltip, private readonly events: GraphEvents) {
        this.flame = new Flame(label, {
            zoomed: (node) => this.zoomed(node),
            chosen: (node) => this.chosen(node),
            hovered: (node, merged, x, y) => this.tip.show(`${label} ${node} ${merged}`, () => tooltip(app, this.subject(node), merged), x, y),
            left: () => this.tip.hide(),
            back: () => this.back(),
            told: (node) => told(app, this.subject(node)),
        });
    }

    get root(): HTMLElement {
        return this.flame.root;
    }

    subject(node: number): Subject {
        return { trie: this.wanted!.trie, weights: this.wanted!.weights, node, zoom: this.flame.place.zoom };
    }

    show(wanted: GraphWanted): void {
        const { metric, order } = this.app.state;
        const key = `${metric} ${order}`;
        const before = this.wanted;
        this.tip.hide();
        if (!this.shape || before?.trie !== wanted.trie || before.weights !== wanted.weights || before.width !== wanted.width || key !== this.shapeKey) {
            this.shapeKey = key;
            this.shape = new Shape(wanted.trie, wanted.width ?? wanted.weights[0]![metric], order, (f) => this.app.model.name(f));
        }
        this.wanted = wanted;
        const zoom = this.shape.follow(wanted.zoom);
        const { cursor } = this.flame.place;
        const keep = before?.trie === wanted.trie && cursor < wanted.trie.size && this.shape.width[cursor]! > 0;
        this.flame.show(this.shape, this.paint(), zoom, wanted.up, keep ? cursor : zoom, wanted.bare ? 1 : 0);
    }

    focus(): void {
        this.flame.focus();
    }

    /** Path of functions to the cursor, for what wants to go on from there. */
    get path(): number[] {
        return this.shape ? this.shape.path(this.flame.place.cursor) : [];
    }

    private paint(): Paint {
        const { app } = this;
        const { trie, weights } = this.wanted!;
        const style = getComputedStyle(document.body);
        const { palette } = app;
        return {
            dark: app.dark, font: style.fontFamily, match: app.match, func: app.state.func, accent: style.getPropertyValue("--accent").trim(),
            background: style.getPropertyValue("--panel").trim(), ink: style.getPropertyValue("--ink").trim(),
            fill: weights.length > 1 ? (node) => this.differenceFill(node) : (node) => palette.of(trie.func[node]!),
            foundIn: (first, many) => this.foundIn(first, many),
            label: (node) => app.label(trie.func[node]!),
            grade: (node) => gradeOf(app, trie.func[node]!).grade,
        };
    }

    /** Narrow siblings that are drawn as one cell: also what is below them counts. */
    private foundIn(first: number, many: number): boolean {
        const { match } = this.app;
        const { trie } = this.wanted!;
        if (!match) return false;
        if (this.below?.match !== match || this.below.trie !== trie) {
            const has = new Uint8Array(trie.size);
            for (let x = trie.size - 1; x > 0; x--) {
                if (match[trie.func[x]!]) has[x] = 1;
                if (has[x]) has[trie.parent[x]!] = 1;
            }
            this.below = { match, trie, has };
        }
        const siblings = this.shape!.children(trie.parent[first]!);
        const from = siblings.indexOf(first);
        for (let i = from; i < from + many; i++) if (this.below.has[siblings[i]!]) return true;
        return false;
    }

    difference(node: number): Difference {
        const [a, b] = this.wanted!.weights as [Weights, Weights];
        const { metric, absolute } = this.app.state;
        return difference(a[metric][node]!, b[metric][node]!, a[metric][0]!, b[metric][0]!, absolute);
    }

    private differenceFill(node: number): string {
        const { app } = this;
        const strong = !app.judged || isProved(app.proof(this.wanted!.trie.func[node]!));
        return differenceColour(this.difference(node).relative, strong, app.dark);
    }

    private chosen(node: number): void {
        const func = this.wanted!.trie.func[node]!;
        const real = func < this.app.model.funcs.count ? func : -1;
        if (this.events.stays) this.app.point(real);
        else this.app.set({ func: real });
    }

    private zoomed(node: number): void {
        const now = this.wanted!.zoom;
        const path = this.shape!.path(node);
        if (path.join() === now.join()) return;
        this.zooms.push(now);
        this.events.zoomed(path);
    }

    /** To the zoom before, or one caller up where there was none. */
    back(): void {
        const now = this.wanted?.zoom ?? [];
        if (!now.length) return;
        this.events.zoomed(this.zooms.pop() ?? now.slice(0, -1));
    }

    /** Moves to the next (or the previous) node that the search found. */
    next(step: number): void {
        const { match } = this.app;
        const { shape } = this;
        if (!match || !shape) return;
        const { trie, width } = shape;
        let x = this.flame.place.cursor || this.matchAt;
        for (let i = 0; i < trie.size; i++) {
            x = (x + step + trie.size) % trie.size;
            if (x && match[trie.func[x]!] && width[x]! > 0) break;
        }
        if (!x || !match[trie.func[x]!]) return;
        this.matchAt = x;
        // Too narrow to be seen where it is: zoom to the nearest caller that is wide enough.
        let zoom = this.flame.place.zoom;
        const room = Math.max(1, this.root.clientWidth);
        if (x < zoom || x >= trie.end[zoom]! || (width[x]! / width[zoom]!) * room < 4) {
            zoom = x;
            while (zoom && (width[x]! / width[trie.parent[zoom]!]!) * room > 24) zoom = trie.parent[zoom]!;
            this.zoomed(zoom);
        }
        this.flame.repaint(this.paint(), x);
        this.chosen(x);
    }
}
