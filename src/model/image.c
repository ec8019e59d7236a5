/* SPDX-License-Identifier: Apache-2.0 */
#include "model/image.h"

#include <stdio.h>

void image_table_fini(struct image_table *t) {
    vec_fini(&t->list);
    vec_fini(&t->names);
    vec_fini(&t->listed);
    strpool_fini(&t->texts);
    strpool_fini(&t->keys);
    hash_map_fini(&t->listed_by_name);
    hash_map_fini(&t->evidence_of);
    vec_fini(&t->evidence);
}

/*
 * Names of mappings that are no files, as the kernel and perf record spell them (man 5 proc_pid_maps; the
 * kernel's events name mappings without a name "//anon"). The first row that matches counts. `jit`: if
 * executable, perf takes it for a JIT's code and names it after the map file that a JIT would write (each
 * name tried with perf 7.2), except names that a program gave.
 */
static const struct special_name {
    const char *text;
    bool whole; /* the name is the text; otherwise it begins with it */
    bool jit;
    uint8_t kind;
} special_names[] = {
    {"//anon", true, true, MODEL_IMAGE_ANON},
    {"/dev/zero", false, true, MODEL_IMAGE_ANON},
    {"/anon_hugepage", false, true, MODEL_IMAGE_ANON},
    {"[anon:", false, true, MODEL_IMAGE_ANON}, /* prctl(2), PR_SET_VMA_ANON_NAME: in perf not a JIT's */
    {"[anon_shmem:", false, true, MODEL_IMAGE_ANON},
    {"[heap]", true, true, MODEL_IMAGE_HEAP},
    {"[stack", false, true, MODEL_IMAGE_STACK},
    {"/SYSV", false, true, MODEL_IMAGE_SYSV},
    {"/memfd:", false, false, MODEL_IMAGE_MEMFD},
    {"memfd:", false, false, MODEL_IMAGE_MEMFD},
    {"[vdso", false, false, MODEL_IMAGE_VDSO},
    {"[vsyscall]", true, false, MODEL_IMAGE_VSYSCALL},
    {"[vectors]", true, false, MODEL_IMAGE_VSYSCALL},
    {"[uprobes]", true, false, MODEL_IMAGE_VSYSCALL},
    {"anon_inode:", false, false, MODEL_IMAGE_OTHER},
    {"socket:", false, false, MODEL_IMAGE_OTHER},
    {"[", false, false, MODEL_IMAGE_OTHER},
    {"", false, false, MODEL_IMAGE_FILE},
};

