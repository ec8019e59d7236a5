/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/common/options/absent.h"
#include "cmd/common/symbol_notes.h"
#include "cmd/report/report_fields.h"
#include "cmd/report/report_progress.h"
#include "cmd/report/report_switch.h"
#include "os/affinity.h"
#include "select/filter.h"
#include "select/time_range.h"
#include "stream/pieces.h"
#include "symbol/name_match.h"
#include "view/report/report_json.h"
#include "view/report/report_text.h"
#include "view/report/report_threads.h"

/* What the recording has; defaults depend on it. */
struct has {
    bool chains, branches, calls, mem, latency, traces_only;
};

struct report_session {
    struct recording *r;
    struct recording_live *live; /* NULL: the recording is read as a whole */
    const uint32_t *images; /* live: of the old profile's images those of the model; NULL: they are its */
    unsigned eighths;       /* live: of the old profile how many eighths count on */
    const struct report_options *o;
    struct has has;
    bool children, branch, blocks, history, made_group, unmade_group;
    enum profile_chain_mode chain_mode;
    enum profile_chain_order chain_order;
    struct profile_columns columns;
    struct model *model; /* owned, unless it is the live recording's */
    struct recording_span span;
    uint64_t lost;         /* lost samples, from LOST_SAMPLES records */
    VEC(uint64_t) lost_of; /* by event, as far as the records name one */
    uint64_t throttled, late;
    /* The latest time of a record about tasks and maps: so far, at the end of the last round, of the one
     * before. */
    uint64_t latest_ns, last_round_ns, round_ns;
    struct report_threads threads;
    struct recording_parallelism parallelism;
    struct recording_names naming;
    struct filter filter;        /* -C, --pid, --tid */
    struct filter_ranges levels; /* --parallelism */
    struct filter_names comms, dsos, symbols;
    VEC(const char *) comm_list, dso_list, symbol_list;
    VEC(uint64_t) addresses; /* the addresses in -S */
    struct time_ranges times;
    struct report_switch switches;
    VEC(uint32_t) sockets;
    struct profile_options options; /* both are needed as long as the profile */
    struct profile_input input;
    struct pool *pool; /* NULL: one thread */
    struct profile *profile;
    struct report_progress progress;
    struct report_again again;
    struct report_text_options text; /* of the profile */
};

/* ---- what there is ---- */

static struct has find_out(const struct recording *r) {
    struct has has = {.traces_only = r->events->list.count > 0};
    for (size_t i = 0; i < r->events->list.count; i++) {
        const struct perfdata_attr *a = &r->events->list.items[i].attr;
        has.chains |= (a->sample_type & PERFDATA_SAMPLE_CALLCHAIN) != 0;
        has.mem |= (a->sample_type & PERFDATA_SAMPLE_DATA_SRC) != 0;
        has.traces_only &= a->type == PERFDATA_TYPE_TRACEPOINT;
        has.latency |= (a->flags & PERFDATA_ATTR_CONTEXT_SWITCH) != 0;
        if (a->sample_type & PERFDATA_SAMPLE_BRANCH_STACK) {
            bool calls = a->branch_sample_type & PERFDATA_BRANCH_CALL_STACK;
            has.chains |= calls;
            has.branches |= !calls;
            has.calls |= calls;
        }
    }
    return has;
}

