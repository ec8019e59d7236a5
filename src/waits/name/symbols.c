/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/name/symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/maps/maps.h"
#include "object/elf.h"

static const uint64_t IMAGE_MOST = 64 << 20;

/* A file of which the address is data. */
struct home {
    struct maps_entry first; /* its mapping from the file's beginning on */
    uint64_t end;            /* of its last mapping, with memory that follows: its .bss */
};

/* The file whose mappings surround the address. Memory without a name that follows those of a file without a
 * gap is that file's .bss. */
static bool find_home(struct bytes maps, uint64_t address, struct home *out) {
    struct maps_entry e;
    struct home h = {0};
    while (maps_next(&maps, &e)) {
        bool same = h.end && e.ino && e.ino == h.first.ino && e.maj == h.first.maj && e.min == h.first.min;
        bool follows = h.end == e.start && !e.name.size;
        if (e.ino && e.offset == 0 && !(same && e.start == h.end))
            h = (struct home){e, e.end};
        else if (same || follows)
            h.end = e.end;
        else
            h.end = 0;
        if (address < e.end) {
            *out = h;
            return h.end && address >= e.start;
        }
    }
    return false;
}

/* Whether the image has been read, or is now; one that replaced what was mapped is not. */
static bool read_image(struct waits_symbols *s, const struct os_proc *proc, int32_t pid,
                       const struct home *h) {
    char name[sizeof s->path - 24], path[sizeof s->path];
    struct os_identity identity;
    maps_name(&h->first, name, sizeof name);
    if (*name != '/')
        return false;
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, name);
    if (s->image.bytes.data && strcmp(path, s->path) == 0)
        return true;
    if (s->image.bytes.data)
        proc->release(proc->ctx, &s->image);
    s->image = (struct os_image){0};
    if (!proc->identity(proc->ctx, path, &identity, NULL) || identity.ino != h->first.ino ||
        identity.size > IMAGE_MOST || !proc->image(proc->ctx, path, IMAGE_MOST, &s->image, NULL))
        return false;
    memcpy(s->path, path, sizeof s->path);
    return true;
}

/* The address as the file has it. */
static bool in_file(const struct object_elf *e, const struct home *h, uint64_t address, uint64_t *out) {
    struct object_segment seg;
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; object_elf_segment(e, i, &seg); i++)
        if (seg.type == PT_LOAD && seg.vaddr < lowest)
            lowest = seg.vaddr - (seg.align ? seg.vaddr % seg.align : 0);
    *out = address - h->first.start + lowest;
    return lowest != UINT64_MAX;
}

/* The variable that has the address in it. */
static bool find_variable(const struct object_elf *e, uint32_t table, uint64_t address,
                          struct object_symbol *out) {
    struct object_symbols walk;
    if (!object_symbols_open(e, table, &walk, NULL))
        return false;
    for (struct object_symbol s; object_symbols_next(&walk, &s);)
        if (s.type == STT_OBJECT && s.section && s.name.size && address >= s.value &&
            address - s.value < s.size) {
            *out = s;
            return true;
        }
    return false;
}

bool waits_symbols_find(struct waits_symbols *s, const struct os_proc *proc, int32_t pid, uint64_t address,
                        char *to, size_t room) {
    char path[40];
    struct home h;
    struct object_elf elf;
    struct object_symbol symbol;
    uint64_t at;
    if (s->pid != pid) {
        snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
        writer_clear(&s->maps);
        s->pid = pid;
        if (!proc->read(proc->ctx, path, &s->maps, NULL) || !writer_ok(&s->maps))
            writer_clear(&s->maps);
    }
    if (!find_home(writer_bytes(&s->maps), address, &h) || !read_image(s, proc, pid, &h) ||
        !object_elf_open(s->image.bytes, &elf, NULL) || !in_file(&elf, &h, address, &at) ||
        (!find_variable(&elf, SHT_SYMTAB, at, &symbol) && !find_variable(&elf, SHT_DYNSYM, at, &symbol)))
        return false;
    const char *file = strrchr(s->path, '/') + 1;
    int n = (int)(symbol.name.size < room ? symbol.name.size : room);
    if (at == symbol.value)
        snprintf(to, room, "%.*s (%s)", n, (const char *)symbol.name.data, file);
    else
        snprintf(to, room, "%.*s+0x%" PRIx64 " (%s)", n, (const char *)symbol.name.data, at - symbol.value,
                 file);
    return true;
}

void waits_symbols_forget(struct waits_symbols *s, const struct os_proc *proc) {
    if (s->image.bytes.data)
        proc->release(proc->ctx, &s->image);
    writer_fini(&s->maps);
    *s = (struct waits_symbols){0};
}
