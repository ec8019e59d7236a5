/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/perfdata/added/kept.h"
#include "resolve/names.h"
#include "tests/support/fail_alloc.h"

enum { START = 1000000000, U = PERFDATA_MISC_USER };

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void put_load(struct writer *w, uint64_t time, uint64_t address, const char *name) {
    struct jitdump_record rec = {.type = JITDUMP_LOAD, .time = time};
    rec.load = (struct jitdump_load){7, 7, address, address, 1, span(name), span("0123456789abcdef")};
    jitdump_record_encode(&rec, w);
}

/* A dump that began at START, with f from START + 1 s, which something else overwrites 1 s later. */
static void make_dump(const char *path, uint64_t flags, bool cut) {
    struct writer w = writer_make(false);
    jitdump_header_encode(
        &(struct jitdump_header){.version = 1, .machine = 62, .pid = 7, .time = START, .flags = flags}, &w);
    put_load(&w, 2 * (uint64_t)START, 0x1000, "f");
    put_load(&w, 3 * (uint64_t)START, 0x1000, "g");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(w.data, 1, w.size - cut, f), w.size - cut);
    assert_int_equal(fclose(f), 0);
    writer_fini(&w);
}

/* A dump that began at a time, with one function a second later. */
static struct writer small_dump(uint64_t start, const char *name) {
    struct writer w = writer_make(false);
    jitdump_header_encode(&(struct jitdump_header){.version = 1, .machine = 62, .pid = 7, .time = start}, &w);
    put_load(&w, start + START, 0x1000, name);
    return w;
}

static void save(const char *path, const struct writer *w) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(w->data, 1, w->size, f), w->size);
    assert_int_equal(fclose(f), 0);
}

struct session {
    char dir[64], path[128], marker[128];
    struct resolve_jit *jit;
    struct model *model;
    struct symbol_store *store;
    struct resolve_names *names;
};

/* The marker's name is one that is nowhere: the dump lies in a directory that the options name. */
static void begin(struct session *s, bool cut) {
    *s = (struct session){.dir = "/tmp/sonde-jit-XXXXXX"};
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->path, sizeof s->path, "%s/jit-7.dump", s->dir);
    snprintf(s->marker, sizeof s->marker, "%s/gone/jit-7.dump", s->dir);
    make_dump(s->path, 0, cut);
    s->jit = resolve_jit_new(&(struct resolve_jit_options){.dump_dir = s->dir}, NULL);
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    assert_true(s->jit && s->model);
}

static void note(struct session *s, const char *name, uint64_t time) {
    assert_true(resolve_jit_note_map(s->jit, 7, span(name), (struct model_when){time, 1}));
}

static void open_names(struct session *s) {
    s->store = symbol_store_new(&(struct symbol_options){.cache = NULL}, NULL);
    s->names = resolve_names_new(s->model, s->store, NULL, NULL);
    resolve_names_use_jit(s->names, s->jit);
}

static void feed(struct session *s) {
    assert_true(resolve_jit_feed(s->jit, s->model, NULL) && model_freeze(s->model, NULL));
    open_names(s);
}

static void end(struct session *s) {
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    resolve_jit_free(s->jit);
    model_free(s->model);
    unlink(s->path);
    rmdir(s->dir);
}

/* The name at an address, "-" without one; *proved if the store says so. */
static const char *name_of(struct session *s, uint64_t time, uint64_t address, bool *proved) {
    struct model_hit hit;
    if (!model_find(s->model, U, 7, (struct model_when){time, UINT64_MAX}, address, &hit))
        return "-";
    struct resolve_symbol symbol = resolve_names_find(s->names, hit.image, hit.offset);
    const char *text = resolve_names_text(s->names, symbol);
    *proved = symbol_store_source(s->store, resolve_names_store_id(s->names, hit.image)).proved;
    return text ? text : "-";
}

static const char *name_at(struct session *s, uint64_t time, bool *proved) {
    return name_of(s, time, 0x1008, proved);
}

