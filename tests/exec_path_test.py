#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where scripts and filters are, and what is installed under perf's names: exec_path_test.py SONDE FILTER

FILTER is a shared object for --dlfilter, with functions called start and stop.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, FILTER = map(os.path.abspath, sys.argv[1:3])
BASE, PAGE = 0x7f0000000000, 4096

SCRIPT = """import os, sys
sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
from perf_trace_context import *
from Core import *
def trace_begin():
    print("mine:", sys.argv[1:])
def process_event(event):
    print("sample of", event["comm"], event.get("symbol"))
"""
REPORT = """#!/bin/sh
# description: says what samples there are
# args: [comm]
echo report: "$@"
perf script "$@" -s "$PERF_EXEC_PATH"/scripts/python/mine.py one two
"""


def record(path):
    functions, (at, size) = pd.functions(FILTER)
    r = pd.Recording()
    r.comm(7, "prog")
    r.map(7, BASE + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, FILTER)
    r.sample(7, BASE + functions["stop"][0] + 1, [pd.CONTEXT_USER, BASE + functions["stop"][0] + 1])
    r.write(path)


def plant(folder):
    """An exec path, and a folder in which sonde is called perf."""
    place, programs = os.path.join(folder, "core"), os.path.join(folder, "bin")
    for part in ("scripts/python/bin", "dlfilters"):
        os.makedirs(os.path.join(place, part))
    os.mkdir(programs)
    os.symlink(SONDE, os.path.join(programs, "perf"))
    for name, text in (("scripts/python/mine.py", SCRIPT), ("scripts/python/bin/mine-report", REPORT)):
        with open(os.path.join(place, name), "w") as f:
            f.write(text)
        os.chmod(os.path.join(place, name), 0o755)
    shutil.copy(FILTER, os.path.join(place, "dlfilters", "mine.so"))
    return place, programs


def check_given(t, folder):
    place, programs = plant(folder)
    data = os.path.join(folder, "a.data")
    record(data)
    env = dict(support.ENV, PATH=programs + ":" + os.environ["PATH"])
    env.pop("PERF_EXEC_PATH", None)
    given = dict(env, PERF_EXEC_PATH=place)

    def run(*arguments, env=given):
        r = support.run([SONDE, *arguments], env=env, cwd=folder)
        return r, r.out.decode()

    r, out = run("--exec-path", env=env)
    t.check("--exec-path", r.status == 0 and os.path.exists(os.path.join(out.strip(), "scripts/python/folded-stacks.py")), r)
    r, out = run("--exec-path=/some/where", "--exec-path", env=env)
    t.check("--exec-path=DIR", out == "/some/where\n", r)
    r, out = run("--exec-path")
    t.check("PERF_EXEC_PATH", out == place + "\n", r)
    r, out = run("script", "report", "mine", "-i", data, "-f")
    t.check("script report NAME ARGS", r.status == 0 and f"report: -i {data} -f\n" in out and
            "mine: ['one', 'two']" in out and "sample of prog stop" in out, r)
    r, out = run("script", "-i", data, "report", "mine", "-f")
    t.check("script -i FILE report NAME", r.status == 0 and "sample of prog stop" in out, r)
    r, out = run(f"--exec-path={place}", "script", "report", "mine", "-i", data, "-f", env=env)
    t.check("--exec-path=DIR script report NAME", r.status == 0 and "sample of prog stop" in out, r)
    r, out = run("script", "-f", "-i", data, "mine", "word")
    t.check("script NAME", r.status == 0 and "mine: ['word']" in out and "sample of prog stop" in out, r)
    r, out = run("script", "-f", "-i", data, "folded-stacks")
    t.check("what comes with sonde is found beside it", r.status == 0 and "prog;stop 1" in out, r)
    r, out = run("script", "-f", "-i", data, "report", "folded-stacks")
    t.check("and with report", r.status == 0 and "prog;stop 1" in out, r)
    r, out = run("script", "-l")
    t.check("script -l", "  mine [comm]                          says what samples there are\n" in out and "folded-stacks" in out, r)
    r, out = run("script", "--list-dlfilters")
    t.check("--list-dlfilters", out.count("  mine.so ") == 1, r)
    r, out = run("script", "--list-dlfilters", env=env)
    t.check("--list-dlfilters without", "mine.so" not in out, r)
    r, out = run("script", "-f", "-i", data, "--dlfilter", "mine.so", "--dlarg", "stop")
    t.check("--dlfilter NAME", r.status == 0 and "stop+0x1" in out, r)


def check_installed(t, folder):
    """One folder with everything under perf's names, which goes into PATH."""
    to, data = os.path.join(folder, "to"), os.path.join(folder, "b.data")
    r = subprocess.run(["meson", "install", "-C", os.path.dirname(SONDE), "--no-rebuild", "--quiet", "--destdir", to],
                       capture_output=True, text=True)
    if r.returncode != 0:
        t.bad("meson install", r.stdout[-500:] + r.stderr[-500:])
        return
    found = [os.path.join(at, "sonde") for at, folders, _ in os.walk(to) if at.endswith("libexec") and "sonde" in folders]
    if not t.check("libexec/sonde", len(found) == 1, found):
        return
    helpers = os.path.realpath(found[0])
    prefix = os.path.dirname(os.path.dirname(helpers))
    perf = os.path.join(helpers, "perf")
    t.check("it holds python/ and scripts/", os.path.exists(f"{helpers}/python/folded-stacks.py") and
            os.path.exists(f"{helpers}/scripts/python/folded-stacks.py"), os.listdir(helpers))
    r = support.run([perf, "--exec-path"])
    t.check("perf --exec-path", r.out.decode() == helpers + "\n", r)
    record(data)
    r = support.run([perf, "script", "-f", "-i", data, "folded-stacks"])
    t.check("its scripts run", r.out == b"prog;stop 1\n", r)
    if os.path.exists(os.path.join(os.path.dirname(SONDE), "libperf-jvmti.so")):
        places = [helpers, os.path.join(prefix, "lib"), os.path.dirname(SONDE)]
        t.check("libperf-jvmti.so", all(os.path.isfile(os.path.join(p, "libperf-jvmti.so")) for p in places), places)
    else:
        t.check("no agent was built", not any(name.startswith("libsonde-jvmti") for _, _, names in os.walk(to) for name in names), to)


def main():
    t = support.Report("exec path")
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        check_given(t, folder)
        if shutil.which("meson"):
            check_installed(t, folder)
    t.finish()


main()
