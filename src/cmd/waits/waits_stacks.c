/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/waits/waits_stacks.h"

#include <inttypes.h>

#include "cmd/common/input.h"
#include "os/proc/host.h"
#include "record/synth/tasks.h"
#include "resolve/sample.h"

enum { STACK_BYTES = 64 << 10, PAGE = 4096 };

/* What the unwinder needs to know of a CPU's registers here: asm/perf_regs.h. */
#ifdef __aarch64__
enum { REG_SP = 31, REG_PC = 32 };
#else
enum { REG_SP = 7, REG_PC = 8 };
#endif

struct stacks {
    struct waits *w;
    const struct os_proc *proc;
    struct perfdata_attr attr;
    struct perfdata_plan plan;
    struct model *model;
    struct symbol_store *store;
    struct resolve_names *names;
    struct resolve_locator locator;
    struct resolve_samples samples;
    uint8_t *room; /* STACK_BYTES */
    uint64_t order;
};

/* ---- what is mapped ---- */

static bool apply(struct stacks *s, struct bytes records, struct err *err) {
    while (records.size >= PERFDATA_HEADER_SIZE) {
        const uint8_t *p = records.data;
        struct perfdata_raw raw = {bytes_load32(p, false), bytes_load16(p + 4, false),
                                   bytes_load16(p + 6, false)};
        struct perfdata_record rec;
        if (raw.size < PERFDATA_HEADER_SIZE || raw.size > records.size)
            break;
        raw.body = (struct bytes){p + PERFDATA_HEADER_SIZE, raw.size - PERFDATA_HEADER_SIZE};
        records = (struct bytes){p + raw.size, records.size - raw.size};
        if (perfdata_record_decode(&raw, &s->plan, false, &rec, NULL) &&
            !model_apply(s->model, &rec, (struct model_when){0, s->order++}, err))
            return false;
    }
    return true;
}

/* A stack that is still and ours to look at. */
static bool wanted(const struct waits_choice *choice, const struct waits_thread *t) {
    return waits_chosen(choice, t) && !t->kernel && t->sp && t->state != 'R' && t->call != WAITS_CALL_FOREIGN;
}

static bool wants_process(const struct stacks *s, const struct waits_choice *choice,
                          const struct waits_process *p) {
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        if (wanted(choice, &s->w->threads.items[i]))
            return true;
    return false;
}

/* The mappings of all processes that are wanted, as if a recording began now. */
static bool take_maps(struct stacks *s, const struct waits_choice *choice, struct err *err) {
    const struct record_sink sink = {.plan = &s->plan, .id = {.have = s->attr.sample_type}};
    struct record_tasks tasks = {.proc = s->proc, .sink = &sink, .mappings = true, .build_ids = true};
    bool ok = true;
    for (size_t i = 0; ok && i < s->w->processes.count; i++) {
        const struct waits_process *p = &s->w->processes.items[i];
        if (!wants_process(s, choice, p))
            continue;
        ok = (record_tasks_process(&tasks, p->pid) || err_memory(err, "mappings")) &&
             apply(s, writer_bytes(&tasks.out), err);
        writer_clear(&tasks.out);
    }
    record_tasks_fini(&tasks);
    return ok && model_freeze(s->model, err);
}

static bool open_all(struct stacks *s, const struct waits_choice *choice, const struct command_env *env,
                     struct err *err) {
    struct symbol_options options = input_symbols(env, &(struct symbol_options){0});
    struct os_host host;
    options.debuginfod_urls = NULL; /* an answer from the network comes too late */
    s->attr = (struct perfdata_attr){.size = 128,
                                     .known_size = 128,
                                     .sample_type = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME,
                                     .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    perfdata_plan_init(&s->plan, &s->attr, false);
    s->room = malloc(STACK_BYTES);
    if (!s->room)
        return err_memory(err, "stacks");
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!s->model || !take_maps(s, choice, err))
        return false;
    s->store = symbol_store_new(&options, err);
    s->names = s->store ? resolve_names_new(s->model, s->store, NULL, err) : NULL;
    s->locator = (struct resolve_locator){.model = s->model};
    s->samples = (struct resolve_samples){
        .locator = &s->locator, .names = s->names, .chain.o = {.most = WAITS_STACK_MAX, .names = s->names}};
    s->samples.chain.unwind = s->names ? resolve_unwind_new(s->names, NULL, err) : NULL;
    if (!s->samples.chain.unwind)
        return false;
    os_host_read(&host);
    resolve_unwind_set_cpu(s->samples.chain.unwind, host.machine);
    return true;
}

