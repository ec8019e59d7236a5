/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/jitdump/jitcode.h"
#include "tests/support/fail_alloc.h"

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static struct bytes span_of(const char *s, size_t size) {
    return (struct bytes){(const uint8_t *)s, size};
}

static bool is(struct bytes b, const char *s) {
    return bytes_equal(b, span(s));
}

static struct writer begin(bool swap) {
    struct writer w = writer_make(swap);
    jitdump_header_encode(
        &(struct jitdump_header){.version = 1, .machine = 62, .pid = 42, .time = 7, .flags = 1}, &w);
    return w;
}

static void put_load(struct writer *w, uint64_t time, uint64_t address, uint64_t index, const char *name,
                     const char *code) {
    struct jitdump_record rec = {.type = JITDUMP_LOAD, .time = time};
    rec.load = (struct jitdump_load){42, 43, address, address, index, span(name), span(code)};
    jitdump_record_encode(&rec, w);
}

static void put_move(struct writer *w, uint64_t time, uint64_t from, uint64_t to, uint64_t index) {
    struct jitdump_record rec = {.type = JITDUMP_MOVE, .time = time};
    rec.move = (struct jitdump_move){42, 43, to, from, to, 4, index};
    jitdump_record_encode(&rec, w);
}

static void put_lines(struct writer *w, uint64_t address, uint64_t shift) {
    struct writer lines = writer_make(w->swap);
    jitdump_line_put(&(struct jitdump_line){address + shift, 10, 2, span("a.js")}, &lines);
    jitdump_line_put(&(struct jitdump_line){address + shift + 2, 11, 0, span("\xff")}, &lines);
    struct jitdump_record rec = {.type = JITDUMP_DEBUG_INFO, .time = 1};
    rec.debug_info = (struct jitdump_debug_info){address, 2, writer_bytes(&lines)};
    jitdump_record_encode(&rec, w);
    writer_fini(&lines);
}

static void put_unwinding(struct writer *w) {
    struct jitdump_record rec = {.type = JITDUMP_UNWINDING_INFO, .time = 1};
    rec.unwinding = (struct jitdump_unwinding){span("hdr"), span("frame"), 8};
    jitdump_record_encode(&rec, w);
}

static void test_both_orders(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = begin(swap);
        put_lines(&w, 0x1000, 0);
        put_unwinding(&w);
        put_load(&w, 100, 0x1000, 5, "f", "code");
        put_move(&w, 200, 0x1000, 0x2000, 5);
        jitdump_record_encode(&(struct jitdump_record){.type = JITDUMP_CLOSE, .time = 300}, &w);
        struct jitdump_reader r;
        struct jitdump_header h;
        struct jitdump_record rec;
        assert_true(jitdump_open(writer_bytes(&w), &r, &h, NULL));
        assert_true(h.version == 1 && h.machine == 62 && h.pid == 42 && h.time == 7 && h.flags == 1);
        assert_int_equal(r.swap, swap);
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
        assert_true(rec.type == JITDUMP_DEBUG_INFO && rec.debug_info.code_addr == 0x1000 &&
                    rec.debug_info.count == 2);
        struct bytes rest = rec.debug_info.entries;
        struct jitdump_line line;
        assert_true(jitdump_line_next(&rest, r.swap, &line));
        assert_true(line.address == 0x1000 && line.line == 10 && line.column == 2 && is(line.file, "a.js"));
        assert_true(jitdump_line_next(&rest, r.swap, &line) && line.line == 11);
        assert_false(jitdump_line_next(&rest, r.swap, &line));
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
        assert_true(rec.type == JITDUMP_UNWINDING_INFO && is(rec.unwinding.frame_hdr, "hdr") &&
                    is(rec.unwinding.frame, "frame") && rec.unwinding.mapped_size == 8);
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
        assert_true(rec.type == JITDUMP_LOAD && rec.time == 100 && rec.load.code_index == 5 &&
                    rec.load.tid == 43 && is(rec.load.name, "f") && is(rec.load.code, "code"));
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
        assert_true(rec.type == JITDUMP_MOVE && rec.move.old_code_addr == 0x1000 &&
                    rec.move.new_code_addr == 0x2000 && rec.move.code_size == 4 && rec.move.code_index == 5);
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
        assert_true(rec.type == JITDUMP_CLOSE && rec.time == 300);
        assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_END);
        writer_fini(&w);
    }
}

/* A LOAD as the specification lays it out, byte by byte: what encoder and decoder agree upon is not enough.
 */
