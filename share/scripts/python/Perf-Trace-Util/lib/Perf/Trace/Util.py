# SPDX-License-Identifier: Apache-2.0
"""Small helpers for scripts: perf-script-python(1), "Util.py"."""
import errno
import sys

NSECS_PER_SEC = 1000000000

# include/uapi/linux/futex.h
FUTEX_WAIT = 0
FUTEX_WAKE = 1
FUTEX_PRIVATE_FLAG = 128
FUTEX_CLOCK_REALTIME = 256
FUTEX_CMD_MASK = ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)


def avg(total, n):
    return total / n


def nsecs(secs, nsecs_):
    return secs * NSECS_PER_SEC + nsecs_


def nsecs_secs(nsecs_):
    return nsecs_ // NSECS_PER_SEC


def nsecs_nsecs(nsecs_):
    return nsecs_ % NSECS_PER_SEC


def nsecs_str(nsecs_):
    return f"{nsecs_secs(nsecs_):5}.{nsecs_nsecs(nsecs_):09}"


def add_stats(dict_, key, value):
    """Keeps (least, most, mean, count) under the key."""
    if key not in dict_:
        dict_[key] = (value, value, value, 1)
        return
    least, most, mean, count = dict_[key]
    dict_[key] = (min(least, value), max(most, value), mean + (value - mean) / (count + 1), count + 1)


def clear_term():
    sys.stdout.write("\x1b[H\x1b[2J")


def strerror(nr):
    return errno.errorcode.get(abs(nr), f"Unknown {nr} errno")


_syscalls = None


def _read_syscalls():
    """Names by number, as the C library's headers of this machine give them; none without them."""
    names = {}
    for path in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/aarch64-linux-gnu/asm/unistd_64.h",
                 "/usr/include/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"):
        try:
            with open(path, encoding="ascii", errors="replace") as f:
                for line in f:
                    words = line.split()
                    if len(words) == 3 and words[0] == "#define" and words[1].startswith("__NR_") and words[2].isdigit():
                        names.setdefault(int(words[2]), words[1][len("__NR_"):])
        except OSError:
            continue
        if names:
            break
    return names


def syscall_name(id):
    """The system call's name, or its number as a text."""
    global _syscalls
    if _syscalls is None:
        _syscalls = _read_syscalls()
    return _syscalls.get(id, str(id))
