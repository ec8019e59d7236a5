/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "format/maps/maps.h"
#include "record/keep/identity.h"

enum {
    COMM_ROOM = 16,          /* TASK_COMM_LEN with its NUL; kernel threads' names are longer in /proc */
    KERNEL_THREAD = 1 << 21, /* PF_KTHREAD among the flags of /proc/PID/stat */
    NAME_MAX_TEXT = 80,
};
static const uint64_t VSYSCALL = 0xffffffffff600000; /* Documentation/arch/x86/x86_64/mm.rst */

/* What /proc/PID/stat tells (proc(5)). */
struct task {
    int32_t pid, ppid;
    char comm[COMM_ROOM];
    uint32_t flags, threads;
};

void record_tasks_init(struct record_tasks *t, const struct os_proc *proc, const struct record_sink *sink,
                       const struct record_options *o) {
    struct writer w = writer_make(false);
    *t = (struct record_tasks){
        .proc = proc,
        .sink = sink,
        .mappings = !o->no_mappings,
        .data = o->data_mmap || o->addresses,
        .build_ids = o->build_id_mmap,
        .namespaces = o->namespaces,
    };
    if (proc->read(proc->ctx, "/proc/self/maps", &w, NULL))
        t->vsyscall = memmem(w.data, w.size, "[vsyscall]", 10) != NULL;
    writer_fini(&w);
}

void record_tasks_fini(struct record_tasks *t) {
    writer_fini(&t->out);
    writer_fini(&t->scratch);
    hash_map_fini(&t->id_of);
    vec_fini(&t->ids);
    vec_fini(&t->tids);
}

/* A text in the room that it takes in a record: NUL-terminated, a multiple of 8. */
static struct bytes padded(char *room, size_t cap, const char *text) {
    size_t len = strnlen(text, cap - 8), size = (len + 8) & ~(size_t)7;
    if (room != text)
        memcpy(room, text, len);
    memset(room + len, 0, size - len);
    return (struct bytes){(const uint8_t *)room, size};
}

/* --- one task --- */

/*
 * "PID (COMM) STATE PPID ... FLAGS ..." : COMM may hold spaces and parentheses itself, so it ends at the last
 * one. Fields after it by number: 4 ppid, 9 flags, 20 num_threads.
 */
static bool parse_stat(struct bytes text, struct task *t) {
    char line[1024];
    size_t n = text.size < sizeof line - 1 ? text.size : sizeof line - 1;
    if (!n)
        return false;
    memcpy(line, text.data, n);
    line[n] = 0;
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    if (!open || !close || close < open)
        return false;
    size_t len = (size_t)(close - open) - 1;
    memset(t->comm, 0, sizeof t->comm);
    memcpy(t->comm, open + 1, len < COMM_ROOM - 1 ? len : COMM_ROOM - 1);
    unsigned field = 2;
    for (const char *p = close + 1; *p && field < 20; p++) {
        if (*p != ' ')
            continue;
        field++;
        if (field == 4)
            t->ppid = (int32_t)strtol(p + 1, NULL, 10);
        else if (field == 9)
            t->flags = (uint32_t)strtoul(p + 1, NULL, 10);
        else if (field == 20)
            t->threads = (uint32_t)strtoul(p + 1, NULL, 10);
    }
    return field == 20;
}

static bool read_task(struct record_tasks *t, int32_t pid, struct task *task) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    writer_clear(&t->scratch);
    if (!t->proc->read_once(t->proc->ctx, path, &t->scratch, NULL))
        return false;
    task->pid = pid;
    return parse_stat(writer_bytes(&t->scratch), task);
}

static void put_fork(struct record_tasks *t, int32_t pid, int32_t tid, int32_t parent) {
    if (!t->forks)
        return;
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_FORK,
        .misc = PERFDATA_MISC_FORK_EXEC, /* its mappings are not its parent's: they follow */
        .task = {(uint32_t)pid, (uint32_t)parent, (uint32_t)tid, (uint32_t)parent, 0},
    };
    record_sink_encode(t->sink, &rec, &t->out);
}

static void put_comm(struct record_tasks *t, int32_t pid, int32_t tid, const char comm[COMM_ROOM]) {
    char room[COMM_ROOM + 8];
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_COMM,
        .comm = {(uint32_t)pid, (uint32_t)tid, padded(room, sizeof room, comm)},
    };
    record_sink_encode(t->sink, &rec, &t->out);
}

