/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows which of its functions ran when. Its arguments are what it does, one after the other:
 *
 *   NAME              calls burn function NAME: alpha, beta, gamma (one_alpha... in variant one)
 *   chain:NAME        calls it through the function outer_NAME: a frame with a caller
 *   step              settles, then runs the shell command $TRUTH_STEP and waits for it
 *   unseen            asks that nobody look at what it does from now on
 *   fork:A+B          a child does A, then B, and ends; wait: waits for all children
 *   thread:COMM:A+B   a thread that calls itself COMM does so; joined at `wait`
 *   rename:COMM       calls this thread COMM
 *   exec PATH ...     becomes another program, which does the rest
 *   memfd PATH ...    as exec, from a copy in memory that has no name in any folder
 *   chroot:DIR        changes root
 *   open:PATH         loads a library; call:NAME calls a function of it; close: unloads it
 *   through:NAME      calls alpha of this program through the library's outer_NAME
 *   again:NAME        calls what `call` called last, which is NAME by now: its file was overwritten
 *   move:NAME         moves the library's text elsewhere with mremap, and calls NAME there
 *   huge:NAME         puts a copy of its text in anonymous huge pages, moved over it, and calls NAME there
 *   vdso              asks for the time, again and again
 *
 * For each call it prints "truth TID START END FRAMES COMM": CLOCK_MONOTONIC in ns; FRAMES are the names that
 * the frames must have, from the innermost one on, joined with ';' (alternatives with '|').
 *
 * With $TRUTH_ASKS it settles at `step` and before it ends: it prints "step TID" or "end TID", then, each
 * after a tab, the files that it has mapped since it did so last, and waits for a byte from stdin: whoever
 * records has looked at them by then. `unseen` asks in the same way.
 *
 * VARIANT: one or two, the prefix of all names; the functions of two lie where others of one lie. LIBRARY:
 * only functions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASTE(a, b) a##_##b
#define NAMED(a, b) PASTE(a, b)
#define TEXT_OF(x)  #x
#define TEXT(x)     TEXT_OF(x)
#define OWN(name)   NAMED(VARIANT, name)
#define PUBLIC      __attribute__((noinline, noclone, used, visibility("default")))

#ifndef FAR
#define FAR
#endif

typedef unsigned long burn_fn(unsigned long turns);

/* Nothing but a loop: whatever is sampled between call and return is in it. It has a frame, although it calls
 * nothing: else its caller would be missing from call stacks. */
#define BURN(name, factor)                                        \
    PUBLIC unsigned long OWN(name)(unsigned long turns) {         \
        unsigned long x = turns;                                  \
        __asm__ volatile("" : : "r"(__builtin_frame_address(0))); \
        for (; turns; turns--) {                                  \
            x = x * (factor) + turns;                             \
            __asm__ volatile("" : "+r"(x));                       \
        }                                                         \
        return x;                                                 \
    }
/* The sum after the call keeps it from being a jump. */
#define OUTER(name)                                                                \
    PUBLIC unsigned long OWN(outer_##name)(burn_fn * inner, unsigned long turns) { \
        unsigned long x = inner(turns);                                            \
        __asm__ volatile("" : "+r"(x));                                            \
        return x + sizeof(#name);                                                  \
    }

#if SECOND
/* The same places, other functions. */
BURN(gamma, 7)
OUTER(gamma)
BURN(delta, 9)
BURN(alpha, 3)
OUTER(beta)
BURN(beta, 5)
OUTER(alpha)
#else
BURN(alpha, 3)
OUTER(alpha)
BURN(beta, 5)
OUTER(beta)
FAR BURN(gamma, 7) OUTER(gamma)
#endif

#ifndef LIBRARY

enum { PERIOD_NS = 40 * 1000 * 1000, CHILDREN = 16 };

static unsigned long turns_per_period;
static void *library;
static burn_fn *called; /* the last function of the library */
static pthread_t threads[CHILDREN];
static int thread_count;
static char mapped[8192]; /* files since the last time that it settled */

static const struct {
    const char *name;
    burn_fn *burn;
    unsigned long (*outer)(burn_fn *, unsigned long);
} functions[] = {
    {"alpha", OWN(alpha), OWN(outer_alpha)},
    {"beta", OWN(beta), OWN(outer_beta)},
    {"gamma", OWN(gamma), OWN(outer_gamma)},
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "burner: %s: %s\n", what, strerror(errno));
    exit(3);
}

