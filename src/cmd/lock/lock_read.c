/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/lock/lock.h"

enum { ADDRESS, FLAGS, NAME };
static const struct tracepoint_row ROWS[] = {
    {"lock", "contention_begin", LOCK_EVENT_BEGIN, 2, {"lock_addr", "flags"}},
    {"lock", "contention_end", LOCK_EVENT_END, 1, {"lock_addr"}},
    {"lock", "lock_acquire", LOCK_EVENT_ACQUIRE, 2, {"lockdep_addr", "flags", "name"}},
    {"lock", "lock_acquired", LOCK_EVENT_ACQUIRED, 1, {"lockdep_addr", "", "name"}},
    {"lock", "lock_contended", LOCK_EVENT_CONTENDED, 1, {"lockdep_addr", "", "name"}},
    {"lock", "lock_release", LOCK_EVENT_RELEASE, 1, {"lockdep_addr", "", "name"}},
};

static bool is_lockdep(int kind) {
    return kind != LOCK_EVENT_BEGIN && kind != LOCK_EVENT_END;
}

/* ---- names ---- */

/* The name of the variable that a lock is, or is a part of; "" without one. A list of functions alone covers
 * all data with the last function before them: nothing less than proof counts. */
static uint32_t name_lock(struct lock_session *s, uint64_t address) {
    char text[600] = "";
    struct resolve_samples *samples = &s->view.stacks.samples;
    uint32_t id = hash_map_get(&s->lock_names, address);
    if (id != HASH_ABSENT)
        return id;
    if (!resolve_sample_read_address(samples, PERFDATA_MISC_KERNEL, UINT32_MAX, MODEL_WHEN_END, address))
        return STRPOOL_NONE;
    uint64_t offset = 0;
    struct resolve_sample_frame *f = samples->frames.count ? &samples->frames.items[0] : NULL;
    const char *name = f ? resolve_sample_name(samples, f, &offset) : NULL;
    if (name && !offset)
        snprintf(text, sizeof text, "%.512s", name);
    else if (name && resolve_sample_grade(samples, f) == GRADE_EXACT)
        snprintf(text, sizeof text, "%.512s+0x%llx", name, (unsigned long long)offset);
    id = strpool_add(&s->names, text, strlen(text));
    return id != STRPOOL_NONE && hash_map_set(&s->lock_names, address, id) ? id : STRPOOL_NONE;
}

static bool note_thread(struct lock_session *s, const struct tracepoint *t, struct model_when when) {
    const struct perfdata_sample *sample = &t->sample;
    const char *comm = model_comm(s->view.model, sample->pid, sample->tid, when, NULL);
    if (!comm)
        return true;
    uint32_t id = strpool_add(&s->names, comm, strlen(comm));
    return id != STRPOOL_NONE && hash_map_set(&s->thread_names, sample->tid, id);
}

static const char *thread_text(void *ctx, const struct lock_row *r) {
    struct lock_session *s = ctx;
    uint32_t id = hash_map_get(&s->thread_names, r->tid);
    if (id != HASH_ABSENT)
        return strpool_text(&s->names, id);
    snprintf(s->room, sizeof s->room, ":%u", r->tid);
    return s->room;
}

static const char *lock_text(void *ctx, const struct lock_row *r) {
    struct lock_session *s = ctx;
    uint32_t id = s->lockdep || s->table.by == LOCK_BY_NAME ? r->name : name_lock(s, r->address);
    return id == STRPOOL_NONE ? "" : strpool_text(&s->names, id);
}

static const char *site_text(void *ctx, const struct lock_row *r) {
    const struct lock_session *s = ctx;
    return r->site < s->site.list.count ? strpool_text(&s->site.texts, s->site.list.items[r->site].name)
                                        : "Unknown";
}

static const char *stack_text(void *ctx, const struct lock_row *r) {
    const struct lock_session *s = ctx;
    return r->site < s->site.list.count ? strpool_text(&s->site.texts, s->site.list.items[r->site].stack)
                                        : "";
}

static const char *group_text(void *ctx, const struct lock_row *r) {
    struct lock_session *s = ctx;
    const char *path = model_cgroup(s->view.model, r->group);
    snprintf(s->room, sizeof s->room, LOCK_GROUP_WITHOUT_NAME, (unsigned long long)r->group);
    return path ? path : s->room;
}

struct lock_names lock_session_names(struct lock_session *s) {
    return (struct lock_names){s, site_text, stack_text, thread_text, lock_text, group_text};
}

/* ---- events ---- */

