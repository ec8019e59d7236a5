// SPDX-License-Identifier: Apache-2.0
// The state of the page and what follows from it: the URL, the worker's sums, the analysis that the views show.
import { Analysis, type Side } from "./analysis";
import type { Client } from "./client";
import { palette, type Palette } from "./colour";
import { Model } from "./model";
import { baseName, shownOften } from "./names";
import { DEFAULTS, fromHash, matcher, type State, toHash, usualState } from "./state";
import type { Filter, TimeInfo } from "./time";
import type { EventInfo, Tree } from "./tree";
import type { Judged } from "./verdict";

/** Changes that one may want to go back from. */
const STEPS: (keyof State)[] = ["view", "zoom", "event", "range", "span", "only", "without", "threads", "cpus"];

export class App {
    readonly model: Model;
    state: State;
    time: TimeInfo | null = null;
    analysis: Analysis;
    match: Uint8Array | null = null;
    /** The function that was last walked over or chosen: what the bar below tells of. */
    pointed = -1;
    onpoint: () => void = () => undefined;
    /** Called when anything changed; `fresh`: the analysis is another one. */
    onchange: (fresh: boolean) => void = () => undefined;
    /** What the page shows without a hash. */
    private readonly usual: State;
    private analysisKey = "";
    private matchKey = "";
    private colours = new Map<string, Palette>();

    constructor(readonly tree: Tree, private readonly client: Client) {
        this.model = new Model(tree);
        this.usual = usualState(tree.recordings.length);
        this.state = this.valid(fromHash(location.hash, this.usual));
        this.pointed = this.state.func;
        this.analysis = new Analysis(this.model, [], null);
        window.addEventListener("hashchange", () => this.restore());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    }

    get dark(): boolean {
        return this.state.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : this.state.theme === "dark";
    }

    get event(): EventInfo {
        return this.tree.events[this.state.event]!;
    }

    /** The event that is B in a comparison: the chosen one, else its like in the other recording, else the next; -1: none. */
    get other(): number {
        const { events } = this.tree;
        const { other, event } = this.state;
        if (other >= 0 && other !== event) return other;
        const like = events.findIndex((e, i) => i !== event && e.recording !== events[event]!.recording && e.name === events[event]!.name);
        if (like >= 0) return like;
        return events.length > 1 ? (event + 1) % events.length : -1;
    }

    /** The events that are looked at: in a comparison A and B. */
    get sides(): number[] {
        const { view, event } = this.state;
        return view === "diff" && this.other >= 0 ? [event, this.other] : [event];
    }

    /** What a link says may be of another profile. */
    private valid(state: State): State {
        const { events, thread } = this.tree;
        const event = state.event < events.length && state.event >= 0 ? state.event : 0;
        return {
            ...state, event, other: state.other < events.length ? state.other : -1,
            func: state.func < this.model.funcs.count ? state.func : -1, threads: state.threads.filter((t) => t < thread.tid.length),
        };
    }

    private restore(): void {
        const state = this.valid(fromHash(location.hash, this.usual));
        if (toHash(state, this.usual) === toHash(this.state, this.usual)) return;
        this.state = state;
        this.refresh();
    }

    /** Looks at a function without selecting it. */
    point(func: number): void {
        this.pointed = func;
        this.onpoint();
    }

    /** `passing`: more of the same follows (a drag): no step to go back to. */
    set(change: Partial<State>, passing = false): void {
        const before = this.state;
        if (change.func !== undefined) this.point(change.func);
        this.state = { ...before, ...change };
        const hash = toHash(this.state, this.usual);
        if (hash !== toHash(before, this.usual)) {
            const step = !passing && STEPS.some((k) => JSON.stringify(before[k]) !== JSON.stringify(this.state[k]));
            // A browser that is asked too often says no; the state is right all the same.
            try {
                history[step ? "pushState" : "replaceState"](null, "", `#${hash}`);
            } catch {
                /* the next change tells it */
            }
        }
        this.refresh();
    }

