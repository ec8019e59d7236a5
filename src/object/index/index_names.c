/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of a unit's index: names, which entries borrow from one another, and paths. */
#include <stdio.h>

#include "object/index/dwarf_numbers.h"
#include "object/index/index_build.h"

enum { REFS_MAX = 16, PATH_MAX_BYTES = 4096, NAME_MAX_BYTES = 1 << 16 };

uint32_t index_text(struct index_build *b, const char *text) {
    size_t len = text ? strnlen(text, NAME_MAX_BYTES) : 0;
    if (!len)
        return 0;
    uint32_t before = (uint32_t)b->texts.entries.count;
    if (b->text_bytes + len + 1 > b->text_most) { /* texts that overlap in the section */
        uint32_t known = strpool_find(&b->texts, text, len);
        return known == STRPOOL_NONE ? 0 : known;
    }
    uint32_t id = strpool_add(&b->texts, text, len);
    b->failed = b->failed || id == STRPOOL_NONE;
    if (id == before)
        b->text_bytes += len + 1;
    return id == STRPOOL_NONE ? 0 : id;
}

/* --- Names -------------------------------------------------------------------------------------------------
 */

/* The unit in which an offset lies, with its abbreviations, or NULL. */
static struct dinfo_unit *unit_at(struct index_build *b, struct dinfo_unit *from,
                                  const struct dinfo_value *ref) {
    const struct dinfo_file *f = ref->kind == DINFO_REF ? from->file : from->alt;
    if (f == from->file && ref->number >= from->head.dies && ref->number < from->head.end)
        return from;
    const struct dinfo_head *h = f ? dinfo_file_head(f, ref->number) : NULL;
    if (!h)
        return NULL;
    if (f == b->unit->file && h->at == b->unit->head.at)
        return b->unit;
    struct dinfo_unit *u = &b->foreign[hash_u64(h->at) % INDEX_FOREIGN];
    if (u->file == f && u->head.at == h->at)
        return u->abbrevs.rows.count ? u : NULL;
    if (u->file)
        dinfo_unit_fini(u);
    return dinfo_unit_open(f, from->alt, h, NULL, u) && dinfo_unit_read_abbrevs(u) ? u : NULL;
}

struct names {
    const char *linked, *name;
    struct dinfo_value ref;
};

static void read_names(struct dinfo_unit *u, uint64_t offset, struct names *out) {
    struct bytes info = u->file->sections[DINFO_INFO];
    struct cursor c = cursor_make((struct bytes){info.data + offset, u->head.end - offset}, u->file->swap);
    const struct dinfo_abbrev *a = dinfo_abbrev_find(&u->abbrevs, cursor_uleb(&c));
    for (uint32_t i = 0; a && i < a->count; i++) {
        const struct dinfo_attr *attr = &u->abbrevs.attrs.items[a->first + i];
        struct dinfo_value v = {0};
        if (attr->name != AT_NAME && attr->name != AT_LINKAGE_NAME && attr->name != AT_MIPS_LINKAGE_NAME &&
            attr->name != AT_ABSTRACT_ORIGIN && attr->name != AT_SPECIFICATION) {
            dinfo_value_skip(&u->head, &c, attr->form);
            continue;
        }
        dinfo_value_read(u, &c, attr, &v);
        if (v.kind == DINFO_REF || v.kind == DINFO_REF_ALT)
            out->ref = v;
        else if (v.kind == DINFO_TEXT && attr->name == AT_NAME)
            out->name = v.text;
        else if (v.kind == DINFO_TEXT)
            out->linked = v.text;
    }
}

struct index_name index_name_of(struct index_build *b, struct dinfo_unit *from, const struct dinfo_value *ref,
                                unsigned depth) {
    struct index_name name = {0};
    struct names found = {0};
    if ((ref->kind != DINFO_REF && ref->kind != DINFO_REF_ALT) || depth == REFS_MAX)
        return name;
    bool in_alt = ref->kind == DINFO_REF_ALT || from->file == b->unit->alt;
    uint64_t key = ref->number | (uint64_t)in_alt << 63;
    uint32_t known = hash_map_get(&b->names, key);
    if (known != HASH_ABSENT)
        return (struct index_name){known >> 1, known & 1};
    struct dinfo_unit *u = unit_at(b, from, ref);
    if (!u)
        return name;
    read_names(u, ref->number, &found);
    if (!found.linked)
        name = index_name_of(b, u, &found.ref, depth + 1);
    if (found.linked || (found.name && !name.linked))
        name = (struct index_name){index_text(b, found.linked ? found.linked : found.name), found.linked};
    if (!hash_map_set(&b->names, key, name.text << 1 | name.linked))
        b->failed = true;
    return name;
}

/* --- Paths -------------------------------------------------------------------------------------------------
 */

uint32_t index_file(struct index_build *b, uint64_t file) {
    if (file >= b->file_texts.count)
        return 0;
    uint32_t *kept = &b->file_texts.items[file];
    if (*kept != INDEX_NONE)
        return *kept;
    const struct dinfo_line_file *f = &b->lines.files.items[file];
    const char *unit = b->lines.folder, *folder = f->folder;
    char path[PATH_MAX_BYTES];
    int n = 0;
    if (!f->name || !*f->name)
        return *kept = 0;
    if (*f->name == '/' || (!folder && (!unit || *unit != '/')))
        return *kept = index_text(b, f->name);
    if (!folder || *folder == '/')
        n = snprintf(path, sizeof path, "%s/%s", folder ? folder : unit, f->name);
    else if (unit && *unit == '/')
        n = snprintf(path, sizeof path, "%s/%s/%s", unit, folder, f->name);
    else
        n = snprintf(path, sizeof path, "%s/%s", folder, f->name);
    bool whole = n > 0 && n < PATH_MAX_BYTES;
    return *kept = index_text(b, whole ? path : f->name);
}
