/* SPDX-License-Identifier: Apache-2.0 */
/* Names and titles are those of perf-report(1) and of perf's output; when a key is allowed was observed. */
#include "profile/columns/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "profile/profile_internal.h"

/* In the order in which perf looks up abbreviated names: measures first for -F, last for -s. */
static const struct profile_key_list *const lists[] = {&profile_measures, &profile_sample_keys,
                                                       &profile_branch_keys, &profile_memory_keys,
                                                       &profile_evidence_keys};

const struct profile_key *profile_key_at(size_t i) {
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        if (i < lists[k]->count)
            return &lists[k]->keys[i];
        i -= lists[k]->count;
    }
    return NULL;
}

/* Returns the i-th of a key's names; NULL after the last. */
static const char *name_at(const struct profile_key *key, size_t i) {
    for (size_t k = 0; i && key->aliases && k < i; k++)
        if (!key->aliases[k])
            return NULL;
    return !i ? key->name : key->aliases ? key->aliases[i - 1] : NULL;
}

static const struct profile_key *find_among(const char *name, size_t len, bool measures) {
    const struct profile_key *key;
    const char *whole;
    for (size_t i = 0; len && (key = profile_key_at(i)); i++)
        for (size_t k = 0; (key->kind == PROFILE_MEASURE) == measures && (whole = name_at(key, k)); k++)
            if (!strncasecmp(whole, name, len))
                return key;
    return NULL;
}

/* Finds a key by an abbreviated name: as in perf the first one that begins so. */
static const struct profile_key *find_key(const char *name, size_t len, bool sort) {
    const struct profile_key *key = find_among(name, len, !sort);
    return key ? key : find_among(name, len, sort);
}

const struct profile_key *profile_key_known(enum profile_column_id id) {
    const struct profile_key *key;
    for (size_t i = 0; (key = profile_key_at(i)) && key->id != id;)
        i++;
    return key;
}

struct maker {
    const struct profile_column_options *o;
    const struct perfdata_events *events;
    struct profile_columns *columns;
    struct err *err;
    bool joins; /* profile_column.joined of the next field */
};

static bool is_same(const struct profile_column *a, const struct profile_column *b) {
    const struct profile_key *x = a->key, *y = b->key;
    if (a->field || b->field)
        return a->field && b->field && a->number == b->number;
    return x == y || (x->same_as && !strcmp(x->same_as, y->name)) ||
           (y->same_as && !strcmp(y->same_as, x->name));
}

static const struct profile_column *find(const struct profile_column *list, size_t count,
                                         const struct profile_column *column) {
    for (size_t i = 0; i < count; i++)
        if (is_same(&list[i], column))
            return &list[i];
    return NULL;
}

/* Gives the column a number of its own, or the one that it has in the other list. */
static bool set_number(struct maker *m, struct profile_column *column) {
    struct profile_columns *c = m->columns;
    const struct profile_column *known = find(c->out.items, c->out.count, column);
    known = known ? known : find(c->order.items, c->order.count, column);
    if (column->field || known) {
        if (known) {
            column->number = known->number;
            column->sum = known->sum;
            column->per = known->per;
        }
        return true;
    }
    if (c->count == PROFILE_COLUMNS_MAX)
        return err_set(m->err, ERR_USAGE, NULL, "more than %d columns", PROFILE_COLUMNS_MAX);
    const uint32_t sums = (column->key->add != NULL) + (column->key->per != NULL);
    if (c->sums + sums > PROFILE_OWN_SUMS)
        return err_set(m->err, ERR_USAGE, NULL,
                       "`%s' is more than can be summed up at once: ask for fewer columns",
                       column->key->name);
    column->sum = (uint8_t)c->sums;
    column->per = (uint8_t)(c->sums + 1);
    c->sums += sums;
    column->number = c->count++;
    return true;
}

/* Adds a column to m->columns->out or ->order, unless it is there. */
static bool add(struct maker *m, profile_column_list *list, struct profile_column column) {
    if (find(list->items, list->count, &column))
        return true;
    bool ok = set_number(m, &column);
    struct profile_column *slot = ok ? vec_push(list) : NULL;
    if (!slot)
        return ok && err_memory(m->err, "columns");
    *slot = column;
    return true;
}

/* Whether -F names all columns; else it is absent or adds to the usual ones. */
static bool names_all(const struct profile_column_options *o) {
    return o->fields && o->fields[0] != '+';
}

