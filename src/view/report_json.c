/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report_json.h"

#include <inttypes.h>

struct printer {
    const struct profile *p;
    const struct profile_event *e;
    const struct report_json_options *o;
    struct profile_graph graph;
    struct out text;
    struct out *out;
    struct err *err;
};

static void print_string(struct out *out, const char *s) {
    out_char(out, '"');
    out_json(out, s, strlen(s));
    out_char(out, '"');
}

static void print_member(struct out *out, const char *name, uint64_t value) {
    out_printf(out, ",\"%s\":%" PRIu64, name, value);
}

static void print_sums(struct out *out, const struct profile_sums *s) {
    out_printf(out, "{\"period\":%" PRIu64 ",\"samples\":%" PRIu64, s->period, s->samples);
    if (s->latency)
        print_member(out, "latency", s->latency / PROFILE_LATENCY_UNIT);
    if (s->weight1 || s->weight2 || s->weight3)
        out_printf(out, ",\"weights\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", s->weight1, s->weight2,
                   s->weight3);
    out_char(out, '}');
}

/* An array with one member for each event of a group, or the only one. */
static void print_all_sums(const struct printer *pr, const char *name, const struct profile_entry *entry,
                           const struct profile_through *children) {
    out_printf(pr->out, "\"%s\":[", name);
    for (uint32_t i = 0; i < pr->e->members; i++) {
        struct profile_sums s = entry->self[i];
        if (children) {
            s.period = children[i].period;
            s.samples = children[i].samples;
            s.latency = entry->latency ? entry->latency[i] : 0;
        }
        out_str(pr->out, i ? "," : "");
        print_sums(pr->out, &s);
    }
    out_char(pr->out, ']');
}

/* ---- call graphs ---- */

struct level {
    const struct profile_node *node;
    uint32_t next;
};

static void print_node(struct printer *pr, const struct profile_node *n) {
    out_printf(pr->out, "{\"period\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"frames\":[",
               n->period + n->below_period, n->samples + n->below_samples);
    for (uint32_t i = 0; i < n->frame_count; i++) {
        pr->text.len = 0;
        profile_frame_text(pr->p, &pr->graph.frames.items[n->frame + i], &pr->text);
        out_str(pr->out, i ? ",\"" : "\"");
        out_json(pr->out, pr->text.buf, pr->text.len);
        out_char(pr->out, '"');
    }
    out_char(pr->out, ']');
}

/* Without recursion: a chain may have thousands of frames. */
static bool print_graph(struct printer *pr) {
    VEC(struct level) levels = {0};
    struct level *l = vec_push(&levels);
    if (l)
        *l = (struct level){.node = &pr->graph.nodes.items[0]};
    out_str(pr->out, ",\"graph\":[");
    while (l && levels.count && !pr->out->failed) {
        l = &levels.items[levels.count - 1];
        if (l->next == l->node->count) {
            out_str(pr->out, --levels.count ? "]}" : "]");
            continue;
        }
        const struct profile_node *n =
            &pr->graph.nodes.items[pr->graph.order.items[l->node->first + l->next]];
        out_str(pr->out, l->next++ ? "," : "");
        print_node(pr, n);
        if (!n->count) {
            out_char(pr->out, '}');
            continue;
        }
        out_str(pr->out, ",\"graph\":[");
        l = vec_push(&levels);
        if (l)
            *l = (struct level){.node = n};
    }
    vec_fini(&levels);
    return l || err_memory(pr->err, "report --json");
}

/* ---- entries ---- */

/* Of a hierarchy, an entry has the key of its own level only. */
static void print_keys(struct printer *pr, const struct profile_entry *entry, bool hierarchy) {
    uint32_t depth = 0;
    bool first = true;
    out_str(pr->out, ",\"keys\":{");
    for (size_t i = 0; i < pr->o->columns->out.count; i++) {
        const struct profile_column *c = &pr->o->columns->out.items[i];
        if (!profile_column_is_key(c) || (hierarchy && depth++ != entry->depth))
            continue;
        pr->text.len = 0;
        profile_text(pr->p, pr->e, entry, c, &pr->text);
        out_str(pr->out, first ? "" : ",");
        print_string(pr->out, c->field ? c->field : c->key->name);
        out_str(pr->out, ":\"");
        out_json(pr->out, pr->text.buf, pr->text.len);
        out_char(pr->out, '"');
        first = false;
    }
    out_char(pr->out, '}');
}

/* Sums that columns have for themselves. */
static void print_measures(struct printer *pr, const struct profile_entry *entry) {
    bool first = true;
    for (size_t i = 0; i < pr->o->columns->out.count; i++) {
        const struct profile_column *c = &pr->o->columns->out.items[i];
        if (!c->key->add)
            continue;
        out_printf(pr->out, first ? ",\"measures\":{\"%s\":[" : ",\"%s\":[", c->key->name);
        first = false;
        for (uint32_t m = 0; m < pr->e->members; m++) {
            out_printf(pr->out, "%s{\"sum\":%" PRIu64, m ? "," : "", entry->self[m].own[c->sum]);
            if (c->key->per)
                print_member(pr->out, "of", entry->self[m].own[c->per]);
            out_char(pr->out, '}');
        }
        out_char(pr->out, ']');
    }
    out_str(pr->out, first ? "" : "}");
}

