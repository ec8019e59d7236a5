/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that capstone 4 does not know: the atomics of ARMv8.1 (Arm ARM DDI 0487, C4.1.66), hints, UDF.
 */
#include "object/disasm/arm64_extra.h"

static void print_register(unsigned number, bool wide, bool stack, struct text *out) {
    if (number == 31) {
        text_str(out, stack ? "sp" : wide ? "xzr" : "wzr");
        return;
    }
    text_char(out, wide ? 'x' : 'w');
    if (number >= 10)
        text_char(out, (char)('0' + number / 10));
    text_char(out, (char)('0' + number % 10));
}

static void print_suffixes(unsigned size, bool acquire, bool release, struct text *out) {
    if (acquire)
        text_char(out, 'a');
    if (release)
        text_char(out, 'l');
    if (size < 2)
        text_char(out, size ? 'h' : 'b');
    text_pad(out, 6);
    text_char(out, ' ');
}

static void print_memory(uint32_t word, struct text *out) {
    text_str(out, ", [");
    print_register(word >> 5 & 31, true, true, out);
    text_char(out, ']');
}

/* LDADD and the like, SWP; without a result: STADD... */
static bool print_atomic(uint32_t word, struct text *out) {
    static const char names[][5] = {"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
    unsigned size = word >> 30, operation = word >> 12 & 7, result = word & 31;
    bool acquire = word >> 23 & 1, release = word >> 22 & 1, swap = word >> 15 & 1;
    if ((word & 0x3f200c00) != 0x38200000 || (swap && operation))
        return false;
    bool stores = !swap && result == 31 && !acquire;
    text_str(out, swap ? "swp" : stores ? "st" : "ld");
    if (!swap)
        text_str(out, names[operation]);
    print_suffixes(size, acquire, release, out);
    print_register(word >> 16 & 31, size == 3, false, out);
    if (!stores) {
        text_str(out, ", ");
        print_register(result, size == 3, false, out);
    }
    print_memory(word, out);
    return true;
}

static bool print_compare_and_swap(uint32_t word, struct text *out) {
    bool pair = (word & 0xbfa07c00) == 0x08207c00;
    unsigned size = pair ? 2 + (word >> 30 & 1) : word >> 30;
    unsigned compared = word >> 16 & 31, stored = word & 31;
    if (!pair && (word & 0x3fa07c00) != 0x08a07c00)
        return false;
    if (pair && ((compared | stored) & 1))
        return false;
    text_str(out, pair ? "casp" : "cas");
    print_suffixes(size, word >> 22 & 1, word >> 15 & 1, out);
    print_register(compared, size == 3, false, out);
    text_str(out, ", ");
    if (pair) {
        print_register(compared + 1, size == 3, false, out);
        text_str(out, ", ");
    }
    print_register(stored, size == 3, false, out);
    if (pair) {
        text_str(out, ", ");
        print_register(stored + 1, size == 3, false, out);
    }
    print_memory(word, out);
    return true;
}

static bool print_hint(uint32_t word, struct text *out) {
    static const struct {
        uint8_t number;
        char text[12];
    } names[] = {{7, "xpaclri"},    {8, "pacia1716"}, {10, "pacib1716"},    {12, "autia1716"},
                 {14, "autib1716"}, {16, "esb"},      {17, "psb    csync"}, {20, "csdb"},
                 {24, "paciaz"},    {25, "paciasp"},  {26, "pacibz"},       {27, "pacibsp"},
                 {28, "autiaz"},    {29, "autiasp"},  {30, "autibz"},       {31, "autibsp"},
                 {32, "bti"},       {34, "bti    c"}, {36, "bti    j"},     {38, "bti    jc"}};
    if ((word & 0xfffff01f) != 0xd503201f)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == (word >> 5 & 0x7f)) {
            text_mem(out, names[i].text, strnlen(names[i].text, sizeof names[i].text));
            return true;
        }
    return false;
}

bool arm64_extra(uint32_t word, struct text *out) {
    out->len = 0;
    if (word >> 16 == 0) {
        char digits[8];
        size_t n = sizeof digits;
        do
            digits[--n] = (char)('0' + word % 10);
        while (word /= 10);
        text_str(out, "udf    #");
        text_mem(out, digits + n, sizeof digits - n);
        return true;
    }
    return print_atomic(word, out) || print_compare_and_swap(word, out) || print_hint(word, out);
}
