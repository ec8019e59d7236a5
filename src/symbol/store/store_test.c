/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a tree of files of its own: which file is taken, and which refused. */
#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"

#include "symbol/store/store_test.h"

#include <fcntl.h>

#include "format/perfdata/added/kept.h"

/* Files that nothing proves, by the user's word: under their own names, or under the ones that he gives them.
 */
static void test_forced_name(void **state) {
    struct tree *t = *state;
    static const struct {
        const char *before, *file; /* of the option */
        bool used;
    } cases[] = {{"", "/prog", true},
                 {"", "/other", false},
                 {"prog=", "/other", true},
                 {"/bin/prog=", "/other", true},
                 {"/usr/prog=", "/prog", false},
                 {"lib=", "/prog", false}};
    uint64_t text;
    put_elf(t, "/prog", &PROG, &text);
    put_elf(t, "/other", &PROG, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char forced[256], unused[256] = "";
        snprintf(forced, sizeof forced, "/none/prog,%s%s%s", cases[i].before, t->root, cases[i].file);
        struct symbol_options o = {.symfs = "/nonexistent", .force_images = forced};
        struct symbol_image image = FILE_IMAGE;
        image.build_id = text_bytes(ID_B);
        struct session s = ask(&o, &image);
        assert_string_equal(at(&s, text + 0x10), cases[i].used ? "main" : "");
        if (cases[i].used)
            assert_string_equal(grade_at(&s, text + 0x10), "inferred none symtab");
        size_t k = 0;
        assert_true(symbol_store_unused_force(s.store, &k, unused, sizeof unused));
        assert_string_equal(unused, "/none/prog");
        assert_int_equal(symbol_store_unused_force(s.store, &k, unused, sizeof unused), !cases[i].used);
        if (!cases[i].used)
            assert_string_equal(unused, in_tree(t, cases[i].file));
        symbol_store_free(s.store);
    }
    /* One whose separate debug file has the names is used, too. */
    const struct recipe stripped = {.type = ET_DYN, .id = ID_A};
    char unused[256];
    size_t k = 0;
    put_elf(t, "/prog", &stripped, &text);
    put_elf(t, "/usr/lib/debug/.build-id/61/61616161616161616161616161616161616161.debug", &PROG, NULL);
    struct symbol_options o = {.symfs = t->root, .force_images = in_tree(t, "/prog")};
    struct session s = ask(&o, &FILE_IMAGE);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_int_equal(s.source.origin, SYMBOL_FROM_DEBUG_FILE);
    assert_false(symbol_store_unused_force(s.store, &k, unused, sizeof unused));
    symbol_store_free(s.store);
}

static void test_file(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    uint64_t text;
    put_elf(t, "/bin/prog", &PROG, &text);
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_string_equal(at(&s, text + 0x1f), "main");
    assert_string_equal(at(&s, text + 0x20), "");
    assert_string_equal(at(&s, text + 0x80), "last");
    assert_string_equal(at(&s, text + 0xff), "last"); /* up to the end of the segment */
    assert_string_equal(at(&s, text + 0x100), "");
    assert_int_equal(symbol_table_address(s.table, text + 0x15), 0x1015);
    assert_string_equal(grade_at(&s, text + 0x10), "inferred none symtab");
    assert_string_equal(grade_at(&s, text + 0x20), "unknown none none");
    assert_false(s.source.proved);
    assert_int_equal(s.source.origin, SYMBOL_FROM_FILE);
    assert_null(symbol_store_warning(s.store, 0));
    assert_true(symbol_store_bytes(s.store, 0).code.size > 0x100);
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_A);
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_true(s.source.proved);
    assert_string_equal(grade_at(&s, text + 0x10), "exact build-id symtab");
    assert_string_equal(grade_at(&s, text + 0x80), "inferred build-id symtab"); /* no size */
    symbol_store_free(s.store);

    image.id_by_name = true; /* perf's list: whatever had the name when it ended */
    s = ask(&o, &image);
    assert_string_equal(grade_at(&s, text + 0x10), "inferred none symtab");
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_B);
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    assert_string_equal(s.source.path, in_tree(t, "/bin/prog"));
    assert_non_null(strstr(symbol_store_warning(s.store, 0), HEX_A));
    assert_string_equal(grade_at(&s, text + 0x10), "stale none none");
    symbol_store_free(s.store);

    image = FILE_IMAGE;
    image.replaced = true;
    s = ask(&o, &image);
    assert_string_equal(grade_at(&s, text + 0x10), "stale none none");
    symbol_store_free(s.store);
    image.name = "/bin/none"; /* where nothing is, nothing is stale */
    s = ask(&o, &image);
    assert_string_equal(grade_at(&s, text + 0x10), "unknown none none");
    symbol_store_free(s.store);

    image = FILE_IMAGE;
    image.name = "/bin/none";
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_ABSENT);
    assert_null(symbol_store_warning(s.store, 0));
    struct symbol_try try;
    assert_true(symbol_store_try(s.store, 0, 0, &try));
    assert_string_equal(try.path, in_tree(t, "/bin/none"));
    assert_non_null(try.why);
    assert_false(symbol_store_try(s.store, 0, 1, &try));
    assert_string_equal(grade_at(&s, text + 0x10), "unknown none none");
    symbol_store_free(s.store);
}

