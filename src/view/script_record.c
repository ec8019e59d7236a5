/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_record.h"

#include <stdio.h>

#include "view/script_internal.h"

enum { NO_ID = -1 };

/* Whom a record is about, when it says so itself. */
struct subject {
    uint32_t pid, tid;
    uint64_t time_ns; /* 0: only its sample_id knows */
    bool given;
};

typedef void text_fn(struct out *o, const struct perfdata_record *rec);

static void text(struct out *o, struct bytes b) {
    out_mem(o, (const char *)b.data, bytes_text_len(b));
}

/* As %#lx. */
static void hex(struct out *o, uint64_t v) {
    out_str(o, v ? "0x" : "");
    out_hex(o, v, 0);
}

/* "PID/TID" or with another separator; the kernel's -1 shows as such. */
static void pair(struct out *o, uint32_t a, char separator, uint32_t b) {
    out_int(o, (int32_t)a, 0);
    out_char(o, separator);
    out_int(o, (int32_t)b, 0);
}

/* ": [0xADDR(0xLEN) @ 0xPGOFF" */
static void range(struct out *o, uint64_t addr, uint64_t len, uint64_t pgoff) {
    out_str(o, ": [");
    hex(o, addr);
    out_char(o, '(');
    hex(o, len);
    out_str(o, ") @ ");
    hex(o, pgoff);
}

static void print_mmap(struct out *o, const struct perfdata_record *rec) {
    const struct perfdata_mmap *m = &rec->mmap;
    out_str(o, "MMAP ");
    pair(o, m->pid, '/', m->tid);
    range(o, m->addr, m->len, m->pgoff);
    out_str(o, rec->misc & PERFDATA_MISC_MMAP_DATA ? "]: r " : "]: x ");
    text(o, m->filename);
}

static void print_mmap2(struct out *o, const struct perfdata_record *rec) {
    enum { READ = 1, WRITE = 2, EXEC = 4, SHARED = 1 }; /* PROT_* and MAP_SHARED of mman.h */
    const struct perfdata_mmap2 *m = &rec->mmap2;
    out_str(o, "MMAP2 ");
    pair(o, m->pid, '/', m->tid);
    range(o, m->addr, m->len, m->pgoff);
    if (m->has_build_id) {
        unsigned n = m->build_id_size < sizeof m->build_id ? m->build_id_size : sizeof m->build_id;
        out_str(o, " <");
        for (unsigned i = 0; i < n; i++)
            out_hex0(o, m->build_id[i], 2);
        out_str(o, ">]: ");
    } else {
        out_char(o, ' ');
        out_hex0(o, m->maj, 2);
        out_char(o, ':');
        out_hex0(o, m->min, 2);
        out_char(o, ' ');
        out_dec(o, m->ino, 0);
        out_char(o, ' ');
        out_dec(o, m->ino_generation, 0);
        out_str(o, "]: ");
    }
    out_char(o, m->prot & READ ? 'r' : '-');
    out_char(o, m->prot & WRITE ? 'w' : '-');
    out_char(o, m->prot & EXEC ? 'x' : '-');
    out_char(o, m->flags & SHARED ? 's' : 'p');
    out_char(o, ' ');
    text(o, m->filename);
}

static void print_comm(struct out *o, const struct perfdata_record *rec) {
    out_str(o, rec->misc & PERFDATA_MISC_COMM_EXEC ? "COMM exec: " : "COMM: ");
    text(o, rec->comm.comm);
    out_char(o, ':');
    pair(o, rec->comm.pid, '/', rec->comm.tid);
}

static void print_task(struct out *o, const struct perfdata_record *rec) {
    out_str(o, rec->type == PERFDATA_RECORD_FORK ? "FORK(" : "EXIT(");
    pair(o, rec->task.pid, ':', rec->task.tid);
    out_str(o, "):(");
    pair(o, rec->task.ppid, ':', rec->task.ptid);
    out_char(o, ')');
}

static void print_lost(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "LOST lost ");
    out_dec(o, rec->lost.lost, 0);
}

