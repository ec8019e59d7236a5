/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a sample with what is known of them. */
#include <string.h>

#include "base/digits.h"
#include "view/script_internal.h"

#define UNKNOWN "[unknown]"

static bool is_in_kernel(const struct script_sample *x) {
    return (x->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL;
}

bool script_place_find(struct script_print *p, const struct script_sample *x, unsigned cpumode,
                       uint64_t address, struct model_hit *hit) {
    enum model_space space = model_space_of(cpumode);
    const struct model_state *state = script_names_state(&p->names, space, x->s->pid, x->when);
    return script_names_find(&p->names, state, space, is_in_kernel(x), address, hit);
}

bool script_place_find_frame(struct script_print *p, const struct script_sample *x, unsigned cpumode,
                             uint64_t address, bool *exact, struct model_hit *hit) {
    enum model_space space = model_space_of(cpumode);
    const struct model_state *state = script_names_state(&p->names, space, x->s->pid, x->when);
    bool found = *exact ? script_names_find(&p->names, state, space, is_in_kernel(x), address, hit)
                        : script_names_find_caller(&p->names, state, space, is_in_kernel(x), address, hit);
    *exact = script_names_is_entry(&p->names, hit);
    return found;
}

bool script_print_locate_address(struct script_print *p, const struct script_sample *x, uint64_t address,
                                 struct model_hit *hit) {
    unsigned cpumode = x->misc & PERFDATA_MISC_CPUMODE_MASK;
    return script_place_find(p, x, cpumode, address, hit) ||
           script_place_find(p, x, PERFDATA_MISC_USER, address, hit) ||
           script_place_find(p, x, PERFDATA_MISC_KERNEL, address, hit);
}

/* Everything that follows an address, as far as the fields ask. */
static void print_names(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                        uint64_t address) {
    struct script_text t = script_names_text(&p->names, fields, hit, address);
    script_text_put(p->out, t);
}

/* " (dso)" or " (dso+0xoff)"; hit->image may be MODEL_NONE. */
static void print_image(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                        uint64_t address) {
    print_names(p, fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)), hit, address);
}

static void print_address(struct script_print *p, uint64_t address) {
    char *at = out_room(p->out, 16);
    digits_hex16(at, address);
    p->out->len += 16;
}

/* ---- callchains ---- */

/* A walk through a callchain. */
struct walk {
    uint64_t fields;
    const struct script_sample *x;
    unsigned left; /* addresses that may still be printed */
    unsigned cpumode;
    bool cut; /* the last address of the chain at hand is the outermost one that there was room for */
};

/* True when the part of the chain that will be shown holds an unknown marker: then none of it can be trusted.
 */
static bool chain_corrupt(const struct perfdata_u64s *chain, unsigned left) {
    for (uint64_t i = 0; i < chain->count && left; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (ip < PERFDATA_CONTEXT_MAX)
            left--;
        else if (perfdata_context_cpumode(ip) == PERFDATA_MISC_CPUMODE_UNKNOWN)
            return true;
    }
    return false;
}

/* --stop-bt: the named function is the last one shown. `exact` as in script_place_find_frame. */
static bool stops_chain(struct script_print *p, const struct script_sample *x, unsigned cpumode, uint64_t ip,
                        bool *exact) {
    struct model_hit hit;
    uint64_t offset;
    script_place_find_frame(p, x, cpumode, ip, exact, &hit);
    const char *name = script_names_symbol(&p->names, &hit, &offset);
    for (size_t i = 0; name && i < p->options.stop_count; i++)
        if (!strcmp(name, p->options.stop[i]))
            return true;
    return false;
}

/* All addresses behind one marker: they lie in one address space. Without memory they are left out. */
static void ask_run(struct script_print *p, struct walk *w, const struct perfdata_u64s *chain, uint64_t from,
                    uint64_t to) {
    uint64_t end = to - from < w->left ? to : from + w->left;
    struct script_run run = {.chain = *chain,
                             .from = from,
                             .to = end,
                             .fields = (w->fields & SCRIPT_PLACE_FIELDS) | SCRIPT_NEWLINE,
                             .when = w->x->when,
                             .pid = w->x->s->pid,
                             .cpumode = (uint8_t)w->cpumode,
                             .in_kernel = is_in_kernel(w->x),
                             .cut = w->cut && end == chain->count};
    w->left -= (unsigned)(end - from);
    p->out->failed |= !script_frames_ask(&p->frames, &p->names, &run);
}

