/* SPDX-License-Identifier: Apache-2.0 */
/* Queries. Nothing here changes the model: all may run in parallel on a frozen one. */
#include "model/model_internal.h"

/* The space's id, or HASH_ABSENT. */
static uint32_t find_space(const struct model *m, enum model_space space, uint32_t pid) {
    uint32_t id = HASH_ABSENT;
    if (space != MODEL_SPACE_NONE && space != MODEL_SPACE_KERNEL)
        id = hash_map_get(&m->space_by_key, model_space_key(space, pid));
    if (id == HASH_ABSENT && (space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL))
        id = hash_map_get(&m->space_by_key, model_space_key(space, MODEL_DEFAULT_OWNER));
    return id;
}

/* The mapping that covers the address as of a change, or MODEL_NONE: the newest map event since the last root
 * that covers it, else the one in the root's tree. */
static uint32_t find_mapping(const struct model *m, uint32_t space, uint32_t entry, uint64_t address) {
    const struct mapping_table *mappings = &m->mappings;
    for (; entry != MODEL_NONE; entry = timeline_previous(&m->changes, space, entry)) {
        uint32_t value = timeline_value(&m->changes, entry);
        if (value & SPACE_ROOT)
            return maptree_find(&m->tree, mappings, space_root_of(value), address);
        if (address >= mapping_start(mappings, value) && address <= mapping_last(mappings, value))
            return value;
    }
    return MODEL_NONE;
}

/* find_mapping; *piece becomes a range around the address with the same result. */
static uint32_t find_piece(const struct model *m, uint32_t space, uint32_t entry, uint64_t address,
                           struct model_piece *piece) {
    const struct mapping_table *mappings = &m->mappings;
    struct model_piece clip = {0, UINT64_MAX, MODEL_NONE};
    *piece = clip;
    for (; entry != MODEL_NONE; entry = timeline_previous(&m->changes, space, entry)) {
        uint32_t value = timeline_value(&m->changes, entry);
        if (value & SPACE_ROOT) {
            maptree_find_piece(&m->tree, mappings, space_root_of(value), address, piece);
            break;
        }
        uint64_t start = mapping_start(mappings, value), last = mapping_last(mappings, value);
        if (address >= start && address <= last) {
            *piece = (struct model_piece){start, last, value};
            break;
        }
        if (last < address)
            clip.start = last + 1 > clip.start ? last + 1 : clip.start;
        else
            clip.last = start - 1 < clip.last ? start - 1 : clip.last;
    }
    piece->start = piece->start > clip.start ? piece->start : clip.start;
    piece->last = piece->last < clip.last ? piece->last : clip.last;
    return piece->mapping;
}

/* Kernels have some tens of megabytes, including data. */
enum { KERNEL_TAIL_BYTES = 64 << 20 };

/*
 * As find_mapping, but addresses shortly after a kernel's map, if nothing else is there, are the kernel's:
 * the map ends with the text, and after it lies the code that ran at boot, where the stacks of idle tasks
 * begin.
 */
static uint32_t find_in_space(const struct model *m, uint32_t space, uint32_t entry, uint64_t address) {
    uint32_t found = find_mapping(m, space, entry, address);
    unsigned kind = m->spaces.items[space].space;
    if (found != MODEL_NONE || (kind != MODEL_SPACE_KERNEL && kind != MODEL_SPACE_GUEST_KERNEL))
        return found;
    uint64_t reference = m->kernel[kind == MODEL_SPACE_GUEST_KERNEL].address;
    uint32_t kernel = find_mapping(m, space, entry, reference);
    if (kernel == MODEL_NONE)
        return MODEL_NONE;
    const struct model_mapping map = mapping_get(&m->mappings, kernel);
    bool is_kernel = map.image != MODEL_NONE && m->images.list.items[map.image].kind == MODEL_IMAGE_KERNEL;
    return is_kernel && address > map.last && address - map.last <= KERNEL_TAIL_BYTES ? kernel : MODEL_NONE;
}

