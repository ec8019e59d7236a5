/* SPDX-License-Identifier: Apache-2.0 */
/* What arguments point to, as text. The memory is laid out as BPF copies it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/writer.h"
#include "calls/values.h"

enum { NONE = -1 };

static struct out out;

static bool take(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    (void)ctx, (void)c, (void)call, (void)end;
    return true;
}

/* The arguments of a call of x86-64, of which the one at `index` points to `w`. */
static const char *text(const char *name, uint64_t a0, uint64_t a1, uint64_t a2, int64_t result, int index,
                        struct writer *w) {
    struct calls c;
    calls_init(&c, "x86_64", take, NULL);
    const struct calls_values v = {.calls = &c};
    struct calls_call call = {
        .has_enter = true, .has_exit = true, .args = {a0, a1, a2}, .result = result, .number = NONE};
    for (size_t i = 0; i < c.table->count; i++)
        if (c.table->entries[i].name && strcmp(c.table->entries[i].name, name) == 0)
            call.number = (int64_t)i;
    if (index >= 0)
        call.memory[index] = (struct calls_memory){w->data, (uint32_t)w->size, false};
    out.len = 0;
    calls_values_args(&v, &call, &out);
    out_str(&out, " / ");
    calls_values_written(&v, &call, &out);
    calls_fini(&c);
    return out_text(&out);
}

static struct writer words(size_t count, const uint64_t *from) {
    struct writer w = writer_make(false);
    for (size_t i = 0; i < count; i++)
        writer_u64(&w, from[i]);
    return w;
}

#define WORDS(...) \
    words(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]){__VA_ARGS__})

static void check(const char *got, const char *expected, struct writer w) {
    assert_string_equal(got, expected);
    writer_fini(&w);
}

static void times_and_limits(void **state) {
    (void)state;
    struct writer w = WORDS(1, 500);
    check(text("nanosleep", 0x10, 0, 0, 0, 0, &w), "rqtp: { .tv_sec: 1, .tv_nsec: 500 } / ", w);
    w = WORDS(1);
    check(text("nanosleep", 0x10, 0, 0, 0, 0, &w), "rqtp: 0x10 / ", w); /* half of it */
    w = WORDS(1, 2, 3, (uint64_t)-1);
    check(text("setitimer", 0, 0x10, 0, 0, 1, &w),
          "which: REAL, value: { .it_interval: { .tv_sec: 1, .tv_usec: 2 }, .it_value: { .tv_sec: 3, "
          ".tv_usec: -1 } }"
          " / ",
          w);
    w = WORDS(1024, UINT64_MAX);
    check(text("getrlimit", 7, 0x10, 0, 0, 1, &w),
          "resource: NOFILE, rlim: { .rlim_cur: 1024, .rlim_max: INFINITY } / "
          "rlim: { .rlim_cur: 1024, .rlim_max: INFINITY }",
          w);
    w = writer_make(false);
    check(text("getrlimit", 7, 0x10, 0, -14, NONE, &w), "resource: NOFILE, rlim: 0x10 / ", w);
}

static void arrays(void **state) {
    (void)state;
    struct writer w = WORDS(3 | 1ull << 32 | 0x11ull << 48, 4 | 5ull << 32);
    check(text("poll", 0x10, 2, 0, 1, 0, &w),
          "ufds: [{ .fd: 3, .events: IN, .revents: IN|HUP }, { .fd: 4, .events: IN|OUT }], nfds: 2 / "
          "ufds: [{ .fd: 3, .events: IN, .revents: IN|HUP }, { .fd: 4, .events: IN|OUT }]",
          w);
    w = WORDS(3 | 4ull << 32);
    check(text("pipe2", 0x10, 0, 0, 0, 0, &w), "fildes: [3, 4] / fildes: [3, 4]", w);
    w = WORDS(0xf1, 1);
    check(text("sched_setaffinity", 0, 16, 0x10, 0, 2, &w), "len: 16, user_mask_ptr: [0 4-7 64] / ", w);
}

static void signals_and_children(void **state) {
    (void)state;
    struct writer w = WORDS(1 | 1 << 14);
    check(text("rt_sigprocmask", 0, 0x10, 0, 0, 1, &w), "how: BLOCK, nset: [HUP TERM] / ", w);
    w = WORDS(~0ull ^ 2);
    check(text("rt_sigprocmask", 2, 0x10, 0, 0, 1, &w), "how: SETMASK, nset: ~[INT] / ", w);
    w = WORDS(1, 0x10000000, 0, 0);
    check(text("rt_sigaction", 13, 0x10, 0, 0, 1, &w),
          "sig: PIPE, act: { .sa_handler: IGN, .sa_flags: RESTART, .sa_mask: [] } / ", w);
    w = WORDS(7 << 8);
    check(text("wait4", 5, 0x10, 0, 5, 1, &w),
          "upid: 5, stat_addr: { .exited: 7 } / stat_addr: { .exited: 7 }", w);
    w = WORDS(0x8b);
    check(text("wait4", 5, 0x10, 0, 5, 1, &w),
          "upid: 5, stat_addr: { .signal: SEGV, .core: 1 } / stat_addr: { .signal: SEGV, .core: 1 }", w);
    w = WORDS(0x137f);
    check(text("wait4", 5, 0x10, 0, 5, 1, &w),
          "upid: 5, stat_addr: { .stopped: STOP } / stat_addr: { .stopped: STOP }", w);
}

