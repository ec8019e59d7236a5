#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions asked for by name, as people write them: function_names_test.py SONDE

`-S` of script and report and `why --symbol` take a C++ function without parameters, qualifiers, template arguments and what
it returns. The code is compiled here.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import support

SONDE = os.path.abspath(sys.argv[1])
BASE, PAGE = 0x7f0000000000, 4096
SOURCE = """
#define KEEP __attribute__((noinline, used))
namespace ns {
struct A {
    int n;
    KEEP int operator()(int x) const;
    KEEP int get() const;
};
int A::operator()(int x) const { return x + n; }
int A::get() const { return n; }
template <class T> KEEP void sort(T *from, T *to) { *from = *to; }
template void sort<int>(int *, int *);
template void sort<long>(long *, long *);
}
namespace { KEEP int hidden(int x) { return x; } }
extern "C" KEEP int plain(int x) { return hidden(x); }
extern "C" KEEP int plain_part(int x) __asm__("plain.part.0");
extern "C" int plain_part(int x) { return x; }
"""
SHOWN = {"_ZNK2ns1AclEi": "ns::A::operator()(int) const", "_ZNK2ns1A3getEv": "ns::A::get() const",
         "_ZN2ns4sortIiEEvPT_S2_": "void ns::sort<int>(int*, int*)", "_ZN2ns4sortIlEEvPT_S2_": "void ns::sort<long>(long*, long*)",
         "_ZN12_GLOBAL__N_16hiddenEi": "(anonymous namespace)::hidden(int)", "plain": "plain", "plain.part.0": "plain.part.0"}
SORTS = ["_ZN2ns4sortIiEEvPT_S2_", "_ZN2ns4sortIlEEvPT_S2_"]
ASKED = {"ns::sort": SORTS, "void ns::sort<int>": SORTS[:1], "ns::sort<long>(long*, long*)": [SORTS[1]], "sort": [],
         "ns::A::operator()": ["_ZNK2ns1AclEi"], "ns::A::get": ["_ZNK2ns1A3getEv"], "ns::A::get()": ["_ZNK2ns1A3getEv"],
         "(anonymous namespace)::hidden": ["_ZN12_GLOBAL__N_16hiddenEi"], "plain": ["plain", "plain.part.0"],
         "plain.part.0": ["plain.part.0"], "ns::sort,plain.part.0": [*SORTS, "plain.part.0"],
         "void ns::sort<int>(int*, int*),ns::A::get": [SORTS[0], "_ZNK2ns1A3getEv"], "ns": [], "plain.part": []}


def check(t, path):
    def run(*args):
        return support.run([SONDE, args[0], "-f", "-i", path, *args[1:]])
    if "operator()" not in run("script", "-F", "ip,sym").out.decode():
        print("SKIP: this build of sonde does not demangle C++")
        sys.exit(support.SKIP)
    for asked, want in ASKED.items():
        names = sorted(SHOWN[n] for n in want)
        r = run("script", "-F", "ip,sym", "-G", "-S", asked)
        t.check(f"script -S {asked}", sorted(line.split(None, 1)[1] for line in r.out.decode().splitlines()) == names, r)
        r = run("report", "-s", "sym", "-S", asked)
        rows = [line.split("[.] ")[1].strip() for line in r.out.decode().splitlines() if "[.] " in line]
        t.check(f"report -S {asked}", sorted(rows) == names, r.out.decode())
        told = [line[10:] for line in run("report", "-s", "dso,sym", "-S", asked).out.decode().splitlines()
                if line.startswith("# symbol: ")]
        t.check(f"report -S {asked}: a column unless one name tells all", told == ([asked] if "," not in asked and (names == [asked] or not names) else []), told)
        if "," not in asked.replace("int*, int*", "").replace("long*, long*", ""):
            r = run("why", "--symbol", asked)
            t.check(f"why --symbol {asked}", any(f"name        {n}+0x" in r.out.decode() for n in names) if names else r.status == 1, r)


def main():
    if not shutil.which("c++"):
        print("SKIP: there is no compiler")
        sys.exit(support.SKIP)
    t = support.Report("names of functions")
    with tempfile.TemporaryDirectory() as folder:
        library, path = os.path.join(folder, "lib.so"), os.path.join(folder, "a.data")
        subprocess.run(["c++", "-O1", "-g0", "-shared", "-fPIC", "-x", "c++", "-", "-o", library], input=SOURCE.encode(), check=True)
        functions, (at, size) = pd.functions(library)
        start = at // PAGE * PAGE
        r = pd.Recording()
        r.comm(7, "prog")
        r.map(7, BASE + start, (size + 2 * PAGE) // PAGE * PAGE, start, library)
        for name in SHOWN:
            r.sample(7, BASE + functions[name][0], [pd.CONTEXT_USER, BASE + functions[name][0]])
        r.write(path)
        check(t, path)
    t.finish()


main()
