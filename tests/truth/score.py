# SPDX-License-Identifier: Apache-2.0
"""Judges the text of `script` by what the programs say that they did (burner.c).

score.py LOG TEXT [PERIOD_NS [leaf|caller|comm]]

LOG has the lines "truth TID START END FRAMES COMM" (others are passed over); TEXT is what any reader prints for
`script -F comm,tid,time,ip,sym,dso --ns` of a recording made with -k CLOCK_MONOTONIC. A sample is judged by its own
time and thread. Those at the edges of two periods (nearer than two sampling periods) are left out, as are those in
nothing that was logged. So are the first and the last sample between the start and the end of each: a program that
is stopped between its look at the clock and the call, or between the return and its next look, does not stand in what
is logged although its period lasts, however long, and is sampled once as it goes on: in the clock (the kernel's vdso,
libc), on the way to it (PLT, dynamic linker), or in any function of its own, whatever this compiler inlined.
"""
import bisect
import collections
import re
import sys

HEAD = re.compile(r"^\s*(\S.*?)\s+(\d+)\s+(\d+)\.(\d+):\s*(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+)\s+(.*?)\s+\((.*)\)(?:\s+\((?:exact|inferred|stale|unknown)\))?\s*$")
REFUSED = re.compile(r"^$|^\[(unknown|stale)\]|^0x[0-9a-f]+$")

Sample = collections.namedtuple("Sample", "comm tid time frames")
Period = collections.namedtuple("Period", "start end frames comm")


DETAILS_MAX = 3  # of the wrong ones, and of those without a name


class Score:
    def __init__(self):
        self.right = self.refused = 0
        self.wrong = collections.Counter()  # "expected -> printed": how often
        self._wrong, self._refused = [], []  # what is known of the first ones

    def tell(self, to, sample, period, want):
        if len(to) < DETAILS_MAX:
            to.append(f"wanted {'|'.join(sorted(want))}: thread {sample.tid} '{sample.comm}', {sample.time - period.start} "
                      f"ns after the start at {period.start}, {period.end - sample.time} ns before the end: " +
                      (" < ".join(f or "?" for f in sample.frames[:5]) or "no frames"))

    @property
    def details(self):
        return self._wrong or self._refused

    @property
    def judged(self):
        return self.right + self.refused + sum(self.wrong.values())

    def percent(self, n):
        return 100 * n / self.judged if self.judged else 0.0


def read_log(lines):
    """{tid: periods in order of time}"""
    periods = collections.defaultdict(list)
    for line in lines:
        word = line.rstrip("\n").split(" ", 5)
        if len(word) == 6 and word[0] == "truth":
            tid, start, end = (int(w) for w in word[1:4])
            periods[tid].append(Period(start, end, [set(f.split("|")) for f in word[4].split(";")], word[5]))
    for p in periods.values():
        p.sort()
    return periods


def read_samples(lines):
    """Samples with their frames' names, innermost first; both layouts: frame on the same line, or below."""
    sample = None
    for line in lines:
        head = HEAD.match(line)
        if head:
            if sample:
                yield sample
            comm, tid, seconds, fraction, rest = head.groups()
            sample = Sample(comm, int(tid), int(seconds) * 10**9 + int(fraction.ljust(9, "0")), [])
            line = rest
        frame = FRAME.match(line)
        if frame and sample:
            sample.frames.append(frame.group(2).split("+0x")[0])
    if sample:
        yield sample


def score(log, text, period_ns=500000, what="leaf"):
    """`what`: leaf, caller (the frame after it), or comm."""
    periods, s, edge = read_log(log), Score(), 2 * period_ns
    starts = {tid: [p.start for p in list_] for tid, list_ in periods.items()}
    samples = list(read_samples(text))
    times = collections.defaultdict(list)
    for sample in samples:
        times[sample.tid].append(sample.time)
    for list_ in times.values():
        list_.sort()
    for sample in samples:
        at = bisect.bisect_right(starts.get(sample.tid, []), sample.time) - 1
        if at < 0:
            continue
        p = periods[sample.tid][at]
        if not p.start + edge <= sample.time <= p.end - edge:
            continue
        near = times[sample.tid]
        first, last = bisect.bisect_left(near, p.start), bisect.bisect_right(near, p.end) - 1
        if sample.time in (near[first], near[last]):
            continue
        if what == "comm":
            got, want = sample.comm, {p.comm}
        else:
            depth = int(what == "caller")
            got = sample.frames[depth] if len(sample.frames) > depth else ""
            want = p.frames[depth]
        if got in want:
            s.right += 1
        elif what != "comm" and REFUSED.match(got):
            s.refused += 1
            s.tell(s._refused, sample, p, want)
        else:
            s.wrong[f"{min(want)} -> {got}"] += 1
            s.tell(s._wrong, sample, p, want)
    return s


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as a, \
            open(sys.argv[2], encoding="utf-8", errors="replace") as b:
        r = score(a, b, int(sys.argv[3]) if len(sys.argv) > 3 else 500000,
                  sys.argv[4] if len(sys.argv) > 4 else "leaf")
    print(f"judged {r.judged} right {r.percent(r.right):.2f} % wrong {r.percent(sum(r.wrong.values())):.2f} % "
          f"refused {r.percent(r.refused):.2f} %")
    for name, n in r.wrong.most_common(10):
        print(f"  wrong {n}: {name}")