uint64_t model_mapping_offset(const struct model *m, uint32_t mapping, uint64_t address) {
    const struct model_mapping map = mapping_get(&m->mappings, mapping);
    const struct model_image *image = &m->images.list.items[map.image];
    bool absolute = image->kind == MODEL_IMAGE_KERNEL || image->pid != MODEL_NONE;
    return absolute ? address : address - map.start + map.pgoff;
}

static bool hit(const struct model *m, uint32_t mapping, uint64_t address, struct model_hit *out) {
    if (mapping == MODEL_NONE || mapping_image(&m->mappings, mapping) == MODEL_NONE)
        return false;
    out->mapping = mapping;
    out->image = mapping_image(&m->mappings, mapping);
    out->offset = model_mapping_offset(m, mapping, address);
    return true;
}

/* The last change of the space's announced code, or MODEL_NONE. */
static uint32_t find_code_entry(const struct model *m, uint32_t space, struct model_when when) {
    uint32_t code = m->spaces.items[space].code;
    return code == MODEL_NONE ? MODEL_NONE : timeline_find(&m->changes, code, when);
}

/* The announced code at an address as of a change, or MODEL_NONE. */
static uint32_t find_code(const struct model *m, uint32_t space, uint32_t entry, uint64_t address) {
    uint32_t found =
        entry == MODEL_NONE ? MODEL_NONE : find_mapping(m, m->spaces.items[space].code, entry, address);
    return found == MODEL_NONE || mapping_image(&m->mappings, found) == MODEL_NONE ? MODEL_NONE : found;
}

/* Looks in the announced code first, then in the mappings. */
static bool find_in_layers(const struct model *m, uint32_t space, uint32_t maps, uint32_t code,
                           uint64_t address, struct model_hit *out) {
    return hit(m, find_code(m, space, code, address), address, out) ||
           hit(m, find_in_space(m, space, maps, address), address, out);
}

bool model_find(const struct model *m, unsigned cpumode, uint32_t pid, struct model_when when,
                uint64_t address, struct model_hit *out) {
    enum model_space space = model_space_of(cpumode);
    *out = MODEL_NOTHING;
    out->space = space;
    uint32_t id = find_space(m, space, pid);
    return id != HASH_ABSENT && find_in_layers(m, id, timeline_find(&m->changes, id, when),
                                               find_code_entry(m, id, when), address, out);
}

uint32_t model_exec_open(const struct model *m, uint32_t space, struct model_when when) {
    /* What execve itself maps: code of the program and of its interpreter, then [vdso] and the like. */
    enum { EXEC_MAPS_MAX = 4 };
    uint32_t entry = timeline_find(&m->changes, space, when);
    for (unsigned maps = 0; entry != MODEL_NONE; maps++) {
        uint32_t value = timeline_value(&m->changes, entry);
        if (value & SPACE_ROOT)
            return value == SPACE_EXEC ? entry : MODEL_NONE;
        uint32_t image = mapping_image(&m->mappings, value);
        bool last = image != MODEL_NONE && m->images.list.items[image].kind == MODEL_IMAGE_VDSO;
        if (maps == EXEC_MAPS_MAX || (last && maps))
            return MODEL_NONE;
        entry = timeline_previous(&m->changes, space, entry);
    }
    return MODEL_NONE;
}

/* Finds what was at an address before an exec, whose change is `entry`. */
static bool find_before(const struct model *m, uint32_t space, uint32_t entry, uint64_t address,
                        struct model_hit *out) {
    if (entry == MODEL_NONE)
        return false;
    struct model_when before = model_when_prior(timeline_when(&m->changes, entry));
    return find_in_layers(m, space, timeline_previous(&m->changes, space, entry),
                          find_code_entry(m, space, before), address, out);
}

bool model_find_before_exec(const struct model *m, unsigned cpumode, uint32_t pid, struct model_when when,
                            uint64_t address, struct model_hit *out) {
    enum model_space space = model_space_of(cpumode);
    *out = MODEL_NOTHING;
    out->space = space;
    uint32_t id = space == MODEL_SPACE_USER ? find_space(m, space, pid) : HASH_ABSENT;
    return id != HASH_ABSENT && find_before(m, id, model_exec_open(m, id, when), address, out);
}

