/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sched/stats_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { RULE = 100, NAME_WIDTH = 65, NAME_ROOM = 128 };

/* A field: its name, its meaning, and how it is shown. */
struct field {
    const char *name, *meaning;
    int base;   /* CPUs: its percentage is of this field; -1: none */
    bool paced; /* domains: shown with the jiffies from one such event to the next */
};

static const struct field CPU_FIELDS[SCHEDSTAT_CPU_FIELDS] = {
    {"yld_count", "sched_yield() count", -1, false},
    {"array_exp", "Legacy counter can be ignored", -1, false},
    {"sched_count", "schedule() called", -1, false},
    {"sched_goidle", "schedule() left the processor idle", 2, false},
    {"ttwu_count", "try_to_wake_up() was called", -1, false},
    {"ttwu_local", "try_to_wake_up() was called to wake up the local cpu", 4, false},
    {"rq_cpu_time", "total runtime by tasks on this processor (in jiffies)", -1, false},
    {"run_delay", "total waittime by tasks on this processor (in jiffies)", 6, false},
    {"pcount", "total timeslices run on this cpu", -1, false},
};

/* The fields of each kind of load balancing; "%s_lb_" and " on cpu %s" are put around them. Before version 17
 * there was only one imbalance. */
static const struct field KIND_FIELDS[] = {
    {"count", "load_balance() count", -1, true},
    {"balanced", "load_balance() found balanced", -1, true},
    {"failed", "load_balance() move task failed", -1, true},
    {"imbalance", "imbalance sum", -1, false},
    {"gained", "pull_task() count", -1, false},
    {"hot_gained", "pull_task() when target task was cache-hot", -1, false},
    {"nobusyq", "load_balance() failed to find busier queue", -1, true},
    {"nobusyg", "load_balance() failed to find busier group", -1, true},
};
static const struct field IMBALANCES[] = {
    {"imbalance_load", "imbalance in load", -1, false},
    {"imbalance_util", "imbalance in utilization", -1, false},
    {"imbalance_task", "imbalance in number of tasks", -1, false},
    {"imbalance_misfit", "imbalance in misfit tasks", -1, false},
};
enum { IMBALANCE = 3, GAINED_FROM_END = 4 };

static const struct field OTHER_FIELDS[12] = {
    {"alb_count", "active_load_balance() count", -1, false},
    {"alb_failed", "active_load_balance() move task failed", -1, false},
    {"alb_pushed", "active_load_balance() successfully moved a task", -1, false},
    {"sbe_count", "sbe_count is not used", -1, false},
    {"sbe_balanced", "sbe_balanced is not used", -1, false},
    {"sbe_pushed", "sbe_pushed is not used", -1, false},
    {"sbf_count", "sbf_count is not used", -1, false},
    {"sbf_balanced", "sbf_balanced is not used", -1, false},
    {"sbf_pushed", "sbf_pushed is not used", -1, false},
    {"ttwu_wake_remote", "try_to_wake_up() awoke a task that last ran on a diff cpu", -1, false},
    {"ttwu_move_affine", "try_to_wake_up() moved task because cache-cold on own cpu", -1, false},
    {"ttwu_move_balance", "try_to_wake_up() started passive balancing", -1, false},
};

/* The lines that are shown side by side; the second may be NULL. */
struct pair {
    const struct schedstat_line *lines[2];
};

static void rule(struct out *o) {
    out_fill(o, '-', RULE);
    out_char(o, '\n');
}

static void category(struct out *o, const char *name) {
    size_t n = strlen(name) + 2, left = n < RULE ? (RULE - n) / 2 : 0;
    out_fill(o, '-', left);
    out_printf(o, " %s ", name);
    out_fill(o, '-', n < RULE ? RULE - n - left : 0);
    out_char(o, '\n');
}

static double ratio(uint64_t a, uint64_t of) {
    return of ? (double)a / (double)of : 0.0;
}

static void put_name(const struct stats_text *t, const char *name) {
    out_left(t->out, name, strlen(name), NAME_WIDTH);
    out_char(t->out, ':');
}

/* The values, and by how many percent the second differs from the first. */
static void put_values(const struct stats_text *t, const struct pair *p, unsigned field) {
    uint64_t a = p->lines[0]->values[field];
    out_dec(t->out, a, 12);
    if (!p->lines[1])
        return;
    uint64_t b = p->lines[1]->values[field];
    out_printf(t->out, ",%11" PRIu64 "  |%9.2f%% |", b,
               a ? 100.0 * ((double)b - (double)a) / (double)a : 0.0);
}

