/* SPDX-License-Identifier: Apache-2.0 */
#include "events/uprobe.h"

#include <elf.h>
#include <stdio.h>

#include "object/elf.h"
#include "os/files/map.h"

/* The function of that name in a table. */
static bool find_symbol(const struct object_elf *e, uint32_t table, struct event_span name,
                        object_vaddr *addr) {
    struct object_symbols walk;
    struct object_symbol s;
    if (!object_symbols_open(e, table, &walk, NULL))
        return false;
    while (object_symbols_next(&walk, &s))
        if ((s.type == STT_FUNC || s.type == STT_GNU_IFUNC) && s.section != SHN_UNDEF &&
            s.name.size == name.n && memcmp(s.name.data, name.at, name.n) == 0) {
            *addr = s.value + object_symbol_local_entry(e, &s);
            return true;
        }
    return false;
}

bool uprobe_find_in(struct bytes file, struct event_span place, uint64_t *offset, struct err *err) {
    struct object_elf e;
    struct object_layout layout;
    object_vaddr addr;
    uint64_t more = 0;
    struct event_span name = place;
    const char *plus = memchr(place.at, '+', place.n);
    if (plus) {
        name.n = (size_t)(plus - place.at);
        if (!event_number((struct event_span){plus + 1, place.n - name.n - 1}, &more))
            return err_set(err, ERR_USAGE, "place", "expected a number after '+'");
    }
    if (!object_elf_open(file, &e, err))
        return false;
    if (!find_symbol(&e, SHT_SYMTAB, name, &addr) && !find_symbol(&e, SHT_DYNSYM, name, &addr))
        return err_set(err, ERR_ABSENT, "place", "the file has no function '%.*s': nm -D, or nm, lists them",
                       (int)(name.n < 100 ? name.n : 100), name.at);
    if (!object_layout_init(&e, &layout, err))
        return false;
    bool loaded = object_layout_offset(&layout, addr + more, offset);
    object_layout_fini(&layout);
    return loaded || err_set(err, ERR_ABSENT, "place", "that place is not in the file");
}

bool uprobe_find(struct event_span path, struct event_span place, uint64_t *offset, struct err *err) {
    char name[4096];
    struct os_file file;
    struct os_map map;
    if ((size_t)snprintf(name, sizeof name, "%.*s", (int)path.n, path.at) >= sizeof name)
        return err_set(err, ERR_USAGE, NULL, "the path is too long");
    if (!os_file_open(name, &file, err)) {
        err->where[0] = '\0';
        return false;
    }
    bool ok = file.kind == OS_FILE_REGULAR ? os_map_file(&file, name, &map, err)
                                           : err_set(err, ERR_USAGE, NULL, "not a regular file");
    os_file_close(&file);
    if (!ok) {
        err->where[0] = '\0';
        return false;
    }
    ok = uprobe_find_in(map.bytes, place, offset, err);
    os_map_fini(&map);
    return ok;
}
