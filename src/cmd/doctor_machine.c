/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows and has: sysctls of Documentation/admin-guide/sysctl/kernel.rst, and files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/doctor.h"
#include "cmd/feature_list.h"
#include "config.h"
#include "os/host.h"

struct machine {
    struct doctor *d;
    const struct sysfs *system;
    bool perfmon, syslog; /* CAP_PERFMON or CAP_SYS_ADMIN; CAP_SYSLOG (capabilities(7)) */
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

static void read_rights(struct machine *m) {
    enum { SYS_ADMIN = 21, SYSLOG = 34, PERFMON = 38 };
    const char *status = text_at(m, "/proc/self/status");
    const char *line = status ? strstr(status, "\nCapEff:") : NULL;
    unsigned long long caps = line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
    m->perfmon = caps >> PERFMON & 1 || caps >> SYS_ADMIN & 1;
    m->syslog = caps >> SYSLOG & 1;
}

static void say_paranoid(struct machine *m) {
    /* From the level on, what is forbidden without rights; Debian and Android add 3. */
    static const struct {
        long from;
        enum doctor_severity severity;
        const char *text;
    } levels[] = {
        {3, DOCTOR_PROBLEM, "nothing may be recorded"},
        {2, DOCTOR_WARNING, "only user code of one's own processes may be recorded"},
        {1, DOCTOR_NOTE, "one's own processes may be recorded with the kernel, other processes and CPUs not"},
        {-1000, DOCTOR_OK, "everything may be recorded"},
    };
    long level;
    if (!number_at(m, "/proc/sys/kernel/perf_event_paranoid", &level)) {
        doctor_say(m->d, DOCTOR_PROBLEM, "perf_events", "a kernel with CONFIG_PERF_EVENTS",
                   "this kernel has no performance events, or hides them (a container without /proc/sys?)");
        return;
    }
    size_t i = 0;
    while (level < levels[i].from && levels[i].from > -1000)
        i++;
    if (m->perfmon)
        doctor_say(m->d, DOCTOR_OK, "paranoid", NULL,
                   "perf_event_paranoid is %ld, and we have the rights to record everything", level);
    else
        doctor_say(m->d, levels[i].severity, "paranoid",
                   levels[i].severity == DOCTOR_OK
                       ? NULL
                       : "sysctl kernel.perf_event_paranoid=-1, or give sonde CAP_PERFMON (setcap "
                         "cap_perfmon,cap_syslog,cap_sys_ptrace+ep)",
                   "perf_event_paranoid is %ld: %s", level, levels[i].text);
}

static void say_kptr(struct machine *m) {
    long level;
    if (!number_at(m, "/proc/sys/kernel/kptr_restrict", &level))
        return;
    bool hidden = level >= 2 || (level == 1 && !m->syslog);
    doctor_say(m->d, hidden ? DOCTOR_WARNING : DOCTOR_OK, "kptr_restrict",
               hidden ? "sysctl kernel.kptr_restrict=0, or CAP_SYSLOG where it is 1" : NULL,
               "kptr_restrict is %ld: addresses of kernel symbols can%s be read", level, hidden ? "not" : "");
}

/* ---- limits ---- */

static void say_rates(struct machine *m) {
    enum { USUAL_HZ = 4000, USUAL_STACK = 127 };
    long rate, percent, stack, mlock_kb;
    if (number_at(m, "/proc/sys/kernel/perf_event_max_sample_rate", &rate))
        doctor_say(m->d, rate < USUAL_HZ ? DOCTOR_WARNING : DOCTOR_OK, "max_sample_rate",
                   rate < USUAL_HZ ? "sysctl kernel.perf_event_max_sample_rate=100000" : NULL,
                   "at most %ld samples a second and CPU (perf_event_max_sample_rate)", rate);
    if (number_at(m, "/proc/sys/kernel/perf_cpu_time_max_percent", &percent))
        doctor_say(m->d, DOCTOR_OK, "cpu_time_max_percent", NULL,
                   percent ? "the kernel lowers the rate when sampling takes more than %ld %% of the time"
                           : "the kernel lets sampling take all the time it needs (%ld)",
                   percent);
    if (number_at(m, "/proc/sys/kernel/perf_event_max_stack", &stack))
        doctor_say(m->d, stack < USUAL_STACK ? DOCTOR_WARNING : DOCTOR_OK, "max_stack",
                   stack < USUAL_STACK ? "sysctl kernel.perf_event_max_stack=127" : NULL,
                   "callchains of at most %ld addresses (perf_event_max_stack)", stack);
    if (number_at(m, "/proc/sys/kernel/perf_event_mlock_kb", &mlock_kb))
        doctor_say(m->d, mlock_kb < 516 && !m->perfmon ? DOCTOR_WARNING : DOCTOR_OK, "mlock",
                   mlock_kb < 516 && !m->perfmon ? "sysctl kernel.perf_event_mlock_kb=516" : NULL,
                   "buffers of %ld KB for each CPU need no right of their own (perf_event_mlock_kb)",
                   mlock_kb);
}

/* The soft limit in a line of proc_pid_limits(5), or -1: unlimited, or not there. */
static long limit_of(const char *limits, const char *name) {
    const char *line = limits ? strstr(limits, name) : NULL;
    if (!line)
        return -1;
    line += strlen(name);
    line += strspn(line, " ");
    return *line >= '0' && *line <= '9' ? strtol(line, NULL, 10) : -1;
}

static void say_limits(struct machine *m) {
    enum { FEW_FILES = 1024 };
    const char *limits = text_at(m, "/proc/self/limits");
    long files = limit_of(limits, "Max open files"), locked = limit_of(limits, "Max locked memory");
    if (files >= 0)
        doctor_say(m->d, files < FEW_FILES ? DOCTOR_WARNING : DOCTOR_OK, "open_files",
                   files < FEW_FILES ? "ulimit -n 65536" : NULL,
                   "%ld files may be open; each event needs one per CPU and, without -a, per thread", files);
    if (locked >= 0 && !m->perfmon)
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
    if (found)
        doctor_say(m->d, DOCTOR_OK, "pmu", NULL, "the CPU's counters are there (%s)", found);
    else
        doctor_say(
            m->d, DOCTOR_WARNING, "pmu",
            "let the hypervisor pass the PMU on (KVM: -cpu host,pmu=on); until then -e cpu-clock is used",
            "there are no hardware counters: cycles, instructions and precise samples cannot be had");
    if (is_there(m, folder, "intel_pt"))
        doctor_say(m->d, DOCTOR_OK, "intel_pt", NULL, "Intel PT is there");
    long watchdog;
    if (found && number_at(m, "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog)
        doctor_say(m->d, DOCTOR_NOTE, "nmi_watchdog", "sysctl kernel.nmi_watchdog=0",
                   "the NMI watchdog takes one hardware counter");
}

static void say_kernel(struct machine *m) {
    bool btf = is_there(m, "/sys/kernel/btf", "vmlinux");
    bool tracing = is_there(m, "/sys/kernel/tracing/events", "sched") ||
                   is_there(m, "/sys/kernel/debug/tracing/events", "sched");
    doctor_say(m->d, btf ? DOCTOR_OK : DOCTOR_NOTE, "btf", btf ? NULL : "a kernel with CONFIG_DEBUG_INFO_BTF",
               btf ? "the kernel's types are there (BTF)" : "the kernel's types are not there (BTF)");
    doctor_say(m->d, tracing ? DOCTOR_OK : DOCTOR_NOTE, "tracefs",
               tracing ? NULL : "mount -t tracefs tracefs /sys/kernel/tracing; its files are for root only",
               tracing ? "tracepoints can be read" : "tracepoints cannot be read");
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

void doctor_machine(struct doctor *d, const struct sysfs *system) {
    struct machine m = {.d = d, .system = system};
    struct os_host host;
    os_host_read(&host);
    doctor_say(d, DOCTOR_OK, "versions", NULL, "sonde %s, Linux %s, %s", SONDE_VERSION, host.release,
               host.machine);
    read_rights(&m);
    say_paranoid(&m);
    say_kptr(&m);
    say_rates(&m);
    say_limits(&m);
    say_pmu(&m);
    say_kernel(&m);
    say_symbols(&m);
}

/* ---- packages ---- */

/* The value of a line NAME=VALUE of os-release(5), without quotes. */
static const char *release_value(struct doctor *d, const char *text, const char *name) {
    size_t len = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) || line[len] != '=')
            continue;
        const char *value = line + len + 1;
        value += *value == '"';
        return doctor_text(d, "%.*s", (int)strcspn(value, "\"\n"), value);
    }
    return "";
}

/* True when one of the list's lines is the path, with or without /usr (merged since). */
static bool lists(const char *list, const char *path) {
    size_t len = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at += len)
        if ((at == list || at[-1] == '\n' || (at - list >= 4 && !strncmp(at - 4, "/usr", 4))) &&
            (at[len] == '\n' || !at[len]))
            return true;
    return false;
}

