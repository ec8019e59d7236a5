/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/stacks_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text/plural.h"

/* Reads a stream to its end. */
static bool read_all(struct stacks_file *f, const struct os_file *file, const char *path, struct err *err) {
    enum { FIRST = 1 << 16 };
    size_t cap = 0, size = 0;
    for (;;) {
        if (size == cap) {
            size_t more = cap ? 2 * cap : FIRST;
            uint8_t *grown = realloc(f->read, more);
            if (!grown)
                return err_memory(err, path);
            f->read = grown;
            cap = more;
        }
        int64_t n = os_file_read(file, f->read + size, cap - size, path, err);
        if (n < 0)
            return false;
        if (!n)
            break;
        size += (size_t)n;
    }
    f->bytes = (struct bytes){f->read, size};
    return true;
}

bool stacks_file_open(struct stacks_file *f, const char *path, bool all, struct err *err) {
    struct os_file file;
    *f = (struct stacks_file){0};
    bool is_stream = !strcmp(path, "-");
    struct stat st;
    /* Opening a FIFO would take what is in it from whoever reads it, or wait for another writer. */
    if (!all && (is_stream || (!stat(path, &st) && !S_ISREG(st.st_mode))))
        return true;
    if (!os_file_open(path, &file, err))
        return false;
    bool ok = true;
    if (file.kind == OS_FILE_REGULAR && !is_stream) {
        ok = os_map_file(&file, path, &f->map, err);
        f->bytes = f->map.bytes;
    } else if (file.kind != OS_FILE_DIRECTORY && all) {
        ok = read_all(f, &file, path, err);
    }
    os_file_close(&file);
    if (ok)
        f->kind = stacks_import_kind_of(f->bytes);
    return ok;
}

void stacks_file_close(struct stacks_file *f) {
    os_map_fini(&f->map);
    free(f->read);
    *f = (struct stacks_file){0};
}

bool stacks_file_read(const struct stacks_file *f, const char *path, struct stacks *s, int *status,
                      struct err *err) {
    struct stacks_import_tally tally;
    size_t before = s->rows.count;
    if (!stacks_import(s, f->kind, f->bytes, path, &tally, err))
        return false;
    if (s->rows.count == before && tally.bad) /* it only looked like one */
        return err_set(err, ERR_BROKEN, path, "neither a recording nor stacks that can be imported");
    *status = tally.bad ? EXIT_ERROR : EXIT_OK;
    const char *unit = f->kind == STACKS_IMPORT_PPROF ? "sample" : "line";
    if (tally.bad)
        log_line(LOG_WARN, "%s: %" PRIu64 " %s%s of %s left out; the first is %s %" PRIu64 ": %s", path,
                 tally.bad, unit, plural(tally.bad), stacks_import_kind_name(f->kind), unit, tally.first,
                 tally.reason);
    return true;
}
