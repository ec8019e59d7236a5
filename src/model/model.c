/* SPDX-License-Identifier: Apache-2.0 */
/* Turns records into events, which are played at once (streaming) or sorted at the freeze (batch). */
#include "model/model_internal.h"

#include <sys/mman.h>

static const char where[] = "process and mapping timeline";

struct model *model_new(const struct model_options *options, struct err *err) {
    struct model *m = calloc(1, sizeof *m);
    if (m) {
        m->options = *options;
        m->last_task = MODEL_NONE;
        m->kernel[0].image = m->kernel[1].image = MODEL_NONE;
        m->swapper = strpool_add(&m->images.texts, "swapper", sizeof "swapper" - 1);
        if (m->swapper != STRPOOL_NONE)
            return m;
    }
    model_free(m);
    err_memory(err, where);
    return NULL;
}

void model_fini(struct model *m) {
    pending_fini(&m->pending);
    image_table_fini(&m->images);
    mapping_table_fini(&m->mappings);
    maptree_fini(&m->tree);
    hash_map_fini(&m->space_by_key);
    hash_map_fini(&m->task_by_key);
    vec_fini(&m->spaces);
    vec_fini(&m->tasks);
    vec_fini(&m->processes);
    vec_fini(&m->threads);
    timeline_fini(&m->changes);
    timeline_fini(&m->space_processes);
    timeline_fini(&m->task_threads);
    timeline_fini(&m->task_comms);
    timeline_fini(&m->task_namespaces);
    arena_fini(&m->arena);
    vec_fini(&m->namespaces);
    vec_fini(&m->pokes);
    vec_fini(&m->programs);
    vec_fini(&m->kernel_maps);
    vec_fini(&m->endless);
    vec_fini(&m->cgroup_ids);
    hash_map_fini(&m->cgroup_paths);
}

void model_free(struct model *m) {
    if (m)
        model_fini(m);
    free(m);
}

/* ---- keys to states ---- */

/* The id of a space's state, made if need be. MODEL_NONE: out of memory. */
static uint32_t space_id(struct model *m, enum model_space space, uint32_t pid) {
    uint64_t key = model_space_key(space, pid);
    uint32_t id = hash_map_get(&m->space_by_key, key);
    if (id != HASH_ABSENT)
        return id;
    id = (uint32_t)m->spaces.count;
    struct model_space_state *s = m->spaces.count < MODEL_NONE ? vec_push(&m->spaces) : NULL;
    if (!s)
        return MODEL_NONE;
    *s = (struct model_space_state){
        .pid = pid, .leader = MODEL_NONE, .code = MODEL_NONE, .space = (uint8_t)space};
    if (hash_map_set(&m->space_by_key, key, id))
        return id;
    m->spaces.count--;
    return MODEL_NONE;
}

uint32_t model_code_space(struct model *m, uint32_t space) {
    uint32_t code = m->spaces.items[space].code;
    if (code == MODEL_NONE) {
        code = space_id(m, (enum model_space)SPACE_CODE, m->spaces.items[space].pid);
        m->spaces.items[space].code = code;
    }
    return code;
}

static uint32_t remember_task(struct model *m, uint64_t key, uint32_t id) {
    m->last_key = key;
    m->last_task = id;
    return id;
}

/* The same for a thread. The leader of its process gets a state first. As map events of one thread come in
 * runs, the last one is remembered. */
static uint32_t task_id(struct model *m, uint32_t pid, uint32_t tid) {
    uint64_t key = model_task_key(pid, tid);
    if (m->last_key == key && m->last_task != MODEL_NONE)
        return m->last_task;
    uint32_t id = hash_map_get(&m->task_by_key, key);
    if (id != HASH_ABSENT)
        return remember_task(m, key, id);
    if (tid != pid && task_id(m, pid, pid) == MODEL_NONE)
        return MODEL_NONE;
    uint32_t space = space_id(m, MODEL_SPACE_USER, pid);
    id = (uint32_t)m->tasks.count;
    struct model_task_state *t = space != MODEL_NONE && id < MODEL_NONE ? vec_push(&m->tasks) : NULL;
    if (!t)
        return MODEL_NONE;
    *t = (struct model_task_state){tid, space};
    if (!hash_map_set(&m->task_by_key, key, id)) {
        m->tasks.count--;
        return MODEL_NONE;
    }
    if (tid == pid)
        m->spaces.items[space].leader = id;
    return remember_task(m, key, id);
}

