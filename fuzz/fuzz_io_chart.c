/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output in columns: every 8 bytes are an enter, an exit or a loss, of few threads. However they
 * contradict each other, the columns of a thread have the time that its calls took in all, and each failure.
 */
#include "fuzz.h"

#include "states/timechart/io_chart.h"

enum { STEP = 8, HEAD = 4, BEGIN = 1000 };

static void play(struct io_chart *chart, const uint8_t *data, size_t size) {
    struct calls calls;
    uint64_t time = BEGIN;
    calls_init(&calls, NULL, io_chart_call, chart);
    for (size_t at = HEAD; at + STEP <= size; at += STEP) {
        const uint8_t *p = data + at;
        time += p[1];
        const struct calls_event e = {.time_ns = time,
                                      .tid = 1 + p[2] % 4,
                                      .pid = p[2] / 64,
                                      .number = p[3] % (io_calls_count() + 1),
                                      .result = (int16_t)bytes_load16(p + 4, false)};
        if (p[0] % 16 == 15)
            calls_lost(&calls);
        else if (p[0] % 16 == 14)
            FUZZ_CHECK(calls_gone(&calls, e.tid));
        else
            FUZZ_CHECK(p[0] & 1 ? calls_exit(&calls, &e) : calls_enter(&calls, &e));
    }
    chart->end_ns = time;
    chart->ending = true;
    FUZZ_CHECK(calls_finish(&calls));
    calls_fini(&calls);
}

/* Longer and merged calls change what is drawn, never below what was. */
static void check_row(const struct io_chart *c, const struct io_thread *t, const struct io_row *row) {
    uint64_t failed = 0, end = c->span.end_ns;
    for (unsigned kind = 0; kind < IO_KINDS; kind++) {
        uint64_t drawn = 0;
        for (uint32_t at = 0; at < c->span.columns; at++)
            drawn += row->cells[at].ns[kind];
        FUZZ_CHECK(drawn >= t->ns[kind] && drawn <= end - c->span.begin_ns);
        FUZZ_CHECK(c->least_ns || c->merge_ns || drawn == t->ns[kind]);
    }
    for (uint32_t at = 0; at < c->span.columns; at++)
        failed += row->cells[at].failed;
    FUZZ_CHECK(failed == t->failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct io_chart c;
    if (size < HEAD)
        return 0;
    io_chart_init(&c);
    c.skip_again = data[0] & 1;
    c.least_ns = data[1];
    c.merge_ns = data[2];
    c.begin_ns = BEGIN;
    play(&c, data, size);
    io_chart_draw(&c, data[3]);
    for (size_t i = 0; i < c.threads.count; i++)
        FUZZ_CHECK(io_chart_choose(&c, c.threads.items[i].tid));
    play(&c, data, size);
    for (size_t i = 0; i < c.threads.count; i++)
        check_row(&c, &c.threads.items[i], &c.rows.items[i]);
    io_chart_fini(&c);
    return 0;
}
