/* SPDX-License-Identifier: Apache-2.0 */
/* The sort keys that every recording may have: of samples' threads and values, and of where they lie. */
#include <inttypes.h>
#include <stdio.h>

#include "model/task_names.h"
#include "profile/profile_internal.h"

PROFILE_VALUE(comm, x->comm)
PROFILE_VALUE(tid, x->s->tid)
PROFILE_VALUE(pid, x->s->pid)
PROFILE_VALUE(cpu, x->s->cpu)
PROFILE_VALUE(socket, x->s->cpu < b->plan->in->cpu_count ? b->plan->in->cpu_sockets[x->s->cpu] : UINT32_MAX)
PROFILE_VALUE(time, x->when.time_ns / b->plan->o->time_quantum_ns * b->plan->o->time_quantum_ns)
PROFILE_VALUE(parallelism, b->parallelism)
PROFILE_VALUE(weight, profile_taken_weight(x))
PROFILE_VALUE(ins_lat, x->s->ins_lat)
PROFILE_VALUE(weight3, x->s->weight3)
PROFILE_VALUE(transaction, x->s->transaction)
PROFILE_VALUE(page_size, x->s->code_page_size)
PROFILE_VALUE(nothing, 0)

/* ---- threads ---- */

/* Returns a comm with each run of digits as "<N>" and, in the upper half, without them, by which samples are
 * grouped: perf shows the one that came first. */
static uint64_t value_comm_nodigit(struct profile_builder *b, const struct profile_taken *x) {
    const char *from = strpool_text(&b->texts, x->comm);
    char shown[64], bare[64];
    size_t n = 0, left = 0;
    for (; *from && n + 4 < sizeof shown; from++) {
        if (*from < '0' || *from > '9') {
            shown[n++] = bare[left++] = *from;
            continue;
        }
        memcpy(shown + n, "<N>", 3);
        n += 3;
        while (from[1] >= '0' && from[1] <= '9')
            from++;
    }
    return (uint64_t)profile_text_add(b, bare, left) << 32 | profile_text_add(b, shown, n);
}

const char *profile_last_comm(const struct profile *p, const struct profile_row *row) {
    return model_task_last_name(p->plan.in->model, profile_row_thread(p, row));
}

/* Returns a process's name: its first thread's. */
static const char *leader_comm(const struct profile *p, const struct profile_row *row, uint32_t pid) {
    const struct model *m = p->plan.in->model;
    struct model_when when = {p->b.stacks.items[row->first_stack].first_ns, UINT64_MAX};
    struct model_comm_span span = model_task_name_at(m, pid, pid, when);
    const char *last = model_task_last_name(m, span.thread);
    return last ? last : span.comm;
}

/* Returns a name for an id: its number if no record names it. */
enum { TASK_NAME = 16 };
static const char *name_of(const char *comm, uint32_t id, char room[TASK_NAME]) {
    if (!comm)
        snprintf(room, TASK_NAME, ":%" PRId32, (int32_t)id);
    return comm ? comm : room;
}

static const char *thread_name(const struct profile *p, const struct profile_row *row, uint32_t tid,
                               char room[TASK_NAME]) {
    return name_of(tid == 0 ? "swapper" : profile_last_comm(p, row), tid, room);
}

static void put_id(uint32_t id, const char *name, struct out *o) {
    out_int(o, (int32_t)id, 7);
    out_char(o, ':');
    out_str(o, name);
}

static void put_thread(const struct profile *p, const struct profile_cell *x, struct out *o) {
    char room[TASK_NAME];
    uint32_t tid = (uint32_t)profile_cell_word(p, x);
    put_id(tid, thread_name(p, x->row, tid, room), o);
}

static void put_process(const struct profile *p, const struct profile_cell *x, struct out *o) {
    char room[TASK_NAME];
    uint32_t pid = (uint32_t)profile_cell_word(p, x);
    put_id(pid, name_of(leader_comm(p, x->row, pid), pid, room), o);
}

/* Ranks ids as signed numbers: -1, of tasks that are gone, comes first. */
static uint64_t rank_task(const struct profile *p, const uint64_t *words) {
    (void)p;
    return (uint32_t)words[0] ^ 1u << 31;
}

