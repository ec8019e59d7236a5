/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of bpf/ in the kernel, without libbpf: a program's code is a light skeleton (bpftool-gen(8), -L),
 * that is, a loader, itself a BPF program, which makes the maps, fits the programs to the running kernel's
 * types (CO-RE) and loads them. Here the loader is given its data, run once, and thrown away. Linux 5.15 or
 * newer.
 *
 *     struct os_bpf_object o;
 *     os_bpf_open(&o, &os_bpf_system, &bpf_tasks)            initial contents of maps may be changed now
 *     os_bpf_load(&o, verbose, &e) && os_bpf_attach(&o, e)   maps and programs exist; programs are called
 *     ...                                                    bpf_maps.h
 *     os_bpf_close(&o)                                       in any state, zeroed, too: all is detached and
 * freed
 */
#ifndef SONDE_OS_BPF_BPF_OBJECT_H
#define SONDE_OS_BPF_BPF_OBJECT_H

#include "base/bytes.h"
#include "base/err.h"
#include "os/bpf/bpf.h"

enum os_bpf_attach {
    OS_BPF_ATTACH_NONE,
    OS_BPF_ATTACH_BTF,  /* a tracepoint with typed arguments (tp_btf) */
    OS_BPF_ATTACH_RAW,  /* one by name (raw_tp) */
    OS_BPF_ATTACH_ITER, /* runs when it is read: os_bpf_iterate */
};

struct os_bpf_map_row {
    const char *name;
    struct bytes start; /* .rodata, .data, .bss: what they begin with; else empty */
};

struct os_bpf_program_row {
    const char *name;
    enum os_bpf_attach attach;
    const char *tracepoint; /* OS_BPF_ATTACH_RAW */
};

/* What bpf/build.py makes of NAME.bpf.c: bpf/dist/NAME.h, where its maps and programs have their numbers. */
struct os_bpf_code {
    const char *name;
    struct bytes data, insns; /* of the loader */
    const struct os_bpf_map_row *maps;
    uint32_t map_count;
    const struct os_bpf_program_row *programs;
    uint32_t program_count;
};

enum { OS_BPF_MAPS_MAX = 32, OS_BPF_PROGRAMS_MAX = 32 };

struct os_bpf_object {
    const struct os_bpf *bpf;
    const struct os_bpf_code *code;
    struct os_bpf_loaded_map {
        int fd;           /* -1: not loaded */
        uint32_t entries; /* 0: as the code says */
        void *data;       /* see os_bpf_data */
        bool mapped;      /* data is shared memory, not ours */
    } maps[OS_BPF_MAPS_MAX];
    struct os_bpf_loaded_program {
        int fd, link; /* -1: not loaded, not attached */
    } programs[OS_BPF_PROGRAMS_MAX];
};

/* Borrows both. False: out of memory. Call os_bpf_close in either case. */
bool os_bpf_open(struct os_bpf_object *o, const struct os_bpf *bpf, const struct os_bpf_code *code,
                 struct err *e);

/* Before os_bpf_load: the initial content of .rodata, .data or .bss, which may be changed. Afterwards: the
 * memory that the programs use (NULL for .rodata, which can no longer be changed). Valid as long as the
 * object is open. The struct is in dist/NAME.h. */
void *os_bpf_data(struct os_bpf_object *o, uint32_t map);

/* How many entries the map gets, instead of what the code says; before os_bpf_load. */
void os_bpf_set_entries(struct os_bpf_object *o, uint32_t map, uint32_t entries);

/* On failure *e says in one line what is missing, and the remedy; where the verifier refuses a program, and
 * with `verbose`, also its last line. */
bool os_bpf_load(struct os_bpf_object *o, bool verbose, struct err *e);

/* One program, or all that are no iterators, in their order. */
bool os_bpf_attach_one(struct os_bpf_object *o, uint32_t program, struct err *e);
bool os_bpf_attach(struct os_bpf_object *o, struct err *e);
/* A program of raw_tp that uses no arguments, to that tracepoint. *e: ERR_ABSENT: there is none of that name.
 */
bool os_bpf_attach_to(struct os_bpf_object *o, uint32_t program, const char *tracepoint, struct err *e);

/* Attaches a program to a uprobe that perf opened (descriptor `event`): it is told of `cookie`
 * (bpf_get_attach_cookie). Returns a descriptor, whose closing ends it, or a negative errno. */
int os_bpf_attach_probe(const struct os_bpf_object *o, uint32_t program, int event, uint64_t cookie);

/* Runs a program of raw_tp, attached or not, once on a CPU (in an interrupt there): 0 or a negative errno
 * (-ENXIO: it is off). It must not use its arguments. */
int os_bpf_run_on(const struct os_bpf_object *o, uint32_t program, uint32_t cpu);

/* Programs are no longer called (one that is running may end a moment later); maps stay. */
void os_bpf_detach(struct os_bpf_object *o);

void os_bpf_close(struct os_bpf_object *o);

#endif