static void test_same_clock(void **state) {
    (void)state;
    struct session s;
    bool proved = false;
    begin(&s, false);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    note(&s, "/usr/lib/libc.so.6", START);
    note(&s, s.marker, START + 5);
    feed(&s);
    assert_int_equal(resolve_jit_count(s.jit), 1);
    assert_null(resolve_jit_dump(s.jit, 0)->why);
    assert_string_equal(resolve_jit_dump(s.jit, 0)->path, s.path);
    assert_string_equal(name_at(&s, 2 * (uint64_t)START - JITCODE_EARLY_NS - 1, &proved), "-");
    assert_string_equal(name_at(&s, 2 * (uint64_t)START - JITCODE_EARLY_NS, &proved), "f");
    assert_false(proved);
    assert_string_equal(name_at(&s, 2 * (uint64_t)START, &proved), "f");
    assert_true(proved);
    assert_string_equal(name_at(&s, 3 * (uint64_t)START - 1, &proved), "f");
    assert_string_equal(name_at(&s, 3 * (uint64_t)START, &proved), "g");
    end(&s);
}

/* Another clock: the marker's event tells where the dump begins, and nothing is proved. */
static void test_unknown_clock(void **state) {
    (void)state;
    struct session s;
    bool proved = true;
    begin(&s, false);
    note(&s, s.marker, 500);
    feed(&s);
    assert_string_equal(name_at(&s, 500 + START, &proved), "f");
    assert_false(proved);
    assert_string_equal(name_at(&s, 500 + 2 * (uint64_t)START - 1, &proved), "f");
    assert_string_equal(name_at(&s, 500 + 2 * (uint64_t)START, &proved), "g");
    assert_string_equal(name_at(&s, 499, &proved), "-");
    end(&s);
}

/* Two instants on both clocks, of which perf's goes half as fast. */
static void test_pairs(void **state) {
    (void)state;
    struct session s;
    bool proved = false;
    struct perfdata_clock_pair pairs[2] = {{100, START / 2}, {100 + START, START / 2 + 2 * (uint64_t)START}};
    begin(&s, false);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_PAIRS, pairs);
    note(&s, s.marker, 0);
    feed(&s);
    /* f: 2 s on the dump's clock are 1.5 s behind the first pair there, 0.75 s on perf's. */
    assert_string_equal(name_at(&s, 100 + 750000000, &proved), "f");
    assert_true(proved);
    assert_string_equal(name_at(&s, 100 + 1249999999, &proved), "f");
    assert_string_equal(name_at(&s, 100 + 1250000000, &proved), "g");
    end(&s);
}

/* No clock goes like this; a file may say so. */
static void test_impossible_pairs(void **state) {
    (void)state;
    static const struct perfdata_clock_pair pairs[][2] = {{{0, 0}, {INT64_MAX, 1}},
                                                          {{UINT64_MAX, 0}, {1ull << 63, 1}},
                                                          {{1ull << 63, 1ull << 63}, {0, UINT64_MAX}},
                                                          {{INT64_MAX, 0}, {0, 1}}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct session s;
        begin(&s, false);
        resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_PAIRS, pairs[i]);
        note(&s, s.marker, 1000);
        feed(&s);
        const struct resolve_jit_dump *d = resolve_jit_dump(s.jit, 0);
        assert_true(resolve_jit_time(d, UINT64_MAX) >= 1000);
        assert_true(resolve_jit_time(d, 0) >= 1000);
        assert_non_null(d->why); /* it is not of the marker's time */
        end(&s);
    }
}

/* A dump that another process wrote at the same path, later. */
static void test_other_time(void **state) {
    (void)state;
    struct session s;
    bool proved;
    begin(&s, false);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    note(&s, s.marker, 100 * (uint64_t)START);
    feed(&s);
    assert_null(resolve_jit_dump(s.jit, 0)->path);
    assert_non_null(strstr(resolve_jit_dump(s.jit, 0)->why, "of another time"));
    assert_string_equal(name_at(&s, 200 * (uint64_t)START, &proved), "-");
    end(&s);
}

static void test_injected(void **state) {
    (void)state;
    static const char *const names[] = {"/tmp/jitted-7.so", "/tmp/jitted-7-12.so"};
    for (int i = 0; i < 2; i++) {
        struct session s;
        begin(&s, false);
        note(&s, s.marker, START);
        note(&s, names[i], START);
        feed(&s);
        assert_true(resolve_jit_dump(s.jit, 0)->injected);
        assert_false(model_has_code(s.model, 7));
        end(&s);
    }
}

