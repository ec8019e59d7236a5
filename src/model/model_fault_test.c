/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out, and input made to use much of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"
#include "tests/support/fail_alloc.h"

/* ---- the n-th allocation fails ---- */

/* One of everything, over several processes, so that every table grows and the tree is built. False: out of
 * memory.
 */
static bool apply_everything(struct model *m, struct err *err) {
    static const uint8_t words[32] = {1}, code[8] = {1};
    const struct perfdata_record once[] = {
        rec_comm(1, 1, "one"),
        rec_mmap(PERFDATA_MISC_KERNEL, UINT32_MAX, 0xffffffff81000000, 0x1000, 0, "[kernel.kallsyms]_text"),
        rec_mmap(PERFDATA_MISC_KERNEL, UINT32_MAX, 0xffffffffa0000000, 0x1000, 0, "/lib/modules/6/a-b.ko"),
        rec_mmap(PERFDATA_MISC_GUEST_KERNEL, 5, 0xffffffff81000000, 0x1000, 0,
                 "[guest.kernel.kallsyms]_text"),
        rec_ksymbol(0xffffffffc0000000, 100, 1, 0, "bpf_prog_1"),
        rec_ksymbol(0xffffffffc0000000, 100, 1, 1, "bpf_prog_1"),
        rec_map(1, 0x8000000, 0x1000, "//anon"),
        {.type = PERFDATA_RECORD_HEADER_BUILD_ID,
         .misc = PERFDATA_MISC_USER,
         .build_id = {.filename = rec_text("/lib/a.so")}},
        {.type = PERFDATA_RECORD_THREAD_MAP, .thread_map = {.nr = 1, .entries = {words, 24}}},
        {.type = PERFDATA_RECORD_NAMESPACES,
         .namespaces = {.pid = 1, .tid = 1, .nr = 2, .links = {words, 4, false}}},
        {.type = PERFDATA_RECORD_CGROUP, .cgroup = {7, rec_text("/group")}},
        {.type = PERFDATA_RECORD_TEXT_POKE, .text_poke = {0x100, 2, 3, {code, 8}}},
        {.type = PERFDATA_RECORD_BPF_EVENT, .bpf_event = {.type = 1, .id = 42}},
    };
    uint64_t order = 0;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++, order++)
        if (!model_apply(m, &once[i], (struct model_when){order, order}, err))
            return false;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t pid = 100 + i % 13;
        const struct perfdata_record each[] = {
            rec_fork(pid, pid, 1, 1),
            rec_exec(pid, "tool"),
            rec_map(pid, 0x1000 * (uint64_t)(i % 20), 0x1800, "/lib/a.so"),
            rec_map(1, 0x1000 * (uint64_t)(i % 20), 0x1800, "/lib/b.so"),
            rec_fork(pid, 1000 + i, pid, pid),
            rec_exit(pid, i % 2 ? pid : 1000 + i, 1),
        };
        for (size_t k = 0; k < sizeof each / sizeof *each; k++, order++)
            if (!model_apply(m, &each[k], (struct model_when){order, order}, err))
                return false;
    }
    return true;
}

static bool ask(const struct model *m) {
    struct model_pieces pieces = {0};
    struct model_hit hit;
    bool ok = model_pieces_at(m, MODEL_SPACE_USER, 1, MODEL_WHEN_END, &pieces);
    if (ok) {
        assert_true(pieces.list.count >= 20);
        assert_true(model_find(m, PERFDATA_MISC_USER, 1, MODEL_WHEN_END, 0x8000010, &hit));
        assert_string_equal(model_image(m, hit.image)->name, "/tmp/perf-1.map");
    }
    vec_fini(&pieces.list);
    return ok;
}

static void run(bool streaming) {
    struct err err = ERR_INIT;
    struct model *m =
        model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = streaming}, &err);
    bool ok = m && apply_everything(m, &err) && model_freeze(m, &err);
    assert_true(ok || err.code == ERR_MEMORY);
    if (ok)
        ask(m);
    model_free(m);
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(run(false));
    FAIL_EACH_ALLOC(run(true));
}

/* A failure costs its record, not the model: what is applied again afterwards is there. */
static void test_model_goes_on_after_a_failure(void **state) {
    (void)state;
    for (int streaming = 0; streaming < 2; streaming++) {
        bool hit = true;
        for (long n = 0; hit; n++) {
            struct model *m =
                model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = streaming}, NULL);
            assert_non_null(m);
            fail_alloc_after(n);
            apply_everything(m, NULL);
            hit = fail_alloc_hit();
            assert_true(apply_everything(m, NULL));
            assert_true(model_freeze(m, NULL));
            assert_true(ask(m));
            model_free(m);
        }
    }
}

