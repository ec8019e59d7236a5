/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/io_rows.h"

#include <stdlib.h>

#include "view/timechart/timechart_figures.h"

enum { READ, WRITE, RECEIVE, SEND, SYNC, POLL }; /* the bits of enum io_does */
enum { IN = 5, OUT = 5, FAILED = 2, ALL = IN + OUT + FAILED };

/* A kind that is drawn in a half, and all that are. */
struct figure {
    const struct io_cell *cells;
    unsigned kind, half;
};
enum {
    ABOVE = 1 << READ | 1 << RECEIVE,
    BELOW = 1 << WRITE | 1 << SEND | 1 << SYNC,
};

static unsigned kind_level(const void *row, uint32_t c, uint64_t ns) {
    const struct figure *f = row;
    const uint64_t *of = f->cells[c].ns;
    for (unsigned kind = 0; kind < IO_KINDS; kind++)
        if (f->half & 1u << kind && (of[kind] > of[f->kind] || (of[kind] == of[f->kind] && kind < f->kind)))
            return 0;
    return timechart_level(of[f->kind], ns);
}

static unsigned failed_level(const void *row, uint32_t c, uint64_t ns) {
    (void)ns;
    return ((const struct io_cell *)row)[c].failed > 0;
}

static void put_cells(const struct timechart *t, const struct io_cell *cells, unsigned y, struct out *o) {
    static const struct {
        unsigned kind, half, y, height;
        char letter;
    } FIGURES[] = {
        {POLL, 1 << POLL, 0, ALL, 'q'}, {READ, ABOVE, 0, IN, 'r'},   {RECEIVE, ABOVE, 0, IN, 'n'},
        {WRITE, BELOW, IN, OUT, 'r'},   {SEND, BELOW, IN, OUT, 'n'}, {SYNC, BELOW, IN, OUT, 'y'},
    };
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++) {
        const struct figure f = {cells, FIGURES[i].kind, FIGURES[i].half};
        timechart_put_levels(t, &f, kind_level, y + 1 + FIGURES[i].y, FIGURES[i].height, FIGURES[i].letter,
                             o);
    }
    timechart_put_level(t, cells, failed_level, 1, y + 1 + IN + OUT, FAILED, "b", o);
}

void io_rows_put(const struct io_chart *c, uint32_t first, uint32_t count, unsigned y, struct out *o) {
    if (count == 1) {
        put_cells(&c->span, c->rows.items[first].cells, y, o);
        return;
    }
    struct io_cell *sum = calloc(c->span.columns, sizeof *sum);
    if (!sum) {
        o->failed = true;
        return;
    }
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t at = 0; at < c->span.columns; at++) {
            const struct io_cell *cell = &c->rows.items[i].cells[at];
            for (unsigned kind = 0; kind < IO_KINDS; kind++)
                sum[at].ns[kind] += cell->ns[kind];
            sum[at].failed |= cell->failed;
        }
    put_cells(&c->span, sum, y, o);
    free(sum);
}