/* The Debian package that brought a file, or NULL: /var/lib/dpkg/info/PACKAGE[:ARCH].list has its path. */
static const char *package_of(struct doctor *d, const struct sysfs *system, const char *path) {
    static const char folder[] = "/var/lib/dpkg/info";
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    const char *found = NULL, *bare = strncmp(path, "/usr/", 5) ? path : path + 4;
    bool listed = *path && system->list(system, folder, &scratch, &names, NULL);
    for (size_t i = 0; listed && !found && i < names.count; i++) {
        size_t len = strlen(names.items[i]);
        if (len < 6 || strcmp(names.items[i] + len - 5, ".list"))
            continue;
        struct arena text = ARENA_INIT;
        char whole[512];
        snprintf(whole, sizeof whole, "%s/%s", folder, names.items[i]);
        const char *list = system->read(system, whole, &text, NULL);
        if (list && lists(list, bare))
            found = doctor_text(d, "%.*s", (int)strcspn(names.items[i], ":"), names.items[i]);
        if (found && strlen(found) == len) /* without an architecture */
            found = doctor_text(d, "%.*s", (int)len - 5, found);
        arena_fini(&text);
    }
    arena_fini(&scratch);
    return found;
}

const char *doctor_debug_advice(struct doctor *d, const struct sysfs *system, const char *path) {
    static const struct {
        const char *id, *url;
    } servers[] = {
        {"debian", "https://debuginfod.debian.net"},        {"ubuntu", "https://debuginfod.ubuntu.com"},
        {"fedora", "https://debuginfod.fedoraproject.org"}, {"arch", "https://debuginfod.archlinux.org"},
        {"opensuse", "https://debuginfod.opensuse.org"},
    };
    const char *text = system->read(system, "/etc/os-release", &d->texts, NULL);
    const char *id = text ? release_value(d, text, "ID") : "",
               *like = text ? release_value(d, text, "ID_LIKE") : "";
    const char *url = "https://debuginfod.elfutils.org";
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (!strncmp(id, servers[i].id, strlen(servers[i].id)))
            url = servers[i].url;
    const char *server = doctor_text(d, "export DEBUGINFOD_URLS=%s", url);
    bool apt = !strcmp(id, "debian") || !strcmp(id, "ubuntu") || strstr(like, "debian");
    const char *package = apt ? package_of(d, system, path) : NULL;
    if (package)
        return doctor_text(d, "%s, or apt install %s-%s", server, package,
                           !strcmp(package, "libc6") ? "dbg" : "dbgsym");
    if (*path && (!strcmp(id, "fedora") || strstr(like, "rhel") || strstr(like, "fedora")))
        return doctor_text(d, "%s, or dnf debuginfo-install %s", server, path);
    return server;
}
