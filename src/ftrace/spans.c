/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/spans.h"

#include <stdlib.h>

enum { THREADS_MAX = 1 << 22 };
#define NO_TIME UINT64_MAX

bool ftrace_spans_take(struct ftrace_spans *s, uint64_t time_ns, struct bytes data) {
    uint64_t type = ftrace_field_read(s->type, data), pid = ftrace_field_read(s->pid, data);
    if (type != s->first && type != s->second)
        return true;
    uint32_t i = hash_map_get(&s->by_pid, pid);
    if (i == HASH_ABSENT) {
        uint64_t *slot = s->begins.count < THREADS_MAX ? vec_push(&s->begins) : NULL;
        i = (uint32_t)s->begins.count - 1;
        if (!slot || !hash_map_set(&s->by_pid, pid, i))
            return false;
        *slot = NO_TIME;
    }
    uint64_t *begin = &s->begins.items[i];
    if (type == s->second) {
        if (*begin == NO_TIME || *begin > time_ns)
            s->unmatched += s->first != s->second;
        else
            s->ended(s->ctx, time_ns - *begin);
        *begin = NO_TIME;
    }
    if (type == s->first)
        *begin = time_ns;
    return true;
}

void ftrace_spans_fini(struct ftrace_spans *s) {
    vec_fini(&s->begins);
    hash_map_fini(&s->by_pid);
}
