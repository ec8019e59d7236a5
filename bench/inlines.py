#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What inlined functions cost on a large program: bench/inlines.py SONDE [PERF]

A C++ program of 16 units with full debugging information (-g3, about 140 MB) is made once, which takes some minutes
(SONDE_BENCH_DIR, or the user's cache folder; it is never made by the tests), and recorded. Printed are CPU seconds and
peak memory, of each command the best of three runs: the first run, from what it kept, and with --no-inline.
"""
import os
import subprocess
import sys
import tempfile

SONDE = os.path.abspath(sys.argv[1])
PERF = sys.argv[2] if len(sys.argv) > 2 else None
UNITS, FUNCTIONS = 16, 40
UNIT = """
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
typedef unsigned long u;
template <int N> struct item { u v; bool operator<(const item &o) const { return (v ^ N) < (o.v ^ N); } };
template <int N> static inline u mix(u x) { return (x ^ x >> (N % 31 + 1)) * (2 * N + 1); }
template <int N> struct work {
    static __attribute__((noinline)) u run(u n) {
        std::vector<item<N>> v;
        for (u i = 0; i < n; i++)
            v.push_back({mix<N>(i)});
        std::sort(v.begin(), v.end());
        std::stable_sort(v.begin(), v.end(), [](const item<N> &a, const item<N> &b) { return b < a; });
        std::map<u, std::string> m;
        for (auto &x : v)
            m[x.v % 16] += char('a' + x.v % 26);
        std::unordered_map<u, item<N>> h;
        for (auto &x : v)
            h.emplace(x.v % 64, x);
        std::function<u(u)> f = [&](u a) { return mix<N + 1>(a + h.size()); };
        return std::accumulate(v.begin(), v.end(), (u)m.size(), [&](u a, const item<N> &x) { return f(a + x.v); });
    }
};
template <int A, int B> struct all { static u run(u n) { return work<A>::run(n) + all<A + 1, B>::run(n); } };
template <int B> struct all<B, B> { static u run(u) { return 0; } };
u unit_NUMBER(u n) { return all<FIRST, LAST>::run(n); }
"""
MAIN = "typedef unsigned long u;\n%s\nvolatile u sum;\nint main() { for (int k = 0; k < 400; k++) { %s } }\n"


def make(folder):
    program = os.path.join(folder, "inlines-large")
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        sources = {f"unit{i}": UNIT.replace("NUMBER", str(i)).replace("FIRST", str(i * 1000)).replace("LAST", str(i * 1000 + FUNCTIONS))
                   for i in range(UNITS)}
        sources["main"] = MAIN % ("\n".join(f"u unit_{i}(u);" for i in range(UNITS)),
                                  " ".join(f"sum += unit_{i}(200);" for i in range(UNITS)))
        for name, text in sources.items():
            with open(os.path.join(place, f"{name}.cc"), "w", encoding="utf-8") as f:
                f.write(text)
            subprocess.run(["g++", "-O2", "-g3", "-c", f"{name}.cc"], cwd=place, check=True)
        subprocess.run(["g++", *(f"{name}.o" for name in sources), "-o", program], cwd=place, check=True)
    return program


def run(command, **env):
    """(CPU seconds, MB)"""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execvpe(command[0], command, {**os.environ, **env})
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    cache = os.environ.get("SONDE_BENCH_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sonde-bench")
    program = make(cache)
    data = os.path.join(cache, "inlines.data")
    if not os.path.exists(data):
        subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "5000", "--call-graph", "dwarf,4096", "-o", data, program],
                       check=True)
    print(f"program {os.path.getsize(program) / 1e6:.0f} MB, recording {os.path.getsize(data) / 1e6:.0f} MB")
    print(f"{'command':36}{'CPU':>10}{'memory':>10}")
    with tempfile.TemporaryDirectory() as kept:
        for verb in (["report", "--stdio"], ["script"]):
            command = [SONDE, *verb, "-f", "-i", data]
            rows = {"first run": lambda: run(command, XDG_CACHE_HOME="/proc/none"),
                    "from what was kept": lambda: run(command, XDG_CACHE_HOME=kept),
                    "--no-inline": lambda: run([*command, "--no-inline"], XDG_CACHE_HOME="/proc/none")}
            run(command, XDG_CACHE_HOME=kept)
            for what, once in rows.items():
                results = [once() for _ in range(3)]
                print(f"{verb[0] + ', ' + what:36}{min(r[0] for r in results):8.2f} s{min(r[1] for r in results):7.0f} MB", flush=True)
        if PERF:
            for verb in (["report", "--stdio"], ["script"]):
                seconds, size = run([PERF, *verb, "-f", "-i", data])
                print(f"{'perf ' + verb[0]:36}{seconds:8.2f} s{size:7.0f} MB", flush=True)


main()