static const char *switch_direction(uint16_t misc) {
    return !(misc & PERFDATA_MISC_SWITCH_OUT)        ? "IN         "
           : misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
                                                     : "OUT        ";
}

static void print_switch(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "SWITCH ");
    out_str(o, switch_direction(rec->misc));
}

static void print_switch_cpu_wide(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "SWITCH_CPU_WIDE ");
    out_str(o, switch_direction(rec->misc));
    out_str(o, rec->misc & PERFDATA_MISC_SWITCH_OUT ? "  next pid/tid: " : "  prev pid/tid: ");
    out_int(o, (int32_t)rec->switch_cpu_wide.next_prev_pid, 5);
    out_char(o, '/');
    char tid[16];
    int len = snprintf(tid, sizeof tid, "%d", (int32_t)rec->switch_cpu_wide.next_prev_tid);
    out_left(o, tid, (size_t)len, 5);
}

static void print_namespaces(struct out *o, const struct perfdata_record *rec) {
    /* Order of the links: enum in perf_event.h, "PERF_NR_NAMESPACES". */
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    enum { KNOWN = sizeof names / sizeof *names, PER_LINE = 4 };
    const struct perfdata_namespaces *n = &rec->namespaces;
    out_str(o, "NAMESPACES ");
    pair(o, n->pid, '/', n->tid);
    out_str(o, " - nr_namespaces: ");
    out_dec(o, n->nr, 0);
    out_str(o, "\n\t\t[");
    for (uint64_t i = 0; i < n->nr && 2 * i + 1 < n->links.count; i++) {
        if (i)
            out_str(o, i % PER_LINE ? ", " : ", \n\t\t ");
        out_dec(o, i, 0);
        out_char(o, '/');
        out_str(o, i < KNOWN ? names[i] : "UNKNOWN");
        out_str(o, ": ");
        out_dec(o, perfdata_u64_at(&n->links, 2 * i), 0);
        out_char(o, '/');
        hex(o, perfdata_u64_at(&n->links, 2 * i + 1));
    }
    out_char(o, ']');
}

static void print_ksymbol(struct out *o, const struct perfdata_record *rec) {
    const struct perfdata_ksymbol *k = &rec->ksymbol;
    out_str(o, "KSYMBOL addr ");
    out_hex(o, k->addr, 0);
    out_str(o, " len ");
    out_dec(o, k->len, 0);
    out_str(o, " type ");
    out_dec(o, k->ksym_type, 0);
    out_str(o, " flags 0x");
    out_hex(o, k->flags, 0);
    out_str(o, " name ");
    text(o, k->name);
}

static void print_bpf_event(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "BPF_EVENT type ");
    out_dec(o, rec->bpf_event.type, 0);
    out_str(o, ", flags ");
    out_dec(o, rec->bpf_event.flags, 0);
    out_str(o, ", id ");
    out_dec(o, rec->bpf_event.id, 0);
}

static void print_cgroup(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "CGROUP cgroup: ");
    out_dec(o, rec->cgroup.id, 0);
    out_char(o, ' ');
    text(o, rec->cgroup.path);
}

static void poke_bytes(struct out *o, const char *what, struct bytes b) {
    enum { PER_LINE = 16 };
    for (size_t at = 0; at < b.size; at += PER_LINE) {
        out_str(o, "\n            ");
        out_str(o, what);
        for (size_t i = at; i < b.size && i < at + PER_LINE; i++) {
            out_char(o, ' ');
            out_hex0(o, b.data[i], 2);
        }
    }
}

static void print_text_poke(struct out *o, const struct perfdata_record *rec) {
    const struct perfdata_text_poke *t = &rec->text_poke;
    out_str(o, "TEXT_POKE ");
    out_hex(o, t->addr, 0);
    out_str(o, "  old len ");
    out_dec(o, t->old_len, 0);
    out_str(o, " new len ");
    out_dec(o, t->new_len, 0);
    size_t old_len = t->old_len < t->bytes.size ? t->old_len : t->bytes.size;
    size_t new_len = t->new_len < t->bytes.size - old_len ? t->new_len : t->bytes.size - old_len;
    poke_bytes(o, "Old bytes:", (struct bytes){t->bytes.data, old_len});
    poke_bytes(o, "New bytes:", (struct bytes){t->bytes.data + old_len, new_len});
}

