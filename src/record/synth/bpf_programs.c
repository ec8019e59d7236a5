/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/bpf_programs.h"

#include <stdio.h>

#include "format/perfdata/header/bpf_info.h"

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

void record_bpf_fini(struct record_bpf *b) {
    vec_fini(&b->programs);
    vec_fini(&b->types);
    hash_map_fini(&b->type_of);
    hash_map_fini(&b->known);
    arena_fini(&b->arena);
}

static void put_function(const struct record_sink *sink, uint64_t address, uint32_t size, const char *name,
                         struct writer *w) {
    char room[168] = "";
    size_t n = (size_t)snprintf(room, sizeof room - 8, "%s", name);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_KSYMBOL,
        .ksymbol = {address, size, KSYM_BPF, 0, {(const uint8_t *)room, (n + 8) & ~(size_t)7}},
    };
    if (address && size) /* not hidden, and compiled */
        record_sink_encode(sink, &rec, w);
}

/* The BTF of that number, asked for once; NULL: there is none. */
static const struct perfdata_btf *types_of(const struct os_proc *proc, struct record_bpf *b, uint32_t id) {
    uint32_t at = id ? hash_map_get(&b->type_of, id) : HASH_ABSENT;
    struct writer w = writer_make(false);
    if (at == HASH_ABSENT && id && proc->bpf_btf(proc->ctx, id, &w)) {
        struct bytes data = arena_copy(&b->arena, writer_bytes(&w));
        struct perfdata_btf *t = data.data ? vec_push(&b->types) : NULL;
        if (t) {
            *t = (struct perfdata_btf){id, data};
            at = (uint32_t)b->types.count - 1;
            hash_map_set(&b->type_of, id, at);
        }
    }
    writer_fini(&w);
    return at == HASH_ABSENT ? NULL : &b->types.items[at];
}

/* Keeps what the kernel says of a program, and says it in *info. */
static bool keep_info(const struct os_proc *proc, struct record_bpf *b, uint32_t id,
                      struct perfdata_bpf_info *info) {
    struct os_bpf_info raw;
    if (!proc->bpf_info(proc->ctx, id, &raw))
        return false;
    struct perfdata_bpf_prog p = {.info_len = (uint32_t)raw.info.size,
                                  .data_len = (uint32_t)raw.data.size,
                                  .arrays = raw.arrays,
                                  .info = arena_copy(&b->arena, writer_bytes(&raw.info)),
                                  .data = arena_copy(&b->arena, writer_bytes(&raw.data))};
    writer_fini(&raw.info);
    writer_fini(&raw.data);
    struct perfdata_bpf_prog *kept = p.info.data ? vec_push(&b->programs) : NULL;
    if (!kept || !perfdata_bpf_info_decode(&p, false, info)) {
        b->programs.count -= kept != NULL;
        return false;
    }
    *kept = p;
    hash_map_set(&b->known, id, 1);
    return true;
}

/* Its functions, with the names that its type information has for them. False: nobody knows them. */
static bool put_functions(const struct os_proc *proc, const struct record_sink *sink, uint32_t id,
                          struct writer *w) {
    struct perfdata_bpf_info info;
    struct perfdata_btf_names names;
    if (!sink->bpf || !keep_info(proc, sink->bpf, id, &info))
        return false;
    const struct perfdata_btf *types = types_of(proc, sink->bpf, info.btf_id);
    const struct perfdata_btfs one = {(struct perfdata_btf *)types, types != NULL};
    bool ok = perfdata_btf_names_init(&names, &one, false);
    for (uint32_t i = 0; i < info.function_count && ok; i++) {
        struct perfdata_bpf_function f = perfdata_bpf_info_function(&info, &names, i);
        put_function(sink, f.address, f.size, f.name, w);
    }
    perfdata_btf_names_fini(&names);
    return ok;
}

void record_bpf_note(const struct os_proc *proc, struct record_bpf *b, uint32_t id) {
    struct perfdata_bpf_info info;
    if (hash_map_get(&b->known, id) == HASH_ABSENT && b->programs.count < PROGRAMS_MAX &&
        keep_info(proc, b, id, &info))
        types_of(proc, b, info.btf_id);
}

static void put_program(const struct os_proc *proc, const struct record_sink *sink,
                        const struct os_bpf_program *p, struct writer *w) {
    bool named = put_functions(proc, sink, p->id, w);
    for (uint32_t i = 0; i < p->function_count && !named; i++) {
        char name[NAME_ROOM] = "";
        function_name(p, i, name);
        put_function(sink, p->functions[i].address, p->functions[i].size, name, w);
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
            put_program(proc, sink, &p, w);
    }
    return writer_ok(w);
}
