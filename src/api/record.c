/* SPDX-License-Identifier: Apache-2.0 */
#include "api/session.h"

#include "resolve/callers.h"

unsigned sonde_record_type(const struct sonde_record *r) {
    return r->raw.raw.type;
}

unsigned sonde_record_misc(const struct sonde_record *r) {
    return r->raw.raw.misc;
}

const void *sonde_record_bytes(const struct sonde_record *r, size_t *size) {
    *size = r->raw.raw.body.size;
    return r->raw.raw.body.data;
}

uint64_t sonde_record_time(const struct sonde_record *r) {
    return r->when.time_ns;
}

const char *sonde_record_event(const struct sonde_record *r) {
    const struct perfdata_events *events = stream_events(r->session->stream);
    return r->raw.event < events->list.count ? events->list.items[r->raw.event].name : NULL;
}

int sonde_record_get(const struct sonde_record *r, enum sonde_field field, uint64_t *value) {
    const struct perfdata_sample *s = &r->sample;
    const struct {
        uint64_t bit, value;
    } rows[] = {
        [SONDE_IP] = {PERFDATA_SAMPLE_IP, s->ip},
        [SONDE_PID] = {PERFDATA_SAMPLE_TID, s->pid},
        [SONDE_TID] = {PERFDATA_SAMPLE_TID, s->tid},
        [SONDE_TIME] = {PERFDATA_SAMPLE_TIME, s->time},
        [SONDE_ADDR] = {PERFDATA_SAMPLE_ADDR, s->addr},
        [SONDE_ID] = {PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_IDENTIFIER,
                      s->have & PERFDATA_SAMPLE_ID ? s->id : s->identifier},
        [SONDE_STREAM_ID] = {PERFDATA_SAMPLE_STREAM_ID, s->stream_id},
        [SONDE_CPU] = {PERFDATA_SAMPLE_CPU, s->cpu},
        [SONDE_PERIOD] = {PERFDATA_SAMPLE_PERIOD, s->period},
        [SONDE_WEIGHT] = {PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT, s->weight},
        [SONDE_DATA_SRC] = {PERFDATA_SAMPLE_DATA_SRC, s->data_src},
        [SONDE_TRANSACTION] = {PERFDATA_SAMPLE_TRANSACTION, s->transaction},
        [SONDE_PHYS_ADDR] = {PERFDATA_SAMPLE_PHYS_ADDR, s->phys_addr},
        [SONDE_CGROUP] = {PERFDATA_SAMPLE_CGROUP, s->cgroup},
        [SONDE_DATA_PAGE_SIZE] = {PERFDATA_SAMPLE_DATA_PAGE_SIZE, s->data_page_size},
        [SONDE_CODE_PAGE_SIZE] = {PERFDATA_SAMPLE_CODE_PAGE_SIZE, s->code_page_size},
    };
    bool there = (unsigned)field < sizeof rows / sizeof *rows && s->have & rows[field].bit;
    *value = there ? rows[field].value : 0;
    return there;
}

const char *sonde_record_comm(const struct sonde_record *r) {
    if (!(r->sample.have & PERFDATA_SAMPLE_TID))
        return NULL;
    return model_comm(r->session->model, r->sample.pid, r->sample.tid, r->when, NULL);
}

const void *sonde_record_raw(const struct sonde_record *r, size_t *size) {
    bool there = r->sample.have & PERFDATA_SAMPLE_RAW;
    *size = there ? r->sample.raw.size : 0;
    return there ? r->sample.raw.data : NULL;
}

/* --- Frames -------------------------------------------------------------------------------------------- */

static void locate(const struct sonde_session *s, unsigned cpumode, uint32_t pid, struct model_when when,
                   bool chain, uint64_t address, struct model_hit *hit) {
    if (!model_find(s->model, cpumode, pid, when, address, hit) && chain && cpumode == PERFDATA_MISC_USER)
        model_find_before_exec(s->model, cpumode, pid, when, address, hit);
}

/* What the addresses of a chain's context have in common. */
struct context {
    unsigned cpumode;
    bool before_exec;
    bool first; /* the next address is the innermost */
};

/* False: memory. */
static struct sonde_frame *add_frame(struct sonde_record *r, const struct context *c, uint64_t address) {
    struct sonde_frame *f = vec_push(&r->frames);
    if (!f)
        return NULL;
    f->session = r->session;
    f->address = address;
    locate(r->session, c->cpumode, r->sample.pid, r->when, c->before_exec, address, &f->hit);
    return f;
}

static bool add_chain_frame(struct sonde_record *r, struct context *c, uint64_t address) {
    struct sonde_frame *f = add_frame(r, c, address);
    if (f && !c->first) {
        struct model_hit prior;
        locate(r->session, c->cpumode, r->sample.pid, r->when, c->before_exec, address - 1, &prior);
        resolve_callers_join(r->session->model, &f->hit, &prior);
        f->inner = true;
    }
    c->first = false;
    return f;
}

