/* SPDX-License-Identifier: Apache-2.0 */
#include "states/call_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_ROOM = 600, LINE_ROOM = 700 };

bool call_site_is_lock(const char *function) {
    /* Beginnings of names, as Linux 4.19 to 6.18 have them in kernel/locking and the scheduler. */
    static const char *const PREFIXES[] = {
        "__bpf_trace_",
        "__down",
        "__mutex_",
        "__percpu_down_",
        "__percpu_rwsem_",
        "__percpu_up_",
        "__pv_queued_",
        "__raw_callee_save",
        "__raw_read_",
        "__raw_spin_",
        "__raw_write_",
        "__rt_mutex_",
        "__schedule",
        "__traceiter_",
        "__ww_mutex_",
        "_raw_read_",
        "_raw_spin_",
        "_raw_write_",
        "bpf_prog_",
        "bpf_trace_run",
        "bpf_trampoline_",
        "bpf_get_stack",
        "down_",
        "io_schedule",
        "kvm_wait",
        "mutex_",
        "native_queued_",
        "osq_",
        "raw_spin_rq_",
        "percpu_down_",
        "percpu_rwsem_",
        "preempt_schedule",
        "pv_wait",
        "queued_",
        "rt_mutex_",
        "rt_read_",
        "rt_spin_",
        "rt_write_",
        "rtlock_",
        "rwbase_",
        "rwsem_",
        "schedule_",
        "trace_contention_",
        "ww_mutex_",
    };
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (strncmp(function, PREFIXES[i], strlen(PREFIXES[i])) == 0)
            return true;
    return strcmp(function, "down") == 0 || strcmp(function, "schedule") == 0;
}

bool call_site_is_page_allocator(const char *function) {
    /* Parts of names, as Linux 4.19 to 6.18 have them in mm/page_alloc.c and mm/mempolicy.c. */
    static const char *const PARTS[] = {"alloc_page",  "alloc_frozen_page",      "alloc_folio",
                                        "folio_alloc", "get_free_page",          "get_zeroed_page",
                                        "rmqueue",     "get_page_from_freelist", "post_alloc_hook"};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (strstr(function, PARTS[i]))
            return true;
    return strncmp(function, "__traceiter_", 12) == 0 || strncmp(function, "trace_mm_page_", 14) == 0;
}

void call_sites_fini(struct call_sites *s) {
    strpool_fini(&s->texts);
    out_fini(&s->stack);
    vec_fini(&s->list);
    hash_map_fini(&s->by_text);
}

struct reading {
    char site[TEXT_ROOM];
    bool found, matches;
};

struct frame {
    uint64_t address, offset;
    const char *name; /* NULL: none */
};

static void name_frame(const struct call_sites *s, const struct frame *f, char *to) {
    if (s->raw)
        snprintf(to, TEXT_ROOM, "%" PRIx64, f->address);
    else if (f->name && s->functions)
        snprintf(to, TEXT_ROOM, "%.512s", f->name);
    else if (f->name)
        snprintf(to, TEXT_ROOM, "%.512s+0x%" PRIx64, f->name, f->offset);
    else
        snprintf(to, TEXT_ROOM, "%#" PRIx64, f->address);
}

/* The next frame outwards; `index`: its position in the callchain. */
static void take_frame(struct call_sites *s, struct reading *r, const struct frame *f, size_t index) {
    char text[TEXT_ROOM], line[LINE_ROOM];
    r->matches = r->matches || (f->name && s->filter && strstr(f->name, s->filter));
    if (!s->stacks && (r->found || index < s->skip))
        return;
    name_frame(s, f, text);
    if (s->stacks) {
        snprintf(line, sizeof line, "%#" PRIx64 "  %s\n", f->address, text);
        out_str(&s->stack, line);
    }
    if (!r->found && index >= s->skip && !(f->name && s->own(f->name))) {
        r->found = true;
        memcpy(r->site, text, sizeof text);
    }
}

static void read_frames(struct call_sites *s, struct reading *r) {
    size_t n = s->frames->samples.frames.count;
    if (s->depth && n > s->depth)
        n = s->depth;
    for (size_t i = 0; i < n; i++) {
        struct resolve_sample_frame *f = &s->frames->samples.frames.items[i];
        if (f->kind == RESOLVE_AT_NOTHING || f->cpumode != PERFDATA_MISC_KERNEL)
            continue;
        struct frame frame = {.address = f->address};
        frame.name = resolve_sample_name(&s->frames->samples, f, &frame.offset);
        take_frame(s, r, &frame, i);
    }
}

static uint32_t keep(struct call_sites *s, struct reading *r) {
    const char *stack = s->stacks ? out_text(&s->stack) : "";
    struct call_site site = {.name = strpool_add(&s->texts, r->site, strlen(r->site)),
                             .stack = strpool_add(&s->texts, stack, strlen(stack))};
    if (site.name == STRPOOL_NONE || site.stack == STRPOOL_NONE)
        return CALL_SITE_NONE;
    uint64_t key = (uint64_t)site.stack << 32 | site.name;
    uint32_t index = hash_map_get(&s->by_text, key);
    if (index != HASH_ABSENT)
        return index;
    index = (uint32_t)s->list.count;
    struct call_site *to = vec_push(&s->list);
    if (!to || !hash_map_set(&s->by_text, key, index))
        return CALL_SITE_NONE;
    *to = site;
    return index;
}

/* False: out of memory. */
static bool begin(struct call_sites *s) {
    if (s->stacks && !s->stack.buf && !out_init(&s->stack, NULL, NULL))
        return false;
    s->stack.len = 0;
    return true;
}

static uint32_t end(struct call_sites *s, struct reading *r) {
    if (s->stack.failed)
        return CALL_SITE_NONE;
    return r->matches ? keep(s, r) : CALL_SITE_FILTERED;
}

uint32_t call_sites_find(struct call_sites *s, uint64_t loc) {
    struct reading r = {.site = "Unknown", .matches = !s->filter};
    if (!begin(s) || !recording_stacks_read(s->frames, loc))
        return CALL_SITE_NONE;
    read_frames(s, &r);
    return end(s, &r);
}

uint32_t call_sites_of_addresses(struct call_sites *s, const uint64_t *addresses, uint64_t count,
                                 call_site_name_fn *name, void *ctx) {
    struct reading r = {.site = "Unknown", .matches = !s->filter};
    char room[TEXT_ROOM];
    if (!begin(s))
        return CALL_SITE_NONE;
    for (uint64_t i = 0; i < count && (!s->depth || i < s->depth); i++) {
        struct frame f = {.address = addresses[i]};
        f.name = name(ctx, f.address, &f.offset, room, sizeof room);
        take_frame(s, &r, &f, i);
    }
    return end(s, &r);
}

struct ranked {
    const char *text;
    uint32_t index;
    struct call_site site;
};

static int by_text(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    int d = strcmp(x->text, y->text);
    return d ? d : x->index < y->index ? -1 : x->index > y->index;
}

bool call_sites_rank(struct call_sites *s, uint32_t *ranks) {
    size_t n = s->list.count;
    struct ranked *list = n ? calloc(n, sizeof *list) : NULL;
    if (n && !list)
        return false;
    for (size_t i = 0; i < n; i++)
        list[i] =
            (struct ranked){strpool_text(&s->texts, s->list.items[i].name), (uint32_t)i, s->list.items[i]};
    if (n)
        qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++) {
        ranks[list[i].index] = (uint32_t)i;
        s->list.items[i] = list[i].site;
    }
    free(list);
    return true;
}
