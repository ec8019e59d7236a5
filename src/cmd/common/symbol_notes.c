/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/symbol_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "symbol/grade.h"

static void say_image(const struct model_image *image, const struct symbol_source *source) {
    if (source->status != SYMBOL_FOUND) {
        log_line(LOG_INFO, "%s: no names: %s", image->name, source->text ? source->text : "no file has any");
        return;
    }
    char slide[48] = "";
    if (source->has_slide)
        snprintf(slide, sizeof slide, ", moved by %s0x%" PRIx64, source->slide < 0 ? "-" : "",
                 source->slide < 0 ? -(uint64_t)source->slide : (uint64_t)source->slide);
    log_line(LOG_INFO, "%s: names from %s%s%s%s%s%s%s", image->name, symbol_origin_text(source->origin),
             source->path ? ", " : "", source->path ? source->path : "",
             source->proved ? ", proved by the recording" : ", not proved", source->support ? ": " : "",
             source->support ? source->support : "", slide);
}

/* Images without names for the same reason: a kernel's modules, or files that this user may not read. */
struct reason {
    const char *text, *first; /* the first image's name */
    uint32_t count;
};
enum { REASONS_MAX = 16 };
struct reasons {
    struct reason items[REASONS_MAX];
    size_t count;
    uint32_t others;
};

/* Returns `why` without the image's own name at its start. */
static const char *bare_reason(const char *why, const char *name) {
    size_t n = strlen(name);
    return !strncmp(why, name, n) && !strncmp(why + n, ": ", 2) ? why + n + 2 : why;
}

static void add_reason(struct reasons *r, const char *why, const char *name) {
    size_t k = 0;
    why = bare_reason(why, name);
    while (k < r->count && strcmp(r->items[k].text, why) != 0)
        k++;
    if (k < r->count)
        r->items[k].count++;
    else if (r->count < REASONS_MAX)
        r->items[r->count++] = (struct reason){why, name, 1};
    else
        r->others++;
}

static void say_reasons(const struct reasons *r) {
    for (size_t i = 0; i < r->count; i++) {
        const struct reason *x = &r->items[i];
        if (x->count > 1)
            log_line(LOG_WARN, "%s and %" PRIu32 " more have no names: %s", x->first, x->count - 1, x->text);
        else
            log_line(LOG_WARN, "%s has no names: %s", x->first, x->text);
    }
    if (r->others)
        log_line(LOG_WARN, "%" PRIu32 " more images have no names (-v lists them)", r->others);
}

static bool is_kernels(const struct model_image *image) {
    return image->space == MODEL_SPACE_KERNEL || image->space == MODEL_SPACE_GUEST_KERNEL;
}

/* The kernel's line first, as there is only one, while there may be many files. */
static void say_images(const struct model *m, const struct resolve_names *names,
                       const struct symbol_store *store, bool kernels, struct reasons *r) {
    for (uint32_t i = 0; i < model_image_count(m); i++) {
        const struct model_image *image = model_image(m, i);
        uint32_t id = resolve_names_store_id(names, i);
        if (id == UINT32_MAX || is_kernels(image) != kernels)
            continue;
        struct symbol_source source = symbol_store_source(store, id);
        struct symbol_try first;
        /* All images may be known to the store; those that no sample hit were not looked for. */
        if (source.origin != SYMBOL_FROM_NOTHING || symbol_store_try(store, id, 0, &first))
            say_image(image, &source);
        const char *why = symbol_store_warning(store, id);
        if (why)
            add_reason(r, why, image->name);
    }
}