static void ask_cookie(struct script_print *p, const struct walk *w, const struct perfdata_u64s *chain,
                       uint64_t at) {
    struct script_run run = {
        .chain = *chain, .from = at, .to = at + 1, .fields = w->fields, .when = w->x->when, .cookie = true};
    p->out->failed |= !script_frames_ask(&p->frames, &p->names, &run);
}

static void ask_chain(struct script_print *p, struct walk *w, const struct perfdata_u64s *chain,
                      bool nested) {
    if (chain_corrupt(chain, w->left))
        return;
    w->cut = w->x->stack_cut || resolve_chain_is_cut(&p->events->list.items[w->x->event].attr, chain);
    for (uint64_t i = 0; i < chain->count && w->left; i++) {
        uint64_t from = i, ip = 0;
        while (i < chain->count && (ip = perfdata_u64_at(chain, i)) < PERFDATA_CONTEXT_MAX)
            i++;
        if (i > from)
            ask_run(p, w, chain, from, i);
        if (i == chain->count || !w->left)
            break;
        w->cpumode = perfdata_context_cpumode(ip);
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        /* The marker's one entry is no address but the cookie of the chain that came later. */
        uint64_t cookie = perfdata_u64_at(chain, ++i);
        struct perfdata_u64s later = {0};
        if (p->deferred && !p->options.all_cookies)
            later = p->deferred(p->deferred_ctx, cookie, w->x->s->tid, w->x->when.order);
        if (later.count)
            ask_chain(p, w, &later, true);
        else
            ask_cookie(p, w, chain, i);
    }
}

void script_place_ask(struct script_print *p, uint64_t fields, const struct script_sample *x) {
    struct walk w = {fields, x, p->options.max_stack, PERFDATA_MISC_USER, false};
    ask_chain(p, &w, &x->s->callchain, false);
}

static void print_cookie(struct script_print *p, const struct script_run *run) {
    out_char(p->out, '\t');
    print_address(p, perfdata_u64_at(&run->chain, run->from));
    out_str(p->out, " (cookie)");
    if (run->fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)))
        out_str(p->out, " (" UNKNOWN ")");
    out_char(p->out, '\n');
}

/* False: nothing more of the chain is to be shown. */
static bool print_run(struct script_print *p, const struct script_sample *x, const struct script_run *run,
                      const struct script_ask *ask) {
    bool exact = true;
    for (uint64_t i = run->from; i < run->to; i++, ask++) {
        uint64_t ip = perfdata_u64_at(&run->chain, i);
        char *at = out_room(p->out, 17);
        *at = '\t';
        digits_hex16(at + 1, ip);
        p->out->len += 17;
        script_frames_put(&p->names, ask, script_run_fields(run, i), ip, p->out);
        if (__builtin_expect(p->options.stop_count, 0) && stops_chain(p, x, run->cpumode, ip, &exact))
            return false;
    }
    return true;
}

/* What was asked for, from those runs and frames on. */
static void print_runs(struct script_print *p, const struct script_sample *x, struct script_asked from,
                       size_t run_end) {
    size_t frame = from.frame;
    bool more = true;
    for (size_t r = from.run; more && r < run_end; r++) {
        const struct script_run *run = &p->frames.runs.items[r];
        if (run->cookie) {
            print_cookie(p, run);
        } else {
            more = print_run(p, x, run, &p->frames.asks.items[frame]);
            frame += (size_t)(run->to - run->from);
        }
    }
}

void script_place_chain(struct script_print *p, uint64_t fields, const struct script_sample *x,
                        struct perfdata_u64s chain) {
    struct walk w = {fields, x, p->options.max_stack, PERFDATA_MISC_USER, false};
    script_frames_clear(&p->frames);
    ask_chain(p, &w, &chain, true);
    script_frames_answer(&p->frames, &p->names);
    print_runs(p, x, (struct script_asked){0, 0}, p->frames.runs.count);
    script_frames_clear(&p->frames);
}

/* ---- the places of a sample ---- */

static void print_single(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                         uint64_t address) {
    struct script_text t = script_names_text(&p->names, fields, hit, address);
    print_address(p, address);
    script_text_put(p->out, t);
    p->names.grades[t.grade]++;
}