static void files(void **state) {
    struct stat st = {.st_mode = S_IFREG | 04755, .st_size = 99, .st_ino = 5};
    struct writer w = writer_make(false);
    (void)state;
    writer_put(&w, &st, sizeof st);
    check(text("fstat", 3, 0x10, 0, 0, 1, &w),
          "fd: 3, statbuf: { .st_mode: IFREG|04755, .st_size: 99, ... } / "
          "statbuf: { .st_mode: IFREG|04755, .st_size: 99, ... }",
          w);
    w = writer_make(false);
    writer_put(&w, "sh\0-c\0a \"b\"", 12);
    check(text("execve", 0, 0x10, 0, 0, 1, &w), "argv: [\"sh\", \"-c\", \"a \\\"b\\\"\"] / ", w);
    w = writer_make(false);
    writer_put(&w, "sh\0long", 7);
    check(text("execve", 0, 0x10, 0, 0, 1, &w), "argv: [\"sh\", \"long\"...] / ", w);
    w = WORDS(02000000, 0, 8);
    check(text("openat2", (uint64_t)-100, 0, 0x10, 3, 2, &w),
          "dfd: CWD, how: { .flags: RDONLY|CLOEXEC, .resolve: BENEATH } / ", w);
    w = WORDS(50ull << 32 | 24);
    check(text("ioctl", 0, 0x5413, 0x10, 0, 2, &w),
          "fd: 0, cmd: TIOCGWINSZ, arg: { .ws_row: 24, .ws_col: 0, "
          ".ws_xpixel: 50 } / arg: { .ws_row: 24, .ws_col: 0, .ws_xpixel: 50 }",
          w);
    w = WORDS(24);
    check(text("ioctl", 0, 0x5413, 0x10, -25, 2, &w), "fd: 0, cmd: TIOCGWINSZ, arg: 0x10 / ", w);
}

static void vectors_and_messages(void **state) {
    (void)state;
    struct writer w = WORDS(0x100, 3, 0x200, 70);
    for (int i = 0; i < 67; i++)
        writer_u8(&w, 'a');
    check(text("readv", 3, 0x10, 2, 5, 1, &w),
          "fd: 3, vec: [{ .iov_base: \"aaa\", .iov_len: 3 }, { .iov_base: \"aa\", .iov_len: 70 }], vlen: 2 / "
          "vec: [{ .iov_base: \"aaa\", .iov_len: 3 }, { .iov_base: \"aa\", .iov_len: 70 }]",
          w);
    w = WORDS(0x100, 3, 0x200, 4); /* the second could not be read */
    writer_put(&w, "abc", 3);
    check(text("writev", 3, 0x10, 2, 7, 1, &w),
          "fd: 3, vec: [{ .iov_base: \"abc\", .iov_len: 3 }, { .iov_base: 0x200, .iov_len: 4 }], vlen: 2 / ",
          w);
    w = WORDS(0x900, 16, 0x800, 1, 0, 0, 0);
    writer_u16(&w, 2);
    writer_u16(&w, 0x3500);
    writer_u32(&w, 0x0100007f);
    writer_u64(&w, 0);
    writer_u64(&w, 0x100);
    writer_u64(&w, 2);
    writer_put(&w, "hi", 2);
    check(text("sendmsg", 3, 0x10, 0, 2, 1, &w),
          "fd: 3, msg: { .msg_name: { .family: INET, port: 53, addr: 127.0.0.1 }, "
          ".msg_iov: [{ .iov_base: \"hi\", .iov_len: 2 }] } / ",
          w);
}

/* Whatever is missing at the end, nothing beyond it is looked at. */
static void truncated_anywhere(void **state) {
    static const char *const CALLS[] = {"poll",     "fstat",  "execve",       "readv",   "sendmsg",
                                        "recvmsg",  "statx",  "rt_sigaction", "ioctl",   "wait4",
                                        "newuname", "clone3", "epoll_ctl",    "connect", "setsockopt"};
    (void)state;
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        for (size_t n = 0; n < 300; n++)
            for (int index = 0; index < 4; index++) {
                struct writer w = writer_make(false); /* of its own size, for address checkers */
                for (size_t k = 0; k < n; k++)
                    writer_u8(&w, (uint8_t)(k % 8 ? 0 : 1 + k % 5));
                uint8_t *exact = malloc(n ? n : 1);
                assert_non_null(exact);
                memcpy(exact, w.data ? w.data : (uint8_t *)"", n);
                struct writer view = {.data = exact, .size = n};
                assert_non_null(text(CALLS[i], 0x10, 0x5401, 0x10, 40, index, &view));
                free(exact);
                writer_fini(&w);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_limits),     cmocka_unit_test(arrays),
        cmocka_unit_test(signals_and_children), cmocka_unit_test(files),
        cmocka_unit_test(vectors_and_messages), cmocka_unit_test(truncated_anywhere),
    };
    if (sizeof(void *) != 8 || BYTES_HOST_BIG)
        return 77;
    if (!out_init(&out, NULL, NULL))
        return 1;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    out_fini(&out);
    return status;
}
