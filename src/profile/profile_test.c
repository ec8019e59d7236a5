/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made up in memory go through model, symbols and profile; results are compared with a count by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/profile_test_session.h"
#include "tests/support/fail_alloc.h"

enum { SAMPLES = 600 };

/* Returns the text of a key of an entry, in a static buffer. */
static const char *text_of(const struct session *s, const struct profile_entry *entry,
                           enum profile_column_id id) {
    static char text[64];
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    for (size_t i = 0; i < s->columns.out.count; i++)
        if (s->columns.out.items[i].key->id == id)
            profile_text(s->profile, profile_event(s->profile, 0), entry, &s->columns.out.items[i], &o);
    strncpy(text, out_text(&o), sizeof text - 1);
    out_fini(&o);
    return text;
}

static struct profile_entry entry_at(const struct session *s, uint32_t i) {
    return profile_entry_at(s->profile, profile_event(s->profile, 0), i);
}

static struct profile_entry find(const struct session *s, const char *comm, const char *symbol) {
    const struct profile_event *e = profile_event(s->profile, 0);
    for (uint32_t i = 0; i < e->entry_count; i++) {
        struct profile_entry entry = entry_at(s, i);
        if (!strcmp(text_of(s, &entry, PROFILE_COMM), comm) &&
            !strcmp(text_of(s, &entry, PROFILE_SYMBOL) + 4, symbol))
            return entry;
    }
    fail_msg("no entry %s %s", comm, symbol);
    return (struct profile_entry){0};
}

/* ---- a profile that one can count on one's fingers ---- */

static void entries_are_summed_and_sorted(void **state) {
    (void)state;
    struct session s;
    session_start(&s);
    put_sample(&s, &(struct test_sample){7, 10, 5, 2, {0, 1}});
    put_sample(&s, &(struct test_sample){7, 30, 6, 2, {1, 2}});
    put_sample(&s, &(struct test_sample){8, 10, 7, 1, {0}});
    put_sample(&s, &(struct test_sample){7, 5, 8, 1, {0}});
    session_run(&s, (struct profile_options){0}, (struct profile_column_options){0});
    const struct profile_event *e = profile_event(s.profile, 0);
    assert_int_equal(e->entry_count, 3);
    assert_int_equal(e->total.period, 55);
    const char *const symbols[] = {"[k] b", "[k] a", "[k] a"}, *const comms[] = {"seven", "seven", "eight"};
    const uint64_t periods[] = {30, 15, 10}, samples[] = {1, 2, 1};
    for (unsigned i = 0; i < 3; i++) {
        struct profile_entry entry = entry_at(&s, i);
        assert_string_equal(text_of(&s, &entry, PROFILE_SYMBOL), symbols[i]);
        assert_string_equal(text_of(&s, &entry, PROFILE_COMM), comms[i]);
        assert_int_equal(entry.self->period, periods[i]);
        assert_int_equal(entry.self->samples, samples[i]);
    }
    session_end(&s);
}

/* Recursion counts once; the sample's own row is not its caller. */
static void callers_get_each_sample_once(void **state) {
    (void)state;
    struct session s;
    session_start(&s);
    put_sample(&s, &(struct test_sample){7, 10, 5, 5, {0, 1, 0, 1, 2}});
    put_sample(&s, &(struct test_sample){7, 3, 6, 2, {1, 2}});
    session_run(&s,
                (struct profile_options){
                    .children = true, .chain_mode = PROFILE_CHAIN_GRAPH, .chain_order = PROFILE_CALLER},
                (struct profile_column_options){.children = true});
    struct profile_entry a = find(&s, "seven", "a"), b = find(&s, "seven", "b"), c = find(&s, "seven", "c");
    assert_int_equal(a.self->period, 10);
    assert_int_equal(a.children->period, 10);
    assert_int_equal(b.self->period, 3);
    assert_int_equal(b.children->period, 13);
    assert_int_equal(c.self->period, 0);
    assert_int_equal(c.children->period, 13);
    /* c stands above b, both with 13: callers first. */
    assert_int_equal(c.key, entry_at(&s, 0).key);

    /* Below b: itself as the end of one chain (from c down), and b > a > b > a of the other. */
    struct profile_graph g = {{0}};
    struct err err = ERR_INIT;
    assert_true(profile_graph_build(s.profile, profile_event(s.profile, 0), &b, &g, &err));
    assert_int_equal(g.nodes.items[0].count, 2);
    assert_int_equal(g.nodes.items[0].below_period, 13);
    const struct profile_node *first = &g.nodes.items[g.order.items[g.nodes.items[0].first]];
    assert_int_equal(first->period, 10);
    assert_int_equal(first->frame_count, 4);
    profile_graph_fini(&g);
    session_end(&s);
}