/* Files without a build-id: the cookie decides; without one the state. */
static void test_evidence(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    struct recipe plain = PROG;
    struct perfdata_evidence e = {.has_state = true};
    struct os_identity now;
    struct os_image file;
    uint64_t text;
    plain.id = NULL;
    put_elf(t, "/bin/prog", &plain, &text);
    const char *path = in_tree(t, "/bin/prog");
    assert_true(os_proc_system.identity(NULL, path, &now, NULL));
    assert_true(os_proc_system.image(NULL, path, UINT64_MAX, &file, NULL));
    assert_true(object_cookie_read(file.bytes, e.cookie));
    os_proc_system.release(NULL, &file);
    e.state = (struct perfdata_file_state){now.dev, now.ino, now.size, now.mtime_ns, now.ctime_ns};
    image.evidence = &e;
    for (int i = 0; i < 6; i++) {
        struct perfdata_file_state was = e.state;
        static const char *const grades[] = {"exact fstat symtab", "exact fstat symtab",
                                             "stale none none",    "inferred none symtab",
                                             "stale none none",    "exact cookie symtab"};
        bool named = i != 2 && i != 4, proved = i == 0 || i == 1 || i == 5;
        e.has_cookie = i >= 4;
        e.cookie[0] ^= i == 4; /* other code */
        e.state.ctime_ns += i == 2 || i == 5;
        e.state.ino += i == 3; /* another machine's, for all we know */
        struct session s = ask(&o, &image);
        e.cookie[0] ^= i == 4;
        e.state = was;
        assert_string_equal(s.table ? at(&s, text + 0x10) : "", named ? "main" : "");
        assert_int_equal(s.source.proved, proved);
        assert_int_equal(s.source.status, named ? SYMBOL_FOUND : SYMBOL_CONTRADICTED);
        assert_string_equal(grade_at(&s, text + 0x10), grades[i]);
        symbol_store_free(s.store);
    }
}

