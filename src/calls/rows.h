/* SPDX-License-Identifier: Apache-2.0 */
/* Made by scripts/syscalls.py from the kernel's public headers and the formats of its tracepoints. */
/* ROW(call, what it returns, number of arguments, A(name, kind, set, width), or
 * M(name, kind, shape, when, many) of what an argument points to ...) */
ROW(_llseek, DEC, 5, A("fd", FD, NONE, -4), A("offset_high", UNSIGNED, NONE, 8),
    A("offset_low", UNSIGNED, NONE, 8), A("result", HEX, NONE, 8), A("whence", SET, SEEK, 4))
ROW(accept, FD, 3, A("fd", FD, NONE, -4), M("upeer_sockaddr", SOCKADDR, NONE, OUT, LENGTH),
    M("upeer_addrlen", STRUCT, INT, OUT, ONE))
ROW(accept4, FD, 4, A("fd", FD, NONE, -4), M("upeer_sockaddr", SOCKADDR, NONE, OUT, LENGTH),
    M("upeer_addrlen", STRUCT, INT, OUT, ONE), A("flags", SET, SOCK, -4))
ROW(access, DEC, 2, A("filename", PATH, NONE, 8), A("mode", SET, ACCESS, -4))
ROW(acct, DEC, 1, A("name", PATH, NONE, 8))
ROW(add_key, DEC, 5, A("_type", TEXT, NONE, 8), A("_description", TEXT, NONE, 8), A("_payload", HEX, NONE, 8),
    A("plen", UNSIGNED, NONE, 8), A("ringid", DEC, NONE, -4))
ROW(adjtimex, DEC, 1, A("txc_p", HEX, NONE, 8))
ROW(alarm, DEC, 1, A("seconds", UNSIGNED, NONE, 4))
ROW(arch_prctl, DEC, 2, A("option", SET, ARCH_PRCTL, -4), A("arg2", HEX, NONE, 8))
ROW(bind, DEC, 3, A("fd", FD, NONE, -4), M("umyaddr", SOCKADDR, NONE, IN, NEXT_BYTES),
    A("addrlen", UNSIGNED, NONE, -4))
