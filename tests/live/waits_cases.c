/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for one thing, and says what it is: waits_cases CASE. Lines "name=value" on standard output, then
 * "ready"; then it waits for what the case is about until standard input ends.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static void say(const char *name, unsigned long value) {
    printf("%s=%lu\n", name, value);
    fflush(stdout);
}

static void say_self(const char *name) {
    pthread_setname_np(pthread_self(), name);
    say(name, (unsigned long)gettid());
}

/* Until standard input ends. */
static void stay(void) {
    char c;
    while (read(0, &c, 1) > 0)
        ;
    exit(0);
}

/* fork(2), but the child does not outlive us. */
static pid_t fork_bound(void) {
    pid_t us = getpid(), child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != us)
            _exit(1);
    }
    return child;
}

static void *stay_asleep(void) {
    for (;;)
        sleep(1000);
    return NULL;
}

static void ready(void) {
    printf("ready\n");
    fflush(stdout);
    stay();
}

static void start(void *(*fn)(void *), void *arg) {
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0)
        exit(1);
}

/* ---- locks ---- */

static void *hold(void *arg) {
    say_self("owner");
    pthread_mutex_lock(arg);
    pthread_barrier_wait(&both);
    return stay_asleep();
}

static void *want(void *arg) {
    say_self("waiter");
    pthread_mutex_lock(arg);
    return NULL;
}

static void of_mutex(pthread_mutex_t *m) {
    say("lock", (unsigned long)m);
    start(hold, m);
    pthread_barrier_wait(&both);
    start(want, m);
    ready();
}

static void *want_timed(void *arg) {
    struct timespec end;
    say_self("waiter");
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 100000;
    pthread_mutex_timedlock(arg, &end);
    return NULL;
}

static void mutex(void) {
    of_mutex(&first);
}

static void timedlock(void) {
    say("lock", (unsigned long)&first);
    start(hold, &first);
    pthread_barrier_wait(&both);
    start(want_timed, &first);
    ready();
}

static void typed(int type, int protocol, int shared) {
    static pthread_mutex_t m;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    pthread_mutexattr_setprotocol(&a, protocol);
    pthread_mutexattr_setpshared(&a, shared);
    pthread_mutex_init(&m, &a);
    of_mutex(&m);
}

