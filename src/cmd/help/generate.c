/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the build, not installed: writes manual pages and completion
 * scripts from the same tables that parse the command line.
 *
 *     sonde-generate man TEXTS DIRECTORY     DIRECTORY/sonde.1, DIRECTORY/sonde-CMD.1
 *     sonde-generate bash|zsh|fish FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/command.h"
#include "cmd/help/completion.h"
#include "cmd/help/manpage.h"

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* A small file as a string; NULL when there is none: the tables alone make a page too. */
static char *read_text(const char *path) {
    enum { TEXT_MAX = 1 << 20 };
    FILE *f = fopen(path, "r");
    if (!f && errno == ENOENT)
        return NULL;
    char *text = malloc(TEXT_MAX);
    if (!f || !text)
        die(path);
    text[fread(text, 1, TEXT_MAX - 1, f)] = 0;
    fclose(f);
    return text;
}

static void save(const char *path, struct out *o) {
    struct command_sink sink = {.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)};
    if (o->failed || sink.fd < 0 || !command_write_fd(&sink, out_text(o), o->len) || close(sink.fd) != 0)
        die(path);
    out_fini(o);
}

static struct out start(void) {
    struct out o;
    if (!out_init(&o, NULL, NULL))
        die("memory");
    return o;
}

static void make_man(const char *texts, const char *directory) {
    char path[4096];
    if (mkdir(directory, 0755) != 0 && errno != EEXIST)
        die(directory);
    for (size_t i = 0; command_table[i]; i++) {
        struct out o = start();
        snprintf(path, sizeof path, "%s/sonde-%s.md", texts, command_table[i]->name);
        char *text = read_text(path);
        manpage_command(&o, command_table[i], text);
        free(text);
        snprintf(path, sizeof path, "%s/sonde-%s.1", directory, command_table[i]->name);
        save(path, &o);
    }
    struct out o = start();
    snprintf(path, sizeof path, "%s/sonde.md", texts);
    char *text = read_text(path);
    manpage_program(&o, text);
    free(text);
    snprintf(path, sizeof path, "%s/sonde.1", directory);
    save(path, &o);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*make)(struct out *);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    if (argc == 4 && strcmp(argv[1], "man") == 0) {
        make_man(argv[2], argv[3]);
        return 0;
    }
    for (size_t i = 0; argc == 3 && i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(argv[1], shells[i].name) != 0)
            continue;
        struct out o = start();
        shells[i].make(&o);
        save(argv[2], &o);
        return 0;
    }
    fprintf(stderr, "usage: sonde-generate man TEXTS DIRECTORY | bash|zsh|fish FILE\n");
    return 1;
}
