/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of how good a recording is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/doctor/doctor.h"
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/added/unwound.h"

enum { NAMED_MOST = 4 }; /* files that are named in one finding */
#define WORTH_SAYING 1.0 /* percent */

struct patient {
    struct doctor *d;
    const struct recording *r;
    const struct report_session_parts *parts;
    const struct profile_quality *q;
    const struct doctor_limits *limits;
    uint64_t frames[GRADE_COUNT], all;
};

static double percent(uint64_t part, uint64_t all) {
    return all ? 100.0 * (double)part / (double)all : 0;
}

static double share(const struct patient *p, uint64_t frames) {
    return percent(frames, p->all);
}

static enum doctor_severity by_limit(double value, double limit, enum doctor_severity otherwise) {
    return value > limit ? DOCTOR_PROBLEM : otherwise;
}

static const struct model_image *image_of(const struct patient *p, uint32_t image) {
    return image == MODEL_NONE ? NULL : model_image(p->parts->model, image);
}

/* The store's word on an image; status ABSENT without one. */
static struct symbol_source source_of(const struct patient *p, uint32_t image) {
    uint32_t id = resolve_names_store_id(p->parts->naming->names, image);
    return id == UINT32_MAX ? (struct symbol_source){.status = SYMBOL_ABSENT}
                            : symbol_store_source(p->parts->naming->store, id);
}

static bool is_kernel(const struct model_image *image) {
    return image->space == MODEL_SPACE_KERNEL || image->space == MODEL_SPACE_GUEST_KERNEL;
}

typedef bool among_fn(const struct patient *p, const struct profile_image_grades *g);

/* Of the images with frames of a grade, the one that has the most of them but no more than `below` has, or as
 * many and stands after it (NULL: the first of all). NULL: there is none. */
static const struct profile_image_grades *next_most(const struct patient *p, enum grade grade,
                                                    among_fn *among,
                                                    const struct profile_image_grades *below) {
    const struct profile_image_grades *best = NULL;
    for (size_t i = 0; i < p->q->images.count; i++) {
        const struct profile_image_grades *g = &p->q->images.items[i];
        uint64_t n = g->frames[grade];
        bool behind = !below || n < below->frames[grade] || (n == below->frames[grade] && g > below);
        if (n && behind && image_of(p, g->image) && (!among || among(p, g)) &&
            (!best || n > best->frames[grade]))
            best = g;
    }
    return best;
}

static size_t count_of(const struct patient *p, enum grade grade, among_fn *among) {
    size_t count = 0;
    for (size_t i = 0; i < p->q->images.count; i++) {
        const struct profile_image_grades *g = &p->q->images.items[i];
        count += g->frames[grade] && image_of(p, g->image) && (!among || among(p, g));
    }
    return count;
}

/* The images with the most frames of a grade: "a, b and 3 more". One file may be several images. */
static const char *names_of(const struct patient *p, enum grade grade, among_fn *among) {
    char text[1024] = "";
    const char *names[NAMED_MOST];
    size_t len = 0, named = 0, seen = 0, all = count_of(p, grade, among);
    const struct profile_image_grades *g = NULL;
    while (named < NAMED_MOST && (g = next_most(p, grade, among, g))) {
        const char *name = image_of(p, g->image)->short_name;
        size_t same = 0;
        while (same < named && strcmp(names[same], name) != 0)
            same++;
        if (same == named && len + strlen(name) + 8 > sizeof text)
            break;
        seen++;
        if (same < named)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", named ? ", " : "", name);
        names[named++] = name;
    }
    return all > seen ? doctor_text(p->d, "%s and %zu more", text, all - seen)
                      : doctor_text(p->d, "%s", text);
}

static uint64_t frames_of(const struct patient *p, enum grade grade, among_fn *among) {
    uint64_t sum = 0;
    for (size_t i = 0; i < p->q->images.count; i++)
        if (!among || among(p, &p->q->images.items[i]))
            sum += p->q->images.items[i].frames[grade];
    return sum;
}

/* ---- code made at run time ---- */

/* The dump that the image's code is of; NULL: it is of none. *early: code that was announced later. */
static const struct resolve_jit_dump *dump_of(const struct patient *p, uint32_t image, bool *early) {
    for (size_t i = 0; p->r->jit && i < resolve_jit_count(p->r->jit); i++) {
        const struct resolve_jit_dump *d = resolve_jit_dump(p->r->jit, i);
        *early = d->image_ids[1] == image;
        if (image != MODEL_NONE && (*early || d->image_ids[0] == image))
            return d;
    }
    return NULL;
}