/* A retirement that fails changes nothing. */
static void test_retire_fails(void **state) {
    (void)state;
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    assert_non_null(m);
    for (int i = 0; i < 20; i++)
        assert_true(apply_everything(m, NULL));
    bool hit = true;
    for (long n = 0; hit; n++) {
        struct err err = ERR_INIT;
        uint32_t mappings = model_mapping_count(m);
        fail_alloc_after(n);
        bool ok = model_retire(m, MODEL_WHEN_END, &err);
        hit = fail_alloc_hit();
        assert_true(ok != hit);
        if (ok) {
            assert_true(model_mapping_count(m) < mappings);
        } else {
            assert_int_equal(err.code, ERR_MEMORY);
            assert_int_equal(model_mapping_count(m), mappings);
        }
        assert_true(ask(m));
    }
    model_free(m);
}

/* ---- much of it ---- */

enum { MANY = 100000 };

/* Bytes that a batch of MANY records ends up with, for each record. */
static size_t bytes_each(struct perfdata_record (*record)(uint32_t i)) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    assert_non_null(m);
    for (uint32_t i = 0; i < MANY; i++) {
        struct perfdata_record rec = record(i);
        assert_true(model_apply(m, &rec, (struct model_when){i, i}, NULL));
    }
    assert_true(model_freeze(m, NULL));
    size_t bytes = model_memory_bytes(m) / MANY;
    struct model_hit hit;
    for (uint32_t i = 0; i < MANY; i++)
        model_find(m, PERFDATA_MISC_USER, i, (struct model_when){i, i}, i, &hit);
    model_free(m);
    return bytes;
}

static struct perfdata_record overlapping(uint32_t i) {
    return rec_map(1, (uint64_t)i * 7919 % 1000003, 1 + (uint64_t)i * 104729 % 500009, "/a");
}
static struct perfdata_record nested(uint32_t i) {
    return rec_map(1, i, 3 * (uint64_t)MANY - 2 * i, "/a");
}
static struct perfdata_record apart(uint32_t i) {
    return rec_map(1, (uint64_t)((uint64_t)i * 7919 % 100003) << 13, 0x1000, "/a");
}
static struct perfdata_record chain(uint32_t i) {
    return i % 2 ? rec_map(i / 2 + 1, (uint64_t)i << 13, 0x1000, "/a")
                 : rec_fork(i / 2 + 1, i / 2 + 1, i / 2, i / 2);
}
static struct perfdata_record self(uint32_t i) {
    return i % 2 ? rec_map(1, (uint64_t)i << 13, 0x1000, "/a") : rec_fork(1, 1, 1, 1);
}
static struct perfdata_record cycle(uint32_t i) {
    uint32_t p = 1 + i / 2 % 3;
    return i % 2 ? rec_map(p, (uint64_t)i << 13, 0x1000, "/a") : rec_fork(p, p, 1 + p % 3, 1 + p % 3);
}
static struct perfdata_record renamed(uint32_t i) {
    return rec_comm(1, 1, i % 2 ? "a" : "b");
}
/* Half of them map piece by piece; then as many children each cover all of that with one mapping. */
static struct perfdata_record covered(uint32_t i) {
    if (i < MANY / 2)
        return rec_map(1, (uint64_t)i << 13, 0x1000, "/a");
    return i % 2 ? rec_map(i, 0, 1ull << 40, "/b") : rec_fork(i + 1, i + 1, 1, 1);
}

/* Memory for each record grows with the logarithm of their number at most; a quadratic or recursive algorithm
 * would not come back from here. */
static void test_hostile_input(void **state) {
    (void)state;
    assert_in_range(bytes_each(overlapping), 1, 200);
    assert_in_range(bytes_each(nested), 1, 250);
    assert_in_range(bytes_each(apart), 1, 600);
    assert_in_range(bytes_each(chain), 1, 600);
    assert_in_range(bytes_each(self), 1, 600);
    assert_in_range(bytes_each(cycle), 1, 800);
    assert_in_range(bytes_each(covered), 1, 400);
    assert_in_range(bytes_each(renamed), 1, 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_model_goes_on_after_a_failure),
        cmocka_unit_test(test_retire_fails),
        cmocka_unit_test(test_hostile_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
