#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks src/ against docs/DESIGN.md: layers, include cycles, and the form of files.

layers.py [SRC]     prints one line per violation, status 1 if there is any
layers.py --test    checks that the checker finds what it should
"""
import os
import re
import sys
import tempfile

# Folders of one line do not see each other; each sees all lines above.
LAYERS = [
    ["base"],
    ["os", "format", "object", "stacks", "calls"],
    ["stream", "model", "unwind", "symbol"],
    ["resolve"],
    ["recording"],
    ["select"],
    ["events"],
    ["probe", "waits"],
    ["record", "count", "edit", "profile", "states", "annotate", "ftrace"],
    ["view"],
    ["cmd", "api"],
]
# Programs of their own: they see nothing but themselves, and only cmd starts them.
APART = {"workload": ["cmd"], "agents": []}
GENERATED = {"config.h"}
PROGRAMS = "bpf/"  # beside src/: plain structs that programs in the kernel share with us; for os and the layers above it
FOR_TESTS = "tests/support/"  # beside src/; for x_test.c only
MAX_LINES = 900
MAX_FUNCTION = 80
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

LEVEL = {folder: i for i, line in enumerate(LAYERS) for folder in line}


def may_see(this, that):
    if this == that:
        return True
    if that in APART:
        return this in APART[that]
    if this in APART or this not in LEVEL or that not in LEVEL:
        return False
    return LEVEL[that] < LEVEL[this]


def read_tree(src):
    """{path below src: (lines, [(line number, included path)])}"""
    tree = {}
    for where, _, names in os.walk(src):
        for name in names:
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as f:
                lines = f.read().splitlines()
            found = [(n, m.group(1)) for n, line in enumerate(lines, 1) if (m := INCLUDE.match(line))]
            tree[os.path.relpath(path, src)] = (lines, found)
    return tree


def long_functions(lines):
    """[(first line, lines)] of the functions that are too long."""
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if start is None and line.endswith(") {") and not re.match("[A-Z_]+\\(", line):  # a macro's are tables
            start = number
        elif line == "}" and start:
            if number - start >= MAX_FUNCTION:
                found.append((start, number - start + 1))
            start = None
    return found


def find_cycles(tree):
    """One path per include cycle, found depth first."""
    done, cycles = set(), []

    def visit(path, above):
        if path in above:
            cycles.append(above[above.index(path):] + [path])
            return
        if path in done or path not in tree:
            return
        for _, included in tree[path][1]:
            visit(included, above + [path])
        done.add(path)

    for path in sorted(tree):
        visit(path, [])
    return cycles


def check(src):
    tree, problems = read_tree(src), []
    for path, (lines, includes) in sorted(tree.items()):
        folder = path.split(os.sep)[0]
        if folder not in LEVEL and folder not in APART:
            problems.append(f"{path}: folder {folder}/ is in no layer")
        if not lines or lines[0] != SPDX:
            problems.append(f"{path}: the first line is not the SPDX line")
        if len(lines) > MAX_LINES:
            problems.append(f"{path}: {len(lines)} lines, more than {MAX_LINES}")
        problems += [f"{path}:{at}: a function of {n} lines, more than {MAX_FUNCTION}" for at, n in long_functions(lines)]
        for number, included in includes:
            if included in GENERATED or (included.startswith(FOR_TESTS) and path.endswith("_test.c")):
                continue
            if included.startswith(PROGRAMS) and may_see(folder, "os"):
                if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(src)), included)):
                    problems.append(f'{path}:{number}: there is no "{included}"')
                continue
            if included not in tree:
                problems.append(f'{path}:{number}: "{included}" is no path below src/')
            elif not may_see(folder, included.split("/")[0]):
                problems.append(f'{path}:{number}: {folder}/ must not see "{included}"')
    problems += ["include cycle: " + " -> ".join(c) for c in find_cycles(tree)]
    return problems


def self_test():
    files = {
        "base/a.h": '#include "base/b.h"\n',
        "base/b.h": '#include "base/a.h"\n',
        "os/o.c": '#include "format/f.h"\n#include "base/c.h"\n#include "config.h"\n#include <stdio.h>\n',
        "base/c.h": '#include "os/o.h"\n',
        "base/c.c": '#include "tests/support/s.h"\n',
        "base/d.c": '#include "bpf/p.h"\n',
        "os/p.c": '#include "bpf/p.h"\n',
        "base/c_test.c": '#include "tests/support/s.h"\n',
        "os/o.h": "",
        "format/f.h": '#include "f.h"\n',
        "cmd/main.c": '#include "workload/w.h"\n#include "view/v.h"\n',
        "view/v.h": '#include "workload/w.h"\n',
        "workload/w.h": '#include "base/c.h"\n',
        "strange/s.c": "",
        "base/long.c": "void f(void) {\n" + "    g();\n" * MAX_FUNCTION + "}\n",
    }
    want = [
        "base/c.c:2: \"tests/support/s.h\" is no path",
        "base/c.h:2: base/ must not see",
        "base/d.c:2: \"bpf/p.h\" is no path",
        "base/long.c:2: a function of 82 lines",
        "format/f.h:2: \"f.h\" is no path",
        "os/o.c:2: os/ must not see \"format/f.h\"",
        "os/o.h: the first line",
        "os/p.c:2: there is no \"bpf/p.h\"",
        "strange/s.c: folder strange/ is in no layer",
        "view/v.h:2: view/ must not see",
        "workload/w.h:2: workload/ must not see",
        "include cycle: base/a.h -> base/b.h -> base/a.h",
    ]
    with tempfile.TemporaryDirectory() as src:
        for path, text in files.items():
            os.makedirs(os.path.join(src, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(src, path), "w", encoding="utf-8") as f:
                f.write((SPDX + "\n" if path != "os/o.h" else "") + text)
        got = check(src)
    ok = len(got) == len(want) and all(g.startswith(w) for g, w in zip(got, want))
    print("\n".join(got))
    print("the checker finds what it should" if ok else f"expected {len(want)} other lines")
    return ok


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        sys.exit(0 if self_test() else 1)
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    found = check(sys.argv[1] if len(sys.argv) > 1 else top)
    print("\n".join(found))
    sys.exit(1 if found else 0)