static bool is_counted(const struct resolve_jit_dump *d) {
    return d->code.header.flags & JITDUMP_FLAG_ARCH_TIMESTAMP;
}

static bool is_of_other_clock(const struct patient *p, const struct profile_image_grades *g) {
    bool early;
    const struct resolve_jit_dump *d = dump_of(p, g->image, &early);
    return d && d->doubt && !is_counted(d);
}

static bool is_of_unknown_counter(const struct patient *p, const struct profile_image_grades *g) {
    bool early;
    const struct resolve_jit_dump *d = dump_of(p, g->image, &early);
    return d && d->doubt && is_counted(d);
}

static bool is_early(const struct patient *p, const struct profile_image_grades *g) {
    bool early;
    const struct resolve_jit_dump *d = dump_of(p, g->image, &early);
    return d && !d->doubt && early;
}

static bool is_listed(const struct patient *p, const struct profile_image_grades *g) {
    const struct model_image *image = image_of(p, g->image);
    return image && !is_kernel(image) && !source_of(p, g->image).proved &&
           source_of(p, g->image).origin == SYMBOL_FROM_MAP;
}

static const struct jit_finding {
    among_fn *among;
    const char *id, *advice, *text;
} jit_findings[] = {
    {is_of_other_clock, "jit_clock", "record with `sonde record` into a file, or with -k mono",
     "are in code of jitdumps whose clock is not the recording's: their times were guessed from when the "
     "dump was mapped"},
    {is_of_unknown_counter, "jit_counter",
     "record without -k, with a perf that writes TIME_CONV records; or let the runtime write times of "
     "CLOCK_MONOTONIC",
     "are in code of jitdumps with times of the processor's counter, which the recording does not relate to "
     "its own"},
    {is_listed, "jit_map",
     "let the runtime write a jitdump: node --perf-prof, not --perf-basic-prof; Python 3.13's -X perf_jit; "
     "PHP's opcache.jit_debug=0x20",
     "are named from perf maps, which know no times: what lay there in the end need not be what ran"},
    {is_early, "jit_early", "announce code before it first runs; Java's machine always does it later",
     "are in code that the JIT announced only later, by up to 0.1 s"},
};

static bool is_of_jit(const struct patient *p, const struct profile_image_grades *g) {
    bool early;
    return dump_of(p, g->image, &early) || is_listed(p, g);
}

static void say_jit(const struct patient *p) {
    for (size_t i = 0; i < sizeof jit_findings / sizeof *jit_findings; i++) {
        const struct jit_finding *f = &jit_findings[i];
        double part = share(p, frames_of(p, GRADE_INFERRED, f->among));
        if (part > 0)
            doctor_say(p->d, by_limit(share(p, p->frames[GRADE_INFERRED]), p->limits->inferred, DOCTOR_NOTE),
                       f->id, f->advice, "%s of frames %s", doctor_percent(p->d, part), f->text);
    }
    for (size_t i = 0; p->r->jit && i < resolve_jit_count(p->r->jit); i++) {
        const struct resolve_jit_dump *d = resolve_jit_dump(p->r->jit, i);
        if (d->why)
            doctor_say(p->d, DOCTOR_WARNING, d->path ? "jit_damaged" : "jit_missing",
                       d->path ? NULL
                               : "keep it until the recording was read, or record with `sonde record`, which "
                                 "does; --jitdump-dir names its folder",
                       "%s", d->why);
    }
}

/* ---- grades ---- */

static bool is_kernel_image(const struct patient *p, const struct profile_image_grades *g) {
    const struct model_image *image = image_of(p, g->image);
    return image && is_kernel(image);
}

static bool is_no_kernel(const struct patient *p, const struct profile_image_grades *g) {
    return !is_kernel_image(p, g);
}

/* "; PATH: WHY": of the kernel itself. */
static const char *why_no_kernel(const struct patient *p) {
    for (size_t i = 0; i < p->q->images.count; i++) {
        const struct model_image *image = image_of(p, p->q->images.items[i].image);
        struct symbol_source source = source_of(p, p->q->images.items[i].image);
        if (image && image->kind == MODEL_IMAGE_KERNEL && source.status != SYMBOL_FOUND && source.text)
            return doctor_text(p->d, "; %s%s%s", source.path ? source.path : "", source.path ? ": " : "",
                               source.text);
    }
    return "";
}