static void recursive(void) {
    typed(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
}

static void pi(void) {
    typed(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_PRIVATE);
}

static void shared(void) {
    pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(m, &a);
    say("lock", (unsigned long)m);
    say("owner", (unsigned long)getpid());
    pthread_mutex_lock(m);
    if (!fork_bound()) {
        say_self("waiter");
        pthread_mutex_lock(m);
        exit(0);
    }
    ready();
}

static void *cross(void *arg) {
    pthread_mutex_t *own = arg ? &second : &first, *other = arg ? &first : &second;
    say_self(arg ? "two" : "one");
    pthread_mutex_lock(own);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(other);
    return NULL;
}

static void deadlock(void) {
    start(cross, NULL);
    start(cross, &second);
    ready();
}

static void *twice(void *arg) {
    say_self("waiter");
    pthread_mutex_lock(arg);
    pthread_mutex_lock(arg);
    return NULL;
}

static void self(void) {
    start(twice, &first);
    ready();
}

static void *wait_cond(void *arg) {
    (void)arg;
    say_self("waiter");
    pthread_mutex_lock(&first);
    pthread_cond_wait(&cond, &first);
    return NULL;
}

static void condition(void) {
    start(wait_cond, NULL);
    ready();
}

static void *wait_sem(void *arg) {
    (void)arg;
    say_self("waiter");
    sem_wait(&sem);
    return NULL;
}

static void semaphore(void) {
    sem_init(&sem, 0, 0);
    start(wait_sem, NULL);
    ready();
}

static void *write_lock(void *arg) {
    (void)arg;
    say_self("owner");
    pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_wait(&both);
    return stay_asleep();
}

static void *read_hold(void *arg) {
    (void)arg;
    say_self("reader");
    pthread_rwlock_rdlock(&rwlock);
    pthread_barrier_wait(&both);
    return stay_asleep();
}

static void *read_lock(void *arg) {
    (void)arg;
    say_self("waiter");
    pthread_rwlock_rdlock(&rwlock);
    return NULL;
}

static void *write_want(void *arg) {
    say_self(arg ? arg : "waiter");
    pthread_rwlock_wrlock(&rwlock);
    return NULL;
}

static void rw_reader(void) {
    start(write_lock, NULL);
    pthread_barrier_wait(&both);
    start(read_lock, NULL);
    ready();
}

static void rw_writers(void) {
    start(write_lock, NULL);
    pthread_barrier_wait(&both);
    start(write_want, NULL);
    start(write_want, "another");
    ready();
}

/* Readers are in no list: nobody can be proved to hold it. */
static void rw_held_by_reader(void) {
    start(read_hold, NULL);
    pthread_barrier_wait(&both);
    start(write_want, NULL);
    ready();
}

static pthread_t joined;

static void *run_on(void *arg) {
    (void)arg;
    say_self("owner");
    pthread_barrier_wait(&both);
    return stay_asleep();
}

static void *join(void *arg) {
    (void)arg;
    say_self("waiter");
    pthread_join(joined, NULL);
    return NULL;
}

static void of_join(void) {
    pthread_create(&joined, NULL, run_on, NULL);
    pthread_barrier_wait(&both);
    start(join, NULL);
    ready();
}

/* Waits for a word in memory that looked like a mutex at first, and then is unmapped or has another value. */
static uint32_t *word;

static void *wait_word(void *arg) {
    say_self("waiter");
    syscall(SYS_futex, word, arg ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, *word, NULL, NULL, 0);
    return NULL;
}

static uint32_t *page(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void until_it_waits(void) {
    char path[64], text[32] = "";
    for (int tid = 0; strncmp(text, "futex", 5) != 0; usleep(1000)) {
        for (tid = getpid() + 1; tid < getpid() + 64 && strncmp(text, "futex", 5) != 0; tid++) {
            snprintf(path, sizeof path, "/proc/self/task/%d/wchan", tid);
            int fd = open(path, O_RDONLY);
            ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
            text[n > 0 ? n : 0] = 0;
            close(fd);
        }
    }
}

static void freed(void) {
    word = page();
    *word = 2;
    word[2] = (uint32_t)getpid();
    word[3] = 1;
    start(wait_word, NULL);
    until_it_waits();
    munmap(word, 4096);
    ready();
}

static void reused(void) {
    word = page();
    *word = 2;
    word[2] = (uint32_t)getpid();
    word[3] = 1;
    start(wait_word, NULL);
    until_it_waits();
    *word = 7; /* something else lies there now */
    ready();
}

/* A tid, in memory that is no thread's. */
static void number(void) {
    word = page() + 512;
    *word = (uint32_t)getpid();
    start(wait_word, &word);
    ready();
}

/* ---- files ---- */

static int read_from;

static void *read_it(void *arg) {
    char c;
    (void)arg;
    say_self("waiter");
    if (read(read_from, &c, 1) < 0)
        perror("read");
    return NULL;
}

/* A child keeps one end, and ends when we do. */
static void child_holds(int keep, int drop) {
    int alive[2];
    char c;
    if (pipe(alive) < 0)
        exit(1);
    pid_t child = fork_bound();
    if (!child) {
        close(drop);
        close(alive[1]);
        pthread_setname_np(pthread_self(), "far_end");
        _exit(read(alive[0], &c, 1) != 0);
    }
    close(keep);
    close(alive[0]);
    say("peer", (unsigned long)child);
}

static void of_pipe(void) {
    int p[2];
    if (pipe(p) < 0)
        exit(1);
    child_holds(p[1], p[0]);
    read_from = p[0];
    start(read_it, NULL);
    ready();
}

static void of_pair(void) {
    int p[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) < 0)
        exit(1);
    child_holds(p[1], p[0]);
    read_from = p[0];
    start(read_it, NULL);
    ready();
}

static void connected(int family, const struct sockaddr *a, socklen_t size) {
    int s = socket(family, SOCK_STREAM, 0), c = socket(family, SOCK_STREAM, 0);
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (bind(s, a, size) < 0 || listen(s, 1) < 0 || getsockname(s, (struct sockaddr *)&at, &n) < 0)
        exit(1);
    if (connect(c, (struct sockaddr *)&at, n) < 0)
        exit(1);
    int far = accept(s, NULL, NULL);
    if (family == AF_INET)
        say("port", ntohs(((struct sockaddr_in *)&at)->sin_port));
    child_holds(far, c);
    read_from = c;
    start(read_it, NULL);
    ready();
}

static void of_tcp(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connected(AF_INET, (struct sockaddr *)&a, sizeof a);
}

static void of_unix(void) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "sonde-waits-%d", (int)getpid());
    connected(AF_UNIX, (struct sockaddr *)&a, sizeof a);
}

static void *accepts(void *arg) {
    say_self("waiter");
    accept(*(int *)arg, NULL, NULL);
    return NULL;
}

static void of_accept(void) {
    static int s;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    s = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(s, (struct sockaddr *)&a, n) < 0 || listen(s, 1) < 0 ||
        getsockname(s, (struct sockaddr *)&a, &n) < 0)
        exit(1);
    say("port", ntohs(a.sin_port));
    start(accepts, &s);
    ready();
}

