/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/table.h"

#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>

/* Single values, so that all have an offset. */
typedef struct {
    int value;
} int_box;
typedef struct {
    uint64_t value;
} long_box;
typedef struct {
    uint8_t value[CALLS_FIELD_BYTES_MAX];
} bytes_box;
typedef struct {
    uint8_t value[36]; /* the largest that is known: struct termios */
} control_box;

/* Structs of which the C library has none, or another (asm/signal.h, linux/sched.h, linux/sched/types.h,
 * asm-generic/termbits.h). */
struct kernel_sigaction {
    uint64_t handler, flags, restorer, mask;
};
struct kernel_clone_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size,
        cgroup;
};
struct kernel_sched_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};
struct kernel_termios {
    uint32_t iflag, oflag, cflag, lflag;
    uint8_t line, cc[19];
};

enum { SIGNED = 1, ALWAYS = 2, MINOR = 4 };

#define FIELD(type, member, name_, kind_, set_, how_)                                                        \
    {                                                                                                        \
        .name = name_, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member),                \
        .is_signed = (how_)&SIGNED, .kind = CALLS_##kind_, .set = CALLS_SET_##set_, .always = (how_)&ALWAYS, \
        .minor = (how_)&MINOR                                                                                \
    }
#define NESTED(type, member, name_, shape_, how_)                                                           \
    {                                                                                                       \
        .name = name_, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member),               \
        .kind = CALLS_STRUCT, .shape = CALLS_SHAPE_##shape_, .always = (how_)&ALWAYS, .minor = (how_)&MINOR \
    }
#define SHAPE(id, kernel, type, ...) static const struct calls_field id##_FIELDS[] = {__VA_ARGS__};
#include "calls/shape_rows.h"
#undef SHAPE

/* The C library's structs are the kernel's on 64-bit architectures only. */
const struct calls_shape calls_shapes[CALLS_SHAPE_COUNT] = {
#define SHAPE(id, kernel_, type, ...)                                                                  \
    [CALLS_SHAPE_##id] = {.kernel = kernel_,                                                           \
                          .size = sizeof(type),                                                        \
                          .count = sizeof(void *) == 8 ? sizeof id##_FIELDS / sizeof *id##_FIELDS : 0, \
                          .fields = id##_FIELDS},
#include "calls/shape_rows.h"
#undef SHAPE
};