ROW(bpf, DEC, 3, A("cmd", SET, BPF, -4), A("uattr", HEX, NONE, 8), A("size", UNSIGNED, NONE, 4))
ROW(brk, HEX, 1, A("brk", HEX, NONE, 8))
ROW(cachestat, DEC, 4, A("fd", FD, NONE, -4), A("cstat_range", HEX, NONE, 8), A("cstat", HEX, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(capget, DEC, 2, A("header", HEX, NONE, 8), A("dataptr", HEX, NONE, 8))
ROW(capset, DEC, 2, A("header", HEX, NONE, 8), A("data", HEX, NONE, 8))
ROW(chdir, DEC, 1, A("filename", PATH, NONE, 8))
ROW(chmod, DEC, 2, A("filename", PATH, NONE, 8), A("mode", MODE, NONE, 4))
ROW(chown, DEC, 3, A("filename", PATH, NONE, 8), A("user", UNSIGNED, NONE, 4), A("group", UNSIGNED, NONE, 4))
ROW(chroot, DEC, 1, A("filename", PATH, NONE, 8))
ROW(clock_adjtime, DEC, 2, A("which_clock", SET, CLOCK, -4), A("utx", HEX, NONE, 8))
ROW(clock_getres, DEC, 2, A("which_clock", SET, CLOCK, -4), M("tp", STRUCT, TIMESPEC, OUT, ONE))
ROW(clock_gettime, DEC, 2, A("which_clock", SET, CLOCK, -4), M("tp", STRUCT, TIMESPEC, OUT, ONE))
ROW(clock_nanosleep, DEC, 4, A("which_clock", SET, CLOCK, -4), A("flags", SET, TIMER, -4),
    M("rqtp", STRUCT, TIMESPEC, IN, ONE), A("rmtp", HEX, NONE, 8))
ROW(clock_settime, DEC, 2, A("which_clock", SET, CLOCK, -4), M("tp", STRUCT, TIMESPEC, IN, ONE))
ROW(clone, PID, 5, A("clone_flags", SET, CLONE, 8), A("newsp", HEX, NONE, 8),
    A("parent_tidptr", HEX, NONE, 8), A("child_tidptr", HEX, NONE, 8), A("tls", HEX, NONE, 8))
ROW(clone3, PID, 2, M("uargs", STRUCT, CLONE_ARGS, IN, NEXT_BYTES), A("size", UNSIGNED, NONE, 8))
ROW(clone_backwards, PID, 5, A("clone_flags", SET, CLONE, 8), A("newsp", HEX, NONE, 8),
    A("parent_tidptr", HEX, NONE, 8), A("tls", HEX, NONE, 8), A("child_tidptr", HEX, NONE, 8))
ROW(close, DEC, 1, A("fd", FD, NONE, -4))
ROW(close_range, DEC, 3, A("fd", UNSIGNED, NONE, 4), A("max_fd", UNSIGNED, NONE, 4),
    A("flags", SET, CLOSE_RANGE, 4))
ROW(connect, DEC, 3, A("fd", FD, NONE, -4), M("uservaddr", SOCKADDR, NONE, IN, NEXT_BYTES),
    A("addrlen", UNSIGNED, NONE, -4))
ROW(copy_file_range, DEC, 6, A("fd_in", FD, NONE, -4), M("off_in", STRUCT, LONG, IN, ONE),
    A("fd_out", FD, NONE, -4), M("off_out", STRUCT, LONG, IN, ONE), A("len", UNSIGNED, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(creat, FD, 2, A("pathname", PATH, NONE, 8), A("mode", MODE, NONE, 4))
ROW(delete_module, DEC, 2, A("name_user", TEXT, NONE, 8), A("flags", HEX, NONE, 4))
ROW(dup, FD, 1, A("fildes", FD, NONE, 4))
ROW(dup2, FD, 2, A("oldfd", FD, NONE, -4), A("newfd", NEWFD, NONE, 4))
ROW(dup3, FD, 3, A("oldfd", FD, NONE, -4), A("newfd", NEWFD, NONE, 4), A("flags", SET, OPEN_ONLY, -4))
ROW(epoll_create, FD, 1, A("size", DEC, NONE, -4))
ROW(epoll_create1, FD, 1, A("flags", SET, OPEN_ONLY, -4))
ROW(epoll_ctl, DEC, 4, A("epfd", FD, NONE, -4), A("op", SET, EPOLL, -4), A("fd", FD, NONE, -4),
    M("event", STRUCT, EPOLL_EVENT, IN, ONE))
ROW(epoll_pwait, DEC, 6, A("epfd", FD, NONE, -4), M("events", STRUCT, EPOLL_EVENT, OUT, RESULT),
    A("maxevents", DEC, NONE, -4), A("timeout", DEC, NONE, -4), M("sigmask", STRUCT, SIGSET, IN, ONE),
    A("sigsetsize", UNSIGNED, NONE, 8))
ROW(epoll_pwait2, DEC, 6, A("epfd", FD, NONE, -4), M("events", STRUCT, EPOLL_EVENT, OUT, RESULT),
    A("maxevents", DEC, NONE, -4), M("timeout", STRUCT, TIMESPEC, IN, ONE),
    M("sigmask", STRUCT, SIGSET, IN, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(epoll_wait, DEC, 4, A("epfd", FD, NONE, -4), M("events", STRUCT, EPOLL_EVENT, OUT, RESULT),
    A("maxevents", DEC, NONE, -4), A("timeout", DEC, NONE, -4))
ROW(eventfd, FD, 1, A("count", UNSIGNED, NONE, 4))
ROW(eventfd2, FD, 2, A("count", UNSIGNED, NONE, 4), A("flags", SET, EVENTFD, -4))
ROW(execve, DEC, 3, A("filename", PATH, NONE, 8), M("argv", TEXTS, NONE, IN, ONE),
    M("envp", TEXTS, NONE, IN, ONE))
ROW(execveat, DEC, 5, A("fd", DFD, NONE, -4), A("filename", PATH, NONE, 8), M("argv", TEXTS, NONE, IN, ONE),
    M("envp", TEXTS, NONE, IN, ONE), A("flags", SET, AT, -4))
ROW(exit, NEVER, 1, A("error_code", DEC, NONE, -4))
ROW(exit_group, NEVER, 1, A("error_code", DEC, NONE, -4))
ROW(faccessat, DEC, 3, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("mode", SET, ACCESS, -4))
ROW(faccessat2, DEC, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("mode", SET, ACCESS, -4),
    A("flags", SET, AT_FACCESS, -4))
ROW(fadvise64, DEC, 4, A("fd", FD, NONE, -4), A("offset", DEC, NONE, -8), A("len", UNSIGNED, NONE, 8),
    A("advice", SET, FADVISE, -4))
ROW(fallocate, DEC, 4, A("fd", FD, NONE, -4), A("mode", SET, FALLOC, -4), A("offset", DEC, NONE, -8),
    A("len", UNSIGNED, NONE, -8))
ROW(fanotify_init, FD, 2, A("flags", HEX, NONE, 4), A("event_f_flags", HEX, NONE, 4))
ROW(fanotify_mark, DEC, 5, A("fanotify_fd", FD, NONE, -4), A("flags", HEX, NONE, 4), A("mask", HEX, NONE, 8),
    A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8))
ROW(fchdir, DEC, 1, A("fd", FD, NONE, -4))
ROW(fchmod, DEC, 2, A("fd", FD, NONE, -4), A("mode", MODE, NONE, 4))
ROW(fchmodat, DEC, 3, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("mode", MODE, NONE, 4))
ROW(fchmodat2, DEC, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("mode", MODE, NONE, 4),
    A("flags", SET, AT, 4))
ROW(fchown, DEC, 3, A("fd", FD, NONE, -4), A("user", UNSIGNED, NONE, 4), A("group", UNSIGNED, NONE, 4))
ROW(fchownat, DEC, 5, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("user", UNSIGNED, NONE, 4),
    A("group", UNSIGNED, NONE, 4), A("flag", SET, AT, -4))
ROW(fcntl, FCNTL, 3, A("fd", FD, NONE, -4), A("cmd", SET, FCNTL, 4), A("arg", FCNTL, NONE, 8))
ROW(fdatasync, DEC, 1, A("fd", FD, NONE, -4))
ROW(fgetxattr, DEC, 4, A("fd", FD, NONE, -4), A("name", TEXT, NONE, 8),
    M("value", DATA, NONE, OUT, RESULT_NEXT), A("size", UNSIGNED, NONE, 8))
ROW(file_getattr, DEC, 5, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("ufattr", HEX, NONE, 8),
    A("usize", UNSIGNED, NONE, 8), A("at_flags", HEX, NONE, 4))
ROW(file_setattr, DEC, 5, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("ufattr", HEX, NONE, 8),
    A("usize", UNSIGNED, NONE, 8), A("at_flags", HEX, NONE, 4))
ROW(finit_module, DEC, 3, A("fd", FD, NONE, -4), A("uargs", TEXT, NONE, 8), A("flags", HEX, NONE, 4))
ROW(flistxattr, DEC, 3, A("fd", FD, NONE, -4), A("list", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8))
ROW(flock, DEC, 2, A("fd", FD, NONE, -4), A("cmd", SET, FLOCK, 4))
ROW(fork, PID, 0, A("", HEX, NONE, 8))
ROW(fremovexattr, DEC, 2, A("fd", FD, NONE, -4), A("name", TEXT, NONE, 8))
ROW(fsconfig, DEC, 5, A("fd", FD, NONE, -4), A("cmd", SET, FSCONFIG, 4), A("_key", TEXT, NONE, 8),
    A("_value", HEX, NONE, 8), A("aux", DEC, NONE, -4))
ROW(fsetxattr, DEC, 5, A("fd", FD, NONE, -4), A("name", TEXT, NONE, 8), A("value", HEX, NONE, 8),
    A("size", UNSIGNED, NONE, 8), A("flags", SET, XATTR, -4))
ROW(fsmount, FD, 3, A("fs_fd", FD, NONE, -4), A("flags", SET, CLOSE_ON_EXEC, 4),
    A("attr_flags", HEX, NONE, 4))
ROW(fsopen, FD, 2, A("_fs_name", TEXT, NONE, 8), A("flags", SET, CLOSE_ON_EXEC, 4))
ROW(fspick, FD, 3, A("dfd", DFD, NONE, -4), A("path", PATH, NONE, 8), A("flags", HEX, NONE, 4))
ROW(fstatfs, DEC, 2, A("fd", FD, NONE, -4), M("buf", STRUCT, STATFS, OUT, ONE))
ROW(fstatfs64, DEC, 3, A("fd", FD, NONE, -4), A("sz", UNSIGNED, NONE, 8), A("buf", HEX, NONE, 8))
ROW(fsync, DEC, 1, A("fd", FD, NONE, -4))
ROW(ftruncate, DEC, 2, A("fd", FD, NONE, -4), A("length", DEC, NONE, -8))
ROW(futex, DEC, 6, A("uaddr", HEX, NONE, 8), A("op", SET, FUTEX, -4), A("val", UNSIGNED, NONE, 4),
    M("utime", STRUCT, TIMESPEC, IN, ONE), A("uaddr2", HEX, NONE, 8), A("val3", SET, FUTEX_BITS, 4))
ROW(futex_requeue, DEC, 4, A("waiters", HEX, NONE, 8), A("flags", HEX, NONE, 4), A("nr_wake", DEC, NONE, -4),
    A("nr_requeue", DEC, NONE, -4))
ROW(futex_wait, DEC, 6, A("uaddr", HEX, NONE, 8), A("val", UNSIGNED, NONE, 8), A("mask", HEX, NONE, 8),
    A("flags", HEX, NONE, 4), M("timeout", STRUCT, TIMESPEC, IN, ONE), A("clockid", DEC, NONE, -4))
ROW(futex_waitv, DEC, 5, A("waiters", HEX, NONE, 8), A("nr_futexes", UNSIGNED, NONE, 4),
    A("flags", HEX, NONE, 4), M("timeout", STRUCT, TIMESPEC, IN, ONE), A("clockid", DEC, NONE, -4))
ROW(futex_wake, DEC, 4, A("uaddr", HEX, NONE, 8), A("mask", HEX, NONE, 8), A("nr", DEC, NONE, -4),
    A("flags", HEX, NONE, 4))
ROW(futimesat, DEC, 3, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8),
    M("utimes", STRUCT, TIMEVAL, IN, PAIR))
ROW(get_mempolicy, DEC, 5, A("policy", HEX, NONE, 8), A("nmask", HEX, NONE, 8),
    A("maxnode", UNSIGNED, NONE, 8), A("addr", HEX, NONE, 8), A("flags", HEX, NONE, 8))
ROW(get_robust_list, DEC, 3, A("pid", PID, NONE, -4), A("head_ptr", HEX, NONE, 8), A("len_ptr", HEX, NONE, 8))
ROW(getcpu, DEC, 3, M("cpup", STRUCT, INT, OUT, ONE), M("nodep", STRUCT, INT, OUT, ONE),
    A("unused", HEX, NONE, 8))
ROW(getcwd, DEC, 2, M("buf", TEXT, NONE, OUT, ONE), A("size", UNSIGNED, NONE, 8))
ROW(getdents, DEC, 3, A("fd", FD, NONE, -4), A("dirent", HEX, NONE, 8), A("count", UNSIGNED, NONE, 4))
ROW(getdents64, DEC, 3, A("fd", FD, NONE, -4), A("dirent", HEX, NONE, 8), A("count", UNSIGNED, NONE, 4))
ROW(getegid, DEC, 0, A("", HEX, NONE, 8))
ROW(geteuid, DEC, 0, A("", HEX, NONE, 8))
ROW(getgid, DEC, 0, A("", HEX, NONE, 8))
ROW(getgroups, DEC, 2, A("gidsetsize", DEC, NONE, -4), A("grouplist", HEX, NONE, 8))
ROW(getitimer, DEC, 2, A("which", SET, ITIMER, -4), M("value", STRUCT, ITIMERVAL, OUT, ONE))
ROW(getpeername, DEC, 3, A("fd", FD, NONE, -4), M("usockaddr", SOCKADDR, NONE, OUT, LENGTH),
    M("usockaddr_len", STRUCT, INT, OUT, ONE))
ROW(getpgid, PLAIN_PID, 1, A("pid", PID, NONE, -4))
ROW(getpgrp, PLAIN_PID, 0, A("", HEX, NONE, 8))
ROW(getpid, PLAIN_PID, 0, A("", HEX, NONE, 8))
ROW(getppid, PLAIN_PID, 0, A("", HEX, NONE, 8))
ROW(getpriority, DEC, 2, A("which", SET, PRIO, -4), A("who", DEC, NONE, -4))
ROW(getrandom, DEC, 3, M("ubuf", DATA, NONE, OUT, RESULT_NEXT), A("len", UNSIGNED, NONE, 8),
    A("flags", SET, GRND, 4))
ROW(getresgid, DEC, 3, M("rgidp", STRUCT, INT, OUT, ONE), M("egidp", STRUCT, INT, OUT, ONE),
    M("sgidp", STRUCT, INT, OUT, ONE))
ROW(getresuid, DEC, 3, M("ruidp", STRUCT, INT, OUT, ONE), M("euidp", STRUCT, INT, OUT, ONE),
    M("suidp", STRUCT, INT, OUT, ONE))
ROW(getrlimit, DEC, 2, A("resource", SET, RLIMIT, 4), M("rlim", STRUCT, RLIMIT, OUT, ONE))
ROW(getrusage, DEC, 2, A("who", SET, RUSAGE, -4), M("ru", STRUCT, RUSAGE, OUT, ONE))
ROW(getsid, PLAIN_PID, 1, A("pid", PID, NONE, -4))
ROW(getsockname, DEC, 3, A("fd", FD, NONE, -4), M("usockaddr", SOCKADDR, NONE, OUT, LENGTH),
    M("usockaddr_len", STRUCT, INT, OUT, ONE))
ROW(getsockopt, DEC, 5, A("fd", FD, NONE, -4), A("level", SET, SOL, -4), A("optname", SOCKOPT, NONE, -4),
    M("optval", STRUCT, OPTION, OUT, LENGTH), M("optlen", STRUCT, INT, OUT, ONE))
ROW(gettid, PID, 0, A("", HEX, NONE, 8))
ROW(gettimeofday, DEC, 2, M("tv", STRUCT, TIMEVAL, OUT, ONE), A("tz", HEX, NONE, 8))
ROW(getuid, DEC, 0, A("", HEX, NONE, 8))
ROW(getxattr, DEC, 4, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8),
    M("value", DATA, NONE, OUT, RESULT_NEXT), A("size", UNSIGNED, NONE, 8))
ROW(getxattrat, DEC, 6, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("at_flags", HEX, NONE, 4),
    A("name", TEXT, NONE, 8), A("uargs", HEX, NONE, 8), A("usize", UNSIGNED, NONE, 8))
ROW(init_module, DEC, 3, A("umod", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("uargs", TEXT, NONE, 8))
ROW(inotify_add_watch, DEC, 3, A("fd", FD, NONE, -4), A("pathname", PATH, NONE, 8),
    A("mask", SET, INOTIFY, 4))
ROW(inotify_init, FD, 0, A("", HEX, NONE, 8))
ROW(inotify_init1, FD, 1, A("flags", SET, OPEN_ONLY, -4))
ROW(inotify_rm_watch, DEC, 2, A("fd", FD, NONE, -4), A("wd", DEC, NONE, -4))
ROW(io_cancel, DEC, 3, A("ctx_id", HEX, NONE, 8), A("iocb", HEX, NONE, 8), A("result", HEX, NONE, 8))
ROW(io_destroy, DEC, 1, A("ctx", HEX, NONE, 8))
ROW(io_getevents, DEC, 5, A("ctx_id", HEX, NONE, 8), A("min_nr", DEC, NONE, -8), A("nr", DEC, NONE, -8),
    A("events", HEX, NONE, 8), M("timeout", STRUCT, TIMESPEC, IN, ONE))
ROW(io_pgetevents, DEC, 6, A("ctx_id", HEX, NONE, 8), A("min_nr", DEC, NONE, -8), A("nr", DEC, NONE, -8),
    A("events", HEX, NONE, 8), M("timeout", STRUCT, TIMESPEC, IN, ONE), A("usig", HEX, NONE, 8))
ROW(io_setup, DEC, 2, A("nr_events", UNSIGNED, NONE, 4), A("ctxp", HEX, NONE, 8))
ROW(io_submit, DEC, 3, A("ctx_id", HEX, NONE, 8), A("nr", DEC, NONE, -8), A("iocbpp", HEX, NONE, 8))
ROW(io_uring_enter, DEC, 6, A("fd", FD, NONE, -4), A("to_submit", UNSIGNED, NONE, 4),
    A("min_complete", UNSIGNED, NONE, 4), A("flags", SET, URING_ENTER, 4), A("argp", HEX, NONE, 8),
    A("argsz", HEX, NONE, 8))
ROW(io_uring_register, DEC, 4, A("fd", FD, NONE, -4), A("opcode", UNSIGNED, NONE, 4), A("arg", HEX, NONE, 8),
    A("nr_args", UNSIGNED, NONE, 4))
ROW(io_uring_setup, FD, 2, A("entries", UNSIGNED, NONE, 4), A("params", HEX, NONE, 8))
ROW(ioctl, DEC, 3, A("fd", FD, NONE, -4), A("cmd", IOCTL, NONE, 4), M("arg", STRUCT, CONTROL, BOTH, ONE))
ROW(ioperm, DEC, 3, A("from", UNSIGNED, NONE, 8), A("num", UNSIGNED, NONE, 8), A("turn_on", DEC, NONE, -4))
ROW(iopl, DEC, 1, A("level", UNSIGNED, NONE, 4))
ROW(ioprio_get, DEC, 2, A("which", DEC, NONE, -4), A("who", DEC, NONE, -4))
ROW(ioprio_set, DEC, 3, A("which", DEC, NONE, -4), A("who", DEC, NONE, -4), A("ioprio", DEC, NONE, -4))
ROW(kcmp, DEC, 5, A("pid1", PID, NONE, -4), A("pid2", PID, NONE, -4), A("type", DEC, NONE, -4),
    A("idx1", UNSIGNED, NONE, 8), A("idx2", UNSIGNED, NONE, 8))
ROW(kexec_file_load, DEC, 5, A("kernel_fd", FD, NONE, -4), A("initrd_fd", FD, NONE, -4),
    A("cmdline_len", UNSIGNED, NONE, 8), A("cmdline_ptr", TEXT, NONE, 8), A("flags", HEX, NONE, 8))
ROW(kexec_load, DEC, 4, A("entry", UNSIGNED, NONE, 8), A("nr_segments", UNSIGNED, NONE, 8),
    A("segments", HEX, NONE, 8), A("flags", HEX, NONE, 8))
ROW(keyctl, DEC, 5, A("option", SET, KEYCTL, -4), A("arg2", HEX, NONE, 8), A("arg3", HEX, NONE, 8),
    A("arg4", HEX, NONE, 8), A("arg5", HEX, NONE, 8))
ROW(kill, DEC, 2, A("pid", PID, NONE, -4), A("sig", SIGNAL, NONE, -4))
ROW(landlock_add_rule, DEC, 4, A("ruleset_fd", FD, NONE, -4), A("rule_type", DEC, NONE, 8),
    A("rule_attr", HEX, NONE, 8), A("flags", HEX, NONE, 4))
ROW(landlock_create_ruleset, FD, 3, A("attr", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8),
    A("flags", SET, LANDLOCK, 4))
ROW(landlock_restrict_self, DEC, 2, A("ruleset_fd", FD, NONE, -4), A("flags", HEX, NONE, 4))
ROW(lchown, DEC, 3, A("filename", PATH, NONE, 8), A("user", UNSIGNED, NONE, 4), A("group", UNSIGNED, NONE, 4))
ROW(lgetxattr, DEC, 4, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8),
    M("value", DATA, NONE, OUT, RESULT_NEXT), A("size", UNSIGNED, NONE, 8))
ROW(link, DEC, 2, A("oldname", PATH, NONE, 8), A("newname", PATH, NONE, 8))
ROW(linkat, DEC, 5, A("olddfd", DFD, NONE, -4), A("oldname", PATH, NONE, 8), A("newdfd", DFD, NONE, -4),
    A("newname", PATH, NONE, 8), A("flags", SET, AT, -4))
ROW(listen, DEC, 2, A("fd", FD, NONE, -4), A("backlog", DEC, NONE, -4))
ROW(listmount, DEC, 4, A("req", HEX, NONE, 8), A("mnt_ids", HEX, NONE, 8), A("nr_mnt_ids", UNSIGNED, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(listxattr, DEC, 3, A("pathname", PATH, NONE, 8), A("list", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8))
ROW(listxattrat, DEC, 5, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("at_flags", HEX, NONE, 4),
    A("list", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8))
ROW(llistxattr, DEC, 3, A("pathname", PATH, NONE, 8), A("list", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8))
ROW(lremovexattr, DEC, 2, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8))
ROW(lseek, DEC, 3, A("fd", FD, NONE, -4), A("offset", DEC, NONE, -8), A("whence", SET, SEEK, 4))
ROW(lsetxattr, DEC, 5, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8), A("value", HEX, NONE, 8),
    A("size", UNSIGNED, NONE, 8), A("flags", SET, XATTR, -4))
ROW(lsm_get_self_attr, DEC, 4, A("attr", UNSIGNED, NONE, 4), A("ctx", HEX, NONE, 8), A("size", HEX, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(lsm_list_modules, DEC, 3, A("ids", HEX, NONE, 8), A("size", HEX, NONE, 8), A("flags", HEX, NONE, 4))
ROW(lsm_set_self_attr, DEC, 4, A("attr", UNSIGNED, NONE, 4), A("ctx", HEX, NONE, 8),
    A("size", UNSIGNED, NONE, 4), A("flags", HEX, NONE, 4))
ROW(madvise, DEC, 3, A("start", HEX, NONE, 8), A("len_in", UNSIGNED, NONE, 8),
    A("behavior", SET, MADVISE, -4))
ROW(map_shadow_stack, DEC, 3, A("addr", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8), A("flags", HEX, NONE, 4))
ROW(mbind, DEC, 6, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("mode", UNSIGNED, NONE, 8),
    A("nmask", HEX, NONE, 8), A("maxnode", UNSIGNED, NONE, 8), A("flags", HEX, NONE, 4))
ROW(membarrier, DEC, 3, A("cmd", SET, MEMBARRIER, -4), A("flags", HEX, NONE, 4), A("cpu_id", DEC, NONE, -4))
ROW(memfd_create, FD, 2, A("uname", TEXT, NONE, 8), A("flags", SET, MFD, 4))
ROW(memfd_secret, FD, 1, A("flags", HEX, NONE, 4))
ROW(migrate_pages, DEC, 4, A("pid", PID, NONE, -4), A("maxnode", UNSIGNED, NONE, 8),
    A("old_nodes", HEX, NONE, 8), A("new_nodes", HEX, NONE, 8))
ROW(mincore, DEC, 3, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("vec", HEX, NONE, 8))
ROW(mkdir, DEC, 2, A("pathname", PATH, NONE, 8), A("mode", MODE, NONE, 4))
ROW(mkdirat, DEC, 3, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("mode", MODE, NONE, 4))
ROW(mknod, DEC, 3, A("filename", PATH, NONE, 8), A("mode", MODE, NONE, 4), A("dev", UNSIGNED, NONE, 4))
ROW(mknodat, DEC, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("mode", MODE, NONE, 4),
    A("dev", UNSIGNED, NONE, 4))
ROW(mlock, DEC, 2, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8))
ROW(mlock2, DEC, 3, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("flags", SET, MLOCK2, -4))
ROW(mlockall, DEC, 1, A("flags", SET, MLOCKALL, -4))
ROW(mmap, HEX, 6, A("addr", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("prot", SET, PROT, 8),
    A("flags", SET, MAP, 8), A("fd", FD, NONE, 8), A("off", HEX, NONE, 8))
ROW(modify_ldt, DEC, 3, A("func", DEC, NONE, -4), A("ptr", HEX, NONE, 8), A("bytecount", UNSIGNED, NONE, 8))
ROW(mount, DEC, 5, A("dev_name", PATH, NONE, 8), A("dir_name", PATH, NONE, 8), A("type", TEXT, NONE, 8),
    A("flags", SET, MOUNT, 8), A("data", HEX, NONE, 8))
ROW(mount_setattr, DEC, 5, A("dfd", DFD, NONE, -4), A("path", PATH, NONE, 8), A("flags", HEX, NONE, 4),
    A("uattr", HEX, NONE, 8), A("usize", UNSIGNED, NONE, 8))
ROW(move_mount, DEC, 5, A("from_dfd", DFD, NONE, -4), A("from_pathname", PATH, NONE, 8),
    A("to_dfd", DFD, NONE, -4), A("to_pathname", PATH, NONE, 8), A("flags", HEX, NONE, 4))
ROW(move_pages, DEC, 6, A("pid", PID, NONE, -4), A("nr_pages", UNSIGNED, NONE, 8), A("pages", HEX, NONE, 8),
    A("nodes", HEX, NONE, 8), A("status", HEX, NONE, 8), A("flags", HEX, NONE, 4))
ROW(mprotect, DEC, 3, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("prot", SET, PROT, 8))
ROW(mq_getsetattr, DEC, 3, A("mqdes", FD, NONE, -4), A("u_mqstat", HEX, NONE, 8),
    A("u_omqstat", HEX, NONE, 8))
ROW(mq_notify, DEC, 2, A("mqdes", FD, NONE, -4), A("u_notification", HEX, NONE, 8))
ROW(mq_open, FD, 4, A("u_name", TEXT, NONE, 8), A("oflag", SET, OPEN, -4), A("mode", MODE, NONE, 4),
    A("u_attr", HEX, NONE, 8))
ROW(mq_timedreceive, DEC, 5, A("mqdes", FD, NONE, -4), M("u_msg_ptr", DATA, NONE, OUT, RESULT_NEXT),
    A("msg_len", UNSIGNED, NONE, 8), A("u_msg_prio", HEX, NONE, 8),
    M("u_abs_timeout", STRUCT, TIMESPEC, IN, ONE))
ROW(mq_timedsend, DEC, 5, A("mqdes", FD, NONE, -4), M("u_msg_ptr", DATA, NONE, IN, NEXT_BYTES),
    A("msg_len", UNSIGNED, NONE, 8), A("msg_prio", UNSIGNED, NONE, 4),
    M("u_abs_timeout", STRUCT, TIMESPEC, IN, ONE))
ROW(mq_unlink, DEC, 1, A("u_name", TEXT, NONE, 8))
ROW(mremap, HEX, 5, A("addr", HEX, NONE, 8), A("old_len", UNSIGNED, NONE, 8), A("new_len", UNSIGNED, NONE, 8),
    A("flags", SET, MREMAP, 8), A("new_addr", HEX, NONE, 8))
ROW(mseal, DEC, 3, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("flags", HEX, NONE, 8))
ROW(msgctl, DEC, 3, A("msqid", DEC, NONE, -4), A("cmd", DEC, NONE, -4), A("buf", HEX, NONE, 8))
ROW(msgget, DEC, 2, A("key", DEC, NONE, -4), A("msgflg", DEC, NONE, -4))
ROW(msgrcv, DEC, 5, A("msqid", DEC, NONE, -4), A("msgp", HEX, NONE, 8), A("msgsz", UNSIGNED, NONE, 8),
    A("msgtyp", DEC, NONE, -8), A("msgflg", DEC, NONE, -4))
ROW(msgsnd, DEC, 4, A("msqid", DEC, NONE, -4), A("msgp", HEX, NONE, 8), A("msgsz", UNSIGNED, NONE, 8),
    A("msgflg", DEC, NONE, -4))
ROW(msync, DEC, 3, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("flags", SET, MSYNC, -4))
ROW(munlock, DEC, 2, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8))
ROW(munlockall, DEC, 0, A("", HEX, NONE, 8))
ROW(munmap, DEC, 2, A("addr", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8))
ROW(name_to_handle_at, DEC, 5, A("dfd", DFD, NONE, -4), A("name", PATH, NONE, 8), A("handle", HEX, NONE, 8),
    A("mnt_id", HEX, NONE, 8), A("flag", SET, AT, -4))
ROW(nanosleep, DEC, 2, M("rqtp", STRUCT, TIMESPEC, IN, ONE), A("rmtp", HEX, NONE, 8))
ROW(newfstat, DEC, 2, A("fd", FD, NONE, -4), M("statbuf", STRUCT, STAT, OUT, ONE))
ROW(newfstatat, DEC, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8),
    M("statbuf", STRUCT, STAT, OUT, ONE), A("flag", SET, AT, -4))
ROW(newlstat, DEC, 2, A("filename", PATH, NONE, 8), M("statbuf", STRUCT, STAT, OUT, ONE))
ROW(newstat, DEC, 2, A("filename", PATH, NONE, 8), M("statbuf", STRUCT, STAT, OUT, ONE))
ROW(newuname, DEC, 1, M("name", STRUCT, UTSNAME, OUT, ONE))
ROW(nice, DEC, 1, A("increment", DEC, NONE, -4))
ROW(open, FD, 3, A("filename", PATH, NONE, 8), A("flags", SET, OPEN, -4), A("mode", MODE, NONE, 4))
ROW(open_by_handle_at, FD, 3, A("mountdirfd", DFD, NONE, -4), A("handle", HEX, NONE, 8),
    A("flags", SET, OPEN, -4))
ROW(open_tree, FD, 3, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("flags", HEX, NONE, 4))
ROW(open_tree_attr, FD, 5, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("flags", HEX, NONE, 4),
    A("uattr", HEX, NONE, 8), A("usize", UNSIGNED, NONE, 8))
ROW(openat, FD, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("flags", SET, OPEN, -4),
    A("mode", MODE, NONE, 4))
ROW(openat2, FD, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8),
    M("how", STRUCT, OPEN_HOW, IN, NEXT_BYTES), A("usize", UNSIGNED, NONE, 8))
ROW(pause, DEC, 0, A("", HEX, NONE, 8))
ROW(perf_event_open, FD, 5, A("attr_uptr", HEX, NONE, 8), A("pid", PID, NONE, -4), A("cpu", DEC, NONE, -4),
    A("group_fd", FD, NONE, -4), A("flags", SET, PERF, 8))
ROW(personality, DEC, 1, A("personality", SET, PERSONALITY, 4))
ROW(pidfd_getfd, FD, 3, A("pidfd", FD, NONE, -4), A("fd", FD, NONE, -4), A("flags", HEX, NONE, 4))
ROW(pidfd_open, FD, 2, A("pid", PID, NONE, -4), A("flags", SET, OPEN_ONLY, 4))
ROW(pidfd_send_signal, DEC, 4, A("pidfd", FD, NONE, -4), A("sig", SIGNAL, NONE, -4), A("info", HEX, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(pipe, DEC, 1, M("fildes", STRUCT, INT, OUT, PAIR))
ROW(pipe2, DEC, 2, M("fildes", STRUCT, INT, OUT, PAIR), A("flags", SET, OPEN_ONLY, -4))
ROW(pivot_root, DEC, 2, A("new_root", PATH, NONE, 8), A("put_old", PATH, NONE, 8))
ROW(pkey_alloc, DEC, 2, A("flags", HEX, NONE, 8), A("init_val", UNSIGNED, NONE, 8))
ROW(pkey_free, DEC, 1, A("pkey", DEC, NONE, -4))
ROW(pkey_mprotect, DEC, 4, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8), A("prot", SET, PROT, 8),
    A("pkey", DEC, NONE, -4))
ROW(poll, TIMEOUT, 3, M("ufds", STRUCT, POLLFD, BOTH, NEXT), A("nfds", UNSIGNED, NONE, 4),
    A("timeout_msecs", DEC, NONE, -4))
ROW(ppoll, TIMEOUT, 5, M("ufds", STRUCT, POLLFD, BOTH, NEXT), A("nfds", UNSIGNED, NONE, 4),
    M("tsp", STRUCT, TIMESPEC, IN, ONE), M("sigmask", STRUCT, SIGSET, IN, ONE),
    A("sigsetsize", UNSIGNED, NONE, 8))
ROW(prctl, DEC, 5, A("option", SET, PRCTL, -4), A("arg2", PRCTL, NONE, 8), A("arg3", HEX, NONE, 8),
    A("arg4", HEX, NONE, 8), A("arg5", HEX, NONE, 8))
ROW(pread64, DEC, 4, A("fd", FD, NONE, -4), M("buf", DATA, NONE, OUT, RESULT_NEXT),
    A("count", UNSIGNED, NONE, 8), A("pos", DEC, NONE, -8))
ROW(preadv, DEC, 5, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, OUT, NEXT), A("vlen", UNSIGNED, NONE, 8),
    A("pos_l", UNSIGNED, NONE, 8), A("pos_h", UNSIGNED, NONE, 8))
ROW(preadv2, DEC, 6, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, OUT, NEXT), A("vlen", UNSIGNED, NONE, 8),
    A("pos_l", UNSIGNED, NONE, 8), A("pos_h", UNSIGNED, NONE, 8), A("flags", SET, RWF, -4))
ROW(prlimit64, DEC, 4, A("pid", PID, NONE, -4), A("resource", SET, RLIMIT, 4),
    M("new_rlim", STRUCT, RLIMIT, IN, ONE), M("old_rlim", STRUCT, RLIMIT, OUT, ONE))
ROW(process_madvise, DEC, 5, A("pidfd", FD, NONE, -4), A("vec", HEX, NONE, 8), A("vlen", UNSIGNED, NONE, 8),
    A("behavior", SET, MADVISE, -4), A("flags", HEX, NONE, 4))
ROW(process_mrelease, DEC, 2, A("pidfd", FD, NONE, -4), A("flags", HEX, NONE, 4))
ROW(process_vm_readv, DEC, 6, A("pid", PID, NONE, -4), A("lvec", HEX, NONE, 8),
    A("liovcnt", UNSIGNED, NONE, 8), A("rvec", HEX, NONE, 8), A("riovcnt", UNSIGNED, NONE, 8),
    A("flags", HEX, NONE, 8))
ROW(process_vm_writev, DEC, 6, A("pid", PID, NONE, -4), A("lvec", HEX, NONE, 8),
    A("liovcnt", UNSIGNED, NONE, 8), A("rvec", HEX, NONE, 8), A("riovcnt", UNSIGNED, NONE, 8),
    A("flags", HEX, NONE, 8))
ROW(pselect6, TIMEOUT, 6, A("n", DEC, NONE, -4), A("inp", HEX, NONE, 8), A("outp", HEX, NONE, 8),
    A("exp", HEX, NONE, 8), M("tsp", STRUCT, TIMESPEC, IN, ONE), A("sig", HEX, NONE, 8))
ROW(ptrace, DEC, 4, A("request", SET, PTRACE, -8), A("pid", PID, NONE, -8), A("addr", HEX, NONE, 8),
    A("data", UNSIGNED, NONE, 8))
ROW(pwrite64, DEC, 4, A("fd", FD, NONE, -4), M("buf", DATA, NONE, IN, NEXT_BYTES),
    A("count", UNSIGNED, NONE, 8), A("pos", DEC, NONE, -8))
ROW(pwritev, DEC, 5, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, IN, NEXT), A("vlen", UNSIGNED, NONE, 8),
    A("pos_l", UNSIGNED, NONE, 8), A("pos_h", UNSIGNED, NONE, 8))