static void put_cpu(const struct stats_text *t, const struct pair *p) {
    for (unsigned i = 0; i < SCHEDSTAT_CPU_FIELDS; i++) {
        const struct field *f = &CPU_FIELDS[i];
        put_name(t, t->explain ? f->meaning : f->name);
        put_values(t, p, i);
        if (f->base >= 0) {
            double a = 100 * ratio(p->lines[0]->values[i], p->lines[0]->values[f->base]);
            out_printf(t->out, "  (%9.2f%%", a);
            if (p->lines[1])
                out_printf(t->out, ",%10.2f%%",
                           100 * ratio(p->lines[1]->values[i], p->lines[1]->values[f->base]));
            out_str(t->out, " )");
        }
        out_char(t->out, '\n');
    }
    rule(t->out);
}

static void put_pace(const struct stats_text *t, const struct pair *p, unsigned field) {
    out_printf(t->out, "  $%12.2f", ratio(p->lines[0]->timestamp, p->lines[0]->values[field]));
    if (p->lines[1])
        out_printf(t->out, ",%12.2f", ratio(p->lines[1]->timestamp, p->lines[1]->values[field]));
    out_str(t->out, " $");
}

/* Writes how often load balancing moved tasks, and how many it moved on average. */
static void put_derived(const struct stats_text *t, const struct pair *p, unsigned from, unsigned gained,
                        const char *kind, const char *meaning) {
    char name[NAME_ROOM];
    uint64_t success[2] = {0}, pulled[2] = {0};
    for (unsigned i = 0; i < 2 && p->lines[i]; i++) {
        const uint64_t *v = p->lines[i]->values + from;
        uint64_t vain = v[1] + v[2];
        success[i] = v[0] > vain ? v[0] - vain : 0;
        pulled[i] = p->lines[i]->values[gained];
    }
    snprintf(name, sizeof name,
             t->explain ? "*load_balance() success count on cpu %s" : "*%s_lb_success_count",
             t->explain ? meaning : kind);
    put_name(t, name);
    out_dec(t->out, success[0], 12);
    if (p->lines[1])
        out_printf(t->out, ",%11" PRIu64 "  |%9.2f%% |", success[1],
                   success[0] ? 100.0 * ((double)success[1] - (double)success[0]) / (double)success[0] : 0.0);
    out_char(t->out, '\n');
    snprintf(name, sizeof name,
             t->explain ? "*avg task pulled per successful lb attempt (cpu %s)" : "*%s_lb_avg_pulled",
             t->explain ? meaning : kind);
    put_name(t, name);
    double a = ratio(pulled[0], success[0]), b = ratio(pulled[1], success[1]);
    out_printf(t->out, "%12.2f", a);
    if (p->lines[1])
        out_printf(t->out, ",%11.2f  |%9.2f%% |", b, a > 0 ? 100 * (b - a) / a : 0.0);
    out_char(t->out, '\n');
}

static const struct field *kind_field(unsigned version, unsigned i) {
    if (version < 17)
        return &KIND_FIELDS[i];
    if (i < IMBALANCE)
        return &KIND_FIELDS[i];
    return i < IMBALANCE + 4 ? &IMBALANCES[i - IMBALANCE] : &KIND_FIELDS[i - 3];
}

/* From version 16 on busy comes before idle. */
static void put_kind(const struct stats_text *t, const struct pair *p, unsigned which) {
    static const char *const KINDS[2][SCHEDSTAT_KINDS] = {{"idle", "busy", "newidle"},
                                                          {"busy", "idle", "newidle"}};
    static const char *const MEANINGS[2][SCHEDSTAT_KINDS] = {{"idle", "busy", "newly idle"},
                                                             {"busy", "idle", "newly idle"}};
    unsigned version = p->lines[0]->version, n = schedstat_kind_fields(version), from = which * n;
    const char *kind = KINDS[version >= 16][which], *meaning = MEANINGS[version >= 16][which];
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "<Category %s>", kind);
    category(t->out, name);
    for (unsigned i = 0; i < n; i++) {
        const struct field *f = kind_field(version, i);
        if (t->explain)
            snprintf(name, sizeof name, "%s on cpu %s", f->meaning, meaning);
        else
            snprintf(name, sizeof name, "%s_lb_%s", kind, f->name);
        put_name(t, name);
        put_values(t, p, from + i);
        if (f->paced)
            put_pace(t, p, from + i);
        out_char(t->out, '\n');
    }
    put_derived(t, p, from, from + n - GAINED_FROM_END, kind, meaning);
}

static void put_domain(const struct stats_text *t, const struct pair *p) {
    static const char *const HEADS[] = {"<Category active_load_balance()>", "<Category sched_balance_exec()>",
                                        "<Category sched_balance_fork()>", "<Wakeup Info>"};
    unsigned from = SCHEDSTAT_KINDS * schedstat_kind_fields(p->lines[0]->version);
    for (unsigned i = 0; i < SCHEDSTAT_KINDS; i++)
        put_kind(t, p, i);
    for (unsigned i = 0; i < 12; i++) {
        if (i % 3 == 0)
            category(t->out, HEADS[i / 3]);
        put_name(t, t->explain ? OTHER_FIELDS[i].meaning : OTHER_FIELDS[i].name);
        put_values(t, p, from + i);
        out_char(t->out, '\n');
    }
    rule(t->out);
}