/* perf measures the thread's last name, whatever is printed. */
static uint32_t room_thread(const struct profile *p, const struct profile_cell *x) {
    enum { ID = 8 }; /* "%7d:" */
    char room[TASK_NAME];
    return ID + (uint32_t)strlen(thread_name(p, x->row, (uint32_t)profile_cell_word(p, x), room));
}

static uint32_t room_comm(const struct profile *p, const struct profile_cell *x) {
    const char *comm = profile_last_comm(p, x->row);
    return comm ? (uint32_t)strlen(comm) : strpool_len(&p->b.texts, (uint32_t)profile_cell_word(p, x));
}

PROFILE_VALUE(parent, x->parent != PROFILE_NONE ? x->parent
                                                : profile_text_add(b, PROFILE_OTHER, strlen(PROFILE_OTHER)))

/* Ranks rows without a parent last. */
static uint64_t rank_parent(const struct profile *p, const uint64_t *words) {
    if (!strcmp(strpool_text(&p->b.texts, (uint32_t)words[0]), PROFILE_OTHER))
        return p->b.texts.entries.count;
    return p->text_ranks.items[words[0]];
}

/* ---- other values of samples ---- */

/* "%.3d", and -1 where there is none. */
static void put_cpu(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_printf(o, "%.3" PRId32, (int32_t)profile_cell_word(p, x));
}

static void put_time(const struct profile *p, const struct profile_cell *x, struct out *o) {
    enum { SECOND_NS = 1000000000 };
    uint64_t time_ns = profile_cell_word(p, x);
    out_dec(o, time_ns / SECOND_NS, 0);
    out_char(o, '.');
    if (p->plan.o->nanoseconds)
        out_dec0(o, time_ns % SECOND_NS, 9);
    else
        out_dec0(o, time_ns % SECOND_NS / 1000, 6);
}

/* Appends the total of a row's samples. */
static void put_total(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_dec(o, profile_cell_word(p, x) * x->self->samples, 0);
}

/* 0: not recorded. */
void profile_put_page_size(const struct profile *p, const struct profile_cell *x, struct out *o) {
    static const char units[] = "BKMGTPE";
    uint64_t size = profile_cell_word(p, x);
    unsigned unit = 0;
    for (; size >= 1024; unit++)
        size /= 1024;
    if (!size)
        out_str(o, "N/A");
    else
        out_printf(o, "%" PRIu64 "%c", size, units[unit]);
}

/* perf_event.h, PERF_TXN_*. */
static void put_transaction(const struct profile *p, const struct profile_cell *x, struct out *o) {
    static const char *const words[] = {"EL ",    "TX ",  "SYNC ",           "ASYNC ",
                                        "RETRY ", "CON ", "CAPACITY-WRITE ", "CAPACITY-READ "};
    uint64_t flags = profile_cell_word(p, x);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (flags >> i & 1)
            out_str(o, words[i]);
    if (flags >> 32)
        out_printf(o, ":%" PRIx64, flags >> 32);
}

static uint64_t value_cgroup(struct profile_builder *b, const struct profile_taken *x) {
    const struct perfdata_sample *s = x->s;
    const char *path = s->have & PERFDATA_SAMPLE_CGROUP ? model_cgroup(b->plan->in->model, s->cgroup) : NULL;
    path = path ? path : "N/A";
    return profile_text_add(b, path, strlen(path));
}

/* Returns device (upper half) and inode of the cgroup namespace, the last of seven recorded links; both are
 * small. */
static uint64_t value_cgroup_id(struct profile_builder *b, const struct profile_taken *x) {
    struct model_namespaces links;
    enum { CGROUP = 6 };
    if (!model_namespaces_at(b->plan->in->model, x->s->pid, x->s->tid, x->when, &links) ||
        links.count <= CGROUP)
        return 0;
    return links.links[2 * CGROUP] << 32 | (uint32_t)links.links[2 * CGROUP + 1];
}

static void put_cgroup_id(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint64_t id = profile_cell_word(p, x);
    out_printf(o, "%" PRIu64 "/0x%" PRIx64, id >> 32, id & UINT32_MAX);
}

