/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions without operands that capstone 4 does not know (Intel SDM volume 2). */
#include "object/disasm/x86/x86_extra.h"

bool x86_extra(const struct x86_line *l, struct text *out) {
    static const struct {
        uint8_t opcode, modrm, prefix; /* after 0f; prefix 0: none */
        char name[12];
    } all[] = {
        {0x01, 0xc0, 0, "enclv"},        {0x01, 0xc5, 0, "pconfig"},      {0x01, 0xc6, 0, "wrmsrns"},
        {0x01, 0xca, 0, "clac"},         {0x01, 0xcb, 0, "stac"},         {0x01, 0xcf, 0, "encls"},
        {0x01, 0xd7, 0, "enclu"},        {0x01, 0xe8, 0, "serialize"},    {0x01, 0xe8, 0xf3, "setssbsy"},
        {0x01, 0xe8, 0xf2, "xsusldtrk"}, {0x01, 0xe9, 0xf2, "xresldtrk"}, {0x01, 0xea, 0xf3, "saveprevssp"},
        {0x01, 0xec, 0xf3, "uiret"},     {0x01, 0xed, 0xf3, "testui"},    {0x01, 0xee, 0xf3, "clui"},
        {0x01, 0xef, 0xf3, "stui"},      {0x01, 0xee, 0, "rdpkru"},       {0x01, 0xef, 0, "wrpkru"},
        {0x1e, 0xfa, 0xf3, "endbr64"},   {0x1e, 0xfb, 0xf3, "endbr32"}};
    const struct x86_code *c = l->c;
    uint8_t prefix = 0;
    out->len = 0;
    if (c->encoding != X86_LEGACY || c->map != 1 || !c->has_modrm)
        return false;
    for (size_t i = 0; i < c->prefix_count; i++)
        if (c->prefixes[i] == 0xf2 || c->prefixes[i] == 0xf3)
            prefix = c->prefixes[i];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].opcode == c->opcode && all[i].modrm == c->modrm && all[i].prefix == prefix) {
            text_mem(out, all[i].name, strnlen(all[i].name, sizeof all[i].name));
            return true;
        }
    return false;
}
