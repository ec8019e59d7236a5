/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows and has: tried where that is possible. For the rest, sysctls of
 * Documentation/admin-guide/sysctl/kernel.rst, and files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/feature_list.h"
#include "cmd/doctor/doctor.h"
#include "config.h"
#include "events/allowed.h"
#include "events/tracepoint.h"
#include "os/proc/host.h"
#include "os/rights.h"
#include "record/synth/kernel.h"

struct machine {
    struct doctor *d;
    const struct sysfs *system;
    const struct os_perf *perf;
    const struct os_proc *proc;
    struct os_rights rights;
    struct perf_allowed allowed;
};

/* The text of a file; NULL: it is not there, or not for us. */
static const char *text_at(struct machine *m, const char *path) {
    return m->system->read(m->system, path, &m->d->texts, NULL);
}

static bool number_at(struct machine *m, const char *path, long *value) {
    const char *text = text_at(m, path);
    char *end = NULL;
    *value = text ? strtol(text, &end, 10) : 0;
    return text && end != text;
}

static bool is_there(struct machine *m, const char *folder, const char *name) {
    struct sysfs_names names;
    bool found = false;
    if (!m->system->list(m->system, folder, &m->d->texts, &names, NULL))
        return false;
    for (size_t i = 0; i < names.count; i++)
        found |= !name || !strcmp(names.items[i], name);
    return found;
}

/* ---- rights ---- */

/* The command that would give our program the rights of perf-security.rst. */
static const char *more_rights(struct machine *m, const char *level) {
    struct os_host host;
    os_host_read(&host);
    return doctor_text(m->d,
                       "sudo sysctl kernel.perf_event_paranoid=%s, or sudo setcap "
                       "cap_perfmon,cap_syslog,cap_sys_ptrace+ep %s",
                       level, host.program);
}

static void say_events(struct machine *m) {
    const struct perf_allowed *a = &m->allowed;
    const char *level = m->rights.paranoid == OS_RIGHTS_UNKNOWN
                            ? ""
                            : doctor_text(m->d, " (perf_event_paranoid is %ld)", m->rights.paranoid);
    if (a->user && !perf_allowed_denies(a->user))
        doctor_say(m->d, DOCTOR_PROBLEM, "perf_events", "a kernel with CONFIG_PERF_EVENTS",
                   "this kernel has no performance events");
    else if (a->user)
        doctor_say(m->d, DOCTOR_PROBLEM, "paranoid", perf_allowed_nothing(a, &m->rights),
                   "nothing may be recorded%s", level);
    else if (a->kernel)
        doctor_say(m->d, DOCTOR_WARNING, "paranoid", more_rights(m, "-1"),
                   "only user code of one's own processes may be recorded%s", level);
    else if (a->cpus)
        doctor_say(m->d, DOCTOR_NOTE, "paranoid", more_rights(m, "-1"),
                   "one's own processes may be recorded with the kernel, but no whole CPUs%s", level);
    else
        doctor_say(m->d, DOCTOR_OK, "paranoid", NULL,
                   "user code, the kernel and whole CPUs may be recorded%s", level);
}

static void say_addresses(struct machine *m) {
    struct record_kernel k;
    char advice[OS_RIGHTS_ROOM];
    record_kernel_find(m->proc, &k);
    const char *level = m->rights.kptr == OS_RIGHTS_UNKNOWN
                            ? ""
                            : doctor_text(m->d, " (kptr_restrict is %ld)", m->rights.kptr);
    if (k.hidden)
        doctor_say(m->d, DOCTOR_WARNING, "kptr_restrict", os_rights_show_addresses(&m->rights, advice),
                   "addresses of kernel symbols are hidden%s", level);
    else if (k.start)
        doctor_say(m->d, DOCTOR_OK, "kptr_restrict", NULL, "addresses of kernel symbols can be read%s",
                   level);
    else
        doctor_say(m->d, DOCTOR_WARNING, "kptr_restrict", "a kernel with CONFIG_KALLSYMS, and /proc",
                   "there is no list of kernel symbols (/proc/kallsyms)");
}