/* Equal samples go to one stack sample at once, but not those of another thread, or when other code is at
 * their addresses. Batches have some of each, and there is more than one. */
static void samples_that_are_alike_are_of_their_time(void **state) {
    enum { ALIKE = 600 };
    (void)state;
    for (unsigned chains = 0; chains < 2; chains++) {
        struct session s;
        session_start(&s);
        put_record(&s, rec_ksymbol(address_in(0, 0), FUNCTION_BYTES, 1, PERFDATA_KSYMBOL_UNREGISTER, "a"),
                   1000);
        put_record(&s, rec_ksymbol(address_in(0, 0), FUNCTION_BYTES, 1, 0, "later"), 1000);
        uint64_t early = 0, late = 0, other = 0;
        for (unsigned i = 0; i < ALIKE; i++) {
            uint64_t *sum = i % 5 == 1 ? &late : i % 7 == 2 ? &other : &early;
            put_sample(&s, &(struct test_sample){
                               sum == &other ? 8 : 7, i + 1, sum == &late ? 1500 : 500, 2, {0, 1}});
            *sum += i + 1;
        }
        session_run(&s, (struct profile_options){.children = chains},
                    (struct profile_column_options){.children = chains});
        assert_int_equal(find(&s, "seven", "a").self->period, early);
        assert_int_equal(find(&s, "seven", "later").self->period, late);
        assert_int_equal(find(&s, "eight", "a").self->period, other);
        if (chains)
            assert_int_equal(find(&s, "seven", "b").children->period, early + late);
        session_end(&s);
    }
}

/* A jump to a null pointer is at address 0, in whichever command. */
static void address_zero_tells_no_command(void **state) {
    (void)state;
    for (unsigned chains = 0; chains < 2; chains++) {
        struct session s;
        session_start(&s);
        for (unsigned i = 0; i < 200; i++)
            put_sample(&s, &(struct test_sample){7 + i % 2, i % 2 ? 10 : 1, 500 + i, 1, {AT_ZERO}});
        session_run(&s, (struct profile_options){.children = chains},
                    (struct profile_column_options){.children = chains});
        assert_int_equal(profile_event(s.profile, 0)->entry_count, 2);
        assert_int_equal(find(&s, "seven", "0000000000000000").self->period, 100);
        assert_int_equal(find(&s, "eight", "0000000000000000").self->period, 1000);
        session_end(&s);
    }
}

/* ---- many samples at random, against a count by hand ---- */

static struct test_sample samples[SAMPLES];

static void make_random(struct session *s) {
    uint64_t random = 1;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct test_sample *x = &samples[i];
        random = hash_u64(random);
        *x = (struct test_sample){7 + (random & 1),
                                  1 + (random >> 8) % 100,
                                  100 + (random >> 20) % 1000,
                                  1 + (unsigned)((random >> 32) % DEPTH),
                                  {0}};
        for (unsigned d = 0; d < x->depth; d++) {
            random = hash_u64(random);
            x->chain[d] = (unsigned)(random % (FUNCTIONS + 1));
        }
        put_sample(s, x);
    }
}

static uint64_t count(unsigned function, uint32_t tid, bool callers) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        bool in = samples[i].chain[0] == function;
        for (unsigned d = 0; callers && d < samples[i].depth; d++)
            in |= samples[i].chain[d] == function;
        sum += samples[i].tid == tid && in ? samples[i].period : 0;
    }
    return sum;
}

/* Checks that what is below each node is the sum of its children; limits are off. */
static void check_graph(const struct session *s, const struct profile_entry *entry, uint64_t period) {
    struct profile_graph g = {{0}};
    struct err err = ERR_INIT;
    assert_true(profile_graph_build(s->profile, profile_event(s->profile, 0), entry, &g, &err));
    assert_int_equal(g.nodes.items[0].below_period, period);
    for (size_t i = 0; i < g.nodes.count; i++) {
        const struct profile_node *n = &g.nodes.items[i];
        uint64_t below = 0, last = UINT64_MAX;
        for (uint32_t k = 0; k < n->count; k++) {
            const struct profile_node *child = &g.nodes.items[g.order.items[n->first + k]];
            uint64_t sum = child->period + child->below_period;
            assert_true(sum <= last);
            last = sum;
            below += sum;
        }
        assert_int_equal(below, n->below_period);
        assert_true(i == 0 || n->frame_count > 0);
    }
    profile_graph_fini(&g);
}

