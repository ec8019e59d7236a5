/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/script/script_dlfilter.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/writer.h"
#include "cmd/common/exec_path.h"
#include <perf/perf_dlfilter.h>

/* Filters built for perf know these layouts. */
_Static_assert(offsetof(struct perf_dlfilter_sample, cpu) == 96, "perf_dlfilter_sample");
_Static_assert(offsetof(struct perf_dlfilter_sample, machine_pid) == 200, "perf_dlfilter_sample");
_Static_assert(offsetof(struct perf_dlfilter_al, comm) == 72, "perf_dlfilter_al");
_Static_assert(sizeof(struct perf_dlfilter_fns) == 128 * sizeof(void *), "perf_dlfilter_fns");

typedef int filter_fn(void *data, const struct perf_dlfilter_sample *sample, void *ctx);

struct script_dlfilter {
    void *handle, *data;
    char name[256];
    struct script_dlfilter_world world;
    int (*stop)(void *data, void *ctx);
    filter_fn *filter, *filter_early;

    const struct script_sample *x; /* NULL outside of filter calls */
    struct perf_dlfilter_sample sample;
    VEC(uint64_t) chain;
    VEC(struct perf_branch_entry) branches;
    struct perf_dlfilter_al ip, addr;
    struct writer attr;
};

/* ---- what a filter can ask ---- */

static bool is_64_bit(const struct script_dlfilter *f, uint32_t image) {
    enum { CLASS = 4, CLASS_32 = 1 }; /* EI_CLASS, ELFCLASS32 */
    uint32_t id = resolve_names_store_id(f->world.print->names.names, image);
    if (id == UINT32_MAX)
        return true;
    struct bytes code = symbol_store_bytes(f->world.store, id).code;
    return code.size <= CLASS || code.data[CLASS] != CLASS_32;
}

static struct perf_dlfilter_al describe(struct script_dlfilter *f, const struct model_hit *hit) {
    static const uint8_t bindings[] = {
        [SYMBOL_LOCAL] = 0, [SYMBOL_GLOBAL] = 1, [SYMBOL_WEAK] = 2, [SYMBOL_UNIQUE] = 10}; /* STB_* */
    struct script_names *names = &f->world.print->names;
    struct perf_dlfilter_al al = {.size = sizeof al};
    al.is_kernel_ip = hit->space == MODEL_SPACE_KERNEL || hit->space == MODEL_SPACE_GUEST_KERNEL;
    if (hit->image == MODEL_NONE)
        return al;
    const struct model_image *image = model_image(names->model, hit->image);
    struct bytes build_id = model_image_build_id(names->model, image, NULL);
    uint64_t offset = 0;
    al.addr = hit->offset;
    al.dso = model_image_dso(names->model, image);
    al.buildid = (__u8 *)build_id.data;
    al.buildid_size = (__u32)build_id.size;
    al.sym = script_names_symbol(names, hit, &offset);
    al.is_64_bit = is_64_bit(f, hit->image);
    if (al.sym) {
        struct resolve_symbol s = script_names_symbol_id(names, hit);
        const struct symbol_table *table = resolve_names_table(names->names, s.image);
        al.symoff = (__u32)offset;
        al.sym_start = symbol_table_start(table, s.index);
        al.sym_end = symbol_table_end(table, s.index);
        al.sym_binding = bindings[symbol_table_bind(table, s.index)];
    }
    return al;
}

static const struct perf_dlfilter_al *resolve_ip(void *ctx) {
    struct script_dlfilter *f = ctx;
    struct model_hit hit;
    if (!f->x)
        return NULL;
    script_print_locate(f->world.print, f->x, &hit);
    f->ip = describe(f, &hit);
    f->ip.comm = model_comm(f->world.print->model, f->x->s->pid, f->x->s->tid, f->x->when, NULL);
    return &f->ip;
}

static const struct perf_dlfilter_al *resolve_addr(void *ctx) {
    struct script_dlfilter *f = ctx;
    struct model_hit hit;
    if (!f->x || !f->sample.addr_correlates_sym)
        return NULL;
    script_print_locate_address(f->world.print, f->x, f->x->s->addr, &hit);
    f->addr = describe(f, &hit);
    return &f->addr;
}

