/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/values_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ERRNO = 4095,
    MAX_RESTART = 516, /* 512 to 516 never leave the kernel */
    MIN_RESTART = 512,
    CURRENT_FOLDER = -100,
    O_CREAT_BIT = 0100,
    O_TMPFILE_BIT = 020000000,
};

const char *calls_values_name(const struct calls *c, const struct calls_call *call,
                              char room[CALLS_NAME_MAX]) {
    const char *name = calls_table_name(calls_table_of(c, call), call->number);
    if (name)
        return name;
    snprintf(room, CALLS_NAME_MAX, "syscall_%" PRId64, call->number);
    return room;
}

bool calls_values_failed(const struct calls_call *call, uint32_t *number) {
    if (!call->has_exit || call->result >= 0 || call->result < -MAX_ERRNO)
        return false;
    *number = (uint32_t)-call->result;
    return *number < MIN_RESTART || *number > MAX_RESTART;
}

/* ---- texts ---- */

void calls_values_text(const uint8_t *p, size_t size, bool cut, struct out *o) {
    static const char LETTERS[] = "abtnvfr"; /* of 7 to 13 */
    out_char(o, '"');
    for (size_t i = 0; i < size; i++) {
        uint8_t c = p[i];
        if (c == '"' || c == '\\') {
            out_char(o, '\\');
            out_char(o, (char)c);
        } else if (c >= ' ' && c < 0x7f) {
            out_char(o, (char)c);
        } else if (c >= 7 && c <= 13) {
            out_char(o, '\\');
            out_char(o, LETTERS[c - 7]);
        } else {
            out_printf(o, "\\%03o", c);
        }
    }
    out_str(o, cut ? "\"..." : "\"");
}

void calls_put_hex(uint64_t value, struct out *o) {
    out_str(o, "0x");
    out_hex(o, value, 0);
}

/* ---- kinds ---- */

static void put_dec(const struct calls_item *x, struct out *o) {
    out_int(o, (int64_t)x->value, 0);
}

static void put_unsigned(const struct calls_item *x, struct out *o) {
    out_dec(o, x->value, 0);
}

static void put_number(const struct calls_item *x, struct out *o) {
    calls_put_hex(x->value, o);
}

static void put_set(const struct calls_item *x, struct out *o) {
    enum calls_flavour flavour = x->table ? x->table->flavour : CALLS_FLAVOUR_USUAL;
    const struct calls_set *s = calls_set(x->set, flavour);
    uint64_t value = x->value & (x->width == -4 ? UINT32_MAX : UINT64_MAX);
    calls_set_put(s, value, x->v->prefix, o);
}

static void put_in(const struct calls_item *x, enum calls_set_id id, uint64_t value, struct out *o) {
    enum calls_flavour flavour = x->table ? x->table->flavour : CALLS_FLAVOUR_USUAL;
    calls_set_put(calls_set(id, flavour), value, x->v->prefix, o);
}

static void put_file(const struct calls_item *x, struct out *o) {
    int32_t fd = (int32_t)x->value;
    const char *path = fd >= 0 && x->v->file ? x->v->file(x->v->ctx, x->call->pid, fd) : NULL;
    out_int(o, fd, 0);
    if (!path)
        return;
    out_char(o, '<');
    out_plain(o, path, strlen(path));
    out_char(o, '>');
}

static void put_folder(const struct calls_item *x, struct out *o) {
    if ((int32_t)x->value == CURRENT_FOLDER)
        out_str(o, x->v->prefix ? "AT_FDCWD" : "CWD");
    else
        put_file(x, o);
}

static void put_text(const struct calls_item *x, struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    if (m->data)
        calls_values_text(m->data, m->size, m->cut, o);
    else
        calls_put_hex(x->value, o);
}

static void put_mode(const struct calls_item *x, struct out *o) {
    out_printf(o, x->value ? "0%" PRIo64 : "%" PRIo64, x->value & UINT32_MAX);
}