ROW(pwritev2, DEC, 6, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, IN, NEXT), A("vlen", UNSIGNED, NONE, 8),
    A("pos_l", UNSIGNED, NONE, 8), A("pos_h", UNSIGNED, NONE, 8), A("flags", SET, RWF, -4))
ROW(quotactl, DEC, 4, A("cmd", HEX, NONE, 4), A("special", PATH, NONE, 8), A("id", UNSIGNED, NONE, 4),
    A("addr", HEX, NONE, 8))
ROW(quotactl_fd, DEC, 4, A("fd", FD, NONE, -4), A("cmd", UNSIGNED, NONE, 4), A("id", UNSIGNED, NONE, 4),
    A("addr", HEX, NONE, 8))
ROW(read, DEC, 3, A("fd", FD, NONE, -4), M("buf", DATA, NONE, OUT, RESULT_NEXT),
    A("count", UNSIGNED, NONE, 8))
ROW(readahead, DEC, 3, A("fd", FD, NONE, -4), A("offset", DEC, NONE, -8), A("count", UNSIGNED, NONE, 8))
ROW(readlink, DEC, 3, A("path", PATH, NONE, 8), M("buf", DATA, NONE, OUT, RESULT_NEXT),
    A("bufsiz", DEC, NONE, -4))
ROW(readlinkat, DEC, 4, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8),
    M("buf", DATA, NONE, OUT, RESULT_NEXT), A("bufsiz", DEC, NONE, -4))
