/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump_internal.h"

#include <inttypes.h>
#include <sys/mman.h>

/* pid/tid, signed as perf prints them: -1 is the kernel. */
static void pid_tid(struct out *o, uint32_t pid, uint32_t tid) {
    out_int(o, (int32_t)pid, 0);
    out_char(o, '/');
    out_int(o, (int32_t)tid, 0);
}

/* " PID/TID: [0xADDR(0xLEN) @ 0xPGOFF" */
static void range(struct out *o, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len, uint64_t pgoff) {
    out_char(o, ' ');
    pid_tid(o, pid, tid);
    out_mem(o, ": [", 3);
    dump_hex(o, addr);
    out_char(o, '(');
    dump_hex(o, len);
    out_mem(o, ") @ ", 4);
    dump_hex(o, pgoff);
}

static void dump_mmap(const struct dump_line *l) {
    const struct perfdata_mmap *m = &l->rec->mmap;
    range(l->out, m->pid, m->tid, m->addr, m->len, m->pgoff);
    out_str(l->out, l->rec->misc & PERFDATA_MISC_MMAP_DATA ? "]: r " : "]: x ");
    dump_text(l->out, m->filename);
    out_char(l->out, '\n');
}

static void dump_mmap2(const struct dump_line *l) {
    const struct perfdata_mmap2 *m = &l->rec->mmap2;
    struct out *o = l->out;
    range(o, m->pid, m->tid, m->addr, m->len, m->pgoff);
    if (m->has_build_id) {
        out_mem(o, " <", 2);
        for (unsigned i = 0; i < m->build_id_size && i < sizeof m->build_id; i++)
            out_hex0(o, m->build_id[i], 2);
        out_mem(o, ">]: ", 4);
    } else {
        out_char(o, ' ');
        out_hex0(o, m->maj, 2);
        out_char(o, ':');
        out_hex0(o, m->min, 2);
        out_char(o, ' ');
        out_dec(o, m->ino, 0);
        out_char(o, ' ');
        out_dec(o, m->ino_generation, 0);
        out_mem(o, "]: ", 3);
    }
    out_char(o, m->prot & PROT_READ ? 'r' : '-');
    out_char(o, m->prot & PROT_WRITE ? 'w' : '-');
    out_char(o, m->prot & PROT_EXEC ? 'x' : '-');
    out_char(o, m->flags & MAP_SHARED ? 's' : 'p');
    out_char(o, ' ');
    dump_text(o, m->filename);
    out_char(o, '\n');
}

static void dump_comm(const struct dump_line *l) {
    out_str(l->out, l->rec->misc & PERFDATA_MISC_COMM_EXEC ? " exec: " : ": ");
    dump_text(l->out, l->rec->comm.comm);
    out_char(l->out, ':');
    pid_tid(l->out, l->rec->comm.pid, l->rec->comm.tid);
    out_char(l->out, '\n');
}

static void dump_task(const struct dump_line *l) {
    const struct perfdata_task *t = &l->rec->task;
    out_printf(l->out, "(%" PRId32 ":%" PRId32 "):(%" PRId32 ":%" PRId32 ")\n", (int32_t)t->pid,
               (int32_t)t->tid, (int32_t)t->ppid, (int32_t)t->ptid);
}

static void dump_lost(const struct dump_line *l) {
    out_printf(l->out, ": id:%" PRIu64 ": lost:%" PRIu64 "\n", l->rec->lost.id, l->rec->lost.lost);
}

static void dump_lost_samples(const struct dump_line *l) {
    const struct perfdata_sample_id *id = &l->rec->id;
    uint64_t which = id->have & PERFDATA_SAMPLE_IDENTIFIER ? id->identifier
                     : id->have & PERFDATA_SAMPLE_ID       ? id->id
                                                           : UINT64_MAX;
    /* Since Linux 6.13 a filter in BPF may drop samples too, and this bit tells. */
    out_printf(l->out, ": id:%" PRIu64 ": lost samples :%" PRIu64 "%s\n", which, l->rec->lost_samples.lost,
               l->rec->misc & 1u << 15 ? " (BPF)" : "");
}

