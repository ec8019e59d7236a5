/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a sample with what is known of them. Functions are not named yet: "[unknown]", as perf prints
 * for what it cannot resolve. */
#include <string.h>

#include "base/digits.h"
#include "view/script_internal.h"

#define UNKNOWN "[unknown]"

/* Fields that need the image of an address. */
#define IMAGE_FIELDS (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE))

/* " (name)" of an image, made at its first use. */
static const char *image_tail(struct script_print *p, uint32_t image) {
    while (p->tails.count <= image)
        if (!vec_push(&p->tails))
            return "";
    const char *tail = p->tails.items[image];
    if (tail)
        return tail;
    const char *name = model_image_dso(p->model, model_image(p->model, image));
    size_t len = strlen(name);
    char *made = arena_alloc(&p->arena, len + 4);
    if (!made)
        return "";
    memcpy(made, " (", 2);
    memcpy(made + 2, name, len);
    memcpy(made + 2 + len, ")", 2);
    p->tails.items[image] = made;
    return made;
}

static bool find(struct script_print *p, const struct script_sample *x, unsigned cpumode, uint64_t address,
                 struct model_hit *hit) {
    if (model_find(p->model, cpumode, x->s->pid, x->when, address, hit))
        return true;
    return cpumode == PERFDATA_MISC_USER && (x->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL &&
           model_find_before_exec(p->model, cpumode, x->s->pid, x->when, address, hit);
}

/* As find, where nothing says which space the address is in: first the sample's, then the others. */
static bool find_anywhere(struct script_print *p, const struct script_sample *x, uint64_t address,
                          struct model_hit *hit) {
    unsigned cpumode = x->misc & PERFDATA_MISC_CPUMODE_MASK;
    return find(p, x, cpumode, address, hit) || find(p, x, PERFDATA_MISC_USER, address, hit) ||
           find(p, x, PERFDATA_MISC_KERNEL, address, hit);
}

/* The offset that perf shows for an address in its image: memory without a file and the kernel have none but
 * the address itself. */
static uint64_t shown_offset(struct script_print *p, const struct model_hit *hit, uint64_t address) {
    switch (model_image(p->model, hit->image)->kind) {
    case MODEL_IMAGE_ANON:
    case MODEL_IMAGE_HEAP:
    case MODEL_IMAGE_STACK:
    case MODEL_IMAGE_KERNEL:
        return address;
    default:
        return hit->offset;
    }
}

/* " (dso)" or " (dso+0xoff)"; hit->image may be MODEL_NONE. */
static void print_image(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                        uint64_t address) {
    if (hit->image == MODEL_NONE) {
        out_str(p->out, " (" UNKNOWN ")");
    } else if (fields & SCRIPT_BIT(DSOFF)) {
        out_str(p->out, " (");
        out_str(p->out, model_image(p->model, hit->image)->name); /* a module with its path, as in perf */
        out_str(p->out, "+0x");
        out_hex(p->out, shown_offset(p, hit, address), 0);
        out_char(p->out, ')');
    } else {
        out_str(p->out, image_tail(p, hit->image));
    }
}

/* Everything that follows an address, as far as the fields ask. */
static void print_names(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                        uint64_t address) {
    if (fields & SCRIPT_BIT(SYM))
        out_str(p->out, " " UNKNOWN);
    if (fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)))
        print_image(p, fields, hit, address);
    if (fields & SCRIPT_BIT(SRCLINE) && hit->image != MODEL_NONE) {
        out_str(p->out, "\n  ");
        out_str(p->out, model_image(p->model, hit->image)->short_name);
        out_char(p->out, '[');
        out_hex(p->out, shown_offset(p, hit, address), 0);
        out_char(p->out, ']');
    }
}

static void print_address(struct script_print *p, uint64_t address) {
    char *at = out_room(p->out, 16);
    digits_hex16(at, address);
    p->out->len += 16;
}

/* ---- callchains ---- */

/* A run through a callchain. */
struct walk {
    uint64_t fields;
    const struct script_sample *x;
    unsigned left; /* addresses that may still be printed */
    unsigned cpumode;
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

static void print_frame(struct script_print *p, const struct walk *w, uint64_t ip) {
    struct out *o = p->out;
    char *at = out_room(o, 32), *start = at;
    *at++ = '\t';
    at = digits_hex16(at, ip);
    if (w->fields & IMAGE_FIELDS) {
        o->len += (size_t)(at - start);
        struct model_hit hit;
        find(p, w->x, w->cpumode, ip, &hit);
        print_names(p, w->fields, &hit, ip);
        out_char(o, '\n');
        return;
    }
    if (w->fields & SCRIPT_BIT(SYM)) {
        memcpy(at, " " UNKNOWN, 10);
        at += 10;
    }
    *at++ = '\n';
    o->len += (size_t)(at - start);
}

static void print_cookie(struct script_print *p, const struct walk *w, uint64_t cookie) {
    out_char(p->out, '\t');
    print_address(p, cookie);
    out_str(p->out, " (cookie)");
    if (w->fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)))
        out_str(p->out, " (" UNKNOWN ")");
    out_char(p->out, '\n');
}

