/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a tree of files of its own: which file is taken, and which refused. */
#include "symbol/grade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/perfdata/module_map.h"
#include "object/cookie.h"
#include "object/links.h"
#include "os/debuginfod.h"
#include "os/host.h"
#include "os/proc.h"
#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"

#define ID_A  "aaaaaaaaaaaaaaaaaaaa"
#define ID_B  "bbbbbbbbbbbbbbbbbbbb"
#define HEX_A "6161616161616161616161616161616161616161"

static struct bytes text_bytes(const char *s) {
    return (struct bytes){(const uint8_t *)s, s ? strlen(s) : 0};
}

/* ---- the tree: $root is deleted at the end, file by file ---- */

struct tree {
    char root[64];
    VEC(char *) paths;
};

static const char *in_tree(const struct tree *t, const char *path) {
    static char whole[4][256];
    static unsigned turn;
    char *p = whole[turn++ % 4];
    snprintf(p, sizeof whole[0], "%s%s", t->root, path);
    return p;
}

static void put(struct tree *t, const char *path, struct bytes content) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", t->root, path);
    for (char *slash = whole + strlen(t->root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        if (mkdir(whole, 0700) == 0)
            *vec_push(&t->paths) = strdup(whole);
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(content.data, 1, content.size, f), content.size);
    fclose(f);
    *vec_push(&t->paths) = strdup(whole);
}

