/* SPDX-License-Identifier: Apache-2.0 */
/* Line number programs: DWARF 5, 6.2. */
#include "base/checked.h"
#include "object/index/dinfo.h"
#include "object/index/dwarf_numbers.h"

enum { FORMATS_MAX = 255, OPCODES_MAX = 255 };

struct program {
    const struct dinfo_unit *unit;
    struct dinfo_lines *out;
    struct dinfo_unit forms; /* only what reading values needs, as the program's own header has it */
    struct cursor at;
    uint16_t version;
    uint8_t min_instruction, max_operations, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[OPCODES_MAX + 1];
    VEC(const char *) folders;
    bool failed;
    /* The state machine's registers. */
    uint64_t address, operation, file;
    int64_t line;
    bool dead; /* in a sequence that the linker left out */
};

static bool add_folder(struct program *p, const char *name) {
    const char **kept = vec_push(&p->folders);
    p->failed = p->failed || !kept;
    if (kept)
        *kept = name;
    return kept;
}

static bool add_file(struct program *p, const char *name, uint64_t folder) {
    struct dinfo_line_file *f = vec_push(&p->out->files);
    p->failed = p->failed || !f;
    if (f)
        *f = (struct dinfo_line_file){folder < p->folders.count ? p->folders.items[folder] : NULL, name};
    return f;
}

static const char *take_text(struct cursor *c) {
    const uint8_t *end = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;
    return (const char *)cursor_take(c, end ? (uint64_t)(end - c->at) + 1 : UINT64_MAX);
}

/* The tables of versions 2 to 4: folder 0 is the unit's, file 0 nothing. */
static void read_old_tables(struct program *p, struct cursor *c) {
    const char *name;
    bool ok = add_folder(p, NULL) && add_file(p, NULL, 0);
    while (ok && (name = take_text(c)) && *name)
        ok = add_folder(p, name);
    while (ok && (name = take_text(c)) && *name) {
        uint64_t folder = cursor_uleb(c);
        cursor_uleb(c); /* time and size */
        cursor_uleb(c);
        ok = add_file(p, name, folder);
    }
    p->out->folder = p->unit->folder;
}

/* A table of version 5: what its rows have, then the rows. */
static void read_table(struct program *p, struct cursor *c, bool files) {
    struct dinfo_attr formats[FORMATS_MAX];
    uint8_t count = cursor_u8(c);
    for (unsigned i = 0; i < count; i++) {
        uint64_t what = cursor_uleb(c), form = cursor_uleb(c);
        formats[i] = (struct dinfo_attr){what > UINT16_MAX ? 0 : (uint16_t)what,
                                         form > UINT16_MAX ? UINT16_MAX : (uint16_t)form, 0};
    }
    uint64_t rows = cursor_uleb(c);
    for (uint64_t r = 0; r < rows && count && cursor_left(c) && !p->failed; r++) {
        const char *name = NULL;
        uint64_t folder = 0;
        for (unsigned i = 0; i < count; i++) {
            struct dinfo_value v;
            dinfo_value_read(&p->forms, c, &formats[i], &v);
            if (formats[i].name == LNCT_PATH && v.kind == DINFO_TEXT)
                name = v.text;
            else if (formats[i].name == LNCT_DIRECTORY_INDEX && v.kind == DINFO_NUMBER)
                folder = v.number;
        }
        if (!cursor_ok(c))
            return;
        if (files)
            add_file(p, name, folder);
        else
            add_folder(p, name);
    }
}

static bool read_header(struct program *p) {
    struct cursor *c = &p->at;
    uint64_t length = cursor_u32(c);
    uint8_t offset_size = length == UINT32_MAX ? 8 : 4;
    length = length == UINT32_MAX ? cursor_u64(c) : length;
    if (length < cursor_left(c))
        c->end = c->at + length;
    p->version = cursor_u16(c);
    p->forms = *p->unit;
    p->forms.head.offset_size = offset_size;
    p->forms.head.version = p->version;
    if (p->version >= 5) {
        p->forms.head.address_size = cursor_u8(c);
        cursor_u8(c); /* size of segment selectors */
    }
    uint64_t rest = offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
    struct cursor tables = *c;
    cursor_take(c, rest);
    p->min_instruction = cursor_u8(&tables);
    p->max_operations = p->version >= 4 ? cursor_u8(&tables) : 1;
    cursor_u8(&tables); /* is_stmt */
    p->line_base = (int8_t)cursor_u8(&tables);
    p->line_range = cursor_u8(&tables);
    p->opcode_base = cursor_u8(&tables);
    for (unsigned i = 1; i < p->opcode_base; i++)
        p->operands[i] = cursor_u8(&tables);
    if (!cursor_ok(c) || !cursor_ok(&tables) || p->version < 2 || p->version > 5 || !p->opcode_base)
        return false;
    p->max_operations += !p->max_operations;
    if (p->version < 5) {
        read_old_tables(p, &tables);
        return true;
    }
    read_table(p, &tables, false);
    p->out->folder = p->folders.count ? p->folders.items[0] : p->unit->folder;
    read_table(p, &tables, true);
    return true;
}

