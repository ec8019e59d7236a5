// SPDX-License-Identifier: Apache-2.0
// Everything that can be chosen, and how it stands in the URL: a link to the page shows what its sender saw.
import type { Range } from "./time";

export const VIEWS = ["flame", "table", "sandwich", "function", "diff"] as const;
export type View = (typeof VIEWS)[number];
export const COLOURS = ["object", "kind", "grade"] as const;
export type Colour = (typeof COLOURS)[number];
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export interface State {
    view: View;
    event: number;
    /** The event that a comparison sets against the first; -1: chosen by the page. */
    other: number;
    metric: "period" | "samples";
    order: "weight" | "name";
    up: boolean;
    turned: boolean;
    comm: boolean;
    colour: Colour;
    theme: Theme;
    /** The functions from the root to the zoomed node. */
    zoom: number[];
    func: number;
    search: string;
    only: string;
    without: string;
    range: Range | null;
    /** The part of the time strip that is shown; null: all. */
    span: Range | null;
    threads: number[];
    cpus: number[];
    lanes: "thread" | "cpu";
    tall: boolean;
    absolute: boolean;
    sort: string;
}

export const DEFAULTS: State = {
    view: "flame", event: 0, other: -1, metric: "period", order: "weight", up: false, turned: false, comm: false, colour: "object",
    theme: "auto", zoom: [], func: -1, search: "", only: "", without: "", range: null, span: null, threads: [], cpus: [], lanes: "thread",
    tall: false, absolute: false, sort: "-self",
};

/** Short names in the URL. */
const KEYS: [keyof State, string][] = [
    ["view", "v"], ["event", "e"], ["other", "b"], ["metric", "m"], ["order", "o"], ["up", "up"], ["turned", "inv"], ["comm", "comm"],
    ["colour", "c"], ["theme", "t"], ["zoom", "z"], ["func", "f"], ["search", "q"], ["only", "only"], ["without", "not"], ["range", "r"], ["span", "tz"],
    ["threads", "tid"], ["cpus", "cpu"], ["lanes", "lanes"], ["tall", "tall"], ["absolute", "abs"], ["sort", "s"],
];
const CHOICES: Partial<Record<keyof State, readonly string[]>> = {
    view: VIEWS, colour: COLOURS, theme: THEMES, metric: ["period", "samples"], order: ["weight", "name"], lanes: ["thread", "cpu"],
};

function written(value: State[keyof State]): string {
    if (Array.isArray(value)) return value.map((n) => n.toString(36)).join(".");
    if (value !== null && typeof value === "object") return `${value.from}-${value.to}`;
    return typeof value === "boolean" ? "1" : String(value);
}

/** What a page begins with: two recordings are there to be compared. */
export function usualState(recordings: number): State {
    return recordings > 1 ? { ...DEFAULTS, view: "diff" } : DEFAULTS;
}

/** `start`: what need not be said. */
export function toHash(state: State, start: State = DEFAULTS): string {
    const out = new URLSearchParams();
    for (const [key, short] of KEYS) {
        const text = written(state[key] ?? "");
        const usual = start[key];
        if (state[key] === null || state[key] === usual || (Array.isArray(usual) && !text)) continue;
        out.set(short, typeof usual === "boolean" && !state[key] ? "0" : text);
    }
    return out.toString();
}

function range(text: string): Range | null {
    const match = /^(\d{1,17}(?:\.\d+)?)-(\d{1,17}(?:\.\d+)?)$/.exec(text);
    if (!match) return null;
    const [from, to] = [Number(match[1]), Number(match[2])];
    return to > from ? { from, to } : null;
}

function read(key: keyof State, text: string): unknown {
    const usual = DEFAULTS[key];
    if (key === "range" || key === "span") return range(text);
    if (Array.isArray(usual)) return text.split(".").slice(0, 5000).map((n) => parseInt(n, 36)).filter((n) => n >= 0);
    if (typeof usual === "number") return /^-?\d{1,9}$/.test(text) ? Number(text) : usual;
    if (typeof usual === "boolean") return text === "1";
    const choices = CHOICES[key];
    return choices && !choices.includes(text) ? usual : text.slice(0, 1000);
}

/** What a hash says; anything that makes no sense is as if it were not there. */
export function fromHash(hash: string, start: State = DEFAULTS): State {
    const state: State = { ...start };
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    for (const [key, short] of KEYS) {
        const text = given.get(short);
        if (text !== null) (state as unknown as Record<string, unknown>)[key] = read(key, text);
    }
    return state;
}

/** Makes a test of names from what was typed: `=name` exactly, `/regex/`, `object:text`, else any part of a name. */
export function matcher(typed: string): ((name: string, object: string) => boolean) | null {
    const text = typed.trim();
    if (!text || text === "=" || text === "/") return null;
    if (text.startsWith("=")) return (name) => name === text.slice(1);
    if (text.startsWith("object:")) {
        const part = text.slice(7).toLowerCase();
        return part ? (_, object) => object.toLowerCase().includes(part) : null;
    }
    if (text.startsWith("/")) {
        try {
            const regex = new RegExp(text.replace(/^\/(.+?)\/?$/, "$1"), "i");
            return (name) => regex.test(name.slice(0, 2000)); // a regular expression over a megabyte could take for ever
        } catch {
            return () => false;
        }
    }
    const part = text.toLowerCase();
    return (name) => name.toLowerCase().includes(part);
}
