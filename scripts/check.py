#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py [--quick]: `make check`, every build, check and test; the last line is "N passed, N failed, N skipped".

Builds: release with gcc (build/), asan+ubsan with clang (build-asan/; gcc where there is no clang), tsan with clang
(build-tsan/, only what has threads). All of them treat warnings as errors. What cannot differ between two builds runs in
one of them: tests of whole commands in the first (tests/meson.build), those of units, damage, and what reads input or
records, in the second, threads in the third. A test that cannot run says SKIP and why; so do the checks.

--quick: `make check-quick`, in a build of its own (build-quick/, hardly optimised): the form of the code, units, fixtures,
frames and the comparison of report with a naive profiler.
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLANG_FORMAT_MAJOR = 14  # other releases lay out the same style differently
# A missing library must not quietly drop tests: all are required here.
REQUIRED = ["-Dtests=enabled", "-Dzstd=enabled", "-Dtraceevent=enabled"]
SANITIZE = ["-Dbuildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false"]
QUICK = ["-Doptimization=1", "-Dc_args=-Wno-maybe-uninitialized"]  # which gcc guesses wrongly at -O1
QUICK_TESTS = ["recordings", "fixtures", "frames", "oracle", "grades"]
# Unit tests of what runs on several threads.
THREADED = ["pool", "relay", "record_write_thread", "record_drain", "model_oracle"]
SANITIZE_THREADS = ["-Dbuildtype=debugoptimized", "-Db_sanitize=thread", "-Db_lundef=false"]

TSAN_RND_BITS = 28  # the most with which it finds its shadow memory free (up to clang 17)

TELLING = re.compile(r"\b(FAIL(ED|URE)?|ERROR)\b|\b\w*(Error|Exception|Expired|Crash)\b|[Aa]ssert|Sanitizer|runtime error|error:|failed")
NOTHING = re.compile(r"\b0 fail|PASSED|^SKIP\b|\[  (FAILED|PASSED)  \] \d+ test")

counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
failed = []  # (what, its most telling lines)


def report(result, name, detail="", output=""):
    counts[result] += 1
    print(f"{result} {name}" + (f": {detail}" if detail else ""), flush=True)
    if result == "FAIL":
        told = telling(output)
        failed.append((name + (f": {detail}" if detail else ""), told[:2]))
        for line in told[:12]:
            print(f"  | {line}", flush=True)


def telling(output):
    """The lines that say what failed, each once, cut; the last one where none does."""
    lines = list(dict.fromkeys(line.strip()[:400] for line in output.splitlines() if line.strip()))
    return [line for line in lines if TELLING.search(line) and not NOTHING.search(line)] or lines[-1:]


