/* SPDX-License-Identifier: Apache-2.0 */
/* recording_first_pass: reads a recording once, for everything but its samples. */
#include <stdatomic.h>
#include <time.h>

#include "os/files/files.h"
#include "recording/kernel/late_modules.h"
#include "recording/kernel/module_ends.h"
#include "recording/recording.h"

/* ---- one record ---- */

static bool take_in(struct recording *r, struct model *m, const struct stream_record *raw,
                    struct perfdata_record *rec, struct err *err) {
    if (!kmod_sections_see(&r->kmod, rec))
        return err_memory(err, "modules");
    resolve_recorded_see(&r->recorded, rec);
    if (r->jit && !resolve_jit_note_record(r->jit, rec, recording_when(r, raw)))
        return err_memory(err, "jitdumps");
    if (!model_wants(m, raw->raw.type))
        return true;
    return model_apply(m, rec, recording_when(r, raw), err);
}

bool recording_apply(struct recording *r, struct model *m, const struct stream_record *raw, struct err *err) {
    struct perfdata_record rec;
    /* Decodes even what nobody wants, so that damage is always counted. */
    return raw->legacy || !recording_decode(r, raw, &rec) || take_in(r, m, raw, &rec, err);
}

/* As recording_apply, for the first pass: also keeps callchains that come after their samples. */
static bool take_first(struct recording *r, struct model *m, const struct stream_record *raw,
                       struct err *err) {
    struct perfdata_record rec;
    if (!recording_decode(r, raw, &rec))
        return true;
    if (rec.type == PERFDATA_RECORD_CALLCHAIN_DEFERRED &&
        !resolve_deferred_note(&r->deferred, rec.callchain_deferred.cookie, raw->loc))
        return err_memory(err, "deferred callchains");
    return take_in(r, m, raw, &rec, err);
}

/* ---- all of them ---- */

static void end_modules(const struct recording *r, struct model *m) {
    const struct module_ends from = {r->recorded.module_lines, r->kallsyms, r->symfs, r->recorded.release};
    module_ends_find(&from, m);
}

/* Reads the next record that matters, skipping most samples, whose times are added to *times. */
static enum stream_status next_of_first_pass(struct recording *r, struct recording_span *times,
                                             struct stream_record *rec, struct err *err) {
    struct stream_passed passed = {times->first_ns, times->last_ns};
    resolve_returns_pass(&r->recorded.returns,
                         stream_pass_samples(r->stream, resolve_returns_left(&r->recorded.returns), &passed));
    *times = (struct recording_span){passed.first_ns, passed.last_ns};
    return stream_next(r->stream, rec, err);
}

struct first_pass {
    struct recording *r;
    struct model *m;
    struct recording_span *span; /* to be filled in; NULL: not wanted */
    recording_seen_fn *seen;
    void *ctx;
    atomic_uint_fast64_t at; /* loc of the latest record that is no sample */
    atomic_bool over;
};

static bool read_records(struct first_pass *x, struct err *err) {
    struct recording *r = x->r;
    struct stream_record rec;
    struct recording_span times = {UINT64_MAX, 0};
    enum stream_status status;
    while ((status = next_of_first_pass(r, &times, &rec, err)) == STREAM_RECORD) {
        if (rec.raw.type == PERFDATA_RECORD_SAMPLE) {
            if (rec.has_time) {
                times.first_ns = rec.time_ns < times.first_ns ? rec.time_ns : times.first_ns;
                times.last_ns = rec.time_ns > times.last_ns ? rec.time_ns : times.last_ns;
            }
            resolve_returns_note(&r->recorded.returns, rec.loc);
            continue;
        }
        atomic_store_explicit(&x->at, rec.loc, memory_order_relaxed);
        if (rec.legacy)
            continue;
        if ((x->seen && !x->seen(x->ctx, &rec, err)) || !take_first(r, x->m, &rec, err))
            return false;
    }
    if (x->span)
        *x->span = times;
    if (times.first_ns <= times.last_ns)
        r->recorded.span = (struct symbol_span){times.first_ns, times.last_ns};
    return status == STREAM_END;
}

/* Has the recording's pages brought into memory, a limited distance ahead of the reader. */
static void read_ahead(struct first_pass *x) {
    enum { STEP = 4 << 20, AHEAD = 16 << 20, NAP_NS = 200 * 1000 };
    for (uint64_t at = 0; !atomic_load(&x->over);) {
        uint64_t reader = atomic_load_explicit(&x->at, memory_order_relaxed);
        at = at > reader ? at : reader; /* pages before the reader may be gone again */
        if (at > reader + AHEAD)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        else if (stream_expect(x->r->stream, at, at + STEP))
            at += STEP;
        else
            return;
    }
}

/* Job 0 reads the records; job 1 reads ahead, on a second thread. Without one it runs after job 0 and ends at
 * once. */
static bool pass_job(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct first_pass *x = ctx;
    (void)thread;
    if (job) {
        read_ahead(x);
        return true;
    }
    bool ok = read_records(x, err);
    atomic_store(&x->over, true);
    return ok;
}

/* Feeds the code that JITs announced to the model. What cannot be found stays without names. */
static bool feed_jit(struct recording *r, struct model *m, struct err *err) {
    if (!r->jit)
        return true;
    resolve_jit_use_clock(r->jit, r->events);
    resolve_jit_use_pairs(r->jit, stream_part(r->stream, true, PERFDATA_PART_CLOCK),
                          stream_part(r->stream, false, PERFDATA_PART_CLOCK), r->events->swap);
    return resolve_jit_feed(r->jit, m, err);
}

/* Model sizes from which freed memory is worth giving back: after freezing, and before it, when the tables
 * have left old copies while they grew. */
enum { LARGE_MODEL = 32 << 20, LARGE_PASS = 128 << 20 };

static void give_back(const struct recording *r, const struct model *m, size_t from_bytes) {
    if (r->owner.give_back && model_memory_bytes(m) >= from_bytes)
        r->owner.give_back();
}

bool recording_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                          recording_seen_fn *seen, void *ctx, struct err *err) {
    struct first_pass x = {.r = r, .m = m, .span = span, .seen = seen, .ctx = ctx};
    if (!pool_run(r->pool, r->pool ? 2 : 1, pass_job, &x, err) || !recording_name_events(r, err) ||
        !resolve_recorded_apply(&r->recorded, m, err) || !kmod_sections_finish(&r->kmod, m, err) ||
        !late_modules_map(&r->recorded, &os_files_real, r->kallsyms, m, err))
        return false;
    if (!r->recorded.module_lines[0].size)
        r->recorded.module_lines[0] = writer_bytes(&r->kmod.lines);
    end_modules(r, m);
    if (!feed_jit(r, m, err))
        return false;
    give_back(r, m, LARGE_PASS);
    if (!model_freeze(m, err))
        return false;
    give_back(r, m, LARGE_MODEL);
    resolve_deferred_sort(&r->deferred);
    stream_rewind(r->stream);
    return true;
}