/* Only instruction traces record it, which are not decoded. */
static void put_nothing(const struct profile *p, const struct profile_cell *x, struct out *o) {
    (void)p, (void)x, (void)o;
}

/* ---- tracepoints ---- */

static uint64_t value_trace(struct profile_builder *b, const struct profile_taken *x) {
    const struct profile_input *in = b->plan->in;
    const struct perfdata_attr *attr = &in->events->list.items[x->event].attr;
    if (!in->trace || attr->type != PERFDATA_TYPE_TRACEPOINT)
        return profile_text_add(b, "N/A", 3);
    struct out o;
    uint32_t id = STRPOOL_NONE;
    if (out_init(&o, NULL, NULL)) {
        in->trace(in->trace_ctx, attr, x->s, &o);
        const char *text = out_text(&o);
        id = profile_text_add(b, text, strlen(text));
    }
    out_fini(&o);
    b->failed |= id == STRPOOL_NONE;
    return id;
}

static uint32_t text_of_field(struct profile_builder *b, const struct profile_taken *x,
                              const struct profile_column *c) {
    const struct profile_input *in = b->plan->in;
    struct out o;
    uint32_t text = STRPOOL_NONE;
    if (out_init(&o, NULL, NULL)) {
        if (c->event == x->event && in->field)
            in->field(in->trace_ctx, &in->events->list.items[x->event].attr, x->s, c, &o);
        text = profile_text_add(b, o.buf, o.len);
    }
    out_fini(&o);
    b->failed |= text == STRPOOL_NONE;
    return text == STRPOOL_NONE ? 0 : text;
}

/* Returns the text shown and, in the upper half, as recorded, by which perf groups and sorts. Both are empty
 * for events other than the field's. */
static uint64_t value_field(struct profile_builder *b, const struct profile_taken *x) {
    const struct profile_column *c = x->column;
    uint32_t shown = text_of_field(b, x, c), raw = shown;
    if (!c->raw && c->event == x->event) {
        struct profile_column as_recorded = *c;
        as_recorded.raw = true;
        raw = text_of_field(b, x, &as_recorded);
    }
    return (uint64_t)raw << 32 | shown;
}

PROFILE_WORD(field, x->value)

/* perf compares the recorded bytes in order, the larger first: of a number the lowest byte decides. */
static uint64_t rank_field(const struct profile *p, const uint64_t *words) {
    uint32_t text = (uint32_t)(words[0] >> 32);
    const char *value = strpool_text(&p->b.texts, text);
    char *end;
    long long number = strtoll(value, &end, 10);
    if (*value && !*end)
        return UINT64_MAX - __builtin_bswap64((uint64_t)number);
    return p->b.texts.entries.count - p->text_ranks.items[text];
}

/* ---- objects and functions ---- */

unsigned profile_words_dso(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    words[0] = p->places.items[x->frame].dso;
    return 1;
}

static uint64_t rank_dso(const struct profile *p, const uint64_t *words) {
    return profile_dso_rank(p, (uint32_t)words[0]);
}

uint64_t profile_rank_dso_backwards(const struct profile *p, const uint64_t *words) {
    return p->b.texts.entries.count - profile_dso_rank(p, (uint32_t)words[0]);
}

/* perf leaves room for an address where something has no name. */
static uint32_t room_dso(const struct profile *p, const struct profile_cell *x) {
    uint32_t len = strpool_len(&p->b.texts, p->places.items[x->frame].dso);
    bool roomy = !p->plan.o->tight && !p->plan.o->dsos;
    return len < PROFILE_NAMELESS_WIDTH && roomy && !profile_name_of(p, x->frame) ? PROFILE_NAMELESS_WIDTH
                                                                                  : len;
}

/* Tells symbols apart by number, places without one by address, in whichever object: perf takes equal ones
 * for one unless there is a column for objects. */
unsigned profile_words_symbol(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    const struct profile_place *place = &p->places.items[x->frame];
    words[0] = place->name;
    if (profile_grade_of(p, x->frame) == GRADE_STALE) /* such a place is shown with its object */
        words[0] |= (uint64_t)place->dso << 32;
    words[1] = place->name != PROFILE_NONE ? 0 : profile_own_address(p, &p->b.frames.list.items[x->frame]);
    return 2;
}

