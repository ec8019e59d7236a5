/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells profilers (sonde, perf) of code that your program makes at run time. Copy this header into a runtime
 * or JIT compiler; it needs nothing but Linux and a C99 or C++11 compiler.
 *
 *     struct sonde_jitdump dump;
 *     if (sonde_jitdump_open(&dump, NULL) == 0) {              // /tmp/jit-PID.dump
 *         uint64_t id = sonde_jitdump_load(&dump, code, size, "my_function", NULL, 0);
 *         ...
 *         sonde_jitdump_move(&dump, id, code, elsewhere, size); // when it was moved
 *         sonde_jitdump_close(&dump);
 *     }
 *
 *     sonde record -k mono -g ./program && sonde report
 *
 * Announce code before it first runs, and say so when it moves; code that is overwritten needs no word but
 * the announcement of what is there now. Every function may be called by any thread at any time between open
 * and close: a record is one write to a file that is only appended to. After a fork the child must open a
 * dump of its own. Times are CLOCK_MONOTONIC: record with `-k mono`, or with sonde, which finds the
 * difference.
 */
#ifndef SONDE_JITDUMP_H
#define SONDE_JITDUMP_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_jitdump {
    int fd;
    void *marker; /* a mapped page of the file: the map record of it tells profilers where the dump is */
    size_t marker_size;
    uint64_t next_index;
};

/* The code from `address` up to the address of the next element comes from this line. */
struct sonde_jitdump_line {
    const void *address;
    uint32_t line, column; /* from 1; column 0: not known */
    const char *file;
};

static inline uint64_t sonde_jitdump_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the EM_* value (elf.h) of the code that this compiler makes; 0 where it is not known. */
static inline uint32_t sonde_jitdump_machine(void) {
#if defined(__x86_64__)
    return 62;
#elif defined(__aarch64__)
    return 183;
#elif defined(__i386__)
    return 3;
#elif defined(__arm__)
    return 40;
#elif defined(__riscv)
    return 243;
#elif defined(__powerpc64__)
    return 21;
#elif defined(__s390x__)
    return 22;
#elif defined(__loongarch__)
    return 258;
#else
    return 0;
#endif
}

/* Writes all parts as one record. Returns 0 or an errno value. A record that was written in part makes the
 * rest of the file unreadable: after an error, stop. */
