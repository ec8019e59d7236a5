/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"

/* ---- images ---- */

static void test_names_without_files(void **state) {
    (void)state;
    static const struct {
        const char *name, *executable, *data;
        enum model_image_kind kind;
    } rows[] = {
        {"//anon", "/tmp/perf-7.map", "//anon", MODEL_IMAGE_ANON},
        {"//anonx", "//anonx", "//anonx", MODEL_IMAGE_FILE},
        {"/dev/zero (deleted)", "/tmp/perf-7.map", "/dev/zero (deleted)", MODEL_IMAGE_ANON},
        {"/anon_hugepage (deleted)", "/tmp/perf-7.map", "/anon_hugepage (deleted)", MODEL_IMAGE_ANON},
        {"[anon:name]", "/tmp/perf-7.map", "[anon:name]", MODEL_IMAGE_ANON},
        {"[anon_shmem:name]", "/tmp/perf-7.map", "[anon_shmem:name]", MODEL_IMAGE_ANON},
        {"[heap]", "/tmp/perf-7.map", "[heap]", MODEL_IMAGE_HEAP},
        {"[heap]x", "[heap]x", "[heap]x", MODEL_IMAGE_OTHER},
        {"[stack:12]", "/tmp/perf-7.map", "[stack:12]", MODEL_IMAGE_STACK},
        {"/SYSV00000000 (deleted)", "/tmp/perf-7.map", "/SYSV00000000 (deleted)", MODEL_IMAGE_SYSV},
        {"/memfd:x (deleted)", "/memfd:x (deleted)", "/memfd:x (deleted)", MODEL_IMAGE_MEMFD},
        {"[vdso]", "[vdso]", "[vdso]", MODEL_IMAGE_VDSO},
        {"[vdso32]", "[vdso32]", "[vdso32]", MODEL_IMAGE_VDSO},
        {"[vsyscall]", "[vsyscall]", "[vsyscall]", MODEL_IMAGE_VSYSCALL},
        {"anon_inode:[perf]", "anon_inode:[perf]", "anon_inode:[perf]", MODEL_IMAGE_OTHER},
        {"/a/b (deleted)", "/a/b (deleted)", "/a/b (deleted)", MODEL_IMAGE_FILE},
        {"", "", "", MODEL_IMAGE_FILE},
    };
    enum { N = sizeof rows / sizeof *rows };
    struct model *m = batch();
    for (size_t i = 0; i < N; i++) {
        at(m, 1, rec_map(7, 0x10000 * (i + 1), 0x1000, rows[i].name));
        at(m, 1,
           rec_mmap(U | PERFDATA_MISC_MMAP_DATA, 7, 0x10000 * (i + 1) + 0x1000, 0x1000, 0, rows[i].name));
    }
    at(m, 2, rec_fork(8, 8, 7, 7));
    at(m, 3, rec_map(8, 0x1000, 0x1000, "//anon"));
    freeze(m);
    for (size_t i = 0; i < N; i++) {
        struct model_hit hit;
        assert_dso(7, 1, 0x10000 * (i + 1), rows[i].executable);
        assert_dso(7, 1, 0x10000 * (i + 1) + 0x1000, rows[i].data);
        assert_true(model_find(m, U, 7, upto(1), 0x10000 * (i + 1), &hit));
        const struct model_image *image = model_image(m, hit.image);
        assert_int_equal(image->kind, rows[i].kind);
        assert_string_equal(image->recorded, rows[i].name);
        assert_int_equal(image->deleted, strstr(rows[i].name, "(deleted)") != NULL);
        assert_int_equal(model_mapping(m, hit.mapping).prot, PROT_EXEC);
    }
    assert_dso(8, 3, 0x10000, "/tmp/perf-7.map"); /* the code is still its parent's */
    assert_dso(8, 3, 0x1000, "/tmp/perf-8.map");
    struct model_hit hit;
    assert_true(model_find(m, U, 7, upto(1), 0x11000, &hit)); /* data */
    assert_string_equal(model_image(m, hit.image)->short_name, "anon");
    assert_true(model_find(m, U, 8, upto(3), 0x1000, &hit));
    assert_int_equal(model_image(m, hit.image)->pid, 8);
    assert_string_equal(model_image(m, hit.image)->short_name, "[JIT] tid 8");
    model_free(m);
}

