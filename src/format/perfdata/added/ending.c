/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/ending.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cursor.h"
#include "format/perfdata/added/evidence.h"

void perfdata_ending_encode(const struct perfdata_ending *e, struct writer *w) {
    writer_u32(w, e->how);
    writer_u32(w, 0);
    writer_u64(w, e->missing_bytes);
    writer_u64(w, e->missing_ns);
}

bool perfdata_ending_decode(struct bytes part, bool swap, struct perfdata_ending *out) {
    struct cursor c = cursor_make(part, swap);
    *out = (struct perfdata_ending){.how = cursor_u32(&c)};
    cursor_u32(&c);
    out->missing_bytes = cursor_u64(&c);
    out->missing_ns = cursor_u64(&c);
    if (!cursor_ok(&c))
        *out = (struct perfdata_ending){.how = PERFDATA_ENDING_UNKNOWN};
    return cursor_ok(&c);
}

size_t perfdata_ending_replace(const struct perfdata_ending *e, uint8_t *box, size_t size) {
    struct writer w = writer_make(false);
    perfdata_ending_encode(e, &w);
    size_t at = size;
    if (writer_ok(&w))
        at = perfdata_box_replace(box, size, PERFDATA_PART_ENDING, writer_bytes(&w));
    writer_fini(&w);
    return at;
}

enum perfdata_ending_how perfdata_ending_of_errno(int error) {
    switch (error) {
    case ENOSPC:
        return PERFDATA_ENDING_FULL;
    case EDQUOT:
        return PERFDATA_ENDING_QUOTA;
    case EFBIG:
        return PERFDATA_ENDING_LIMIT;
    default:
        return PERFDATA_ENDING_ERROR;
    }
}

/* "900 bytes", "12 KB", "1.5 MB". */
static void put_size(uint64_t bytes, char *room, size_t size) {
    if (bytes < 10000)
        snprintf(room, size, "%" PRIu64 " bytes", bytes);
    else if (bytes < 1000000)
        snprintf(room, size, "%" PRIu64 " KB", bytes / 1000);
    else
        snprintf(room, size, "%.1f MB", (double)bytes / 1e6);
}

static const char *open_text(const struct perfdata_ending *e, const char *size, char *room) {
    static const char start[] = "was not finished (the recorder was killed, or still runs): ";
    if (!e->missing_bytes)
        snprintf(room, PERFDATA_ENDING_TEXT, "%swhat came last is missing", start);
    else if (!e->missing_ns)
        snprintf(room, PERFDATA_ENDING_TEXT, "%sat most %s of records are missing", start, size);
    else
        snprintf(room, PERFDATA_ENDING_TEXT, "%sat most %s of records, of the last %.1f s, are missing",
                 start, size, (double)e->missing_ns / 1e9);
    return room;
}

const char *perfdata_ending_text(const struct perfdata_ending *e, char room[PERFDATA_ENDING_TEXT]) {
    static const char *const reasons[] = {
        [PERFDATA_ENDING_FULL] = "the disk was full",
        [PERFDATA_ENDING_QUOTA] = "the disk quota was used up",
        [PERFDATA_ENDING_LIMIT] = "the file was as large as is allowed (ulimit -f)",
        [PERFDATA_ENDING_ERROR] = "it could not be written",
    };
    char size[32];
    put_size(e->missing_bytes, size, sizeof size);
    if (e->how == PERFDATA_ENDING_OPEN)
        return open_text(e, size, room);
    if (!perfdata_ending_failed(e->how))
        return NULL;
    if (e->missing_bytes)
        snprintf(room, PERFDATA_ENDING_TEXT, "stopped early, because %s: %s of records are missing",
                 reasons[e->how], size);
    else
        snprintf(room, PERFDATA_ENDING_TEXT, "stopped early, because %s", reasons[e->how]);
    return room;
}