def run(command, **more):
    return subprocess.run(command, cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def check_command(name, command):
    r = run(command)
    report("PASS" if r.returncode == 0 else "FAIL", name, output=r.stdout)
    if r.returncode != 0:
        print(r.stdout, flush=True)
    return r.returncode == 0


def check_format():
    program = shutil.which(f"clang-format-{CLANG_FORMAT_MAJOR}") or shutil.which("clang-format")
    if not program:
        report("SKIP", "clang-format", "it is not installed")
        return
    version = re.search(r"version (\d+)", run([program, "--version"]).stdout)
    if not version or int(version.group(1)) != CLANG_FORMAT_MAJOR:
        report("SKIP", "clang-format", f"this is not release {CLANG_FORMAT_MAJOR}")
        return
    files = [f for d in ("src", "include", "tests", "fuzz", "bench", "bpf")
             for f in glob.glob(os.path.join(TOP, d, "**", "*.[ch]"), recursive=True)
             if not f.startswith(os.path.join(TOP, "bpf", "dist", ""))]
    check_command("clang-format", [program, "--dry-run", "--Werror"] + sorted(files))


def build(name, folder, compiler, options, targets=(), beside=()):
    """Configures (anew when the folder is old) and compiles `targets`; True if the folder can be tested. `beside`: words
    before ninja's command (nice)."""
    started = time.monotonic()
    env = dict(os.environ, CC=compiler)
    fresh = not os.path.exists(os.path.join(TOP, folder, "build.ninja"))
    r = run(["scripts/configure.py", folder] + options, env=env)
    if r.returncode == 0 and not fresh:
        r = run(["meson", "configure", folder] + options, env=env)
    if r.returncode == 0:
        r = run([*beside, "ninja", "-C", folder, *targets])
    good = r.returncode == 0
    report("PASS" if good else "FAIL", f"build {name}", f"{compiler}, {time.monotonic() - started:.0f} s", r.stdout)
    if not good:
        print("\n".join(r.stdout.splitlines()[-60:]), flush=True)
    return good


def skip_reason(test):
    text = (test.get("stdout") or "") + (test.get("stderr") or "")
    lines = [line.strip() for line in text.splitlines() if "SKIP" in line]
    return lines[-1] if lines else "it gave no reason"


def test(name, folder, env, which=()):
    """Runs all tests of a build, or those of `which` (`meson test`'s arguments), and counts them one by one."""
    log = os.path.join(TOP, folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    patience = "3" if folder == "build" else "6"  # the machine may be busy: they guard against endless loops only
    r = run(["meson", "test", "-C", folder, "--no-rebuild", "--timeout-multiplier", patience, *which],
            env=dict(os.environ, **env))
    if not os.path.exists(log):
        report("FAIL", f"tests {name}", "they did not run", r.stdout)
        print(r.stdout, flush=True)
        return
    with open(log, encoding="utf-8", errors="replace") as f:
        results = [json.loads(line) for line in f if line.strip()]
    for t in results:
        label = f"{name}: {t['name']}"
        if t["result"] in ("OK", "EXPECTEDFAIL"):
            report("PASS", label)
        elif t["result"] == "SKIP":
            report("SKIP", label, skip_reason(t))
        else:
            report("FAIL", label, t["result"], "\n".join((t.get("stdout") or "", t.get("stderr") or "")))
            print((t.get("stdout") or "")[-6000:], (t.get("stderr") or "")[-6000:], sep="\n", flush=True)
    if not results:
        report("FAIL", f"tests {name}", "there are none")


def set_up_guest():
    """One other kernel to record on, where QEMU is installed: its packages are fetched once. Without them its test skips."""
    if shutil.which("qemu-system-x86_64"):
        r = run(["tests/vm/guests.py", "setup", "x86_64"])
        print(r.stdout.strip(), flush=True)


def mmap_rnd_bits():
    """How many bits of an address are random; 0: not known."""
    try:
        with open("/proc/sys/vm/mmap_rnd_bits", encoding="ascii") as f:
            return int(f.read())
    except (OSError, ValueError):
        return 0


def check_form():
    check_command("layer checker's own test", ["scripts/layers.py", "--test"])
    check_command("layers, include cycles, form of files", ["scripts/layers.py"])
    check_format()
    check_bpf()


def check_bpf():
    """bpf/dist is made from bpf/*.bpf.c."""
    r = run(["bpf/build.py", "--check"])
    report("PASS" if r.returncode == 0 else "FAIL", "BPF programs are made from their sources", output=r.stdout)
    for line in r.stdout.splitlines():
        if line.startswith("SKIP "):
            what, _, why = line[len("SKIP "):].partition(": ")
            report("SKIP", "BPF programs " + what, why)


def check_quick(compiler):
    check_form()
    if build("quick", "build-quick", compiler, REQUIRED + QUICK, ["all", "units"]):
        test("quick", "build-quick", {}, ["--suite", "unit"])
        test("quick", "build-quick", {}, QUICK_TESTS)


def build_sanitized(clang, compiler):
    """The builds with sanitizers, at low priority. Which of them there are."""
    nice = ["nice", "-n", "10"]
    there = set()
    if build("asan+ubsan", "build-asan", clang or compiler, REQUIRED + SANITIZE, ["all", "units"], nice):
        there.add("asan")
    if not clang:
        report("SKIP", "tsan", "clang is not installed")
    elif mmap_rnd_bits() > TSAN_RND_BITS:
        report("SKIP", "tsan", f"clang's ThreadSanitizer does not start: sysctl vm.mmap_rnd_bits={TSAN_RND_BITS}")
    elif build("tsan", "build-tsan", clang, REQUIRED + SANITIZE_THREADS, ["sonde", *THREADED], nice):
        there.add("tsan")
    return there


def check_all(compiler):
    sanitized = {
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0:allocator_may_return_null=1"),
        "UBSAN_OPTIONS": os.environ.get("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1"),
    }
    clang = shutil.which("clang")
    check_form()
    released = build("release", "build", compiler, REQUIRED)
    if released:
        check_command("no mutable globals", ["scripts/globals.py", "build"])
        test("release", "build", {}, ["--suite", "command"])
    # Tests that record mostly wait for what they record: the other builds are made meanwhile.
    with concurrent.futures.ThreadPoolExecutor(1) as aside:
        builds = aside.submit(build_sanitized, clang, compiler)
        if released:
            set_up_guest()
            test("release", "build", {}, ["--suite", "live", "--suite", "vm"])
        there = builds.result()
    if "asan" in there:
        test("asan+ubsan", "build-asan", sanitized)
    if "tsan" in there:
        test("tsan", "build-tsan", {}, [*THREADED, "report_threads"])


def main():
    gcc = "gcc" if shutil.which("gcc") else "cc"
    (check_quick if "--quick" in sys.argv[1:] else check_all)(gcc)
    for what, lines in failed:  # once more: often only the end of this is kept
        print(f"FAIL {what}")
        for line in lines:
            print(f"  | {line}")
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped", flush=True)
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
