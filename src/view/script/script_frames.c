/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_frames.h"

#include "base/threads/prefetch.h"

void script_frames_fini(struct script_frames *f) {
    vec_fini(&f->asks);
    vec_fini(&f->runs);
}

static void find(struct script_names *n, const struct script_run *run, const struct model_state *state,
                 bool exact, uint64_t ip, struct script_ask *ask) {
    enum model_space space = model_space_of(run->segment.cpumode);
    ask->hit = MODEL_NOTHING;
    if (!(run->fields & SCRIPT_PLACE_FIELDS) && !run->wants_place)
        return;
    if (exact)
        resolve_locate(&n->locator, state, space, run->in_kernel, ip, &ask->hit);
    else
        resolve_locate_return(&n->locator, state, space, run->in_kernel, ip, &ask->hit);
}

/* Whether a run's i-th address is that of an instruction, not a return address, judged without the frames
 * inside of it. */
static bool is_exact(const struct script_run *run, uint64_t i) {
    return i == 0 || run->segment.kind == RESOLVE_SEGMENT_BRANCHES;
}

static const struct model_state *state_of(struct script_names *n, const struct script_run *run) {
    return resolve_locator_state(&n->locator, model_space_of(run->segment.cpumode), run->pid, run->when);
}

static uint64_t fields_of(const struct script_names *n, const struct script_run *run, uint64_t i,
                          const struct script_ask *ask) {
    return script_run_fields(run, i) |
           (!n->locator.placed && resolve_locator_is_late(&n->locator, &ask->hit) ? SCRIPT_DOUBT : 0);
}

static void make_key(struct script_names *n, const struct script_run *run, uint64_t i, uint64_t ip,
                     struct script_ask *ask) {
    ask->kept = NULL;
    if (!script_names_key(n, fields_of(n, run, i, ask), &ask->hit, ip, &ask->key))
        ask->key.place = SCRIPT_PLACE_NONE;
    script_texts_prefetch(&n->texts, ask->key);
}

/* What is the same for many addresses of a run. */
struct asking {
    const struct model_state *state;
    const struct resolve_place_piece *piece; /* contains the last address; NULL: none */
    enum model_space space;
    struct script_styles styles;
};

/* Whether a text depends only on the place's image and offset, not on the address itself. */
static bool has_pieces(struct script_names *n, const struct script_run *run, struct script_styles *styles) {
    return n->locator.placed && run->fields & SCRIPT_PLACE_FIELDS && !(run->fields & SCRIPT_NUMBERED) &&
           script_names_styles(n, run->fields, styles);
}

/* Does what find and make_key do, for an address that is not at the start of a piece, so that the byte before
 * a return address is in the same mapping or hole. False: it is at the start, or the piece alone is not
 * enough. */
static inline bool ask_piece(struct script_names *n, const struct script_run *run, struct asking *a,
                             uint64_t ip, bool exact, struct script_ask *ask) {
    if (!a->piece || ip - a->piece->start >= a->piece->size)
        a->piece = resolve_places_piece(&n->locator.places, a->state, ip);
    const struct resolve_place_piece *piece = a->piece;
    const bool mapped = piece->mapping != MODEL_NONE, back = mapped && !exact;
    if ((!exact && ip == piece->start) || !script_names_has_room(piece->image) ||
        (!mapped && run->in_kernel && resolve_places_in_exec(&n->locator.places, a->state)))
        return false;
    const uint64_t offset = mapped ? ip + piece->slide : 0;
    ask->kept = NULL;
    ask->hit = (struct model_hit){piece->mapping, piece->image, offset, a->space, back};
    ask->key = script_names_key_of(back ? a->styles.caller : a->styles.exact, piece->image,
                                   piece->image != MODEL_NONE ? offset : 0);
    script_texts_prefetch(&n->texts, ask->key);
    return true;
}

bool script_frames_ask(struct script_frames *f, struct script_names *n, const struct script_run *run) {
    size_t count = script_run_is_cookie(run) ? 0 : (size_t)run->segment.count;
    if (!vec_reserve(&f->asks, f->asks.count + count) || !vec_reserve(&f->runs, f->runs.count + 1))
        return false;
    struct script_ask *ask = count ? &f->asks.items[f->asks.count] : NULL;
    struct asking a = {.space = model_space_of(run->segment.cpumode)};
    a.state = resolve_locator_state(&n->locator, a.space, run->pid, run->when);
    /* The outermost frame of a cut chain has other fields. */
    size_t plain = has_pieces(n, run, &a.styles) ? count - (count && run->segment.ends_early) : 0;
    for (size_t i = 0; i < count; i++, ask++) {
        uint64_t ip = resolve_segment_at(&run->segment, i);
        bool exact = is_exact(run, i);
        if (__builtin_expect(i < plain && ask_piece(n, run, &a, ip, exact, ask), 1))
            continue;
        a.piece = NULL;
        find(n, run, a.state, exact, ip, ask);
        make_key(n, run, i, ip, ask);
    }
    f->asks.count += count;
    f->runs.items[f->runs.count++] = *run;
    return true;
}

/* Makes the text. 0: it cannot be kept. *entry: whether the next frame has an exact address. */
static script_text_ref make_text(struct script_names *n, uint64_t fields, uint64_t ip, struct script_ask *ask,
                                 bool *entry) {
    if (ask->key.place == SCRIPT_PLACE_NONE) {
        *entry = script_names_settled_entry(n, fields, ask->hit);
        return 0;
    }
    *entry = script_names_text(n, fields, &ask->hit, ip).entry;
    return script_names_find(n, ask->key, ip);
}

static void answer_run(struct script_names *n, const struct script_run *run, struct script_ask *ask) {
    bool interrupted = false;
    for (uint64_t i = 0; i < run->segment.count; i++, ask++) {
        if (__builtin_expect(interrupted && !is_exact(run, i),
                             0)) { /* rare: the frame outside of a signal handler's or the like */
            uint64_t ip = resolve_segment_at(&run->segment, i);
            find(n, run, state_of(n, run), true, ip, ask);
            make_key(n, run, i, ip, ask);
        }
        script_text_ref ref = ask->key.place != SCRIPT_PLACE_NONE
                                  ? script_names_find(n, ask->key, resolve_segment_at(&run->segment, i))
                                  : 0;
        interrupted = ref & SCRIPT_TEXT_ENTRY;
        if (__builtin_expect(!ref, 0) &&
            !(ref = make_text(n, fields_of(n, run, i, ask), resolve_segment_at(&run->segment, i), ask,
                              &interrupted)))
            continue;
        ask->kept = script_texts_at(&n->texts, ref);
        prefetch(ask->kept);
        prefetch((const char *)ask->kept + SCRIPT_TEXT_SLACK / 2);
    }
}

void script_frames_answer(struct script_frames *f, struct script_names *n) {
    struct script_ask *ask = f->asks.items;
    for (size_t r = 0; r < f->runs.count; r++) {
        const struct script_run *run = &f->runs.items[r];
        if (script_run_is_cookie(run))
            continue;
        answer_run(n, run, ask);
        ask += run->segment.count;
    }
}
