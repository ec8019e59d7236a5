/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file. */
#include "fuzz.h"

#include "cmd/common/perfconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct perfconfig config = PERFCONFIG_INIT;
    struct err err = ERR_INIT;
    if (!perfconfig_parse(&config, (struct bytes){data, size}, "fuzz", &err))
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