/* Checks that what was requested can be shown; the words are perf's. */
static bool check_wishes(const struct report_session *s, struct err *err) {
    const struct report_options *o = s->o;
    if (o->branch_stack == REPORT_YES && !s->has.branches)
        return err_set(err, ERR_ABSENT, NULL,
                       "Selected -b but no branch data. Did you call sonde record without -b?");
    /* perf cannot know in advance what a pipe will have, so there it is no mistake. */
    bool pipe = stream_header(s->r->stream)->container == PERFDATA_CONTAINER_PIPE;
    if (o->mem_mode && !s->has.mem && !pipe)
        return err_set(err, ERR_ABSENT, NULL,
                       "Selected --mem-mode but no mem data. Did you call sonde record without -d?");
    bool groups = o->group == REPORT_YES && s->r->events->list.count > 1;
    for (size_t i = 0; i < s->r->events->list.count; i++)
        groups |= s->r->events->list.items[i].group_members > 1;
    if (o->group_sort_index < -1 || (o->group_sort_index > 0 && !groups))
        return err_set(err, ERR_USAGE, "--group-sort-idx", "%d: there is no such event in a group",
                       o->group_sort_index);
    if ((o->chain.asked || o->branch_history) && !pipe && !s->has.chains && !s->has.branches &&
        o->chain.mode != PROFILE_CHAIN_NONE)
        return err_set(err, ERR_ABSENT, NULL,
                       "Selected -g or --branch-history but no callchain or branch data. Did you call 'sonde "
                       "record' without -g or -b?");
    bool parent = o->parent || (o->sort && strstr(o->sort, "parent"));
    if (parent && !pipe && !s->has.chains)
        return err_set(
            err, ERR_ABSENT, NULL,
            "Selected --sort parent, but no callchain data. Did you call 'sonde record' without -g?");
    if ((o->latency || o->parallelism) && !s->has.latency)
        return err_set(err, ERR_ABSENT, NULL,
                       "Use of latency profile or parallelism requires --latency flag during record.");
    if (o->stitch_lbr && s->has.calls)
        return absent_err(err, "report", "stitch-lbr");
    if (o->stitch_lbr)
        log_line(LOG_WARN, "there are no LBR call stacks for --stitch-lbr to join");
    return !o->cpus || input_check_cpus(s->r, err);
}

/* Whether a list of keys has one of the types of data, as a whole word: tracepoints may have fields like
 * exit_type. */
static bool names_type(const char *keys) {
    static const char *const types[] = {"type", "typeoff", "typecln"};
    enum { TYPES = sizeof types / sizeof *types };
    for (const char *at = keys ? keys : ""; *at;) {
        at += strspn(at, ", +");
        size_t len = strcspn(at, ", ");
        for (size_t i = 0; i < TYPES; i++)
            if (len == strlen(types[i]) && strncasecmp(at, types[i], len) == 0)
                return true;
        at += len;
    }
    return false;
}

static void settle_modes(struct report_session *s) {
    const struct report_options *o = s->o;
    s->branch = o->branch_stack == REPORT_YES ||
                (o->branch_stack == REPORT_UNSAID && s->has.branches && !o->branch_history && !o->mem_mode);
    s->blocks = o->total_cycles && s->branch;
    s->history = (o->branch_history || o->chain.branches) && s->has.branches && !s->branch;
    /* In a hierarchy perf's percentages for children are all 0, so there are none here. */
    s->children = s->has.chains && o->children != REPORT_NO && !s->branch && !o->hierarchy && !o->mem_mode;
    bool chains = (s->has.chains && !s->branch) || s->history;
    s->chain_mode = chains ? o->chain.mode : PROFILE_CHAIN_NONE;
    bool callers = s->children || (o->branch_history && o->children != REPORT_NO);
    s->children &= !names_type(o->sort) &&
                   !names_type(o->fields); /* callers do not matter for what an instruction accesses */
    s->chain_order = o->chain.order_said ? o->chain.order : callers ? PROFILE_CALLER : PROFILE_CALLEE;
}

/* Adds a key to a list of -s or -F, or to the default ones; *made is to be freed. */
static bool add_key(const char **list, char **made, const char *key) {
    if (asprintf(made, "%s%s%s", *list ? *list : "+", *list ? "," : "", key) < 0) {
        *made = NULL;
        return false;
    }
    *list = *made;
    return true;
}

static bool make_columns(struct report_session *s, struct err *err) {
    const struct report_options *o = s->o;
    char arch[32]; /* as in uname -m */
    bool told = perfdata_feature_text(stream_header(s->r->stream), PERFDATA_FEATURE_ARCH, arch, sizeof arch);
    struct profile_column_options c = {.sort =
                                           s->blocks ? NULL : o->sort, /* blocks are what is sorted then */
                                       .fields = o->fields,
                                       .children = s->children,
                                       .callerless = !s->has.chains && !s->branch && o->children != REPORT_NO,
                                       .branch = s->branch,
                                       .history = s->history && o->branch_history,
                                       .mem = o->mem_mode,
                                       .arch = told ? arch : NULL,
                                       .latency = o->latency,
                                       .latent = s->has.latency,
                                       .fields_of = report_fields_of,
                                       .fields_ctx = s->r,
                                       .raw_fields = o->raw_trace,
                                       .traces_only = s->has.traces_only,
                                       .show_cpu_utilization = o->show_cpu_utilization,
                                       .show_samples = o->show_samples,
                                       .show_total_period = o->show_total_period};
    char *with_grades = NULL;
    bool alone = !o->sort && o->fields && o->fields[0] != '+', ok = true;
    if (o->parent && alone) /* -p alone adds the column, too */
        c.sort = "parent";
    else
        c.parent = o->parent;
    if (ok && o->grades)
        ok = add_key(o->fields ? &c.fields : &c.sort, &with_grades, "grade");
    ok = (ok || err_memory(err, "columns")) && profile_columns_make(&c, s->r->events, &s->columns, err);
    free(with_grades);
    return ok;
}

