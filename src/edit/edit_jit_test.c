/* SPDX-License-Identifier: Apache-2.0 */
/* Files made from JIT code, and recordings that get maps of them. */
#include "tests/support/edit_recording.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "edit/edit_jit.h"
#include "format/jitdump/jitelf.h"
#include "object/build_id.h"
#include "object/dwarf/lines.h"

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* ---- a dump ---- */

static void put_load(struct writer *w, uint64_t time, uint64_t address, uint64_t index, const char *name,
                     const char *code) {
    struct jitdump_record rec = {.type = JITDUMP_LOAD, .time = time};
    rec.load = (struct jitdump_load){7, 7, address, address, index, span(name), span(code)};
    jitdump_record_encode(&rec, w);
}

/* Lines 10 at the start, 11 from byte 4 on, in reverse order. */
static void put_lines(struct writer *w, uint64_t address) {
    struct writer lines = writer_make(w->swap);
    jitdump_line_put(&(struct jitdump_line){address + 4, 11, 0, span("/src/a.js")}, &lines);
    jitdump_line_put(&(struct jitdump_line){address, 10, 2, span("\xff")}, &lines);
    struct jitdump_record rec = {.type = JITDUMP_DEBUG_INFO};
    rec.debug_info = (struct jitdump_debug_info){address, 2, writer_bytes(&lines)};
    jitdump_record_encode(&rec, w);
    writer_fini(&lines);
}

/* From byte 2 on b, called by a, called by f; from byte 4 on a alone, whose file is not known. What follows
 * is invalid: a missing frame, a missing source, an address lower than the one before, one after the code. */
static void put_inlines(struct writer *w, uint64_t address) {
    static const uint32_t places[][3] = {{0, 5, 1}, {2, 0, 3}, {4, 3, 2}, {6, 5, 1},
                                         {3, 0, 3}, {6, 6, 1}, {7, 5, 2}, {20, 0, 3}},
                          frames[][2] = {{2, 5}, {1, 7}, {0, 12}, {1, 8}, {0, 12}, {0, 13}, {3, 1}};
    enum { PLACES = sizeof places / sizeof *places, FRAMES = sizeof frames / sizeof *frames };
    static const char sources[] = "f\0/src/a.js\0a\0\0b\0/src/b.js";
    struct writer p = writer_make(w->swap), f = writer_make(w->swap);
    for (size_t i = 0; i < PLACES; i++) {
        writer_u64(&p, address + places[i][0]);
        writer_u32(&p, places[i][1]);
        writer_u32(&p, places[i][2]);
    }
    for (size_t i = 0; i < FRAMES; i++) {
        writer_u32(&f, frames[i][0]);
        writer_u32(&f, frames[i][1]);
    }
    struct jitdump_record rec = {.type = JITDUMP_INLINES};
    rec.inlines = (struct jitdump_inlines){.code_addr = address,
                                           .sources = 3,
                                           .places = PLACES,
                                           .frames = FRAMES,
                                           .place_bytes = writer_bytes(&p),
                                           .frame_bytes = writer_bytes(&f),
                                           .source_texts = {(const uint8_t *)sources, sizeof sources}};
    jitdump_record_encode(&rec, w);
    writer_fini(&p);
    writer_fini(&f);
}

/* A CIE ("zLR", addresses as distances of 4 bytes) and the FDE of 8 bytes of code. */
static void put_unwinding(struct writer *w) {
    struct writer f = writer_make(w->swap);
    static const uint8_t cie[] = {1, 'z', 'L', 'R', 0, 1, 0x78, 16, 2, 0xff, 0x1b, 0x0c, 7, 8, 0, 0};
    writer_u32(&f, 20);
    writer_u32(&f, 0);
    writer_put(&f, cie, sizeof cie);
    writer_u32(&f, 16);
    writer_u32(&f, 28); /* from here back to the CIE */
    writer_u32(&f, (uint32_t)-100);
    writer_u32(&f, 8);
    writer_u32(&f, 0);
    writer_u32(&f, 0);
    struct jitdump_record rec = {.type = JITDUMP_UNWINDING_INFO};
    rec.unwinding = (struct jitdump_unwinding){span(""), writer_bytes(&f), 0x30};
    jitdump_record_encode(&rec, w);
    writer_fini(&f);
}

