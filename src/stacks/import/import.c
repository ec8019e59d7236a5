/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/import/import.h"

#include <stdlib.h>

#include "base/gzip.h"
#include "base/proto.h"
#include "stacks/import/import_internal.h"

/* A compressed file may become this large; more is refused. */
enum { LARGEST_MB = 1024 };

/* ---- what the importers share ---- */

bool import_bad(struct importing *in, const char *reason) {
    if (!in->tally->bad++) {
        in->tally->first = in->at;
        in->tally->reason = reason;
    }
    return false;
}

bool import_line(struct bytes *rest, struct part *line) {
    if (!rest->size)
        return false;
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    size_t len = end ? (size_t)(end - rest->data) : rest->size, step = end ? len + 1 : len;
    *line = (struct part){(const char *)rest->data, len};
    if (len && line->text[len - 1] == '\r')
        line->len--;
    rest->data += step;
    rest->size -= step;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

struct part import_trim(struct part p) {
    while (p.len && is_space(p.text[0])) {
        p.text++;
        p.len--;
    }
    while (p.len && is_space(p.text[p.len - 1]))
        p.len--;
    return p;
}

bool import_number(struct part p, uint64_t *v) {
    uint64_t sum = 0;
    for (size_t i = 0; i < p.len; i++)
        if (p.text[i] < '0' || p.text[i] > '9' || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(p.text[i] - '0'), &sum))
            return false;
    if (p.len)
        *v = sum;
    return p.len;
}

uint32_t import_text(struct importing *in, struct part p) {
    const char *zero = p.len ? memchr(p.text, 0, p.len) : NULL;
    uint32_t id = stacks_text(in->s, p.len ? p.text : "", zero ? (size_t)(zero - p.text) : p.len);
    in->no_memory |= id == STRPOOL_NONE;
    return id;
}

uint32_t import_event(struct importing *in, uint32_t name, uint32_t unit) {
    struct stacks *s = in->s;
    for (uint32_t i = 0; i < s->events.count; i++)
        if (s->events.items[i].recording == in->recording && s->events.items[i].name == name)
            return i;
    struct stacks_event *made = vec_push(&s->events);
    if (!made) {
        in->no_memory = true;
        return STACKS_NONE;
    }
    *made = (struct stacks_event){.name = name, .unit = unit, .recording = in->recording};
    return (uint32_t)s->events.count - 1;
}

struct part import_base_name(struct part path) {
    if (path.len && path.text[0] == '[')
        return path;
    for (size_t i = path.len; i-- > 0;)
        if (path.text[i] == '/')
            return (struct part){path.text + i + 1, path.len - i - 1};
    return path;
}

uint32_t import_image(struct importing *in, struct part path, uint32_t build_id) {
    struct stacks_image image = {
        .name = import_text(in, import_base_name(path)), .path = import_text(in, path), .build_id = build_id};
    uint32_t id = in->no_memory ? STACKS_NONE : stacks_image(in->s, &image);
    in->no_memory |= id == STACKS_NONE;
    return id;
}

static bool begins(struct part p, const char *with) {
    size_t n = strlen(with);
    return p.len >= n && !memcmp(p.text, with, n);
}

static bool ends(struct part p, const char *with) {
    size_t n = strlen(with);
    return p.len >= n && !memcmp(p.text + p.len - n, with, n);
}

static uint8_t level_of(struct part dso) {
    struct part base = import_base_name(dso);
    if (begins(dso, "[guest.kernel"))
        return STACKS_GUEST_KERNEL;
    if (begins(dso, "[kernel") || begins(dso, "[bpf") || begins(base, "vmlinux") || ends(dso, ".ko"))
        return STACKS_KERNEL;
    if (begins(dso, "[JIT]") || begins(dso, "//anon") || begins(dso, "[anon") ||
        (begins(base, "perf-") && ends(base, ".map")) || (begins(base, "jitted-") && ends(base, ".so")))
        return STACKS_JIT;
    return STACKS_USER;
}

bool import_name(struct importing *in, struct part name, struct part dso, struct stacks_frame *f) {
    char text[4096];
    struct part base = import_base_name(dso);
    f->level = level_of(dso);
    f->grade = STACKS_INFERRED;
    bool stale = begins(name, "[stale");
    if (stale || begins(name, "[unknown]")) {
        bool bare = base.len && base.text[0] == '[' && !stale, none = !base.len;
        size_t len = base.len < sizeof text - 16 ? base.len : sizeof text - 16, at = 0;
        const char *before = bare ? "" : stale ? "[stale " : "[";
        f->grade = stale ? STACKS_STALE : STACKS_UNKNOWN;
        if (none || (stale && name.len > 7 && name.text[6] == ' ')) {
            f->name = import_text(in, name); /* it says itself where */
            return !in->no_memory;
        }
        at = strlen(before);
        memcpy(text, before, at);
        memcpy(text + at, base.text, len);
        at += len;
        if (!bare)
            text[at++] = ']';
        f->name = import_text(in, (struct part){text, at});
    } else {
        if (name.len && name.text[0] == '[')
            f->grade = STACKS_UNKNOWN;
        f->name = import_text(in, name);
    }
    return !in->no_memory;
}

