/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stat/stat_record.h"

#include "os/proc/host.h"
#include "record/synth/opening.h"
#include "record/write/facts.h"

/* Values and tags of records as they were seen in files of perf's. */
enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, LEVEL_NONE = 0, LEVEL_ALL = 1, LEVEL_SOCKET = 2, LEVEL_DIE = 3 };

static bool add_events(struct stat_recorder *r, const struct count_opened *o, struct err *err) {
    perfdata_events_init(&r->events, false);
    for (size_t i = 0; i < o->plan->events.count; i++) {
        const struct count_plan_event *p = &o->plan->events.items[i];
        struct perfdata_attr a = p->attr;
        a.sample_type = PERFDATA_SAMPLE_IDENTIFIER; /* readers want to know an id's place */
        a.read_format &= ~(uint64_t)PERFDATA_FORMAT_GROUP;
        if (perfdata_events_add(&r->events, &a, NULL) == PERFDATA_NO_EVENT ||
            !perfdata_events_name(&r->events, (uint32_t)i, p->name, strlen(p->name)))
            return err_memory(err, "events");
        r->events.list.items[i].leader =
            p->together ? (uint32_t)i : p->leader; /* that is a group for us alone */
        r->events.list.items[i].group_members = p->together ? 1 : p->members;
    }
    for (size_t i = 0; i < o->counters->list.count; i++) {
        const struct count_counter *k = &o->counters->list.items[i];
        uint64_t *id = vec_push(&r->ids);
        if (!id)
            return err_memory(err, "events");
        if (k->fd >= 0 && (o->counters->perf->id(o->counters->perf->ctx, k->fd, id) != 0 ||
                           !perfdata_events_add_id(&r->events, k->event, *id)))
            return err_set(err, ERR_IO, o->plan->events.items[k->event].name, "cannot read the event's id");
    }
    return true;
}

static void put_record(struct stat_recorder *r, const struct perfdata_record *rec) {
    perfdata_record_encode(rec, NULL, &r->records);
}

static void put_update(struct stat_recorder *r, uint64_t type, uint64_t id, const void *data, size_t size) {
    uint8_t room[64] = {0}; /* texts are padded to words */
    if (size >= sizeof room)
        return;
    memcpy(room, data, size);
    put_record(r, &(struct perfdata_record){.type = PERFDATA_RECORD_EVENT_UPDATE,
                                            .event_update = {type, id, {room, (size + 8) & ~(size_t)7}}});
}

/* Units, and the factors that counts are in them by. */
static void put_units(struct stat_recorder *r, const struct count_opened *o) {
    for (size_t i = 0; i < r->events.list.count; i++) {
        const struct count_event *e = &o->plan->shown.items[i];
        if (!r->events.list.items[i].id_count)
            continue;
        uint64_t id = r->events.list.items[i].ids[0];
        if (*e->unit)
            put_update(r, UPDATE_UNIT, id, e->unit, strlen(e->unit));
        if (e->scale != 1)
            put_update(r, UPDATE_SCALE, id, &e->scale, sizeof e->scale);
    }
}

/* Levels beyond dies have other numbers in perf 6.x than in 7.x: readers are to choose those themselves. */
static uint64_t level_number(enum count_level level) {
    return level == COUNT_CPU      ? LEVEL_NONE
           : level == COUNT_SOCKET ? LEVEL_SOCKET
           : level == COUNT_DIE    ? LEVEL_DIE
                                   : LEVEL_ALL;
}

static void put_config(struct stat_recorder *r) {
    const uint64_t pairs[] = {
        0, level_number(r->options->level), 1, r->options->interval_ms, 2, !r->options->no_scale};
    put_record(r, &(struct perfdata_record){
                      .type = PERFDATA_RECORD_STAT_CONFIG,
                      .stat_config = {3, {(const uint8_t *)pairs, sizeof pairs / sizeof *pairs, false}}});
}

static bool flush(struct stat_recorder *r, struct err *err) {
    const struct bytes all = writer_bytes(&r->records);
    bool ok = writer_ok(&r->records) ? !all.size || record_file_append(&r->file, &all, 1, err)
                                     : err_memory(err, "records");
    writer_clear(&r->records);
    return ok;
}

static bool start_file(struct stat_recorder *r, const struct count_opened *o, struct err *err) {
    const struct record_options none = {0};
    const struct perfdata_feature stat = {.id = PERFDATA_FEATURE_STAT};
    struct record_facts facts = {0};
    struct os_host host;
    struct os_output out;
    bool tracepoints = false;
    for (size_t i = 0; i < o->plan->events.count; i++)
        tracepoints |= o->plan->events.items[i].attr.type == PERFDATA_TYPE_TRACEPOINT;
    os_host_read(&host);
    const struct record_facts_input in = {.sys = &sysfs_system,
                                          .host = &host,
                                          .options = &none,
                                          .events = &r->events,
                                          .argv = r->argv,
                                          .tracepoints = tracepoints};
    bool ok = (record_facts_early(&facts, &in) && record_facts_topology(&facts)) || err_memory(err, "facts");
    struct perfdata_feature *f = ok ? vec_push(&facts.list) : NULL;
    if (f)
        *f = stat;
    ok = ok && (f || err_memory(err, "facts")) && os_output_keep_old(r->path, err) &&
         os_output_create(r->path, &out, err);
    if (ok) {
        const struct record_file_head head = {&r->events, facts.list.items, facts.list.count, {0}};
        r->open = true;
        ok = record_file_start(&r->file, out, r->path, &head, err);
    }
    record_facts_fini(&facts);
    return ok;
}

bool stat_recorder_opened(struct stat_recorder *r, const struct count_opened *o, struct err *err) {
    r->records = writer_make(false);
    if (!add_events(r, o, err) || !start_file(r, o, err))
        return false;
    put_units(r, o);
    record_opening_target(o->target, &r->records);
    put_config(r);
    return flush(r, err);
}

bool stat_recorder_read(struct stat_recorder *r, const struct count_opened *o, uint64_t time_ns, bool last,
                        struct err *err) {
    for (size_t i = 0; i < o->counters->list.count; i++) {
        const struct count_counter *k = &o->counters->list.items[i];
        if (k->fd < 0)
            continue;
        put_record(r, &(struct perfdata_record){
                          .type = PERFDATA_RECORD_STAT,
                          .stat = {r->ids.items[i], (uint32_t)o->target->cpus.items[k->cpu], k->thread,
                                   k->now.value, k->now.enabled_ns, k->now.running_ns}});
    }
    put_record(r, &(struct perfdata_record){.type = PERFDATA_RECORD_STAT_ROUND,
                                            .stat_round = {last && !r->options->interval_ms, time_ns}});
    return flush(r, err);
}

bool stat_recorder_finish(struct stat_recorder *r, struct err *err) {
    bool ok = !r->open || record_file_finish(&r->file, NULL, 0, (struct bytes){0}, err);
    if (r->events.list.items || r->events.arena.blocks)
        perfdata_events_fini(&r->events);
    vec_fini(&r->ids);
    writer_fini(&r->records);
    r->open = false;
    return ok;
}
