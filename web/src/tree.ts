// SPDX-License-Identifier: Apache-2.0
// The tree block as typed arrays, checked and laid out for fast walks. Nodes are renumbered in preorder below one node 0 that
// stands for everything: the subtree of x is x .. end[x]-1, its first child x+1, and the next sibling of a child c is end[c].
import { BlockError, type ByteReader, type Numbers, readColumns, readHeader, type Want } from "./block";
import { type Verdict, verdicts } from "./verdict";

export interface Recording {
    path: string;
    host: string;
    os: string;
    arch: string;
    cmdline: string;
    cpu: string;
    startNs: bigint;
    durationNs: number;
}

export interface EventInfo {
    name: string;
    unit: string;
    recording: number;
    samples: number;
    period: number;
    lost: number;
}

export interface Tree {
    title: string;
    program: string;
    recordings: Recording[];
    events: EventInfo[];
    strings: string[];
    notes: string[];
    verdicts: Verdict[];
    frame: Record<"name" | "dso" | "file" | "line" | "level" | "grade" | "why", Uint32Array>;
    nodeParent: Uint32Array;
    nodeEnd: Uint32Array;
    nodeFrame: Uint32Array;
    thread: Record<"pid" | "tid" | "comm", Uint32Array>;
    row: { event: Uint32Array; comm: Uint32Array; node: Uint32Array; samples: Float64Array; period: Float64Array };
}

export const LEVELS = ["user", "kernel", "guest user", "guest kernel", "hypervisor", "JIT code", "inlined"];
export const GRADES = ["exact", "inferred", "stale", "unknown"];
const U32 = 0xffffffff;
const HUGE = 2 ** 64;

const text = (value: unknown, most = 100000): string => (typeof value === "string" ? value.slice(0, most) : "");
const list = (value: unknown): Record<string, unknown>[] =>
    (Array.isArray(value) ? value : []).filter((v): v is Record<string, unknown> => typeof v === "object" && v !== null);

/** A count of the header, which may be a decimal string. */
export function amount(value: unknown): number {
    const n = typeof value === "string" && /^\d{1,24}$/.test(value) ? Number(value) : value;
    return typeof n === "number" && n >= 0 && n < HUGE ? n : 0;
}

/** Nanoseconds too large for a number without loss. */
export function nanoseconds(value: unknown): bigint {
    return typeof value === "string" && /^\d{1,24}$/.test(value) ? BigInt(value) : BigInt(Math.floor(amount(value)));
}

function recordings(value: unknown): Recording[] {
    return list(value).slice(0, 2).map((r) => ({
        path: text(r.path), host: text(r.host), os: text(r.os), arch: text(r.arch), cmdline: text(r.cmdline), cpu: text(r.cpu),
        startNs: nanoseconds(r.start_ns), durationNs: amount(r.duration_ns),
    }));
}

function events(value: unknown): EventInfo[] {
    return list(value).slice(0, 1000).map((e) => ({
        name: text(e.name, 200), unit: text(e.unit, 40), recording: amount(e.recording), samples: amount(e.samples),
        period: amount(e.period), lost: amount(e.lost),
    }));
}

const index = (limit: number): Want => (count) => ({ out: new Uint32Array(count), limit });
const number: Want = (count) => ({ out: new Float64Array(count), limit: HUGE });

/** Columns of one table: each must have as many entries as the first; those that may lack are zeros then. */
function table<K extends string>(found: Map<string, Numbers>, prefix: string, names: readonly K[], needed: number): Record<K, Uint32Array> {
    const count = found.get(`${prefix}.${names[0]}`)?.length ?? 0;
    const out = {} as Record<K, Uint32Array>;
    names.forEach((name, i) => {
        const column = found.get(`${prefix}.${name}`);
        if (!column && i < needed) throw new BlockError(`column ${prefix}.${name} is missing`);
        if (column && column.length !== count) throw new BlockError(`the columns of ${prefix} differ in length`);
        out[name] = (column as Uint32Array | undefined) ?? new Uint32Array(count);
    });
    return out;
}