static void say_stale(const struct patient *p) {
    double stale = share(p, p->frames[GRADE_STALE]),
           files = share(p, frames_of(p, GRADE_STALE, is_no_kernel)),
           kernel = share(p, frames_of(p, GRADE_STALE, is_kernel_image));
    enum doctor_severity severity = by_limit(stale, p->limits->stale, DOCTOR_WARNING);
    if (files > 0)
        doctor_say(
            p->d, severity, "stale",
            "the files were replaced since: give those that ran (--symfs, `sonde buildid-cache --add FILE`), "
            "or a server that has them (DEBUGINFOD_URLS); `sonde why` tells more",
            "%s of frames lie in files that are not those that ran: %s", doctor_percent(p->d, files),
            names_of(p, GRADE_STALE, is_no_kernel));
    if (kernel > 0)
        doctor_say(p->d, severity, "stale_kernel",
                   "give the recorded kernel's own list or image: --kallsyms FILE, --vmlinux FILE",
                   "%s of frames lie in a kernel whose symbols are not those of the one that ran: %s%s",
                   doctor_percent(p->d, kernel), names_of(p, GRADE_STALE, is_kernel_image), why_no_kernel(p));
}

static bool is_kernel_unproved(const struct patient *p, const struct profile_image_grades *g) {
    return is_kernel_image(p, g) && !source_of(p, g->image).proved;
}

static bool is_file_unproved(const struct patient *p, const struct profile_image_grades *g) {
    const struct model_image *image = image_of(p, g->image);
    return image && !is_kernel(image) && !source_of(p, g->image).proved && !is_of_jit(p, g);
}

static void say_inferred(const struct patient *p) {
    double inferred = share(p, p->frames[GRADE_INFERRED]);
    double files = share(p, frames_of(p, GRADE_INFERRED, is_file_unproved)),
           kernel = share(p, frames_of(p, GRADE_INFERRED, is_kernel_unproved));
    enum doctor_severity severity = by_limit(inferred, p->limits->inferred, DOCTOR_NOTE);
    if (files > 0)
        doctor_say(p->d, severity, "unproved",
                   "record with `sonde record`, which stores what identifies every file, or with "
                   "`perf record --buildid-mmap`",
                   "%s of frames are named from files that nothing recorded can confirm: %s",
                   doctor_percent(p->d, files), names_of(p, GRADE_INFERRED, is_file_unproved));
    if (kernel > 0)
        doctor_say(p->d, severity, "unproved_kernel",
                   "record with `sonde record`, or give the kernel's own image with --vmlinux",
                   "%s of frames are named from kernel symbols that nothing recorded can confirm",
                   doctor_percent(p->d, kernel));
    say_jit(p);
    double nearest = inferred - files - kernel - share(p, frames_of(p, GRADE_INFERRED, is_of_jit));
    if (nearest >= 0.05)
        doctor_say(p->d, severity, "nearest", NULL,
                   "%s of frames are named by the nearest symbol before them, which has no size",
                   doctor_percent(p->d, nearest));
}

/* A user's file that was found, and is what it should be. */
static bool is_good_file(const struct patient *p, const struct profile_image_grades *g) {
    const struct model_image *image = image_of(p, g->image);
    return image && !is_kernel(image) && image->kind == MODEL_IMAGE_FILE &&
           source_of(p, g->image).status == SYMBOL_FOUND;
}

/* Such a file without a .symtab: what is in .dynsym names the exported functions only. */
static bool lacks_symbols(const struct patient *p, const struct profile_image_grades *g) {
    uint32_t id = is_good_file(p, g) ? resolve_names_store_id(p->parts->naming->names, g->image) : UINT32_MAX;
    const struct symbol_table *t = id == UINT32_MAX ? NULL : symbol_store_table(p->parts->naming->store, id);
    for (uint32_t i = 0; t && i < symbol_table_count(t); i++)
        if (!(symbol_table_flags(t, i) & (SYMBOL_DYNAMIC | SYMBOL_PLT)))
            return false;
    return id != UINT32_MAX;
}

static bool has_gaps(const struct patient *p, const struct profile_image_grades *g) {
    return is_good_file(p, g) && !lacks_symbols(p, g);
}