/* A chain is addresses, and markers that say what those behind them are; a chain that the kernel recorded
 * later is where its cookie is. False: memory, or it refers to too many of those. */
static bool add_chain(struct sonde_record *r, const struct perfdata_u64s *chain, bool nested) {
    const struct sonde_session *s = r->session;
    unsigned misc = r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    struct context c = {PERFDATA_MISC_USER, misc == PERFDATA_MISC_KERNEL, true};
    unsigned deferred = 0;
    for (uint64_t i = 0; i < chain->count; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (ip < PERFDATA_CONTEXT_MAX) {
            if (!add_chain_frame(r, &c, ip))
                return false;
            continue;
        }
        c.cpumode = perfdata_context_cpumode(ip);
        c.first = true;
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        if (deferred++ == RESOLVE_DEFERRED_MOST)
            return false;
        struct perfdata_u64s later =
            resolve_deferred_find(&s->deferred, s->stream, stream_events(s->stream),
                                  perfdata_u64_at(chain, ++i), r->sample.tid, r->raw.loc);
        if (!add_chain(r, &later, true))
            return false;
    }
    return true;
}

/* The callchain, with what the dump of the stack tells; *cut: it ends before the stack does. */
static struct perfdata_u64s chain_of(struct sonde_record *r, bool *cut) {
    enum { FRAMES = 127 }; /* as many as the kernel records by default */
    struct sonde_session *s = r->session;
    struct perfdata_u64s chain = r->sample.callchain;
    if (resolve_unwind_has(&r->sample) && !s->unwind)
        s->unwind = resolve_unwind_new(s->names, stream_header(s->stream), NULL);
    if (!resolve_unwind_has(&r->sample) || !s->unwind) {
        *cut = resolve_chain_is_cut(&stream_events(s->stream)->list.items[r->raw.event].attr, &chain);
        return chain;
    }
    chain = resolve_unwind_chain(s->unwind, &r->sample, r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK, r->when,
                                 FRAMES);
    *cut = resolve_unwind_was_cut(s->unwind);
    return chain;
}

static void find_frames(struct sonde_record *r) {
    const struct perfdata_sample *s = &r->sample;
    bool cut = false;
    vec_clear(&r->frames);
    r->framed = true;
    if (s->have & PERFDATA_SAMPLE_CALLCHAIN) {
        struct perfdata_u64s chain = chain_of(r, &cut);
        if (!add_chain(r, &chain, false))
            vec_clear(&r->frames); /* rather none than some */
        if (cut && r->frames.count)
            r->frames.items[r->frames.count - 1].cut = true;
    }
    struct context c = {r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK, false, true};
    if (!r->frames.count && s->have & PERFDATA_SAMPLE_IP)
        add_frame(r, &c, s->ip);
}

/* A record is const to callers; that its frames are found at the first question is no change that they see.
 */
static struct sonde_record *own(const struct sonde_record *r) {
    return &r->session->record;
}

size_t sonde_record_frames(const struct sonde_record *r) {
    if (!r->framed)
        find_frames(own(r));
    return r->frames.count;
}

const struct sonde_frame *sonde_record_frame(const struct sonde_record *r, size_t index) {
    return index < sonde_record_frames(r) ? &r->frames.items[index] : NULL;
}

const struct sonde_frame *sonde_resolve(struct sonde_session *s, uint32_t pid, uint64_t time_ns,
                                        int in_kernel, uint64_t address) {
    s->resolved = (struct sonde_frame){.session = s, .address = address};
    locate(s, in_kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, pid,
           (struct model_when){time_ns, UINT64_MAX}, false, address, &s->resolved.hit);
    return &s->resolved;
}

uint64_t sonde_frame_address(const struct sonde_frame *f) {
    return f->address;
}

static void look_up(struct sonde_frame *f) {
    struct resolve_names *names = f->session->names;
    if (f->hit.back) {
        struct resolve_symbol in = f[-1].symbol;
        const struct symbol_table *t = resolve_names_table(names, in.image);
        const char *callee = in.index == SYMBOL_NONE ? NULL : symbol_table_name(t, in.index);
        f->hit.back = !resolve_callers_is_entry(callee, f->hit.space);
    }
    f->symbol = resolve_names_find_caller(names, &f->hit);
    f->asked = true;
}

/* Fills in `symbol` and hit.back, which depend on the frames inside of it. */
static void settle(const struct sonde_frame *f) {
    struct sonde_frame *from = (struct sonde_frame *)f; /* as in own() */
    while (!from->asked && from->inner)
        from--;
    for (; from <= f; from++)
        if (!from->asked)
            look_up(from);
}

