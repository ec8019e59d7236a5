// SPDX-License-Identifier: Apache-2.0
// The frame of the page: header with search and choices, tabs, the bar below, and the keys that work everywhere.
import type { App } from "./app";
import { gradeOf, place, Tooltip } from "./describe";
import { DiffView } from "./diffview";
import { h, put } from "./dom";
import { FunctionView } from "./functionview";
import { Help } from "./help";
import { baseName, shown, shownOften } from "./names";
import { THEMES, type View, VIEWS } from "./state";
import type { Strip } from "./strip";
import { GRADES } from "./tree";
import { duration, large, percent, quantity, whole } from "./units";
import { FlameView, SandwichView, TableView, type ViewOf } from "./views";

const TITLES: Record<View, string> = { flame: "Flame graph", table: "Functions", sandwich: "Sandwich", function: "Function", diff: "Difference" };

export class Shell {
    private readonly tip = new Tooltip();
    private readonly views = new Map<View, ViewOf>();
    private readonly stage = h("div", { class: "views", id: "view" });
    private readonly about = h("div", { class: "about" });
    private readonly choices = h("div", { class: "choices" });
    private readonly tabs = h("div", { class: "tabs", role: "group", "aria-label": "views" });
    private readonly chips = h("div", { class: "chips", "aria-label": "filters", role: "group" });
    private readonly found = h("output", { class: "found" });
    private readonly search: HTMLInputElement;
    private readonly inspector = h("footer", { class: "inspector", "aria-label": "selected function" });
    private readonly notes = h("div", { class: "notes", role: "status" });
    private readonly help = new Help();
    private shown: View | null = null;

    constructor(private readonly app: App, private readonly strip: Strip) {
        this.search = h("input", {
            type: "search", placeholder: "Search  /", "aria-label": "search functions: text, /regex/, object:text, =exact name", spellcheck: "false",
            autocomplete: "off", title: "text, /regex/, object:text, =exact name", oninput: () => app.set({ search: this.search.value }),
            onkeydown: (e: KeyboardEvent) => this.searchKey(e),
        });
        put(document.getElementById("app")!,
            h("header", { class: "top" }, h("h1", {}, "sonde"), this.about, h("div", { class: "search" }, this.search, this.found), this.choices),
            this.notes, strip.root,
            h("nav", { class: "tabbar", "aria-label": "views and filters" }, this.tabs, this.chips),
            h("main", {}, this.stage), this.inspector, this.tip.root, this.help.root);
        app.onchange = (fresh) => this.show(fresh);
        app.onpoint = () => this.showInspector();
        document.addEventListener("keydown", (e) => this.key(e));
        app.tree.notes.forEach((note) => this.note(note));
        if (!app.tree.notes.some((note) => note.includes("lost"))) app.tree.events.filter((e) => e.lost > 0).forEach((e) => this.note(`${e.name}: ${whole(e.lost)} samples were lost while recording`));
    }

    /** One line that stays until it is closed. */
    note(text: string): void {
        const line = h("p", {}, shown(text, 400));
        line.append(h("button", { type: "button", "aria-label": "close this note", onclick: () => line.remove() }, "✕"));
        this.notes.append(line);
    }

    private view(name: View): ViewOf {
        let view = this.views.get(name);
        if (!view) {
            view = this.make(name);
            this.views.set(name, view);
        }
        return view;
    }

    private make(name: View): ViewOf {
        const { app, tip } = this;
        if (name === "table") return new TableView(app);
        if (name === "sandwich") return new SandwichView(app, tip);
        if (name === "function") return new FunctionView(app);
        if (name === "diff") return new DiffView(app, tip);
        return new FlameView(app, tip);
    }

