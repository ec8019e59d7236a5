/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/writer.h"
#include "model/model_test_records.h"
#include "resolve/callers.h"
#include "resolve/deferred.h"
#include "resolve/frames.h"

/*
 * A kernel with a list of its symbols, and a process with code of its own in memory, named by a perf map:
 *
 *   TEXT + 0     _text              CODE + 0x00  f
 *   TEXT + 0x100 handler            CODE + 0x10  g
 *   TEXT + 0x200 asm_exc_page_fault CODE + 0x30  nothing
 *   TEXT + 0x300 victim             CODE + 0x40  __restore_rt
 *   TEXT + 0x400 ret_from_fork      CODE + 0x48  nothing
 *   TEXT + 0x500 last               CODE + 0x2000: another mapping, h at its start
 */
#define TEXT 0xffffffff81000000
enum { PID = 7, CODE = 0x10000, MORE = CODE + 0x2000, FILES = 0x40000, PAGE = 0x1000 };

static const char kernel_list[] = "ffffffff81000000 T _text\n"
                                  "ffffffff81000100 t handler\n"
                                  "ffffffff81000200 T asm_exc_page_fault\n"
                                  "ffffffff81000300 t victim\n"
                                  "ffffffff81000400 T ret_from_fork\n"
                                  "ffffffff81000500 t last\n"
                                  "ffffffff81001000 T _etext\n";
static const char perf_map[] = "10000 10 f\n10010 20 g\n10040 8 __restore_rt\n12000 10 h\n";

struct session {
    char root[64], list[96], folder[96], map[128];
    struct model *m;
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_places places;
    struct resolve_frames frames;
};

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static struct session *session_new(bool odd) {
    struct session *s = calloc(1, sizeof *s);
    strcpy(s->root, "/tmp/resolveXXXXXX");
    assert_non_null(mkdtemp(s->root));
    snprintf(s->list, sizeof s->list, "%s/kallsyms", s->root);
    snprintf(s->folder, sizeof s->folder, "%s/tmp", s->root);
    snprintf(s->map, sizeof s->map, "%s/perf-7.map", s->folder);
    assert_int_equal(mkdir(s->folder, 0700), 0);
    write_file(s->list, kernel_list);
    write_file(s->map, perf_map);
    s->m = batch();
    at(s->m, 0, rec_mmap(K, UINT32_MAX, TEXT, 0x1000, TEXT, "[kernel.kallsyms]_text"));
    at(s->m, 1, rec_exec(PID, "prog"));
    at(s->m, 2, rec_map(PID, CODE, 0x2000, "//anon"));
    at(s->m, 3, rec_map(PID, MORE, PAGE, "//anon"));
    at(s->m, 4, rec_map(PID, FILES, PAGE, "/bin/one"));
    at(s->m, 5, rec_map(PID, FILES + PAGE, PAGE, "/bin/two"));
    if (odd) /* a mapping that begins within a page */
        at(s->m, 6, rec_map(PID, FILES + 2 * PAGE + 8, PAGE, "/bin/odd"));
    freeze(s->m);
    struct symbol_options o = {.symfs = s->root, .host.kallsyms = s->list};
    s->store = symbol_store_new(&o, NULL);
    s->names = resolve_names_new(s->m, s->store, NULL, NULL);
    assert_true(s->store && s->names && resolve_names_prepare(s->names, NULL));
    assert_true(resolve_places_init(&s->places, s->m, NULL));
    assert_true(resolve_frames_init(&s->frames, &s->places, s->names, 1000, NULL));
    return s;
}

static void session_free(struct session *s) {
    resolve_frames_fini(&s->frames);
    resolve_places_fini(&s->places);
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    model_free(s->m);
    unlink(s->list);
    unlink(s->map);
    rmdir(s->folder);
    assert_int_equal(rmdir(s->root), 0);
    free(s);
}

static struct model_hit hit_at(struct session *s, unsigned cpumode, uint64_t address) {
    struct model_hit hit;
    model_find(s->m, cpumode, PID, upto(10), address, &hit);
    return hit;
}

/* ---- names ---- */

static const char *text_of(struct session *s, struct resolve_symbol symbol) {
    const char *text = resolve_names_text(s->names, symbol);
    return text ? text : "-";
}

