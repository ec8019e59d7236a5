/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files and folders of files, so that what fuzzing found once is tested by every
 * build. */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool replay(const char *path, unsigned depth, size_t *inputs);

static bool replay_folder(const char *path, unsigned depth, size_t *inputs) {
    DIR *dir = opendir(path);
    bool ok = dir != NULL;
    struct dirent *entry;
    while (ok && (entry = readdir(dir))) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        ok = replay(name, depth + 1, inputs);
    }
    if (dir)
        closedir(dir);
    return ok;
}

static bool replay(const char *path, unsigned depth, size_t *inputs) {
    struct stat st;
    if (depth > 8 || stat(path, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return replay_folder(path, depth, inputs);
    FILE *in = fopen(path, "rb");
    /* No spare byte: a sanitizer sees the first read after the end. */
    uint8_t *bytes = malloc(st.st_size ? (size_t)st.st_size : 1);
    bool ok = in && bytes && fread(bytes, 1, (size_t)st.st_size, in) == (size_t)st.st_size;
    if (ok)
        LLVMFuzzerTestOneInput(bytes, (size_t)st.st_size);
    *inputs += ok;
    free(bytes);
    if (in)
        fclose(in);
    return ok;
}

int main(int argc, char **argv) {
    size_t inputs = 0;
    for (int i = 1; i < argc; i++)
        if (!replay(argv[i], 0, &inputs)) {
            perror(argv[i]);
            return 1;
        }
    printf("%zu inputs\n", inputs);
    return inputs ? 0 : 1;
}
