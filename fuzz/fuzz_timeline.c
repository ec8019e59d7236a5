/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline: every 12 bytes are one record, of few processes and one small address space, so that they
 * collide. The same records go into a batch model at any times, and into a batch and a streaming model at
 * ascending times: the latter two must agree, and every model with itself.
 */
#include "fuzz.h"

#include "model/model.h"

enum { STEP = 12, PIDS = 8 };

struct op {
    uint8_t kind, pid, tid, ppid, time, name, flags, shape;
    uint16_t start, len;
};

static struct op op_at(const uint8_t *p) {
    return (struct op){.kind = p[0],
                       .pid = p[1] % PIDS,
                       .tid = p[2] % PIDS,
                       .ppid = p[3] % PIDS,
                       .time = p[4],
                       .name = p[5],
                       .flags = p[6],
                       .shape = p[7],
                       .start = bytes_load16(p + 8, false),
                       .len = bytes_load16(p + 10, false)};
}

static struct bytes name_of(const struct op *op) {
    static const char *const names[] = {
        "/a",     "/b (deleted)", "//anon",      "[heap]", "[kernel.kallsyms]_text",
        "[vdso]", "/m/x-y.ko.xz", "[kernel.kal", "",       "[guest.kernel.kallsyms.7]_t"};
    const char *s = names[op->name % (sizeof names / sizeof *names)];
    return (struct bytes){(const uint8_t *)s, strlen(s) + (op->name & 1)};
}

static struct perfdata_record record_of(const struct op *op) {
    struct perfdata_record r = {.misc = (uint16_t)((op->flags & 7) | (op->flags & 0xf8) << 8)};
    uint64_t start = op->shape & 1 ? (uint64_t)0 - op->start : op->start; /* near both ends of the space */
    uint64_t len = op->shape & 2 ? (uint64_t)op->len << 50 : op->len;
    uint32_t pid = op->shape & 4 && op->pid == 0 ? UINT32_MAX : op->pid;
    switch (op->kind % 12) {
    case 0:
    case 1:
        r.type = PERFDATA_RECORD_COMM;
        r.comm = (struct perfdata_comm){pid, op->tid, name_of(op)};
        break;
    case 2:
    case 3:
        r.type = PERFDATA_RECORD_FORK;
        r.task = (struct perfdata_task){pid, op->ppid, op->tid, op->ppid, op->shape & 8};
        break;
    case 4:
        r.type = PERFDATA_RECORD_EXIT;
        r.task = (struct perfdata_task){pid, op->ppid, op->tid, op->ppid, 1};
        break;
    case 5:
        r.type = PERFDATA_RECORD_MMAP2;
        r.mmap2 =
            (struct perfdata_mmap2){.pid = pid, .tid = op->tid, .addr = start, .len = len, .ino = op->shape};
        r.mmap2.has_build_id = op->shape & 16;
        r.mmap2.build_id_size = op->shape;
        r.mmap2.filename = name_of(op);
        break;
    case 6:
        r.type = PERFDATA_RECORD_KSYMBOL;
        r.ksymbol = (struct perfdata_ksymbol){start, op->len, op->shape & 3, op->flags & 1, name_of(op)};
        break;
    case 7:
        r.type = PERFDATA_RECORD_HEADER_BUILD_ID;
        r.build_id = (struct perfdata_build_id){.pid = -1, .build_id = {op->shape}, .filename = name_of(op)};
        r.build_id.build_id[20] = op->flags;
        break;
    default:
        r.type = PERFDATA_RECORD_MMAP;
        r.mmap = (struct perfdata_mmap){pid, op->tid, start, len, op->shape, name_of(op)};
    }
    return r;
}

