/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_json.h"

#include "base/text/json.h"

struct printer {
    const struct profile *p;
    const struct profile_event *e;
    const struct report_json_options *o;
    struct profile_graph graph;
    struct out text;
    struct json json;
    struct err *err;
};

static void print_sums(struct json *j, const struct profile_sums *s) {
    json_open(j, NULL, '{');
    json_number(j, "period", s->period);
    json_number(j, "samples", s->samples);
    if (s->latency)
        json_number(j, "latency", s->latency / PROFILE_LATENCY_UNIT);
    if (s->weight1 || s->weight2 || s->weight3) {
        json_open(j, "weights", '[');
        json_number(j, NULL, s->weight1);
        json_number(j, NULL, s->weight2);
        json_number(j, NULL, s->weight3);
        json_close(j, ']');
    }
    json_close(j, '}');
}

/* Writes an array of sums, one element for each event of the group; without a group it has one element. */
static void print_all_sums(struct printer *pr, const char *name, const struct profile_entry *entry,
                           const struct profile_through *children) {
    json_open(&pr->json, name, '[');
    for (uint32_t i = 0; i < pr->e->members; i++) {
        struct profile_sums s = entry->self[i];
        if (children) {
            s.period = children[i].period;
            s.samples = children[i].samples;
            s.latency = entry->latency ? entry->latency[i] : 0;
        }
        print_sums(&pr->json, &s);
    }
    json_close(&pr->json, ']');
}

/* ---- call graphs ---- */

struct level {
    const struct profile_node *node;
    uint32_t next;
};

static void print_node(struct printer *pr, const struct profile_node *n) {
    struct json *j = &pr->json;
    json_open(j, NULL, '{');
    json_number(j, "period", n->period + n->below_period);
    json_number(j, "samples", n->samples + n->below_samples);
    json_open(j, "frames", '[');
    for (uint32_t i = 0; i < n->frame_count; i++) {
        pr->text.len = 0;
        profile_frame_text(pr->p, &pr->graph.frames.items[n->frame + i], &pr->text);
        json_bytes(j, NULL, pr->text.buf, pr->text.len);
    }
    json_close(j, ']');
}

/* Writes the call graph, without recursion: a chain may have thousands of frames. */
static bool print_graph(struct printer *pr) {
    struct json *j = &pr->json;
    VEC(struct level) levels = {0};
    struct level *l = vec_push(&levels);
    if (l)
        *l = (struct level){.node = &pr->graph.nodes.items[0]};
    json_open(j, "graph", '[');
    while (l && levels.count && !j->out->failed) {
        l = &levels.items[levels.count - 1];
        if (l->next == l->node->count) {
            json_close(j, ']');
            if (--levels.count)
                json_close(j, '}');
            continue;
        }
        const struct profile_node *n =
            &pr->graph.nodes.items[pr->graph.order.items[l->node->first + l->next++]];
        print_node(pr, n);
        if (!n->count) {
            json_close(j, '}');
            continue;
        }
        json_open(j, "graph", '[');
        l = vec_push(&levels);
        if (l)
            *l = (struct level){.node = n};
    }
    vec_fini(&levels);
    return l || err_memory(pr->err, "report --json");
}

/* ---- rows ---- */

/* Writes a row's keys; in a hierarchy, only those of its own level. */
static void print_keys(struct printer *pr, const struct profile_entry *entry, bool hierarchy) {
    uint32_t depth = 0;
    json_open(&pr->json, "keys", '{');
    for (size_t i = 0; i < pr->o->columns->out.count; i++) {
        const struct profile_column *c = &pr->o->columns->out.items[i];
        if (!profile_column_is_key(c) || (hierarchy && depth++ != entry->depth))
            continue;
        pr->text.len = 0;
        profile_text(pr->p, pr->e, entry, c, &pr->text);
        json_bytes(&pr->json, c->field ? c->field : c->key->name, pr->text.buf, pr->text.len);
    }
    json_close(&pr->json, '}');
}

/* Writes sums that are columns of their own. */
static void print_measures(struct printer *pr, const struct profile_entry *entry) {
    struct json *j = &pr->json;
    bool any = false;
    for (size_t i = 0; i < pr->o->columns->out.count; i++) {
        const struct profile_column *c = &pr->o->columns->out.items[i];
        if (!c->key->add)
            continue;
        if (!any)
            json_open(j, "measures", '{');
        any = true;
        json_open(j, c->key->name, '[');
        for (uint32_t m = 0; m < pr->e->members; m++) {
            json_open(j, NULL, '{');
            json_number(j, "sum", entry->self[m].own[c->sum]);
            if (c->key->per)
                json_number(j, "of", entry->self[m].own[c->per]);
            json_close(j, '}');
        }
        json_close(j, ']');
    }
    if (any)
        json_close(j, '}');
}

