/* SPDX-License-Identifier: Apache-2.0 */
/* System calls: every 16 bytes are one event, of few threads. However they contradict each other, each enter
 * and each exit is reported once, and all have texts. */
#include "fuzz.h"

#include "calls/summary.h"
#include "calls/values.h"

enum { STEP = 16 };

struct play {
    struct calls_values values;
    struct calls_summary summary;
    struct out out;
    uint64_t enters, exits;
};

static bool take(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct play *p = ctx;
    char room[CALLS_NAME_MAX];
    p->enters += call->has_enter;
    p->exits += call->has_exit;
    p->out.len = 0;
    out_str(&p->out, calls_values_name(c, call, room));
    calls_values_args(&p->values, call, &p->out);
    calls_values_result(&p->values, call, &p->out);
    for (size_t i = 0; i < p->out.len; i++)
        FUZZ_CHECK((uint8_t)p->out.buf[i] >= ' ' && p->out.buf[i] != 0x7f); /* names may be UTF-8 */
    return calls_summary_add(&p->summary, call->tid, call, end);
}

static void read_event(struct calls_event *e, const uint8_t *p) {
    *e = (struct calls_event){.time_ns = p[1], .tid = 1 + p[2] % 4, .pid = 1 + p[2] / 64, .compat = p[3] & 1};
    e->number = p[3] & 2 ? (int64_t)bytes_load64(p + 8, false) : bytes_load16(p + 4, false) % 600;
    e->result = (int16_t)bytes_load16(p + 6, false);
    for (size_t i = 0; i < CALLS_ARGS; i++)
        e->args[i] = p[3] & 4 ? p[8 + i] : bytes_load64(p + 8, false) >> (8 * i);
    if (p[3] & 8)
        for (size_t i = 0; i < CALLS_ARGS; i++)
            e->memory[i] = (struct calls_memory){p + i, STEP - (uint32_t)i, p[3] & 16};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const MACHINES[] = {"x86_64", "i686", "aarch64", NULL};
    struct play p = {0};
    struct calls c;
    struct calls_event e;
    uint64_t enters = 0, exits = 0;
    if (!size)
        return 0;
    FUZZ_CHECK(out_init(&p.out, NULL, NULL));
    calls_init(&c, MACHINES[data[0] % 4], take, &p);
    p.values = (struct calls_values){
        .calls = &c, .prefix = data[0] & 4, .zeros = data[0] & 8, .no_names = data[0] & 16};
    for (size_t at = 1; at + STEP <= size; at += STEP) {
        const uint8_t *x = data + at;
        read_event(&e, x);
        switch (x[0] % 8) {
        case 0:
        case 1:
        case 2:
            enters++;
            FUZZ_CHECK(calls_enter(&c, &e));
            break;
        case 3:
        case 4:
            exits++;
            FUZZ_CHECK(calls_exit(&c, &e));
            break;
        case 5:
            FUZZ_CHECK(calls_name(&c, e.tid, e.pid, (struct bytes){x + 8, x[7] % 8}, x[3] & 1));
            break;
        case 6:
            FUZZ_CHECK(calls_fork(&c, e.tid, e.pid, 1 + x[4] % 4) &&
                       calls_map(&c, e.pid, bytes_load64(x + 8, false)));
            break;
        default:
            calls_lost(&c);
            FUZZ_CHECK(calls_gone(&c, e.tid));
        }
    }
    FUZZ_CHECK(calls_finish(&c) && p.enters == enters && p.exits == exits);
    calls_summary_sort(&p.summary);
    calls_summary_fini(&p.summary);
    calls_fini(&c);
    out_fini(&p.out);
    return 0;
}