static const char *name_at(struct session *s, unsigned cpumode, uint64_t address) {
    struct model_hit hit = hit_at(s, cpumode, address);
    return text_of(s, resolve_names_find(s->names, hit.image, hit.offset));
}

static void names_are_found(void **state) {
    struct session *s = session_new(false);
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        assert_string_equal(name_at(s, U, CODE), "f");
        assert_string_equal(name_at(s, U, CODE + 0x10), "g");
        assert_string_equal(name_at(s, U, CODE + 0x30), "-");
        assert_string_equal(name_at(s, U, FILES), "-");
        assert_string_equal(name_at(s, K, TEXT + 0x2ff), "asm_exc_page_fault");
        assert_string_equal(name_at(s, U, 1), "-");
    }
    struct resolve_symbol none = resolve_names_find(s->names, MODEL_NONE, CODE);
    assert_int_equal(none.index, SYMBOL_NONE);
    session_free(s);
}

static void many_are_loaded_at_once(void **state) {
    struct session *s = session_new(false);
    uint32_t image = hit_at(s, U, CODE).image, kernel = hit_at(s, K, TEXT).image;
    uint32_t count = model_image_count(s->m);
    bool *wanted = calloc(count, sizeof *wanted);
    (void)state;
    wanted[image] = wanted[kernel] = true;
    assert_null(resolve_names_table(s->names, image));
    assert_true(resolve_names_load(s->names, wanted, count, 2, NULL));
    assert_non_null(resolve_names_table(s->names, image));
    assert_ptr_equal(resolve_names_table(s->names, image), resolve_names_demand(s->names, image));
    assert_int_equal(symbol_table_count(resolve_names_table(s->names, image)), 4);
    assert_int_equal(symbol_table_count(resolve_names_table(s->names, kernel)), 6);
    assert_null(resolve_names_table(s->names, hit_at(s, U, FILES).image));
    assert_null(resolve_names_table(s->names, count)); /* none that is known */
    free(wanted);
    session_free(s);
}

/* ---- callers ---- */

static void entries_are_known(void **state) {
    (void)state;
    assert_true(resolve_callers_is_entry("asm_exc_page_fault", MODEL_SPACE_KERNEL));
    assert_true(resolve_callers_is_entry("asm_sysvec_apic_timer_interrupt", MODEL_SPACE_GUEST_KERNEL));
    assert_true(resolve_callers_is_entry("el1h_64_irq", MODEL_SPACE_KERNEL));
    assert_true(resolve_callers_is_entry("__restore_rt", MODEL_SPACE_USER));
    assert_true(resolve_callers_is_entry("runtime.asyncPreempt.abi0", MODEL_SPACE_USER));
    assert_true(resolve_callers_is_entry("runtime.sigpanic", MODEL_SPACE_USER));
    assert_false(resolve_callers_is_entry("runtime.asyncPreempt2", MODEL_SPACE_USER)); /* is called */
    assert_false(resolve_callers_is_entry("el1h_64_irq_handler", MODEL_SPACE_KERNEL));
    assert_false(resolve_callers_is_entry("asm_exc_page_fault", MODEL_SPACE_USER));
    assert_false(resolve_callers_is_entry("__restore_rt", MODEL_SPACE_KERNEL));
    assert_false(resolve_callers_is_entry("asm_load_gs_index", MODEL_SPACE_KERNEL));
    assert_false(resolve_callers_is_entry("main", MODEL_SPACE_USER));
    assert_false(resolve_callers_is_entry(NULL, MODEL_SPACE_KERNEL));
}

/* Addresses of one space, and how many were asked for. */
struct asked {
    struct session *s;
    unsigned cpumode, count;
};

static bool find_at(void *ctx, uint64_t address, struct model_hit *hit) {
    struct asked *a = ctx;
    a->count++;
    *hit = hit_at(a->s, a->cpumode, address);
    return hit->mapping != MODEL_NONE;
}

static struct model_hit returned_to(struct session *s, unsigned cpumode, uint64_t address) {
    struct asked a = {s, cpumode, 0};
    struct model_hit hit;
    resolve_callers_find(s->m, find_at, &a, address, &hit);
    return hit;
}

static struct model_hit joined(struct session *s, uint64_t address) {
    return returned_to(s, U, address);
}

