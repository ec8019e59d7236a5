/* SPDX-License-Identifier: Apache-2.0 */
/* Names and titles are those of perf-report(1) and of perf's output; which key is allowed when was observed.
 */
#include "profile/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

/* LATENT: with the context switches that `record --latency` records. */
enum group { ALWAYS, BRANCH, MEM, LATENT, LATER };

static const struct row {
    const char *name, *title;
    uint8_t id, group;
} rows[] = {
    {"overhead", "Overhead", PROFILE_OVERHEAD, ALWAYS},
    {"latency", "Latency", PROFILE_LATENCY, LATENT},
    {"overhead_sys", "sys", PROFILE_OVERHEAD_SYS, ALWAYS},
    {"overhead_us", "usr", PROFILE_OVERHEAD_US, ALWAYS},
    {"overhead_guest_sys", "guest sys", PROFILE_OVERHEAD_GUEST_SYS, ALWAYS},
    {"overhead_guest_us", "guest usr", PROFILE_OVERHEAD_GUEST_US, ALWAYS},
    {"overhead_children", "Children", PROFILE_OVERHEAD_CHILDREN, ALWAYS},
    {"latency_children", "Latency", PROFILE_LATENCY_CHILDREN, LATENT},
    {"sample", "Samples", PROFILE_SAMPLE, ALWAYS},
    {"period", "Period", PROFILE_PERIOD, ALWAYS},
    {"weight1", "Weight1", PROFILE_WEIGHT1, ALWAYS},
    {"weight2", "Weight2", PROFILE_WEIGHT2, ALWAYS},
    {"weight3", "Weight3", PROFILE_WEIGHT3, ALWAYS},
    {"ins_lat", "Weight2", PROFILE_WEIGHT2, ALWAYS}, /* other names of these, for -F */
    {"retire_lat", "Weight3", PROFILE_WEIGHT3, ALWAYS},
    {"p_stage_cyc", "Weight3", PROFILE_WEIGHT3, ALWAYS},
    {"pid", "    Pid:Command", PROFILE_PID, ALWAYS},
    {"tgid", "   Tgid:Command", PROFILE_TGID, ALWAYS},
    {"comm", "Command", PROFILE_COMM, ALWAYS},
    {"comm_nodigit", "CommandNoDigit", PROFILE_COMM_NODIGIT, ALWAYS},
    {"dso", "Shared Object", PROFILE_DSO, ALWAYS},
    {"dso_size", "DSO size", PROFILE_DSO_SIZE, ALWAYS},
    {"symbol", "Symbol", PROFILE_SYMBOL, ALWAYS},
    {"symbol_size", "Symbol size", PROFILE_SYMBOL_SIZE, ALWAYS},
    {"symoff", "Symbol Offset", PROFILE_SYMBOL_OFFSET, ALWAYS},
    {"parent", "Parent symbol", PROFILE_PARENT, ALWAYS},
    {"cpu", "CPU", PROFILE_CPU, ALWAYS},
    {"socket", "Socket", PROFILE_SOCKET, ALWAYS},
    {"parallelism", "Parallelism", PROFILE_PARALLELISM, LATENT},
    {"srcline", "Source:Line", PROFILE_SRCLINE, ALWAYS},
    {"srcfile", "Source File", PROFILE_SRCFILE, ALWAYS},
    {"addr", "Address", PROFILE_ADDR, ALWAYS},
    {"local_weight", "Local Weight", PROFILE_LOCAL_WEIGHT, ALWAYS},
    {"weight", "Weight", PROFILE_WEIGHT, ALWAYS},
    {"cgroup", "Cgroup", PROFILE_CGROUP, ALWAYS},
    {"cgroup_id", "cgroup id (dev/inode)", PROFILE_CGROUP_ID, ALWAYS},
    {"transaction", "Transaction", PROFILE_TRANSACTION, ALWAYS},
    {"time", "Time", PROFILE_TIME, ALWAYS},
    {"code_page_size", "Code Page Size", PROFILE_CODE_PAGE_SIZE, ALWAYS},
    {"local_ins_lat", "Local INSTR Latency", PROFILE_LOCAL_INS_LAT, ALWAYS},
    {"ins_lat", "INSTR Latency", PROFILE_INS_LAT, ALWAYS},
    /* perf has the titles of the last two pairs the wrong way round; in -s see arch_titles */
    {"local_p_stage_cyc", "Local Pipeline Stage Cycle", PROFILE_LOCAL_P_STAGE_CYC, ALWAYS},
    {"p_stage_cyc", "Pipeline Stage Cycle", PROFILE_P_STAGE_CYC, ALWAYS},
    {"local_retire_lat", "Local Pipeline Stage Cycle", PROFILE_LOCAL_RETIRE_LAT, ALWAYS},
    {"retire_lat", "Pipeline Stage Cycle", PROFILE_RETIRE_LAT, ALWAYS},
    {"simd", "Simd", PROFILE_SIMD, ALWAYS},
    {"type", "Data Type", PROFILE_TYPE, ALWAYS},
    {"typeoff", "Data Type Offset", PROFILE_TYPEOFF, ALWAYS},
    {"typecln", "Data Type Cacheline", PROFILE_TYPECLN, ALWAYS},
    {"dso_from", "Source Shared Object", PROFILE_DSO_FROM, BRANCH},
    {"dso_to", "Target Shared Object", PROFILE_DSO_TO, BRANCH},
    {"symbol_from", "Source Symbol", PROFILE_SYMBOL_FROM, BRANCH},
    {"symbol_to", "Target Symbol", PROFILE_SYMBOL_TO, BRANCH},
    {"mispredict", "Branch Mispredicted", PROFILE_MISPREDICT, BRANCH},
    {"in_tx", "Branch in transaction", PROFILE_IN_TX, BRANCH},
    {"abort", "Transaction abort", PROFILE_ABORT, BRANCH},
    {"cycles", "Basic Block Cycles", PROFILE_CYCLES, BRANCH},
    {"srcline_from", "From Source:Line", PROFILE_SRCLINE_FROM, BRANCH},
    {"srcline_to", "To Source:Line", PROFILE_SRCLINE_TO, BRANCH},
    {"addr_from", "Source Address", PROFILE_ADDR_FROM, BRANCH},
    {"addr_to", "Target Address", PROFILE_ADDR_TO, BRANCH},
    {"callchain_branch_predicted", "Callchain Branch Predicted", PROFILE_CALLCHAIN_BRANCH_PREDICTED, LATER},
    {"callchain_branch_abort", "Callchain Branch Abort", PROFILE_CALLCHAIN_BRANCH_ABORT, LATER},
    {"callchain_branch_cycles", "Callchain Branch Cycles", PROFILE_CALLCHAIN_BRANCH_CYCLES, LATER},
    {"symbol_daddr", "Data Symbol", PROFILE_SYMBOL_DADDR, MEM},
    {"symbol_iaddr", "Code Symbol", PROFILE_SYMBOL_IADDR, MEM},
    {"dso_daddr", "Data Object", PROFILE_DSO_DADDR, MEM},
    {"locked", "Locked", PROFILE_LOCKED, MEM},
    {"tlb", "TLB access", PROFILE_TLB, MEM},
    {"mem", "Memory access", PROFILE_MEM, MEM},
    {"snoop", "Snoop", PROFILE_SNOOP, MEM},
    {"dcacheline", "Data Cacheline", PROFILE_DCACHELINE, MEM},
    {"phys_daddr", "Data Physical Address", PROFILE_PHYS_DADDR, MEM},
    {"data_page_size", "Data Page Size", PROFILE_DATA_PAGE_SIZE, MEM},
    {"blocked", "Blocked", PROFILE_BLOCKED, MEM},
    {"trace", "Trace output", PROFILE_TRACE, ALWAYS},
    /* sonde's own stand last, so that they take no beginning of a name from perf's */
    {"grade", "Grade", PROFILE_GRADE, ALWAYS},
    {"identity", "Identity", PROFILE_IDENTITY, ALWAYS},
    {"provenance", "Provenance", PROFILE_PROVENANCE, ALWAYS},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *find_among(const char *name, size_t len, bool keys) {
    for (size_t i = 0; i < ROWS; i++)
        if (len && profile_column_is_key(rows[i].id) == keys && !strncasecmp(rows[i].name, name, len))
            return &rows[i];
    return NULL;
}

/* As perf, which takes any beginning of a name: the first one in its list, where measures come behind the
 * keys for -s and before them for -F. */
static const struct row *find_row(const char *name, size_t len, bool sort) {
    const struct row *row = find_among(name, len, sort);
    return row ? row : find_among(name, len, !sort);
}

static const struct row *row_of(enum profile_column_id id) {
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

/* What keys of -s are called in recordings of some processors; NULL: as everywhere. */
static const struct arch_title {
    uint8_t id;
    const char *x86, *power;
    bool nowhere_else; /* on other processors there is no such column */
} arch_titles[] = {
    {PROFILE_LOCAL_P_STAGE_CYC, "Local Retire Latency", "Dispatch Cyc", true},
    {PROFILE_P_STAGE_CYC, "Retire Latency", "Global Dispatch_cyc", true},
    {PROFILE_LOCAL_INS_LAT, NULL, "Finish Cyc", false},
    {PROFILE_INS_LAT, NULL, "Global Finish_cyc", false},
};

struct maker {
    const struct profile_column_options *o;
    const struct perfdata_events *events;
    struct profile_columns *columns;
    struct err *err;
    bool joins; /* the next field: profile_column.joined */
};

/* Keys of the same values: whichever comes first is the column. */
static enum profile_column_id same_as(enum profile_column_id id) {
    return id == PROFILE_RETIRE_LAT         ? PROFILE_P_STAGE_CYC
           : id == PROFILE_LOCAL_RETIRE_LAT ? PROFILE_LOCAL_P_STAGE_CYC
                                            : id;
}

static bool has(const struct profile_column *list, size_t count, enum profile_column_id id) {
    for (size_t i = 0; i < count; i++)
        if (same_as(list[i].id) == same_as(id))
            return true;
    return false;
}

static bool add_out(struct maker *m, struct profile_column column) {
    struct profile_columns *c = m->columns;
    if (has(c->out.items, c->out.count, column.id))
        return true;
    struct profile_column *slot = vec_push(&c->out);
    if (!slot)
        return err_memory(m->err, "columns");
    *slot = column;
    return true;
}

static bool add_order(struct maker *m, struct profile_column column) {
    struct profile_columns *c = m->columns;
    if (has(c->order.items, c->order.count, column.id))
        return true;
    struct profile_column *slot = vec_push(&c->order);
    if (!slot)
        return err_memory(m->err, "columns");
    *slot = column;
    return true;
}

/* True: -F says what columns there are; else it is absent or adds to the usual ones. */
static bool names_all(const struct profile_column_options *o) {
    return o->fields && o->fields[0] != '+';
}

static struct profile_column column_of(const struct maker *m, enum profile_column_id id) {
    const struct row *row = row_of(id);
    const char *title = id == PROFILE_IPC ? "IPC   [IPC Coverage]"
                        : id == PROFILE_OVERHEAD && m->o->children && !names_all(m->o) ? "Self"
                                                                                       : row->title;
    return (struct profile_column){.id = id, .title = title, .event = PERFDATA_NO_EVENT, .shown = true};
}

/* ---- fields of tracepoints ---- */

/* The event that a word means: "%2" is the second; with a colon the whole name; else a part that only one
 * name has. PERFDATA_NO_EVENT: none, or several. */
static uint32_t find_event(const struct maker *m, const char *word, size_t len) {
    uint32_t found = PERFDATA_NO_EVENT, count = (uint32_t)m->events->list.count;
    if (len > 1 && word[0] == '%') {
        unsigned long n = strtoul(word + 1, NULL, 10);
        return n && n <= count ? (uint32_t)n - 1 : PERFDATA_NO_EVENT;
    }
    bool whole = memchr(word, ':', len) != NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = m->events->list.items[i].name;
        if (!name ||
            (whole ? strlen(name) != len || memcmp(name, word, len) : !memmem(name, strlen(name), word, len)))
            continue;
        if (found != PERFDATA_NO_EVENT)
            return PERFDATA_NO_EVENT;
        found = i;
    }
    return found;
}

typedef bool take_fn(struct maker *m, struct profile_column column);

static bool take_one(struct maker *m, uint32_t event, const struct profile_field *f, bool raw,
                     take_fn *take) {
    if (PROFILE_FIELD + m->columns->fields > PROFILE_FIELD_LAST)
        return err_set(m->err, ERR_USAGE, NULL, "more than %d fields of tracepoints",
                       PROFILE_FIELD_LAST - PROFILE_FIELD + 1);
    const char *text = arena_strndup(&m->columns->arena, f->name, f->len);
    if (!text)
        return err_memory(m->err, "columns");
    uint32_t width = f->width > f->len ? f->width : (uint32_t)f->len;
    return take(m,
                (struct profile_column){.id = (enum profile_column_id)(PROFILE_FIELD + m->columns->fields++),
                                        .title = text,
                                        .event = event,
                                        .field = text,
                                        .raw = raw || m->o->raw_fields,
                                        .width = width,
                                        .dynamic = f->dynamic,
                                        .joined = m->joins,
                                        .shown = true});
}

/* Takes an event's field of that name, or (NULL) all its fields. Adds to *found how many. */
static bool take_fields(struct maker *m, uint32_t event, const char *name, size_t len, bool raw,
                        take_fn *take, uint32_t *found) {
    const struct perfdata_attr *attr = &m->events->list.items[event].attr;
    struct profile_field f;
    for (size_t i = 0;
         attr->type == PERFDATA_TYPE_TRACEPOINT && m->o->fields_of(m->o->fields_ctx, attr, i, &f); i++) {
        if (name && (f.len != len || memcmp(f.name, name, len)))
            continue;
        ++*found;
        m->joins = !name && i;
        if (!take_one(m, event, &f, raw, take))
            return false;
    }
    return true;
}

/* "[event.]field[/raw]", or "trace_fields": a column for each event that has the field. *found: how many. */
static bool make_fields(struct maker *m, const char *word, size_t len, take_fn *take, uint32_t *found) {
    const char *dot = memchr(word, '.', len), *name = dot ? dot + 1 : word;
    size_t n = (size_t)(word + len - name);
    bool raw = n > 4 && !memcmp(name + n - 4, "/raw", 4),
         all = len == 12 && !memcmp(word, "trace_fields", 12);
    n -= raw ? 4 : 0;
    uint32_t first = 0, end = (uint32_t)m->events->list.count;
    *found = all; /* of no event it is no mistake */
    if (!m->o->fields_of)
        return true;
    if (dot) {
        first = find_event(m, word, (size_t)(dot - word));
        end = first == PERFDATA_NO_EVENT ? first : first + 1;
    }
    for (uint32_t i = first; i < end; i++)
        if (!take_fields(m, i, all ? NULL : name, n, raw, take, found))
            return false;
    return true;
}

/* perf's words and, where there is one, the key that was most likely meant. */
static bool unknown_key(struct maker *m, const char *option, const char *name, size_t len) {
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    struct nearest near = nearest_start(word);
    for (size_t i = 0; len < sizeof word && i < ROWS; i++)
        nearest_try(&near, rows[i].name);
    if (near.best)
        return err_set(m->err, ERR_USAGE, NULL, "Unknown --%s key: `%.*s', did you mean `%s'?", option,
                       (int)len, name, near.best);
    return err_set(m->err, ERR_USAGE, NULL, "Unknown --%s key: `%.*s'", option, (int)len, name);
}

/* Gives a key of -s the title that it has in recordings of the processor `arch` (as uname -m; NULL: of this
 * kind). False: it is none there. */
static bool set_arch_title(const char *arch, struct profile_column *column) {
    bool power = arch && (!strncmp(arch, "ppc", 3) || !strncmp(arch, "powerpc", 7)),
         x86 = !arch || !strncmp(arch, "x86", 3) ||
               (strlen(arch) == 4 && arch[0] == 'i' && !strcmp(arch + 2, "86"));
    for (size_t i = 0; i < sizeof arch_titles / sizeof *arch_titles; i++) {
        const struct arch_title *t = &arch_titles[i];
        if (t->id != column->id)
            continue;
        const char *title = power ? t->power : x86 ? t->x86 : NULL;
        column->title = title ? title : column->title;
        return power || x86 || !t->nowhere_else;
    }
    return true;
}

/* One word of -s or -F. */
static bool make_column(struct maker *m, const char *option, const char *name, size_t len,
                        struct profile_column *out) {
    const struct row *row = find_row(name, len, !strcmp(option, "sort"));
    if (!row)
        return unknown_key(m, option, name, len);
    if ((row->group == BRANCH && !m->o->branch) || (row->group == MEM && !m->o->mem))
        return err_set(m->err, ERR_USAGE, NULL, "Invalid --%s key: `%.*s'", option, (int)len, name);
    if (row->group == LATENT && !m->o->latent)
        return err_set(m->err, ERR_ABSENT, NULL,
                       "Use of latency profile or parallelism requires --latency flag during record.");
    if (row->group == LATER)
        return err_set(m->err, ERR_UNSUPPORTED, NULL,
                       "the --%s key `%s' is not there yet: branch details are not summed up for "
                       "callchains",
                       option, row->name);
    *out = column_of(m, row->id);
    return true;
}

static bool each(struct maker *m, const char *option, const char *text, take_fn *take) {
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ", ");
        struct profile_column column;
        uint32_t fields = 0;
        if (len && !strcmp(option, "sort") && !find_row(at, len, true) &&
            !make_fields(m, at, len, take, &fields))
            return false;
        if (len && !fields && !make_column(m, option, at, len, &column))
            return false;
        bool wanted = len && !fields && (strcmp(option, "sort") || set_arch_title(m->o->arch, &column));
        if (wanted && !take(m, column))
            return false;
        at += len + (at[len] != '\0');
    }
    return true;
}

