/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/affinity.h"
#include "os/files/map.h"
#include "os/files/output.h"
#include "os/files/place.h"
#include "os/files/spool.h"
#include "os/heap.h"
#include "os/proc/proc.h"

#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_spool_grows_in_place(void **state) {
    (void)state;
    struct os_spool s;
    struct err err = ERR_INIT;
    assert_true(os_spool_open(&s, &err));
    const uint8_t *base = s.base;
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t *p = os_spool_room(&s, 5000, &err);
        assert_non_null(p);
        memset(p, (int)(i & 0xff), 4096);
        os_spool_commit(&s, 4096);
    }
    assert_ptr_equal(s.base, base);
    assert_int_equal(s.size, 3000 * 4096);
    os_spool_release(&s, 9 << 20);
    assert_int_equal(s.released, 8 << 20);
    for (uint32_t i = (9 << 20) / 4096; i < 3000; i++)
        assert_int_equal(s.base[(size_t)i * 4096 + 17], i & 0xff);
    assert_null(os_spool_room(&s, SIZE_MAX / 2, &err));
    assert_int_equal(err.code, ERR_IO);
    os_spool_close(&s);
}

/* What is appended is there at once, between what was put into the room. */
static void test_spool_append(void **state) {
    (void)state;
    struct os_spool s;
    struct err err = ERR_INIT;
    uint8_t some[5000];
    const struct bytes spans[3] = {{some, sizeof some}, {NULL, 0}, {some, 3}};
    memset(some, 7, sizeof some);
    assert_true(os_spool_open(&s, &err));
    assert_true(os_spool_append(&s, spans, 3, &err));
    uint8_t *p = os_spool_room(&s, 10, &err);
    assert_non_null(p);
    memset(p, 8, 10);
    os_spool_commit(&s, 10);
    assert_true(os_spool_append(&s, spans, 3, &err));
    assert_int_equal(s.size, 2 * 5003 + 10);
    for (size_t i = 0; i < s.size; i++)
        assert_int_equal(s.base[i], i < 5003 || i >= 5013 ? 7 : 8);
    assert_false(os_spool_append(&s, &(struct bytes){some, SIZE_MAX / 2}, 1, &err));
    assert_int_equal(err.code, ERR_IO);
    os_spool_close(&s);
}

static bool starts_with_data(const char *name) {
    return strncmp(name, "data", 4) == 0;
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_files(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    char dir[] = "/tmp/sonde-os-test-XXXXXX", path[4][64];
    assert_non_null(mkdtemp(dir));
    const char *names[] = {"data", "data.0", "data.1", "other"}, *texts[] = {"hello", "", "world", "x"};
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
        write_file(path[i], texts[i]);
    }
    char **list;
    size_t count;
    assert_true(os_dir_list(dir, starts_with_data, &list, &count, &err));
    assert_int_equal(count, 3);
    struct os_file f[3];
    const char *paths[3];
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list[i], names[i]);
        free(list[i]);
        paths[i] = path[i];
        assert_true(os_file_open(path[i], &f[i], &err));
        assert_int_equal(f[i].kind, OS_FILE_REGULAR);
    }
    free(list);
    struct os_map m;
    assert_true(os_map_file(&f[0], path[0], &m, &err));
    assert_int_equal(m.bytes.size, 5);
    assert_memory_equal(m.bytes.data, "hello", 5);
    os_map_fini(&m);
    struct os_multimap mm;
    uint64_t at[3];
    assert_true(os_multimap_files(f, paths, 3, at, &mm, &err));
    assert_memory_equal(mm.base + at[0], "hello\0", 6);
    assert_memory_equal(mm.base + at[2], "world", 5);
    assert_int_equal(at[1], at[2]);
    os_multimap_fini(&mm);
    for (int i = 0; i < 3; i++)
        os_file_close(&f[i]);
    for (int i = 0; i < 4; i++)
        unlink(path[i]);
    assert_true(os_file_open(dir, &f[0], &err));
    assert_int_equal(f[0].kind, OS_FILE_DIRECTORY);
    os_file_close(&f[0]);
    assert_false(os_file_open_regular(dir, &f[0], &err));
    assert_int_equal(mkfifo(path[0], 0600), 0);
    assert_false(os_file_open_regular(path[0], &f[0], &err)); /* without waiting for a writer */
    assert_string_equal(err.message, "not a regular file");
    assert_int_equal(f[0].fd, -1);
    unlink(path[0]);
    rmdir(dir);
    assert_false(os_file_open(path[0], &f[0], &err));
    assert_int_equal(err.code, ERR_ABSENT);
}

static void output_possible(void **state) {
    (void)state;
    struct err e = ERR_INIT;
    assert_true(os_output_possible("not-there-yet.data", &e));
    assert_int_equal(access("not-there-yet.data", F_OK), -1); /* asking makes nothing */
    assert_true(os_output_possible("/dev/null", &e));
    assert_false(os_output_possible("/no/such/folder/perf.data", &e));
    assert_int_equal(e.code, ERR_ABSENT);
}