static void callers_lie_in_one_mapping(void **state) {
    struct session *s = session_new(false);
    (void)state;
    struct model_hit hit = joined(s, FILES + 1);
    assert_true(hit.back == 1 && hit.offset == 1);
    hit = joined(s, FILES); /* nothing lies before it */
    assert_true(hit.back == 0 && hit.offset == 0);
    hit = joined(s, FILES + PAGE); /* another file's */
    assert_true(hit.back == 0 && hit.image == hit_at(s, U, FILES + PAGE).image);
    hit = joined(s, FILES + 2 * PAGE); /* code that ends with its mapping */
    assert_true(hit.back == 1 && hit.offset == PAGE && hit.image == hit_at(s, U, FILES + PAGE).image);
    hit = joined(s, MORE); /* memory without a file */
    assert_true(hit.back == 1 && hit.offset == MORE && hit.mapping == hit_at(s, U, MORE - 1).mapping);
    hit = joined(s, FILES + 2 * PAGE + 1);
    assert_true(hit.back == 0 && hit.mapping == MODEL_NONE);
    session_free(s);
}

static void a_mappings_edges_are_seen(void **state) {
    struct session *s = session_new(true);
    const uint64_t odd = FILES + 2 * PAGE + 8;
    const struct {
        unsigned cpumode;
        uint64_t address;
        bool edge;
    } cases[] = {
        {U, FILES + 8, false}, {U, FILES, true}, {U, odd, true},          {U, odd + 1, false},
        {U, CODE + 8, true},   {U, 8, true},     {K, TEXT + 0x18, false}, {K, TEXT, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked a = {s, cases[i].cpumode, 0};
        struct model_hit hit;
        resolve_callers_find(s->m, find_at, &a, cases[i].address, &hit);
        assert_int_equal(a.count, 1 + cases[i].edge); /* there the byte before is looked up, too */
    }
    session_free(s);
}

static const char *caller_at(struct session *s, unsigned cpumode, uint64_t address, unsigned *back) {
    struct model_hit hit = returned_to(s, cpumode, address);
    struct resolve_symbol symbol = resolve_names_find_caller(s->names, &hit);
    *back = hit.back;
    return text_of(s, symbol);
}

static void callers_are_named_by_the_call(void **state) {
    struct session *s = session_new(false);
    static const struct {
        unsigned cpumode;
        uint64_t address;
        const char *name;
        unsigned back;
    } cases[] = {
        {U, CODE + 0x08, "f", 1},
        {U, CODE + 0x10, "f", 1}, /* after its last instruction */
        {U, CODE + 0x11, "g", 1},
        {U, CODE + 0x30, "g", 1}, /* likewise, and nothing follows */
        {U, CODE + 0x31, "-", 1},
        {U, CODE + 0x40, "__restore_rt", 0}, /* what handlers return to was never called */
        {U, CODE + 0x41, "__restore_rt", 1},
        {U, MORE, "-", 1},
        {K, TEXT + 0x100, "_text", 1},
        {K, TEXT + 0x300, "asm_exc_page_fault", 1},
        {K, TEXT + 0x400, "ret_from_fork", 0}, /* where new tasks begin */
        {K, TEXT + 0x401, "ret_from_fork", 1},
        {K, TEXT, "_text", 0},
    };
    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            unsigned back;
            assert_string_equal(caller_at(s, cases[i].cpumode, cases[i].address, &back), cases[i].name);
            assert_int_equal(back, cases[i].back);
            /* The exact address is another question. */
            if (cases[i].address == CODE + 0x10)
                assert_string_equal(name_at(s, U, CODE + 0x10), "g");
        }
    session_free(s);
}

/* ---- frames ---- */

static const char *frame_name(struct session *s, uint32_t id) {
    const struct resolve_frame *f = &s->frames.list.items[id];
    return text_of(s, (struct resolve_symbol){f->image, f->symbol});
}

static struct resolve_run run_of(struct session *s, unsigned cpumode, const uint64_t *words, uint64_t count) {
    return (struct resolve_run){.state = resolve_places_state(&s->places, cpumode, PID, upto(10)),
                                .at = (const uint8_t *)words,
                                .count = count,
                                .cpumode = (uint8_t)cpumode,
                                .kind = RESOLVE_FUNCTION};
}

