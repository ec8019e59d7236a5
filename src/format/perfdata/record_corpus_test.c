/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every record and sample of the corpus (real recordings of many producers, kept outside the project)
 * decodes, encodes to the same bytes, and adds up to what an unrelated analyser counted (expected.tsv). The
 * corpus is looked for in $SONDE_CORPUS, then beside the source tree.
 */
#include "format/perfdata/perfdata_test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "format/perfdata/header/header.h"
#include "format/perfdata/record.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { COLUMNS = 28 };
enum {
    COLUMN_FILE = 0,
    COLUMN_SAMPLES = 12,
    COLUMN_PERIODS = 13,
    COLUMN_RECORDS = 14,
    COLUMN_CHAIN = 16,
    COLUMN_BRANCHES = 17,
    COLUMN_RAW = 19,
    COLUMN_LOST = 20,
    COLUMN_LOST_SAMPLES = 21,
    COLUMN_ERRORS = 25,
};

struct counts {
    uint64_t records, failed, samples, periods, chain, branches, raw, lost, lost_samples;
};

struct file {
    const char *name;
    struct perfdata_header header;
    struct perfdata_events events;
    bool legacy; /* ChromeOS's old pipes use the types from 69 on for other things */
    struct counts counts;
    struct writer again, inflated;
#ifdef HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

static const char *corpus_dir(void) {
    const char *dir = getenv("SONDE_CORPUS");
    return dir ? dir : SONDE_TEST_CORPUS;
}

static struct bytes slurp(const char *dir, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return (struct bytes){NULL, 0};
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    uint8_t *data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
    data[st.st_size] = 0;
    fclose(f);
    return (struct bytes){data, (size_t)st.st_size};
}

static void check_sample(struct file *f, const struct perfdata_raw *raw) {
    uint32_t index = perfdata_events_find(&f->events, raw->type, raw->body);
    f->counts.samples++;
    if (index == PERFDATA_NO_EVENT)
        return;
    const struct perfdata_plan *plan = &f->events.list.items[index].plan;
    struct perfdata_sample s;
    if (!perfdata_sample_decode(plan, raw->body, ~0ull, &s)) {
        f->counts.failed++;
        return;
    }
    f->counts.periods += s.have & PERFDATA_SAMPLE_PERIOD ? s.period : 0;
    f->counts.chain += s.have & PERFDATA_SAMPLE_CALLCHAIN ? s.callchain.count : 0;
    f->counts.branches += s.have & PERFDATA_SAMPLE_BRANCH_STACK ? s.branch_count : 0;
    f->counts.raw += (s.have & PERFDATA_SAMPLE_RAW) != 0;
    writer_clear(&f->again);
    perfdata_sample_encode(plan, &s, &f->again);
    assert_bytes(writer_bytes(&f->again), raw->body.data, raw->body.size);
}

static void ignore(void *ctx, const struct perfdata_value *v) {
    uint64_t *n = ctx;
    *n += v->bytes.size;
}

static void inflate(struct file *f, struct bytes data) {
#ifdef HAVE_ZSTD
    if (!f->zstd)
        f->zstd = ZSTD_createDStream();
    ZSTD_inBuffer in = {data.data, data.size, 0};
    while (in.pos < in.size) {
        uint8_t buffer[65536];
        ZSTD_outBuffer out = {buffer, sizeof buffer, 0};
        size_t r = ZSTD_decompressStream(f->zstd, &out, &in);
        assert_false(ZSTD_isError(r));
        writer_put(&f->inflated, buffer, out.pos);
    }
#else
    (void)f;
    (void)data;
#endif
}

static void check_record(struct file *f, const struct perfdata_raw *raw, const uint8_t *start) {
    uint32_t index = perfdata_events_find(&f->events, raw->type, raw->body);
    const struct perfdata_plan *plan = index == PERFDATA_NO_EVENT ? NULL : &f->events.list.items[index].plan;
    struct perfdata_record rec;
    const char *reason = NULL;
    if (!perfdata_record_decode(raw, plan, f->header.swap, &rec, &reason)) {
        f->counts.failed++;
        return;
    }
    uint64_t n = 0;
    perfdata_record_describe(&rec, ignore, &n);
    writer_clear(&f->again);
    perfdata_record_encode(&rec, plan, &f->again);
    assert_bytes(writer_bytes(&f->again), start, raw->size);
    if (raw->type == PERFDATA_RECORD_LOST)
        f->counts.lost += rec.lost.lost;
    if (raw->type == PERFDATA_RECORD_LOST_SAMPLES)
        f->counts.lost_samples += rec.lost_samples.lost;
    if (raw->type == PERFDATA_RECORD_HEADER_ATTR)
        perfdata_events_add(&f->events, &rec.header_attr.attr, &rec.header_attr.ids);
    if (raw->type == PERFDATA_RECORD_COMPRESSED || raw->type == PERFDATA_RECORD_COMPRESSED2)
        inflate(f, rec.compressed.data);
}

/* Walks records; stops where they stop making sense, as recovery is the stream's business. */
static void walk(struct file *f, struct bytes data) {
    bool swap = f->header.swap;
    for (size_t at = 0; data.size - at >= PERFDATA_HEADER_SIZE;) {
        const uint8_t *p = data.data + at;
        struct perfdata_raw raw = {.type = bytes_load32(p, swap), .misc = bytes_load16(p + 4, swap)};
        raw.size = perfdata_record_size(raw.type, raw.misc, bytes_load16(p + 6, swap));
        if (raw.size < PERFDATA_HEADER_SIZE || raw.size > data.size - at)
            break;
        raw.body = (struct bytes){p + PERFDATA_HEADER_SIZE, raw.size - PERFDATA_HEADER_SIZE};
        bool legacy = f->legacy && raw.type > PERFDATA_RECORD_FINISHED_ROUND;
        uint64_t payload = 0;
        if (!legacy && !perfdata_record_payload_size(&raw, swap, &payload))
            break;
        f->counts.records++;
        if (raw.type == PERFDATA_RECORD_SAMPLE)
            check_sample(f, &raw);
        else if (!legacy)
            check_record(f, &raw, p);
        at += raw.size;
        if (payload > data.size - at)
            break;
        at += payload;
    }
}

static void assert_column(const struct file *f, char *const *column, int i, uint64_t got) {
    if (strtoull(column[i], NULL, 10) != got)
        fail_msg("%s: column %d: expected %s, got %llu", f->name, i + 1, column[i], (unsigned long long)got);
}

static void check_file(const char *dir, char *const *column, struct counts *total) {
    struct file f = {.name = column[COLUMN_FILE],
                     .legacy = strstr(column[COLUMN_RECORDS], "GLEGACY") != NULL};
    struct bytes bytes = slurp(dir, f.name);
    uint32_t problems = 0;
    struct err err = ERR_INIT;
    assert_non_null(bytes.data);
    bool compressed = strstr(column[COLUMN_RECORDS], "COMPRESSED") != NULL;
    if (perfdata_header_parse(bytes, &f.header, &f.events, &problems, &err)) {
        f.again = writer_make(f.header.swap);
        struct bytes data = {bytes.data + f.header.size, bytes.size - f.header.size};
        if (f.header.container == PERFDATA_CONTAINER_FILE) {
            uint64_t start = f.header.data.offset < bytes.size ? f.header.data.offset : bytes.size;
            uint64_t left = bytes.size - start;
            data = (struct bytes){bytes.data + start, f.header.data.size < left ? f.header.data.size : left};
        }
        walk(&f, data);
        struct bytes inflated = writer_bytes(&f.inflated);
        if (inflated.size)
            walk(&f, inflated);
        if (!strcmp(column[COLUMN_ERRORS], "-") && (!compressed || inflated.size)) {
            if (f.counts.failed)
                fail_msg("%s: %llu records failed", f.name, (unsigned long long)f.counts.failed);
            assert_column(&f, column, COLUMN_SAMPLES, f.counts.samples);
            assert_column(&f, column, COLUMN_PERIODS, f.counts.periods);
            assert_column(&f, column, COLUMN_CHAIN, f.counts.chain);
            assert_column(&f, column, COLUMN_BRANCHES, f.counts.branches);
            assert_column(&f, column, COLUMN_RAW, f.counts.raw);
            assert_column(&f, column, COLUMN_LOST, f.counts.lost);
            assert_column(&f, column, COLUMN_LOST_SAMPLES, f.counts.lost_samples);
        } else
            print_message("%s: damaged (%s): %llu records, %llu undecodable\n", f.name, column[COLUMN_ERRORS],
                          (unsigned long long)f.counts.records, (unsigned long long)f.counts.failed);
        perfdata_header_fini(&f.header);
        perfdata_events_fini(&f.events);
    } else
        print_message("%s: %s\n", f.name, err.message);
    total->records += f.counts.records;
    total->samples += f.counts.samples;
    total->failed += f.counts.failed;
    writer_fini(&f.again);
    writer_fini(&f.inflated);
#ifdef HAVE_ZSTD
    ZSTD_freeDStream(f.zstd);
#endif
    free((void *)bytes.data);
}

static void corpus_round_trips(void **state) {
    (void)state;
    const char *dir = corpus_dir();
    struct bytes table = slurp(dir, "expected.tsv");
    char *lines = (char *)table.data;
    struct counts total = {0};
    unsigned files = 0;
    assert_non_null(strsep(&lines, "\n")); /* the headings */
    for (char *line; (line = strsep(&lines, "\n"));) {
        char *column[COLUMNS] = {NULL};
        int n = 0;
        for (char *field; n < COLUMNS && (field = strsep(&line, "\t"));)
            column[n++] = field;
        if (n <= COLUMN_ERRORS)
            continue;
        check_file(dir, column, &total);
        files++;
    }
    assert_true(files > 0);
    print_message("%u files, %llu records, %llu of them samples, %llu undecodable\n", files,
                  (unsigned long long)total.records, (unsigned long long)total.samples,
                  (unsigned long long)total.failed);
    free((void *)table.data);
}

int main(void) {
    struct bytes table = slurp(corpus_dir(), "expected.tsv");
    if (!table.data) {
        printf("SKIP: no corpus in %s (set SONDE_CORPUS)\n", corpus_dir());
        return 77;
    }
    free((void *)table.data);
    const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_round_trips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
