/* SPDX-License-Identifier: Apache-2.0 */
#include "states/sched_events.h"

#include "format/tracefs/print_check.h"

enum sched_kind {
    SCHED_NOT,     /* says nothing */
    SCHED_SWITCH,  /* prev_pid prev_state next_pid */
    SCHED_WAKE,    /* pid target_cpu */
    SCHED_FORK,    /* child_pid parent_pid */
    SCHED_EXEC,    /* pid old_pid */
    SCHED_EXIT,    /* pid */
    SCHED_MIGRATE, /* pid dest_cpu */
    SCHED_RAN,     /* pid runtime */
    SCHED_TICK,    /* any other of the scheduler's */
};

/* A field of the raw data; size 0: there is none. */
struct place {
    uint32_t offset, size;
    bool is_signed, dynamic;
};

enum { LETTERS_MAX = 16 };

/* A bit of prev_state, and its letter in the event's print format. */
struct letter {
    uint64_t bits;
    char letter;
};

struct sched_event {
    enum sched_kind kind;
    bool big; /* the raw data are big-endian */
    struct place flags, tid, other, from, comm, other_comm, state;
    struct letter letters[LETTERS_MAX];
    size_t letter_count;
};

/* What each kind reads; comm and other_comm may be missing. */
static const struct row {
    const char *event;
    enum sched_kind kind;
    const char *tid, *other, *comm, *other_comm, *state;
} ROWS[] = {
    {"sched_switch", SCHED_SWITCH, "prev_pid", "next_pid", "prev_comm", "next_comm", "prev_state"},
    {"sched_waking", SCHED_WAKE, "pid", "target_cpu", "comm", NULL, NULL},
    {"sched_wakeup", SCHED_WAKE, "pid", "target_cpu", "comm", NULL, NULL},
    {"sched_wakeup_new", SCHED_WAKE, "pid", "target_cpu", "comm", NULL, NULL},
    {"sched_process_fork", SCHED_FORK, "child_pid", "parent_pid", "child_comm", NULL, NULL},
    {"sched_process_exec", SCHED_EXEC, "pid", "old_pid", NULL, NULL, NULL},
    {"sched_process_exit", SCHED_EXIT, "pid", NULL, "comm", NULL, NULL},
    {"sched_stat_runtime", SCHED_RAN, "pid", "runtime", "comm", NULL, NULL},
    {"sched_migrate_task", SCHED_MIGRATE, "pid", "dest_cpu", "comm", NULL, NULL},
};

void sched_events_init(struct sched_events *s, struct stream *stream, const struct perfdata_namer *names) {
    *s = (struct sched_events){.stream = stream, .events = stream_events(stream), .names = names};
}

void sched_events_fini(struct sched_events *s) {
    vec_fini(&s->list);
}

/* ---- formats ---- */