static int setup(void **state) {
    struct tree *t = calloc(1, sizeof *t);
    const char *tmp = getenv("TMPDIR");
    snprintf(t->root, sizeof t->root, "%.40s/symbolsXXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(t->root));
    *state = t;
    return 0;
}

static int teardown(void **state) {
    struct tree *t = *state;
    for (size_t i = t->paths.count; i-- > 0; free(t->paths.items[i]))
        remove(t->paths.items[i]);
    vec_fini(&t->paths);
    rmdir(t->root);
    free(t);
    return 0;
}

/* ---- images ---- */

struct function {
    const char *name;
    uint64_t value, size;
    uint32_t section;
};

struct recipe {
    uint16_t type;
    const char *id;   /* NULL: no build-id */
    const char *link; /* .gnu_debuglink's name */
    uint32_t crc;
    const char *dwz;              /* .gnu_debugaltlink's name; its build-id is ID_B */
    uint32_t table;               /* SHT_SYMTAB, SHT_DYNSYM; 0: none */
    struct function functions[8]; /* up to the first without a name */
};

/* .text at 0x1000, 0x100 bytes long, loaded from its offset in the file. Puts that offset into *text_at. */
static void put_elf(struct tree *t, const char *path, const struct recipe *r, uint64_t *text_at) {
    struct test_image image;
    test_image_init(&image, true, false, r->type, EM_X86_64);
    struct elf_image *m = &image.image;
    struct writer *text = test_image_part(&image), *cold = test_image_part(&image),
                  *init = test_image_part(&image), *table = test_image_part(&image),
                  *strings = test_image_part(&image), *note = test_image_part(&image),
                  *link = test_image_part(&image), *dwz = test_image_part(&image);
    bool relocatable = r->type == ET_REL;
    writer_zero(text, 0x100);
    writer_zero(cold, 0x40);
    writer_zero(init, 0x40);
    for (const struct function *f = r->functions; f->name; f++)
        elf_image_symbol_put(m, table, strings,
                             &(struct elf_image_symbol){.name = f->name,
                                                        .value = f->value,
                                                        .size = f->size,
                                                        .bind = STB_GLOBAL,
                                                        .type = STT_FUNC,
                                                        .section = f->section ? f->section : 1});
    uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
    elf_image_section(m, &(struct elf_image_section){".text", SHT_PROGBITS, 0, 0, flags,
                                                     relocatable ? 0 : 0x1000, 16, 0, writer_bytes(text), 0});
    elf_image_section(m,
                      &(struct elf_image_section){".init.text", SHT_PROGBITS, 0, 0, relocatable ? flags : 0,
                                                  0, 16, 0, writer_bytes(init), 0});
    elf_image_section(m,
                      &(struct elf_image_section){".text.unlikely", SHT_PROGBITS, 0, 0,
                                                  relocatable ? flags : 0, 0, 64, 0, writer_bytes(cold), 0});
    if (r->table) {
        elf_image_section(
            m, &(struct elf_image_section){"symbols", r->table, 5, 1, 0, 0, 8, 24, writer_bytes(table), 0});
        elf_image_section(m, &(struct elf_image_section){"strings", SHT_STRTAB, 0, 0, 0, 0, 1, 0,
                                                         writer_bytes(strings), 0});
    }
    if (r->id) {
        elf_image_note_put(note, "GNU", 3, text_bytes(r->id));
        uint32_t i = elf_image_section(
            m, &(struct elf_image_section){".note", SHT_NOTE, 0, 0, 0, 0, 4, 0, writer_bytes(note), 0});
        if (!relocatable)
            elf_image_segment(m, &(struct elf_image_segment){PT_NOTE, PF_R, 0, 4, i, i});
    }
    if (r->link) {
        writer_put(link, r->link, strlen(r->link) + 1);
        writer_align(link, 4);
        writer_u32(link, r->crc);
        elf_image_section(m, &(struct elf_image_section){".gnu_debuglink", SHT_PROGBITS, 0, 0, 0, 0, 4, 0,
                                                         writer_bytes(link), 0});
    }
    if (r->dwz) {
        writer_put(dwz, r->dwz, strlen(r->dwz) + 1);
        writer_put(dwz, ID_B, strlen(ID_B));
        elf_image_section(m, &(struct elf_image_section){".gnu_debugaltlink", SHT_PROGBITS, 0, 0, 0, 0, 1, 0,
                                                         writer_bytes(dwz), 0});
    }
    if (!relocatable)
        elf_image_segment(m, &(struct elf_image_segment){PT_LOAD, PF_R | PF_X, 0x1000, 16, 1, 1});
    put(t, path, test_image_done(&image));
    if (text_at)
        *text_at = m->sections.items[1].offset;
    test_image_fini(&image);
}

/* ---- asking ---- */

struct session {
    struct symbol_store *store;
    const struct symbol_table *table;
    struct symbol_source source;
};

static struct session ask(const struct symbol_options *o, const struct symbol_image *image) {
    struct session s = {symbol_store_new(o, NULL)};
    assert_non_null(s.store);
    assert_int_equal(symbol_store_add(s.store, image), 0);
    s.table = symbol_store_table(s.store, 0);
    s.source = symbol_store_source(s.store, 0);
    assert_int_equal(s.table != NULL, s.source.status == SYMBOL_FOUND);
    assert_int_equal(s.table == NULL, s.source.text != NULL);
    return s;
}

static const char *at(const struct session *s, uint64_t offset) {
    uint32_t i = s->table ? symbol_table_find(s->table, offset) : SYMBOL_NONE;
    return i == SYMBOL_NONE ? "" : symbol_table_shown(s->table, i);
}

/* Of the place's name, "exact build-id symtab". */
static const char *grade_at(const struct session *s, uint64_t offset) {
    static char text[64];
    uint32_t i = s->table ? symbol_table_find(s->table, offset) : SYMBOL_NONE;
    struct symbol_provenance p = symbol_store_provenance(s->store, 0, i);
    assert_int_equal(p.grade, symbol_store_grade(s->store, 0, i));
    assert_int_equal(p.grade == GRADE_EXACT, p.why == NULL);
    snprintf(text, sizeof text, "%s %s %s", grade_name(p.grade), symbol_identity_text(p.identity),
             symbol_list_text(p.list));
    return text;
}

static const struct symbol_image FILE_IMAGE = {
    .kind = SYMBOL_IMAGE_FILE, .pid = UINT32_MAX, .name = "/bin/prog"};

static const struct symbol_image KERNEL = {.kind = SYMBOL_IMAGE_KERNEL,
                                           .space = SYMBOL_KERNEL,
                                           .name = "[kernel.kallsyms]",
                                           .pid = UINT32_MAX,
                                           .start = 0xffffffff9b600000,
                                           .end = 0xffffffff9b601000,
                                           .reference = "_text",
                                           .reference_address = 0xffffffff9b600000};

/* ---- files ---- */

static const struct recipe PROG = {.type = ET_DYN,
                                   .id = ID_A,
                                   .table = SHT_SYMTAB,
                                   .functions = {{"main", 0x1010, 0x10, 0}, {"last", 0x1080, 0, 0}}};

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
    }
}

