/* SPDX-License-Identifier: Apache-2.0 */
#include "os/bpf/bpf_object.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc/host.h"

/*
 * What the loader takes and gives, as libbpf's bpf_load_and_run and the structs of a light skeleton lay it
 * out: a head, each map, each program.
 */
struct loader_head {
    uint32_t bytes, flags, log_level, log_bytes;
    uint64_t log;
};
struct loader_map {
    int32_t fd;           /* out */
    uint32_t max_entries; /* in; 0: the code's */
    uint64_t start;       /* in: where its values lie; 0: in the loader's data */
};
struct loader_arguments {
    struct loader_head head;
    /* maps, then programs (int32_t each) */
    uint8_t rest[OS_BPF_MAPS_MAX * sizeof(struct loader_map) + OS_BPF_PROGRAMS_MAX * sizeof(int32_t)];
};

enum { LOG_BYTES = 1 << 20 };

static int call(const struct os_bpf_object *o, int command, union bpf_attr *attr) {
    return o->bpf->call(o->bpf->ctx, command, attr, sizeof *attr);
}

static void close_fd(const struct os_bpf_object *o, int *fd) {
    if (*fd >= 0)
        o->bpf->close(o->bpf->ctx, *fd);
    *fd = -1;
}

bool os_bpf_open(struct os_bpf_object *o, const struct os_bpf *bpf, const struct os_bpf_code *code,
                 struct err *e) {
    *o = (struct os_bpf_object){.bpf = bpf, .code = code};
    for (uint32_t i = 0; i < OS_BPF_MAPS_MAX; i++)
        o->maps[i].fd = -1;
    for (uint32_t i = 0; i < OS_BPF_PROGRAMS_MAX; i++)
        o->programs[i].fd = o->programs[i].link = -1;
    for (uint32_t i = 0; i < code->map_count; i++) {
        struct bytes start = code->maps[i].start;
        if (!start.size)
            continue;
        if (!(o->maps[i].data = malloc(start.size)))
            return err_memory(e, code->name);
        memcpy(o->maps[i].data, start.data, start.size);
    }
    return true;
}

void *os_bpf_data(struct os_bpf_object *o, uint32_t map) {
    return o->maps[map].data;
}

void os_bpf_set_entries(struct os_bpf_object *o, uint32_t map, uint32_t entries) {
    o->maps[map].entries = entries;
}

/* --- loading --- */

/* The map that the loader finds its data in. A descriptor, or a negative errno. */
static int make_data_map(const struct os_bpf_object *o) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = sizeof(uint32_t);
    attr.value_size = (uint32_t)o->code->data.size;
    attr.max_entries = 1;
    memcpy(attr.map_name, "__loader.map", sizeof "__loader.map");
    int fd = call(o, BPF_MAP_CREATE, &attr);
    if (fd < 0)
        return fd;
    uint32_t key = 0;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)fd;
    attr.key = (uintptr_t)&key;
    attr.value = (uintptr_t)o->code->data.data;
    int status = call(o, BPF_MAP_UPDATE_ELEM, &attr);
    if (status >= 0)
        return fd;
    close_fd(o, &fd);
    return status;
}

static int load_loader(const struct os_bpf_object *o, int data_fd) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_SYSCALL;
    attr.insns = (uintptr_t)o->code->insns.data;
    attr.insn_cnt = (uint32_t)(o->code->insns.size / sizeof(struct bpf_insn));
    attr.license = (uintptr_t) "Dual BSD/GPL";
    attr.fd_array = (uintptr_t)&data_fd;
    attr.prog_flags = BPF_F_SLEEPABLE;
    memcpy(attr.prog_name, "__loader.prog", sizeof "__loader.prog");
    return call(o, BPF_PROG_LOAD, &attr);
}

static void fill_arguments(const struct os_bpf_object *o, struct loader_arguments *a, char *log) {
    const struct os_bpf_code *code = o->code;
    memset(a, 0, sizeof *a);
    a->head.bytes = (uint32_t)(sizeof a->head + code->map_count * sizeof(struct loader_map) +
                               code->program_count * sizeof(int32_t));
    if (log) {
        a->head.log_level = 1;
        a->head.log_bytes = LOG_BYTES;
        a->head.log = (uintptr_t)log;
    }
    for (uint32_t i = 0; i < code->map_count; i++) {
        struct loader_map m = {.max_entries = o->maps[i].entries, .start = (uintptr_t)o->maps[i].data};
        memcpy(a->rest + i * sizeof m, &m, sizeof m);
    }
}