/* The time span from an entry (MODEL_NONE: before the first) to the owner's next one. */
static void span_of(const struct timeline *t, uint32_t owner, uint32_t entry, struct model_when *from,
                    struct model_when *until) {
    if (!t->frozen) {
        uint32_t later = timeline_after(t, owner, entry);
        *from = entry != MODEL_NONE ? timeline_when(t, entry) : (struct model_when){0, 0};
        *until = later != MODEL_NONE ? timeline_when(t, later) : MODEL_WHEN_END;
        return;
    }
    bool known = (size_t)owner + 1 < t->heads.count;
    uint32_t next = entry != MODEL_NONE ? entry + 1 : known ? t->heads.items[owner] : 0;
    *from = entry != MODEL_NONE ? timeline_when(t, entry) : (struct model_when){0, 0};
    *until = known && next < t->heads.items[owner + 1] ? timeline_when(t, next) : MODEL_WHEN_END;
}

/* Adds the announced code above a space to the state of its maps. */
static void add_code_layer(const struct model *m, struct model_when when, struct model_state *state) {
    struct model_when from, until;
    uint32_t code = m->spaces.items[state->owner].code;
    state->code = timeline_find(&m->changes, code, when);
    span_of(&m->changes, code, state->code, &from, &until);
    /* The newer of the two changes identifies the state: it determines the other one. */
    if (state->id == MODEL_NONE || (state->code != MODEL_NONE && !model_when_before(from, state->from)))
        state->id = state->code;
    state->from = model_when_before(state->from, from) ? from : state->from;
    state->until = model_when_before(until, state->until) ? until : state->until;
}

void model_state_at(const struct model *m, enum model_space space, uint32_t pid, struct model_when when,
                    struct model_state *out) {
    uint32_t id = find_space(m, space, pid);
    *out = (struct model_state){MODEL_NONE, MODEL_NONE, {0, 0}, MODEL_WHEN_END, MODEL_NONE, MODEL_NONE};
    if (id == HASH_ABSENT)
        return;
    out->owner = id;
    model_state_advance(m, when, out);
}

void model_state_advance(const struct model *m, struct model_when when, struct model_state *state) {
    const struct timeline *t = &m->changes;
    uint32_t owner = state->owner;
    state->id = state->maps = timeline_find_near(t, owner, state->maps, when);
    span_of(t, owner, state->maps, &state->from, &state->until);
    if (m->spaces.items[owner].code != MODEL_NONE)
        add_code_layer(m, when, state);
}

uint32_t model_state_process(const struct model *m, const struct model_state *state, struct model_when when,
                             struct model_when *until) {
    struct model_when from;
    *until = MODEL_WHEN_END;
    if (state->owner == MODEL_NONE)
        return MODEL_NONE;
    uint32_t entry = timeline_find(&m->space_processes, state->owner, when);
    span_of(&m->space_processes, state->owner, entry, &from, until);
    return entry == MODEL_NONE ? MODEL_NONE : timeline_value(&m->space_processes, entry);
}

bool model_is_frozen(const struct model *m) {
    return m->changes.frozen;
}

bool model_state_find(const struct model *m, const struct model_state *state, uint64_t address,
                      struct model_hit *out) {
    *out = MODEL_NOTHING;
    if (state->id == MODEL_NONE)
        return false;
    out->space = m->spaces.items[state->owner].space;
    return find_in_layers(m, state->owner, state->maps, state->code, address, out);
}

bool model_state_find_piece(const struct model *m, const struct model_state *state, uint64_t address,
                            struct model_hit *out, struct model_piece *piece) {
    *out = MODEL_NOTHING;
    *piece = (struct model_piece){address, address, MODEL_NONE};
    if (state->id == MODEL_NONE)
        return false;
    if (state->code != MODEL_NONE) {
        bool found = model_state_find(m, state, address, out);
        piece->mapping = out->mapping;
        return found;
    }
    out->space = m->spaces.items[state->owner].space;
    uint32_t mapping = find_piece(m, state->owner, state->maps, address, piece);
    if (mapping != MODEL_NONE || out->space == MODEL_SPACE_USER)
        return hit(m, mapping, address, out);
    /* The kernel may be found after its map, too, but not as a piece of a mapping. */
    *piece = (struct model_piece){address, address, MODEL_NONE};
    return find_in_layers(m, state->owner, state->maps, MODEL_NONE, address, out);
}