/* A measure in -s shows and sorts where it stands; a key does, too. */
static bool take_sort(struct maker *m, struct profile_column column) {
    bool cancelled = column.id == PROFILE_OVERHEAD_CHILDREN && m->o->callerless && !names_all(m->o);
    return cancelled || add_order(m, column);
}

static bool take_field(struct maker *m, struct profile_column column) {
    return add_out(m, column);
}

/* perf adds the share unless the word stands in the text, even as a part of overhead_us. */
static bool speaks_of_overhead(const struct profile_column_options *o) {
    return o->sort && o->sort[0] != '+' && (strstr(o->sort, "overhead") || strstr(o->sort, "latency"));
}

/* Whether a text has a word. */
static bool has_word(const char *text, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; at && *at; at += strcspn(at, ", "), at += *at != '\0')
        if (strcspn(at, ", ") == len && !memcmp(at, word, len))
            return true;
    return false;
}

static bool add_measures(struct maker *m) {
    const struct profile_column_options *o = m->o;
    bool share = !speaks_of_overhead(o), own = share || has_word(o->sort, "overhead"),
         time = share && o->latent, first = o->latency;
    bool of_callers = o->children && (share || strstr(o->sort, "overhead_children"));
    struct {
        bool wanted;
        enum profile_column_id id;
    } list[] = {
        {first && time && o->children, PROFILE_LATENCY_CHILDREN},
        {of_callers, PROFILE_OVERHEAD_CHILDREN},
        {!first && time && o->children, PROFILE_LATENCY_CHILDREN},
        {first && time, PROFILE_LATENCY},
        {own, PROFILE_OVERHEAD}, /* first, wherever it stands in -s */
        {!first && time, PROFILE_LATENCY},
        {o->show_cpu_utilization, PROFILE_OVERHEAD_SYS},
        {o->show_cpu_utilization, PROFILE_OVERHEAD_US},
        {o->show_samples, PROFILE_SAMPLE},
        {o->show_total_period, PROFILE_PERIOD},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].wanted && !add_out(m, column_of(m, list[i].id)))
            return false;
    return true;
}

