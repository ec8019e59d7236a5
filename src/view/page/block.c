/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/block.h"

#include <zlib.h>

struct block_column *block_column(struct block *b, const char *name, bool deltas) {
    struct block_column *c = &b->columns[b->column_count++];
    *c = (struct block_column){.name = name, .deltas = deltas};
    b->failed |= !out_init(&c->bytes, NULL, NULL);
    return c;
}

void block_put(struct block_column *c, uint64_t value) {
    uint64_t v = value;
    if (c->deltas) {
        int64_t step = (int64_t)(value - c->last);
        v = (uint64_t)step << 1 ^ (uint64_t)(step >> 63);
    }
    c->last = value;
    c->count++;
    for (; v >= 0x80; v >>= 7)
        out_char(&c->bytes, (char)(v | 0x80));
    out_char(&c->bytes, (char)v);
}

struct json *block_header(struct block *b, const char *format) {
    b->failed |= !out_init(&b->header, NULL, NULL);
    b->json = (struct json){.out = &b->header};
    json_open(&b->json, NULL, '{');
    json_text(&b->json, "format", format);
    json_number(&b->json, "version", 1);
    return &b->json;
}

static void end_header(struct block *b) {
    struct json *j = &b->json;
    json_open(j, "columns", '[');
    for (unsigned i = 0; i < b->column_count; i++) {
        json_open(j, NULL, '[');
        json_text(j, NULL, b->columns[i].name);
        json_number(j, NULL, b->columns[i].count);
        json_number(j, NULL, b->columns[i].bytes.len);
        json_close(j, ']');
        b->failed |= b->columns[i].bytes.failed;
    }
    json_close(j, ']');
    json_close(j, '}');
    b->failed |= b->header.failed;
}

/* Compresses some bytes; `last` ends the stream. */
static bool deflate_some(z_stream *z, const char *p, size_t n, bool last, struct out *out) {
    enum { ONCE = 1 << 30 };
    int status = Z_OK;
    do {
        z->next_in = (Bytef *)(uintptr_t)p;
        z->avail_in = n > ONCE ? ONCE : (uInt)n;
        p += z->avail_in;
        n -= z->avail_in;
        do {
            z->next_out = (Bytef *)out_room(out, OUT_ROOM_MAX);
            z->avail_out = OUT_ROOM_MAX;
            status = deflate(z, last && !n ? Z_FINISH : Z_NO_FLUSH);
            out->len += OUT_ROOM_MAX - z->avail_out;
        } while (!z->avail_out && status == Z_OK && !out->failed);
    } while (n && !out->failed);
    return !out->failed && (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR);
}

bool block_compress(struct block *b, struct out *out) {
    enum { GZIP = 16, WINDOW = 15, MEMORY = 9, LEVEL = 6 };
    z_stream z = {0};
    end_header(b);
    if (b->failed || deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    uint64_t n = b->header.len;
    const char size[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};
    bool ok = deflate_some(&z, size, sizeof size, false, out) &&
              deflate_some(&z, b->header.buf, b->header.len, false, out);
    for (unsigned i = 0; ok && i < b->column_count; i++)
        ok = deflate_some(&z, b->columns[i].bytes.buf, b->columns[i].bytes.len, false, out);
    ok = ok && deflate_some(&z, "", 0, true, out);
    deflateEnd(&z);
    return ok;
}

void block_fini(struct block *b) {
    for (unsigned i = 0; i < b->column_count; i++)
        out_fini(&b->columns[i].bytes);
    out_fini(&b->header);
}

void block_put_base64(const struct out *bytes, struct out *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)bytes->buf;
    size_t n = bytes->len, i = 0;
    for (; i + 3 <= n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 | p[i + 2];
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63]};
        out_mem(out, four, 4);
    }
    if (i < n) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0);
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                              '='};
        out_mem(out, four, 4);
    }
}
