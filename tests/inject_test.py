#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inject copies faithfully: inject_test.py SONDE FIXTURES [corpus]

file -> file and pipe -> pipe give the same bytes; pipe -> file, directory -> file and file -> pipe -> file keep every
record's bytes. Of what is damaged everything good is kept. With `corpus`: over the real recordings instead.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
# A HEADER_ATTR among the records cannot become part of a file's head, which lies in front of them: said, status 1.
LATE_EVENTS = "events that come after samples cannot"
EVENT_UPDATE = 78
LEGACY_TYPES = set(range(69, 81))  # features of the old ChromeOS pipes


def body(data, legacy=False):
    """The records that every container holds alike."""
    skip = support.HEADER_TYPES | (LEGACY_TYPES if legacy else set())
    return [r for r in support.walk(data, legacy) if r[0] not in skip]


def same_in_pipe(piped, data):
    """A pipe names its events in EVENT_UPDATE records, which come before all others."""
    got, want = body(piped), body(data)
    added = len(got) - len(want)
    return added >= 0 and got[added:] == want and all(r[0] == EVENT_UPDATE for r in got[:added])


def inject(source, target, stdin=None):
    return support.run([SONDE, "inject", "-f", "-i", source, "-o", target], stdin=stdin)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def check_copy(path, legacy=False):
    """None, or what is wrong with the copies of a sound recording."""
    data = read(path)
    with tempfile.TemporaryDirectory() as folder:
        out, back = os.path.join(folder, "out"), os.path.join(folder, "back")
        piped = inject(path, "-")
        if piped.status != 0:
            return f"to a pipe: status {piped.status}: {piped.err[:300]}"
        if support.is_pipe(data):
            if piped.out != data:
                return "pipe -> pipe gives other bytes"
        elif not same_in_pipe(piped.out, data):
            return "file -> pipe changes records"
        r = inject(path, out)
        if LATE_EVENTS in r.err and r.status == 1:
            return None
        if r.status != 0:
            return f"to a file: status {r.status}: {r.err[:300]}"
        if not support.is_pipe(data) and read(out) != data:
            return "file -> file gives other bytes"
        if body(read(out)) != body(data, legacy):
            return "the file's records are not those of the input"
        r = inject("-", back, stdin=piped.out)
        if LATE_EVENTS in r.err and r.status == 1:
            return None
        if r.status != 0:
            return f"from a pipe to a file: status {r.status}: {r.err[:300]}"
        if body(read(back)) != body(data, legacy):
            return "through a pipe to a file: other records"
    return None


def check_directory(path):
    """Everything of a directory recording, in one file."""
    want = []
    for name in ("data", "data.0", "data.1"):
        data = read(os.path.join(path, name))
        head = read(os.path.join(path, "data"))[:8]
        want += body(data) if name == "data" else body(head + (b"\x10" + bytes(7) if head == b"PERFILE2"
                                                               else bytes(7) + b"\x10") + data)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        r = inject(path, out)
        if LATE_EVENTS in r.err and r.status == 1:
            return None
        if r.status != 0:
            return f"status {r.status}: {r.err[:300]}"
        if body(read(out)) != want:
            return "directory -> file: other records"
    return None


def check_fixture(row):
    path = os.path.join(FIXTURES, row["file"])
    if row["container"] == "dir":
        return check_directory(path)
    if row["exit"] == "0" and not row["verdict"]:
        return check_copy(path)
    with tempfile.TemporaryDirectory() as folder:  # damaged: it must end, and say why if it fails
        r = inject(path, os.path.join(folder, "out"))
        if r.status not in (0, 1) or (r.status == 1 and not r.err.strip()):
            return f"status {r.status}, message {r.err[:200]!r}"
    return None


def check_recording(row):
    path = os.path.join(support.corpus_dir(), row["file"])
    if row["analyser_errors"] == "-":
        return check_copy(path, "GLEGACY" in row["records"])
    with tempfile.TemporaryDirectory() as folder:
        r = inject(path, os.path.join(folder, "out"))
        if r.status not in (0, 1) or (r.status == 1 and not r.err.strip()):
            return f"status {r.status}, message {r.err[:200]!r}"
    return None


def main():
    if "corpus" in sys.argv[3:]:
        report = support.Report("inject, real recordings")
        rows = [r for r in support.read_table(os.path.join(support.need_corpus(), "expected.tsv"))]
        results = support.parallel(check_recording, rows)
    else:
        report = support.Report("inject, fixtures")
        results = support.parallel(check_fixture, support.share(support.read_table(os.path.join(FIXTURES, "manifest.tsv"))))
    for row, wrong in results:
        report.check(row["file"], wrong is None, str(wrong))
    report.finish()


main()