function below(what: string, values: Uint32Array, limit: number): void {
    for (const v of values) if (v >= limit) throw new BlockError(`${what} points at entry ${v} of ${limit}`);
}

/** Preorder numbers of a forest given by `parent` (-1: a root), children in the order of their numbers; 0 is the node above. */
export function preorder(parent: Int32Array): { to: Uint32Array; up: Uint32Array; end: Uint32Array } {
    const n = parent.length;
    const size = new Uint32Array(n).fill(1);
    for (let i = n - 1; i >= 0; i--) if (parent[i]! >= 0) size[parent[i]!]! += size[i]!;
    const to = new Uint32Array(n);
    const up = new Uint32Array(n + 1);
    const end = new Uint32Array(n + 1);
    end[0] = n + 1;
    const next = new Uint32Array(n); // where the next child of an (old) node goes
    let root = 1;
    for (let i = 0; i < n; i++) {
        const p = parent[i]!;
        const at = p < 0 ? root : next[p]!;
        if (p < 0) root += size[i]!;
        else next[p] = at + size[i]!;
        to[i] = at;
        next[i] = at + 1;
        up[at] = p < 0 ? 0 : to[p]!;
        end[at] = at + size[i]!;
    }
    return { to, up, end };
}

function nodes(found: Map<string, Numbers>, frameCount: number, rowNode: Uint32Array) {
    const { up, frame } = table(found, "node", ["up", "frame"] as const, 2);
    below("node.frame", frame, frameCount);
    const parent = new Int32Array(up.length);
    for (let i = 0; i < up.length; i++) {
        if (up[i]! > i) throw new BlockError(`node ${i} comes before its parent`);
        parent[i] = up[i] ? i - up[i]! : -1;
    }
    const order = preorder(parent);
    const nodeFrame = new Uint32Array(up.length + 1);
    for (let i = 0; i < up.length; i++) nodeFrame[order.to[i]!] = frame[i]!;
    below("row.node", rowNode, up.length);
    for (let i = 0; i < rowNode.length; i++) rowNode[i] = order.to[rowNode[i]!]!;
    return { nodeParent: order.up, nodeEnd: order.end, nodeFrame };
}

export async function readTree(reader: ByteReader): Promise<Tree> {
    const header = await readHeader(reader, "sonde-tree");
    const strings = header.fields.strings;
    if (!Array.isArray(strings) || !strings.every((s) => typeof s === "string")) throw new BlockError("its strings are missing");
    if (!strings.length) strings.push("");
    const name = index(strings.length - 1);
    const found = await readColumns(reader, header, {
        "frame.name": name, "frame.dso": name, "frame.file": name, "frame.line": index(U32), "frame.level": index(6),
        "frame.grade": index(3), "frame.why": name, "node.up": index(U32), "node.frame+": index(U32), "thread.pid+": index(U32),
        "thread.tid+": index(U32), "thread.comm": name, "row.event": index(U32), "row.comm": name, "row.node+": index(U32),
        "row.samples": number, "row.period": number,
    });
    const frame = table(found, "frame", ["name", "dso", "file", "line", "level", "grade", "why"] as const, 2);
    const thread = table(found, "thread", ["pid", "tid", "comm"] as const, 0);
    const row = table(found, "row", ["event", "comm", "node", "samples", "period"] as const, 5) as unknown as Tree["row"];
    const eventList = events(header.fields.events);
    below("row.event", row.event, eventList.length);
    const notes = Array.isArray(header.fields.notes) ? header.fields.notes : [];
    return {
        title: text(header.fields.title), program: text(header.fields.program, 200), recordings: recordings(header.fields.recordings),
        events: eventList, strings, notes: notes.slice(0, 100).map((n) => text(n, 1000)).filter(Boolean),
        verdicts: verdicts(header.fields.verdicts, eventList.length, strings.length), frame, thread, row,
        ...nodes(found, frame.name.length, row.node),
    };
}
