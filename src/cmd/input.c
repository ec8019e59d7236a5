/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/perfdata/header.h"
#include "stream/stream.h"

#define DEFAULT_INPUT "perf.data"

const char *input_path(const char *given) {
    struct stat st;
    if (given)
        return given;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : DEFAULT_INPUT;
}

bool input_check(const char *path, bool force, struct err *e) {
    if (strcmp(path, "-") == 0)
        return true;
    struct stat st;
    int errnum = stat(path, &st) != 0 ? errno : access(path, R_OK) != 0 ? errno : 0;
    if (errnum) {
        const char *hint = strcmp(path, DEFAULT_INPUT) == 0 ? "  (try 'sonde record' first)" : "";
        enum err_code code = errnum == ENOENT ? ERR_ABSENT : errnum == EACCES ? ERR_PERMISSION : ERR_IO;
        return err_set(e, code, "", "failed to open %s: %s%s", path, strerror(errnum), hint);
    }
    if (!force && st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(e, ERR_PERMISSION, "",
                       "File %s not owned by current user or root (use -f to override)", path);
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        return err_set(e, ERR_BROKEN, "", "zero-sized data (%s), nothing to do!", path);
    return true;
}

bool input_check_output(const char *input, const char *output, struct err *e) {
    struct stat in, out;
    bool same = strcmp(input, "-") != 0 && strcmp(output, "-") != 0 && stat(input, &in) == 0 &&
                stat(output, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    return !same || err_set(e, ERR_USAGE, output, "is the input file too: use another name for the output");
}

bool input_is_recording(const char *path) {
    enum { HEAD_BYTES = 16 };
    uint8_t head[HEAD_BYTES];
    char inside[PATH_MAX];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        int n = snprintf(inside, sizeof inside, "%s/data", path);
        path = n < (int)sizeof inside ? inside : path;
    }
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false; /* to read from a FIFO would take what its reader needs */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return n == HEAD_BYTES && perfdata_header_begins((struct bytes){head, HEAD_BYTES});
}

/* What perf record puts into a pipe before the first record of the kernel's. */
static bool is_head(const struct stream_record *r) {
    switch (r->raw.type) {
    case PERFDATA_RECORD_HEADER_ATTR:
    case PERFDATA_RECORD_HEADER_EVENT_TYPE:
    case PERFDATA_RECORD_HEADER_TRACING_DATA:
    case PERFDATA_RECORD_HEADER_BUILD_ID:
    case PERFDATA_RECORD_HEADER_FEATURE:
    case PERFDATA_RECORD_EVENT_UPDATE:
    case PERFDATA_RECORD_ID_INDEX:
        return true;
    default:
        return r->legacy;
    }
}

bool input_read_head(struct stream *s, struct err *e) {
    if (stream_header(s)->container != PERFDATA_CONTAINER_PIPE)
        return true;
    struct stream_record r;
    enum stream_status status;
    do
        status = stream_next(s, &r, e);
    while (status == STREAM_RECORD && is_head(&r));
    if (status == STREAM_FAILED)
        return false;
    stream_rewind(s);
    return true;
}
