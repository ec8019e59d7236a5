/* SPDX-License-Identifier: Apache-2.0 */
/* What the records that the kernel writes beside samples say, as perf prints it: the part that a dump
 * (`script -D`) and a list of events (`script --show-mmap-events` and its like) have in common, without
 * heading and line end. Every function writes into `o`; text in records ends at its NUL or where the record
 * ends. */
#ifndef SONDE_VIEW_DUMP_RECORD_TEXT_H
#define SONDE_VIEW_DUMP_RECORD_TEXT_H

#include "base/text/out.h"
#include "format/perfdata/record.h"

/* As C's %#lx: 0 has no prefix. */
void record_text_hex(struct out *o, uint64_t v);
/* Up to the first NUL. */
void record_text_string(struct out *o, struct bytes b);
/* "A/B" or with another separator, signed: -1 is the kernel. */
void record_text_pair(struct out *o, uint32_t a, char separator, uint32_t b);

/* "PID/TID: [0xADDR(0xLEN) @ 0xPGOFF]: x NAME"; `misc` is the record's: "r" for a mapping of data. */
void record_text_mmap(struct out *o, const struct perfdata_mmap *m, uint16_t misc);
/* The same with "MAJ:MIN INODE GENERATION" or "<BUILD-ID>" before the bracket, and protection and sharing
 * after. */
void record_text_mmap2(struct out *o, const struct perfdata_mmap2 *m);
/* "IN", "OUT" or "OUT preempt" of a context switch, filled up to the longest. */
const char *record_text_switch(uint16_t misc);
/* "PID/TID - nr_namespaces: N" and four links a line. */
void record_text_namespaces(struct out *o, const struct perfdata_namespaces *n);
/* "addr A len N type T flags 0xF name NAME" */
void record_text_ksymbol(struct out *o, const struct perfdata_ksymbol *k);
/* "type T, flags F, id N" */
void record_text_bpf_event(struct out *o, const struct perfdata_bpf_event *b);
/* "cgroup: ID PATH" */
void record_text_cgroup(struct out *o, const struct perfdata_cgroup *c);
/* "ADDR  old len N new len M", then a line for every sixteen bytes, each begun by its line end. */
void record_text_text_poke(struct out *o, const struct perfdata_text_poke *t);

#endif