static void *polls(void *arg) {
    struct pollfd p[2] = {{read_from, POLLIN, 0}, {0, POLLIN, 0}};
    say_self("waiter");
    poll(p, arg ? 2 : 1, -1);
    return stay_asleep();
}

static void of_poll(void *two) {
    int p[2];
    if (pipe(p) < 0)
        exit(1);
    child_holds(p[1], p[0]);
    read_from = p[0];
    start(polls, two);
    ready();
}

static void poll_one(void) {
    of_poll(NULL);
}

static void poll_two(void) {
    of_poll(&read_from);
}

static void *selects(void *arg) {
    fd_set set;
    (void)arg;
    say_self("waiter");
    FD_ZERO(&set);
    FD_SET(read_from, &set);
    select(read_from + 1, &set, NULL, NULL, NULL);
    return stay_asleep();
}

static void of_select(void) {
    int p[2];
    if (pipe(p) < 0)
        exit(1);
    child_holds(p[1], p[0]);
    read_from = p[0];
    start(selects, NULL);
    ready();
}

static void *epolls(void *arg) {
    struct epoll_event e = {.events = EPOLLIN};
    int ep = epoll_create1(0), p[2], q[2];
    (void)arg;
    say_self("waiter");
    if (pipe(p) < 0 || pipe(q) < 0)
        exit(1);
    epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e);
    epoll_ctl(ep, EPOLL_CTL_ADD, q[0], &e);
    epoll_wait(ep, &e, 1, -1);
    return NULL;
}

static void of_epoll(void) {
    start(epolls, NULL);
    ready();
}

static void of_flock(void) {
    char path[] = "/tmp/sonde-waits-XXXXXX";
    int fd = mkstemp(path);
    printf("path=%s\n", path);
    say("owner", (unsigned long)getpid());
    flock(fd, LOCK_EX);
    if (!fork_bound()) {
        int own = open(path, O_RDWR);
        close(fd);
        say_self("waiter");
        flock(own, LOCK_EX);
        _exit(0);
    }
    printf("ready\n");
    fflush(stdout);
    char c;
    while (read(0, &c, 1) > 0)
        ;
    unlink(path);
    exit(0);
}

/* ---- others ---- */

static void *sleeps(void *arg) {
    struct timespec t = {1000, 250000000};
    (void)arg;
    say_self("waiter");
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    return NULL;
}

static void of_sleep(void) {
    start(sleeps, NULL);
    ready();
}

static void *waits_child(void *arg) {
    say_self("waiter");
    waitpid(*(pid_t *)arg, NULL, 0);
    return NULL;
}

static void of_child(void) {
    static pid_t child;
    int p[2];
    if (pipe(p) < 0)
        exit(1);
    child = fork_bound();
    if (!child) {
        char c;
        pthread_setname_np(pthread_self(), "the_child");
        close(p[1]);
        _exit(read(p[0], &c, 1) != 0);
    }
    say("peer", (unsigned long)child);
    start(waits_child, &child);
    ready();
}

static void *chain_link(void *arg) {
    char c;
    (void)arg;
    say_self("middle");
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    if (read(read_from, &c, 1) < 0)
        perror("read");
    return NULL;
}

/* Three threads wait for a lock whose owner waits for a pipe that another process holds. */
static void chain(void) {
    int p[2];
    if (pipe(p) < 0)
        exit(1);
    child_holds(p[1], p[0]);
    read_from = p[0];
    start(chain_link, NULL);
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++)
        start(want, &first);
    ready();
}

/* Only reads standard input, whatever that is. */
static void input(void) {
    stay();
}

static void many(void) {
    for (int i = 0; i < 2000; i++)
        start(i % 2 ? wait_sem : sleeps, NULL);
    ready();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"mutex", mutex},
    {"timedlock", timedlock},
    {"recursive", recursive},
    {"pi", pi},
    {"shared", shared},
    {"deadlock", deadlock},
    {"self", self},
    {"condition", condition},
    {"semaphore", semaphore},
    {"rw_reader", rw_reader},
    {"rw_writers", rw_writers},
    {"rw_held_by_reader", rw_held_by_reader},
    {"join", of_join},
    {"freed", freed},
    {"reused", reused},
    {"number", number},
    {"pipe", of_pipe},
    {"pair", of_pair},
    {"tcp", of_tcp},
    {"unix", of_unix},
    {"accept", of_accept},
    {"poll_one", poll_one},
    {"poll_two", poll_two},
    {"select", of_select},
    {"epoll", of_epoll},
    {"flock", of_flock},
    {"sleep", of_sleep},
    {"child", of_child},
    {"chain", chain},
    {"input", input},
    {"many", many},
};

int main(int argc, char **argv) {
    signal(SIGCHLD, SIG_DFL);
    pthread_barrier_init(&both, NULL, 2);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 2;
}
