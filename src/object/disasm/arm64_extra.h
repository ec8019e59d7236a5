/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_OBJECT_DISASM_ARM64_EXTRA_H
#define SONDE_OBJECT_DISASM_ARM64_EXTRA_H

#include "object/disasm/text.h"

/* The line of an instruction that capstone does not know, or does not name; false: not one of these. */
bool arm64_extra(uint32_t word, struct text *out);

#endif