/* Where the recording was made, what stat(2) says of a file now counts; elsewhere only its size does. */
static void test_changed(void **state) {
    enum { EVIDENCE, MAPS, CAPTURED };
    static const struct {
        int known;                /* what the recording says of the file */
        int64_t ino, size, later; /* how that differs from the file now; `later`: recorded before its mtime */
        const char *here, *elsewhere, *nowhere; /* the grade by where it was recorded */
    } cases[] = {
        {EVIDENCE, 0, 0, 0, "exact", "exact", "exact"},
        {EVIDENCE, 1, 0, 0, "stale", "inferred", "stale"},
        {EVIDENCE, 1, 1, 0, "stale", "stale", "stale"},
        {MAPS, 0, 0, 0, "inferred", "inferred", "inferred"},
        {MAPS, 1, 0, 0, "stale", "inferred", "inferred"},
        {CAPTURED, 0, 0, 0, "inferred", "inferred", "inferred"},
        {CAPTURED, 0, 0, 1, "stale", "inferred", "inferred"},
    };
    struct tree *t = *state;
    struct recipe plain = PROG;
    struct os_host host;
    struct os_identity now;
    uint64_t text;
    plain.id = NULL;
    put_elf(t, "/bin/prog", &plain, &text);
    const char *path = strdup(in_tree(t, "/bin/prog"));
    assert_true(os_proc_system.identity(NULL, path, &now, NULL));
    os_host_read(&host);
    for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        size_t c = i / 3;
        const char *want[] = {cases[c].here, cases[c].elsewhere, cases[c].nowhere};
        const char *hosts[] = {host.name, "elsewhere.example", NULL};
        struct perfdata_evidence e = {.has_state = true,
                                      .state = {now.dev, now.ino + (uint64_t)cases[c].ino,
                                                now.size + (uint64_t)cases[c].size, now.mtime_ns,
                                                now.ctime_ns}};
        struct symbol_options o = {.recorded_host = hosts[i % 3]};
        struct symbol_image image = FILE_IMAGE;
        image.name = path;
        image.evidence = cases[c].known == EVIDENCE ? &e : NULL;
        if (cases[c].known == MAPS) {
            image.dev = now.dev;
            image.ino = now.ino + (uint64_t)cases[c].ino;
        }
        if (cases[c].known == CAPTURED)
            o.recorded_ns = now.mtime_ns - cases[c].later;
        struct session s = ask(&o, &image);
        assert_memory_equal(grade_at(&s, text + 0x10), want[i % 3], strlen(want[i % 3]));
        symbol_store_free(s.store);
    }
    free((char *)(uintptr_t)path);
}

/* A file's times against those of the recording, and a list of build-ids made when it was closed. The
 * recording is of [100 s, 200 s) of its own clock, and was complete at 1,000,200 s of the wall's: what it
 * maps at 150 s was mapped at 1,000,150 s or before. */
static void test_times(void **state) {
    enum { PLAIN, BUILT, LISTED }; /* no build-id; one that was not recorded; its path's was listed */
    static const int64_t S = 1000000000;
    static const struct {
        int kind;
        int64_t mtime, first; /* seconds of the wall's clock; of the recording's, 0: before it */
        bool other;           /* the map event has another inode */
        bool late;            /* its ctime is later than the recording */
        const char *grade;
        int64_t slow; /* the recording was complete that long after its last sample, and tells its clock */
    } cases[] = {
        {PLAIN, 1000000, 150, false, false, "inferred"},  {PLAIN, 1000149, 150, false, false, "inferred"},
        {PLAIN, 1000151, 150, false, false, "stale"},     {BUILT, 1000151, 150, false, false, "stale"},
        {LISTED, 1000149, 150, false, false, "inferred"}, {LISTED, 1000151, 150, false, false, "stale"},
        {LISTED, 1000099, 0, false, false, "inferred"},   {LISTED, 1000101, 0, false, false, "stale"},
        {LISTED, 1000000, 150, true, false, "stale"},     {PLAIN, 1000000, 150, true, false, "stale"},
        {PLAIN, 1000000, 150, false, true, "stale"},      {BUILT, 1000000, 150, false, true, "inferred"},
        {LISTED, 1000000, 150, true, true, "inferred"}, /* put there later: it may be a copy */
        {PLAIN, 1000151, 150, false, false, "stale", 3},  {PLAIN, 1000149, 150, false, false, "inferred", 3},
    };
    struct tree *t = *state;
    struct os_host host;
    struct os_identity now;
    uint64_t text;
    os_host_read(&host);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recipe file = PROG;
        file.id = cases[i].kind == PLAIN ? NULL : ID_A;
        put_elf(t, "/bin/prog", &file, &text);
        char *path = strdup(in_tree(t, "/bin/prog"));
        assert_true(os_proc_system.identity(NULL, path, &now, NULL));
        /* Its ctime cannot be chosen: the wall's clock is moved instead. */
        int64_t moved = now.ctime_ns - (cases[i].late ? 1000205 : 1000195) * S;
        int64_t mtime = cases[i].mtime * S + moved;
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {mtime / S, mtime % S}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        const struct symbol_span span = {100 * (uint64_t)S, 200 * (uint64_t)S};
        struct symbol_options o = {.recorded_host = host.name,
                                   .recorded_ns = (1000200 + cases[i].slow) * S + moved,
                                   .clock_to_wall_ns = cases[i].slow ? 1000000 * S + moved : 0,
                                   .span = &span};
        struct symbol_image image = FILE_IMAGE;
        image.name = path;
        image.dev = now.dev;
        image.ino = now.ino + cases[i].other;
        image.mapped_ns = (uint64_t)(cases[i].first * S);
        image.build_id = cases[i].kind == LISTED ? text_bytes(ID_A) : (struct bytes){0};
        image.id_by_name = cases[i].kind == LISTED;
        struct session s = ask(&o, &image);
        assert_memory_equal(grade_at(&s, text + 0x10), cases[i].grade, strlen(cases[i].grade));
        symbol_store_free(s.store);
        free(path);
    }
}