static struct profile_column column_of(const struct maker *m, const struct profile_key *key) {
    bool self = key->id == PROFILE_OVERHEAD && m->o->children && !names_all(m->o);
    return (struct profile_column){
        .key = key, .title = self ? "Self" : key->title, .event = PERFDATA_NO_EVENT, .shown = true};
}

static struct profile_column known_column(const struct maker *m, enum profile_column_id id) {
    return column_of(m, profile_key_known(id));
}

/* ---- fields of tracepoints ---- */

/* Returns the event that a word means: "%2" is the second; with a colon it is the whole name; else a part
 * that only one name has. PERFDATA_NO_EVENT: none, or several. */
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
    if (m->columns->fields == PROFILE_FIELDS_MAX)
        return err_set(m->err, ERR_USAGE, NULL, "more than %d fields of tracepoints", PROFILE_FIELDS_MAX);
    const char *text = arena_strndup(&m->columns->arena, f->name, f->len);
    if (!text)
        return err_memory(m->err, "columns");
    uint32_t width = f->width > f->len ? f->width : (uint32_t)f->len;
    if (m->columns->count == PROFILE_COLUMNS_MAX)
        return err_set(m->err, ERR_USAGE, NULL, "more than %d columns", PROFILE_COLUMNS_MAX);
    m->columns->fields++;
    return take(m, (struct profile_column){.key = &profile_field_key,
                                           .number = m->columns->count++,
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

/* Makes the columns of "[event.]field[/raw]", or "trace_fields": one for each event that has the field.
 * *found: how many. */
static bool make_fields(struct maker *m, const char *word, size_t len, take_fn *take, uint32_t *found) {
    const char *dot = memchr(word, '.', len), *name = dot ? dot + 1 : word;
    size_t n = (size_t)(word + len - name);
    bool raw = n > 4 && !memcmp(name + n - 4, "/raw", 4),
         all = len == 12 && !memcmp(word, "trace_fields", 12);
    n -= raw ? 4 : 0;
    uint32_t first = 0, end = (uint32_t)m->events->list.count;
    *found = all; /* trace_fields without any field is no mistake */
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

/* Fails with perf's words and, if there is one, the key that was most likely meant. */
static bool unknown_key(struct maker *m, const char *option, const char *name, size_t len) {
    char word[32];
    struct profile_key_entry entry;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    struct nearest near = nearest_start(word);
    for (size_t i = 0; len < sizeof word && profile_key_listed(i, &entry); i++)
        nearest_try(&near, entry.name);
    if (near.best)
        return err_set(m->err, ERR_USAGE, NULL, "Unknown --%s key: `%.*s', did you mean `%s'?", option,
                       (int)len, name, near.best);
    return err_set(m->err, ERR_USAGE, NULL, "Unknown --%s key: `%.*s'", option, (int)len, name);
}

/* Gives a key of -s the title that it has in recordings of the processor `arch` (as uname -m; NULL: x86).
 * False: there is no such key there. */
static bool set_arch_title(const char *arch, struct profile_column *column) {
    bool power = arch && (!strncmp(arch, "ppc", 3) || !strncmp(arch, "powerpc", 7)),
         x86 = !arch || !strncmp(arch, "x86", 3) ||
               (strlen(arch) == 4 && arch[0] == 'i' && !strcmp(arch + 2, "86"));
    const char *title = power ? column->key->arch.power : x86 ? column->key->arch.x86 : NULL;
    column->title = title ? title : column->title;
    return power || x86 || !column->key->arch.nowhere_else;
}

/* Makes a column of a word of -s or -F. */
static bool make_column(struct maker *m, const char *option, const char *name, size_t len,
                        struct profile_column *out) {
    const struct profile_key *key = find_key(name, len, !strcmp(option, "sort"));
    if (!key)
        return unknown_key(m, option, name, len);
    const bool has[] = {[PROFILE_NEEDS_NOTHING] = true,
                        [PROFILE_NEEDS_BRANCHES] = m->o->branch,
                        [PROFILE_NEEDS_MEMORY] = m->o->mem,
                        [PROFILE_NEEDS_HISTORY] = m->o->history,
                        [PROFILE_NEEDS_SWITCHES] = true};
    if (!has[key->need])
        return err_set(m->err, ERR_USAGE, NULL, "Invalid --%s key: `%.*s'", option, (int)len, name);
    if (key->need == PROFILE_NEEDS_SWITCHES && !m->o->latent)
        return err_set(m->err, ERR_ABSENT, NULL,
                       "Use of latency profile or parallelism requires --latency flag during record.");
    if (key->later)
        return err_set(m->err, ERR_UNSUPPORTED, NULL, "the --%s key `%s' is not there yet: %s", option,
                       key->name, key->later);
    *out = column_of(m, key);
    return true;
}

static bool each(struct maker *m, const char *option, const char *text, take_fn *take) {
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ", ");
        struct profile_column column;
        uint32_t fields = 0;
        if (len && !strcmp(option, "sort") && !find_key(at, len, true) &&
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

/* Adds a measure or key of -s, which is shown and sorts at its place there. */
static bool take_sort(struct maker *m, struct profile_column column) {
    bool cancelled = column.key->id == PROFILE_OVERHEAD_CHILDREN && m->o->callerless && !names_all(m->o);
    return cancelled || add(m, &m->columns->order, column);
}

static bool take_field(struct maker *m, struct profile_column column) {
    return add(m, &m->columns->out, column);
}

/* Whether -s names a share: perf adds it unless the text has the word, even as a part of overhead_us. */
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
        if (list[i].wanted && !add(m, &m->columns->out, known_column(m, list[i].id)))
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

/* Makes the order of importance: first the shares, unless -s or -F names any, then what the user gave with
 * -s. The rest of what is shown is added later. */
static bool make_order(struct maker *m, const char *sort) {
    const struct profile_column_options *o = m->o;
    bool named = false;
    struct profile_columns given = {0};
    struct maker probe = {o, m->events, &given, m->err};
    bool ok = each(&probe, "sort", sort, take_sort);
    for (size_t i = 0; i < given.order.count; i++)
        named |= (given.order.items[i].key->layout & PROFILE_SHARE) != 0;
    profile_columns_fini(&given);
    if (!ok)
        return false;
    for (size_t i = 0; !named && !speaks_of_overhead(o) && !names_all(o) && i < m->columns->out.count; i++)
        if (m->columns->out.items[i].key->layout & PROFILE_SHARE)
            ok = ok && add(m, &m->columns->order, m->columns->out.items[i]);
    return ok && each(m, "sort", sort, take_sort);
}

/* Joins two texts. NULL: out of memory. */
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
    /* Whatever sorts is shown, and whatever is shown sorts, after what the user named. */
    for (size_t i = 0; i < out->order.count; i++)
        if (!add(&m, &out->out, out->order.items[i]))
            return false;
    /* perf looks for the word in the text, not for the key: -s sym has no such column. */
    bool ipc = o->sort && strstr(o->sort, "symbol");
    struct profile_column per_cycle = known_column(&m, PROFILE_IPC),
                          parent = known_column(&m, PROFILE_PARENT);
    if (ipc && (!add(&m, &out->out, per_cycle) || !add(&m, &out->order, per_cycle)))
        return false;
    if (o->parent && (!add(&m, &out->out, parent) || !add(&m, &out->order, parent)))
        return false;
    out->sort = join(&m, sort, ipc ? ",ipc_null" : "");
    if (out->sort && o->parent)
        out->sort = join(&m, out->sort, ",parent");
    if (!out->sort)
        return false;
    for (size_t i = 0; i < out->out.count; i++)
        if (!add(&m, &out->order, out->out.items[i]))
            return false;
    return true;
}

void profile_columns_fini(struct profile_columns *c) {
    vec_fini(&c->out);
    vec_fini(&c->order);
    arena_fini(&c->arena);
}

const struct profile_column *profile_columns_find(const struct profile_columns *c,
                                                  enum profile_column_id id) {
    for (size_t i = 0; i < c->order.count; i++)
        if (c->order.items[i].key->id == id)
            return &c->order.items[i];
    return NULL;
}

const char *profile_key_condition(const struct profile_key *key) {
    static const char *const conditions[] = {[PROFILE_NEEDS_BRANCHES] = "with --branch-stack",
                                             [PROFILE_NEEDS_MEMORY] = "with --mem-mode",
                                             [PROFILE_NEEDS_HISTORY] = "with --branch-history",
                                             [PROFILE_NEEDS_SWITCHES] = "after record --latency"};
    return conditions[key->need];
}

bool profile_key_listed(size_t i, struct profile_key_entry *out) {
    const struct profile_key *key;
    const char *name;
    for (size_t k = 0; (key = profile_key_at(k)); k++)
        for (size_t n = 0; !key->later && (name = name_at(key, n)); n++) {
            /* of two keys with one name, that of -s is listed */
            if (find_key(name, strlen(name), true) != key || i--)
                continue;
            *out = (struct profile_key_entry){name, key};
            return true;
        }
    return false;
}
