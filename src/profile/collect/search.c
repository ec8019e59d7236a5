/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches callchains for functions: -p, -x, --ignore-callees. What is found decides where a sample counts,
 * so the search comes before that, once for each distinct chain.
 *
 *   chain    main > outer > middle > leaf              --ignore-callees middle, -p '^outer'
 *   left     main > outer > middle             the sample's own row is "middle", its parent "outer"
 */
#include <regex.h>
#include <stdlib.h>

#include "profile/profile_internal.h"

/* perf-report(1), --parent */
#define USUAL_PARENT "^sys_|^do_page_fault"

enum { NOT_ASKED, NO_MATCH, MATCH };

/* What the search found in a chain. */
struct found {
    uint32_t parent; /* text id; PROFILE_NONE: none */
    uint32_t frame;  /* the innermost one left, if callees were cut off; else PROFILE_NONE */
    struct profile_chain left;
};

struct profile_search {
    regex_t parent, ignored;
    bool parents, ignores;    /* which of the two are searched for */
    struct hash_map by_chain; /* index in found */
    VEC(struct found) found;
    profile_memo is_parent, is_ignored; /* by frame */
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
    hash_map_fini(&s->by_chain);
    vec_fini(&s->found);
    vec_fini(&s->is_parent);
    vec_fini(&s->is_ignored);
    free(s);
}

/* Whether a frame's name matches; each frame is compared once. */
static bool matches(struct profile_builder *b, profile_memo *memo, const regex_t *regex, uint32_t frame) {
    uint8_t *known = profile_memo_at(b, memo, frame);
    if (known && *known == NOT_ASKED) {
        const char *name = profile_frame_name(b, &b->frames.list.items[frame]);
        *known = name && !regexec(regex, name, 0, NULL, 0) ? MATCH : NO_MATCH;
    }
    return known && *known == MATCH;
}

/* Keeps the first `left` frames of a chain, whose frames are in b->path. False: out of memory. */
static bool cut(struct profile_builder *b, struct profile_chain chain, size_t left, struct found *found) {
    uint32_t outer;
    profile_segments_ids(&b->segments, chain.outer, &outer);
    found->left = chain;
    if (left == b->path.count)
        return true;
    found->frame = b->path.items[left - 1];
    found->left.outer = profile_segments_add(&b->segments, b->path.items, left < outer ? left : outer);
    found->left.inner = left > outer ? profile_segments_add(&b->segments, b->path.items + outer, left - outer)
                                     : PROFILE_EMPTY_SEGMENT;
    return found->left.outer != PROFILE_NO_SEGMENT && found->left.inner != PROFILE_NO_SEGMENT;
}

/* Searches from the innermost frame outward: of several parents, the first in the order of printing counts;
 * of several functions whose callees are ignored, the outermost. */
static bool search(struct profile_builder *b, struct profile_chain chain, struct found *found) {
    struct profile_search *s = b->search;
    bool caller = b->plan->o->chain_order == PROFILE_CALLER;
    uint32_t parent = PROFILE_NONE;
    *found = (struct found){.parent = PROFILE_NONE, .frame = PROFILE_NONE};
    vec_clear(&b->path); /* all frames, outermost first */
    if (!profile_path_add(b, chain.outer) || !profile_path_add(b, chain.inner))
        return false;
    size_t left = b->path.count;
    for (size_t i = b->path.count; i-- > 0;) {
        uint32_t frame = b->path.items[i];
        if (s->parents && (caller || parent == PROFILE_NONE) && matches(b, &s->is_parent, &s->parent, frame))
            parent = frame;
        else if (s->ignores && matches(b, &s->is_ignored, &s->ignored, frame))
            left = i + 1;
    }
    const char *name = parent == PROFILE_NONE ? NULL : profile_frame_name(b, &b->frames.list.items[parent]);
    if (name) {
        found->parent = strpool_add(&b->texts, name, strlen(name));
        b->failed |= found->parent == STRPOOL_NONE;
    }
    return cut(b, chain, left, found);
}

bool profile_search_chain(struct profile_builder *b, struct profile_taken *x, uint32_t *frame) {
    struct profile_search *s = b->search;
    struct profile_chain chain;
    if (!profile_chain_take(b, x, &chain, NULL))
        return false;
    uint64_t key = (uint64_t)chain.outer << 32 | chain.inner;
    uint32_t at = hash_map_get(&s->by_chain, key);
    if (at == HASH_ABSENT) {
        at = (uint32_t)s->found.count;
        struct found *made = vec_push(&s->found);
        if (!made || !search(b, chain, made) || !hash_map_set(&s->by_chain, key, at))
            return false;
    }
    const struct found *found = &s->found.items[at];
    x->parent = found->parent;
    x->chain = found->left;
    x->has_chain = true;
    if (found->frame != PROFILE_NONE)
        *frame = found->frame;
    return true;
}