/* Times of which no moment can be made contradict nothing. */
static void test_senseless_times(void **state) {
    struct tree *t = *state;
    static const struct {
        struct symbol_span span;
        int64_t clock_to_wall_ns;
    } cases[] = {{{1, 1 + ((uint64_t)1 << 63)}, 0}, {{INT64_MAX, INT64_MAX}, INT64_MAX}};
    struct recipe plain = PROG;
    struct os_host host;
    uint64_t text;
    os_host_read(&host);
    plain.id = NULL;
    put_elf(t, "/bin/prog", &plain, &text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct symbol_options o = {.recorded_host = host.name,
                                   .recorded_ns = INT64_MAX,
                                   .clock_to_wall_ns = cases[i].clock_to_wall_ns,
                                   .span = &cases[i].span};
        struct symbol_image image = FILE_IMAGE;
        image.name = in_tree(t, "/bin/prog");
        struct session s = ask(&o, &image);
        assert_string_equal(grade_at(&s, text + 0x10), "inferred none symtab");
        symbol_store_free(s.store);
    }
}

static void test_deleted(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    uint64_t text;
    put_elf(t, "/bin/prog", &PROG, &text);
    image.name = "/bin/prog (deleted)";
    image.deleted = true;
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_ABSENT); /* another file may have its path */
    symbol_store_free(s.store);
    image.build_id = text_bytes(ID_A);
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main"); /* unless it proves to be the same */
    symbol_store_free(s.store);
}

static void test_cache(void **state) {
    struct tree *t = *state;
    char cache[128];
    snprintf(cache, sizeof cache, "%s/cache", t->root);
    struct symbol_options o = {.cache = cache};
    struct symbol_image image = FILE_IMAGE;
    uint64_t text;
    put_elf(t, "/cache/.build-id/61/61616161616161616161616161616161616161/elf", &PROG, &text);
    image.name = "/nowhere/prog";
    image.build_id = text_bytes(ID_A);
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_int_equal(s.source.origin, SYMBOL_FROM_CACHE);
    symbol_store_free(s.store);
    /* The cache may be wrong: what is in the file decides. */
    struct recipe other = PROG;
    other.id = ID_B;
    put_elf(t, "/cache/.build-id/61/61616161616161616161616161616161616161/elf", &other, NULL);
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

static void test_debug_files(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    uint64_t text;
    const struct recipe stripped = {
        .type = ET_DYN, .id = ID_A, .table = SHT_DYNSYM, .functions = {{"exported", 0x1010, 0x10, 0}}};
    struct recipe linked = {.type = ET_DYN, .link = "prog.debug"}, debug = PROG;
    put_elf(t, "/bin/prog", &stripped, &text);
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "exported");
    assert_string_equal(grade_at(&s, text + 0x10), "inferred none dynsym");
    symbol_store_free(s.store);

    put_elf(t, "/usr/lib/debug/.build-id/61/61616161616161616161616161616161616161.debug", &PROG, NULL);
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_int_equal(s.source.origin, SYMBOL_FROM_DEBUG_FILE);
    symbol_store_free(s.store);

    debug.id = ID_B; /* not what it claims to be */
    put_elf(t, "/usr/lib/debug/.build-id/61/61616161616161616161616161616161616161.debug", &debug, NULL);
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "exported");
    symbol_store_free(s.store);

    /* By the link: in three places, if the checksum is right. */
    static const char *const places[] = {"/bin/prog.debug", "/bin/.debug/prog.debug",
                                         "/usr/lib/debug/bin/prog.debug"};
    for (size_t i = 0; i < 3; i++) {
        put_elf(t, places[i], &PROG, NULL);
        FILE *f = fopen(in_tree(t, places[i]), "r");
        uint8_t content[8192];
        linked.crc = object_debuglink_crc((struct bytes){content, fread(content, 1, sizeof content, f)});
        fclose(f);
        put_elf(t, "/bin/prog", &linked, &text);
        s = ask(&o, &image);
        assert_string_equal(at(&s, text + 0x10), "main");
        assert_string_equal(s.source.path, in_tree(t, places[i]));
        symbol_store_free(s.store);
        linked.crc++;
        put_elf(t, "/bin/prog", &linked, &text);
        s = ask(&o, &image);
        assert_string_equal(at(&s, text + 0x10), "");
        symbol_store_free(s.store);
        remove(in_tree(t, places[i]));
    }
}