static bool has_prefix(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static const struct special_name *special_name(const char *name) {
    const struct special_name *n = special_names;
    while (n->whole ? strcmp(name, n->text) != 0 : !has_prefix(name, n->text))
        n++;
    return n;
}

bool image_kind_is_memory(unsigned kind) {
    return kind == MODEL_IMAGE_ANON || kind == MODEL_IMAGE_HEAP || kind == MODEL_IMAGE_STACK ||
           kind == MODEL_IMAGE_MEMFD || kind == MODEL_IMAGE_SYSV;
}

bool model_is_memory(struct bytes name) {
    char text[64]; /* longer than every special name */
    size_t len = bytes_text_len(name), n = len < sizeof text ? len : sizeof text - 1;
    memcpy(text, len ? (const char *)name.data : "", n);
    text[n] = 0;
    return image_kind_is_memory(special_name(text)->kind);
}

/* Closing brackets are not compared: the first perfs wrote [kernel.kallsyms._text], and guests add their
 * machine's pid. */
static bool is_kernel_name(const char *name) {
    return has_prefix(name, "[kernel.kallsyms") || has_prefix(name, "[guest.kernel.kallsyms") ||
           strcmp(name, "[kernel]") == 0 || strcmp(name, "[kernel.vmlinux]") == 0;
}

/* Adds a text without a NUL. */
static uint32_t text_add_whole(struct image_table *t, struct bytes text) {
    return strpool_add(&t->texts, text.size ? (const char *)text.data : "", text.size);
}

static uint32_t text_add(struct image_table *t, struct bytes text) {
    return text_add_whole(t, (struct bytes){text.data, bytes_text_len(text)});
}

static const char *pooled(struct image_table *t, const char *s, size_t len) {
    uint32_t id = strpool_add(&t->texts, s, len);
    return id == STRPOOL_NONE ? NULL : strpool_text(&t->texts, id);
}

static const char *basename_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* /lib/modules/V/kernel/net/nf-nat.ko.xz -> [nf_nat]: the kernel's names of modules have underscores only.
 * perf removes .ko, .ko.gz and .ko.xz; it keeps everything if something else follows .ko. */
static const char *module_short_name(struct image_table *t, const char *path) {
    const char *base = basename_of(path), *ending = strstr(base, ".ko");
    size_t len = strlen(base);
    char name[256];
    if (*path == '[' || !ending || len > sizeof name - 3)
        return *path == '[' ? path : base;
    bool known = strcmp(ending, ".ko") == 0 || strcmp(ending, ".ko.gz") == 0 || strcmp(ending, ".ko.xz") == 0;
    len = (size_t)(known ? snprintf(name, sizeof name, "[%.*s]", (int)(ending - base), base)
                         : snprintf(name, sizeof name, "%s", base));
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return pooled(t, name, len);
}

/* [kernel.kallsyms]_text -> [kernel.kallsyms]; likewise [guest.kernel.kallsyms.42]_text, without the guest's
 * pid. */
static const char *kernel_name(struct image_table *t, const char *recorded) {
    static const char host[] = "[kernel.kallsyms]", guest[] = "[guest.kernel.kallsyms]";
    if (has_prefix(recorded, "[kernel.kallsyms"))
        return pooled(t, host, sizeof host - 1);
    return has_prefix(recorded, "[guest.") ? pooled(t, guest, sizeof guest - 1) : recorded;
}

/* Fills name and short_name from kind and recorded. False: out of memory. */
static bool set_names(struct image_table *t, struct model_image *image) {
    char text[32];
    image->name = image->short_name = image->recorded;
    if (image->kind == MODEL_IMAGE_KERNEL) {
        image->name = image->short_name = kernel_name(t, image->recorded);
    } else if (image->kind == MODEL_IMAGE_MODULE) {
        image->short_name = module_short_name(t, image->recorded);
    } else if (image->pid != MODEL_NONE) {
        image->name =
            pooled(t, text, (size_t)snprintf(text, sizeof text, "/tmp/perf-%d.map", (int)image->pid));
        image->short_name =
            pooled(t, text, (size_t)snprintf(text, sizeof text, "[JIT] tid %d", (int)image->pid));
    } else if (image->kind == MODEL_IMAGE_FILE || image->kind == MODEL_IMAGE_MEMFD ||
               image->kind == MODEL_IMAGE_CODE || image->kind == MODEL_IMAGE_ANON) {
        image->short_name = basename_of(image->recorded);
    }
    return image->name && image->short_name;
}

static bool ends_deleted(const char *name) {
    static const char suffix[] = " (deleted)";
    size_t len = strlen(name), n = sizeof suffix - 1;
    return len > n && memcmp(name + len - n, suffix, n) == 0;
}

/* What is known of a name, made if need be: most map events repeat an image. NULL: out of memory. */
static struct image_name *image_name(struct image_table *t, uint32_t text) {
    if (!vec_reserve(&t->names, (size_t)text + 1))
        return NULL;
    while (t->names.count <= text)
        t->names.items[t->names.count++] = (struct image_name){NULL, MODEL_NONE, MODEL_NONE, 0};
    struct image_name *name = &t->names.items[text];
    if (!name->special)
        name->special = special_name(strpool_text(&t->texts, text));
    return name;
}

static uint8_t kind_of(const struct image_table *t, const struct image_seen *seen, uint32_t text,
                       const struct special_name *special) {
    if (seen->kind >= 0)
        return (uint8_t)seen->kind;
    if (seen->space == MODEL_SPACE_KERNEL || seen->space == MODEL_SPACE_GUEST_KERNEL)
        return is_kernel_name(strpool_text(&t->texts, text)) ? MODEL_IMAGE_KERNEL : MODEL_IMAGE_MODULE;
    return special->kind;
}

/* The process that an image of executable memory belongs to, or MODEL_NONE. */
static uint32_t owner_of(const struct image_seen *seen, uint8_t kind, const struct special_name *special) {
    return seen->kind < 0 && kind == special->kind && special->jit && seen->executable ? seen->pid
                                                                                       : MODEL_NONE;
}

static uint8_t build_id_size(const struct image_seen *seen) {
    return (uint8_t)(seen->build_id.size <= 20 ? seen->build_id.size : 20);
}

static struct model_image describe(const struct image_table *t, const struct image_seen *seen, uint32_t text,
                                   uint8_t kind, uint32_t owner) {
    struct model_image image = {
        .recorded = strpool_text(&t->texts, text), .pid = owner, .first_ns = seen->time_ns};
    image.space = (uint8_t)seen->space;
    image.kind = kind;
    image.build_id_size = build_id_size(seen);
    if (image.build_id_size)
        memcpy(image.build_id, seen->build_id.data, image.build_id_size);
    image.id_later = seen->id_later;
    image.maj = seen->maj;
    image.min = seen->min;
    image.ino = seen->ino;
    image.ino_generation = seen->ino_generation;
    image.has_state = seen->state != NULL;
    if (seen->state)
        image.state = *seen->state;
    return image;
}

static bool same_state(const struct perfdata_file_state *a, const struct perfdata_file_state *b) {
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

/* Whether describe() would return `a` again. */
static bool is_seen_again(const struct model_image *a, const struct image_seen *seen, uint8_t kind,
                          uint32_t owner) {
    return a->kind == kind && a->space == seen->space && a->pid == owner && a->maj == seen->maj &&
           a->min == seen->min && a->ino == seen->ino && a->ino_generation == seen->ino_generation &&
           a->has_state == (seen->state != NULL) && (!seen->state || same_state(&a->state, seen->state)) &&
           a->build_id_size == build_id_size(seen) && a->id_later == seen->id_later &&
           (!a->build_id_size || memcmp(a->build_id, seen->build_id.data, a->build_id_size) == 0);
}

/* Interns the identity as bytes; images are the same if and only if these are. */
static uint32_t identity(struct image_table *t, uint32_t text, const struct model_image *image) {
    uint64_t key[13] = {text | (uint64_t)image->pid << 32,
                        (uint64_t)image->kind | (uint64_t)image->space << 8 |
                            (uint64_t)image->build_id_size << 16 | (uint64_t)image->has_state << 24 |
                            (uint64_t)image->id_later << 25,
                        image->maj | (uint64_t)image->min << 32, image->ino, image->ino_generation};
    memcpy(&key[5], image->build_id, sizeof image->build_id);
    const struct perfdata_file_state *f = &image->state;
    const uint64_t state[5] = {f->dev, f->ino, f->size, (uint64_t)f->mtime_ns, (uint64_t)f->ctime_ns};
    memcpy(&key[8], state, sizeof state);
    return strpool_add(&t->keys, (const char *)key, sizeof key);
}

/* Notes a mapping of the image; the file may have these out of order. */
static void note_mapping(struct model_image *image, const struct image_seen *seen) {
    image->mapper = seen->pid;
    image->first_ns = seen->time_ns < image->first_ns ? seen->time_ns : image->first_ns;
}

static void note_newest(struct image_name *name, uint32_t id, uint64_t time_ns) {
    if (name->newest != MODEL_NONE && time_ns < name->newest_ns)
        return;
    name->newest = id;
    name->newest_ns = time_ns;
}

uint32_t image_intern(struct image_table *t, const struct image_seen *seen) {
    uint32_t text = text_add_whole(t, seen->name);
    struct image_name *name = text == STRPOOL_NONE ? NULL : image_name(t, text);
    if (!name)
        return MODEL_NONE;
    uint8_t kind = kind_of(t, seen, text, name->special);
    uint32_t owner = owner_of(seen, kind, name->special);
    if (name->last != MODEL_NONE && is_seen_again(&t->list.items[name->last], seen, kind, owner)) {
        note_mapping(&t->list.items[name->last], seen);
        note_newest(name, name->last, seen->time_ns);
        return name->last;
    }
    struct model_image image = describe(t, seen, text, kind, owner);
    uint32_t id = identity(t, text, &image);
    if (id == STRPOOL_NONE)
        return MODEL_NONE;
    if (id >= t->list.count) {
        image.id = id;
        image.deleted = ends_deleted(image.recorded);
        if (!set_names(t, &image) || !vec_reserve(&t->list, (size_t)id + 1))
            return MODEL_NONE;
        do /* more than once after a failure left an identity without an image */
            t->list.items[t->list.count++] = image;
        while (t->list.count <= id);
    }
    note_mapping(&t->list.items[id], seen);
    t->names.items[text].last = id;
    note_newest(&t->names.items[text], id, seen->time_ns);
    return id;
}

const struct model_image *image_last_named(const struct image_table *t, const struct model_image *image) {
    uint32_t text = strpool_find(&t->texts, image->recorded, strlen(image->recorded));
    uint32_t last = text < t->names.count ? t->names.items[text].newest : MODEL_NONE;
    return last == MODEL_NONE ? NULL : &t->list.items[last];
}

static uint64_t evidence_key(uint32_t text, const struct perfdata_file_state *f) {
    const uint64_t words[6] = {text, f->dev, f->ino, f->size, (uint64_t)f->mtime_ns, (uint64_t)f->ctime_ns};
    return hash_bytes(words, sizeof words);
}

bool image_add_evidence(struct image_table *t, struct bytes name, const struct perfdata_evidence *e) {
    uint32_t text = text_add(t, name);
    struct perfdata_evidence *to = text == STRPOOL_NONE || !e->has_state ? NULL : vec_push(&t->evidence);
    if (!to)
        return text != STRPOOL_NONE && !e->has_state;
    *to = *e;
    return hash_map_set(&t->evidence_of, evidence_key(text, &e->state), (uint32_t)(t->evidence.count - 1));
}

const struct perfdata_evidence *image_evidence(const struct image_table *t, const struct model_image *image) {
    uint32_t text =
        image->has_state ? strpool_find(&t->texts, image->recorded, strlen(image->recorded)) : STRPOOL_NONE;
    uint32_t i =
        text == STRPOOL_NONE ? HASH_ABSENT : hash_map_get(&t->evidence_of, evidence_key(text, &image->state));
    if (i == HASH_ABSENT || !same_state(&t->evidence.items[i].state, &image->state))
        return NULL;
    return &t->evidence.items[i];
}

static uint64_t listed_key(uint32_t text, enum model_space space) {
    return (uint64_t)text << 3 | space;
}

bool image_list(struct image_table *t, struct bytes name, enum model_space space, struct bytes build_id,
                bool later) {
    uint32_t text = text_add(t, name);
    uint64_t key = listed_key(text, space);
    if (text == STRPOOL_NONE)
        return false;
    uint32_t known = hash_map_get(&t->listed_by_name, key);
    struct image_build_id *entry = known != HASH_ABSENT ? &t->listed.items[known] : vec_push(&t->listed);
    if (!entry)
        return false;
    entry->size = (uint8_t)(build_id.size <= sizeof entry->bytes ? build_id.size : sizeof entry->bytes);
    entry->later = later;
    if (entry->size)
        memcpy(entry->bytes, build_id.data, entry->size);
    return known != HASH_ABSENT || hash_map_set(&t->listed_by_name, key, (uint32_t)(t->listed.count - 1));
}

const struct image_build_id *image_listed(const struct image_table *t, const struct model_image *image,
                                          bool in_same_space) {
    static const uint8_t others[] = {[MODEL_SPACE_USER] = MODEL_SPACE_KERNEL,
                                     [MODEL_SPACE_KERNEL] = MODEL_SPACE_USER,
                                     [MODEL_SPACE_GUEST_USER] = MODEL_SPACE_GUEST_KERNEL,
                                     [MODEL_SPACE_GUEST_KERNEL] = MODEL_SPACE_GUEST_USER};
    uint32_t text = strpool_find(&t->texts, image->name, strlen(image->name));
    if (text == STRPOOL_NONE)
        return NULL;
    uint32_t i = hash_map_get(&t->listed_by_name, listed_key(text, image->space));
    if (i == HASH_ABSENT && !in_same_space)
        i = hash_map_get(&t->listed_by_name, listed_key(text, others[image->space]));
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