enum { A = 0x10000, B = 0x10010, C = 0x20000, SECOND = 1000000000 };

/* f and g are adjacent; f moves away; h takes its place. */
static struct writer make_dump(bool swap) {
    struct writer w = writer_make(swap);
    jitdump_header_encode(
        &(struct jitdump_header){.version = 1, .machine = EM_X86_64, .pid = 7, .time = SECOND}, &w);
    put_lines(&w, A);
    put_inlines(&w, A);
    put_unwinding(&w);
    put_load(&w, 2 * (uint64_t)SECOND, A, 1, "f", "ffffffff");
    put_load(&w, 2 * (uint64_t)SECOND, B, 2, "g", "gggg");
    struct jitdump_record move = {.type = JITDUMP_MOVE, .time = 3 * (uint64_t)SECOND};
    move.move = (struct jitdump_move){7, 7, C, A, C, 8, 1};
    jitdump_record_encode(&move, &w);
    put_lines(&w, A);
    put_unwinding(&w);
    put_load(&w, 4 * (uint64_t)SECOND, A, 3, "h", "hhhhhhhh");
    return w;
}

/* ---- the file of it ---- */

static void check_symbols(const struct object_elf *e, const struct jitcode *j, size_t first,
                          struct bytes file) {
    struct object_symbols walk;
    struct object_symbol s;
    assert_true(object_symbols_open(e, SHT_SYMTAB, &walk, NULL));
    for (size_t i = first; i < j->functions.count; i++) {
        const struct jitcode_function *f = &j->functions.items[i];
        assert_true(object_symbols_next(&walk, &s));
        assert_true(bytes_equal(s.name, f->name));
        assert_int_equal(s.size, f->code.size);
        assert_int_equal(s.value, f->offset - j->functions.items[first].offset + JITCODE_FIRST_OFFSET);
        assert_int_equal(s.type, STT_FUNC);
        assert_true(bytes_equal((struct bytes){file.data + s.value, s.size}, f->code));
    }
    assert_false(object_symbols_next(&walk, &s));
}

static void check_lines(struct bytes file, uint64_t start) {
    struct object_line line;
    struct object_lines *lines = object_lines_new(file, (struct bytes){NULL, 0}, NULL);
    if (!lines && !object_lines_supported()) {
        print_message("SKIP lines: built without libdw\n");
        return;
    }
    assert_non_null(lines);
    static const uint32_t want[] = {10, 10, 10, 10, 11, 11, 11, 11};
    for (uint64_t i = 0; i < 8; i++) {
        assert_true(object_lines_find(lines, start + i, &line));
        assert_int_equal(line.line, want[i]);
        assert_string_equal(line.file, "/src/a.js");
    }
    assert_false(object_lines_find(lines, start + 8, &line));
    object_lines_free(lines);
}

static void check_inlines(struct bytes file, uint64_t start) {
    static const struct {
        const char *names;
        uint32_t lines[3];
    } want[] = {[0] = {"f", {10}},          [1] = {"f", {10}},      [2] = {"baf", {10, 7, 12}},
                [3] = {"baf", {10, 7, 12}}, [4] = {"af", {11, 12}}, [5] = {"af", {11, 12}},
                [6] = {"f", {11}},          [7] = {"f", {11}}};
    struct object_lines *lines = object_lines_new(file, (struct bytes){NULL, 0}, NULL);
    for (uint64_t i = 0; lines && i < 8; i++) {
        struct object_inline out[4];
        size_t n = object_lines_inlined(lines, start + i, out, 4);
        assert_int_equal(n, strlen(want[i].names));
        for (size_t k = 0; k < n; k++) {
            assert_true(out[k].name[0] == want[i].names[k] && !out[k].name[1]);
            if (!(want[i].names[0] == 'b' && k == 1)) /* the call is in a, which has no file */
                assert_int_equal(out[k].line.line, want[i].lines[k]);
        }
    }
    object_lines_free(lines);
}