ROW(readv, DEC, 3, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, OUT, NEXT), A("vlen", UNSIGNED, NONE, 8))
ROW(reboot, DEC, 4, A("magic1", HEX, NONE, -4), A("magic2", HEX, NONE, -4), A("cmd", HEX, NONE, 4),
    A("arg", HEX, NONE, 8))
ROW(recvfrom, DEC, 6, A("fd", FD, NONE, -4), M("ubuf", DATA, NONE, OUT, RESULT_NEXT),
    A("size", UNSIGNED, NONE, 8), A("flags", SET, MSG, 4), M("addr", SOCKADDR, NONE, OUT, LENGTH),
    M("addr_len", STRUCT, INT, OUT, ONE))
ROW(recvmmsg, DEC, 5, A("fd", FD, NONE, -4), A("mmsg", HEX, NONE, 8), A("vlen", UNSIGNED, NONE, 4),
    A("flags", SET, MSG, 4), M("timeout", STRUCT, TIMESPEC, IN, ONE))
ROW(recvmsg, DEC, 3, A("fd", FD, NONE, -4), M("msg", MESSAGE, NONE, OUT, ONE), A("flags", SET, MSG, 4))
ROW(remap_file_pages, DEC, 5, A("start", HEX, NONE, 8), A("size", UNSIGNED, NONE, 8),
    A("prot", UNSIGNED, NONE, 8), A("pgoff", UNSIGNED, NONE, 8), A("flags", HEX, NONE, 8))