/* ---- filters ---- */

/* Converts a list of names to the profile's form. */
static bool list_of(const char *option, const struct filter_names *names, void *list, struct err *err) {
    VEC(const char *) *out = list;
    for (size_t i = 0; i <= names->list.count; i++) {
        const char **item = vec_push(out);
        if (!item)
            return err_memory(err, option);
        *item = i < names->list.count ? names->list.items[i] : NULL;
    }
    return true;
}

/* Moves addresses, 0x..., out of the names of -S. */
static bool take_addresses(struct report_session *s, struct err *err) {
    size_t names = 0;
    for (size_t i = 0; i < s->symbol_list.count; i++) {
        const char *text = s->symbol_list.items[i];
        char *end = NULL;
        errno = 0;
        uint64_t address = text && !strncmp(text, "0x", 2) ? strtoull(text, &end, 16) : 0;
        if (!end || end == text + 2 || *end || errno) {
            s->symbol_list.items[names++] = text;
            continue;
        }
        uint64_t *slot = vec_push(&s->addresses);
        if (!slot)
            return err_memory(err, "-S");
        *slot = address;
    }
    s->symbol_list.count = names;
    return true;
}

static bool parse_filters(struct report_session *s, struct err *err) {
    const struct report_options *o = s->o;
    struct filter_options f = {.cpus = o->cpus, .pids = o->pids, .tids = o->tids};
    return filter_parse(&f, &s->filter, err) &&
           (!o->parallelism || filter_ranges_parse("--parallelism", o->parallelism, &s->levels, err)) &&
           (!o->comms || (filter_names_parse("--comms", o->comms, &s->comms, err) &&
                          list_of("--comms", &s->comms, &s->comm_list, err))) &&
           (!o->dsos || (filter_names_parse("--dsos", o->dsos, &s->dsos, err) &&
                         list_of("--dsos", &s->dsos, &s->dso_list, err))) &&
           (!o->symbols || (filter_symbols_parse("--symbols", o->symbols, &s->symbols, err) &&
                            list_of("--symbols", &s->symbols, &s->symbol_list, err))) &&
           take_addresses(s, err);
}

/* Parses --time; percentages need the recording's span, from the header or the first pass. */
static bool parse_times(struct report_session *s, struct err *err) {
    if (!s->o->time)
        return true;
    recording_header_span(s->r, &s->span);
    return time_ranges_parse(s->o->time, s->span.first_ns, s->span.last_ns, &s->times, err);
}

static uint32_t socket_of(const struct report_session *s, const struct perfdata_sample *x) {
    return x->have & PERFDATA_SAMPLE_CPU && x->cpu < s->sockets.count ? s->sockets.items[x->cpu] : UINT32_MAX;
}

/* perf ignores samples of other CPUs and times as if they had not been recorded, but counts those of other
 * tasks in the title. */
static enum profile_verdict keep(void *ctx, const struct perfdata_sample *x, uint32_t event,
                                 struct model_when when) {
    const struct report_session *s = ctx;
    (void)event;
    if (!filter_cpu(&s->filter, x->have & PERFDATA_SAMPLE_CPU ? x->cpu : UINT32_MAX) ||
        !time_ranges_contain(&s->times, when.time_ns) ||
        (s->again.ranged && (when.time_ns < s->again.from_ns || when.time_ns > s->again.to_ns)) ||
        !report_switch_is_on(&s->switches, when))
        return PROFILE_DROP;
    if (s->o->parallelism && !filter_ranges_have(&s->levels, recording_parallelism_at(&s->parallelism, when)))
        return PROFILE_FILTERED;
    if (s->o->socket >= 0 && socket_of(s, x) != (uint32_t)s->o->socket)
        return PROFILE_FILTERED;
    if (!filter_ranges_have(&s->filter.pids, x->pid) || !filter_ranges_have(&s->filter.tids, x->tid))
        return PROFILE_FILTERED;
    return PROFILE_KEEP;
}