static const char *default_sort(const struct profile_column_options *o) {
    if (o->mem)
        return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,"
               "local_p_stage_cyc";
    if (o->branch)
        return "comm,dso_from,symbol_from,symbol_to,cycles";
    if (o->history)
        return "srcline,symbol,dso";
    return o->traces_only ? "trace" : "comm,dso,symbol";
}

/* The order of importance: what the user gave with -s, behind the share that is always there unless he named
 * one; then the rest of what is shown. */
static bool make_order(struct maker *m, const char *sort) {
    const struct profile_column_options *o = m->o;
    bool named = false;
    struct profile_columns given = {0};
    struct maker probe = {o, m->events, &given, m->err};
    bool ok = each(&probe, "sort", sort, take_sort);
    for (size_t i = 0; i < given.order.count; i++)
        named |= given.order.items[i].id <= PROFILE_LATENCY_CHILDREN;
    profile_columns_fini(&given);
    if (!ok)
        return false;
    for (size_t i = 0; !named && !speaks_of_overhead(o) && !names_all(o) && i < m->columns->out.count; i++)
        if (m->columns->out.items[i].id <= PROFILE_LATENCY_CHILDREN)
            ok = ok && add_order(m, m->columns->out.items[i]);
    return ok && each(m, "sort", sort, take_sort);
}