static struct resolve_symbol symbol_of(const struct sonde_frame *f) {
    settle(f);
    return f->symbol;
}

const char *sonde_frame_symbol(const struct sonde_frame *f) {
    struct resolve_symbol s = symbol_of(f);
    return s.index == SYMBOL_NONE ? NULL : resolve_names_text(f->session->names, s);
}

uint64_t sonde_frame_symbol_offset(const struct sonde_frame *f) {
    struct resolve_symbol s = symbol_of(f);
    if (s.index == SYMBOL_NONE)
        return 0;
    return f->hit.offset - symbol_table_start(resolve_names_table(f->session->names, s.image), s.index);
}

const char *sonde_frame_image(const struct sonde_frame *f) {
    const struct model *m = f->session->model;
    return f->hit.image == MODEL_NONE ? NULL : model_image_dso(m, model_image(m, f->hit.image));
}

uint64_t sonde_frame_image_offset(const struct sonde_frame *f) {
    return f->hit.image == MODEL_NONE ? 0 : f->hit.offset;
}

const void *sonde_frame_build_id(const struct sonde_frame *f, size_t *size) {
    const struct model *m = f->session->model;
    struct bytes id = {NULL, 0};
    if (f->hit.image != MODEL_NONE)
        id = model_image_build_id(m, model_image(m, f->hit.image), NULL);
    *size = id.size;
    return id.size ? id.data : NULL;
}

/* --- Evidence ------------------------------------------------------------------------------------------ */

_Static_assert((int)SONDE_EXACT == (int)GRADE_EXACT && (int)SONDE_INFERRED == (int)GRADE_INFERRED &&
                   (int)SONDE_STALE == (int)GRADE_STALE && (int)SONDE_UNKNOWN == (int)GRADE_UNKNOWN,
               "the numbers stay");

enum sonde_grade sonde_frame_grade(const struct sonde_frame *f) {
    enum grade grade = resolve_grade(f->session->names, symbol_of(f));
    return (enum sonde_grade)(f->cut ? resolve_grade_doubted(grade) : grade);
}

const char *sonde_grade_name(enum sonde_grade grade) {
    return (unsigned)grade < GRADE_COUNT ? grade_name((enum grade)grade) : NULL;
}

static struct resolve_provenance provenance_of(const struct sonde_frame *f) {
    struct resolve_provenance p = resolve_provenance_of(f->session->names, f->hit.mapping, symbol_of(f));
    if (f->cut)
        resolve_provenance_cut(&p.symbol);
    return p;
}

const char *sonde_frame_why(const struct sonde_frame *f) {
    return provenance_of(f).symbol.why;
}

const char *sonde_frame_identity(const struct sonde_frame *f) {
    return symbol_identity_text(provenance_of(f).symbol.identity);
}

const char *sonde_frame_list(const struct sonde_frame *f) {
    return symbol_list_text(provenance_of(f).symbol.list);
}

const char *sonde_frame_origin(const struct sonde_frame *f) {
    return symbol_origin_text(provenance_of(f).symbol.origin);
}

const char *sonde_frame_evidence_path(const struct sonde_frame *f) {
    return provenance_of(f).symbol.path;
}

int sonde_frame_slide(const struct sonde_frame *f, int64_t *slide) {
    struct symbol_provenance p = provenance_of(f).symbol;
    *slide = p.has_slide ? p.slide : 0;
    return p.has_slide;
}

int sonde_frame_mapping(const struct sonde_frame *f, struct sonde_mapping *mapping) {
    const struct model *m = f->session->model;
    struct sonde_mapping found = {.size = mapping->size};
    if (f->hit.mapping != MODEL_NONE) {
        const struct model_mapping map = model_mapping(m, f->hit.mapping);
        bool announced = map.image != MODEL_NONE && model_image(m, map.image)->kind == MODEL_IMAGE_CODE;
        found.start = map.start;
        found.last = map.last;
        found.offset = map.pgoff;
        found.record = announced ? UINT64_MAX : map.order;
    }
    memcpy(mapping, &found, mapping->size < sizeof found ? mapping->size : sizeof found);
    if (mapping->size > sizeof found) /* of a later version: nothing is known of its new fields */
        memset((char *)mapping + sizeof found, 0, mapping->size - sizeof found);
    return f->hit.mapping != MODEL_NONE;
}

const char *sonde_frame_source(const struct sonde_frame *f, unsigned *line) {
    struct object_line found;
    settle(f);
    bool ok = resolve_lines_find(f->session->lines, f->hit.image, f->hit.offset - f->hit.back, &found);
    if (line)
        *line = found.line;
    return ok ? found.file : NULL;
}
