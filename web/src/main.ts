// SPDX-License-Identifier: Apache-2.0
// Starts the page: hands the data to the worker, and shows the tree as soon as it is there, the time strip when that is.
import { App } from "./app";
import { Client } from "./client";
import { h, put } from "./dom";
import { Shell } from "./shell";
import { Strip } from "./strip";

declare const WORKER_CODE: string;

function data(id: string): string | null {
    const element = document.getElementById(id);
    const text = element?.textContent?.trim() ?? null;
    element?.remove(); // the browser need not keep what the worker has
    return text;
}

function failed(message: string): void {
    put(document.getElementById("app")!, h("main", { class: "message", role: "alert" }, h("h1", {}, "sonde"), h("p", {}, message)));
}

function start(): void {
    const tree = data("sonde-tree");
    if (tree === null) {
        failed("This page has no profile in it: sonde view FILE -o page.html writes one that has.");
        return;
    }
    let app: App | null = null;
    let shell: Shell | null = null;
    const client = new Client(WORKER_CODE, {
        tree: (read) => {
            if (!read.events.length) return failed("The profile has no events.");
            app = new App(read, client);
            shell = new Shell(app, new Strip(app, client));
            app.refresh();
            performance.mark("tree");
            return undefined;
        },
        time: (info) => {
            app!.time = info;
            performance.mark("time");
            app!.refresh();
        },
        broken: (block, message) => {
            const line = `The profile's ${block} block cannot be read: ${message}.`;
            if (shell) shell.note(line);
            else failed(line);
        },
    });
    client.open(tree, data("sonde-time"));
}

start();