static void close_all(struct stacks *s) {
    resolve_samples_fini(&s->samples);
    resolve_locator_fini(&s->locator);
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    model_free(s->model);
    free(s->room);
}

/* ---- one thread ---- */

/* As much of the stack as there is: to the end of its mapping, page by page where that is near. */
static size_t copy(struct stacks *s, const struct waits_thread *t) {
    struct err why = ERR_INIT;
    size_t have = 0, whole = STACK_BYTES - t->sp % PAGE;
    if (s->proc->memory(s->proc->ctx, t->pid, t->sp, s->room, whole, &why))
        return whole;
    for (size_t n = PAGE - t->sp % PAGE; have < whole; have += n, n = PAGE)
        if (!s->proc->memory(s->proc->ctx, t->pid, t->sp + have, s->room + have, n, &why))
            break;
    return have;
}

static uint32_t take_regs(const struct waits_thread *t, uint64_t values[WAITS_REGS], uint64_t *mask) {
    uint32_t n = 0;
    *mask = t->regs_mask ? t->regs_mask : 1ull << REG_SP | 1ull << REG_PC;
    for (unsigned i = 0; i < WAITS_REGS; i++)
        if (*mask >> i & 1)
            values[n++] = t->regs_mask ? t->regs[i] : i == REG_SP ? t->sp : t->pc;
    return n;
}

static const char *frame_text(struct stacks *s, struct resolve_sample_frame *f) {
    const char *name = resolve_sample_name(&s->samples, f, NULL);
    if (name)
        return arena_strndup(&s->w->arena, name, strlen(name));
    if (f->hit.image == MODEL_NONE)
        return arena_printf(&s->w->arena, "0x%" PRIx64, f->address);
    return arena_printf(&s->w->arena, "%s+0x%" PRIx64, model_image(s->model, f->hit.image)->short_name,
                        f->hit.offset);
}

static bool append(struct stacks *s, struct waits_thread *t) {
    size_t n = s->samples.frames.count;
    const char **all = arena_alloc(&s->w->arena, (t->depth + n) * sizeof *all);
    if (!all)
        return false;
    if (t->depth)
        memcpy(all, t->stack, t->depth * sizeof *all);
    t->stack = all;
    for (size_t i = 0; i < n; i++)
        if (!(all[t->depth++] = frame_text(s, &s->samples.frames.items[i])))
            return false;
    return true;
}

static bool add_stack(struct stacks *s, struct waits_thread *t) {
    uint64_t values[WAITS_REGS], mask, size = copy(s, t);
    uint32_t count = take_regs(t, values, &mask);
    const struct perfdata_sample sample = {
        .have = RESOLVE_UNWIND_FIELDS | PERFDATA_SAMPLE_IP,
        .callchain = {s->room, 0, false}, /* there is one, and it is empty */
        .ip = t->pc,
        .pid = (uint32_t)t->pid,
        .tid = (uint32_t)t->tid,
        .regs_user = {.abi = 2, .mask = mask, .values = {(const uint8_t *)values, count, false}},
        .stack_user = {s->room, (size_t)size},
        .stack_dyn_size = size,
    };
    const struct resolve_sample_at at = {&sample, &s->attr, PERFDATA_MISC_USER, MODEL_WHEN_END};
    s->samples.chain.known = NULL; /* each has the same place, but they are others */
    return resolve_sample_read_all(&s->samples, &at) && append(s, t);
}

bool waits_stacks_add(struct waits *w, const struct os_proc *proc, const struct waits_choice *choice,
                      const struct command_env *env, struct err *err) {
    struct stacks s = {.w = w, .proc = proc};
    bool ok = open_all(&s, choice, env, err);
    for (size_t i = 0; ok && i < w->threads.count; i++)
        if (wanted(choice, &w->threads.items[i]))
            ok = add_stack(&s, &w->threads.items[i]) || err_memory(err, "stacks");
    close_all(&s);
    return ok;
}