/* ---- records to events ---- */

/* Plays or keeps an event. False: out of memory, or the task's id is too large. */
static bool add_event(struct model *m, enum model_event_kind kind, uint32_t task, uint32_t arg,
                      struct model_when when) {
    struct model_event e = {when, task, kind, arg};
    return task <= EVENT_TASK_MAX &&
           (m->options.streaming ? play_event(m, &e) : pending_push(&m->pending, &e));
}

static bool add_task_event(struct model *m, enum model_event_kind kind, uint32_t pid, uint32_t tid,
                           uint32_t arg, struct model_when when) {
    uint32_t task = task_id(m, pid, tid);
    return task != MODEL_NONE && add_event(m, kind, task, arg, when);
}

static bool apply_comm(struct model *m, uint32_t pid, uint32_t tid, struct bytes comm,
                       enum model_event_kind kind, struct model_when when) {
    uint32_t text =
        strpool_add(&m->images.texts, comm.size ? (const char *)comm.data : "", bytes_text_len(comm));
    return text < TASK_COMM_NONE && add_task_event(m, kind, pid, tid, text, when);
}

static bool apply_task(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_task *t = &rec->task;
    uint32_t parent = task_id(m, t->ppid, t->ptid);
    if (parent == MODEL_NONE)
        return false;
    if (rec->type == PERFDATA_RECORD_EXIT)
        return add_task_event(m, EVENT_EXIT, t->pid, t->tid, parent, when);
    /* Synthesised forks (without a time in their body, unlike the kernel's; newer perfs also flag them) only
     * show the parent: all maps of the child follow, and the parent's may have changed since the fork. */
    bool synthesised = (rec->misc & PERFDATA_MISC_FORK_EXEC) || t->time == 0;
    return add_task_event(m, synthesised ? EVENT_FORK_EMPTY : EVENT_FORK, t->pid, t->tid, parent, when);
}

struct map_record {
    uint32_t pid, tid;
    uint64_t start, len;
    uint64_t pgoff;
    uint32_t prot, flags;
    struct image_seen image;
    bool alone; /* as in mapping_add: the ends of kernels' and modules' maps may change */
};

/* Adds a mapping; *id is its id (MODEL_NONE: it covers nothing). False: out of memory. */
static bool add_mapping(struct model *m, const struct map_record *r, struct model_when when, uint32_t image,
                        uint32_t *id) {
    *id = MODEL_NONE;
    if (r->len == 0)
        return true;
    uint64_t last = r->start + (r->len - 1);
    struct model_mapping map = {.start = r->start,
                                .last = last >= r->start ? last : UINT64_MAX,
                                .pgoff = r->pgoff,
                                .order = when.order,
                                .image = image,
                                .prot = r->prot & 0xff,
                                .flags = r->flags & 0x7fffff,
                                .late = m->late};
    if (m->mappings.list.count < SPACE_ROOT)
        *id = mapping_add(&m->mappings, &map, r->alone);
    return *id != MODEL_NONE;
}

static bool note_kernel(struct model *m, uint32_t image, uint64_t pgoff) {
    const struct model_image *im = &m->images.list.items[image];
    if (im->kind != MODEL_IMAGE_KERNEL)
        return true;
    bool guest = im->space == MODEL_SPACE_GUEST_KERNEL;
    m->kernel[guest].address = pgoff;
    m->kernel[guest].image = image;
    return image_kernel_symbol(&m->images, image, &m->kernel[guest].symbol);
}

