/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tar/tar.h"

#include <stdio.h>
#include <string.h>

/* Where fields stand in a header, and how long they are. */
enum {
    NAME = 0,
    NAME_BYTES = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    ID_BYTES = 8,
    SIZE = 124,
    MTIME = 136,
    NUMBER_BYTES = 12,
    CHECKSUM = 148,
    CHECKSUM_BYTES = 8,
    TYPE = 156,
    LINK = 157,
    LINK_BYTES = 100,
    MAGIC = 257,
    USER = 265,
    GROUP = 297,
};

static const uint64_t SIZE_MAX_OCTAL = (uint64_t)1 << 33; /* eleven octal digits */

static void octal(char *field, size_t bytes, uint64_t value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%0*llo", (int)bytes - 1, (unsigned long long)value);
    memcpy(field, digits, bytes);
}

/* The sum of all bytes, with spaces for the sum's own. */
static void sum_up(char *h) {
    unsigned sum = 0;
    memset(h + CHECKSUM, ' ', CHECKSUM_BYTES);
    for (unsigned i = 0; i < TAR_BLOCK; i++)
        sum += (uint8_t)h[i];
    snprintf(h + CHECKSUM, CHECKSUM_BYTES, "%06o", sum);
}

static void cut_copy(char *field, size_t bytes, const char *text) {
    size_t len = strlen(text);
    memcpy(field, text, len < bytes ? len : bytes);
}

static void header(const struct tar_entry *e, char type, struct writer *w) {
    char h[TAR_BLOCK] = {0};
    cut_copy(h + NAME, NAME_BYTES, e->path);
    octal(h + MODE, ID_BYTES, e->mode);
    octal(h + UID, ID_BYTES, 0);
    octal(h + GID, ID_BYTES, 0);
    octal(h + SIZE, NUMBER_BYTES, e->size < SIZE_MAX_OCTAL ? e->size : 0);
    octal(h + MTIME, NUMBER_BYTES, e->mtime_s > 0 ? (uint64_t)e->mtime_s : 0);
    h[TYPE] = type;
    if (e->link)
        cut_copy(h + LINK, LINK_BYTES, e->link);
    memcpy(h + MAGIC, "ustar\00000", 8);
    memcpy(h + USER, "root", 4);
    memcpy(h + GROUP, "root", 4);
    sum_up(h);
    writer_put(w, h, sizeof h);
}

/* "LENGTH KEY=VALUE\n", where the length counts itself. */
static void pax_record(const char *key, const char *value, struct writer *w) {
    size_t rest = strlen(key) + strlen(value) + 3, len = rest + 1;
    char digits[24];
    while ((size_t)snprintf(digits, sizeof digits, "%zu", len) + rest != len)
        len++;
    writer_put(w, digits, strlen(digits));
    writer_put(w, " ", 1);
    writer_put(w, key, strlen(key));
    writer_put(w, "=", 1);
    writer_put(w, value, strlen(value));
    writer_put(w, "\n", 1);
}

static void extended_header(const struct tar_entry *e, struct writer *w) {
    struct writer records = writer_make(false);
    char size[24];
    if (strlen(e->path) > NAME_BYTES)
        pax_record("path", e->path, &records);
    if (e->link && strlen(e->link) > LINK_BYTES)
        pax_record("linkpath", e->link, &records);
    if (e->size >= SIZE_MAX_OCTAL) {
        snprintf(size, sizeof size, "%llu", (unsigned long long)e->size);
        pax_record("size", size, &records);
    }
    if (records.size) {
        const struct tar_entry x = {.path = "././@PaxHeader", .size = records.size, .mode = 0644};
        header(&x, 'x', w);
        writer_bytes_put(w, writer_bytes(&records));
        writer_zero(w, tar_padding(records.size));
    }
    if (!writer_ok(&records))
        w->failed = true;
    writer_fini(&records);
}

void tar_entry_encode(const struct tar_entry *e, struct writer *w) {
    extended_header(e, w);
    header(e, e->link ? '2' : '0', w);
}

void tar_end_encode(struct writer *w) {
    writer_zero(w, (size_t)2 * TAR_BLOCK);
}
