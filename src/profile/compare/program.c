/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two builds of one program are often kept beside each other under two names (./before, ./after). The command
 * line in the header shows what was recorded: those of its words that are names of sampled images. Where it
 * names no single one, names that differ only in what tells builds apart (tool.old, tool-1.2) are one
 * program.
 */
#include "profile/compare/program.h"

#include <stdlib.h>

#include "base/strpool.h"
#include "profile/compare/names.h"
#include "profile/profile_internal.h"

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the file name of an image that may be a program; NULL: it is not one. */
static const char *program_name(const struct model_image *image) {
    size_t from;
    if (image->kind != MODEL_IMAGE_FILE || image->space != MODEL_SPACE_USER)
        return NULL;
    const char *name = base_of(image->name);
    return *name && compare_library_stem(name, &from) == strlen(name) ? name : NULL;
}

/* Adds the file names in a command, without the recorder itself. False: out of memory. */
static bool add_words(const struct perfdata_texts *command, struct strpool *words) {
    for (uint32_t i = 1; command && i < command->count; i++) {
        size_t len = bytes_text_len(command->items[i]), from = len;
        const char *word = (const char *)command->items[i].data;
        while (from > 0 && word[from - 1] != '/')
            from--;
        if (len > from && strpool_add(words, word + from, len - from) == STRPOOL_NONE)
            return false;
    }
    return true;
}

/* Sets the sampled image that a side's command names; MODEL_NONE if there is not just one. False: out of
 * memory. */
static bool find_image(const struct compare_side *s, uint32_t *found) {
    const struct model *model = s->profile->plan.in->model;
    const struct profile *p = s->profile;
    struct strpool words = {0};
    bool several = false, ok = add_words(s->command, &words);
    *found = MODEL_NONE;
    for (size_t i = 0; ok && words.entries.count && i < p->b.frames.list.count; i++) {
        uint32_t id = p->b.frames.list.items[i].image;
        if (id == MODEL_NONE || id == *found)
            continue;
        const char *name = program_name(model_image(model, id));
        if (!name || strpool_find(&words, name, strlen(name)) == STRPOOL_NONE)
            continue;
        several |= *found != MODEL_NONE;
        *found = id;
    }
    if (several)
        *found = MODEL_NONE;
    strpool_fini(&words);
    return ok;
}

static bool same_build(const struct compare_side *a, uint32_t x, const struct compare_side *b, uint32_t y) {
    const struct model *one = a->profile->plan.in->model, *other = b->profile->plan.in->model;
    struct bytes p = model_image_build_id(one, model_image(one, x), NULL),
                 q = model_image_build_id(other, model_image(other, y), NULL);
    return p.size && p.size == q.size && memcmp(p.data, q.data, p.size) == 0;
}

/* Whether a side has an image with the name of another side's program. */
static bool has_other(const struct compare_side *s, const char *own, const struct strpool *programs) {
    const struct model *model = s->profile->plan.in->model;
    for (uint32_t i = 0; i < model_image_count(model); i++) {
        const char *name = base_of(model_image(model, i)->name);
        if (strcmp(name, own) != 0 && strpool_find(programs, name, strlen(name)) != STRPOOL_NONE)
            return true;
    }
    return false;
}

/* Fills names with the programs that the commands name. *one: there is one on each side, not all are one
 * build, and the names differ. False: out of memory. */
static bool find_recorded(const struct compare_side *sides, uint32_t count, const char **names, bool *one) {
    struct strpool programs = {0};
    uint32_t first = MODEL_NONE;
    bool ok = true, all = true, rebuilt = false;
    for (uint32_t s = 0; ok && all && s < count; s++) {
        uint32_t image;
        ok = find_image(&sides[s], &image);
        if (!(all = ok && image != MODEL_NONE))
            break;
        first = s ? first : image;
        names[s] = program_name(model_image(sides[s].profile->plan.in->model, image));
        rebuilt |= s && !same_build(&sides[0], first, &sides[s], image);
        ok = strpool_add(&programs, names[s], strlen(names[s])) != STRPOOL_NONE;
    }
    *one = ok && all && rebuilt && programs.entries.count > 1;
    for (uint32_t s = 0; *one && s < count; s++)
        *one = !has_other(&sides[s], names[s], &programs);
    strpool_fini(&programs);
    return ok;
}

/* ---- renamed ones ---- */

