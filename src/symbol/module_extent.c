/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/module_extent.h"

#include <elf.h>

#include "symbol/store/store_internal.h"

uint64_t symbol_module_code_bytes(const char *path, struct bytes build_id) {
    struct symfile_cache files;
    struct err err = ERR_INIT;
    uint64_t bytes = 0;
    if (!symfile_cache_init(&files, &err))
        return 0;
    const struct symfile *f = symfile_open(&files, path);
    if (f && f->err.code == ERR_NONE && f->is_elf && f->elf.type == ET_REL &&
        (!build_id.size || symfile_has_id(f, build_id)))
        bytes = store_module_code_end(&f->elf);
    symfile_cache_fini(&files);
    return bytes;
}
