/* SPDX-License-Identifier: Apache-2.0 */
#include "os/run/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/poller.h"

static const char LIBRARY[] = "libdebuginfod.so.1";

/* Its interface, as debuginfod_find_debuginfo(3) gives it. A find function returns a descriptor or a negative
 * errno. */
typedef void client;
typedef int find_fn(client *c, const unsigned char *id, int id_bytes, char **path);
typedef int progress_fn(client *c, long a, long b);
typedef void *get_data_fn(client *c);

struct os_debuginfod {
    pthread_mutex_t lock;
    unsigned total_ms;
    uint64_t deadline_ns;
    void *library;
    client *client; /* NULL: not asked yet */
    client *(*begin)(void);
    void (*end)(client *c);
    void (*on_progress)(client *c, progress_fn *fn);
    void (*set_data)(client *c, void *data);
    find_fn *find[2];   /* by kind */
    struct err trouble; /* after it nobody is asked any more; no code: none */
};

struct os_debuginfod *os_debuginfod_new(const char *urls, unsigned total_ms, struct err *err) {
    struct os_debuginfod *d = calloc(1, sizeof *d);
    if (!d || pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        err_memory(err, "debuginfod");
        return NULL;
    }
    d->total_ms = total_ms;
    setenv("DEBUGINFOD_URLS", urls, 1);
    return d;
}

void os_debuginfod_free(struct os_debuginfod *d) {
    if (!d)
        return;
    if (d->client)
        d->end(d->client);
    /* Never unloaded: libcurl, which it brings along, may have started threads. */
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static bool is_late(const struct os_debuginfod *d) {
    return os_clock_ns() >= d->deadline_ns;
}

/* Finds a function of the library; false when it is too old to have it. */
static bool bind_function(const struct os_debuginfod *d, const char *name, void *function) {
    void *found = dlsym(d->library, name);
    memcpy(function, &found, sizeof found); /* dlsym(3): ISO C has no cast for it */
    return found;
}

/*
 * Called again and again while something is downloaded, with nothing to tell whose download it is but the
 * client; anything but 0 ends it. The library is loaded, so that its function is found without ours.
 */
static int check_deadline(client *c, long a, long b) {
    (void)a, (void)b;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    get_data_fn *get_data = NULL;
    void *found = library ? dlsym(library, "debuginfod_get_user_data") : NULL;
    memcpy(&get_data, &found, sizeof found);
    bool late = get_data && is_late(get_data(c));
    if (library)
        dlclose(library);
    return late;
}

static bool bind_library(struct os_debuginfod *d) {
    return bind_function(d, "debuginfod_begin", &d->begin) && bind_function(d, "debuginfod_end", &d->end) &&
           bind_function(d, "debuginfod_set_progressfn", &d->on_progress) &&
           bind_function(d, "debuginfod_set_user_data", &d->set_data) &&
           bind_function(d, "debuginfod_find_executable", &d->find[OS_DEBUGINFOD_EXECUTABLE]) &&
           bind_function(d, "debuginfod_find_debuginfo", &d->find[OS_DEBUGINFOD_DEBUGINFO]);
}

static bool load(struct os_debuginfod *d, struct err *err) {
    if (d->client)
        return true;
    d->library = d->library ? d->library : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!d->library || !bind_library(d))
        return err_set(err, ERR_UNSUPPORTED, "",
                       "libdebuginfod cannot be loaded: install the package libdebuginfod1");
    d->client = d->begin();
    if (!d->client)
        return err_memory(err, "debuginfod");
    d->set_data(d->client, d);
    d->on_progress(d->client, check_deadline);
    d->deadline_ns = os_clock_ns() + d->total_ms * UINT64_C(1000000);
    return true;
}

/* What a server answers for one file says nothing of the others, unlike these. */
static bool is_unreachable(int error) {
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
           error == ETIME;
}

static char *ask(struct os_debuginfod *d, struct bytes build_id, enum os_debuginfod_kind kind,
                 struct err *err) {
    char *path = NULL;
    if (!d->trouble.code)
        load(d, &d->trouble);
    if (d->trouble.code) {
        *err = d->trouble;
        return NULL;
    }
    int fd = is_late(d) ? -ETIME : d->find[kind](d->client, build_id.data, (int)build_id.size, &path);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    if (fd == -ENOENT)
        err_set(err, ERR_ABSENT, "", "no debuginfod server has it");
    else if (is_late(d))
        err_set(err, ERR_IO, "", "timed out after %u ms", d->total_ms);
    else
        err_errno(err, -fd, "", "debuginfod");
    if (is_late(d) || is_unreachable(-fd))
        d->trouble = *err;
    return NULL;
}

char *os_debuginfod_find(struct os_debuginfod *d, struct bytes build_id, enum os_debuginfod_kind kind,
                         struct err *err) {
    if (!build_id.size) {
        err_set(err, ERR_ABSENT, "", "without a build-id nothing can be downloaded");
        return NULL;
    }
    pthread_mutex_lock(&d->lock);
    char *path = ask(d, build_id, kind, err);
    pthread_mutex_unlock(&d->lock);
    return path;
}

const char *os_debuginfod_trouble(const struct os_debuginfod *d) {
    return d->trouble.code ? d->trouble.message : NULL;
}