/* The names of a run's frames; `want` ends in NULL. */
static void check_run(struct session *s, unsigned cpumode, const uint64_t *words, const char *const *want) {
    uint64_t count = 0;
    uint32_t ids[8];
    while (want[count])
        count++;
    struct resolve_run run = run_of(s, cpumode, words, count);
    assert_true(resolve_frames_run(&s->frames, &run, ids));
    for (uint64_t i = 0; i < count; i++) {
        assert_string_equal(frame_name(s, ids[i]), want[i]);
        assert_int_equal(s->frames.list.items[ids[i]].cpumode, cpumode);
    }
}

#define assert_run(s, cpumode, words, ...) \
    check_run(s, cpumode, words, (const char *const[]){__VA_ARGS__, NULL})
#define WORDS(...) ((const uint64_t[]){__VA_ARGS__})

static void the_first_of_a_run_is_exact(void **state) {
    struct session *s = session_new(false);
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        assert_run(s, U, WORDS(CODE + 0x10, CODE + 0x10, CODE + 0x10), "g", "f", "f");
        assert_run(s, U, WORDS(CODE), "f");
        assert_run(s, U, WORDS(1, CODE, MORE), "-", "f", "-"); /* nothing lies before f */
        assert_run(s, K, WORDS(TEXT + 0x100, TEXT + 0x100), "handler", "_text");
        assert_run(s, K, WORDS(TEXT + 0x400, TEXT + 0x400), "ret_from_fork", "ret_from_fork");
    }
    session_free(s);
}

static void what_was_interrupted_is_exact(void **state) {
    struct session *s = session_new(false);
    (void)state;
    assert_run(s, K, WORDS(TEXT + 0x105, TEXT + 0x205, TEXT + 0x300, TEXT + 0x500), "handler",
               "asm_exc_page_fault", "victim", "ret_from_fork");
    assert_run(s, K, WORDS(TEXT + 0x105, TEXT + 0x300, TEXT + 0x300), "handler", "asm_exc_page_fault",
               "victim"); /* after the entry's last instruction is still in it */
    assert_run(s, U, WORDS(CODE, CODE + 0x40, CODE + 0x10, CODE + 0x10), "f", "__restore_rt", "g", "f");
    session_free(s);
}

static void a_cut_run_is_not_taken_for_a_whole_one(void **state) {
    struct session *s = session_new(false);
    const uint64_t words[] = {CODE, CODE + 0x10, CODE + 0x40, CODE + 0x10};
    struct resolve_run run = run_of(s, U, words + 1, 1);
    uint32_t id;
    (void)state;
    assert_true(resolve_frames_run(&s->frames, &run, &id));
    assert_string_equal(frame_name(s, id), "g");
    run.cut = true;
    assert_true(resolve_frames_run(&s->frames, &run, &id));
    assert_string_equal(frame_name(s, id), "f");
    run.at = (const uint8_t *)(words + 3); /* and a signal inside of it counts */
    assert_true(resolve_frames_run(&s->frames, &run, &id));
    assert_string_equal(frame_name(s, id), "g");
    session_free(s);
}

static void either_byte_order_will_do(void **state) {
    struct session *s = session_new(false);
    uint64_t words[] = {__builtin_bswap64(CODE), __builtin_bswap64(CODE + 0x30)};
    struct resolve_run run = run_of(s, U, words, 2);
    uint32_t ids[2];
    (void)state;
    run.swap = true;
    assert_true(resolve_frames_run(&s->frames, &run, ids));
    assert_string_equal(frame_name(s, ids[0]), "f");
    assert_string_equal(frame_name(s, ids[1]), "g");
    assert_int_equal(s->frames.list.items[ids[1]].address, CODE + 0x30);
    assert_int_equal(s->frames.list.items[ids[1]].back, 1);
    session_free(s);
}

static uint32_t frame_of(struct session *s, uint64_t address, enum resolve_frame_kind kind) {
    return resolve_frames_at(&s->frames, resolve_places_state(&s->places, U, PID, upto(10)), U, address, kind,
                             false);
}

