/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/listing.h"

#include "annotate/code.h"
#include "base/hash.h"
#include "object/disasm/objdump_text.h"
#include "os/run/objdump.h"

/* ---- lines and inlined calls ---- */

/* The indices while a listing is made. */
struct indices {
    struct hash_map lines;  /* file << 32 | line -> index */
    struct hash_map scopes; /* hash -> index */
};

static uint32_t add_line(struct annotate_listing *l, struct indices *x, uint32_t file, uint32_t line) {
    uint64_t key = (uint64_t)file << 32 | line;
    uint32_t id = hash_map_get(&x->lines, key);
    if (id != HASH_ABSENT)
        return id;
    id = (uint32_t)l->lines.count;
    struct annotate_line *made = vec_push(&l->lines);
    if (!made || !hash_map_set(&x->lines, key, id))
        return ANNOTATE_NONE;
    *made = (struct annotate_line){file, line};
    return id;
}

static uint32_t file_of(struct annotate_listing *l, const struct object_line *line) {
    return line->file ? strpool_add(&l->files, line->file, strlen(line->file)) : STRPOOL_NONE;
}

static bool same_scope(const struct annotate_scope *a, const struct annotate_scope *b) {
    return a->outer == b->outer && a->file == b->file && a->line == b->line &&
           (a->function == b->function || strcmp(a->function, b->function) == 0);
}

static uint32_t add_scope(struct annotate_listing *l, struct indices *x, const struct annotate_scope *s) {
    uint64_t h = hash_u64(hash_u64((uint64_t)s->outer << 32 | s->line) ^ s->file) ^
                 hash_bytes(s->function, strlen(s->function));
    for (;; h++) {
        uint32_t id = hash_map_get(&x->scopes, h);
        if (id != HASH_ABSENT && same_scope(&l->scopes.items[id], s))
            return id;
        if (id != HASH_ABSENT)
            continue;
        id = (uint32_t)l->scopes.count;
        struct annotate_scope *made = vec_push(&l->scopes);
        if (!made || !hash_map_set(&x->scopes, h, id))
            return ANNOTATE_NONE;
        *made = *s;
        return id;
    }
}

/* The scope of a place; ANNOTATE_NONE: nothing is inlined there. */
static uint32_t scope_at(struct annotate_maker *m, struct annotate_listing *l, struct indices *x,
                         uint64_t offset) {
    enum { DEPTH = 64 };
    struct object_inline chain[DEPTH];
    uint32_t scope = ANNOTATE_NONE;
    size_t n = resolve_lines_inlined(m->profile->in->naming->lines, l->function->image, offset, chain, DEPTH);
    /* chain[k + 1].line is where chain[k] was called. */
    for (size_t k = n ? n - 1 : 0; k-- > 0;) {
        struct annotate_scope s = {scope, chain[k].name, file_of(l, &chain[k + 1].line),
                                   chain[k + 1].line.line};
        scope = chain[k].name ? add_scope(l, x, &s) : scope;
    }
    return scope;
}

static bool place_rows(struct annotate_maker *m, struct annotate_listing *l, struct err *err) {
    struct indices x = {0};
    struct resolve_lines *lines = m->profile->in->naming->lines;
    bool ok = vec_reserve(&l->rows, l->list.instructions.count + 1);
    for (size_t i = 0; ok && i < l->list.instructions.count; i++) {
        uint64_t offset = l->function->start + (l->list.instructions.items[i].address - l->code.address);
        struct annotate_row *row = vec_push(&l->rows);
        struct object_line line;
        *row = (struct annotate_row){ANNOTATE_NONE, ANNOTATE_NONE};
        if (!lines || !resolve_lines_find(lines, l->function->image, offset, &line))
            continue;
        uint32_t file = line.file && line.line ? file_of(l, &line) : STRPOOL_NONE;
        row->line = file == STRPOOL_NONE ? ANNOTATE_NONE : add_line(l, &x, file, line.line);
        row->scope = scope_at(m, l, &x, offset);
    }
    hash_map_fini(&x.lines);
    hash_map_fini(&x.scopes);
    return ok || err_memory(err, "annotate");
}

/* ---- sums ---- */

uint32_t annotate_listing_row(const struct annotate_listing *l, uint64_t offset) {
    if (offset < l->function->start || offset - l->function->start >= l->code.bytes.size)
        return ANNOTATE_NONE;
    uint64_t address = l->code.address + (offset - l->function->start);
    size_t low = 0, high = l->list.instructions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->list.instructions.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (uint32_t)(low - 1) : ANNOTATE_NONE;
}

/* Counts a hit of the i-th event wherever it belongs. */
static void count_hit(struct annotate_listing *l, const struct annotate_hit *hit, uint32_t i) {
    uint32_t n = l->events.count, at = annotate_listing_row(l, hit->offset);
    annotate_sums_add(&l->self[i], &hit->sums);
    if (at == ANNOTATE_NONE) {
        annotate_sums_add(&l->outside[i], &hit->sums);
        return;
    }
    const struct annotate_row *row = &l->rows.items[at];
    annotate_sums_add(&l->row_sums[(size_t)at * n + i], &hit->sums);
    annotate_sums_add(row->line == ANNOTATE_NONE ? &l->no_line[i] : &l->line_sums[(size_t)row->line * n + i],
                      &hit->sums);
    for (uint32_t s = row->scope; s != ANNOTATE_NONE; s = l->scopes.items[s].outer)
        annotate_sums_add(&l->scope_sums[(size_t)s * n + i], &hit->sums);
}