static char **args(void *ctx, int *dlargc) {
    struct script_dlfilter *f = ctx;
    *dlargc = (int)f->world.args->count;
    return (char **)f->world.args->items;
}

static __s32 resolve_address(void *ctx, __u64 address, struct perf_dlfilter_al *al) {
    struct script_dlfilter *f = ctx;
    struct model_hit hit;
    if (!f->x)
        return -1;
    script_print_locate_address(f->world.print, f->x, address, &hit);
    struct perf_dlfilter_al full = describe(f, &hit);
    /* A filter may know fewer members than we do, or more. */
    uint32_t size = al->size;
    if (size > sizeof full)
        memset(al, 0, size);
    memcpy(al, &full, size < sizeof full ? size : sizeof full);
    al->size = size;
    return 0;
}

static void al_cleanup(void *ctx, struct perf_dlfilter_al *al) {
    (void)ctx, (void)al; /* nothing was allocated */
}

static const __u8 *insn(void *ctx, __u32 *length) {
    struct script_dlfilter *f = ctx;
    struct bytes code = f->x ? script_print_insn(f->world.print, f->x) : (struct bytes){NULL, 0};
    *length = (__u32)code.size;
    return code.size ? code.data : NULL;
}

static const char *srcline(void *ctx, __u32 *line_number) {
    struct script_dlfilter *f = ctx;
    struct script_names *names = &f->world.print->names;
    struct model_hit hit;
    struct object_line line;
    *line_number = 0;
    if (!f->x || !names->lines || !script_print_locate(f->world.print, f->x, &hit) ||
        !resolve_lines_find(names->lines, hit.image, hit.offset, &line))
        return NULL;
    *line_number = line.line;
    return resolve_lines_file(&line, true);
}

static struct perf_event_attr *attr(void *ctx) {
    struct script_dlfilter *f = ctx;
    if (!f->x)
        return NULL;
    writer_clear(&f->attr);
    perfdata_attr_encode(&f->world.print->events->list.items[f->x->event].attr, &f->attr);
    /* The filter may know more members than were recorded. */
    if (f->attr.size < sizeof(struct perf_event_attr))
        writer_zero(&f->attr, sizeof(struct perf_event_attr) - f->attr.size);
    return f->attr.failed ? NULL : (struct perf_event_attr *)(void *)f->attr.data;
}

static __s32 object_code(void *ctx, __u64 ip, void *buf, __u32 len) {
    struct script_dlfilter *f = ctx;
    struct model_hit hit;
    if (!f->x || !script_print_locate_address(f->world.print, f->x, ip, &hit))
        return -1;
    script_names_symbol_id(&f->world.print->names, &hit); /* so that the file is there */
    uint32_t id = resolve_names_store_id(f->world.print->names.names, hit.image);
    struct bytes code =
        id == UINT32_MAX ? (struct bytes){NULL, 0} : symbol_store_bytes(f->world.store, id).code;
    uint8_t kind = model_image(f->world.print->model, hit.image)->kind;
    if ((kind != MODEL_IMAGE_FILE && kind != MODEL_IMAGE_VDSO) || hit.offset >= code.size)
        return -1;
    uint64_t left = code.size - hit.offset;
    len = len < left ? len : (__u32)left;
    memcpy(buf, code.data + hit.offset, len);
    return (__s32)len;
}

static const struct perf_dlfilter_fns functions = {
    .resolve_ip = resolve_ip,
    .resolve_addr = resolve_addr,
    .args = args,
    .resolve_address = resolve_address,
    .insn = insn,
    .srcline = srcline,
    .attr = attr,
    .object_code = object_code,
    .al_cleanup = al_cleanup,
};

/* ---- loading ---- */

/* Where filters are looked for, first to last. False: no more. */
static bool filter_folder(size_t i, char *path, size_t size) {
    enum { HERE, GIVEN, OWN, COUNT };
    const char *given = exec_path_given();
    char own[PATH_MAX];
    exec_path_own_filters(own, sizeof own);
    *path = 0;
    if (i == HERE)
        snprintf(path, size, ".");
    else if (i == GIVEN && given)
        snprintf(path, size, "%s/dlfilters", given);
    if (i == GIVEN && strcmp(path, own) == 0)
        *path = 0; /* they are our own */
    if (i == OWN)
        snprintf(path, size, "%s", own);
    return i < COUNT;
}