static void put_pid(const struct calls_item *x, struct out *o) {
    int32_t pid = (int32_t)x->value;
    const char *name = pid > 0 ? calls_thread_name(x->v->calls, (uint32_t)pid) : NULL;
    out_int(o, pid, 0);
    if (!name)
        return;
    out_str(o, " (");
    out_plain(o, name, strlen(name));
    out_char(o, ')');
}

void calls_put_signal(const struct calls_item *x, struct out *o) {
    enum { FIRST_RT = 32, LAST = 64 };
    const char *name = calls_signal_name((uint32_t)x->value);
    if (name)
        out_str(o, x->v->prefix ? "SIG" : ""), out_str(o, name);
    else if (x->value > FIRST_RT && x->value <= LAST)
        out_printf(o, "%sRT_%u", x->v->prefix ? "SIG" : "", (unsigned)x->value - FIRST_RT);
    else
        out_int(o, (int64_t)x->value, 0);
}

/* sys/socket.h: the family is in the program's byte order, which is assumed to be ours. */
bool calls_put_address(const struct calls_item *x, const uint8_t *p, size_t size, struct out *o) {
    enum { LOCAL = 1, INET = 2, INET6 = 10, INET_SIZE = 8, INET6_SIZE = 24 };
    if (size < 2)
        return false;
    uint16_t family = bytes_load16(p, false);
    out_str(o, "{ .family: ");
    put_in(x, CALLS_SET_AF, family, o);
    if (family == LOCAL && size > 2) {
        bool abstract = !p[2];
        const uint8_t *path = p + 2 + abstract;
        size_t room = size - 2 - abstract;
        out_str(o, abstract ? ", path: @" : ", path: ");
        calls_values_text(path, abstract ? room : strnlen((const char *)path, room), false, o);
    } else if (family == INET && size >= INET_SIZE) {
        out_printf(o, ", port: %u, addr: %u.%u.%u.%u", p[2] << 8 | p[3], p[4], p[5], p[6], p[7]);
    } else if (family == INET6 && size >= INET6_SIZE) {
        out_printf(o, ", port: %u, addr: ", p[2] << 8 | p[3]);
        for (unsigned i = 0; i < 8; i++)
            out_printf(o, "%s%x", i ? ":" : "", p[8 + 2 * i] << 8 | p[9 + 2 * i]);
    }
    out_str(o, " }");
    return true;
}

static void put_address(const struct calls_item *x, struct out *o) {
    const struct calls_memory *m = &x->call->memory[x->index];
    if (!m->data || !calls_put_address(x, m->data, m->size, o))
        calls_put_hex(x->value, o);
}

/* asm-generic/ioctls.h and ioctl.h: a direction, a size, the driver's letter and a number. */
static void put_ioctl(const struct calls_item *x, struct out *o) {
    static const struct calls_name NAMES[] = {
        {0x5401, "TCGETS"},
        {0x5402, "TCSETS"},
        {0x5403, "TCSETSW"},
        {0x5404, "TCSETSF"},
        {0x5405, "TCGETA"},
        {0x5409, "TCSBRK"},
        {0x540a, "TCXONC"},
        {0x540b, "TCFLSH"},
        {0x540e, "TIOCSCTTY"},
        {0x540f, "TIOCGPGRP"},
        {0x5410, "TIOCSPGRP"},
        {0x5411, "TIOCOUTQ"},
        {0x5412, "TIOCSTI"},
        {0x5413, "TIOCGWINSZ"},
        {0x5414, "TIOCSWINSZ"},
        {0x541b, "FIONREAD"},
        {0x5420, "TIOCPKT"},
        {0x5421, "FIONBIO"},
        {0x5422, "TIOCNOTTY"},
        {0x5429, "TIOCGSID"},
        {0x5450, "FIONCLEX"},
        {0x5451, "FIOCLEX"},
        {0x5452, "FIOASYNC"},
        {0x80045430, "TIOCGPTN"},
        {0x40045431, "TIOCSPTLCK"},
        {0x1260, "BLKGETSIZE"},
        {0x80081272, "BLKGETSIZE64"},
        {0x8910, "SIOCGIFNAME"},
        {0x8912, "SIOCGIFCONF"},
        {0x8913, "SIOCGIFFLAGS"},
        {0x8915, "SIOCGIFADDR"},
        {0x8933, "SIOCGIFINDEX"},
        {0x2400, "PERF_EVENT_IOC_ENABLE"},
        {0x2401, "PERF_EVENT_IOC_DISABLE"},
        {0x2403, "PERF_EVENT_IOC_RESET"},
        {0x2405, "PERF_EVENT_IOC_SET_OUTPUT"},
        {0x80082407, "PERF_EVENT_IOC_ID"},
        {0x40049409, "FICLONE"},
        {0xc020660b, "FS_IOC_FIEMAP"},
        {0x80086601, "FS_IOC_GETFLAGS"},
        {0x40086602, "FS_IOC_SETFLAGS"},
    };
    static const char *const DIRECTIONS[] = {"NONE", "WRITE", "READ", "READ|WRITE"};
    uint32_t cmd = (uint32_t)x->value;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].value == cmd) {
            out_str(o, NAMES[i].name);
            return;
        }
    out_printf(o, "(%s, 0x%x, 0x%x, 0x%x)", DIRECTIONS[cmd >> 30], cmd >> 8 & 0xff, cmd & 0xff,
               cmd >> 16 & 0x3fff);
}

