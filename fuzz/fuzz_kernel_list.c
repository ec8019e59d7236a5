/* SPDX-License-Identifier: Apache-2.0 */
/* A text of /proc/kallsyms, and the tables made of it. */
#include "fuzz.h"

#include "symbol/kernel_list.h"

static void check(const struct kernel_list *l, struct bytes module, uint64_t from, uint64_t end) {
    struct kernel_bounds bounds = {.from = from, .end = end};
    struct symbol_table *t = kernel_list_table(l, module, &bounds, true, NULL);
    FUZZ_CHECK(t);
    for (uint32_t i = 0; i < symbol_table_count(t); i++) {
        FUZZ_CHECK(symbol_table_end(t, i) > symbol_table_start(t, i));
        FUZZ_CHECK(symbol_table_find(t, symbol_table_start(t, i)) == i);
        FUZZ_CHECK(symbol_table_end(t, i) <= (module.size ? end - from : end));
    }
    symbol_table_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct writer text = writer_make(false);
    writer_put(&text, data, size);
    struct kernel_list *l = kernel_list_new(&text, NULL);
    if (!l)
        return 0;
    uint64_t address = 0;
    kernel_list_address(l, "_text", &address);
    check(l, (struct bytes){0}, 0, UINT64_MAX);
    check(l, (struct bytes){0}, address, address < UINT64_MAX - 4096 ? address + 4096 : UINT64_MAX);
    check(l, (struct bytes){(const uint8_t *)"m", 1}, address, UINT64_MAX);
    kernel_list_free(l);
    return 0;
}