bool import_add(struct importing *in, uint32_t event, uint32_t comm, uint32_t node, uint64_t samples,
                uint64_t period, uint32_t *row) {
    const struct stacks_event *e = &in->s->events.items[event];
    if (samples > INT64_MAX - e->samples || period > INT64_MAX - e->period)
        return import_bad(in, "the sum of weights is too large");
    *row = stacks_row(in->s, event, comm, node);
    in->no_memory |= *row == STACKS_NONE;
    if (in->no_memory)
        return false;
    stacks_add(in->s, *row, samples, period);
    return true;
}

/* ---- what a file is ---- */

static bool is_recording(struct bytes b) {
    return b.size >= 8 && (!memcmp(b.data, "PERFILE", 7) || !memcmp(b.data + 1, "ELIFREP", 7) ||
                           !memcmp(b.data, "PERFFILE", 8));
}

/* A profile.proto may begin with any field; the first few must make sense. */
static bool is_profile(struct bytes b) {
    struct cursor c = cursor_make(b, BYTES_HOST_BIG);
    struct proto_field f;
    unsigned fields = 0;
    while (fields < 16 && proto_next(&c, &f)) {
        bool is_message = (f.number >= 1 && f.number <= 6) || f.number == 11;
        if (f.number > 15 || (is_message && !f.is_bytes))
            return false;
        fields++;
    }
    return fields && cursor_ok(&c);
}

static bool is_folded(struct part line) {
    size_t i = line.len;
    while (i && line.text[i - 1] >= '0' && line.text[i - 1] <= '9')
        i--;
    return i > 1 && i < line.len && line.text[i - 1] == ' ';
}

/* Whether a line begins with white space and a number in hex. */
static bool is_frame(struct part line) {
    size_t i = 0;
    while (i < line.len && is_space(line.text[i]))
        i++;
    size_t start = i;
    while (i < line.len &&
           ((line.text[i] >= '0' && line.text[i] <= '9') || (line.text[i] >= 'a' && line.text[i] <= 'f')))
        i++;
    return start && i > start && i < line.len && line.text[i] == ' ' && line.text[line.len - 1] == ')';
}

/* Of a text: whether its lines look like stacks one to a line, or like samples with frames below. */
static enum stacks_import_kind text_kind(struct bytes b) {
    enum { LOOK_AT = 64 * 1024, LINES = 200 };
    struct bytes rest = {b.data, b.size < LOOK_AT ? b.size : LOOK_AT};
    struct part line;
    unsigned folded = 0, frames = 0, heads = 0, other = 0;
    for (unsigned i = 0; i < LINES && import_line(&rest, &line); i++) {
        struct part bare = import_trim(line);
        if (memchr(line.text, 0, line.len))
            return STACKS_IMPORT_NONE;
        if (!bare.len || bare.text[0] == '#')
            continue;
        if (is_frame(line))
            frames++;
        else if (is_folded(line))
            folded++;
        else if (memchr(line.text, ':', line.len))
            heads++;
        else
            other++;
    }
    if (folded && folded >= frames + heads + other)
        return STACKS_IMPORT_FOLDED;
    return heads && heads + frames > other ? STACKS_IMPORT_SCRIPT : STACKS_IMPORT_NONE;
}

enum stacks_import_kind stacks_import_kind_of(struct bytes b) {
    if (!b.size || is_recording(b))
        return STACKS_IMPORT_NONE;
    if (gzip_is(b))
        return STACKS_IMPORT_PPROF;
    static const char json[] = "{\"format\":\"" STACKS_JSON_FORMAT "\"";
    if (b.size >= sizeof json && !memcmp(b.data, json, sizeof json - 1))
        return STACKS_IMPORT_JSON;
    enum stacks_import_kind kind = text_kind(b);
    return kind != STACKS_IMPORT_NONE || !is_profile(b) ? kind : STACKS_IMPORT_PPROF;
}

const char *stacks_import_kind_name(enum stacks_import_kind kind) {
    static const char *const names[] = {"nothing that is known", "sonde's JSON", "a pprof profile",
                                        "folded stacks", "perf script's text"};
    return names[kind];
}

/* ---- all ---- */

bool stacks_import(struct stacks *s, enum stacks_import_kind kind, struct bytes file, const char *path,
                   struct stacks_import_tally *tally, struct err *err) {
    static import_fn *const importers[] = {NULL, import_json, import_pprof, import_folded, import_script};
    struct importing in = {.s = s, .tally = tally, .recording = (uint32_t)s->recordings.count};
    struct bytes plain = {0};
    *tally = (struct stacks_import_tally){0};
    if (kind == STACKS_IMPORT_NONE && file.size > 8 && !memcmp(file.data, "PERFILE2", 8))
        return err_set(err, ERR_UNSUPPORTED, path, "is a recording: sonde view and export read it as it is");
    if (kind == STACKS_IMPORT_NONE)
        return err_set(err, ERR_BROKEN, path, "neither a recording nor stacks that can be imported");
    if (gzip_is(file)) {
        if (!gzip_read(file, (size_t)LARGEST_MB << 20, &plain, err))
            return false;
        file = plain;
    }
    if (kind != STACKS_IMPORT_JSON) {
        struct stacks_recording *made = vec_push(&s->recordings);
        in.no_memory = !made;
        if (made)
            made->path = stacks_text(s, path, strlen(path));
    }
    bool ok = !in.no_memory && importers[kind](&in, file, err);
    free((void *)(uintptr_t)plain.data);
    if (in.no_memory)
        return err_memory(err, path);
    return ok && stacks_finish(s, err);
}
