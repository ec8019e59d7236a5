#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libsonde: api_test.py SONDE FIXTURES EXAMPLE LIBRARY OBJECT true|false [corpus] (true: the library is sanitized)

The example prints of every fixture, and of the recordings that are kept in corpus/, what `sonde script` prints. The
rest of the interface is called from Python; not in a sanitized build, which no other program can load. OBJECT is a
shared object with a build-id and functions called start and stop. With `corpus` the example prints real recordings
instead, and nothing else is tested.
"""
import ctypes
import glob
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import library
import perfdata as pd
import support

SONDE, FIXTURES, EXAMPLE, LIBRARY, OBJECT = sys.argv[1:6]
SANITIZED = sys.argv[6] == "true"
SAMPLE = 9
FIELDS = {"IP": 0, "PID": 1, "TIME": 3, "PERIOD": 8}


def path_of(name):
    return os.path.join(FIXTURES, name)


def check_example(report):
    """Of recordings that are broken both say what can be read."""
    paths = [path_of(r["file"]) for r in support.share(support.read_table(path_of("manifest.tsv")))]
    paths += [path_of("demo.data"), path_of("demo.pipe.data"), path_of("demo.compressed2.data")]
    for target in "copy", "model", "script", "stream", "views":
        paths += sorted(glob.glob(os.path.join(HERE, "corpus", target, "*")))
    parts = [paths[i::40] for i in range(40)]
    for part, found in support.parallel(lambda part: library.differences(SONDE, EXAMPLE, part), parts):
        if isinstance(found, Exception):
            report.bad(f"{part[0]} and others", found)
            continue
        for path, differs in found:
            report.check(path, differs is None, differs)
    r = support.run([EXAMPLE, "/nonexistent/file"])
    report.check("no such file", r.status == 1 and "/nonexistent/file" in r.err and r.err.count("\n") == 1, r.err)


def check_corpus(report):
    paths = sorted(glob.glob(os.path.join(support.need_corpus(), "*.data")), key=os.path.getsize)
    for path, differs in support.parallel(lambda path: library.difference(SONDE, EXAMPLE, path), paths):
        report.check(path, differs is None, differs)


def check_cache(report):
    """A program that only the build-id cache has: named if the cache is named, and not if HOME alone leads to one."""
    functions, (code_at, code_bytes) = pd.functions(OBJECT)
    base, page = 0x7f0000000000, 4096
    with tempfile.TemporaryDirectory() as folder:
        program, cache, data = (os.path.join(folder, n) for n in ("program", ".debug", "cached.data"))
        shutil.copy(OBJECT, program)
        support.run([SONDE, "--buildid-dir", cache, "buildid-cache", "-a", program])
        os.unlink(program)
        r = pd.Recording()
        r.comm(7, "program")
        start = code_at // page * page
        r.map(7, base + start, (code_bytes + 2 * page) // page * page, start, program, build_id=pd.build_id(OBJECT))
        inner, outer = (base + functions[f][0] + 4 for f in ("start", "stop"))
        r.sample(7, inner, (pd.CONTEXT_USER, inner, outer))
        r.write(data)
        differs = library.difference(SONDE, EXAMPLE, data, cache=cache)
        report.check("the cache that is named", differs is None, str(differs))
        for options, named in (("--buildid-dir", cache), True), ((), False):
            out = support.run([EXAMPLE, *options, data], env={**support.ENV, "HOME": folder}).out.decode()
            report.check(f"names of {options or 'no cache'}", ("start+0x4" in out and "stop+0x4" in out) == named, out)
        report.check("nothing is written beside", sorted(os.listdir(folder)) == [".debug", "cached.data"], os.listdir(folder))


def check_own_process(report):
    """Nothing in the library can change the process it is in, or write to its standard output."""
    wanted = {"mallopt", "malloc_trim", "signal", "sigaction", "setlocale", "atexit", "printf", "puts", "putchar"}
    if not shutil.which("nm"):
        print("SKIP: there is no nm")
        return
    table = support.run(["nm", "-D", "--undefined-only", LIBRARY]).out.decode()
    names = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    report.check("what it calls", "malloc" in names and not names & wanted, names & wanted)


def check_later_chains(report):
    """A chain that refers to many others is none."""
    with tempfile.TemporaryDirectory() as folder:
        for count, want in ((16, ["5000", "6000"]), (17, [])):
            r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
            r.sample(7, 0x5000, (pd.CONTEXT_USER_DEFERRED, 1) * count + (pd.CONTEXT_USER, 0x5000, 0x6000))
            path = os.path.join(folder, "later.data")
            r.write(path)
            frames = [line.split()[0] for line in support.run([EXAMPLE, path]).out.decode().splitlines() if line[:1] == "\t"]
            report.check(f"{count} deferred chains", frames == want, f"{frames}")


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("symfs", ctypes.c_char_p), ("build_id_cache", ctypes.c_char_p),
                ("vmlinux", ctypes.c_char_p), ("kallsyms", ctypes.c_char_p), ("raw_names", ctypes.c_int),
                ("file_order", ctypes.c_int)]


class Mapping(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(x, ctypes.c_uint64) for x in ("start", "last", "offset", "record")]


def check_evidence(report, lib, frame):
    whole, old = Mapping(ctypes.sizeof(Mapping)), Mapping(Mapping.last.offset, 1, 2, 3, 4)
    report.check("what mapped it", lib.sonde_frame_mapping(frame, ctypes.byref(whole)) and
                 whole.start <= 0x401184 <= whole.last and 0x401184 - whole.start + whole.offset == 0x1184 and
                 whole.record not in (0, 2**64 - 1), [getattr(whole, x) for x, _ in Mapping._fields_])
    report.check("by its size", lib.sonde_frame_mapping(frame, ctypes.byref(old)) and
                 (old.size, old.start, old.last, old.offset, old.record) == (Mapping.last.offset, whole.start, 2, 3, 4), "not so")
    newer = (ctypes.c_uint64 * 7)(48, *[9] * 6)
    report.check("by a later version's size", lib.sonde_frame_mapping(frame, newer) and
                 list(newer) == [48, whole.start, whole.last, whole.offset, whole.record, 0, 9], list(newer))
    texts = [getattr(lib, f"sonde_frame_{x}")(frame) for x in ("identity", "list", "origin", "why")]
    report.check("its evidence", lib.sonde_frame_grade(frame) == 3 and texts[:3] == [b"none", b"none", b"nothing"] and
                 texts[3] and not lib.sonde_frame_slide(frame, ctypes.byref(ctypes.c_int64(7))), texts)
    report.check("grades have names", [lib.sonde_grade_name(i) for i in (-1, 0, 3, 4)] == [None, b"exact", b"unknown", None],
                 "others")


def declared():
    """The functions of the header, by name."""
    with open(os.path.join(HERE, "..", "include", "sonde", "sonde.h"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return sorted(set(re.findall(r"\b(sonde_\w+)\(", text)))


def load(report):
    lib = ctypes.CDLL(LIBRARY)
    for name in declared():
        report.check(f"{name} is exported", hasattr(lib, name), "it is not")
    for name in ("sonde_open", "sonde_open_memory", "sonde_next", "sonde_resolve", "sonde_record_frame"):
        getattr(lib, name).restype = ctypes.c_void_p
    for name in ("sonde_error", "sonde_record_event", "sonde_record_comm", "sonde_frame_symbol", "sonde_frame_image",
                 "sonde_frame_identity", "sonde_frame_list", "sonde_frame_origin", "sonde_frame_why", "sonde_grade_name"):
        getattr(lib, name).restype = ctypes.c_char_p
    for name in ("sonde_record_time", "sonde_frame_address", "sonde_loss", "sonde_frame_image_offset"):
        getattr(lib, name).restype = ctypes.c_uint64
    lib.sonde_record_frames.restype = ctypes.c_size_t
    return lib


def samples(lib, session):
    """[(time, event, comm, ip, [frame addresses])] of a session."""
    found, value = [], ctypes.c_uint64()
    while record := lib.sonde_next(session):
        record = ctypes.c_void_p(record)
        if lib.sonde_record_type(record) != SAMPLE:
            continue
        assert lib.sonde_record_get(record, FIELDS["IP"], ctypes.byref(value))
        frames = [lib.sonde_frame_address(ctypes.c_void_p(lib.sonde_record_frame(record, i)))
                  for i in range(lib.sonde_record_frames(record))]
        found.append((lib.sonde_record_time(record), lib.sonde_record_event(record), lib.sonde_record_comm(record),
                      value.value, frames))
        assert not lib.sonde_record_get(record, 1000, ctypes.byref(value)) and value.value == 0
        assert lib.sonde_record_frame(record, len(frames)) is None
    return found


def check_counts(report, lib):
    """Samples and the sum of their periods, of every fixture."""
    error, value = ctypes.create_string_buffer(200), ctypes.c_uint64()
    for row in support.read_table(path_of("manifest.tsv")):
        if row["exit"] != "0" or row["verdict"]:
            continue
        session = ctypes.c_void_p(lib.sonde_open(path_of(row["file"]).encode(), None, error, 200))
        count = total = 0
        while session and (record := lib.sonde_next(session)):
            record = ctypes.c_void_p(record)
            if lib.sonde_record_type(record) == SAMPLE:
                count += 1
                lib.sonde_record_get(record, FIELDS["PERIOD"], ctypes.byref(value))
                total += value.value
        lib.sonde_close(session)
        want = int(row["samples"]), int(row["period_sum"])
        report.check(f"counts of {row['file']}", (count, total) == want, f"{count}, {total}, not {want}")


def check_chain_kinds(report, lib):
    """Without a callchain, or without one that can be believed, the frame is the sample's own place."""
    error = ctypes.create_string_buffer(200)
    broken = (pd.CONTEXT_USER_DEFERRED, 1) * 17 + (pd.CONTEXT_USER, 0x5000, 0x6000)
    for sample_type, chain, want in ((pd.IP | pd.TID | pd.PERIOD, (), (0, [0x5000])), (None, broken, (1, [0x5000])),
                                     (None, (), (1, [0x5000])), (None, (pd.CONTEXT_USER, 0x5000, 0x6000), (2, [0x5000, 0x6000]))):
        r = pd.Recording(*[sample_type] if sample_type else [])
        r.sample(7, 0x5000, chain)
        data = r.data()
        session = ctypes.c_void_p(lib.sonde_open_memory(data, len(data), None, error, 200))
        record = ctypes.c_void_p(lib.sonde_next(session))
        frames = [lib.sonde_frame_address(ctypes.c_void_p(lib.sonde_record_frame(record, i)))
                  for i in range(lib.sonde_record_frames(record))]
        got = lib.sonde_record_chain(record), frames
        report.check(f"where the frames come from, {want}", got == want, got)
        lib.sonde_close(session)