static bool is(struct bytes b, const char *text) {
    return text && b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

static void note_place(struct place *p, const struct tracing_field *f, const char *name) {
    if (!p->size && is(f->name, name))
        *p = (struct place){f->offset, f->size, f->is_signed, print_check_is_dynamic(f)};
}

static const uint8_t *find(struct bytes in, const char *text) {
    return in.size ? memmem(in.data, in.size, text, strlen(text)) : NULL;
}

static struct bytes after(struct bytes b, const uint8_t *at, size_t n) {
    size_t skip = (size_t)(at - b.data) + n;
    return (struct bytes){b.data + skip, b.size - skip};
}

/* A number as C has it, decimal or hexadecimal, after blanks. False: there is none. */
static bool take_number(struct bytes *b, uint64_t *out) {
    while (b->size && (*b->data == ' ' || *b->data == '\t'))
        *b = after(*b, b->data, 1);
    unsigned base = b->size > 2 && b->data[0] == '0' && b->data[1] == 'x' ? 16 : 10;
    if (base == 16)
        *b = after(*b, b->data, 2);
    size_t digits = 0;
    for (*out = 0; b->size; digits++, *b = after(*b, b->data, 1)) {
        uint8_t c = *b->data | 0x20;
        unsigned digit = *b->data >= '0' && *b->data <= '9' ? *b->data - '0'
                         : c >= 'a' && c <= 'f'             ? c - 'a' + 10u
                                                            : 99;
        if (digit >= base)
            break;
        *out = *out * base + digit;
    }
    return digits > 0;
}

/* The flags of prev_state as the kernel prints them: { 0x01, "S" }, { 0x02, "D" } ... They differ between
 * kernels. */
static void read_letters(struct sched_event *e, struct bytes format) {
    const uint8_t *at = find(format, "print fmt:");
    if (!at)
        return;
    format = after(format, at, 0);
    at = find(format, "__print_flags(REC->prev_state");
    if (!at)
        return;
    struct bytes rest = after(format, at, 0);
    while (e->letter_count < LETTERS_MAX && (at = find(rest, "{"))) {
        rest = after(rest, at, 1);
        uint64_t bits;
        if (!take_number(&rest, &bits) || !(at = find(rest, "\"")) || at + 1 >= rest.data + rest.size)
            return;
        rest = after(rest, at, 1);
        e->letters[e->letter_count++] = (struct letter){bits, (char)*rest.data};
    }
}

static enum sched_kind describe(struct sched_event *e, const struct tracing_event *t) {
    const struct row *row = NULL;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS && !row; i++)
        if (is(t->name, ROWS[i].event))
            row = &ROWS[i];
    if (!row)
        return SCHED_TICK;
    struct bytes rest = t->format;
    for (struct tracing_field f; tracing_field_next(&rest, &f);) {
        note_place(&e->flags, &f, "common_flags");
        note_place(&e->tid, &f, row->tid);
        note_place(&e->other, &f, row->other);
        note_place(&e->from, &f, "orig_cpu");
        note_place(&e->comm, &f, row->comm);
        note_place(&e->other_comm, &f, row->other_comm);
        note_place(&e->state, &f, row->state);
    }
    if (!e->tid.size || (row->other && !e->other.size) || (row->state && !e->state.size))
        return SCHED_TICK;
    if (row->state)
        read_letters(e, t->format);
    return row->kind;
}

bool sched_events_update(struct sched_events *s, struct err *err) {
    while (s->list.count < s->events->list.count) {
        const struct perfdata_attr *attr = &s->events->list.items[s->list.count].attr;
        struct sched_event *e = vec_push(&s->list);
        if (!e)
            return err_memory(err, "events of the scheduler");
        const struct tracing_event *t =
            attr->type == PERFDATA_TYPE_TRACEPOINT ? perfdata_namer_tracepoint(s->names, attr->config) : NULL;
        const uint64_t needed = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_RAW;
        if (!t || !is(t->system, "sched") || (attr->sample_type & needed) != needed)
            continue;
        e->big = s->names->tracing.big_endian;
        e->kind = describe(e, t);
        s->switches |= e->kind == SCHED_SWITCH;
    }
    return true;
}

bool sched_events_any(const struct sched_events *s) {
    const uint64_t needed = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_TID;
    for (size_t i = 0; i < s->list.count; i++) {
        const struct perfdata_attr *attr = &s->events->list.items[i].attr;
        enum sched_kind kind = s->list.items[i].kind;
        if ((kind != SCHED_NOT && kind != SCHED_TICK) ||
            (attr->flags & PERFDATA_ATTR_CONTEXT_SWITCH && (attr->sample_type & needed) == needed))
            return true;
    }
    return false;
}

/* ---- records ---- */

static bool take_int(struct place p, const struct sched_event *e, struct bytes raw, int64_t *out) {
    bool swap = e->big != BYTES_HOST_BIG;
    if (!p.size || (uint64_t)p.offset + p.size > raw.size)
        return false;
    const uint8_t *at = raw.data + p.offset;
    switch (p.size) {
    case 1:
        *out = p.is_signed ? (int8_t)*at : *at;
        return true;
    case 2:
        *out = p.is_signed ? (int16_t)bytes_load16(at, swap) : bytes_load16(at, swap);
        return true;
    case 4:
        *out = p.is_signed ? (int32_t)bytes_load32(at, swap) : bytes_load32(at, swap);
        return true;
    case 8:
        *out = (int64_t)bytes_load64(at, swap);
        return true;
    default:
        return false;
    }
}