static struct perfdata_record mmap2(uint64_t start, uint32_t min, uint64_t ino, uint64_t generation,
                                    const char *name) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_MMAP2,
                                    .misc = U,
                                    .mmap2 = {.pid = 1,
                                              .tid = 1,
                                              .addr = start,
                                              .len = 0x1000,
                                              .maj = 8,
                                              .min = min,
                                              .ino = ino,
                                              .ino_generation = generation,
                                              .prot = PROT_READ | PROT_EXEC,
                                              .flags = MAP_PRIVATE,
                                              .filename = rec_text(name)}};
}

static struct perfdata_record mmap2_build_id(uint64_t start, uint8_t first, uint8_t size, const char *name) {
    struct perfdata_record r = mmap2(start, 0, 0, 0, name);
    r.mmap2.has_build_id = true;
    r.mmap2.maj = 99; /* not there in this form: must not count */
    r.mmap2.build_id_size = size;
    memset(r.mmap2.build_id, first, sizeof r.mmap2.build_id);
    return r;
}

static void test_image_identity(void **state) {
    (void)state;
    struct model *m = batch();
    /* Each but the repetitions differs from the first in one thing, and comes right after it. */
    const struct perfdata_record first = mmap2(0x1000, 1, 5, 0, "/lib/a.so");
    const struct perfdata_record others[] = {
        mmap2(0x2000, 1, 5, 0, "/lib/a.so"),         mmap2(0x2000, 1, 6, 0, "/lib/a.so"),
        mmap2(0x2000, 2, 5, 0, "/lib/a.so"),         mmap2(0x2000, 1, 5, 3, "/lib/a.so"),
        mmap2(0x2000, 1, 5, 0, "/lib/a2.so"),        mmap2_build_id(0x2000, 1, 20, "/lib/a.so"),
        mmap2_build_id(0x2000, 1, 20, "/lib/a.so"),  mmap2_build_id(0x2000, 1, 8, "/lib/a.so"),
        mmap2_build_id(0x2000, 2, 255, "/lib/a.so"), /* claims more than there is */
    };
    static const uint32_t images[] = {0, 1, 2, 3, 4, 5, 5, 6, 7};
    enum { N = sizeof others / sizeof *others };
    for (uint64_t i = 0; i < N; i++) {
        at(m, 10 + i, first);
        at(m, 10 + i, others[i]);
    }
    freeze(m);
    for (uint64_t i = 0; i < N; i++) {
        struct model_hit hit;
        assert_true(model_find(m, U, 1, upto(10 + i), 0x1000, &hit));
        assert_int_equal(hit.image, 0);
        assert_true(model_find(m, U, 1, upto(10 + i), 0x2000, &hit));
        assert_int_equal(hit.image, images[i]);
        assert_int_equal(model_image(m, hit.image)->id, images[i]);
    }
    assert_int_equal(model_image_count(m), 8);
    assert_int_equal(model_image(m, 1)->ino, 6);
    assert_int_equal(model_image(m, 5)->maj, 0);
    assert_string_equal(model_image(m, 0)->short_name, "a.so");
    assert_int_equal(model_image_build_id(m, model_image(m, 0), NULL).size, 0);
    assert_int_equal(model_image_build_id(m, model_image(m, 5), NULL).size, 20);
    assert_int_equal(model_image_build_id(m, model_image(m, 6), NULL).size, 8);
    assert_int_equal(model_image_build_id(m, model_image(m, 7), NULL).size, 20);
    assert_int_equal(model_image_build_id(m, model_image(m, 7), NULL).data[19], 2);
    assert_int_equal(model_mapping(m, 0).prot, PROT_READ | PROT_EXEC);
    assert_int_equal(model_mapping(m, 0).flags, MAP_PRIVATE);
    model_free(m);
}

