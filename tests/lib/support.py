# SPDX-License-Identifier: Apache-2.0
"""What the tests of whole commands share: running sonde, the manifest and the corpus, walking a recording."""
import collections
import concurrent.futures
import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import threading
import time

SKIP = 77  # meson's exit status of a skipped test
HANG_SECONDS = 240  # a guard against endless loops only: nothing is measured
SANITIZER_STATUS = 86

# Of the tests alone: what sonde keeps there (build-ids, lists of symbols) goes with them.
_HOME = tempfile.TemporaryDirectory(prefix="sonde-home-")

# A sanitizer's finding must not look like sonde's own exit status 1.
ENV = dict(os.environ, TZ="UTC", LC_ALL="C", PAGER="cat", HOME=_HOME.name, PERF_CONFIG="/dev/null",
           ASAN_OPTIONS=f"exitcode={SANITIZER_STATUS}:detect_leaks=1:allocator_may_return_null=1",
           UBSAN_OPTIONS=f"exitcode={SANITIZER_STATUS}:halt_on_error=1:print_stacktrace=1",
           LSAN_OPTIONS=f"exitcode={SANITIZER_STATUS}")

Result = collections.namedtuple("Result", "status out err")


class Crash(Exception):
    """sonde died, hung, or a sanitizer spoke."""


# --- recording beside others ---

LOCK = "/tmp/sonde-recording.lock"  # of the whole machine
LOCK_SECONDS = 600  # whoever holds it longer hangs; then it is passed over
_locks = threading.local()


def _lock(path, how, until):
    """A file that holds the lock as long as it is open."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None  # another user's, or no such folder: nothing to share
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() > until:
                return fd
            time.sleep(0.05)


@contextlib.contextmanager
def recording(alone=False):
    """Recorders of sonde's tests share the machine; with `alone` none of them runs meanwhile.

    As long as any event on the machine asks for build-ids, Linux 6.18 marks the MMAP2 records of all others as if they
    had one too. Stock perf 6.1 aborts on such a recording.
    """
    if getattr(_locks, "held", False):  # by this thread
        yield
        return
    until = time.monotonic() + LOCK_SECONDS
    gate = _lock(LOCK + ".gate", fcntl.LOCK_EX, until)  # who waits to be alone lets nobody else in
    held = _lock(LOCK, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, until)
    if gate is not None:
        os.close(gate)
    _locks.held = True
    try:
        yield
    finally:
        _locks.held = False
        if held is not None:
            os.close(held)


def on_terminal(command, **env):
    """The status and what a terminal shows; `env`: more of the environment."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(command[0], command, dict(ENV, **env))
    text = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:  # Linux says EIO when the last writer is gone
            break
        if not part:
            break
        text += part
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode().replace("\r\n", "\n")


def run(command, stdin=None, env=None, **more):
    """Runs a command; stdin may be bytes. Raises Crash unless it ended by itself with a status of its own."""
    with recording() if command[1:2] == ["record"] else contextlib.nullcontext():
        return _run(command, stdin, env, more)


def _run(command, stdin, env, more):
    feed = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin or subprocess.DEVNULL}
    try:
        r = subprocess.run(command, capture_output=True, env=env or ENV, timeout=HANG_SECONDS, **feed, **more)
    except subprocess.TimeoutExpired:
        raise Crash(f"did not end within {HANG_SECONDS} s: {' '.join(command)}") from None
    err = r.stderr.decode("utf-8", "replace")
    if r.returncode < 0 or r.returncode == SANITIZER_STATUS or "Sanitizer" in err or "runtime error:" in err:
        raise Crash(f"status {r.returncode}: {' '.join(command)}\n{err[-3000:]}")
    return Result(r.returncode, r.stdout, err)


def check_raw_dump(sonde, *verb, stdin=None):
    """-D of a view of perf.data shows what `report -D` does (without its sums), then what the view shows without -D."""
    given = ["-i", "-"] if stdin else ["-f", "-i", "perf.data"]

    def text(*words):
        r = run([sonde, *words], stdin=stdin)
        check(r.status == 0, f"{words}: status {r.status}, {r.err[-300:]}")
        return r.out.decode()
    dump = text("report", "-D", "-q", *given).split("\nAggregated stats:")[0]
    check("... raw event: size" in dump, f"report -D: {dump[:300]}")
    check(text(*verb, "-D", *given) == dump + text(*verb, *given), f"{verb} -D")


def share(rows):
    """Of `rows` those that this run is to test: SONDE_TEST_SHARE=K/N takes the K-th of each N, unset all of them."""
    at, _, of = os.environ.get("SONDE_TEST_SHARE", "").partition("/")
    return rows[int(at)::int(of)] if of else rows