static void frames_are_told_apart_by_kind(void **state) {
    struct session *s = session_new(false);
    (void)state;
    assert_int_equal(frame_of(s, CODE, RESOLVE_FUNCTION), frame_of(s, CODE + 4, RESOLVE_FUNCTION));
    assert_int_not_equal(frame_of(s, CODE, RESOLVE_FUNCTION), frame_of(s, CODE + 0x10, RESOLVE_FUNCTION));
    assert_int_not_equal(frame_of(s, CODE + 0x30, RESOLVE_FUNCTION),
                         frame_of(s, CODE + 0x31, RESOLVE_FUNCTION));
    assert_int_not_equal(frame_of(s, CODE, RESOLVE_ADDRESS), frame_of(s, CODE + 4, RESOLVE_ADDRESS));
    assert_int_not_equal(frame_of(s, CODE, RESOLVE_ADDRESS), frame_of(s, CODE, RESOLVE_FUNCTION));
    assert_int_equal(frame_of(s, CODE, RESOLVE_OFFSET), frame_of(s, CODE, RESOLVE_OFFSET));
    assert_int_equal(frame_of(s, CODE, RESOLVE_PLACE), frame_of(s, CODE + 4, RESOLVE_PLACE));
    /* As a return address it has another line, but is in no other function. */
    uint32_t ids[2];
    struct resolve_run run = run_of(s, U, WORDS(CODE + 4, CODE + 4), 2);
    assert_true(resolve_frames_run(&s->frames, &run, ids));
    assert_int_equal(ids[0], ids[1]);
    run.kind = RESOLVE_ADDRESS;
    assert_true(resolve_frames_run(&s->frames, &run, ids));
    assert_int_not_equal(ids[0], ids[1]);
    assert_int_equal(s->frames.list.items[ids[1]].back, 1);
    session_free(s);
}

/* What recordings hold for addresses may be anything: none may be taken for another one. */
static void garbage_is_no_address(void **state) {
    struct session *s = session_new(false);
    (void)state;
    for (unsigned kind = RESOLVE_FUNCTION; kind <= RESOLVE_OFFSET; kind++)
        frame_of(s, CODE, (enum resolve_frame_kind)kind);
    assert_run(s, U, WORDS(CODE, CODE), "f", "f");
    for (uint64_t top = 1; top < 256; top++) {
        uint32_t id = frame_of(s, CODE | top << 56, RESOLVE_FUNCTION);
        assert_string_equal(frame_name(s, id), "-");
        assert_int_equal(s->frames.list.items[id].address, CODE | top << 56);
    }
    session_free(s);
}

/* A small fixed generator (xorshift64): the same input in every run. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What run() should say of each frame, without any memory of what was asked before. */
static void expect(struct session *s, const struct resolve_run *run, const uint64_t *words,
                   const uint32_t *ids) {
    bool exact = true;
    for (uint64_t i = 0; i < run->count; i++) {
        struct model_hit hit =
            exact ? hit_at(s, run->cpumode, words[i]) : returned_to(s, run->cpumode, words[i]);
        const struct symbol_table *t =
            hit.image == MODEL_NONE ? NULL : resolve_names_table(s->names, hit.image);
        uint32_t symbol = !t         ? SYMBOL_NONE
                          : hit.back ? resolve_callers_symbol(t, &hit)
                                     : symbol_table_find(t, hit.offset);
        const struct resolve_frame *f = &s->frames.list.items[ids[i]];
        assert_int_equal(f->symbol, symbol);
        assert_int_equal(f->image, hit.image);
        if (run->kind == RESOLVE_ADDRESS) {
            assert_int_equal(f->address, words[i]);
            assert_int_equal(f->back, hit.back);
            assert_int_equal(f->offset, hit.image == MODEL_NONE ? words[i] : hit.offset);
        }
        exact = symbol != SYMBOL_NONE && resolve_callers_is_entry(symbol_table_name(t, symbol), hit.space);
        assert_int_equal(f->entry, exact);
    }
}

static void memory_of_earlier_answers_changes_none(void **state) {
    struct session *s = session_new(false);
    uint64_t random = 88172645463325252u;
    (void)state;
    for (uint32_t i = 0; i < model_image_count(s->m); i++)
        resolve_names_demand(s->names, i);
    for (int i = 0; i < 3000; i++) {
        enum { MOST = 80 }; /* more than are asked for at a time */
        uint64_t words[MOST];
        uint32_t ids[MOST];
        size_t count = 1 + next_random(&random) % MOST;
        unsigned cpumode = next_random(&random) & 1 ? U : K;
        for (size_t w = 0; w < count; w++) {
            uint64_t r = next_random(&random);
            words[w] = cpumode == K ? TEXT + (r & 0x7f0) / 16 * 16 + (r >> 60 & 1)
                       : r >> 62    ? CODE + (r & 0x58)
                                    : CODE + (r & 0x32008);
        }
        struct resolve_run run = run_of(s, cpumode, words, count);
        run.kind = next_random(&random) & 2 ? RESOLVE_ADDRESS : RESOLVE_FUNCTION;
        assert_true(resolve_frames_run(&s->frames, &run, ids));
        expect(s, &run, words, ids);
    }
    session_free(s);
}