/* Ranks by name; places without one come last, and are equal here. */
static uint64_t rank_symbol(const struct profile *p, const uint64_t *words) {
    uint32_t name = (uint32_t)words[0];
    return name == PROFILE_NONE ? p->list.count : p->name_ranks.items[name];
}

static uint32_t room_symbol(const struct profile *p, const struct profile_cell *x) {
    enum { LEVEL = 4, ADDRESS = 18, ORIGIN = 21 /* "0x1735c            d " */ };
    const struct profile_name *name = profile_name_of(p, x->frame);
    if (profile_grade_of(p, x->frame) == GRADE_STALE)
        return 0;
    return LEVEL + (name ? name->text_len + (p->plan.o->verbose ? ORIGIN : 0) : ADDRESS);
}

static unsigned words_offset(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    profile_words_symbol(p, x, words);
    if (p->places.items[x->frame].name != PROFILE_NONE)
        words[1] = p->b.frames.list.items[x->frame].offset;
    return 2;
}

/* Returns a rank of so many bits for a signed number, larger ones first, as far as the bits tell. */
static uint64_t downwards(uint64_t number, unsigned bits) {
    uint64_t sign = number >> 63, rest = ~number & (UINT64_MAX >> (65 - bits));
    return sign << (bits - 1) | rest;
}

/* Ranks by name, then by offset as a signed number, larger first. */
static uint64_t rank_offset(const struct profile *p, const uint64_t *words) {
    uint32_t name = (uint32_t)words[0];
    return name == PROFILE_NONE ? 1ull << 63 | downwards(words[1], 63)
                                : (uint64_t)p->name_ranks.items[name] << 41 | downwards(words[1], 41);
}

static void put_ipc(const struct profile *p, const struct profile_cell *x, struct out *o) {
    (void)x;
    out_str(o, p->plan.o->branch ? "-" : "-      -            ");
}

PROFILE_WORD(code_address, p->b.frames.list.items[x->frame].address)

uint64_t profile_rank_signed(const struct profile *p, const uint64_t *words) {
    (void)p;
    return words[0] ^ 1ull << 63;
}

/* "%#llx" */
static void put_code_address(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint64_t address = profile_cell_word(p, x);
    out_str(o, address ? "0x" : "");
    out_hex(o, address, 0);
}

PROFILE_WORD(dso_size, x->frame < p->mapping_sizes.count ? p->mapping_sizes.items[x->frame] : 0)

static unsigned words_symbol_size(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    const struct profile_name *name = profile_name_of(p, x->frame);
    words[0] = name ? name->end - name->start : 0;
    return 1;
}

static void put_size(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint64_t bytes = profile_cell_word(p, x);
    if (bytes)
        out_dec(o, bytes, 0);
    else
        out_str(o, "unknown");
}

/* ---- source lines and types of data (source.c) ---- */

unsigned profile_words_line(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    words[0] = p->sources.items[x->frame].line;
    return 1;
}

PROFILE_WORD(file, p->sources.items[x->frame].file)

PROFILE_WORD(type, p->types.items[x->frame].name)

static unsigned words_member(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    words[0] = p->types.items[x->frame].name;
    words[1] = p->types.items[x->frame].offset;
    return 2;
}

static unsigned words_member_line(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    words_member(p, x, words);
    words[1] /= PROFILE_CACHELINE_BYTES;
    return 2;
}

/* Ranks by name, the last one first, */
static uint64_t rank_type(const struct profile *p, const uint64_t *words) {
    return p->b.texts.entries.count - p->text_ranks.items[words[0]];
}

/* and then by offset, the largest first. */
static uint64_t rank_member(const struct profile *p, const uint64_t *words) {
    uint64_t at = words[1] < UINT32_MAX ? words[1] : UINT32_MAX;
    return (p->b.texts.entries.count - p->text_ranks.items[words[0]]) << 32 | (UINT32_MAX - at);
}

static void put_member(const struct profile *p, const struct profile_cell *x, struct out *o) {
    const struct profile_type *type = &p->types.items[x->frame];
    profile_put_text(p, x, o);
    if (!type->known)
        return;
    out_str(o, type->offset ? " +0x" : " +"); /* as "%#x" */
    out_hex(o, type->offset, 0);
    out_printf(o, " (%s)", strpool_text(&p->b.texts, type->field));
}

