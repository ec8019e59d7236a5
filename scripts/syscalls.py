#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes src/calls/rows.h, numbers_ARCH.h and errnos.h: which system calls there are, and what is in them.

syscalls.py [FORMATS] [INCLUDE]

FORMATS  tracefs' events/syscalls: the kernel's own names and types of arguments
INCLUDE  the kernel's public headers: numbers, of x86-64 and i386 (asm/unistd_64.h and unistd_32.h) and of the
         architectures with the common table (asm-generic/unistd.h)

What an argument means, beyond its type, is said here (MEANINGS, RETURNS).
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/* Made by scripts/syscalls.py from the kernel's public headers and the formats of its tracepoints. */
"""

# Numbers that all architectures share, of calls newer than the headers (Linux 6.2 to 6.18).
NEWER = {
    "cachestat": 451, "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454, "futex_wait": 455,
    "futex_requeue": 456, "statmount": 457, "listmount": 458, "lsm_get_self_attr": 459,
    "lsm_set_self_attr": 460, "lsm_list_modules": 461, "mseal": 462, "setxattrat": 463, "getxattrat": 464,
    "listxattrat": 465, "removexattrat": 466, "open_tree_attr": 467, "file_getattr": 468, "file_setattr": 469,
}

# Name in the headers -> name in the kernel's formats.
ALIASES = {
    "stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "fstatat": "newfstatat", "uname": "newuname",
    "sendfile": "sendfile64", "umount2": "umount", "stat64": "newstat", "fstat64": "newfstat",
    "lstat64": "newlstat", "fstatat64": "newfstatat", "fcntl64": "fcntl", "mmap2": "mmap",
    "_newselect": "select", "ugetrlimit": "getrlimit", "truncate64": "truncate", "ftruncate64": "ftruncate",
    "statfs64": "statfs64", "fstatfs64": "fstatfs64", "fadvise64_64": "fadvise64_64",
}

# Calls whose arguments no x86-64 kernel describes.
OWN = {
    "clone_backwards": ["unsigned long clone_flags", "unsigned long newsp", "int * parent_tidptr",
                        "unsigned long tls", "int * child_tidptr"],
    "waitpid": ["pid_t upid", "int * stat_addr", "int options"],
    "_llseek": ["unsigned int fd", "unsigned long offset_high", "unsigned long offset_low", "loff_t * result",
                "unsigned int whence"],
    "statfs64": ["const char * pathname", "size_t sz", "struct statfs64 * buf"],
    "fstatfs64": ["unsigned int fd", "size_t sz", "struct statfs64 * buf"],
    "socketcall": ["int call", "unsigned long * args"],
    "signal": ["int sig", "void * handler"],
    "sigaction": ["int sig", "const struct sigaction * act", "struct sigaction * oact"],
    "sigprocmask": ["int how", "sigset_t * nset", "sigset_t * oset"],
    "sigreturn": [],
    "nice": ["int increment"],
    "stime": ["void * tptr"],
    "map_shadow_stack": ["unsigned long addr", "unsigned long size", "unsigned int flags"],
    "init_module": ["void * umod", "unsigned long len", "const char * uargs"],
    "finit_module": ["int fd", "const char * uargs", "int flags"],
    "delete_module": ["const char * name_user", "unsigned int flags"],
    "kexec_load": ["unsigned long entry", "unsigned long nr_segments", "void * segments", "unsigned long flags"],
    "kexec_file_load": ["int kernel_fd", "int initrd_fd", "unsigned long cmdline_len", "const char * cmdline_ptr",
                        "unsigned long flags"],
    "arm_fadvise64_64": ["int fd", "int advice", "loff_t offset", "loff_t len"],
}

PATHS = {"filename", "pathname", "path", "oldname", "newname", "dev_name", "dir_name", "new_root", "put_old",
         "specialfile", "special", "from_pathname", "to_pathname"}
FDS = {"fd", "ufd", "epfd", "oldfd", "newfd", "fd_in", "fd_out", "in_fd", "out_fd", "fdin", "fdout", "group_fd",
       "pidfd", "fs_fd", "ruleset_fd", "mqdes", "fanotify_fd", "kernel_fd", "initrd_fd", "mountdirfd"}
DFDS = {"dfd", "olddfd", "newdfd", "from_dfd", "to_dfd", "mountdirfd"}
PIDS = {"pid", "tgid", "upid", "pid1", "pid2", "pgid"}
ADDRESSES = {"addr", "start", "brk", "newsp", "new_addr", "tls", "shmaddr", "arg", "off"}

# (call, argument) -> kind, or a set of names (src/calls/sets.h).
MEANINGS = {
    "access.mode": "=ACCESS", "faccessat.mode": "=ACCESS", "faccessat2.mode": "=ACCESS", "faccessat2.flags": "=AT_FACCESS",
    "acct.name": "PATH", "name_to_handle_at.name": "PATH", "umount.name": "PATH", "umount.flags": "=UMOUNT",
    "mq_open.u_name": "TEXT", "mq_open.oflag": "=OPEN", "accept4.flags": "=SOCK", "arch_prctl.option": "=ARCH_PRCTL",
    "bpf.cmd": "=BPF", "brk.brk": "HEX", "clock_adjtime.which_clock": "=CLOCK", "clock_getres.which_clock": "=CLOCK",
    "clock_gettime.which_clock": "=CLOCK", "clock_settime.which_clock": "=CLOCK", "clock_nanosleep.which_clock": "=CLOCK",
    "clock_nanosleep.flags": "=TIMER", "timer_create.which_clock": "=CLOCK", "timer_settime.flags": "=TIMER",
    "timerfd_create.clockid": "=CLOCK", "timerfd_create.flags": "=SOCK", "timerfd_settime.flags": "=TIMER",
    "clone.clone_flags": "=CLONE", "clone_backwards.clone_flags": "=CLONE", "unshare.unshare_flags": "=CLONE_ONLY",
    "setns.flags": "=CLONE_ONLY", "close_range.flags": "=CLOSE_RANGE", "close_range.max_fd": "UNSIGNED",
    "close_range.fd": "UNSIGNED",
    "dup.fildes": "FD", "dup2.newfd": "NEWFD", "dup3.newfd": "NEWFD", "dup3.flags": "=OPEN_ONLY", "epoll_create1.flags": "=OPEN_ONLY",
    "epoll_ctl.op": "=EPOLL", "eventfd2.flags": "=EVENTFD", "execveat.fd": "DFD", "execveat.flags": "=AT",
    "fadvise64.advice": "=FADVISE", "fallocate.mode": "=FALLOC", "fchmodat2.flags": "=AT", "fchownat.flag": "=AT",
    "fcntl.cmd": "=FCNTL", "fcntl.arg": "FCNTL", "flock.cmd": "=FLOCK", "fsetxattr.flags": "=XATTR",
    "lsetxattr.flags": "=XATTR", "setxattr.flags": "=XATTR", "fsopen.flags": "=CLOSE_ON_EXEC", "fsmount.flags": "=CLOSE_ON_EXEC",
    "fsconfig.cmd": "=FSCONFIG", "futex.op": "=FUTEX", "futex.val": "UNSIGNED", "futex.val3": "=FUTEX_BITS", "getrandom.flags": "=GRND",
    "getitimer.which": "=ITIMER", "setitimer.which": "=ITIMER", "getpriority.which": "=PRIO", "setpriority.which": "=PRIO",
    "getrlimit.resource": "=RLIMIT", "setrlimit.resource": "=RLIMIT", "prlimit64.resource": "=RLIMIT",
    "getrusage.who": "=RUSAGE", "getsockopt.level": "=SOL", "setsockopt.level": "=SOL", "getsockopt.optname": "SOCKOPT",
    "setsockopt.optname": "SOCKOPT", "inotify_init1.flags": "=OPEN_ONLY", "inotify_add_watch.mask": "=INOTIFY",
    "ioctl.cmd": "IOCTL", "keyctl.option": "=KEYCTL", "kill.sig": "SIGNAL", "landlock_create_ruleset.flags": "=LANDLOCK",
    "linkat.flags": "=AT", "lseek.whence": "=SEEK", "_llseek.whence": "=SEEK", "madvise.behavior": "=MADVISE",
    "process_madvise.behavior": "=MADVISE", "membarrier.cmd": "=MEMBARRIER", "memfd_create.flags": "=MFD",
    "memfd_create.uname": "TEXT", "mlockall.flags": "=MLOCKALL", "mlock2.flags": "=MLOCK2", "mmap.prot": "=PROT", "mmap.flags": "=MAP",
    "mmap.fd": "FD", "mount.type": "TEXT", "mount.flags": "=MOUNT", "mprotect.prot": "=PROT", "pkey_mprotect.prot": "=PROT",
    "mremap.flags": "=MREMAP", "msync.flags": "=MSYNC", "name_to_handle_at.flag": "=AT", "newfstatat.flag": "=AT",
    "open.flags": "=OPEN", "openat.flags": "=OPEN", "open_by_handle_at.flags": "=OPEN", "perf_event_open.flags": "=PERF",
    "personality.personality": "=PERSONALITY", "pidfd_open.flags": "=OPEN_ONLY", "pidfd_send_signal.sig": "SIGNAL", "pipe2.flags": "=OPEN_ONLY",
    "prctl.option": "=PRCTL", "preadv2.flags": "=RWF", "pwritev2.flags": "=RWF", "ptrace.request": "=PTRACE", "ptrace.pid": "PID",
    "recvfrom.flags": "=MSG", "recvmmsg.flags": "=MSG", "recvmsg.flags": "=MSG", "sendmmsg.flags": "=MSG", "sendmsg.flags": "=MSG",
    "sendto.flags": "=MSG", "renameat2.flags": "=RENAME", "rt_sigprocmask.how": "=SIGMASK",
    "sigprocmask.how": "=SIGMASK", "sched_setscheduler.policy": "=SCHED", "sched_get_priority_max.policy": "=SCHED",
    "sched_get_priority_min.policy": "=SCHED", "seccomp.op": "=SECCOMP", "seccomp.flags": "=SECCOMP_FILTER", "shutdown.how": "=SHUT",
    "signalfd4.flags": "=SOCK", "socket.family": "=AF", "socket.type": "=SOCK_TYPE", "socket.protocol": "SOCKPROTO",
    "socketpair.family": "=AF", "socketpair.type": "=SOCK_TYPE", "splice.flags": "=SPLICE", "tee.flags": "=SPLICE",
    "vmsplice.flags": "=SPLICE", "statx.flags": "=AT", "statx.mask": "=STATX", "symlink.oldname": "TEXT",
    "symlinkat.oldname": "TEXT", "sync_file_range.flags": "=SYNC_RANGE", "umask.mask": "MODE", "unlinkat.flag": "=AT_UNLINK",
    "userfaultfd.flags": "=SOCK", "utimensat.flags": "=AT", "wait4.options": "=WAIT", "waitid.options": "=WAIT", "waitid.which": "=WAIT_ID",
    "waitpid.options": "=WAIT", "exit.error_code": "DEC", "move_mount.flags": "HEX",
    "io_uring_enter.flags": "=URING_ENTER", 
    
    
    "utime.filename": "PATH", "utimes.filename": "PATH", "open_tree.flags": "HEX", "fchmodat.flags": "HEX",
    "rseq.sig": "HEX", "reboot.magic1": "HEX", "reboot.magic2": "HEX", "reboot.cmd": "HEX", "socketcall.call": "=SOCKETCALL",
    "getdents.dirent": "HEX", "rt_sigaction.sig": "SIGNAL", "semctl.arg": "HEX", "quotactl.cmd": "HEX",
    "futimesat.filename": "PATH", "inotify_rm_watch.wd": "DEC", "kcmp.type": "DEC", "sched_setattr.flags": "HEX",
    "sethostname.name": "TEXT", "setdomainname.name": "TEXT", "landlock_add_rule.rule_type": "DEC",
    "prctl.arg2": "PRCTL", "msgrcv.msgtyp": "DEC",
}

# What arguments point to: (when it is read, kind or SHAPE of src/calls/shape_rows.h, how many) -> the arguments.
MEMORY = {
    ("IN", "TIMESPEC", "ONE"):
        "nanosleep.rqtp clock_nanosleep.rqtp futex.utime ppoll.tsp pselect6.tsp epoll_pwait2.timeout rt_sigtimedwait.uts "
        "semtimedop.timeout mq_timedsend.u_abs_timeout mq_timedreceive.u_abs_timeout io_getevents.timeout "
        "io_pgetevents.timeout futex_wait.timeout futex_waitv.timeout clock_settime.tp recvmmsg.timeout",
    ("IN", "TIMESPEC", "PAIR"): "utimensat.utimes",
    ("OUT", "TIMESPEC", "ONE"): "clock_gettime.tp clock_getres.tp sched_rr_get_interval.interval",
    ("IN", "TIMEVAL", "ONE"): "settimeofday.tv select.tvp",
    ("IN", "TIMEVAL", "PAIR"): "utimes.utimes futimesat.utimes",
    ("OUT", "TIMEVAL", "ONE"): "gettimeofday.tv",
    ("IN", "ITIMERVAL", "ONE"): "setitimer.value",
    ("OUT", "ITIMERVAL", "ONE"): "getitimer.value setitimer.ovalue",
    ("IN", "ITIMERSPEC", "ONE"): "timer_settime.new_setting timerfd_settime.utmr",
    ("OUT", "ITIMERSPEC", "ONE"): "timer_settime.old_setting timerfd_settime.otmr timer_gettime.setting timerfd_gettime.otmr",
    ("BOTH", "POLLFD", "NEXT"): "poll.ufds ppoll.ufds",
    ("IN", "EPOLL_EVENT", "ONE"): "epoll_ctl.event",
    ("OUT", "EPOLL_EVENT", "RESULT"): "epoll_wait.events epoll_pwait.events epoll_pwait2.events",
    ("OUT", "STAT", "ONE"): "newstat.statbuf newfstat.statbuf newlstat.statbuf newfstatat.statbuf",
    ("OUT", "STATX", "ONE"): "statx.buffer",
    ("OUT", "STATFS", "ONE"): "statfs.buf fstatfs.buf",
    ("IN", "SIGSET", "ONE"):
        "rt_sigprocmask.nset rt_sigsuspend.unewset rt_sigtimedwait.uthese ppoll.sigmask epoll_pwait.sigmask "
        "epoll_pwait2.sigmask signalfd.user_mask signalfd4.user_mask",
    ("OUT", "SIGSET", "ONE"): "rt_sigprocmask.oset rt_sigpending.uset",
    ("IN", "SIGACTION", "ONE"): "rt_sigaction.act",
    ("OUT", "SIGACTION", "ONE"): "rt_sigaction.oact",
    ("IN", "SIGALTSTACK", "ONE"): "sigaltstack.uss",
    ("OUT", "SIGALTSTACK", "ONE"): "sigaltstack.uoss",
    ("OUT", "SIGINFO", "ONE"): "waitid.infop",
    ("POSITIVE", "WAIT_STATUS", "ONE"): "wait4.stat_addr waitpid.stat_addr",
    ("POSITIVE", "RUSAGE", "ONE"): "wait4.ru",
    ("OUT", "RUSAGE", "ONE"): "getrusage.ru waitid.ru",
    ("IN", "RLIMIT", "ONE"): "setrlimit.rlim prlimit64.new_rlim",
    ("OUT", "RLIMIT", "ONE"): "getrlimit.rlim prlimit64.old_rlim",
    ("IN", "CLONE_ARGS", "NEXT_BYTES"): "clone3.uargs",
    ("IN", "OPEN_HOW", "NEXT_BYTES"): "openat2.how",
    ("OUT", "UTSNAME", "ONE"): "newuname.name",
    ("OUT", "SYSINFO", "ONE"): "sysinfo.info",
    ("OUT", "TMS", "ONE"): "times.tbuf",
    ("IN", "SCHED_PARAM", "ONE"): "sched_setparam.param sched_setscheduler.param",
    ("OUT", "SCHED_PARAM", "ONE"): "sched_getparam.param",
    ("OUT", "SCHED_ATTR", "NEXT_BYTES"): "sched_getattr.uattr",
    ("IN", "CPUS", "BEFORE_BYTES"): "sched_setaffinity.user_mask_ptr",
    ("OUT", "CPUS", "RESULT_BYTES"): "sched_getaffinity.user_mask_ptr",
    ("OUT", "INT", "PAIR"): "pipe.fildes pipe2.fildes socketpair.usockvec",
    ("OUT", "INT", "ONE"):
        "accept.upeer_addrlen accept4.upeer_addrlen getsockname.usockaddr_len getpeername.usockaddr_len recvfrom.addr_len "
        "getsockopt.optlen getresuid.ruidp getresuid.euidp getresuid.suidp getresgid.rgidp getresgid.egidp getresgid.sgidp "
        "getcpu.cpup getcpu.nodep",
    ("IN", "LONG", "ONE"): "sendfile64.offset copy_file_range.off_in copy_file_range.off_out splice.off_in splice.off_out",
    ("IN", "OPTION", "NEXT_BYTES"): "setsockopt.optval",
    ("OUT", "OPTION", "LENGTH"): "getsockopt.optval",
    ("BOTH", "CONTROL", "ONE"): "ioctl.arg",
    ("IN", "=DATA", "NEXT_BYTES"): "write.buf pwrite64.buf sendto.buff mq_timedsend.u_msg_ptr",
    ("OUT", "=DATA", "RESULT_NEXT"):
        "read.buf pread64.buf readlink.buf readlinkat.buf recvfrom.ubuf getrandom.ubuf mq_timedreceive.u_msg_ptr "
        "getxattr.value lgetxattr.value fgetxattr.value",
    ("OUT", "=TEXT", "ONE"): "getcwd.buf",
    ("IN", "=SOCKADDR", "NEXT_BYTES"): "connect.uservaddr bind.umyaddr sendto.addr",
    ("OUT", "=SOCKADDR", "LENGTH"):
        "accept.upeer_sockaddr accept4.upeer_sockaddr getsockname.usockaddr getpeername.usockaddr recvfrom.addr",
    ("IN", "=TEXTS", "ONE"): "execve.argv execve.envp execveat.argv execveat.envp",
    ("IN", "=VECTORS", "NEXT"): "writev.vec pwritev.vec pwritev2.vec vmsplice.uiov",
    ("OUT", "=VECTORS", "NEXT"): "readv.vec preadv.vec preadv2.vec",
    ("IN", "=MESSAGE", "ONE"): "sendmsg.msg",
    ("OUT", "=MESSAGE", "ONE"): "recvmsg.msg",
}
MEMORY_OF = {argument: what for what, arguments in MEMORY.items() for argument in arguments.split()}

RETURNS = {
    "HEX": "mmap mremap brk shmat",
    "PID": "fork vfork clone clone_backwards clone3 wait4 waitpid set_tid_address gettid",
    "PLAIN_PID": "getpid getppid getpgid getpgrp getsid setsid",
    "FD": "open openat openat2 creat socket accept accept4 dup dup2 dup3 epoll_create epoll_create1 eventfd eventfd2 "
          "inotify_init inotify_init1 signalfd signalfd4 timerfd_create memfd_create pidfd_open pidfd_getfd "
          "perf_event_open io_uring_setup userfaultfd fsopen fsmount fspick open_tree open_tree_attr mq_open "
          "open_by_handle_at memfd_secret fanotify_init landlock_create_ruleset",
    "TIMEOUT": "poll ppoll select pselect6",
    "NEVER": "exit exit_group",
    "MODE": "umask",
    "FCNTL": "fcntl",
    "NONE": "rt_sigreturn sigreturn",
}


def read_formats(where):
    """{call: [argument, as C declares it]}"""
    calls = {}
    for path in glob.glob(os.path.join(where, "sys_enter_*", "format")):
        name = os.path.basename(os.path.dirname(path))[len("sys_enter_"):]
        with open(path, encoding="ascii") as f:
            fields = re.findall(r"field:([^;]*);", f.read())
        calls[name] = [f for f in fields if "common_" not in f and "__syscall_nr" not in f]
    return calls


def kind_of(call, declared):
    """(name, kind, set, width in bytes: negative if it is signed)"""
    kind, name = re.fullmatch(r"(.*?)\s*(\w+)", declared).groups()
    pointer = "*" in kind
    base = kind.replace("const", "").strip()
    small = base in ("int", "pid_t", "key_t", "key_serial_t", "clockid_t", "__s32", "mqd_t", "timer_t", "rwf_t")
    signed = small or base in ("long", "loff_t", "off_t", "ssize_t")
    unsigned4 = base in ("unsigned int", "unsigned", "u32", "__u32", "umode_t", "uid_t", "gid_t", "qid_t")
    width = -4 if small else -8 if signed else 4 if unsigned4 else 8
    meaning = MEANINGS.get(f"{call}.{name}")
    if meaning and meaning.startswith("="):
        return name, "SET", meaning[1:], width
    if meaning:
        return name, meaning, "NONE", width
    if pointer and "char" in kind and "*const" not in kind.replace(" ", ""):
        if name in PATHS:
            return name, "PATH", "NONE", 8
        if "const" in kind:
            return name, "TEXT", "NONE", 8
    if pointer or kind.endswith("data_t") or kind.endswith("header_t") or kind == "aio_context_t":
        return name, "HEX", "NONE", 8
    if name in DFDS:
        return name, "DFD", "NONE", -4
    if name in FDS or name.endswith("fd"):
        return name, "FD", "NONE", -4
    if base == "umode_t":
        return name, "MODE", "NONE", 4
    if name in PIDS and width in (-4, -8):
        return name, "PID", "NONE", -4
    if name == "sig" and width == -4:
        return name, "SIGNAL", "NONE", -4
    if name.endswith("len"):
        return name, "UNSIGNED", "NONE", width
    if name in ADDRESSES or name.startswith(("addr", "arg")) or ("flags" in name or name in ("mask", "flag")):
        return name, "HEX", "NONE", abs(width)
    return name, "DEC" if width < 0 else "UNSIGNED", "NONE", width


def argument_text(call, name, kind, names, width):
    when, what, many = MEMORY_OF.get(f"{call}.{name}", (None, None, None))
    if not when:
        return f'A("{name}", {kind}, {names}, {width})'
    return f'M("{name}", {what[1:]}, NONE, {when}, {many})' if what.startswith("=") else f'M("{name}", STRUCT, {what}, {when}, {many})'


def read_numbers(path, prefix="__NR_"):
    with open(path, encoding="ascii") as f:
        text = f.read()
    found = {}
    for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", text, re.M):
        found.setdefault(name, int(number))
    return found


def read_generic(path):
    """Of the common table, as 64-bit architectures have it."""
    numbers = read_numbers(path)
    with open(path, encoding="ascii") as f:
        text = f.read()
    wide = text[text.rindex("#if __BITS_PER_LONG == 64"):]
    for name, old in re.findall(r"#define __NR_(\w+)\s+__NR3264_(\w+)", wide.split("#else")[0]):
        number = numbers.pop(old, None)
        if number is not None:
            numbers[name] = number
    for gone in ("syscalls", "arch_specific_syscall", "sync_file_range2"):
        numbers.pop(gone, None)
    return numbers


def find_row(name, rows, backwards):
    if backwards and name == "clone":
        return "clone_backwards"
    for candidate in (ALIASES.get(name), name, re.sub(r"_time64$", "", name), re.sub(r"(_?64|32)$", "", name)):
        if candidate and candidate in rows:
            return candidate
    return None


def main():
    formats = sys.argv[1] if len(sys.argv) > 1 else "/sys/kernel/tracing/events/syscalls"
    include = sys.argv[2] if len(sys.argv) > 2 else "/usr/include"
    rows = read_formats(formats)
    for name, arguments in OWN.items():
        rows.setdefault(name, arguments)
    for name in ("uprobe", "uretprobe"):
        rows.pop(name, None)
    asm = glob.glob(os.path.join(include, "*", "asm", "unistd_64.h"))[0]
    tables = {
        "x86_64": (read_numbers(asm), False),
        "i386": (read_numbers(asm.replace("_64.h", "_32.h")), True),
        "generic": (read_generic(os.path.join(include, "asm-generic", "unistd.h")), True),
    }
    used = {}
    for numbers, backwards in tables.values():
        for name, number in NEWER.items():
            if number not in numbers.values():
                numbers[name] = number
        for name in numbers:
            row = find_row(name, rows, backwards)
            if row:
                used[row] = True
    returns = {call: kind for kind, calls in RETURNS.items() for call in calls.split()}
    with open(os.path.join(ROOT, "src/calls/rows.h"), "w", encoding="ascii") as f:
        f.write(HEADER + "/* ROW(call, what it returns, number of arguments, A(name, kind, set, width), or\n * M(name, kind, shape, when, many) of what an argument points to ...) */\n")
        for call in sorted(used):
            found = [kind_of(call, a) for a in rows[call]]
            arguments = ", ".join(argument_text(call, *a) for a in found) or 'A("", HEX, NONE, 8)'
            f.write(f"ROW({call}, {returns.get(call, 'DEC')}, {len(found)}, {arguments})\n")
    for arch, (numbers, backwards) in tables.items():
        with open(os.path.join(ROOT, f"src/calls/numbers_{arch}.h"), "w", encoding="ascii") as f:
            f.write(HEADER + "/* CALL(number, name, row) ...; PLAIN: its arguments are not known. */\n")
            for name, number in sorted(numbers.items(), key=lambda x: x[1]):
                row = find_row(name, rows, backwards)
                f.write(f'CALL({number}, "{name}", {row})\n' if row else f'PLAIN({number}, "{name}")\n')
    with open(os.path.join(ROOT, "src/calls/errnos.h"), "w", encoding="ascii") as f:
        f.write(HEADER + "/* ERRNO(number, name) */\n")
        for header in ("errno-base.h", "errno.h"):
            with open(os.path.join(include, "asm-generic", header), encoding="ascii") as text:
                for name, number in re.findall(r"^#define\s+(E\w+)\s+(\d+)", text.read(), re.M):
                    f.write(f'ERRNO({number}, "{name}")\n')
    for path in glob.glob(os.path.join(ROOT, "src/calls/*.h")):
        subprocess.run(["clang-format", "-i", path], check=False)


if __name__ == "__main__":
    main()
