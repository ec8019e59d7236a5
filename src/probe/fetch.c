/* SPDX-License-Identifier: Apache-2.0 */
/* A value's place and type in the kernel's syntax. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/arguments.h"
#include "probe/registers.h"

enum { ARRAY_MAX = 64 /* MAX_ARRAY_LEN of the kernel */ };

struct request {
    const struct object_value *v;
    const struct probe_fetch_request *of;
    struct arena *a;
    struct err *err;
};

static bool refuse(const struct request *r, const char *why) {
    return err_set(r->err, ERR_UNSUPPORTED, NULL, "%s (%s)", why, r->v->type_name);
}

static const char *text(const struct request *r, const char *s) {
    if (!s)
        err_memory(r->err, "arguments");
    return s;
}

/* A register's name. NULL: the kernel cannot fetch it. */
static const char *register_of(const struct request *r, int number) {
    char room[PROBE_REGISTER_ROOM];
    const char *name = probe_register(r->of->machine, number, room);
    if (name)
        return text(r, arena_strndup(r->a, name, strlen(name)));
    err_set(r->err, ERR_UNSUPPORTED, NULL,
            "is in register %d of DWARF's numbers, a vector or floating point one, which the kernel does not "
            "fetch (%s)",
            number, r->v->type_name);
    return NULL;
}

/* A load from `add` bytes after an address. */
static const char *load(const struct request *r, int64_t add, const char *from) {
    return text(r, arena_printf(r->a, "%c%s%" PRIu64 "(%s)", add < 0 ? '-' : '+', r->of->user ? "u" : "",
                                add < 0 ? -(uint64_t)add : (uint64_t)add, from));
}

/* A load from the address that the first `count` steps of a chain lead to. */
static const char *memory(const struct request *r, const struct object_chain *c, unsigned count) {
    const char *s;
    int64_t add = c->add[0];
    if (c->linked) {
        bool far = __builtin_add_overflow(add, r->of->linked_delta, &add);
        if (far || add < 0) {
            refuse(r, "is at an address that the kernel cannot be told");
            return NULL;
        }
        s = text(r, r->of->linked_symbol ? arena_printf(r->a, "@%s+%" PRId64, r->of->linked_symbol, add)
                                         : arena_printf(r->a, "@+0x%" PRIx64, (uint64_t)add));
    } else if (c->base == OBJECT_NO_REGISTER) {
        s = text(r, arena_printf(r->a, "@0x%" PRIx64, (uint64_t)add));
    } else {
        const char *reg = register_of(r, c->base);
        s = reg ? load(r, add, reg) : NULL;
    }
    for (unsigned i = 1; s && i < count; i++)
        s = load(r, c->add[i], s);
    return s;
}

/* The number that a chain computes. */
static const char *number(const struct request *r, const struct object_chain *c) {
    if (c->count > 1) {
        if (c->add[c->count - 1] != 0) {
            refuse(r, "is computed from what lies in memory, and nothing keeps it");
            return NULL;
        }
        return memory(r, c, c->count - 1);
    }
    if (c->linked) {
        refuse(r, "is an address that is known only when the program is loaded");
        return NULL;
    }
    if (c->base == OBJECT_NO_REGISTER)
        return text(r, arena_printf(r->a, "\\%" PRId64, c->add[0]));
    if (c->add[0] == 0)
        return register_of(r, c->base);
    char room[PROBE_REGISTER_ROOM];
    const char *reg = probe_register(r->of->machine, c->base, room);
    err_set(r->err, ERR_UNSUPPORTED, NULL, "is computed (%s%+" PRId64 "), and nothing keeps it (%s)",
            reg ? reg : "a register", c->add[0], r->v->type_name);
    return NULL;
}

static const char *whole(const struct request *r) {
    const struct object_place *p = &r->v->place;
    switch (p->kind) {
    case OBJECT_PLACE_REGISTER:
        return register_of(r, p->chain.base);
    case OBJECT_PLACE_MEMORY:
        return memory(r, &p->chain, p->chain.count);
    case OBJECT_PLACE_VALUE:
        return number(r, &p->chain);
    default:
        refuse(r, "was optimized out");
        return NULL;
    }
}

/* ---- texts ---- */

/* The string that the value points to, or contains. */
static bool string(const struct request *r, struct probe_fetch *out) {
    struct object_chain c = r->v->place.chain;
    enum object_place_kind kind = r->v->place.kind;
    if (!r->v->text)
        return err_set(r->err, ERR_USAGE, NULL,
                       "is no text: neither a pointer to characters nor an array of them (%s)",
                       r->v->type_name);
    if (r->v->counted)
        return refuse(
            r, "has a length and no NUL at its end, where the kernel would stop: record its length, and "
               "elements, as in [0]");
    if (r->v->type == OBJECT_VALUE_ARRAY) {
        if (kind != OBJECT_PLACE_MEMORY)
            return refuse(r, "is an array that is not in memory");
    } else if (kind == OBJECT_PLACE_MEMORY && !object_chain_load(&c, 0)) {
        return refuse(r, "is too many pointers away");
    }
    if (kind == OBJECT_PLACE_NOWHERE)
        return refuse(r, "was optimized out");
    out->fetch = memory(r, &c, c.count);
    return out->fetch != NULL;
}

/* ---- types ---- */