static void test_cut_and_absent(void **state) {
    (void)state;
    struct session s;
    bool proved;
    begin(&s, true);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    note(&s, s.marker, START);
    note(&s, "/no/such/directory/jit-8.dump (deleted)", START);
    feed(&s);
    assert_non_null(strstr(resolve_jit_dump(s.jit, 0)->why, "ends at offset"));
    assert_string_equal(name_at(&s, 2 * (uint64_t)START, &proved), "f");
    assert_string_equal(name_at(&s, 3 * (uint64_t)START, &proved), "f"); /* g was cut off */
    assert_non_null(strstr(resolve_jit_dump(s.jit, 1)->why, "--jitdump-dir"));
    end(&s);
}

/* A part of two kept files, of which one is the dump. */
static void test_kept(void **state) {
    (void)state;
    struct session s;
    bool proved = false;
    begin(&s, false);
    struct os_file file;
    struct os_map map;
    assert_true(os_file_open(s.path, &file, NULL) && os_map_file(&file, s.path, &map, NULL));
    os_file_close(&file);
    unlink(s.path);
    struct writer part = writer_make(true), clock = writer_make(true);
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_JITDUMP,
                              .pid = 8, /* another process's */
                              .name = span(s.marker),
                              .file_size = map.bytes.size,
                              .kept_size = map.bytes.size,
                              .packed = map.bytes};
    const struct perfdata_extent all = {0, map.bytes.size};
    perfdata_kept_encode(&k, &all, 1, &part);
    k.pid = 7;
    perfdata_kept_encode(&k, &all, 1, &part);
    perfdata_clock_pair_encode(&(struct perfdata_clock_pair){1000, START, 5}, &clock);
    resolve_jit_free(s.jit);
    s.jit =
        resolve_jit_new(&(struct resolve_jit_options){.kept = writer_bytes(&part), .kept_swap = true}, NULL);
    resolve_jit_use_pairs(s.jit, (struct bytes){NULL, 0}, writer_bytes(&clock), true);
    note(&s, s.marker, 1000);
    feed(&s);
    assert_true(resolve_jit_dump(s.jit, 0)->kept);
    assert_string_equal(name_at(&s, 1000 + START, &proved), "f");
    assert_true(proved);
    assert_string_equal(name_at(&s, 1000 + 2 * (uint64_t)START - 1, &proved), "f");
    assert_string_equal(name_at(&s, 1000 + 2 * (uint64_t)START, &proved), "g");
    os_map_fini(&map);
    writer_fini(&part);
    writer_fini(&clock);
    end(&s);
}

/* The process begins another program. */
static void note_exec(struct session *s, uint64_t time) {
    struct perfdata_record exec = {
        .type = PERFDATA_RECORD_COMM, .misc = PERFDATA_MISC_COMM_EXEC, .comm = {7, 7, span("next")}};
    assert_true(resolve_jit_note_record(s->jit, &exec, (struct model_when){time, 1}));
    assert_true(model_apply(s->model, &exec, (struct model_when){time, 1}, NULL));
}

enum { SECOND = 10 }; /* when the second program begins, in units of START */

static void keep(struct writer *part, const struct session *s, const struct writer *dump) {
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_JITDUMP,
                              .pid = 7,
                              .name = span(s->marker),
                              .file_size = dump->size,
                              .kept_size = dump->size,
                              .packed = writer_bytes(dump)};
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, dump->size}, 1, part);
}

static const char *only_at(struct session *s, uint64_t time) {
    bool proved;
    return name_at(s, time, &proved);
}