/* A file that has its symbols, and a link to where the rest of its debug information was moved (strip -g). */
static void test_moved_lines(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    struct recipe linked = PROG;
    uint64_t text;
    uint8_t content[8192];
    put_elf(t, "/bin/prog.debug", &PROG, NULL);
    FILE *f = fopen(in_tree(t, "/bin/prog.debug"), "r");
    assert_non_null(f);
    struct bytes debug = {content, fread(content, 1, sizeof content, f)};
    fclose(f);
    for (int wrong = 0; wrong < 2; wrong++) {
        linked.link = "prog.debug";
        linked.crc = object_debuglink_crc(debug) + (uint32_t)wrong;
        linked.id = NULL;
        put_elf(t, "/bin/prog", &linked, &text);
        struct session s = ask(&o, &image);
        assert_string_equal(at(&s, text + 0x10), "main");
        assert_int_equal(s.source.origin, SYMBOL_FROM_FILE);
        struct symbol_bytes bytes = symbol_store_bytes(s.store, 0);
        assert_int_equal(bytes_equal(bytes.debug, debug), !wrong);
        symbol_store_free(s.store);
    }
}

/* What dwz(1) moved: beside the file that has the link, at an absolute path, among the system's debug files;
 * each proved by its build-id. */
static void test_dwz(void **state) {
    struct tree *t = *state;
    static const struct {
        const char *link, *file;
    } cases[] = {{"../dwz/common", "/dwz/common"},
                 {"/usr/lib/debug/.dwz/common", "/usr/lib/debug/.dwz/common"},
                 {"gone", "/usr/lib/debug/.build-id/"
                          "62/62626262626262626262626262626262626262.debug"}};
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recipe prog = PROG, common = {.type = ET_DYN, .id = ID_B};
        prog.dwz = cases[i].link;
        put_elf(t, "/bin/prog", &prog, NULL);
        put_elf(t, cases[i].file, &common, NULL);
        struct session s = ask(&o, &image);
        struct bytes found = symbol_store_dwz(s.store, 0, symbol_store_bytes(s.store, 0).code);
        struct object_build_id id;
        assert_true(found.size && object_build_id_read(found, &id));
        assert_memory_equal(id.bytes, ID_B, id.size);
        symbol_store_free(s.store);
        common.id = ID_A; /* another one */
        put_elf(t, cases[i].file, &common, NULL);
        s = ask(&o, &image);
        assert_int_equal(symbol_store_dwz(s.store, 0, symbol_store_bytes(s.store, 0).code).size, 0);
        symbol_store_free(s.store);
        remove(in_tree(t, cases[i].file));
        s = ask(&o, &image);
        assert_int_equal(symbol_store_dwz(s.store, 0, symbol_store_bytes(s.store, 0).code).size, 0);
        symbol_store_free(s.store);
    }
}

/* The recording kept more of a file than is left of it here: names and source lines come from there, its code
 * from here. */