static void put_member_line(const struct profile *p, const struct profile_cell *x, struct out *o) {
    profile_put_text(p, x, o);
    out_str(o, ": cache-line ");
    out_dec(o, p->types.items[x->frame].offset / PROFILE_CACHELINE_BYTES, 0);
}

/* ---- the rows, in perf's order ---- */

#define WEIGHTS (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT)
#define RAW     (PERFDATA_SAMPLE_RAW | PERFDATA_SAMPLE_CPU)

const struct profile_key profile_field_key = {.name = "field",
                                              .help = "a field of a tracepoint",
                                              .kind = PROFILE_KEY_TEXTS,
                                              .layout = PROFILE_RIGHT | PROFILE_ALWAYS_RIGHT,
                                              .one_thread = true,
                                              .wants = RAW,
                                              .value = value_field,
                                              .words = words_field,
                                              .rank = rank_field,
                                              .word_decides = true};

static const struct profile_key rows[] = {
    {PROFILE_NAMES("pid", "    Pid:Command", "the thread: its id and name"), .id = PROFILE_PID,
     .kind = PROFILE_KEY_NUMBER, .layout = PROFILE_CUT, .cut_from = 8, .of_thread = true, .value = value_tid,
     .rank = rank_task, .put = put_thread, .room = room_thread},
    {PROFILE_NAMES("comm", "Command", "the thread's name"), .id = PROFILE_COMM, .kind = PROFILE_KEY_TEXT,
     .layout = PROFILE_CUT, .of_thread = true, .value = value_comm, .room = room_comm},
    {PROFILE_NAMES("comm_nodigit", "CommandNoDigit", "the thread's name, numbers in it replaced by <N>"),
     .id = PROFILE_COMM_NODIGIT, .kind = PROFILE_KEY_TEXTS, .of_thread = true, .value = value_comm_nodigit},
    {PROFILE_NAMES("dso", "Shared Object", "the program, library or kernel module"), .id = PROFILE_DSO,
     .kind = PROFILE_KEY_PLACE, .words = profile_words_dso, .rank = rank_dso, .put = profile_put_text,
     .room = room_dso},
    {PROFILE_NAMES("symbol", "Symbol", "the function, or the address"), .id = PROFILE_SYMBOL,
     .kind = PROFILE_KEY_PLACE, .layout = PROFILE_RAGGED | PROFILE_LEVEL, .cut_from = 4,
     .words = profile_words_symbol, .rank = rank_symbol, .of_function = true, .put = profile_put_symbol,
     .room = room_symbol},
    {PROFILE_NAMES("parent", "Parent symbol", "the first caller that --parent matches"), .id = PROFILE_PARENT,
     .kind = PROFILE_KEY_TEXT, .value = value_parent, .rank = rank_parent},
    {PROFILE_NAMES("cpu", "CPU", "the CPU it ran on"), .kind = PROFILE_KEY_NUMBER,
     .layout = PROFILE_RIGHT | PROFILE_DIGITS | PROFILE_TITLE_WIDE, .wants = PERFDATA_SAMPLE_CPU,
     .value = value_cpu, .put = put_cpu},
    {PROFILE_NAMES("socket", "Socket", "the processor socket it ran on"), .kind = PROFILE_KEY_NUMBER,
     .layout = PROFILE_RIGHT | PROFILE_ALWAYS_RIGHT | PROFILE_DIGITS | PROFILE_TITLE_WIDE, .blanks = 3,
     .wants = PERFDATA_SAMPLE_CPU, .value = value_socket, .put = put_cpu},
    {PROFILE_NAMES("srcline", "Source:Line", "source file and line"), .kind = PROFILE_KEY_PLACE,
     .layout = PROFILE_RAGGED, .finds = PROFILE_FINDS_LINES, .words = profile_words_line,
     .rank = profile_rank_text, .put = profile_put_text},
    {PROFILE_NAMES("srcfile", "Source File", "source file"), .kind = PROFILE_KEY_PLACE,
     .layout = PROFILE_RAGGED, .finds = PROFILE_FINDS_LINES, .words = words_file, .rank = profile_rank_text,
     .put = profile_put_text},
    {PROFILE_NAMES("local_weight", "Local Weight",
                   "what the event says of its cost, such as the latency of a memory access"),
     .kind = PROFILE_KEY_NUMBER, .downwards = true, .wants = WEIGHTS, .value = value_weight},
    {PROFILE_NAMES("weight", "Weight", "local_weight of all samples of the row together"),
     .kind = PROFILE_KEY_NUMBER, .width = 12, .downwards = true, .wants = WEIGHTS, .value = value_weight,
     .put = put_total},
    {PROFILE_NAMES("transaction", "Transaction", "why a transaction was aborted"), .kind = PROFILE_KEY_NUMBER,
     .layout = PROFILE_WIDE_EMPTY, .width = 27, .wants = PERFDATA_SAMPLE_TRANSACTION,
     .value = value_transaction, .put = put_transaction},
    {PROFILE_NAMES("trace", "Trace output", "a tracepoint's fields, as text"), .kind = PROFILE_KEY_TEXT,
     .layout = PROFILE_RAGGED, .one_thread = true, .wants = RAW, .value = value_trace},
    {PROFILE_NAMES("symbol_size", "Symbol size", "the function's size in bytes"), .kind = PROFILE_KEY_PLACE,
     .layout = PROFILE_RIGHT | PROFILE_ALWAYS_RIGHT, .cut_from = PROFILE_NEVER_CUT,
     .words = words_symbol_size, .put = put_size},
    {PROFILE_NAMES("dso_size", "DSO size", "the mapping's size in bytes"), .kind = PROFILE_KEY_PLACE,
     .layout = PROFILE_RIGHT | PROFILE_ALWAYS_RIGHT | PROFILE_TITLE_WIDE, .width = 8,
     .cut_from = PROFILE_NEVER_CUT, .finds = PROFILE_FINDS_MAPPING, .words = words_dso_size, .put = put_size},
    {PROFILE_NAMES("cgroup", "Cgroup", "the control group's path"), .kind = PROFILE_KEY_TEXT,
     .layout = PROFILE_RAGGED, .wants = PERFDATA_SAMPLE_CGROUP, .value = value_cgroup},
    {PROFILE_NAMES("cgroup_id", "cgroup id (dev/inode)", "device and inode of the control group namespace"),
     .kind = PROFILE_KEY_NUMBER, .layout = PROFILE_RAGGED, .downwards = true, .value = value_cgroup_id,
     .put = put_cgroup_id},
    {PROFILE_NAMES("ipc_null", "IPC   [IPC Coverage]",
                   "instructions per cycle of the function: not computed, and always -"),
     .id = PROFILE_IPC, .kind = PROFILE_KEY_PLACE, .width = 20, .words = profile_words_symbol,
     .rank = rank_symbol, .of_function = true, .put = put_ipc},
    {PROFILE_NAMES("time", "Time", "when, in slices of --time-quantum"), .kind = PROFILE_KEY_NUMBER,
     .layout = PROFILE_RAGGED | PROFILE_CUT | PROFILE_TITLE_WIDE, .width = 12, .width_ns = 16,
     .value = value_time, .put = put_time},
    {PROFILE_NAMES("code_page_size", "Code Page Size", "the size of the page that the code lies in"),
     .kind = PROFILE_KEY_NUMBER, .wants = PERFDATA_SAMPLE_CODE_PAGE_SIZE, .value = value_page_size,
     .put = profile_put_page_size},
    {PROFILE_NAMES("local_ins_lat", "Local INSTR Latency", "the instruction's latency in cycles"),
     .kind = PROFILE_KEY_NUMBER, .width = 13, .downwards = true, .wants = WEIGHTS,
     .arch = {.power = "Finish Cyc"}, .value = value_ins_lat},
    {PROFILE_NAMES("ins_lat", "INSTR Latency", "local_ins_lat of all samples of the row together"),
     .kind = PROFILE_KEY_NUMBER, .width = 13, .downwards = true, .wants = WEIGHTS,
     .arch = {.power = "Global Finish_cyc"}, .value = value_ins_lat, .put = put_total},
    /* perf has the titles of these two and of the retire_lats the wrong way round */
    {PROFILE_NAMES("local_p_stage_cyc", "Local Pipeline Stage Cycle",
                   "cycles in a stage of the pipeline (PowerPC)"),
     .kind = PROFILE_KEY_NUMBER, .width = 13, .downwards = true, .wants = WEIGHTS,
     .arch = {"Local Retire Latency", "Dispatch Cyc", .nowhere_else = true}, .value = value_weight3},
    {PROFILE_NAMES("p_stage_cyc", "Pipeline Stage Cycle",
                   "local_p_stage_cyc of all samples of the row together"),
     .kind = PROFILE_KEY_NUMBER, .width = 13, .downwards = true, .wants = WEIGHTS,
     .arch = {"Retire Latency", "Global Dispatch_cyc", .nowhere_else = true}, .value = value_weight3,
     .put = put_total},
    {PROFILE_NAMES("addr", "Address", "the code's address"), .kind = PROFILE_KEY_PLACE, .width = 18,
     .finds = PROFILE_FINDS_ADDRESS, .words = words_code_address, .rank = profile_rank_signed,
     .put = put_code_address},
    {PROFILE_NAMES("local_retire_lat", "Local Pipeline Stage Cycle",
                   "cycles since the instruction before was done (x86)"),
     .same_as = "local_p_stage_cyc", .kind = PROFILE_KEY_NUMBER, .downwards = true, .wants = WEIGHTS,
     .value = value_weight3},
    {PROFILE_NAMES("retire_lat", "Pipeline Stage Cycle",
                   "local_retire_lat of all samples of the row together"),
     .same_as = "p_stage_cyc", .kind = PROFILE_KEY_NUMBER, .downwards = true, .wants = WEIGHTS,
     .value = value_weight3, .put = put_total},
    {PROFILE_NAMES("simd", "Simd", "kind of SIMD operation, which only traces record that are not decoded"),
     .kind = PROFILE_KEY_NUMBER, .layout = PROFILE_RAGGED | PROFILE_WIDE_EMPTY, .width = 7,
     .value = value_nothing, .put = put_nothing},
    {PROFILE_NAMES("type", "Data Type", "type of the data that the instruction accesses"),
     .kind = PROFILE_KEY_PLACE, .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .finds = PROFILE_FINDS_TYPES,
     .words = words_type, .rank = rank_type, .put = profile_put_text},
    {PROFILE_NAMES("typeoff", "Data Type Offset",
                   "type and member of the data that the instruction accesses"),
     .kind = PROFILE_KEY_PLACE, .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .finds = PROFILE_FINDS_TYPES,
     .words = words_member, .rank = rank_member, .put = put_member},
    {PROFILE_NAMES("symoff", "Symbol Offset", "function and offset in it"), .kind = PROFILE_KEY_PLACE,
     .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .finds = PROFILE_FINDS_OFFSET, .words = words_offset,
     .rank = rank_offset, .of_function = true, .put = profile_put_symbol_offset},
    {PROFILE_NAMES("typecln", "Data Type Cacheline",
                   "type of the data that the instruction accesses, and the cache line within it"),
     .kind = PROFILE_KEY_PLACE, .layout = PROFILE_RAGGED | PROFILE_TITLE_WIDE, .finds = PROFILE_FINDS_TYPES,
     .words = words_member_line, .rank = rank_member, .put = put_member_line},
    {PROFILE_NAMES("parallelism", "Parallelism", "how many threads ran"), .need = PROFILE_NEEDS_SWITCHES,
     .kind = PROFILE_KEY_NUMBER, .layout = PROFILE_RIGHT, .value = value_parallelism},
    {PROFILE_NAMES("tgid", "   Tgid:Command", "the process: its id and name"), .kind = PROFILE_KEY_NUMBER,
     .layout = PROFILE_CUT | PROFILE_TITLE_WIDE, .cut_from = 8, .of_thread = true, .value = value_pid,
     .rank = rank_task, .put = put_process},
};

const struct profile_key_list profile_sample_keys = {rows, sizeof rows / sizeof *rows};
