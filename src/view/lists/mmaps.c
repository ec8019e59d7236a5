/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/mmaps.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "view/lists/task_tree.h"

/* The most lines of mappings: at least so many, and so many per map record and thread. */
enum { LINES_MIN = 1 << 20, LINES_PER_RECORD = 64 };

struct printer {
    const struct model *model;
    const struct stream *stream;
    struct model_pieces pieces;
    uint64_t lines_left, left_out;
};

/* Prints the map record's own build-id, else its inode. MMAP records have neither, and the vdso is no file:
 * for these it is the build-id, if any, that the recording's header has for the name. */
static void identity(const struct printer *p, const struct model_mapping *map,
                     const struct model_image *image, bool vdso, struct out *out) {
    struct bytes build_id = {image->build_id, image->build_id_size};
    if (!build_id.size && !vdso &&
        stream_record_at(p->stream, map->order).raw.type == PERFDATA_RECORD_MMAP2) {
        out_dec(out, image->ino, 0);
        return;
    }
    if (!build_id.size)
        build_id = model_image_build_id(p->model, image, NULL);
    for (size_t i = 0; i < build_id.size; i++)
        out_hex0(out, build_id.data[i], 2);
}

static void piece(const struct printer *p, const struct model_piece *piece, unsigned level, struct out *out) {
    const struct model_mapping map = model_mapping(p->model, piece->mapping);
    const struct model_image *image = model_image(p->model, map.image);
    bool vdso = strcmp(image->name, "[vdso]") == 0;
    out_fill(out, ' ', 32 + level);
    out_hex(out, piece->start, 0);
    out_char(out, '-');
    out_hex(out, piece->last + 1, 0);
    out_char(out, ' ');
    out_char(out, map.prot & PROT_READ ? 'r' : '-');
    out_char(out, map.prot & PROT_WRITE ? 'w' : '-');
    out_char(out, map.prot & PROT_EXEC ? 'x' : '-');
    out_char(out, map.flags & MAP_SHARED ? 's' : 'p');
    out_char(out, ' ');
    /* In recordings of old kernels the vdso's offset is its address. */
    out_hex0(out, (vdso ? 0 : map.pgoff) + (piece->start - map.start), 8);
    out_char(out, ' ');
    identity(p, &map, image, vdso, out);
    out_char(out, ' ');
    out_str(out, image->name);
    out_char(out, '\n');
}

static bool each_thread(void *ctx, const struct model_thread *thread, unsigned level, struct out *out,
                        struct err *err) {
    struct printer *p = ctx;
    const struct model_process *process = model_process(p->model, thread->process);
    bool over = model_when_before(process->ended, MODEL_WHEN_END);
    struct model_when when = over ? model_when_prior(process->ended) : MODEL_WHEN_END;
    if (!p->lines_left) {
        out_fill(out, ' ', 32 + level);
        out_str(out, "...\n");
        p->left_out++;
        return true;
    }
    if (!model_pieces_at(p->model, MODEL_SPACE_USER, process->pid, when, &p->pieces))
        return err_memory(err, "mmaps");
    for (size_t i = 0; i < p->pieces.list.count; i++)
        piece(p, &p->pieces.list.items[i], level, out);
    p->lines_left -= p->lines_left < p->pieces.list.count ? p->lines_left : p->pieces.list.count;
    return true;
}

bool mmaps_print(const struct model *m, const struct stream *s, struct out *out, uint64_t *left_out,
                 struct err *err) {
    uint64_t records = (uint64_t)model_mapping_count(m) + model_thread_count(m);
    struct printer p = {
        .model = m, .stream = s, .lines_left = LINES_MIN + records * LINES_PER_RECORD, .left_out = 0};
    bool ok = tasks_print(m, each_thread, &p, out, err);
    *left_out = p.left_out;
    vec_fini(&p.pieces.list);
    return ok;
}
