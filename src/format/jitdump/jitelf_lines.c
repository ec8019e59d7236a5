/* SPDX-License-Identifier: Apache-2.0 */
/* Lines as DWARF 4: one unit over all of the code, one sequence of the line program for each function. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/strpool.h"
#include "format/jitdump/jitelf_internal.h"

/* DWARF 4, chapters 6.2 and 7. */
enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNE_END_SEQUENCE = 1,
    LNE_SET_ADDRESS = 2,
    OPCODE_BASE = 13,
    TAG_COMPILE_UNIT = 0x11,
    TAG_INLINED_SUBROUTINE = 0x1d,
    TAG_SUBPROGRAM = 0x2e,
    AT_NAME = 0x03,
    AT_STMT_LIST = 0x10,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_INLINE = 0x20,
    AT_ABSTRACT_ORIGIN = 0x31,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    AT_LINKAGE_NAME = 0x6e,
    FORM_ADDR = 0x01,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_DATA1 = 0x0b,
    FORM_UDATA = 0x0f,
    FORM_REF4 = 0x13,
    FORM_SEC_OFFSET = 0x17,
};

void jitelf_put_uleb(struct writer *w, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        writer_u8(w, (uint8_t)(v | 0x80));
    writer_u8(w, (uint8_t)v);
}

static void put_sleb(struct writer *w, int64_t v) {
    for (; v < -64 || v > 63; v >>= 7)
        writer_u8(w, (uint8_t)(v | 0x80));
    writer_u8(w, (uint8_t)(v & 0x7f));
}

void jitelf_put_address(struct writer *w, bool wide, uint64_t v) {
    if (wide)
        writer_u64(w, v);
    else
        writer_u32(w, (uint32_t)v);
}

/* A row of the line table, within one function. */
struct row {
    uint64_t at; /* from its start */
    uint32_t line, column, file, order;
};

struct rows {
    VEC(struct row) list;
    struct strpool files;
    bool failed;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->order > y->order) - (x->order < y->order);
}

/* What lies outside of the code is no line of it. Consecutive lines that share a file's text, which may
 * stand in the dump only once, have it looked up once. */
static void collect(const struct jitcode *j, const struct jitcode_function *f, struct rows *rows) {
    struct bytes rest = f->lines, last = {NULL, 0};
    const uint8_t *text = NULL;
    uint32_t file = STRPOOL_NONE;
    vec_clear(&rows->list);
    for (struct jitdump_line l; jitcode_line_next(j, f, &rest, &last, &l);) {
        if (l.address >= f->code.size || !l.file.size || !*l.file.data) /* no name would end the list */
            continue;
        if (l.file.data != text)
            file = strpool_add(&rows->files, (const char *)l.file.data, bytes_text_len(l.file));
        text = l.file.data;
        struct row *row = file == STRPOOL_NONE ? NULL : vec_push(&rows->list);
        rows->failed |= !row;
        if (row)
            *row = (struct row){l.address, l.line, l.column, file, (uint32_t)rows->list.count};
    }
    if (rows->list.count > 1)
        qsort(rows->list.items, rows->list.count, sizeof *rows->list.items, compare_rows);
}

static void put_sequence(struct writer *w, bool wide, uint64_t start, uint64_t size,
                         const struct rows *rows) {
    uint64_t at = rows->list.items[0].at;
    uint32_t line = 1, file = 1, column = 0;
    writer_u8(w, 0);
    jitelf_put_uleb(w, wide ? 9 : 5);
    writer_u8(w, LNE_SET_ADDRESS);
    jitelf_put_address(w, wide, start + at);
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct row *r = &rows->list.items[i];
        if (i + 1 < rows->list.count && r[1].at == r->at)
            continue; /* the last word on an address counts */
        if (r->at != at) {
            writer_u8(w, LNS_ADVANCE_PC);
            jitelf_put_uleb(w, r->at - at);
        }
        if (r->file + 1 != file) {
            writer_u8(w, LNS_SET_FILE);
            jitelf_put_uleb(w, r->file + 1);
        }
        if (r->column != column) {
            writer_u8(w, LNS_SET_COLUMN);
            jitelf_put_uleb(w, r->column);
        }
        if (r->line != line) {
            writer_u8(w, LNS_ADVANCE_LINE);
            put_sleb(w, (int64_t)r->line - (int64_t)line);
        }
        writer_u8(w, LNS_COPY);
        at = r->at;
        file = r->file + 1;
        column = r->column;
        line = r->line;
    }
    writer_u8(w, LNS_ADVANCE_PC);
    jitelf_put_uleb(w, size - at);
    writer_u8(w, 0);
    jitelf_put_uleb(w, 1);
    writer_u8(w, LNE_END_SEQUENCE);
}