static bool print_entry(struct printer *pr, const struct profile_entry *entry, bool hierarchy) {
    out_char(pr->out, '{');
    print_all_sums(pr, "self", entry, NULL);
    if (entry->children) {
        out_char(pr->out, ',');
        print_all_sums(pr, "children", entry, entry->children);
    }
    print_measures(pr, entry);
    print_keys(pr, entry, hierarchy);
    if (!pr->o->graphs || !entry->has_graph)
        return true;
    return profile_graph_build(pr->p, pr->e, entry, &pr->graph, pr->err) && print_graph(pr);
}

struct walk {
    uint32_t next, end;
    bool any;
};

static bool print_entries(struct printer *pr) {
    VEC(struct walk) levels = {0};
    struct walk *w = vec_push(&levels);
    bool hierarchy = pr->e->root_count != pr->e->entry_count, ok = w || err_memory(pr->err, "report --json");
    if (ok)
        *w = (struct walk){.end = pr->e->root_count};
    out_str(pr->out, ",\"entries\":[");
    while (ok && levels.count && !pr->out->failed) {
        w = &levels.items[levels.count - 1];
        if (w->next == w->end) {
            out_str(pr->out, --levels.count ? "]}" : "]");
            continue;
        }
        struct profile_entry entry = profile_entry_at(pr->p, pr->e, w->next++);
        out_str(pr->out, w->any ? "," : "");
        w->any = true;
        ok = print_entry(pr, &entry, hierarchy);
        if (!entry.count) {
            out_char(pr->out, '}');
            continue;
        }
        out_str(pr->out, ",\"entries\":[");
        w = ok ? vec_push(&levels) : NULL;
        ok = ok && (w || err_memory(pr->err, "report --json"));
        if (ok)
            *w = (struct walk){.next = entry.first, .end = entry.first + entry.count};
    }
    vec_fini(&levels);
    return ok;
}

/* Of --total-cycles. */
static bool print_blocks(struct printer *pr) {
    struct profile_blocks blocks;
    bool ok = profile_blocks_find(pr->p, pr->e, &blocks, pr->err);
    if (ok)
        out_printf(pr->out, ",\"cycles\":%" PRIu64 ",\"blocks\":[", blocks.cycles);
    for (size_t i = 0; ok && i < blocks.list.count; i++) {
        const struct profile_block *b = &blocks.list.items[i];
        out_str(pr->out, i ? ",{\"function\":" : "{\"function\":");
        print_string(pr->out, profile_block_function(pr->p, b));
        out_str(pr->out, ",\"object\":");
        print_string(pr->out, profile_block_object(pr->p, b));
        print_member(pr->out, "start", b->start);
        print_member(pr->out, "end", b->end);
        print_member(pr->out, "cycles", b->cycles);
        print_member(pr->out, "count", b->count);
        out_char(pr->out, '}');
    }
    out_str(pr->out, ok ? "]" : "");
    profile_blocks_fini(&blocks);
    return ok;
}

static bool print_event(struct printer *pr) {
    const struct profile_event *e = pr->e;
    out_str(pr->out, "{\"events\":[");
    for (uint32_t i = 0; i < e->members; i++) {
        out_str(pr->out, i ? "," : "");
        print_string(pr->out, pr->o->events->list.items[e->event + i].name);
    }
    out_str(pr->out, "],");
    print_all_sums(pr, "totals", &(struct profile_entry){.self = e->member_totals}, NULL);
    print_member(pr->out, "read", e->read);
    print_member(pr->out, "filtered", e->filtered);
    print_member(pr->out, "dropped", e->dropped);
    print_member(pr->out, "lost", e->lost);
    out_str(pr->out, ",\"frames\":{");
    for (unsigned g = 0; g < GRADE_COUNT; g++)
        out_printf(pr->out, "%s\"%s\":%" PRIu64, g ? "," : "", grade_name((enum grade)g), e->grades[g]);
    out_char(pr->out, '}');
    if (!print_entries(pr) || (pr->o->blocks && !print_blocks(pr)))
        return false;
    out_char(pr->out, '}');
    return true;
}

bool report_json_print(const struct profile *p, const struct report_json_options *o, struct out *out,
                       struct err *err) {
    struct printer pr = {.p = p, .o = o, .out = out, .err = err};
    bool ok = out_init(&pr.text, NULL, NULL) || err_memory(err, "report --json");
    out_str(out, "{\"version\":1,\"tables\":[");
    for (uint32_t i = 0; ok && i < profile_event_count(p) && !out->failed; i++) {
        pr.e = profile_event(p, i);
        out_str(out, i ? "," : "");
        ok = print_event(&pr);
    }
    out_str(out, "]}\n");
    profile_graph_fini(&pr.graph);
    out_fini(&pr.text);
    return ok;
}
