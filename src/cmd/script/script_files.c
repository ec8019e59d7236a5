/* SPDX-License-Identifier: Apache-2.0 */
/* --per-event-dump: each event's samples in a file of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/input.h"
#include "cmd/script/script.h"

static const char *name_of(const struct script *s, uint32_t event) {
    const char *name = s->recording.events->list.items[event].name;
    return name ? name : "unknown";
}

static char in_file_name(char c) {
    return c == '/' ? '_' : c;
}

/* Whether both names make the same file name. */
static bool same_file(const char *a, const char *b) {
    while (*a && in_file_name(*a) == in_file_name(*b))
        a++, b++;
    return in_file_name(*a) == in_file_name(*b);
}

static bool is_taken(const struct script *s, const char *path) {
    for (size_t i = 0; i < s->files.count; i++)
        if (s->files.items[i].path && !strcmp(s->files.items[i].path, path))
            return true;
    return false;
}

/* INPUT.EVENT.dump, from the second event of a name on INPUT.EVENT.2.dump; a name cannot lead into another
 * folder. Owned by the caller; NULL: out of memory. */
static char *path_of(const struct script *s, uint32_t event) {
    const char *input = input_path(s->o->input), *name = name_of(s, event);
    const char *folder_end = strrchr(input, '/');
    unsigned number = 1;
    char text[16] = "", *path = NULL;
    for (uint32_t i = 0; i < event; i++)
        number += same_file(name_of(s, i), name);
    do {
        free(path);
        if (number > 1)
            snprintf(text, sizeof text, ".%u", number);
        if (asprintf(&path, "%s.%s%s.dump", strcmp(input, "-") != 0 ? input : "stdin", name, text) < 0)
            return NULL;
        for (char *c = path + (folder_end ? folder_end - input + 1 : 0); *c; c++)
            *c = in_file_name(*c);
        number++;
    } while (is_taken(s, path));
    return path;
}

struct out *script_files_of(struct script *s, uint32_t event, struct err *err) {
    while (s->files.count <= event)
        if (!vec_push(&s->files)) {
            err_memory(err, "script");
            return NULL;
        }
    struct script_file *f = &s->files.items[event];
    if (f->path)
        return &f->out;
    f->path = path_of(s, event);
    if (!f->path) {
        err_memory(err, "script");
        return NULL;
    }
    f->sink.fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->sink.fd < 0) {
        err_errno(err, errno, f->path, "cannot write");
        return NULL;
    }
    if (!out_init(&f->out, command_write_fd, NULL)) {
        err_memory(err, "script");
        return NULL;
    }
    return &f->out;
}

bool script_files_close(struct script *s, struct err *err) {
    bool ok = true;
    for (size_t i = 0; i < s->files.count; i++) {
        struct script_file *f = &s->files.items[i];
        if (f->out.buf) {
            f->out.ctx = &f->sink;
            bool written = out_flush(&f->out);
            if (close(f->sink.fd) != 0 && written) {
                written = false;
                f->sink.errnum = errno;
            }
            if (!written && ok)
                ok = err_errno(err, f->sink.errnum, f->path, "cannot write");
            if (written)
                fprintf(stderr, "[ %s script: Wrote %.3f MB %s (%llu samples) ]\n", s->env->program,
                        (double)f->out.total / 1024 / 1024, f->path, (unsigned long long)f->samples);
            out_fini(&f->out);
        }
        free(f->path);
    }
    vec_fini(&s->files);
    return ok;
}
