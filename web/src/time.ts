// SPDX-License-Identifier: Apache-2.0
// The time block: samples in order of (event, time), and the sums over ranges of them. Lives in the worker, so that the page
// stays responsive while ten million samples are added up.
import { BlockError, type ByteReader, type Numbers, readColumns, readHeader, type Want } from "./block";
import { amount, nanoseconds, type Tree } from "./tree";

export interface Time {
    firstNs: bigint;
    spanNs: number;
    unitNs: number;
    /** 0: exact; else each entry stands for many samples, and the span is divided into so many steps. */
    buckets: number;
    at: Uint32Array | Float64Array;
    row: Uint32Array;
    thread: Numbers;
    cpu: Numbers | null;
    /** How many samples an entry stands for; null: one. */
    weight: Float64Array | null;
    period: Float64Array | Uint32Array | null;
    /** The entries of event e are segment[e] .. segment[e+1]-1. */
    segment: Uint32Array;
}

/** What the page is told at once; the rest comes by asking. */
export interface TimeInfo {
    firstNs: bigint;
    spanNs: number;
    unitNs: number;
    buckets: number;
    entries: number;
    hasCpu: boolean;
    bytes: number;
}

export interface Range {
    /** In nanoseconds since the first sample; to is exclusive. */
    from: number;
    to: number;
}

export interface Filter {
    event: number;
    range: Range | null;
    /** Which threads, which CPUs (number + 1); null: all. */
    threads: number[] | null;
    cpus: number[] | null;
}

const U32 = 0xffffffff;
/** Half the memory where numbers are small: ten million entries are held. */
const small = (limit: number): Want => (count) => ({ out: limit < 65536 ? new Uint16Array(count) : new Uint32Array(count), limit });

/** Periods are nearly always below 2^32; the few that are not cost a second reading. */
const periods: Want = (count) => ({ out: new Float64Array(count), limit: 2 ** 64 });

function narrow(values: Float64Array | undefined): Float64Array | Uint32Array | null {
    if (!values) return null;
    for (const v of values) if (v > U32) return values;
    return Uint32Array.from(values);
}

function segments(tree: Tree, at: Uint32Array | Float64Array, row: Uint32Array): Uint32Array {
    const segment = new Uint32Array(tree.events.length + 1);
    const rowEvent = tree.row.event;
    let event = 0;
    for (let i = 0; i < row.length; i++) {
        const e = rowEvent[row[i]!]!;
        if (e < event || (e === event && i > segment[e]! && at[i]! < at[i - 1]!)) throw new BlockError("its samples are out of order");
        while (event < e) segment[++event] = i;
    }
    while (event < tree.events.length) segment[++event] = row.length;
    return segment;
}

function sameLength(columns: (Numbers | null | undefined)[]): void {
    const lengths = new Set(columns.filter(Boolean).map((c) => c!.length));
    if (lengths.size > 1) throw new BlockError("its columns differ in length");
}

export async function readTime(reader: ByteReader, tree: Tree): Promise<Time> {
    const header = await readHeader(reader, "sonde-time");
    const unitNs = Math.max(1, amount(header.fields.unit_ns));
    const firstNs = nanoseconds(header.fields.first_ns);
    const spanNs = Number(nanoseconds(header.fields.last_ns) - firstNs);
    if (!(spanNs >= 0)) throw new BlockError("it ends before it begins");
    const buckets = Math.min(100000, Math.floor(amount(header.fields.buckets)));
    const steps = buckets || Math.floor(spanNs / unitNs) + 1;
    const when: Want = (count) => ({ out: steps > U32 ? new Float64Array(count) : new Uint32Array(count), limit: steps });
    const threads = Math.max(1, tree.thread.tid.length);
    const found = await readColumns(reader, header, {
        [buckets ? "bucket+" : "time+"]: when, "row": (count) => ({ out: new Uint32Array(count), limit: tree.row.node.length - 1 }),
        thread: small(threads - 1), cpu: small(65535), period: periods, ...(buckets ? { samples: periods } : {}),
    });
    const at = found.get(buckets ? "bucket" : "time") as Uint32Array | Float64Array | undefined;
    const row = found.get("row") as Uint32Array | undefined;
    if (!at || !row) throw new BlockError("column time or row is missing");
    const thread = found.get("thread") ?? new Uint16Array(row.length);
    const weight = (found.get("samples") as Float64Array | undefined) ?? null;
    const period = found.get("period") as Float64Array | undefined;
    sameLength([at, row, thread, found.get("cpu"), weight, period]);
    return {
        firstNs, spanNs: Math.max(spanNs, 1), unitNs: buckets ? Math.max(spanNs, 1) / buckets : unitNs, buckets, at, row, thread,
        cpu: found.get("cpu") ?? null, weight, period: narrow(period), segment: segments(tree, at, row),
    };
}

export function info(time: Time): TimeInfo {
    const { firstNs, spanNs, unitNs, buckets } = time;
    const arrays = [time.at, time.row, time.thread, time.cpu, time.weight, time.period];
    const bytes = arrays.reduce((sum, a) => sum + (a?.byteLength ?? 0), 0);
    return { firstNs, spanNs, unitNs, buckets, entries: time.row.length, hasCpu: time.cpu !== null, bytes };
}

/** The first entry of [low, high) that is not earlier than `units`. */
function lowerBound(at: Uint32Array | Float64Array, low: number, high: number, units: number): number {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (at[middle]! < units) low = middle + 1;
        else high = middle;
    }
    return low;
}

function entriesOf(time: Time, event: number, range: Range | null): [number, number] {
    const low = time.segment[event] ?? 0;
    const high = time.segment[event + 1] ?? low;
    if (!range) return [low, high];
    return [lowerBound(time.at, low, high, range.from / time.unitNs), lowerBound(time.at, low, high, range.to / time.unitNs)];
}

function members(wanted: number[] | null): Uint8Array | null {
    if (!wanted) return null;
    const set = new Uint8Array(65536);
    for (const w of wanted) if (w >= 0 && w < set.length) set[w] = 1;
    return set;
}

/** Samples and period of each row, of what the filter lets through. */
export function rowSums(time: Time, tree: Tree, filter: Filter): { samples: Float64Array; period: Float64Array } {
    const rows = tree.row.node.length;
    const samples = new Float64Array(rows);
    const period = new Float64Array(rows);
    const [low, high] = entriesOf(time, filter.event, filter.range);
    const threads = members(filter.threads);
    const cpus = time.cpu ? members(filter.cpus) : null;
    const { row, thread, cpu, weight, period: each } = time;
    for (let i = low; i < high; i++) {
        if (threads && !threads[thread[i]!]) continue;
        if (cpus && !cpus[cpu![i]!]) continue;
        const r = row[i]!;
        samples[r]! += weight ? weight[i]! : 1;
        if (each) period[r]! += each[i]!;
    }
    if (!each) {
        // All samples of a row weigh the same: the quotient is a whole number.
        for (let r = 0; r < rows; r++) if (samples[r]) period[r] = samples[r]! * (tree.row.period[r]! / tree.row.samples[r]!);
    }
    return { samples, period };
}
