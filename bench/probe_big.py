#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a program with MEGABYTES of debugging information, and measures `probe` on it beside another perf.

probe_big.py SONDE FOLDER [MEGABYTES [PERF]]      default 500

One unit of C++ with many templates is compiled and linked as often as need be, under other names each time; a small unit
has the function that is asked for. The file stays in FOLDER for the next run.
"""
import os
import resource
import subprocess
import sys
import time

SONDE, FOLDER = sys.argv[1:3]
MEGABYTES = int(sys.argv[3]) if len(sys.argv) > 3 else 500
PERF = sys.argv[4] if len(sys.argv) > 4 else None

MANY = """
#include <algorithm>
#include <functional>
#include <sstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct layer { std::map<int, std::vector<std::pair<std::string, layer<N - 1>>>> m; std::set<long> s; int deep(int k) {
    for (auto &x : m) for (auto &y : x.second) k += y.second.deep(N) + (int)y.first.size(); s.insert(k); return k + (int)s.size(); } };
template <> struct layer<0> { int deep(int k) { return k; } };
int many(const std::string &t) {
    layer<12> l; std::regex r(t); std::smatch found; std::unordered_map<std::string, std::function<int(int)>> f;
    f[t] = [&](int k) { return l.deep(k); };
    if (std::regex_search(t, found, r)) (std::ostringstream() << found[0] << f[t](3)).str();
    std::vector<std::shared_ptr<std::string>> v; std::sort(v.begin(), v.end());
    return (int)v.size();
}
"""
ONE = """
struct thing { int a; const char *text; };
__attribute__((noinline)) int the_one(const struct thing *t, int n) { return t->a * n + t->text[0]; }
"""


def run(*words):
    subprocess.run(words, cwd=FOLDER, check=True)


def debug_bytes(path, without=" .debug_str "):
    """Of all sections but the texts, which the linker merges."""
    r = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True)
    return sum(int(line[line.index("PROGBITS"):].split()[3], 16) for line in r.stdout.splitlines() if " .debug_" in line and without not in line)


def make(path):
    for name, text in (("many.cc", MANY), ("one.cc", ONE)):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as f:
            f.write(text)
        run("g++", "-g", "-O1", "-fPIC", "-fno-use-cxa-atexit", "-c", name)
    copies = MEGABYTES * 1000000 // debug_bytes(os.path.join(FOLDER, "many.o")) + 1
    for i in range(copies):
        run("objcopy", f"--prefix-symbols=u{i}_", "many.o", f"many{i}.o")
    run("ld", "-shared", "-O0", "--unresolved-symbols=ignore-all", "-o", path, *[f"many{i}.o" for i in range(copies)], "one.o")
    for i in range(copies):
        os.remove(os.path.join(FOLDER, f"many{i}.o"))


def measure(what, *words):
    """Elapsed and CPU seconds, and the largest memory, of a command."""
    started = time.monotonic()
    pid = os.spawnvp(os.P_NOWAIT, words[0], list(words))
    _, status, used = os.wait4(pid, 0)
    print(f"{what:<28} {time.monotonic() - started:6.2f} s elapsed {used.ru_utime + used.ru_stime:6.2f} s CPU "
          f"{used.ru_maxrss // 1024:6} MB  status {os.waitstatus_to_exitcode(status)}", flush=True)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(os.path.abspath(FOLDER), f"big{MEGABYTES}.so")
    if not os.path.exists(path):
        make(path)
    print(f"{path}: {debug_bytes(path, 'none') // 1000000} MB of .debug_*")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for what, option, words in (("one function, $params", "-D", "the_one $params"), ("lines of it", "-L", "the_one"),
                                ("its variables", "-V", "the_one"), ("a line", "-D", "one.cc:3 n")):
        measure("sonde " + what, SONDE, "probe", "-q", "-x", path, option, words)
        if PERF:
            measure("perf  " + what, PERF, "probe", "-q", "-x", path, option, words)


if __name__ == "__main__":
    main()