/* Large writes go out in pieces: at any place, over the borders of spans, all of them. */
static void output_writes_all(void **state) {
    (void)state;
    enum { FIRST = 100001, SECOND = 70003, AT = 12345, ALL = FIRST + SECOND + 1 };
    char path[] = "/tmp/os_test.XXXXXX";
    struct os_output out;
    struct err err = ERR_INIT;
    close(mkstemp(path));
    assert_true(os_output_create(path, &out, &err));
    uint8_t *from = malloc(ALL), *got = malloc(AT + ALL + 1);
    for (uint32_t i = 0; i < ALL; i++)
        from[i] = (uint8_t)(i * 7 + (i >> 8));
    const struct bytes spans[] = {
        {from, FIRST}, {from, 0}, {from + FIRST, SECOND}, {from + FIRST + SECOND, 1}};
    assert_int_equal(out.write(out.ctx, AT, spans, 4), ALL);
    FILE *f = fopen(path, "rb");
    assert_int_equal(fread(got, 1, AT + ALL + 1, f), AT + ALL);
    assert_memory_equal(got + AT, from, ALL);
    fclose(f);
    assert_int_equal(out.close(out.ctx), 0);
    unlink(path);
    free(from);
    free(got);
}

/* Every CPU that we may use can be gone to, and left again; no other can. */
static void affinity(void **state) {
    (void)state;
    struct os_affinity a;
    cpu_set_t now, before;
    os_affinity_init(&a);
    assert_true(a.known);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        assert_int_equal(os_affinity_to_cpu(&a, cpu), CPU_ISSET(cpu, &before) != 0);
        if (CPU_ISSET(cpu, &before))
            assert_int_equal(sched_getcpu(), cpu);
    }
    int cpu = sched_getcpu();
    if (os_affinity_to_node(&a, cpu)) {
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_true(CPU_ISSET(cpu, &now));
    }
    assert_false(os_affinity_to_cpu(&a, -1) || os_affinity_to_node(&a, -1));
    os_affinity_restore(&a);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
}

/* A file that has lost its name is no less there. */
static void held(void **state) {
    (void)state;
    char path[] = "/tmp/os_test.XXXXXX";
    struct os_held h;
    struct os_image image;
    struct os_identity id;
    const struct os_proc *p = &os_proc_system;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "content", 7), 7);
    close(fd);
    assert_true(p->hold(p->ctx, path, getpid(), &h, NULL));
    assert_int_equal(h.identity.size, 7);
    unlink(path);
    assert_true(p->held_identity(p->ctx, &h, &id) && id.ino == h.identity.ino);
    assert_true(p->held_image(p->ctx, &h, 3, &image, NULL));
    assert_true(image.bytes.size == 3 && memcmp(image.bytes.data, "con", 3) == 0);
    p->release(p->ctx, &image);
    p->unhold(p->ctx, &h);
    assert_false(p->hold(p->ctx, path, getpid(), &h, NULL));
    assert_false(p->hold(p->ctx, "/tmp", getpid(), &h, NULL));
    fd = memfd_create("os_test", 0);
    assert_int_equal(write(fd, "content", 7), 7);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(p->hold(p->ctx, path, getpid(), &h, NULL));
    assert_int_equal(h.where, OS_HELD_PASSING);
    p->unhold(p->ctx, &h);
    close(fd);
}

/* Where the heap cannot grow malloc goes on elsewhere: up to the heap's end all is in use then. */
static void heap_elsewhere(void **state) {
    enum { BLOCK = 64 << 10, COUNT = 128, MORE = 8 << 20 };
    uint8_t *blocks[COUNT];
    (void)state;
    if (!mallopt(M_MMAP_THRESHOLD, 2 * MORE)) {
        print_message("SKIP the heap's end: this malloc is another one than the C library's\n");
        skip();
    }
    for (int i = 0; i < COUNT; i++)
        memset(blocks[i] = malloc(BLOCK), i + 1, BLOCK);
    uint8_t *end = sbrk(0),
            *wall = mmap(end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(wall, end);
    void *volatile more = malloc(MORE);
    free(more);
    os_heap_give_back();
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(blocks[i][0], i + 1);
        assert_memory_equal(blocks[i], blocks[i] + 1, BLOCK - 1);
        free(blocks[i]);
    }
    munmap(wall, 4096);
}

static void holds(const char *path, const char *want, mode_t mode) {
    char got[64] = "";
    struct stat st;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, want);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, mode);
}

static void place_writes(void **state) {
    (void)state;
    char folder[] = "/tmp/os_test.XXXXXX", path[64], link[64];
    struct err err = ERR_INIT;
    const struct bytes one = {(const uint8_t *)"one", 3}, none = {NULL, 0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    mode_t mask = umask(027);
    assert_true(os_place_write(path, one, &err));
    umask(mask);
    holds(path, "one", 0640);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_true(os_place_write(link, none, &err)); /* what the link leads to */
    holds(path, "", 0600);
    assert_true(os_place_write("/dev/null", one, &err));
    assert_false(os_place_write("/no/such/folder/file", one, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    unlink(path), unlink(link);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spool_grows_in_place),
        cmocka_unit_test(test_spool_append),
        cmocka_unit_test(output_possible),
        cmocka_unit_test(test_files),
        cmocka_unit_test(output_writes_all),
        cmocka_unit_test(affinity),
        cmocka_unit_test(held),
        cmocka_unit_test(place_writes),
        cmocka_unit_test(heap_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