static void test_map(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    struct symbol_image image = {.kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-42.map", .pid = 42};
    put(t, "/tmp/perf-42.map",
        text_bytes("7f0020 10 second one\n7f0000 10 first\n7f0000 8 newer\nbad line\n7f0040 0 point"));
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0x7f0000), "newer");
    assert_string_equal(grade_at(&s, 0x7f0000), "inferred none perf map");
    assert_string_equal(at(&s, 0x7f0008), "");
    assert_string_equal(at(&s, 0x7f002f), "second one");
    assert_string_equal(at(&s, 0x7f0040), "point");
    assert_string_equal(at(&s, 0x7f0041), "");
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

/* ---- kernels ---- */

static const char KALLSYMS[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff9b600000 T _text\n"
                               "ffffffff9b600000 T startup\n"
                               "ffffffff9b600100 t one\n"
                               "ffffffff9b600180 r no_code\n"
                               "ffffffff9b600200 W two\n"
                               "ffffffff9b601000 T _etext\n"
                               "ffffffff9b700000 T _sinittext\n"
                               "ffffffff9b700010 t start_kernel\n"
                               "ffffffff9b700100 T _einittext\n"
                               "ffffffffc0000000 t mod_one\t[a_b]\n"
                               "ffffffffc0000040 t mod_two\t[a_b]\n"
                               "ffffffffc0002000 d mod_data\t[a_b]\n";

static void test_kallsyms(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct symbol_image image = KERNEL;
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600000), "startup"); /* the last of them */
    assert_string_equal(at(&s, 0xffffffff9b6001ff), "one");
    assert_string_equal(grade_at(&s, 0xffffffff9b6001ff), "inferred none kallsyms");
    assert_string_equal(at(&s, 0xffffffff9b600fff), "two"); /* to the map's end and no further */
    assert_string_equal(at(&s, 0xffffffff9b601000), "");
    assert_string_equal(at(&s, 0xffffffff9b700020), "start_kernel"); /* stacks of the idle tasks begin here */
    assert_string_equal(at(&s, 0xffffffff9b700100), "");
    assert_string_equal(at(&s, 0xffffffffc0000000), "");
    assert_int_equal(symbol_table_bind(s.table, symbol_table_find(s.table, 0xffffffff9b600200)), SYMBOL_WEAK);
    symbol_store_free(s.store);

    image.reference_address += 0x1000; /* another boot's */
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "another boot"));
    assert_string_equal(grade_at(&s, 0xffffffff9b6001ff), "stale none none");
    symbol_store_free(s.store);

    image = KERNEL; /* at the same place by chance, but of another length */
    image.end += 0x100000;
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);

    put(t, "/kallsyms", text_bytes("0000000000000000 T _text\n0000000000000000 t one\n"));
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_HIDDEN);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "kptr_restrict"));
    symbol_store_free(s.store);

    remove(path);
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_BROKEN);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), path)); /* the user named it */
    symbol_store_free(s.store);

    put(t, "/kallsyms", text_bytes("nothing of the kind\n"));
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_BROKEN);
    symbol_store_free(s.store);
}

