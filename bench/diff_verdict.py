#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `diff --gate` is wrong, and whether it finds what became slower: diff_verdict.py SONDE [--same N] [--slower N]

Records one program again and again while another one disturbs it at random, and compares recordings in pairs, none twice. A/A: the
gate must not fire. A/B: one of nine functions does 10 % more; it must be named first. The program's order of functions and the
length of its phases change from run to run, as real work does.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdint.h>
#include <stdlib.h>
volatile uint64_t sink;
static uint32_t table[1 << 20];
#define NOINLINE __attribute__((noinline)) void
NOINLINE mix(int n) { uint64_t x = sink | 1; for (int i = 0; i < n; i++) x = x * 6364136223846793005u + 1442695040888963407u; sink = x; }
NOINLINE shift(int n) { uint64_t x = sink | 1; for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } sink = x; }
NOINLINE divide(int n) { uint64_t x = sink | 1; for (int i = 0; i < n / 8; i++) x = x / 3 + ~(uint64_t)i; sink = x; }
NOINLINE scatter(int n) { uint32_t h = sink; for (int i = 0; i < n / 4; i++) { h = h * 1664525 + 1013904223; table[h >> 12] += h; } sink = h; }
NOINLINE gather(int n) { uint64_t s = 0; for (int i = 0; i < n; i++) s += table[(i * 17u) & 0xffff]; sink += s; }
NOINLINE branchy(int n) { uint64_t x = sink | 1, c = 0; for (int i = 0; i < n / 3; i++) { x = x * 2862933555777941757u + 3037000493u; if (x >> 63) c += x; else c ^= x; } sink = c; }
NOINLINE floats(int n) { double d = 1; for (int i = 0; i < n / 2; i++) d = d * 1.0000001 + 1e-9; sink += (uint64_t)d; }
NOINLINE memory(int n) { for (int k = 0; k < n / 40000 + 1; k++) { char *p = malloc(1 << 18); for (int i = 0; i < 1 << 18; i += 4096) p[i] = 1; free(p); } }
NOINLINE slowed(int n) { uint64_t x = sink | 1; for (int i = 0; i < n; i++) x = (x ^ i) * 0x9e3779b97f4a7c15u; sink = x; }
int main(int argc, char **argv) {
    int more = atoi(argv[1]), rounds = atoi(argv[2]);
    srand(atoi(argv[3]));
    void (*const all[])(int) = {mix, shift, divide, scatter, gather, branchy, floats, memory, slowed};
    for (int r = 0; r < rounds; r++)
        for (int f = 0; f < 9; f++) {
            int n = 20000 + rand() % 20000;
            all[f](all[f] == slowed ? 2 * n + 2 * n / 100 * more : n);
        }
    return 0;
}
"""
NOISE = """
import os, random, time
random.seed(%d)
while True:
    end = time.time() + random.expovariate(1 / 0.2)
    what = random.random()
    while time.time() < end:
        if what < 0.4: sum(range(20000))
        elif what < 0.6: open("%s", "wb").write(b"x" * 300000)
        elif what < 0.7: bytearray(8 << 20)
        else: time.sleep(0.02)
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sonde", type=os.path.abspath)
    p.add_argument("--same", type=int, default=200, help="comparisons of the same program")
    p.add_argument("--slower", type=int, default=50, help="comparisons with a slower function")
    p.add_argument("--rounds", type=int, default=1600)
    p.add_argument("--frequency", type=int, default=10000)
    p.add_argument("--gate", default="5")
    p.add_argument("--keep", help="folder for the recordings, which are then not made twice")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or temporary
        os.makedirs(folder, exist_ok=True)
        source, program = os.path.join(folder, "program.c"), os.path.join(folder, "program")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["cc", "-O2", "-w", source, "-o", program], check=True)
        noise = subprocess.Popen([sys.executable, "-c", NOISE % (1, os.path.join(folder, "noise"))])
        random.seed(1)

        def record(name, more):
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                subprocess.run([o.sonde, "record", "-q", "-F", str(o.frequency), "-e", "cpu-clock", "-o", path, program, str(more),
                                str(o.rounds), str(random.randrange(1 << 30))], check=True, stdout=subprocess.DEVNULL)
            return path

        def compare(base, new):
            r = subprocess.run([o.sonde, "diff", "--json", "--gate", o.gate, base, new], stdout=subprocess.PIPE, check=False)
            rows = json.loads(r.stdout)["events"][0]
            return r.returncode, rows
        fired, any_proved, first, named, found, samples = [], 0, 0, 0, 0, 0
        try:
            for i in range(o.same):
                status, event = compare(record(f"a{2 * i}", 0), record(f"a{2 * i + 1}", 0))
                any_proved += any(r["verdict"] in ("more", "less") for r in event["rows"])
                samples += sum(r["samples"] for r in event["recordings"]) / 2
                if status:
                    fired.append([(r["keys"]["symbol"], r["base"], r["new"]) for r in event["rows"] if r["verdict"] == "more"])
            for i in range(o.slower):
                status, event = compare(record(f"b{2 * i}", 0), record(f"c{2 * i + 1}", 10))
                samples += 0 if o.same else sum(r["samples"] for r in event["recordings"]) / 2
                at_top = event["rows"][0]["keys"]["symbol"].endswith(" slowed")
                named += at_top
                first += at_top and event["rows"][0]["verdict"] == "more"
                found += any(r["keys"]["symbol"].endswith(" slowed") and r["verdict"] == "more" for r in event["rows"])
        finally:
            noise.kill()
            noise.wait()
    print(f"A/A: {o.same} comparisons of {samples / max(1, o.same or o.slower):.0f} samples a side: the gate ({o.gate} %) fired in {len(fired)}; "
          f"some change called proved in {any_proved}")
    for rows in fired:
        print("   ", *(f"{name} {base:.4f} {new:.4f}" for name, base, new in rows[:4]))
    print(f"A/B: {o.slower} comparisons: named first in {named}, first and proved in {first}, proved in {found}")


main()
