/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace (https://perfetto.dev/docs/reference/trace-packet-proto): a packet of the type StackSample
 * for each sample. What a packet refers to by number, it or an earlier one brings along (InternedData).
 */
#include <stdlib.h>

#include "base/proto.h"
#include "view/export/export.h"
#include "view/export/visible_text.h"

/* Fields of the messages. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_PROCESS_TREE = 2,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_SAMPLE = 135,
};
enum { DEFAULTS_SAMPLE = 100, DEFAULTS_SAMPLE_SOURCE = 1 };
enum { TREE_PROCESS = 1, TREE_THREAD };
enum { PROCESS_PID = 1, PROCESS_COMMAND = 3 };
enum { THREAD_TID = 1, THREAD_NAME, THREAD_PROCESS };
enum {
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME,
    INTERNED_STACK,
    INTERNED_BUILD_ID = 16,
    INTERNED_PATH,
    INTERNED_SOURCE,
    INTERNED_MAPPING,
    INTERNED_COUNTER = 50,
};
enum { IID = 1 }; /* in each interned message */
enum { STRING_TEXT = 2 };
enum { MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING, FRAME_ADDRESS, FRAME_SOURCE, FRAME_LINE, FRAME_KIND };
enum { STACK_FRAMES = 2 };
enum { COUNTER_NAME = 2, COUNTER_UNIT, COUNTER_UNIT_TEXT };
enum { SAMPLE_TASK = 1, SAMPLE_EXECUTION = 3, SAMPLE_STACK = 6, SAMPLE_COUNTER = 10, SAMPLE_WEIGHT };
enum { TASK_PID = 2, TASK_TID };
enum { EXECUTION_CPU = 2, EXECUTION_MODE };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* flags */
enum { SEQUENCE = 1, UNIT_COUNT = 9 };

/* What was written already: bits by number. */
enum what { FUNCTIONS, SOURCES, PATHS, BUILD_IDS, MAPPINGS, FRAMES, STACKS, COUNTERS, WHATS };

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct out *out;
    struct out packet, interned, item, small; /* being made */
    uint8_t *known[WHATS];                    /* by number */
    VEC(uint32_t) path;
    bool failed;
};

/* Whether a thing has yet to be written; it counts as written then. */
static bool is_new(struct writing *w, enum what what, uint32_t id) {
    bool known = w->known[what][id];
    w->known[what][id] = true;
    return !known;
}

static void put_packet(struct writing *w, uint32_t flags) {
    proto_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_number(&w->packet, PACKET_FLAGS, flags);
    if (w->interned.len)
        proto_message(&w->packet, PACKET_INTERNED, &w->interned);
    proto_message(w->out, TRACE_PACKET, &w->packet);
}

static void put_text(struct writing *w, struct out *to, unsigned field, const char *text) {
    w->small.len = 0;
    visible_plain(text, &w->small);
    proto_message(to, field, &w->small);
}

/* ---- interned ---- */

static uint64_t intern_text(struct writing *w, enum what what, unsigned field, uint32_t text) {
    if (!text)
        return 0;
    if (is_new(w, what, text)) {
        const char *bytes = stacks_str(w->s, text);
        proto_number(&w->item, IID, text);
        /* The parts of a path are joined with a slash before each. */
        put_text(w, &w->item, STRING_TEXT, what == PATHS && *bytes == '/' ? bytes + 1 : bytes);
        proto_message(&w->interned, field, &w->item);
    }
    return text;
}