static void test_layout(void **state) {
    (void)state;
    static const uint8_t FILE_BYTES[] = {
        'J',  'i', 'T', 'D', 0, 0, 0, 1,  0, 0, 0, 40, 0, 0, 0,    22, 0, 0, 0,   0, 0,    0,
        0,    9,   0,   0,   0, 0, 0, 0,  0, 3, 0, 0,  0, 0, 0,    0,  0, 0, /* header, big-endian */
        0,    0,   0,   0,   0, 0, 0, 60, 0, 0, 0, 0,  0, 0, 1,    0,        /* LOAD, 60 bytes, time 256 */
        0,    0,   0,   9,   0, 0, 0, 8,  0, 0, 0, 0,  0, 0, 0x20, 0,  0, 0, 0,   0, 0,    0,
        0x10, 0,   0,   0,   0, 0, 0, 0,  0, 2, 0, 0,  0, 0, 0,    0,  0, 1, 'g', 0, 0xaa, 0xbb,
    };
    struct bytes file = {FILE_BYTES, sizeof FILE_BYTES};
    struct jitdump_reader r;
    struct jitdump_header h;
    struct jitdump_record rec;
    assert_true(jitdump_open(file, &r, &h, NULL));
    assert_true(h.machine == 22 && h.pid == 9 && h.time == 3 && r.swap == !BYTES_HOST_BIG);
    assert_int_equal(jitdump_next(&r, &rec, NULL), JITDUMP_RECORD);
    assert_true(rec.time == 256 && rec.load.pid == 9 && rec.load.tid == 8 && rec.load.vma == 0x2000 &&
                rec.load.code_addr == 0x1000 && rec.load.code_index == 1);
    assert_true(is(rec.load.name, "g") && rec.load.code.size == 2 && rec.load.code.data[1] == 0xbb);
}