/* Build-ids that differ only in length or only in their bytes, one right after the other. */
static void test_build_ids_tell_images_apart(void **state) {
    (void)state;
    struct model *m = batch();
    static const struct {
        uint8_t byte, size;
        uint32_t image;
    } rows[] = {{1, 20, 0}, {1, 8, 1}, {2, 8, 2}, {1, 8, 1}, {1, 20, 0}};
    for (uint64_t i = 0; i < 5; i++)
        at(m, i, mmap2_build_id(0x1000, rows[i].byte, rows[i].size, "/a"));
    freeze(m);
    for (uint64_t i = 0; i < 5; i++) {
        struct model_hit hit;
        assert_true(model_find(m, U, 1, upto(i), 0x1000, &hit));
        assert_int_equal(hit.image, rows[i].image);
    }
    model_free(m);
}

static struct perfdata_record build_id(unsigned misc, uint8_t first, uint8_t size, const char *name) {
    struct perfdata_record r = {.type = PERFDATA_RECORD_HEADER_BUILD_ID,
                                .misc = (uint16_t)(misc | PERFDATA_MISC_BUILD_ID_SIZE),
                                .build_id = {.pid = -1, .filename = rec_text(name)}};
    memset(r.build_id.build_id, first, 20);
    r.build_id.build_id[20] = size;
    return r;
}

static void test_listed_build_ids(void **state) {
    (void)state;
    struct model *m = batch();
    at(m, 0, build_id(U, 1, 20, "/a"));
    at(m, 0, build_id(K, 2, 20, "/lib/modules/6/b.ko"));
    at(m, 0, build_id(U, 3, 20, "/lib/modules/6/c.ko")); /* some perfs said so */
    at(m, 0, build_id(K, 4, 20, "[kernel.kallsyms]"));
    at(m, 0, build_id(GK, 5, 20, "/d"));
    at(m, 1, rec_map(1, 0x1000, 0x1000, "/a"));
    at(m, 1, mmap2_build_id(0x2000, 9, 20, "/a"));
    at(m, 1, rec_mmap(K, UINT32_MAX, 0xffff000000000000, 0x1000, 0, "/lib/modules/6/b.ko"));
    at(m, 1, rec_mmap(K, UINT32_MAX, 0xffff000000001000, 0x1000, 0, "/lib/modules/6/c.ko"));
    at(m, 1, rec_mmap(K, UINT32_MAX, 0xffff000000002000, 0x1000, 0, "[kernel.kallsyms]_text"));
    at(m, 1, rec_map(1, 0x3000, 0x1000, "/d"));
    at(m, 2, build_id(U, 6, 20, "/e")); /* a pipe's may come later than the map */
    at(m, 2, rec_map(1, 0x4000, 0x1000, "/e"));
    at(m, 3, build_id(U, 7, 16, "/e"));
    freeze(m);
    static const uint8_t want[] = {1, 9, 2, 3, 4, 0, 7};
    static const bool listed[] = {true, true, true, false, true, false, true};
    for (uint32_t i = 0; i < 7; i++) {
        const struct model_image *image = model_image(m, i);
        struct bytes id = model_image_build_id(m, image, NULL);
        assert_int_equal(id.size, i == 5 ? 0 : i == 6 ? 16 : 20);
        assert_int_equal(id.size ? id.data[0] : 0, want[i]);
        assert_int_equal(model_image_listed(m, image), listed[i]);
    }
    assert_string_equal(model_image_dso(m, model_image(m, 2)), "/lib/modules/6/b.ko");
    assert_string_equal(model_image_dso(m, model_image(m, 3)), "[c]");
    model_free(m);
}

