// SPDX-License-Identifier: Apache-2.0
// Starts the page: hands the data to the worker, and shows the tree as soon as it is there, the time strip when that is.
import { App } from "./app";
import { Client } from "./client";
import { h, put } from "./dom";
import { Shell } from "./shell";
import { Strip } from "./strip";

declare const WORKER_CODE: string;

/** The text of a data element, once the parser has got past its end; undefined as long as it may still come or grow. */
function data(id: string): string | null | undefined {
    const element = document.getElementById(id);
    const parsing = document.readyState === "loading";
    if (!element) return parsing ? undefined : null;
    if (parsing && !element.nextSibling) return undefined;
    const text = element.textContent!.trim();
    element.remove(); // the browser need not keep what the worker has
    return text;
}

/** As soon as it is there: the tree is drawn while the time block, which is a hundred times larger, is still being parsed. */
function whenThere(id: string, use: (text: string | null) => void): void {
    const look = (): boolean => {
        const text = data(id);
        if (text === undefined) return false;
        observer.disconnect();
        document.removeEventListener("readystatechange", look);
        use(text);
        return true;
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true });
    document.addEventListener("readystatechange", look);
    look();
}

function failed(message: string): void {
    put(document.getElementById("app")!, h("main", { class: "message", role: "alert" }, h("h1", {}, "sonde"), h("p", {}, message)));
}

/** Marks when a frame with what was just made has been drawn: read by the measuring script. */
function markDrawn(name: string): void {
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark(name)));
}

function start(): void {
    let app: App | null = null;
    let shell: Shell | null = null;
    const client = new Client(WORKER_CODE, {
        tree: (read) => {
            if (!read.events.length) return failed("The profile has no events.");
            app = new App(read, client);
            shell = new Shell(app, new Strip(app, client));
            app.refresh();
            markDrawn("tree-drawn");
            whenThere("sonde-time", (text) => text !== null && client.openTime(text));
            return undefined;
        },
        time: (info) => {
            app!.time = info;
            document.documentElement.dataset.timeBytes = String(info.bytes); // read by the measuring script
            app!.refresh();
            markDrawn("time-drawn");
        },
        broken: (block, message) => {
            const line = `The profile's ${block} block cannot be read: ${message}.`;
            if (shell) shell.note(line);
            else failed(line);
        },
    });
    whenThere("sonde-tree", (text) => {
        if (text === null) failed("This page has no profile in it: sonde view FILE -o page.html writes one that has.");
        else client.openTree(text);
    });
}

start();
