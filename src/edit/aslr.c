/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/aslr.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "format/perfdata/added/kept.h"
#include "resolve/places.h"

#define USER_FROM     0x200000u
#define USER_TO       ((uint64_t)0x600000000000)
#define USER_MORE     ((uint64_t)1 << 47) /* used when the room below USER_TO is full */
#define USER_END      ((uint64_t)1 << 56)
#define USER_PLACES   ((uint64_t)0x600000000000)
#define USER_PAGES    ((uint64_t)0x700000000000)
#define KERNEL_FROM   0xffff800010000000u
#define KERNEL_TO     0xffffa00000000000u
#define KERNEL_PLACES 0xffffb00000000000u
#define KERNEL_PAGES  0xffffc00000000000u
#define UNPLACED      UINT64_MAX

enum {
    WORD = sizeof(uint64_t),
    PAGE_BITS = 12,
    PAGE = 1 << PAGE_BITS,
    HUGE_PAGE = 2 << 20,
    LOW = 1 << 16,         /* the lowest address that is ever mapped */
    APART = 16,            /* distance of numbered places */
    KERNEL_TAIL = 64 << 20 /* addresses this close after the kernel's map count as its own (model_find) */
};
static const uint64_t KERNEL_MOST = (uint64_t)2
                                    << 30; /* of a map in the kernel: old ones reach to the end of all */

/* The new place of a mapping. */
struct move {
    uint64_t from, size, to; /* `to` is UNPLACED: it has none */
};

struct edit_aslr {
    struct stream *in;
    const struct model *model;
    VEC(struct move) moves; /* by mapping */
    uint64_t user_next, kernel_next;
    struct hash_map places, pages; /* numbers of addresses outside all mappings */
    uint32_t place_count, page_count;
    struct resolve_places at;
    const struct copy_editor *first; /* NULL: none */
    struct copy_editor editor;
    struct edit_aslr_counts counts;
    bool no_memory;
};

/* ---- where mappings go ---- */

static bool is_high(uint64_t address) {
    return address >> 63;
}

/* Reserves room for `size` bytes, at the same offset in a page, and `behind` bytes after it; UNPLACED: there
 * is none. */
static uint64_t take_room(struct edit_aslr *a, bool kernel, uint64_t from, uint64_t size, uint64_t behind) {
    uint64_t *next = kernel ? &a->kernel_next : &a->user_next, end = kernel ? KERNEL_TO : USER_END;
    uint64_t in_page = from % PAGE, need = size + in_page + behind;
    if (size > USER_END || behind > USER_END)
        return UNPLACED;
    need = (need + 2 * PAGE - 1) / PAGE * PAGE; /* leaves an empty page after each */
    if (!kernel && *next <= USER_TO && need > USER_TO - *next)
        *next = USER_MORE;
    if (need > end - *next)
        return UNPLACED;
    uint64_t to = *next + in_page;
    *next += need;
    return to;
}

static void place_mapping(struct edit_aslr *a, uint32_t id) {
    const struct model_mapping map = model_mapping(a->model, id);
    struct move *move = &a->moves.items[id];
    *move = (struct move){map.start, map.last - map.start + 1, UNPLACED};
    if (map.image == MODEL_NONE) /* removed kernel code: nothing is there */
        return;
    const struct model_image *image = model_image(a->model, map.image);
    bool kernel = image->space == MODEL_SPACE_KERNEL || image->space == MODEL_SPACE_GUEST_KERNEL;
    if (kernel && (!move->size || move->size > KERNEL_MOST)) {
        move->size = KERNEL_MOST;
        /* The kernel's map of old perfs begins anywhere below it. */
        if (map.start && image->kind == MODEL_IMAGE_KERNEL && map.pgoff - map.start >= KERNEL_MOST &&
            is_high(map.pgoff))
            move->from = map.pgoff & ~(uint64_t)(HUGE_PAGE - 1);
    }
    if (kernel ? !map.start : is_high(map.start)) /* hidden from the recorder; fixed pages */
        move->to = map.start;
    else
        move->to =
            take_room(a, kernel, move->from, move->size, image->kind == MODEL_IMAGE_KERNEL ? KERNEL_TAIL : 0);
}