static void an_answer_is_what_asking_at_once_gives(void **state) {
    struct session *s = session_new(false);
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct resolve_ask asks[8];
        uint64_t words[8];
        bool asked[8];
        unsigned cpumode = next_random(&random) & 1 ? U : K;
        enum resolve_frame_kind kind = (enum resolve_frame_kind)(next_random(&random) % 4);
        for (int k = 0; k < 8; k++) {
            uint64_t r = next_random(&random);
            words[k] = cpumode == K ? TEXT + (r & 0xfff) : CODE - 8 + (r & 0x3007f);
            asked[k] =
                resolve_frames_ask(&s->frames, resolve_places_state(&s->places, cpumode, PID, upto(10)),
                                   resolve_frames_how(cpumode, kind, false), words[k], &asks[k]);
        }
        resolve_places_state(&s->places, U, PID, upto(1)); /* the state they were asked in is gone */
        resolve_frames_steps(&s->frames, asks, next_random(&random) % 9); /* an answer makes the others */
        for (int k = 0; k < 8; k++) {
            assert_true(asked[k]);
            uint32_t id = resolve_frames_answer(&s->frames, &asks[k]);
            const struct model_state *now = resolve_places_state(&s->places, cpumode, PID, upto(10));
            assert_int_equal(id, resolve_frames_at(&s->frames, now, cpumode, words[k], kind, false));
            const struct resolve_frame *f = &s->frames.list.items[id];
            struct model_hit hit = hit_at(s, cpumode, words[k]);
            assert_int_equal(f->image, hit.image);
            assert_int_equal(f->cpumode, cpumode);
            assert_int_equal(f->symbol, hit.image == MODEL_NONE
                                            ? SYMBOL_NONE
                                            : resolve_names_find(s->names, hit.image, hit.offset).index);
        }
    }
    session_free(s);
}

/* What is asked for as a return address is the second frame of a run. */
static void a_caller_is_what_a_run_gives(void **state) {
    struct session *s = session_new(false);
    struct model *m = batch();
    struct resolve_places places;
    struct resolve_frames frames;
    uint64_t random = 88172645463325252u;
    size_t refused = 0;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        unsigned cpumode = next_random(&random) & 1 ? U : K;
        enum resolve_frame_kind kind = next_random(&random) & 1 ? RESOLVE_FUNCTION : RESOLVE_ADDRESS;
        uint64_t r = next_random(&random);
        const uint64_t words[] = {cpumode == K ? TEXT + 0x101 : CODE + 1,
                                  cpumode == K ? TEXT + (r & 0xff1) : CODE + (r & 0x33019)};
        struct resolve_run run = run_of(s, cpumode, words, 2);
        struct resolve_ask asks[2];
        uint32_t ids[2];
        run.kind = (uint8_t)kind;
        bool asked = resolve_frames_ask_run(&s->frames, &run, asks);
        refused += !asked;
        assert_true(asked || words[1] % PAGE == 0);
        resolve_frames_steps(&s->frames, asks, asked ? 2 : 0);
        for (int k = 0; k < 2; k++)
            ids[k] = asked ? resolve_frames_answer(&s->frames, &asks[k]) : RESOLVE_NO_FRAME;
        uint32_t first = ids[0], id = ids[1];
        assert_true(resolve_frames_run(&s->frames, &run, ids));
        assert_true(!asked || (first == ids[0] && id == ids[1]));
        assert_true(!asked || asks[1].entry == s->frames.list.items[id].entry);
    }
    assert_int_not_equal(refused, 0);
    session_free(s);
    /* Nothing lies before address 0, whatever lies there. */
    at(m, 1, rec_map(PID, 0, PAGE, "/bin/low"));
    freeze(m);
    assert_true(resolve_places_init(&places, m, NULL) &&
                resolve_frames_init(&frames, &places, NULL, 0, NULL));
    const uint64_t words[] = {8, 0};
    struct resolve_run run = {
        .state = resolve_places_state(&places, U, PID, upto(2)), .at = (const uint8_t *)words, .count = 2};
    struct resolve_ask asks[2];
    uint32_t ids[2];
    run.cpumode = U;
    run.kind = RESOLVE_ADDRESS;
    assert_true(resolve_frames_run(&frames, &run, ids));
    assert_true(resolve_frames_ask_run(&frames, &run, asks));
    resolve_frames_steps(&frames, asks, 2);
    assert_int_equal(resolve_frames_answer(&frames, &asks[1]), ids[1]);
    assert_int_equal(frames.list.items[ids[1]].back, 0);
    resolve_frames_fini(&frames);
    resolve_places_fini(&places);
    model_free(m);
}