static void test_stripped_since(void **state) {
    struct tree *t = *state;
    const struct recipe stripped = {.type = ET_DYN, .id = ID_A};
    struct symbol_image image = FILE_IMAGE;
    struct writer part = writer_make(false);
    uint8_t content[8192];
    put_elf(t, "/kept", &PROG, NULL);
    FILE *f = fopen(in_tree(t, "/kept"), "r");
    size_t size = fread(content, 1, sizeof content, f);
    fclose(f);
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_TABLES,
                              .name = text_bytes("/bin/prog"),
                              .evidence = {.build_id_size = 20},
                              .file_size = size,
                              .kept_size = size,
                              .packed = {content, size}};
    memcpy(k.evidence.build_id, ID_A, 20);
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, size}, 1, &part);
    put_elf(t, "/bin/prog", &stripped, NULL);
    struct symbol_options o = {.symfs = t->root, .kept = writer_bytes(&part)};
    image.build_id = text_bytes(ID_A);
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.origin, SYMBOL_FROM_KEPT);
    assert_int_equal(symbol_table_count(s.table), 2);
    struct symbol_bytes bytes = symbol_store_bytes(s.store, 0);
    assert_int_equal(bytes.debug.size, size);
    assert_true(bytes.code.size && bytes.code.size < size);
    symbol_store_free(s.store);
    writer_fini(&part);
}

/* Servers may be folders: libdebuginfod takes any URL that libcurl knows. */
static void test_debuginfod(void **state) {
    struct tree *t = *state;
    char urls[128], path[256];
    uint64_t text;
    struct err err = ERR_INIT;
    snprintf(urls, sizeof urls, "file://%s/server", t->root);
    setenv("DEBUGINFOD_CACHE_PATH", in_tree(t, "/downloads"), 1);
    struct os_debuginfod *d = os_debuginfod_new(urls, 10000, NULL);
    char *none = os_debuginfod_find(d, text_bytes(ID_B), OS_DEBUGINFOD_DEBUGINFO, &err);
    os_debuginfod_free(d);
    assert_null(none);
    if (err.code == ERR_UNSUPPORTED) {
        print_message("SKIP: %s\n", err.message);
        skip();
    }
    assert_int_equal(err.code, ERR_ABSENT);
    const struct recipe stripped = {.type = ET_DYN, .id = ID_A};
    put_elf(t, "/bin/prog", &stripped, &text);
    put_elf(t, "/server/buildid/" HEX_A "/debuginfo", &PROG, NULL);
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = FILE_IMAGE;
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), ""); /* nobody asks unless told to */
    symbol_store_free(s.store);
    o.debuginfod_urls = urls;
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    symbol_store_free(s.store);
    put_elf(t, "/server/buildid/" HEX_A "/executable", &PROG, NULL);
    image.name = "/gone/prog";
    image.build_id = text_bytes(ID_A);
    s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_true(s.source.proved);
    symbol_store_free(s.store);
    snprintf(path, sizeof path, "rm -r '%s/downloads'", t->root);
    assert_int_equal(system(path), 0);
    unsetenv("DEBUGINFOD_CACHE_PATH");
    unsetenv("DEBUGINFOD_URLS");
}

static void test_vdso(void **state) {
    (void)state;
    struct symbol_options o = {0};
    struct bytes own = os_host_vdso();
    struct object_build_id id;
    if (!own.size || !object_build_id_read(own, &id)) {
        print_message("SKIP: this system has no vdso with a build-id\n");
        skip();
    }
    struct symbol_image image = {
        .kind = SYMBOL_IMAGE_VDSO, .name = "[vdso]", .pid = UINT32_MAX, .build_id = {id.bytes, id.size}};
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.origin, SYMBOL_FROM_SELF);
    assert_true(symbol_table_count(s.table) > 0);
    symbol_store_free(s.store);
    id.bytes[0] ^= 1;
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_ABSENT);
    symbol_store_free(s.store);
    image.build_id = (struct bytes){0};
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_ABSENT);
    symbol_store_free(s.store);
    /* The kernel that brought it can stand for it. */
    struct os_host host;
    os_host_read(&host);
    for (int same = 0; same < 2; same++) {
        struct symbol_image kernel = KERNEL;
        kernel.release = same ? host.release : "2.6.39-other";
        s = (struct session){symbol_store_new(&o, NULL)};
        symbol_store_add(s.store, &kernel);
        uint32_t id_of = symbol_store_add(s.store, &image);
        assert_int_equal(symbol_store_table(s.store, id_of) != NULL, same);
        assert_false(symbol_store_source(s.store, id_of).proved);
        symbol_store_free(s.store);
        image.release = kernel.release; /* no map of any kernel, but it is known which one it was */
        s = ask(&o, &image);
        assert_int_equal(s.table != NULL, same);
        assert_false(s.source.proved);
        symbol_store_free(s.store);
        image.release = NULL;
    }
}