/* ---- headings ---- */

static void put_heading(const struct stats_text *t, bool two, bool domain) {
    const char *one = domain ? "COUNT    AVG_JIFFIES" : "COUNT   PCT_CHANGE";
    const char *both = domain ? "COUNT1      COUNT2   PCT_CHANGE     AVG_JIFFIES1 AVG_JIFFIES2"
                              : "COUNT1      COUNT2   PCT_CHANGE    PCT_CHANGE1 PCT_CHANGE2";
    rule(t->out);
    out_left(t->out, "DESC", 4, two ? 72 : 73);
    out_printf(t->out, "%s\n", two ? both : one);
    if (!domain)
        rule(t->out);
}

/* A domain's name or, before version 17, its number. */
static void put_domain_name(struct out *o, const struct schedstat_line *l) {
    if (!l->name.size)
        out_dec(o, l->domain, 0);
    out_plain(o, (const char *)l->name.data, l->name.size);
}

static void put_pair(const struct stats_text *t, const struct pair *p, bool summary) {
    struct out *o = t->out;
    const struct schedstat_line *l = p->lines[0];
    out_str(o, "CPU: ");
    if (summary)
        out_str(o, "<ALL CPUS SUMMARY>");
    else
        out_dec(o, l->cpu, 0);
    if (l->is_domain) {
        char list[SCHEDSTAT_LIST_ROOM];
        out_str(o, " | DOMAIN: ");
        put_domain_name(o, l);
        schedstat_mask_list(l->mask, list);
        if (!summary && l->list.size)
            out_printf(o, " | DOMAIN_CPUS: %.*s", (int)l->list.size, (const char *)l->list.data);
        else if (!summary && *list)
            out_printf(o, " | DOMAIN_CPUS: %s", list);
    }
    out_char(o, '\n');
    put_heading(t, p->lines[1] != NULL, l->is_domain);
    if (l->is_domain)
        put_domain(t, p);
    else
        put_cpu(t, p);
}

/* ---- averages ---- */

/* The average of a set's lines of one domain, or (domain < 0) of its CPUs. False: it has none. */
static bool average(const struct schedstat *s, int64_t domain, struct schedstat_line *out) {
    unsigned __int128 sums[SCHEDSTAT_DOMAIN_FIELDS] = {0}, jiffies = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < s->lines.count; i++) {
        const struct schedstat_line *l = &s->lines.items[i];
        if (l->is_domain ? (int64_t)l->domain != domain : domain >= 0)
            continue;
        if (!count++)
            *out = *l;
        jiffies += l->timestamp;
        for (unsigned k = 0; k < SCHEDSTAT_DOMAIN_FIELDS; k++)
            sums[k] += l->values[k];
    }
    for (unsigned k = 0; count && k < SCHEDSTAT_DOMAIN_FIELDS; k++)
        out->values[k] = (uint64_t)(sums[k] / count);
    if (count)
        out->timestamp = (uint64_t)(jiffies / count);
    return count > 0;
}

static void put_averages(const struct stats_text *t) {
    int64_t most = -1;
    for (size_t i = 0; i < t->sets[0]->lines.count; i++)
        if (t->sets[0]->lines.items[i].is_domain && t->sets[0]->lines.items[i].domain > most)
            most = t->sets[0]->lines.items[i].domain;
    for (int64_t d = -1; d <= most && !t->out->failed; d++) {
        struct schedstat_line lines[2];
        struct pair p = {{&lines[0], &lines[1]}};
        if (!average(t->sets[0], d, &lines[0]))
            continue;
        if (!t->sets[1] || !average(t->sets[1], d, &lines[1]))
            p.lines[1] = NULL;
        put_pair(t, &p, true);
    }
}

void stats_text_write(const struct stats_text *t) {
    static const char *const WORDS[][2] = {
        {"DESC", "Description of the field"},
        {"COUNT", "Value of the field"},
        {"PCT_CHANGE", "Percent change with corresponding base value"},
        {"AVG_JIFFIES", "Avg time in jiffies between two consecutive occurrence of event"}};
    struct out *o = t->out;
    out_str(o, "Description\n");
    rule(o);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        out_printf(o, "%-30s-> %s\n", WORDS[i][0], WORDS[i][1]);
    rule(o);
    out_char(o, '\n');
    put_name(t, "Time elapsed (in jiffies)");
    out_dec(o, t->sets[0]->lines.items[0].timestamp, 12);
    if (t->sets[1])
        out_printf(o, ",%11" PRIu64, t->sets[1]->lines.items[0].timestamp);
    out_char(o, '\n');
    rule(o);
    put_averages(t);
    for (size_t i = 0; i < t->sets[0]->lines.count && !t->sets[1] && !o->failed; i++) {
        if (!t->sets[0]->lines.items[i].is_domain)
            rule(o);
        put_pair(t, &(struct pair){{&t->sets[0]->lines.items[i], NULL}}, false);
    }
}
