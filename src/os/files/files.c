/* SPDX-License-Identifier: Apache-2.0 */
#include "os/files/files.h"

#include "os/files/map.h"

enum { CHUNK = 65536 };

/* Reads to the end, and closes: /proc's files have no size to be known beforehand. */
static bool read_all(struct os_file *file, const char *path, struct writer *into, struct err *err) {
    int64_t n;
    do {
        size_t before = into->size;
        uint8_t *room = writer_grow(into, CHUNK);
        n = room ? os_file_read(file, room, CHUNK, path, err) : -1;
        if (!room)
            err_memory(err, path);
        else
            into->size = before + (size_t)(n > 0 ? n : 0);
    } while (n > 0);
    os_file_close(file);
    return n == 0;
}

static bool read_real(void *ctx, const char *path, struct writer *into, struct err *err) {
    (void)ctx;
    struct os_file file;
    return os_file_open(path, &file, err) && read_all(&file, path, into, err);
}

bool os_files_read_regular(const char *path, struct writer *into, struct err *err) {
    struct os_file file;
    return os_file_open_regular(path, &file, err) && read_all(&file, path, into, err);
}

const struct os_files os_files_real = {read_real, NULL};

static bool read_fake(void *ctx, const char *path, struct writer *into, struct err *err) {
    for (const struct os_fake_file *f = ctx; f->path; f++) {
        if (strcmp(f->path, path) != 0)
            continue;
        writer_bytes_put(into, f->content);
        return writer_ok(into) || err_memory(err, path);
    }
    return err_set(err, ERR_ABSENT, path, "no such file");
}

struct os_files os_files_fake(const struct os_fake_file *table) {
    return (struct os_files){read_fake, (void *)table};
}