/* Places all mappings. Those of one map record move together. */
static void place_mappings(struct edit_aslr *a) {
    uint64_t order = UINT64_MAX;
    for (uint32_t i = 0; i < a->moves.count; i++) {
        uint64_t of = model_mapping(a->model, i).order;
        if (i && of == order)
            a->moves.items[i] = a->moves.items[i - 1];
        else
            place_mapping(a, i);
        order = of;
    }
}

/* Returns the move of the first mapping that the record at `loc` made, or NULL. Ids are in the order of the
 * records. */
static const struct move *move_of_record(const struct edit_aslr *a, uint64_t loc, uint32_t *id) {
    uint32_t low = 0, high = (uint32_t)a->moves.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model_mapping(a->model, middle).order < loc)
            low = middle + 1;
        else
            high = middle;
    }
    *id = low;
    return low < a->moves.count && model_mapping(a->model, low).order == loc ? &a->moves.items[low] : NULL;
}

/* ---- where addresses go ---- */

/* An instant of a process, and the CPU mode then. */
struct moment {
    struct model_when when;
    uint32_t pid;
    unsigned cpumode;
};

/* Moves an address that is in a mapping of that mode's space, or is `back` bytes after such an address. */
static bool move_mapped(struct edit_aslr *a, const struct moment *m, unsigned cpumode, uint64_t address,
                        uint8_t back, uint64_t *to) {
    if (model_space_of(cpumode) == MODEL_SPACE_NONE)
        return false;
    const struct model_state *state = resolve_places_state(&a->at, cpumode, m->pid, m->when);
    struct model_hit hit;
    if (!resolve_places_find(&a->at, state, address - back, &hit) &&
        !(resolve_places_in_exec(&a->at, state) &&
          model_state_find_before_exec(a->model, state, address - back, &hit)))
        return false;
    const struct move *move = &a->moves.items[hit.mapping];
    uint64_t in = address - back - move->from;
    bool tail = hit.offset == address - back && is_high(move->from); /* shortly after the kernel's map */
    if (move->to == UNPLACED || (in >= move->size && !(tail && in - move->size < KERNEL_TAIL)))
        return false;
    if (is_high(address) && !move->from) /* the mapping's place is hidden, but the address is not */
        return false;
    *to = move->to + in + back;
    a->counts.jit += model_image(a->model, hit.image)->kind == MODEL_IMAGE_ANON &&
                     model_mapping(a->model, hit.mapping).prot & PROT_EXEC;
    return true;
}

/* Numbers an address that is in no mapping: it may be data. */
static uint64_t move_stranger(struct edit_aslr *a, uint64_t address, bool data) {
    struct hash_map *map = data ? &a->pages : &a->places;
    uint32_t *count = data ? &a->page_count : &a->place_count;
    uint64_t key = data ? address >> PAGE_BITS : address;
    uint32_t number = hash_map_get(map, key);
    if (number == HASH_ABSENT) {
        number = (*count)++;
        a->no_memory |= !hash_map_set(map, key, number);
    }
    if (data)
        return (is_high(address) ? KERNEL_PAGES : USER_PAGES) + (uint64_t)number * PAGE + address % PAGE;
    return (is_high(address) ? KERNEL_PLACES : USER_PLACES) + (uint64_t)number * APART;
}

/* Moves an address. `back` is 1 for return addresses, which may lie directly after their mapping. */
static uint64_t move_address(struct edit_aslr *a, const struct moment *m, uint64_t address, uint8_t back,
                             bool data) {
    unsigned other = is_high(address) ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER;
    uint64_t to;
    if (address < LOW)
        return address;
    if (move_mapped(a, m, m->cpumode, address, 0, &to) ||
        (back && move_mapped(a, m, m->cpumode, address, back, &to)))
        return to;
    /* A branch or memory access in the kernel may lead to a process, or the other way round. */
    if (other != m->cpumode && move_mapped(a, m, other, address, 0, &to))
        return to;
    return move_stranger(a, address, data);
}

/* ---- records: in a copy, which decoded values point into ---- */

static void store(struct edit_aslr *a, const uint8_t *at, uint64_t v) {
    v = stream_events(a->in)->swap ? __builtin_bswap64(v) : v;
    memcpy((uint8_t *)(uintptr_t)at, &v, WORD);
}

static void clear(const uint8_t *at, size_t size) {
    if (size)
        memset((uint8_t *)(uintptr_t)at, 0, size);
}

