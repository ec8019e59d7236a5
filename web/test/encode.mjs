// SPDX-License-Identifier: Apache-2.0
// Writes the page's data (docs/PAGE.md) for tests: the same format that `sonde view` writes, from plain arrays.
import { gzipSync } from "node:zlib";

class Varints {
    constructor() {
        this.bytes = new Uint8Array(1024);
        this.length = 0;
    }

    put(value) {
        if (this.length + 10 > this.bytes.length) {
            const grown = new Uint8Array(this.bytes.length * 2);
            grown.set(this.bytes);
            this.bytes = grown;
        }
        let v = value;
        while (v >= 2 ** 31) {
            this.bytes[this.length++] = (v % 128) | 128;
            v = Math.floor(v / 128);
        }
        while (v > 127) {
            this.bytes[this.length++] = (v & 127) | 128;
            v >>>= 7;
        }
        this.bytes[this.length++] = v;
    }

    take() {
        return this.bytes.subarray(0, this.length);
    }
}

/** The bytes of one column; a name that ends in `+` holds zigzag deltas. */
export function column(name, values) {
    const out = new Varints();
    let before = 0;
    for (let i = 0; i < values.length; i++) {
        if (name.endsWith("+")) {
            const delta = values[i] - before;
            before = values[i];
            out.put(delta < 0 ? -2 * delta - 1 : 2 * delta);
        } else {
            out.put(values[i]);
        }
    }
    return out.take();
}

/** A block before compression. `columns`: {name: numbers}; null columns are left out. */
export function block(format, header, columns) {
    const written = Object.entries(columns).filter(([, v]) => v).map(([name, values]) => [name, values.length, column(name, values)]);
    const json = new TextEncoder().encode(JSON.stringify({
        format, version: 1, ...header, columns: written.map(([name, count, bytes]) => [name, count, bytes.length]),
    }));
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, json.length, true);
    return Buffer.concat([length, json, ...written.map(([, , bytes]) => bytes)]);
}

/** The tree block of a profile (see profile() in generate.mjs for its shape). */
export function treeBlock(p) {
    return block("sonde-tree", {
        title: p.title, program: "sonde test", recordings: p.recordings, events: p.events, strings: p.strings, notes: p.notes ?? [], verdicts: p.verdicts,
    }, {
        "frame.name": p.frame.name, "frame.dso": p.frame.dso, "frame.file": p.frame.file, "frame.line": p.frame.line,
        "frame.level": p.frame.level, "frame.grade": p.frame.grade, "frame.why": p.frame.why,
        "node.up": Array.from(p.node.parent, (parent, i) => (parent < 0 ? 0 : i - parent)), "node.frame+": p.node.frame,
        "thread.pid+": p.thread.pid, "thread.tid+": p.thread.tid, "thread.comm": p.thread.comm,
        "row.event": p.row.event, "row.comm": p.row.comm, "row.node+": p.row.node, "row.samples": p.row.samples,
        "row.period": p.row.period,
    });
}

/** The time block of a profile, or null where it has none. */
export function timeBlock(p) {
    const t = p.time;
    if (!t) return null;
    const header = { first_ns: t.first_ns, last_ns: t.last_ns, unit_ns: t.unit_ns ?? 1000 };
    if (t.buckets) {
        return block("sonde-time", { ...header, buckets: t.buckets }, {
            "bucket+": t.bucket, "row": t.row, "thread": t.thread, "samples": t.samples, "period": t.period,
        });
    }
    return block("sonde-time", header, { "time+": t.time, "row": t.row, "thread": t.thread, "cpu": t.cpu, "period": t.period });
}

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** The template with its two places filled. `blocks`: {"sonde-tree": bytes, "sonde-time": bytes} already compressed. */
export function fill(template, title, blocks) {
    const data = Object.entries(blocks).filter(([, bytes]) => bytes)
        .map(([id, bytes]) => `<script type="application/octet-stream" id="${id}">${Buffer.from(bytes).toString("base64")}</script>`);
    return template.replace("<!--SONDE-TITLE-->", () => `<title>${escaped(title)}</title>`)
        .replace("<!--SONDE-DATA-->", () => data.join("\n"));
}

/** A whole page of a profile. */
export function page(template, p) {
    const time = timeBlock(p);
    return fill(template, p.title, { "sonde-tree": gzipSync(treeBlock(p)), "sonde-time": time && gzipSync(time) });
}
