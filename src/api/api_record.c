/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api_session.h"

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
    const struct perfdata_events *events = r->session->recording.events;
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

/* Casts away const: a record's frames are found when they are first asked for, and named later, which callers
 * do not notice. */
static struct sonde_record *own(const struct sonde_record *r) {
    return &r->session->record;
}

static void list_frames(struct sonde_record *r) {
    const struct resolve_samples *samples = &r->session->samples;
    for (size_t i = 0; vec_reserve(&r->frames, samples->frames.count) && i < samples->frames.count; i++)
        if (samples->frames.items[i].kind != RESOLVE_AT_NOTHING)
            r->frames.items[r->frames.count++] = (struct sonde_frame){r->session, (uint32_t)i};
}

/* Finds the record's frames; without memory there are none. */
static void find_frames(struct sonde_record *r) {
    struct resolve_samples *samples = &r->session->samples;
    const struct perfdata_events *events = r->session->recording.events;
    vec_clear(&r->frames);
    r->framed = true;
    if (r->raw.event >= events->list.count)
        return;
    const struct resolve_sample_at at = {&r->sample, &events->list.items[r->raw.event].attr,
                                         r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK, r->when};
    if (!resolve_sample_read(samples, &at))
        return;
    list_frames(r);
    r->chained = r->frames.count;
    if (!r->chained && resolve_sample_read_all(samples, &at))
        list_frames(r);
}

size_t sonde_record_frames(const struct sonde_record *r) {
    if (!r->framed)
        find_frames(own(r));
    return r->frames.count;
}

enum sonde_chain sonde_record_chain(const struct sonde_record *r) {
    if (!(r->sample.have & PERFDATA_SAMPLE_CALLCHAIN))
        return SONDE_CHAIN_NONE;
    sonde_record_frames(r);
    return r->chained ? SONDE_CHAIN_READ : SONDE_CHAIN_EMPTY;
}

const struct sonde_frame *sonde_record_frame(const struct sonde_record *r, size_t index) {
    return index < sonde_record_frames(r) ? &r->frames.items[index] : NULL;
}

const struct sonde_frame *sonde_resolve(struct sonde_session *s, uint32_t pid, uint64_t time_ns,
                                        int in_kernel, uint64_t address) {
    s->single.session = s;
    bool found =
        resolve_sample_read_address(&s->resolved, in_kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, pid,
                                    (struct model_when){time_ns, UINT64_MAX}, address);
    return found ? &s->single : NULL;
}

/* Returns the frames that this one belongs to. */
static struct resolve_samples *samples_of(const struct sonde_frame *f) {
    return f == &f->session->single ? &f->session->resolved : &f->session->samples;
}

static struct resolve_sample_frame *frame_of(const struct sonde_frame *f) {
    return &samples_of(f)->frames.items[f->index];
}

/* Returns the frame with its place settled: looking up the symbol may change it. */
static const struct resolve_sample_frame *settled(const struct sonde_frame *f) {
    resolve_sample_symbol(samples_of(f), frame_of(f));
    return frame_of(f);
}

uint64_t sonde_frame_address(const struct sonde_frame *f) {
    return frame_of(f)->address;
}

const char *sonde_frame_symbol(const struct sonde_frame *f) {
    return resolve_sample_name(samples_of(f), frame_of(f), NULL);
}

uint64_t sonde_frame_symbol_offset(const struct sonde_frame *f) {
    uint64_t offset = 0;
    resolve_sample_name(samples_of(f), frame_of(f), &offset);
    return offset;
}

static const struct model_image *image_of(const struct sonde_frame *f) {
    uint32_t image = settled(f)->hit.image;
    return image == MODEL_NONE ? NULL : model_image(f->session->model, image);
}

const char *sonde_frame_image(const struct sonde_frame *f) {
    const struct model_image *image = image_of(f);
    return image ? model_image_dso(f->session->model, image) : NULL;
}

uint64_t sonde_frame_image_offset(const struct sonde_frame *f) {
    return image_of(f) ? settled(f)->hit.offset : 0;
}

const void *sonde_frame_build_id(const struct sonde_frame *f, size_t *size) {
    const struct model_image *image = image_of(f);
    struct bytes id = {NULL, 0};
    if (image)
        id = model_image_build_id(f->session->model, image, NULL);
    *size = id.size;
    return id.size ? id.data : NULL;
}

/* --- Evidence ------------------------------------------------------------------------------------------ */

_Static_assert((int)SONDE_EXACT == (int)GRADE_EXACT && (int)SONDE_INFERRED == (int)GRADE_INFERRED &&
                   (int)SONDE_STALE == (int)GRADE_STALE && (int)SONDE_UNKNOWN == (int)GRADE_UNKNOWN,
               "the numbers stay");

enum sonde_grade sonde_frame_grade(const struct sonde_frame *f) {
    return (enum sonde_grade)resolve_sample_grade(samples_of(f), frame_of(f));
}

const char *sonde_grade_name(enum sonde_grade grade) {
    return (unsigned)grade < GRADE_COUNT ? grade_name((enum grade)grade) : NULL;
}

static struct resolve_provenance provenance_of(const struct sonde_frame *f) {
    return resolve_sample_evidence(samples_of(f), frame_of(f));
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
    const uint32_t id = settled(f)->hit.mapping;
    if (id != MODEL_NONE) {
        const struct model_mapping map = model_mapping(m, id);
        bool announced = map.image != MODEL_NONE && model_image(m, map.image)->kind == MODEL_IMAGE_CODE;
        found.start = map.start;
        found.last = map.last;
        found.offset = map.pgoff;
        found.record = announced ? UINT64_MAX : map.order;
    }
    memcpy(mapping, &found, mapping->size < sizeof found ? mapping->size : sizeof found);
    if (mapping->size > sizeof found) /* the caller's version is newer: its new fields are set to 0 */
        memset((char *)mapping + sizeof found, 0, mapping->size - sizeof found);
    return id != MODEL_NONE;
}

const char *sonde_frame_source(const struct sonde_frame *f, unsigned *line) {
    struct object_line found = {0};
    bool ok = resolve_sample_line(samples_of(f), frame_of(f), &found);
    if (line)
        *line = found.line;
    return ok ? found.file : NULL;
}

enum { INLINES_MAX = 64 };

/* Finds the functions at a frame; 0: none is known. Without any inlined ones nothing is set. */
static size_t functions_at(const struct sonde_frame *f, struct object_inline *out) {
    if (settled(f)->symbol.index == SYMBOL_NONE)
        return 0;
    size_t n = resolve_sample_inlined(samples_of(f), frame_of(f), out, INLINES_MAX);
    return n > 1 ? n : 1;
}

size_t sonde_frame_functions(const struct sonde_frame *f) {
    struct object_inline found[INLINES_MAX];
    return functions_at(f, found);
}

const char *sonde_frame_function(const struct sonde_frame *f, size_t index, const char **file,
                                 unsigned *line) {
    struct object_inline found[INLINES_MAX];
    struct object_line where = {0};
    size_t n = functions_at(f, found);
    bool own = index + 1 == n;
    if (n > 1 && index < n)
        where = found[index].line;
    else if (own)
        where.file = sonde_frame_source(f, &where.line);
    if (file)
        *file = where.file;
    if (line)
        *line = where.file ? where.line : 0;
    return own ? sonde_frame_symbol(f) : index < n ? found[index].name : NULL;
}
