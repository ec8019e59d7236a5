// SPDX-License-Identifier: Apache-2.0
// Names as they are shown: what would be invisible or reorder the text is written out, and the middle of monsters is left out.

const SHOWN_LENGTH = 200;
/** Control characters, bidi marks, zero-width characters, line separators, tags, lone surrogates, byte order mark. */
const HIDDEN =
    /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

function written(match: string): string {
    const code = match.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code); // the pictures of control characters: ␀ and so on
    if (code === 0x7f) return "␡";
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Safe to show; at most `most` characters or so, cut in the middle. */
export function shown(name: string, most = SHOWN_LENGTH): string {
    let text = name;
    if (text.length > most) {
        const part = (most - 1) >> 1;
        text = `${text.slice(0, part)}…${text.slice(text.length - part)}`;
    }
    return text.replace(HIDDEN, written);
}

/** The last part of a path; a name in brackets stays whole. */
export function baseName(path: string): string {
    if (path.startsWith("[")) return path;
    return path.slice(path.lastIndexOf("/") + 1) || path;
}

const cache = new Map<string, string>();

/** As shown(), remembered: names are drawn over and over. */
export function shownOften(name: string): string {
    let text = cache.get(name);
    if (text === undefined) {
        if (cache.size > 200000) cache.clear();
        cache.set(name, (text = shown(name)));
    }
    return text;
}
