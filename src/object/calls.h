/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether code calls: what an address that was returned to has before it. Facts: Intel SDM volume 2, "CALL"
 * and "ModR/M and SIB Bytes"; Arm ARM, "BL", "BLR"; z/Architecture Principles of Operation, "BRANCH AND SAVE"
 * and "BRANCH RELATIVE AND SAVE"; Power ISA, "Branch"; the RISC-V manual, "Unconditional Jumps".
 */
#ifndef SONDE_OBJECT_CALLS_H
#define SONDE_OBJECT_CALLS_H

#include "base/bytes.h"

/* Whether calls are known of a machine (EM_*). */
bool object_calls_known(uint16_t machine);

/*
 * Whether a call returns to `at` in `code`, whose bytes are as they stand in a file. A kernel changes calls
 * as it boots, and what it puts there may be shorter: `patched` allows for such places too (x86: an indirect
 * call in place of a call of a retpoline, a direct one in place of an indirect one).
 */
bool object_calls_before(uint16_t machine, bool big_endian, struct bytes code, size_t at, bool patched);

#endif