/* A text; empty if there is none. A dynamic one is told by its length and its offset in the record. */
static struct bytes take_text(struct place p, const struct sched_event *e, struct bytes raw) {
    if (!p.size || (uint64_t)p.offset + p.size > raw.size)
        return (struct bytes){NULL, 0};
    struct bytes text = {raw.data + p.offset, p.size};
    if (p.dynamic) {
        uint32_t where = p.size == 4 ? bytes_load32(text.data, e->big != BYTES_HOST_BIG) : 0;
        if (!where || (where & 0xffff) + (where >> 16) > raw.size)
            return (struct bytes){NULL, 0};
        text = (struct bytes){raw.data + (where & 0xffff), where >> 16};
    }
    text.size = bytes_text_len(text);
    return text;
}

/* As the kernel's letters have it; the lowest of several bits counts. */
static char letter_of(const struct sched_event *e, uint64_t bits) {
    char letter = 'R';
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < e->letter_count; i++)
        if (e->letters[i].bits & bits && e->letters[i].bits < lowest) {
            lowest = e->letters[i].bits;
            letter = e->letters[i].letter;
        }
    return letter;
}

static enum states_state state_of(char letter) {
    switch (letter) {
    case 'R':
        return STATES_PREEMPTED;
    case 'S':
        return STATES_SLEEPING;
    case 'T':
    case 't':
        return STATES_STOPPED;
    case 'X':
    case 'x':
    case 'Z':
        return STATES_DEAD;
    default: /* D, I (idle kernel threads), P (parked), K, W */
        return STATES_BLOCKED;
    }
}

/* Bits of common_flags (Documentation/trace/ftrace.rst, "irqs-off, need-resched, hardirq/softirq"): in an
 * interrupt, a soft one or an NMI. */
enum { IN_INTERRUPT = 0x08 | 0x10 | 0x40 };

static bool apply_switch(const struct sched_event *how, struct states *states, struct states_event *e,
                         struct bytes raw, int64_t next) {
    int64_t bits = 0;
    if (!take_int(how->state, how, raw, &bits))
        bits = 0;
    e->kind = STATES_OUT;
    e->other = STATES_NONE;
    e->letter = letter_of(how, (uint64_t)bits);
    e->state = state_of(e->letter);
    e->reason = (uint32_t)bits;
    if (!states_apply(states, e))
        return false;
    *e = (struct states_event){.kind = STATES_IN,
                               .time_ns = e->time_ns,
                               .cpu = e->cpu,
                               .tid = (uint32_t)next,
                               .other = STATES_NONE,
                               .comm = take_text(how->other_comm, how, raw)};
    return states_apply(states, e);
}

/* False: memory, or *bad says why the record cannot be read. */
static bool apply_tracepoint(const struct sched_event *how, struct states *states, struct states_event *e,
                             const struct perfdata_sample *sample, const char **bad) {
    struct bytes raw = sample->raw;
    int64_t tid = 0, other = -1, flags = 0, from = -1;
    if (how->kind == SCHED_TICK) {
        e->kind = STATES_TICK;
        return states_apply(states, e);
    }
    if (!take_int(how->tid, how, raw, &tid) || (how->other.size && !take_int(how->other, how, raw, &other)) ||
        (how->state.size && (uint64_t)how->state.offset + how->state.size > raw.size)) {
        *bad = "a tracepoint's data are too short for its fields";
        return false;
    }
    if (how->flags.size && !take_int(how->flags, how, raw, &flags))
        flags = 0;
    e->tid = (uint32_t)tid;
    /* Of a thread that is about to end the sample has neither, or -1. */
    if (sample->have & PERFDATA_SAMPLE_TID && sample->tid == e->tid && sample->pid != UINT32_MAX)
        e->pid = sample->pid;
    e->other = other < 0 ? STATES_NONE : (uint32_t)other;
    if (!take_int(how->from, how, raw, &from))
        from = -1;
    e->from = from < 0 ? STATES_NONE : (uint32_t)from;
    e->interrupt = flags & IN_INTERRUPT;
    e->comm = take_text(how->comm, how, raw);
    static const enum states_event_kind KINDS[] = {
        [SCHED_WAKE] = STATES_WAKE, [SCHED_FORK] = STATES_FORK,       [SCHED_EXEC] = STATES_EXEC,
        [SCHED_EXIT] = STATES_EXIT, [SCHED_MIGRATE] = STATES_MIGRATE, [SCHED_RAN] = STATES_RAN};
    if (how->kind == SCHED_SWITCH)
        return apply_switch(how, states, e, raw, other);
    e->kind = KINDS[how->kind];
    if (e->kind == STATES_RAN)
        e->ran_ns = other < 0 ? 0 : (uint64_t)other;
    return states_apply(states, e);
}