static bool is_size(uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static const char *number_type(const struct request *r, char letter, uint64_t bytes) {
    return text(r, arena_printf(r->a, "%c%" PRIu64, letter, bytes * 8));
}

static bool bit_field(const struct request *r, const char *type, struct probe_fetch *out) {
    const struct object_value *v = r->v;
    if (v->type == OBJECT_VALUE_SIGNED && !type && v->bit_size < v->size * 8)
        return err_set(
            r->err, ERR_UNSUPPORTED, NULL,
            "is %u bits with a sign, which the kernel would record without: ask for it as :u or :x (%s)",
            v->bit_size, v->type_name);
    if (type && strcmp(type, "u") != 0 && strcmp(type, "x") != 0)
        return err_set(r->err, ERR_USAGE, NULL, "is %u bits, which can only be recorded as :u or :x (%s)",
                       v->bit_size, v->type_name);
    if (v->type != OBJECT_VALUE_SIGNED && v->type != OBJECT_VALUE_UNSIGNED && v->type != OBJECT_VALUE_POINTER)
        return refuse(r, "is in a part of a register");
    out->type = text(r, arena_printf(r->a, "b%u@%u/%" PRIu64, v->bit_size, v->bit_at, v->size * 8));
    return out->type != NULL;
}

static bool array(const struct request *r, struct probe_fetch *out) {
    const struct object_value *v = r->v;
    bool bytes = v->type == OBJECT_VALUE_STRUCT;
    uint64_t count = bytes ? v->size : v->count, size = bytes ? 1 : v->size;
    char letter = !bytes && v->item == OBJECT_VALUE_SIGNED ? 's' : 'x';
    if (v->place.kind != OBJECT_PLACE_MEMORY)
        return refuse(r, bytes ? "is a structure in registers: name a member"
                               : "is an array that is not in memory");
    if (!count || count > ARRAY_MAX || !is_size(size) ||
        (!bytes && (v->item == OBJECT_VALUE_STRUCT || v->item == OBJECT_VALUE_OTHER)))
        return refuse(r, bytes ? "is a structure of more than 64 bytes: name a member"
                               : "is an array that the kernel cannot record: name an element, as in [0]");
    out->type = count == 1
                    ? number_type(r, letter, size)
                    : text(r, arena_printf(r->a, "%c%" PRIu64 "[%" PRIu64 "]", letter, size * 8, count));
    return out->type != NULL;
}

static bool natural(const struct request *r, struct probe_fetch *out, const char **note) {
    const struct object_value *v = r->v;
    bool whole_register =
        v->type == OBJECT_VALUE_STRUCT && v->place.kind == OBJECT_PLACE_REGISTER && is_size(v->size);
    if ((v->type == OBJECT_VALUE_STRUCT || v->type == OBJECT_VALUE_ARRAY) && !whole_register)
        return array(r, out);
    if (v->type == OBJECT_VALUE_OTHER || !is_size(v->size))
        return refuse(r, "is of a type that the kernel cannot record");
    if (v->type == OBJECT_VALUE_FLOAT)
        *note = "is a floating point number: its bits are recorded, as the kernel knows no such numbers";
    out->type = number_type(r, v->type == OBJECT_VALUE_SIGNED ? 's' : 'x', v->size);
    return out->type != NULL;
}

/* u, s and x: of the value's own size. */
static bool sized(const struct request *r, const char *type, struct probe_fetch *out) {
    if (!is_size(r->v->size) || r->v->type == OBJECT_VALUE_ARRAY)
        return refuse(r, "has no size that the kernel can record");
    out->type = number_type(r, *type, r->v->size);
    return out->type != NULL;
}

/* On big-endian machines the low bytes of a word in memory are its last ones; nothing adjusts them here. */
static bool is_cut(const struct object_value *v) {
    return BYTES_HOST_BIG && v->place.kind == OBJECT_PLACE_VALUE && v->place.chain.count > 1 && v->size < 8;
}

/* Whether the requested type is wider than the value. */
static bool is_wider(const struct object_value *v, const char *type) {
    bool is_one = v->type == OBJECT_VALUE_SIGNED || v->type == OBJECT_VALUE_UNSIGNED ||
                  v->type == OBJECT_VALUE_POINTER || v->type == OBJECT_VALUE_FLOAT;
    return is_one && v->size && strchr("usx", *type) && strtoul(type + 1, NULL, 10) > v->size * 8;
}

bool probe_value_fetch(const struct probe_fetch_request *of, struct probe_fetch *out, const char **note,
                       struct err *err) {
    const struct object_value *v = of->v;
    const char *type = of->type;
    struct request r = {v, of, of->a, err};
    *note = NULL;
    if (type && (!strcmp(type, "string") || !strcmp(type, "ustring"))) {
        out->type = type;
        return string(&r, out);
    }
    if (is_cut(v))
        return refuse(&r, "is a part of a word in memory");
    out->fetch = whole(&r);
    if (!out->fetch)
        return false;
    if (v->bit_size)
        return bit_field(&r, type, out);
    if (!type)
        return natural(&r, out, note);
    if (!type[1] && strchr("usx", *type))
        return sized(&r, type, out);
    if (is_wider(v, type))
        return err_set(err, ERR_USAGE, NULL, "has %u bytes: %s would take in what lies beside it (%s)",
                       (unsigned)v->size, type, v->type_name);
    out->type = type;
    return true;
}
