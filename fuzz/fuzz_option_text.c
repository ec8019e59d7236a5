/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that users give to options with a language of their own: byte 0 says which option. */
#include "fuzz.h"

#include "select/filter.h"
#include "select/time_range.h"
#include "view/script/script_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size || size > 4096)
        return 0;
    char text[4097];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct err err = ERR_INIT;
    struct time_ranges times = {0};
    struct filter filter = {0};
    struct script_fields fields;
    bool ok = true;
    switch (data[0] % 4) {
    case 0:
        time_ranges_relative(text);
        ok = time_ranges_parse(text, 1000000000, 9000000000, &times, &err);
        for (uint64_t t = 0; ok && t < 10; t++) /* a slice that ends before its start holds nothing */
            time_ranges_contain(&times, t * 1000000000);
        break;
    case 1:
        script_fields_init(&fields);
        ok = script_fields_parse(&fields, text, &err);
        break;
    case 2:
        ok = filter_parse(&(struct filter_options){.cpus = text, .pids = text, .tids = text}, &filter, &err);
        break;
    case 3: /* file://NAME opens a file: not from here */
        if (!strstr(text, "file:"))
            ok = filter_parse(&(struct filter_options){.comms = text}, &filter, &err);
        break;
    }
    FUZZ_CHECK(ok || (err.code != ERR_NONE && err.message[0]));
    time_ranges_fini(&times);
    filter_fini(&filter);
    return 0;
}
