/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BPF programs: those that are loaded already, as KSYMBOL and BPF_EVENT records (perf_event_open(2)), and
 * what is to be known of those that come while recording, whose records are the kernel's.
 */
#ifndef SONDE_RECORD_SYNTH_BPF_PROGRAMS_H
#define SONDE_RECORD_SYNTH_BPF_PROGRAMS_H

#include "base/hash.h"
#include "format/perfdata/header/feature.h"
#include "os/proc/proc.h"
#include "record/write/sink.h"

/* What the header says of them (BPF_PROG_INFO, BPF_BTF). */
struct record_bpf {
    struct arena arena; /* owns what the lists point at */
    VEC(struct perfdata_bpf_prog) programs;
    VEC(struct perfdata_btf) types;
    struct hash_map type_of; /* number of a BTF -> index in types */
    struct hash_map known;   /* programs' numbers -> 1 */
};
void record_bpf_fini(struct record_bpf *b);

/* Each program's functions, then the program; none without the right to see them. Where sink->bpf is not NULL
 * all about them is kept there. False when memory ran out. */
bool record_bpf_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w);

/* Keeps all about a program that was loaded a moment ago, unless it is gone again. */
void record_bpf_note(const struct os_proc *proc, struct record_bpf *b, uint32_t id);

#endif
