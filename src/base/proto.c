/* SPDX-License-Identifier: Apache-2.0 */
#include "base/proto.h"

enum wire { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };
enum { WIRE_BITS = 3 };

static void put_tag(struct out *out, unsigned field, enum wire wire) {
    proto_varint(out, (uint64_t)field << WIRE_BITS | wire);
}

void proto_number(struct out *out, unsigned field, uint64_t v) {
    put_tag(out, field, WIRE_VARINT);
    proto_varint(out, v);
}

void proto_nonzero(struct out *out, unsigned field, uint64_t v) {
    if (v)
        proto_number(out, field, v);
}

void proto_bytes(struct out *out, unsigned field, const char *p, size_t n) {
    put_tag(out, field, WIRE_BYTES);
    proto_varint(out, n);
    if (n)
        out_mem(out, p, n);
}

void proto_message(struct out *out, unsigned field, struct out *body) {
    out->failed |= body->failed;
    proto_bytes(out, field, body->buf, body->len);
    body->len = 0;
}

bool proto_next(struct cursor *c, struct proto_field *f) {
    if (!cursor_left(c))
        return false;
    uint64_t tag = cursor_uleb(c), number = tag >> WIRE_BITS;
    *f = (struct proto_field){.number = (unsigned)number};
    switch ((enum wire)(tag & ((1 << WIRE_BITS) - 1))) {
    case WIRE_VARINT:
        f->value = cursor_uleb(c);
        break;
    case WIRE_64:
        f->value = cursor_u64(c);
        break;
    case WIRE_32:
        f->value = cursor_u32(c);
        break;
    case WIRE_BYTES:
        f->bytes = cursor_bytes(c, cursor_uleb(c));
        f->is_bytes = true;
        break;
    default:
        c->failed = true;
    }
    c->failed |= !number || number > UINT32_MAX >> WIRE_BITS;
    return !c->failed;
}
