/* SPDX-License-Identifier: Apache-2.0 */
/* SHAPE(id, the kernel's struct, a C type of the same layout, FIELD(type, member, the kernel's name, kind,
 * set, how) or NESTED(type, member, the kernel's name, shape, how) ...). How: ALWAYS is shown if it is 0,
 * too; SIGNED can be negative; MINOR is shown with --verbose only.
 *
 * The kernel's public headers and those of the C library exclude each other; where both have a struct, they
 * agree on 64-bit architectures. */
SHAPE(INT, NULL, int, FIELD(int_box, value, "", DEC, NONE, SIGNED | ALWAYS))
SHAPE(LONG, NULL, long, FIELD(long_box, value, "", DEC, NONE, SIGNED | ALWAYS))
SHAPE(SIGSET, NULL, uint64_t, FIELD(long_box, value, "", SIGSET, NONE, ALWAYS))
SHAPE(WAIT_STATUS, NULL, int, FIELD(int_box, value, "", WAIT_STATUS, NONE, ALWAYS))
SHAPE(CPUS, NULL, bytes_box, FIELD(bytes_box, value, "", CPUS, NONE, ALWAYS))
SHAPE(OPTION, NULL, bytes_box, FIELD(bytes_box, value, "", OPTION, NONE, ALWAYS))
SHAPE(CONTROL, NULL, control_box, FIELD(control_box, value, "", CONTROL, NONE, ALWAYS))
SHAPE(TIMESPEC, "__kernel_timespec", struct timespec,
      FIELD(struct timespec, tv_sec, "tv_sec", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct timespec, tv_nsec, "tv_nsec", DEC, NONE, SIGNED | ALWAYS))
SHAPE(TIMEVAL, "__kernel_old_timeval", struct timeval,
      FIELD(struct timeval, tv_sec, "tv_sec", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct timeval, tv_usec, "tv_usec", DEC, NONE, SIGNED | ALWAYS))
SHAPE(ITIMERVAL, "__kernel_old_itimerval", struct itimerval,
      NESTED(struct itimerval, it_interval, "it_interval", TIMEVAL, ALWAYS),
      NESTED(struct itimerval, it_value, "it_value", TIMEVAL, ALWAYS))
SHAPE(ITIMERSPEC, "__kernel_itimerspec", struct itimerspec,
      NESTED(struct itimerspec, it_interval, "it_interval", TIMESPEC, ALWAYS),
      NESTED(struct itimerspec, it_value, "it_value", TIMESPEC, ALWAYS))
SHAPE(POLLFD, "pollfd", struct pollfd, FIELD(struct pollfd, fd, "fd", FD, NONE, SIGNED | ALWAYS),
      FIELD(struct pollfd, events, "events", SET, POLL, 0),
      FIELD(struct pollfd, revents, "revents", SET, POLL, 0))
SHAPE(EPOLL_EVENT, "epoll_event", struct epoll_event,
      FIELD(struct epoll_event, events, "events", SET, EPOLL_EVENTS, ALWAYS),
      FIELD(struct epoll_event, data, "data", HEX, NONE, ALWAYS))
SHAPE(STAT, "stat", struct stat, FIELD(struct stat, st_dev, "st_dev", DEVICE, NONE, MINOR),
      FIELD(struct stat, st_ino, "st_ino", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_nlink, "st_nlink", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_mode, "st_mode", FILE_MODE, NONE, ALWAYS),
      FIELD(struct stat, st_uid, "st_uid", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_gid, "st_gid", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_rdev, "st_rdev", DEVICE, NONE, MINOR),
      FIELD(struct stat, st_size, "st_size", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct stat, st_blksize, "st_blksize", DEC, NONE, SIGNED | MINOR),
      FIELD(struct stat, st_blocks, "st_blocks", DEC, NONE, SIGNED | MINOR),
      FIELD(struct stat, st_atim.tv_sec, "st_atime", DEC, NONE, SIGNED | MINOR),
      FIELD(struct stat, st_atim.tv_nsec, "st_atime_nsec", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_mtim.tv_sec, "st_mtime", DEC, NONE, SIGNED | MINOR),
      FIELD(struct stat, st_mtim.tv_nsec, "st_mtime_nsec", UNSIGNED, NONE, MINOR),
      FIELD(struct stat, st_ctim.tv_sec, "st_ctime", DEC, NONE, SIGNED | MINOR),
      FIELD(struct stat, st_ctim.tv_nsec, "st_ctime_nsec", UNSIGNED, NONE, MINOR))
SHAPE(STATX_TIME, "statx_timestamp", struct statx_timestamp,
      FIELD(struct statx_timestamp, tv_sec, "tv_sec", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct statx_timestamp, tv_nsec, "tv_nsec", UNSIGNED, NONE, ALWAYS))
