/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against the plainest thing that could answer: an array of live threads, and per process the list
 * of its map events, of which the last that covers an address counts, and one of the code that was announced
 * there. Random lives of few processes, so that everything collides with everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_test_records.h"

enum { PIDS = 5, TIDS = 3, PAGES = 24, MAX_MAPS = 8192, NO_COMM = -1, CODE_AT = 0x100000 };

static uint64_t next_random(uint64_t *state) { /* xorshift64 (Marsaglia 2003) */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static unsigned below(uint64_t *state, unsigned n) {
    return (unsigned)(next_random(state) >> 33) % n;
}

/* ---- the plain world ---- */

struct plain_map {
    uint64_t start, last;
    uint32_t op;
};

struct plain_layer {
    struct plain_map maps[MAX_MAPS];
    size_t count;
};

struct plain_process {
    bool alive[TIDS]; /* by thread number; 0 is the leader */
    int comm[TIDS];
    struct plain_layer maps, code;
};

struct plain {
    struct plain_process processes[PIDS];
};

static uint32_t pid_of(unsigned p) {
    return 10 + p;
}
static uint32_t tid_of(unsigned p, unsigned t) {
    return t ? 100 * (p + 1) + t : pid_of(p);
}

static bool none_alive(const struct plain_process *p) {
    return !p->alive[0] && !p->alive[1] && !p->alive[2];
}

/* A thread is proved alive; if it is the first of its process, so is the leader. */
static void touch(struct plain_process *p, unsigned t) {
    if (t && none_alive(p))
        touch(p, 0);
    if (!p->alive[t])
        p->comm[t] = NO_COMM;
    p->alive[t] = true;
}

/* OP_ANON maps memory without a file. OP_CODE announces, by a leader that takes a name first; OP_UNCODE says
 * that code went. */
enum op_kind {
    OP_COMM,
    OP_EXEC,
    OP_FORK,
    OP_FORK_SYNTHESISED,
    OP_THREAD,
    OP_EXIT,
    OP_MAP,
    OP_ANON,
    OP_CODE,
    OP_UNCODE,
    OP_KINDS
};

struct op {
    enum op_kind kind;
    struct model_when when;
    unsigned p, t, parent, parent_t;
    int comm;
    uint64_t start, len;
    uint32_t number; /* its rank in time */
};

static void put(struct plain_layer *l, const struct op *op) {
    assert_true(l->count < MAX_MAPS);
    l->maps[l->count++] = (struct plain_map){op->start, op->start + op->len - 1, op->number};
}

static void copy_layer(struct plain_layer *to, const struct plain_layer *from) {
    to->count = from->count;
    memcpy(to->maps, from->maps, from->count * sizeof *from->maps);
}

static void forget_space(struct plain_process *p) {
    p->maps.count = p->code.count = 0;
}

static void play_plain(struct plain *w, const struct op *op) {
    struct plain_process *p = &w->processes[op->p], *parent = &w->processes[op->parent];
    switch (op->kind) {
    case OP_COMM:
        touch(p, op->t);
        p->comm[op->t] = op->comm;
        break;
    case OP_EXEC:
        touch(p, 0);
        p->alive[1] = p->alive[2] = false;
        p->comm[0] = op->comm;
        forget_space(p);
        break;
    case OP_FORK:
    case OP_FORK_SYNTHESISED:
        touch(parent, op->parent_t);
        if (op->kind == OP_FORK_SYNTHESISED && p->alive[0]) { /* known: at most its name is news */
            if (p->comm[0] == NO_COMM)
                p->comm[0] = parent->comm[op->parent_t];
            break;
        }
        if (p != parent) {
            p->alive[0] = p->alive[1] = p->alive[2] = false;
            forget_space(p);
            if (op->kind == OP_FORK) {
                copy_layer(&p->maps, &parent->maps);
                copy_layer(&p->code, &parent->code);
            }
        }
        p->comm[0] = parent->comm[op->parent_t];
        p->alive[0] = true;
        break;
    case OP_THREAD:
        touch(p, op->parent_t);
        p->comm[op->t] = p->comm[op->parent_t];
        p->alive[op->t] = true;
        break;
    case OP_EXIT:
        if (p->alive[op->t] || p->comm[op->t] == NO_COMM) /* else it was killed: only its name goes */
            touch(p, op->t);
        p->alive[op->t] = false;
        p->comm[op->t] = NO_COMM;
        if (none_alive(p))
            forget_space(p);
        break;
    case OP_MAP:
        put(&p->code, op); /* a file over it: the memory was replaced */
        touch(p, 0);
        put(&p->maps, op);
        break;
    case OP_ANON:
        touch(p, 0);
        put(&p->maps, op);
        break;
    case OP_CODE:
        touch(p, 0);
        p->comm[0] = op->comm;
        put(&p->code, op);
        break;
    case OP_UNCODE:
        put(&p->code, op);
        break;
    case OP_KINDS:
        break;
    }
}

/* The newest operation there, or MODEL_NONE. */
static uint32_t layer_find(const struct plain_layer *l, uint64_t address) {
    for (size_t i = l->count; i-- > 0;)
        if (address >= l->maps[i].start && address <= l->maps[i].last)
            return l->maps[i].op;
    return MODEL_NONE;
}

/* Of the mappings alone. */
static uint32_t plain_map_find(const struct plain *w, unsigned p, uint64_t address) {
    return layer_find(&w->processes[p].maps, address);
}

/* Of both layers: announced code first. */
static uint32_t plain_find(const struct plain *w, const struct op *ops, unsigned p, uint64_t address) {
    uint32_t code = layer_find(&w->processes[p].code, address);
    return code != MODEL_NONE && ops[code].kind == OP_CODE ? code : plain_map_find(w, p, address);
}

/* ---- random lives ---- */

static struct perfdata_record record_of(const struct op *op, char text[8]) {
    uint32_t pid = pid_of(op->p), tid = tid_of(op->p, op->t);
    memcpy(text, "comm-?", 7);
    text[5] = (char)('a' + op->comm);
    switch (op->kind) {
    case OP_COMM:
        return rec_comm(pid, tid, text);
    case OP_CODE:
        return rec_comm(pid, pid, text);
    case OP_EXEC:
        return rec_exec(pid, text);
    case OP_FORK:
        return rec_fork(pid, pid, pid_of(op->parent), tid_of(op->parent, op->parent_t));
    case OP_FORK_SYNTHESISED:
        return rec_fork_synthesised(pid, pid, pid_of(op->parent), tid_of(op->parent, op->parent_t));
    case OP_THREAD:
        return rec_fork(pid, tid, pid, tid_of(op->p, op->parent_t));
    case OP_EXIT:
        return rec_exit(pid, tid, 1);
    case OP_ANON:
        return rec_map(pid, op->start, op->len, "//anon");
    default:
        return rec_map(pid, op->start, op->len, text);
    }
}

/* Times grow slowly, with many ties, which the order decides. */
static void make_ops(struct op *ops, size_t count, uint64_t *random, unsigned maps_percent) {
    static const enum op_kind mapping[] = {OP_MAP, OP_ANON, OP_ANON, OP_CODE, OP_CODE, OP_CODE, OP_UNCODE};
    uint64_t time = 5;
    for (size_t i = 0; i < count; i++) {
        struct op *op = &ops[i];
        *op = (struct op){.kind = (enum op_kind)below(random, OP_MAP), .when = {time, i}};
        op->number = (uint32_t)i;
        if (below(random, 100) < maps_percent)
            op->kind = mapping[below(random, sizeof mapping / sizeof *mapping)];
        op->p = below(random, PIDS);
        op->t = op->kind == OP_THREAD ? 1 + below(random, TIDS - 1) : below(random, TIDS);
        op->parent = below(random, PIDS);
        op->parent_t = below(random, 4) ? 0 : below(random, TIDS);
        if (op->kind == OP_THREAD && op->parent_t == op->t)
            op->parent_t = 0;
        op->comm = (int)below(random, 20);
        op->start = (uint64_t)below(random, PAGES * 16) << 8;
        op->len = 1 + below(random, below(random, 8) ? 0x800 : 0x8000);
        time += below(random, 3) == 0;
    }
}

/* File order differs from time order: neighbours up to `distance` apart are exchanged. */
static void shuffle(size_t count, size_t *file, unsigned distance, uint64_t *random) {
    for (size_t i = 0; i < count; i++)
        file[i] = i;
    for (size_t i = 0; i < count; i++) {
        size_t j = i + below(random, distance);
        if (j < count) {
            size_t swap = file[i];
            file[i] = file[j];
            file[j] = swap;
        }
    }
}

/* ---- comparing ---- */

struct life {
    struct op *ops; /* in time order */
    size_t *file;   /* the file: indices of ops */
    size_t count;
    struct plain *plain;
    uint64_t random;
    bool retiring;
};

static void compare_find(const struct model *m, struct life *l, struct model_when when) {
    unsigned p = below(&l->random, PIDS);
    uint64_t address = (uint64_t)below(&l->random, (PAGES + 4) << 12);
    struct model_hit hit;
    uint32_t want = plain_find(l->plain, l->ops, p, address);
    bool found = model_find(m, PERFDATA_MISC_USER, pid_of(p), when, address, &hit);
    assert_int_equal(found, want != MODEL_NONE);
    if (!found)
        return;
    const struct op *op = &l->ops[want];
    assert_int_equal(model_mapping(m, hit.mapping).order, op->when.order);
    assert_int_equal(model_image(m, hit.image)->kind == MODEL_IMAGE_CODE, op->kind == OP_CODE);
    uint64_t from = op->kind == OP_CODE ? CODE_AT : op->kind == OP_ANON ? op->start : 0;
    assert_int_equal(hit.offset, from + (address - op->start));
}

/* Where threads are retired, only of living ones: what an exec killed may be forgotten or not. */
static void compare_comm(const struct model *m, struct life *l, struct model_when when) {
    unsigned p = below(&l->random, PIDS), t = below(&l->random, TIDS);
    const struct plain_process *process = &l->plain->processes[p];
    if (l->retiring && !process->alive[t])
        return;
    const char *got = model_comm(m, pid_of(p), tid_of(p, t), when, NULL);
    assert_int_equal(got ? got[5] - 'a' : NO_COMM, process->comm[t]);
}

/* All pieces must agree with what the plain world says of their ends, and be in order and apart. */
static void compare_pieces(const struct model *m, struct life *l, struct model_when when) {
    unsigned p = below(&l->random, PIDS);
    struct model_pieces pieces = {0};
    assert_true(model_pieces_at(m, MODEL_SPACE_USER, pid_of(p), when, &pieces));
    uint64_t next = 0;
    for (size_t i = 0; i <= pieces.list.count; i++) {
        bool end = i == pieces.list.count;
        struct model_piece piece =
            end ? (struct model_piece){(PAGES + 20) << 12, 0, 0} : pieces.list.items[i];
        assert_true(piece.start >= next);
        for (uint64_t a = next; a < piece.start; a += 0x100) /* holes */
            assert_int_equal(plain_map_find(l->plain, p, a), MODEL_NONE);
        if (end)
            break;
        assert_true(piece.last >= piece.start);
        uint32_t first = plain_map_find(l->plain, p, piece.start),
                 last = plain_map_find(l->plain, p, piece.last);
        assert_int_equal(first, last);
        assert_int_equal(model_mapping(m, piece.mapping).order, l->ops[first].when.order);
        next = piece.last + 1;
    }
    vec_fini(&pieces.list);
}

static struct life life_new(uint64_t seed, size_t count, unsigned maps_percent, unsigned distance) {
    struct life l = {.ops = calloc(count, sizeof *l.ops),
                     .file = calloc(count, sizeof *l.file),
                     .count = count,
                     .plain = calloc(1, sizeof *l.plain),
                     .random = seed * 0x9e3779b97f4a7c15u + 1};
    assert_true(l.ops && l.file && l.plain);
    make_ops(l.ops, count, &l.random, maps_percent);
    shuffle(count, l.file, distance, &l.random);
    for (unsigned p = 0; p < PIDS; p++)
        for (unsigned t = 0; t < TIDS; t++)
            l.plain->processes[p].comm[t] = NO_COMM;
    return l;
}

static void life_free(struct life *l) {
    free(l->ops);
    free(l->file);
    free(l->plain);
}

static void apply_op(struct model *m, const struct op *op) {
    char text[8];
    struct perfdata_record rec = record_of(op, text);
    struct model_code code = {op->start, op->len, 0, MODEL_NONE};
    if (op->kind == OP_CODE) {
        code.pgoff = CODE_AT;
        code.image = model_add_code_image(m, pid_of(op->p), "/tmp/jitted.so", 0);
    }
    if (op->kind != OP_UNCODE)
        assert_true(model_apply(m, &rec, op->when, NULL));
    if (op->kind == OP_CODE || op->kind == OP_UNCODE)
        assert_true(model_add_code(m, pid_of(op->p), &code, op->when, NULL));
}

/* Batch: any order of the file, all instants. */
static void live_batch(uint64_t seed, unsigned maps_percent, unsigned distance) {
    struct life l = life_new(seed, 600, maps_percent, distance);
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    assert_non_null(m);
    for (size_t i = 0; i < l.count; i++)
        apply_op(m, &l.ops[l.file[i]]);
    assert_true(model_freeze(m, NULL));
    for (size_t i = 0; i < l.count; i++) {
        play_plain(l.plain, &l.ops[i]);
        for (int k = 0; k < 8; k++)
            compare_find(m, &l, l.ops[i].when);
        for (int k = 0; k < 4; k++)
            compare_comm(m, &l, l.ops[i].when);
        compare_pieces(m, &l, l.ops[i].when);
    }
    model_free(m);
    life_free(&l);
}

static void test_batch(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        live_batch(seed, (unsigned[]){20, 50, 80, 95}[seed % 4], (unsigned[]){1, 10, 600}[seed % 3]);
}

/* Streaming: time order, questions in between. What is older than some operations is dropped now and then;
 * the questions then go back as far as that. */
static void live_stream(uint64_t seed, unsigned maps_percent, bool retiring) {
    enum { BACK = 64 };
    struct life l = life_new(seed, 20000, maps_percent, 1);
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    assert_non_null(m);
    l.retiring = retiring;
    size_t plain_at = 0;
    for (size_t i = 0; i < l.count; i++) {
        apply_op(m, &l.ops[i]);
        /* The plain world stays up to BACK operations after. */
        size_t last = i < BACK ? i : i - below(&l.random, BACK);
        for (; plain_at <= last; plain_at++)
            play_plain(l.plain, &l.ops[plain_at]);
        struct model_when when = l.ops[plain_at - 1].when;
        if (retiring && i % 100 == 0)
            assert_true(model_retire(m, when, NULL));
        compare_find(m, &l, when);
        compare_comm(m, &l, when);
        if (i % 16 == 0)
            compare_pieces(m, &l, when);
    }
    assert_int_equal(model_unordered(m), 0);
    if (retiring)
        assert_true(model_mapping_count(m) < l.count * maps_percent / 100 / 2);
    assert_true(model_freeze(m, NULL));
    compare_pieces(m, &l, l.ops[plain_at - 1].when);
    model_free(m);
    life_free(&l);
}

static void test_streaming(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        live_stream(seed, 50 + 40 * (seed % 2), false);
        live_stream(seed, 50 + 40 * (seed % 2), true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_streaming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
