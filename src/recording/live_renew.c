/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new epoch of a live recording: what still is, told anew into a feed of its own, as a recorder tells what
 * existed before it began. What only those needed who are gone stays behind: images, names, files.
 *
 *     head                                       as it came (live.head)
 *     kernel, modules, code of BPF, cgroups      as it came (live.lasting), without what is gone
 *     processes that live, threads, mappings     from the model
 */
#include <stdlib.h>

#include "recording/live.h"

struct telling {
    const struct recording_live *old;
    const struct perfdata_plan *plan;
    struct writer out, text;
    struct model_pieces pieces;
    struct model_when now;
};

/* ---- what came and lasts ---- */

/* Where a KSYMBOL record says whether the code goes (perf_event_open(2)). */
enum { KSYMBOL_FLAGS_AT = PERFDATA_HEADER_SIZE + 14 };

/* The size of the record at `at`; the rest, if that is none. */
static size_t size_at(struct bytes all, size_t at) {
    size_t left = all.size - at,
           size = left >= PERFDATA_HEADER_SIZE ? bytes_load16(all.data + at + 6, false) : 0;
    return size < PERFDATA_HEADER_SIZE || size > left ? left : size;
}

static bool is_ksymbol(const uint8_t *record, size_t size) {
    return size >= KSYMBOL_FLAGS_AT + 2 && bytes_load32(record, false) == PERFDATA_RECORD_KSYMBOL;
}

/* By address: whether the last record about it says that the kernel's code there was removed. False: out of
 * memory. */
static bool find_gone(struct bytes all, struct hash_map *gone) {
    bool ok = true;
    for (size_t at = 0, size; ok && at < all.size; at += size) {
        const uint8_t *record = all.data + at;
        size = size_at(all, at);
        if (is_ksymbol(record, size))
            ok = hash_map_set(gone, bytes_load64(record + PERFDATA_HEADER_SIZE, false),
                              bytes_load16(record + KSYMBOL_FLAGS_AT, false) & PERFDATA_KSYMBOL_UNREGISTER);
    }
    return ok;
}

static bool put_lasting(struct telling *t) {
    struct bytes all = writer_bytes(&t->old->lasting);
    struct hash_map gone = {0};
    bool ok = find_gone(all, &gone);
    for (size_t at = 0, size; ok && at < all.size; at += size) {
        const uint8_t *record = all.data + at;
        size = size_at(all, at);
        if (!is_ksymbol(record, size) ||
            !hash_map_get(&gone, bytes_load64(record + PERFDATA_HEADER_SIZE, false)))
            writer_put(&t->out, record, size);
    }
    hash_map_fini(&gone);
    return ok;
}

/* ---- processes ---- */

/* A text as it lies in a record: with its NUL, padded to a multiple of 8. */
static struct bytes padded(struct telling *t, const char *text) {
    writer_clear(&t->text);
    writer_put(&t->text, text, strlen(text) + 1);
    while (t->text.size % 8)
        writer_u8(&t->text, 0);
    return writer_bytes(&t->text);
}

/* Encodes a record of the time before. */
static void put(struct telling *t, struct perfdata_record *rec) {
    rec->id = (struct perfdata_sample_id){.have = t->plan->tail_size ? t->plan->sample_type : 0};
    perfdata_record_encode(rec, t->plan, &t->out);
}

static void put_comm(struct telling *t, uint32_t pid, uint32_t tid) {
    const char *comm = model_comm(t->old->model, pid, tid, t->now, NULL);
    if (comm)
        put(t, &(struct perfdata_record){.type = PERFDATA_RECORD_COMM, .comm = {pid, tid, padded(t, comm)}});
}

static void put_namespaces(struct telling *t, uint32_t pid, uint32_t tid) {
    struct model_namespaces n;
    if (!model_namespaces_at(t->old->model, pid, tid, t->now, &n))
        return;
    put(t, &(struct perfdata_record){
               .type = PERFDATA_RECORD_NAMESPACES,
               .namespaces = {pid, tid, n.count, {(const uint8_t *)n.links, 2 * (uint64_t)n.count, false}}});
}

static void put_map(struct telling *t, uint32_t pid, const struct model_piece *piece) {
    const struct model *m = t->old->model;
    const struct model_mapping map = model_mapping(m, piece->mapping);
    const struct model_image *image = map.image == MODEL_NONE ? NULL : model_image(m, map.image);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP2, .misc = PERFDATA_MISC_USER};
    if (!image)
        return;
    rec.mmap2 = (struct perfdata_mmap2){.pid = pid,
                                        .tid = pid,
                                        .addr = piece->start,
                                        .len = piece->last - piece->start + 1,
                                        .pgoff = map.pgoff + (piece->start - map.start),
                                        .maj = image->maj,
                                        .min = image->min,
                                        .ino = image->ino,
                                        .ino_generation = image->ino_generation,
                                        .prot = map.prot,
                                        .flags = map.flags};
    if (image->build_id_size) {
        rec.misc |= PERFDATA_MISC_MMAP_BUILD_ID;
        rec.mmap2.has_build_id = true;
        rec.mmap2.build_id_size = image->build_id_size;
        memcpy(rec.mmap2.build_id, image->build_id, sizeof rec.mmap2.build_id);
    }
    padded(t, image->recorded);
    if (image->has_state)
        perfdata_evidence_encode(&(struct perfdata_evidence){.has_state = true, .state = image->state},
                                 &t->text);
    rec.mmap2.filename = writer_bytes(&t->text);
    put(t, &rec);
}

