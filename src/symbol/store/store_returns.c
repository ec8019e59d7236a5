/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a kernel's or module's file by recorded return addresses: in the code that ran there is a call
 * before each. In another build's code few have one, by chance (a twentieth in x86 code).
 */
#include "object/calls.h"
#include "symbol/landmarks.h"
#include "symbol/store/store_internal.h"

static struct symbol_returns returns_of(struct symbol_store *s, enum symbol_space space) {
    bool guest = space == SYMBOL_GUEST_KERNEL;
    pthread_mutex_lock(&s->lock);
    if (!s->has_returns[guest] && s->options.returns)
        s->returns[guest] = s->options.returns(s->options.returns_ctx, space);
    s->has_returns[guest] = true;
    pthread_mutex_unlock(&s->lock);
    return s->returns[guest];
}

/* Whether the function of the frame at `inner` was entered by an exception, by its name in the image: then
 * what is outside of it did not call. */
static bool was_interrupted(const struct store_image *im, uint64_t inner) {
    uint64_t base = im->known.kind == SYMBOL_IMAGE_MODULE ? im->known.start : 0;
    uint32_t symbol = inner > base ? symbol_table_find(im->table, inner - base - 1) : SYMBOL_NONE;
    return symbol != SYMBOL_NONE && symbol_is_exception(symbol_table_name(im->table, symbol));
}

bool store_returns_fit(struct symbol_store *s, struct store_image *im, const char *path,
                       const struct object_elf *e, store_code_fn *code_at, const void *ctx) {
    /* A few places follow no call: kernels start threads there. */
    enum { PERCENT = 99, STARTS = 2 };
    struct symbol_returns r = {0};
    uint64_t start = im->known.start, end = im->known.end;
    size_t seen = 0, missed = 0;
    struct bytes code;
    size_t at;
    if (object_calls_known(e->machine))
        r = returns_of(s, im->known.space);
    for (size_t i = 0, next; i < r.count; i = next) {
        uint64_t address = r.list[i].address;
        bool interrupted = false;
        for (next = i; next < r.count && r.list[next].address == address; next++)
            interrupted = interrupted || was_interrupted(im, r.list[next].inner);
        if (address <= start || address > end || interrupted || !code_at(ctx, address, &code, &at))
            continue;
        seen++;
        missed += !object_calls_before(e->machine, e->big_endian, code, at, true);
    }
    if (missed > STARTS && missed * 100 > seen * (100 - PERCENT)) {
        const char *why = store_text(im, "only %zu of %zu return addresses in it follow calls: other code",
                                     seen - missed, seen);
        symbol_table_free(im->owned);
        im->table = im->owned = NULL;
        im->source.support = NULL;
        store_tried(im, path, why);
        return store_fail(im, SYMBOL_CONTRADICTED, path, why);
    }
    if (seen > STARTS)
        im->source.support =
            store_text(im, "%zu of %zu return addresses in it follow calls", seen - missed, seen);
    return true;
}