static void print_chain(struct script_print *p, struct walk *w, const struct perfdata_u64s *chain,
                        bool nested) {
    if (chain_corrupt(chain, w->left))
        return;
    for (uint64_t i = 0; i < chain->count && w->left; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (__builtin_expect(ip < PERFDATA_CONTEXT_MAX, 1)) {
            print_frame(p, w, ip);
            w->left--;
            continue;
        }
        w->cpumode = perfdata_context_cpumode(ip);
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        /* The marker's one entry is no address but the cookie of the chain that came later. */
        uint64_t cookie = perfdata_u64_at(chain, ++i);
        struct perfdata_u64s later = {0};
        if (p->deferred && !p->options.all_cookies)
            later = p->deferred(p->deferred_ctx, cookie, w->x->s->tid, w->x->when.order);
        if (later.count)
            print_chain(p, w, &later, true);
        else
            print_cookie(p, w, cookie);
    }
}

void script_place_chain(struct script_print *p, uint64_t fields, const struct script_sample *x,
                        struct perfdata_u64s chain) {
    struct walk w = {fields, x, p->options.max_stack, PERFDATA_MISC_USER};
    print_chain(p, &w, &chain, true);
}

/* ---- the places of a sample ---- */

static void print_single(struct script_print *p, uint64_t fields, const struct model_hit *hit,
                         uint64_t address) {
    print_address(p, address);
    print_names(p, fields, hit, address);
}

void script_place_sample(struct script_print *p, const struct script_plan *plan,
                         const struct script_sample *x) {
    if (plan->chain) {
        out_char(p->out, '\n');
        struct walk w = {plan->fields, x, p->options.max_stack, PERFDATA_MISC_USER};
        print_chain(p, &w, &x->s->callchain, false);
    } else if (plan->fields & SCRIPT_BIT(IP)) {
        struct model_hit hit = {MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE};
        if (plan->fields & IMAGE_FIELDS)
            find(p, x, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->ip, &hit);
        out_char(p->out, ' ');
        print_single(p, plan->fields, &hit, x->s->ip);
    }
    if (plan->branch_pair) {
        out_str(p->out, " =>");
        out_char(p->out, ' ');
        struct model_hit hit = {MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE};
        if (plan->fields & IMAGE_FIELDS)
            find_anywhere(p, x, x->s->addr, &hit);
        print_single(p, plan->fields & ~SCRIPT_BIT(SRCLINE), &hit, x->s->addr);
    }
}

/* True when sample.addr is an address of code or data that the event is about: page faults. */
static bool addr_has_names(const struct perfdata_attr *attr) {
    enum { PAGE_FAULTS = 2, PAGE_FAULTS_MIN = 5, PAGE_FAULTS_MAJ = 6 }; /* enum perf_sw_ids */
    return attr->type == PERFDATA_TYPE_SOFTWARE &&
           (attr->config == PAGE_FAULTS || attr->config == PAGE_FAULTS_MIN ||
            attr->config == PAGE_FAULTS_MAJ);
}

void script_place_addr(struct script_print *p, const struct script_plan *plan,
                       const struct script_sample *x) {
    uint64_t fields = plan->fields & ~SCRIPT_BIT(SRCLINE);
    if (!addr_has_names(&p->events->list.items[x->event].attr)) {
        print_address(p, x->s->addr);
        return;
    }
    struct model_hit hit = {MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE};
    if (fields & IMAGE_FIELDS)
        find_anywhere(p, x, x->s->addr, &hit);
    print_single(p, fields, &hit, x->s->addr);
}

/* ---- branch stacks ---- */

static void print_branch_end(struct script_print *p, uint64_t fields, const struct script_sample *x,
                             uint64_t address) {
    struct model_hit hit = {MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE};
    bool wants_image = fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF));
    bool symbols = !(fields & SCRIPT_BIT(BRSTACK)) && fields & SCRIPT_BIT(BRSTACKSYM);
    bool offsets = !(fields & SCRIPT_BIT(BRSTACK)) && !symbols;
    if (wants_image || offsets)
        find_anywhere(p, x, address, &hit);
    if (symbols) {
        out_str(p->out, UNKNOWN);
    } else {
        uint64_t shown = address;
        if (offsets && hit.mapping != MODEL_NONE) {
            const struct model_mapping *map = model_mapping(p->model, hit.mapping);
            bool kernel = model_image(p->model, hit.image)->kind == MODEL_IMAGE_KERNEL;
            shown = address - map->start + (kernel ? 0 : map->pgoff);
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