bool report_session_keeps(const struct report_session *s, const struct perfdata_sample *x,
                          struct model_when when) {
    return keep((void *)(uintptr_t)s, x, 0, when) == PROFILE_KEEP;
}

/* ---- the passes ---- */

static bool see_counts(struct report_session *s, const struct stream_record *r,
                       const struct perfdata_read_record *read, struct err *err) {
    for (uint64_t i = 0; i < read->values.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&read->values, i);
        uint32_t by_id = hash_map_get(&s->r->events->by_id, v.id);
        uint32_t event = read->values.format & PERFDATA_FORMAT_ID ? by_id : r->event;
        if (event < s->r->events->list.count &&
            !report_threads_add(&s->threads, read->pid, read->tid, event, v.value))
            return err_memory(err, "-T");
    }
    return true;
}

/* Counts records that are too late: those of a round must be no later than any that come two rounds after it
 * (perf.data-file-format: FINISHED_ROUND). */
static void watch_rounds(struct report_session *s, const struct stream_record *r) {
    if (r->raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
        s->round_ns = s->last_round_ns;
        s->last_round_ns = s->latest_ns;
    } else if (r->has_time && r->time_ns) {
        s->late += r->time_ns < s->round_ns;
        s->latest_ns = r->time_ns > s->latest_ns ? r->time_ns : s->latest_ns;
    }
}

/* Called with each record that is no sample. */
static bool see_record(void *ctx, const struct stream_record *r, struct err *err) {
    struct report_session *s = ctx;
    struct perfdata_record rec;
    uint32_t type = r->raw.type;
    bool counts = s->o->threads && type == PERFDATA_RECORD_READ;
    bool switches = type == PERFDATA_RECORD_SWITCH || type == PERFDATA_RECORD_SWITCH_CPU_WIDE;
    if (s->has.latency && (switches || type == PERFDATA_RECORD_EXIT)) {
        struct model_when when = {r->has_time ? r->time_ns : stream_when_ns(s->r->stream, r), r->loc};
        bool in = switches && !(r->raw.misc & PERFDATA_MISC_SWITCH_OUT);
        return recording_parallelism_note(&s->parallelism, when, in) || err_memory(err, "context switches");
    }
    watch_rounds(s, r);
    s->throttled += type == PERFDATA_RECORD_THROTTLE;
    if ((type != PERFDATA_RECORD_LOST_SAMPLES && !counts) || !recording_decode(s->r, r, &rec))
        return true;
    if (counts)
        return see_counts(s, r, &rec.read, err);
    s->lost += rec.lost_samples.lost;
    while (r->event != PERFDATA_NO_EVENT && s->lost_of.count <= r->event)
        if (!vec_push(&s->lost_of))
            return err_memory(err, "lost samples");
    if (r->event != PERFDATA_NO_EVENT)
        s->lost_of.items[r->event] += rec.lost_samples.lost;
    return true;
}

/* Returns how many threads to use for a recording of so many pieces: by default one for what is done before
 * others have started. Without callchains most of the work, names above all, would be repeated by each
 * thread. */
static unsigned thread_count(const struct report_session *s, uint32_t pieces) {
    enum { SMALL = 256, SMALL_FLAT = 1 << 14 }; /* some megabytes, half a gigabyte */
    bool chains = s->children || s->chain_mode != PROFILE_CHAIN_NONE || s->o->stacks;
    if (s->o->thread_count)
        return s->o->thread_count;
    return pieces < (chains ? SMALL : SMALL_FLAT) ? 1 : os_affinity_count();
}

/* How much of the recording stays in memory for the second pass, in which other data replace it. More would
 * exceed what is needed at the end, less would be read twice. */
enum { KEPT_BYTES = 80 << 20 };