static void equal_frames_are_one(void **state) {
    struct session *s = session_new(false), *other = session_new(false);
    (void)state;
    frame_of(s, MORE, RESOLVE_FUNCTION);
    uint32_t theirs = frame_of(other, CODE, RESOLVE_FUNCTION), ours = frame_of(s, CODE, RESOLVE_FUNCTION);
    size_t count = s->frames.list.count;
    assert_int_equal(resolve_frames_add(&s->frames, &other->frames.list.items[theirs]), ours);
    assert_int_equal(s->frames.list.count, count);
    theirs = frame_of(other, CODE, RESOLVE_ADDRESS);
    assert_int_equal(resolve_frames_add(&s->frames, &other->frames.list.items[theirs]), count);
    session_free(other);
    session_free(s);
}

/* ---- places ---- */

static void check_places(bool whole_pages) {
    struct session *s = session_new(!whole_pages);
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 5000; i++) {
        struct model_when when = upto(next_random(&random) % 10);
        unsigned cpumode = next_random(&random) % 8 ? U : K;
        uint32_t pid = next_random(&random) % 4 ? PID : 8;
        const struct model_state *state = resolve_places_state(&s->places, cpumode, pid, when);
        for (int k = 0; k < 8; k++) { /* what is remembered counts for one state */
            uint64_t address = cpumode == K ? TEXT - 8 + next_random(&random) % 32
                                            : CODE - 8 + next_random(&random) % 0x40000;
            struct model_hit want, got;
            memset(&got, 0xaa, sizeof got);
            bool found = model_find(s->m, cpumode, pid, when, address, &want);
            assert_int_equal(resolve_places_find(&s->places, state, address, &got), found);
            assert_int_equal(got.mapping, want.mapping);
            assert_int_equal(got.back, 0);
            if (!found)
                continue;
            assert_int_equal(got.image, want.image);
            assert_int_equal(got.offset, want.offset);
            assert_int_equal(got.space, want.space);
        }
    }
    session_free(s);
}

static void places_are_the_models(void **state) {
    (void)state;
    check_places(true);
    check_places(false);
}

static void a_space_outlasts_its_process(void **state) {
    struct model *m = batch();
    struct resolve_places p;
    struct model_hit hit;
    (void)state;
    at(m, 1, rec_exec(PID, "prog"));
    at(m, 2, rec_map(PID, FILES, PAGE, "/bin/one"));
    at(m, 5, rec_exit(PID, PID, 1));
    at(m, 8, rec_fork(PID, PID, 1, 1)); /* the pid again */
    freeze(m);
    assert_true(resolve_places_init(&p, m, NULL));
    assert_true(resolve_places_find(&p, resolve_places_state(&p, U, PID, upto(4)), FILES, &hit));
    assert_true(resolve_places_find(&p, resolve_places_state(&p, U, PID, upto(6)), FILES, &hit));
    assert_false(resolve_places_find(&p, resolve_places_state(&p, U, PID, upto(9)), FILES, &hit));
    assert_true(resolve_places_find(&p, resolve_places_state(&p, U, PID, upto(7)), FILES, &hit));
    const struct model_state *none = resolve_places_state(&p, PERFDATA_MISC_HYPERVISOR, PID, upto(4));
    assert_false(resolve_places_find(&p, none, FILES, &hit));
    resolve_places_fini(&p);
    model_free(m);
}

/* ---- deferred callchains ---- */

static void put_deferred(struct writer *w, uint64_t cookie, uint32_t tid, uint64_t ip) {
    writer_u32(w, PERFDATA_RECORD_CALLCHAIN_DEFERRED);
    writer_u16(w, PERFDATA_MISC_USER);
    writer_u16(w, 8 + 16 + 16 + 8);
    writer_u64(w, cookie);
    writer_u64(w, 2);
    writer_u64(w, PERFDATA_CONTEXT_USER);
    writer_u64(w, ip);
    writer_u32(w, PID);
    writer_u32(w, tid);
}