static bool put_process(struct telling *t, const struct model_process *p) {
    struct perfdata_record fork = {
        .type = PERFDATA_RECORD_FORK,
        .task = {.pid = p->pid, .tid = p->pid, .ppid = p->ppid, .ptid = p->ppid, .time = 0}};
    if (p->ppid != MODEL_NONE)
        put(t, &fork);
    put_namespaces(t, p->pid, p->pid);
    put_comm(t, p->pid, p->pid);
    if (!model_pieces_at(t->old->model, MODEL_SPACE_USER, p->pid, t->now, &t->pieces))
        return false;
    for (size_t i = 0; i < t->pieces.list.count; i++)
        put_map(t, p->pid, &t->pieces.list.items[i]);
    return true;
}

static void put_thread(struct telling *t, const struct model_thread *x) {
    struct perfdata_record fork = {
        .type = PERFDATA_RECORD_FORK,
        .task = {.pid = x->pid, .tid = x->tid, .ppid = x->pid, .ptid = x->pid, .time = 0}};
    put(t, &fork);
    put_namespaces(t, x->pid, x->tid);
    put_comm(t, x->pid, x->tid);
}

static bool lives(struct model_when end) {
    return end.time_ns == UINT64_MAX;
}

static bool tell_processes(struct telling *t) {
    const struct model *m = t->old->model;
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_process_count(m); i++)
        ok = !lives(model_process(m, i)->ended) || put_process(t, model_process(m, i));
    for (uint32_t i = 0; ok && i < model_thread_count(m); i++) {
        const struct model_thread *x = model_thread(m, i);
        if (lives(x->ended) && x->tid != x->pid && lives(model_process(m, x->process)->ended))
            put_thread(t, x);
    }
    return ok;
}

/* ---- all ---- */

bool recording_live_renew(const struct recording_live *old, struct recording_live *fresh, struct err *err) {
    struct telling t = {.old = old,
                        .plan = &old->recording.events->list.items[0].plan,
                        .out = writer_make(old->recording.events->swap),
                        .text = writer_make(false),
                        .now = {old->now_ns, UINT64_MAX}};
    if (!recording_live_init(fresh, old->need, err))
        return false;
    writer_bytes_put(&t.out, writer_bytes(&old->head));
    bool ok = put_lasting(&t) && tell_processes(&t) && writer_ok(&t.out);
    struct bytes all = writer_bytes(&t.out);
    ok = ok ? recording_live_put(fresh, &all, 1, err) : err_memory(err, "processes");
    writer_fini(&t.out);
    writer_fini(&t.text);
    vec_fini(&t.pieces.list);
    fresh->now_ns = old->now_ns;
    /* What the kernel said has its times: all of it is known before anything new. */
    return ok && recording_live_open(fresh, &old->recording.owner, err) && recording_live_settle(fresh, err);
}

/* ---- images ---- */

static uint64_t key_of(const struct model_image *i) {
    const char *text = i->recorded ? i->recorded : i->name;
    uint64_t words[] = {i->ino, i->ino_generation, (uint64_t)i->maj << 32 | i->min,
                        (uint64_t)i->pid << 32 | (uint32_t)i->kind << 8 | i->space};
    uint64_t h = hash_bytes(words, sizeof words) ^ hash_bytes(text, strlen(text));
    return hash_u64(h) ^ (i->build_id_size ? hash_bytes(i->build_id, i->build_id_size) : 0);
}

bool recording_live_images(const struct recording_live *old, const struct recording_live *fresh,
                           uint32_t **map, struct err *err) {
    uint32_t count = model_image_count(old->model);
    struct hash_map by_key = {0};
    *map = malloc(((size_t)count + 1) * sizeof **map);
    bool ok = *map;
    for (uint32_t i = 0; ok && i < model_image_count(fresh->model); i++)
        ok = hash_map_set(&by_key, key_of(model_image(fresh->model, i)), i);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t found = hash_map_get(&by_key, key_of(model_image(old->model, i)));
        (*map)[i] = found == HASH_ABSENT ? MODEL_NONE : found;
    }
    hash_map_fini(&by_key);
    return ok || err_memory(err, "images");
}
