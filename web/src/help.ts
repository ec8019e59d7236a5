// SPDX-License-Identifier: Apache-2.0
// The dialog with the keys.
import { h } from "./dom";

const KEYS: [string, string][] = [
    ["1 … 5", "flame graph, functions, sandwich, function, difference"],
    ["arrows, h j k l", "walk the graph; rows of a table"],
    ["Enter", "zoom to the cell; open the function of a row"],
    ["Esc, Backspace", "back: zoom, search, range"],
    ["/", "search: text, /regex/, object:text, =exact name"],
    ["n, N", "next find, previous find"],
    ["s, f", "sandwich of the selected function, its page"],
    ["r", "choose a range of time: arrows move it, Shift with arrows moves its end, + and − resize it, Esc clears it"],
    ["z", "stretch the chosen range over the whole time strip, and back"],
    ["g", "back to the graph or table"],
    ["i", "callers: functions by their own time, who called them below"],
    ["o, u, w", "order by weight or name; root at the bottom; threads' names as roots"],
    ["m, e, t", "period or samples; next event; theme"],
    ["c", "copy the function's name"],
    ["click, Ctrl+click", "zoom to a cell; only select it"],
];

export class Help {
    readonly root: HTMLDialogElement;

    constructor() {
        this.root = h("dialog", { class: "help", "aria-labelledby": "help-title" },
            h("h2", { id: "help-title" }, "Keys"),
            h("dl", {}, ...KEYS.map(([keys, what]) => h("div", {}, h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)))),
            h("p", { class: "dim" }, "The address of the page holds all that is chosen: copy it to share what is seen. Names: exact ones are plain, inferred ones dotted below, stale ones hatched, unknown ones outlined."),
            h("form", { method: "dialog" }, h("button", {}, "Close")));
        this.root.addEventListener("click", (e) => e.target === this.root && this.root.close());
    }

    open(): void {
        if (!this.root.open) this.root.showModal();
        this.root.scrollTop = 0; // the button has the focus, the text is what one wants to read
    }
}