SHAPE(STATX, "statx", struct statx, FIELD(struct statx, stx_mask, "stx_mask", SET, STATX, MINOR),
      FIELD(struct statx, stx_blksize, "stx_blksize", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_attributes, "stx_attributes", HEX, NONE, MINOR),
      FIELD(struct statx, stx_nlink, "stx_nlink", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_uid, "stx_uid", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_gid, "stx_gid", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_mode, "stx_mode", FILE_MODE, NONE, ALWAYS),
      FIELD(struct statx, stx_ino, "stx_ino", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_size, "stx_size", UNSIGNED, NONE, ALWAYS),
      FIELD(struct statx, stx_blocks, "stx_blocks", UNSIGNED, NONE, MINOR),
      FIELD(struct statx, stx_attributes_mask, "stx_attributes_mask", HEX, NONE, MINOR),
      NESTED(struct statx, stx_atime, "stx_atime", STATX_TIME, MINOR),
      NESTED(struct statx, stx_btime, "stx_btime", STATX_TIME, MINOR),
      NESTED(struct statx, stx_ctime, "stx_ctime", STATX_TIME, MINOR),
      NESTED(struct statx, stx_mtime, "stx_mtime", STATX_TIME, MINOR))
SHAPE(STATFS, "statfs", struct statfs, FIELD(struct statfs, f_type, "f_type", HEX, NONE, 0),
      FIELD(struct statfs, f_bsize, "f_bsize", DEC, NONE, SIGNED | MINOR),
      FIELD(struct statfs, f_blocks, "f_blocks", UNSIGNED, NONE, ALWAYS),
      FIELD(struct statfs, f_bfree, "f_bfree", UNSIGNED, NONE, ALWAYS),
      FIELD(struct statfs, f_bavail, "f_bavail", UNSIGNED, NONE, ALWAYS),
      FIELD(struct statfs, f_files, "f_files", UNSIGNED, NONE, MINOR),
      FIELD(struct statfs, f_ffree, "f_ffree", UNSIGNED, NONE, MINOR),
      FIELD(struct statfs, f_namelen, "f_namelen", DEC, NONE, SIGNED | MINOR),
      FIELD(struct statfs, f_frsize, "f_frsize", DEC, NONE, SIGNED | MINOR),
      FIELD(struct statfs, f_flags, "f_flags", HEX, NONE, MINOR))
SHAPE(SIGACTION, "sigaction", struct kernel_sigaction,
      FIELD(struct kernel_sigaction, handler, "sa_handler", HANDLER, NONE, ALWAYS),
      FIELD(struct kernel_sigaction, flags, "sa_flags", SET, SIGACTION, 0),
      FIELD(struct kernel_sigaction, restorer, "sa_restorer", HEX, NONE, MINOR),
      FIELD(struct kernel_sigaction, mask, "sa_mask", SIGSET, NONE, ALWAYS))
SHAPE(SIGALTSTACK, "sigaltstack", stack_t, FIELD(stack_t, ss_sp, "ss_sp", HEX, NONE, ALWAYS),
      FIELD(stack_t, ss_flags, "ss_flags", SET, SIGALTSTACK, 0),
      FIELD(stack_t, ss_size, "ss_size", UNSIGNED, NONE, ALWAYS))
/* As a child's end has it. */
SHAPE(SIGINFO, NULL, siginfo_t, FIELD(siginfo_t, si_signo, "si_signo", SIGNAL, NONE, ALWAYS),
      FIELD(siginfo_t, si_code, "si_code", SET, CHILD, SIGNED),
      FIELD(siginfo_t, si_pid, "si_pid", PLAIN_PID, NONE, SIGNED | ALWAYS),
      FIELD(siginfo_t, si_uid, "si_uid", UNSIGNED, NONE, 0),
      FIELD(siginfo_t, si_status, "si_status", DEC, NONE, SIGNED | ALWAYS))
SHAPE(RUSAGE, "rusage", struct rusage, NESTED(struct rusage, ru_utime, "ru_utime", TIMEVAL, ALWAYS),
      NESTED(struct rusage, ru_stime, "ru_stime", TIMEVAL, ALWAYS),
      FIELD(struct rusage, ru_maxrss, "ru_maxrss", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_minflt, "ru_minflt", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_majflt, "ru_majflt", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_inblock, "ru_inblock", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_oublock, "ru_oublock", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_nvcsw, "ru_nvcsw", DEC, NONE, SIGNED | MINOR),
      FIELD(struct rusage, ru_nivcsw, "ru_nivcsw", DEC, NONE, SIGNED | MINOR))
SHAPE(RLIMIT, "rlimit64", struct rlimit, FIELD(struct rlimit, rlim_cur, "rlim_cur", LIMIT, NONE, ALWAYS),
      FIELD(struct rlimit, rlim_max, "rlim_max", LIMIT, NONE, ALWAYS))