static bool is_missing_file(const struct patient *p, const struct profile_image_grades *g, bool closed) {
    const struct model_image *image = image_of(p, g->image);
    enum symbol_status status = source_of(p, g->image).status;
    return image && !is_kernel(image) && image->kind == MODEL_IMAGE_FILE && status != SYMBOL_FOUND &&
           (status == SYMBOL_HIDDEN) == closed;
}

/* There, but not for this user. */
static bool is_closed(const struct patient *p, const struct profile_image_grades *g) {
    return is_missing_file(p, g, true);
}

static bool is_gone(const struct patient *p, const struct profile_image_grades *g) {
    return is_missing_file(p, g, false);
}

static bool is_jit(const struct patient *p, const struct profile_image_grades *g) {
    const struct model_image *image = image_of(p, g->image);
    return image && image->pid != MODEL_NONE;
}

/* The file with most frames of those: the advice is about it. */
static const char *first_path(const struct patient *p, among_fn *among) {
    const struct profile_image_grades *g = next_most(p, GRADE_UNKNOWN, among, NULL);
    return g ? image_of(p, g->image)->name : "";
}

/* Where kernels' names come from, and how far their images were moved at boot. */
static void say_kernels(const struct patient *p) {
    for (size_t i = 0; i < p->q->images.count; i++) {
        const struct model_image *image = image_of(p, p->q->images.items[i].image);
        struct symbol_source source = source_of(p, p->q->images.items[i].image);
        if (!image || image->kind != MODEL_IMAGE_KERNEL || source.status != SYMBOL_FOUND)
            continue;
        uint64_t slide = source.slide < 0 ? -(uint64_t)source.slide : (uint64_t)source.slide;
        doctor_say(p->d, source.has_slide ? DOCTOR_NOTE : DOCTOR_OK, "kernel", NULL,
                   "%s is named from %s, %s%s%s%s", image->name, source.path ? source.path : "the recording",
                   source.proved ? "which is proved" : "which nothing proves",
                   source.has_slide ? doctor_text(p->d, ", %s0x%llx away from where it ran",
                                                  source.slide < 0 ? "-" : "", (unsigned long long)slide)
                                    : "",
                   source.support ? ": " : "", source.support ? source.support : "");
    }
}

static void say_unknown_in_files(const struct patient *p) {
    double bare = share(p, frames_of(p, GRADE_UNKNOWN, lacks_symbols)),
           gaps = share(p, frames_of(p, GRADE_UNKNOWN, has_gaps)),
           closed = share(p, frames_of(p, GRADE_UNKNOWN, is_closed)),
           gone = share(p, frames_of(p, GRADE_UNKNOWN, is_gone)),
           jit = share(p, frames_of(p, GRADE_UNKNOWN, is_jit)),
           kernel = share(p, frames_of(p, GRADE_UNKNOWN, is_kernel_image));
    if (bare >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "debug_info",
                   doctor_debug_advice(p->d, &sysfs_system, first_path(p, lacks_symbols)),
                   "%s of frames lie in files that were stripped of their symbols: %s",
                   doctor_percent(p->d, bare), names_of(p, GRADE_UNKNOWN, lacks_symbols));
    if (gaps >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_NOTE, "no_symbol_there", NULL,
                   "%s of frames lie in code that no symbol of its file covers: %s",
                   doctor_percent(p->d, gaps), names_of(p, GRADE_UNKNOWN, has_gaps));
    if (closed >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "closed_files", "read the recording as their owner, or as root",
                   "%s of frames lie in files that this user may not read: %s", doctor_percent(p->d, closed),
                   names_of(p, GRADE_UNKNOWN, is_closed));
    if (gone >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "missing_files",
                   "bring the files along (--symfs, `sonde archive`), or name a server (DEBUGINFOD_URLS)",
                   "%s of frames lie in files that are not here: %s", doctor_percent(p->d, gone),
                   names_of(p, GRADE_UNKNOWN, is_gone));
    if (jit >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "jit",
                   "let the runtime write /tmp/perf-PID.map or a jitdump, and keep it: -Xperf for Python, "
                   "--perf-prof for node, libsonde's JVMTI agent for Java",
                   "%s of frames lie in memory without a file: code made at run time",
                   doctor_percent(p->d, jit));
    if (kernel >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "kernel_symbols",
                   "bring the kernel's list or image along: --kallsyms FILE, --vmlinux FILE",
                   "%s of frames lie in a kernel without names: %s%s", doctor_percent(p->d, kernel),
                   names_of(p, GRADE_UNKNOWN, is_kernel_image), why_no_kernel(p));
}