/* NULL: memory. */
static const char *join(struct maker *m, const char *a, const char *b) {
    size_t size = strlen(a) + strlen(b) + 1;
    char *joined = arena_alloc(&m->columns->arena, size);
    if (!joined) {
        err_memory(m->err, "columns");
        return NULL;
    }
    snprintf(joined, size, "%s%s", a, b);
    return joined;
}

bool profile_columns_make(const struct profile_column_options *o, const struct perfdata_events *events,
                          struct profile_columns *out, struct err *err) {
    struct maker m = {o, events, out, err};
    const char *sort = o->sort ? o->sort : names_all(o) ? "" : default_sort(o);
    const char *fields = o->fields && !names_all(o) ? o->fields + 1 : o->fields;
    if (sort[0] == '+') {
        const char *usual = join(&m, default_sort(o), ",");
        sort = usual ? join(&m, usual, sort + 1) : NULL;
        if (!sort)
            return false;
    }
    out->fields_said = o->fields;
    if (!names_all(o) && !add_measures(&m))
        return false;
    if (!make_order(&m, sort) || (fields && !each(&m, "fields", fields, take_field)))
        return false;
    /* Whatever sorts is shown, and whatever is shown sorts, behind what was asked for. */
    for (size_t i = 0; i < out->order.count; i++)
        if (!add_out(&m, out->order.items[i]))
            return false;
    /* perf looks for the word in the text, not for the key: -s sym has no such column. */
    bool ipc = o->sort && strstr(o->sort, "symbol");
    if (ipc && (!add_out(&m, column_of(&m, PROFILE_IPC)) || !add_order(&m, column_of(&m, PROFILE_IPC))))
        return false;
    struct profile_column parent = column_of(&m, PROFILE_PARENT);
    if (o->parent && (!add_out(&m, parent) || !add_order(&m, parent)))
        return false;
    out->sort = join(&m, sort, ipc ? ",ipc_null" : "");
    if (out->sort && o->parent)
        out->sort = join(&m, out->sort, ",parent");
    if (!out->sort)
        return false;
    for (size_t i = 0; i < out->out.count; i++)
        if (!add_order(&m, out->out.items[i]))
            return false;
    return true;
}

void profile_columns_fini(struct profile_columns *c) {
    vec_fini(&c->out);
    vec_fini(&c->order);
    arena_fini(&c->arena);
}

/* What a key of the group asks for. */
static const char *condition(const struct row *row) {
    return row->group == BRANCH   ? "with --branch-stack"
           : row->group == MEM    ? "with --mem-mode"
           : row->group == LATENT ? "after record --latency"
                                  : NULL;
}

bool profile_column_listed(size_t i, struct profile_column_entry *out) {
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        /* of two rows with one name, -s has the key */
        if (row->group == LATER || find_row(row->name, strlen(row->name), true) != row || i--)
            continue;
        *out = (struct profile_column_entry){row->name, row->title + strspn(row->title, " "), condition(row)};
        return true;
    }
    return false;
}

const char *profile_column_key(enum profile_column_id id) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return rows[i].name;
    return id == PROFILE_IPC ? "ipc_null"
                             : "field"; /* what perf calls it where nothing counts instructions */
}