/* ---- limits of this machine and this user ---- */

static void say_rates(struct machine *m) {
    enum { USUAL_HZ = 4000, USUAL_STACK = 127, USUAL_KB = 516 };
    long rate, percent, stack, mlock_kb;
    if (number_at(m, "/proc/sys/kernel/perf_event_max_sample_rate", &rate))
        doctor_say(m->d, rate < USUAL_HZ ? DOCTOR_WARNING : DOCTOR_OK, "max_sample_rate",
                   rate < USUAL_HZ ? "sudo sysctl kernel.perf_event_max_sample_rate=100000" : NULL,
                   "at most %ld samples a second and CPU (perf_event_max_sample_rate)", rate);
    if (number_at(m, "/proc/sys/kernel/perf_cpu_time_max_percent", &percent))
        doctor_say(m->d, DOCTOR_OK, "cpu_time_max_percent", NULL,
                   percent ? "the kernel lowers the rate when sampling takes more than %ld %% of the time"
                           : "the kernel lets sampling take all the time it needs (%ld)",
                   percent);
    if (number_at(m, "/proc/sys/kernel/perf_event_max_stack", &stack))
        doctor_say(m->d, stack < USUAL_STACK ? DOCTOR_WARNING : DOCTOR_OK, "max_stack",
                   stack < USUAL_STACK ? "sudo sysctl kernel.perf_event_max_stack=127" : NULL,
                   "callchains of at most %ld addresses (perf_event_max_stack)", stack);
    bool limited = m->rights.paranoid > -1 && !m->rights.ipc_lock;
    if (number_at(m, "/proc/sys/kernel/perf_event_mlock_kb", &mlock_kb) && limited)
        doctor_say(m->d, mlock_kb < USUAL_KB ? DOCTOR_WARNING : DOCTOR_OK, "mlock",
                   mlock_kb < USUAL_KB ? "sudo sysctl kernel.perf_event_mlock_kb=516" : NULL,
                   "buffers of %ld KB for each CPU are free to this user (perf_event_mlock_kb)", mlock_kb);
}

/* The soft or the hard limit in a line of proc_pid_limits(5), or -1: unlimited, or not there. */
static long limit_of(const char *limits, const char *name, bool hard) {
    const char *line = limits ? strstr(limits, name) : NULL;
    if (!line)
        return -1;
    line += strlen(name);
    line += strspn(line, " ");
    if (hard) {
        line += strcspn(line, " \n");
        line += strspn(line, " ");
    }
    return *line >= '0' && *line <= '9' ? strtol(line, NULL, 10) : -1;
}

static void say_limits(struct machine *m) {
    enum { FEW_FILES = 1024 };
    const char *limits = text_at(m, "/proc/self/limits");
    /* The recorder raises its own soft limit (os/limits.h). */
    long files = limit_of(limits, "Max open files", true),
         locked = limit_of(limits, "Max locked memory", false);
    if (files >= 0)
        doctor_say(m->d, files < FEW_FILES ? DOCTOR_WARNING : DOCTOR_OK, "open_files",
                   files < FEW_FILES ? "as root: ulimit -Hn 65536" : NULL,
                   "%ld files may be open; each event needs one per CPU and, without -a, per thread", files);
    if (locked >= 0 && m->rights.paranoid > -1 && !m->rights.ipc_lock)
        doctor_say(m->d, DOCTOR_OK, "locked_memory", NULL, "%ld KB may be locked beyond that (ulimit -l)",
                   locked / 1024);
}

/* ---- what there is ---- */