/* In the order of the *_NS_INDEX of perf_event.h. */
static void put_namespaces(struct record_tasks *t, int32_t pid, int32_t tid) {
    static const char *const NAMES[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    enum { COUNT = sizeof NAMES / sizeof *NAMES };
    uint64_t links[2 * COUNT] = {0};
    char path[80];
    if (!t->namespaces)
        return;
    for (size_t i = 0; i < COUNT; i++) {
        struct os_identity id;
        snprintf(path, sizeof path, "/proc/%d/task/%d/ns/%s", (int)pid, (int)tid, NAMES[i]);
        if (t->proc->identity(t->proc->ctx, path, &id, NULL)) {
            links[2 * i] = id.dev;
            links[2 * i + 1] = id.ino;
        }
    }
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_NAMESPACES,
        .namespaces = {(uint32_t)pid, (uint32_t)tid, COUNT, {(const uint8_t *)links, 2 * COUNT, false}},
    };
    record_sink_encode(t->sink, &rec, &t->out);
}

/* --- build-ids --- */

static uint64_t file_key(const struct os_mapping *m) {
    return hash_bytes(m->name, strlen(m->name)) ^
           hash_u64(m->ino ^ (uint64_t)m->maj << 52 ^ (uint64_t)m->min << 40);
}

/* Where the kernel cannot say: from the very file that is mapped or, without the right to open that, from the
 * one that has its name in the process's root. */
static void open_build_id(struct record_tasks *t, int32_t pid, const struct os_mapping *m,
                          struct os_build_id *out) {
    char path[OS_MAPPING_NAME + 40];
    snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)m->start,
             (unsigned long long)m->end);
    if (record_identity_build_id(t->proc, path, out) || m->name[0] != '/')
        return;
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, m->name);
    struct os_identity id;
    if (t->proc->identity(t->proc->ctx, path, &id, NULL) && id.ino == m->ino)
        record_identity_build_id(t->proc, path, out);
}

/* The build-id of a mapped file, each file asked once. `handle`: of maps_open, -1 where there is none. */
static const struct os_build_id *build_id_of(struct record_tasks *t, int32_t pid, int handle,
                                             const struct os_mapping *m) {
    if (!t->build_ids || !m->ino || !(m->prot & PROT_EXEC))
        return NULL;
    uint64_t key = file_key(m);
    uint32_t at = hash_map_get(&t->id_of, key);
    if (at == HASH_ABSENT) {
        struct os_build_id *id = vec_push(&t->ids);
        at = (uint32_t)t->ids.count - 1;
        if (!id || !hash_map_set(&t->id_of, key, at)) {
            t->out.failed = true;
            return NULL;
        }
        if (handle >= 0)
            t->proc->maps_build_id(t->proc->ctx, handle, pid, m, id);
        else
            open_build_id(t, pid, m, id);
    }
    return t->ids.items[at].size ? &t->ids.items[at] : NULL;
}

/* --- mappings --- */

static void put_mapping(struct record_tasks *t, int32_t pid, int handle, struct os_mapping *m) {
    /* As the kernel's own records call what has no name, and what prctl(PR_SET_VMA_ANON_NAME) named. */
    if (!m->name[0] || strncmp(m->name, "[anon", 5) == 0)
        memcpy(m->name, "//anon", 7);
    const struct os_build_id *id = build_id_of(t, pid, handle, m);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP2,
        .misc = PERFDATA_MISC_USER,
        .mmap2 = {.pid = (uint32_t)pid,
                  .tid = (uint32_t)pid,
                  .addr = m->start,
                  .len = m->end - m->start,
                  .pgoff = m->offset,
                  .maj = m->maj,
                  .min = m->min,
                  .ino = m->ino,
                  .prot = m->prot,
                  .flags = m->flags},
    };
    if (id) {
        rec.misc |= PERFDATA_MISC_MMAP_BUILD_ID;
        rec.mmap2.has_build_id = true;
        rec.mmap2.build_id_size = id->size;
        memcpy(rec.mmap2.build_id, id->bytes, id->size);
    }
    if (!(m->prot & PROT_EXEC))
        rec.misc |= PERFDATA_MISC_MMAP_DATA;
    rec.mmap2.filename = padded(m->name, sizeof m->name, m->name);
    record_sink_encode(t->sink, &rec, &t->out);
}

