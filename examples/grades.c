/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how well the names of a recording's frames are known, and of each image with names that are not
 * proved why: cc grades.c $(pkg-config --cflags --libs sonde) */
#include <inttypes.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <string.h>

enum { GRADES = SONDE_UNKNOWN + 1, IMAGES = 256 };

/* Texts of frames live as long as the session, and each image has one. */
static const char *told[IMAGES];
static size_t told_count;

static void tell(const struct sonde_frame *f) {
    const char *image = sonde_frame_image(f), *symbol = sonde_frame_symbol(f);
    const char *path = sonde_frame_evidence_path(f);
    for (size_t i = 0; i < told_count; i++)
        if (image == told[i])
            return;
    if (told_count == IMAGES)
        return;
    told[told_count++] = image;
    printf("%s: %s is %s (%s, %s%s%s): %s\n", image ? image : "nothing", symbol ? symbol : "a place",
           sonde_grade_name(sonde_frame_grade(f)), sonde_frame_identity(f), sonde_frame_list(f),
           path ? " of " : "", path ? path : "", sonde_frame_why(f));
}

int main(int argc, char **argv) {
    char error[256];
    uint64_t frames[GRADES] = {0};
    struct sonde_session *s = sonde_open(argc > 1 ? argv[1] : "perf.data", NULL, error, sizeof error);
    if (!s) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    const struct sonde_record *r;
    while ((r = sonde_next(s)))
        for (size_t i = 0; i < sonde_record_frames(r); i++) {
            const struct sonde_frame *f = sonde_record_frame(r, i);
            enum sonde_grade grade = sonde_frame_grade(f);
            frames[grade]++;
            if (grade != SONDE_EXACT)
                tell(f);
        }
    for (int g = 0; g < GRADES; g++)
        printf("%" PRIu64 " %s\n", frames[g], sonde_grade_name((enum sonde_grade)g));
    int status = sonde_error(s) ? (fprintf(stderr, "%s\n", sonde_error(s)), 1) : 0;
    sonde_close(s);
    return status;
}
