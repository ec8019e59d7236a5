/* SPDX-License-Identifier: Apache-2.0 */
/* Imports an input, checks that what came of it holds together, and writes it in each format. */
#ifndef SONDE_FUZZ_FUZZ_IMPORT_H
#define SONDE_FUZZ_FUZZ_IMPORT_H

#include "fuzz.h"

#include "stacks/import/import.h"
#include "view/export/export.h"

static bool forget(void *ctx, const char *p, size_t n) {
    (void)ctx, (void)p, (void)n;
    return true;
}

static void check(const struct stacks *s) {
    for (size_t i = 0; i < s->frames.count; i++) {
        FUZZ_CHECK(s->frames.items[i].name < s->texts.entries.count);
        FUZZ_CHECK(s->frames.items[i].image == STACKS_NONE || s->frames.items[i].image < s->images.count);
        FUZZ_CHECK(s->frames.items[i].level <= STACKS_INLINED && s->frames.items[i].grade <= STACKS_UNKNOWN);
    }
    for (size_t i = 0; i < s->nodes.count; i++) {
        FUZZ_CHECK(s->nodes.items[i].caller == STACKS_NONE || s->nodes.items[i].caller < i);
        FUZZ_CHECK(s->nodes.items[i].frame < s->frames.count);
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        FUZZ_CHECK(s->rows.items[i].event < s->events.count && s->rows.items[i].node < s->nodes.count);
        FUZZ_CHECK(stacks_depth(s, s->rows.items[i].node) <= STACKS_IMPORT_DEEPEST);
    }
    for (size_t i = 0; i < s->moments.count; i++)
        FUZZ_CHECK(s->moments.items[i].row < s->rows.count && s->moments.items[i].thread < s->threads.count);
}

static void import_input(enum stacks_import_kind kind, const uint8_t *data, size_t size) {
    struct stacks s = {0};
    struct err err = ERR_INIT;
    struct stacks_import_tally tally;
    stacks_import_kind_of((struct bytes){data, size});
    if (stacks_init(&s, &err) && stacks_import(&s, kind, (struct bytes){data, size}, "input", &tally, &err)) {
        check(&s);
        FUZZ_CHECK(!tally.bad == !tally.reason);
        for (const struct export_format *f = export_formats; s.rows.count && f->name; f++) {
            struct out out;
            if (out_init(&out, forget, NULL))
                f->write(&s, &(struct export_options){0}, &out, &err);
            out_fini(&out);
        }
    }
    stacks_fini(&s);
}

#endif
