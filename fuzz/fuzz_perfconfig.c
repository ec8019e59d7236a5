/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a configuration file, then sets and removes a variable in it. */
#include "fuzz.h"

#include "cmd/common/options/perfconfig.h"
#include "cmd/config/config_edit.h"

/* What was set is there, and nothing else has changed. */
static void change(struct bytes text, const struct perfconfig *before) {
    static const char key[] = "report.children", value[] = " a # \"b\" ";
    struct perfconfig after = PERFCONFIG_INIT;
    struct err err = ERR_INIT;
    struct out o;
    if (!out_init(&o, NULL, NULL))
        return;
    FUZZ_CHECK(config_edit(&o, text, key, value, "fuzz", &err));
    FUZZ_CHECK(perfconfig_parse(&after, (struct bytes){(const uint8_t *)o.buf, o.len}, "fuzz", &err));
    const char *got = perfconfig_text(&after, key);
    FUZZ_CHECK(got && strcmp(got, value) == 0);
    FUZZ_CHECK(after.entries.count - before->entries.count <= 1);
    for (size_t i = 0; i < before->entries.count; i++) {
        const char *name = before->entries.items[i].key, *is = perfconfig_text(&after, name);
        const char *was = perfconfig_text(before, name);
        FUZZ_CHECK(is == got || (!is && !was) || (is && was && strcmp(is, was) == 0));
    }
    perfconfig_fini(&after);
    out_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct perfconfig config = PERFCONFIG_INIT;
    struct err err = ERR_INIT;
    if (perfconfig_parse(&config, (struct bytes){data, size}, "fuzz", &err))
        change((struct bytes){data, size}, &config);
    else
        FUZZ_CHECK(err.code != ERR_NONE && err.message[0]);
    for (size_t i = 0; i < config.entries.count; i++) {
        const char *key = config.entries.items[i].key;
        FUZZ_CHECK(key && strchr(key, '.'));
        perfconfig_text(&config, key);
        perfconfig_bool(&config, key, false);
    }
    perfconfig_fini(&config);
    return 0;
}
