/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/callers.h"

#include "symbol/landmarks.h"

static bool is_kernel(enum model_space space) {
    return space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL;
}

bool resolve_callers_is_entry(const char *function, enum model_space space) {
    if (!function)
        return false;
    return is_kernel(space) ? symbol_is_exception(function)
                            : symbol_is_signal_return(function) || symbol_is_injected(function);
}

static bool has_no_file(const struct model *m, uint32_t image) {
    const struct model_image *i = image == MODEL_NONE ? NULL : model_image(m, image);
    return i && (i->pid != MODEL_NONE || i->kind == MODEL_IMAGE_CODE);
}

/* Whether the byte before `address`, which lies at `hit`, may belong to another mapping; if not, it belongs
 * to the same one. Mappings of files begin at a page, and the kernel's text is one mapping. */
static bool is_at_edge(const struct model *m, const struct model_hit *hit, uint64_t address) {
    enum { PAGE_MASK = 0xfff };
    if (!(address & PAGE_MASK) || hit->mapping == MODEL_NONE)
        return true;
    unsigned kind = model_image(m, hit->image)->kind;
    bool whole = kind == MODEL_IMAGE_FILE || kind == MODEL_IMAGE_KERNEL || kind == MODEL_IMAGE_MODULE;
    return !whole || address == model_mapping(m, hit->mapping).start;
}

/* Completes `hit`, where a return address lies, given `prior`, where the byte before it lies. */
static void join(const struct model *m, struct model_hit *hit, const struct model_hit *prior) {
    bool ends = hit->mapping == MODEL_NONE || (has_no_file(m, hit->image) && has_no_file(m, prior->image));
    if (prior->mapping == MODEL_NONE || (hit->mapping != prior->mapping && !ends))
        return;
    if (hit->mapping != prior->mapping) {
        *hit = *prior;
        hit->offset++;
    }
    hit->back = 1;
}

void resolve_callers_find(const struct model *m, resolve_callers_find_fn *find, void *ctx, uint64_t address,
                          struct model_hit *hit) {
    struct model_hit prior;
    find(ctx, address, hit);
    if (!address)
        return;
    if (!is_at_edge(m, hit, address)) {
        hit->back = 1;
        return;
    }
    find(ctx, address - 1, &prior);
    join(m, hit, &prior);
}

uint32_t resolve_callers_symbol(const struct symbol_table *t, struct model_hit *hit) {
    uint32_t caller = symbol_table_find(t, hit->offset - 1);
    if (caller != SYMBOL_NONE && symbol_table_end(t, caller) > hit->offset)
        return caller;
    uint32_t at = symbol_table_find(t, hit->offset);
    if (at == SYMBOL_NONE || symbol_table_start(t, at) != hit->offset)
        return caller;
    const char *name = symbol_table_name(t, at);
    if (!(is_kernel(hit->space) ? symbol_is_landing(name) : symbol_is_signal_return(name)))
        return caller;
    hit->back = 0;
    return at;
}