static bool apply_sample(struct sched_events *s, struct states *states, const struct stream_record *r,
                         const char **bad) {
    const struct sched_event *how = &s->list.items[r->event];
    struct perfdata_sample sample = {0};
    if (!perfdata_sample_decode(&s->events->list.items[r->event].plan, r->raw.body,
                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
                                    PERFDATA_SAMPLE_RAW,
                                &sample)) {
        *bad = "a sample is shorter than its fields";
        return false;
    }
    struct states_event e = {.time_ns = sample.time, .cpu = sample.cpu, .other = STATES_NONE};
    return apply_tracepoint(how, states, &e, &sample, bad);
}

/* A switch's thread is the one of its sample_id. Records of a CPU come in pairs: one leaves, one begins. */
static bool apply_record(struct sched_events *s, struct states *states, const struct stream_record *r) {
    struct perfdata_sample_id id = {0};
    if (r->event < s->events->list.count)
        perfdata_sample_id_decode(&s->events->list.items[r->event].plan, r->raw.body, &id);
    struct states_event e = {.time_ns = stream_when_ns(s->stream, r),
                             .cpu = id.have & PERFDATA_SAMPLE_CPU ? id.cpu : STATES_NONE,
                             .tid = id.tid,
                             .pid = id.pid,
                             .other = STATES_NONE};
    bool lost = r->raw.type == PERFDATA_RECORD_LOST || r->raw.type == PERFDATA_RECORD_LOST_SAMPLES;
    if (lost) {
        e.kind = STATES_LOST;
        return states_apply(states, &e);
    }
    if (s->switches || !(id.have & PERFDATA_SAMPLE_TID))
        return true;
    bool out = r->raw.misc & PERFDATA_MISC_SWITCH_OUT;
    e.kind = out ? STATES_OUT : STATES_IN;
    e.letter = r->raw.misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT ? 'R' : 'S';
    e.state = state_of(e.letter);
    return states_apply(states, &e);
}

bool sched_events_want(void *ctx, const struct stream_record *r) {
    const struct sched_events *s = ctx;
    switch (r->raw.type) {
    case PERFDATA_RECORD_SAMPLE:
        return r->event < s->list.count && s->list.items[r->event].kind != SCHED_NOT;
    case PERFDATA_RECORD_LOST:
    case PERFDATA_RECORD_LOST_SAMPLES:
        return true;
    case PERFDATA_RECORD_SWITCH:
    case PERFDATA_RECORD_SWITCH_CPU_WIDE:
        return !s->switches;
    default:
        return false;
    }
}

bool sched_events_apply(struct sched_events *s, struct states *states, const struct stream_record *r,
                        struct err *err) {
    if (!sched_events_update(s, err))
        return false;
    if (!sched_events_want(s, r))
        return true;
    const char *bad = NULL;
    bool ok =
        r->raw.type == PERFDATA_RECORD_SAMPLE ? apply_sample(s, states, r, &bad) : apply_record(s, states, r);
    s->read += ok;
    if (bad)
        stream_bad_record(s->stream, r, bad);
    return ok || bad || err_memory(err, "states of threads");
}