    /** Starts again with the view and theme alone. */
    clearFilters(): void {
        const { range, only, without, threads, cpus } = DEFAULTS;
        this.set({ range, only, without, threads, cpus });
    }

    /** Recomputes what the state asks for. */
    refresh(): void {
        if (this.matchKey !== this.state.search) {
            this.matchKey = this.state.search;
            const test = matcher(this.state.search);
            this.match = test ? this.model.matching(test) : null;
        }
        const s = this.state;
        const { sides } = this;
        const key = JSON.stringify([sides, s.range, s.threads, s.cpus, s.only, s.without, this.time !== null]);
        if (key === this.analysisKey) {
            this.onchange(false);
            return;
        }
        this.analysisKey = key;
        this.analyse(sides);
    }

    private analyse(sides: number[]): void {
        const { range, threads, cpus } = this.state;
        this.client.drop("sums");
        if (!this.time || (!range && !threads.length && !cpus.length)) {
            this.finish(sides.map((event) => ({ event, sums: this.model.recorded() })));
            return;
        }
        const filters: Filter[] = sides.map((event) =>
            ({ event, range, threads: threads.length ? threads : null, cpus: cpus.length ? cpus : null }));
        this.client.sums(filters, (sums) => this.finish(sides.map((event, i) => ({ event, sums: sums[i]! }))));
    }

    private finish(sides: Side[]): void {
        this.analysis = new Analysis(this.model, sides, this.keptRows());
        this.onchange(true);
    }

    private keptRows(): Uint8Array | null {
        const only = matcher(this.state.only);
        const without = matcher(this.state.without);
        if (!only && !without) return null;
        const keep = only ? this.model.rowsWith(this.model.matching(only)) : new Uint8Array(this.tree.row.node.length).fill(1);
        if (without) this.model.rowsWith(this.model.matching(without)).forEach((has, r) => (keep[r]! &= 1 - has));
        return keep;
    }

    get palette(): Palette {
        const { colour, event, metric } = this.state;
        const key = `${colour} ${event} ${metric} ${this.dark}`;
        let found = this.colours.get(key);
        if (!found) {
            const whole = new Analysis(this.model, [{ event, sums: this.model.recorded() }], null).functions();
            const self = metric === "period" ? whole.selfPeriod : whole.selfSamples;
            this.colours.set(key, (found = palette(this.model, colour, self, this.dark)));
        }
        return found;
    }

    /** What is proved of each function between A and B: of whole recordings, by the shares of what was counted. Null: not known. */
    get judged(): (Judged | null)[] | null {
        const { range, threads, cpus, only, without, absolute, metric, event } = this.state;
        const part = range || threads.length || cpus.length || only || without;
        return part || absolute || metric !== "period" || this.other < 0 ? null : this.model.judged(event, this.other);
    }

    proof(func: number): Judged | null {
        return (func >= 0 && this.judged?.[func]) || null;
    }

    label(func: number): string {
        return shownOften(this.model.name(func)) || "[unknown]";
    }

    object(func: number): string {
        return shownOften(baseName(this.model.object(func)));
    }

    get matchedShare(): number | null {
        if (!this.match || !this.analysis.sides.length) return null;
        const { calls, weights } = this.analysis.weighed(true);
        const sum = this.model.matched(calls.trie, weights[0]!, this.match);
        const all = this.analysis.total();
        return all[this.state.metric] ? sum[this.state.metric] / all[this.state.metric] : 0;
    }

    /** Rows to mark in the time strip: of the search, else of the selected function. */
    get markedRows(): Uint8Array | null {
        if (this.match) return this.model.rowsWith(this.match);
        if (this.state.func < 0) return null;
        const one = new Uint8Array(this.model.funcs.count + this.tree.strings.length);
        one[this.state.func] = 1;
        return this.model.rowsWith(one);
    }
}
