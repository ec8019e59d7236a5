/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints where every sample of a recording was, as `sonde script -F comm,pid,tid,event,ip,sym,symoff,dso`
 * does, but for the padding of columns: cc frames.c $(pkg-config --cflags --libs sonde)
 *
 *   frames [--symfs DIR] [--buildid-dir DIR] [--kallsyms FILE] [--jitdump-dir DIR] [--max-stack N] [--strict]
 * [FILE]
 */
#include <inttypes.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the functions that are inlined there, too. */
static void print_frame(const struct sonde_frame *f, int inlined) {
    const char *symbol = sonde_frame_symbol(f), *image = sonde_frame_image(f), *slash;
    for (size_t i = 0; inlined && i + 1 < sonde_frame_functions(f); i++)
        printf("%16" PRIx64 " %s+0x%" PRIx64 " (inlined)\n\t", sonde_frame_address(f),
               sonde_frame_function(f, i, NULL, NULL), sonde_frame_symbol_offset(f));
    printf("%16" PRIx64 " ", sonde_frame_address(f));
    if (symbol)
        printf("%s+0x%" PRIx64, symbol, sonde_frame_symbol_offset(f));
    else if (sonde_frame_grade(f) == SONDE_STALE && image)
        printf("[stale] %s+0x%" PRIx64, (slash = strrchr(image, '/')) ? slash + 1 : image,
               sonde_frame_image_offset(f));
    else
        printf("[unknown]");
    printf(" (%s)\n", image ? image : "[unknown]");
}

static void print_sample(const struct sonde_record *r) {
    uint64_t pid, tid;
    int known = sonde_record_get(r, SONDE_PID, &pid);
    sonde_record_get(r, SONDE_TID, &tid);
    const char *comm = sonde_record_comm(r);
    if (comm)
        printf("%s", comm);
    else
        printf(":%" PRId32, known ? (int32_t)tid : -1);
    printf(" %" PRId32 "/%" PRId32 " %s:", known ? (int32_t)pid : -1, known ? (int32_t)tid : -1,
           sonde_record_event(r));
    if (sonde_record_chain(r) == SONDE_CHAIN_NONE) {
        printf(" ");
        if (sonde_record_frames(r))
            print_frame(sonde_record_frame(r, 0), 0);
        else
            printf("\n");
        return;
    }
    printf("\n");
    for (size_t i = 0; sonde_record_chain(r) == SONDE_CHAIN_READ && i < sonde_record_frames(r); i++) {
        printf("\t");
        print_frame(sonde_record_frame(r, i), 1);
    }
    printf("\n");
}

static int take_option(struct sonde_options *o, const char *name, const char *value) {
    if (!strcmp(name, "--symfs"))
        o->symfs = value;
    else if (!strcmp(name, "--buildid-dir"))
        o->build_id_cache = value;
    else if (!strcmp(name, "--kallsyms"))
        o->kallsyms = value;
    else if (!strcmp(name, "--jitdump-dir"))
        o->jitdump_dir = value;
    else if (!strcmp(name, "--max-stack"))
        o->max_stack = (unsigned)strtoul(value, NULL, 10);
    else
        return 0;
    return 1;
}

static int print_recording(const char *path, const struct sonde_options *o) {
    char error[256];
    struct sonde_session *s = sonde_open(path, o, error, sizeof error);
    if (!s) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    const struct sonde_record *r;
    while ((r = sonde_next(s)))
        if (sonde_record_type(r) == SONDE_RECORD_SAMPLE && sonde_record_event(r))
            print_sample(r);
    int status = sonde_error(s) ? (fprintf(stderr, "%s\n", sonde_error(s)), 1) : 0;
    sonde_close(s);
    return status;
}

int main(int argc, char **argv) {
    struct sonde_options o = {.size = sizeof o};
    int i = 1, status = 0;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--strict"))
            o.strict = 1;
        else if (i + 1 < argc && take_option(&o, argv[i], argv[i + 1]))
            i++;
        else
            return fprintf(stderr, "frames: what is %s?\n", argv[i]), 2;
    }
    if (i + 1 >= argc)
        return print_recording(i < argc ? argv[i] : "perf.data", &o);
    for (; i < argc; i++) {
        printf("==> %s <==\n", argv[i]);
        status |= print_recording(argv[i], &o);
    }
    return status;
}