static bool apply_map(struct model *m, struct map_record *r, unsigned misc, struct model_when when) {
    enum model_space space = model_space_of(misc);
    if (space == MODEL_SPACE_NONE) /* as in perf: what is not a kernel's belongs to the process */
        space = MODEL_SPACE_USER;
    r->image.space = space;
    r->image.pid = r->pid;
    r->image.time_ns = when.time_ns;
    r->image.executable = r->prot & PROT_EXEC;
    r->alone = space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL;
    uint32_t mapping, image = image_intern(&m->images, &r->image);
    if (image == MODEL_NONE || !note_kernel(m, image, r->pgoff) || !add_mapping(m, r, when, image, &mapping))
        return false;
    if (space == MODEL_SPACE_USER)
        return mapping == MODEL_NONE ? add_task_event(m, EVENT_SEEN, r->pid, r->tid, 0, when)
                                     : add_task_event(m, EVENT_MAP, r->pid, r->tid, mapping, when);
    uint32_t owner = space == MODEL_SPACE_KERNEL ? MODEL_DEFAULT_OWNER : r->pid;
    uint32_t id = mapping == MODEL_NONE ? 0 : space_id(m, space, owner);
    if (mapping == MODEL_NONE || id == MODEL_NONE)
        return mapping == MODEL_NONE;
    if (r->alone)
        mapping_end(&m->mappings, mapping, model_module_last(m, id, mapping, when));
    return add_event(m, EVENT_MAP_SPACE, id, mapping, when);
}

bool model_add_evidence(struct model *m, struct bytes name, const struct perfdata_evidence *e,
                        struct err *err) {
    return image_add_evidence(&m->images, name, e) || err_memory(err, "images");
}

/* The text up to its NUL. */
static struct bytes text_of(struct bytes area) {
    return (struct bytes){area.data, bytes_text_len(area)};
}

static bool apply_mmap(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_mmap *p = &rec->mmap;
    struct map_record r = {p->pid,
                           p->tid,
                           p->addr,
                           p->len,
                           p->pgoff,
                           .prot = rec->misc & PERFDATA_MISC_MMAP_DATA ? 0 : PROT_EXEC,
                           .image = {.name = text_of(p->filename), .kind = -1}};
    return apply_map(m, &r, rec->misc, when);
}

/* Reads the evidence after the name. Its magic number shows its byte order. */
static bool read_tail(struct bytes area, size_t name_size, struct perfdata_evidence *e) {
    struct bytes tail = perfdata_evidence_area(area, name_size);
    return tail.size && (perfdata_evidence_read(tail, false, e) || perfdata_evidence_read(tail, true, e));
}

static bool apply_mmap2(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_mmap2 *p = &rec->mmap2;
    struct perfdata_evidence e;
    struct bytes name = text_of(p->filename);
    struct map_record r = {p->pid,   p->tid,          p->addr,           p->len,
                           p->pgoff, .prot = p->prot, .flags = p->flags, .image = {.name = name, .kind = -1}};
    bool tail = read_tail(p->filename, name.size, &e);
    if (tail && e.build_id_size)
        r.image.build_id = (struct bytes){e.build_id, e.build_id_size};
    if (tail && e.has_state)
        r.image.state = &e.state;
    r.image.id_later = tail && e.id_later && p->has_build_id;
    if (p->has_build_id) {
        r.image.build_id = (struct bytes){p->build_id, p->build_id_size < 20 ? p->build_id_size : 20};
    } else {
        r.image.maj = p->maj;
        r.image.min = p->min;
        r.image.ino = p->ino;
        r.image.ino_generation = p->ino_generation;
    }
    return apply_map(m, &r, rec->misc, when);
}

uint32_t model_add_code_image(struct model *m, uint32_t pid, const char *name, uint32_t number) {
    struct image_seen seen = {.name = {(const uint8_t *)name, strlen(name)},
                              .space = MODEL_SPACE_USER,
                              .pid = pid,
                              .executable = true,
                              .ino = number,
                              .kind = MODEL_IMAGE_CODE};
    return image_intern(&m->images, &seen);
}

bool model_add_code(struct model *m, uint32_t pid, const struct model_code *code, struct model_when when,
                    struct err *err) {
    struct map_record r = {.start = code->start, .len = code->size, .pgoff = code->pgoff, .prot = PROT_EXEC};
    m->late = false;          /* only records are late */
    if (m->options.streaming) /* if it is late, it begins now */
        when = m->last = model_when_before(when, m->last) ? m->last : when;
    uint32_t mapping, task = task_id(m, pid, pid);
    uint32_t space = task == MODEL_NONE ? MODEL_NONE : model_code_space(m, m->tasks.items[task].space);
    bool ok = space != MODEL_NONE && add_mapping(m, &r, when, code->image, &mapping) &&
              (mapping == MODEL_NONE || add_event(m, EVENT_CODE, space, mapping, when));
    return ok || err_memory(err, where);
}

