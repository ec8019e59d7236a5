/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/capstone.h"

#include "base/library.h"

bool capstone_load(struct capstone *cs, struct err *err) {
    const struct library_function functions[] = {
        {"cs_open", &cs->open},
        {"cs_close", &cs->close},
        {"cs_option", &cs->option},
        {"cs_malloc", &cs->malloc},
        {"cs_free", &cs->free},
        {"cs_disasm_iter", &cs->disasm_iter},
        {"cs_insn_group", &cs->insn_group},
        {"cs_insn_name", &cs->insn_name},
        {"cs_reg_name", &cs->reg_name},
    };
    cs->library = library_load("libcapstone.so." LIBRARY_TEXT(CS_API_MAJOR), functions,
                               sizeof functions / sizeof *functions, err);
    return cs->library;
}
