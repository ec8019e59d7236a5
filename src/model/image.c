/* SPDX-License-Identifier: Apache-2.0 */
#include "model/image.h"

#include <inttypes.h>
#include <stdio.h>

static const char kernel_name[] = "[kernel.kallsyms]", guest_kernel_name[] = "[guest.kernel.kallsyms]";

void image_table_fini(struct image_table *t) {
    vec_fini(&t->list);
    vec_fini(&t->listed);
    strpool_fini(&t->texts);
    strpool_fini(&t->keys);
    hash_map_fini(&t->listed_by_name);
}

/* Names of what is mapped without being a file, as the kernel (fs/proc, man 5 proc_pid_maps) and perf record
 * spell them. The first row that fits counts. */
static const struct {
    const char *prefix;
    enum model_image_kind kind;
} special_names[] = {
    {"//anon", MODEL_IMAGE_ANON},         {"/dev/zero", MODEL_IMAGE_ANON},
    {"/anon_hugepage", MODEL_IMAGE_ANON}, {"[anon:", MODEL_IMAGE_ANON},
    {"[heap]", MODEL_IMAGE_HEAP},         {"[stack", MODEL_IMAGE_STACK},
    {"[vdso", MODEL_IMAGE_VDSO},          {"[vsyscall]", MODEL_IMAGE_VSYSCALL},
    {"[vectors]", MODEL_IMAGE_VSYSCALL},  {"[uprobes]", MODEL_IMAGE_VSYSCALL},
    {"/memfd:", MODEL_IMAGE_MEMFD},       {"memfd:", MODEL_IMAGE_MEMFD},
    {"/SYSV", MODEL_IMAGE_SYSV},          {"anon_inode:", MODEL_IMAGE_OTHER},
    {"socket:", MODEL_IMAGE_OTHER},       {"[", MODEL_IMAGE_OTHER},
};

static bool has_prefix(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static enum model_image_kind kind_of(const char *name, enum model_space space) {
    if (space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL) {
        /* The closing bracket is missing on purpose: the first perfs wrote [kernel.kallsyms._text], and
         * guests add their pid. */
        return has_prefix(name, "[kernel.kallsyms") || has_prefix(name, "[guest.kernel.kallsyms") ||
                       strcmp(name, "[kernel]") == 0
                   ? MODEL_IMAGE_KERNEL
                   : MODEL_IMAGE_MODULE;
    }
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++)
        if (has_prefix(name, special_names[i].prefix))
            return special_names[i].kind;
    return MODEL_IMAGE_FILE;
}

static const char *pooled(struct image_table *t, const char *s, size_t len) {
    uint32_t id = strpool_add(&t->texts, s, len);
    return id == STRPOOL_NONE ? NULL : strpool_text(&t->texts, id);
}

static uint32_t text_add(struct image_table *t, struct bytes text) {
    return strpool_add(&t->texts, text.size ? (const char *)text.data : "", bytes_text_len(text));
}

static const char *basename_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* /lib/modules/V/kernel/net/nf-nat.ko.xz -> [nf_nat]: the kernel knows modules with underscores only. */
static const char *module_short_name(struct image_table *t, const char *path) {
    char name[256];
    if (*path == '[')
        return path;
    const char *base = basename_of(path), *end = strstr(base, ".ko");
    int len = end ? (int)(end - base) : (int)strnlen(base, sizeof name);
    len = snprintf(name, sizeof name, "[%.*s]", len < 200 ? len : 200, base);
    for (char *c = name; *c; c++)
        if (*c == '-')
            *c = '_';
    return pooled(t, name, (size_t)len);
}

/* Fills name and short_name from kind and recorded. False: memory. */
static bool set_names(struct image_table *t, struct model_image *image) {
    char anon[32];
    const char *end;
    image->name = image->recorded;
    switch (image->kind) {
    case MODEL_IMAGE_KERNEL:
        end = strchr(image->recorded, ']');
        if (image->space == MODEL_SPACE_KERNEL)
            image->name = pooled(t, kernel_name, sizeof kernel_name - 1);
        else if (!end || !has_prefix(image->recorded, "[guest.kernel.kallsyms"))
            image->name = pooled(t, guest_kernel_name, sizeof guest_kernel_name - 1);
        else
            image->name = pooled(t, image->recorded, (size_t)(end + 1 - image->recorded));
        image->short_name = image->name;
        break;
    case MODEL_IMAGE_MODULE:
        image->short_name = module_short_name(t, image->recorded);
        break;
    case MODEL_IMAGE_ANON:
        /* perf names anonymous code after the map file that a JIT would write for it. */
        image->name =
            pooled(t, anon, (size_t)snprintf(anon, sizeof anon, "/tmp/perf-%" PRIu32 ".map", image->pid));
        image->short_name = image->name ? basename_of(image->name) : NULL;
        break;
    default:
        image->short_name = image->kind == MODEL_IMAGE_FILE ? basename_of(image->recorded) : image->recorded;
    }
    return image->name && image->short_name;
}