/* Whether -L wants this lock; false with *err: out of memory. */
static bool wants_lock(struct lock_session *s, uint64_t address, uint32_t name, bool *memory) {
    if (!s->locks || !s->locks->list.count)
        return true;
    for (size_t i = 0; i < s->addresses.count; i++)
        if (s->addresses.items[i] == address)
            return true;
    if (s->addresses.count == s->locks->list.count)
        return false;
    if (!s->lockdep && (name = name_lock(s, address)) == STRPOOL_NONE)
        *memory = false;
    return name != STRPOOL_NONE && filter_names_has(s->locks, strpool_text(&s->names, name));
}

static bool wants_groups(const struct lock_session *s) {
    return s->table.by == LOCK_BY_GROUP || (s->groups && s->groups->list.count);
}

/* Whether -G wants the threads of this group. */
static bool wants_group(const struct lock_session *s, uint64_t group) {
    bool wanted = !s->groups || !s->groups->list.count;
    const char *path = wanted ? NULL : model_cgroup(s->view.model, group);
    for (size_t i = 0; path && i < s->groups->list.count && !wanted; i++) {
        const char *name = s->groups->list.items[i], *at = path + strspn(path, "/");
        name += strspn(name, "/");
        size_t n = strlen(name);
        wanted = !n || (strncmp(at, name, n) == 0 && (!at[n] || at[n] == '/'));
    }
    return wanted;
}

static bool begins(int kind) {
    return kind == LOCK_EVENT_BEGIN || kind == LOCK_EVENT_CONTENDED;
}

/* The site of a wait that begins, or that it does not count. False: out of memory. */
static bool describe_begin(struct lock_session *s, const struct event_view_item *item, struct lock_event *e) {
    e->ignored = s->types && !(s->types & UINT32_C(1) << lock_type(e->flags));
    if (e->ignored || !s->sites)
        return true;
    e->site = call_sites_find(&s->site, item->record->loc);
    e->ignored = e->site == CALL_SITE_FILTERED;
    return e->site != CALL_SITE_NONE;
}

/* Nameless locks are no class together. */
static bool describe_class(struct lock_session *s, struct lock_event *e) {
    char text[24];
    if (s->lockdep || s->table.by != LOCK_BY_NAME)
        return true;
    e->name = name_lock(s, e->address);
    if (e->name == STRPOOL_NONE || *strpool_text(&s->names, e->name))
        return e->name != STRPOOL_NONE;
    snprintf(text, sizeof text, "%#llx", (unsigned long long)e->address);
    e->name = strpool_add(&s->names, text, strlen(text));
    return e->name != STRPOOL_NONE;
}

/* True: the event counts. False with *memory false: out of memory. */
static bool describe(struct lock_session *s, const struct event_view_item *item, struct lock_event *e,
                     bool *memory) {
    const struct tracepoint *t = item->event;
    struct model_when when = recording_when(&s->view.recording, item->record);
    *e = (struct lock_event){.kind = (enum lock_event_kind)t->kind,
                             .time_ns = item->record->time_ns,
                             .address = (uint64_t)tracepoint_int(t, ADDRESS, 0),
                             .flags = (unsigned)tracepoint_int(t, FLAGS, 0),
                             .tid = t->sample.tid,
                             .pid = t->sample.pid,
                             .group = t->sample.have & PERFDATA_SAMPLE_CGROUP ? t->sample.cgroup : 0,
                             .cpu = t->sample.cpu,
                             .site = CALL_SITE_NONE,
                             .name = STRPOOL_NONE};
    if (s->lockdep != is_lockdep(t->kind) || !wants_group(s, e->group) ||
        (s->who && !filter_sample(s->who, s->view.model, &t->sample, when)))
        return false;
    struct bytes name = tracepoint_text(t, NAME);
    if (s->lockdep)
        e->name = strpool_add(&s->names, name.size ? (const char *)name.data : "", name.size);
    *memory = !s->lockdep || e->name != STRPOOL_NONE;
    if (!*memory || !wants_lock(s, e->address, e->name, memory))
        return false;
    *memory =
        describe_class(s, e) && note_thread(s, t, when) && (!begins(t->kind) || describe_begin(s, item, e));
    return *memory;
}

static bool take(void *ctx, const struct event_view_item *item, struct err *err) {
    struct lock_session *s = ctx;
    struct lock_event e = {.kind = LOCK_EVENT_LOST};
    bool memory = true;
    if (item->event && !describe(s, item, &e, &memory))
        return memory || err_memory(err, "waits for locks");
    return locks_apply(&s->model, &e) || err_memory(err, "waits for locks");
}