/* The search table leads from each function that has one to an FDE that starts there. */
static void check_unwinding(const struct object_elf *e, struct bytes file, const uint64_t *starts,
                            size_t count) {
    struct object_section hdr;
    bool swap = e->swap;
    assert_true(object_elf_section_named(e, ".eh_frame_hdr", &hdr));
    const uint8_t *p = file.data + hdr.offset;
    assert_int_equal(hdr.offset, hdr.addr);
    assert_int_equal(hdr.size, 12 + 8 * count);
    assert_int_equal(bytes_load32(p + 8, swap), count);
    for (size_t i = 0; i < count; i++) {
        uint64_t start = hdr.offset + (uint64_t)(int32_t)bytes_load32(p + 12 + 8 * i, swap);
        uint64_t fde = hdr.offset + (uint64_t)(int32_t)bytes_load32(p + 16 + 8 * i, swap);
        assert_int_equal(start, starts[i]);
        assert_int_equal(fde + 8 + (uint64_t)(int32_t)bytes_load32(file.data + fde + 8, swap), starts[i]);
        assert_int_equal(bytes_load32(file.data + fde + 12, swap), 8);
        uint64_t cie = fde + 4 - bytes_load32(file.data + fde + 4, swap);
        assert_int_equal(bytes_load32(file.data + cie + 4, swap), 0);
        assert_memory_equal(file.data + cie + 9, "zLR", 4);
    }
}

static void test_file(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer dump = make_dump(swap), w;
        struct jitcode j;
        struct object_elf e;
        struct object_build_id note;
        uint8_t id[JITELF_BUILD_ID_SIZE], other[JITELF_BUILD_ID_SIZE];
        assert_true(jitcode_read(writer_bytes(&dump), &j, NULL));
        struct jitelf_part all = jitelf_part_from(&j, 0, 1 << 30);
        assert_true(all.first == 0 && all.last == 3);
        w = jitelf_writer(&j);
        assert_true(jitelf_write(&all, &w, id, NULL));
        struct bytes file = writer_bytes(&w);
        assert_true(object_elf_open(file, &e, NULL));
        assert_true(e.wide && e.swap == (bool)swap && e.machine == EM_X86_64 && e.type == ET_DYN);
        assert_true(object_build_id_read(file, &note) && note.size == sizeof id);
        assert_memory_equal(note.bytes, id, sizeof id);
        check_symbols(&e, &j, 0, file);
        check_lines(file, 0x1000);
        check_lines(file, 0x1020);
        check_inlines(file, 0x1000);
        check_unwinding(&e, file, (const uint64_t[]){0x1000, 0x1020}, 2);
        writer_fini(&w);
        /* A part of it. */
        struct jitelf_part rest = jitelf_part_from(&j, 1, 1);
        assert_true(rest.first == 1 && rest.last == 2);
        rest.last = 3;
        w = jitelf_writer(&j);
        assert_true(jitelf_write(&rest, &w, other, NULL));
        assert_true(object_elf_open(writer_bytes(&w), &e, NULL));
        assert_memory_not_equal(other, id, sizeof id);
        check_symbols(&e, &j, 1, writer_bytes(&w));
        check_lines(writer_bytes(&w), 0x1010);
        writer_fini(&w);
        jitcode_fini(&j);
        writer_fini(&dump);
    }
}

/* ---- a recording ---- */

static void put_record(struct writer *data, const struct perfdata_plan *plan, struct perfdata_record rec,
                       uint64_t time) {
    rec.id = (struct perfdata_sample_id){.have = plan->sample_type, .time = time, .identifier = 1};
    perfdata_record_encode(&rec, plan, data);
}