static bool first_pass(struct report_session *s, struct err *err) {
    stream_forget_behind(s->r->stream, KEPT_BYTES);
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, err);
    s->r->kallsyms = s->o->symbol.host.kallsyms;
    s->r->symfs = s->o->symbol.symfs;
    uint32_t pieces = stream_pieces_expected(s->r->stream);
    s->r->pool = s->pool = pieces ? pool_new(thread_count(s, pieces)) : NULL;
    if (!s->model || !recording_jitdumps(s->r, s->o->jitdump_dir, s->o->symbol.symfs, err) ||
        !input_first_pass(s->r, s->model, &s->span, see_record, s, err))
        return false;
    recording_parallelism_sort(&s->parallelism);
    return parse_times(s, err) &&
           report_switch_find(&s->switches, s->r, s->o->switch_on, s->o->switch_off, err);
}

static bool open_names(struct report_session *s, const struct command_env *env, struct err *err) {
    if (!input_names(&s->naming, env, s->r, s->model, &s->o->symbol, err))
        return false;
    if (s->o->strict)
        resolve_names_be_strict(s->naming.names);
    return true;
}

static bool read_sockets(struct report_session *s, struct err *err) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    bool ok = true;
    if (perfdata_feature_get(stream_header(s->r->stream), PERFDATA_FEATURE_CPU_TOPOLOGY, &arena, &value))
        for (uint32_t i = 0; ok && i < value.cpu_topology.cpu_count; i++) {
            uint32_t *socket = vec_push(&s->sockets);
            ok = socket || err_memory(err, "CPU topology");
            if (ok)
                *socket = value.cpu_topology.cpus[i].socket;
        }
    arena_fini(&arena);
    return ok;
}

/* Prints " name=value" of each field (--raw-trace). */
static void put_raw_field(void *ctx, const char *name, const char *value, size_t len) {
    struct out *out = ctx;
    out_char(out, ' ');
    out_str(out, name);
    out_char(out, '=');
    out_mem(out, value, len);
}

static void print_trace(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *x,
                        struct out *out) {
    const struct report_session *s = ctx;
    if (s->r->formats && s->o->raw_trace)
        tracefs_formats_fields(s->r->formats, attr->config, x->raw, put_raw_field, out);
    else if (s->r->formats)
        tracefs_formats_print(s->r->formats, attr->config, (int)x->cpu, x->raw, out);
}

static void print_field(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *x,
                        const struct profile_column *column, struct out *out) {
    const struct report_session *s = ctx;
    if (s->r->formats)
        report_fields_print(s->r->formats, attr, x, column, out);
}

/* Makes one group of all events, but for dummies at the end, for --group of a recording without groups.
 * perf's --no-group does so, too, but it shows only as a word in the first event's title. */
static void force_group(struct report_session *s) {
    struct perfdata_events *e = s->r->events;
    bool any = false;
    for (size_t i = 0; i < e->list.count; i++)
        any |= e->list.items[i].group_members > 1;
    if (s->o->group == REPORT_UNSAID || any)
        return;
    if (s->o->group == REPORT_NO) {
        s->unmade_group =
            e->list.count > 1 && stream_header(s->r->stream)->container != PERFDATA_CONTAINER_PIPE;
        return;
    }
    s->made_group = true;
    /* It has the dummies, which are not shown. */
    s->unmade_group = perfdata_events_group_all(e) < e->list.count;
}

/* Hides latency columns that were not requested if one thread ran at all times, as perf does. */
static void hide_latency(struct report_session *s) {
    bool differs = s->o->latency || s->o->fields || (s->o->sort && strstr(s->o->sort, "latency"));
    for (uint32_t i = 0; i < profile_event_count(s->profile); i++) {
        const struct profile_sums *total = &profile_event(s->profile, i)->total;
        differs |= !s->branch && total->latency != total->period * PROFILE_LATENCY_UNIT;
    }
    differs |= s->branch && recording_parallelism_most(&s->parallelism) > 1;
    for (size_t i = 0; i < s->columns.out.count && !differs; i++) {
        struct profile_column *c = &s->columns.out.items[i];
        c->shown &= c->key->id != PROFILE_LATENCY && c->key->id != PROFILE_LATENCY_CHILDREN;
    }
}

/* Returns the only name of a list; NULL: there are several or none. */
static const char *only(const void *list) {
    const VEC(const char *) *l = list;
    return l->count == 2 ? l->items[0] : NULL;
}

