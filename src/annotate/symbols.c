/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "symbol/demangle/demangle.h"

void annotate_symbols_fini(struct annotate_symbols *s) {
    vec_fini(&s->data);
    vec_fini(&s->sections);
    arena_fini(&s->texts);
}

void annotate_symbols_use(struct annotate_symbols *s, const struct symbol_table *table,
                          const struct symbol_machine_code *code, struct bytes names) {
    s->table = table;
    s->code = code;
    s->names = names;
}

/* ---- data ---- */

static int by_address(const void *a, const void *b) {
    const struct annotate_data_symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool is_name(const struct object_symbol *s) {
    return s->section && !s->reserved && s->name.size && s->type != STT_SECTION && s->type != STT_FILE &&
           s->type != STT_TLS;
}

/* Lists the symbols of an image. Without memory there are fewer names. */
static void list_data(struct annotate_symbols *s, struct bytes elf) {
    struct object_elf e;
    struct object_symbols walk;
    struct object_section sec;
    vec_clear(&s->data);
    vec_clear(&s->sections);
    s->elf = elf.data;
    if (!object_elf_open(elf, &e, NULL) || (e.type != ET_EXEC && e.type != ET_DYN))
        return;
    for (uint32_t i = 0; object_elf_section(&e, i, &sec); i++) {
        struct object_section *to = vec_push(&s->sections);
        if (!to)
            return;
        *to = sec;
    }
    if (!object_symbols_open(&e, SHT_SYMTAB, &walk, NULL) &&
        !object_symbols_open(&e, SHT_DYNSYM, &walk, NULL))
        return;
    for (struct object_symbol sym; object_symbols_next(&walk, &sym);) {
        struct annotate_data_symbol *to = is_name(&sym) ? vec_push(&s->data) : NULL;
        if (to)
            *to = (struct annotate_data_symbol){sym.value, sym.section, sym.index, sym.name, NULL};
    }
    if (s->data.count)
        qsort(s->data.items, s->data.count, sizeof *s->data.items, by_address);
}

/* The section that is loaded at an address; 0: none. */
static uint32_t section_at(const struct annotate_symbols *s, uint64_t address) {
    for (size_t i = 0; i < s->sections.count; i++) {
        const struct object_section *sec = &s->sections.items[i];
        if (sec->flags & SHF_ALLOC && !(sec->flags & SHF_TLS) && address >= sec->addr &&
            address - sec->addr < sec->size)
            return sec->index;
    }
    return 0;
}

/* The last symbol at or before the address, in the same section. */
static struct annotate_data_symbol *data_at(struct annotate_symbols *s, uint64_t address) {
    size_t low = 0, high = s->data.count;
    uint32_t section = section_at(s, address);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->data.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    enum { BACK_MAX = 64 }; /* symbols of other sections between */
    for (size_t i = low; section && i-- > 0 && low - i <= BACK_MAX;)
        if (s->data.items[i].section == section)
            return &s->data.items[i];
    return NULL;
}

static const char *shown(struct annotate_symbols *s, struct annotate_data_symbol *d) {
    const char *plain =
        d->shown ? d->shown : arena_strndup(&s->texts, (const char *)d->name.data, d->name.size);
    const char *text = d->shown || s->raw_names || !plain ? NULL : symbol_demangle(plain, &s->texts);
    d->shown = text ? text : plain;
    return d->shown;
}

/* ---- all ---- */

static bool find_function(const struct annotate_symbols *s, uint64_t address, struct disasm_symbol *out) {
    uint64_t offset;
    if (!s->table || !symbol_machine_code_offset(s->code, address, &offset))
        return false;
    uint32_t symbol = symbol_table_find(s->table, offset);
    if (symbol == SYMBOL_NONE)
        return false;
    out->name = symbol_table_shown(s->table, symbol);
    out->name_len = strlen(out->name);
    out->offset = (int64_t)(offset - symbol_table_start(s->table, symbol));
    return true;
}

bool annotate_symbols_find(void *ctx, uint64_t address, struct disasm_symbol *out) {
    struct annotate_symbols *s = ctx;
    if (find_function(s, address, out))
        return true;
    if (!s->names.size)
        return false;
    if (s->elf != s->names.data)
        list_data(s, s->names);
    struct annotate_data_symbol *d = data_at(s, address);
    if (!d || !shown(s, d))
        return false;
    *out = (struct disasm_symbol){d->shown, strlen(d->shown), (int64_t)(address - d->address)};
    return true;
}
