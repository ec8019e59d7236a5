/* SPDX-License-Identifier: Apache-2.0 */
#include "states/sched_events.h"

#include "states/print_names.h"

enum sched_kind {
    SCHED_SWITCH,  /* prev_pid prev_state next_pid */
    SCHED_WAKE,    /* pid target_cpu */
    SCHED_FORK,    /* child_pid parent_pid */
    SCHED_EXEC,    /* pid old_pid */
    SCHED_EXIT,    /* pid */
    SCHED_MIGRATE, /* pid dest_cpu */
    SCHED_RAN,     /* pid runtime */
    SCHED_TICK,    /* any other event of the scheduler */
};

enum { LETTERS_MAX = 16 };

/* A bit of prev_state, and its letter in the event's print format. */
struct letter {
    uint64_t bits;
    char letter;
};

/* The letters of an event's prev_state; they differ between kernels. */
struct sched_letters {
    struct letter list[LETTERS_MAX];
    size_t count;
};

/* The fields that are read: the thread, the other thread or CPU, a field that only some kinds have, and
 * names. */
enum { TID, OTHER, OWN, COMM, OTHER_COMM, PRIO, STATE = OWN, FROM = OWN };
static const struct tracepoint_row ROWS[] = {
    {"sched",
     "sched_switch",
     SCHED_SWITCH,
     3,
     {"prev_pid", "next_pid", "prev_state", "prev_comm", "next_comm", "prev_prio"}},
    {"sched", "sched_waking", SCHED_WAKE, 2, {"pid", "target_cpu", "", "comm"}},
    {"sched", "sched_wakeup", SCHED_WAKE, 2, {"pid", "target_cpu", "", "comm"}},
    {"sched", "sched_wakeup_new", SCHED_WAKE, 2, {"pid", "target_cpu", "", "comm"}},
    {"sched", "sched_process_fork", SCHED_FORK, 2, {"child_pid", "parent_pid", "", "child_comm"}},
    {"sched", "sched_process_exec", SCHED_EXEC, 2, {"pid", "old_pid"}},
    {"sched", "sched_process_exit", SCHED_EXIT, 1, {"pid", "", "", "comm"}},
    {"sched", "sched_stat_runtime", SCHED_RAN, 2, {"pid", "runtime", "", "comm"}},
    {"sched", "sched_migrate_task", SCHED_MIGRATE, 2, {"pid", "dest_cpu", "orig_cpu", "comm"}},
    {"sched", NULL, SCHED_TICK, 0, {NULL}},
};

void sched_events_init(struct sched_events *s, struct stream *stream, const struct perfdata_namer *names) {
    *s = (struct sched_events){.read = 0};
    tracepoints_init(&s->tracepoints, stream, names, ROWS, sizeof ROWS / sizeof *ROWS, 0);
}

void sched_events_fini(struct sched_events *s) {
    tracepoints_fini(&s->tracepoints);
    vec_fini(&s->letters);
}

/* ---- formats ---- */

static void read_letters(struct sched_letters *out, struct bytes format) {
    struct print_name names[LETTERS_MAX];
    size_t n = print_names_read(format, "__print_flags(REC->prev_state", names, LETTERS_MAX);
    for (size_t i = 0; i < n; i++)
        if (names[i].text.size)
            out->list[out->count++] = (struct letter){names[i].number, (char)*names[i].text.data};
}

bool sched_events_update(struct sched_events *s, struct err *err) {
    if (!tracepoints_update(&s->tracepoints, err))
        return false;
    if (s->letters.count == s->tracepoints.list.count)
        return true;
    while (s->letters.count < s->tracepoints.list.count) {
        const struct tracepoint_event *e = &s->tracepoints.list.items[s->letters.count];
        struct sched_letters *letters = vec_push(&s->letters);
        if (!letters)
            return err_memory(err, "events of the scheduler");
        if (e->row && e->row->kind == SCHED_SWITCH)
            read_letters(letters, e->format);
    }
    s->switches = tracepoints_have(&s->tracepoints, SCHED_SWITCH);
    return true;
}

bool sched_events_any(const struct sched_events *s) {
    const uint64_t needed = PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_TID;
    for (size_t i = 0; i < s->letters.count; i++) {
        const struct perfdata_attr *attr = &s->tracepoints.events->list.items[i].attr;
        const struct tracepoint_row *row = s->tracepoints.list.items[i].row;
        if ((row && row->kind != SCHED_TICK) ||
            (attr->flags & PERFDATA_ATTR_CONTEXT_SWITCH && (attr->sample_type & needed) == needed))
            return true;
    }
    return false;
}

/* ---- records ---- */