void symbol_notes_say(const struct model *m, const struct resolve_names *names,
                      const struct symbol_store *store) {
    struct reasons reasons = {.count = 0};
    say_images(m, names, store, true, &reasons);
    say_images(m, names, store, false, &reasons);
    say_reasons(&reasons);
    const char *trouble = symbol_store_servers_trouble(store);
    if (trouble)
        log_line(LOG_WARN, "debuginfod (DEBUGINFOD_URLS=%s) is not asked any more: %s",
                 getenv("DEBUGINFOD_URLS"), trouble);
    char path[4096];
    for (size_t i = 0; symbol_store_unused_force(store, &i, path, sizeof path);)
        log_line(
            LOG_WARN,
            "--force-image %s: nothing is named from it; it counts for objects of its name that samples hit, "
            "or give OBJECT=FILE",
            path);
}

/* Writes "12", "0.4" or "<0.1", which is exact enough for people. */
static void put_share(char *text, size_t size, uint64_t part, uint64_t all) {
    double percent = 100.0 * (double)part / (double)all;
    if (percent < 0.1)
        snprintf(text, size, "<0.1");
    else
        snprintf(text, size, "%.*f", percent < 10 ? 1 : 0, percent);
}

/* Appends "12 % WHAT" to a list. */
static void put_part(char *text, size_t size, uint64_t part, uint64_t all, const char *what) {
    char share[16];
    size_t len = strlen(text);
    if (!part)
        return;
    put_share(share, sizeof share, part, all);
    snprintf(text + len, size - len, "%s%s %%%s %s", len ? ", " : "", share, len ? "" : " of frames", what);
}

void symbol_notes_say_grades(const uint64_t grades[GRADE_COUNT], const char *path, bool verbose) {
    enum { FEW_PERCENT = 5 };
    uint64_t all = 0, inferred = grades[GRADE_INFERRED], stale = grades[GRADE_STALE];
    char text[128] = "";
    for (unsigned g = 0; g < GRADE_COUNT; g++)
        all += grades[g];
    bool nameless = (double)grades[GRADE_UNKNOWN] * 100 > (double)all * FEW_PERCENT;
    bool wanted = stale || nameless || (inferred && (verbose || isatty(STDERR_FILENO)));
    if (!wanted)
        return;
    put_part(text, sizeof text, inferred, all, "inferred");
    put_part(text, sizeof text, stale, all, "stale");
    put_part(text, sizeof text, nameless ? grades[GRADE_UNKNOWN] : 0, all, "without a name");
    log_line(LOG_WARN, "%s: sonde doctor %s", text, path);
}

/* Returns the image in which most stacks ended without an unwind table; NULL: none. */
static const struct model_image *worst_image(const struct resolve_unwind_tally *t, const struct model *m) {
    uint64_t most = 0;
    uint32_t image = MODEL_NONE;
    for (uint32_t i = 0; i < t->images.count; i++)
        if (t->images.items[i].of[RESOLVE_UNWIND_NO_TABLE] > most) {
            most = t->images.items[i].of[RESOLVE_UNWIND_NO_TABLE];
            image = i;
        }
    return image == MODEL_NONE ? NULL : model_image(m, image);
}

void symbol_notes_say_stacks(const struct resolve_unwind_tally *t, const struct model *m) {
    uint64_t ended = t->stacks - t->ends[RESOLVE_UNWIND_COMPLETE];
    const struct model_image *worst = worst_image(t, m);
    char why[512] = "", share[16];
    size_t len = 0;
    if (!ended)
        return;
    for (int i = RESOLVE_UNWIND_CUT; i < RESOLVE_UNWIND_ENDS && len < sizeof why; i++) {
        if (!t->ends[i])
            continue;
        put_share(share, sizeof share, t->ends[i], t->stacks);
        len += (size_t)snprintf(why + len, sizeof why - len, "%s%s %% %s", len ? ", " : "", share,
                                resolve_unwind_end_text((enum resolve_unwind_end)i));
        if (i == RESOLVE_UNWIND_NO_TABLE && worst && len < sizeof why)
            len += (size_t)snprintf(why + len, sizeof why - len, " (%s)", worst->short_name);
    }
    put_share(share, sizeof share, ended, t->stacks);
    log_line(LOG_WARN, "%s %% of %" PRIu64 " user stacks end early: %s", share, t->stacks, why);
}
