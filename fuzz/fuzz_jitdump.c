/* SPDX-License-Identifier: Apache-2.0 */
/* A jitdump: read, indexed, its lines walked, and what was understood written and read again. */
#include "fuzz.h"

#include "format/jitdump/jitelf.h"

static void within(struct bytes b, const uint8_t *data, size_t size) {
    FUZZ_CHECK(!b.size || (b.data >= data && b.size <= size && b.data + b.size <= data + size));
}

/* What was kept of an earlier part lies elsewhere: a sanitizer sees whether it may be read. */
static void readable(struct bytes b) {
    uint64_t sum = 0;
    for (size_t i = 0; i < b.size; i++)
        sum += b.data[i];
    __asm__ volatile("" : : "r"(sum));
}

static void walk(const struct jitcode *j, const uint8_t *data, size_t size) {
    uint64_t end = JITCODE_FIRST_OFFSET;
    for (size_t i = 0; i < j->functions.count; i++) {
        const struct jitcode_function *f = &j->functions.items[i];
        FUZZ_CHECK(f->offset >= end && f->offset + f->code.size <= j->end);
        FUZZ_CHECK(jitcode_find(j, f->offset + f->code.size - 1) == f);
        end = f->offset + f->code.size;
        within(f->name, data, size);
        within(f->code, data, size);
        within(f->unwinding.frame, data, size);
        within(f->unwinding.frame_hdr, data, size);
        struct bytes rest = f->lines, last = {NULL, 0};
        for (struct jitdump_line l; jitcode_line_next(j, f, &rest, &last, &l);)
            readable(l.file);
        readable(f->inlines);
    }
    for (size_t i = 0; i < j->events.count; i++)
        FUZZ_CHECK((j->events.items[i].kind == JITCODE_APPEARS) ==
                   (j->events.items[i].function < j->functions.count));
}

/* The file made of it. */
static void make_file(const struct jitcode *j) {
    uint8_t id[JITELF_BUILD_ID_SIZE];
    if (!j->functions.count)
        return;
    struct jitelf_part part = jitelf_part_from(j, 0, 1 << 20);
    struct writer w = jitelf_writer(j);
    FUZZ_CHECK(part.last > 0 && part.last <= j->functions.count);
    if (jitelf_write(&part, &w, id, NULL))
        for (size_t i = 0; i < part.last; i++) {
            const struct jitcode_function *f = &j->functions.items[i];
            FUZZ_CHECK(memcmp(w.data + jitelf_offset(&part, i), f->code.data, f->code.size) == 0);
        }
    writer_fini(&w);
}

/* What was read, in the other byte order. */
static void turn(const uint8_t *data, size_t size, struct writer *w) {
    struct jitdump_reader r;
    struct jitdump_header h;
    struct jitdump_record rec;
    if (!jitdump_open((struct bytes){data, size}, &r, &h, NULL))
        return;
    w->swap = !r.swap;
    jitdump_header_encode(&h, w);
    for (enum jitdump_status s; (s = jitdump_next(&r, &rec, NULL)) != JITDUMP_END && s != JITDUMP_BROKEN;)
        if (s == JITDUMP_RECORD)
            jitdump_record_encode(&rec, w);
}

/* Read as it grows it holds the same. */
static void read_in_parts(const uint8_t *data, size_t size, const struct jitcode *whole) {
    struct jitcode_history h = {0};
    struct jitcode parts[4] = {{.whole = 0}};
    size_t at = 0, events = 0, count = 0;
    for (size_t rest = 2; count < 4; rest++, count++) {
        size_t end = count == 3 ? size : at + (size - at) / rest;
        if (!h.ended && jitcode_read_part((struct bytes){data + at, end - at}, &h, &parts[count], NULL)) {
            walk(&parts[count], data, size);
            FUZZ_CHECK(parts[count].whole <= end - at && parts[count].wanted > parts[count].whole);
            at += (size_t)parts[count].whole;
            events += parts[count].events.count;
        }
    }
    FUZZ_CHECK(events == whole->events.count);
    for (size_t i = 0; i < count; i++)
        jitcode_fini(&parts[i]);
    jitcode_history_fini(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct jitcode a, b;
    struct writer w = writer_make(false);
    struct err err = ERR_INIT;
    bool read = jitcode_read((struct bytes){data, size}, &a, &err);
    if (read) {
        walk(&a, data, size);
        make_file(&a);
        read_in_parts(data, size, &a);
        turn(data, size, &w);
        FUZZ_CHECK(jitcode_read(writer_bytes(&w), &b, &err));
        FUZZ_CHECK(b.functions.count == a.functions.count && b.events.count == a.events.count);
        jitcode_fini(&b);
    }
    jitcode_fini(&a);
    writer_fini(&w);
    return 0;
}
