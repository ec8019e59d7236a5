// SPDX-License-Identifier: Apache-2.0
// Unpacks the data and keeps the samples; answers for sums over ranges and for the time strip.
import { BlockError, open } from "./block";
import { density, type Density, type DensityWanted } from "./density";
import { type Filter, info, readTime, rowSums, type Time, type TimeInfo } from "./time";
import { readTree, type Tree } from "./tree";

export type Request =
    | { kind: "open-tree" | "open-time"; base64: string }
    | { kind: "sums"; id: number; filters: Filter[] }
    | { kind: "density"; id: number; wanted: DensityWanted[] };

export type Sums = { samples: Float64Array; period: Float64Array };

export type Reply =
    | { kind: "tree"; tree: Tree }
    | { kind: "time"; info: TimeInfo }
    | { kind: "broken"; block: "tree" | "time"; message: string }
    | { kind: "sums"; id: number; sums: Sums[] }
    | { kind: "density"; id: number; densities: Density[] };

let tree: Tree | null = null;
let time: Time | null = null;

const send = (reply: Reply, transfer: Transferable[] = []): void => (self as unknown as Worker).postMessage(reply, transfer);

/** Errors of the decompressor have no better name than their own. */
function told(error: unknown): string {
    if (error instanceof BlockError) return error.message;
    if (error instanceof RangeError) return "it needs more memory than there is";
    return "it is not a gzip stream that can be read";
}

async function openTree(base64: string): Promise<void> {
    try {
        tree = await readTree(open(base64));
        send({ kind: "tree", tree });
    } catch (error) {
        send({ kind: "broken", block: "tree", message: told(error) });
    }
}

async function openTime(base64: string): Promise<void> {
    if (!tree) return;
    try {
        time = await readTime(open(base64), tree);
        send({ kind: "time", info: info(time) });
    } catch (error) {
        send({ kind: "broken", block: "time", message: told(error) });
    }
}

self.onmessage = (message: MessageEvent<Request>): void => {
    const request = message.data;
    if (request.kind === "open-tree") {
        void openTree(request.base64);
    } else if (request.kind === "open-time") {
        void openTime(request.base64);
    } else if (tree && time && request.kind === "sums") {
        const sums = request.filters.map((filter) => rowSums(time!, tree!, filter));
        send({ kind: "sums", id: request.id, sums }, sums.flatMap((s) => [s.samples.buffer, s.period.buffer]));
    } else if (tree && time && request.kind === "density") {
        const densities = request.wanted.map((wanted) => density(time!, wanted));
        send({ kind: "density", id: request.id, densities }, densities.flatMap((d) => (d.marked ? [d.counts.buffer, d.marked.buffer] : [d.counts.buffer])));
    }
};