static void dump_read(const struct dump_line *l) {
    const struct perfdata_read_record *r = &l->rec->read;
    uint64_t format = r->values.format;
    struct out *o = l->out;
    out_printf(o, ": %" PRId32 " %" PRId32 " %s", (int32_t)r->pid, (int32_t)r->tid, dump_event_name(l));
    for (uint64_t i = 0; i < r->values.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&r->values, i);
        out_printf(o, " %" PRIu64 "\n", v.value);
        if (i == 0 && format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
            out_printf(o, "... time enabled : %" PRIu64 "\n", r->values.time_enabled);
        if (i == 0 && format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
            out_printf(o, "... time running : %" PRIu64 "\n", r->values.time_running);
        if (format & PERFDATA_FORMAT_ID)
            out_printf(o, "... id           : %" PRIu64 "\n", v.id);
        if (format & PERFDATA_FORMAT_LOST)
            out_printf(o, "... lost         : %" PRIu64 "\n", v.lost);
        if (i + 1 < r->values.count)
            out_str(o, "... value        :");
    }
    if (!r->values.count)
        out_char(o, '\n');
}

static void dump_aux(const struct dump_line *l) {
    const struct perfdata_aux *a = &l->rec->aux;
    struct out *o = l->out;
    out_str(o, " offset: ");
    dump_hex(o, a->aux_offset);
    out_str(o, " size: ");
    dump_hex(o, a->aux_size);
    out_str(o, " flags: ");
    dump_hex(o, a->flags);
    /* PERF_AUX_FLAG_TRUNCATED, OVERWRITE, PARTIAL, COLLISION */
    out_printf(o, " [%s%s%s%s]\n", a->flags & 1 ? "T" : "", a->flags & 2 ? "O" : "", a->flags & 4 ? "P" : "",
               a->flags & 8 ? "C" : "");
}

static void dump_itrace_start(const struct dump_line *l) {
    out_printf(l->out, " pid: %" PRId32 " tid: %" PRId32 "\n", (int32_t)l->rec->itrace_start.pid,
               (int32_t)l->rec->itrace_start.tid);
}

/* "IN", "OUT" or "OUT preempt", filled up to the longest. */
static const char *switch_text(uint16_t misc) {
    if (!(misc & PERFDATA_MISC_SWITCH_OUT))
        return " IN         ";
    return misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT ? " OUT preempt" : " OUT        ";
}

static void dump_switch(const struct dump_line *l) {
    out_str(l->out, switch_text(l->rec->misc));
    out_char(l->out, '\n');
}

static void dump_switch_cpu_wide(const struct dump_line *l) {
    const struct perfdata_switch_cpu_wide *s = &l->rec->switch_cpu_wide;
    out_printf(l->out, "%s  %s pid/tid: %5" PRId32 "/%-5" PRId32 "\n", switch_text(l->rec->misc),
               l->rec->misc & PERFDATA_MISC_SWITCH_OUT ? "next" : "prev", (int32_t)s->next_prev_pid,
               (int32_t)s->next_prev_tid);
}

/* Four links a line; the indexes are those of perf_event.h's NET_NS_INDEX and so on. */
static void dump_namespaces(const struct dump_line *l) {
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    const struct perfdata_namespaces *n = &l->rec->namespaces;
    struct out *o = l->out;
    out_char(o, ' ');
    pid_tid(o, n->pid, n->tid);
    out_printf(o, " - nr_namespaces: %" PRIu64 "\n\t\t[", n->nr);
    for (uint64_t i = 0; i < n->nr; i++) {
        if (i > 0)
            out_str(o, i % 4 == 0 ? "\n\t\t " : "");
        out_printf(o, "%" PRIu64 "/%s: %" PRIu64 "/0x%" PRIx64 "%s", i,
                   i < sizeof names / sizeof *names ? names[i] : "UNKNOWN", perfdata_u64_at(&n->links, 2 * i),
                   perfdata_u64_at(&n->links, 2 * i + 1), i + 1 < n->nr ? ", " : "");
    }
    out_str(o, "]\n");
}

static void dump_ksymbol(const struct dump_line *l) {
    const struct perfdata_ksymbol *k = &l->rec->ksymbol;
    out_printf(l->out, " addr %" PRIx64 " len %u type %u flags 0x%x name ", k->addr, k->len, k->ksym_type,
               k->flags);
    dump_text(l->out, k->name);
    out_char(l->out, '\n');
}

static void dump_bpf_event(const struct dump_line *l) {
    const struct perfdata_bpf_event *b = &l->rec->bpf_event;
    out_printf(l->out, " type %u, flags %u, id %u\n", b->type, b->flags, b->id);
}

static void dump_cgroup(const struct dump_line *l) {
    out_printf(l->out, " cgroup: %" PRIu64 " ", l->rec->cgroup.id);
    dump_text(l->out, l->rec->cgroup.path);
    out_char(l->out, '\n');
}

/* Sixteen bytes a line, each line with its heading. */
static void code_bytes(struct out *o, const char *heading, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            out_printf(o, "%s            %s:", i ? "\n" : "", heading);
        out_char(o, ' ');
        out_hex0(o, p[i], 2);
    }
    if (n)
        out_char(o, '\n');
}

