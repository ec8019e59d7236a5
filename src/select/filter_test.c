/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "select/filter.h"

/* Threads 10/10 "one" and 10/11 "two"; 20/20 has no name. */
static struct model *names(void) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_COMMS}, NULL);
    static const struct {
        uint32_t tid;
        const char *comm;
    } rows[] = {{10, "one"}, {11, "two"}};
    for (size_t i = 0; i < 2; i++) {
        struct perfdata_record rec = {.type = PERFDATA_RECORD_COMM};
        rec.comm.pid = 10;
        rec.comm.tid = rows[i].tid;
        rec.comm.comm = (struct bytes){(const uint8_t *)rows[i].comm, 4};
        assert_true(model_apply(m, &rec, (struct model_when){1, i}, NULL));
    }
    assert_true(model_freeze(m, NULL));
    return m;
}

static bool passes(const struct filter_options *o, uint32_t cpu, uint32_t pid, uint32_t tid) {
    struct filter f = {0};
    struct model *m = names();
    struct perfdata_sample s = {.pid = pid, .tid = tid, .cpu = cpu};
    assert_true(filter_parse(o, &f, NULL));
    bool passed = filter_sample(&f, m, &s, (struct model_when){9, 9});
    filter_fini(&f);
    model_free(m);
    return passed;
}

static void test_numbers(void **state) {
    (void)state;
    assert_true(passes(&(struct filter_options){0}, UINT32_MAX, 10, 10));
    struct filter_options cpus = {.cpus = "0,2-3"};
    assert_true(passes(&cpus, 0, 10, 10));
    assert_false(passes(&cpus, 1, 10, 10));
    assert_true(passes(&cpus, 2, 10, 10));
    assert_true(passes(&cpus, 3, 10, 10));
    assert_false(passes(&cpus, 4, 10, 10));
    assert_false(passes(&cpus, UINT32_MAX, 10, 10)); /* not recorded */
    struct filter_options both = {.pids = "10", .tids = "11,20"};
    assert_true(passes(&both, 0, 10, 11));
    assert_false(passes(&both, 0, 10, 10));
    assert_false(passes(&both, 0, 20, 20));
}

static void test_comms(void **state) {
    (void)state;
    struct filter_options o = {.comms = "zero,two"};
    assert_true(passes(&o, 0, 10, 11));
    assert_false(passes(&o, 0, 10, 10));
    assert_false(passes(&o, 0, 20, 20));
    char path[] = "/tmp/filter_test.XXXXXX", url[64] = "file://";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "zero\none \n\n", 11) == 11 && close(fd) == 0);
    o.comms = strcat(url, path);
    assert_true(passes(&o, 0, 10, 10));
    assert_false(passes(&o, 0, 10, 11));
    unlink(path);
    struct filter f = {0};
    struct err err = ERR_INIT;
    assert_false(filter_parse(&o, &f, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    filter_fini(&f);
}

static void test_bad_lists(void **state) {
    (void)state;
    static const char *const bad[] = {"x", "1,x", "3-1", "-1", "1-", "1 2", "", "99999999999"};
    struct filter_ranges none = {0};
    struct err why = ERR_INIT;
    assert_true(filter_ranges_have(&none, 7));
    assert_false(filter_ranges_parse("--levels", "x", &none, &why));
    assert_string_equal(why.where, "--levels");
    filter_ranges_fini(&none);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct filter f = {0};
        struct err err = ERR_INIT;
        if (filter_parse(&(struct filter_options){.pids = bad[i]}, &f, &err))
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.code, ERR_USAGE);
        filter_fini(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_comms),
        cmocka_unit_test(test_bad_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
