/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the script view share: script_print.c (plans, lines), script_steps.c (the table of
 * fields), script_place.c (addresses), script_values.c (registers, branches, memory sources...),
 * script_record.c (lines of other records). */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_INTERNAL_H
#define SONDE_VIEW_SCRIPT_SCRIPT_INTERNAL_H

#include "object/insn.h"
#include "view/script/script_print.h"

/* ---- script_place.c: addresses as "[unknown] (dso)" ---- */

/* Finds what is mapped at an address of a space. False, and no image: nothing is. */
bool script_place_find(struct script_print *p, const struct script_sample *x, unsigned cpumode,
                       uint64_t address, struct model_hit *hit);

/* Looks up the frames of a sample's callchain, for script_place_sample to print. */
void script_place_ask(struct script_print *p, uint64_t fields, const struct script_sample *x);
/* Prints the single address of a sample, or its callchain, as the fields say. */
void script_place_sample(struct script_print *p, const struct script_plan *plan,
                         const struct script_waiting *waiting);
/* Prints sample.addr: the number and, for events whose address is one of code or data, its names. */
void script_place_addr(struct script_print *p, const struct script_plan *plan, const struct script_sample *x);
/* Prints the branch stack in the form that the fields say. */
void script_place_branches(struct script_print *p, const struct script_plan *plan,
                           const struct script_sample *x);
/* Prints a deferred callchain's addresses as a block of its own. */
void script_place_chain(struct script_print *p, uint64_t fields, const struct script_sample *x,
                        struct perfdata_u64s chain);

/* ---- script_code.c: instructions, from files that are proved to be the ones that ran ---- */

/* Prints the sampled instruction: " ilen: 3 insn: 48 89 f9". */
void script_code_sample(struct script_print *p, uint64_t fields, const struct script_sample *x);
/* Prints the instructions between the branches of the stack, up to the sample. */
void script_code_branches(struct script_print *p, uint64_t fields, const struct script_sample *x);

/* ---- script_json.c: members of a sample's object, for the table of fields ---- */

struct script_json;
void script_json_regs(struct script_json *j, const char *name, const struct perfdata_regs *r);
script_json_fn script_json_raw, script_json_addr, script_json_ip, script_json_branches;

/* ---- script_values.c ---- */

void script_value_regs(struct out *o, const struct dump_regs *names, const struct perfdata_regs *regs);
/* Prints perf_mem_data_src in words, padded to *width, the longest so far. */
void script_value_data_src(struct out *o, uint64_t data_src, unsigned *width);
void script_value_page_size(struct out *o, uint64_t bytes);
/* Prints what follows a branch's addresses: "/M/-/-/5/COND/- ". */
void script_value_branch(struct out *o, const struct perfdata_branch *b);
/* Prints the raw bytes of a bpf-output event, in hex and, if they are a text, as that. */
void script_value_bpf(struct out *o, struct bytes raw);
/* Prints "2026-01-31 13:05:59.123456 " in local time. */
void script_value_clock(struct out *o, uint64_t wall_ns, bool ns);

#endif