/* Whether some row's function has a name that matches `wanted`, but is not the same. */
static bool any_is_longer(const struct report_session *s, const struct profile_column *column,
                          const char *wanted) {
    struct out text;
    bool longer = !out_init(&text, NULL, NULL);
    for (uint32_t i = 0; !longer && i < profile_event_count(s->profile); i++) {
        const struct profile_event *e = profile_event(s->profile, i);
        for (uint32_t k = 0; !longer && k < e->entry_count; k++) {
            struct profile_entry entry = profile_entry_at(s->profile, e, k);
            text.len = 0;
            profile_text(s->profile, e, &entry, column, &text);
            const char *shown = out_text(&text), *name = strchr(shown, ' '); /* of "[.] f" */
            longer = name && strcmp(name + 1, wanted) != 0 && symbol_name_matches(name + 1, wanted);
        }
    }
    out_fini(&text);
    return longer;
}

/* Returns the name that -S gives all rows, so that no column is needed; NULL: there is none. */
static const char *told_symbol(const struct report_session *s) {
    const char *wanted = only(&s->symbol_list);
    for (size_t i = 0; wanted && !s->o->hierarchy && i < s->columns.out.count; i++)
        if (s->columns.out.items[i].key->id == PROFILE_SYMBOL &&
            any_is_longer(s, &s->columns.out.items[i], wanted))
            return NULL;
    return wanted;
}

/* Says how the profile is to be printed. */
static void make_text_options(struct report_session *s) {
    const struct report_options *o = s->o;
    s->text = (struct report_text_options){
        .program = command_program(),
        .columns = &s->columns,
        .events = s->r->events,
        .chain_mode = s->chain_mode,
        .chain_order = s->chain_order,
        .chain_value = o->chain.value,
        .chain_limit = o->chain.limit,
        .percent_limit = o->percent_limit,
        .children = s->children,
        .made_group = s->made_group,
        .unmade_group = s->unmade_group,
        .hierarchy = o->hierarchy,
        .blocks = s->blocks,
        .quiet = o->quiet,
        .keep_empty = o->keep_empty,
        .separator = o->separator,
        .widths = o->widths.items,
        .width_count = o->widths.count,
        .only_comm = only(&s->comm_list),
        .only_dso = only(&s->dso_list),
        .only_symbol = told_symbol(s), /* as in perf, whatever addresses -S has, too */
        .lost = s->lost,
        .times = o->time,
        .socket = o->socket,
        .memory_sort = o->mem_mode ? s->columns.sort : NULL,
        .shows_reference = o->show_reference,
        .pool = s->pool,
    };
}

static void make_profile_options(struct report_session *s) {
    const struct report_options *o = s->o;
    s->options = (struct profile_options){
        .columns = &s->columns,
        .children = s->children,
        .chain_mode = s->chain_mode,
        .chain_order = s->chain_order,
        .chain_key = o->branch_history ? PROFILE_BY_ADDRESS : o->chain.key,
        .chain_min_percent = o->chain.min_percent,
        .max_stack = (unsigned)o->max_stack,
        .percent_limit = o->percent_limit,
        .branch = s->branch,
        .blocks = s->blocks || o->blocks,
        .block_values = o->block_values,
        .streams = o->streams,
        .history = s->history,
        .mem = o->mem_mode,
        .group = o->group != REPORT_NO,
        .group_sort_index = s->again.group_sort_index < 0 ? o->group_sort_index : s->again.group_sort_index,
        .hierarchy = o->hierarchy,
        .hide_unresolved = o->hide_unresolved,
        .exclude_other = o->exclude_other,
        .relative = o->relative,
        .tight = o->separator || o->widths.count,
        .parent = o->parent,
        .ignore_callees = o->ignore_callees,
        .comms = s->comm_list.items,
        .dsos = s->dso_list.items,
        .symbols = s->symbol_list.items,
        .addresses = s->addresses.items,
        .address_count = s->addresses.count,
        .symbol_filter = o->symbol_filter,
        .socket = o->socket,
        .verbose = o->verbose > 0 || s->again.verbose,
        .full_source_path = o->full_source_path,
        .time_quantum_ns = o->time_quantum_ns,
        .nanoseconds = o->nanoseconds,
        .stacks = o->stacks,
        .moments = o->moments,
        .slices = o->slices,
        .own_inlines = o->own_inlines,
        .inlines = o->inlines,
    };
}

