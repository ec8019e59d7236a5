/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/why.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text/json.h"

enum { LABEL = 12 };

/* ---- for both forms ---- */

static const struct resolve_sample_frame *chosen(const struct why *w) {
    return &w->frames[w->chosen];
}

static const char *space_name(unsigned cpumode) {
    static const char *const names[PERFDATA_MISC_CPUMODE_MASK + 1] = {
        [PERFDATA_MISC_KERNEL] = "kernel",
        [PERFDATA_MISC_USER] = "user",
        [PERFDATA_MISC_HYPERVISOR] = "hypervisor",
        [PERFDATA_MISC_GUEST_KERNEL] = "guest kernel",
        [PERFDATA_MISC_GUEST_USER] = "guest user"};
    const char *name = names[cpumode & PERFDATA_MISC_CPUMODE_MASK];
    return name ? name : "unknown";
}

static struct resolve_provenance provenance(const struct why *w, const struct resolve_sample_frame *f) {
    struct resolve_provenance p = resolve_provenance_of(w->names, f->hit.mapping, f->symbol);
    if (f->ends_early)
        resolve_provenance_cut(&p.symbol);
    return p;
}

static const char *shown_grade(const struct why *w, const struct resolve_sample_frame *f) {
    enum grade grade = resolve_grade(w->names, f->symbol);
    return grade_name(f->ends_early ? resolve_grade_doubted(grade) : grade);
}

static void put_time(struct out *o, uint64_t ns) {
    out_dec(o, ns / 1000000000, 0);
    out_char(o, '.');
    out_dec0(o, ns % 1000000000, 9);
}

static void put_hex_bytes(struct out *o, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        out_hex0(o, p[i], 2);
}

static void put_address(struct out *o, uint64_t address) {
    out_str(o, "0x");
    out_hex(o, address, 0);
}

static void put_name(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    const char *name = resolve_names_text(w->names, f->symbol);
    if (!name && resolve_grade(w->names, f->symbol) == GRADE_STALE) {
        out_printf(o, "[stale] %s+0x", model_image(w->model, f->hit.image)->short_name);
        out_hex(o, f->hit.offset, 0);
        return;
    }
    if (!name) {
        out_str(o, "[unknown]");
        return;
    }
    const struct symbol_table *t = resolve_names_table(w->names, f->symbol.image);
    out_str(o, name);
    out_str(o, "+0x");
    out_hex(o, f->hit.offset - symbol_table_start(t, f->symbol.index), 0);
}

static const char *dso(const struct why *w, const struct resolve_sample_frame *f) {
    return f->hit.image == MODEL_NONE ? "[unknown]" : model_image(w->model, f->hit.image)->name;
}

/* Compares two identities: 1: the same file; 0: another one; -1: nothing tells. */
static int same(const struct why_identity *then, const struct why_identity *now) {
    if (then->build_id.size)
        return then->build_id.size == now->build_id.size &&
               !memcmp(then->build_id.bytes, now->build_id.bytes, now->build_id.size);
    if (then->has_cookie)
        return now->has_cookie && !memcmp(then->cookie, now->cookie, sizeof now->cookie);
    if (!then->has_state || !now->has_state)
        return -1;
    const struct perfdata_file_state *a = &then->state, *b = &now->state;
    bool file = a->dev == b->dev && a->ino == b->ino;
    bool content = a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
    return file && content ? 1 : file ? 0 : -1;
}

/* ---- text ---- */

static void label(struct out *o, const char *text) {
    out_left(o, text, strlen(text), LABEL);
}