    private show(fresh: boolean): void {
        const { state } = this.app;
        document.documentElement.dataset.theme = this.app.dark ? "dark" : "light";
        const changed = this.shown !== state.view;
        const view = this.view(state.view);
        if (changed) {
            const focused = this.shown !== null && (this.stage.contains(document.activeElement) || document.activeElement === document.body);
            put(this.stage, view.root);
            this.shown = state.view;
            this.tip.hide();
            requestAnimationFrame(() => focused && view.focus());
        }
        view.show(fresh || changed);
        this.showTop();
        this.showTabs();
        this.showInspector();
        this.strip.show();
    }

    private showTop(): void {
        const { app } = this;
        const { state, tree, event } = app;
        const recording = tree.recordings[event.recording];
        const total = app.analysis.total();
        put(this.about,
            h("strong", { title: shown(recording?.cmdline ?? "", 1000) }, shown(tree.title || recording?.path || "profile", 120)),
            h("span", { class: "dim" }, [recording && !tree.title.includes(baseName(recording.path)) && baseName(shownOften(recording.path)), recording && shownOften(recording.host),
                recording?.durationNs ? duration(recording.durationNs) : "", `${whole(total.samples)} samples`,
                `${quantity(total.period, event.unit)}${event.unit === "ns" ? "" : ` ${shown(event.unit, 20)}`}`].filter(Boolean).join(" · ")));
        const pick = h("select", { "aria-label": "event", title: "event (e)", onchange: () => app.set({ event: pick.selectedIndex, zoom: [] }) },
            ...tree.events.map((e, i) => h("option", { selected: i === state.event }, `${shown(e.name, 40)}${tree.recordings.length > 1 ? ` (${"AB"[e.recording] ?? ""})` : ""}`)));
        const metric = h("button", { type: "button", title: "what is added up: samples or the events they stand for (m)", onclick: () => this.flipMetric() },
            state.metric === "period" ? "period" : "samples");
        const theme = h("button", { type: "button", title: "dark or light (t)", "aria-label": `theme: ${state.theme}`, onclick: () => this.flipTheme() },
            { auto: "◐", light: "☀", dark: "☾" }[state.theme]);
        const help = h("button", { type: "button", "aria-label": "help", title: "keys (?)", onclick: () => this.help.open() }, "?");
        put(this.choices, pick, metric, theme, help);
        if (document.activeElement !== this.search) this.search.value = state.search;
        const share = app.matchedShare;
        this.found.textContent = share === null ? "" : percent(share, 1);
        this.found.title = share === null ? "" : "share of all whose stacks have it, recursion counted once; n and N walk through them";
    }

    private showTabs(): void {
        const { app } = this;
        const { state } = app;
        put(this.tabs, ...VIEWS.filter((v) => v !== "diff" || app.other >= 0).map((v) =>
            h("button", { type: "button", "aria-pressed": String(v === state.view), "aria-controls": "view", onclick: () => app.set({ view: v }) },
                h("kbd", { "aria-hidden": "true" }, String(VIEWS.indexOf(v) + 1)), TITLES[v])));
        const chip = (label: string, clear: () => void) =>
            h("button", { type: "button", class: "chip", title: "remove this filter", onclick: clear }, `${shown(label, 60)} ✕`);
        const { thread, strings } = app.tree;
        put(this.chips,
            state.only && chip(`only ${state.only.replace(/^=/, "")}`, () => app.set({ only: "" })),
            state.without && chip(`without ${state.without.replace(/^=/, "")}`, () => app.set({ without: "" })),
            ...state.threads.slice(0, 4).map((t) => chip(`${strings[thread.comm[t]!]} ${thread.tid[t]}`, () => app.set({ threads: state.threads.filter((x) => x !== t) }))),
            ...state.cpus.slice(0, 4).map((c) => chip(`CPU ${c - 1}`, () => app.set({ cpus: state.cpus.filter((x) => x !== c) }))));
    }

