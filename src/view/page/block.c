/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/block.h"

#include "base/gzip.h"

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

bool block_compress(struct block *b, struct out *out) {
    end_header(b);
    struct gzip_out *g = b->failed ? NULL : gzip_out_new(out);
    if (!g)
        return false;
    struct out *to = gzip_out_sink(g);
    uint64_t n = b->header.len;
    const char size[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};
    out_mem(to, size, sizeof size);
    out_mem(to, b->header.buf, b->header.len);
    for (unsigned i = 0; i < b->column_count; i++)
        out_mem(to, b->columns[i].bytes.buf, b->columns[i].bytes.len);
    bool ok = gzip_out_end(g);
    gzip_out_free(g);
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