/* ---- the session ---- */

static bool parse_addresses(struct lock_session *s, struct err *err) {
    for (size_t i = 0; s->locks && i < s->locks->list.count; i++) {
        char *end;
        uint64_t address = strtoull(s->locks->list.items[i], &end, 16);
        if (*end || end == s->locks->list.items[i])
            continue;
        uint64_t *to = vec_push(&s->addresses);
        if (!to)
            return err_memory(err, "--lock-filter");
        *to = address;
    }
    return true;
}

static bool add(void *ctx, const struct lock_wait *w) {
    struct lock_session *s = ctx;
    return lock_table_add(&s->table, w) && (!s->also || lock_table_add(s->also, w));
}

bool lock_session_open(struct lock_session *s, struct err *err) {
    locks_init(&s->model, add, s);
    s->view.wants_groups = wants_groups(s);
    if (!parse_addresses(s, err) || !event_view_open(&s->view, err))
        return false;
    s->site.frames = &s->view.stacks;
    tracepoints_init(&s->events, s->view.recording.stream, &s->view.recording.namer, ROWS,
                     sizeof ROWS / sizeof *ROWS, PERFDATA_SAMPLE_CGROUP);
    return tracepoints_update(&s->events, err);
}

static bool groups_known(const struct lock_session *s, struct err *err) {
    const struct perfdata_events *events = stream_events(s->view.recording.stream);
    bool known = !wants_groups(s);
    for (size_t i = 0; i < events->list.count && !known; i++)
        known = events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_CGROUP;
    return known || err_set(err, ERR_ABSENT, stream_path(s->view.recording.stream),
                            "control groups were not recorded: use 'sonde lock record --all-cgroups', or -b");
}

bool lock_session_read(struct lock_session *s, enum lock_field key, struct err *err) {
    s->lockdep = !s->contention && tracepoints_have(&s->events, LOCK_EVENT_ACQUIRED);
    if (!s->lockdep && !tracepoints_have(&s->events, LOCK_EVENT_BEGIN))
        return err_set(err, ERR_ABSENT, stream_path(s->view.recording.stream),
                       "no contention of locks was recorded: use 'sonde lock record'");
    if (!groups_known(s, err) || !event_view_tracepoints(&s->view, &s->events, take, s, err))
        return false;
    locks_finish(&s->model);
    lock_table_sort(&s->table, key);
    return true;
}

static void note(uint64_t n, const char *what) {
    if (n)
        log_line(LOG_WARN, "%llu %s", (unsigned long long)n, what);
}

int lock_session_close(struct lock_session *s, bool ok, const struct err *err) {
    const struct locks_faults *f = &s->model.faults;
    if (ok) {
        note(f->unended, "of the waits had not ended when the recording did: not counted");
        note(f->unbegun, "of the waits began before the recording: not counted");
        note(f->lost, "of the waits went on while events were lost: not counted");
        note(f->repeated + f->backwards,
             "of the events about locks contradict those before them: not counted");
    }
    int status = event_view_close(&s->view, ok, err);
    locks_fini(&s->model);
    lock_table_fini(&s->table);
    call_sites_fini(&s->site);
    tracepoints_fini(&s->events);
    strpool_fini(&s->names);
    hash_map_fini(&s->thread_names);
    hash_map_fini(&s->lock_names);
    vec_fini(&s->addresses);
    return status;
}

static void add_column(struct lock_columns *c, enum lock_field f) {
    for (size_t i = 0; i < c->count; i++)
        if (c->fields[i] == f)
            return;
    c->fields[c->count++] = f;
}

bool lock_fields_parse(const char *fields, const char *key, uint32_t allowed, struct lock_columns *columns,
                       enum lock_field *sort, struct err *err) {
    for (const char *p = fields; *p;) {
        size_t n = strcspn(p, ",");
        enum lock_field f = lock_field_named(p, n);
        if (f == LOCK_FIELDS || !(allowed & UINT32_C(1) << f))
            return err_set(err, ERR_USAGE, "--field", "unknown output field: %.*s", (int)n, p);
        add_column(columns, f);
        p += n + (p[n] == ',');
    }
    *sort = lock_field_named(key, strlen(key));
    if (*sort == LOCK_FIELDS || !(allowed & UINT32_C(1) << *sort))
        return err_set(err, ERR_USAGE, "--key", "unknown compare key: %s", key);
    add_column(columns, *sort);
    return true;
}