static void print_round(struct out *o, const struct perfdata_record *rec) {
    (void)rec;
    out_str(o, "FINISHED_ROUND");
}

static void print_auxtrace_error(struct out *o, const struct perfdata_record *rec) {
    enum { INSTRUCTION_TRACE = 1, NS_PER_SECOND = 1000000000 };
    const struct perfdata_auxtrace_error *e = &rec->auxtrace_error;
    out_str(o, e->type == INSTRUCTION_TRACE ? " instruction trace" : " unknown AUX");
    out_str(o, " error type ");
    out_dec(o, e->type, 0);
    out_str(o, " time ");
    out_dec(o, e->time / NS_PER_SECOND, 0);
    if (e->time) {
        out_char(o, '.');
        out_dec0(o, e->time % NS_PER_SECOND, 9);
    }
    if (e->has_guest && e->machine_pid) {
        out_str(o, " machine_pid ");
        out_int(o, (int32_t)e->machine_pid, 0);
        out_str(o, " vcpu ");
        out_int(o, (int32_t)e->vcpu, 0);
    }
    out_str(o, " cpu ");
    out_int(o, (int32_t)e->cpu, 0);
    out_str(o, " pid ");
    out_int(o, (int32_t)e->pid, 0);
    out_str(o, " tid ");
    out_int(o, (int32_t)e->tid, 0);
    out_str(o, " ip ");
    hex(o, e->ip);
    out_str(o, " code ");
    out_dec(o, e->code, 0);
    out_str(o, ": ");
    text(o, e->message);
    out_char(o, '\n');
}

static const struct record_row {
    uint32_t type;
    unsigned shown_by;
    text_fn *print;
} rows[] = {
    {PERFDATA_RECORD_MMAP, SCRIPT_SHOW_MMAP, print_mmap},
    {PERFDATA_RECORD_MMAP2, SCRIPT_SHOW_MMAP, print_mmap2},
    {PERFDATA_RECORD_COMM, SCRIPT_SHOW_TASK, print_comm},
    {PERFDATA_RECORD_FORK, SCRIPT_SHOW_TASK, print_task},
    {PERFDATA_RECORD_EXIT, SCRIPT_SHOW_TASK, print_task},
    {PERFDATA_RECORD_LOST, SCRIPT_SHOW_LOST, print_lost},
    {PERFDATA_RECORD_SWITCH, SCRIPT_SHOW_SWITCH, print_switch},
    {PERFDATA_RECORD_SWITCH_CPU_WIDE, SCRIPT_SHOW_SWITCH, print_switch_cpu_wide},
    {PERFDATA_RECORD_NAMESPACES, SCRIPT_SHOW_NAMESPACES, print_namespaces},
    {PERFDATA_RECORD_KSYMBOL, SCRIPT_SHOW_BPF | SCRIPT_SHOW_TEXT_POKE, print_ksymbol},
    {PERFDATA_RECORD_BPF_EVENT, SCRIPT_SHOW_BPF, print_bpf_event},
    {PERFDATA_RECORD_CGROUP, SCRIPT_SHOW_CGROUP, print_cgroup},
    {PERFDATA_RECORD_TEXT_POKE, SCRIPT_SHOW_TEXT_POKE, print_text_poke},
    {PERFDATA_RECORD_FINISHED_ROUND, SCRIPT_SHOW_ROUND, print_round},
    {PERFDATA_RECORD_CALLCHAIN_DEFERRED, SCRIPT_SHOW_DEFERRED, NULL},
    {PERFDATA_RECORD_AUXTRACE_ERROR, SCRIPT_SHOW_ERRORS, print_auxtrace_error},
};

static const struct record_row *row_of(uint32_t type) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

bool script_record_shown(unsigned show, uint32_t type) {
    const struct record_row *row = row_of(type);
    return row && row->shown_by & show;
}