enum { KSYMBOL_BPF = 1 }; /* enum perf_record_ksymbol_type of perf_event.h */

static bool apply_ksymbol(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_ksymbol *k = &rec->ksymbol;
    struct map_record r = {.start = k->addr, .len = k->len, .prot = PROT_EXEC};
    uint32_t mapping, image = MODEL_NONE; /* a mapping without an image: the code was freed, a hole */
    if (!(k->flags & PERFDATA_KSYMBOL_UNREGISTER)) {
        r.image =
            (struct image_seen){.name = text_of(k->name),
                                .space = MODEL_SPACE_KERNEL,
                                .kind = k->ksym_type == KSYMBOL_BPF ? MODEL_IMAGE_BPF : MODEL_IMAGE_KSYMBOL};
        image = image_intern(&m->images, &r.image);
        if (image == MODEL_NONE)
            return false;
    }
    if (!add_mapping(m, &r, when, image, &mapping))
        return false;
    uint32_t id = space_id(m, MODEL_SPACE_KERNEL, MODEL_DEFAULT_OWNER);
    return mapping == MODEL_NONE || (id != MODEL_NONE && add_event(m, EVENT_MAP_SPACE, id, mapping, when));
}

static bool apply_build_id(struct model *m, const struct perfdata_record *rec) {
    const struct perfdata_build_id *b = &rec->build_id;
    size_t size = rec->misc & PERFDATA_MISC_BUILD_ID_SIZE && b->build_id[20] < 20 ? b->build_id[20] : 20;
    struct perfdata_evidence e;
    bool later = read_tail(b->filename, bytes_text_len(b->filename), &e) && e.id_later;
    return image_list(&m->images, b->filename, model_space_of(rec->misc), (struct bytes){b->build_id, size},
                      later);
}

/* Entries are a pid (-1: none was given) and its comm; the pid, of 32 bits, shows their byte order. */
static bool apply_thread_map(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    struct bytes left = rec->thread_map.entries;
    for (; left.size >= 24; left.data += 24, left.size -= 24) {
        uint64_t pid = bytes_load64(left.data, false);
        pid = pid > UINT32_MAX ? __builtin_bswap64(pid) : pid;
        struct bytes comm = {left.data + 8, 16};
        if (pid < UINT32_MAX && bytes_text_len(comm) &&
            !apply_comm(m, (uint32_t)pid, (uint32_t)pid, comm, EVENT_COMM_WEAK, when))
            return false;
    }
    return true;
}

static bool apply_namespaces(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_namespaces *n = &rec->namespaces;
    uint32_t count = (uint32_t)(n->links.count / 2);
    uint64_t *links = arena_alloc(&m->arena, (size_t)count * 16);
    struct model_namespaces *entry =
        links && m->namespaces.count < MODEL_NONE ? vec_push(&m->namespaces) : NULL;
    if (!entry)
        return false;
    for (uint32_t i = 0; i < 2 * count; i++)
        links[i] = perfdata_u64_at(&n->links, i);
    *entry = (struct model_namespaces){count, links};
    return add_task_event(m, EVENT_NAMESPACES, n->pid, n->tid, (uint32_t)(m->namespaces.count - 1), when);
}

static bool apply_cgroup(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    struct bytes path = rec->cgroup.path;
    uint32_t text =
        strpool_add(&m->images.texts, path.size ? (const char *)path.data : "", bytes_text_len(path));
    uint64_t *id = text == STRPOOL_NONE ? NULL : vec_push(&m->cgroup_ids);
    if (!id)
        return false;
    *id = rec->cgroup.id;
    return add_event(m, EVENT_CGROUP, text, (uint32_t)(m->cgroup_ids.count - 1), when);
}

static bool apply_text_poke(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    const struct perfdata_text_poke *p = &rec->text_poke;
    size_t size = (size_t)p->old_len + p->new_len;
    if (size > p->bytes.size)
        return true; /* invalid: it is shorter than its own sizes */
    struct bytes copy = arena_copy(&m->arena, (struct bytes){p->bytes.data, size});
    struct model_text_poke *poke = copy.data || !size ? vec_push(&m->pokes) : NULL;
    if (poke)
        *poke = (struct model_text_poke){when, p->addr, p->old_len, p->new_len, copy.data};
    return poke != NULL;
}