static void dump_text_poke(const struct dump_line *l) {
    const struct perfdata_text_poke *t = &l->rec->text_poke;
    out_printf(l->out, " %" PRIx64 "  old len %u new len %u\n", t->addr, t->old_len, t->new_len);
    code_bytes(l->out, "Old bytes", t->bytes.data, t->old_len);
    code_bytes(l->out, "New bytes", t->bytes.data + t->old_len, t->new_len);
}

static void dump_aux_output_hw_id(const struct dump_line *l) {
    out_str(l->out, " hw_id: ");
    dump_hex(l->out, l->rec->aux_output_hw_id.hw_id);
    out_char(l->out, '\n');
}

static void dump_callchain_deferred(const struct dump_line *l) {
    const struct perfdata_sample_id *id = &l->rec->id;
    bool has_tid = id->have & PERFDATA_SAMPLE_TID;
    out_printf(l->out, "(IP, 0x%x): ", l->rec->misc);
    pid_tid(l->out, has_tid ? id->pid : UINT32_MAX, has_tid ? id->tid : UINT32_MAX);
    out_mem(l->out, ": ", 2);
    dump_hex(l->out, l->rec->callchain_deferred.cookie);
    out_char(l->out, '\n');
    dump_unhandled(l);
}

dump_fields_fn *dump_kernel_fields(uint32_t type) {
    static dump_fields_fn *const rows[] = {
        [PERFDATA_RECORD_MMAP] = dump_mmap,
        [PERFDATA_RECORD_LOST] = dump_lost,
        [PERFDATA_RECORD_COMM] = dump_comm,
        [PERFDATA_RECORD_EXIT] = dump_task,
        [PERFDATA_RECORD_FORK] = dump_task,
        [PERFDATA_RECORD_READ] = dump_read,
        [PERFDATA_RECORD_MMAP2] = dump_mmap2,
        [PERFDATA_RECORD_AUX] = dump_aux,
        [PERFDATA_RECORD_ITRACE_START] = dump_itrace_start,
        [PERFDATA_RECORD_LOST_SAMPLES] = dump_lost_samples,
        [PERFDATA_RECORD_SWITCH] = dump_switch,
        [PERFDATA_RECORD_SWITCH_CPU_WIDE] = dump_switch_cpu_wide,
        [PERFDATA_RECORD_NAMESPACES] = dump_namespaces,
        [PERFDATA_RECORD_KSYMBOL] = dump_ksymbol,
        [PERFDATA_RECORD_BPF_EVENT] = dump_bpf_event,
        [PERFDATA_RECORD_CGROUP] = dump_cgroup,
        [PERFDATA_RECORD_TEXT_POKE] = dump_text_poke,
        [PERFDATA_RECORD_AUX_OUTPUT_HW_ID] = dump_aux_output_hw_id,
        [PERFDATA_RECORD_CALLCHAIN_DEFERRED] = dump_callchain_deferred,
    };
    return type < sizeof rows / sizeof *rows ? rows[type] : NULL;
}
