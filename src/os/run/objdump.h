/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objdump(1) as a child, over bytes that we have and not over a file of that name: what it prints is of the
 * code that was proved, wherever that came from. No shell; object/disasm/objdump_text.h reads what it prints.
 */
#ifndef SONDE_OS_OBJDUMP_H
#define SONDE_OS_OBJDUMP_H

#include "base/bytes.h"
#include "base/err.h"

struct os_objdump {
    const char *program; /* found in PATH; NULL: objdump */
    const char *machine; /* for its -m: disasm_objdump_machine */
    const char *style;   /* for its -M; NULL: as it does by itself */
    unsigned most_ms;    /* then it is killed; 0: 10 s */
};

/* Disassembles `code`, which lies at `address`. *text: what it printed, owned (free text->data). False and
 * *err: ERR_ABSENT: no such program; ERR_UNSUPPORTED: it failed, with its own words; ERR_IO: it took too
 * long, printed more than instructions of that many bytes can need, or could not be run. */
bool os_objdump_run(const struct os_objdump *how, struct bytes code, uint64_t address, struct bytes *text,
                    struct err *err);

#endif
