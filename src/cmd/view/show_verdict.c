/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/show_verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diff/diff_judge.h"

struct taking {
    struct stacks *s;
    struct page_verdicts *out;
};

/* Returns the page's number of an event; STACKS_NONE: it does not have it. */
static uint32_t event_of(const struct stacks *s, uint32_t recording, const char *name) {
    for (uint32_t i = 0; i < s->events.count; i++)
        if (s->events.items[i].recording == recording &&
            !strcmp(stacks_str(s, s->events.items[i].name), name))
            return i;
    return STACKS_NONE;
}

/* Adds a line to the page's notes. False: out of memory. */
static bool add_note(struct stacks *s, const char *text) {
    uint32_t id = stacks_text(s, text, strlen(text)), *item = id == STRPOOL_NONE ? NULL : vec_push(&s->notes);
    if (item)
        *item = id;
    return item != NULL;
}

/* Takes the rows, first ones first, and the functions that they are of. False: out of memory. */
static bool take_rows(const struct taking *t, const struct diff_judged *one, struct page_verdict *v) {
    const struct compare *c = one->compare;
    const struct judgement *j = one->judgement;
    struct compare_functions all = {0};
    size_t most = j->order.count < PAGE_VERDICT_ROWS ? j->order.count : PAGE_VERDICT_ROWS;
    uint32_t *place = malloc((c->rows.count + 1) * sizeof *place);
    bool ok = place && compare_functions_find(c, one->sides, t->s, &all) && vec_reserve(&v->rows, most + 1);
    for (size_t i = 0; ok && i < j->order.count; i++) {
        place[j->order.items[i]] = i < most ? (uint32_t)i : STACKS_NONE;
        if (i < most)
            v->rows.items[v->rows.count++] = j->rows.items[j->order.items[i]];
    }
    for (size_t i = 0; ok && i < all.list.count && v->functions.list.count < PAGE_VERDICT_FUNCTIONS; i++) {
        struct compare_function f = all.list.items[i];
        f.row = place[f.row];
        struct compare_function *made = f.row == STACKS_NONE ? NULL : vec_push(&v->functions.list);
        ok = made || f.row == STACKS_NONE;
        if (made)
            *made = f;
    }
    free(place);
    vec_fini(&all.list);
    return ok;
}

/* diff_judged_fn. */
static bool take(void *ctx, const struct diff_judged *one, struct err *err) {
    const struct taking *t = ctx;
    uint32_t base = event_of(t->s, 0, one->sides[0].event->name),
             now = event_of(t->s, 1, one->sides[1].event->name);
    if (base == STACKS_NONE || now == STACKS_NONE)
        return true;
    bool first = !t->out->list.count;
    struct page_verdict *v = vec_push(&t->out->list);
    if (!v)
        return err_memory(err, "page");
    *v = (struct page_verdict){.base_event = base, .new_event = now, .level = one->level};
    const char *same = first ? compare_programs_text(one->compare) : NULL;
    return (take_rows(t, one, v) && (!same || add_note(t->s, same))) || err_memory(err, "page");
}

/* Judges the recordings by objects and symbols, though the page's profiles tell apart more. */
static bool judge(struct command_env *env, const struct diff_files *files, struct taking *t,
                  struct err *err) {
    struct diff_options o;
    diff_options_init(&o, env->config);
    o.verdict = o.functions = true;
    bool ok = diff_judge(files, 1, &o, take, t, err);
    diff_options_fini(&o);
    return ok;
}

bool show_verdict(struct command_env *env, const struct diff_files *files, struct stacks *s,
                  struct page_verdicts *out, struct err *err) {
    struct taking t = {s, out};
    struct err why = ERR_INIT;
    char line[512];
    bool recordings = true;
    for (uint32_t i = 0; i < files->count; i++)
        recordings &= files->list[i].session != NULL;
    if (!recordings)
        err_set(&why, ERR_UNSUPPORTED, NULL, "only recordings can be compared");
    else if (judge(env, files, &t, &why))
        return true;
    if (why.code == ERR_MEMORY) {
        *err = why;
        return false;
    }
    snprintf(line, sizeof line, "no change is judged: %.200s%s%.250s", why.where, *why.where ? ": " : "",
             why.message);
    return add_note(s, line) || err_memory(err, "page");
}
