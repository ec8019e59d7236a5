/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/dump_internal.h"

#include "view/dump/dump_regs.h"

#include <inttypes.h>

#define BRANCH_CALL_STACK (1ull << 11) /* enum perf_branch_sample_type */

/* "0123456789abcdef" */
static void hex64(struct out *o, uint64_t v) {
    out_hex0(o, v, 16);
}

/* "..... NN: " */
static void index_text(struct out *o, uint64_t i) {
    out_mem(o, "..... ", 6);
    out_dec(o, i, 2);
    out_mem(o, ": ", 2);
}

static const char *context_name(uint64_t ip) {
    switch (ip) {
    case PERFDATA_CONTEXT_HV:
        return " (PERF_CONTEXT_HV)";
    case PERFDATA_CONTEXT_KERNEL:
        return " (PERF_CONTEXT_KERNEL)";
    case PERFDATA_CONTEXT_USER:
        return " (PERF_CONTEXT_USER)";
    case PERFDATA_CONTEXT_USER_DEFERRED:
        return " (PERF_CONTEXT_USER_DEFERRED)";
    case PERFDATA_CONTEXT_GUEST:
        return " (PERF_CONTEXT_GUEST)";
    case PERFDATA_CONTEXT_GUEST_KERNEL:
        return " (PERF_CONTEXT_GUEST_KERNEL)";
    case PERFDATA_CONTEXT_GUEST_USER:
        return " (PERF_CONTEXT_GUEST_USER)";
    default:
        return NULL;
    }
}

static void callchain(struct out *o, const struct perfdata_sample *s) {
    out_str(o, "... FP chain: nr:");
    out_dec(o, s->callchain.count, 0);
    out_char(o, '\n');
    for (uint64_t i = 0; i < s->callchain.count; i++) {
        uint64_t ip = perfdata_u64_at(&s->callchain, i);
        index_text(o, i);
        hex64(o, ip);
        if (ip >= PERFDATA_CONTEXT_MAX) {
            const char *name = context_name(ip);
            if (name)
                out_str(o, name);
        }
        out_char(o, '\n');
    }
}

static void indexed(struct out *o, uint64_t i, uint64_t v) {
    index_text(o, i);
    hex64(o, v);
    out_char(o, '\n');
}

/* The addresses of an LBR call stack, innermost first: where the last branch went to, then where each came
 * from. */
static void branch_addresses(struct out *o, const struct perfdata_sample *s, uint64_t first) {
    if (!s->branch_count)
        return;
    indexed(o, first, perfdata_branch_at(s, 0).to);
    for (uint64_t i = 0; i < s->branch_count; i++)
        indexed(o, first + 1 + i, perfdata_branch_at(s, i).from);
}

/* The call chain made of the kernel's part of the recorded one and the LBR call stack of user space. */
static void lbr_callchain(struct out *o, const struct perfdata_sample *s) {
    uint64_t kernel = 0;
    while (kernel < s->callchain.count && perfdata_u64_at(&s->callchain, kernel) != PERFDATA_CONTEXT_USER)
        kernel++;
    if (kernel == s->callchain.count)
        return;
    kernel++;
    out_printf(o, "... LBR call chain: nr:%" PRIu64 "\n", kernel + 1 + s->branch_count);
    for (uint64_t i = 0; i < kernel; i++)
        indexed(o, i, perfdata_u64_at(&s->callchain, i));
    branch_addresses(o, s, kernel);
}

/* enum of PERF_BR_* and, where type is EXTEND_ABI (15), of PERF_BR_NEW_* (perf_event.h). */
static const char *branch_type(const struct perfdata_branch *b) {
    static const char *const types[] = {
        "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
        "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
    };
    static const char *const new_types[] = {
        "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
    };
    if (b->type < sizeof types / sizeof *types)
        return types[b->type];
    return b->new_type < sizeof new_types / sizeof *new_types ? new_types[b->new_type] : "unknown";
}

/* The bits of the third word that have no name yet: its last 30, bitfields being laid out in the producer's
 * byte order. */
static uint64_t branch_rest(const struct perfdata_sample *s, const struct perfdata_branch *b) {
    bool big_endian = s->swap != BYTES_HOST_BIG;
    return big_endian ? b->flags & ((1u << 30) - 1) : b->flags >> 34;
}

