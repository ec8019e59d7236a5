/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/script/script_choice.h"

#include <errno.h>
#include <stdlib.h>

bool script_choice_parse(struct script_choice *c, const char *symbols, const char *dsos, uint64_t range_bytes,
                         struct err *err) {
    c->range_bytes = range_bytes;
    if ((dsos && !filter_names_parse("--dsos", dsos, &c->dsos, err)) ||
        (symbols && !filter_symbols_parse("--symbols", symbols, &c->symbols, err)))
        return false;
    for (size_t i = 0; i < c->symbols.list.count; i++) {
        char *end;
        errno = 0;
        unsigned long long address = strtoull(c->symbols.list.items[i], &end, 16);
        if (errno || *end || end == c->symbols.list.items[i])
            continue;
        uint64_t *slot = vec_push(&c->addresses);
        if (!slot)
            return err_memory(err, "--symbols");
        *slot = address;
    }
    return true;
}

void script_choice_fini(struct script_choice *c) {
    filter_names_fini(&c->symbols);
    filter_names_fini(&c->dsos);
    vec_fini(&c->addresses);
}

static bool takes_symbol(const struct script_choice *c, struct script_names *names, uint64_t ip,
                         const struct model_hit *hit) {
    uint64_t offset = 0;
    const char *name = script_names_symbol(names, hit, &offset);
    if (filter_symbols_has(&c->symbols, name))
        return true;
    for (size_t i = 0; i < c->addresses.count; i++) {
        uint64_t address = c->addresses.items[i];
        if (address == ip || (name && address == ip - offset) ||
            (ip >= address && ip - address < c->range_bytes))
            return true;
    }
    return false;
}

bool script_choice_takes(const struct script_choice *c, struct script_names *names, uint64_t ip,
                         const struct model_hit *hit) {
    if (c->dsos.list.count) {
        if (hit->image == MODEL_NONE)
            return false;
        const struct model_image *image = model_image(names->model, hit->image);
        if (!filter_names_has(&c->dsos, image->short_name) && !filter_names_has(&c->dsos, image->name))
            return false;
    }
    return !c->symbols.list.count || takes_symbol(c, names, ip, hit);
}