static void check_random(bool children, enum profile_chain_order order) {
    struct session s;
    session_start(&s);
    make_random(&s);
    session_run(&s,
                (struct profile_options){
                    .children = children, .chain_mode = PROFILE_CHAIN_GRAPH, .chain_order = order},
                (struct profile_column_options){.children = children});
    const struct profile_event *e = profile_event(s.profile, 0);
    uint64_t self = 0, all = 0;
    for (unsigned i = 0; i < SAMPLES; i++)
        all += samples[i].period;
    for (uint32_t i = 0; i < e->entry_count; i++)
        self += entry_at(&s, i).self->period;
    assert_int_equal(self, all);
    assert_int_equal(e->total.period, all);
    assert_int_equal(e->read, SAMPLES);
    assert_int_equal(e->read, e->total.samples + e->filtered + e->dropped);
    uint64_t frames = 0, named = 0;
    for (unsigned i = 0; i < SAMPLES; i++)
        for (unsigned d = 0; d < samples[i].depth; d++, frames++)
            named += samples[i].chain[d] < FUNCTIONS;
    assert_int_equal(e->grades[GRADE_EXACT], named); /* the records name them */
    assert_int_equal(e->grades[GRADE_UNKNOWN], frames - named);
    assert_int_equal(e->grades[GRADE_INFERRED] + e->grades[GRADE_STALE], 0);
    struct profile_quality q = {0};
    assert_true(profile_quality_find(s.profile, &q, NULL));
    uint64_t by_image = 0, no_callers = 0;
    for (size_t i = 0; i < q.images.count; i++)
        if (q.images.items[i].image == MODEL_NONE)
            assert_int_equal(q.images.items[i].frames[GRADE_UNKNOWN], frames - named);
        else
            by_image += q.images.items[i].frames[GRADE_EXACT];
    for (unsigned i = 0; i < SAMPLES; i++)
        no_callers += samples[i].chain[samples[i].depth - 1] == FUNCTIONS;
    assert_int_equal(by_image, named);
    assert_int_equal(q.samples, SAMPLES);
    assert_int_equal(q.chains, SAMPLES);
    assert_int_equal(q.lost_callers, no_callers);
    assert_int_equal(q.truncated, 0);
    profile_quality_fini(&q);
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        const char name[] = {(char)('a' + f), '\0'};
        for (uint32_t tid = 7; tid <= 8; tid++) {
            struct profile_entry entry = find(&s, tid == 7 ? "seven" : "eight", name);
            assert_int_equal(entry.self->period, count(f, tid, false));
            if (children)
                assert_int_equal(entry.children->period, count(f, tid, true));
            check_graph(&s, &entry, count(f, tid, children));
        }
    }
    session_end(&s);
}

static void nothing_is_lost_or_counted_twice(void **state) {
    (void)state;
    check_random(false, PROFILE_CALLEE);
    check_random(false, PROFILE_CALLER);
    check_random(true, PROFILE_CALLER);
    check_random(true, PROFILE_CALLEE);
}

/* The outermost frame of a callchain of the kernel's maximum length is not proved. */
static void cut_chains_end_in_a_guess(void **state) {
    (void)state;
    struct session s;
    struct profile_quality q = {0};
    session_start(&s);
    s.events.list.items[0].attr.sample_max_stack = 3;
    put_sample(&s, &(struct test_sample){7, 10, 5, 3, {0, 1, 2}});
    put_sample(&s, &(struct test_sample){7, 10, 6, 2, {0, 1}});
    put_sample(&s, &(struct test_sample){7, 10, 7, 3, {0, 1, FUNCTIONS}}); /* unknown anyway */
    session_run(&s, (struct profile_options){.chain_mode = PROFILE_CHAIN_GRAPH},
                (struct profile_column_options){0});
    const struct profile_event *e = profile_event(s.profile, 0);
    assert_int_equal(e->grades[GRADE_EXACT], 6);
    assert_int_equal(e->grades[GRADE_INFERRED], 1);
    assert_int_equal(e->grades[GRADE_UNKNOWN], 1);
    assert_true(profile_quality_find(s.profile, &q, NULL));
    uint64_t sums[GRADE_COUNT] = {0};
    for (size_t i = 0; i < q.images.count; i++)
        for (unsigned g = 0; g < GRADE_COUNT; g++)
            sums[g] += q.images.items[i].frames[g];
    assert_memory_equal(sums, e->grades, sizeof sums);
    assert_int_equal(q.truncated, 2);
    profile_quality_fini(&q);
    session_end(&s);
}

