#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that keep a shadow of their own stack (-finstrument-functions) say who called whom: unwinding must agree, later and
while recording.

shadow_test.py SONDE

A program takes random ways through functions of many kinds, and writes its shadow stack at the end of each way. A sample in the
function in which the ways end must show one of these stacks, whole; a sample anywhere else its beginning, from main on. So
nothing depends on how many samples there are. SKIPs without compilers, and where the kernel lets us record nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
ENOUGH = 0.995

HOOKS = r"""
#include <stdio.h>
#define QUIET __attribute__((no_instrument_function))
static void *shadow[4096];
static int depth;
static FILE *out;
QUIET void __cyg_profile_func_enter(void *function, void *site) { shadow[depth++] = function; (void)site; }
QUIET void __cyg_profile_func_exit(void *function, void *site) { depth--; (void)function, (void)site; }
QUIET void tell(void) {
    if (!out) out = fopen("told", "w");
    for (int i = 0; i < depth; i++) fprintf(out, "%lx ", (unsigned long)shadow[i]);
    fputs("\n", out);
}
"""

PROGRAM = r"""
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <algorithm>
extern "C" void tell(void);
#else
void tell(void);
#endif
#define QUIET __attribute__((no_instrument_function))
#define ALONE __attribute__((noinline))
typedef void way_fn(int);
volatile unsigned long sink;
static int way[32], length, waiting = -1;
static unsigned seed = 1;
QUIET static int any(int n) { seed = seed * 1103515245 + 12345; return (int)(seed >> 16) % n; }
QUIET ALONE void spin(void) { for (unsigned long i = 0; i < 1000000; i++) sink += i; }
ALONE static void leaf(void) { tell(); spin(); sink++; }
static void next(int i);
MAYBE static void plain(int i) { next(i); sink++; }
MAYBE static void varying(int i) { char *p = (char *)alloca(16 + sink % 700); memset(p, i, 16); next(i); sink += p[3]; }
MAYBE static void large(int i) { char room[400]; memset(room, i, sizeof room); next(i); sink += room[i]; }
MAYBE static void busy(int i) {
    unsigned long a = sink, b = a * 3, c = b ^ a, d = c + 7, e = d * a, f = e ^ c;
    next(i);
    sink += a + b * c + d * e + f;
}
MAYBE static void deeper(int i) { static int more; if (more++ % 4) deeper(i); else next(i); sink++; }
ALONE static int compare(const void *a, const void *b) {
    int i = waiting;
    waiting = -1;
    if (i >= 0) next(i);
    return *(const int *)a - *(const int *)b;
}
MAYBE static void sorted(int i) { int two[2] = {2, 1}; waiting = i; qsort(two, 2, sizeof *two, compare); sink += two[0]; }
ALONE static void on_signal(int s) { int i = waiting; waiting = -1; next(i); sink += s; }
MAYBE static void signalled(int i) { waiting = i; raise(SIGUSR1); sink++; }
#ifdef __cplusplus
struct guard { int i; guard(int n) : i(n) {} ~guard() { next(i); sink++; } };
struct base { virtual void call(int i) = 0; virtual ~base() {} };
struct derived : base { void call(int i) override { next(i); sink++; } };
ALONE static void thrower(int n) { if (n) thrower(n - 1); else { tell(); throw 42; } sink++; }
MAYBE static void caught(int i) { try { thrower(i % 3); } catch (int n) { next(i); sink += n; } }
MAYBE static void cleaned(int i) { try { guard g(i); thrower(1); } catch (...) { sink++; } }
MAYBE static void virtually(int i) { derived d; base *volatile b = &d; b->call(i); sink++; }
MAYBE static void by_template(int i) {
    int some[3] = {3, 1, 2};
    int once = i;
    std::sort(some, some + 3, [&](int a, int b) { if (once >= 0) { int k = once; once = -1; next(k); } return a < b; });
    sink += some[0];
}
#endif
static way_fn *const ALL[] = {plain, varying, large, busy, deeper, sorted,
#ifdef __cplusplus
                              caught, cleaned, virtually, by_template,
#endif
                              signalled};
enum { KINDS = sizeof ALL / sizeof *ALL };
ALONE static void next(int i) { if (i < length) ALL[way[i]](i + 1); else leaf(); sink++; }
ALONE static void go(void) {
    int signals = 0;
    length = 3 + any(9);
    for (int i = 0; i < length; i++) {
        way[i] = any(KINDS);
        if (way[i] == KINDS - 1 && signals++) way[i] = 0; /* its frame is large: one fits into the dump */
    }
    next(0);
    sink++;
}
int main(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_signal;
    a.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &a, NULL);
    for (int n = 0; n < 700; n++) go();
    return 0;
}
"""


