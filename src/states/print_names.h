/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a tracepoint's print format gives to a field's numbers; they differ between kernels:
 *
 *   __print_flags(REC->prev_state, "|", { 0x01, "S" }, { 0x02, "D" } ...)
 *   __print_symbolic(REC->vec, { 0, "HI" } ...)
 */
#ifndef SONDE_STATES_PRINT_NAMES_H
#define SONDE_STATES_PRINT_NAMES_H

#include "base/bytes.h"

struct print_name {
    uint64_t number;
    struct bytes text; /* without quotes; lies in the format */
};

/* Reads the names that follow `call` ("__print_symbolic(REC->vec") in an event's format, as many as there is
 * room for. Returns how many. */
size_t print_names_read(struct bytes format, const char *call, struct print_name *out, size_t max);

#endif