/* Pieces are in order and apart, and found from both of their ends. */
static void check_pieces(const struct model *m, unsigned cpumode, uint32_t pid, struct model_when when,
                         struct model_pieces *pieces) {
    FUZZ_CHECK(model_pieces_at(m, model_space_of(cpumode), pid, when, pieces));
    for (size_t i = 0; i < pieces->list.count; i++) {
        const struct model_piece *p = &pieces->list.items[i];
        struct model_hit hit;
        FUZZ_CHECK(p->start <= p->last && (i == 0 || p->start > p[-1].last));
        FUZZ_CHECK(model_find(m, cpumode, pid, when, p->start, &hit) && hit.mapping == p->mapping);
        FUZZ_CHECK(model_find(m, cpumode, pid, when, p->last, &hit) && hit.mapping == p->mapping);
        /* What lies after a kernel's map may count as the kernel's: its initial text, which no map tells. */
        FUZZ_CHECK(p->last == UINT64_MAX || !model_find(m, cpumode, pid, when, p->last + 1, &hit) ||
                   hit.mapping != p->mapping || model_image(m, hit.image)->kind == MODEL_IMAGE_KERNEL ||
                   (i + 1 < pieces->list.count && p[1].start == p->last + 1));
        const struct model_image *image = model_image(m, hit.image == MODEL_NONE ? 0 : hit.image);
        FUZZ_CHECK(model_image_dso(m, image) && model_image_build_id(m, image, NULL).size <= 20);
    }
}

static void check_same(const struct model *a, const struct model *b, struct model_when when) {
    struct model_pieces pa = {0}, pb = {0};
    for (unsigned mode = 0; mode < 8; mode++)
        for (uint32_t pid = 0; pid < PIDS; pid++) {
            check_pieces(a, mode, pid, when, &pa);
            check_pieces(b, mode, pid, when, &pb);
            /* Where modules without an end do end is settled at the freeze; a stream goes on with its guess.
             */
            enum model_space space = model_space_of(mode);
            bool kernel = space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL;
            bool settled = a == b || !kernel || !model_endless_count(a);
            FUZZ_CHECK(!settled || pa.list.count == pb.list.count);
            for (size_t i = 0; settled && i < pa.list.count; i++)
                FUZZ_CHECK(pa.list.items[i].start == pb.list.items[i].start &&
                           pa.list.items[i].last == pb.list.items[i].last &&
                           model_mapping(a, pa.list.items[i].mapping).order ==
                               model_mapping(b, pb.list.items[i].mapping).order);
            for (uint32_t tid = 0; tid < PIDS; tid++) {
                const char *x = model_comm(a, pid, tid, when, NULL), *y = model_comm(b, pid, tid, when, NULL);
                /* What an exec or a new process killed may be forgotten by now. */
                FUZZ_CHECK(model_thread_at(b, pid, tid, when) == MODEL_NONE ||
                           (x ? y && strcmp(x, y) == 0 : y == NULL));
            }
        }
    vec_fini(&pa.list);
    vec_fini(&pb.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct model *wild = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct model *batch = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    struct model *stream =
        model_new(&(struct model_options){.need = MODEL_NEED_ALL, .streaming = true}, NULL);
    FUZZ_CHECK(wild && batch && stream);
    struct model_when now = {0};
    for (size_t at = 0; at + STEP <= size; at += STEP) {
        struct op op = op_at(data + at);
        struct perfdata_record rec = record_of(&op);
        struct model_when any = {op.time, at};
        now = (struct model_when){now.time_ns + op.time % 3, at};
        FUZZ_CHECK(model_apply(wild, &rec, any, NULL) && model_apply(batch, &rec, now, NULL) &&
                   model_apply(stream, &rec, now, NULL));
    }
    FUZZ_CHECK(model_unordered(stream) == 0);
    FUZZ_CHECK(model_freeze(wild, NULL) && model_freeze(batch, NULL));
    check_same(batch, stream, now);
    FUZZ_CHECK(model_retire(stream, now, NULL));
    check_same(batch, stream, now);
    FUZZ_CHECK(model_freeze(stream, NULL));
    check_same(batch, stream, now);
    check_same(batch, batch, (struct model_when){now.time_ns / 2, size / 2});
    check_same(wild, wild, (struct model_when){128, 0});
    for (uint32_t i = 0; i < model_thread_count(wild); i++) {
        const struct model_thread *t = model_thread(wild, i);
        FUZZ_CHECK(t->process < model_process_count(wild) && model_process(wild, t->process)->pid == t->pid);
        FUZZ_CHECK(!model_when_before(t->ended, t->born));
    }
    model_free(wild);
    model_free(batch);
    model_free(stream);
    return 0;
}