static void test_no_jitdump(void **state) {
    (void)state;
    struct writer w = begin(false);
    struct jitdump_reader r;
    struct jitdump_header h;
    for (size_t n = 0; n < JITDUMP_HEADER_SIZE; n++)
        assert_false(jitdump_open((struct bytes){w.data, n}, &r, &h, NULL));
    writer_patch32(&w, 4, 3);
    struct err err = ERR_INIT;
    assert_false(jitdump_open(writer_bytes(&w), &r, &h, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    writer_patch32(&w, 4, 1);
    writer_patch32(&w, 8, 39);
    assert_false(jitdump_open(writer_bytes(&w), &r, &h, NULL));
    writer_fini(&w);
}

/* Wherever the file is cut, what comes before the cut record is used, and the cut is told. */
static void test_cut(void **state) {
    (void)state;
    struct writer w = begin(false);
    put_load(&w, 1, 0x1000, 1, "f", "code");
    size_t first = w.size;
    put_load(&w, 2, 0x2000, 2, "g", "code");
    for (size_t n = JITDUMP_HEADER_SIZE; n < w.size; n++) {
        struct jitcode j;
        assert_true(jitcode_read((struct bytes){w.data, n}, &j, NULL));
        assert_int_equal(j.functions.count, n >= first);
        assert_int_equal(j.damage.code, n == JITDUMP_HEADER_SIZE || n == first ? ERR_NONE : ERR_BROKEN);
        jitcode_fini(&j);
    }
    writer_fini(&w);
}

static void test_impossible(void **state) {
    (void)state;
    struct writer w = begin(false);
    size_t at = w.size;
    put_load(&w, 1, 0x1000, 1, "f", "code");
    put_load(&w, 2, 0x2000, 2, "g", "code");
    struct jitcode j;
    writer_patch64(&w, at + 40, (uint64_t)1 << 60); /* its code's size: it is refused, the next one counts */
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    assert_true(j.functions.count == 1 && is(j.functions.items[0].name, "g") && j.refused == 1);
    assert_non_null(strstr(j.damage.message, "CODE_LOAD"));
    jitcode_fini(&j);
    writer_patch32(&w, at, 77); /* of a type that nobody knows: no damage */
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    assert_true(j.functions.count == 1 && j.refused == 0 && j.damage.code == ERR_NONE);
    jitcode_fini(&j);
    writer_patch32(&w, at + 4, 15); /* smaller than a record can be */
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    assert_true(j.functions.count == 0 && j.damage.code == ERR_BROKEN);
    jitcode_fini(&j);
    writer_fini(&w);
}

static void check_event(const struct jitcode *j, size_t i, enum jitcode_event_kind kind, uint64_t address,
                        uint32_t function) {
    const struct jitcode_event *e = &j->events.items[i];
    assert_int_equal(e->kind, kind);
    assert_int_equal(e->address, address);
    assert_int_equal(e->function, function);
}

static void test_events(void **state) {
    (void)state;
    struct writer w = begin(true);
    struct jitcode j;
    put_load(&w, 10, 0x1000, 1, "f", "code");
    put_load(&w, 11, 0x1040, 2, "g", "0123456789abcdef!");
    put_load(&w, 12, 0x1080, 3, "empty", "");
    put_move(&w, 20, 0x1000, 0x2000, 1);
    put_load(&w, 30, 0x1000, 4, "h", "code");
    put_move(&w, 40, 0x9999, 0x3000, 1); /* a wrong old address: the index tells */
    put_move(&w, 50, 0x9999, 0x3000, 9); /* nothing tells */
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    assert_int_equal(j.functions.count, 3);
    assert_int_equal(j.functions.items[1].offset, JITCODE_FIRST_OFFSET + 16);
    assert_int_equal(j.functions.items[2].offset, JITCODE_FIRST_OFFSET + 48);
    assert_int_equal(j.events.count, 7);
    check_event(&j, 0, JITCODE_APPEARS, 0x1000, 0);
    check_event(&j, 2, JITCODE_LEAVES, 0x1000, JITCODE_NONE);
    check_event(&j, 3, JITCODE_APPEARS, 0x2000, 0);
    check_event(&j, 4, JITCODE_APPEARS, 0x1000, 2);
    check_event(&j, 6, JITCODE_APPEARS, 0x3000, 0);
    assert_int_equal(j.refused, 1);
    assert_ptr_equal(jitcode_find(&j, JITCODE_FIRST_OFFSET + 16), &j.functions.items[1]);
    assert_ptr_equal(jitcode_find(&j, JITCODE_FIRST_OFFSET + 32), &j.functions.items[1]);
    assert_null(jitcode_find(&j, JITCODE_FIRST_OFFSET + 33));
    assert_null(jitcode_find(&j, JITCODE_FIRST_OFFSET - 1));
    jitcode_fini(&j);
    writer_fini(&w);
}

/* Code is believed to be there before it was announced, unless other code is known to have been. */
static void test_early(void **state) {
    (void)state;
    enum { EARLY = JITCODE_EARLY_NS, T = 1000000000 };
    struct writer w = begin(false);
    struct jitcode j;
    put_load(&w, T + 5, 0x2000, 2, "late", "code"); /* threads overtake each other */
    put_load(&w, T, 0x1000, 1, "first", "code");
    put_load(&w, T + 10, 0x1002, 3, "overlaps", "code");
    put_load(&w, T + 20, 0x1006, 4, "beside", "code");
    put_move(&w, T + 30, 0x2000, 0x3000, 2);
    put_load(&w, T + 40, 0x2000, 5, "after it left", "code");
    jitdump_record_encode(&(struct jitdump_record){.type = JITDUMP_CLOSE, .time = T + 50}, &w);
    put_load(&w, T + 60, 0x3000, 6, "after the end", "code");
    put_load(&w, 7 + 3 * (uint64_t)EARLY, UINT64_MAX - 3, 7, "last", "code");
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    static const struct {
        uint64_t time, early;
    } want[] = {
        {7 + 3 * (uint64_t)EARLY, 7 + 2 * (uint64_t)EARLY},
        {T, T - EARLY},
        {T + 5, T + 5 - EARLY},
        {T + 10, T + 10},
        {T + 20, T + 20 - EARLY},
        {T + 30, T + 30},
        {T + 30, T + 30 - EARLY},
        {T + 40, T + 30},
        {T + 50, T + 50},
        {T + 60, T + 50},
    };
    assert_int_equal(j.events.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < j.events.count; i++) {
        assert_int_equal(j.events.items[i].time, want[i].time);
        assert_int_equal(j.events.items[i].early, want[i].early);
    }
    jitcode_fini(&j);
    writer_fini(&w);
}

/* Lines belong to the LOAD with their address, whatever lies between; V8's shift is found out and undone. */
static void test_lines(void **state) {
    (void)state;
    for (unsigned shift = 0; shift <= 64; shift += 64) {
        struct writer w = begin(false);
        struct jitcode j;
        put_lines(&w, 0x1000, shift);
        put_lines(&w, 0x2000, shift);
        put_load(&w, 10, 0x3000, 1, "none", "code");
        put_load(&w, 11, 0x2000, 2, "g", "code");
        put_load(&w, 12, 0x1000, 3, "f", "code");
        assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
        assert_int_equal(j.functions.items[0].lines.size, 0);
        for (int i = 1; i < 3; i++) {
            const struct jitcode_function *f = &j.functions.items[i];
            struct bytes rest = f->lines, last = {NULL, 0};
            struct jitdump_line l;
            assert_true(jitcode_line_next(&j, f, &rest, &last, &l) && l.address == 0 && is(l.file, "a.js"));
            assert_true(jitcode_line_next(&j, f, &rest, &last, &l) && l.address == 2 && is(l.file, "a.js"));
            assert_false(jitcode_line_next(&j, f, &rest, &last, &l));
        }
        jitcode_fini(&j);
        writer_fini(&w);
    }
}

static void put_garbage(struct writer *w, uint64_t address, const char *garbage, size_t size, uint64_t count,
                        size_t padding) {
    struct writer lines = writer_make(w->swap);
    for (uint64_t i = 0; i < 2; i++) {
        writer_u64(&lines, address + 2 * i);
        writer_u32(&lines, (uint32_t)(10 + i));
        writer_u32(&lines, 1);
        writer_put(&lines, garbage, size);
    }
    writer_zero(&lines, padding);
    struct jitdump_record rec = {.type = JITDUMP_DEBUG_INFO, .time = 1};
    rec.debug_info = (struct jitdump_debug_info){address, count, writer_bytes(&lines)};
    jitdump_record_encode(&rec, w);
    writer_fini(&lines);
}

/* Names of files that are garbage: the function's own name has it, or the lines are worth nothing. */
static void test_garbage_lines(void **state) {
    (void)state;
    struct writer w = begin(true);
    struct jitcode j;
    put_garbage(&w, 0x1000, "a\0b\0cd", 7, 2, 2);
    put_load(&w, 10, 0x1000, 1, "JS:*f g /dir/a b.js:1:13", "code");
    put_garbage(&w, 0x2000, "a\0b\0cd", 7, 2, 0);
    put_load(&w, 11, 0x2000, 2, "JS:*g", "code");
    put_garbage(&w, 0x3000, "a\0b\0cd", 7, 3, 0); /* the number is wrong, too */
    put_load(&w, 12, 0x3000, 3, "JS:*h /dir/a.js:1:13", "code");
    put_garbage(&w, 0x4000, "fine\0", 5, 2, 7);
    put_load(&w, 13, 0x4000, 4, "JS:*i /dir/a.js:1:13", "code");
    put_lines(&w, 0x5000, 1 << 21); /* they lie nowhere near the code */
    put_load(&w, 14, 0x5000, 5, "JS:*j /dir/a.js:1:13", "code");
    assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
    static const char *const files[] = {"/dir/a b.js", NULL, NULL, "fine", NULL};
    for (int i = 0; i < 5; i++) {
        const struct jitcode_function *f = &j.functions.items[i];
        struct bytes rest = f->lines, last = {NULL, 0};
        struct jitdump_line l;
        for (unsigned k = 0; files[i] && k < 2; k++)
            assert_true(jitcode_line_next(&j, f, &rest, &last, &l) && l.line == 10 + k &&
                        l.address == 2 * k && is(l.file, files[i]));
        assert_false(jitcode_line_next(&j, f, &rest, &last, &l));
    }
    jitcode_fini(&j);
    writer_fini(&w);
}

/* Some headers have the time of another clock. */
static void test_start(void **state) {
    (void)state;
    static const uint64_t first[] = {7, 1000, 6, 7 + (uint64_t)86400 * 1000000000 + 1};
    for (int i = 0; i < 4; i++) {
        struct writer w = begin(false);
        struct jitcode j;
        put_load(&w, first[i], 0x1000, 1, "f", "code");
        assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
        assert_int_equal(j.header_timed, i < 2);
        assert_int_equal(j.start, i < 2 ? 7 : first[i]);
        jitcode_fini(&j);
        writer_fini(&w);
    }
}

/* Inlined calls: what is told before the LOAD comes with it; one that is shorter than it says is refused. */
static void test_inlines(void **state) {
    (void)state;
    static const char texts[] = "f\0a.c\0g\0";
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = begin(swap), body = writer_make(swap);
        struct jitcode j;
        struct jitdump_inlines in;
        struct jitdump_source source;
        writer_u64(&body, 0x1002);
        writer_u32(&body, 1);
        writer_u32(&body, 2);
        writer_u32(&body, 7);
        writer_u32(&body, 70);
        struct jitdump_record rec = {.type = JITDUMP_INLINES};
        rec.inlines = (struct jitdump_inlines){.code_addr = 0x1000,
                                               .sources = 2,
                                               .places = 1,
                                               .frames = 1,
                                               .place_bytes = {body.data, 16},
                                               .frame_bytes = {body.data + 16, 8},
                                               .source_texts = span_of(texts, sizeof texts)};
        size_t at = w.size;
        jitdump_record_encode(&rec, &w);
        assert_int_equal(bytes_load32(w.data + at, swap), JITDUMP_INLINES_ID);
        rec.inlines.places = 1 << 30;
        jitdump_record_encode(&rec, &w);
        put_load(&w, 10, 0x1000, 1, "f", "code");
        assert_true(jitcode_read(writer_bytes(&w), &j, NULL));
        assert_true(j.refused == 1 && strstr(j.damage.message, "inlined"));
        assert_true(jitdump_inlines_open(j.functions.items[0].inlines, swap, &in));
        assert_true(in.sources == 2 && in.places == 1 && in.frames == 1);
        struct jitdump_place place = jitdump_place(&in, swap, 0);
        struct jitdump_frame frame = jitdump_frame(&in, swap, 0);
        assert_true(place.address == 0x1002 && place.first == 1 && place.depth == 2);
        assert_true(frame.source == 7 && frame.line == 70);
        struct bytes rest = in.source_texts;
        assert_true(jitdump_source_next(&rest, &source) && is(source.name, "f") && is(source.file, "a.c"));
        assert_true(jitdump_source_next(&rest, &source) && is(source.name, "g") && !source.file.size);
        assert_false(jitdump_source_next(&rest, &source));
        jitcode_fini(&j);
        writer_fini(&body);
        writer_fini(&w);
    }
}

static void test_markers(void **state) {
    (void)state;
    assert_true(jitcode_is_marker("/tmp/jit-1.dump") && jitcode_is_marker("jit-42.dump"));
    assert_false(jitcode_is_marker("/tmp/jit-.dump") || jitcode_is_marker("/tmp/jit-1.dumpx") ||
                 jitcode_is_marker("/jit-1.dump/x") || jitcode_is_marker("/tmp/xjit-1.dump"));
}

/* Reads what stands in the file from `at` on; how much of it is done with. */
static size_t read_part(const struct writer *w, size_t at, size_t end, struct jitcode_history *h,
                        struct jitcode *out) {
    assert_true(jitcode_read_part((struct bytes){w->data + at, end - at}, h, out, NULL));
    assert_int_equal(out->damage.code, ERR_NONE);
    return at + (size_t)out->whole;
}

/* A file that is still being written: records that are not there yet are none, and what is told of a function
 * ahead of it is still known when it comes. */
static void test_parts(void **state) {
    (void)state;
    struct writer w = begin(false);
    struct jitcode_history h = {0};
    struct jitcode parts[3];
    put_load(&w, 100, 0x1000, 5, "f", "code");
    size_t first = w.size;
    put_lines(&w, 0x2000, 0);
    put_unwinding(&w);
    size_t told = w.size;
    put_load(&w, 200, 0x2000, 6, "g", "more");
    size_t second = w.size;
    put_move(&w, 300, 0x1000, 0x3000, 5);
    put_move(&w, 400, 0x3000, 0x4000, 5);
    size_t at = read_part(&w, 0, told + 20, &h, &parts[0]);
    assert_int_equal(at, first);
    assert_true(parts[0].functions.count == 1 && is(parts[0].functions.items[0].name, "f"));
    assert_int_equal(at + parts[0].wanted - parts[0].whole, second);
    at = read_part(&w, at, second, &h, &parts[1]);
    assert_int_equal(at, second);
    assert_int_equal(parts[1].functions.count, 1);
    const struct jitcode_function *g = parts[1].functions.items;
    assert_true(is(g->name, "g") && g->lines.size && is(g->unwinding.frame, "frame") &&
                g->offset == JITCODE_FIRST_OFFSET && parts[1].start == 7);
    at = read_part(&w, at, w.size, &h, &parts[2]);
    assert_int_equal(at, w.size);
    assert_int_equal(parts[2].functions.count, 1); /* of the first part, once */
    assert_true(is(parts[2].functions.items[0].name, "f") && parts[2].events.count == 4);
    assert_true(parts[2].events.items[3].address == 0x4000 && parts[2].events.items[3].function == 0);
    for (int i = 0; i < 3; i++)
        jitcode_fini(&parts[i]);
    jitcode_history_fini(&h);
    writer_fini(&w);
}

/* Another thread's LOAD comes between lines and theirs, and then the end of what was read; twice, as the part
 * after does not have it either. The parts are given back meanwhile. */
static void test_parts_between(void **state) {
    (void)state;
    enum { PARTS = 4 };
    struct writer w = begin(false);
    struct jitcode_history h = {0};
    struct jitcode parts[PARTS];
    size_t ends[PARTS], at = 0;
    put_lines(&w, 0x2000, 0);
    put_load(&w, 100, 0x1000, 5, "f", "code");
    ends[0] = w.size;
    put_load(&w, 150, 0x3000, 6, "g", "code");
    ends[1] = w.size;
    put_lines(&w, 0x4000, 0);
    put_load(&w, 200, 0x2000, 7, "h", "more");
    ends[2] = w.size;
    put_load(&w, 250, 0x4000, 8, "i", "more");
    ends[3] = w.size;
    uint8_t *file = w.data, *copies[PARTS];
    for (int i = 0; i < PARTS; i++) {
        struct writer part = writer_make(false);
        writer_put(&part, file + at, ends[i] - at);
        copies[i] = part.data;
        if (i)
            memset(copies[i - 1], 0x55, 16 + 16 + 32); /* the first record of the part before */
        assert_true(jitcode_read_part(writer_bytes(&part), &h, &parts[i], NULL));
        at += (size_t)parts[i].whole;
        assert_int_equal(at, ends[i]);
    }
    assert_false(parts[1].functions.items[0].lines.size);
    for (int i = 2; i < PARTS; i++) {
        const struct jitcode_function *f = parts[i].functions.items;
        struct bytes rest = f->lines, last = {NULL, 0};
        struct jitdump_line l;
        assert_true(is(f->name, i == 2 ? "h" : "i"));
        assert_true(jitcode_line_next(&parts[i], f, &rest, &last, &l) && is(l.file, "a.js") && l.line == 10);
        assert_true(jitcode_line_next(&parts[i], f, &rest, &last, &l) && is(l.file, "a.js") && l.line == 11);
        assert_false(jitcode_line_next(&parts[i], f, &rest, &last, &l));
    }
    assert_int_equal(h.lines.count, 0);
    for (int i = 0; i < PARTS; i++) {
        jitcode_fini(&parts[i]);
        free(copies[i]);
    }
    jitcode_history_fini(&h);
    writer_fini(&w);
}

/* A size that no record can have: what follows will never be found. */
static void test_parts_end(void **state) {
    (void)state;
    struct writer w = begin(false);
    struct jitcode_history h = {0};
    struct jitcode part;
    put_load(&w, 100, 0x1000, 5, "f", "code");
    writer_u32(&w, 0);
    writer_u32(&w, 3);
    writer_u64(&w, 0);
    assert_true(jitcode_read_part(writer_bytes(&w), &h, &part, NULL));
    assert_true(h.ended && part.damage.code == ERR_BROKEN && part.functions.count == 1);
    jitcode_fini(&part);
    jitcode_history_fini(&h);
    writer_fini(&w);
}

static void test_memory(void **state) {
    (void)state;
    struct writer w = begin(false);
    put_lines(&w, 0x1000, 0);
    put_load(&w, 10, 0x1000, 1, "f", "code");
    put_move(&w, 20, 0x1000, 0x2000, 1);
    struct jitcode j;
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        if (!jitcode_read(writer_bytes(&w), &j, &err))
            assert_int_equal(err.code, ERR_MEMORY);
        jitcode_fini(&j);
    });
    writer_fini(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_orders),   cmocka_unit_test(test_layout),
        cmocka_unit_test(test_no_jitdump),    cmocka_unit_test(test_cut),
        cmocka_unit_test(test_impossible),    cmocka_unit_test(test_events),
        cmocka_unit_test(test_early),         cmocka_unit_test(test_lines),
        cmocka_unit_test(test_markers),       cmocka_unit_test(test_start),
        cmocka_unit_test(test_garbage_lines), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_parts_end),
        cmocka_unit_test(test_parts_between), cmocka_unit_test(test_inlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