def check_library(report):
    lib = load(report)
    check_counts(report, lib)
    check_chain_kinds(report, lib)
    report.check("version", lib.sonde_version() == 2, str(lib.sonde_version()))
    error = ctypes.create_string_buffer(200)
    for data in (b"", b"PERFILE2", b"x" * 1000):
        session = lib.sonde_open_memory(data, len(data), None, error, len(error))
        report.check(f"refuses {data[:8]!r}", not session and error.value and b"\n" not in error.value, str(error.value))
    report.check("no room for the error", not lib.sonde_open(b"/nonexistent", None, None, 0), "opened")
    lib.sonde_close(None)
    with open(path_of("demo.data"), "rb") as f:
        data = f.read()
    session = ctypes.c_void_p(lib.sonde_open_memory(data, len(data), None, error, len(error)))
    first = samples(lib, session)
    lib.sonde_rewind(session)
    report.check("again after rewind", first and samples(lib, session) == first and not lib.sonde_error(session), "others")
    report.check("in order of time", [x[0] for x in first] == sorted(x[0] for x in first), "not")
    report.check("frames begin at the sample", all(x[4][0] == x[3] for x in first), "not all")
    report.check("losses are counted", all(lib.sonde_loss(session, i) < 1 << 32 for i in range(6)), "not so")
    frame = ctypes.c_void_p(lib.sonde_resolve(session, 2000, ctypes.c_uint64(2**64 - 1), 0, ctypes.c_uint64(0x401184)))
    report.check("an address is placed", lib.sonde_frame_image(frame) == b"/usr/sbin/server" and
                 lib.sonde_frame_image_offset(frame) == 0x1184, str(lib.sonde_frame_image(frame)))
    check_evidence(report, lib, frame)
    frame = ctypes.c_void_p(lib.sonde_resolve(session, 1, ctypes.c_uint64(0), 0, ctypes.c_uint64(5)))
    report.check("nothing is nowhere", lib.sonde_frame_image(frame) is None and lib.sonde_frame_symbol(frame) is None,
                 "something")
    report.check("nothing is unknown", lib.sonde_frame_grade(frame) == 3 and
                 lib.sonde_frame_why(frame) == b"nothing was mapped there" and
                 not lib.sonde_frame_mapping(frame, ctypes.byref(Mapping(ctypes.sizeof(Mapping)))), "not so")
    lib.sonde_close(session)
    short = Options(size=Options.raw_names.offset, file_order=1)  # an older caller: what is after does not count
    for options, ordered in ((short, True), (Options(size=ctypes.sizeof(Options), file_order=1), None)):
        session = ctypes.c_void_p(lib.sonde_open(path_of("demo.data").encode(), ctypes.byref(options), error, 200))
        times = [x[0] for x in samples(lib, session)]
        report.check("options by their size", len(times) == len(first) and (ordered is None or times == sorted(times)),
                     "order")
        lib.sonde_close(session)


def main():
    report = support.Report("api")
    if sys.argv[7:] == ["corpus"]:
        check_corpus(report)
        report.finish()
    check_example(report)
    check_later_chains(report)
    check_cache(report)
    if SANITIZED:
        print("SKIP: Python cannot load a sanitized library")
    else:
        check_own_process(report)
        check_library(report)
    report.finish()


main()
