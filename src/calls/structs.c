/* SPDX-License-Identifier: Apache-2.0 */
/* What arguments point to: structs, lists of texts, vectors. Byte order and word size are this machine's. */
#include <inttypes.h>
#include <string.h>

#include "calls/values_internal.h"

enum { WORD = 8, BITS = 8 };

static void put_name(const struct calls_item *x, const char *prefix, const char *name, struct out *o) {
    out_str(o, x->v->prefix ? prefix : "");
    out_str(o, name);
}

static void put_separator(bool *first, struct out *o) {
    out_str(o, *first ? "" : ", ");
    *first = false;
}

static uint64_t load(const uint8_t *p, size_t size, bool is_signed) {
    uint64_t v = size == 1   ? *p
                 : size == 2 ? bytes_load16(p, false)
                 : size == 4 ? bytes_load32(p, false)
                             : bytes_load64(p, false);
    unsigned unused = 64 - (unsigned)size * BITS;
    return is_signed && size < WORD ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

/* ---- kinds of members ---- */

/* [INT TERM], or ~[INT TERM] if more are in it than not. */
static void put_sigset(const struct calls_item *x, struct out *o) {
    bool inverse = __builtin_popcountll(x->value) > WORD * BITS / 2, first = true;
    uint64_t shown = inverse ? ~x->value : x->value;
    struct calls_item one = *x;
    out_str(o, inverse ? "~[" : "[");
    for (unsigned i = 0; i < WORD * BITS; i++) {
        if (!(shown >> i & 1))
            continue;
        if (!first)
            out_char(o, ' ');
        first = false;
        one.value = i + 1;
        calls_put_signal(&one, o);
    }
    out_char(o, ']');
}

static void put_handler(const struct calls_item *x, struct out *o) {
    if (x->value <= 1)
        put_name(x, "SIG_", x->value ? "IGN" : "DFL", o);
    else
        calls_put_hex(x->value, o);
}

/* wait(2). */
static void put_wait_status(const struct calls_item *x, struct out *o) {
    enum { CONTINUED = 0xffff, STOPPED = 0x7f, CORE = 0x80 };
    uint32_t status = (uint32_t)x->value;
    struct calls_item signal = *x;
    signal.value = status & STOPPED;
    if (status == CONTINUED) {
        out_str(o, "{ .continued: 1 }");
    } else if ((status & UINT8_MAX) == STOPPED) {
        signal.value = status >> BITS & UINT8_MAX;
        out_str(o, "{ .stopped: ");
        calls_put_signal(&signal, o);
        out_str(o, " }");
    } else if (!signal.value) {
        out_printf(o, "{ .exited: %" PRIu32 " }", status >> BITS & UINT8_MAX);
    } else {
        out_str(o, "{ .signal: ");
        calls_put_signal(&signal, o);
        out_str(o, status & CORE ? ", .core: 1 }" : " }");
    }
}

/* As stat(2) has it: 12 bits of the major number within 20 of the minor one. */
static void put_device(const struct calls_item *x, struct out *o) {
    uint64_t v = x->value;
    out_printf(o, "%" PRIu64 ":%" PRIu64, v >> 8 & 0xfff, (v & 0xff) | (v >> 12 & 0xfff00));
}

static void put_file_mode(const struct calls_item *x, struct out *o) {
    static const char *const TYPES[] = {[1] = "IFIFO", [2] = "IFCHR",  [4] = "IFDIR",  [6] = "IFBLK",
                                        [8] = "IFREG", [10] = "IFLNK", [12] = "IFSOCK"};
    enum { TYPE_AT = 12, PERMISSIONS = 07777 };
    uint64_t type = x->value >> TYPE_AT & 0xf;
    if (type < sizeof TYPES / sizeof *TYPES && TYPES[type]) {
        put_name(x, "S_", TYPES[type], o);
        out_printf(o, "|0%" PRIo64, x->value & PERMISSIONS);
    } else {
        out_printf(o, "0%" PRIo64, x->value);
    }
}

static void put_limit(const struct calls_item *x, struct out *o) {
    if (x->value == UINT64_MAX)
        put_name(x, "RLIM_", "INFINITY", o);
    else
        out_dec(o, x->value, 0);
}

static calls_put_fn *const MEMBERS[CALLS_KINDS] = {
    [CALLS_SIGSET] = put_sigset, [CALLS_HANDLER] = put_handler,     [CALLS_WAIT_STATUS] = put_wait_status,
    [CALLS_DEVICE] = put_device, [CALLS_FILE_MODE] = put_file_mode, [CALLS_LIMIT] = put_limit,
};

/* ---- structs ---- */

/* The memory that is looked at. */
struct span {
    const uint8_t *data;
    size_t size;
};

static const struct calls_shape *shape_of(const struct calls_item *x, unsigned id) {
    return &(x->v->shapes ? x->v->shapes : calls_shapes)[id < CALLS_SHAPE_COUNT ? id : 0];
}

static void put_scalar(const struct calls_item *x, const struct calls_field *f, uint64_t value,
                       struct out *o) {
    struct calls_item one = *x;
    one.value = value;
    one.set = f->set;
    one.width = (int8_t)(f->is_signed ? -(int)f->size : f->size);
    if (f->kind == CALLS_SET && f->is_signed && f->size < WORD) /* flags of a short */
        one.value &= (1ull << f->size * BITS) - 1;
    if (f->kind < CALLS_KINDS && MEMBERS[f->kind])
        MEMBERS[f->kind](&one, o);
    else
        calls_put(f->kind, &one, o);
}

static bool all_zero(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static bool is_scalar(const struct calls_field *f) {
    return f->size == 1 || f->size == 2 || f->size == 4 || f->size == WORD;
}

static void put_members(const struct calls_item *x, const struct calls_shape *s, struct span m,
                        unsigned depth, struct out *o) {
    enum { DEEPEST = 3 };
    bool first = true, more = false;
    out_char(o, '{');
    for (size_t i = 0; i < s->count; i++) {
        const struct calls_field *f = &s->fields[i];
        const uint8_t *p = m.data + f->offset;
        if ((size_t)f->offset + f->size > m.size || (!f->always && all_zero(p, f->size)))
            continue;
        more |= f->minor && !x->v->whole;
        if ((f->minor && !x->v->whole) ||
            (f->kind == CALLS_STRUCT ? depth >= DEEPEST : f->kind != CALLS_TEXT && !is_scalar(f)))
            continue;
        out_printf(o, "%s .%s: ", first ? "" : ",", f->name);
        first = false;
        if (f->kind == CALLS_STRUCT)
            put_members(x, shape_of(x, f->shape), (struct span){p, f->size}, depth + 1, o);
        else if (f->kind == CALLS_TEXT)
            calls_values_text(p, strnlen((const char *)p, f->size), false, o);
        else
            put_scalar(x, f, load(p, f->size, f->is_signed), o);
    }
    out_str(o, more ? first ? " ..." : ", ..." : "");
    out_str(o, first && !more ? "}" : " }");
}

/* A single value is no struct, and has no braces. */
static bool is_single(const struct calls_shape *s) {
    return s->count == 1 && !*s->fields->name;
}

static void put_element(const struct calls_item *x, const struct calls_shape *s, struct span m,
                        struct out *o) {
    if (is_single(s))
        put_scalar(x, s->fields, load(m.data, s->size, s->fields->is_signed), o);
    else
        put_members(x, s, m, 0, o);
}

static void put_array(const struct calls_item *x, const struct calls_shape *s, struct span m, bool cut,
                      struct out *o) {
    bool first = true;
    out_char(o, '[');
    for (size_t at = 0; at + s->size <= m.size; at += s->size) {
        put_separator(&first, o);
        put_element(x, s, (struct span){m.data + at, s->size}, o);
    }
    if (cut)
        put_separator(&first, o), out_str(o, "...");
    out_char(o, ']');
}

/* sched_setaffinity(2): [0-3 8] */
static void put_cpus(struct span m, bool cut, struct out *o) {
    bool first = true;
    size_t count = m.size * BITS;
    out_char(o, '[');
    for (size_t i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && m.data[end / BITS] >> end % BITS & 1; end++)
            continue;
        if (end == i)
            continue;
        out_printf(o, end - i > 1 ? "%s%zu-%zu" : "%s%zu", first ? "" : " ", i, end - 1);
        first = false;
    }
    out_str(o, cut ? first ? "..." : " ..." : "");
    out_char(o, ']');
}

/* socket(7): most are one number. */
static bool put_option(const struct calls_item *x, struct span m, struct out *o) {
    enum { LEVEL_SOCKET = 1, LINGER = 13, CREDENTIALS = 17, RECEIVE_TIME = 20, SEND_TIME = 21 };
    uint32_t name = (uint32_t)x->call->args[2];
    bool socket = (uint32_t)x->call->args[1] == LEVEL_SOCKET;
    if (m.size == sizeof(int32_t)) {
        out_printf(o, "[%" PRId32 "]", (int32_t)bytes_load32(m.data, false));
    } else if (socket && name == LINGER && m.size == 2 * sizeof(int32_t)) {
        out_printf(o, "{ .l_onoff: %" PRId32 ", .l_linger: %" PRId32 " }",
                   (int32_t)bytes_load32(m.data, false), (int32_t)bytes_load32(m.data + 4, false));
    } else if (socket && name == CREDENTIALS && m.size == 3 * sizeof(int32_t)) {
        out_printf(o, "{ .pid: %" PRId32 ", .uid: %" PRIu32 ", .gid: %" PRIu32 " }",
                   (int32_t)bytes_load32(m.data, false), bytes_load32(m.data + 4, false),
                   bytes_load32(m.data + 8, false));
    } else if (socket && (name == RECEIVE_TIME || name == SEND_TIME) && m.size == 2 * WORD) {
        put_members(x, shape_of(x, CALLS_SHAPE_TIMEVAL), m, 0, o);
    } else {
        return false;
    }
    return true;
}

/* ioctl_tty(2) and the like. */
static const struct control {
    uint32_t command;
    uint8_t shape; /* enum calls_shape_id */
    bool writes;   /* the kernel does */
} CONTROLS[] = {
    {0x5401, CALLS_SHAPE_TERMIOS, true},  {0x5402, CALLS_SHAPE_TERMIOS, false},
    {0x5403, CALLS_SHAPE_TERMIOS, false}, {0x5404, CALLS_SHAPE_TERMIOS, false},
    {0x540f, CALLS_SHAPE_INT, true},      {0x5410, CALLS_SHAPE_INT, false},
    {0x5411, CALLS_SHAPE_INT, true},      {0x5413, CALLS_SHAPE_WINSIZE, true},
    {0x5414, CALLS_SHAPE_WINSIZE, false}, {0x541b, CALLS_SHAPE_INT, true},
    {0x5421, CALLS_SHAPE_INT, false},     {0x5429, CALLS_SHAPE_INT, true},
    {0x5452, CALLS_SHAPE_INT, false},     {0x80045430, CALLS_SHAPE_INT, true},
    {0x40045431, CALLS_SHAPE_INT, false},
};

static const struct control *control_of(uint32_t command) {
    for (size_t i = 0; i < sizeof CONTROLS / sizeof *CONTROLS; i++)
        if (CONTROLS[i].command == command)
            return &CONTROLS[i];
    return NULL;
}

bool calls_control_writes(uint32_t command) {
    const struct control *c = control_of(command);
    return c && c->writes;
}

static bool put_control(const struct calls_item *x, struct span m, struct out *o) {
    const struct control *c = control_of((uint32_t)x->call->args[1]);
    const struct calls_shape *s = c ? shape_of(x, c->shape) : NULL;
    if (!s || !s->count || s->size > m.size || (c->writes && (!x->call->has_exit || x->call->result < 0)))
        return false;
    m.size = s->size;
    if (is_single(s))
        put_array(x, s, m, false, o);
    else
        put_members(x, s, m, 0, o);
    return true;
}

/* Whether it is one struct, whatever its size. */
static bool is_sized(enum calls_many many) {
    return many == CALLS_NEXT_BYTES || many == CALLS_BEFORE_BYTES || many == CALLS_RESULT_BYTES ||
           many == CALLS_LENGTH;
}

static bool put_known(const struct calls_item *x, const struct calls_arg *a, const struct calls_shape *s,
                      struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    struct span all = {m->data, m->size};
    if (!m->data || !s->count)
        return false;
    if (a->shape == CALLS_SHAPE_OPTION)
        return put_option(x, all, o);
    if (a->shape == CALLS_SHAPE_CONTROL)
        return put_control(x, all, o);
    if (a->shape == CALLS_SHAPE_CPUS)
        put_cpus(all, m->cut, o);
    else if (is_sized(a->many))
        put_members(x, s, all, 0, o);
    else if (a->many != CALLS_ONE)
        put_array(x, s, all, m->cut, o);
    else if (m->size < s->size)
        return false;
    else if (is_single(s) && (s->fields->kind == CALLS_DEC))
        put_array(x, s, (struct span){m->data, s->size}, false, o);
    else
        put_element(x, s, (struct span){m->data, s->size}, o);
    return true;
}

void calls_put_struct(const struct calls_item *x, struct out *o) {
    const struct calls_arg *a = &x->row->args[x->index];
    if (!put_known(x, a, shape_of(x, a->shape), o))
        calls_put_hex(x->value, o);
}

/* ---- lists of texts ---- */

void calls_put_texts(const struct calls_item *x, struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    bool first = true, cut = m->cut;
    if (!m->data) {
        calls_put_hex(x->value, o);
        return;
    }
    out_char(o, '[');
    for (size_t at = 0, n; at < m->size; at += n + 1) {
        n = strnlen((const char *)m->data + at, m->size - at);
        put_separator(&first, o);
        bool whole = at + n < m->size; /* a text that is truncated has no NUL */
        calls_values_text(m->data + at, n, !whole, o);
        cut = cut && whole;
    }
    if (cut)
        put_separator(&first, o), out_str(o, "...");
    out_char(o, ']');
}

/* ---- vectors ---- */

/* `count` as the program says; `left`: bytes that the call has moved. */
static void put_vectors(struct span m, uint64_t count, uint64_t left, struct out *o) {
    enum { BYTES = 2 * WORD };
    size_t shown = count < CALLS_VECTORS_MAX ? (size_t)count : CALLS_VECTORS_MAX;
    size_t at = shown * BYTES;
    bool first = true;
    out_char(o, '[');
    for (size_t i = 0; i < shown && at <= m.size; i++) {
        uint64_t base = bytes_load64(m.data + i * BYTES, false);
        uint64_t size = bytes_load64(m.data + i * BYTES + WORD, false);
        uint64_t moved = size < left ? size : left;
        size_t copied = size < CALLS_VECTOR_BYTES ? (size_t)size : CALLS_VECTOR_BYTES;
        put_separator(&first, o);
        out_str(o, "{ .iov_base: ");
        if (copied <= m.size - at)
            calls_values_text(m.data + at, moved < copied ? (size_t)moved : copied, moved > copied, o);
        else
            calls_put_hex(base, o);
        out_printf(o, ", .iov_len: %" PRIu64 " }", size);
        at = copied <= m.size - at ? at + copied : m.size;
        left -= moved;
    }
    if (count > shown)
        put_separator(&first, o), out_str(o, "...");
    out_char(o, ']');
}

/* How many bytes of a vector are the call's: all that is written, and of what is read as many as came. */
static uint64_t moved_by(const struct calls_item *x) {
    bool in = x->row->args[x->index].when == CALLS_IN;
    return in ? UINT64_MAX : x->call->has_exit && x->call->result > 0 ? (uint64_t)x->call->result : 0;
}

void calls_put_vectors(const struct calls_item *x, struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    uint64_t count = x->index + 1 < CALLS_ARGS ? x->call->args[x->index + 1] : 0;
    size_t shown = count < CALLS_VECTORS_MAX ? (size_t)count : CALLS_VECTORS_MAX;
    if (m->data && m->size >= shown * 2 * WORD)
        put_vectors((struct span){m->data, m->size}, count, moved_by(x), o);
    else
        calls_put_hex(x->value, o);
}

/* struct msghdr of 64 bits: where its members are. */
enum { NAME_SIZE = 8, VECTORS = 16, COUNT = 24, CONTROL_SIZE = 40, FLAGS = 48, MESSAGE_BYTES = 56 };

void calls_put_message(const struct calls_item *x, struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    if (!m->data || m->size < MESSAGE_BYTES) {
        calls_put_hex(x->value, o);
        return;
    }
    const uint8_t *p = m->data;
    uint64_t name = bytes_load64(p, false), count = bytes_load64(p + COUNT, false);
    uint64_t control = bytes_load64(p + CONTROL_SIZE, false);
    size_t name_size = name ? bytes_load32(p + NAME_SIZE, false) : 0, at = MESSAGE_BYTES;
    size_t shown = count < CALLS_VECTORS_MAX ? (size_t)count : CALLS_VECTORS_MAX;
    bool out = x->row->args[x->index].when != CALLS_IN;
    struct calls_item flags = *x;
    out_char(o, '{');
    name_size = name_size < CALLS_NAME_BYTES ? name_size : CALLS_NAME_BYTES;
    if (name_size && name_size <= m->size - at) {
        out_str(o, " .msg_name: ");
        if (!calls_put_address(x, p + at, name_size, o))
            calls_put_hex(name, o);
        out_char(o, ',');
        at += name_size;
    }
    out_str(o, " .msg_iov: ");
    if (shown * 2 * WORD <= m->size - at)
        put_vectors((struct span){p + at, m->size - at}, count, moved_by(x), o);
    else
        calls_put_hex(bytes_load64(p + VECTORS, false), o);
    if (control)
        out_printf(o, ", .msg_controllen: %" PRIu64, control);
    flags.value = bytes_load32(p + FLAGS, false);
    flags.set = CALLS_SET_MSG;
    flags.width = 4;
    if (flags.value && out) /* sendmsg(2) does not read them */
        out_str(o, ", .msg_flags: "), calls_put(CALLS_SET, &flags, o);
    out_str(o, " }");
}
