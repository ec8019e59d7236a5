/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "view/export/visible_text.h"
#include "view/page/block.h"

/* Counts that may be larger than what the page's numbers hold exactly go as texts. */
static void big_number(struct json *j, const char *key, uint64_t v) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    json_text(j, key, text);
}

static void text_of(const struct stacks *s, struct json *j, const char *key, uint32_t text) {
    json_bytes(j, key, stacks_str(s, text), strpool_len(&s->texts, text));
}

/* ---- the tree block ---- */

static void put_recordings(const struct stacks *s, struct json *j) {
    json_open(j, "recordings", '[');
    for (size_t i = 0; i < s->recordings.count; i++) {
        const struct stacks_recording *r = &s->recordings.items[i];
        json_open(j, NULL, '{');
        text_of(s, j, "path", r->path);
        text_of(s, j, "host", r->host);
        text_of(s, j, "os", r->os);
        text_of(s, j, "arch", r->arch);
        text_of(s, j, "cpu", r->cpu);
        text_of(s, j, "cmdline", r->cmdline);
        big_number(j, "start_ns", r->start_ns);
        big_number(j, "duration_ns", r->duration_ns);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_events(const struct stacks *s, struct json *j) {
    json_open(j, "events", '[');
    for (size_t i = 0; i < s->events.count; i++) {
        const struct stacks_event *e = &s->events.items[i];
        json_open(j, NULL, '{');
        text_of(s, j, "name", e->name);
        text_of(s, j, "unit", e->unit);
        json_number(j, "recording", e->recording);
        json_number(j, "samples", e->samples);
        big_number(j, "period", e->period);
        json_number(j, "lost", e->lost);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Adds, for each event, the rows as [base, new, low, high, verdict] and the functions as name, object, row.
 */
static void put_verdicts(const struct page_verdicts *all, struct json *j) {
    json_open(j, "verdicts", '[');
    for (size_t i = 0; all && i < all->list.count; i++) {
        const struct page_verdict *v = &all->list.items[i];
        json_open(j, NULL, '{');
        json_number(j, "base", v->base_event);
        json_number(j, "new", v->new_event);
        json_real(j, "level", v->level);
        json_open(j, "rows", '[');
        for (size_t k = 0; k < v->rows.count; k++) {
            const struct interval *r = &v->rows.items[k];
            json_open(j, NULL, '[');
            json_real(j, NULL, r->base);
            json_real(j, NULL, r->now);
            json_real(j, NULL, r->low);
            json_real(j, NULL, r->high);
            json_number(j, NULL, r->says);
            json_close(j, ']');
        }
        json_close(j, ']');
        json_open(j, "functions", '[');
        for (size_t k = 0; k < v->functions.list.count; k++) {
            const struct compare_function *f = &v->functions.list.items[k];
            json_number(j, NULL, f->name);
            json_number(j, NULL, f->dso);
            json_number(j, NULL, f->row);
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_header(const struct stacks *s, const struct page_options *o, struct block *b) {
    struct json *j = block_header(b, "sonde-tree");
    json_text(j, "title", o->title);
    json_text(j, "program", o->program);
    put_recordings(s, j);
    put_events(s, j);
    json_open(j, "strings", '[');
    for (uint32_t i = 0; i < s->texts.entries.count; i++)
        text_of(s, j, NULL, i);
    json_close(j, ']');
    json_open(j, "notes", '[');
    for (size_t i = 0; i < s->notes.count; i++)
        text_of(s, j, NULL, s->notes.items[i]);
    json_close(j, ']');
    put_verdicts(o->verdicts, j);
}

static void put_frames(const struct stacks *s, struct block *b) {
    struct block_column *name = block_column(b, "frame.name", false),
                        *dso = block_column(b, "frame.dso", false),
                        *file = block_column(b, "frame.file", false),
                        *line = block_column(b, "frame.line", false),
                        *level = block_column(b, "frame.level", false),
                        *grade = block_column(b, "frame.grade", false),
                        *why = block_column(b, "frame.why", false);
    for (size_t i = 0; i < s->frames.count; i++) {
        const struct stacks_frame *f = &s->frames.items[i];
        block_put(name, f->name);
        block_put(dso, f->image == STACKS_NONE ? 0 : s->images.items[f->image].name);
        block_put(file, f->file);
        block_put(line, f->line);
        block_put(level, f->level);
        block_put(grade, f->grade);
        block_put(why, f->why);
    }
}

static void put_nodes(const struct stacks *s, struct block *b) {
    struct block_column *up = block_column(b, "node.up", false),
                        *frame = block_column(b, "node.frame+", true);
    for (uint32_t i = 0; i < s->nodes.count; i++) {
        const struct stacks_node *n = &s->nodes.items[i];
        block_put(up, n->caller == STACKS_NONE ? 0 : i - n->caller);
        block_put(frame, n->frame);
    }
}

/* The rows, and where they are in the page: those with many samples first, so that most numbers are small. */
struct rows {
    uint32_t *order; /* [place] -> row */
    uint32_t *place; /* by row */
};

static int by_samples(const void *a, const void *b, void *ctx) {
    const struct stacks *s = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t u = s->rows.items[x].samples, v = s->rows.items[y].samples;
    return u != v ? (u > v ? -1 : 1) : x < y ? -1 : x > y;
}

static bool order_rows(const struct stacks *s, struct rows *r) {
    size_t n = s->rows.count;
    r->order = malloc((n + 1) * sizeof *r->order);
    r->place = malloc((n + 1) * sizeof *r->place);
    if (!r->order || !r->place)
        return false;
    for (uint32_t i = 0; i < n; i++)
        r->order[i] = i;
    qsort_r(r->order, n, sizeof *r->order, by_samples, (void *)(uintptr_t)s);
    for (uint32_t i = 0; i < n; i++)
        r->place[r->order[i]] = i;
    return true;
}

static void rows_fini(struct rows *r) {
    free(r->order);
    free(r->place);
}

static void put_rows(const struct stacks *s, const struct rows *rows, struct block *b) {
    struct block_column *event = block_column(b, "row.event", false),
                        *comm = block_column(b, "row.comm", false),
                        *node = block_column(b, "row.node+", true),
                        *samples = block_column(b, "row.samples", false),
                        *period = block_column(b, "row.period", false);
    for (size_t i = 0; i < s->rows.count; i++) {
        const struct stacks_row *r = &s->rows.items[rows->order[i]];
        block_put(event, r->event);
        block_put(comm, r->comm);
        block_put(node, r->node);
        block_put(samples, r->samples);
        block_put(period, r->period);
    }
}

static void put_threads(const struct stacks *s, struct block *b) {
    struct block_column *pid = block_column(b, "thread.pid+", true),
                        *tid = block_column(b, "thread.tid+", true),
                        *comm = block_column(b, "thread.comm", false);
    for (size_t i = 0; i < s->threads.count; i++) {
        block_put(pid, s->threads.items[i].pid);
        block_put(tid, s->threads.items[i].tid);
        block_put(comm, s->threads.items[i].comm);
    }
}

static bool tree_block(const struct stacks *s, const struct page_options *o, const struct rows *rows,
                       struct out *bytes) {
    struct block b = {0};
    put_header(s, o, &b);
    put_frames(s, &b);
    put_nodes(s, &b);
    put_threads(s, &b);
    put_rows(s, rows, &b);
    bool ok = block_compress(&b, bytes);
    block_fini(&b);
    return ok;
}

/* ---- the time block ---- */

enum { RECORDINGS_MAX = 2 };

/* When each recording has its first sample, and how long the longest is. */
struct span {
    uint64_t first_ns[RECORDINGS_MAX], length_ns;
};

static uint32_t recording_of(const struct stacks *s, const struct stacks_moment *m) {
    uint32_t recording = s->events.items[s->rows.items[m->row].event].recording;
    return recording < RECORDINGS_MAX ? recording : RECORDINGS_MAX - 1;
}

static struct span span_of(const struct stacks *s) {
    struct span span = {.first_ns = {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < s->moments.count; i++) {
        uint64_t *first = &span.first_ns[recording_of(s, &s->moments.items[i])],
                 t = s->moments.items[i].time_ns;
        *first = t < *first ? t : *first;
    }
    for (size_t i = 0; i < s->moments.count; i++) {
        uint64_t since = s->moments.items[i].time_ns - span.first_ns[recording_of(s, &s->moments.items[i])];
        span.length_ns = since > span.length_ns ? since : span.length_ns;
    }
    return span;
}

/* Returns the time since the first sample of its recording. */
static uint64_t since_first(const struct stacks *s, const struct span *span, const struct stacks_moment *m) {
    return m->time_ns - span->first_ns[recording_of(s, m)];
}

static struct json *time_header(struct block *b, struct span span) {
    struct json *j = block_header(b, "sonde-time");
    uint64_t first_ns = span.first_ns[0] == UINT64_MAX ? span.first_ns[1] : span.first_ns[0];
    big_number(j, "first_ns", first_ns);
    big_number(j, "last_ns", first_ns + span.length_ns);
    json_number(j, "unit_ns", 1000);
    return j;
}

/* Whether a row's period follows from its number of samples, for all rows. */
static bool equal_periods(const struct stacks *s) {
    for (size_t i = 0; i < s->moments.count; i++) {
        const struct stacks_row *row = &s->rows.items[s->moments.items[i].row];
        if (s->moments.items[i].period * row->samples != row->period)
            return false;
    }
    return true;
}

static bool any_cpu(const struct stacks *s) {
    for (size_t i = 0; i < s->moments.count; i++)
        if (s->moments.items[i].cpu != STACKS_NONE)
            return true;
    return false;
}

static bool time_block(const struct stacks *s, const struct rows *rows, struct out *bytes) {
    struct block b = {0};
    struct span span = span_of(s);
    time_header(&b, span);
    struct block_column *time = block_column(&b, "time+", true), *row = block_column(&b, "row", false),
                        *thread = block_column(&b, "thread", false),
                        *cpu = any_cpu(s) ? block_column(&b, "cpu", false) : NULL,
                        *period = equal_periods(s) ? NULL : block_column(&b, "period", false);
    for (size_t i = 0; i < s->moments.count; i++) {
        const struct stacks_moment *m = &s->moments.items[i];
        block_put(time, since_first(s, &span, m) / 1000);
        block_put(row, rows->place[m->row]);
        block_put(thread, m->thread);
        if (cpu)
            block_put(cpu, m->cpu + 1); /* STACKS_NONE becomes 0 */
        if (period)
            block_put(period, m->period);
    }
    bool ok = block_compress(&b, bytes);
    block_fini(&b);
    return ok;
}

/* The time axis summed up: what has the same bucket, row and thread is one entry. */
struct cell {
    uint32_t event, bucket, row, thread;
    uint64_t samples, period;
};

static int by_place(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static size_t make_cells(const struct stacks *s, const struct span *span, struct cell *cells) {
    size_t n = s->moments.count, count = 0;
    double scale = span->length_ns ? PAGE_BUCKETS / (double)span->length_ns : 0;
    for (size_t i = 0; i < n; i++) {
        const struct stacks_moment *m = &s->moments.items[i];
        uint32_t bucket = (uint32_t)((double)since_first(s, span, m) * scale);
        bucket = bucket < PAGE_BUCKETS ? bucket : PAGE_BUCKETS - 1;
        cells[i] = (struct cell){s->rows.items[m->row].event, bucket, m->row, m->thread, 1, m->period};
    }
    qsort(cells, n, sizeof *cells, by_place);
    for (size_t i = 0; i < n; i++) {
        struct cell *last = count ? &cells[count - 1] : NULL;
        if (last && !by_place(last, &cells[i])) {
            last->samples += cells[i].samples;
            last->period += cells[i].period;
        } else {
            cells[count++] = cells[i];
        }
    }
    return count;
}

static bool bucket_block(const struct stacks *s, const struct rows *rows, struct out *bytes) {
    struct block b = {0};
    struct span span = span_of(s);
    struct cell *cells = malloc((s->moments.count + 1) * sizeof *cells);
    if (!cells)
        return false;
    size_t n = make_cells(s, &span, cells);
    json_number(time_header(&b, span), "buckets", PAGE_BUCKETS);
    struct block_column *bucket = block_column(&b, "bucket+", true), *row = block_column(&b, "row", false),
                        *thread = block_column(&b, "thread", false),
                        *samples = block_column(&b, "samples", false),
                        *period = block_column(&b, "period", false);
    for (size_t i = 0; i < n; i++) {
        block_put(bucket, cells[i].bucket);
        block_put(row, rows->place[cells[i].row]);
        block_put(thread, cells[i].thread);
        block_put(samples, cells[i].samples);
        block_put(period, cells[i].period);
    }
    free(cells);
    bool ok = block_compress(&b, bytes);
    block_fini(&b);
    return ok;
}

/* ---- the page ---- */

static void put_block(const char *id, const struct out *bytes, struct out *out) {
    out_printf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
    block_put_base64(bytes, out);
    out_str(out, "</script>\n");
}

static bool put_data(const struct stacks *s, const struct page_options *o, struct out *out) {
    uint64_t most = o->time_bytes ? o->time_bytes : PAGE_TIME_BYTES;
    struct out tree, time;
    struct rows rows = {0};
    bool ok = out_init(&tree, NULL, NULL);
    ok = out_init(&time, NULL, NULL) && ok && order_rows(s, &rows) && tree_block(s, o, &rows, &tree);
    ok = ok && (!s->moments.count || time_block(s, &rows, &time));
    if (ok && time.len > most) {
        time.len = 0;
        ok = bucket_block(s, &rows, &time);
    }
    if (ok) {
        put_block("sonde-tree", &tree, out);
        if (s->moments.count)
            put_block("sonde-time", &time, out);
    }
    out_fini(&tree);
    out_fini(&time);
    rows_fini(&rows);
    return ok;
}

void page_verdicts_fini(struct page_verdicts *v) {
    for (size_t i = 0; i < v->list.count; i++) {
        vec_fini(&v->list.items[i].rows);
        vec_fini(&v->list.items[i].functions.list);
    }
    vec_fini(&v->list);
}

bool page_write(const struct stacks *s, const struct page_options *o, struct out *out, struct err *err) {
    static const char title[] = "<!--SONDE-TITLE-->", data[] = "<!--SONDE-DATA-->";
    const char *end = page_template + page_template_size;
    const char *title_at = memmem(page_template, page_template_size, title, sizeof title - 1),
               *data_at = title_at ? memmem(title_at, (size_t)(end - title_at), data, sizeof data - 1) : NULL;
#ifndef HAVE_ZLIB
    return err_set(err, ERR_UNSUPPORTED, "page",
                   "this sonde was built without zlib: install zlib1g-dev or zlib-devel, and build again");
#endif
    if (!data_at)
        return err_set(err, ERR_UNSUPPORTED, "page",
                       "this sonde was built without the page (web/dist/page.html)");
    out_mem(out, page_template, (size_t)(title_at - page_template));
    out_str(out, "<title>");
    visible_xml(o->title, out);
    out_str(out, "</title>");
    title_at += sizeof title - 1;
    out_mem(out, title_at, (size_t)(data_at - title_at));
    if (!put_data(s, o, out))
        return err_memory(err, "page");
    data_at += sizeof data - 1;
    out_mem(out, data_at, (size_t)(end - data_at));
    return true;
}