static void test_vmlinux(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/vmlinux", t->root);
    const struct recipe vmlinux = {.type = ET_EXEC,
                                   .id = ID_A,
                                   .table = SHT_SYMTAB,
                                   .functions = {{"_text", 0xffffffff81000000, 0, 1},
                                                 {"one", 0xffffffff81000100, 0x20, 1},
                                                 {"_etext", 0xffffffff81001000, 0, 1},
                                                 {"far", 0xffffffff82000000, 8, 1}}};
    put_elf(t, "/vmlinux", &vmlinux, NULL);
    struct symbol_options o = {.host = {.vmlinux = path}};
    struct symbol_image image = KERNEL;
    image.build_id = text_bytes(ID_A);
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    assert_string_equal(at(&s, 0xffffffff9b600120), "");
    assert_string_equal(at(&s, 0xffffffff9c600000), "");
    assert_true(s.source.proved && s.source.has_slide);
    assert_int_equal(s.source.slide, 0x1a600000);
    assert_int_equal(symbol_table_address(s.table, 0xffffffff9b600110), 0xffffffff81000110);
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_B);
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
    o.ignore_vmlinux_buildid = true;
    s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    assert_false(s.source.proved);
    symbol_store_free(s.store);

    o.ignore_vmlinux_buildid = false;
    image.build_id = (struct bytes){0}; /* nothing recorded proves it, but its length contradicts */
    image.end += 0x100000;
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* Whatever runs here, it is not a kernel with this build-id, nor one that nothing is known of. */
/* What sonde keeps of a boot proves a list of its symbols, and contradicts those of all others. */
static void test_kernel_facts(void **state) {
    struct tree *t = *state;
    char path[128], other[128];
    struct perfdata_kernel_facts facts = {.symbol_count = 8};
    for (size_t i = 0; i < 8; i++)
        facts.symbols[i] = (struct perfdata_kernel_symbol){0xffffffff9b600100, "one"};
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    snprintf(other, sizeof other, "%s/other", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/other",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b600108 T one\nffffffff9b601000 T _etext\n"));
    struct symbol_options o = {.host = {.kallsyms = path}, .kernel = &facts};
    struct session s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "exact kernel kallsyms");
    symbol_store_free(s.store);

    facts.symbol_count = 3; /* too few to prove anything */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "inferred none kallsyms");
    symbol_store_free(s.store);

    o.host.kallsyms = other; /* the reference is where it was, but nothing else */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "stale none none");
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "one"));
    symbol_store_free(s.store);

    o.kernel = NULL;
    s = ask(&o, &KERNEL);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    symbol_store_free(s.store);

    const struct recipe vmlinux = {.type = ET_EXEC,
                                   .table = SHT_SYMTAB,
                                   .functions = {{"_text", 0xffffffff81000000, 0, 1},
                                                 {"one", 0xffffffff81000200, 0x20, 1},
                                                 {"_etext", 0xffffffff81001000, 0, 1}}};
    put_elf(t, "/vmlinux", &vmlinux, NULL);
    snprintf(path, sizeof path, "%s/vmlinux", t->root);
    o = (struct symbol_options){.host = {.vmlinux = path}, .kernel = &facts};
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600210), "stale none none");
    symbol_store_free(s.store);
    o.force_images = path; /* the user knows better */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600210), "inferred none symtab");
    symbol_store_free(s.store);
}

/* A list of another boot of the same kernel, which was not relocated: its modules tell. */
static void test_modules_elsewhere(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b601000 T _etext\nffffffffc0a00000 t f\t[ext4]\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct symbol_image module = {.kind = SYMBOL_IMAGE_MODULE,
                                  .space = SYMBOL_KERNEL,
                                  .name = "[ext4]",
                                  .start = 0xffffffffc0a00000,
                                  .end = 0xffffffffc0a10000};
    for (int moved = 0; moved < 2; moved++) {
        struct symbol_store *s = symbol_store_new(&o, NULL);
        symbol_store_add(s, &KERNEL);
        module.start += moved ? 0x100000 : 0;
        module.end += moved ? 0x100000 : 0;
        symbol_store_add(s, &module);
        assert_int_equal(symbol_store_table(s, 0) == NULL, moved);
        symbol_store_free(s);
    }
}

/* A BPF program that the recording tells of, and what a list of another boot, or of a kernel with more text,
 * has there. */
static void test_made_code(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b600000 T _stext\nffffffff9b601000 T _etext\n"
                   "ffffffffc0a00000 t bpf_prog_1\t[bpf]\nffffffffc0a00400 t bpf_prog_1\t[bpf]\n"
                   "ffffffffc0a00800 t ftrace_trampoline\t[__builtin__ftrace]\n"
                   "ffffffffc0a00c00 t other\t[ext4]\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    const struct {
        const char *name;
        uint64_t start;
        bool refused;
    } cases[] = {
        {"bpf_prog_1", 0xffffffffc0a00400, false},       {"bpf_prog_1", 0xffffffffc0a00404, true},
        {"bpf_prog_2", 0xffffffffc0a00404, false},       {"ftrace_trampoline", 0xffffffffc0a00800, false},
        {"ftrace_trampoline", 0xffffffffc0a00000, true}, {"other", 0xffffffffc0a00000, false},
        {"bpf_prog_2", 0xffffffff9b600800, true}, /* inside of the kernel's text */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct symbol_image code = {.kind = SYMBOL_IMAGE_NAMED,
                                    .space = SYMBOL_KERNEL,
                                    .name = cases[i].name,
                                    .start = cases[i].start,
                                    .end = cases[i].start + 0x40};
        struct symbol_store *s = symbol_store_new(&o, NULL);
        symbol_store_add(s, &KERNEL);
        symbol_store_add(s, &code);
        assert_int_equal(symbol_store_table(s, 0) == NULL, cases[i].refused);
        assert_int_equal(symbol_store_source(s, 0).status == SYMBOL_CONTRADICTED, cases[i].refused);
        symbol_store_free(s);
    }
}

