// SPDX-License-Identifier: Apache-2.0
// The page's side of the worker. Of questions that come faster than answers, only the last of a kind is asked.
import type { Density, DensityWanted } from "./density";
import type { Filter, TimeInfo } from "./time";
import type { Tree } from "./tree";
import type { Reply, Request, Sums } from "./worker";

export interface ClientEvents {
    tree(tree: Tree): void;
    time(info: TimeInfo): void;
    broken(block: "tree" | "time", message: string): void;
}

type Asked = { kind: "sums"; filters: Filter[]; done: (sums: Sums[]) => void } | { kind: "density"; wanted: DensityWanted[]; done: (d: Density[]) => void };

export class Client {
    private readonly worker: Worker;
    private readonly flying = new Map<string, Asked>();
    private readonly waiting = new Map<string, Asked>();

    constructor(code: string, private readonly events: ClientEvents) {
        const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        this.worker = new Worker(url);
        this.worker.onmessage = (message: MessageEvent<Reply>) => this.answer(message.data);
        this.worker.onerror = (e) => {
            e.preventDefault();
            this.events.broken("tree", "the page's worker failed");
        };
    }

    openTree(base64: string): void {
        this.worker.postMessage({ kind: "open-tree", base64 } satisfies Request);
    }

    openTime(base64: string): void {
        this.worker.postMessage({ kind: "open-time", base64 } satisfies Request);
    }

    sums(filters: Filter[], done: (sums: Sums[]) => void): void {
        this.ask({ kind: "sums", filters, done });
    }

    density(wanted: DensityWanted[], done: (d: Density[]) => void): void {
        this.ask({ kind: "density", wanted, done });
    }

    /** Forgets a question that is no longer of interest. */
    drop(kind: Asked["kind"]): void {
        this.waiting.delete(kind);
        const asked = this.flying.get(kind);
        if (asked) asked.done = () => undefined;
    }

    private ask(asked: Asked): void {
        if (this.flying.has(asked.kind)) {
            this.drop(asked.kind);
            this.waiting.set(asked.kind, asked);
            return;
        }
        this.flying.set(asked.kind, asked);
        const { kind } = asked;
        this.worker.postMessage(kind === "sums" ? { kind, id: 0, filters: asked.filters } : { kind, id: 0, wanted: asked.wanted });
    }

    private answer(reply: Reply): void {
        if (reply.kind === "tree") this.events.tree(reply.tree);
        else if (reply.kind === "time") this.events.time(reply.info);
        else if (reply.kind === "broken") this.events.broken(reply.block, reply.message);
        else {
            const asked = this.flying.get(reply.kind);
            this.flying.delete(reply.kind);
            const next = this.waiting.get(reply.kind);
            this.waiting.delete(reply.kind);
            if (next) this.ask(next);
            if (asked?.kind === "sums" && reply.kind === "sums") asked.done(reply.sums);
            if (asked?.kind === "density" && reply.kind === "density") asked.done(reply.densities);
        }
    }
}