/* ---- filters ---- */

static enum profile_verdict only_early(void *ctx, const struct perfdata_sample *s, uint32_t event,
                                       struct model_when when) {
    (void)ctx, (void)s, (void)event;
    return when.time_ns < 6 ? PROFILE_KEEP : when.time_ns < 7 ? PROFILE_FILTERED : PROFILE_DROP;
}

static void what_filters_take_is_counted(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    session_start(&s);
    for (uint64_t t = 5; t < 9; t++)
        put_sample(&s, &(struct test_sample){7, 10, t, 1, {0}});
    session_run(&s, (struct profile_options){0}, (struct profile_column_options){0});
    profile_free(s.profile);
    stream_rewind(s.stream);
    s.input.keep = only_early;
    s.profile = profile_collect(&s.input, &s.options, &err);
    const struct profile_event *e = profile_event(s.profile, 0);
    assert_int_equal(e->read, 4);
    assert_int_equal(e->filtered, 1);
    assert_int_equal(e->dropped, 2);
    assert_int_equal(e->total.samples, 1);
    assert_int_equal(entry_at(&s, 0).self->period, 10);
    session_end(&s);
}

/* ---- memory ---- */

/* Makes a profile and the graph of its first row; returns whether both could be made. */
static bool collect_and_draw(struct session *s) {
    struct err err = ERR_INIT;
    struct profile_graph g = {{0}};
    stream_rewind(s->stream);
    struct profile *p = profile_collect(&s->input, &s->options, &err);
    struct profile_entry entry = p ? profile_entry_at(p, profile_event(p, 0), 0) : (struct profile_entry){0};
    bool ok = p && (!entry.has_graph || profile_graph_build(p, profile_event(p, 0), &entry, &g, &err));
    assert_true(ok || err.code != ERR_NONE);
    profile_graph_fini(&g);
    profile_free(p);
    return ok;
}

static void check_faults(struct profile_options options, struct profile_column_options columns) {
    struct session s;
    bool ok = false;
    session_start(&s);
    for (uint32_t i = 0; i < 40; i++)
        put_sample(&s, &(struct test_sample){7 + i % 3, 10, 5 + i, 1 + i % DEPTH, {i % 6, 2, 3, 1, 6, 0, 4}});
    session_run(&s, options, columns);
    FAIL_EACH_ALLOC(ok = collect_and_draw(&s));
    assert_true(ok);
    s.input.pool = pool_new(2); /* no thread waits for one that failed */
    FAIL_EACH_ALLOC(ok = collect_and_draw(&s));
    assert_true(ok);
    pool_free(s.input.pool);
    session_end(&s);
}

static void without_memory_there_is_an_error(void **state) {
    (void)state;
    static const char *const comms[] = {"seven", "eight", NULL};
    check_faults((struct profile_options){0},
                 (struct profile_column_options){.sort = "comm_nodigit,sym,cpu"});
    check_faults((struct profile_options){.comms = comms, .hierarchy = true},
                 (struct profile_column_options){.sort = "comm,srcline"});
    check_faults((struct profile_options){.children = true, .chain_mode = PROFILE_CHAIN_GRAPH},
                 (struct profile_column_options){.children = true});
    check_faults((struct profile_options){.children = true,
                                          .chain_mode = PROFILE_CHAIN_FOLDED,
                                          .chain_order = PROFILE_CALLER,
                                          .chain_key = PROFILE_BY_ADDRESS,
                                          .parent = "^c"},
                 (struct profile_column_options){.children = true, .sort = "parent,sym"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_summed_and_sorted),
        cmocka_unit_test(callers_get_each_sample_once),
        cmocka_unit_test(samples_that_are_alike_are_of_their_time),
        cmocka_unit_test(address_zero_tells_no_command),
        cmocka_unit_test(nothing_is_lost_or_counted_twice),
        cmocka_unit_test(cut_chains_end_in_a_guess),
        cmocka_unit_test(what_filters_take_is_counted),
        cmocka_unit_test(without_memory_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
