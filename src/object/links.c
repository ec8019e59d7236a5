/* SPDX-License-Identifier: Apache-2.0 */
#include "object/links.h"

#include "object/compressed.h"

/* A section's content, never a compressed one's. */
static bool content_of(const struct object_elf *e, const char *name, struct bytes *out) {
    struct object_section s;
    return object_elf_section_named(e, name, &s) && object_elf_section_bytes(e, &s, NULL, out, NULL);
}

/* The text at the start; the rest, after its NUL, into *rest. */
static bool split_text(struct bytes b, struct bytes *text, struct bytes *rest) {
    size_t len = bytes_text_len(b);
    if (!len || len == b.size)
        return false;
    *text = (struct bytes){b.data, len};
    *rest = (struct bytes){b.data + len + 1, b.size - len - 1};
    return true;
}

bool object_debuglink_read(const struct object_elf *e, struct object_debuglink *out) {
    *out = (struct object_debuglink){0};
    struct bytes content, rest;
    if (!content_of(e, ".gnu_debuglink", &content) || !split_text(content, &out->name, &rest))
        return false;
    size_t padding = -(content.size - rest.size) & 3; /* the checksum is at the next multiple of 4 */
    if (rest.size < padding + 4)
        return false;
    out->crc = bytes_load32(rest.data + padding, e->swap);
    return true;
}

enum { CRC_LANES = 8 };

/* table[0] is the usual one of the reversed polynomial; table[k] carries a byte k places further. */
static void fill_crc_table(uint32_t table[CRC_LANES][256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t r = i;
        for (int bit = 0; bit < 8; bit++)
            r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
        table[0][i] = r;
    }
    for (int k = 1; k < CRC_LANES; k++)
        for (uint32_t i = 0; i < 256; i++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

uint32_t object_debuglink_crc(struct bytes file) {
    uint32_t table[CRC_LANES][256], crc = ~0u;
    fill_crc_table(table);
    const uint8_t *p = file.data;
    size_t left = file.size;
    for (; left >= 8; left -= 8, p += 8) {
        uint32_t a = bytes_load32(p, BYTES_HOST_BIG) ^ crc, b = bytes_load32(p + 4, BYTES_HOST_BIG);
        crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^ table[4][a >> 24] ^
              table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^ table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
    }
    for (; left; left--)
        crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

bool object_altlink_read(const struct object_elf *e, struct object_altlink *out) {
    *out = (struct object_altlink){0};
    struct bytes content, id;
    if (!content_of(e, ".gnu_debugaltlink", &content) || !split_text(content, &out->name, &id) || !id.size ||
        id.size > OBJECT_BUILD_ID_MAX)
        return false;
    out->id.size = (uint8_t)id.size;
    memcpy(out->id.bytes, id.data, id.size);
    return true;
}

static const uint64_t MINIDEBUG_MAX = (uint64_t)256
                                      << 20; /* bytes; a whole distribution's largest have 10 MiB */

bool object_minidebug_read(const struct object_elf *e, struct arena *arena, struct bytes *out,
                           struct err *err) {
    *out = (struct bytes){NULL, 0};
    struct bytes packed;
    if (!content_of(e, ".gnu_debugdata", &packed) || !packed.size)
        return err_set(err, ERR_ABSENT, "", "no .gnu_debugdata");
    if (object_compression_of(packed) != OBJECT_XZ)
        return err_set(err, ERR_BROKEN, "", ".gnu_debugdata is not xz-compressed");
    return object_decompress(OBJECT_XZ, packed, MINIDEBUG_MAX, arena, out, err);
}
