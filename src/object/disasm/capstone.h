/* SPDX-License-Identifier: Apache-2.0 */
/* The capstone library, loaded when it is first needed (base/library.h says why). Only in builds that have
 * it. */
#ifndef SONDE_OBJECT_DISASM_CAPSTONE_H
#define SONDE_OBJECT_DISASM_CAPSTONE_H

#include <capstone/capstone.h>

#include "base/err.h"

/* The functions used, under their names without the prefix. */
struct capstone {
    void *library; /* for library_unload */
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_free) *free;
    __typeof__(cs_disasm_iter) *disasm_iter;
    __typeof__(cs_insn_group) *insn_group;
    __typeof__(cs_insn_name) *insn_name;
    __typeof__(cs_reg_name) *reg_name;
};

/* False: *err (ERR_UNSUPPORTED) names the file that is not installed. */
bool capstone_load(struct capstone *cs, struct err *err);

#endif