/* Files that nothing proves, by the user's word. */
static void test_forced(void **state) {
    struct tree *t = *state;
    char path[256];
    uint64_t text;
    struct symbol_image image = FILE_IMAGE;
    image.build_id = text_bytes(ID_B);
    put_elf(t, "/other/prog", &PROG, &text);
    snprintf(path, sizeof path, "/no/such/prog,%s/other/prog", t->root);
    struct symbol_options o = {.symfs = "/nonexistent", .force_images = path};
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, text + 0x10), "main");
    assert_string_equal(grade_at(&s, text + 0x10), "inferred none symtab");
    symbol_store_free(s.store);
    image.name = "/bin/program";
    s = ask(&o, &image);
    assert_null(s.table);
    symbol_store_free(s.store);
}

static void test_foreign_kernel(void **state) {
    (void)state;
    struct symbol_options o = {.symfs = "/nonexistent"};
    struct symbol_image image = KERNEL;
    struct os_host host;
    os_host_read(&host);
    for (int i = 0; i < 3; i++) {
        image.build_id = i == 0 ? text_bytes(ID_A) : (struct bytes){0};
        image.release = i == 1 ? "2.6.39-other" : i == 2 ? NULL : host.release;
        struct session s = ask(&o, &image);
        assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
        assert_string_equal(s.source.path, "/proc/kallsyms");
        /* A kernel of another release is no candidate. */
        assert_string_equal(grade_at(&s, KERNEL.start), i == 0 ? "stale none none" : "unknown none none");
        symbol_store_free(s.store);
    }
    image.space = SYMBOL_GUEST_KERNEL;
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* ---- modules ---- */

static struct session ask_module(const struct symbol_options *o, const struct symbol_image *kernel,
                                 const struct symbol_image *module) {
    struct session s = {symbol_store_new(o, NULL)};
    symbol_store_add(s.store, kernel);
    uint32_t id = symbol_store_add(s.store, module);
    s.table = symbol_store_table(s.store, id);
    s.source = symbol_store_source(s.store, id);
    return s;
}

static const struct symbol_image MODULE = {.kind = SYMBOL_IMAGE_MODULE,
                                           .space = SYMBOL_KERNEL,
                                           .name = "/lib/modules/6.1.0/kernel/fs/a-b.ko.xz",
                                           .pid = UINT32_MAX,
                                           .start = 0xffffffffc0000000,
                                           .end = 0xffffffffc0001000,
                                           .release = "6.1.0"};

static void test_module_list(void **state) {
    struct tree *t = *state;
    char path[128], modules[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    snprintf(modules, sizeof modules, "%s/modules", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/modules",
        text_bytes("x 4096 0 - Live 0xffffffffc0000000\na_b 2048 0 - Live 0xffffffffc0000000\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct session s = ask_module(&o, &KERNEL, &MODULE);
    assert_string_equal(at(&s, 0x3f), "mod_one");
    assert_string_equal(at(&s, 0xfff), "mod_two");
    assert_string_equal(at(&s, 0x1000), "");
    symbol_store_free(s.store);
    struct symbol_image endless = MODULE; /* as old perfs wrote the last module */
    endless.end = UINT64_MAX;
    s = ask_module(&o, &KERNEL, &endless);
    assert_string_equal(at(&s, 0x2fff), "mod_data");
    assert_string_equal(at(&s, 0x3000), "");
    symbol_store_free(s.store);
    o.host.modules = modules;
    s = ask_module(&o, &KERNEL, &endless);
    assert_string_equal(at(&s, 0x7ff), "mod_two");
    assert_string_equal(at(&s, 0x800), "");
    symbol_store_free(s.store);
    static const int64_t OFF[] = {0x10000, 0x1000, -0x1000}; /* of another boot, whose modules overlap ours */
    for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) {
        struct symbol_image elsewhere = MODULE;
        elsewhere.start += (uint64_t)OFF[i], elsewhere.end += (uint64_t)OFF[i];
        s = ask_module(&o, &KERNEL, &elsewhere);
        assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
        symbol_store_free(s.store);
    }
    struct symbol_image boot = KERNEL;
    boot.reference_address += 0x100000; /* the list is another boot's: nothing of it counts */
    s = ask_module(&o, &boot, &MODULE);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

static void test_module_file(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    const struct recipe ko = {.type = ET_REL,
                              .id = ID_A,
                              .table = SHT_SYMTAB,
                              .functions = {{"in_text", 0x10, 0x10, 1},
                                            {"in_init", 0, 0x10, 2},
                                            {"in_cold", 0, 0, 3},
                                            {"outside", 0x1000, 4, 1}}};
    struct symbol_image image = MODULE;
    image.name = "/lib/modules/6.1.0/kernel/fs/a-b.ko";
    put_elf(t, image.name, &ko, NULL);
    struct session s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x10), "in_text");
    assert_string_equal(at(&s, 0), "");
    assert_string_equal(at(&s, 0x100), "in_cold"); /* the next executable section that is not .init */
    assert_string_equal(at(&s, 0x13f), "in_cold");
    assert_string_equal(at(&s, 0x140), "");
    assert_int_equal(s.source.origin, SYMBOL_FROM_MODULE);
    symbol_store_free(s.store);
    image.release = "6.1.1"; /* a module of another release, which nothing proves */
    s = ask_module(&o, &KERNEL, &image);
    assert_null(s.table);
    symbol_store_free(s.store);
    image.build_id = text_bytes(ID_A);
    s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x10), "in_text");
    assert_false(s.source.proved); /* where its sections lie is a guess */
    symbol_store_free(s.store);

    /* Every section at its recorded place, code of loading too; what was not recorded nowhere. */
    static const char lines[] = "module\tffffffffc0a00000\tffffffffc0a10000\t-\ta_b\t[a_b]\n"
                                "section\tffffffffc0a02000\t.text.unlikely\n"
                                "section\tffffffffc0a00400\t.text\nsection\tffffffffc0900000\t.init.text\n"
                                "module\tffffffffc0c00000\tffffffffc0c10000\t-\tother\t[other]\n";
    const struct bytes texts[2] = {{0}, text_bytes(lines)};
    o.module_lines = texts;
    image.start = 0xffffffffc0a00000;
    image.end = 0xffffffffc0a10000;
    s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x410), "in_text");
    assert_string_equal(at(&s, 0x10), "");
    assert_string_equal(at(&s, 0x2000), "in_cold");
    assert_string_equal(at(&s, PERFDATA_MODULE_INIT), "in_init");
    assert_true(s.source.proved);
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_B);
    s = ask_module(&o, &KERNEL, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* ---- memory ---- */

static void try_all(const struct symbol_options *o) {
    static const struct symbol_image map = {.kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-42.map", .pid = 42};
    const struct symbol_image *const images[] = {&FILE_IMAGE, &KERNEL, &MODULE, &map, &FILE_IMAGE};
    struct symbol_store *s = symbol_store_new(o, NULL);
    for (size_t i = 0; s && i < sizeof images / sizeof *images; i++) {
        uint32_t id = symbol_store_add(s, images[i]);
        if (id == UINT32_MAX)
            continue;
        const struct symbol_table *t = symbol_store_table(s, id);
        if (t)
            symbol_table_find(t, 0);
    }
    symbol_store_free(s);
}

static void test_memory(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/tmp/perf-42.map", text_bytes("10 10 f\n"));
    put_elf(t, "/bin/prog", &PROG, NULL);
    struct symbol_options o = {.symfs = t->root, .host = {.kallsyms = path}};
    FAIL_EACH_ALLOC(try_all(&o));
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TREE_TEST(test_file),        TREE_TEST(test_deleted),      TREE_TEST(test_evidence),
        TREE_TEST(test_changed),     TREE_TEST(test_kernel_facts), TREE_TEST(test_modules_elsewhere),
        TREE_TEST(test_forced),      TREE_TEST(test_made_code),    TREE_TEST(test_cache),
        TREE_TEST(test_debug_files), TREE_TEST(test_dwz),          TREE_TEST(test_map),
        TREE_TEST(test_debuginfod),  TREE_TEST(test_kallsyms),     TREE_TEST(test_vmlinux),
        TREE_TEST(test_module_list), TREE_TEST(test_module_file),  TREE_TEST(test_memory),
        cmocka_unit_test(test_vdso), cmocka_unit_test(test_named), cmocka_unit_test(test_foreign_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