/* Two programs, one after the other in one process, of which each wrote a dump of the same name. */
static void test_exec(void **state) {
    (void)state;
    static const struct {
        const char *what; /* f, g: kept of the first, of the second; G: that is at the path */
        enum resolve_jit_clock clock;
        const char *f, *g;
    } cases[] = {{"fg", RESOLVE_JIT_CLOCK_SAME, "f", "g"},   {"f", RESOLVE_JIT_CLOCK_SAME, "f", "-"},
                 {"g", RESOLVE_JIT_CLOCK_SAME, "-", "g"},    {"G", RESOLVE_JIT_CLOCK_SAME, "-", "g"},
                 {"fG", RESOLVE_JIT_CLOCK_SAME, "f", "g"},   {"fg", RESOLVE_JIT_CLOCK_UNKNOWN, "f", "g"},
                 {"G", RESOLVE_JIT_CLOCK_UNKNOWN, "-", "g"}, {"g", RESOLVE_JIT_CLOCK_UNKNOWN, "-", "g"}};
    const uint64_t second = SECOND * (uint64_t)START;
    struct writer f = small_dump(START, "f"), g = small_dump(second, "g");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        struct writer part = writer_make(false);
        begin(&s, false);
        unlink(s.path);
        resolve_jit_free(s.jit);
        if (strchr(cases[i].what, 'f'))
            keep(&part, &s, &f);
        if (strchr(cases[i].what, 'g'))
            keep(&part, &s, &g);
        if (strchr(cases[i].what, 'G'))
            save(s.path, &g);
        s.jit = resolve_jit_new(&(struct resolve_jit_options){.dump_dir = s.dir, .kept = writer_bytes(&part)},
                                NULL);
        assert_non_null(s.jit);
        resolve_jit_set_clock(s.jit, cases[i].clock, NULL);
        /* As from several processors, not in the order of time; the page of the first is mapped twice. */
        note(&s, s.marker, second + 5);
        note_exec(&s, second);
        note(&s, s.marker, START + 5);
        note(&s, s.marker, START + 9);
        note_exec(&s, START / 2);
        feed(&s);
        assert_int_equal(resolve_jit_count(s.jit), 3);
        assert_true(resolve_jit_dump(s.jit, 2)->again && !resolve_jit_dump(s.jit, 0)->again);
        assert_string_equal(only_at(&s, 2 * (uint64_t)START + 9), cases[i].f);
        assert_string_equal(only_at(&s, second - 1), cases[i].f);
        assert_string_equal(only_at(&s, second), "-");
        assert_string_equal(only_at(&s, second + START + 9), cases[i].g);
        const char *why = resolve_jit_dump(s.jit, 1)->why;
        assert_int_equal(why != NULL, *cases[i].f == '-');
        if (strchr(cases[i].what, 'G') && *cases[i].f == '-')
            assert_non_null(strstr(why, "began later"));
        writer_fini(&part);
        end(&s);
    }
    writer_fini(&f);
    writer_fini(&g);
}

/* The processor's counter, of which the recording tells how it becomes perf's clock: two ticks a nanosecond.
 */
static void test_counter(void **state) {
    (void)state;
    static const struct {
        bool told;
        enum resolve_jit_clock clock;
        bool proved;
        uint64_t f_ns; /* when f is announced */
    } cases[] = {{true, RESOLVE_JIT_CLOCK_UNKNOWN, true, 5000 + START},
                 {true, RESOLVE_JIT_CLOCK_PAIRS, true, 5000 + START},
                 {true, RESOLVE_JIT_CLOCK_SAME, false, 5000 + START / 2 + START},
                 {false, RESOLVE_JIT_CLOCK_PAIRS, false, 5000 + START / 2 + START}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        bool proved = false;
        struct perfdata_record conv = {
            .type = PERFDATA_RECORD_TIME_CONV,
            .time_conv = {
                .time_shift = 10, .time_mult = 512, .time_zero = 5000, .cap_user_time_zero = cases[i].told}};
        begin(&s, false);
        make_dump(s.path, JITDUMP_FLAG_ARCH_TIMESTAMP, false);
        resolve_jit_set_clock(s.jit, cases[i].clock, (struct perfdata_clock_pair[2]){{1, 1}, {2, 2}});
        assert_true(resolve_jit_note_record(s.jit, &conv, (struct model_when){0, 1}));
        note(&s, s.marker, 5000 + START / 2);
        feed(&s);
        assert_string_equal(name_at(&s, cases[i].f_ns, &proved), "f");
        assert_int_equal(proved, cases[i].proved);
        uint64_t lasts = cases[i].proved ? START / 2 : START;
        assert_string_equal(name_at(&s, cases[i].f_ns + lasts - 1, &proved), "f");
        assert_string_equal(name_at(&s, cases[i].f_ns + lasts, &proved), "g");
        end(&s);
    }
}