static bool same_stem(const char *a, const char *b) {
    size_t n = compare_program_stem(a, strlen(a));
    return n == compare_program_stem(b, strlen(b)) && memcmp(a, b, n) == 0;
}

/* Marks the sampled images of a side that may be programs; by number. NULL: out of memory. */
static bool *sampled_programs(const struct compare_side *s) {
    const struct model *model = s->profile->plan.in->model;
    const struct profile *p = s->profile;
    bool *marks = calloc(model_image_count(model) + 1, sizeof *marks);
    for (size_t i = 0; marks && i < p->b.frames.list.count; i++) {
        uint32_t id = p->b.frames.list.items[i].image;
        if (id != MODEL_NONE && !marks[id])
            marks[id] = program_name(model_image(model, id)) != NULL;
    }
    return marks;
}

/* Returns the only marked image of a side whose name has the stem of `like`; MODEL_NONE: there is none, or
 * there are several names. */
static uint32_t image_like(const struct compare_side *s, const bool *marks, const char *like) {
    const struct model *model = s->profile->plan.in->model;
    uint32_t found = MODEL_NONE;
    for (uint32_t i = 0; i < model_image_count(model); i++) {
        if (!marks[i] || !same_stem(program_name(model_image(model, i)), like))
            continue;
        if (found != MODEL_NONE &&
            strcmp(program_name(model_image(model, i)), program_name(model_image(model, found))) != 0)
            return MODEL_NONE;
        found = i;
    }
    return found;
}

/* Fills names with those of one program: image `first` of the base, and what is like it on all other sides.
 * Returns whether there is one on each, not of one build and not of one name. */
static bool is_renamed(const struct compare_side *sides, uint32_t count, bool *const *marks, uint32_t first,
                       const char **names) {
    const struct model *model = sides[0].profile->plan.in->model;
    const char *name = program_name(model_image(model, first));
    bool differ = false, rebuilt = false;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t image = image_like(&sides[s], marks[s], name);
        if (image == MODEL_NONE)
            return false;
        names[s] = program_name(model_image(sides[s].profile->plan.in->model, image));
        differ |= strcmp(names[s], name) != 0;
        rebuilt |= s && !same_build(&sides[0], first, &sides[s], image);
    }
    return differ && rebuilt;
}

/* As find_recorded: the only program whose names on all sides are alike. `marks`: by side. */
static bool find_renamed(const struct compare_side *sides, uint32_t count, bool **marks, const char **names) {
    const struct model *model = sides[0].profile->plan.in->model;
    const char **found = calloc(count, sizeof *found);
    bool ok = found != NULL;
    uint32_t several = 0;
    for (uint32_t s = 0; ok && s < count; s++)
        ok = (marks[s] = sampled_programs(&sides[s])) != NULL;
    for (uint32_t i = 0; ok && i < model_image_count(model); i++)
        if (marks[0][i] && is_renamed(sides, count, marks, i, found)) {
            several += !several || strcmp(names[0], found[0]) != 0;
            memcpy(names, found, count * sizeof *names);
        }
    if (several != 1)
        names[0] = NULL;
    free(found);
    return ok;
}

bool compare_programs_find(const struct compare_side *sides, uint32_t count, const char **names) {
    bool one;
    if (!find_recorded(sides, count, names, &one) || one)
        return one;
    bool **marks = calloc(count, sizeof *marks);
    bool ok = marks && find_renamed(sides, count, marks, names);
    for (uint32_t s = 0; marks && s < count; s++)
        free(marks[s]);
    free(marks);
    return ok;
}

const char *compare_object_stem(const struct compare *c, const char *path, size_t *len) {
    const char *name = base_of(path);
    size_t from;
    for (uint32_t s = 0; c->programs && s < c->sides; s++)
        if (strcmp(name, c->programs[s]) == 0)
            path = c->programs[0];
    *len = compare_library_stem(path, &from);
    return path + from;
}

const char *compare_programs_text(struct compare *c) {
    const char *text = NULL;
    for (uint32_t s = 0; c->programs && s < c->sides; s++) {
        bool told = false;
        for (uint32_t i = 0; i < s; i++)
            told |= strcmp(c->programs[i], c->programs[s]) == 0;
        if (told)
            continue;
        text = text ? arena_printf(&c->arena, "%s and %s", text, c->programs[s]) : c->programs[s];
        if (!text)
            return NULL;
    }
    return text ? arena_printf(&c->arena, "%s are taken to be the same program", text) : NULL;
}