static void branch_stack(const struct dump_line *l, const struct perfdata_sample *s) {
    static const char *const spec[] = {"", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"};
    struct out *o = l->out;
    if (l->event->attr.branch_sample_type & BRANCH_CALL_STACK) {
        out_printf(o, "... branch callstack: nr:%" PRIu64 "\n", s->branch_count + 1);
        branch_addresses(o, s, 0);
        return;
    }
    out_printf(o, "... branch stack: nr:%" PRIu64 "\n", s->branch_count);
    for (uint64_t i = 0; i < s->branch_count; i++) {
        struct perfdata_branch b = perfdata_branch_at(s, i);
        index_text(o, i);
        hex64(o, b.from);
        out_mem(o, " -> ", 4);
        hex64(o, b.to);
        out_char(o, ' ');
        out_dec(o, b.cycles, 0);
        out_str(o, " cycles ");
        out_char(o, b.mispred ? 'M' : ' ');
        out_char(o, b.predicted ? 'P' : ' ');
        out_char(o, b.abort ? 'A' : ' ');
        out_char(o, b.in_tx ? 'T' : ' ');
        out_char(o, ' ');
        out_hex(o, branch_rest(s, &b), 0);
        out_char(o, ' ');
        out_str(o, branch_type(&b));
        out_char(o, ' ');
        out_str(o, spec[b.spec & 3]);
        out_char(o, '\n');
    }
}

static void branch_counters(const struct dump_line *l, const struct perfdata_sample *s) {
    out_printf(l->out, "... branch stack counters: nr:%" PRIu64 " (counter width: %u max counter nr:%u)\n",
               s->branch_counters.count, l->dump->counter_bits, l->dump->counter_nr);
    for (uint64_t i = 0; i < s->branch_counters.count; i++)
        indexed(l->out, i, perfdata_u64_at(&s->branch_counters, i));
}

static void registers(const struct dump_line *l, const char *whose, const struct perfdata_regs *regs) {
    struct out *o = l->out;
    if (!regs->abi)
        return;
    const char *abi = regs->abi == 1 ? "32-bit" : regs->abi == 2 ? "64-bit" : "unknown";
    out_printf(o, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", whose, regs->mask, abi);
    uint64_t i = 0;
    for (uint64_t left = regs->mask; left && i < regs->values.count; left &= left - 1, i++) {
        const char *name = dump_regs_name(l->dump->regs, (unsigned)__builtin_ctzll(left));
        out_mem(o, ".... ", 5);
        out_left(o, name, strlen(name), 5);
        out_mem(o, " 0x", 3);
        hex64(o, perfdata_u64_at(&regs->values, i));
        out_char(o, '\n');
    }
}

/* Where the stack's size word lies, counted from the record's header. */
static void user_stack(const struct dump_line *l, const struct perfdata_sample *s) {
    size_t at = s->stack_user.data ? (size_t)(s->stack_user.data - l->raw->raw.body.data) : 0;
    out_str(l->out, "... ustack: size ");
    out_dec(l->out, s->stack_dyn_size, 0);
    out_str(l->out, ", offset ");
    record_text_hex(l->out, at);
    out_char(l->out, '\n');
}

/* Powers of two as perf counts them: "4K", "2M", "1024M". */
static void page_size(struct out *o, const char *what, uint64_t bytes) {
    out_printf(o, " .. %s page size: ", what);
    if (!bytes)
        out_str(o, "N/A\n");
    else if (bytes >= 1 << 20)
        out_printf(o, "%" PRIu64 "M\n", bytes >> 20);
    else if (bytes >= 1 << 10)
        out_printf(o, "%" PRIu64 "K\n", bytes >> 10);
    else
        out_printf(o, "%" PRIu64 "B\n", bytes);
}

static void readings(struct out *o, const struct perfdata_read *r) {
    out_str(o, "... sample_read:\n");
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        out_printf(o, "...... time enabled %016" PRIx64 "\n", r->time_enabled);
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        out_printf(o, "...... time running %016" PRIx64 "\n", r->time_running);
    if (r->format & PERFDATA_FORMAT_GROUP)
        out_printf(o, ".... group nr %" PRIu64 "\n", r->count);
    for (uint64_t i = 0; i < r->count; i++) {
        struct perfdata_read_value v = perfdata_read_at(r, i);
        out_printf(o, "..... id %016" PRIx64 ", value %016" PRIx64, v.id, v.value);
        if (r->format & PERFDATA_FORMAT_LOST)
            out_printf(o, ", lost %" PRIu64, v.lost);
        out_char(o, '\n');
    }
}

/* The parts that a sample may have, in the order of perf's dump (which is not theirs in the record). */
static void parts(const struct dump_line *l, const struct perfdata_sample *s) {
    struct out *o = l->out;
    bool branches = s->have & PERFDATA_SAMPLE_BRANCH_STACK;
    if (s->have & PERFDATA_SAMPLE_CALLCHAIN) {
        if (branches && l->event->attr.branch_sample_type & BRANCH_CALL_STACK)
            lbr_callchain(o, s);
        callchain(o, s);
    }
    if (branches) {
        branch_stack(l, s);
        if (l->event->attr.branch_sample_type & PERFDATA_BRANCH_COUNTERS)
            branch_counters(l, s);
    }
    if (s->have & PERFDATA_SAMPLE_REGS_USER)
        registers(l, "user", &s->regs_user);
    if (s->have & PERFDATA_SAMPLE_REGS_INTR)
        registers(l, "intr", &s->regs_intr);
    if (s->have & PERFDATA_SAMPLE_STACK_USER)
        user_stack(l, s);
    if (s->have & PERFDATA_SAMPLE_WEIGHT)
        out_printf(o, "... weight: %" PRIu64 "\n", s->weight);
    if (s->have & PERFDATA_SAMPLE_WEIGHT_STRUCT)
        out_printf(o, "... weight: %" PRIu64 ",0x%x,0x%x\n", s->weight, s->ins_lat, s->weight3);
    if (s->have & PERFDATA_SAMPLE_DATA_SRC)
        out_printf(o, " . data_src: 0x%" PRIx64 "\n", s->data_src);
    if (s->have & PERFDATA_SAMPLE_PHYS_ADDR)
        out_printf(o, " .. phys_addr: 0x%" PRIx64 "\n", s->phys_addr);
    if (s->have & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
        page_size(o, "data", s->data_page_size);
    if (s->have & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
        page_size(o, "code", s->code_page_size);
    if (s->have & PERFDATA_SAMPLE_TRANSACTION)
        out_printf(o, "... transaction: %" PRIx64 "\n", s->transaction);
    if (s->have & PERFDATA_SAMPLE_READ)
        readings(o, &s->read);
}

/*
 * The thread's name then or, when it has exited (the last samples come after that), what it was called at
 * its end. Of several exits, one for each event, the later ones end threads that were never called anything.
 */
static const char *comm_at(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when) {
    enum { EXITS = 16 };
    const char *comm = model_comm(m, pid, tid, when, NULL);
    for (int i = 0; !comm && i < EXITS; i++) {
        uint32_t id = model_thread_at(m, pid, tid, when);
        const struct model_thread *t = id == MODEL_NONE ? NULL : model_thread(m, id);
        if (!t || !t->exited)
            return NULL;
        comm = model_comm(m, pid, tid, model_when_prior(t->ended), NULL);
        when = model_when_prior(t->born);
    }
    return comm;
}

/* Whose code it was: the thread by its comm, and the mapped file that covers the address. */
static void place(const struct dump_line *l, const struct perfdata_sample *s) {
    const struct model *m = l->dump->model;
    struct out *o = l->out;
    uint32_t pid = s->have & PERFDATA_SAMPLE_TID ? s->pid : UINT32_MAX;
    uint32_t tid = s->have & PERFDATA_SAMPLE_TID ? s->tid : UINT32_MAX;
    unsigned cpumode = l->raw->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    struct model_when when = {l->raw->time_ns, l->raw->loc};
    struct model_hit hit;
    const char *comm = comm_at(m, pid, tid, when);
    out_str(o, " ... thread: ");
    if (comm) {
        out_str(o, comm);
    } else {
        out_char(o, ':');
        out_int(o, (int32_t)tid, 0);
    }
    out_char(o, ':');
    out_int(o, (int32_t)tid, 0);
    out_str(o, "\n ...... dso: ");
    if (model_find(m, cpumode, pid, when, s->ip, &hit))
        out_str(o, model_image(m, hit.image)->name);
    else if (hit.space == MODEL_SPACE_USER || hit.space == MODEL_SPACE_KERNEL)
        out_str(o, "<not found>");
    else
        out_str(o, "[hypervisor]");
    out_char(o, '\n');
}

/*
 * How often perf delivers the sample: once, or once for every event whose counter moved. An event without an
 * id in its samples' readings counts as moved.
 */
static unsigned deliveries(const struct dump_line *l, const struct perfdata_sample *s) {
    if (!(s->have & PERFDATA_SAMPLE_READ) || !(s->read.format & PERFDATA_FORMAT_ID))
        return 1;
    unsigned n = 0;
    for (uint64_t i = 0; i < s->read.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&s->read, i);
        uint64_t period;
        if (readings_take(&l->dump->readings, l->dump->events, s->tid, &v, &period) != PERFDATA_NO_EVENT)
            n += period != 0;
    }
    return n;
}

void dump_sample(const struct dump_line *l, const struct perfdata_sample *s) {
    struct out *o = l->out;
    out_str(o, "(IP, 0x");
    out_hex(o, l->raw->raw.misc, 0);
    out_mem(o, "): ", 3);
    bool has_tid = s->have & PERFDATA_SAMPLE_TID;
    out_int(o, has_tid ? (int32_t)s->pid : -1, 0);
    out_char(o, '/');
    out_int(o, has_tid ? (int32_t)s->tid : -1, 0);
    out_mem(o, ": ", 2);
    record_text_hex(o, s->have & PERFDATA_SAMPLE_IP ? s->ip : 0);
    out_str(o, " period: ");
    out_dec(o, s->have & PERFDATA_SAMPLE_PERIOD ? s->period : l->event->attr.sample_period, 0);
    out_str(o, " addr: ");
    record_text_hex(o, s->have & PERFDATA_SAMPLE_ADDR ? s->addr : 0);
    out_char(o, '\n');
    parts(l, s);
    if (l->dump->model && l->raw->event != PERFDATA_NO_EVENT) {
        for (unsigned n = deliveries(l, s); n > 0; n--)
            place(l, s);
    }
}