/* Counters of fewer bits, as of Arm's: counted on from where they stood. */
static void test_short_counter(void **state) {
    (void)state;
    struct session s;
    bool proved = false;
    struct perfdata_record conv = {.type = PERFDATA_RECORD_TIME_CONV,
                                   .time_conv = {.time_shift = 0,
                                                 .time_mult = 1,
                                                 .time_zero = 0,
                                                 .has_cycles = true,
                                                 .time_cycles = 16 * (uint64_t)START,
                                                 .time_mask = UINT32_MAX,
                                                 .cap_user_time_zero = 1,
                                                 .cap_user_time_short = 1}};
    begin(&s, false);
    make_dump(s.path, JITDUMP_FLAG_ARCH_TIMESTAMP, false);
    assert_true(resolve_jit_note_record(s.jit, &conv, (struct model_when){0, 1}));
    note(&s, s.marker, 0);
    feed(&s);
    uint64_t f = 16 * (uint64_t)START + (uint32_t)(2 * (uint64_t)START - 16 * (uint64_t)START);
    assert_string_equal(name_at(&s, f, &proved), "f");
    assert_string_equal(name_at(&s, f - JITCODE_EARLY_NS - 1, &proved), "-");
    end(&s);
}

static void append(const struct session *s, const struct writer *w, size_t from, size_t to) {
    FILE *f = fopen(s->path, "a");
    assert_non_null(f);
    assert_int_equal(fwrite(w->data + from, 1, to - from, f), to - from);
    assert_int_equal(fclose(f), 0);
}

static void follow(struct session *s, uint64_t now_ns, bool grown) {
    assert_true(resolve_jit_follow(s->jit, s->model, now_ns, grown, NULL));
    struct perfdata_record seen = {.type = PERFDATA_RECORD_COMM, .comm = {7, 7, {(const uint8_t *)"jit", 3}}};
    assert_true(model_apply(s->model, &seen, (struct model_when){now_ns, 1}, NULL));
}

/* A stream: what the dump has by then, as far as time has come. */
static void test_follow(void **state) {
    (void)state;
    const uint64_t second = START, f = 2 * second, g = 3 * second;
    struct session s;
    bool proved = true;
    begin(&s, false);
    model_free(s.model);
    s.model = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    open_names(&s);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    follow(&s, START, true);
    note(&s, s.marker, START + 5);
    follow(&s, START + 10, false);
    assert_string_equal(name_at(&s, START + 10, &proved), "-");
    follow(&s, f - JITCODE_EARLY_NS, false);
    assert_string_equal(name_at(&s, f - 1, &proved), "f");
    assert_false(proved);
    follow(&s, f, false);
    assert_string_equal(name_at(&s, f, &proved), "f");
    assert_true(proved);
    /* It grows by one and a half records; the rest comes later. */
    struct writer w = writer_make(false);
    put_load(&w, f + 10, 0x2000, "h");
    size_t half = w.size + 20;
    put_load(&w, f + 20, 0x1000, "i"); /* in the place of f: not early, f is still there */
    struct jitdump_record move = {.type = JITDUMP_MOVE, .time = g + 20};
    move.move = (struct jitdump_move){7, 7, 0x4000, 0x2000, 0x4000, 16, 9};
    append(&s, &w, 0, half);
    follow(&s, f + 15, false);
    assert_string_equal(name_of(&s, f + 15, 0x2008, &proved), "-"); /* nobody said to look */
    follow(&s, f + 16, true);
    assert_string_equal(name_of(&s, f + 16, 0x2008, &proved), "h");
    assert_string_equal(name_at(&s, f + 16, &proved), "f");
    append(&s, &w, half, w.size);
    follow(&s, f + 17, true);
    assert_string_equal(name_at(&s, f + 17, &proved), "f");
    follow(&s, f + 20, false);
    assert_string_equal(name_at(&s, f + 20, &proved), "i");
    follow(&s, g, false);
    assert_string_equal(name_at(&s, g, &proved), "g");
    /* What was announced in one part moves in another one. */
    writer_clear(&w);
    jitdump_record_encode(&move, &w);
    append(&s, &w, 0, w.size);
    follow(&s, g + 30, true);
    assert_string_equal(name_of(&s, g + 30, 0x4008, &proved), "h");
    assert_string_equal(name_of(&s, g + 30, 0x2008, &proved), "-");
    assert_true(proved);
    writer_fini(&w);
    end(&s);
}

