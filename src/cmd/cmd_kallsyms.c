/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "cmd/common/command.h"
#include "format/kallsyms/kallsyms.h"
#include "os/proc/host.h"
#include "os/rights.h"
#include "recording/kernel/kernel_maps.h"

enum { PAGE = 4096 };

static const char PATH[] = "/proc/kallsyms";

struct kallsyms_options {
    int verbose;
};

static const struct option options[] = {
    OPTION_COUNT('v', "verbose", struct kallsyms_options, verbose, "be more verbose"),
    OPTION_END,
};

struct lookup {
    struct bytes text;       /* of /proc/kallsyms */
    struct kernel_maps maps; /* empty if they cannot be read */
    uint64_t *starts;        /* of all code symbols, ascending */
    size_t count;
    size_t not_found;
    struct out *out;
};

static bool is_code(const struct kallsyms_symbol *s) {
    return strchr("tTwW", s->type) && s->type;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the starts of all code symbols: a symbol ends where the next one begins. False: out of memory, or
 * (ERR_PERMISSION) addresses are hidden. */
static bool read_starts(struct lookup *l, struct err *err) {
    VEC(uint64_t) starts = {0};
    struct bytes rest = l->text;
    bool seen = false, ok = true;
    for (struct kallsyms_symbol s; ok && kallsyms_next(&rest, &s);) {
        uint64_t *slot = is_code(&s) ? vec_push(&starts) : NULL;
        seen |= s.address != 0;
        ok = slot || !is_code(&s);
        if (slot)
            *slot = s.address;
    }
    l->starts = starts.items;
    l->count = starts.count;
    if (!ok)
        return err_memory(err, PATH);
    if (!seen) {
        char advice[OS_RIGHTS_ROOM];
        return err_set(err, ERR_PERMISSION, PATH, "addresses are hidden: %s",
                       os_rights_show_addresses_here(advice));
    }
    qsort(l->starts, l->count, sizeof *l->starts, by_number);
    return true;
}

static uint64_t end_of(const struct lookup *l, uint64_t start) {
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->starts[middle] <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count ? l->starts[low] : (start / PAGE + 1) * PAGE;
}

static const struct kernel_map *map_at(const struct lookup *l, uint64_t address) {
    for (size_t i = 0; i < l->maps.list.count; i++)
        if (address >= l->maps.list.items[i].start && address < l->maps.list.items[i].end)
            return &l->maps.list.items[i];
    return NULL;
}

static void put_range(struct out *o, uint64_t start, uint64_t end) {
    out_str(o, "0x");
    out_hex(o, start, 0);
    out_str(o, "-0x");
    out_hex(o, end, 0);
}

static void print_symbol(const struct lookup *l, const struct kallsyms_symbol *s) {
    struct out *o = l->out;
    uint64_t end = end_of(l, s->address);
    const struct kernel_map *map = s->module.size ? map_at(l, s->address) : NULL;
    out_mem(o, (const char *)s->name.data, s->name.size);
    out_str(o, ": [");
    if (s->module.size)
        out_mem(o, (const char *)s->module.data, s->module.size);
    else
        out_str(o, "kernel");
    out_str(o, "] ");
    if (map) {
        out_str(o, map->path);
    } else if (s->module.size) {
        out_char(o, '[');
        out_mem(o, (const char *)s->module.data, s->module.size);
        out_char(o, ']');
    } else {
        out_str(o, "[kernel.kallsyms]");
    }
    out_char(o, ' ');
    put_range(o, s->address, end);
    uint64_t base = map ? map->start : 0;
    out_str(o, " (");
    put_range(o, s->address - base, end - base);
    out_str(o, ")\n");
}

/* Prints all symbols with that name: the kernel may have several. */
static void find(struct lookup *l, const char *name, size_t len) {
    struct bytes rest = l->text;
    bool found = false;
    for (struct kallsyms_symbol s; kallsyms_next(&rest, &s);)
        if (is_code(&s) && s.name.size == len && !memcmp(s.name.data, name, len)) {
            print_symbol(l, &s);
            found = true;
        }
    if (found)
        return;
    out_mem(l->out, name, len);
    out_str(l->out, ": not found\n");
    l->not_found++;
}

static int look_up(struct command_env *env, char **names) {
    struct writer text = writer_make(false);
    struct lookup l = {0};
    struct os_host host;
    struct err err = ERR_INIT, absent = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    os_host_read(&host);
    bool ok = os_files_real.read(os_files_real.ctx, PATH, &text, &err);
    l.text = writer_bytes(&text);
    if (!ok || !read_starts(&l, &err)) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        l.out = &out;
        if (!kernel_maps_read(&l.maps, &os_files_real, host.release, &absent))
            log_line(LOG_INFO, "%s: %s", absent.where, absent.message);
        for (; *names; names++)
            for (const char *at = *names; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strlen(at))
                find(&l, at, strcspn(at, ","));
        status = command_finish(env, &out, l.not_found ? EXIT_ERROR : EXIT_OK);
        kernel_maps_fini(&l.maps);
    }
    free(l.starts);
    writer_fini(&text);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct kallsyms_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (!argc)
        return command_usage(env, NULL);
    command_log(env, o.verbose, false);
    return look_up(env, argv);
}

const struct command cmd_kallsyms = {
    .name = "kallsyms",
    .summary = "Look up symbols of the running kernel",
    .usage = (const char *const[]){"kallsyms [<options>] symbol_name[,symbol_name...]", NULL},
    .options = options,
    .run = run,
};