static bool collect(struct report_session *s, struct err *err) {
    const struct report_options *o = s->o;
    make_profile_options(s);
    while (s->lost_of.count < s->r->events->list.count)
        if (!vec_push(&s->lost_of))
            return err_memory(err, "lost samples");
    if (!s->pool && !s->live)
        s->pool = pool_new(thread_count(s, stream_piece_count(s->r->stream)));
    s->input = (struct profile_input){
        .stream = s->r->stream,
        .pool = s->pool,
        .events = s->r->events,
        .model = s->model,
        .names = s->naming.names,
        .lines = s->naming.lines,
        .deferred = &s->r->deferred,
        .keep = o->cpus || o->parallelism || o->socket >= 0 || o->pids || o->tids || o->time ||
                        o->switch_on || o->switch_off || s->again.ranged
                    ? keep
                    : NULL,
        .keep_ctx = s,
        .trace = print_trace,
        .field = print_field,
        .trace_ctx = s,
        .parallelism = s->has.latency ? &s->parallelism : NULL,
        .progress = report_progress_tick,
        .progress_ctx = &s->progress,
        .lost = s->lost_of.items,
        .cpu_sockets = s->sockets.items,
        .cpu_count = (uint32_t)s->sockets.count,
    };
    struct profile *old = s->profile;
    bool again = old || s->live; /* a terminal view has the terminal */
    if (s->live) {
        s->input.live = true;
        s->input.listed = s->live->samples.items;
        s->input.listed_count = s->live->samples.count;
        s->input.unwind_most = s->again.unwind_most;
        s->input.before = (struct profile_before){.profile = old, .eighths = s->eighths, .images = s->images};
    } else { /* its memory is needed */
        profile_free(old);
        old = NULL;
    }
    report_progress_start(&s->progress, stream_path(s->r->stream), o->quiet || again);
    s->profile = profile_collect(&s->input, &s->options, err);
    report_progress_end(&s->progress);
    profile_free(old);
    if (!s->profile)
        return false;
    hide_latency(s);
    make_text_options(s);
    return true;
}

bool report_session_again(struct report_session *s, const struct report_again *a, struct err *err) {
    s->again = *a;
    stream_rewind(s->r->stream);
    return collect(s, err);
}

static struct report_session *new_session(struct recording *r, const struct report_options *o,
                                          struct err *err) {
    struct report_session *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(err, "report");
        return NULL;
    }
    s->r = r;
    s->o = o;
    s->span = (struct recording_span){UINT64_MAX, 0};
    s->again.group_sort_index = -1;
    s->has = find_out(r);
    settle_modes(s);
    return s;
}

struct report_session *report_session_new(struct recording *r, const struct report_options *o,
                                          const struct command_env *env, struct err *err) {
    struct report_session *s = new_session(r, o, err);
    if (!s)
        return NULL;
    if (check_wishes(s, err) && make_columns(s, err) && parse_filters(s, err) && first_pass(s, err) &&
        open_names(s, env, err) && read_sockets(s, err)) {
        force_group(s);
        if (collect(s, err))
            return s;
    }
    report_session_free(s);
    return NULL;
}

struct report_session *report_session_live(struct recording_live *live, const struct report_options *o,
                                           const struct command_env *env, struct err *err) {
    struct report_session *s = new_session(&live->recording, o, err);
    if (!s)
        return NULL;
    s->live = live;
    s->model = live->model;
    live->seen = see_record;
    live->seen_ctx = s;
    if (check_wishes(s, err) && make_columns(s, err) && parse_filters(s, err) &&
        recording_jitdumps(s->r, o->jitdump_dir, o->symbol.symfs, err) && open_names(s, env, err) &&
        read_sockets(s, err)) {
        force_group(s);
        return s;
    }
    report_session_free(s);
    return NULL;
}

void report_session_outlive(struct report_session *s) {
    if (s->profile)
        profile_outlive(s->profile);
}

void report_session_follow(struct report_session *s, struct report_session *older, const uint32_t *images) {
    s->profile = older->profile;
    s->images = images;
    older->profile = NULL;
}

bool report_session_refresh(struct report_session *s, unsigned eighths, const struct report_again *a,
                            struct err *err) {
    s->eighths = eighths;
    s->again = *a;
    resolve_names_refresh(s->naming.names);
    bool ok = collect(s, err);
    s->images = NULL;
    return ok;
}

