/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_record.h"

#include <stdio.h>

#include "view/dump/record_text.h"
#include "view/script/script_internal.h"

enum { NO_ID = -1 };

/* The thread that a record is about, if it says so itself. */
struct subject {
    uint32_t pid, tid;
    uint64_t time_ns; /* 0: only the sample_id has it */
    bool given;
};

typedef void text_fn(struct out *o, const struct perfdata_record *rec);

static void print_mmap(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "MMAP ");
    record_text_mmap(o, &rec->mmap, rec->misc);
}

static void print_mmap2(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "MMAP2 ");
    record_text_mmap2(o, &rec->mmap2);
}

static void print_comm(struct out *o, const struct perfdata_record *rec) {
    out_str(o, rec->misc & PERFDATA_MISC_COMM_EXEC ? "COMM exec: " : "COMM: ");
    record_text_string(o, rec->comm.comm);
    out_char(o, ':');
    record_text_pair(o, rec->comm.pid, '/', rec->comm.tid);
}

static void print_task(struct out *o, const struct perfdata_record *rec) {
    out_str(o, rec->type == PERFDATA_RECORD_FORK ? "FORK(" : "EXIT(");
    record_text_pair(o, rec->task.pid, ':', rec->task.tid);
    out_str(o, "):(");
    record_text_pair(o, rec->task.ppid, ':', rec->task.ptid);
    out_char(o, ')');
}

static void print_lost(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "LOST lost ");
    out_dec(o, rec->lost.lost, 0);
}

static void print_switch(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "SWITCH ");
    out_str(o, record_text_switch(rec->misc));
}

static void print_switch_cpu_wide(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "SWITCH_CPU_WIDE ");
    out_str(o, record_text_switch(rec->misc));
    out_str(o, rec->misc & PERFDATA_MISC_SWITCH_OUT ? "  next pid/tid: " : "  prev pid/tid: ");
    out_int(o, (int32_t)rec->switch_cpu_wide.next_prev_pid, 5);
    out_char(o, '/');
    char tid[16];
    int len = snprintf(tid, sizeof tid, "%d", (int32_t)rec->switch_cpu_wide.next_prev_tid);
    out_left(o, tid, (size_t)len, 5);
}

static void print_namespaces(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "NAMESPACES ");
    record_text_namespaces(o, &rec->namespaces);
}

static void print_ksymbol(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "KSYMBOL ");
    record_text_ksymbol(o, &rec->ksymbol);
}

static void print_bpf_event(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "BPF_EVENT ");
    record_text_bpf_event(o, &rec->bpf_event);
}

static void print_cgroup(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "CGROUP ");
    record_text_cgroup(o, &rec->cgroup);
}

static void print_text_poke(struct out *o, const struct perfdata_record *rec) {
    out_str(o, "TEXT_POKE ");
    record_text_text_poke(o, &rec->text_poke);
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
    record_text_hex(o, e->ip);
    out_str(o, " code ");
    out_dec(o, e->code, 0);
    out_str(o, ": ");
    record_text_string(o, e->message);
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

/* Prints the fields before the text, from the sample_id or, without one, from the record itself. */
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
    /* An exit removes the thread's name: look it up before. */
    if (rec->type == PERFDATA_RECORD_EXIT && x.when.order)
        x.when.order--;
    /* The kernel's own map events have pid -1, tid 0, which is the idle task. */
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
        if (rec->type == PERFDATA_RECORD_CALLCHAIN_DEFERRED) {
            if (plan->fields)
                print_deferred(p, plan, event, rec, when);
            return;
        }
        print_start(p, plan, rec, when);
    }
    script_record_text(p, rec);
}
