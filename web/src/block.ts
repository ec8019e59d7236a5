// SPDX-License-Identifier: Apache-2.0
// Reads a block of the page's data (docs/PAGE.md): gzip, a JSON header, columns of varints. The data may be hostile: every
// count is checked against the bytes that are really there before anything of its size is allocated.

/** A block that cannot be read; the message is one line for the person who looks at the page. */
export class BlockError extends Error {}

const HEADER_LIMIT = 128 << 20;
const COLUMN_LIMIT = 1 << 30;
const COUNT_LIMIT = 1 << 28;

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** Takes exact numbers of bytes from a stream, so that only one column is held packed at a time. */
export class ByteReader {
    private chunks: Uint8Array[] = [];
    private held = 0;

    constructor(private readonly from: ReadableStreamDefaultReader<Uint8Array>) {}

    async take(length: number): Promise<Uint8Array> {
        while (this.held < length) {
            const { done, value } = await this.from.read();
            if (done) throw new BlockError(`it ends early (${length - this.held} bytes are missing)`);
            this.chunks.push(value);
            this.held += value.length;
        }
        this.held -= length;
        return this.cut(length);
    }

    private cut(length: number): Uint8Array {
        const out = new Uint8Array(length);
        let at = 0;
        let used = 0;
        while (at < length) {
            const chunk = this.chunks[used]!;
            const part = chunk.subarray(0, length - at);
            out.set(part, at);
            at += part.length;
            if (part.length < chunk.length) this.chunks[used] = chunk.subarray(part.length);
            else used++;
        }
        this.chunks.splice(0, used);
        return out;
    }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const quick = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64;
    try {
        if (quick) return quick.call(Uint8Array, text);
        const binary = atob(text);
        const bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
        return bytes;
    } catch {
        throw new BlockError("it is not base64");
    }
}

export function open(base64: string): ByteReader {
    const packed = new Blob([fromBase64(base64)]).stream();
    return new ByteReader(packed.pipeThrough(new DecompressionStream("gzip")).getReader());
}

/** A number that goes on past the end of the column, or over more than ten bytes. */
function broken(name: string): never {
    throw new BlockError(`column ${name} is damaged`);
}

/** Decodes `out.length` varints; with `signed` they are deltas. Values over 2^53 are rounded. */
export function decode(name: string, bytes: Uint8Array, signed: boolean, out: Numbers, limit: number): void {
    const count = out.length;
    const size = bytes.length;
    let at = 0;
    let value = 0;
    for (let i = 0; i < count; i++) {
        if (at >= size) broken(name);
        let byte = bytes[at++]!;
        let number = byte & 127;
        for (let scale = 128, length = 1; byte > 127; scale *= 128, length++) {
            if (at >= size || length >= 10) broken(name);
            byte = bytes[at++]!;
            number += (byte & 127) * scale;
        }
        if (signed) value += number % 2 ? -(number + 1) / 2 : number / 2;
        else value = number;
        if (!(value >= 0 && value <= limit)) throw new BlockError(`column ${name}: value ${i} is out of range`);
        out[i] = value;
    }
    if (at !== size) broken(name);
}

export interface ColumnPlace {
    name: string;
    count: number;
    bytes: number;
}

export interface Header {
    fields: Record<string, unknown>;
    columns: ColumnPlace[];
}

function columnPlaces(value: unknown): ColumnPlace[] {
    if (!Array.isArray(value)) throw new BlockError("its header names no columns");
    return value.map((entry: unknown) => {
        const [name, count, bytes] = Array.isArray(entry) ? entry : [];
        const whole = (n: unknown, limit: number): n is number => Number.isInteger(n) && (n as number) >= 0 && (n as number) <= limit;
        // A number takes at least one byte: a count that promises more is a lie, and is never allocated.
        if (typeof name !== "string" || !whole(count, COUNT_LIMIT) || !whole(bytes, COLUMN_LIMIT) || count > bytes) {
            throw new BlockError("its header has a column of an impossible size");
        }
        return { name, count, bytes };
    });
}

export async function readHeader(reader: ByteReader, format: string): Promise<Header> {
    const prefix = await reader.take(4);
    const length = new DataView(prefix.buffer).getUint32(0, true);
    if (length > HEADER_LIMIT) throw new BlockError("its header is too long");
    let fields: Record<string, unknown>;
    try {
        fields = JSON.parse(new TextDecoder().decode(await reader.take(length)));
    } catch (error) {
        if (error instanceof BlockError) throw error;
        throw new BlockError("its header is not JSON");
    }
    if (typeof fields !== "object" || fields === null || fields.format !== format) throw new BlockError(`it is no ${format} block`);
    if (fields.version !== 1) throw new BlockError(`its version is ${String(fields.version).slice(0, 20)}, this page knows 1`);
    return { fields, columns: columnPlaces(fields.columns) };
}

/** What a caller wants of a column: an array of the right kind for its count, and the largest value allowed. */
export type Want = (count: number) => { out: Numbers; limit: number };

/** Reads the columns that are wanted, in the order in which they come, and skips the others. */
export async function readColumns(reader: ByteReader, header: Header, wants: Record<string, Want>): Promise<Map<string, Numbers>> {
    const found = new Map<string, Numbers>();
    for (const { name, count, bytes } of header.columns) {
        const packed = await reader.take(bytes);
        const want = Object.hasOwn(wants, name) ? wants[name] : undefined;
        if (!want) continue;
        const key = name.replace(/\+$/, "");
        if (found.has(key)) throw new BlockError(`column ${name} comes twice`);
        const { out, limit } = want(count);
        decode(name, packed, name.endsWith("+"), out, limit);
        found.set(key, out);
    }
    return found;
}