/* The exec that may be in progress in that state, or MODEL_NONE. */
static uint32_t exec_of(const struct model *m, const struct model_state *state) {
    bool user = state->id != MODEL_NONE && m->spaces.items[state->owner].space == MODEL_SPACE_USER;
    return user ? model_exec_open(m, state->owner, state->from) : MODEL_NONE;
}

bool model_state_in_exec(const struct model *m, const struct model_state *state) {
    return exec_of(m, state) != MODEL_NONE;
}

bool model_state_find_before_exec(const struct model *m, const struct model_state *state, uint64_t address,
                                  struct model_hit *out) {
    *out = MODEL_NOTHING;
    if (state->id == MODEL_NONE)
        return false;
    out->space = m->spaces.items[state->owner].space;
    return find_before(m, state->owner, exec_of(m, state), address, out);
}

bool model_has_code(const struct model *m, uint32_t pid) {
    uint32_t id = find_space(m, MODEL_SPACE_USER, pid);
    return id != HASH_ABSENT && m->spaces.items[id].code != MODEL_NONE;
}

/* ---- the pieces of a space ---- */

/* Cuts the mapping's range out of the pieces and inserts the mapping there. */
static bool overlay(const struct mapping_table *mappings, uint32_t id, struct model_pieces *from,
                    struct model_pieces *to) {
    uint64_t start = mapping_start(mappings, id), last = mapping_last(mappings, id);
    bool placed = false;
    struct model_piece new_piece = {start, last, id};
    vec_clear(&to->list);
    if (!vec_reserve(&to->list, from->list.count + 2))
        return false;
    for (size_t i = 0; i < from->list.count; i++) {
        struct model_piece p = from->list.items[i];
        if (p.start < start) {
            struct model_piece before = {p.start, p.last < start ? p.last : start - 1, p.mapping};
            *vec_push(&to->list) = before;
        }
        if (!placed && p.last >= start) {
            *vec_push(&to->list) = new_piece;
            placed = true;
        }
        if (p.last > last)
            *vec_push(&to->list) =
                (struct model_piece){p.start > last ? p.start : last + 1, p.last, p.mapping};
    }
    if (!placed)
        *vec_push(&to->list) = new_piece;
    return true;
}

/* Removes pieces without an image, which are holes. */
static void drop_holes(const struct model *m, struct model_pieces *pieces) {
    size_t kept = 0;
    for (size_t i = 0; i < pieces->list.count; i++)
        if (mapping_image(&m->mappings, pieces->list.items[i].mapping) != MODEL_NONE)
            pieces->list.items[kept++] = pieces->list.items[i];
    pieces->list.count = kept;
}

bool model_pieces_at(const struct model *m, enum model_space space, uint32_t pid, struct model_when when,
                     struct model_pieces *out) {
    uint32_t id = find_space(m, space, pid), logged[SPACE_LOG_MAX], count = 0, root = 0;
    uint32_t entry = id == HASH_ABSENT ? MODEL_NONE : timeline_find(&m->changes, id, when);
    for (; entry != MODEL_NONE && !root; entry = timeline_previous(&m->changes, id, entry)) {
        uint32_t value = timeline_value(&m->changes, entry);
        if (value & SPACE_ROOT && !space_root_of(value))
            break;
        if (value & SPACE_ROOT)
            root = space_root_of(value);
        else
            logged[count++] = value;
    }
    vec_clear(&out->list);
    struct model_pieces other = {{0}};
    bool ok = maptree_pieces(&m->tree, &m->mappings, root, out);
    while (ok && count-- > 0) {
        ok = overlay(&m->mappings, logged[count], out, &other);
        struct model_pieces swap = *out;
        *out = other;
        other = swap;
    }
    vec_fini(&other.list);
    drop_holes(m, out);
    return ok;
}

/* ---- images ---- */

uint32_t model_image_count(const struct model *m) {
    return (uint32_t)m->images.list.count;
}

const struct model_image *model_image(const struct model *m, uint32_t id) {
    return &m->images.list.items[id];
}

