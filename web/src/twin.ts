// SPDX-License-Identifier: Apache-2.0
// The flame graph as a tree of text, for screen readers: it has the focus, the canvas only shows where it is. Only the way to
// the current node, its siblings and its children are there; the others appear as one walks.
import { h, put } from "./dom";
import type { Shape } from "./layout";

const MOST_SIBLINGS = 24;
let trees = 0;

export class Twin {
    readonly root: HTMLElement;
    private readonly id = `tree${++trees}`;

    constructor(label: string, private readonly told: (node: number) => string) {
        this.root = h("div", { class: "twin", role: "tree", tabindex: "0", "aria-label": label });
    }

    show(shape: Shape, zoom: number, cursor: number): void {
        const path: number[] = [];
        for (let x = cursor; x > 0; x = shape.trie.parent[x]!) path.push(x);
        path.push(0);
        path.reverse();
        const items: HTMLElement[] = [];
        path.slice(0, -1).forEach((node) => items.push(this.item(shape, node, zoom, cursor)));
        const parent = shape.trie.parent[cursor]!;
        const siblings = cursor ? shape.children(parent) : Uint32Array.of(0);
        const at = siblings.indexOf(cursor);
        const near = siblings.slice(Math.max(0, at - MOST_SIBLINGS), at + MOST_SIBLINGS + 1);
        for (const node of near.length ? near : [cursor]) {
            items.push(this.item(shape, node, zoom, cursor));
            if (node === cursor) for (const c of shape.children(cursor).slice(0, MOST_SIBLINGS)) items.push(this.item(shape, c, zoom, cursor));
        }
        put(this.root, ...items);
        this.root.setAttribute("aria-activedescendant", `${this.id}-${cursor}`);
    }

    private item(shape: Shape, node: number, zoom: number, cursor: number): HTMLElement {
        const { trie } = shape;
        const siblings = node ? shape.children(trie.parent[node]!) : Uint32Array.of(0);
        const open = cursor >= node && cursor < trie.end[node]!;
        return h("div", {
            role: "treeitem", id: `${this.id}-${node}`, "aria-level": trie.depth[node]! + 1, "aria-posinset": siblings.indexOf(node) + 1,
            "aria-setsize": siblings.length, "aria-selected": String(node === cursor),
            "aria-expanded": shape.children(node).length ? String(open) : undefined, "aria-current": node === zoom ? "true" : undefined,
        }, this.told(node));
    }
}
