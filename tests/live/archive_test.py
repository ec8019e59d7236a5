#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""archive and programs without a build-id, as Go's are: packed by their cookie, or said to be left out.

archive_test.py SONDE

SKIPs without a compiler, and where the kernel lets us record nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
SOURCE = """
static volatile unsigned long sum;
__attribute__((noinline)) static void busy_without_id(void) { for (unsigned long i = 0; i < 100000000; i++) sum += i; }
int main(void) { busy_without_id(); return 0; }
"""
t = support.Report("archive")


def skip(why):
    print("SKIP: " + why)
    sys.exit(support.SKIP)


def build(folder):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        skip("there is no compiler")
    program = os.path.join(folder, "program")
    subprocess.run([compiler, "-O1", "-Wl,--build-id=none", "-x", "c", "-", "-o", program], input=SOURCE.encode(), check=True)
    # The kernel's file times are coarse: what changed just before a recording began has no identity.
    while time.time_ns() < os.stat(program).st_ctime_ns + 100_000_000:
        time.sleep(0.01)
    return program


def graded(path, cache):
    """How many frames of the program's function script names for sure."""
    r = support.run([SONDE, "--buildid-dir", cache, "script", "-F", "ip,sym,dso,grade", "-i", path])
    return len(re.findall(rb"busy_without_id \([^)]*\) \{exact\}", r.out)), r


def sonde_recording(folder, program):
    path, home = os.path.join(folder, "sonde.data"), os.path.join(folder, "cache")
    r = support.run([SONDE, "--buildid-dir", os.path.join(folder, "none"), "record", "--no-keep", "-e", "cpu-clock:u", "-o", path, "--",
                     program])
    if r.status != 0:
        skip("nothing may be recorded here: " + r.err.strip())
    want = graded(path, home)[0]
    t.check("recorded", want > 0, lambda: graded(path, home))
    r = support.run([SONDE, "archive", "--scrub", "-o", os.path.join(folder, "scrubbed.data"), path])
    t.check("--scrub takes what record writes", r.status == 0, r)
    r = support.run([SONDE, "--buildid-dir", os.path.join(folder, "none"), "archive", path])
    t.check("packed", r.status == 0 and "left out" not in r.err, r)
    with tarfile.open(path + ".tar.gz") as archive:
        names = archive.getnames()
        archive.extractall(home)
    t.check("by its cookie", any(re.search("program/[0-9a-f]{32}/elf$", n) for n in names), names)
    os.rename(program, program + ".away")
    t.check("needed where the program is not", graded(path, os.path.join(folder, "none"))[0] == 0,
            lambda: graded(path, os.path.join(folder, "none")))
    t.check("used there", graded(path, home)[0] == want, lambda: graded(path, home))
    r = support.run([SONDE, "--buildid-dir", os.path.join(folder, "none"), "archive", "-v", path])
    t.check("not here: said", "1 file not found here as recorded" in r.err and program + ": not in its place" in r.err, r)
    shutil.copy("/bin/ls", program)
    r = support.run([SONDE, "--buildid-dir", os.path.join(folder, "none"), "archive", path])
    t.check("another program: said", "1 file not found here as recorded" in r.err, r)
    os.rename(program + ".away", program)


def perf_recording(folder, program):
    path = os.path.join(folder, "perf.data")
    perf = shutil.which("perf")
    if not perf or subprocess.run([perf, "record", "-e", "cpu-clock:u", "-o", path, "--", program], capture_output=True,
                                  env=support.ENV, check=False).returncode != 0:
        print("SKIP: there is no perf")
        return
    r = support.run([SONDE, "archive", "-v", path])
    t.check("of perf: said", r.status == 0 and "1 file left out" in r.err and program + ": neither" in r.err, r)


with tempfile.TemporaryDirectory(prefix="sonde-archive-") as top, support.recording():
    built = build(top)
    sonde_recording(top, built)
    perf_recording(top, built)
t.finish()
