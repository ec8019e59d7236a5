/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/export/json_convert.h"

static struct model *world(void) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_COMM};
    static const char name[] = "a\"b\\\t\x01\xff";
    rec.comm = (struct perfdata_comm){10, 11, {(const uint8_t *)name, sizeof name}};
    assert_true(model_apply(m, &rec, (struct model_when){1, 1}, NULL));
    rec = (struct perfdata_record){.type = PERFDATA_RECORD_MMAP2, .misc = PERFDATA_MISC_USER};
    rec.mmap2 = (struct perfdata_mmap2){.pid = 10, .tid = 10, .addr = 0x1000, .len = 0x1000, .prot = 5};
    rec.mmap2.filename = (struct bytes){(const uint8_t *)"/lib/foo.so", 12};
    assert_true(model_apply(m, &rec, (struct model_when){1, 2}, NULL));
    assert_true(model_freeze(m, NULL));
    return m;
}

static void add_members(void *ctx, struct json_convert *j, const struct perfdata_attr *attr,
                        const struct perfdata_sample *s) {
    (void)ctx, (void)attr, (void)s;
    json_convert_member(j, "prev_comm", "x\ny", 3);
    json_convert_member(j, "pid", "7", 1);
}

static void test_document(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    struct resolve_locator locator = {.model = world()};
    struct resolve_samples frames = {.locator = &locator, .chain.o.most = 127};
    struct json_convert j = {.out = &o, .model = locator.model, .frames = &frames, .trace = add_members};
    struct perfdata_header h = {.container = PERFDATA_CONTAINER_FILE, .data = {104, 200}};
    const uint64_t chain[] = {PERFDATA_CONTEXT_KERNEL,        0xffffffff81000000,
                              PERFDATA_CONTEXT_USER,          0x1010,
                              PERFDATA_CONTEXT_USER_DEFERRED, 0x1020};
    struct perfdata_attr plain = {0}, tracepoint = {.type = PERFDATA_TYPE_TRACEPOINT};
    struct perfdata_sample s = {.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
                                        PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_RAW,
                                .pid = 10,
                                .tid = 11,
                                .time = 99,
                                .cpu = 3,
                                .callchain = {(const uint8_t *)chain, 6, false}};
    struct perfdata_sample bare = {0};
    json_convert_begin(&j, &h, 0);
    json_convert_sample(&j, &(struct resolve_sample_at){&s, &tracepoint, PERFDATA_MISC_KERNEL, {99, 9}});
    json_convert_sample(&j, &(struct resolve_sample_at){&bare, &plain, PERFDATA_MISC_USER, {99, 10}});
    json_convert_end(&j);
    assert_int_equal(j.samples, 2);
    assert_string_equal(
        out_text(&o),
        "{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {\n\t\t\"header-version\": 1,\n"
        "\t\t\"captured-on\": \"1970-01-01T00:00:00Z\",\n\t\t\"data-offset\": 104,\n\t\t\"data-size\": 200,\n"
        "\t\t\"feat-offset\": 304,\n\t\t\"hostname\": \"\",\n\t\t\"os-release\": \"\",\n\t\t\"arch\": \"\",\n"
        "\t\t\"cpuid\": \"\",\n\t\t\"nrcpus-online\": 0,\n\t\t\"nrcpus-avail\": 0,\n\t\t\"perf-version\": "
        "\"\",\n"
        "\t\t\"cmdline\": [\n\t\t]\n\t},\n\t\"samples\": [\n"
        "\t\t{\n\t\t\t\"timestamp\": 99,\n\t\t\t\"pid\": 10,\n\t\t\t\"tid\": 11,\n\t\t\t\"cpu\": 3,\n"
        "\t\t\t\"comm\": \"a\\\"b\\\\\\t\\u0001\xef\xbf\xbd\",\n\t\t\t\"callchain\": [\n"
        "\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0xffffffff81000000\"\n\t\t\t\t},\n"
        "\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x1010\",\n\t\t\t\t\t\"dso\": \"foo.so\"\n\t\t\t\t}\n\t\t\t],\n"
        "\t\t\t\"prev_comm\": \"x\\ny\",\n\t\t\t\"trace.pid\": \"7\"\n\t\t},\n"
        "\t\t{\n\t\t\t\"timestamp\": -1,\n\t\t\t\"pid\": -1,\n\t\t\t\"tid\": -1,\n\t\t\t\"comm\": \":-1\",\n"
        "\t\t\t\"callchain\": [\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x0\"\n\t\t\t\t}\n\t\t\t]\n\t\t}\n\t]\n}\n");
    resolve_samples_fini(&frames);
    resolve_locator_fini(&locator);
    model_free((struct model *)j.model);
    out_fini(&o);
}

static void test_no_samples(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    struct json_convert j = {.out = &o};
    struct perfdata_header h = {.container = PERFDATA_CONTAINER_PIPE, .data = {24, 99}};
    json_convert_begin(&j, &h, 86400);
    json_convert_end(&j);
    assert_non_null(
        strstr(out_text(&o), "\"captured-on\": \"1970-01-02T00:00:00Z\",\n\t\t\"data-offset\": 0,"));
    assert_non_null(strstr(out_text(&o), "\t\"samples\": [\n\t]\n}\n"));
    out_fini(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
