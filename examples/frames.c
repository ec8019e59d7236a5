/* SPDX-License-Identifier: Apache-2.0 */
/* Prints where every sample of a recording was: cc frames.c $(pkg-config --cflags --libs sonde) */
#include <inttypes.h>
#include <sonde/sonde.h>
#include <stdio.h>

int main(int argc, char **argv) {
    char error[256];
    struct sonde_session *s = sonde_open(argc > 1 ? argv[1] : "perf.data", NULL, error, sizeof error);
    if (!s) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    const struct sonde_record *r;
    while ((r = sonde_next(s))) {
        if (sonde_record_type(r) != SONDE_RECORD_SAMPLE)
            continue;
        uint64_t pid, period; /* 0 in samples without */
        sonde_record_get(r, SONDE_PID, &pid);
        sonde_record_get(r, SONDE_PERIOD, &period);
        const char *comm = sonde_record_comm(r), *event = sonde_record_event(r);
        printf("%s %" PRIu64 " %s %" PRIu64 "\n", comm ? comm : "?", pid, event ? event : "?", period);
        for (size_t i = 0; i < sonde_record_frames(r); i++) {
            const struct sonde_frame *f = sonde_record_frame(r, i);
            const char *symbol = sonde_frame_symbol(f), *image = sonde_frame_image(f);
            printf("\t%16" PRIx64 " %s+0x%" PRIx64 " (%s)\n", sonde_frame_address(f),
                   symbol ? symbol : "[unknown]", sonde_frame_symbol_offset(f), image ? image : "[unknown]");
        }
    }
    int status = sonde_error(s) ? (fprintf(stderr, "%s\n", sonde_error(s)), 1) : 0;
    sonde_close(s);
    return status;
}
