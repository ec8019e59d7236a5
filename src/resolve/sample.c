/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/sample.h"

#include "resolve/callers.h"

void resolve_samples_fini(struct resolve_samples *r) {
    resolve_chain_fini(&r->chain);
    vec_fini(&r->frames);
}

/* ---- where frames lie ---- */

static bool locate(struct resolve_samples *r, struct resolve_sample_frame *f) {
    enum model_space space = model_space_of(f->cpumode);
    const struct model_state *state = resolve_locator_state(r->locator, space, r->pid, r->when);
    return f->kind == RESOLVE_AT_RETURN
               ? resolve_locate_return(r->locator, state, space, r->in_kernel, f->address, &f->hit)
               : resolve_locate(r->locator, state, space, r->in_kernel, f->address, &f->hit);
}

static bool add_frame(struct resolve_samples *r, unsigned cpumode, enum resolve_address_kind kind,
                      uint64_t address) {
    struct resolve_sample_frame *f = vec_push(&r->frames);
    if (!f)
        return false;
    f->address = address;
    f->cpumode = (uint8_t)cpumode;
    f->kind = (uint8_t)kind;
    f->hit = MODEL_NOTHING;
    if (kind != RESOLVE_AT_NOTHING)
        locate(r, f);
    return true;
}

static enum resolve_address_kind kind_of(const struct resolve_segment *s, bool first) {
    if (s->kind == RESOLVE_SEGMENT_COOKIE)
        return RESOLVE_AT_NOTHING;
    if (first && !s->inner)
        return RESOLVE_AT_OWN;
    return s->kind == RESOLVE_SEGMENT_BRANCHES ? RESOLVE_AT_CALL : RESOLVE_AT_RETURN;
}

static bool add_segment(struct resolve_samples *r, const struct resolve_segment *s) {
    for (uint64_t i = 0; i < s->count; i++) {
        if (!add_frame(r, s->cpumode, kind_of(s, i == 0), resolve_segment_at(s, i)))
            return false;
        r->frames.items[r->frames.count - 1].inner = i && s->kind == RESOLVE_SEGMENT_CALLS;
    }
    r->frames.items[r->frames.count - 1].ends_early = s->ends_early;
    return true;
}

static void begin(struct resolve_samples *r, uint32_t pid, struct model_when when, bool in_kernel) {
    vec_clear(&r->frames);
    r->pid = pid;
    r->when = when;
    r->in_kernel = in_kernel;
}

bool resolve_sample_read(struct resolve_samples *r, const struct resolve_sample_at *at) {
    begin(r, at->s->pid, at->when, at->cpumode == PERFDATA_MISC_KERNEL);
    if (!resolve_chain_read(&r->chain, at->s, at->attr, at->cpumode, at->when))
        return false;
    for (size_t i = 0; i < r->chain.segments.count; i++)
        if (!add_segment(r, &r->chain.segments.items[i]))
            return false;
    return true;
}

bool resolve_sample_read_all(struct resolve_samples *r, const struct resolve_sample_at *at) {
    if (!resolve_sample_read(r, at))
        return false;
    bool any = false;
    for (size_t i = 0; i < r->frames.count; i++)
        any |= r->frames.items[i].kind != RESOLVE_AT_NOTHING;
    return any || !(at->s->have & PERFDATA_SAMPLE_IP) || add_frame(r, at->cpumode, RESOLVE_AT_OWN, at->s->ip);
}

bool resolve_sample_images(struct resolve_samples *r, const struct resolve_sample_at *at,
                           void (*see)(void *ctx, uint32_t image), void *ctx) {
    struct model_hit own;
    if (at->s->have & PERFDATA_SAMPLE_IP &&
        model_find(r->locator->model, at->cpumode, at->s->pid, at->when, at->s->ip, &own) &&
        own.image != MODEL_NONE)
        see(ctx, own.image);
    if (!resolve_sample_read(r, at))
        return false;
    for (size_t i = 0; i < r->frames.count; i++)
        if (r->frames.items[i].hit.image != MODEL_NONE)
            see(ctx, r->frames.items[i].hit.image);
    return true;
}

bool resolve_sample_read_address(struct resolve_samples *r, unsigned cpumode, uint32_t pid,
                                 struct model_when when, uint64_t address) {
    begin(r, pid, when, false);
    return add_frame(r, cpumode, RESOLVE_AT_OWN, address);
}

/* ---- what is there ---- */

static bool is_entry(const struct resolve_samples *r, const struct resolve_sample_frame *f) {
    return resolve_names_is_entry(r->names, f->symbol, f->hit.space);
}

/* Finds a frame's symbol; the frames inside of it must be named. */
static void name(struct resolve_samples *r, struct resolve_sample_frame *f) {
    if (f->inner && f->kind == RESOLVE_AT_RETURN && is_entry(r, f - 1)) {
        f->kind = RESOLVE_AT_INTERRUPTED;
        locate(r, f);
    }
    f->symbol = r->names ? resolve_names_find_caller(r->names, &f->hit)
                         : (struct resolve_symbol){f->hit.image, SYMBOL_NONE};
    f->named = true;
}

struct resolve_symbol resolve_sample_symbol(struct resolve_samples *r, struct resolve_sample_frame *f) {
    struct resolve_sample_frame *from = f;
    while (!from->named && from->inner)
        from--;
    for (; from <= f; from++)
        if (!from->named)
            name(r, from);
    return f->symbol;
}

const char *resolve_sample_name(struct resolve_samples *r, struct resolve_sample_frame *f, uint64_t *offset) {
    struct resolve_symbol s = resolve_sample_symbol(r, f);
    if (s.index == SYMBOL_NONE)
        return NULL;
    if (offset)
        *offset = f->hit.offset - symbol_table_start(resolve_names_table(r->names, s.image), s.index);
    return resolve_names_text(r->names, s);
}

/* Whether the name of a frame is less than exact in this sample. */
static bool is_doubted(const struct resolve_samples *r, const struct resolve_sample_frame *f) {
    return f->ends_early || resolve_locator_is_late(r->locator, &f->hit);
}

enum grade resolve_sample_grade(struct resolve_samples *r, struct resolve_sample_frame *f) {
    struct resolve_symbol s = resolve_sample_symbol(r, f);
    enum grade grade = r->names ? resolve_grade(r->names, s) : GRADE_UNKNOWN;
    return is_doubted(r, f) ? resolve_grade_doubted(grade) : grade;
}

struct resolve_provenance resolve_sample_evidence(struct resolve_samples *r, struct resolve_sample_frame *f) {
    struct resolve_provenance p =
        resolve_provenance_of(r->names, f->hit.mapping, resolve_sample_symbol(r, f));
    if (f->ends_early)
        resolve_provenance_cut(&p.symbol);
    return p;
}

bool resolve_sample_line(struct resolve_samples *r, struct resolve_sample_frame *f, struct object_line *out) {
    resolve_sample_symbol(r, f);
    return r->lines && resolve_lines_find(r->lines, f->hit.image, f->hit.offset - f->hit.back, out);
}

size_t resolve_sample_inlined(struct resolve_samples *r, struct resolve_sample_frame *f,
                              struct object_inline *out, size_t max) {
    resolve_sample_symbol(r, f);
    if (!r->lines || f->hit.image == MODEL_NONE)
        return 0;
    return resolve_lines_inlined(r->lines, f->hit.image, f->hit.offset - f->hit.back, out, max);
}
