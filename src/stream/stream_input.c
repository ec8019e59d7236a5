/* SPDX-License-Identifier: Apache-2.0 */
/* Provides a recording's bytes: of a mapped file, of the files of a directory, or of a pipe that is spooled.
 */
#include "stream/stream_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 256 * 1024 };

bool stream_input_need(struct stream *s, uint64_t upto, struct err *err) {
    struct stream_input *in = &s->input;
    if (in->feed) {
        in->size = stream_feed_size(in->feed);
        in->growing = !stream_feed_ended(in->feed);
        return true;
    }
    while (in->growing && in->size < upto) {
        uint8_t *room = os_spool_room(&in->spool, READ_BYTES, err);
        if (!room)
            return false;
        int64_t got = os_file_read(&in->file, room, READ_BYTES, s->path, err);
        if (got < 0)
            return false;
        if (got == 0)
            in->growing = false;
        os_spool_commit(&in->spool, (size_t)got);
        in->size = in->spool.size;
    }
    return true;
}

/* Whether it is "data" or "data.N" of a directory recording (perf.data-directory-format.txt). */
static bool is_data_file(const char *name) {
    if (strncmp(name, "data", 4) != 0)
        return false;
    if (name[4] == 0)
        return true;
    return name[4] == '.' && name[5] && strspn(name + 5, "0123456789") == strlen(name + 5);
}

static unsigned long long data_number(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? strtoull(dot + 1, NULL, 10) : 0;
}

static int compare_data_files(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    bool x_main = strcmp(x, "data") == 0, y_main = strcmp(y, "data") == 0;
    if (x_main != y_main)
        return x_main ? -1 : 1;
    unsigned long long m = data_number(x), n = data_number(y);
    return m < n ? -1 : m > n;
}

static bool add_segment(struct stream *s, uint64_t start, uint64_t end, uint64_t file_start, char *name,
                        struct err *err) {
    struct stream_segment *g = name ? vec_push(&s->input.segments) : NULL;
    if (!g) {
        free(name);
        return err_memory(err, s->path);
    }
    *g = (struct stream_segment){start, end, file_start, name};
    return true;
}

/* Maps the files in `names` one after the other, each as a segment. */
static bool map_directory(struct stream *s, char **names, size_t count, struct err *err) {
    struct stream_input *in = &s->input;
    struct os_file *files = calloc(count, sizeof *files);
    uint64_t *offsets = calloc(count, sizeof *offsets);
    const char **paths = calloc(count, sizeof *paths);
    size_t opened = 0;
    bool ok = files && offsets && paths;
    if (!ok)
        err_memory(err, s->path);
    for (; ok && opened < count; opened++) {
        char *path;
        if (asprintf(&path, "%s/%s", s->path, names[opened]) < 0) {
            ok = err_memory(err, s->path);
            break;
        }
        paths[opened] = path;
        ok = os_file_open(path, &files[opened], err);
    }
    in->main_size = opened ? files[0].size : 0;
    ok = ok && os_multimap_files(files, paths, count, offsets, &in->multimap, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_segment(s, offsets[i], offsets[i] + files[i].size, 0, strdup(paths[i]), err);
    for (size_t i = 0; i < opened; i++) {
        os_file_close(&files[i]);
        free((char *)paths[i]);
    }
    free(files);
    free(offsets);
    free(paths);
    in->base = in->multimap.base;
    in->size = in->multimap.size;
    return ok;
}

static bool open_directory(struct stream *s, struct err *err) {
    char **names;
    size_t count;
    if (!os_dir_list(s->path, is_data_file, &names, &count, err))
        return false;
    if (count)
        qsort(names, count, sizeof *names, compare_data_files);
    bool ok = count && strcmp(names[0], "data") == 0
                  ? map_directory(s, names, count, err)
                  : err_set(err, ERR_BROKEN, s->path,
                            "is a directory without a file named data, so not a recording");
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return ok;
}

bool stream_input_open(struct stream *s, struct err *err) {
    struct stream_input *in = &s->input;
    if (!os_file_open(s->path, &in->file, err))
        return false;
    switch (in->file.kind) {
    case OS_FILE_DIRECTORY:
        return open_directory(s, err);
    case OS_FILE_REGULAR:
        if (in->file.size == 0)
            return err_set(err, ERR_BROKEN, s->path, "is empty: nothing was recorded");
        if (!os_map_file(&in->file, s->path, &in->map, err))
            return false;
        in->base = in->map.bytes.data;
        in->size = in->map.bytes.size;
        return true;
    case OS_FILE_STREAM:
        break;
    }
    if (!os_spool_open(&in->spool, err))
        return false;
    in->has_spool = true;
    in->base = in->spool.base;
    in->growing = true;
    if (!stream_input_need(s, 16, err))
        return false;
    return in->size || err_set(err, ERR_BROKEN, s->path,
                               "is empty: nothing came through the pipe (did the command before it fail?)");
}

bool stream_input_segments(struct stream *s, struct err *err) {
    struct stream_input *in = &s->input;
    const struct perfdata_header *h = &s->header;
    if (in->segments.count) { /* a directory: only its first file has a header */
        struct stream_segment *main_file = &in->segments.items[0];
        uint64_t room = main_file->end - main_file->start, at = h->data.offset < room ? h->data.offset : room;
        uint64_t size = h->data_size_zero || h->data.size > room - at ? room - at : h->data.size;
        main_file->start += at;
        main_file->file_start = at;
        main_file->end = main_file->start + size;
        return true;
    }
    if (h->container == PERFDATA_CONTAINER_PIPE)
        return add_segment(s, h->data.offset, in->growing ? UINT64_MAX : in->size, h->data.offset,
                           strdup(s->path), err);
    uint64_t at = h->data.offset < in->size ? h->data.offset : in->size;
    uint64_t size = h->data_size_zero || h->data.size > in->size - at ? in->size - at : h->data.size;
    return add_segment(s, at, at + size, at, strdup(s->path), err);
}

void stream_input_close(struct stream_input *in) {
    for (size_t i = 0; i < in->segments.count; i++)
        free(in->segments.items[i].name);
    vec_fini(&in->segments);
    os_map_fini(&in->map);
    os_multimap_fini(&in->multimap);
    if (in->has_spool)
        os_spool_close(&in->spool);
    os_file_close(&in->file);
}
