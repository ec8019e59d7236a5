/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are shown by where they were taken: script's -S, --addr-range and --dsos (perf-script(1)). */
#ifndef SONDE_CMD_SCRIPT_SCRIPT_CHOICE_H
#define SONDE_CMD_SCRIPT_SCRIPT_CHOICE_H

#include "select/filter.h"
#include "view/script/script_names.h"

struct script_choice {
    struct filter_names symbols; /* names, and addresses as texts */
    VEC(uint64_t) addresses;     /* those of the symbols that are hexadecimal numbers */
    uint64_t range_bytes;        /* --addr-range: after each address */
    struct filter_names dsos;
};

/* `symbols` and `dsos` may be NULL: all. `c` is zeroed. False: as filter_names_parse. */
bool script_choice_parse(struct script_choice *c, const char *symbols, const char *dsos, uint64_t range_bytes,
                         struct err *err);
void script_choice_fini(struct script_choice *c);

/* True when nothing is asked for: no sample need be looked up. */
static inline bool script_choice_is_all(const struct script_choice *c) {
    return !c->symbols.list.count && !c->dsos.list.count;
}

/* True when a sample taken at `ip`, which is where `hit` says, is to be shown. */
bool script_choice_takes(const struct script_choice *c, struct script_names *names, uint64_t ip,
                         const struct model_hit *hit);

#endif