static void put_map(struct writer *data, const struct perfdata_plan *plan, uint64_t time, uint32_t pid,
                    uint64_t start, uint64_t len, const char *name) {
    char text[128] = "";
    size_t size = (strlen(name) + 8) & ~(size_t)7;
    memcpy(text, name, strlen(name));
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP2, .misc = PERFDATA_MISC_USER};
    rec.mmap2 = (struct perfdata_mmap2){.pid = pid,
                                        .tid = pid,
                                        .addr = start,
                                        .len = len,
                                        .pgoff = start,
                                        .prot = PROT_EXEC,
                                        .filename = {(const uint8_t *)text, size}};
    put_record(data, plan, rec, time);
}

struct made {
    char dir[64], dump[128], marker[128];
    struct writer file;
};

/* The marker, memory without a file around all code in two processes, and later another such map. */
static void make(struct made *m) {
    *m = (struct made){.dir = "/tmp/sonde-edit-jit-XXXXXX"};
    assert_non_null(mkdtemp(m->dir));
    snprintf(m->dump, sizeof m->dump, "%s/jit-7.dump", m->dir);
    struct writer dump = make_dump(false);
    FILE *f = fopen(m->dump, "w");
    assert_true(f && fwrite(dump.data, 1, dump.size, f) == dump.size && fclose(f) == 0);
    writer_fini(&dump);
    struct perfdata_events events;
    perfdata_events_init(&events, false);
    edit_recording_event(&events, PERFDATA_ATTR_USE_CLOCKID, 1); /* CLOCK_MONOTONIC */
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    struct writer data = writer_make(false);
    put_map(&data, plan, SECOND, 7, 0x5000, 0x1000, m->dump);
    put_map(&data, plan, SECOND + 1, 7, 0xf000, 0x3000, "//anon");
    put_map(&data, plan, SECOND + 2, 8, 0xf000, 0x3000, "//anon");
    put_map(&data, plan, SECOND + 3, 7, 0x30000, 0x1000, "//anon");
    put_map(&data, plan, 3 * (uint64_t)SECOND + 1, 7, 0xf000, 0x12000, "/memfd:jit (deleted)");
    put_map(&data, plan, 4 * (uint64_t)SECOND + 1, 7, A, 8, "//anon");
    m->file = edit_recording_file(&events, &data, NULL, 0);
}

static void unmake(struct made *m) {
    char path[160];
    static const char *const names[] = {"jit-7.dump", "jitted-7.so", "jitted-7-1.so", "jitted-7-2.so",
                                        "jitted-7-3.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", m->dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(m->dir), 0);
    writer_fini(&m->file);
}

/* Runs the editor on `from`: m's recording, or an earlier result. Files go to m's folder. */
static struct writer inject(const struct made *m, const struct writer *from, enum edit_jit_mode mode,
                            uint64_t maps) {
    struct writer out = writer_make(false);
    struct copy_sink sink = edit_recording_sink(&out, false);
    struct copy_result result;
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory(writer_bytes(from), &(struct stream_options){0}, &err);
    struct edit_jit *j =
        s ? edit_jit_new(&(struct edit_jit_options){.mode = mode, .folder = m->dir}, s, &err) : NULL;
    assert_non_null(j);
    assert_true(copy_recording(s, &sink, edit_jit_editor(j), &result, &err));
    assert_int_equal(edit_jit_counts(j).maps, maps);
    edit_jit_free(j);
    stream_close(s);
    return out;
}

