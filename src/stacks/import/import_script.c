/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of `perf script`: a line for each sample, its callchain below it, innermost frame first.
 *
 *   program  4711/4712 [003] 12.345678:    250000 cycles:u:
 *               55d0c1a2 work+0x12 (/usr/bin/program)
 *
 * CPU, time, period and event may be absent; a sample without a callchain may have its frame on its line.
 */
#include <stdlib.h>

#include "stacks/import/import_internal.h"

enum { WORDS_MAX = 24 };

struct sample {
    struct part comm, event, frame; /* frame: "address symbol (dso)", on the sample's own line */
    uint64_t pid, tid, cpu, time_ns, period;
    bool has_time, has_cpu, has_tid;
};

struct reading {
    struct importing *in;
    struct sample sample;
    bool open;            /* a sample whose frames are being read */
    uint64_t line;        /* of the sample */
    VEC(uint32_t) frames; /* of its stack, innermost first */
};

/* ---- the sample's line ---- */

static size_t split(struct part line, struct part *words) {
    size_t n = 0;
    for (size_t i = 0; i < line.len && n < WORDS_MAX;) {
        while (i < line.len && (line.text[i] == ' ' || line.text[i] == '\t'))
            i++;
        size_t start = i;
        while (i < line.len && line.text[i] != ' ' && line.text[i] != '\t')
            i++;
        if (i > start)
            words[n++] = (struct part){line.text + start, i - start};
    }
    return n;
}

/* "12.345678:" */
static bool read_time(struct part w, uint64_t *ns) {
    const char *dot = w.len ? memchr(w.text, '.', w.len) : NULL;
    if (!dot || w.text[w.len - 1] != ':')
        return false;
    struct part whole = {w.text, (size_t)(dot - w.text)}, fraction = {dot + 1, w.len - whole.len - 2};
    uint64_t s = 0, rest = 0;
    if (!import_number(whole, &s) || !import_number(fraction, &rest) || fraction.len > 9 ||
        s > INT64_MAX / 1000000000)
        return false;
    for (size_t i = fraction.len; i < 9; i++)
        rest *= 10;
    *ns = s * 1000000000 + rest;
    return true;
}

/* "4712" or "4711/4712"; a thread that is not known is -1. */
static bool read_tid(struct part w, struct sample *s) {
    const char *slash = w.len ? memchr(w.text, '/', w.len) : NULL;
    struct part first = {w.text, slash ? (size_t)(slash - w.text) : w.len};
    if (w.len == 2 && !memcmp(w.text, "-1", 2)) {
        s->pid = s->tid = UINT32_MAX;
        return true;
    }
    if (!import_number(first, &s->pid) || s->pid > UINT32_MAX)
        return false;
    s->tid = s->pid;
    if (!slash)
        return true;
    return import_number((struct part){slash + 1, w.len - first.len - 1}, &s->tid) && s->tid <= UINT32_MAX;
}

static bool read_cpu(struct part w, uint64_t *cpu) {
    return w.len > 2 && w.text[0] == '[' && w.text[w.len - 1] == ']' &&
           import_number((struct part){w.text + 1, w.len - 2}, cpu) && *cpu < UINT32_MAX;
}

/* Returns how many words are before the event: those of the command, the thread, CPU and time. 0: it is no
 * sample's line. */
static size_t read_who(struct part line, const struct part *words, size_t n, struct sample *s) {
    size_t at = 1, end = 0;
    while (at < n && !read_time(words[at], &s->time_ns))
        at++;
    s->has_time = at < n;
    if (s->has_time) {
        end = at + 1;
        s->has_cpu = read_cpu(words[at - 1], &s->cpu);
        at -= 1 + s->has_cpu;
        s->has_tid = at > 0 && at < n && read_tid(words[at], s);
        at += !s->has_tid;
    } else {
        for (at = 1; at < n && !read_tid(words[at], s); at++) {
        }
        s->has_tid = at < n;
        if (!s->has_tid)
            return 0;
        end = at + 1;
        if (end < n && read_cpu(words[end], &s->cpu)) {
            s->has_cpu = true;
            end++;
        }
    }
    if (!at || at > n)
        return 0;
    const char *last = words[at - 1].text + words[at - 1].len;
    s->comm = import_trim((struct part){line.text, (size_t)(last - line.text)});
    return end;
}

static bool read_head(struct part line, struct sample *s) {
    struct part words[WORDS_MAX];
    size_t n = split(line, words), at = read_who(line, words, n, s);
    if (!at)
        return false;
    s->period = 1;
    if (at + 1 < n && import_number(words[at], &s->period))
        at++;
    if (at >= n || words[at].text[words[at].len - 1] != ':')
        return false;
    s->event = (struct part){words[at].text, words[at].len - 1};
    const char *rest = words[at].text + words[at].len;
    s->frame = import_trim((struct part){rest, (size_t)(line.text + line.len - rest)});
    return s->event.len;
}

/* ---- frames ---- */

/* Splits "symbol+0x12 (dso)". */
static void split_frame(struct part text, struct part *name, struct part *dso) {
    *name = text;
    *dso = (struct part){0};
    if (!text.len || text.text[text.len - 1] != ')')
        return;
    size_t open = text.len, depth = 0;
    while (open-- > 0) { /* the parenthesis that the last one closes */
        depth += text.text[open] == ')';
        if (text.text[open] == '(' && !--depth)
            break;
    }
    if (open >= text.len || (open && text.text[open - 1] != ' '))
        return;
    *dso = (struct part){text.text + open + 1, text.len - open - 2};
    *name = import_trim((struct part){text.text, open});
}