static void test_map(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = {.kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-42.map", .pid = 42};
    put(t, "/tmp/perf-42.map",
        text_bytes("7f0020 10 second one\n7f0000 10 first\n7f0000 8 first\nbad line\n7f0040 0 point"));
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0x7f0000), "first");
    assert_string_equal(grade_at(&s, 0x7f0000), "inferred none perf map");
    assert_string_equal(at(&s, 0x7f0008), "");
    assert_string_equal(at(&s, 0x7f002f), "second one");
    assert_string_equal(at(&s, 0x7f0040), "point");
    assert_string_equal(at(&s, 0x7f0041), "");
    symbol_store_free(s.store);
}

/* Memory that was used again: no line tells when. */
static void test_reused_map(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = {
        .kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-43.map", .pid = 43, .young = true};
    static const struct {
        const char *lines, *names; /* of 0x1000, 0x1008, 0x1010, 0x1018, ... */
    } cases[] = {
        {"1000 10 f\n1008 10 g\n1020 8 h\n", " | | | |h"},   /* one end in another */
        {"1000 20 f\n1008 8 g\n1020 8 h\n", " | | | |h"},    /* one inside of another */
        {"1008 8 g\n1000 20 f\n1020 8 h\n", " | | | |h"},    /* listed the other way round */
        {"1000 8 f\n1000 8 g\n1008 8 h\n", " |h"},           /* the same place */
        {"1000 8 f\n1000 8 g\n1000 8 f\n1008 8 f\n", " |f"}, /* and back again */
        {"1000 10 f\n1010 8 g\n", "f|f|g"},                  /* next to each other */
        {"1000 28 f\n1008 8 f\n1020 8 g\n", " |f| | | "},    /* only what overlaps another name */
        {"1000 8 f\n1000 28 h\n1008 8 f\n1020 8 g\n", " | | | | "},
        {"1000 8 f\n1004 0 g\n1010 8 h\n", " | |h"}, /* a point in it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(t, "/tmp/perf-43.map", text_bytes(cases[i].lines));
        struct session s = ask(&o, &image);
        char got[64] = "";
        for (uint64_t k = 0; strlen(got) < strlen(cases[i].names); k++) {
            const char *name = at(&s, 0x1000 + 8 * k);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? "|" : "", *name ? name : " ");
        }
        assert_string_equal(got, cases[i].names);
        symbol_store_free(s.store);
    }
    /* Of what ran before it was recorded most was over by then. */
    image.young = false;
    put(t, "/tmp/perf-43.map", text_bytes("1000 10 f\n1000 8 g\n"));
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0x1000), "g");
    assert_string_equal(at(&s, 0x1008), "");
    symbol_store_free(s.store);
}

static void test_named(void **state) {
    (void)state;
    struct symbol_options o = {0};
    struct symbol_image image = {.kind = SYMBOL_IMAGE_NAMED,
                                 .space = SYMBOL_KERNEL,
                                 .name = "bpf_prog_6deef7357e7b4530",
                                 .pid = UINT32_MAX,
                                 .start = 0xffffffffc0001000,
                                 .end = 0xffffffffc0001080};
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0x7f), "bpf_prog_6deef7357e7b4530");
    assert_string_equal(at(&s, 0x80), "");
    assert_true(s.source.proved);
    assert_string_equal(grade_at(&s, 0x7f), "exact record ksymbol");
    symbol_store_free(s.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TREE_TEST(test_forced_name), TREE_TEST(test_file),         TREE_TEST(test_evidence),
        TREE_TEST(test_changed),     TREE_TEST(test_times),        TREE_TEST(test_senseless_times),
        TREE_TEST(test_deleted),     TREE_TEST(test_cache),        TREE_TEST(test_debug_files),
        TREE_TEST(test_moved_lines), TREE_TEST(test_dwz),          TREE_TEST(test_stripped_since),
        TREE_TEST(test_debuginfod),  cmocka_unit_test(test_vdso),  TREE_TEST(test_map),
        TREE_TEST(test_reused_map),  cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