static bool apply_bpf_event(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    if (rec->bpf_event.type != 1) /* PERF_BPF_EVENT_PROG_LOAD */
        return true;
    struct model_bpf_program *p = vec_push(&m->programs);
    if (!p)
        return false;
    *p = (struct model_bpf_program){when, rec->bpf_event.id, {0}};
    memcpy(p->tag, rec->bpf_event.tag, sizeof p->tag);
    return true;
}

static bool apply_record(struct model *m, const struct perfdata_record *rec, struct model_when when) {
    switch (rec->type) {
    case PERFDATA_RECORD_COMM:
        return apply_comm(m, rec->comm.pid, rec->comm.tid, rec->comm.comm,
                          rec->misc & PERFDATA_MISC_COMM_EXEC ? EVENT_COMM_EXEC : EVENT_COMM, when);
    case PERFDATA_RECORD_FORK:
    case PERFDATA_RECORD_EXIT:
        return apply_task(m, rec, when);
    case PERFDATA_RECORD_ITRACE_START:
        return add_task_event(m, EVENT_SEEN, rec->itrace_start.pid, rec->itrace_start.tid, 0, when);
    case PERFDATA_RECORD_THREAD_MAP:
        return apply_thread_map(m, rec, when);
    case PERFDATA_RECORD_MMAP:
        return apply_mmap(m, rec, when);
    case PERFDATA_RECORD_MMAP2:
        return apply_mmap2(m, rec, when);
    case PERFDATA_RECORD_KSYMBOL:
        return apply_ksymbol(m, rec, when);
    case PERFDATA_RECORD_HEADER_BUILD_ID:
        return apply_build_id(m, rec);
    case PERFDATA_RECORD_NAMESPACES:
        return apply_namespaces(m, rec, when);
    case PERFDATA_RECORD_CGROUP:
        return apply_cgroup(m, rec, when);
    case PERFDATA_RECORD_TEXT_POKE:
        return apply_text_poke(m, rec, when);
    case PERFDATA_RECORD_BPF_EVENT:
        return apply_bpf_event(m, rec, when);
    }
    return true;
}

bool model_wants(const struct model *m, uint32_t record_type) {
    switch (record_type) {
    case PERFDATA_RECORD_COMM:
    case PERFDATA_RECORD_FORK:
    case PERFDATA_RECORD_EXIT:
    case PERFDATA_RECORD_ITRACE_START:
        return true;
    case PERFDATA_RECORD_THREAD_MAP:
        return model_needs(m, MODEL_NEED_COMMS);
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
    case PERFDATA_RECORD_KSYMBOL:
    case PERFDATA_RECORD_HEADER_BUILD_ID:
        return model_needs(m, MODEL_NEED_MAPS);
    case PERFDATA_RECORD_NAMESPACES:
    case PERFDATA_RECORD_CGROUP:
    case PERFDATA_RECORD_TEXT_POKE:
    case PERFDATA_RECORD_BPF_EVENT:
        return model_needs(m, MODEL_NEED_EXTRAS);
    }
    return false;
}

/* Streaming: the instant to use for a record, which is never before the last one's. */
static struct model_when in_order(struct model *m, struct model_when when) {
    if (!m->options.streaming)
        return when;
    bool behind = model_when_before(when, m->last);
    m->late = behind || when.time_ns < m->asked_ns;
    m->unordered += m->late;
    return behind ? m->last : (m->last = when);
}

void model_asked(struct model *m, uint64_t time_ns) {
    if (time_ns > m->asked_ns)
        m->asked_ns = time_ns;
}

bool model_apply(struct model *m, const struct perfdata_record *rec, struct model_when when,
                 struct err *err) {
    if (!model_wants(m, rec->type))
        return true;
    if (m->frozen)
        return err_set(err, ERR_USAGE, where, "a record comes after the timeline was closed");
    return apply_record(m, rec, in_order(m, when)) || err_memory(err, where);
}