/* A map record with a tail; its filename area lies in `area` until the next call. */
static struct perfdata_record with_tail(struct writer *area, uint64_t start,
                                        const struct perfdata_evidence *e) {
    struct perfdata_record r = mmap2(start, 1, 5, 0, "");
    writer_clear(area);
    writer_put(area, "/lib/a.so\0\0\0\0\0\0", 16);
    perfdata_evidence_encode(e, area);
    r.mmap2.filename = writer_bytes(area);
    return r;
}

/* A list of build-ids goes by name: it tells what had the name last, if that can be told at all. */
static void test_replaced(void **state) {
    (void)state;
    struct model *m = batch();
    static const struct {
        uint64_t ino, generation;
        uint32_t min;
        bool replaced;
    } rows[] = {{9, 1, 1, false}, {8, 1, 2, false}, {7, 1, 1, true}, {7, 2, 1, true}};
    for (size_t i = 0; i < 4; i++) /* the first in the file is the last in time */
        at(m, 9 - i, mmap2(0x1000 * (i + 1), rows[i].min, rows[i].ino, rows[i].generation, "/lib/a.so"));
    at(m, 0, build_id(U, 5, 20, "/lib/a.so"));
    freeze(m);
    for (uint32_t i = 0; i < 4; i++) {
        bool by_name;
        assert_int_equal(model_image_replaced(m, model_image(m, i)), rows[i].replaced);
        assert_int_equal(model_image_build_id(m, model_image(m, i), &by_name).size,
                         rows[i].replaced ? 0 : 20);
        assert_int_equal(by_name, !rows[i].replaced);
    }
    model_free(m);
}

/* A file in two states is two images; what was learned at the end belongs to its state alone. */
static void test_evidence(void **state) {
    (void)state;
    struct model *m = batch();
    struct writer area = writer_make(false);
    struct perfdata_evidence e = {.has_state = true, .state = {1, 2, 3, 4, 5}}, got;
    const struct perfdata_evidence id = {.build_id_size = 8, .build_id = "12345678"};
    at(m, 1, with_tail(&area, 0x1000, &e));
    at(m, 2, with_tail(&area, 0x2000, &e));
    e.state.ctime_ns++;
    at(m, 3, with_tail(&area, 0x3000, &e));
    at(m, 4, with_tail(&area, 0x4000, &id));
    at(m, 5, mmap2(0x5000, 1, 5, 0, "/lib/a.so"));
    e.has_cookie = true;
    e.cookie[0] = 77;
    e.build_id_size = 20;
    assert_true(model_add_evidence(m, rec_text("/lib/a.so"), &e, NULL));
    freeze(m);
    static const uint32_t IMAGES[] = {0, 0, 1, 2, 3};
    for (uint64_t i = 0; i < 5; i++) {
        struct model_hit hit;
        assert_true(model_find(m, U, 1, upto(9), 0x1000 * (i + 1), &hit));
        assert_int_equal(hit.image, IMAGES[i]);
        assert_string_equal(model_image(m, hit.image)->name, "/lib/a.so");
    }
    assert_true(model_image_evidence(m, model_image(m, 0), &got));
    assert_true(got.state.ctime_ns == 5 && !got.has_cookie);
    assert_true(model_image_evidence(m, model_image(m, 1), &got));
    assert_true(got.state.ctime_ns == 6 && got.has_cookie && got.cookie[0] == 77);
    assert_int_equal(model_image_build_id(m, model_image(m, 1), NULL).size, 20);
    assert_int_equal(model_image_build_id(m, model_image(m, 2), NULL).size, 8);
    assert_false(model_image_evidence(m, model_image(m, 3), &got));
    writer_fini(&area);
    model_free(m);
}

/* Build-ids that were put in when the recording was over, into map records and lists, and such that were not.
 */