/* How many turns fill a period, by the fastest of some tries; in CPU time, so that a busy machine changes
 * nothing. */
static void calibrate(void) {
    enum { TURNS = 2000000, TRIES = 3 };
    struct timespec a, b;
    int64_t best = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        OWN(beta)(TURNS);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        int64_t took = (b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec);
        best = took > 0 && took < best ? took : best;
    }
    turns_per_period = (unsigned long)((double)PERIOD_NS / (double)best * TURNS);
}

static void tell(int64_t start, const char *frames) {
    char line[512], comm[17] = "";
    int64_t end = now_ns();
    prctl(PR_GET_NAME, comm);
    int n = snprintf(line, sizeof line, "truth %ld %lld %lld %s %s\n", syscall(SYS_gettid), (long long)start,
                     (long long)end, frames, comm);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        fail("cannot log");
}

static int find(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (int)i;
    fprintf(stderr, "burner: no function %s\n", name);
    exit(3);
}

static void burn(const char *name) {
    char frames[64];
    int i = find(name);
    snprintf(frames, sizeof frames, TEXT(VARIANT) "_%s", name);
    int64_t start = now_ns();
    functions[i].burn(turns_per_period);
    tell(start, frames);
}

static void chain(const char *name) {
    char frames[128];
    int i = find(name);
    snprintf(frames, sizeof frames, TEXT(VARIANT) "_%s;" TEXT(VARIANT) "_outer_%s", name, name);
    int64_t start = now_ns();
    functions[i].outer(functions[i].burn, turns_per_period);
    tell(start, frames);
}

static void ask(const char *what, const char *about) {
    char line[sizeof mapped + 64], answer;
    int n = snprintf(line, sizeof line, "%s %ld%s\n", what, syscall(SYS_gettid), about);
    if (!getenv("TRUTH_ASKS"))
        return;
    if (write(STDOUT_FILENO, line, (size_t)n) != n || read(STDIN_FILENO, &answer, 1) != 1)
        fail("nobody answers");
}

static void note_mapped(const char *path) {
    size_t n = strlen(mapped);
    snprintf(mapped + n, sizeof mapped - n, "\t%s", path);
}

static void settle(const char *where) {
    ask(where, mapped);
    *mapped = 0;
}

static void step(void) {
    const char *command = getenv("TRUTH_STEP");
    settle("step");
    if (command && system(command))
        fail("the step failed");
}

static void *symbol_of(const char *name) {
    void *p = library ? dlsym(library, name) : NULL;
    if (!p)
        fail("no such library or symbol");
    return p;
}

static void again(const char *name) {
    int64_t start = now_ns();
    called(turns_per_period);
    tell(start, name);
}

static void call(const char *name) {
    *(void **)&called = symbol_of(name);
    again(name);
}

static void through(const char *name) {
    unsigned long (*f)(burn_fn *, unsigned long);
    char frames[128];
    *(void **)&f = symbol_of(name);
    snprintf(frames, sizeof frames, TEXT(VARIANT) "_alpha;%s", name);
    int64_t start = now_ns();
    f(OWN(alpha), turns_per_period);
    tell(start, frames);
}

/* The page-aligned text around a function of the library: its whole executable segment. */
struct text {
    uintptr_t address, start, end;
};

static int look(struct dl_phdr_info *info, size_t size, void *ctx) {
    struct text *t = ctx;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && t->address >= start && t->address < end) {
            t->start = start & ~(uintptr_t)4095;
            t->end = (end + 4095) & ~(uintptr_t)4095;
        }
    }
    return 0;
}

static struct text text_of(const char *name) {
    struct text t = {.address = (uintptr_t)symbol_of(name)};
    dl_iterate_phdr(look, &t);
    if (!t.start)
        fail("no text");
    return t;
}

