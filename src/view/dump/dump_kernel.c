/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/dump_internal.h"

#include <inttypes.h>

static void dump_mmap(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_mmap(l->out, &l->rec->mmap, l->rec->misc);
    out_char(l->out, '\n');
}

static void dump_mmap2(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_mmap2(l->out, &l->rec->mmap2);
    out_char(l->out, '\n');
}

static void dump_comm(const struct dump_line *l) {
    out_str(l->out, l->rec->misc & PERFDATA_MISC_COMM_EXEC ? " exec: " : ": ");
    record_text_string(l->out, l->rec->comm.comm);
    out_char(l->out, ':');
    record_text_pair(l->out, l->rec->comm.pid, '/', l->rec->comm.tid);
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
    record_text_hex(o, a->aux_offset);
    out_str(o, " size: ");
    record_text_hex(o, a->aux_size);
    out_str(o, " flags: ");
    record_text_hex(o, a->flags);
    /* PERF_AUX_FLAG_TRUNCATED, OVERWRITE, PARTIAL, COLLISION */
    out_printf(o, " [%s%s%s%s]\n", a->flags & 1 ? "T" : "", a->flags & 2 ? "O" : "", a->flags & 4 ? "P" : "",
               a->flags & 8 ? "C" : "");
}

static void dump_itrace_start(const struct dump_line *l) {
    out_printf(l->out, " pid: %" PRId32 " tid: %" PRId32 "\n", (int32_t)l->rec->itrace_start.pid,
               (int32_t)l->rec->itrace_start.tid);
}

static void dump_switch(const struct dump_line *l) {
    out_char(l->out, ' ');
    out_str(l->out, record_text_switch(l->rec->misc));
    out_char(l->out, '\n');
}

static void dump_switch_cpu_wide(const struct dump_line *l) {
    const struct perfdata_switch_cpu_wide *s = &l->rec->switch_cpu_wide;
    out_printf(l->out, " %s  %s pid/tid: %5" PRId32 "/%-5" PRId32 "\n", record_text_switch(l->rec->misc),
               l->rec->misc & PERFDATA_MISC_SWITCH_OUT ? "next" : "prev", (int32_t)s->next_prev_pid,
               (int32_t)s->next_prev_tid);
}

static void dump_namespaces(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_namespaces(l->out, &l->rec->namespaces);
    out_char(l->out, '\n');
}

static void dump_ksymbol(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_ksymbol(l->out, &l->rec->ksymbol);
    out_char(l->out, '\n');
}

static void dump_bpf_event(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_bpf_event(l->out, &l->rec->bpf_event);
    out_char(l->out, '\n');
}

static void dump_cgroup(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_cgroup(l->out, &l->rec->cgroup);
    out_char(l->out, '\n');
}

static void dump_text_poke(const struct dump_line *l) {
    out_char(l->out, ' ');
    record_text_text_poke(l->out, &l->rec->text_poke);
    out_char(l->out, '\n');
}

static void dump_aux_output_hw_id(const struct dump_line *l) {
    out_str(l->out, " hw_id: ");
    record_text_hex(l->out, l->rec->aux_output_hw_id.hw_id);
    out_char(l->out, '\n');
}

static void dump_callchain_deferred(const struct dump_line *l) {
    const struct perfdata_sample_id *id = &l->rec->id;
    bool has_tid = id->have & PERFDATA_SAMPLE_TID;
    out_printf(l->out, "(IP, 0x%x): ", l->rec->misc);
    record_text_pair(l->out, has_tid ? id->pid : UINT32_MAX, '/', has_tid ? id->tid : UINT32_MAX);
    out_mem(l->out, ": ", 2);
    record_text_hex(l->out, l->rec->callchain_deferred.cookie);
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