struct bytes model_image_build_id(const struct model *m, const struct model_image *image, bool *by_name) {
    const struct perfdata_evidence *e = image_evidence(&m->images, image);
    if (by_name)
        *by_name = false;
    if (image->build_id_size)
        return (struct bytes){image->build_id, image->build_id_size};
    if (e && e->build_id_size)
        return (struct bytes){e->build_id, e->build_id_size};
    const struct image_build_id *listed = image_listed(&m->images, image, false);
    if (!listed || model_image_replaced(m, image))
        return (struct bytes){NULL, 0};
    if (by_name)
        *by_name = true;
    return (struct bytes){listed->bytes, listed->size};
}

bool model_image_id_later(const struct model *m, const struct model_image *image) {
    const struct perfdata_evidence *e = image_evidence(&m->images, image);
    if (image->build_id_size)
        return image->id_later;
    const struct image_build_id *listed =
        e && e->build_id_size ? NULL : image_listed(&m->images, image, false);
    return listed && listed->later;
}

bool model_image_replaced(const struct model *m, const struct model_image *image) {
    const struct model_image *last = image_last_named(&m->images, image);
    return last && last != image && image->ino && last->ino && last->space == image->space &&
           last->maj == image->maj && last->min == image->min &&
           (last->ino != image->ino || last->ino_generation != image->ino_generation);
}

bool model_image_evidence(const struct model *m, const struct model_image *image,
                          struct perfdata_evidence *out) {
    const struct perfdata_evidence *e = image_evidence(&m->images, image);
    *out = e ? *e : (struct perfdata_evidence){.has_state = image->has_state, .state = image->state};
    return out->has_state;
}

bool model_image_listed(const struct model *m, const struct model_image *image) {
    return image_listed(&m->images, image, true) != NULL;
}

const char *model_image_dso(const struct model *m, const struct model_image *image) {
    return image->kind == MODEL_IMAGE_MODULE && !model_image_listed(m, image) ? image->short_name
                                                                              : image->name;
}

uint32_t model_mapping_count(const struct model *m) {
    return (uint32_t)m->mappings.list.count;
}

struct model_mapping model_mapping(const struct model *m, uint32_t id) {
    return mapping_get(&m->mappings, id);
}

/* ---- processes, threads, comms ---- */

uint32_t model_process_count(const struct model *m) {
    return (uint32_t)m->processes.count;
}

uint32_t model_thread_count(const struct model *m) {
    return (uint32_t)m->threads.count;
}

const struct model_process *model_process(const struct model *m, uint32_t id) {
    return &m->processes.items[id];
}

const struct model_thread *model_thread(const struct model *m, uint32_t id) {
    return &m->threads.items[id];
}

uint32_t model_process_at(const struct model *m, uint32_t pid, struct model_when when) {
    uint32_t space = find_space(m, MODEL_SPACE_USER, pid);
    return space == HASH_ABSENT ? MODEL_NONE : timeline_at(&m->space_processes, space, when);
}

/* A timeline's value for a thread, or MODEL_NONE. */
static uint32_t task_at(const struct model *m, const struct timeline *t, uint32_t pid, uint32_t tid,
                        struct model_when when) {
    uint32_t task = hash_map_get(&m->task_by_key, model_task_key(pid, tid));
    return task == HASH_ABSENT ? MODEL_NONE : timeline_at(t, task, when);
}

uint32_t model_thread_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when) {
    return task_at(m, &m->task_threads, pid, tid, when);
}

/* The text of a comm from the timeline (MODEL_NONE: it has none). */
static const char *comm_text(const struct model *m, uint32_t tid, uint32_t value, bool *at_exec) {
    if (value == MODEL_NONE)
        value = tid == 0 ? m->swapper : TASK_COMM_NONE;
    if (at_exec)
        *at_exec = value & TASK_COMM_EXEC;
    value &= ~TASK_COMM_EXEC;
    return value == TASK_COMM_NONE ? NULL : strpool_text(&m->images.texts, value);
}

const char *model_comm(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                       bool *at_exec) {
    return comm_text(m, tid, task_at(m, &m->task_comms, pid, tid, when), at_exec);
}