static bool sum_up(const struct annotate_profile *p, struct annotate_listing *l, struct err *err) {
    uint32_t n = l->events.count;
    const size_t one = sizeof *l->self;
    l->row_sums = calloc(l->rows.count + 1, n * one);
    l->line_sums = calloc(l->lines.count + 1, n * one);
    l->scope_sums = calloc(l->scopes.count + 1, n * one);
    l->self = calloc(3, n * one);
    if (!l->row_sums || !l->line_sums || !l->scope_sums || !l->self)
        return err_memory(err, "annotate");
    l->no_line = l->self + n;
    l->outside = l->no_line + n;
    for (size_t i = l->function->first; i < l->function->first + l->function->count; i++) {
        const struct annotate_hit *hit = &p->hits.items[i];
        if (hit->event >= l->events.first && hit->event - l->events.first < n)
            count_hit(l, hit, hit->event - l->events.first);
    }
    return true;
}

/* ---- all of it ---- */

void annotate_maker_fini(struct annotate_maker *m) {
    annotate_symbols_fini(&m->symbols);
    disasm_free(m->disasm);
    m->disasm = NULL;
}

static struct disasm_options disasm_options_of(struct annotate_maker *m, enum disasm_arch arch) {
    return (struct disasm_options){
        .arch = arch, .intel = m->options.intel, .symbol = annotate_symbols_find, .ctx = &m->symbols};
}

/* Disassembles here. False: *err; ERR_UNSUPPORTED without capstone. */
static bool decode(struct annotate_maker *m, enum disasm_arch arch, struct annotate_listing *l,
                   struct err *err) {
    const struct disasm_options options = disasm_options_of(m, arch);
    if (!m->disasm || m->arch != arch) { /* it was made for the code before */
        disasm_free(m->disasm);
        m->arch = arch;
        m->disasm = disasm_new(&options, err);
    }
    return m->disasm && disasm_function(m->disasm, l->code.bytes, l->code.address, &l->list, err);
}

/* Lets objdump(1) disassemble. */
static bool ask_objdump(struct annotate_maker *m, enum disasm_arch arch, struct annotate_listing *l,
                        struct err *err) {
    const struct disasm_options options = disasm_options_of(m, arch);
    const struct os_objdump how = {.program = m->options.objdump,
                                   .machine = disasm_objdump_machine(arch),
                                   .style = m->options.intel ? "intel" : NULL};
    struct disasm_list list = {0};
    struct bytes text = {NULL, 0};
    bool ok = os_objdump_run(&how, l->code.bytes, l->code.address, &text, err) &&
              disasm_objdump_read(text, l->code.bytes, l->code.address, &options, &list, err);
    free((void *)(uintptr_t)text.data);
    if (!ok) {
        disasm_list_fini(&list);
        return false;
    }
    disasm_list_fini(&l->list);
    l->list = list;
    return true;
}

static bool disassemble(struct annotate_maker *m, enum disasm_arch arch, struct annotate_listing *l,
                        struct err *err) {
    struct err why = ERR_INIT;
    m->symbols.raw_names = m->options.raw_names;
    if (m->options.objdump)
        return ask_objdump(m, arch, l, err);
    bool ok = decode(m, arch, l, err);
    if (!ok && err && err->code == ERR_MEMORY)
        return false;
    if ((!ok || l->list.unknown) && !m->no_objdump) {
        ok |= ask_objdump(m, arch, l, &why);
        m->no_objdump = why.code == ERR_ABSENT;
    }
    m->unknown += l->list.unknown;
    return ok;
}

/* The image with the symbols of data that the code refers to: the separate debug file has more of them. */
static struct bytes names_of(const struct annotate_maker *m, const struct annotate_function *f,
                             const struct symbol_machine_code *code) {
    const struct recording_names *naming = m->profile->in->naming;
    if (model_image(m->profile->in->model, f->image)->kind == MODEL_IMAGE_CODE || !code->elf.size)
        return (struct bytes){NULL, 0}; /* made up: its addresses are others */
    struct bytes debug =
        symbol_store_bytes(naming->store, resolve_names_store_id(naming->names, f->image)).debug;
    return debug.size ? debug : code->elf;
}

bool annotate_listing_make(struct annotate_maker *m, const struct annotate_function *f,
                           struct annotate_events events, struct annotate_listing *l, struct err *err) {
    enum disasm_arch arch;
    const struct symbol_table *table = resolve_names_table(m->profile->in->naming->names, f->image);
    l->function = f;
    l->events = events;
    if (!annotate_code_find(m->profile, f, &l->code, &arch, err))
        return false;
    annotate_symbols_use(&m->symbols, table, &l->code, names_of(m, f, &l->code));
    return disassemble(m, arch, l, err) && place_rows(m, l, err) && sum_up(m->profile, l, err);
}

void annotate_listing_fini(struct annotate_listing *l) {
    disasm_list_fini(&l->list);
    vec_fini(&l->rows);
    vec_fini(&l->lines);
    vec_fini(&l->scopes);
    strpool_fini(&l->files);
    free(l->row_sums);
    free(l->line_sums);
    free(l->scope_sums);
    free(l->self);
}
