/* SPDX-License-Identifier: Apache-2.0 */
#include "record/bpf.h"

#include <stdio.h>

enum {
    KSYM_BPF = 1,  /* PERF_RECORD_KSYMBOL_TYPE_BPF */
    PROG_LOAD = 1, /* PERF_BPF_EVENT_PROG_LOAD */
    NAME_ROOM = 64,
    PROGRAMS_MAX = 1 << 16,
};

/*
 * As the kernel calls them in /proc/kallsyms and in its own records: "bpf_prog_TAG_NAME", and of a program
 * that has functions of its own each "bpf_prog_TAG_F" with its own tag. (Where there is type information the
 * kernel has the functions' names instead of F.)
 */
static size_t function_name(const struct os_bpf_program *p, uint32_t index, char room[NAME_ROOM]) {
    const struct os_bpf_function *f = &p->functions[index];
    size_t n = (size_t)snprintf(room, NAME_ROOM, "bpf_prog_");
    for (size_t i = 0; i < sizeof f->tag; i++)
        n += (size_t)snprintf(room + n, NAME_ROOM - n, "%02x", f->tag[i]);
    const char *name = p->function_count > 1 ? "F" : p->name;
    if (*name)
        n += (size_t)snprintf(room + n, NAME_ROOM - n, "_%.16s", name);
    return n;
}

static void put_program(const struct record_sink *sink, const struct os_bpf_program *p, struct writer *w) {
    for (uint32_t i = 0; i < p->function_count; i++) {
        char room[NAME_ROOM + 8] = "";
        size_t n = function_name(p, i, room);
        if (!p->functions[i].address || !p->functions[i].size)
            continue; /* hidden, or not compiled */
        struct perfdata_record rec = {
            .type = PERFDATA_RECORD_KSYMBOL,
            .ksymbol = {p->functions[i].address,
                        p->functions[i].size,
                        KSYM_BPF,
                        0,
                        {(const uint8_t *)room, (n + 8) & ~(size_t)7}},
        };
        record_sink_encode(sink, &rec, w);
    }
    struct perfdata_record rec = {.type = PERFDATA_RECORD_BPF_EVENT, .bpf_event = {PROG_LOAD, 0, p->id, {0}}};
    memcpy(rec.bpf_event.tag, p->tag, sizeof p->tag);
    record_sink_encode(sink, &rec, w);
}

bool record_bpf_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w) {
    uint32_t id = 0;
    for (uint32_t n = 0; n < PROGRAMS_MAX; n++) {
        struct os_bpf_program p;
        int got = proc->bpf_next(proc->ctx, id, &p);
        if (got == 0)
            break;
        if (p.id <= id)
            break;
        id = p.id;
        if (got > 0)
            put_program(sink, &p, w);
    }
    return writer_ok(w);
}
