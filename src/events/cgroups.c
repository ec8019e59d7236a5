/* SPDX-License-Identifier: Apache-2.0 */
#include "events/cgroups.h"

#include <string.h>

struct word {
    const char *p;
    size_t n;
};

static struct word take(const char **p, const char *end) {
    struct word w = {*p, 0};
    while (*p < end && **p != ' ' && **p != '\n')
        ++*p;
    w.n = (size_t)(*p - w.p);
    *p += *p < end && **p == ' ';
    return w;
}

static bool is(struct word w, const char *text) {
    return w.n == strlen(text) && memcmp(w.p, text, w.n) == 0;
}

/* "DEVICE FOLDER TYPE OPTIONS 0 0" (proc_mounts(5)); a folder with odd characters in its name has them
 * escaped, and is not looked for. */
bool perf_cgroups_mount(const struct os_proc *proc, char *room, size_t cap) {
    struct writer text = writer_make(false);
    bool found = false, first = false;
    if (proc->read(proc->ctx, "/proc/self/mounts", &text, NULL) && text.size) {
        const char *p = (const char *)text.data, *end = p + text.size;
        while (p < end && !first) {
            const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
            take(&p, stop);
            struct word folder = take(&p, stop), type = take(&p, stop), options = take(&p, stop);
            first = is(type, "cgroup") && memmem(options.p, options.n, "perf_event", 10);
            if ((first || (!found && is(type, "cgroup2"))) && folder.n < cap) {
                memcpy(room, folder.p, folder.n);
                room[folder.n] = 0;
                found = true;
            }
            p = stop + 1;
        }
    }
    writer_fini(&text);
    return found;
}
