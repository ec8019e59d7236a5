/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/callers.h"

#include <string.h>

/* How names are compared. */
enum match { WHOLE, PREFIX };

struct rule {
    const char *name;
    enum match match;
};

/* Where processors enter kernels, as /proc/kallsyms names it. */
static const struct rule exceptions[] = {
    /* x86, from 5.8 on */
    {"asm_exc_", PREFIX},
    {"asm_sysvec_", PREFIX},
    {"asm_common_interrupt", WHOLE},
    {"asm_spurious_interrupt", WHOLE},
    {"asm_fred_entrypoint_", PREFIX},
    /* x86 before */
    {"apic_timer_interrupt", WHOLE},
    {"reschedule_interrupt", WHOLE},
    {"call_function_interrupt", WHOLE},
    {"call_function_single_interrupt", WHOLE},
    {"irq_work_interrupt", WHOLE},
    {"x86_platform_ipi", WHOLE},
    {"ret_from_intr", WHOLE},
    {"page_fault", WHOLE},
    {"async_page_fault", WHOLE},
    {"general_protection", WHOLE},
    {"invalid_op", WHOLE},
    {"nmi", WHOLE},
    {"end_repeat_nmi", WHOLE},
    /* arm64, arm */
    {"el1h_64_irq", WHOLE},
    {"el1h_64_fiq", WHOLE},
    {"el1h_64_sync", WHOLE},
    {"el1h_64_error", WHOLE},
    {"el1_irq", WHOLE},
    {"el1_sync", WHOLE},
    {"el1_da", WHOLE},
    {"__irq_svc", WHOLE},
    {"__fiq_svc", WHOLE},
    {"__dabt_svc", WHOLE},
    {"__pabt_svc", WHOLE},
    {"__und_svc", WHOLE},
    /* riscv, s390, powerpc */
    {"handle_exception", WHOLE},
    {"ret_from_exception", WHOLE},
    {"ext_int_handler", WHOLE},
    {"io_int_handler", WHOLE},
    {"pgm_check_handler", WHOLE},
    {"hardware_interrupt_common", PREFIX},
    {"decrementer_common", PREFIX},
    {"data_access_common", PREFIX},
    {"performance_monitor_common", PREFIX},
};

/* What signal handlers return to: of the vdso, glibc and musl, Go. */
static const struct rule signals[] = {
    {"__restore_rt", WHOLE},
    {"__restore", WHOLE},
    {"__default_rt_sa_restorer", WHOLE},
    {"__default_sa_restorer", WHOLE},
    {"__kernel_rt_sigreturn", WHOLE},
    {"__kernel_sigreturn", WHOLE},
    {"__vdso_rt_sigreturn", WHOLE},
    {"__kernel_sigtramp", PREFIX},
    {"runtime.sigreturn", PREFIX},
};

/* What kernel functions return to without having been called from there. */
static const struct rule landings[] = {
    {"arch_rethook_trampoline", WHOLE}, {"__kretprobe_trampoline", WHOLE}, {"kretprobe_trampoline", WHOLE},
    {"return_to_handler", WHOLE},       {"ret_from_fork", PREFIX},         {"ret_from_kernel_thread", WHOLE},
};

static bool is_among(const struct rule *rules, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        /* Asked for each function that was hit: nearly all differ at once. */
        if (name[0] != rules[i].name[0] || name[1] != rules[i].name[1])
            continue;
        if (rules[i].match == WHOLE ? !strcmp(name, rules[i].name)
                                    : !strncmp(name, rules[i].name, strlen(rules[i].name)))
            return true;
    }
    return false;
}

#define IS_AMONG(rules, name) is_among(rules, sizeof(rules) / sizeof *(rules), name)

static bool is_kernel(enum model_space space) {
    return space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL;
}

bool resolve_callers_is_entry(const char *function, enum model_space space) {
    return function && (is_kernel(space) ? IS_AMONG(exceptions, function) : IS_AMONG(signals, function));
}

static bool has_no_file(const struct model *m, uint32_t image) {
    const struct model_image *i = image == MODEL_NONE ? NULL : model_image(m, image);
    return i && (i->pid != MODEL_NONE || i->kind == MODEL_IMAGE_CODE);
}

void resolve_callers_join(const struct model *m, struct model_hit *hit, const struct model_hit *prior) {
    bool ends = hit->mapping == MODEL_NONE || (has_no_file(m, hit->image) && has_no_file(m, prior->image));
    if (prior->mapping == MODEL_NONE || (hit->mapping != prior->mapping && !ends))
        return;
    if (hit->mapping != prior->mapping) {
        *hit = *prior;
        hit->offset++;
    }
    hit->back = 1;
}

uint32_t resolve_callers_symbol(const struct symbol_table *t, struct model_hit *hit) {
    uint32_t caller = symbol_table_find(t, hit->offset - 1);
    if (caller != SYMBOL_NONE && symbol_table_end(t, caller) > hit->offset)
        return caller;
    uint32_t at = symbol_table_find(t, hit->offset);
    if (at == SYMBOL_NONE || symbol_table_start(t, at) != hit->offset)
        return caller;
    const char *name = symbol_table_name(t, at);
    if (!(is_kernel(hit->space) ? IS_AMONG(landings, name) : IS_AMONG(signals, name)))
        return caller;
    hit->back = 0;
    return at;
}
