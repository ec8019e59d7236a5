/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads messages of protocol buffers (https://protobuf.dev/programming-guides/encoding/): fields,
 * each a number with what it holds.
 *
 * A message inside another one is written to an `out` of its own, without a write function, and put into the
 * outer one as a whole.
 */
#ifndef SONDE_BASE_PROTO_H
#define SONDE_BASE_PROTO_H

#include "base/cursor.h"
#include "base/text/out.h"

/* ---- writing ---- */

static inline void proto_varint(struct out *out, uint64_t v) {
    enum { MOST = 10 };
    char *to = out_room(out, MOST);
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        to[n++] = (char)(v | 0x80);
    to[n++] = (char)v;
    out->len += n;
}

/* A field of type uint, int (as two's complement), bool or enum. */
void proto_number(struct out *out, unsigned field, uint64_t v);
/* The same, and nothing if it is 0: what a reader of proto3 takes for granted. */
void proto_nonzero(struct out *out, unsigned field, uint64_t v);
/* A field of type string, bytes, or a packed list. Strings must be UTF-8. p may be NULL when n is 0. */
void proto_bytes(struct out *out, unsigned field, const char *p, size_t n);
/* A message, or a packed list, that was written to `body`, which is emptied. If memory ran out there, it
 * fails `out`, too. */
void proto_message(struct out *out, unsigned field, struct out *body);

/* ---- reading ---- */

struct proto_field {
    unsigned number;
    uint64_t value;     /* of a number */
    struct bytes bytes; /* of a string, message or packed list */
    bool is_bytes;
};

/* Returns false at the end, and where the message is broken: c->failed is set then. */
bool proto_next(struct cursor *c, struct proto_field *f);

#endif