/* By single queries, which cost a quarter of the text. False when this kernel has none. */
static bool query_mappings(struct record_tasks *t, int32_t pid) {
    const struct os_proc *p = t->proc;
    struct os_mapping m;
    uint64_t from = 0;
    int got = 0, handle = p->maps_open(p->ctx, pid);
    if (handle < 0) { /* ended, or not for us to see: the text would be no other */
        t->denied += handle == -EACCES || handle == -EPERM;
        return true;
    }
    bool any = false;
    while (from < UINT64_MAX && (got = p->maps_next(p->ctx, handle, from, !t->data, &m)) > 0) {
        any |= m.start > UINT32_MAX;
        from = m.end;
        put_mapping(t, pid, handle, &m);
    }
    p->maps_close(p->ctx, handle);
    t->no_query = got == -ENOTTY;
    if (any && t->vsyscall && !t->no_query) {
        m = (struct os_mapping){.start = VSYSCALL,
                                .end = VSYSCALL + 0x1000,
                                .prot = PROT_EXEC,
                                .flags = MAP_PRIVATE,
                                .name = "[vsyscall]"};
        put_mapping(t, pid, -1, &m);
    }
    return !t->no_query;
}

static void read_mappings(struct record_tasks *t, int32_t pid) {
    char path[40];
    struct maps_entry e;
    struct os_mapping m;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    writer_clear(&t->scratch);
    if (!t->proc->read(t->proc->ctx, path, &t->scratch, NULL))
        return;
    for (struct bytes rest = writer_bytes(&t->scratch); maps_next(&rest, &e);) {
        if (!t->data && !e.execute)
            continue;
        m = (struct os_mapping){
            .start = e.start,
            .end = e.end,
            .offset = e.offset,
            .ino = e.ino,
            .maj = e.maj,
            .min = e.min,
            .prot = (e.read ? PROT_READ : 0) | (e.write ? PROT_WRITE : 0) | (e.execute ? PROT_EXEC : 0),
            .flags = e.shared ? MAP_SHARED : MAP_PRIVATE,
        };
        maps_name(&e, m.name, sizeof m.name);
        put_mapping(t, pid, -1, &m);
    }
}

static void put_mappings(struct record_tasks *t, int32_t pid) {
    if (!t->mappings)
        return;
    t->asked++;
    if (t->no_query || !query_mappings(t, pid))
        read_mappings(t, pid);
}

/* --- processes --- */

static void put_threads(struct record_tasks *t, int32_t pid) {
    char path[NAME_MAX_TEXT], comm[COMM_ROOM];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    vec_clear(&t->tids);
    if (!t->proc->numbers(t->proc->ctx, path, &t->tids, NULL))
        return;
    for (size_t i = 0; i < t->tids.count; i++) {
        int32_t tid = t->tids.items[i];
        snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
        writer_clear(&t->scratch);
        if (tid == pid || !t->proc->read_once(t->proc->ctx, path, &t->scratch, NULL))
            continue;
        size_t n = t->scratch.size; /* ends in a newline of its own */
        n = n ? n - 1 : 0;
        memset(comm, 0, sizeof comm);
        memcpy(comm, n ? (const char *)t->scratch.data : "", n < COMM_ROOM - 1 ? n : COMM_ROOM - 1);
        put_fork(t, pid, tid, pid);
        put_namespaces(t, pid, tid);
        put_comm(t, pid, tid, comm);
    }
}

bool record_tasks_process(struct record_tasks *t, int32_t pid) {
    struct task task;
    if (read_task(t, pid, &task)) {
        put_fork(t, pid, pid, task.ppid);
        put_namespaces(t, pid, pid);
        put_comm(t, pid, pid, task.comm);
        if (!(task.flags & KERNEL_THREAD))
            put_mappings(t, pid);
        if (task.threads > 1)
            put_threads(t, pid);
    }
    return writer_ok(&t->out) && writer_ok(&t->scratch);
}

/* "Tgid:" of /proc/TID/status; 0 when the thread has ended. */
static int32_t process_of(struct record_tasks *t, int32_t tid) {
    static const char KEY[] = "\nTgid:";
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    writer_clear(&t->scratch);
    if (!t->proc->read_once(t->proc->ctx, path, &t->scratch, NULL))
        return 0;
    writer_u8(&t->scratch, 0);
    const char *line = writer_ok(&t->scratch) ? strstr((const char *)t->scratch.data, KEY) : NULL;
    return line ? (int32_t)strtol(line + sizeof KEY - 1, NULL, 10) : 0;
}

bool record_tasks_thread(struct record_tasks *t, int32_t tid) {
    struct task task;
    int32_t pid = process_of(t, tid);
    if (pid == tid)
        return record_tasks_process(t, pid);
    if (pid && read_task(t, tid, &task)) {
        put_namespaces(t, pid, tid);
        put_comm(t, pid, tid, task.comm);
        put_mappings(t, pid);
    }
    return writer_ok(&t->out) && writer_ok(&t->scratch);
}
