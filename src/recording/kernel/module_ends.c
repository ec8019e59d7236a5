/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/kernel/module_ends.h"

#include <stdio.h>

#include "format/kallsyms/kallsyms.h"
#include "format/perfdata/added/module_map.h"
#include "os/files/files.h"
#include "symbol/module_extent.h"

enum {
    MODULES_MAX = 64, /* old perfs leave one without an end */
    PAGE_BYTES = 4096,
    FIRST_BYTES = 1 << 16 /* the first symbol of a module's code lies within these */
};

/* Returns "ext4" of "[ext4]"; empty: that is no module's name. */
static struct bytes bare_name(const char *name) {
    size_t len = strlen(name);
    return len > 2 && *name == '[' ? (struct bytes){(const uint8_t *)name + 1, len - 2} : (struct bytes){0};
}

/* Returns the module's last address from its recorded sections, or 0. */
static uint64_t by_sections(const struct bytes *lines, struct bytes name, uint64_t start) {
    struct perfdata_module_line l;
    for (size_t i = 0; lines && i < 2; i++)
        for (struct bytes rest = lines[i]; perfdata_module_line_next(&rest, &l);)
            if (l.kind == PERFDATA_MODULE_LINE_MODULE && l.start == start && l.end > start &&
                bytes_equal(l.name, name))
                return l.end - 1;
    return 0;
}

static bool is_code(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Returns the last address from a list of symbols: a page after the last symbol, whose size is not listed. 0:
 * none, or the module was loaded elsewhere. */
static uint64_t by_symbols(struct bytes list, struct bytes name, uint64_t start) {
    uint64_t first = UINT64_MAX, last = 0;
    struct kallsyms_symbol s;
    while (kallsyms_next(&list, &s))
        if (s.module.size && is_code(s.type) && bytes_equal(s.module, name)) {
            last = s.address > last ? s.address : last;
            first = s.address < first ? s.address : first;
        }
    return first >= start && first - start < FIRST_BYTES
               ? (last & ~(uint64_t)(PAGE_BYTES - 1)) + 2 * PAGE_BYTES - 1
               : 0;
}

/* Returns the last address from the size of the code in the module's file. Without a build-id the path must
 * name the recorded release. */
static uint64_t by_file(const struct module_ends *from, const struct model *m,
                        const struct model_image *image, uint64_t start) {
    char folder[128], path[4096];
    bool by_name;
    struct bytes id = model_image_build_id(m, image, &by_name);
    if (!id.size) {
        int n = from->release ? snprintf(folder, sizeof folder, "/lib/modules/%s/", from->release) : 0;
        if (n <= 0 || (size_t)n >= sizeof folder || strncmp(image->name, folder, (size_t)n) != 0)
            return 0;
    }
    int n = snprintf(path, sizeof path, "%s%s", from->symfs ? from->symfs : "", image->name);
    if (*image->name != '/' || n < 0 || (size_t)n >= sizeof path)
        return 0;
    uint64_t bytes = symbol_module_code_bytes(path, id);
    uint64_t last = start + ((bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1)) - 1;
    return bytes && last > start ? last : 0;
}

void module_ends_find(const struct module_ends *from, struct model *m) {
    uint32_t count = model_endless_count(m);
    struct writer list = writer_make(false);
    if (count && from->kallsyms && !os_files_real.read(os_files_real.ctx, from->kallsyms, &list, NULL))
        writer_clear(&list); /* reported by whoever reads it for names */
    for (uint32_t i = 0; i < count && i < MODULES_MAX; i++) {
        const struct model_mapping map = model_mapping(m, model_endless(m, i));
        const struct model_image *image = model_image(m, map.image);
        struct bytes name = bare_name(image->short_name);
        uint64_t last = name.size ? by_sections(from->lines, name, map.start) : 0;
        last = last || !name.size ? last : by_symbols(writer_bytes(&list), name, map.start);
        last = last ? last : by_file(from, m, image, map.start);
        if (last)
            model_end_module(m, i, last);
    }
    writer_fini(&list);
}
