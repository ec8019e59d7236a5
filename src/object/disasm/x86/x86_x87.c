/* SPDX-License-Identifier: Apache-2.0 */
/* The x87's registers: which operand capstone leaves out goes by the opcode. */
#include "object/disasm/x86/x86_text.h"

static void print_stack(const struct x86_line *l, int number, struct text *out) {
    text_str(out, l->o->intel ? "st" : "%st");
    if (number < 0)
        return;
    text_char(out, '(');
    text_char(out, (char)('0' + number));
    text_char(out, ')');
}

bool x86_x87_print(const struct x86_line *l, struct text *out) {
    /* By opcode from D8 and reg: `i` st(i), `t` st(i) to st, `f` st to st(i), `.` none. */
    static const char forms[8][9] = {"ttiitttt", "ii......", "tttt....", "tttt.tt.",
                                     "ffiiffff", "iiiiii..", "ffi.ffff", "iiii.tt."};
    const struct x86_code *c = l->c;
    if (c->encoding != X86_LEGACY || c->map != 0 || (c->opcode & 0xf8) != 0xd8 || x86_code_mod(c) != 3)
        return false;
    char form = forms[c->opcode & 7][x86_code_reg(c)];
    int i = c->modrm & 7;
    if (form == '.')
        return false;
    text_pad(out, 6);
    text_char(out, ' ');
    bool top_first = (form == 'f') != l->o->intel;
    if (form != 'i') {
        print_stack(l, top_first ? -1 : i, out);
        text_char(out, ',');
    }
    print_stack(l, form == 'i' || top_first ? i : -1, out);
    return true;
}
