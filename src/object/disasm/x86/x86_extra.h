/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_DISASM_X86_X86_EXTRA_H
#define SONDE_OBJECT_DISASM_X86_X86_EXTRA_H

#include "object/disasm/x86/x86_text.h"

/* The line of an instruction that capstone does not know; false: not one of these. */
bool x86_extra(const struct x86_line *l, struct text *out);

#endif
