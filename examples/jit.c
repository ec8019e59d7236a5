/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small JIT that does what real ones do to profilers, and says what the truth is: it makes, runs, moves,
 * frees and reuses code, in memory whose map events the kernel merges with those of code made long before.
 *
 *     jit [--exec] [--dump DIR] [--map] [--unwind] [--truth FILE] [--rounds N] [--milliseconds N]
 *
 *   --exec            when all is done begins anew in the same process, with the other options, and with
 *                     --append for this one: a dump of the same name comes in the place of the first
 *   --append          adds to the files that --truth (further right) names
 *   --dump DIR        announces the code in DIR/jit-PID.dump (include/sonde/jitdump.h)
 *   --map             lists it in /tmp/perf-PID.map; the last one to lie at an address stays listed
 *   --unwind          makes code without frame pointers instead, which tells how to unwind it: outer_I, which
 *                     calls inner_I; x86-64 only
 *   --truth FILE      a line for each time code ran: "FROM TO TID ADDRESS SIZE NAME", times of
 * CLOCK_MONOTONIC in ns
 *   --rounds N        how many functions each act makes (default 8)
 *   --milliseconds N  for how long each runs (default 20), in CPU time: a busy machine changes nothing
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <sonde/jitdump.h>

struct state {
    struct sonde_jitdump dump;
    bool dumping;
    FILE *map, *truth;
    int rounds;
    uint64_t run_ns;
    size_t page;
    pthread_mutex_t lock; /* of map and truth */
};

struct function {
    char name[64];
    uint8_t *code;
    size_t size;
    uint64_t id;
};

/* A loop of `count` turns in a frame of its own. It runs wherever it lies. */
static size_t emit(uint8_t *at, uint32_t count) {
#if defined(__x86_64__)
    static const uint8_t code[] = {0x55,                   /* push %rbp */
                                   0x48, 0x89, 0xe5,       /* mov %rsp, %rbp */
                                   0xb9, 0,    0,    0, 0, /* mov $count, %ecx */
                                   0xff, 0xc9,             /* dec %ecx */
                                   0x75, 0xfc,             /* jnz back */
                                   0x5d, 0xc3};            /* pop %rbp; ret */
    memcpy(at, code, sizeof code);
    memcpy(at + 5, &count, sizeof count);
    return sizeof code;
#elif defined(__aarch64__)
    const uint32_t code[] = {0xa9bf7bfd,                               /* stp x29, x30, [sp, #-16]! */
                             0x910003fd,                               /* mov x29, sp */
                             0x52800000 | (count & 0xffff) << 5,       /* mov w0, #low */
                             0x72a00000 | (count >> 16 & 0xffff) << 5, /* movk w0, #high, lsl #16 */
                             0x71000400,                               /* subs w0, w0, #1 */
                             0x54ffffe1,                               /* b.ne back */
                             0xa8c17bfd,                               /* ldp x29, x30, [sp], #16 */
                             0xd65f03c0};                              /* ret */
    memcpy(at, code, sizeof code);
    return sizeof code;
#else
    (void)at;
    (void)count;
    return 0;
#endif
}

static void list(struct state *s, const struct function *f) {
    if (!s->map)
        return;
    pthread_mutex_lock(&s->lock);
    fprintf(s->map, "%lx %zx %s\n", (unsigned long)(uintptr_t)f->code, f->size, f->name);
    fflush(s->map);
    pthread_mutex_unlock(&s->lock);
}

static void announce(struct state *s, struct function *f) {
    if (s->dumping) {
        const struct sonde_jitdump_line lines[] = {{f->code, 10, 1, "example.jit"},
                                                   {f->code + f->size / 2, 11, 5, "example.jit"}};
        f->id = sonde_jitdump_load(&s->dump, f->code, f->size, f->name, lines, 2);
    }
    list(s, f);
}

