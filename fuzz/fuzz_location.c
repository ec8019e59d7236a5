/* SPDX-License-Identifier: Apache-2.0 */
/* A location expression: each operation is 10 bytes, its code, how to change its number, and the number. The
 * result must be what the kernel can fetch, or refused. */
#include "fuzz.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"
#include "object/debug/location.h"
#include "probe/arguments.h"

enum { OP_BYTES = 10, OPS_MAX = 64 };

static void fetch(const struct object_place *place, uint8_t kind) {
    static const char *const TYPES[] = {NULL, "string", "x", "u8", "s64"};
    struct object_value v = {.place = *place, .size = 1u << kind % 4, .text = true, .count = kind};
    struct arena a = ARENA_INIT;
    struct probe_fetch f = {NULL, NULL, NULL};
    const char *note;
    struct err err = ERR_INIT;
    v.type = (enum object_value_type)(kind % (OBJECT_VALUE_OTHER + 1));
    v.item = OBJECT_VALUE_SIGNED;
    struct probe_fetch_request r = {
        .v = &v, .machine = EM_X86_64, .type = TYPES[kind % 5], .user = kind & 8, .a = &a};
    if (probe_value_fetch(&r, &f, &note, &err))
        FUZZ_CHECK(f.fetch && *f.fetch && f.type && *f.type && strlen(f.fetch) < 256);
    else
        FUZZ_CHECK(*err.message);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct object_op ops[OPS_MAX];
    struct object_chain cfa = {7, false, 1, {8}};
    struct object_location location;
    const char *why;
    size_t count = 0;
    for (; size >= OP_BYTES && count < OPS_MAX; data += OP_BYTES, size -= OP_BYTES, count++) {
        uint64_t n = bytes_load64(data + 2, BYTES_HOST_BIG);
        ops[count] = (struct object_op){data[0], data[1] & 1 ? n : n % 32, data[1] & 2 ? n : n % 7};
    }
    bool known = count & 1;
    struct object_location_context context = {known ? &cfa : NULL, known ? &cfa : NULL, known, !known, 8};
    if (!object_location_follow(ops, count, &context, &location, &why)) {
        FUZZ_CHECK(why && *why);
        return 0;
    }
    FUZZ_CHECK(location.count && location.count <= OBJECT_PLACE_PIECES);
    for (unsigned i = 0; i < location.count; i++) {
        const struct object_piece *p = &location.pieces[i];
        FUZZ_CHECK(p->place.kind != OBJECT_PLACE_NOWHERE || p->why);
        FUZZ_CHECK(p->place.kind == OBJECT_PLACE_NOWHERE ||
                   (p->place.chain.count >= 1 && p->place.chain.count <= OBJECT_PLACE_HOPS));
        fetch(&p->place, (uint8_t)(i + count * 3));
    }
    return 0;
}