static struct part without_offset(struct part name) {
    size_t i = name.len;
    while (i && ((name.text[i - 1] >= '0' && name.text[i - 1] <= '9') ||
                 (name.text[i - 1] >= 'a' && name.text[i - 1] <= 'f')))
        i--;
    if (i > 3 && i < name.len && !memcmp(name.text + i - 3, "+0x", 3))
        name.len = i - 3;
    return name;
}

/* Reads "address symbol (dso)". False: it is none. */
static bool add_frame(struct reading *r, struct part line) {
    static const struct part unknown = {"[unknown]", 9};
    char *end;
    size_t digits = 0;
    while (digits < line.len && ((line.text[digits] >= '0' && line.text[digits] <= '9') ||
                                 (line.text[digits] >= 'a' && line.text[digits] <= 'f')))
        digits++;
    if (!digits || digits > 16 || (digits < line.len && line.text[digits] != ' '))
        return false;
    char number[17] = {0};
    memcpy(number, line.text, digits);
    uint64_t address = strtoull(number, &end, 16);
    struct part name, dso;
    split_frame(import_trim((struct part){line.text + digits, line.len - digits}), &name, &dso);
    bool inlined = dso.len == 7 && !memcmp(dso.text, "inlined", 7);
    name = without_offset(name);
    struct stacks_frame f = {.image = STACKS_NONE};
    bool known = !inlined && dso.len && !(dso.len == unknown.len && !memcmp(dso.text, unknown.text, dso.len));
    if (!import_name(r->in, name.len ? name : unknown, known ? dso : (struct part){0}, &f))
        return true;
    if (known)
        f.image = import_image(r->in, dso, 0);
    if (inlined)
        f.level = STACKS_INLINED;
    (void)address; /* where the process had it: no place in a file */
    uint32_t id = r->in->no_memory ? STACKS_NONE : stacks_frame(r->in->s, &f), *made = vec_push(&r->frames);
    r->in->no_memory |= id == STACKS_NONE || !made;
    if (made)
        *made = id;
    return true;
}

/* ---- samples ---- */

static void add_moment(struct reading *r, uint32_t row, uint32_t comm) {
    struct importing *in = r->in;
    const struct sample *x = &r->sample;
    uint32_t thread = stacks_thread(in->s, (uint32_t)x->pid, (uint32_t)x->tid);
    struct stacks_moment *made = thread == STACKS_NONE ? NULL : vec_push(&in->s->moments);
    in->no_memory |= !made;
    if (!made)
        return;
    in->s->threads.items[thread].comm = comm;
    *made = (struct stacks_moment){.time_ns = x->time_ns,
                                   .period = x->period,
                                   .row = row,
                                   .thread = thread,
                                   .cpu = x->has_cpu ? (uint32_t)x->cpu : STACKS_NONE};
}

/* Returns what an event's period counts. */
static struct part unit_of(struct part event) {
    static const char *const clocks[] = {"cpu-clock", "task-clock"};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        size_t n = strlen(clocks[i]);
        if (event.len >= n && !memcmp(event.text, clocks[i], n) && (event.len == n || event.text[n] == ':'))
            return (struct part){"ns", 2};
    }
    size_t n = 0;
    while (n < event.len && event.text[n] != ':' && event.text[n] != '/')
        n++;
    bool plain = n == event.len || (event.text[n] == ':' && event.len - n <= 5); /* modifiers are short */
    return plain ? (struct part){event.text, n} : (struct part){"events", 6};
}

/* Adds the sample whose lines were read. */
static void close_sample(struct reading *r) {
    struct importing *in = r->in;
    struct sample *x = &r->sample;
    uint32_t node = STACKS_NONE, row;
    if (!r->open)
        return;
    r->open = false;
    uint64_t at = in->at;
    in->at = r->line;
    if (!r->frames.count && !(x->frame.len && add_frame(r, x->frame)))
        add_frame(r, (struct part){"0", 1}); /* printed without one: tracepoints, -F without ip */
    if (r->frames.count > STACKS_IMPORT_DEEPEST) {
        import_bad(in, "too many frames");
    } else if (!in->no_memory) {
        for (size_t i = r->frames.count; i-- > 0 && !in->no_memory;) {
            node = stacks_node(in->s, node, r->frames.items[i]);
            in->no_memory |= node == STACKS_NONE;
        }
        uint32_t name = import_text(in, x->event), unit = import_text(in, unit_of(x->event)),
                 comm = import_text(in, x->comm),
                 event = in->no_memory ? STACKS_NONE : import_event(in, name, unit);
        if (!in->no_memory && import_add(in, event, comm, node, 1, x->period, &row) && x->has_time &&
            x->has_tid)
            add_moment(r, row, comm);
    }
    in->at = at;
    r->frames.count = 0;
}

static void take_line(struct reading *r, struct part line) {
    struct part bare = import_trim(line);
    bool inner = line.len && (line.text[0] == '\t' || line.text[0] == ' ');
    if (!bare.len) {
        close_sample(r);
        return;
    }
    if (bare.text[0] == '#')
        return;
    if (r->open && inner && r->frames.count <= STACKS_IMPORT_DEEPEST && add_frame(r, bare))
        return;
    struct sample next = {0};
    if (read_head(bare, &next)) {
        close_sample(r);
        r->sample = next;
        r->line = r->in->at;
        r->open = true;
    } else if (!r->open || !inner) { /* source lines and the like follow frames */
        import_bad(r->in, "neither a sample nor a frame of one");
    }
}

bool import_script(struct importing *in, struct bytes file, struct err *err) {
    struct reading r = {.in = in};
    struct part line;
    (void)err;
    while (!in->no_memory && import_line(&file, &line)) {
        in->at++;
        take_line(&r, line);
    }
    close_sample(&r);
    vec_fini(&r.frames);
    return !in->no_memory;
}