static void take_descriptors(struct os_bpf_object *o, const struct loader_arguments *a) {
    const struct os_bpf_code *code = o->code;
    const uint8_t *programs = a->rest + code->map_count * sizeof(struct loader_map);
    for (uint32_t i = 0; i < code->map_count; i++) {
        struct loader_map m;
        memcpy(&m, a->rest + i * sizeof m, sizeof m);
        o->maps[i].fd = m.fd > 0 ? m.fd : -1;
    }
    for (uint32_t i = 0; i < code->program_count; i++) {
        int32_t fd;
        memcpy(&fd, programs + i * sizeof fd, sizeof fd);
        o->programs[i].fd = fd > 0 ? fd : -1;
    }
}

enum step { STEP_DATA, STEP_LOADER, STEP_RUN };

/* Makes the loader and runs it. 0, or a negative errno of *step; `log`: LOG_BYTES for the verifier, or NULL.
 */
static int run_loader(struct os_bpf_object *o, char *log, enum step *step) {
    struct loader_arguments a;
    union bpf_attr attr;
    *step = STEP_DATA;
    int data_fd = make_data_map(o);
    if (data_fd < 0)
        return data_fd;
    *step = STEP_LOADER;
    int loader_fd = load_loader(o, data_fd), status = loader_fd;
    if (loader_fd >= 0) {
        *step = STEP_RUN;
        fill_arguments(o, &a, log);
        memset(&attr, 0, sizeof attr);
        attr.test.prog_fd = (uint32_t)loader_fd;
        attr.test.ctx_in = (uintptr_t)&a;
        attr.test.ctx_size_in = a.head.bytes;
        status = call(o, BPF_PROG_RUN, &attr);
        if (status >= 0)
            status = (int32_t)attr.test.retval < 0 ? (int32_t)attr.test.retval : 0;
        if (!status)
            take_descriptors(o, &a);
        close_fd(o, &loader_fd);
    }
    close_fd(o, &data_fd);
    return status;
}

