// SPDX-License-Identifier: Apache-2.0
// How many samples fall on each column of pixels of the time strip: of all, and of each thread or CPU in a lane of its own.
import type { Range, Time } from "./time";

export interface DensityWanted {
    event: number;
    by: "thread" | "cpu";
    columns: number;
    /** The part of the time axis that is shown. */
    view: Range;
    lanes: number;
    /** Rows to count apart, too: those that contain what is selected or searched. */
    marked: Uint8Array | null;
}

export interface Density {
    event: number;
    by: "thread" | "cpu";
    columns: number;
    view: Range;
    /** Thread indices, or CPU numbers + 1, by samples. */
    keys: number[];
    totals: number[];
    /** How many lanes there are in all: only the first are given. */
    lanesInAll: number;
    /** (1 + lanes) rows of `columns` each; row 0 is the sum of everything, also of lanes not given. */
    counts: Float64Array;
    marked: Float64Array | null;
}

interface Lanes {
    keys: number[];
    totals: number[];
    laneOf: Int32Array;
    inAll: number;
}

/** The same question comes with each selection. */
const known = new WeakMap<Time, Map<string, Lanes>>();

function ranked(time: Time, wanted: DensityWanted): Lanes {
    const name = `${wanted.event} ${wanted.by} ${wanted.lanes}`;
    const mine = known.get(time) ?? new Map<string, Lanes>();
    known.set(time, mine);
    if (!mine.has(name)) mine.set(name, rank(time, wanted));
    return mine.get(name)!;
}

/** The lanes with most samples of the whole event: what is shown must not change while one looks at a part. */
function rank(time: Time, wanted: DensityWanted): Lanes {
    const key = wanted.by === "cpu" && time.cpu ? time.cpu : time.thread;
    const sums = new Float64Array(65536);
    for (let i = time.segment[wanted.event]!; i < time.segment[wanted.event + 1]!; i++) {
        const k = key[i]!;
        if (k < sums.length) sums[k]! += time.weight ? time.weight[i]! : 1;
    }
    const used = Array.from(sums.keys()).filter((k) => sums[k]);
    if (wanted.by === "thread") used.sort((a, b) => sums[b]! - sums[a]! || a - b);
    const keys = used.slice(0, wanted.lanes);
    const laneOf = new Int32Array(sums.length);
    keys.forEach((k, lane) => (laneOf[k] = lane + 1));
    return { keys, totals: keys.map((k) => sums[k]!), laneOf, inAll: used.length };
}

export function density(time: Time, wanted: DensityWanted): Density {
    const { event, by, columns, view } = wanted;
    const { keys, totals, laneOf, inAll } = ranked(time, wanted);
    const key = by === "cpu" && time.cpu ? time.cpu : time.thread;
    const counts = new Float64Array((1 + keys.length) * columns);
    const hits = wanted.marked ? new Float64Array(counts.length) : null;
    const scale = (columns * time.unitNs) / Math.max(1, view.to - view.from);
    const offset = (view.from * columns) / Math.max(1, view.to - view.from);
    // A bucket stands for a stretch of time: it is drawn where its middle is.
    const half = time.buckets ? 0.5 : 0;
    for (let i = time.segment[event]!; i < time.segment[event + 1]!; i++) {
        const x = Math.floor((time.at[i]! + half) * scale - offset);
        if (x < 0 || x >= columns) continue;
        const k = key[i]!;
        const lane = k < laneOf.length ? laneOf[k]! : 0;
        const weight = time.weight ? time.weight[i]! : 1;
        counts[x]! += weight;
        if (lane) counts[lane * columns + x]! += weight;
        if (hits && wanted.marked![time.row[i]!]) {
            hits[x]! += weight;
            if (lane) hits[lane * columns + x]! += weight;
        }
    }
    return { event, by, columns, view, keys, totals, lanesInAll: inAll, counts, marked: hits };
}