/* The header of the line program, with the files' names; the program follows. */
static void put_program(const struct strpool *files, const struct writer *program, struct writer *w) {
    static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}; /* of the standard opcodes */
    writer_u32(w, 0);
    writer_u16(w, 4);
    size_t length_at = w->size;
    writer_u32(w, 0);
    writer_u8(w, 1); /* minimum_instruction_length: addresses are in bytes */
    writer_u8(w, 1); /* maximum_operations_per_instruction */
    writer_u8(w, 1); /* default_is_stmt */
    writer_u8(w, 0); /* line_base, line_range: no special opcode is used */
    writer_u8(w, 1);
    writer_u8(w, OPCODE_BASE);
    writer_put(w, lengths, sizeof lengths);
    writer_u8(w, 0); /* no folders: names are whole paths */
    for (uint32_t i = 0; i < files->entries.count; i++) {
        writer_put(w, strpool_text(files, i), strpool_len(files, i) + 1);
        writer_zero(w, 3); /* folder, time, size: none */
    }
    writer_u8(w, 0);
    writer_patch32(w, length_at, (uint32_t)(w->size - length_at - 4));
    writer_bytes_put(w, writer_bytes(program));
    writer_patch32(w, 0, (uint32_t)(w->size - 4));
}

/* The entries' forms (chapter 7.5.3): number, tag, whether entries lie within, attributes. */
/* clang-format off */
static const uint8_t abbrevs[] = {
    JITELF_ABBREV_UNIT, TAG_COMPILE_UNIT, 1,
    AT_NAME, FORM_STRING, AT_STMT_LIST, FORM_SEC_OFFSET, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA8, 0, 0,
    JITELF_ABBREV_ABSTRACT, TAG_SUBPROGRAM, 0,
    AT_LINKAGE_NAME, FORM_STRING, AT_INLINE, FORM_DATA1, 0, 0,
    JITELF_ABBREV_FUNCTION, TAG_SUBPROGRAM, 1,
    AT_LINKAGE_NAME, FORM_STRING, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA8, 0, 0,
    JITELF_ABBREV_INLINED, TAG_INLINED_SUBROUTINE, 1,
    AT_ABSTRACT_ORIGIN, FORM_REF4, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA8, AT_CALL_FILE, FORM_UDATA,
    AT_CALL_LINE, FORM_UDATA, 0, 0,
    JITELF_ABBREV_SOMEWHERE, TAG_INLINED_SUBROUTINE, 1,
    AT_ABSTRACT_ORIGIN, FORM_REF4, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA8, 0, 0,
    0};
/* clang-format on */

static void put_unit(const struct jitelf_part *p, bool wide, struct strpool *files,
                     struct jitelf_lines *out) {
    const struct jitcode_function *last = &p->code->functions.items[p->last - 1];
    uint64_t size = jitelf_offset(p, p->last - 1) + last->code.size - JITCODE_FIRST_OFFSET;
    struct jitelf_inliner inliner = {.files = files};
    struct writer *w = &out->info;
    writer_put(&out->abbrev, abbrevs, sizeof abbrevs);
    writer_u32(w, 0);
    writer_u16(w, 4);
    writer_u32(w, 0);
    writer_u8(w, wide ? 8 : 4);
    jitelf_put_uleb(w, JITELF_ABBREV_UNIT);
    writer_put(w, "jit", 4);
    writer_u32(w, 0);
    jitelf_put_address(w, wide, JITCODE_FIRST_OFFSET);
    writer_u64(w, size);
    jitelf_put_inlines(p, wide, &inliner, w);
    jitelf_inliner_fini(&inliner);
    writer_u8(w, 0);
    writer_patch32(w, 0, (uint32_t)(w->size - 4));
    w = &out->aranges;
    writer_u32(w, 0);
    writer_u16(w, 2);
    writer_u32(w, 0);
    writer_u8(w, wide ? 8 : 4);
    writer_u8(w, 0);
    writer_align(w, wide ? 16 : 8);
    jitelf_put_address(w, wide, JITCODE_FIRST_OFFSET);
    jitelf_put_address(w, wide, size);
    jitelf_put_address(w, wide, 0);
    jitelf_put_address(w, wide, 0);
    writer_patch32(w, 0, (uint32_t)(w->size - 4));
}

void jitelf_put_lines(const struct jitelf_part *p, bool wide, struct jitelf_lines *out) {
    const struct jitcode_function *all = p->code->functions.items;
    struct rows rows = {{0}};
    struct writer program = writer_make(out->line.swap);
    for (size_t i = p->first; i < p->last; i++) {
        collect(p->code, &all[i], &rows);
        if (rows.list.count)
            put_sequence(&program, wide, jitelf_offset(p, i), all[i].code.size, &rows);
    }
    if (program.size) {
        put_unit(p, wide, &rows.files, out); /* names files, too */
        put_program(&rows.files, &program, &out->line);
    }
    out->line.failed |= rows.failed || !writer_ok(&program);
    writer_fini(&program);
    vec_fini(&rows.list);
    strpool_fini(&rows.files);
}

bool jitelf_lines_ok(const struct jitelf_lines *l) {
    return writer_ok(&l->line) && writer_ok(&l->info) && writer_ok(&l->abbrev) && writer_ok(&l->aranges);
}
