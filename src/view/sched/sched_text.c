/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/sched_text.h"

#include <inttypes.h>
#include <stdio.h>

void sched_put_ms_cut(struct out *o, uint64_t ns, unsigned width) {
    out_dec(o, ns / 1000000, width > 4 ? width - 4 : 0);
    out_char(o, '.');
    out_dec0(o, ns / 1000 % 1000, 3);
}

void sched_put_ms(struct out *o, uint64_t ns, unsigned width) {
    uint64_t rest = ns % 1000;
    sched_put_ms_cut(o, rest >= 500 && ns <= UINT64_MAX - 1000 ? ns - rest + 1000 : ns, width);
}

void sched_put_seconds(struct out *o, uint64_t ns, unsigned width) {
    uint64_t us = ns / 1000;
    out_dec(o, us / 1000000, width - 7);
    out_char(o, '.');
    out_dec0(o, us % 1000000, 6);
}

void sched_put_name(const char *name, uint32_t tid, char *to, size_t room) {
    size_t n = 0;
    if (!name) {
        snprintf(to, room, ":%" PRIu32, tid);
        return;
    }
    for (; name[n] && n + 1 < room; n++)
        to[n] = (unsigned char)name[n] < ' ' || name[n] == 0x7f ? '?' : name[n];
    to[n] = 0;
}

void sched_name(const struct states *s, uint32_t thread, char *to, size_t room) {
    sched_put_name(states_thread_name(s, thread), states_thread(s, thread)->tid, to, room);
}