static void move_chain(struct edit_aslr *a, struct moment m, const struct perfdata_u64s *chain) {
    bool caller = false; /* the first of each part is the interrupted instruction */
    for (uint64_t i = 0; i < chain->count; i++) {
        uint64_t v = perfdata_u64_at(chain, i);
        if (v >= PERFDATA_CONTEXT_MAX) {
            m.cpumode = perfdata_context_cpumode(v);
            caller = false;
            i += v == PERFDATA_CONTEXT_USER_DEFERRED; /* its cookie is no address */
            continue;
        }
        store(a, chain->data + WORD * i, move_address(a, &m, v, caller, false));
        caller = true;
    }
}

static void move_branches(struct edit_aslr *a, const struct moment *m, const struct perfdata_sample *s) {
    enum { BRANCH = 24, FROM = 0, TO = 8 };
    for (uint64_t i = 0; i < s->branch_count; i++) {
        const struct perfdata_branch branch = perfdata_branch_at(s, i);
        const uint8_t *at = s->branches + BRANCH * i;
        store(a, at + FROM, move_address(a, m, branch.from, 0, false));
        store(a, at + TO, move_address(a, m, branch.to, 0, false));
    }
}

/* Counts a sample with contents that may hold addresses which cannot be found, and is true of it. */
static bool must_go(struct edit_aslr *a, const struct perfdata_sample *s) {
    uint64_t *why = s->stack_user.size                                    ? &a->counts.stacks
                    : s->have & PERFDATA_SAMPLE_PHYS_ADDR && s->phys_addr ? &a->counts.physical
                    : s->raw.size                                         ? &a->counts.raw
                    : s->aux.size                                         ? &a->counts.traces
                                                                          : NULL;
    if (why)
        ++*why;
    return why;
}

static struct model_when when_of(const struct edit_aslr *a, const struct stream_record *r) {
    return (struct model_when){r->has_time ? r->time_ns : stream_when_ns(a->in, r), r->loc};
}

/* Moves a sample's addresses. False: it is left out. */
static bool move_sample(struct edit_aslr *a, const struct stream_record *r, const struct perfdata_plan *plan,
                        struct bytes body) {
    struct perfdata_sample s = {.pid = UINT32_MAX};
    if (!plan || !perfdata_sample_decode(plan, body, UINT64_MAX, &s)) {
        a->counts.unreadable++;
        return false;
    }
    if (must_go(a, &s))
        return false;
    struct moment m = {when_of(a, r), s.pid, r->raw.misc & PERFDATA_MISC_CPUMODE_MASK};
    if (s.have & PERFDATA_SAMPLE_IP)
        store(a, body.data + plan->ip_at, move_address(a, &m, s.ip, 0, false));
    if (s.have & PERFDATA_SAMPLE_ADDR)
        store(a, body.data + plan->addr_at, move_address(a, &m, s.addr, 0, true));
    move_chain(a, m, &s.callchain);
    move_branches(a, &m, &s);
    clear(s.regs_user.values.data, s.regs_user.values.count * WORD);
    clear(s.regs_intr.values.data, s.regs_intr.values.count * WORD);
    clear(s.tail.data, s.tail.size); /* fields that are not known yet */
    return true;
}

/* True of memory without a file, where an address is the offset, too. */
static bool is_memory(const struct model_image *image) {
    return image->kind == MODEL_IMAGE_ANON || image->kind == MODEL_IMAGE_HEAP ||
           image->kind == MODEL_IMAGE_STACK || image->kind == MODEL_IMAGE_OTHER;
}