enum fcntl_command {
    DUPFD = 0,
    GETFD = 1,
    SETFD = 2,
    GETFL = 3,
    SETFL = 4,
    DUPFD_CLOEXEC = 1030,
    SETPIPE_SZ,
    GETPIPE_SZ
};

static void put_fcntl(const struct calls_item *x, struct out *o) {
    switch ((uint32_t)x->call->args[1]) {
    case DUPFD:
    case DUPFD_CLOEXEC:
    case SETPIPE_SZ:
        put_dec(x, o);
        break;
    case SETFD:
        put_in(x, CALLS_SET_FD_FLAGS, x->value, o);
        break;
    case SETFL:
        put_in(x, CALLS_SET_OPEN, x->value, o);
        break;
    default:
        calls_put_hex(x->value, o);
    }
}

static void put_prctl(const struct calls_item *x, struct out *o) {
    enum { SET_PDEATHSIG = 1, SET_NAME = 15 };
    if (x->call->args[0] == SET_PDEATHSIG)
        calls_put_signal(x, o);
    else if (x->call->args[0] == SET_NAME)
        put_text(x, o);
    else
        calls_put_hex(x->value, o);
}

static void put_option(const struct calls_item *x, struct out *o) {
    enum { LEVEL_SOCKET = 1 };
    if ((uint32_t)x->call->args[1] == LEVEL_SOCKET)
        put_in(x, CALLS_SET_SO, x->value & UINT32_MAX, o);
    else
        put_dec(x, o);
}

static void put_protocol(const struct calls_item *x, struct out *o) {
    enum { INET = 2, INET6 = 10, ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58 };
    bool inet = x->call->args[0] == INET || x->call->args[0] == INET6;
    const char *name = !inet               ? NULL
                       : x->value == TCP   ? "TCP"
                       : x->value == UDP   ? "UDP"
                       : x->value == ICMP  ? "ICMP"
                       : x->value == ICMP6 ? "ICMPV6"
                                           : NULL;
    if (name)
        out_str(o, x->v->prefix ? "IPPROTO_" : ""), out_str(o, name);
    else
        put_dec(x, o);
}

static calls_put_fn *const PUT[CALLS_KINDS] = {
    [CALLS_DEC] = put_dec,
    [CALLS_UNSIGNED] = put_unsigned,
    [CALLS_HEX] = put_number,
    [CALLS_SET] = put_set,
    [CALLS_FD] = put_file,
    [CALLS_DFD] = put_folder,
    [CALLS_NEWFD] = put_dec,
    [CALLS_PATH] = put_text,
    [CALLS_TEXT] = put_text,
    [CALLS_DATA] = put_text,
    [CALLS_SOCKADDR] = put_address,
    [CALLS_STRUCT] = calls_put_struct,
    [CALLS_TEXTS] = calls_put_texts,
    [CALLS_VECTORS] = calls_put_vectors,
    [CALLS_MESSAGE] = calls_put_message,
    [CALLS_MODE] = put_mode,
    [CALLS_PID] = put_pid,
    [CALLS_PLAIN_PID] = put_dec,
    [CALLS_SIGNAL] = calls_put_signal,
    [CALLS_IOCTL] = put_ioctl,
    [CALLS_FCNTL] = put_fcntl,
    [CALLS_PRCTL] = put_prctl,
    [CALLS_SOCKOPT] = put_option,
    [CALLS_SOCKPROTO] = put_protocol,
    [CALLS_TIMEOUT] = put_dec,
    [CALLS_NEVER] = put_dec,
    [CALLS_NONE] = put_dec,
};

