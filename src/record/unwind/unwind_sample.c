/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_sample.h"

void record_unwind_sampler_fini(struct record_unwind_sampler *x) {
    vec_fini(&x->words);
    writer_fini(&x->body);
}

/* The user's part of a callchain: it begins after word `user`, its marker (count: there is none), and has
 * `frames`. */
static struct perfdata_u64s user_part(const struct perfdata_u64s *chain, uint64_t *user) {
    uint64_t i = 0, end;
    while (i < chain->count && perfdata_u64_at(chain, i) != PERFDATA_CONTEXT_USER)
        i++;
    *user = i;
    for (end = i + 1; end < chain->count && perfdata_u64_at(chain, end) < PERFDATA_CONTEXT_MAX;)
        end++;
    return i < chain->count ? (struct perfdata_u64s){chain->data + 8 * (i + 1), end - i - 1, chain->swap}
                            : (struct perfdata_u64s){0};
}

static bool add_words(struct record_unwind_sampler *x, const struct perfdata_u64s *from, uint64_t count) {
    if (!vec_reserve(&x->words, x->words.count + count))
        return false;
    for (uint64_t i = 0; i < count; i++)
        x->words.items[x->words.count++] = perfdata_u64_at(from, i);
    return true;
}

static bool add_marker(struct record_unwind_sampler *x) {
    uint64_t *to = vec_push(&x->words);
    if (to)
        *to = PERFDATA_CONTEXT_USER;
    return to;
}

/* Puts the callers where the user's part of the callchain is to be. False: they were not found, or memory ran
 * out. */
static bool find_callers(struct record_unwind_sampler *x, const struct perfdata_sample *s, unsigned cpumode,
                         struct model_when when, const struct perfdata_u64s *kernels_own) {
    struct perfdata_u64s found = resolve_unwind_stack(x->unwind, s, cpumode, when, RECORD_UNWIND_FRAMES_MAX);
    if (found.count && resolve_unwind_was_cut(x->unwind) && kernels_own->count)
        found = resolve_unwind_go_on(x->unwind, s, cpumode, when, kernels_own, RECORD_UNWIND_FRAMES_MAX);
    bool cut = resolve_unwind_was_cut(x->unwind);
    if (!found.count || (!cut && resolve_unwind_ended(x->unwind) != RESOLVE_UNWIND_COMPLETE))
        return false; /* whoever reads the recording may know more */
    unsigned places = resolve_unwind_places(x->unwind);
    if (places & RESOLVE_UNWIND_IN_MEMFD ||
        (places && x->jits->count && hash_map_get(x->jits, s->pid) != HASH_ABSENT))
        return false; /* and does: the recording keeps tables, or the jitdump has them */
    if (!add_marker(x) || !add_words(x, &found, found.count) || (cut && !add_marker(x)))
        return false;
    x->counts.cut += cut;
    x->counts.whole += !cut;
    return true;
}

static void put_record(const struct perfdata_raw *raw, struct bytes body, struct writer *w) {
    writer_u32(w, raw->type);
    writer_u16(w, raw->misc);
    writer_u16(w, (uint16_t)(body.size + PERFDATA_HEADER_SIZE));
    writer_bytes_put(w, body);
}

void record_unwind_sample(struct record_unwind_sampler *x, const struct perfdata_event *event,
                          const struct perfdata_raw *raw, struct model_when when, bool unwind,
                          struct writer *w) {
    struct perfdata_sample s;
    uint64_t user;
    if (!perfdata_sample_decode(&event->plan, raw->body, ~0ull, &s) || !resolve_unwind_has(&s)) {
        put_record(raw, raw->body, w); /* a thread of the kernel; or nobody can read it */
        return;
    }
    struct perfdata_u64s kernels_own = user_part(&s.callchain, &user);
    vec_clear(&x->words);
    x->counts.stacks++;
    x->counts.lagging += !unwind;
    bool has_kernel = add_words(x, &s.callchain, user);
    if (has_kernel && unwind &&
        find_callers(x, &s, raw->misc & PERFDATA_MISC_CPUMODE_MASK, when, &kernels_own)) {
        s.regs_user.abi = 0;
        s.regs_user.values.count = 0;
        s.stack_user.size = 0;
    } else {
        x->counts.kept++;
        x->words.count = user < x->words.count ? user : x->words.count;
    }
    s.callchain = (struct perfdata_u64s){(const uint8_t *)x->words.items, x->words.count, false};
    writer_clear(&x->body);
    perfdata_sample_encode(&event->plan, &s, &x->body);
    bool made = has_kernel && writer_ok(&x->body) && x->body.size <= UINT16_MAX - PERFDATA_HEADER_SIZE;
    put_record(raw, made ? writer_bytes(&x->body) : raw->body, w);
}
