#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Probes of programs in C++ (with link-time optimisation), Rust and Go, against what the programs print of themselves.

probe_languages_test.py SONDE [-v]

The programs are tests/compared/probed.*; they print the arguments of each call, under the names that `sonde probe` takes.
An argument may be refused, never wrong. SKIPs what there is no compiler for, and all where probes cannot be set.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402
from probes import equal  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
VERBOSE = "-v" in sys.argv[2:]
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compared")
GROUP = f"sonde_languages_{os.getpid()}"
check = support.check

CXX = ["probed.cc", "probed_other.cc"]
PROGRAMS = {  # name: (compiler, words before the sources, sources, what is no C text, values compared at least)
    "cxx": ("g++", ["-O3", "-flto", "-g", "-o"], CXX, [], 40),
    "clang": ("clang++", ["-O2", "-g", "-o"], CXX, [], 40),
    "rust": ("rustc", ["-g", "-C", "opt-level=2", "-o"], ["probed.rs"], [], 30),
    "rust0": ("rustc", ["-g", "-o"], ["probed.rs"], ["text s.data_ptr:string"], 60),
    "go": ("go", ["build", "-o"], ["probed.go"], ["main.text s.str:string"], 60),
}


def probe(*words, cwd):
    return support.run([SONDE, "probe", *words], cwd=cwd)


def define(folder, program, function, asked):
    """Sets a probe with those arguments that can be fetched; returns them."""
    had = []
    for a in asked:
        r = probe("-x", program, "-D", f"{function} {a}", cwd=folder)
        check(r.status == 0 or len([x for x in r.err.splitlines() if "without optim" not in x]) == 1,
              f"{program} {function} {a} is refused in one line: {r}")
        if r.status == 0:
            had.append(a)
        elif VERBOSE:
            print(f"{program} {function} {a}: {r.err.strip()}")
    named = [f"a{i}={a}" for i, a in enumerate(had)]
    event = re.sub(r"\W+", "_", function)
    r = probe("-q", "-x", program, "-a", f"{GROUP}:{event}={function} {' '.join(named)}", cwd=folder)
    check(r.status == 0, f"{program} {function} {named}: {r}")
    return event, had


def calls(text):
    """{function: [{argument: value} of each call]} that a program printed."""
    said = {}
    for line in text.splitlines():
        _, function, *values = line.split(" ")
        said.setdefault(function, []).append(dict(v.rsplit("=", 1) for v in values))
    return said


def compare(folder, program, least):
    said = calls(support.run(["./" + program], cwd=folder).out.decode())
    events = {f: define(folder, program, f, list(rows[0])) for f, rows in said.items()}
    with support.recording():
        r = support.run([SONDE, "record", "-q", "-e", f"{GROUP}:*", "-o", "data", "--", "./" + program], cwd=folder)
    check(r.status == 0, f"{program} is recorded: {r}")
    said = calls(r.out.decode())
    seen = {}
    for line in support.run([SONDE, "script", "-i", "data", "-F", "event,trace"], cwd=folder).out.decode().splitlines():
        m = re.match(rf"\s*{GROUP}:(\w+):\s+\([0-9a-f]+\)(.*)$", line)
        if check(m, f"{program}: a line of script: {line}") is not False and m:
            seen.setdefault(m[1], []).append(dict(re.findall(r"(a\d+)=(\"[^\"]*\"|\S+)", m[2])))
    compared = 0
    for function, (event, had) in events.items():
        rows = seen.get(event, [])
        check(len(rows) == len(said[function]), f"{program} {function}: {len(rows)} events of {len(said[function])} calls")
        for printed, recorded in zip(said[function], rows):
            for i, a in enumerate(had):
                check(equal(printed[a], recorded.get(f"a{i}", "")), f"{program} {function} {a}: {recorded} was {printed[a]}")
                compared += 1
    check(compared >= least, f"{program}: {compared} values compared, expected {least}")
    print(f"{program}: {compared} values compared, {sum(len(rows[0]) for rows in said.values()) * 3 - compared} refused", flush=True)


def not_texts(folder, program, asked):
    for a in asked:
        r = probe("-x", program, "-D", a, cwd=folder)
        check(r.status != 0 and "NUL" in r.err, f"{program} {a} is refused: {r}")


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-probe-") as folder:
        r = probe("-x", "/proc/self/exe", f"{GROUP}:try=0x0", cwd=folder)
        if r.status and re.search("is not there|is closed|built without", r.err):
            print(f"SKIP: no probes can be set here: {r.err}")
            return support.SKIP
        for program, (compiler, words, sources, texts, least) in PROGRAMS.items():
            if not shutil.which(compiler):
                print(f"SKIP: {program}: there is no {compiler}")
                continue
            paths = [os.path.join(SOURCES, s) for s in sources]
            made = subprocess.run([compiler, *words, program, *paths], cwd=folder, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, GOCACHE=os.path.join(folder, "cache"), GO111MODULE="off"))
            if made.returncode != 0:
                print(f"SKIP: {program}: {compiler} cannot build it here: {made.stderr[-300:]}")
                continue
            try:
                compare(folder, program, least)
                not_texts(folder, program, texts)
            finally:
                probe("-q", "-d", f"{GROUP}:*", cwd=folder)
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
