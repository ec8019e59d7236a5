/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the names of code from jitdumps. */
#include "symbol/store/store_internal.h"

#include "format/jitdump/jitelf.h"
#include "symbol/build.h"

static bool add_functions(const struct jitcode *j, struct symbol_drafts *d) {
    if (!vec_reserve(&d->list, j->functions.count))
        return false;
    for (size_t i = 0; i < j->functions.count; i++) {
        const struct jitcode_function *f = &j->functions.items[i];
        *vec_push(&d->list) = (struct symbol_draft){.start = f->offset,
                                                    .end = f->offset + f->code.size,
                                                    .name = (const char *)f->name.data, /* a NUL follows it */
                                                    .bind = SYMBOL_GLOBAL};
    }
    return true;
}

bool store_load_code(struct symbol_store *s, struct store_image *im) {
    const struct symbol_code *c = &im->known.code;
    struct err err = ERR_INIT;
    struct symbol_drafts d = {0};
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_LAST, .raw_names = s->options.raw_names};
    if (!c->code)
        return false;
    if (add_functions(c->code, &d))
        im->table = im->owned = symbol_table_build(&d, &rules, &err);
    symbol_drafts_fini(&d);
    if (!im->table)
        return store_fail(im, SYMBOL_NO_MEMORY, NULL, "out of memory");
    store_found(im, SYMBOL_FROM_JITDUMP, c->path, !c->doubt);
    return true;
}

void store_code_bytes(struct symbol_store *s, struct store_image *im) {
    const struct jitcode *code = im->known.code.code;
    uint8_t id[JITELF_BUILD_ID_SIZE];
    pthread_mutex_lock(&s->lock);
    if (!im->built.size && code->functions.count) {
        struct jitelf_part all = {code, 0, code->functions.count};
        im->built = jitelf_writer(code);
        if (jitelf_write(&all, &im->built, id, NULL))
            im->bytes.code = writer_bytes(&im->built);
        else
            writer_fini(&im->built);
    }
    pthread_mutex_unlock(&s->lock);
}