void model_comm_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                   struct model_comm_span *out) {
    uint32_t task = hash_map_get(&m->task_by_key, model_task_key(pid, tid)), entry = MODEL_NONE;
    *out = (struct model_comm_span){
        .thread = MODEL_NONE, .until = MODEL_WHEN_END, .thread_until = MODEL_WHEN_END};
    if (task != HASH_ABSENT) {
        entry = timeline_find(&m->task_comms, task, when);
        span_of(&m->task_comms, task, entry, &out->from, &out->until);
        uint32_t born = timeline_find(&m->task_threads, task, when);
        span_of(&m->task_threads, task, born, &out->thread_from, &out->thread_until);
        out->thread = born == MODEL_NONE ? MODEL_NONE : timeline_value(&m->task_threads, born);
    }
    out->comm = comm_text(m, tid, entry == MODEL_NONE ? MODEL_NONE : timeline_value(&m->task_comms, entry),
                          &out->at_exec);
}

/* ---- the rest ---- */

bool model_namespaces_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                         struct model_namespaces *out) {
    uint32_t i = task_at(m, &m->task_namespaces, pid, tid, when);
    if (i != MODEL_NONE)
        *out = m->namespaces.items[i];
    return i != MODEL_NONE;
}

const char *model_cgroup(const struct model *m, uint64_t id) {
    uint32_t text = hash_map_get(&m->cgroup_paths, id);
    return text == HASH_ABSENT ? NULL : strpool_text(&m->images.texts, text);
}

uint32_t model_text_poke_count(const struct model *m) {
    return (uint32_t)m->pokes.count;
}

const struct model_text_poke *model_text_poke(const struct model *m, uint32_t i) {
    return &m->pokes.items[i];
}

uint32_t model_bpf_program_count(const struct model *m) {
    return (uint32_t)m->programs.count;
}

const struct model_bpf_program *model_bpf_program(const struct model *m, uint32_t i) {
    return &m->programs.items[i];
}

bool model_kernel_reference(const struct model *m, enum model_space space,
                            struct model_kernel_reference *out) {
    bool guest = space == MODEL_SPACE_GUEST_KERNEL;
    if (m->kernel[guest].image == MODEL_NONE)
        return false;
    *out = (struct model_kernel_reference){strpool_text(&m->images.texts, m->kernel[guest].symbol),
                                           m->kernel[guest].address, m->kernel[guest].image};
    return true;
}

uint32_t model_generation(const struct model *m) {
    return m->generation;
}

uint64_t model_unordered(const struct model *m) {
    return m->unordered;
}

#define HELD(v) ((v).cap * sizeof *(v).items)

static size_t hash_bytes_held(const struct hash_map *h) {
    return h->slots ? (h->mask + 1) * sizeof *h->slots : 0;
}

static size_t pool_bytes_held(const struct strpool *p) {
    return p->arena.total_bytes + HELD(p->entries) + (p->slots ? (p->mask + 1) * sizeof *p->slots : 0);
}

static size_t timeline_bytes_held(const struct timeline *t) {
    return HELD(t->entries) + HELD(t->links) + HELD(t->heads) + HELD(t->orders.far);
}

size_t model_memory_bytes(const struct model *m) {
    size_t n = sizeof *m + pending_memory_bytes(&m->pending) + mapping_bytes(&m->mappings) +
               HELD(m->tree.nodes) + HELD(m->spaces) + HELD(m->tasks) + HELD(m->processes) +
               HELD(m->threads) + HELD(m->namespaces) + HELD(m->pokes) + HELD(m->programs) +
               HELD(m->cgroup_ids) + m->arena.total_bytes;
    n += timeline_bytes_held(&m->changes) + timeline_bytes_held(&m->space_processes) +
         timeline_bytes_held(&m->task_threads) + timeline_bytes_held(&m->task_comms) +
         timeline_bytes_held(&m->task_namespaces);
    n += HELD(m->images.list) + HELD(m->images.names) + HELD(m->images.listed) +
         pool_bytes_held(&m->images.texts) + pool_bytes_held(&m->images.keys);
    return n + hash_bytes_held(&m->space_by_key) + hash_bytes_held(&m->task_by_key) +
           hash_bytes_held(&m->cgroup_paths) + hash_bytes_held(&m->images.listed_by_name);
}