static void test_later_ids(void **state) {
    (void)state;
    struct model *m = batch();
    struct writer area = writer_make(false);
    const struct perfdata_evidence later = {.id_later = true};
    struct perfdata_record with_id = with_tail(&area, 0x1000, &later);
    with_id.mmap2.has_build_id = true;
    with_id.mmap2.build_id_size = 20;
    at(m, 1, with_id);
    with_id.mmap2.addr = 0x2000;
    with_id.mmap2.filename = rec_text("/lib/a.so");
    at(m, 1, with_id);
    at(m, 1, rec_map(1, 0x3000, 0x1000, "/lib/a.so"));
    at(m, 1, rec_map(1, 0x4000, 0x1000, "/lib/b.so"));
    struct perfdata_record listed = build_id(U, 1, 20, "/lib/b.so");
    at(m, 1, listed);
    listed.build_id.filename = with_tail(&area, 0, &later).mmap2.filename; /* /lib/a.so */
    at(m, 1, listed);
    freeze(m);
    static const bool want[] = {true, false, true, false};
    assert_int_equal(model_image_count(m), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(model_image_id_later(m, model_image(m, i)), want[i]);
    writer_fini(&area);
    model_free(m);
}

/* What perfs before 4.13 wrote of modules, in a batch and in a stream: none reaches over its neighbours. */
static void test_module_ends(void **state) {
    (void)state;
    static const char A[] = "/lib/modules/6.1/a.ko", B[] = "[b]", C[] = "[c]", LATE[] = "[late]";
    for (int streaming = 0; streaming < 2; streaming++) {
        struct model *m = new_model(MODEL_NEED_ALL, streaming);
        at(m, 0, rec_mmap(K, ~0u, 0x9000000, 0x1000000, 0x9000000, "[kernel.kallsyms]_text"));
        at(m, 0, rec_mmap(K, ~0u, 0x20000, 0x8000, 0, B));               /* reaches into C */
        at(m, 0, rec_mmap(K, ~0u, 0x24000, ~0ull - 0x24000, 0, C));      /* without an end, over the kernel */
        at(m, 0, rec_mmap(K, ~0u, 0x10000, ~0ull - 0x10000, 0, A));      /* and over B and C */
        at(m, 0, rec_mmap(K, ~0u, 0xf0000000, ~0ull >> 1, 0, "[top]"));  /* with nothing after it */
        at(m, 0, rec_mmap(K, ~0u, 0xf8000000, 0x7ffffff, 0, "[top32]")); /* to the end of 32 bits */
        at(m, 5, rec_mmap(K, ~0u, 0x22000, 0x4000, 0, LATE)); /* in B's place, which is gone by then */
        if (!streaming)
            freeze(m);
        static const struct {
            uint64_t time, address;
            const char *dso;
        } rows[] = {{1, 0x10000, "[a]"},
                    {1, 0x1ffff, "[a]"},
                    {1, 0x20000, "[b]"},
                    {1, 0x23fff, "[b]"},
                    {1, 0x24000, "[c]"},
                    {1, 0x123fff, "[c]"},
                    {1, 0x1024000, "-"}, /* far below the kernel */
                    {1, 0x9000000, "[kernel.kallsyms]"},
                    {1, 0x9ffffff, "[kernel.kallsyms]"},
                    {1, 0xf0000000, "[top]"},
                    {1, 0xf00fffff, "[top]"},
                    {1, 0xf1000000, "-"},
                    {1, 0xf80fffff, "[top32]"},
                    {1, 0xf9000000, "-"},
                    {5, 0x22000, "[late]"},
                    {5, 0x21fff, "[b]"},
                    {5, 0x26000, "[c]"}};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (!streaming || rows[i].time == 5)
                assert_string_equal(dso(m, K, 0, rows[i].time, rows[i].address), rows[i].dso);
        model_free(m);
    }
}

/* A last module without an end: what else the recording tells bounds the guess, and who knows the end says
 * it. */
static void test_guessed_ends(void **state) {
    (void)state;
    enum { TOP = 0x80000000u, OTHERS = 10 };
    static const struct {
        uint64_t longest;  /* of the other modules */
        unsigned others;   /* how many there are */
        uint64_t above;    /* code that came later, this far after it; 0: none */
        uint64_t end;      /* somebody tells that it ends there; 0: nobody */
        uint64_t expected; /* it reaches that far */
    } cases[] = {
        {0x1000, OTHERS, 0, 0, 0x10000},           {0x234000, OTHERS, 0, 0, 0x234000},
        {0x8000000, OTHERS, 0, 0, 0x1000000},      {0x1000, 2, 0, 0, 0x100000},
        {0x234000, OTHERS, 0x5000, 0, 0x5000},     {0x1000, OTHERS, 0, 0x700000, 0x700000},
        {0x1000, OTHERS, 0x5000, 0x6000, 0x5000},  {0x234000, OTHERS, 0, 0x3000, 0x3000},
        {0x1000, OTHERS, 0, 0x8000000, 0x1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *m = batch();
        at(m, 0, rec_mmap(K, ~0u, TOP, ~0ull - TOP, 0, "[last]"));
        for (unsigned j = 0; j < cases[i].others; j++)
            at(m, 0,
               rec_mmap(K, ~0u, 0x10000000 * (j / 2 + 1) + 0x8000000 * (j % 2), j ? 0x1000 : cases[i].longest,
                        0, "[a]"));
        at(m, 0, rec_map(1, TOP + 0x2000, 0x1000, "/usr/bin/program")); /* which is in no kernel's way */
        if (cases[i].above)
            at(m, 7, rec_ksymbol(TOP + cases[i].above, 64, 1, 0, "bpf_prog"));
        assert_int_equal(model_endless_count(m), 1);
        if (cases[i].end)
            model_end_module(m, 0, TOP + cases[i].end - 1);
        freeze(m);
        assert_string_equal(dso(m, K, 0, 8, TOP + cases[i].expected - 1), "[last]");
        assert_string_not_equal(dso(m, K, 0, 8, TOP + cases[i].expected), "[last]");
        model_free(m);
    }
}

/* A stream is frozen after other mappings got the ids that those of modules had. */
static void test_ends_of_streams(void **state) {
    (void)state;
    enum { GONE = 6000, KEPT = 6100, BYTES = 4 << 20 };
    const uint64_t top = 0xffffffffc0000000;
    struct model *m = new_model(MODEL_NEED_ALL, true);
    for (uint64_t i = 0; i < GONE; i++)
        at(m, 1, rec_map(2, i * BYTES, BYTES, "/gone"));
    at(m, 1, rec_mmap(K, ~0u, top, ~0ull - top, 0, "[last]"));
    for (uint64_t i = 0; i < KEPT; i++)
        at(m, 1, rec_map(1, i * BYTES, BYTES, "/kept"));
    at(m, 2, rec_exit(2, 2, 1));
    assert_true(model_retire(m, (struct model_when){3, 0}, NULL));
    assert_int_equal(model_generation(m), 1);
    assert_int_equal(model_mapping_count(m), KEPT + 1);
    freeze(m);
    for (uint64_t i = 0; i < KEPT; i++)
        assert_dso(1, 3, i * BYTES + BYTES - 1, "/kept");
    assert_string_equal(dso(m, K, 0, 3, top + 0xffffff), "[last]");
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_without_files),
        cmocka_unit_test(test_image_identity),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_module_ends),
        cmocka_unit_test(test_guessed_ends),
        cmocka_unit_test(test_ends_of_streams),
        cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_later_ids),
        cmocka_unit_test(test_build_ids_tell_images_apart),
        cmocka_unit_test(test_listed_build_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
