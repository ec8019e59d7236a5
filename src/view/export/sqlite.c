/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite database, made in memory and written as a whole. Its tables are described in sonde-export(1). */
#include <sqlite3.h>
#include <stdlib.h>

#include "base/library.h"
#include "view/export/call_costs.h"
#include "view/export/visible_text.h"

/* The functions used, under their names without the prefix. */
struct sqlite {
    void *library;
    __typeof__(sqlite3_open) *open;
    __typeof__(sqlite3_close) *close;
    __typeof__(sqlite3_exec) *exec;
    __typeof__(sqlite3_prepare_v2) *prepare;
    __typeof__(sqlite3_bind_int64) *bind_int64;
    __typeof__(sqlite3_bind_text) *bind_text;
    __typeof__(sqlite3_bind_null) *bind_null;
    __typeof__(sqlite3_step) *step;
    __typeof__(sqlite3_reset) *reset;
    __typeof__(sqlite3_finalize) *finalize;
    __typeof__(sqlite3_errmsg) *errmsg;
    __typeof__(sqlite3_serialize) *serialize;
    __typeof__(sqlite3_free) *free;
};

static bool load(struct sqlite *q, struct err *err) {
    const struct library_function functions[] = {{"sqlite3_open", &q->open},
                                                 {"sqlite3_close", &q->close},
                                                 {"sqlite3_exec", &q->exec},
                                                 {"sqlite3_prepare_v2", &q->prepare},
                                                 {"sqlite3_bind_int64", &q->bind_int64},
                                                 {"sqlite3_bind_text", &q->bind_text},
                                                 {"sqlite3_bind_null", &q->bind_null},
                                                 {"sqlite3_step", &q->step},
                                                 {"sqlite3_reset", &q->reset},
                                                 {"sqlite3_finalize", &q->finalize},
                                                 {"sqlite3_errmsg", &q->errmsg},
                                                 {"sqlite3_serialize", &q->serialize},
                                                 {"sqlite3_free", &q->free}};
    q->library = library_load("libsqlite3.so.0", functions, sizeof functions / sizeof *functions, err);
    return q->library;
}