static void say_unknown(const struct patient *p) {
    double unknown = share(p, p->frames[GRADE_UNKNOWN]), nowhere = 0;
    for (size_t i = 0; i < p->q->images.count; i++)
        if (p->q->images.items[i].image == MODEL_NONE)
            nowhere = share(p, p->q->images.items[i].frames[GRADE_UNKNOWN]);
    if (unknown > p->limits->unknown)
        doctor_say(p->d, DOCTOR_PROBLEM, "unknown", NULL, "%s of frames have no name",
                   doctor_percent(p->d, unknown));
    say_unknown_in_files(p);
    if (nowhere >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_WARNING, "unmapped",
                   "mostly callers that were guessed from code without frame pointers: compile with "
                   "-fno-omit-frame-pointer, or record with --call-graph dwarf",
                   "%s of frames lie where nothing was known to be mapped", doctor_percent(p->d, nowhere));
}

/* ---- stacks ---- */

/* Where stacks end, by the name of the file. */
struct stack_end {
    char name[128];
    uint64_t stacks;
};
typedef VEC(struct stack_end) stack_ends;

static void add_end(stack_ends *ends, const char *name, size_t len, uint64_t stacks) {
    struct stack_end new = {.stacks = stacks};
    snprintf(new.name, sizeof new.name, "%.*s", (int)len, name);
    for (size_t i = 0; i < ends->count; i++)
        if (strcmp(ends->items[i].name, new.name) == 0) {
            ends->items[i].stacks += stacks;
            return;
        }
    struct stack_end *to = stacks ? vec_push(ends) : NULL;
    if (to)
        *to = new;
}

static int by_stacks(const void *a, const void *b) {
    const struct stack_end *x = a, *y = b;
    return x->stacks != y->stacks ? (x->stacks < y->stacks ? 1 : -1) : strcmp(x->name, y->name);
}

/* The files in which most stacks end like this: ": libc.so.6 12 %, a.out 3 % and 2 more"; empty: in none. */
static const char *ends_text(const struct patient *p, enum resolve_unwind_end end,
                             const struct resolve_unwind_tally *t, struct bytes recorded, uint64_t stacks) {
    char text[NAMED_MOST * 160] = "";
    stack_ends ends = {0};
    struct bytes image;
    size_t len = 0, i;
    uint64_t n;
    for (i = 0; i < t->images.count; i++)
        if (t->images.items[i].of[end]) {
            const char *name = model_image(p->parts->model, (uint32_t)i)->short_name;
            add_end(&ends, name, strlen(name), t->images.items[i].of[end]);
        }
    while (end == RESOLVE_UNWIND_CUT && perfdata_unwound_next_cut(&recorded, &n, &image)) {
        const uint8_t *slash = image.size ? memrchr(image.data, '/', image.size) : NULL;
        size_t skip = slash ? (size_t)(slash - image.data) + 1 : 0;
        add_end(&ends, (const char *)image.data + skip, image.size - skip, n);
    }
    if (ends.count)
        qsort(ends.items, ends.count, sizeof *ends.items, by_stacks);
    for (i = 0; i < ends.count && i < NAMED_MOST; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %s", i ? ", " : ": ", ends.items[i].name,
                                doctor_percent(p->d, percent(ends.items[i].stacks, stacks)));
    const char *out = ends.count > i ? doctor_text(p->d, "%s and %zu more", text, ends.count - i)
                                     : doctor_text(p->d, "%s", text);
    vec_fini(&ends);
    return out;
}