static void move(const char *name) {
    struct text t = text_of(name);
    size_t size = t.end - t.start;
    burn_fn *f;
    char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED ||
        mremap((void *)t.start, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
        fail("mremap");
    *(void **)&f = to + (t.address - t.start);
    int64_t start = now_ns();
    f(turns_per_period);
    tell(start, name);
    library = NULL; /* it must not be unloaded: it is not where it was */
}

static void huge(const char *name) {
    struct text t = text_of(name);
    size_t size = t.end - t.start, room = (size + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1);
    burn_fn *f;
    char *copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        fail("mmap");
    madvise(copy, room, MADV_HUGEPAGE);
    memcpy(copy, (void *)t.start, size);
    if (mprotect(copy, size, PROT_READ | PROT_EXEC) ||
        mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)t.start) == MAP_FAILED)
        fail("mremap");
    *(void **)&f = (void *)t.address;
    int64_t start = now_ns();
    f(turns_per_period);
    tell(start, name);
}

static void vdso(void) {
    int64_t start = now_ns();
    while (now_ns() - start < PERIOD_NS)
        continue;
    tell(start, "__vdso_clock_gettime|clock_gettime|__clock_gettime|clock_gettime@@GLIBC_2.17|"
                "__clock_gettime_2|clock_gettime@plt|vdso|now_ns|__kernel_clock_gettime|act");
}

static void act(const char *what);

static void act_all(const char *list) {
    char *copy = strdup(list), *rest = copy;
    for (char *a; (a = strsep(&rest, "+"));)
        act(a);
    free(copy);
}

static void child(const char *list) {
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid)
        return;
    act_all(list);
    _exit(0);
}

static void *thread_main(void *arg) {
    char *list = strchr(arg, ':');
    *list++ = 0;
    prctl(PR_SET_NAME, arg);
    act_all(list);
    return NULL;
}

static void wait_all(void) {
    while (thread_count)
        pthread_join(threads[--thread_count], NULL);
    while (wait(NULL) > 0)
        continue;
}

static const char *after(const char *what, const char *verb) {
    size_t n = strlen(verb);
    return strncmp(what, verb, n) == 0 ? what + n : NULL;
}

static void act(const char *what) {
    const char *arg;
    if (strcmp(what, "step") == 0)
        step();
    else if (strcmp(what, "unseen") == 0)
        ask("unseen", "");
    else if (strcmp(what, "wait") == 0)
        wait_all();
    else if (strcmp(what, "vdso") == 0)
        vdso();
    else if (strcmp(what, "close") == 0)
        dlclose(library);
    else if ((arg = after(what, "chain:")))
        chain(arg);
    else if ((arg = after(what, "fork:")))
        child(arg);
    else if ((arg = after(what, "thread:"))) {
        if (thread_count == CHILDREN ||
            pthread_create(&threads[thread_count++], NULL, thread_main, strdup(arg)))
            fail("thread");
    } else if ((arg = after(what, "rename:")))
        prctl(PR_SET_NAME, arg);
    else if ((arg = after(what, "open:"))) {
        if (!(library = dlopen(arg, RTLD_NOW | RTLD_LOCAL)))
            fail(dlerror());
        note_mapped(arg);
    } else if ((arg = after(what, "call:")))
        call(arg);
    else if ((arg = after(what, "again:")))
        again(arg);
    else if ((arg = after(what, "through:")))
        through(arg);
    else if ((arg = after(what, "move:")))
        move(arg);
    else if ((arg = after(what, "huge:")))
        huge(arg);
    else if ((arg = after(what, "chroot:"))) {
        if (chroot(arg) || chdir("/"))
            fail(arg);
    } else
        burn(what);
}

static void become(char **args, int from_memory) {
    int fd = open(args[0], O_RDONLY | O_CLOEXEC), copy;
    char block[65536];
    if (fd < 0)
        fail(args[0]);
    if (!from_memory) {
        execv(args[0], args);
        fail(args[0]);
    }
    copy = memfd_create("burner", MFD_CLOEXEC);
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
        if (write(copy, block, (size_t)n) != n)
            fail("memfd");
    fexecve(copy, args, environ);
    fail("fexecve");
}

int main(int argc, char **argv) {
    char self[4096] = "";
    (void)argc;
    note_mapped(readlink("/proc/self/exe", self, sizeof self - 1) > 0 ? self
                                                                      : argv[0]); /* none in a chroot */
    calibrate();
    for (char **a = argv + 1; *a; a++) {
        if (strcmp(*a, "exec") == 0 || strcmp(*a, "memfd") == 0)
            become(a + 1, **a == 'm');
        act(*a);
    }
    wait_all();
    settle("end");
    _exit(0); /* a library whose text was moved cannot be unloaded */
}

#endif
