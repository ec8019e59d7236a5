/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what arguments point to, as a recording claims them: whatever they say, nothing beyond them is
 * read, and no half is given to two calls. */
#include "fuzz.h"

#include "calls/values.h"
#include "cmd/trace/trace_texts.h"

enum { STEP = 160, HEAD = 16 };

static bool take(void *ctx, struct calls *c, const struct calls_call *call, enum calls_end end) {
    struct calls_values *v = ctx;
    struct out text;
    FUZZ_CHECK(out_init(&text, NULL, NULL));
    v->calls = c;
    calls_values_args(v, call, &text);
    calls_values_written(v, call, &text);
    for (size_t i = 0; i < text.len; i++)
        FUZZ_CHECK(text.buf[i] >= ' ' && text.buf[i] < 0x7f);
    (void)end;
    out_fini(&text);
    return true;
}

static void read_half(struct bpf_trace_half *h, const uint8_t *p) {
    *h = (struct bpf_trace_half){
        .time_ns = p[0], .tid = 1 + p[1] % 3, .order = p[2], .kind = p[3] & 1, .cut = p[4]};
    h->number = bytes_load16(p + 6, false) % 470;
    h->result = (int16_t)bytes_load16(p + 8, false);
    for (size_t i = 0; i < BPF_TRACE_ARGS; i++) {
        h->args[i] = p[10 + i];
        h->sizes[i] = (uint16_t)(p[10 + i] * (p[3] & 2 ? 1 : 257));
    }
}

static void ask(struct trace_texts *x, struct calls *c, const struct bpf_trace_half *h) {
    struct calls_event e = {.time_ns = h->time_ns, .tid = h->tid, .pid = h->tid, .number = h->number};
    memcpy(e.args, h->args, sizeof e.args);
    FUZZ_CHECK(calls_enter(c, &e));
    const struct trace_text_half *enter =
        trace_texts_enter(x, &calls_thread(c, h->tid)->call, h->time_ns + 9);
    struct calls_memory memory[CALLS_ARGS];
    if (!enter)
        return;
    FUZZ_CHECK(enter->half->tid == h->tid && enter->half->time_ns >= h->time_ns);
    trace_texts_memory(enter->half, (const uint8_t *)(enter->half + 1), enter->room, memory);
    FUZZ_CHECK(calls_remember(c, h->tid, memory));
    e.result = h->result;
    const struct trace_text_half *exit = trace_texts_exit(x, enter, &e);
    if (exit)
        trace_texts_memory(exit->half, (const uint8_t *)(exit->half + 1), exit->room, e.memory);
    FUZZ_CHECK(calls_exit(c, &e));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct calls_values v = {.prefix = size & 1, .whole = size & 2};
    struct trace_texts x = {0};
    struct calls c;
    struct bpf_trace_half half;
    calls_init(&c, "x86_64", take, &v);
    for (size_t at = 0; at + HEAD <= size; at += STEP) {
        size_t n = size - at < STEP ? size - at : STEP;
        read_half(&half, data + at);
        if (data[at + 5] % 4)
            FUZZ_CHECK(trace_texts_put(&x, &half, (struct bytes){data + at + HEAD, n - HEAD}));
        else
            ask(&x, &c, &half);
    }
    FUZZ_CHECK(calls_finish(&c));
    calls_fini(&c);
    trace_texts_fini(&x);
    return 0;
}