static inline int sonde_jitdump_write(struct sonde_jitdump *d, struct iovec *parts, int count) {
    while (count) {
        ssize_t n = writev(d->fd, parts, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        for (; count && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (count) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
    return 0;
}

/* Creates `directory`/jit-PID.dump (NULL: /tmp). Returns 0 or an errno value; only after 0 may the other
 * functions be called. */
static inline int sonde_jitdump_open(struct sonde_jitdump *d, const char *directory) {
    struct {
        uint32_t magic, version, size, machine, pad, pid;
        uint64_t time, flags;
    } header = {0x4a695444u, 1, 40, 0, 0, 0, 0, 0};
    struct iovec part;
    char path[4096];
    int error, n;
    memset(d, 0, sizeof *d);
    d->fd = -1;
    n = snprintf(path, sizeof path, "%s/jit-%ld.dump", directory ? directory : "/tmp", (long)getpid());
    if (n < 0 || (size_t)n >= sizeof path)
        return ENAMETOOLONG;
    (void)unlink(path); /* may be another user's, or that user's link: never write through it */
    d->fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0644);
    if (d->fd < 0)
        return errno;
    header.machine = sonde_jitdump_machine();
    header.pid = (uint32_t)getpid();
    header.time = sonde_jitdump_now();
    part.iov_base = &header;
    part.iov_len = sizeof header;
    error = sonde_jitdump_write(d, &part, 1);
    d->marker_size = (size_t)sysconf(_SC_PAGESIZE);
    d->marker = error ? MAP_FAILED : mmap(NULL, d->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, d->fd, 0);
    if (d->marker == MAP_FAILED) {
        error = error ? error : errno;
        close(d->fd);
    }
    return error;
}

/*
 * Calls that were inlined into a function. The code from each place up to the next has `depth` frames,
 * numbers `first` and following, innermost first; the last is the function itself. `line` is that of the code
 * in the innermost frame, and that of the call in all others. Readers other than sonde ignore this.
 */
struct sonde_jitdump_source {
    const char *name, *file;
};
struct sonde_jitdump_frame {
    uint32_t source, line; /* source: index into sources */
};
struct sonde_jitdump_place {
    const void *address; /* ascending */
    uint32_t first, depth;
};
struct sonde_jitdump_inlines {
    const struct sonde_jitdump_source *sources;
    const struct sonde_jitdump_place *places;
    const struct sonde_jitdump_frame *frames;
    uint32_t source_count, place_count, frame_count;
};

/* The code to announce, already complete and at its final address. Set what is not known to 0. */
struct sonde_jitdump_code {
    const void *address;
    size_t size;
    const char *name;
    const struct sonde_jitdump_line *lines; /* ascending by address */
    size_t line_count;
    /* How to unwind out of the code, for profilers that record stacks: what .eh_frame would hold for this
     * function alone, relocated as if it followed the code at the next multiple of 8 bytes; and
     * .eh_frame_hdr. Code that keeps frame pointers needs neither. */
    const void *eh_frame, *eh_frame_hdr;
    size_t eh_frame_size, eh_frame_hdr_size;
    const struct sonde_jitdump_inlines *inlines; /* NULL: not known */
};

/* Allocates a buffer for a record that is made of many parts; MAP_FAILED: no memory. Uses mmap, since the
 * caller may be in the middle of a memory manager of its own. */
static inline void *sonde_jitdump_room(size_t size) {
    return size > UINT32_MAX ? MAP_FAILED
                             : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Writes the inlined calls. Returns 0 or an errno value; 0, too, if there is no memory to write them. */
static inline int sonde_jitdump_write_inlines(struct sonde_jitdump *d, const struct sonde_jitdump_code *code,
                                              uint64_t now) {
    struct {
        uint32_t id, size;
        uint64_t time, code_addr;
        uint32_t source_count, place_count, frame_count, padding;
    } head;
    struct {
        uint64_t address;
        uint32_t first, depth;
    } place;
    const struct sonde_jitdump_inlines *in = code->inlines;
    size_t total = sizeof head + 16 * (size_t)in->place_count + 8 * (size_t)in->frame_count, at = sizeof head;
    struct iovec part;
    char *record;
    uint32_t i;
    int error;
    for (i = 0; i < in->source_count; i++)
        total += strlen(in->sources[i].name) + strlen(in->sources[i].file) + 2;
    total = (total + 7) / 8 * 8;
    record = (char *)sonde_jitdump_room(total);
    if (record == (char *)MAP_FAILED)
        return 0;
    memset(&head, 0, sizeof head);
    head.id = 0x534f4e31; /* described in sonde's docs/FORMAT.md */
    head.size = (uint32_t)total;
    head.time = now;
    head.code_addr = (uint64_t)(uintptr_t)code->address;
    head.source_count = in->source_count;
    head.place_count = in->place_count;
    head.frame_count = in->frame_count;
    memcpy(record, &head, sizeof head);
    for (i = 0; i < in->place_count; i++, at += sizeof place) {
        place.address = (uint64_t)(uintptr_t)in->places[i].address;
        place.first = in->places[i].first;
        place.depth = in->places[i].depth;
        memcpy(record + at, &place, sizeof place);
    }
    for (i = 0; i < in->frame_count; i++, at += 8) {
        memcpy(record + at, &in->frames[i].source, 4);
        memcpy(record + at + 4, &in->frames[i].line, 4);
    }
    for (i = 0; i < in->source_count; i++) {
        size_t name = strlen(in->sources[i].name) + 1, file = strlen(in->sources[i].file) + 1;
        memcpy(record + at, in->sources[i].name, name);
        memcpy(record + at + name, in->sources[i].file, file);
        at += name + file;
    }
    part.iov_base = record;
    part.iov_len = total;
    error = sonde_jitdump_write(d, &part, 1);
    munmap(record, total);
    return error;
}

/* Writes the lines of a function. Returns 0 or an errno value; 0, too, if there is no memory to write them.
 */
static inline int sonde_jitdump_write_lines(struct sonde_jitdump *d, const struct sonde_jitdump_code *code,
                                            uint64_t now) {
    struct {
        uint32_t id, size;
        uint64_t time, code_addr, count;
    } debug;
    struct iovec part;
    size_t total = sizeof debug, at = sizeof debug, i;
    char *record;
    int error;
    for (i = 0; i < code->line_count; i++)
        total += 16 + strlen(code->lines[i].file) + 1;
    record = (char *)sonde_jitdump_room(total);
    if (record == (char *)MAP_FAILED)
        return 0;
    memset(&debug, 0, sizeof debug);
    debug.id = 2;
    debug.size = (uint32_t)total;
    debug.time = now;
    debug.code_addr = (uint64_t)(uintptr_t)code->address;
    debug.count = code->line_count;
    memcpy(record, &debug, sizeof debug);
    for (i = 0; i < code->line_count; i++) {
        const struct sonde_jitdump_line *l = &code->lines[i];
        uint64_t address = (uint64_t)(uintptr_t)l->address;
        size_t n = strlen(l->file) + 1;
        memcpy(record + at, &address, 8);
        memcpy(record + at + 8, &l->line, 4);
        memcpy(record + at + 12, &l->column, 4);
        memcpy(record + at + 16, l->file, n);
        at += 16 + n;
    }
    part.iov_base = record;
    part.iov_len = total;
    error = sonde_jitdump_write(d, &part, 1);
    munmap(record, total);
    return error;
}

static inline struct iovec sonde_jitdump_part(const void *data, size_t size) {
    struct iovec part;
    part.iov_base = (void *)(uintptr_t)data;
    part.iov_len = size;
    return part;
}

/* Announces a function. Returns its number for sonde_jitdump_move, or 0 if it could not be written (errno
 * says why). */
static inline uint64_t sonde_jitdump_announce(struct sonde_jitdump *d,
                                              const struct sonde_jitdump_code *code) {
    static const char zeros[8] = {0};
    struct {
        uint32_t id, size;
        uint64_t time, unwind_size, hdr_size, mapped_size;
    } unwind;
    struct {
        uint32_t id, size;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, code_addr, code_size, code_index;
    } load;
    struct iovec parts[7];
    size_t name_size = strlen(code->name) + 1, tables = code->eh_frame_hdr_size + code->eh_frame_size;
    uint64_t index = __atomic_add_fetch(&d->next_index, 1, __ATOMIC_RELAXED);
    int error = 0, n = 0;
    memset(&load, 0, sizeof load);
    memset(&unwind, 0, sizeof unwind);
    if (code->size > UINT32_MAX / 2 || name_size > UINT32_MAX / 4 || tables > UINT32_MAX / 2) {
        errno = EFBIG;
        return 0;
    }
    load.time = unwind.time = sonde_jitdump_now();
    if (code->line_count)
        error = sonde_jitdump_write_lines(d, code, load.time);
    if (code->inlines && !error)
        error = sonde_jitdump_write_inlines(d, code, load.time);
    if (code->eh_frame_size) { /* this record names no function: it applies to the next load record */
        unwind.id = 4;
        unwind.unwind_size = tables;
        unwind.hdr_size = code->eh_frame_hdr_size;
        unwind.size = (uint32_t)(sizeof unwind + (tables + 7) / 8 * 8);
        parts[n++] = sonde_jitdump_part(&unwind, sizeof unwind);
        parts[n++] = sonde_jitdump_part(code->eh_frame_hdr, code->eh_frame_hdr_size);
        parts[n++] = sonde_jitdump_part(code->eh_frame, code->eh_frame_size);
        parts[n++] = sonde_jitdump_part(zeros, (tables + 7) / 8 * 8 - tables);
    }
    load.size = (uint32_t)(sizeof load + name_size + code->size);
    load.pid = (uint32_t)getpid();
    load.tid = (uint32_t)syscall(SYS_gettid);
    load.vma = load.code_addr = (uint64_t)(uintptr_t)code->address;
    load.code_size = code->size;
    load.code_index = index;
    parts[n++] = sonde_jitdump_part(&load, sizeof load);
    parts[n++] = sonde_jitdump_part(code->name, name_size);
    parts[n++] = sonde_jitdump_part(code->address, code->size);
    error = error ? error : sonde_jitdump_write(d, parts, n);
    errno = error ? error : errno;
    return error ? 0 : index;
}

/* Announces code with nothing but lines (`line_count` of them, which may be 0). Returns as
 * sonde_jitdump_announce. */
static inline uint64_t sonde_jitdump_load(struct sonde_jitdump *d, const void *code, size_t size,
                                          const char *name, const struct sonde_jitdump_line *lines,
                                          size_t line_count) {
    struct sonde_jitdump_code all;
    memset(&all, 0, sizeof all);
    all.address = code;
    all.size = size;
    all.name = name;
    all.lines = lines;
    all.line_count = line_count;
    return sonde_jitdump_announce(d, &all);
}

/* Says that the code with this number is at `to` from now on, no longer at `from`. Returns 0 or an errno
 * value. */
static inline int sonde_jitdump_move(struct sonde_jitdump *d, uint64_t index, const void *from,
                                     const void *to, size_t size) {
    struct {
        uint32_t id, size;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, old_addr, new_addr, code_size, code_index;
    } move;
    struct iovec part;
    memset(&move, 0, sizeof move);
    move.id = 1;
    move.size = (uint32_t)sizeof move;
    move.time = sonde_jitdump_now();
    move.pid = (uint32_t)getpid();
    move.tid = (uint32_t)syscall(SYS_gettid);
    move.vma = move.new_addr = (uint64_t)(uintptr_t)to;
    move.old_addr = (uint64_t)(uintptr_t)from;
    move.code_size = size;
    move.code_index = index;
    part.iov_base = &move;
    part.iov_len = sizeof move;
    return sonde_jitdump_write(d, &part, 1);
}

/* Says that no announced code is left, and closes the file. */
static inline void sonde_jitdump_close(struct sonde_jitdump *d) {
    struct {
        uint32_t id, size;
        uint64_t time;
    } last = {3, 16, 0};
    struct iovec part;
    last.time = sonde_jitdump_now();
    part.iov_base = &last;
    part.iov_len = sizeof last;
    (void)sonde_jitdump_write(d, &part, 1);
    munmap(d->marker, d->marker_size);
    close(d->fd);
    d->fd = -1;
}

#ifdef __cplusplus
}
#endif

#endif
