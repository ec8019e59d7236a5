/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/own_symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "base/vec.h"

/* Layouts are those of elf(5) for this machine's class, which ElfW() picks. Fields are read one by one. */
enum { IS_64 = sizeof(ElfW(Addr)) == 8 };

struct section {
    uint32_t type, link;
    uint64_t offset, size;
};

struct symbol {
    uint64_t start, end;
    const char *name;
    char binding;
};

static uint64_t word(struct cursor *c) {
    return IS_64 ? cursor_u64(c) : cursor_u32(c);
}

static struct cursor at(struct bytes elf, uint64_t offset, uint64_t size) {
    struct cursor c = cursor_make(elf, false);
    cursor_take(&c, offset);
    return cursor_make(cursor_bytes(&c, size), false);
}

/* Returns section `index` of the table in the file header; of type SHT_NULL if there is none. */
static struct section section(struct bytes elf, uint64_t index) {
    struct cursor h = at(elf, 0, sizeof(ElfW(Ehdr)));
    struct section s = {0};
    uint64_t offset;
    cursor_take(&h, EI_NIDENT + 2 + 2 + 4);
    word(&h), word(&h);
    uint64_t table = word(&h);
    cursor_take(&h, 4 + 2 + 2 + 2 + 2);
    uint64_t count = (cursor_u16(&h), cursor_u16(&h));
    if (index >= count || !checked_add(table, index * sizeof(ElfW(Shdr)), &offset))
        return s;
    struct cursor c = at(elf, offset, sizeof(ElfW(Shdr)));
    cursor_u32(&c);
    s.type = cursor_u32(&c);
    word(&c), word(&c);
    s.offset = word(&c);
    s.size = word(&c);
    s.link = cursor_u32(&c);
    return s;
}

/* Returns .symtab, else .dynsym. */
static struct section symbol_section(struct bytes elf) {
    struct section found = {0};
    for (uint64_t i = 1; i < 65536; i++) {
        struct section s = section(elf, i);
        if (s.type == SHT_SYMTAB)
            return s;
        if (s.type == SHT_DYNSYM)
            found = s;
    }
    return found;
}

static struct symbol read_symbol(struct cursor *c, struct bytes names, uint8_t *info, uint16_t *index) {
    uint64_t value, size;
    uint32_t name = cursor_u32(c);
    if (IS_64) {
        *info = cursor_u8(c);
        cursor_u8(c);
        *index = cursor_u16(c);
        value = cursor_u64(c);
        size = cursor_u64(c);
    } else {
        value = cursor_u32(c);
        size = cursor_u32(c);
        *info = cursor_u8(c);
        cursor_u8(c);
        *index = cursor_u16(c);
    }
    const char *text = name < names.size ? (const char *)names.data + name : "";
    if (!memchr(text, 0, *text ? names.size - name : 1))
        text = "";
    int bind = *info >> 4;
    return (struct symbol){value, value + size, text, bind == STB_LOCAL ? 'l' : bind == STB_WEAK ? 'w' : 'g'};
}

static int by_start(const void *a, const void *b) {
    const struct symbol *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool own_symbols_list(struct bytes elf, struct out *o, const char *must_have, size_t *count,
                      struct err *err) {
    uint16_t one = 1;
    uint8_t order = *(uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    if (elf.size < sizeof(ElfW(Ehdr)) || memcmp(elf.data, ELFMAG, SELFMAG) != 0 ||
        elf.data[EI_CLASS] != (IS_64 ? ELFCLASS64 : ELFCLASS32) || elf.data[EI_DATA] != order)
        return err_set(err, ERR_UNSUPPORTED, "", "not an ELF file of this machine's kind");
    struct section s = symbol_section(elf), strings = section(elf, s.link);
    struct cursor c = at(elf, s.offset, s.size), names = at(elf, strings.offset, strings.size);
    struct bytes name_bytes = cursor_rest(&names);
    VEC(struct symbol) list = {0};
    bool found = !must_have;
    while (cursor_left(&c) >= sizeof(ElfW(Sym))) {
        uint8_t info;
        uint16_t index;
        struct symbol sym = read_symbol(&c, name_bytes, &info, &index);
        int type = info & 15;
        if (!*sym.name || index == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT))
            continue;
        struct symbol *slot = vec_push(&list);
        if (!slot)
            break;
        *slot = sym;
        found = found || strcmp(sym.name, must_have) == 0;
    }
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, by_start);
    for (size_t i = 0; o && i < list.count; i++)
        out_printf(o, " %" PRIx64 "-%" PRIx64 " %c %s\n", list.items[i].start, list.items[i].end,
                   list.items[i].binding, list.items[i].name);
    *count = list.count;
    vec_fini(&list);
    return found || err_set(err, ERR_ABSENT, "", "there is no symbol %s", must_have);
}