static void *load(const char *name) {
    char folder[PATH_MAX + 64], path[PATH_MAX + 512];
    if (strchr(name, '/'))
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; filter_folder(i, folder, sizeof folder); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (*folder && access(path, R_OK) == 0)
            return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

struct script_dlfilter *script_dlfilter_open(const char *name, const struct script_dlfilter_world *world,
                                             struct err *err) {
    struct script_dlfilter *f = calloc(1, sizeof *f);
    if (!f) {
        err_memory(err, "--dlfilter");
        return NULL;
    }
    snprintf(f->name, sizeof f->name, "%s", name);
    f->world = *world;
    f->handle = load(name);
    if (!f->handle) {
        const char *why = dlerror();
        err_set(err, ERR_ABSENT, "--dlfilter", "cannot load the filter: %s", why ? why : name);
        free(f);
        return NULL;
    }
    int (*start)(void **, void *);
    *(void **)&start = dlsym(f->handle, "start");
    *(void **)&f->stop = dlsym(f->handle, "stop");
    *(void **)&f->filter = dlsym(f->handle, "filter_event");
    *(void **)&f->filter_early = dlsym(f->handle, "filter_event_early");
    struct perf_dlfilter_fns *fns = dlsym(f->handle, "perf_dlfilter_fns");
    if (fns)
        *fns = functions;
    int status = start ? start(&f->data, f) : 0;
    if (!status)
        return f;
    err_set(err, ERR_IO, "--dlfilter", "%s gave up at its start with %d", name, status);
    f->stop = NULL;
    script_dlfilter_close(f, NULL);
    return NULL;
}

/* What a filter prints with stdio stands after what was shown before. */
static void keep_order(struct script_dlfilter *f) {
    if (__fpending(stdout) && out_flush(f->world.print->out))
        fflush(stdout);
}

bool script_dlfilter_close(struct script_dlfilter *f, struct err *err) {
    if (!f)
        return true;
    f->x = NULL;
    int status = f->stop ? f->stop(f->data, f) : 0;
    keep_order(f);
    if (status)
        err_set(err, ERR_IO, "--dlfilter", "%s gave up at its end with %d", f->name, status);
    dlclose(f->handle);
    vec_fini(&f->chain);
    vec_fini(&f->branches);
    writer_fini(&f->attr);
    free(f);
    return status == 0;
}

/* ---- samples ---- */

/* The lists, in host order and aligned. False: out of memory. */
static bool copy_lists(struct script_dlfilter *f) {
    const struct perfdata_sample *s = f->x->s;
    bool has_chain = s->have & PERFDATA_SAMPLE_CALLCHAIN,
         has_branches = s->have & PERFDATA_SAMPLE_BRANCH_STACK;
    uint64_t chain = has_chain ? s->callchain.count : 0, branches = has_branches ? s->branch_count : 0;
    vec_clear(&f->chain);
    vec_clear(&f->branches);
    if (!vec_reserve(&f->chain, chain) || !vec_reserve(&f->branches, branches))
        return false;
    for (uint64_t i = 0; i < chain; i++)
        *vec_push(&f->chain) = perfdata_u64_at(&s->callchain, i);
    f->branches.count = branches;
    for (uint64_t i = 0; i < branches; i++) {
        struct perfdata_branch b = perfdata_branch_at(s, i);
        uint64_t words[3] = {b.from, b.to, b.flags};
        memcpy(&f->branches.items[i], words, sizeof words);
    }
    return true;
}

static void fill(struct script_dlfilter *f) {
    const struct perfdata_sample *s = f->x->s;
    const struct perfdata_event *e = &f->world.print->events->list.items[f->x->event];
    uint64_t have = s->have,
             none = UINT64_MAX; /* as in perf 7.2, observed: an id is -1 where there is none */
#define HAVE(bit, value) (have & PERFDATA_SAMPLE_##bit ? (value) : 0)
    f->sample = (struct perf_dlfilter_sample){
        .size = sizeof f->sample,
        .ins_lat = HAVE(WEIGHT_STRUCT, s->ins_lat),
        .p_stage_cyc = HAVE(WEIGHT_STRUCT, s->weight3),
        .ip = HAVE(IP, s->ip),
        .pid = (int32_t)s->pid,
        .tid = (int32_t)s->tid,
        .time = s->time,
        .addr = HAVE(ADDR, s->addr),
        .id = have & PERFDATA_SAMPLE_IDENTIFIER ? s->identifier
              : have & PERFDATA_SAMPLE_ID       ? s->id
                                                : none,
        .stream_id = have & PERFDATA_SAMPLE_STREAM_ID ? s->stream_id : none,
        .period = have & PERFDATA_SAMPLE_PERIOD ? s->period : e->attr.sample_period,
        .weight = have & (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT) ? s->weight : 0,
        .transaction = HAVE(TRANSACTION, s->transaction),
        .cpu = (int32_t)s->cpu,
        .data_src = HAVE(DATA_SRC, s->data_src),
        .phys_addr = HAVE(PHYS_ADDR, s->phys_addr),
        .data_page_size = HAVE(DATA_PAGE_SIZE, s->data_page_size),
        .code_page_size = HAVE(CODE_PAGE_SIZE, s->code_page_size),
        .cgroup = HAVE(CGROUP, s->cgroup),
        .cpumode = f->x->misc & PERFDATA_MISC_CPUMODE_MASK,
        .addr_correlates_sym = have & PERFDATA_SAMPLE_ADDR && script_print_addr_named(&e->attr),
        .misc = f->x->misc,
        .raw_size = (uint32_t)HAVE(RAW, s->raw.size),
        .raw_data = have & PERFDATA_SAMPLE_RAW ? s->raw.data : NULL,
        .brstack_nr = f->branches.count,
        .brstack = f->branches.items,
        .raw_callchain_nr = f->chain.count,
        .raw_callchain = (const __u64 *)f->chain.items,
        .event = e->name ? e->name : "unknown",
        .vcpu = -1,
    };
#undef HAVE
}

bool script_dlfilter_ask(struct script_dlfilter *f, bool early, const struct script_sample *x, bool *keep,
                         struct err *err) {
    filter_fn *fn = early ? f->filter_early : f->filter;
    *keep = true;
    if (!fn)
        return true;
    f->x = x;
    if (!copy_lists(f))
        return err_memory(err, "--dlfilter");
    fill(f);
    int answer = fn(f->data, &f->sample, f);
    f->x = NULL;
    keep_order(f);
    *keep = answer == 0;
    return answer >= 0 || err_set(err, ERR_IO, "--dlfilter", "%s gave up with %d", f->name, answer);
}

/* ---- the list ---- */

static void list_one(struct out *out, const char *path, const char *name, bool verbose) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *(*about)(const char **) = NULL;
    if (!handle)
        return;
    *(void **)&about = dlsym(handle, "filter_description");
    if (about || dlsym(handle, "filter_event") || dlsym(handle, "filter_event_early")) {
        const char *more = NULL, *text = about ? about(&more) : "";
        out_str(out, "  ");
        out_left(out, name, strlen(name), 36);
        out_char(out, ' ');
        out_str(out, text ? text : "");
        out_char(out, '\n');
        if (verbose && more) {
            out_str(out, more);
            out_char(out, '\n');
        }
    }
    dlclose(handle);
}

bool script_dlfilter_list(struct out *out, bool verbose) {
    char folder[PATH_MAX + 64], path[PATH_MAX + 512];
    out_str(out, "List of available dlfilters:\n");
    for (size_t i = 0; filter_folder(i, folder, sizeof folder); i++) {
        DIR *d = *folder ? opendir(folder) : NULL;
        struct dirent *e;
        while (d && (e = readdir(d))) {
            size_t n = strlen(e->d_name);
            snprintf(path, sizeof path, "%.*s/%s", PATH_MAX, folder, e->d_name);
            if (n > 3 && strcmp(e->d_name + n - 3, ".so") == 0)
                list_one(out, path, e->d_name, verbose);
        }
        if (d)
            closedir(d);
    }
    return true;
}