/* The kernel's letter for the state; the lowest of several bits counts. */
static char letter_of(const struct sched_letters *l, uint64_t bits) {
    char letter = 'R';
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].bits & bits && l->list[i].bits < lowest) {
            lowest = l->list[i].bits;
            letter = l->list[i].letter;
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

static bool apply_switch(const struct sched_letters *letters, struct states *states, struct states_event *e,
                         const struct tracepoint *t) {
    uint64_t bits = (uint64_t)tracepoint_int(t, STATE, 0);
    e->kind = STATES_OUT;
    e->letter = letter_of(letters, bits);
    e->state = state_of(e->letter);
    e->reason = (uint32_t)bits;
    e->prio = (int32_t)tracepoint_int(t, PRIO, STATES_NO_PRIO);
    if (!states_apply(states, e))
        return false;
    *e = (struct states_event){.kind = STATES_IN,
                               .time_ns = e->time_ns,
                               .cpu = e->cpu,
                               .tid = (uint32_t)tracepoint_int(t, OTHER, 0),
                               .other = STATES_NONE,
                               .prio = STATES_NO_PRIO,
                               .loc = e->loc,
                               .comm = tracepoint_text(t, OTHER_COMM)};
    return states_apply(states, e);
}

static uint32_t number_or_none(const struct tracepoint *t, unsigned field) {
    int64_t n = tracepoint_int(t, field, -1);
    return n < 0 ? STATES_NONE : (uint32_t)n;
}

/* False: out of memory. */
static bool apply_tracepoint(struct sched_events *s, struct states *states, const struct tracepoint *t,
                             uint64_t loc) {
    static const enum states_event_kind KINDS[] = {
        [SCHED_WAKE] = STATES_WAKE, [SCHED_FORK] = STATES_FORK,       [SCHED_EXEC] = STATES_EXEC,
        [SCHED_EXIT] = STATES_EXIT, [SCHED_MIGRATE] = STATES_MIGRATE, [SCHED_RAN] = STATES_RAN,
        [SCHED_TICK] = STATES_TICK};
    const struct perfdata_sample *sample = &t->sample;
    struct states_event e = {.time_ns = sample->time,
                             .cpu = sample->cpu,
                             .other = STATES_NONE,
                             .prio = STATES_NO_PRIO,
                             .loc = loc};
    e.kind = KINDS[t->kind];
    if (t->kind == SCHED_TICK)
        return states_apply(states, &e);
    e.tid = (uint32_t)tracepoint_int(t, TID, 0);
    /* In samples of a thread that is about to end, pid and tid are 0 or -1. */
    if (sample->have & PERFDATA_SAMPLE_TID && sample->tid == e.tid && sample->pid != UINT32_MAX)
        e.pid = sample->pid;
    e.comm = tracepoint_text(t, COMM);
    if (t->kind == SCHED_SWITCH)
        return apply_switch(&s->letters.items[t->index], states, &e, t);
    e.other = number_or_none(t, OTHER);
    e.from = t->kind == SCHED_MIGRATE ? number_or_none(t, FROM) : STATES_NONE;
    e.interrupt = tracepoint_in_interrupt(t);
    int64_t ran = t->kind == SCHED_RAN ? tracepoint_int(t, OTHER, 0) : 0;
    e.ran_ns = ran < 0 ? 0 : (uint64_t)ran;
    e.local =
        sample->have & PERFDATA_SAMPLE_TID && sample->tid == e.tid; /* another CPU may account it, too */
    return states_apply(states, &e);
}

/* Applies a SWITCH record, whose thread is the one of its sample_id, or a LOST one. SWITCH records of a CPU
 * come in pairs: one thread leaves, the next one begins. */
static bool apply_record(struct sched_events *s, struct states *states, const struct stream_record *r) {
    struct perfdata_sample_id id = {0};
    const struct perfdata_events *events = s->tracepoints.events;
    if (r->event < events->list.count)
        perfdata_sample_id_decode(&events->list.items[r->event].plan, r->raw.body, &id);
    struct states_event e = {.time_ns = stream_when_ns(s->tracepoints.stream, r),
                             .cpu = id.have & PERFDATA_SAMPLE_CPU ? id.cpu : STATES_NONE,
                             .tid = id.tid,
                             .pid = id.pid,
                             .other = STATES_NONE,
                             .prio = STATES_NO_PRIO,
                             .loc = r->loc};
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
    struct sched_events *s = ctx;
    switch (r->raw.type) {
    case PERFDATA_RECORD_SAMPLE:
        return tracepoints_want(&s->tracepoints, r);
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
    struct tracepoint t;
    if (r->raw.type != PERFDATA_RECORD_SAMPLE) {
        if (!apply_record(s, states, r))
            return err_memory(err, "states of threads");
    } else if (!tracepoints_read(&s->tracepoints, r, &t)) {
        return true; /* counted */
    } else if (!apply_tracepoint(s, states, &t, r->loc)) {
        return err_memory(err, "states of threads");
    }
    s->read++;
    return true;
}