static uint64_t found(const struct resolve_deferred *d, struct stream *stream, uint64_t cookie, uint32_t tid,
                      uint64_t after) {
    struct perfdata_u64s ips = resolve_deferred_find(d, stream, stream_events(stream), cookie, tid, after);
    assert_true(ips.count == 0 || ips.count == 2);
    return ips.count ? perfdata_u64_at(&ips, 1) : 0;
}

static void late_chains_are_found(void **state) {
    struct writer w = writer_make(false);
    struct perfdata_attr attr = {.size = PERFDATA_ATTR_SIZE_NEWEST,
                                 .known_size = PERFDATA_ATTR_SIZE_NEWEST,
                                 .sample_type = PERFDATA_SAMPLE_TID,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    struct resolve_deferred d = {0};
    uint64_t locs[3];
    size_t count = 0;
    (void)state;
    writer_put(&w, "PERFILE2", 8);
    writer_u64(&w, 16);
    size_t at = w.size;
    writer_u32(&w, PERFDATA_RECORD_HEADER_ATTR);
    writer_u16(&w, 0);
    writer_u16(&w, 0);
    perfdata_attr_encode(&attr, &w);
    writer_u64(&w, 1); /* its id */
    writer_patch16(&w, at + 6, (uint16_t)(w.size - at));
    put_deferred(&w, 0x55, 7, 0x1000);
    put_deferred(&w, 0x55, 7, 0x2000);
    put_deferred(&w, 0x11, 8, 0x3000);
    struct stream *stream = stream_open_memory(writer_bytes(&w), &(struct stream_options){0}, NULL);
    assert_non_null(stream);
    for (struct stream_record r; stream_next(stream, &r, NULL) == STREAM_RECORD;)
        if (r.raw.type == PERFDATA_RECORD_CALLCHAIN_DEFERRED)
            locs[count++] = r.loc;
    assert_int_equal(count, 3);
    for (size_t i = 3; i-- > 0;) /* in any order */
        assert_true(resolve_deferred_note(&d, i == 2 ? 0x11 : 0x55, locs[i]));
    resolve_deferred_sort(&d);
    assert_int_equal(found(&d, stream, 0x55, 7, 0), 0x1000);
    assert_int_equal(found(&d, stream, 0x55, 7, locs[0]), 0x2000); /* after the first */
    assert_int_equal(found(&d, stream, 0x55, 7, locs[1]), 0);
    assert_int_equal(found(&d, stream, 0x55, 8, 0), 0); /* another thread's */
    assert_int_equal(found(&d, stream, 0x11, 8, locs[0]), 0x3000);
    assert_int_equal(found(&d, stream, 0x12, 8, 0), 0);
    assert_int_equal(found(&d, stream, 0x66, 7, 0), 0);
    resolve_deferred_forget(&d, locs[1]);
    assert_int_equal(d.list.count, 2);
    assert_int_equal(found(&d, stream, 0x55, 7, 0), 0x2000);
    resolve_deferred_fini(&d);
    stream_close(stream);
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(many_are_loaded_at_once),
        cmocka_unit_test(entries_are_known),
        cmocka_unit_test(callers_lie_in_one_mapping),
        cmocka_unit_test(a_mappings_edges_are_seen),
        cmocka_unit_test(callers_are_named_by_the_call),
        cmocka_unit_test(the_first_of_a_run_is_exact),
        cmocka_unit_test(what_was_interrupted_is_exact),
        cmocka_unit_test(a_cut_run_is_not_taken_for_a_whole_one),
        cmocka_unit_test(either_byte_order_will_do),
        cmocka_unit_test(frames_are_told_apart_by_kind),
        cmocka_unit_test(garbage_is_no_address),
        cmocka_unit_test(memory_of_earlier_answers_changes_none),
        cmocka_unit_test(an_answer_is_what_asking_at_once_gives),
        cmocka_unit_test(a_caller_is_what_a_run_gives),
        cmocka_unit_test(equal_frames_are_one),
        cmocka_unit_test(places_are_the_models),
        cmocka_unit_test(a_space_outlasts_its_process),
        cmocka_unit_test(late_chains_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