static bool move_map(struct edit_aslr *a, const struct stream_record *r, const struct perfdata_record *rec,
                     const uint8_t *body) {
    enum { ADDRESS_AT = 8, SIZE_AT = 16, PGOFF_AT = 24 };
    uint32_t id;
    const struct move *move = move_of_record(a, r->loc, &id);
    if (!move || move->to == UNPLACED) {
        a->counts.others++;
        return false;
    }
    const struct model_mapping map = model_mapping(a->model, id);
    const struct model_image *image = model_image(a->model, map.image);
    bool kernel = image->space == MODEL_SPACE_KERNEL || image->space == MODEL_SPACE_GUEST_KERNEL;
    store(a, body + ADDRESS_AT, move->to);
    if (kernel && move->from) { /* the offset of the kernel's own map is a symbol's address */
        store(a, body + SIZE_AT, move->size);
        store(a, body + PGOFF_AT, is_high(map.pgoff) ? map.pgoff - move->from + move->to : map.pgoff);
    } else if (!kernel && map.pgoff && is_memory(image)) {
        store(a, body + PGOFF_AT, move->to);
    }
    if (kernel &&
        rec->type == PERFDATA_RECORD_MMAP2) { /* the text after its name has the addresses of its symbols */
        size_t name = bytes_text_len(rec->mmap2.filename);
        clear(rec->mmap2.filename.data + name, rec->mmap2.filename.size - name);
    }
    return true;
}

/* Moves the address in a record of kernel code; if the code was removed, to the address that it had moved to.
 */
static bool move_ksymbol(struct edit_aslr *a, const struct stream_record *r,
                         const struct perfdata_record *rec, const uint8_t *body) {
    uint32_t id;
    uint64_t to;
    const struct move *move = move_of_record(a, r->loc, &id);
    struct moment before = {model_when_prior(when_of(a, r)), UINT32_MAX, PERFDATA_MISC_KERNEL};
    if (move && move->to != UNPLACED)
        to = move->to;
    else if (!(rec->ksymbol.flags & PERFDATA_KSYMBOL_UNREGISTER) ||
             !move_mapped(a, &before, PERFDATA_MISC_KERNEL, rec->ksymbol.addr, 0, &to))
        to = move_stranger(a, rec->ksymbol.addr, false);
    store(a, body, to);
    return true;
}

static bool has_addresses(uint64_t feature) {
    return feature == PERFDATA_FEATURE_TRACING_DATA || feature == PERFDATA_FEATURE_BPF_PROG_INFO ||
           feature == PERFDATA_FEATURE_AUXTRACE || feature >= PERFDATA_FEATURE_SIMPLEPERF_START;
}

/* Moves a record's addresses. False: it is left out. */
static bool move_record(struct edit_aslr *a, const struct stream_record *r, const struct perfdata_record *rec,
                        const uint8_t *body) {
    struct moment user = {when_of(a, r), rec->id.pid, PERFDATA_MISC_USER};
    switch (rec->type) {
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
        return move_map(a, r, rec, body);
    case PERFDATA_RECORD_KSYMBOL:
        return move_ksymbol(a, r, rec, body);
    case PERFDATA_RECORD_CALLCHAIN_DEFERRED:
        move_chain(a, user, &rec->callchain_deferred.ips);
        return true;
    case PERFDATA_RECORD_HEADER_FEATURE:
        return !has_addresses(rec->header_feature.id);
    case PERFDATA_RECORD_HEADER_TRACING_DATA:
        return false;
    case PERFDATA_RECORD_TEXT_POKE:
    case PERFDATA_RECORD_AUX:
    case PERFDATA_RECORD_AUXTRACE_INFO:
    case PERFDATA_RECORD_AUXTRACE:
    case PERFDATA_RECORD_AUXTRACE_ERROR:
    case PERFDATA_RECORD_KMOD_SEC_MAP:
        a->counts.others++;
        return false;
    default:
        return true;
    }
}

/* ---- what stands around the records ---- */

static bool want_feature(void *ctx, uint32_t id) {
    (void)ctx;
    return !has_addresses(id);
}

/* Copies kept files that are found by name or build-id; counts the others, which hold addresses. */
static void put_kept(struct edit_aslr *a, struct bytes rest, bool swap, struct writer *out) {
    for (struct perfdata_kept k; perfdata_kept_next(&rest, swap, &k);) {
        struct perfdata_extent *extents = calloc(k.extent_count + 1u, sizeof *extents);
        bool file =
            k.kind == PERFDATA_KEPT_TABLES || k.kind == PERFDATA_KEPT_WHOLE || k.kind == PERFDATA_KEPT_DEBUG;
        a->no_memory |= !extents;
        for (uint32_t i = 0; extents && i < k.extent_count; i++)
            extents[i] = perfdata_kept_extent(&k, swap, i);
        if (extents && file)
            perfdata_kept_encode(&k, extents, k.extent_count, out);
        a->counts.kept_files += !file;
        free(extents);
    }
}