/* Stacks that were dumped: how many lead to their outermost function. */
static void say_unwound(const struct patient *p, const struct resolve_unwind_tally *t) {
    struct bytes recorded = stream_part(p->r->stream, false, PERFDATA_PART_UNWOUND);
    struct perfdata_unwound u;
    perfdata_unwound_decode(recorded, &u);
    uint64_t stacks = t->stacks + u.whole + u.cut;
    static const struct {
        uint8_t end;
        const char *id, *advice, *text;
    } rows[] = {
        {RESOLVE_UNWIND_CUT, "stack_dumps_short", "record with larger dumps: --call-graph dwarf,65528",
         "are longer than what was dumped of them: their outermost callers are missing"},
        {RESOLVE_UNWIND_NO_TABLE, "no_unwind_tables",
         "have the files at hand that were recorded (sonde record --keep), or their debug files",
         "end in code without unwind tables"},
        {RESOLVE_UNWIND_UNMAPPED, "stacks_unmapped", NULL, "lead to where nothing was known to be mapped"},
        {RESOLVE_UNWIND_BROKEN, "stacks_broken", NULL, "end because tables and stack do not fit together"},
        {RESOLVE_UNWIND_CPU, "stacks_cpu", "record with frame pointers: -g",
         "are of a CPU that is not unwound here (x86, arm64, s390x, ppc64, riscv64 and loongarch64 are)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t n = t->ends[rows[i].end] + (rows[i].end == RESOLVE_UNWIND_CUT ? u.cut : 0);
        double share = percent(n, stacks);
        if (share >= WORTH_SAYING)
            doctor_say(p->d, DOCTOR_WARNING, rows[i].id, rows[i].advice, "%s of user stacks %s%s",
                       doctor_percent(p->d, share), rows[i].text,
                       ends_text(p, (enum resolve_unwind_end)rows[i].end, t, recorded, stacks));
    }
    if (u.stacks)
        doctor_say(p->d, DOCTOR_NOTE, "unwound_while_recording", NULL,
                   "%s of %" PRIu64 " user stacks were unwound while recording",
                   doctor_percent(p->d, percent(u.whole + u.cut, u.stacks)), u.stacks);
    if (u.lagging)
        doctor_say(p->d, DOCTOR_NOTE, "unwinding_lagged",
                   "set TMPDIR to a folder with more room, or lower the rate (-F)",
                   "%s of user stacks were recorded as dumps for want of time and room",
                   doctor_percent(p->d, percent(u.lagging, u.stacks)));
}

static void say_stacks(const struct patient *p) {
    const struct profile_quality *q = p->q;
    double truncated = percent(q->truncated, q->samples), callers = percent(q->lost_callers, q->samples);
    if (q->truncated)
        doctor_say(p->d, DOCTOR_WARNING, "truncated",
                   "sysctl kernel.perf_event_max_stack=1024, then record with --max-stack 1024",
                   "%s of samples have callchains as long as the kernel makes any: their outermost "
                   "callers are missing",
                   doctor_percent(p->d, truncated));
    if (callers >= WORTH_SAYING)
        doctor_say(p->d, DOCTOR_NOTE, "lost_callers",
                   "compile with -fno-omit-frame-pointer, or record with --call-graph dwarf or lbr",
                   "the callchains of %s of samples end where nothing was mapped",
                   doctor_percent(p->d, callers));
    say_unwound(p, profile_unwound(p->parts->profile));
}

/* ---- what the recorder missed ---- */

/* Samples of tasks that no record names: perf calls them ":PID". */
static uint64_t nameless_samples(const struct patient *p) {
    const struct profile_column *comm =
        profile_columns_find(profile_columns_of(p->parts->profile), PROFILE_COMM);
    uint64_t sum = 0;
    struct out o;
    if (!comm || !out_init(&o, NULL, NULL))
        return 0;
    for (uint32_t i = 0; i < profile_event_count(p->parts->profile); i++) {
        const struct profile_event *e = profile_event(p->parts->profile, i);
        for (uint32_t k = 0; k < e->entry_count; k++) {
            o.len = 0;
            struct profile_entry entry = profile_entry_at(p->parts->profile, e, k);
            profile_text(p->parts->profile, e, &entry, comm, &o);
            sum += o.len && o.buf[0] == ':' ? entry.self->samples : 0;
        }
    }
    out_fini(&o);
    return sum;
}

static void say_lost(const struct patient *p) {
    const struct stream_losses *l = stream_losses(p->r->stream);
    uint64_t lost = l->lost_events + l->lost_samples, all = lost + p->q->samples;
    double share_lost = percent(lost, all);
    char text[STREAM_LOST_ROOM];
    if (lost)
        doctor_say(p->d, by_limit(share_lost, p->limits->lost, DOCTOR_WARNING), "lost",
                   "larger buffers (-m 16M), fewer samples (-F), or a leaner --call-graph",
                   "the recorder lost %s (%s)", stream_lost_text(l, text), doctor_percent(p->d, share_lost));
    if (p->parts->throttled)
        doctor_say(p->d, DOCTOR_NOTE, "throttled",
                   "a lower frequency (-F), or sysctl kernel.perf_cpu_time_max_percent=0",
                   "the kernel stopped sampling for a while %" PRIu64 " times, because it took too long",
                   p->parts->throttled);
    if (p->parts->late)
        doctor_say(p->d, DOCTOR_NOTE, "unordered", NULL,
                   "%" PRIu64
                   " records about tasks and mappings came later than their round; they count from "
                   "their own times",
                   p->parts->late);
}

static void say_tasks(const struct patient *p) {
    uint64_t nameless = nameless_samples(p);
    if (nameless)
        doctor_say(p->d, DOCTOR_NOTE, "unknown_pids",
                   "they ran before or died while the recorder looked for what was there: start it earlier",
                   nameless == 1 ? "%" PRIu64 " sample (%s) is of a task that no record names"
                                 : "%" PRIu64 " samples (%s) are of tasks that no record names",
                   nameless, doctor_percent(p->d, percent(nameless, p->q->samples)));
}

/* "1 byte", "2 bytes". */
static const char *count_text(struct doctor *d, uint64_t n, const char *what) {
    return doctor_text(d, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void say_ending(const struct patient *p) {
    static const char *const advice[] = {
        [PERFDATA_ENDING_OPEN] =
            "end it by ^C, or kill it by SIGINT or SIGTERM: build-ids, and what identifies "
            "files without, are written last",
        [PERFDATA_ENDING_FULL] = "make room, record into another folder (-o), or less: -F, --max-size, -z",
        [PERFDATA_ENDING_QUOTA] = "make room, record into another folder (-o), or less: -F, --max-size, -z",
        [PERFDATA_ENDING_LIMIT] = "ulimit -f unlimited, or record less: -F, --max-size, -z",
        [PERFDATA_ENDING_ERROR] = "look what the system says of the disk: dmesg",
    };
    const struct perfdata_ending e = stream_ending(p->r->stream);
    char text[PERFDATA_ENDING_TEXT];
    if (perfdata_ending_text(&e, text))
        doctor_say(p->d, DOCTOR_WARNING, e.how == PERFDATA_ENDING_OPEN ? "unfinished" : "stopped",
                   advice[e.how], "the recording %s", text);
    else if (e.how == PERFDATA_ENDING_MAX_SIZE)
        doctor_say(p->d, DOCTOR_NOTE, "max_size", NULL,
                   "the recording ended when it had reached --max-size, before the command did");
}

static void say_damage(const struct patient *p) {
    const struct stream_losses *l = stream_losses(p->r->stream);
    say_ending(p);
    if (l->cut || l->bad_records || l->skipped_bytes || l->problems)
        doctor_say(p->d, DOCTOR_PROBLEM, "damaged", NULL, "the file is damaged: %s, %s skipped%s",
                   count_text(p->d, l->bad_records, "bad record"), count_text(p->d, l->skipped_bytes, "byte"),
                   l->cut ? ", cut off at its end" : "");
    if (l->unknown_ids)
        doctor_say(p->d, DOCTOR_NOTE, "not_understood", NULL, "%s of no event that is known",
                   count_text(p->d, l->unknown_ids, "sample"));
    if (l->unknown_types)
        doctor_say(p->d, DOCTOR_NOTE, "not_understood", NULL, "%s of a type that nobody knows",
                   count_text(p->d, l->unknown_types, "record"));
}

void doctor_recording(struct doctor *d, const struct recording *r, const struct report_session_parts *parts,
                      const struct profile_quality *q, const struct doctor_limits *limits) {
    struct patient p = {d, r, parts, q, limits, {0}, 0};
    for (size_t i = 0; i < q->images.count; i++)
        for (unsigned g = 0; g < GRADE_COUNT; g++) {
            p.frames[g] += q->images.items[i].frames[g];
            p.all += q->images.items[i].frames[g];
        }
    if (!q->samples)
        doctor_say(d, DOCTOR_WARNING, "empty", NULL, "there are no samples");
    say_kernels(&p);
    say_stale(&p);
    say_inferred(&p);
    say_unknown(&p);
    say_stacks(&p);
    say_lost(&p);
    say_tasks(&p);
    say_damage(&p);
}