void calls_put(enum calls_kind kind, const struct calls_item *x, struct out *o) {
    (kind < CALLS_KINDS && PUT[kind] ? PUT[kind] : put_number)(x, o);
}

/* ---- arguments ---- */

static uint64_t widen(uint64_t value, int8_t width) {
    return width == -4 ? (uint64_t)(int64_t)(int32_t)value : width == 4 ? (uint32_t)value : value;
}

/* Operations of a futex that read an argument: bits by number (futex(2)). */
enum {
    FUTEX_TIMEOUT = 1 << 0 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 13,
    FUTEX_COUNT2 = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 12, /* a number in the place of the timeout */
    FUTEX_ADDRESS2 = FUTEX_COUNT2 | 1 << 11,
    FUTEX_VALUE3 = 1 << 4 | 1 << 5 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12,
    FUTEX_COMMANDS = 0x7f,
};

static bool futex_reads(const struct calls_call *call, unsigned index) {
    unsigned command = call->args[1] & FUTEX_COMMANDS, bit = command < 31 ? 1u << command : 0;
    return index < 3 || (index == 3 && bit & (FUTEX_TIMEOUT | FUTEX_COUNT2)) ||
           (index == 4 && bit & FUTEX_ADDRESS2) || (index == 5 && bit & FUTEX_VALUE3);
}

/* Whether the call reads the argument with its command: if not, it is whatever the register held. */
static bool is_read(const struct calls_item *x) {
    const char *name = x->row->name;
    const struct calls_call *call = x->call;
    uint64_t command = call->args[1] & UINT32_MAX;
    if (x->row->args[x->index].kind == CALLS_MODE && x->index &&
        x->row->args[x->index - 1].set == CALLS_SET_OPEN)
        return call->args[x->index - 1] & (O_CREAT_BIT | O_TMPFILE_BIT);
    if (strcmp(name, "futex") == 0)
        return futex_reads(call, x->index);
    if (strcmp(name, "fcntl") == 0 && x->index == 2)
        return command != GETFD && command != GETFL && command != GETPIPE_SZ;
    if (strcmp(name, "prctl") == 0 && x->index > 0) {
        static const uint8_t GETTERS[] = {3, 7, 13, 21, 27, 30, 31, 32, 39, 42, 46, 51, 56, 58};
        return x->index == 1 && !memchr(GETTERS, (int)(call->args[0] & 0xff), sizeof GETTERS);
    }
    return true;
}

/* Whether an argument is shown: descriptors always are, zeros only if they have a name or are asked for. */
static bool is_told(const struct calls_item *x) {
    const struct calls_arg *a = &x->row->args[x->index];
    enum calls_flavour flavour = x->table ? x->table->flavour : CALLS_FLAVOUR_USUAL;
    if (!is_read(x))
        return false;
    if (a->kind == CALLS_FD)
        return (int32_t)x->value >= 0 || x->v->zeros || strcmp(x->row->name, "mmap") != 0;
    return x->value || x->v->zeros || a->kind == CALLS_DFD || a->kind == CALLS_NEWFD ||
           a->kind == CALLS_MODE ||
           (a->kind == CALLS_SET && calls_set_names_zero(calls_set(a->set, flavour))) ||
           (a->kind == CALLS_FCNTL && (uint32_t)x->call->args[1] <= SETFL);
}