static bool ends_deleted(const char *name) {
    static const char suffix[] = " (deleted)";
    size_t len = strlen(name), n = sizeof suffix - 1;
    return len > n && memcmp(name + len - n, suffix, n) == 0;
}

uint32_t image_intern(struct image_table *t, const struct image_seen *seen) {
    uint32_t name = text_add(t, seen->name);
    if (name == STRPOOL_NONE)
        return MODEL_NONE;
    struct model_image image = {.recorded = strpool_text(&t->texts, name), .pid = MODEL_NONE};
    image.kind = (uint8_t)(seen->kind >= 0 ? seen->kind : (int)kind_of(image.recorded, seen->space));
    image.space = (uint8_t)seen->space;
    if (image.kind == MODEL_IMAGE_ANON)
        image.pid = seen->pid;
    image.build_id_size = (uint8_t)(seen->build_id.size <= 20 ? seen->build_id.size : 20);
    if (image.build_id_size)
        memcpy(image.build_id, seen->build_id.data, image.build_id_size);
    image.maj = seen->maj;
    image.min = seen->min;
    image.ino = seen->ino;
    image.ino_generation = seen->ino_generation;
    uint64_t key[8] = {name | (uint64_t)image.pid << 32, (uint64_t)image.kind | (uint64_t)image.space << 8 |
                                                             (uint64_t)image.build_id_size << 16};
    if (image.build_id_size)
        memcpy(&key[2], image.build_id,
               sizeof image.build_id); /* key[2..4]; the device is not recorded then */
    else
        memcpy(&key[5], (uint64_t[]){image.maj | (uint64_t)image.min << 32, image.ino, image.ino_generation},
               24);
    uint32_t id = strpool_add(&t->keys, (const char *)key, sizeof key);
    if (id == STRPOOL_NONE || id < t->list.count)
        return id;
    image.id = id;
    image.deleted = ends_deleted(image.recorded);
    /* A key without its image (an earlier failure) must not shift the ids. */
    if (!set_names(t, &image) || !vec_reserve(&t->list, (size_t)id + 1))
        return MODEL_NONE;
    while (t->list.count < id)
        *vec_push(&t->list) = image;
    *vec_push(&t->list) = image;
    return id;
}

static uint64_t listed_key(uint32_t name, bool guest) {
    return (uint64_t)name << 1 | guest;
}

bool image_list(struct image_table *t, struct bytes name, bool guest, struct bytes build_id) {
    uint32_t id = text_add(t, name);
    uint32_t known =
        id == STRPOOL_NONE ? HASH_ABSENT : hash_map_get(&t->listed_by_name, listed_key(id, guest));
    struct image_build_id *entry = known != HASH_ABSENT ? &t->listed.items[known]
                                   : id == STRPOOL_NONE ? NULL
                                                        : vec_push(&t->listed);
    if (!entry)
        return false;
    entry->size = (uint8_t)(build_id.size <= sizeof entry->bytes ? build_id.size : sizeof entry->bytes);
    if (entry->size)
        memcpy(entry->bytes, build_id.data, entry->size);
    return known != HASH_ABSENT ||
           hash_map_set(&t->listed_by_name, listed_key(id, guest), (uint32_t)(t->listed.count - 1));
}

const struct image_build_id *image_listed(const struct image_table *t, const struct model_image *image) {
    bool guest = image->space == MODEL_SPACE_GUEST_KERNEL || image->space == MODEL_SPACE_GUEST_USER;
    uint32_t name = strpool_find(&t->texts, image->name, strlen(image->name));
    uint32_t i =
        name == STRPOOL_NONE ? HASH_ABSENT : hash_map_get(&t->listed_by_name, listed_key(name, guest));
    return i == HASH_ABSENT ? NULL : &t->listed.items[i];
}

bool image_kernel_symbol(struct image_table *t, uint32_t image, uint32_t *text) {
    const char *name = t->list.items[image].recorded, *at = strstr(name, ".kallsyms"), *end;
    at = at ? at + sizeof ".kallsyms" - 1 : name + strlen(name);
    if (*at ==
        '.') { /* [kernel.kallsyms._text]; a guest's [guest.kernel.kallsyms.PID]_text has a digit there */
        end = strchr(at, ']');
        if (end && (at[1] < '0' || at[1] > '9'))
            return (*text = strpool_add(&t->texts, at + 1, (size_t)(end - at - 1))) != STRPOOL_NONE;
    }
    end = strchr(at, ']');
    at = end ? end + 1 : "";
    return (*text = strpool_add(&t->texts, at, strlen(at))) != STRPOOL_NONE;
}