/* A stream: the next program empties the file and writes its own into it. */
static void test_follow_exec(void **state) {
    (void)state;
    const uint64_t second = SECOND * (uint64_t)START;
    struct session s;
    struct writer f = small_dump(START, "f"), g = small_dump(second, "a longer name");
    begin(&s, false);
    model_free(s.model);
    s.model = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    open_names(&s);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    save(s.path, &f);
    note(&s, s.marker, START + 5);
    follow(&s, 2 * (uint64_t)START, true);
    assert_string_equal(only_at(&s, 2 * (uint64_t)START), "f");
    put_load(&g, second + START, 0x3000, "more");
    save(s.path, &g);
    assert_null(resolve_jit_dump(s.jit, 0)->why);
    follow(&s, 3 * (uint64_t)START, true);
    assert_int_equal(resolve_jit_count(s.jit), 1);
    assert_non_null(strstr(resolve_jit_dump(s.jit, 0)->why, "began later; what"));
    note_exec(&s, second);
    note(&s, s.marker, second + 5);
    follow(&s, second + 6, true);
    assert_string_equal(only_at(&s, second + 6), "-");
    follow(&s, second + START, true);
    assert_int_equal(resolve_jit_count(s.jit), 2);
    assert_string_equal(only_at(&s, second + START), "a longer name");
    writer_fini(&f);
    writer_fini(&g);
    end(&s);
}

/* The stream comes when the next program has written its dump already, of which it is not known yet. */
static void test_follow_too_late(void **state) {
    (void)state;
    const uint64_t second = START + START / 2;
    struct session s;
    struct writer g = small_dump(second, "g");
    begin(&s, false);
    model_free(s.model);
    s.model = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    open_names(&s);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    save(s.path, &g);
    note(&s, s.marker, START + 5);
    follow(&s, START + 6, true);
    assert_null(resolve_jit_dump(s.jit, 0)->why);
    note_exec(&s, second);
    note(&s, s.marker, second + 5);
    follow(&s, second + 6, true);
    assert_non_null(strstr(resolve_jit_dump(s.jit, 0)->why, "began later; the one before is gone"));
    follow(&s, second + START, true);
    assert_null(resolve_jit_dump(s.jit, 1)->why);
    assert_string_equal(only_at(&s, second + START), "g");
    writer_fini(&g);
    end(&s);
}

/* The dump is there later than its marker. */
static void test_follow_late(void **state) {
    (void)state;
    struct session s;
    bool proved;
    begin(&s, false);
    model_free(s.model);
    s.model = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    open_names(&s);
    resolve_jit_set_clock(s.jit, RESOLVE_JIT_CLOCK_SAME, NULL);
    unlink(s.path);
    note(&s, s.marker, START + 5);
    follow(&s, START + 10, true);
    assert_non_null(resolve_jit_dump(s.jit, 0)->why);
    make_dump(s.path, 0, true);
    follow(&s, 2 * (uint64_t)START + 5, true);
    assert_null(resolve_jit_dump(s.jit, 0)->why);
    assert_string_equal(name_at(&s, 2 * (uint64_t)START + 5, &proved), "f");
    end(&s);
}

static void test_memory(void **state) {
    (void)state;
    struct session s;
    begin(&s, false);
    FAIL_EACH_ALLOC({
        struct resolve_jit *j = resolve_jit_new(&(struct resolve_jit_options){.dump_dir = s.dir}, NULL);
        struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
        if (j && m && resolve_jit_note_map(j, 7, span(s.marker), (struct model_when){5, 1}) &&
            resolve_jit_feed(j, m, NULL))
            model_freeze(m, NULL);
        resolve_jit_free(j);
        model_free(m);
    });
    FAIL_EACH_ALLOC({
        struct resolve_jit *j = resolve_jit_new(&(struct resolve_jit_options){.dump_dir = s.dir}, NULL);
        struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
        if (j && m && resolve_jit_note_map(j, 7, span(s.marker), (struct model_when){5, 1}) &&
            resolve_jit_follow(j, m, 6, true, NULL))
            resolve_jit_follow(j, m, UINT64_MAX, true, NULL);
        resolve_jit_free(j);
        model_free(m);
    });
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_clock),     cmocka_unit_test(test_unknown_clock),
        cmocka_unit_test(test_pairs),          cmocka_unit_test(test_impossible_pairs),
        cmocka_unit_test(test_other_time),     cmocka_unit_test(test_injected),
        cmocka_unit_test(test_cut_and_absent), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_kept),           cmocka_unit_test(test_counter),
        cmocka_unit_test(test_short_counter),  cmocka_unit_test(test_follow),
        cmocka_unit_test(test_follow_late),    cmocka_unit_test(test_exec),
        cmocka_unit_test(test_follow_exec),    cmocka_unit_test(test_follow_too_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