    private showInspector(): void {
        const { app } = this;
        const func = app.pointed;
        if (func < 0 || func >= app.model.funcs.count) {
            put(this.inspector, h("p", { class: "dim" }, "Select a function to see what it costs, who calls it and when it ran. Press ? for the keys."));
            return;
        }
        const sums = app.analysis.functions();
        const all = app.analysis.total();
        const m = app.state.metric;
        const self = m === "period" ? sums.selfPeriod[func]! : sums.selfSamples[func]!;
        const { grade, level, why } = gradeOf(app, func);
        const name = app.model.name(func);
        const act = (label: string, title: string, run: () => void) => h("button", { type: "button", title, onclick: run }, label);
        put(this.inspector,
            h("div", { class: "what" }, h("strong", { title: app.label(func) }, app.label(func)),
                h("span", { class: "dim" }, [app.object(func), place(app, func), `${GRADES[grade]}, ${level}`, why].filter(Boolean).join(" · "))),
            h("dl", {}, h("div", {}, h("dt", {}, "self"), h("dd", {}, percent(self, all[m]))), h("div", {}, h("dt", {}, "total"), h("dd", {}, percent(sums[m][func]!, all[m]))),
                h("div", {}, h("dt", {}, "samples"), h("dd", {}, large(sums.samples[func]!)))),
            h("div", { class: "acts" },
                act("Sandwich", "callers above, callees below (s)", () => app.set({ view: "sandwich", func })),
                act("Function", "callers, callees, lines (f)", () => app.set({ view: "function", func })),
                name && act("Only", "only stacks with it", () => app.set({ only: `=${name}`, zoom: [] })),
                name && act("Without", "leave out stacks with it", () => app.set({ without: `=${name}`, zoom: [] })),
                act("Copy", "copy its name (c)", () => this.copy())));
    }

    private copy(): void {
        void navigator.clipboard?.writeText(this.app.label(this.app.pointed)).catch(() => undefined);
    }

    private flipTheme(): void {
        this.app.set({ theme: THEMES[(THEMES.indexOf(this.app.state.theme) + 1) % THEMES.length]! });
    }

    private flipMetric(): void {
        this.app.set({ metric: this.app.state.metric === "period" ? "samples" : "period" });
    }

    private searchKey(e: KeyboardEvent): void {
        const view = this.view(this.app.state.view);
        if (e.key === "Enter") view.next?.(e.shiftKey ? -1 : 1);
        else if (e.key === "Escape") this.app.set({ search: (this.search.value = "") });
        else return;
        view.focus();
        e.preventDefault();
        e.stopPropagation();
    }

    /** One step back: what was typed or chosen last goes first. */
    private escape(): void {
        const { app } = this;
        if (this.view(app.state.view).back?.()) return;
        if (app.state.search) app.set({ search: "" });
        else if (app.state.range) app.set({ range: null });
    }

    private key(e: KeyboardEvent): void {
        const at = e.target as HTMLElement;
        if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) || this.help.root.open) return;
        const { app } = this;
        const { state, tree, pointed } = app;
        const view = VIEWS[Number(e.key) - 1];
        const keys: Record<string, () => void> = {
            "/": () => this.search.select(), "?": () => this.help.open(), n: () => this.view(state.view).next?.(1), N: () => this.view(state.view).next?.(-1),
            t: () => this.flipTheme(), m: () => this.flipMetric(), r: () => this.strip.focus(), z: () => this.strip.flipZoom(), g: () => this.view(state.view).focus(),
            e: () => app.set({ event: (state.event + 1) % tree.events.length, zoom: [] }), c: () => this.copy(),
            o: () => app.set({ order: state.order === "weight" ? "name" : "weight" }), i: () => app.set({ turned: !state.turned, zoom: [] }),
            u: () => app.set({ up: !state.up }), w: () => app.set({ comm: !state.comm, zoom: [] }),
            s: () => app.set({ view: "sandwich", func: pointed }), f: () => app.set({ view: "function", func: pointed }),
            Escape: () => this.escape(), Backspace: () => this.escape(),
        };
        if (view && (view !== "diff" || app.other >= 0)) app.set({ view });
        else if (Object.hasOwn(keys, e.key)) keys[e.key]!();
        else return;
        e.preventDefault();
    }
}