static void put_unknown(const struct calls_values *v, const struct calls_call *call, struct out *o) {
    bool first = true;
    unsigned last = CALLS_ARGS;
    while (last && !call->args[last - 1])
        last--;
    for (unsigned i = 0; i < last; i++, first = false) {
        out_str(o, first ? "" : ", ");
        if (!v->no_names)
            out_printf(o, "arg%u: ", i);
        calls_put_hex(call->args[i], o);
    }
}

/* Whether what the argument points to is of the kernel's writing. */
static bool is_written(const struct calls_item *x) {
    const struct calls_arg *a = &x->row->args[x->index];
    bool command = a->kind == CALLS_STRUCT && a->shape == CALLS_SHAPE_CONTROL;
    return a->when != CALLS_IN && x->call->memory[x->index].data && x->call->has_exit &&
           x->call->result >= 0 && (!command || calls_control_writes((uint32_t)x->call->args[1]));
}

static void put_argument(const struct calls_item *x, bool first, struct out *o) {
    const struct calls_arg *a = &x->row->args[x->index];
    out_str(o, first ? "" : ", ");
    if (!x->v->no_names) {
        out_str(o, a->name);
        out_str(o, ": ");
    }
    if (strcmp(x->row->name, "futex") == 0 && x->index == 3 &&
        1u << (x->call->args[1] & FUTEX_COMMANDS & 31) & FUTEX_COUNT2)
        put_unsigned(x, o);
    else
        calls_put(a->kind, x, o);
}

static void put_arguments(const struct calls_values *v, const struct calls_call *call, bool written,
                          struct out *o) {
    struct calls_item x = {.v = v, .call = call, .table = calls_table_of(v->calls, call)};
    bool first = true;
    if (!call->has_enter)
        return;
    x.row = calls_table_row(x.table, call->number);
    if (!x.row && !written)
        put_unknown(v, call, o);
    for (x.index = 0; x.row && x.index < x.row->count; x.index++) {
        const struct calls_arg *a = &x.row->args[x.index];
        x.width = call->compat && a->width == 8 ? 4 : a->width;
        x.value = widen(call->args[x.index], x.width);
        x.set = a->set;
        if (!is_told(&x) || (written && !is_written(&x)))
            continue;
        put_argument(&x, first, o);
        first = false;
    }
}

void calls_values_args(const struct calls_values *v, const struct calls_call *call, struct out *o) {
    put_arguments(v, call, false, o);
}

void calls_values_written(const struct calls_values *v, const struct calls_call *call, struct out *o) {
    put_arguments(v, call, true, o);
}

/* ---- results ---- */

static void put_error(uint32_t number, struct out *o) {
    bool restarts;
    const char *name = calls_errno_name(number), *text = calls_errno_text(number, &restarts);
    out_str(o, restarts ? "? " : "-1 ");
    if (name)
        out_str(o, name);
    else
        out_dec(o, number, 0);
    out_printf(o, " (%s)", text);
}

void calls_values_result(const struct calls_values *v, const struct calls_call *call, struct out *o) {
    struct calls_item x = {
        .v = v, .call = call, .table = calls_table_of(v->calls, call), .value = (uint64_t)call->result};
    x.row = calls_table_row(x.table, call->number);
    enum calls_kind kind = x.row ? x.row->returns : CALLS_DEC;
    if (!call->has_exit || kind == CALLS_NEVER) {
        out_char(o, '?');
    } else if (call->result < 0 && call->result >= -MAX_ERRNO) {
        put_error((uint32_t)-call->result, o);
    } else if (kind == CALLS_FCNTL && call->has_enter && call->result > 0 &&
               (uint32_t)call->args[1] == GETFL) {
        put_in(&x, CALLS_SET_OPEN, x.value, o);
    } else if (kind == CALLS_FCNTL && call->has_enter && call->result > 0 &&
               (uint32_t)call->args[1] == GETFD) {
        put_in(&x, CALLS_SET_FD_FLAGS, x.value, o);
    } else if (kind == CALLS_HEX || kind == CALLS_MODE || kind == CALLS_PID) {
        calls_put(kind, &x, o);
    } else {
        out_int(o, call->result, 0);
        out_str(o, kind == CALLS_TIMEOUT && !call->result ? " (Timeout)" : "");
    }
}
