/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as code, of an architecture and syntax that the first byte chooses: the instructions cover them.
 */
#include "fuzz.h"

#include "object/disasm/disasm.h"

/* Kept from input to input: to load capstone takes longer than most inputs. */
static struct disasm *for_options(const struct disasm_options *o) {
    static struct disasm *made[3][2];
    struct disasm **d = &made[o->arch][o->intel];
    if (!*d)
        *d = disasm_new(o, NULL);
    FUZZ_CHECK(*d);
    return *d;
}

static bool name(void *ctx, uint64_t address, struct disasm_symbol *out) {
    (void)ctx;
    *out = (struct disasm_symbol){"name", 4, (int64_t)address};
    return address & 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MAX_CODE = 4096 };
    struct disasm_list list = {0};
    if (!size || size > MAX_CODE || !disasm_supported())
        return 0;
    struct disasm_options o = {.arch = data[0] % 3, .intel = data[0] & 4, .symbol = name};
    struct disasm *d = for_options(&o);
    struct bytes code = {data + 1, size - 1};
    uint64_t address = data[0] & 8 ? UINT64_MAX - 100 : 0x401000;
    FUZZ_CHECK(disasm_function(d, code, address, &list, NULL));
    size_t at = 0, unknown = 0;
    for (size_t i = 0; i < list.instructions.count; i++) {
        const struct disasm_instruction *in = &list.instructions.items[i];
        FUZZ_CHECK(in->length && in->bytes == code.data + at && in->address == address + at && *in->text);
        for (const char *p = in->text; *p; p++)
            FUZZ_CHECK(*p >= ' ' && *p < 127);
        FUZZ_CHECK(in->is_call + in->is_jump + in->is_return <= 1 &&
                   (!in->has_target || in->is_call || in->is_jump));
        at += in->length;
        unknown += in->unknown;
    }
    FUZZ_CHECK(at == code.size && unknown == list.unknown);
    disasm_list_fini(&list);
    return 0;
}
