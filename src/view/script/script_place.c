/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a sample with what is known of them. */
#include <string.h>

#include "base/text/digits.h"
#include "view/script/script_internal.h"

#define UNKNOWN "[unknown]"

static bool is_in_kernel(const struct script_sample *x) {
    return (x->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL;
}

bool script_place_find(struct script_print *p, const struct script_sample *x, unsigned cpumode,
                       uint64_t address, struct model_hit *hit) {
    struct resolve_locator *l = &p->names.locator;
    enum model_space space = model_space_of(cpumode);
    const struct model_state *state = resolve_locator_state(l, space, x->s->pid, x->when);
    return resolve_locate(l, state, space, is_in_kernel(x), address, hit);
}

bool script_print_locate_address(struct script_print *p, const struct script_sample *x, uint64_t address,
                                 struct model_hit *hit) {
    return resolve_locate_anywhere(&p->names.locator, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->pid,
                                   x->when, address, hit);
}

/* Prints everything that follows an address, as the fields say. */
static void print_names(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                        uint64_t address) {
    struct script_text t = script_names_text(&p->names, fields, hit, address);
    script_text_put(p->out, t);
}

/* Prints " (dso)" or " (dso+0xoff)"; hit->image may be MODEL_NONE. */
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

/* True of the last function to show (--stop-bt). */
static bool stops_chain(struct script_print *p, const struct script_ask *ask) {
    uint64_t offset;
    const char *name = script_names_symbol(&p->names, &ask->hit, &offset);
    for (size_t i = 0; name && i < p->options.stop_count; i++)
        if (!strcmp(name, p->options.stop[i]))
            return true;
    return false;
}

/* Looks up the chain's frames. If memory runs out, the rest of it is not printed. */
static void ask_segments(struct script_print *p, uint64_t fields, const struct script_sample *x) {
    for (size_t i = 0; i < p->samples.chain.segments.count; i++) {
        struct script_run run = {.segment = p->samples.chain.segments.items[i],
                                 .fields = (fields & SCRIPT_PLACE_FIELDS) | SCRIPT_NEWLINE,
                                 .when = x->when,
                                 .pid = x->s->pid,
                                 .in_kernel = is_in_kernel(x),
                                 .wants_place = p->options.stop_count};
        p->out->failed |= !script_frames_ask(&p->frames, &p->names, &run);
    }
}

void script_place_ask(struct script_print *p, uint64_t fields, const struct script_sample *x) {
    const struct perfdata_attr *attr = &p->events->list.items[x->event].attr;
    if (resolve_chain_read(&p->samples.chain, x->s, attr, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->when))
        ask_segments(p, fields, x);
    else
        p->out->failed = true;
}

static void print_cookie(struct script_print *p, const struct script_run *run) {
    out_char(p->out, '\t');
    print_address(p, resolve_segment_at(&run->segment, 0));
    out_str(p->out, " (cookie)");
    if (run->fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)))
        out_str(p->out, " (" UNKNOWN ")");
    out_char(p->out, '\n');
}

/* Prints a run. False: nothing more of the chain is to be shown. */
static bool print_run(struct script_print *p, const struct script_run *run, const struct script_ask *ask) {
    for (uint64_t i = 0; i < run->segment.count; i++, ask++) {
        uint64_t ip = resolve_segment_at(&run->segment, i);
        char *at = out_room(p->out, 17);
        *at = '\t';
        digits_hex16(at + 1, ip);
        p->out->len += 17;
        script_frames_put(&p->names, ask, script_run_fields(run, i), ip, p->out);
        if (__builtin_expect(p->options.stop_count, 0) && stops_chain(p, ask))
            return false;
    }
    return true;
}

/* Prints the frames that were looked up, from `from` on. */
static void print_runs(struct script_print *p, struct script_asked from, size_t run_end) {
    size_t frame = from.frame;
    bool more = true;
    for (size_t r = from.run; more && r < run_end; r++) {
        const struct script_run *run = &p->frames.runs.items[r];
        if (script_run_is_cookie(run)) {
            print_cookie(p, run);
        } else {
            more = print_run(p, run, &p->frames.asks.items[frame]);
            frame += (size_t)run->segment.count;
        }
    }
}

void script_place_chain(struct script_print *p, uint64_t fields, const struct script_sample *x,
                        struct perfdata_u64s chain) {
    script_frames_clear(&p->frames);
    if (resolve_chain_read_words(&p->samples.chain, &chain))
        ask_segments(p, fields, x);
    else
        p->out->failed = true;
    script_frames_answer(&p->frames, &p->names);
    print_runs(p, (struct script_asked){0, 0}, p->frames.runs.count);
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
        print_runs(p, waiting->asked, waiting->run_end);
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