ROW(removexattr, DEC, 2, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8))
ROW(removexattrat, DEC, 4, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("at_flags", HEX, NONE, 4),
    A("name", TEXT, NONE, 8))
ROW(rename, DEC, 2, A("oldname", PATH, NONE, 8), A("newname", PATH, NONE, 8))
ROW(renameat, DEC, 4, A("olddfd", DFD, NONE, -4), A("oldname", PATH, NONE, 8), A("newdfd", DFD, NONE, -4),
    A("newname", PATH, NONE, 8))
ROW(renameat2, DEC, 5, A("olddfd", DFD, NONE, -4), A("oldname", PATH, NONE, 8), A("newdfd", DFD, NONE, -4),
    A("newname", PATH, NONE, 8), A("flags", SET, RENAME, 4))
ROW(request_key, DEC, 4, A("_type", TEXT, NONE, 8), A("_description", TEXT, NONE, 8),
    A("_callout_info", TEXT, NONE, 8), A("destringid", DEC, NONE, -4))
ROW(restart_syscall, DEC, 0, A("", HEX, NONE, 8))
ROW(rmdir, DEC, 1, A("pathname", PATH, NONE, 8))
ROW(rseq, DEC, 4, A("rseq", HEX, NONE, 8), A("rseq_len", UNSIGNED, NONE, 4), A("flags", HEX, NONE, 4),
    A("sig", HEX, NONE, 4))
