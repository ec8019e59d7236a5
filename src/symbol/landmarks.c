/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/landmarks.h"

#include <stddef.h>
#include <string.h>

/* How names are compared. */
enum match { WHOLE, PREFIX };

struct rule {
    const char *name;
    enum match match;
};

/* Spelled as in /proc/kallsyms. */
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

/* Those of the vdso, glibc and musl, Go. */
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

/* Go's (funcIDs that the traceback of its runtime takes for injected calls), spelled as by its linker. */
static const struct rule injected[] = {
    {"runtime.asyncPreempt", WHOLE},  {"runtime.asyncPreempt.abi0", WHOLE}, {"runtime.sigpanic", WHOLE},
    {"runtime.sigpanic.abi0", WHOLE}, {"runtime.sigpanic0.abi0", WHOLE},    {"runtime.debugCallV1", WHOLE},
    {"runtime.debugCallV2", WHOLE},   {"runtime.debugCallV2.abi0", WHOLE},
};

static const struct rule landings[] = {
    {"arch_rethook_trampoline", WHOLE}, {"__kretprobe_trampoline", WHOLE}, {"kretprobe_trampoline", WHOLE},
    {"return_to_handler", WHOLE},       {"ret_from_fork", PREFIX},         {"ret_from_kernel_thread", WHOLE},
};

static bool is_among(const struct rule *rules, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        /* This runs for each function that was hit; nearly all differ at once. */
        if (name[0] != rules[i].name[0] || name[1] != rules[i].name[1])
            continue;
        if (rules[i].match == WHOLE ? !strcmp(name, rules[i].name)
                                    : !strncmp(name, rules[i].name, strlen(rules[i].name)))
            return true;
    }
    return false;
}

#define IS_AMONG(rules, name) is_among(rules, sizeof(rules) / sizeof *(rules), name)

bool symbol_is_exception(const char *function) {
    return IS_AMONG(exceptions, function);
}

bool symbol_is_signal_return(const char *function) {
    return IS_AMONG(signals, function);
}

bool symbol_is_injected(const char *function) {
    return IS_AMONG(injected, function);
}

bool symbol_is_landing(const char *function) {
    return IS_AMONG(landings, function);
}