static bool print_entry(struct printer *pr, const struct profile_entry *entry, bool hierarchy) {
    json_open(&pr->json, NULL, '{');
    print_all_sums(pr, "self", entry, NULL);
    if (entry->children)
        print_all_sums(pr, "children", entry, entry->children);
    print_measures(pr, entry);
    print_keys(pr, entry, hierarchy);
    if (!pr->o->graphs || !entry->has_graph)
        return true;
    return profile_graph_build(pr->p, pr->e, entry, &pr->graph, pr->err) && print_graph(pr);
}

struct walk {
    uint32_t next, end;
};

static bool print_entries(struct printer *pr) {
    struct json *j = &pr->json;
    VEC(struct walk) levels = {0};
    struct walk *w = vec_push(&levels);
    bool hierarchy = pr->e->root_count != pr->e->entry_count, ok = w || err_memory(pr->err, "report --json");
    if (ok)
        *w = (struct walk){.end = pr->e->root_count};
    json_open(j, "entries", '[');
    while (ok && levels.count && !j->out->failed) {
        w = &levels.items[levels.count - 1];
        if (w->next == w->end) {
            json_close(j, ']');
            if (--levels.count)
                json_close(j, '}');
            continue;
        }
        struct profile_entry entry = profile_entry_at(pr->p, pr->e, w->next++);
        ok = print_entry(pr, &entry, hierarchy);
        if (!entry.count) {
            json_close(j, '}');
            continue;
        }
        json_open(j, "entries", '[');
        w = ok ? vec_push(&levels) : NULL;
        ok = ok && (w || err_memory(pr->err, "report --json"));
        if (ok)
            *w = (struct walk){.next = entry.first, .end = entry.first + entry.count};
    }
    vec_fini(&levels);
    return ok;
}

/* Writes the basic blocks (--total-cycles). */
static bool print_blocks(struct printer *pr) {
    struct profile_blocks blocks;
    struct json *j = &pr->json;
    bool ok = profile_blocks_find(pr->p, pr->e, &blocks, pr->err);
    if (ok) {
        json_number(j, "cycles", blocks.cycles);
        json_open(j, "blocks", '[');
    }
    for (size_t i = 0; ok && i < blocks.list.count; i++) {
        const struct profile_block *b = &blocks.list.items[i];
        json_open(j, NULL, '{');
        json_text(j, "function", profile_block_function(pr->p, b));
        json_text(j, "object", profile_block_object(pr->p, b));
        json_number(j, "start", b->start);
        json_number(j, "end", b->end);
        json_number(j, "cycles", b->cycles);
        json_number(j, "count", b->count);
        json_close(j, '}');
    }
    if (ok)
        json_close(j, ']');
    profile_blocks_fini(&blocks);
    return ok;
}

static bool print_event(struct printer *pr) {
    const struct profile_event *e = pr->e;
    struct json *j = &pr->json;
    json_open(j, NULL, '{');
    json_open(j, "events", '[');
    for (uint32_t i = 0; i < e->members; i++)
        json_text(j, NULL, pr->o->events->list.items[e->event + i].name);
    json_close(j, ']');
    print_all_sums(pr, "totals", &(struct profile_entry){.self = e->member_totals}, NULL);
    json_number(j, "read", e->read);
    json_number(j, "filtered", e->filtered);
    json_number(j, "dropped", e->dropped);
    json_number(j, "lost", e->lost);
    json_open(j, "frames", '{');
    for (unsigned g = 0; g < GRADE_COUNT; g++)
        json_number(j, grade_name((enum grade)g), e->grades[g]);
    json_close(j, '}');
    if (!print_entries(pr) || (pr->o->blocks && !print_blocks(pr)))
        return false;
    json_close(j, '}');
    return true;
}

bool report_json_print(const struct profile *p, const struct report_json_options *o, struct out *out,
                       struct err *err) {
    struct printer pr = {.p = p, .o = o, .json.out = out, .err = err};
    struct json *j = &pr.json;
    bool ok = out_init(&pr.text, NULL, NULL) || err_memory(err, "report --json");
    json_open(j, NULL, '{');
    json_number(j, "version", 1);
    json_open(j, "tables", '[');
    for (uint32_t i = 0; ok && i < profile_event_count(p) && !out->failed; i++) {
        pr.e = profile_event(p, i);
        ok = print_event(&pr);
    }
    if (ok) {
        json_close(j, ']');
        json_close(j, '}');
    }
    profile_graph_fini(&pr.graph);
    out_fini(&pr.text);
    return ok;
}