SHAPE(CLONE_ARGS, "clone_args", struct kernel_clone_args,
      FIELD(struct kernel_clone_args, flags, "flags", SET, CLONE, 0),
      FIELD(struct kernel_clone_args, pidfd, "pidfd", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, child_tid, "child_tid", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, parent_tid, "parent_tid", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, exit_signal, "exit_signal", SIGNAL, NONE, 0),
      FIELD(struct kernel_clone_args, stack, "stack", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, stack_size, "stack_size", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, tls, "tls", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, set_tid, "set_tid", HEX, NONE, 0),
      FIELD(struct kernel_clone_args, set_tid_size, "set_tid_size", UNSIGNED, NONE, 0),
      FIELD(struct kernel_clone_args, cgroup, "cgroup", UNSIGNED, NONE, 0))
SHAPE(OPEN_HOW, "open_how", struct open_how, FIELD(struct open_how, flags, "flags", SET, OPEN, ALWAYS),
      FIELD(struct open_how, mode, "mode", MODE, NONE, 0),
      FIELD(struct open_how, resolve, "resolve", SET, RESOLVE, 0))
SHAPE(UTSNAME, "new_utsname", struct utsname, FIELD(struct utsname, sysname, "sysname", TEXT, NONE, 0),
      FIELD(struct utsname, nodename, "nodename", TEXT, NONE, 0),
      FIELD(struct utsname, release, "release", TEXT, NONE, 0),
      FIELD(struct utsname, version, "version", TEXT, NONE, MINOR),
      FIELD(struct utsname, machine, "machine", TEXT, NONE, MINOR))
SHAPE(SYSINFO, "sysinfo", struct sysinfo, FIELD(struct sysinfo, uptime, "uptime", DEC, NONE, SIGNED),
      FIELD(struct sysinfo, totalram, "totalram", UNSIGNED, NONE, 0),
      FIELD(struct sysinfo, freeram, "freeram", UNSIGNED, NONE, 0),
      FIELD(struct sysinfo, sharedram, "sharedram", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, bufferram, "bufferram", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, totalswap, "totalswap", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, freeswap, "freeswap", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, procs, "procs", UNSIGNED, NONE, 0),
      FIELD(struct sysinfo, totalhigh, "totalhigh", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, freehigh, "freehigh", UNSIGNED, NONE, MINOR),
      FIELD(struct sysinfo, mem_unit, "mem_unit", UNSIGNED, NONE, MINOR))
SHAPE(TMS, "tms", struct tms, FIELD(struct tms, tms_utime, "tms_utime", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct tms, tms_stime, "tms_stime", DEC, NONE, SIGNED | ALWAYS),
      FIELD(struct tms, tms_cutime, "tms_cutime", DEC, NONE, SIGNED | MINOR),
      FIELD(struct tms, tms_cstime, "tms_cstime", DEC, NONE, SIGNED | MINOR))
SHAPE(SCHED_PARAM, NULL, struct sched_param,
      FIELD(struct sched_param, sched_priority, "sched_priority", DEC, NONE, SIGNED | ALWAYS))
SHAPE(SCHED_ATTR, "sched_attr", struct kernel_sched_attr,
      FIELD(struct kernel_sched_attr, size, "size", UNSIGNED, NONE, 0),
      FIELD(struct kernel_sched_attr, policy, "sched_policy", SET, SCHED, ALWAYS),
      FIELD(struct kernel_sched_attr, flags, "sched_flags", HEX, NONE, 0),
      FIELD(struct kernel_sched_attr, nice, "sched_nice", DEC, NONE, SIGNED),
      FIELD(struct kernel_sched_attr, priority, "sched_priority", UNSIGNED, NONE, 0),
      FIELD(struct kernel_sched_attr, runtime, "sched_runtime", UNSIGNED, NONE, 0),
      FIELD(struct kernel_sched_attr, deadline, "sched_deadline", UNSIGNED, NONE, 0),
      FIELD(struct kernel_sched_attr, period, "sched_period", UNSIGNED, NONE, 0))
SHAPE(TERMIOS, "termios", struct kernel_termios,
      FIELD(struct kernel_termios, iflag, "c_iflag", HEX, NONE, ALWAYS),
      FIELD(struct kernel_termios, oflag, "c_oflag", HEX, NONE, ALWAYS),
      FIELD(struct kernel_termios, cflag, "c_cflag", HEX, NONE, ALWAYS),
      FIELD(struct kernel_termios, lflag, "c_lflag", HEX, NONE, ALWAYS),
      FIELD(struct kernel_termios, line, "c_line", UNSIGNED, NONE, 0))
SHAPE(WINSIZE, "winsize", struct winsize, FIELD(struct winsize, ws_row, "ws_row", UNSIGNED, NONE, ALWAYS),
      FIELD(struct winsize, ws_col, "ws_col", UNSIGNED, NONE, ALWAYS),
      FIELD(struct winsize, ws_xpixel, "ws_xpixel", UNSIGNED, NONE, 0),
      FIELD(struct winsize, ws_ypixel, "ws_ypixel", UNSIGNED, NONE, 0))