static void put_date(struct out *o, int64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[40];
    if (localtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        out_str(o, text);
}

static void print_identity(struct out *o, const struct why_identity *id) {
    const char *between = "";
    if (id->build_id.size) {
        out_str(o, "build-id ");
        put_hex_bytes(o, id->build_id.bytes, id->build_id.size);
        between = ", ";
    }
    if (id->has_cookie) {
        out_printf(o, "%scookie ", between);
        put_hex_bytes(o, id->cookie, sizeof id->cookie);
        between = ", ";
    }
    if (id->has_state) {
        out_printf(o, "%s%" PRIu64 " bytes, modified ", between, id->state.size);
        put_date(o, id->state.mtime_ns);
        out_printf(o, ", inode %" PRIu64, id->state.ino);
        between = ", ";
    }
    if (!*between)
        out_str(o, "nothing that identifies the file");
}

static void print_sample(const struct why *w, struct out *o) {
    label(o, "sample");
    out_printf(o, "%" PRIu64 " of the recording, at ", w->number);
    put_address(o, w->loc);
    out_printf(o, " of the file: %s", w->events->list.items[w->event].name);
    if (w->comm)
        out_printf(o, ", %s", w->comm);
    out_printf(o, " %" PRId32 "/%" PRId32, (int32_t)w->pid, (int32_t)w->tid);
    if (w->has_time) {
        out_str(o, ", time ");
        put_time(o, w->when.time_ns);
    }
    out_char(o, '\n');
}

static void print_stack(const struct why *w, struct out *o) {
    for (size_t i = 0; i < w->count; i++) {
        const struct resolve_sample_frame *f = &w->frames[i];
        label(o, i ? "" : "stack");
        out_printf(o, "%s%3zu  ", i == w->chosen ? ">" : " ", i);
        const char *grade = shown_grade(w, f);
        out_left(o, grade, strlen(grade), 8);
        out_str(o, "  ");
        out_hex(o, f->address, 16);
        out_char(o, ' ');
        put_name(w, f, o);
        out_printf(o, " (%s)\n", dso(w, f));
    }
}

static const char *why_exact(enum symbol_identity identity) {
    static const char *const texts[SYMBOL_IDENTITY_COUNT] = {
        [SYMBOL_BY_BUILD_ID] = "the file has the recorded build-id",
        [SYMBOL_BY_COOKIE] = "the file's code is what was recorded",
        [SYMBOL_BY_FSTAT] = "the file is as it was when it was mapped",
        [SYMBOL_BY_KERNEL] = "it belongs to the recorded kernel, booted as it was then",
        [SYMBOL_BY_RECORD] = "the recording brings the name itself",
    };
    return texts[identity] ? texts[identity] : "proved";
}

/* Prints what is mapped before and after an address that nothing covers. */
static void print_neighbours(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    struct model_pieces pieces = {0};
    const struct model_piece *below = NULL, *above = NULL;
    enum model_space space = model_space_of(f->cpumode);
    if (model_pieces_at(w->model, space, w->pid, w->when, &pieces))
        for (size_t i = 0; i < pieces.list.count && !above; i++) {
            const struct model_piece *p = &pieces.list.items[i];
            if (p->last < f->address)
                below = p;
            else if (p->start > f->address)
                above = p;
        }
    label(o, "mapped");
    const char *whose = space == MODEL_SPACE_USER ? "the process" : "the kernel";
    if (pieces.list.count)
        out_printf(o, "nothing was known to be mapped there; %zu %s of %s %s\n", pieces.list.count,
                   pieces.list.count == 1 ? "mapping" : "mappings", whose,
                   pieces.list.count == 1 ? "was" : "were");
    else
        out_printf(o, "nothing of %s was known to be mapped then\n", whose);
    const struct model_piece *const around[] = {below, above};
    for (size_t i = 0; i < 2; i++) {
        if (!around[i])
            continue;
        label(o, i ? "above" : "below");
        put_address(o, around[i]->start);
        out_char(o, '-');
        put_address(o, around[i]->last + 1);
        out_printf(o, " %s\n",
                   model_image(w->model, model_mapping(w->model, around[i]->mapping).image)->name);
    }
    vec_fini(&pieces.list);
}

/* True of code that a JIT announced: no map record mapped it. */
static bool is_announced(const struct why *w, uint32_t image) {
    return image != MODEL_NONE && model_image(w->model, image)->kind == MODEL_IMAGE_CODE;
}

static void print_announcement(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    const struct model_mapping map = model_mapping(w->model, f->hit.mapping);
    label(o, "announced");
    out_printf(o, "by the JIT itself, event %" PRIu64 " of its jitdump: code at ", map.order);
    put_address(o, map.start);
    out_char(o, '-');
    put_address(o, map.last + 1);
    out_str(o, "\n");
}

static void print_record(const struct why *w, uint64_t at, struct out *o) {
    struct stream_record r = stream_record_at(w->stream, at);
    const char *kind = perfdata_record_name(r.raw.type);
    out_printf(o, "by the %s record at ", kind ? kind : "?");
    put_address(o, at);
    if (r.has_time && r.time_ns) {
        out_str(o, ", time ");
        put_time(o, r.time_ns);
    } else if (r.has_time) { /* the time of records of what already existed */
        out_str(o, ", from before the recording");
    }
}

static void print_mapping(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    if (f->hit.mapping == MODEL_NONE) {
        print_neighbours(w, f, o);
        return;
    }
    if (is_announced(w, f->hit.image)) {
        print_announcement(w, f, o);
        return;
    }
    const struct model_mapping map = model_mapping(w->model, f->hit.mapping);
    label(o, "mapped");
    if (map.order)
        print_record(w, map.order, o);
    else
        out_str(o, "by no record, but lists of modules or their sections have it");
    out_str(o, ": ");
    put_address(o, map.start);
    out_char(o, '-');
    put_address(o, map.last + 1);
    out_str(o, " shows ");
    out_str(o, model_image(w->model, map.image)->recorded);
    out_str(o, " from ");
    put_address(o, map.pgoff);
    out_str(o, "\n");
    label(o, "");
    out_str(o, "the place is ");
    put_address(o, f->hit.offset);
    out_str(o, " in it\n");
}

static void print_identities(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    if (f->hit.image == MODEL_NONE || is_announced(w, f->hit.image))
        return;
    label(o, "recorded");
    print_identity(o, &w->then);
    out_char(o, '\n');
    if (!w->now_path)
        return;
    label(o, "now");
    out_str(o, w->now_path);
    out_str(o, ": ");
    if (w->now_error) {
        out_str(o, w->now_error);
    } else {
        int verdict = same(&w->then, &w->now);
        out_str(o, verdict > 0                                ? "the same, "
                   : verdict < 0                              ? ""
                   : !strcmp(w->now_path, WHY_RUNNING_KERNEL) ? "ANOTHER KERNEL, "
                                                              : "ANOTHER FILE, ");
        print_identity(o, &w->now);
    }
    out_char(o, '\n');
}

static void print_tries(const struct why *w, const struct resolve_sample_frame *f, struct out *o) {
    uint32_t id = resolve_names_store_id(w->names, f->symbol.image);
    struct symbol_try t;
    for (size_t i = 0; id != UINT32_MAX && symbol_store_try(resolve_names_store(w->names), id, i, &t); i++) {
        label(o, i ? "" : "tried");
        out_printf(o, "%s: %s\n", t.path, t.why ? t.why : "used");
    }
}

static void print_naming(const struct why *w, const struct resolve_sample_frame *f,
                         const struct symbol_provenance *p, struct out *o) {
    if (f->symbol.index == SYMBOL_NONE)
        return;
    const struct symbol_table *t = resolve_names_table(w->names, f->symbol.image);
    label(o, "named");
    out_printf(o, "by the %s of %s", symbol_list_text(p->list), p->path ? p->path : "the recording");
    const uint32_t told = 1u << SYMBOL_FROM_KEPT | 1u << SYMBOL_FROM_JITDUMP | 1u << SYMBOL_FROM_MAP |
                          1u << SYMBOL_FROM_KALLSYMS; /* the list or the path already says it */
    if (!(told >> p->origin & 1))
        out_printf(o, " (%s)", symbol_origin_text(p->origin));
    out_printf(o, ": %s, ", symbol_table_name(t, f->symbol.index));
    put_address(o, symbol_table_start(t, f->symbol.index));
    out_char(o, '-');
    put_address(o, symbol_table_end(t, f->symbol.index));
    if (symbol_table_flags(t, f->symbol.index) & SYMBOL_SIZE_GUESSED)
        out_str(o, " (the list gives no size: up to the next symbol)");
    out_char(o, '\n');
    if (!p->has_slide)
        return;
    label(o, "slide");
    out_str(o, p->slide < 0 ? "-" : "");
    put_address(o, p->slide < 0 ? -(uint64_t)p->slide : (uint64_t)p->slide);
    out_str(o, " from the addresses in the file to those recorded\n");
}

/* Whether a file with names was found: what is printed is then about that one, not about a file that was
 * refused. */
static bool has_list(const struct why *w, const struct resolve_sample_frame *f) {
    return f->hit.image != MODEL_NONE && resolve_names_table(w->names, f->hit.image);
}

/* The function that was linked has the symbol's name, those inlined into it that of the debugging
 * information. */
static const char *function_name(const struct why *w, size_t i) {
    const char *name =
        i + 1 < w->function_count ? w->functions[i].name : resolve_names_text(w->names, chosen(w)->symbol);
    return name ? name : "[unknown]";
}

static void print_source(const struct why *w, struct out *o) {
    for (size_t i = 0; i < w->function_count; i++) {
        const struct object_line *line = &w->functions[i].line;
        label(o, i ? "" : "source");
        out_str(o, function_name(w, i));
        if (line->file)
            out_printf(o, " at %s:%" PRIu32, line->file, line->line);
        out_str(o, i + 1 < w->function_count ? ", inlined into\n" : "\n");
    }
}

void why_print_text(const struct why *w, struct out *o) {
    const struct resolve_sample_frame *f = chosen(w);
    struct resolve_provenance p = provenance(w, f);
    if (w->has_sample) {
        print_sample(w, o);
        print_stack(w, o);
        out_char(o, '\n');
    }
    label(o, "address");
    put_address(o, f->address);
    out_printf(o, ", %s", space_name(f->cpumode));
    if (f->cpumode == PERFDATA_MISC_USER)
        out_printf(o, " space of process %" PRId32, (int32_t)w->pid);
    out_char(o, '\n');
    label(o, "name");
    put_name(w, f, o);
    out_printf(o, " (%s)\n", dso(w, f));
    label(o, "grade");
    out_str(o, grade_name(p.symbol.grade));
    if (p.symbol.grade == GRADE_EXACT)
        out_printf(o, ": %s", why_exact(p.symbol.identity));
    else if (p.symbol.why && p.symbol.grade != GRADE_INFERRED && p.symbol.path && !has_list(w, f))
        out_printf(o, ": %s: %s", p.symbol.path, p.symbol.why);
    else if (p.symbol.why)
        out_printf(o, ": %s", p.symbol.why);
    out_char(o, '\n');
    if (p.symbol.support) {
        label(o, "");
        out_printf(o, "%s\n", p.symbol.support);
    }
    print_mapping(w, f, o);
    print_identities(w, f, o);
    print_tries(w, f, o);
    print_naming(w, f, &p.symbol, o);
    print_source(w, o);
}

/* ---- JSON ---- */

/* Writes a member, unless the text is not known. */
static void json_known(struct json *j, const char *key, const char *text) {
    if (text)
        json_text(j, key, text);
}

static void json_identity(struct json *j, const char *key, const char *path, const char *error,
                          const struct why_identity *id) {
    json_open(j, key, '{');
    json_bool(j, "known", !error);
    json_known(j, "path", path);
    json_known(j, "error", error);
    if (id->build_id.size)
        json_digits(j, "build_id", id->build_id.bytes, id->build_id.size);
    if (id->has_cookie)
        json_digits(j, "cookie", id->cookie, sizeof id->cookie);
    if (id->has_state) {
        json_number(j, "size", id->state.size);
        json_number(j, "inode", id->state.ino);
        json_int(j, "mtime_ns", id->state.mtime_ns);
        json_int(j, "ctime_ns", id->state.ctime_ns);
    }
    json_close(j, '}');
}

static void json_name(const struct why *w, const struct resolve_sample_frame *f, struct json *j) {
    const char *name = resolve_names_text(w->names, f->symbol);
    if (name) {
        const struct symbol_table *t = resolve_names_table(w->names, f->symbol.image);
        json_text(j, "sym", name);
        json_number(j, "symoff", f->hit.offset - symbol_table_start(t, f->symbol.index));
    }
    if (f->hit.image != MODEL_NONE) {
        json_known(j, "dso", dso(w, f));
        json_hex(j, "dsoff", f->hit.offset);
    }
}

static void json_stack(const struct why *w, struct json *j) {
    json_open(j, "stack", '[');
    for (size_t i = 0; i < w->count; i++) {
        const struct resolve_sample_frame *f = &w->frames[i];
        json_open(j, NULL, '{');
        json_hex(j, "ip", f->address);
        json_text(j, "grade", shown_grade(w, f));
        json_name(w, f, j);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_tries(const struct why *w, const struct resolve_sample_frame *f, struct json *j) {
    uint32_t id = resolve_names_store_id(w->names, f->symbol.image);
    struct symbol_try t;
    json_open(j, "tried", '[');
    for (size_t i = 0; id != UINT32_MAX && symbol_store_try(resolve_names_store(w->names), id, i, &t); i++) {
        json_open(j, NULL, '{');
        json_bool(j, "used", !t.why);
        json_known(j, "path", t.path);
        json_known(j, "why", t.why);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_mapping(const struct why *w, const struct resolve_sample_frame *f, struct json *j) {
    if (f->hit.mapping == MODEL_NONE)
        return;
    const struct model_mapping map = model_mapping(w->model, f->hit.mapping);
    if (is_announced(w, f->hit.image)) {
        json_open(j, "announced", '{');
        json_number(j, "event", map.order);
    } else {
        struct stream_record r = stream_record_at(w->stream, map.order);
        json_open(j, "mapped", '{');
        json_number(j, "offset", map.order);
        json_known(j, "record", perfdata_record_name(r.raw.type));
        if (r.has_time)
            json_number(j, "time", r.time_ns);
    }
    json_hex(j, "start", map.start);
    json_hex(j, "last", map.last);
    json_hex(j, "pgoff", map.pgoff);
    json_known(j, "name", model_image(w->model, map.image)->recorded);
    json_close(j, '}');
}

static void json_symbol(const struct symbol_provenance *p, struct json *j) {
    json_text(j, "grade", grade_name(p->grade));
    json_known(j, "why", p->why);
    json_known(j, "support", p->support);
    json_known(j, "identity", symbol_identity_text(p->identity));
    json_known(j, "list", symbol_list_text(p->list));
    json_known(j, "origin", p->origin == SYMBOL_FROM_NOTHING ? NULL : symbol_origin_text(p->origin));
    json_known(j, "file", p->path);
    if (p->has_slide)
        json_int(j, "slide", p->slide);
}

static void json_functions(const struct why *w, struct json *j) {
    if (!w->function_count)
        return;
    json_open(j, "functions", '[');
    for (size_t i = 0; i < w->function_count; i++) {
        const struct object_line *line = &w->functions[i].line;
        json_open(j, NULL, '{');
        json_text(j, "sym", function_name(w, i));
        if (i + 1 < w->function_count)
            json_bool(j, "inlined", true);
        json_known(j, "file", line->file);
        if (line->file)
            json_number(j, "line", line->line);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void why_print_json(const struct why *w, struct out *o) {
    const struct resolve_sample_frame *f = chosen(w);
    struct symbol_provenance p = provenance(w, f).symbol;
    struct json *j = &(struct json){.out = o};
    json_open(j, NULL, '{');
    json_number(j, "version", 1);
    if (w->has_sample) {
        json_number(j, "sample", w->number);
        json_number(j, "offset", w->loc);
        json_known(j, "event", w->events->list.items[w->event].name);
        json_number(j, "tid", w->tid);
        json_known(j, "comm", w->comm);
        json_number(j, "frame", w->chosen);
        json_stack(w, j);
    }
    if (w->has_time)
        json_number(j, "time", w->when.time_ns);
    json_number(j, "pid", w->pid);
    json_hex(j, "ip", f->address);
    json_text(j, "mode", space_name(f->cpumode));
    json_name(w, f, j);
    json_symbol(&p, j);
    json_mapping(w, f, j);
    if (f->hit.image != MODEL_NONE && !is_announced(w, f->hit.image)) {
        json_identity(j, "recorded", NULL, NULL, &w->then);
        if (w->now_path)
            json_identity(j, "now", w->now_path, w->now_error, &w->now);
    }
    json_tries(w, f, j);
    json_functions(w, j);
    json_close(j, '}');
}