static bool trailer(void *ctx, struct writer *out, struct err *err) {
    enum { PARTS_MAX = 3 };
    struct edit_aslr *a = ctx;
    bool swap = stream_events(a->in)->swap;
    struct bytes box = stream_box(a->in, false);
    struct writer kept = writer_make(swap);
    struct perfdata_part parts[PARTS_MAX], part;
    size_t count = 0;
    for (uint32_t i = 0; box.size && count < PARTS_MAX && perfdata_box_part(box, swap, i, &part); i++) {
        if (part.tag == PERFDATA_PART_KEPT && !kept.size) {
            put_kept(a, part.content, swap, &kept);
            part.content = writer_bytes(&kept);
        } else if (part.tag != PERFDATA_PART_IMAGES && part.tag != PERFDATA_PART_CLOCK) {
            continue;
        }
        parts[count++] = part;
    }
    bool ok = writer_ok(&kept) && !a->no_memory;
    if (ok && count)
        perfdata_box_encode(parts, count, out);
    writer_fini(&kept);
    return (ok && writer_ok(out)) || err_memory(err, "inject --aslr");
}

/* ---- the editor ---- */

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_aslr *a = ctx;
    if (a->first && !a->first->edit(a->first->ctx, r, before, keep, err))
        return false;
    if (!r)
        return !a->no_memory || err_memory(err, "inject --aslr");
    const struct perfdata_events *events = stream_events(a->in);
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    size_t at = before->size;
    *keep = false;
    writer_put(before, r->raw.body.data - PERFDATA_HEADER_SIZE, r->raw.size + r->raw.payload.size);
    if (!writer_ok(before) || a->no_memory)
        return err_memory(err, "inject --aslr");
    struct perfdata_raw raw = r->raw;
    raw.body.data = before->data + at + PERFDATA_HEADER_SIZE;
    struct perfdata_record rec;
    bool kept;
    if (r->legacy) {
        kept = true; /* an old pipe's header records, which have no addresses */
    } else if (raw.type == PERFDATA_RECORD_SAMPLE) {
        kept = move_sample(a, r, plan, raw.body);
    } else if (raw.type < PERFDATA_RECORD_SIMPLEPERF_START && perfdata_record_known(raw.type) &&
               perfdata_record_decode(&raw, plan, events->swap, &rec, NULL)) {
        kept = move_record(a, r, &rec, raw.body.data);
    } else {
        a->counts.unreadable++;
        kept = false;
    }
    if (!kept)
        before->size = at;
    return true;
}

/* ---- making ---- */

static uint32_t count_breakpoints(const struct perfdata_events *events) {
    enum { TYPE_BREAKPOINT = 5 }; /* PERF_TYPE_BREAKPOINT of perf_event.h */
    uint32_t count = 0;
    for (size_t i = 0; i < events->list.count; i++)
        count += events->list.items[i].attr.type == TYPE_BREAKPOINT;
    return count;
}

struct edit_aslr *edit_aslr_new(const struct model *m, struct stream *in, const struct copy_editor *first,
                                struct err *err) {
    struct edit_aslr *a = calloc(1, sizeof *a);
    uint32_t count = model_mapping_count(m);
    if (a && vec_reserve(&a->moves, count + 1u) && resolve_places_init(&a->at, m, err)) {
        a->in = in;
        a->model = m;
        a->first = first;
        a->moves.count = count;
        a->user_next = USER_FROM;
        a->kernel_next = KERNEL_FROM;
        a->editor = (struct copy_editor){
            .edit = edit, .ctx = a, .anew = true, .feature = want_feature, .trailer = trailer};
        a->counts.breakpoints = count_breakpoints(stream_events(in));
        place_mappings(a);
        return a;
    }
    err_memory(err, "inject --aslr");
    edit_aslr_free(a);
    return NULL;
}

void edit_aslr_free(struct edit_aslr *a) {
    if (!a)
        return;
    resolve_places_fini(&a->at);
    vec_fini(&a->moves);
    hash_map_fini(&a->places);
    hash_map_fini(&a->pages);
    free(a);
}

const struct copy_editor *edit_aslr_editor(struct edit_aslr *a) {
    return &a->editor;
}

struct edit_aslr_counts edit_aslr_counts(const struct edit_aslr *a) {
    return a->counts;
}
