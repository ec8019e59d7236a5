/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/head.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/perfdata/header/header.h"

bool recording_is_at(const char *path) {
    enum { HEAD_BYTES = 16 };
    uint8_t head[HEAD_BYTES];
    char inside[PATH_MAX];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        int n = snprintf(inside, sizeof inside, "%s/data", path);
        path = n < (int)sizeof inside ? inside : path;
    }
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false; /* reading from a FIFO would take bytes that its reader needs */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return n == HEAD_BYTES && perfdata_header_begins((struct bytes){head, HEAD_BYTES});
}

/* True of records that perf record writes into a pipe before the first one of the kernel's. */
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

bool recording_read_head(struct stream *s, struct err *e) {
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
