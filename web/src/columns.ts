// SPDX-License-Identifier: Apache-2.0
// The columns of tables of functions.
import type { App } from "./app";
import type { Column } from "./grid";
import { percent, quantity, whole } from "./units";

export interface FunctionRow {
    func: number;
    name: string;
    object: string;
    selfSamples: number;
    selfPeriod: number;
    samples: number;
    period: number;
}

type Amounts = { samples: number; period: number };

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function share<T extends Amounts>(app: App, key: string, label: string, title: string): Column<T> {
    const of = (row: T) => row[app.state.metric];
    const all = () => app.analysis.total()[app.state.metric];
    return { key, label, title, cell: (row) => percent(of(row), all()), bar: (row) => of(row) / (all() || 1), compare: (a, b) => of(a) - of(b) };
}

/** Name, object, self and total of functions. */
export function functionColumns(app: App, short: boolean): Column<FunctionRow>[] {
    const { metric } = app.state;
    const self = (row: FunctionRow) => (app.state.metric === "period" ? row.selfPeriod : row.selfSamples);
    const all = () => app.analysis.total()[app.state.metric] || 1;
    const columns: Column<FunctionRow>[] = [
        {
            key: "self", label: "self", title: `share of ${metric} in the function itself`, cell: (r) => percent(self(r), all()),
            bar: (r) => self(r) / all(), compare: (a, b) => self(a) - self(b),
        },
        share(app, "total", "total", "share of stacks with the function in them; recursion counts once"),
    ];
    if (!short) {
        columns.push(
            { key: "selfn", label: "self samples", minor: true, cell: (r) => whole(r.selfSamples), compare: (a, b) => a.selfSamples - b.selfSamples },
            { key: "totaln", label: "total samples", minor: true, cell: (r) => whole(r.samples), compare: (a, b) => a.samples - b.samples },
            {
                key: "selfp", label: "self period", minor: true, cell: (r) => quantity(r.selfPeriod, app.event.unit),
                full: (r) => `${whole(r.selfPeriod)} ${app.event.unit}`,
                compare: (a, b) => a.selfPeriod - b.selfPeriod,
            },
            {
                key: "totalp", label: "total period", minor: true, cell: (r) => quantity(r.period, app.event.unit),
                full: (r) => `${whole(r.period)} ${app.event.unit}`,
                compare: (a, b) => a.period - b.period,
            });
    }
    columns.push({ key: "name", label: "function", text: true, cell: (r) => r.name, compare: (a, b) => byText(a.name, b.name) });
    if (!short) columns.push({ key: "object", label: "object", text: true, minor: true, cell: (r) => r.object, compare: (a, b) => byText(a.object, b.object) });
    return columns;
}

/** All functions with samples, of those that the search lets through. */
export function functionRows(app: App): FunctionRow[] {
    const sums = app.analysis.functions();
    const rows: FunctionRow[] = [];
    for (let func = 0; func < app.model.funcs.count; func++) {
        if (!sums.samples[func] || (app.match && !app.match[func])) continue;
        rows.push({
            func, name: app.label(func), object: app.object(func), selfSamples: sums.selfSamples[func]!, selfPeriod: sums.selfPeriod[func]!,
            samples: sums.samples[func]!, period: sums.period[func]!,
        });
    }
    return rows;
}