static const char schema[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE strings (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE events (id INTEGER PRIMARY KEY, name INTEGER NOT NULL REFERENCES strings,"
    " unit INTEGER NOT NULL REFERENCES strings, samples INTEGER NOT NULL, period INTEGER NOT NULL,"
    " lost INTEGER NOT NULL);"
    "CREATE TABLE images (id INTEGER PRIMARY KEY, name INTEGER NOT NULL REFERENCES strings,"
    " path INTEGER NOT NULL REFERENCES strings, build_id INTEGER NOT NULL REFERENCES strings);"
    "CREATE TABLE levels (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "INSERT INTO levels VALUES (0, 'user'), (1, 'kernel'), (2, 'guest user'), (3, 'guest kernel'),"
    " (4, 'hypervisor'), (5, 'jit'), (6, 'inlined');"
    "CREATE TABLE grades (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "INSERT INTO grades VALUES (0, 'exact'), (1, 'inferred'), (2, 'stale'), (3, 'unknown');"
    "CREATE TABLE frames (id INTEGER PRIMARY KEY, name INTEGER NOT NULL REFERENCES strings,"
    " image INTEGER REFERENCES images, address INTEGER NOT NULL, file INTEGER NOT NULL REFERENCES strings,"
    " line INTEGER NOT NULL, level INTEGER NOT NULL REFERENCES levels,"
    " grade INTEGER NOT NULL REFERENCES grades, why INTEGER NOT NULL REFERENCES strings);"
    "CREATE TABLE nodes (id INTEGER PRIMARY KEY, caller INTEGER REFERENCES nodes,"
    " frame INTEGER NOT NULL REFERENCES frames);"
    "CREATE TABLE rows (id INTEGER PRIMARY KEY, event INTEGER NOT NULL REFERENCES events,"
    " comm INTEGER NOT NULL REFERENCES strings, node INTEGER NOT NULL REFERENCES nodes,"
    " samples INTEGER NOT NULL, period INTEGER NOT NULL);"
    "CREATE TABLE threads (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, tid INTEGER NOT NULL,"
    " comm INTEGER NOT NULL REFERENCES strings);"
    "CREATE TABLE samples (id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, \"row\" INTEGER NOT NULL"
    " REFERENCES rows, thread INTEGER NOT NULL REFERENCES threads, cpu INTEGER, period INTEGER NOT NULL);"
    "CREATE TABLE totals (event INTEGER NOT NULL REFERENCES events, name INTEGER NOT NULL REFERENCES strings,"
    " image INTEGER REFERENCES images, self_samples INTEGER NOT NULL, self_period INTEGER NOT NULL,"
    " total_samples INTEGER NOT NULL, total_period INTEGER NOT NULL);"
    "CREATE TABLE notes (text TEXT NOT NULL);"
    "CREATE VIEW flat AS SELECT e.text AS event, f.text AS function, i.text AS image, t.self_samples,"
    " t.self_period, t.total_samples, t.total_period FROM totals t"
    " JOIN events ON events.id = t.event JOIN strings e ON e.id = events.name"
    " JOIN strings f ON f.id = t.name LEFT JOIN images ON images.id = t.image"
    " LEFT JOIN strings i ON i.id = images.name ORDER BY t.event, t.self_period DESC, t.total_period DESC;";

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct sqlite q;
    sqlite3 *db;
    struct out text; /* scratch */
    int result;      /* SQLITE_OK as long as nothing failed */
};

static void run(struct writing *w, const char *sql) {
    if (w->result == SQLITE_OK)
        w->result = w->q.exec(w->db, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *prepare(struct writing *w, const char *sql) {
    sqlite3_stmt *made = NULL;
    if (w->result == SQLITE_OK)
        w->result = w->q.prepare(w->db, sql, -1, &made, NULL);
    return w->result == SQLITE_OK ? made : NULL;
}

/* No number: NULL in the table. */
#define NOTHING INT64_MIN

/* Adds a row of numbers. */
static void add(struct writing *w, sqlite3_stmt *into, const int64_t *values, int count) {
    if (w->result != SQLITE_OK)
        return;
    for (int i = 0; i < count; i++) {
        if (values[i] == NOTHING)
            w->q.bind_null(into, i + 1);
        else
            w->q.bind_int64(into, i + 1, values[i]);
    }
    int step = w->q.step(into);
    w->q.reset(into);
    if (step != SQLITE_DONE)
        w->result = step;
}
#define ADD(w, into, ...) \
    add((w), (into), (const int64_t[]){__VA_ARGS__}, (int)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)))

static int64_t number(uint32_t id) {
    return id == STACKS_NONE ? NOTHING : (int64_t)id;
}

static void add_text(struct writing *w, sqlite3_stmt *into, int64_t id, uint32_t text) {
    if (w->result != SQLITE_OK)
        return;
    w->text.len = 0;
    visible_plain(stacks_str(w->s, text), &w->text);
    int at = 1;
    if (id != NOTHING)
        w->q.bind_int64(into, at++, id);
    w->q.bind_text(into, at, w->text.buf, (int)w->text.len, SQLITE_TRANSIENT);
    int step = w->q.step(into);
    w->q.reset(into);
    if (step != SQLITE_DONE)
        w->result = step;
}

static void add_names(struct writing *w) {
    const struct stacks *s = w->s;
    sqlite3_stmt *strings = prepare(w, "INSERT INTO strings VALUES (?,?)"),
                 *notes = prepare(w, "INSERT INTO notes VALUES (?)"),
                 *images = prepare(w, "INSERT INTO images VALUES (?,?,?,?)"),
                 *frames = prepare(w, "INSERT INTO frames VALUES (?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < s->texts.entries.count; i++)
        add_text(w, strings, i, i);
    for (size_t i = 0; i < s->notes.count; i++)
        add_text(w, notes, NOTHING, s->notes.items[i]);
    for (uint32_t i = 0; i < s->images.count; i++) {
        const struct stacks_image *x = &s->images.items[i];
        ADD(w, images, i, x->name, x->path, x->build_id);
    }
    for (uint32_t i = 0; i < s->frames.count; i++) {
        const struct stacks_frame *x = &s->frames.items[i];
        ADD(w, frames, i, x->name, number(x->image), (int64_t)x->address, x->file, x->line, x->level,
            x->grade, x->why);
    }
    w->q.finalize(strings);
    w->q.finalize(notes);
    w->q.finalize(images);
    w->q.finalize(frames);
}

static void add_stacks(struct writing *w) {
    const struct stacks *s = w->s;
    sqlite3_stmt *events = prepare(w, "INSERT INTO events VALUES (?,?,?,?,?,?)"),
                 *nodes = prepare(w, "INSERT INTO nodes VALUES (?,?,?)"),
                 *rows = prepare(w, "INSERT INTO rows VALUES (?,?,?,?,?,?)");
    for (uint32_t i = 0; i < s->events.count; i++) {
        const struct stacks_event *x = &s->events.items[i];
        if (export_wants(w->o, i))
            ADD(w, events, i, x->name, x->unit, (int64_t)x->samples, (int64_t)x->period, (int64_t)x->lost);
    }
    for (uint32_t i = 0; i < s->nodes.count; i++)
        ADD(w, nodes, i, number(s->nodes.items[i].caller), s->nodes.items[i].frame);
    for (uint32_t i = 0; i < s->rows.count; i++) {
        const struct stacks_row *x = &s->rows.items[i];
        if (export_wants(w->o, x->event))
            ADD(w, rows, i, x->event, x->comm, x->node, (int64_t)x->samples, (int64_t)x->period);
    }
    w->q.finalize(events);
    w->q.finalize(nodes);
    w->q.finalize(rows);
}

static void add_samples(struct writing *w) {
    const struct stacks *s = w->s;
    sqlite3_stmt *threads = prepare(w, "INSERT INTO threads VALUES (?,?,?,?)"),
                 *samples = prepare(w, "INSERT INTO samples VALUES (?,?,?,?,?,?)");
    for (uint32_t i = 0; i < s->threads.count; i++) {
        const struct stacks_thread *x = &s->threads.items[i];
        ADD(w, threads, i, x->pid, x->tid, x->comm);
    }
    for (uint32_t i = 0; i < s->moments.count; i++) {
        const struct stacks_moment *x = &s->moments.items[i];
        if (export_wants(w->o, s->rows.items[x->row].event))
            ADD(w, samples, i, (int64_t)x->time_ns, x->row, x->thread, number(x->cpu), (int64_t)x->period);
    }
    w->q.finalize(threads);
    w->q.finalize(samples);
}

/* Adds what each function cost in itself and in all: [4 * (function * events + event)] sums. */
static bool add_totals(struct writing *w, struct err *err) {
    struct call_costs c = {0};
    int64_t *sums = NULL;
    bool ok = call_costs_make(&c, w->s, err);
    if (ok && !(sums = calloc(c.functions.count * c.events + 1, 4 * sizeof *sums)))
        ok = err_memory(err, "sqlite");
    for (size_t i = 0; ok && i < c.list.count; i++) {
        bool own = c.list.items[i].callee == STACKS_NONE;
        uint32_t function = own ? c.list.items[i].function : c.list.items[i].callee;
        for (uint32_t e = 0; e < c.events; e++) {
            int64_t *to = sums + 4 * ((size_t)function * c.events + e) + (own ? 0 : 2);
            to[0] += (int64_t)c.samples.items[i * c.events + e];
            to[1] += (int64_t)c.periods.items[i * c.events + e];
        }
    }
    sqlite3_stmt *totals = prepare(w, "INSERT INTO totals VALUES (?,?,?,?,?,?,?)");
    for (size_t i = 0; ok && i < c.functions.count * c.events; i++) {
        const struct call_function *f = &c.functions.items[i / c.events];
        const int64_t *x = sums + 4 * i;
        if (f->image != CALL_COMMAND && x[2] && export_wants(w->o, (uint32_t)(i % c.events)))
            ADD(w, totals, (int64_t)(i % c.events), f->name, number(f->image), x[0], x[1], x[2], x[3]);
    }
    w->q.finalize(totals);
    free(sums);
    call_costs_fini(&c);
    return ok;
}

/* Writes the database. */
static bool put(struct writing *w, struct out *out, struct err *err) {
    sqlite3_int64 size = 0;
    unsigned char *bytes = w->result == SQLITE_OK ? w->q.serialize(w->db, "main", &size, 0) : NULL;
    if (!bytes)
        return err_set(err, ERR_MEMORY, "sqlite", "%s", w->q.errmsg(w->db));
    out_mem(out, (const char *)bytes, (size_t)size);
    w->q.free(bytes);
    return true;
}

bool export_sqlite(const struct stacks *s, const struct export_options *o, struct out *out, struct err *err) {
    struct writing w = {.s = s, .o = o};
    if (!load(&w.q, err))
        return false;
    bool ok = out_init(&w.text, NULL, NULL) || err_memory(err, "sqlite");
    if (ok && w.q.open(":memory:", &w.db) != SQLITE_OK)
        ok = err_memory(err, "sqlite");
    if (ok) {
        run(&w, schema);
        add_names(&w);
        add_stacks(&w);
        add_samples(&w);
        ok = add_totals(&w, err);
        run(&w, "COMMIT");
    }
    ok = ok && put(&w, out, err);
    w.q.close(w.db);
    out_fini(&w.text);
    library_unload(w.q.library);
    return ok;
}