static struct subject subject_of(const struct perfdata_record *rec) {
    switch (rec->type) {
    case PERFDATA_RECORD_MMAP:
        return (struct subject){rec->mmap.pid, rec->mmap.tid, 0, true};
    case PERFDATA_RECORD_MMAP2:
        return (struct subject){rec->mmap2.pid, rec->mmap2.tid, 0, true};
    case PERFDATA_RECORD_COMM:
        return (struct subject){rec->comm.pid, rec->comm.tid, 0, true};
    case PERFDATA_RECORD_FORK:
    case PERFDATA_RECORD_EXIT:
        return (struct subject){rec->task.pid, rec->task.tid, rec->task.time, true};
    case PERFDATA_RECORD_NAMESPACES:
        return (struct subject){rec->namespaces.pid, rec->namespaces.tid, 0, true};
    default:
        return (struct subject){(uint32_t)NO_ID, (uint32_t)NO_ID, 0, false};
    }
}

/* The fields before the text: what the sample_id says or, where there is none, the record itself. */
static void print_start(struct script_print *p, const struct script_plan *plan,
                        const struct perfdata_record *rec, struct model_when when) {
    struct subject about = subject_of(rec);
    struct script_start x = {.comm_pid = about.pid,
                             .comm_tid = about.tid,
                             .pid = about.pid,
                             .tid = about.tid,
                             .misc = rec->misc,
                             .type = rec->type,
                             .time_ns = about.time_ns,
                             .when = when};
    if (rec->id.have & PERFDATA_SAMPLE_TID) {
        x.pid = rec->id.pid;
        x.tid = rec->id.tid;
        if (!about.given) {
            x.comm_pid = x.pid;
            x.comm_tid = x.tid;
        }
    }
    if (rec->id.have & PERFDATA_SAMPLE_TIME)
        x.time_ns = rec->id.time;
    x.cpu = rec->id.have & PERFDATA_SAMPLE_CPU ? rec->id.cpu : 0;
    /* An exit takes the thread's name with it: look before. */
    if (rec->type == PERFDATA_RECORD_EXIT && x.when.order)
        x.when.order--;
    /* The kernel's own map events carry pid -1, tid 0: the idle task. */
    if (x.comm_pid == (uint32_t)NO_ID && x.comm_tid == 0)
        x.comm_pid = 0;
    script_print_start(p, plan, &x);
}

static void print_deferred(struct script_print *p, const struct script_plan *plan, uint32_t event,
                           const struct perfdata_record *rec, struct model_when when) {
    print_start(p, plan, rec, when);
    out_str(p->out, "DEFERRED CALLCHAIN [cookie: ");
    out_hex(p->out, rec->callchain_deferred.cookie, 0);
    out_str(p->out, "]\n");
    struct perfdata_sample s = {.pid = rec->id.pid, .tid = rec->id.tid, .time = rec->id.time};
    struct script_sample x = {.s = &s, .event = event, .misc = rec->misc, .when = when};
    script_place_chain(p, plan->fields, &x, rec->callchain_deferred.ips);
    out_char(p->out, '\n');
}

void script_record_text(struct script_print *p, const struct perfdata_record *rec) {
    const struct record_row *row = row_of(rec->type);
    if (!row || !row->print)
        return;
    if (rec->type == PERFDATA_RECORD_AUXTRACE_ERROR) {
        row->print(p->out, rec);
        return;
    }
    out_str(p->out, "PERF_RECORD_");
    row->print(p->out, rec);
    out_char(p->out, '\n');
}

void script_record_print(struct script_print *p, uint32_t event, const struct perfdata_record *rec,
                         struct model_when when) {
    const struct record_row *row = row_of(rec->type);
    if (!row)
        return;
    if (rec->type < PERFDATA_RECORD_USER_START) {
        const struct script_plan *plan = &p->plans.items[event];
        if (!plan->fields)
            return;
        if (rec->type == PERFDATA_RECORD_CALLCHAIN_DEFERRED) {
            print_deferred(p, plan, event, rec, when);
            return;
        }
        print_start(p, plan, rec, when);
    }
    script_record_text(p, rec);
}