static unsigned hex_digit(char c) {
    return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

static uint64_t intern_build_id(struct writing *w, uint32_t text) {
    if (!text || !is_new(w, BUILD_IDS, text))
        return text;
    w->small.len = 0;
    for (const char *p = stacks_str(w->s, text); p[0] && p[1]; p += 2)
        out_char(&w->small, (char)(hex_digit(p[0]) << 4 | hex_digit(p[1])));
    proto_number(&w->item, IID, text);
    proto_message(&w->item, STRING_TEXT, &w->small);
    proto_message(&w->interned, INTERNED_BUILD_ID, &w->item);
    return text;
}

static uint64_t intern_mapping(struct writing *w, uint32_t image) {
    if (image == STACKS_NONE || !is_new(w, MAPPINGS, image))
        return image == STACKS_NONE ? 0 : image + 1;
    const struct stacks_image *x = &w->s->images.items[image];
    uint64_t build_id = intern_build_id(w, x->build_id),
             path = intern_text(w, PATHS, INTERNED_PATH, x->path ? x->path : x->name);
    proto_number(&w->item, IID, image + 1);
    proto_nonzero(&w->item, MAPPING_BUILD_ID, build_id);
    proto_nonzero(&w->item, MAPPING_PATH, path);
    proto_message(&w->interned, INTERNED_MAPPING, &w->item);
    return image + 1;
}

static uint64_t intern_frame(struct writing *w, uint32_t id) {
    enum { NATIVE = 1, KERNEL = 2, JIT = 4 };
    const struct stacks_frame *f = &w->s->frames.items[id];
    if (!is_new(w, FRAMES, id))
        return id + 1;
    uint64_t name = intern_text(w, FUNCTIONS, INTERNED_FUNCTION, f->name),
             source = intern_text(w, SOURCES, INTERNED_SOURCE, f->file),
             mapping = intern_mapping(w, f->image);
    bool kernel = f->level == STACKS_KERNEL || f->level == STACKS_GUEST_KERNEL;
    proto_number(&w->item, IID, id + 1);
    proto_nonzero(&w->item, FRAME_FUNCTION, name);
    if (mapping) {
        proto_number(&w->item, FRAME_MAPPING, mapping);
        proto_number(&w->item, FRAME_ADDRESS, f->address);
    }
    proto_nonzero(&w->item, FRAME_SOURCE, source);
    proto_nonzero(&w->item, FRAME_LINE, f->line);
    proto_number(&w->item, FRAME_KIND, kernel ? KERNEL : f->level == STACKS_JIT ? JIT : NATIVE);
    proto_message(&w->interned, INTERNED_FRAME, &w->item);
    return id + 1;
}

static uint64_t intern_stack(struct writing *w, uint32_t node) {
    if (!is_new(w, STACKS, node))
        return node + 1;
    w->path.count = 0;
    for (uint32_t at = node; at != STACKS_NONE; at = w->s->nodes.items[at].caller) {
        uint32_t *frame = vec_push(&w->path);
        if (frame)
            *frame = w->s->nodes.items[at].frame;
        w->failed |= !frame;
    }
    for (size_t i = 0; i < w->path.count; i++)
        intern_frame(w, w->path.items[i]);
    proto_number(&w->item, IID, node + 1);
    for (size_t i = w->path.count; i-- > 0;) /* outermost first */
        proto_number(&w->item, STACK_FRAMES, w->path.items[i] + 1);
    proto_message(&w->interned, INTERNED_STACK, &w->item);
    return node + 1;
}

static uint64_t intern_counter(struct writing *w, uint32_t event) {
    static const struct {
        const char *name;
        uint8_t number;
    } units[] = {{"ns", 1},           {"cycles", 2},        {"instructions", 3},    {"page-faults", 5},
                 {"cache-misses", 6}, {"branch-misses", 8}, {"cache-references", 7}};
    const struct stacks_event *e = &w->s->events.items[event];
    const char *unit = w->o->samples ? "samples" : stacks_str(w->s, e->unit);
    if (!is_new(w, COUNTERS, event))
        return event + 1;
    proto_number(&w->item, IID, event + 1);
    put_text(w, &w->item, COUNTER_NAME, stacks_str(w->s, e->name));
    unsigned number = w->o->samples ? UNIT_COUNT : 0;
    for (size_t i = 0; !number && i < sizeof units / sizeof *units; i++)
        number = strcmp(units[i].name, unit) ? 0 : units[i].number;
    if (number)
        proto_number(&w->item, COUNTER_UNIT, number);
    else
        put_text(w, &w->item, COUNTER_UNIT_TEXT, unit);
    proto_message(&w->interned, INTERNED_COUNTER, &w->item);
    return event + 1;
}

/* ---- packets ---- */

static void put_start(struct writing *w) {
    proto_bytes(&w->small, DEFAULTS_SAMPLE_SOURCE, "sonde", 5);
    proto_message(&w->item, DEFAULTS_SAMPLE, &w->small);
    proto_message(&w->packet, PACKET_DEFAULTS, &w->item);
    put_packet(w, STATE_CLEARED);
}

static void put_tasks(struct writing *w) {
    for (size_t i = 0; i < w->s->threads.count; i++) {
        const struct stacks_thread *t = &w->s->threads.items[i];
        bool main = t->pid == t->tid;
        proto_number(&w->item, main ? PROCESS_PID : THREAD_TID, t->tid);
        put_text(w, &w->item, main ? PROCESS_COMMAND : THREAD_NAME, stacks_str(w->s, t->comm));
        if (!main)
            proto_number(&w->item, THREAD_PROCESS, t->pid);
        proto_message(&w->interned, main ? TREE_PROCESS : TREE_THREAD, &w->item);
    }
    proto_message(&w->packet, PACKET_PROCESS_TREE, &w->interned);
    put_packet(w, NEEDS_STATE);
}

static void put_sample(struct writing *w, const struct stacks_moment *m) {
    static const uint8_t modes[] = {
        [STACKS_USER] = 1,         [STACKS_KERNEL] = 2, [STACKS_HYPERVISOR] = 3, [STACKS_GUEST_USER] = 4,
        [STACKS_GUEST_KERNEL] = 5, [STACKS_JIT] = 1,    [STACKS_INLINED] = 0};
    const struct stacks_row *row = &w->s->rows.items[m->row];
    const struct stacks_thread *t = &w->s->threads.items[m->thread];
    uint64_t stack = intern_stack(w, row->node), counter = intern_counter(w, row->event);
    proto_number(&w->packet, PACKET_TIME, m->time_ns);
    proto_number(&w->small, TASK_PID, t->pid);
    proto_number(&w->small, TASK_TID, t->tid);
    proto_message(&w->item, SAMPLE_TASK, &w->small);
    if (m->cpu != STACKS_NONE)
        proto_number(&w->small, EXECUTION_CPU, m->cpu);
    proto_number(&w->small, EXECUTION_MODE,
                 modes[w->s->frames.items[w->s->nodes.items[row->node].frame].level]);
    proto_message(&w->item, SAMPLE_EXECUTION, &w->small);
    proto_number(&w->item, SAMPLE_STACK, stack);
    proto_number(&w->item, SAMPLE_COUNTER, counter);
    proto_number(&w->item, SAMPLE_WEIGHT, w->o->samples ? 1 : m->period);
    proto_message(&w->packet, PACKET_SAMPLE, &w->item);
    put_packet(w, NEEDS_STATE);
}

static bool start(struct writing *w) {
    const struct stacks *s = w->s;
    const size_t counts[WHATS] = {s->texts.entries.count, s->texts.entries.count, s->texts.entries.count,
                                  s->texts.entries.count, s->images.count,        s->frames.count,
                                  s->nodes.count,         s->events.count};
    bool ok = out_init(&w->packet, NULL, NULL) && out_init(&w->interned, NULL, NULL) &&
              out_init(&w->item, NULL, NULL) && out_init(&w->small, NULL, NULL);
    for (unsigned i = 0; ok && i < WHATS; i++) {
        w->known[i] = calloc(counts[i] + 1, 1);
        ok = w->known[i];
    }
    return ok;
}

bool export_perfetto(const struct stacks *s, const struct export_options *o, struct out *out,
                     struct err *err) {
    struct writing w = {.s = s, .o = o, .out = out};
    bool ok = start(&w) || err_memory(err, "perfetto");
    if (ok && !s->moments.count)
        ok = err_set(err, ERR_ABSENT, "perfetto", "the samples have no times, which this format wants");
    if (ok) {
        put_start(&w);
        put_tasks(&w);
        for (size_t i = 0; i < s->moments.count; i++)
            if (export_wants(o, s->rows.items[s->moments.items[i].row].event))
                put_sample(&w, &s->moments.items[i]);
        ok = !w.failed || err_memory(err, "perfetto");
    }
    out_fini(&w.packet);
    out_fini(&w.interned);
    out_fini(&w.item);
    out_fini(&w.small);
    for (unsigned i = 0; i < WHATS; i++)
        free(w.known[i]);
    vec_fini(&w.path);
    return ok;
}