ROW(rt_sigaction, DEC, 4, A("sig", SIGNAL, NONE, -4), M("act", STRUCT, SIGACTION, IN, ONE),
    M("oact", STRUCT, SIGACTION, OUT, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(rt_sigpending, DEC, 2, M("uset", STRUCT, SIGSET, OUT, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(rt_sigprocmask, DEC, 4, A("how", SET, SIGMASK, -4), M("nset", STRUCT, SIGSET, IN, ONE),
    M("oset", STRUCT, SIGSET, OUT, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(rt_sigqueueinfo, DEC, 3, A("pid", PID, NONE, -4), A("sig", SIGNAL, NONE, -4), A("uinfo", HEX, NONE, 8))
ROW(rt_sigreturn, NONE, 0, A("", HEX, NONE, 8))
ROW(rt_sigsuspend, DEC, 2, M("unewset", STRUCT, SIGSET, IN, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(rt_sigtimedwait, DEC, 4, M("uthese", STRUCT, SIGSET, IN, ONE), A("uinfo", HEX, NONE, 8),
    M("uts", STRUCT, TIMESPEC, IN, ONE), A("sigsetsize", UNSIGNED, NONE, 8))
ROW(rt_tgsigqueueinfo, DEC, 4, A("tgid", PID, NONE, -4), A("pid", PID, NONE, -4), A("sig", SIGNAL, NONE, -4),
    A("uinfo", HEX, NONE, 8))
ROW(sched_get_priority_max, DEC, 1, A("policy", SET, SCHED, -4))
ROW(sched_get_priority_min, DEC, 1, A("policy", SET, SCHED, -4))
ROW(sched_getaffinity, DEC, 3, A("pid", PID, NONE, -4), A("len", UNSIGNED, NONE, 4),
    M("user_mask_ptr", STRUCT, CPUS, OUT, RESULT_BYTES))
ROW(sched_getattr, DEC, 4, A("pid", PID, NONE, -4), M("uattr", STRUCT, SCHED_ATTR, OUT, NEXT_BYTES),
    A("usize", UNSIGNED, NONE, 4), A("flags", HEX, NONE, 4))
ROW(sched_getparam, DEC, 2, A("pid", PID, NONE, -4), M("param", STRUCT, SCHED_PARAM, OUT, ONE))
ROW(sched_getscheduler, DEC, 1, A("pid", PID, NONE, -4))
ROW(sched_rr_get_interval, DEC, 2, A("pid", PID, NONE, -4), M("interval", STRUCT, TIMESPEC, OUT, ONE))
ROW(sched_setaffinity, DEC, 3, A("pid", PID, NONE, -4), A("len", UNSIGNED, NONE, 4),
    M("user_mask_ptr", STRUCT, CPUS, IN, BEFORE_BYTES))
ROW(sched_setattr, DEC, 3, A("pid", PID, NONE, -4), A("uattr", HEX, NONE, 8), A("flags", HEX, NONE, 4))
ROW(sched_setparam, DEC, 2, A("pid", PID, NONE, -4), M("param", STRUCT, SCHED_PARAM, IN, ONE))
ROW(sched_setscheduler, DEC, 3, A("pid", PID, NONE, -4), A("policy", SET, SCHED, -4),
    M("param", STRUCT, SCHED_PARAM, IN, ONE))
ROW(sched_yield, DEC, 0, A("", HEX, NONE, 8))
ROW(seccomp, DEC, 3, A("op", SET, SECCOMP, 4), A("flags", SET, SECCOMP_FILTER, 4), A("uargs", HEX, NONE, 8))
ROW(select, TIMEOUT, 5, A("n", DEC, NONE, -4), A("inp", HEX, NONE, 8), A("outp", HEX, NONE, 8),
    A("exp", HEX, NONE, 8), M("tvp", STRUCT, TIMEVAL, IN, ONE))
ROW(semctl, DEC, 4, A("semid", DEC, NONE, -4), A("semnum", DEC, NONE, -4), A("cmd", DEC, NONE, -4),
    A("arg", HEX, NONE, 8))
ROW(semget, DEC, 3, A("key", DEC, NONE, -4), A("nsems", DEC, NONE, -4), A("semflg", DEC, NONE, -4))
ROW(semop, DEC, 3, A("semid", DEC, NONE, -4), A("tsops", HEX, NONE, 8), A("nsops", UNSIGNED, NONE, 4))
ROW(semtimedop, DEC, 4, A("semid", DEC, NONE, -4), A("tsops", HEX, NONE, 8), A("nsops", UNSIGNED, NONE, 4),
    M("timeout", STRUCT, TIMESPEC, IN, ONE))
ROW(sendfile64, DEC, 4, A("out_fd", FD, NONE, -4), A("in_fd", FD, NONE, -4),
    M("offset", STRUCT, LONG, IN, ONE), A("count", UNSIGNED, NONE, 8))
ROW(sendmmsg, DEC, 4, A("fd", FD, NONE, -4), A("mmsg", HEX, NONE, 8), A("vlen", UNSIGNED, NONE, 4),
    A("flags", SET, MSG, 4))
ROW(sendmsg, DEC, 3, A("fd", FD, NONE, -4), M("msg", MESSAGE, NONE, IN, ONE), A("flags", SET, MSG, 4))
ROW(sendto, DEC, 6, A("fd", FD, NONE, -4), M("buff", DATA, NONE, IN, NEXT_BYTES), A("len", UNSIGNED, NONE, 8),
    A("flags", SET, MSG, 4), M("addr", SOCKADDR, NONE, IN, NEXT_BYTES), A("addr_len", UNSIGNED, NONE, -4))
ROW(set_mempolicy, DEC, 3, A("mode", DEC, NONE, -4), A("nmask", HEX, NONE, 8),
    A("maxnode", UNSIGNED, NONE, 8))
ROW(set_mempolicy_home_node, DEC, 4, A("start", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8),
    A("home_node", UNSIGNED, NONE, 8), A("flags", HEX, NONE, 8))
ROW(set_robust_list, DEC, 2, A("head", HEX, NONE, 8), A("len", UNSIGNED, NONE, 8))
ROW(set_tid_address, PID, 1, A("tidptr", HEX, NONE, 8))
ROW(setdomainname, DEC, 2, A("name", TEXT, NONE, 8), A("len", UNSIGNED, NONE, -4))
ROW(setfsgid, DEC, 1, A("gid", UNSIGNED, NONE, 4))
ROW(setfsuid, DEC, 1, A("uid", UNSIGNED, NONE, 4))
ROW(setgid, DEC, 1, A("gid", UNSIGNED, NONE, 4))
ROW(setgroups, DEC, 2, A("gidsetsize", DEC, NONE, -4), A("grouplist", HEX, NONE, 8))
ROW(sethostname, DEC, 2, A("name", TEXT, NONE, 8), A("len", UNSIGNED, NONE, -4))
ROW(setitimer, DEC, 3, A("which", SET, ITIMER, -4), M("value", STRUCT, ITIMERVAL, IN, ONE),
    M("ovalue", STRUCT, ITIMERVAL, OUT, ONE))
ROW(setns, DEC, 2, A("fd", FD, NONE, -4), A("flags", SET, CLONE_ONLY, -4))
ROW(setpgid, DEC, 2, A("pid", PID, NONE, -4), A("pgid", PID, NONE, -4))
ROW(setpriority, DEC, 3, A("which", SET, PRIO, -4), A("who", DEC, NONE, -4), A("niceval", DEC, NONE, -4))
ROW(setregid, DEC, 2, A("rgid", UNSIGNED, NONE, 4), A("egid", UNSIGNED, NONE, 4))
ROW(setresgid, DEC, 3, A("rgid", UNSIGNED, NONE, 4), A("egid", UNSIGNED, NONE, 4),
    A("sgid", UNSIGNED, NONE, 4))
ROW(setresuid, DEC, 3, A("ruid", UNSIGNED, NONE, 4), A("euid", UNSIGNED, NONE, 4),
    A("suid", UNSIGNED, NONE, 4))
ROW(setreuid, DEC, 2, A("ruid", UNSIGNED, NONE, 4), A("euid", UNSIGNED, NONE, 4))
ROW(setrlimit, DEC, 2, A("resource", SET, RLIMIT, 4), M("rlim", STRUCT, RLIMIT, IN, ONE))
ROW(setsid, PLAIN_PID, 0, A("", HEX, NONE, 8))
ROW(setsockopt, DEC, 5, A("fd", FD, NONE, -4), A("level", SET, SOL, -4), A("optname", SOCKOPT, NONE, -4),
    M("optval", STRUCT, OPTION, IN, NEXT_BYTES), A("optlen", UNSIGNED, NONE, -4))
ROW(settimeofday, DEC, 2, M("tv", STRUCT, TIMEVAL, IN, ONE), A("tz", HEX, NONE, 8))
ROW(setuid, DEC, 1, A("uid", UNSIGNED, NONE, 4))
ROW(setxattr, DEC, 5, A("pathname", PATH, NONE, 8), A("name", TEXT, NONE, 8), A("value", HEX, NONE, 8),
    A("size", UNSIGNED, NONE, 8), A("flags", SET, XATTR, -4))
ROW(setxattrat, DEC, 6, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("at_flags", HEX, NONE, 4),
    A("name", TEXT, NONE, 8), A("uargs", HEX, NONE, 8), A("usize", UNSIGNED, NONE, 8))
ROW(shmat, HEX, 3, A("shmid", DEC, NONE, -4), A("shmaddr", HEX, NONE, 8), A("shmflg", DEC, NONE, -4))
ROW(shmctl, DEC, 3, A("shmid", DEC, NONE, -4), A("cmd", DEC, NONE, -4), A("buf", HEX, NONE, 8))
ROW(shmdt, DEC, 1, A("shmaddr", HEX, NONE, 8))
ROW(shmget, DEC, 3, A("key", DEC, NONE, -4), A("size", UNSIGNED, NONE, 8), A("shmflg", DEC, NONE, -4))
ROW(shutdown, DEC, 2, A("fd", FD, NONE, -4), A("how", SET, SHUT, -4))
ROW(sigaction, DEC, 3, A("sig", SIGNAL, NONE, -4), A("act", HEX, NONE, 8), A("oact", HEX, NONE, 8))
ROW(sigaltstack, DEC, 2, M("uss", STRUCT, SIGALTSTACK, IN, ONE), M("uoss", STRUCT, SIGALTSTACK, OUT, ONE))
ROW(signal, DEC, 2, A("sig", SIGNAL, NONE, -4), A("handler", HEX, NONE, 8))
ROW(signalfd, FD, 3, A("ufd", FD, NONE, -4), M("user_mask", STRUCT, SIGSET, IN, ONE),
    A("sizemask", UNSIGNED, NONE, 8))
ROW(signalfd4, FD, 4, A("ufd", FD, NONE, -4), M("user_mask", STRUCT, SIGSET, IN, ONE),
    A("sizemask", UNSIGNED, NONE, 8), A("flags", SET, SOCK, -4))
ROW(sigprocmask, DEC, 3, A("how", SET, SIGMASK, -4), A("nset", HEX, NONE, 8), A("oset", HEX, NONE, 8))
ROW(sigreturn, NONE, 0, A("", HEX, NONE, 8))
ROW(socket, FD, 3, A("family", SET, AF, -4), A("type", SET, SOCK_TYPE, -4),
    A("protocol", SOCKPROTO, NONE, -4))
ROW(socketcall, DEC, 2, A("call", SET, SOCKETCALL, -4), A("args", HEX, NONE, 8))
ROW(socketpair, DEC, 4, A("family", SET, AF, -4), A("type", SET, SOCK_TYPE, -4), A("protocol", DEC, NONE, -4),
    M("usockvec", STRUCT, INT, OUT, PAIR))
ROW(splice, DEC, 6, A("fd_in", FD, NONE, -4), M("off_in", STRUCT, LONG, IN, ONE), A("fd_out", FD, NONE, -4),
    M("off_out", STRUCT, LONG, IN, ONE), A("len", UNSIGNED, NONE, 8), A("flags", SET, SPLICE, 4))
ROW(statfs, DEC, 2, A("pathname", PATH, NONE, 8), M("buf", STRUCT, STATFS, OUT, ONE))
ROW(statfs64, DEC, 3, A("pathname", PATH, NONE, 8), A("sz", UNSIGNED, NONE, 8), A("buf", HEX, NONE, 8))
ROW(statmount, DEC, 4, A("req", HEX, NONE, 8), A("buf", HEX, NONE, 8), A("bufsize", UNSIGNED, NONE, 8),
    A("flags", HEX, NONE, 4))
ROW(statx, DEC, 5, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8), A("flags", SET, AT, 4),
    A("mask", SET, STATX, 4), M("buffer", STRUCT, STATX, OUT, ONE))
ROW(stime, DEC, 1, A("tptr", HEX, NONE, 8))
ROW(swapoff, DEC, 1, A("specialfile", PATH, NONE, 8))
ROW(swapon, DEC, 2, A("specialfile", PATH, NONE, 8), A("swap_flags", HEX, NONE, 4))
ROW(symlink, DEC, 2, A("oldname", TEXT, NONE, 8), A("newname", PATH, NONE, 8))
ROW(symlinkat, DEC, 3, A("oldname", TEXT, NONE, 8), A("newdfd", DFD, NONE, -4), A("newname", PATH, NONE, 8))
ROW(sync, DEC, 0, A("", HEX, NONE, 8))
ROW(sync_file_range, DEC, 4, A("fd", FD, NONE, -4), A("offset", DEC, NONE, -8), A("nbytes", DEC, NONE, -8),
    A("flags", SET, SYNC_RANGE, 4))
ROW(syncfs, DEC, 1, A("fd", FD, NONE, -4))
ROW(sysfs, DEC, 3, A("option", DEC, NONE, -4), A("arg1", HEX, NONE, 8), A("arg2", HEX, NONE, 8))
ROW(sysinfo, DEC, 1, M("info", STRUCT, SYSINFO, OUT, ONE))
ROW(syslog, DEC, 3, A("type", DEC, NONE, -4), A("buf", HEX, NONE, 8), A("len", UNSIGNED, NONE, -4))
ROW(tee, DEC, 4, A("fdin", FD, NONE, -4), A("fdout", FD, NONE, -4), A("len", UNSIGNED, NONE, 8),
    A("flags", SET, SPLICE, 4))
ROW(tgkill, DEC, 3, A("tgid", PID, NONE, -4), A("pid", PID, NONE, -4), A("sig", SIGNAL, NONE, -4))
ROW(time, DEC, 1, A("tloc", HEX, NONE, 8))
ROW(timer_create, DEC, 3, A("which_clock", SET, CLOCK, -4), A("timer_event_spec", HEX, NONE, 8),
    A("created_timer_id", HEX, NONE, 8))
ROW(timer_delete, DEC, 1, A("timer_id", DEC, NONE, -4))
ROW(timer_getoverrun, DEC, 1, A("timer_id", DEC, NONE, -4))
ROW(timer_gettime, DEC, 2, A("timer_id", DEC, NONE, -4), M("setting", STRUCT, ITIMERSPEC, OUT, ONE))
ROW(timer_settime, DEC, 4, A("timer_id", DEC, NONE, -4), A("flags", SET, TIMER, -4),
    M("new_setting", STRUCT, ITIMERSPEC, IN, ONE), M("old_setting", STRUCT, ITIMERSPEC, OUT, ONE))
ROW(timerfd_create, FD, 2, A("clockid", SET, CLOCK, -4), A("flags", SET, SOCK, -4))
ROW(timerfd_gettime, DEC, 2, A("ufd", FD, NONE, -4), M("otmr", STRUCT, ITIMERSPEC, OUT, ONE))
ROW(timerfd_settime, DEC, 4, A("ufd", FD, NONE, -4), A("flags", SET, TIMER, -4),
    M("utmr", STRUCT, ITIMERSPEC, IN, ONE), M("otmr", STRUCT, ITIMERSPEC, OUT, ONE))
ROW(times, DEC, 1, M("tbuf", STRUCT, TMS, OUT, ONE))
ROW(tkill, DEC, 2, A("pid", PID, NONE, -4), A("sig", SIGNAL, NONE, -4))
ROW(truncate, DEC, 2, A("path", PATH, NONE, 8), A("length", DEC, NONE, -8))
ROW(umask, MODE, 1, A("mask", MODE, NONE, -4))
ROW(umount, DEC, 2, A("name", PATH, NONE, 8), A("flags", SET, UMOUNT, -4))
ROW(unlink, DEC, 1, A("pathname", PATH, NONE, 8))
ROW(unlinkat, DEC, 3, A("dfd", DFD, NONE, -4), A("pathname", PATH, NONE, 8), A("flag", SET, AT_UNLINK, -4))
ROW(unshare, DEC, 1, A("unshare_flags", SET, CLONE_ONLY, 8))
ROW(userfaultfd, FD, 1, A("flags", SET, SOCK, -4))
ROW(ustat, DEC, 2, A("dev", UNSIGNED, NONE, 4), A("ubuf", HEX, NONE, 8))
ROW(utime, DEC, 2, A("filename", PATH, NONE, 8), A("times", HEX, NONE, 8))
ROW(utimensat, DEC, 4, A("dfd", DFD, NONE, -4), A("filename", PATH, NONE, 8),
    M("utimes", STRUCT, TIMESPEC, IN, PAIR), A("flags", SET, AT, -4))
ROW(utimes, DEC, 2, A("filename", PATH, NONE, 8), M("utimes", STRUCT, TIMEVAL, IN, PAIR))
ROW(vfork, PID, 0, A("", HEX, NONE, 8))
ROW(vhangup, DEC, 0, A("", HEX, NONE, 8))
ROW(vmsplice, DEC, 4, A("fd", FD, NONE, -4), M("uiov", VECTORS, NONE, IN, NEXT),
    A("nr_segs", UNSIGNED, NONE, 8), A("flags", SET, SPLICE, 4))
ROW(wait4, PID, 4, A("upid", PID, NONE, -4), M("stat_addr", STRUCT, WAIT_STATUS, POSITIVE, ONE),
    A("options", SET, WAIT, -4), M("ru", STRUCT, RUSAGE, POSITIVE, ONE))
ROW(waitid, DEC, 5, A("which", SET, WAIT_ID, -4), A("upid", PID, NONE, -4),
    M("infop", STRUCT, SIGINFO, OUT, ONE), A("options", SET, WAIT, -4), M("ru", STRUCT, RUSAGE, OUT, ONE))
ROW(waitpid, PID, 3, A("upid", PID, NONE, -4), M("stat_addr", STRUCT, WAIT_STATUS, POSITIVE, ONE),
    A("options", SET, WAIT, -4))
ROW(write, DEC, 3, A("fd", FD, NONE, -4), M("buf", DATA, NONE, IN, NEXT_BYTES), A("count", UNSIGNED, NONE, 8))
ROW(writev, DEC, 3, A("fd", FD, NONE, -4), M("vec", VECTORS, NONE, IN, NEXT), A("vlen", UNSIGNED, NONE, 8))
