/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking for functions in callchains: -p, -x, --ignore-callees. What is found decides where a sample counts,
 * so that it is looked for before that: the chain becomes a path in a tree of its own, of no class, in which
 * each end is searched once; what is left of it is then walked again in the tree of the sample's class.
 *
 *   tree of no class     main > outer > middle > leaf      --ignore-callees middle, -p '^outer'
 *   parent "outer"       main > outer > middle             the sample's own entry is "middle"
 */
#include <regex.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

/* perf-report(1), --parent */
#define USUAL_PARENT "^sys_|^do_page_fault"

enum { NOT_ASKED, NO_MATCH, MATCH };

/* What was found out about a path's end. */
struct found {
    bool known;
    uint32_t parent; /* text id; PROFILE_NONE: none */
    uint32_t end;    /* node where what is left of the path ends */
};

struct profile_search {
    regex_t parent, ignored;
    bool parents, ignores; /* which of them there are */
    uint32_t klass;        /* of the tree */
    VEC(struct found) by_node;
    VEC(uint8_t) is_parent, is_ignored; /* by frame */
};

static bool compile(regex_t *regex, const char *option, const char *text, struct err *err) {
    int status = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    char why[128];
    if (!status)
        return true;
    regerror(status, regex, why, sizeof why);
    return err_set(err, ERR_USAGE, option, "\"%s\": %s", text, why);
}

struct profile_search *profile_search_new(const struct profile_options *o, bool parents, struct err *err) {
    struct profile_search *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(err, "profile");
        return NULL;
    }
    s->klass = PROFILE_NONE;
    s->parents = parents && compile(&s->parent, "-p", o->parent ? o->parent : USUAL_PARENT, err);
    s->ignores = o->ignore_callees && compile(&s->ignored, "--ignore-callees", o->ignore_callees, err);
    if (s->parents == parents && s->ignores == (o->ignore_callees != NULL))
        return s;
    profile_search_free(s);
    return NULL;
}

void profile_search_free(struct profile_search *s) {
    if (!s)
        return;
    if (s->parents)
        regfree(&s->parent);
    if (s->ignores)
        regfree(&s->ignored);
    vec_fini(&s->by_node);
    vec_fini(&s->is_parent);
    vec_fini(&s->is_ignored);
    free(s);
}

static const char *name_of(const struct profile_builder *b, uint32_t frame) {
    const struct resolve_frame *f = &b->frames.list.items[frame];
    if (f->image == MODEL_NONE || f->symbol == SYMBOL_NONE)
        return NULL;
    return resolve_names_text(b->plan->in->names, (struct resolve_symbol){f->image, f->symbol});
}

/* Each frame is compared once. */
static bool matches(struct profile_builder *b, void *memo, const regex_t *regex, uint32_t frame) {
    VEC(uint8_t) *list = memo;
    while (list->count <= frame)
        if (!vec_push(list)) {
            b->failed = true;
            return false;
        }
    if (list->items[frame] == NOT_ASKED) {
        const char *name = name_of(b, frame);
        list->items[frame] = name && !regexec(regex, name, 0, NULL, 0) ? MATCH : NO_MATCH;
    }
    return list->items[frame] == MATCH;
}

/* From the innermost frame outward: of several parents the one that comes first in the order of printing, of
 * several functions whose callees are ignored the outermost. */
static struct found search(struct profile_builder *b, uint32_t node) {
    struct profile_search *s = b->search;
    bool caller = b->plan->o->chain_order == PROFILE_CALLER;
    struct found found = {.known = true, .parent = PROFILE_NONE, .end = node};
    uint32_t parent = PROFILE_NONE;
    for (uint32_t at = node; b->nodes.items[at].parent != PROFILE_NONE; at = b->nodes.items[at].parent) {
        uint32_t frame = b->nodes.items[at].frame;
        if (s->parents && (caller || parent == PROFILE_NONE) && matches(b, &s->is_parent, &s->parent, frame))
            parent = frame;
        else if (s->ignores && matches(b, &s->is_ignored, &s->ignored, frame))
            found.end = at;
    }
    const char *name = parent == PROFILE_NONE ? NULL : name_of(b, parent);
    if (name) {
        found.parent = strpool_add(&b->texts, name, strlen(name));
        b->failed |= found.parent == STRPOOL_NONE;
    }
    return found;
}

bool profile_search_chain(struct profile_builder *b, struct profile_taken *x, uint32_t *frame) {
    struct profile_search *s = b->search;
    if (s->klass == PROFILE_NONE) {
        uint64_t values[PROFILE_CLASS_MAX] = {0};
        memset(values + 1, 0xff, sizeof values - sizeof *values);
        s->klass = profile_class_add(b, values);
    }
    uint32_t node =
        s->klass == PROFILE_NONE ? PROFILE_NONE : profile_chain_node(b, s->klass, x->s, x->cpumode, x->when);
    if (node == PROFILE_NONE)
        return false;
    while (s->by_node.count <= node)
        if (!vec_push(&s->by_node))
            return false;
    if (!s->by_node.items[node].known)
        s->by_node.items[node] = search(b, node);
    struct found found = s->by_node.items[node];
    x->parent = found.parent;
    x->path = found.end;
    if (found.end != node)
        *frame = b->nodes.items[found.end].frame;
    return true;
}

uint32_t profile_search_node(struct profile_builder *b, uint32_t klass, uint32_t path) {
    vec_clear(&b->path);
    for (uint32_t at = path; b->nodes.items[at].parent != PROFILE_NONE; at = b->nodes.items[at].parent) {
        uint32_t *frame = vec_push(&b->path);
        if (!frame)
            return PROFILE_NONE;
        *frame = b->nodes.items[at].frame;
    }
    uint32_t node = profile_chain_root(b, klass);
    while (b->path.count && node != PROFILE_NONE)
        node = profile_chain_step(b, node, b->path.items[--b->path.count]);
    return node;
}
