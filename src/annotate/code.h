/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the machine code of a function that samples hit, wherever it is. */
#ifndef SONDE_ANNOTATE_CODE_H
#define SONDE_ANNOTATE_CODE_H

#include "annotate/profile.h"
#include "object/disasm/disasm.h"

/* As symbol_store_machine_code, and for BPF programs out of the recording's header; *arch: what it is for.
 * False: *err says why there is none, ERR_UNSUPPORTED that it is for another architecture than are known. */
bool annotate_code_find(const struct annotate_profile *p, const struct annotate_function *f,
                        struct symbol_machine_code *out, enum disasm_arch *arch, struct err *err);

#endif