static void say_pmu(struct machine *m) {
    static const char *const known[] = {"cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3", "cpum_cf"};
    static const char folder[] = "/sys/bus/event_source/devices";
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof known / sizeof *known; i++)
        found = is_there(m, folder, known[i]) ? known[i] : NULL;
    bool counts = !m->allowed.counters;
    if (counts || (found && perf_allowed_denies(m->allowed.counters)))
        doctor_say(m->d, DOCTOR_OK, "pmu", NULL, "the CPU's counters are there%s%s%s", found ? " (" : "",
                   found ? found : "", found ? ")" : "");
    else
        doctor_say(m->d, DOCTOR_WARNING, "pmu",
                   "let the hypervisor pass the PMU on (KVM: -cpu host,pmu=on); until then cpu-clock is "
                   "recorded instead of cycles",
                   "there are no hardware counters: cycles, instructions and precise samples cannot be had");
    if (is_there(m, folder, "intel_pt"))
        doctor_say(m->d, DOCTOR_OK, "intel_pt", NULL, "Intel PT is there");
    long watchdog;
    if (found && number_at(m, "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog)
        doctor_say(m->d, DOCTOR_NOTE, "nmi_watchdog", "sudo sysctl kernel.nmi_watchdog=0",
                   "the NMI watchdog takes one hardware counter");
}

static void say_kernel(struct machine *m) {
    bool btf = is_there(m, "/sys/kernel/btf", "vmlinux");
    doctor_say(m->d, btf ? DOCTOR_OK : DOCTOR_NOTE, "btf", btf ? NULL : "a kernel with CONFIG_DEBUG_INFO_BTF",
               btf ? "the kernel's types are there (BTF)" : "the kernel's types are not there (BTF)");
}

/* Listed, read and opened: each takes rights of its own. */
static void say_tracepoints(struct machine *m) {
    struct tracepoint_set set;
    struct err err = ERR_INIT;
    uint64_t id;
    tracepoint_set_init(&set, m->system);
    if (!tracepoint_systems(&set, &err) || !tracepoint_id(&set, "sched", "sched_process_exec", &id, &err)) {
        const char *advice = strstr(err.message, ": ");
        doctor_say(m->d, DOCTOR_NOTE, "tracefs", advice ? advice + 2 : NULL, "%.*s",
                   advice ? (int)(advice - err.message) : (int)strlen(err.message), err.message);
    } else if (perf_allowed_tracepoint(m->perf, id)) {
        doctor_say(m->d, DOCTOR_NOTE, "tracefs", "sudo sysctl kernel.perf_event_paranoid=-1, or run as root",
                   "tracepoints can be read, but not recorded");
    } else {
        doctor_say(m->d, DOCTOR_OK, "tracefs", NULL, "tracepoints can be recorded");
    }
    tracepoint_set_fini(&set);
}

static void say_symbols(struct machine *m) {
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (urls && *urls)
        doctor_say(m->d, DOCTOR_OK, "debuginfod", NULL, "debugging information is asked of %s", urls);
    else
        doctor_say(m->d, DOCTOR_NOTE, "debuginfod", doctor_debug_advice(m->d, m->system, ""),
                   "no server is asked for debugging information (DEBUGINFOD_URLS)");
    for (const struct feature_row *f = feature_table; f->name; f++)
        if (!f->built_in && f->tip)
            doctor_say(m->d, DOCTOR_NOTE, "feature", f->tip, "this sonde was built without %s", f->name);
}

void doctor_machine(struct doctor *d, const struct sysfs *system, const struct os_perf *perf,
                    const struct os_proc *proc) {
    struct machine m = {.d = d, .system = system, .perf = perf, .proc = proc};
    struct os_host host;
    os_host_read(&host);
    doctor_say(d, DOCTOR_OK, "versions", NULL, "sonde %s, Linux %s, %s", SONDE_VERSION, host.release,
               host.machine);
    os_rights_read(system, &m.rights);
    perf_allowed_find(perf, &m.allowed);
    say_events(&m);
    say_addresses(&m);
    say_rates(&m);
    say_limits(&m);
    say_pmu(&m);
    say_kernel(&m);
    say_tracepoints(&m);
    say_symbols(&m);
}