static void reset(struct program *p) {
    p->address = p->operation = 0;
    p->file = p->line = 1;
    p->dead = false;
}

static void advance(struct program *p, uint64_t operations) {
    if (p->max_operations == 1) {
        p->address += operations * p->min_instruction;
        return;
    }
    p->operation += operations;
    p->address += p->operation / p->max_operations * p->min_instruction;
    p->operation %= p->max_operations;
}

static void put_row(struct program *p, bool end) {
    if (p->dead)
        return;
    struct dinfo_line_row *row = vec_push(&p->out->rows);
    p->failed = p->failed || !row;
    if (row)
        *row = (struct dinfo_line_row){p->address, p->file < UINT32_MAX ? (uint32_t)p->file : 0,
                                       p->line > 0 && p->line <= UINT32_MAX ? (uint32_t)p->line : 0, end};
}

static void set_address(struct program *p, struct cursor *c, uint64_t size) {
    struct dinfo_unit forms = p->forms;
    struct dinfo_value v;
    if (size != 8 && size != 4 && size != 2)
        return;
    forms.head.address_size = (uint8_t)size;
    dinfo_value_read(&forms, c, &(struct dinfo_attr){.form = FORM_ADDR}, &v);
    uint64_t highest = size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1;
    p->address = v.number;
    p->operation = 0;
    p->dead = v.number >= highest - 1;
}

static void extended(struct program *p) {
    uint64_t length = cursor_uleb(&p->at);
    struct bytes b = cursor_bytes(&p->at, length);
    struct cursor c = cursor_make(b, p->at.swap);
    switch (b.size ? cursor_u8(&c) : 0) {
    case LNE_END_SEQUENCE:
        put_row(p, true);
        reset(p);
        break;
    case LNE_SET_ADDRESS:
        set_address(p, &c, b.size - 1);
        break;
    case LNE_DEFINE_FILE: {
        const char *name = take_text(&c);
        uint64_t folder = cursor_uleb(&c);
        if (name && cursor_ok(&c))
            add_file(p, name, folder);
        break;
    }
    default:
        break;
    }
}

static void standard(struct program *p, uint8_t opcode) {
    struct cursor *c = &p->at;
    switch (opcode) {
    case LNS_COPY:
        put_row(p, false);
        break;
    case LNS_ADVANCE_PC:
        advance(p, cursor_uleb(c));
        break;
    case LNS_ADVANCE_LINE:
        p->line = (int64_t)((uint64_t)p->line + (uint64_t)cursor_sleb(c));
        break;
    case LNS_SET_FILE:
        p->file = cursor_uleb(c);
        break;
    case LNS_CONST_ADD_PC:
        if (p->line_range)
            advance(p, (255u - p->opcode_base) / p->line_range);
        break;
    case LNS_FIXED_ADVANCE_PC:
        p->address += cursor_u16(c);
        p->operation = 0;
        break;
    default:
        for (unsigned i = 0; i < p->operands[opcode]; i++)
            cursor_uleb(c);
    }
}

static void run(struct program *p) {
    reset(p);
    while (cursor_left(&p->at) && !p->failed) {
        uint8_t opcode = cursor_u8(&p->at);
        if (!opcode) {
            extended(p);
        } else if (opcode < p->opcode_base) {
            standard(p, opcode);
        } else if (p->line_range) {
            unsigned special = opcode - p->opcode_base;
            advance(p, special / p->line_range);
            int step = p->line_base + (int)(special % p->line_range);
            p->line = (int64_t)((uint64_t)p->line + (uint64_t)(int64_t)step);
            put_row(p, false);
        }
    }
}

bool dinfo_lines_read(const struct dinfo_unit *u, struct dinfo_lines *out) {
    *out = (struct dinfo_lines){.folder = u->folder};
    if (u->line_at >= u->line.size)
        return true;
    struct program *p = calloc(1, sizeof *p);
    if (!p)
        return false;
    p->unit = u;
    p->out = out;
    p->at = cursor_make((struct bytes){u->line.data + u->line_at, u->line.size - u->line_at}, u->file->swap);
    if (read_header(p))
        run(p);
    bool ok = !p->failed;
    vec_fini(&p->folders);
    free(p);
    return ok;
}

void dinfo_lines_fini(struct dinfo_lines *l) {
    vec_fini(&l->files);
    vec_fini(&l->rows);
}