# All that may be on a way; others, of libraries and their templates, lie between.
WAYS = set(re.findall(r"^(?:MAYBE|ALONE)[^(]* \**(\w+)\(", PROGRAM, re.M)) | {"main", "guard::~guard", "derived::call"}


def plain_name(name):
    """Without arguments, and without what compilers append to a function's parts and copies."""
    if "{lambda" in name: # "f(int)::{lambda(int)#1}::operator()(int)", and templates that take it
        return "lambda"
    return re.sub(r"[.(\[<].*", "", name).rstrip() or name


def compile_all(compilers, options):
    for name, text in (("hooks.c", HOOKS), ("program" + compilers["suffix"], PROGRAM)):
        with open(name, "w") as f:
            f.write(text)
    maybe = "-DMAYBE=" + ("" if "-O3" in options else "__attribute__((noinline))")
    for command in ([compilers["c"], "-O2", "-c", "hooks.c"],
                    [compilers["program"], *options, "-g", maybe, "-w", "-finstrument-functions", "-no-pie", "-o", "program",
                     "program" + compilers["suffix"], "hooks.o"]):
        r = subprocess.run(command, capture_output=True, timeout=300)
        if r.returncode:
            print(f"SKIP {' '.join(command)}: {r.stderr.decode()[-300:]}")
            return False
    return True


def names_of_functions():
    """{address: name} of the program's own functions."""
    lines = subprocess.run(["nm", "-C", "program"], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split(" ", 2) for line in lines]
    return {int(row[0], 16): plain_name(row[2]) for row in rows if len(row) == 3 and row[0] and row[1] in "tTwW"}


def told():
    """The stacks that the program wrote, outermost first, and all of their beginnings."""
    names = names_of_functions()
    stacks = set()
    with open("told") as f:
        for line in f:
            stacks.add(tuple(name for word in line.split() if (name := names[int(word, 16)]) in WAYS))
    beginnings = {stack[:n] for stack in stacks for n in range(len(stack) + 1)}
    return stacks, beginnings


def chains():
    text = support.run([SONDE, "script", "-i", "shadow.data", "-F", "ip,sym"]).out.decode("utf-8", "replace")
    for one in text.split("\n\n"):
        chain = re.findall(r"^\s*[0-9a-f]+ (.*)$", one, re.M)
        if chain:
            yield [plain_name(name) for name in reversed(chain)]


def is_right(chain, stacks, beginnings):
    """None: the sample is of before or after main."""
    if "main" not in chain:
        return None if chain[0] in ("_start", "_dl_start_user", "_dl_start", "__restore_rt") else False
    mine = tuple(name for name in chain if name in WAYS)
    return chain[0] == "_start" and (mine in stacks if chain[-1] == "spin" else mine in beginnings)


def look(what):
    """Compares all samples with what the program told. The numbers of samples that are of it."""
    stacks, beginnings = told()
    judged = [(chain, right) for chain in chains() if (right := is_right(chain, stacks, beginnings)) is not None]
    wrong = [" ".join(chain) for chain, right in judged if not right]
    check(judged, f"{what}: no sample is of the program")
    check(len(wrong) <= (1 - ENOUGH) * len(judged), f"{what}: {len(wrong)} of {len(judged)} stacks are wrong: {wrong[:3]}")
    return len(judged), len(wrong)


def record(*options):
    with support.recording():
        return subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "997", *options, "-o", "shadow.data", "--", "./program"],
                              capture_output=True, env=support.ENV, timeout=600)


def test(name, compilers, options):
    if not compile_all(compilers, options):
        return
    for more in ([], ["--unwind=record"]):
        what = " ".join([name, *options, *more])
        r = record("--call-graph", "dwarf,16384", *more)
        check(r.returncode == 0, f"{what}: {r.stderr.decode()[-300:]}")
        if r.returncode == 0:
            print("%s: %d stacks, %d wrong" % (what, *look(what)))


def main():
    c, cxx = (next((x for x in all if shutil.which(x)), None) for all in (("cc", "gcc", "clang"), ("c++", "g++", "clang++")))
    if not c or not shutil.which("nm"):
        print("SKIP: there is no C compiler")
        return support.SKIP
    with tempfile.TemporaryDirectory(prefix="sonde-shadow-") as d:
        os.chdir(d)
        shutil.copy(shutil.which("true"), "program")
        if record().returncode:
            print("SKIP: the kernel lets us record nothing")
            os.chdir("/")
            return support.SKIP
        for options in (["-O2", "-fomit-frame-pointer"], ["-O3", "-flto"]):
            test("C", {"c": c, "program": c, "suffix": ".c"}, options)
            if cxx:
                test("C++", {"c": c, "program": cxx, "suffix": ".cc"}, options)
        os.chdir("/")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
