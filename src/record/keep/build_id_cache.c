/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/build_id_cache.h"

#include <stdio.h>

#include "base/log.h"
#include "format/perfdata/header/feature.h"
#include "os/files/place.h"
#include "record/keep/identity.h"
#include "record/synth/kernel.h"

enum { PATH_ROOM = 8192, HEX_ROOM = 2 * 20 + 1, KALLSYMS_MAX = 256 << 20 };
static const char KERNEL[] = "[kernel.kallsyms]";

static bool still_has_id(const struct os_proc *proc, const char *path,
                         const struct perfdata_feature_build_id *b) {
    struct os_build_id id;
    return record_identity_build_id(proc, path, &id) && id.size == b->id_size &&
           memcmp(id.bytes, b->id, id.size) == 0;
}

static bool kernel_visible(const struct os_proc *proc) {
    struct record_kernel k;
    record_kernel_find(proc, &k);
    return k.start != 0;
}

/* The content goes to DIR/NAME/HEX/elf (or kallsyms), then the link that finds it by its id. */
static bool place(const struct record_cache *c, const char *name, const char *hex, uint64_t *left) {
    bool kernel = name[0] == '[';
    const char *slash = kernel ? "/" : "";
    char to[PATH_ROOM], link[PATH_ROOM], target[PATH_ROOM];
    struct err err = ERR_INIT;
    uint64_t copied = 0, most = c->file_bytes_max < *left ? c->file_bytes_max : *left;
    snprintf(to, sizeof to, "%s%s%s/%s/%s", c->folder, slash, name, hex, kernel ? "kallsyms" : "elf");
    snprintf(link, sizeof link, "%s/.build-id/%.2s/%s", c->folder, hex, hex + 2);
    snprintf(target, sizeof target, "../..%s%s/%s", slash, name, hex);
    bool ok = os_place_folders(to, &err) && os_place_folders(link, &err) &&
              (kernel ? os_place_copy("/proc/kallsyms", to, KALLSYMS_MAX, &copied, &err)
                      : os_place_file(name, to, most, &copied, &err)) &&
              os_place_link(target, link, &err);
    if (!kernel)
        *left -= copied < *left ? copied : *left;
    if (!ok)
        log_line(LOG_INFO, "%s is not kept in the build-id cache: %s: %s", name, err.where, err.message);
    return ok;
}

static bool add(const struct record_cache *c, const struct perfdata_feature_build_id *b, uint64_t *left) {
    char name[4096], hex[HEX_ROOM] = "", link[PATH_ROOM];
    size_t n = bytes_text_len(b->name);
    if (n >= sizeof name || b->id_size < 2 || b->id_size > 20)
        return false;
    memcpy(name, b->name.data, n);
    name[n] = 0;
    for (size_t i = 0; i < b->id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", b->id[i]);
    snprintf(link, sizeof link, "%s/.build-id/%.2s/%s", c->folder, hex, hex + 2);
    if (os_place_taken(link))
        return false;
    bool kernel = strcmp(name, KERNEL) == 0;
    /* Names come from the kernel, which writes no "..", but this one becomes a path of ours. */
    bool file = name[0] == '/' && !strstr(name, "/../") && still_has_id(c->proc, name, b);
    return (file || (kernel && kernel_visible(c->proc))) && place(c, name, hex, left);
}

size_t record_cache_add(const struct record_cache *c, const struct record_build_ids *ids) {
    const struct perfdata_feature_env env = {0};
    struct perfdata_feature_value v;
    struct arena a = ARENA_INIT;
    uint64_t left = c->all_bytes_max;
    size_t added = 0;
    if (perfdata_feature_decode(PERFDATA_FEATURE_BUILD_ID, writer_bytes(&ids->content), &env, &a, &v))
        for (uint32_t i = 0; i < v.build_ids.count; i++)
            added += add(c, &v.build_ids.items[i], &left);
    arena_fini(&a);
    return added;
}
