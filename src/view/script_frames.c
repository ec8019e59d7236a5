/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_frames.h"

void script_frames_fini(struct script_frames *f) {
    vec_fini(&f->asks);
    vec_fini(&f->runs);
}

static void find(struct script_names *n, const struct script_run *run, const struct model_state *state,
                 bool exact, uint64_t ip, struct script_ask *ask) {
    enum model_space space = model_space_of(run->cpumode);
    ask->hit = MODEL_NOTHING;
    if (!(run->fields & SCRIPT_PLACE_FIELDS))
        return;
    if (exact)
        script_names_find(n, state, space, run->in_kernel, ip, &ask->hit);
    else
        script_names_find_return(n, state, space, run->in_kernel, ip, &ask->hit);
}

static const struct model_state *state_of(struct script_names *n, const struct script_run *run) {
    return script_names_state(n, model_space_of(run->cpumode), run->pid, run->when);
}

static uint64_t fields_of(const struct script_names *n, const struct script_run *run, uint64_t i,
                          const struct script_ask *ask) {
    return script_run_fields(run, i) | (!n->placed && script_names_is_late(n, &ask->hit) ? SCRIPT_DOUBT : 0);
}

static void make_key(struct script_names *n, const struct script_run *run, uint64_t i, uint64_t ip,
                     struct script_ask *ask) {
    ask->kept = NULL;
    if (!script_names_key(n, fields_of(n, run, i, ask), &ask->hit, ip, &ask->key))
        ask->key.place = SCRIPT_PLACE_NONE;
    script_texts_prefetch(&n->texts, ask->key);
}

/* A return address that lies where the one before it lies, in the midst of the same mapping or hole, differs
 * from that one in nothing but the offset. */
static bool ask_near(const struct script_names *n, const struct resolve_place_piece *piece, uint64_t ip,
                     const struct script_ask *before, struct script_ask *ask) {
    if (ip <= piece->start || ip > piece->last || before->key.place == SCRIPT_PLACE_NONE)
        return false;
    *ask = *before;
    if (piece->mapping != MODEL_NONE)
        ask->hit.offset = ask->key.offset = ip + piece->slide;
    script_texts_prefetch(&n->texts, ask->key);
    return true;
}

/* Whether that can be: the offset is all that an address adds to the text, and nothing else is asked. */
static bool has_pieces(struct script_names *n, const struct script_run *run,
                       const struct model_state *state) {
    return n->placed && run->fields & SCRIPT_PLACE_FIELDS &&
           !(run->fields & (SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE))) && !run->cut &&
           !(run->in_kernel && resolve_places_in_exec(&n->places, state));
}

bool script_frames_ask(struct script_frames *f, struct script_names *n, const struct script_run *run) {
    size_t count = run->cookie ? 0 : (size_t)(run->to - run->from);
    if (!vec_reserve(&f->asks, f->asks.count + count) || !vec_reserve(&f->runs, f->runs.count + 1))
        return false;
    struct script_ask *asks = count ? &f->asks.items[f->asks.count] : NULL;
    const struct model_state *state = state_of(n, run);
    const struct resolve_place_piece *piece = NULL;
    bool pieces = has_pieces(n, run, state);
    for (size_t i = 0; i < count; i++) {
        uint64_t ip = perfdata_u64_at(&run->chain, run->from + i);
        if (piece && ask_near(n, piece, ip, &asks[i - 1], &asks[i]))
            continue;
        find(n, run, state, i == 0, ip, &asks[i]);
        make_key(n, run, run->from + i, ip, &asks[i]);
        piece = pieces && i ? resolve_places_piece(&n->places, state, ip) : NULL;
        if (piece && ip == piece->start) /* the byte before it may be another's */
            piece = NULL;
    }
    f->asks.count += count;
    f->runs.items[f->runs.count++] = *run;
    return true;
}

/* The text, and whether the next frame holds an exact address. What something was inlined at has no text that
 * lasts. */
static bool answer(struct script_names *n, uint64_t fields, uint64_t ip, struct script_ask *ask) {
    bool keeps = ask->key.place != SCRIPT_PLACE_NONE && !n->inlines;
    script_text_ref ref = keeps ? script_texts_find(&n->texts, ask->key) : 0;
    if (__builtin_expect(!ref, 0)) {
        bool entry = keeps ? script_names_text(n, fields, &ask->hit, ip).entry
                           : script_names_settled_entry(n, fields, ask->hit);
        ref = keeps ? script_texts_find(&n->texts, ask->key) : 0;
        if (!ref)
            return entry;
    }
    ask->kept = script_texts_at(&n->texts, ref);
    __builtin_prefetch(ask->kept);
    __builtin_prefetch((const char *)ask->kept + SCRIPT_TEXT_SLACK / 2);
    return ref & SCRIPT_TEXT_ENTRY;
}

void script_frames_answer(struct script_frames *f, struct script_names *n) {
    struct script_ask *ask = f->asks.items;
    for (size_t r = 0; r < f->runs.count; r++) {
        const struct script_run *run = &f->runs.items[r];
        bool exact = true, asked_exact = true;
        for (uint64_t i = run->from; i < run->to && !run->cookie; i++, ask++) {
            uint64_t ip = perfdata_u64_at(&run->chain, i);
            if (__builtin_expect(exact != asked_exact, 0)) { /* rare: code outside of an exception's */
                find(n, run, state_of(n, run), exact, ip, ask);
                make_key(n, run, i, ip, ask);
            }
            exact = answer(n, fields_of(n, run, i, ask), ip, ask);
            asked_exact = false;
        }
    }
}
