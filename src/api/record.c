/* SPDX-License-Identifier: Apache-2.0 */
#include "api/session.h"

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

static void locate(struct sonde_frame *f, unsigned cpumode, uint32_t pid, struct model_when when,
                   bool chain) {
    const struct model *m = f->session->model;
    if (!model_find(m, cpumode, pid, when, f->address, &f->hit) && chain && cpumode == PERFDATA_MISC_USER)
        model_find_before_exec(m, cpumode, pid, when, f->address, &f->hit);
}

/* False: memory. */
static bool add_frame(struct sonde_record *r, unsigned cpumode, uint64_t address, bool chain) {
    struct sonde_frame *f = vec_push(&r->frames);
    if (!f)
        return false;
    f->session = r->session;
    f->address = address;
    locate(f, cpumode, r->sample.pid, r->when, chain);
    return true;
}

/* A chain is addresses, and markers that say what those behind them are; a chain that the kernel recorded
 * later is where its cookie is. */
static bool add_chain(struct sonde_record *r, const struct perfdata_u64s *chain, bool nested) {
    const struct sonde_session *s = r->session;
    unsigned misc = r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK, cpumode = PERFDATA_MISC_USER;
    for (uint64_t i = 0; i < chain->count; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (ip < PERFDATA_CONTEXT_MAX) {
            if (!add_frame(r, cpumode, ip, misc == PERFDATA_MISC_KERNEL))
                return false;
            continue;
        }
        cpumode = perfdata_context_cpumode(ip);
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count)
            continue;
        struct perfdata_u64s later =
            resolve_deferred_find(&s->deferred, s->stream, stream_events(s->stream),
                                  perfdata_u64_at(chain, ++i), r->sample.tid, r->raw.loc);
        if (!add_chain(r, &later, true))
            return false;
    }
    return true;
}

static void find_frames(struct sonde_record *r) {
    const struct perfdata_sample *s = &r->sample;
    vec_clear(&r->frames);
    r->framed = true;
    if (s->have & PERFDATA_SAMPLE_CALLCHAIN && !add_chain(r, &s->callchain, false))
        vec_clear(&r->frames); /* rather none than some */
    if (!r->frames.count && s->have & PERFDATA_SAMPLE_IP)
        add_frame(r, r->raw.raw.misc & PERFDATA_MISC_CPUMODE_MASK, s->ip, false);
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
    locate(&s->resolved, in_kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, pid,
           (struct model_when){time_ns, UINT64_MAX}, false);
    return &s->resolved;
}

uint64_t sonde_frame_address(const struct sonde_frame *f) {
    return f->address;
}

static struct resolve_symbol symbol_of(const struct sonde_frame *f) {
    struct sonde_frame *mine = (struct sonde_frame *)f; /* as in own() */
    if (!f->asked) {
        mine->symbol = f->hit.image == MODEL_NONE
                           ? (struct resolve_symbol){MODEL_NONE, SYMBOL_NONE}
                           : resolve_names_find(f->session->names, f->hit.image, f->hit.offset);
        mine->asked = true;
    }
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
        id = model_image_build_id(m, model_image(m, f->hit.image));
    *size = id.size;
    return id.size ? id.data : NULL;
}

const char *sonde_frame_source(const struct sonde_frame *f, unsigned *line) {
    struct object_line found;
    bool ok = resolve_lines_find(f->session->lines, f->hit.image, f->hit.offset, &found);
    if (line)
        *line = found.line;
    return ok ? found.file : NULL;
}