void script_place_sample(struct script_print *p, const struct script_plan *plan,
                         const struct script_waiting *waiting) {
    const struct script_sample *x = &waiting->x;
    if (plan->chain) {
        out_char(p->out, '\n');
        print_runs(p, x, waiting->asked, waiting->run_end);
    } else if (plan->fields & SCRIPT_BIT(IP)) {
        struct model_hit hit = MODEL_NOTHING;
        if (plan->fields & SCRIPT_PLACE_FIELDS)
            script_place_find(p, x, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->ip, &hit);
        out_char(p->out, ' ');
        print_single(p, plan->fields, &hit, x->s->ip);
    }
    if (plan->branch_pair) {
        out_str(p->out, " =>");
        out_char(p->out, ' ');
        struct model_hit hit = MODEL_NOTHING;
        if (plan->fields & SCRIPT_PLACE_FIELDS)
            script_print_locate_address(p, x, x->s->addr, &hit);
        print_single(p, plan->fields & ~SCRIPT_BIT(SRCLINE), &hit, x->s->addr);
    }
}

bool script_print_addr_named(const struct perfdata_attr *attr) {
    enum { PAGE_FAULTS = 2, PAGE_FAULTS_MIN = 5, PAGE_FAULTS_MAJ = 6 }; /* enum perf_sw_ids */
    return attr->type == PERFDATA_TYPE_SOFTWARE &&
           (attr->config == PAGE_FAULTS || attr->config == PAGE_FAULTS_MIN ||
            attr->config == PAGE_FAULTS_MAJ);
}

void script_place_addr(struct script_print *p, const struct script_plan *plan,
                       const struct script_sample *x) {
    uint64_t fields = plan->fields & ~SCRIPT_BIT(SRCLINE);
    if (!script_print_addr_named(&p->events->list.items[x->event].attr)) {
        print_address(p, x->s->addr);
        return;
    }
    struct model_hit hit = MODEL_NOTHING;
    if (fields & SCRIPT_PLACE_FIELDS)
        script_print_locate_address(p, x, x->s->addr, &hit);
    print_single(p, fields, &hit, x->s->addr);
}

/* ---- branch stacks ---- */

static void print_branch_end(struct script_print *p, uint64_t fields, const struct script_sample *x,
                             uint64_t address) {
    struct model_hit hit = MODEL_NOTHING;
    bool wants_image = fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF));
    bool symbols = !(fields & SCRIPT_BIT(BRSTACK)) && fields & SCRIPT_BIT(BRSTACKSYM);
    bool offsets = !(fields & SCRIPT_BIT(BRSTACK)) && !symbols;
    if (wants_image || offsets || symbols)
        script_print_locate_address(p, x, address, &hit);
    if (symbols) {
        uint64_t offset = 0;
        const char *name = script_names_symbol(&p->names, &hit, &offset);
        if (!name) {
            script_names_put_nameless(&p->names, &hit, p->out);
        } else {
            out_str(p->out, name);
            out_str(p->out, "+0x");
            out_hex(p->out, offset, 0);
        }
    } else {
        uint64_t shown = address;
        if (offsets && hit.mapping != MODEL_NONE) {
            const struct model_mapping map = model_mapping(p->model, hit.mapping);
            bool kernel = model_image(p->model, hit.image)->kind == MODEL_IMAGE_KERNEL;
            shown = address - map.start + (kernel ? 0 : map.pgoff);
        }
        out_str(p->out, "0x");
        out_hex(p->out, shown, 0);
    }
    if (wants_image)
        print_image(p, fields, &hit, address);
}

void script_place_branches(struct script_print *p, const struct script_plan *plan,
                           const struct script_sample *x) {
    bool symbols = !(plan->fields & SCRIPT_BIT(BRSTACK)) && plan->fields & SCRIPT_BIT(BRSTACKSYM);
    for (uint64_t i = 0; i < x->s->branch_count; i++) {
        struct perfdata_branch b = perfdata_branch_at(x->s, i);
        if (!symbols)
            out_char(p->out, ' ');
        print_branch_end(p, plan->fields, x, b.from);
        out_char(p->out, '/');
        print_branch_end(p, plan->fields, x, b.to);
        script_value_branch(p->out, &b);
    }
}