def parallel(function, items):
    """[(item, result or exception)] in order; two at a time, as many as the machines that run this have."""
    def guarded(item):
        try:
            return function(item)
        except Exception as e:  # reported with the item it belongs to
            return e
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(zip(items, pool.map(guarded, items)))


def read_table(path):
    """Rows of a tab-separated file with a head line, as dicts."""
    with open(path, encoding="utf-8") as f:
        head = f.readline().rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in f]


def counts_by_type(text):
    """{'MMAP': 3, ...} of 'MMAP:3 SAMPLE:7'."""
    return {k: int(v) for k, v in (item.rsplit(":", 1) for item in text.split())}


def corpus_dir():
    """The folder of real recordings, or None."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.environ.get("SONDE_CORPUS", os.path.join(top, "..", "shared", "corpus"))
    return path if os.path.exists(os.path.join(path, "expected.tsv")) else None


def lab_dir():
    """The folder of other kernels' recordings, or None."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.environ.get("SONDE_LAB", os.path.join(top, "..", "shared", "lab", "recordings"))
    return path if os.path.isdir(path) else None


def need_corpus():
    path = corpus_dir()
    if not path:
        print("SKIP: the folder of real recordings is absent ($SONDE_CORPUS, or ../shared/corpus)")
        sys.exit(SKIP)
    return path


class Report:
    """Failures and counts of one test."""

    def __init__(self, name):
        self.name, self.failures, self.counts = name, [], collections.Counter()

    def good(self, group="passed"):
        self.counts[group] += 1

    def bad(self, what, why):
        self.failures.append((what, why))

    def check(self, what, condition, why):
        if condition:
            self.good()
        else:
            self.bad(what, why() if callable(why) else why)
        return bool(condition)

    def finish(self, shown=40):
        for what, why in self.failures[:shown]:
            print(f"FAIL {what}: {why}")
        if len(self.failures) > shown:
            print(f"... and {len(self.failures) - shown} more")
        counts = ", ".join(f"{n} {k}" for k, n in sorted(self.counts.items()))
        print(f"{self.name}: {counts or 'nothing'}, {len(self.failures)} failed")
        if not self.failures and not self.counts:
            print("FAIL: nothing was tested")
            sys.exit(1)
        sys.exit(1 if self.failures else 0)


# --- checks of a test that takes a while: failures are printed at once ---

failures = []


def check(ok, what):
    if not ok:
        failures.append(what)
        print(f"FAIL {what}", flush=True)


def status():
    """Returns the exit status of the test. Prints the number of failures and repeats them, as only the end of a long log is
    kept."""
    print(f"{len(failures)} failures")
    for what in failures:
        print(f"FAIL {what}", flush=True)
    return 1 if failures else 0


# --- walking a recording, independently of sonde ---

HEADER_TYPES = {64, 65, 66, 67, 80}  # what a pipe has in place of a file's tables


def walk(data, legacy=False):
    """[(type, bytes)] of the records of a sound recording, what follows AUXTRACE and HEADER_TRACING_DATA included.

    `legacy`: an old ChromeOS pipe, where those numbers mean something else.
    """
    if data[:8] == b"PERFFILE":
        order = "<" if struct.unpack_from("<Q", data, 8)[0] < 1 << 32 else ">"
    else:
        order = {b"PERFILE2": "<", b"2ELIFREP": ">"}[data[:8]]
    at, end = 16, len(data)
    if struct.unpack_from(order + "Q", data, 8)[0] != 16:
        at, size = struct.unpack_from(order + "QQ", data, 40)
        end = at + size if size else end
    records = []
    while at + 8 <= min(end, len(data)):
        kind, misc, size = struct.unpack_from(order + "IHH", data, at)
        if 32768 < kind < 32800:
            size |= misc << 16
        if size < 8 or at + size > len(data):
            break
        total = size
        if kind == 71 and size >= 16 and not legacy:
            total += struct.unpack_from(order + "Q", data, at + 8)[0]
        elif kind == 66 and size == 12:
            total += (struct.unpack_from(order + "I", data, at + 8)[0] + 7) // 8 * 8
        records.append((kind, data[at:at + total]))
        at += total
    return records


def is_pipe(data):
    return len(data) >= 16 and data[8:16] in (struct.pack("<Q", 16), struct.pack(">Q", 16))


@contextlib.contextmanager
def busy():
    """Keeps every CPU busy meanwhile: Linux 6.18 leaves out some tracepoints of idle CPUs, switches and interrupts alike."""
    hogs = [subprocess.Popen(["nice", "-n", "19", "taskset", "-c", str(cpu), "sh", "-c", "echo; while :; do :; done"], stdout=subprocess.PIPE)
            for cpu in os.sched_getaffinity(0)]
    try:
        for hog in hogs:
            hog.stdout.readline()
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.communicate()