/* Compares "TIME PID START LEN PGOFF NAME" of each record, with times in ms and the last part of the name. */
static void check_maps(const struct writer *file, const char *const *want) {
    struct stream *s = stream_open_memory(writer_bytes(file), &(struct stream_options){0}, NULL);
    struct stream_record r;
    struct perfdata_record rec;
    uint64_t last = 0;
    assert_non_null(s);
    for (; stream_next(s, &r, NULL) == STREAM_RECORD; want++) {
        char line[256];
        assert_true(perfdata_record_decode(&r.raw, &stream_events(s)->list.items[0].plan, false, &rec, NULL));
        assert_true(r.has_time && r.time_ns >= last);
        last = r.time_ns;
        const struct perfdata_mmap2 *m = &rec.mmap2;
        const char *slash = strrchr((const char *)m->filename.data, '/');
        snprintf(line, sizeof line, "%u %u %x %x %x %s", (unsigned)(r.time_ns / 1000000), m->pid,
                 (unsigned)m->addr, (unsigned)m->len, (unsigned)m->pgoff, slash + 1);
        assert_non_null(*want);
        assert_string_equal(line, *want);
        assert_int_equal(m->has_build_id, strncmp(slash, "/jitted", 7) == 0);
    }
    assert_null(*want);
    assert_true(stream_all_read(s));
    stream_close(s);
}

static void test_one(void **state) {
    (void)state;
    static const char *const want[] = {
        "1000 7 5000 1000 5000 jit-7.dump",
        "1000 7 f000 1000 f000 anon",
        "1000 7 10014 1fec 10014 anon",
        "1000 8 f000 3000 f000 anon",
        "1000 7 30000 1000 30000 anon",
        "1900 7 10000 8 1000 jitted-7.so",
        "1900 7 10010 4 1010 jitted-7.so",
        "2900 7 20000 8 1000 jitted-7.so", /* moved to where nothing was known before */
        "3000 7 f000 1000 f000 memfd:jit (deleted)",
        "3000 7 10014 ffec 10014 memfd:jit (deleted)",
        "3000 7 20008 ff8 20008 memfd:jit (deleted)",
        "3900 7 10000 8 1020 jitted-7.so", /* where something was until it moved, for longer */
        NULL};
    struct made m;
    make(&m);
    struct writer out = inject(&m, &m.file, EDIT_JIT_ONE, 4);
    check_maps(&out, want);
    /* A second run changes nothing. */
    struct writer again = inject(&m, &out, EDIT_JIT_ONE, 0);
    assert_true(bytes_equal(writer_bytes(&out), writer_bytes(&again)));
    writer_fini(&again);
    writer_fini(&out);
    unmake(&m);
}

static void test_other_modes(void **state) {
    (void)state;
    static const char *const files[] = {"1000 7 5000 1000 5000 jit-7.dump",
                                        "1000 7 f000 1000 f000 anon",
                                        "1000 7 10014 1fec 10014 anon",
                                        "1000 8 f000 3000 f000 anon",
                                        "1000 7 30000 1000 30000 anon",
                                        "1900 7 10000 38 1000 jitted-7-1.so",
                                        "1900 7 10010 4 1000 jitted-7-2.so",
                                        "2900 7 20000 38 1000 jitted-7-1.so",
                                        "3000 7 f000 1000 f000 memfd:jit (deleted)",
                                        "3000 7 10014 ffec 10014 memfd:jit (deleted)",
                                        "3000 7 20008 ff8 20008 memfd:jit (deleted)",
                                        "3900 7 10000 38 1000 jitted-7-3.so",
                                        NULL};
    static const char *const dropped[] = {"1000 7 5000 1000 5000 jit-7.dump",
                                          "1000 8 f000 3000 f000 anon",
                                          "1900 7 10000 8 1000 jitted-7.so",
                                          "1900 7 10010 4 1010 jitted-7.so",
                                          "2900 7 20000 8 1000 jitted-7.so",
                                          "3000 7 f000 1000 f000 memfd:jit (deleted)",
                                          "3000 7 10014 ffec 10014 memfd:jit (deleted)",
                                          "3000 7 20008 ff8 20008 memfd:jit (deleted)",
                                          "3900 7 10000 8 1020 jitted-7.so",
                                          NULL};
    struct made m;
    make(&m);
    struct writer out = inject(&m, &m.file, EDIT_JIT_FILES, 4);
    check_maps(&out, files);
    writer_fini(&out);
    out = inject(&m, &m.file, EDIT_JIT_DROP_ANON, 4);
    check_maps(&out, dropped);
    writer_fini(&out);
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_one),
                                       cmocka_unit_test(test_other_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
