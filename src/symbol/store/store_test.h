/* SPDX-License-Identifier: Apache-2.0 */
/* What the store's tests share: a tree of files of their own, images put into it, and asking. */
#ifndef SONDE_SYMBOL_STORE_TEST_H
#define SONDE_SYMBOL_STORE_TEST_H

#include "symbol/grade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/perfdata/added/module_map.h"
#include "object/cookie.h"
#include "object/links.h"
#include "os/proc/host.h"
#include "os/proc/proc.h"
#include "os/run/debuginfod.h"

#define ID_A  "aaaaaaaaaaaaaaaaaaaa"
#define ID_B  "bbbbbbbbbbbbbbbbbbbb"
#define HEX_A "6161616161616161616161616161616161616161"

static inline struct bytes text_bytes(const char *s) {
    return (struct bytes){(const uint8_t *)s, s ? strlen(s) : 0};
}

/* ---- the tree: $root is deleted at the end, file by file ---- */

struct tree {
    char root[64];
    VEC(char *) paths;
};

static inline const char *in_tree(const struct tree *t, const char *path) {
    static char whole[4][256];
    static unsigned turn;
    char *p = whole[turn++ % 4];
    snprintf(p, sizeof whole[0], "%s%s", t->root, path);
    return p;
}

static inline void put(struct tree *t, const char *path, struct bytes content) {
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

static inline int setup(void **state) {
    struct tree *t = calloc(1, sizeof *t);
    const char *tmp = getenv("TMPDIR");
    snprintf(t->root, sizeof t->root, "%.40s/symbolsXXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(t->root));
    *state = t;
    return 0;
}

static inline int teardown(void **state) {
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
static inline void put_elf(struct tree *t, const char *path, const struct recipe *r, uint64_t *text_at) {
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

static inline struct session ask(const struct symbol_options *o, const struct symbol_image *image) {
    struct session s = {symbol_store_new(o, NULL)};
    assert_non_null(s.store);
    assert_int_equal(symbol_store_add(s.store, image), 0);
    s.table = symbol_store_table(s.store, 0);
    s.source = symbol_store_source(s.store, 0);
    assert_int_equal(s.table != NULL, s.source.status == SYMBOL_FOUND);
    assert_int_equal(s.table == NULL, s.source.text != NULL);
    return s;
}

static inline const char *at(const struct session *s, uint64_t offset) {
    uint32_t i = s->table ? symbol_table_find(s->table, offset) : SYMBOL_NONE;
    return i == SYMBOL_NONE ? "" : symbol_table_shown(s->table, i);
}

/* Of the place's name, "exact build-id symtab". */
static inline const char *grade_at(const struct session *s, uint64_t offset) {
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

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