/* Explains a failure, and names the remedy. Returns false. */
static bool explain(const struct os_bpf_object *o, int error, enum step step, struct err *e) {
    const char *name = o->code->name;
    if (error == EACCES && step == STEP_RUN) /* the loader was taken: this is no matter of rights */
        return err_set(e, ERR_UNSUPPORTED, name,
                       "this kernel's verifier refuses the BPF program, which Linux 6.18 takes");
    if (error == EPERM || error == EACCES)
        return os_host_root() ? err_set(e, ERR_PERMISSION, name,
                                        "the kernel refuses BPF programs even to root: it is locked down, or "
                                        "this is a container "
                                        "without CAP_BPF and CAP_PERFMON (%s)",
                                        strerror(error))
                              : err_set(e, ERR_PERMISSION, name,
                                        "the kernel refuses BPF programs: run as root, or with CAP_BPF and "
                                        "CAP_PERFMON");
    if (error == ENOSYS)
        return err_set(e, ERR_UNSUPPORTED, name, "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
    if (error == ENOMEM)
        return err_memory(e, name);
    if (!o->bpf->has_types(o->bpf->ctx))
        return err_set(
            e, ERR_UNSUPPORTED, name,
            "this kernel does not tell its types, which BPF programs are fitted by: it needs one built with "
            "CONFIG_DEBUG_INFO_BTF");
    if (step == STEP_LOADER && error == EINVAL)
        return err_set(e, ERR_UNSUPPORTED, name,
                       "this kernel's BPF is too old: it needs Linux 5.15 or newer");
    return err_set(
        e, ERR_UNSUPPORTED, name,
        "the kernel does not take this BPF program: %s; it may be older than the program (Linux 5.15)",
        strerror(error));
}

/* The verifier's last line that says something. */
static void append_log(const char *log, struct err *e) {
    const char *end = log + strnlen(log, LOG_BYTES - 1);
    for (;;) {
        while (end > log && (end[-1] == '\n' || end[-1] == ' '))
            end--;
        const char *start = end;
        while (start > log && start[-1] != '\n')
            start--;
        if (start == end)
            return;
        size_t used = strlen(e->message), n = (size_t)(end - start);
        if (memcmp(start, "processed ", n < 10 ? n : 10) == 0 && start > log) { /* statistics */
            end = start;
            continue;
        }
        if (used + 3 < sizeof e->message) {
            size_t room = sizeof e->message - used - 3;
            memcpy(e->message + used, ": ", 2);
            memcpy(e->message + used + 2, start, n < room ? n : room);
            e->message[used + 2 + (n < room ? n : room)] = '\0';
        }
        return;
    }
}

/* Shares .data and .bss with the programs. */
static bool share_data(struct os_bpf_object *o, struct err *e) {
    for (uint32_t i = 0; i < o->code->map_count; i++) {
        struct os_bpf_loaded_map *m = &o->maps[i];
        if (!m->data)
            continue;
        free(m->data);
        m->data = NULL;
        if (strcmp(o->code->maps[i].name, "rodata") == 0)
            continue;
        m->data = o->bpf->map(o->bpf->ctx, m->fd, 0, o->code->maps[i].start.size, true);
        m->mapped = m->data != NULL;
        if (!m->data)
            return err_set(e, ERR_IO, o->code->name, "the memory of a BPF program could not be mapped");
    }
    return true;
}

bool os_bpf_load(struct os_bpf_object *o, bool verbose, struct err *e) {
    enum step step;
    int status = run_loader(o, NULL, &step);
    if (status >= 0)
        return share_data(o, e);
    explain(o, -status, step, e);
    char *log = (verbose || status == -EACCES) && step == STEP_RUN && e ? calloc(1, LOG_BYTES) : NULL;
    if (log) { /* once more, for what the verifier says */
        if (run_loader(o, log, &step) < 0)
            append_log(log, e);
        else
            os_bpf_close(o);
        free(log);
    }
    return false;
}

/* --- running --- */

bool os_bpf_attach_to(struct os_bpf_object *o, uint32_t program, const char *tracepoint, struct err *e) {
    const struct os_bpf_program_row *row = &o->code->programs[program];
    struct os_bpf_loaded_program *p = &o->programs[program];
    union bpf_attr attr;
    int fd = -ENOENT;
    memset(&attr, 0, sizeof attr);
    if (row->attach == OS_BPF_ATTACH_ITER) {
        attr.link_create.prog_fd = (uint32_t)p->fd;
        attr.link_create.attach_type = BPF_TRACE_ITER;
        fd = call(o, BPF_LINK_CREATE, &attr);
    } else if (row->attach != OS_BPF_ATTACH_NONE) {
        attr.raw_tracepoint.name = (uintptr_t)tracepoint;
        attr.raw_tracepoint.prog_fd = (uint32_t)p->fd;
        fd = call(o, BPF_RAW_TRACEPOINT_OPEN, &attr);
    }
    if (fd < 0)
        return err_errno(e, -fd, o->code->name, "the BPF program %s cannot be attached", row->name);
    close_fd(o, &p->link);
    p->link = fd;
    return true;
}

bool os_bpf_attach_one(struct os_bpf_object *o, uint32_t program, struct err *e) {
    return os_bpf_attach_to(o, program, o->code->programs[program].tracepoint, e);
}

bool os_bpf_attach(struct os_bpf_object *o, struct err *e) {
    for (uint32_t i = 0; i < o->code->program_count; i++) {
        enum os_bpf_attach how = o->code->programs[i].attach;
        if ((how == OS_BPF_ATTACH_BTF || how == OS_BPF_ATTACH_RAW) && !os_bpf_attach_one(o, i, e))
            return false;
    }
    return true;
}

int os_bpf_attach_probe(const struct os_bpf_object *o, uint32_t program, int event, uint64_t cookie) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.link_create.prog_fd = (uint32_t)o->programs[program].fd;
    attr.link_create.target_fd = (uint32_t)event;
    attr.link_create.attach_type = BPF_PERF_EVENT;
    attr.link_create.perf_event.bpf_cookie = cookie;
    return call(o, BPF_LINK_CREATE, &attr);
}

int os_bpf_run_on(const struct os_bpf_object *o, uint32_t program, uint32_t cpu) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.test.prog_fd = (uint32_t)o->programs[program].fd;
    attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
    attr.test.cpu = cpu;
    return call(o, BPF_PROG_RUN, &attr);
}

void os_bpf_detach(struct os_bpf_object *o) {
    for (uint32_t i = 0; i < OS_BPF_PROGRAMS_MAX; i++)
        close_fd(o, &o->programs[i].link);
}

void os_bpf_close(struct os_bpf_object *o) {
    if (!o->bpf)
        return; /* never opened */
    os_bpf_detach(o);
    for (uint32_t i = 0; i < OS_BPF_PROGRAMS_MAX; i++)
        close_fd(o, &o->programs[i].fd);
    for (uint32_t i = 0; i < OS_BPF_MAPS_MAX; i++) {
        struct os_bpf_loaded_map *m = &o->maps[i];
        close_fd(o, &m->fd);
        if (m->mapped)
            o->bpf->unmap(o->bpf->ctx, m->data, o->code->maps[i].start.size);
        else
            free(m->data);
        m->data = NULL;
        m->mapped = false;
    }
}