/* `writable`: where the code can be written, if that is another mapping of the memory it runs in. */
static struct function make(struct state *s, uint8_t *at, uint8_t *writable, const char *act, int number) {
    struct function f = {.code = at};
    snprintf(f.name, sizeof f.name, "%s_%d", act, number);
    f.size = emit(writable, 100000);
    __builtin___clear_cache((char *)at, (char *)at + f.size);
    announce(s, &f);
    return f;
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void run(struct state *s, const struct function *f) {
    void (*enter)(void);
    uint64_t from = sonde_jitdump_now(), begin = cpu_ns(), to;
    memcpy(&enter, &f->code, sizeof enter);
    do
        enter();
    while (cpu_ns() - begin < s->run_ns);
    to = sonde_jitdump_now();
    if (s->truth) {
        pthread_mutex_lock(&s->lock);
        fprintf(s->truth, "%lu %lu %ld %lx %zx %s\n", (unsigned long)from, (unsigned long)to,
                (long)syscall(SYS_gettid), (unsigned long)(uintptr_t)f->code, f->size, f->name);
        pthread_mutex_unlock(&s->lock);
    }
}

static uint8_t *map(uint8_t *at, size_t size, int prot, int flags, int fd) {
    void *p = mmap(at, size, prot, flags, fd, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

enum { RWX = PROT_READ | PROT_WRITE | PROT_EXEC, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

/*
 * One page more for each function, right after the last one's: the kernel merges them, and each map event
 * is of all the pages up to then, as new as the newest. `all` is run again each time.
 */
static void grow(struct state *s, uint8_t *area, struct function *all) {
    for (int i = 0; i < s->rounds; i++) {
        uint8_t *page = map(area + (size_t)i * s->page, s->page, RWX, ANON | MAP_FIXED, -1);
        all[i] = make(s, page, page, "grow", i);
        run(s, &all[0]);
        run(s, &all[i]);
    }
}

/* Every second function moves to the end of its page, and something else comes where it was. */
static void move(struct state *s, struct function *all) {
    for (int i = 0; i < s->rounds; i += 2) {
        struct function *f = &all[i];
        uint8_t *from = f->code, *to = from + s->page / 2;
        memcpy(to, from, f->size);
        __builtin___clear_cache((char *)to, (char *)to + f->size);
        if (s->dumping)
            sonde_jitdump_move(&s->dump, f->id, from, to, f->size);
        f->code = to;
        list(s, f);
        struct function reuse = make(s, from, from, "reuse", i);
        run(s, f);
        run(s, &reuse);
    }
}

/* Pages are given back and mapped again: no event tells of the first, and the second looks like growth. */
static void again(struct state *s, uint8_t *area) {
    for (int i = 1; i < s->rounds; i += 2) {
        uint8_t *page = area + (size_t)i * s->page;
        munmap(page, s->page);
        map(page, s->page, RWX, ANON | MAP_FIXED, -1);
        struct function f = make(s, page, page, "again", i);
        run(s, &f);
    }
}

/* The same memory twice, writable here and executable there. */
static void twice(struct state *s) {
    int fd = (int)syscall(SYS_memfd_create, "jit", 0);
    size_t size = (size_t)s->rounds * s->page;
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return;
    uint8_t *write = map(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    uint8_t *execute = map(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd);
    for (int i = 0; i < s->rounds; i++) {
        struct function f = make(s, execute + (size_t)i * s->page, write + (size_t)i * s->page, "twice", i);
        run(s, &f);
    }
    munmap(write, size);
    munmap(execute, size);
    close(fd);
}

#if defined(__x86_64__)
/*
 * A loop that counts in the register of frame pointers, and what calls it. Each with the unwind table that an
 * assembler would make of the .cfi directives at its right; DWARF 4, 6.4, and the Linux Standard Base, Core.
 */
static const uint8_t inner_code[] = {0x55,                            /* push %rbp        CFA 16, rbp at 16 */
                                     0x48, 0x83, 0xec, 0x18,          /* sub $24, %rsp    CFA 40 */
                                     0xbd, 0xa0, 0x86, 0x01, 0x00,    /* mov $100000, %ebp */
                                     0xff, 0xcd,                      /* dec %ebp */
                                     0x75, 0xfc,                      /* jnz back */
                                     0x48, 0x83, 0xc4, 0x18,          /* add $24, %rsp    CFA 16 */
                                     0x5d,                            /* pop %rbp         CFA 8 */
                                     0xc3};                           /* ret */
static const uint8_t outer_code[] = {0x48, 0x81, 0xec, 0x08, 1, 0, 0, /* sub $264, %rsp   CFA 272 */
                                     0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0, /* mov $inner, %rax */
                                     0xff, 0xd0,                               /* call *%rax */
                                     0x48, 0x81, 0xc4, 0x08, 1, 0, 0,          /* add $264, %rsp   CFA 8 */
                                     0xc3};                                    /* ret */
static const uint8_t inner_rules[] = {0x41, 0x0e, 16, 0x86, 2, /* 1 further: CFA 16, rbp at CFA - 16 */
                                      0x44, 0x0e, 40,          /* 4 further */
                                      0x4d, 0x0e, 16,          /* 13 further: after the add */
                                      0x41, 0x0e, 8,  0xc6};   /* 1 further; rbp is itself again */
static const uint8_t outer_rules[] = {0x47, 0x0e, 0x90, 0x02,  /* 7 further: CFA 272 */
                                      0x53, 0x0e, 8};          /* 19 further */

/* 4 bytes of length, then zR: CIE of version 1; code 1, data -8, return address in 16; pc-relative addresses
 * of 4 bytes; CFA rsp + 8, return address at CFA - 8. */
static const uint8_t cie[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                              1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};

static void put32(uint8_t *at, size_t value) {
    uint32_t v = (uint32_t)value;
    memcpy(at, &v, sizeof v);
}

/* .eh_frame of a function, as if it followed it; its size. */
static size_t make_tables(const struct function *f, const uint8_t *rules, size_t size, uint8_t *frame,
                          uint8_t hdr[20]) {
    static const uint8_t head[] = {1, 0x1b, 3,
                                   0x3b}; /* pointers: relative; counts: 4 bytes; table: to itself */
    size_t frame_at = (f->size + 7) & ~(size_t)7, fde = sizeof cie,
           total = (fde + 17 + size + 3 + 4) & ~(size_t)3;
    memset(frame, 0, total + 4);
    memcpy(frame, cie, sizeof cie);
    put32(frame + fde, total - fde - 4);
    put32(frame + fde + 4, fde + 4);
    put32(frame + fde + 8, 0 - (frame_at + fde + 8));
    put32(frame + fde + 12, f->size);
    memcpy(frame + fde + 17, rules, size);
    total += 4; /* zero: the end */
    memcpy(hdr, head, sizeof head);
    put32(hdr + 4, 0 - (total + 4)); /* it lies after the frame table */
    put32(hdr + 8, 1);
    put32(hdr + 12, 0 - (frame_at + total));
    put32(hdr + 16, fde - total);
    return total;
}

static void announce_unwinding(struct state *s, struct function *f, const uint8_t *rules, size_t size) {
    uint8_t frame[96], hdr[20];
    if (s->dumping) {
        size_t n = make_tables(f, rules, size, frame, hdr);
        const struct sonde_jitdump_code code = {.address = f->code,
                                                .size = f->size,
                                                .name = f->name,
                                                .eh_frame = frame,
                                                .eh_frame_size = n,
                                                .eh_frame_hdr = hdr,
                                                .eh_frame_hdr_size = sizeof hdr};
        f->id = sonde_jitdump_announce(&s->dump, &code);
    }
    list(s, f);
}

static void relocate(struct state *s, struct function *f, uint8_t *to) {
    memcpy(to, f->code, f->size);
    if (s->dumping)
        sonde_jitdump_move(&s->dump, f->id, f->code, to, f->size);
    f->code = to;
    list(s, f);
}

static void unwind(struct state *s) {
    uint8_t *area = map(NULL, (size_t)s->rounds * s->page, RWX, ANON, -1);
    for (int i = 0; i < s->rounds; i++) {
        uint8_t *at = area + (size_t)i * s->page, *target = at;
        struct function inner = {.code = at, .size = sizeof inner_code};
        struct function outer = {.code = at + 256, .size = sizeof outer_code};
        snprintf(inner.name, sizeof inner.name, "inner_%d", i);
        snprintf(outer.name, sizeof outer.name, "outer_%d", i);
        memcpy(inner.code, inner_code, sizeof inner_code);
        memcpy(outer.code, outer_code, sizeof outer_code);
        memcpy(outer.code + 9, &target, sizeof target);
        announce_unwinding(s, &inner, inner_rules, sizeof inner_rules);
        announce_unwinding(s, &outer, outer_rules, sizeof outer_rules);
        run(s, &outer);
        relocate(s, &inner, at + 1024);
        memcpy(outer.code + 9, &inner.code, sizeof inner.code);
        relocate(s, &outer, at + 1280);
        run(s, &outer);
    }
}
#else
static void unwind(struct state *s) {
    (void)s;
    fprintf(stderr, "jit: --unwind is for x86-64\n");
    exit(2);
}
#endif

static void *thread(void *ctx) {
    struct state *s = ctx;
    uint8_t *area = map(NULL, s->page, RWX, ANON, -1);
    for (int i = 0; i < s->rounds; i++) {
        struct function f = make(s, area + i * 64, area + i * 64, "thread", i);
        run(s, &f);
    }
    return NULL;
}

static void act(struct state *s) {
    struct function all[64];
    pthread_t other;
    uint8_t *area = map(NULL, (size_t)s->rounds * s->page, PROT_NONE, ANON | MAP_NORESERVE, -1);
    bool threaded = pthread_create(&other, NULL, thread, s) == 0;
    grow(s, area, all);
    move(s, all);
    again(s, area);
    twice(s);
    if (threaded)
        pthread_join(other, NULL);
}

int main(int argc, char **argv) {
    bool unwinding = false;
    const char *truth_mode = "w";
    char **exec = NULL;
    struct state s = {.rounds = 8,
                      .run_ns = 20000000,
                      .page = (size_t)sysconf(_SC_PAGESIZE),
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char path[64];
        snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
        if (strcmp(argv[i], "--map") == 0)
            s.map = fopen(path, "w");
        else if (strcmp(argv[i], "--unwind") == 0)
            unwinding = true;
        else if (strcmp(argv[i], "--exec") == 0)
            exec = &argv[i];
        else if (strcmp(argv[i], "--append") == 0)
            truth_mode = "a";
        else if (strcmp(argv[i], "--dump") == 0)
            s.dumping = sonde_jitdump_open(&s.dump, argv[++i]) == 0;
        else if (strcmp(argv[i], "--truth") == 0)
            s.truth = fopen(argv[++i], truth_mode);
        else if (strcmp(argv[i], "--rounds") == 0)
            s.rounds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--milliseconds") == 0)
            s.run_ns = (uint64_t)atoi(argv[++i]) * 1000000;
        else
            return fprintf(stderr, "jit: what is %s %s?\n", argv[i], value), 2;
    }
    if (s.rounds < 1 || s.rounds > 64 || !emit((uint8_t[64]){0}, 1))
        return fprintf(stderr, "jit: 1 to 64 rounds, on x86-64 or aarch64\n"), 2;
    if (unwinding)
        unwind(&s);
    else
        act(&s);
    if (s.dumping)
        sonde_jitdump_close(&s.dump);
    if (s.map)
        fclose(s.map);
    if (s.truth)
        fclose(s.truth);
    if (exec) {
        *exec = (char[]){"--append"};
        execv("/proc/self/exe", argv);
        return perror("exec"), 1;
    }
    return 0;
}
