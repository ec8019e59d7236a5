/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Announced code in the timeline against the plainest thing that could answer: for each process an array of
 * what lies at each address, in either layer. Every 6 bytes are one event of few processes, at any time; the
 * model is told in the order of the input and frozen, and then as a stream in the order of time.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "model/model.h"

enum { STEP = 6, PIDS = 4, SPACE = 256, BASE = 0x10000, MAX_OPS = 500 };

enum { APPEARS, LEAVES, CLOSED, ANON, MEMFD, FILE_MAP, FORK, EXEC, EXIT, KINDS };

struct op {
    uint8_t kind, pid, ppid, time;
    uint64_t start, len;
    uint32_t number;
};

/* Numbers of ops, counted from 1; 0: nothing is there. */
struct space {
    uint16_t code[SPACE], map[SPACE];
};

static struct op op_at(const uint8_t *p, uint32_t number) {
    return (struct op){.kind = p[0] % KINDS,
                       .pid = p[1] % PIDS,
                       .ppid = p[2] % PIDS,
                       .time = p[3],
                       .start = p[4],
                       .len = p[5] % (SPACE - p[4]) + 1u,
                       .number = number};
}

static void fill(uint16_t *to, const struct op *op, uint32_t number) {
    for (uint64_t i = 0; i < op->len; i++)
        to[op->start + i] = (uint16_t)number;
}

static void play(struct space *spaces, const struct op *op) {
    struct space *s = &spaces[op->pid];
    switch (op->kind) {
    case APPEARS:
        fill(s->code, op, op->number);
        break;
    case LEAVES:
        fill(s->code, op, 0);
        break;
    case CLOSED:
        memset(s->code, 0, sizeof s->code);
        break;
    case FILE_MAP: /* the memory was replaced */
        fill(s->code, op, 0);
        fill(s->map, op, op->number);
        break;
    case ANON:
    case MEMFD:
        fill(s->map, op, op->number);
        break;
    case FORK:
        if (op->ppid != op->pid)
            *s = spaces[op->ppid];
        break;
    default:
        memset(s, 0, sizeof *s);
    }
}

static bool add_code(struct model *m, const struct op *op, struct model_when when) {
    uint32_t pid = op->pid + 1u;
    struct model_code c = {BASE + op->start, op->len, (uint64_t)op->number << 16, MODEL_NONE};
    if (op->kind == APPEARS)
        c.image = model_add_code_image(m, pid, "/tmp/jitted.so", op->number % 3);
    if (op->kind == CLOSED) {
        c.start = 0;
        c.size = UINT64_MAX;
    }
    return model_add_code(m, pid, &c, when, NULL);
}

static bool tell(struct model *m, const struct op *op, struct model_when when) {
    static const char *const names[KINDS] = {
        [ANON] = "//anon", [MEMFD] = "/memfd:jit (deleted)", [FILE_MAP] = "/lib/x.so"};
    uint32_t pid = op->pid + 1u, ppid = op->ppid + 1u;
    struct perfdata_record r = {.misc = PERFDATA_MISC_USER};
    if (op->kind <= CLOSED)
        return add_code(m, op, when);
    if (names[op->kind]) {
        r.type = PERFDATA_RECORD_MMAP;
        r.mmap = (struct perfdata_mmap){pid, pid, BASE + op->start, op->len, 0, {NULL, 0}};
        r.mmap.filename = (struct bytes){(const uint8_t *)names[op->kind], strlen(names[op->kind])};
    } else if (op->kind == EXEC) {
        r.type = PERFDATA_RECORD_COMM;
        r.misc |= PERFDATA_MISC_COMM_EXEC;
        r.comm = (struct perfdata_comm){pid, pid, {(const uint8_t *)"x", 1}};
    } else {
        r.type = op->kind == FORK ? PERFDATA_RECORD_FORK : PERFDATA_RECORD_EXIT;
        r.task = (struct perfdata_task){pid, ppid, pid, ppid, 1};
    }
    return model_apply(m, &r, when, NULL);
}

/* What the model says of each address of a process. */
static void compare(const struct model *m, const struct space *spaces, uint32_t p, struct model_when when) {
    const struct space *s = &spaces[p];
    struct model_state state;
    model_state_at(m, MODEL_SPACE_USER, p + 1, when, &state);
    for (uint32_t i = 0; i < SPACE; i++) {
        struct model_hit hit, again;
        uint32_t want = s->code[i] ? s->code[i] : s->map[i];
        bool found = model_find(m, PERFDATA_MISC_USER, p + 1, when, BASE + i, &hit);
        FUZZ_CHECK(found == (want != 0));
        FUZZ_CHECK(model_state_find(m, &state, BASE + i, &again) == found && again.mapping == hit.mapping);
        if (!found)
            continue;
        const struct model_mapping map = model_mapping(m, hit.mapping);
        FUZZ_CHECK(map.order == want);
        FUZZ_CHECK((model_image(m, hit.image)->kind == MODEL_IMAGE_CODE) == (s->code[i] != 0));
        FUZZ_CHECK(!s->code[i] || hit.offset == ((uint64_t)want << 16) + (BASE + i - map.start));
    }
}

static int compare_ops(const void *a, const void *b) {
    const struct op *x = a, *y = b;
    return x->time != y->time ? x->time - y->time : (x->number > y->number) - (x->number < y->number);
}

static void run(const struct op *ops, size_t count, struct model *m, bool streaming) {
    struct space *spaces = calloc(PIDS, sizeof *spaces);
    FUZZ_CHECK(spaces);
    for (size_t i = 0; i < count; i++) {
        struct model_when when = {ops[i].time, ops[i].number};
        play(spaces, &ops[i]);
        FUZZ_CHECK(!streaming || (tell(m, &ops[i], when) && model_retire(m, when, NULL)));
        compare(m, spaces, ops[i].pid, when);
    }
    for (uint32_t p = 0; p < PIDS && count; p++)
        compare(m, spaces, p, MODEL_WHEN_END);
    FUZZ_CHECK(model_unordered(m) == 0);
    free(spaces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count = size / STEP < MAX_OPS ? size / STEP : MAX_OPS;
    struct op *ops = calloc(count + 1, sizeof *ops);
    struct model *batch = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct model *stream =
        model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    FUZZ_CHECK(ops && batch && stream);
    for (size_t i = 0; i < count; i++) {
        ops[i] = op_at(data + i * STEP, (uint32_t)i + 1);
        FUZZ_CHECK(tell(batch, &ops[i], (struct model_when){ops[i].time, ops[i].number}));
    }
    FUZZ_CHECK(model_freeze(batch, NULL));
    qsort(ops, count, sizeof *ops, compare_ops);
    run(ops, count, batch, false);
    run(ops, count, stream, true);
    model_free(batch);
    model_free(stream);
    free(ops);
    return 0;
}