void report_session_free(struct report_session *s) {
    if (!s)
        return;
    profile_free(s->profile);
    pool_free(s->pool);
    recording_names_close(&s->naming);
    recording_parallelism_fini(&s->parallelism);
    filter_ranges_fini(&s->levels);
    report_threads_fini(&s->threads);
    report_switch_fini(&s->switches);
    time_ranges_fini(&s->times);
    filter_fini(&s->filter);
    filter_names_fini(&s->comms);
    filter_names_fini(&s->dsos);
    filter_names_fini(&s->symbols);
    vec_fini(&s->comm_list);
    vec_fini(&s->dso_list);
    vec_fini(&s->symbol_list);
    vec_fini(&s->addresses);
    vec_fini(&s->sockets);
    vec_fini(&s->lost_of);
    profile_columns_fini(&s->columns);
    if (!s->live)
        model_free(s->model);
    free(s);
}

/* ---- output ---- */

/* Whether there is a table to show. Samples dropped by options (--time, -C, -U) do not count, not even as
 * filtered ones. If there is none, reports that. */
static bool any_sample(const struct report_session *s) {
    uint64_t read = 0;
    for (uint32_t i = 0; i < profile_event_count(s->profile); i++) {
        const struct profile_event *e = profile_event(s->profile, i);
        if (e->read > e->dropped)
            return true;
        read += e->read;
    }
    const char *path = stream_path(s->r->stream);
    if (read)
        log_line(LOG_WARN, "%s: none of its %" PRIu64 " samples is what the options ask for", path, read);
    else
        log_line(LOG_WARN, "%s has no samples", path);
    return false;
}

bool report_session_print(struct report_session *s, bool color, struct out *out, struct err *err) {
    const struct report_options *o = s->o;
    struct report_text_options text = s->text;
    text.color = color;
    if (o->json)
        return report_json_print(s->profile,
                                 &(struct report_json_options){.columns = &s->columns,
                                                               .events = s->r->events,
                                                               .graphs = s->chain_mode != PROFILE_CHAIN_NONE,
                                                               .blocks = s->blocks},
                                 out, err);
    if (!any_sample(s))
        return true;
    if (!report_text_print(s->profile, &text, out, err))
        return false;
    if (o->threads)
        report_threads_print(&s->threads, s->r->events, o->pretty && !strcmp(o->pretty, "raw"), out);
    return true;
}

struct report_session_parts report_session_parts(const struct report_session *s) {
    return (struct report_session_parts){.profile = s->profile,
                                         .text = &s->text,
                                         .model = s->model,
                                         .naming = &s->naming,
                                         .lost = s->lost,
                                         .throttled = s->throttled,
                                         .late = s->late};
}

/* Reports how much of the profile is not proved. */
static void say_grades(const struct report_session *s) {
    uint64_t grades[GRADE_COUNT] = {0};
    for (uint32_t i = 0; i < profile_event_count(s->profile); i++)
        for (unsigned g = 0; g < GRADE_COUNT; g++)
            grades[g] += profile_event(s->profile, i)->grades[g];
    symbol_notes_say_grades(grades, stream_path(s->r->stream), s->o->verbose > 0);
}

bool report_session_interrupted(const struct report_session *s) {
    if (s->progress.interrupted)
        log_line(LOG_WARN, "interrupted: this is the profile of %u %% of %s", s->progress.percent,
                 stream_path(s->r->stream));
    return s->progress.interrupted;
}

/* Reports groups whose events profile_group left separate. */
static void say_groups_apart(const struct report_session *s) {
    for (uint32_t i = 0; s->o->group != REPORT_NO && i < profile_event_count(s->profile); i++) {
        const struct profile_event *e = profile_event(s->profile, i);
        uint32_t members = s->r->events->list.items[e->event].group_members;
        if (members > 1 && e->members == 1)
            log_line(LOG_WARN,
                     "a group of %u events is too large to show side by side: shown one by one (with "
                     "fewer sort keys they may fit)",
                     members);
    }
}

void report_session_warn(const struct report_session *s) {
    say_groups_apart(s);
    symbol_notes_say(s->model, s->naming.names, s->naming.store);
    say_grades(s);
    symbol_notes_say_stacks(profile_unwound(s->profile), s->model);
}
