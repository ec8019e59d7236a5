#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bpf/dist from bpf/*.bpf.c, or checks that it was made from them.

build.py [NAME...]  compiles NAME.bpf.c for both byte orders and writes dist/NAME.h, dist/NAME.el.c and dist/NAME.eb.c
build.py --check    each file in dist names the sources it was made from by their hash. Where clang and bpftool are, all is
                    made again and compared: everything if they are the same releases, else maps and programs. Without
                    them a line says SKIP.

Needs clang, llvm-strip, libbpf's headers (libbpf-dev) and a bpftool that writes light skeletons for the other byte order
(its release 7.6 or newer does, Debian stable's does not; --check then looks at this machine's alone). CLANG, LLVM_STRIP
and BPFTOOL name others than those in PATH. docs/HOWTO_ADD_BPF.md has the whole.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DIST = os.path.join(HERE, "dist")
ORDERS = ("el", "eb")
CLANG = os.environ.get("CLANG", "clang")
STRIP = os.environ.get("LLVM_STRIP", "llvm-strip")
BPFTOOL = os.environ.get("BPFTOOL", "bpftool")
SPDX = "/* SPDX-License-Identifier: (MIT OR GPL-2.0) */\n"


class Unable(Exception):
    """A tool is missing, or cannot do it."""


def run(command):
    try:
        r = subprocess.run(command, cwd=HERE, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise Unable(f"{command[0]} is not installed") from None
    if r.returncode != 0:
        raise Unable(f"{' '.join(command)}: {(r.stderr or r.stdout).strip()}")
    return r.stdout


def sources(name):
    """NAME.bpf.c and the headers of this folder that it includes, at any depth, sorted."""
    found, todo = set(), [name + ".bpf.c"]
    while todo:
        path = todo.pop()
        if path in found or not os.path.exists(os.path.join(HERE, path)):
            continue
        found.add(path)
        with open(os.path.join(HERE, path), encoding="utf-8") as f:
            todo += re.findall(r'^\s*#\s*include\s+"([^"]+)"', f.read(), re.M)
    return sorted(found)


def source_hash(name):
    h = hashlib.sha256()
    for path in sources(name):
        with open(os.path.join(HERE, path), "rb") as f:
            h.update(path.encode() + b"\0" + f.read() + b"\0")
    return h.hexdigest()


def release(command):
    """The first two numbers of a tool's release."""
    found = re.search(r"(\d+\.\d+)", run([command, "--version"]))
    return found.group(1) if found else "unknown"


def compile_object(name, order, out):
    arch = sysconfig.get_config_var("MULTIARCH") or ""
    run([CLANG, "-target", "bpf" + order, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-mcpu=v3",
         "-fno-ident", "-fdebug-compilation-dir=.", f"-I/usr/include/{arch}", "-c", name + ".bpf.c", "-o", out])
    run([STRIP, "-g", out])


def literal_bytes(text):
    """What bpftool wrote as a C string of escapes."""
    return bytes(int(m.group(1), 16) if m.group(1) else 0 for m in re.finditer(r"\\x([0-9a-f]{2})|\\0", text))


STRING = r'"((?:[^"\\]|\\.|\\\n)*)"'


def parse_skeleton(text):
    """{maps: [(name, bytes its values begin with, or None)], programs: [(name, how it is attached, tracepoint)], data,
    insns, types: C text}"""
    def names(struct, member):
        block = re.search(r"\tstruct \{\n((?:\t\tstruct %s \w+;\n)*)\t\} %s;" % (struct, member), text)
        return re.findall(r"(\w+);", block.group(1)) if block else []

    def initial(name):
        new = re.search(r"\{\s*static const char data\[\][^=]*= " + STRING + r";\s*skel->%s = " % name, text)
        old = re.search(r"skel->%s = skel_prep_map_data\(\(void \*\)" % name + STRING, text)
        return literal_bytes((new or old).group(1)) if new or old else None

    def attached(name):
        body = re.search(r"__%s__attach\(struct \w+ \*skel\)\n\{(.*?)\n\}" % name, text, re.S)
        if not body:
            return ("NONE", None)
        raw = re.search(r"skel_raw_tracepoint_open\((NULL|\"(\w+)\")", body.group(1))
        if raw:
            return ("RAW", raw.group(2)) if raw.group(2) else ("BTF", None)
        return ("ITER", None) if "BPF_TRACE_ITER" in body.group(1) else ("NONE", None)

    def loaded(what, old):
        m = re.search(r"static const char opts_%s\[\][^=]*= " % what + STRING, text) or \
            re.search(r"opts\.%s = \(void \*\)" % old + STRING, text)
        return literal_bytes(m.group(1))

    maps = [(m, initial(m)) for m in names("bpf_map_desc", "maps")]
    programs = [(p, *attached(p)) for p in names("bpf_prog_desc", "progs")]
    types = re.findall(r"\tstruct \w+__(\w+) \{\n(.*?)\n\t\} \*\w+;", text, re.S)
    return {"maps": maps, "programs": programs, "data": loaded("data", "data"), "insns": loaded("insn", "insns"),
            "types": types}


def literal(data):
    rows = []
    for i in range(0, len(data), 28):
        rows.append('    "' + "".join(f"\\x{b:02x}" if b else "\\0" for b in data[i:i + 28]) + '"')
    return "\n".join(rows) or '    ""'


def header_text(name, skeleton):
    """Maps and programs by number, and what lies in .rodata, .data and .bss: the same for both byte orders."""
    up, guard = name.upper(), f"SONDE_BPF_DIST_{name.upper()}_H"
    lines = [SPDX + "/* Generated by bpf/build.py: do not edit. */", f"#ifndef {guard}", f"#define {guard}", ""]
    if os.path.exists(os.path.join(HERE, name + ".h")):
        lines.append(f'#include "bpf/{name}.h"')
    lines += ['#include "os/bpf/bpf_object.h"', "", "enum {"]
    lines += [f"    {up}_MAP_{m.upper()}," for m, _ in skeleton["maps"]] + [f"    {up}_MAP_COUNT", "};", "enum {"]
    lines += [f"    {up}_PROGRAM_{p[0].upper()}," for p in skeleton["programs"]] + [f"    {up}_PROGRAM_COUNT", "};"]
    for section, body in skeleton["types"]:
        lines += ["", f"struct bpf_{name}_{section} {{", body.replace("\t", "    ").replace("        ", "    "), "};"]
    lines += ["", f"extern const struct os_bpf_code bpf_{name};", "", "#endif", ""]
    return "\n".join(lines)


def code_text(name, order, skeleton, made):
    lines = [SPDX + "/* Generated by bpf/build.py: do not edit. */"] + [f"/* {key}: {value} */" for key, value in made.items()]
    lines += [f'#include "bpf/dist/{name}.h"', ""]
    for m, start in skeleton["maps"]:
        if start is not None:
            lines += [f"static const uint8_t {m}_start[] __attribute__((aligned(8))) =", literal(start) + ";", ""]
    if skeleton["maps"]:
        lines.append("static const struct os_bpf_map_row MAPS[] = {")
        for m, start in skeleton["maps"]:
            lines.append(f'    {{"{m}", {{{f"{m}_start, {len(start)}" if start is not None else "NULL, 0"}}}}},')
        lines += ["};", ""]
    lines.append("static const struct os_bpf_program_row PROGRAMS[] = {")
    for p, how, tracepoint in skeleton["programs"]:
        point = f'"{tracepoint}"' if tracepoint else "NULL"
        lines.append(f'    {{"{p}", OS_BPF_ATTACH_{how}, {point}}},')
    lines += ["};", ""]
    for what in ("data", "insns"):
        lines += [f"static const uint8_t {what}[] __attribute__((aligned(8))) =", literal(skeleton[what]) + ";", ""]
    lines += [f"const struct os_bpf_code bpf_{name} = {{", f'    .name = "{name}",',
              f"    .data = {{data, {len(skeleton['data'])}}},", f"    .insns = {{insns, {len(skeleton['insns'])}}},"]
    if skeleton["maps"]:
        lines += ["    .maps = MAPS,"]
    lines += [f"    .map_count = {len(skeleton['maps'])},", "    .programs = PROGRAMS,",
              f"    .program_count = {len(skeleton['programs'])},", "};", ""]
    return "\n".join(lines)


def make(name, order, folder):
    """(the skeleton, {how it was made})"""
    path = os.path.join(folder, name + ".o")
    compile_object(name, order, path)
    with open(path, "rb") as f:
        compiled = hashlib.sha256(f.read()).hexdigest()
    skeleton = parse_skeleton(run([BPFTOOL, "gen", "skeleton", "-L", path, "name", name]))
    return skeleton, {"source": source_hash(name), "object": compiled, "clang": release(CLANG), "bpftool": release(BPFTOOL)}


def write(name):
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for order in ORDERS:
            made[order] = make(name, order, folder)
    headers = {header_text(name, skeleton) for skeleton, _ in made.values()}
    if len(headers) != 1:
        raise Unable(f"{name}: its maps or types are not the same in both byte orders")
    texts = {f"{name}.{order}.c": code_text(name, order, *made[order]) for order in ORDERS}
    texts[name + ".h"] = headers.pop()
    for path, text in texts.items():
        with open(os.path.join(DIST, path), "w", encoding="ascii") as f:
            f.write(text)
    print(f"{name}: {len(made['el'][0]['data'])} bytes of data, {len(made['el'][0]['insns'])} of loader")


def read_dist(path):
    with open(os.path.join(DIST, path), encoding="ascii") as f:
        return f.read()


def compare(name, order, folder):
    """What differs between dist and what is made of the sources now; None: nothing."""
    text = read_dist(f"{name}.{order}.c")
    was = dict(re.findall(r"^/\* (\w+): (\S+) \*/$", text, re.M))
    skeleton, now = make(name, order, folder)
    if read_dist(name + ".h") != header_text(name, skeleton):
        return f"dist/{name}.h names other maps, programs or types"
    if was["clang"] == now["clang"] and was["bpftool"] == now["bpftool"]:
        return None if text == code_text(name, order, skeleton, now) else f"dist/{name}.{order}.c is not what is made of it"
    if was["clang"] == now["clang"] and was["object"] != now["object"]:
        return f"{name}.bpf.c compiles to another object than dist/{name}.{order}.c was made from"
    return None


def check(names):
    bad, skipped = [], set()
    for name in names:
        for order in ORDERS:
            path = f"{name}.{order}.c"
            if not os.path.exists(os.path.join(DIST, path)) or \
                    f"/* source: {source_hash(name)} */" not in read_dist(path):
                bad.append(f"dist/{path} is not made from {' '.join(sources(name))}: run bpf/build.py")
    stray = {re.sub(r"\.(h|el\.c|eb\.c)$", "", os.path.basename(p)) for p in glob.glob(os.path.join(DIST, "*"))} - set(names)
    bad += [f"dist/{name}.*: there is no {name}.bpf.c" for name in sorted(stray)]
    if not bad:
        for name in names:
            for order in ORDERS:
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        difference = compare(name, order, folder)
                        bad += [difference] if difference else []
                except Unable as e:
                    skipped.add(f"bpf{order}: {e}")
    for line in bad:
        print(line)
    for line in sorted(skipped):
        print(f"SKIP made again: {line.splitlines()[0][:200]}")
    return 1 if bad else 0


def main(arguments):
    names = sorted(os.path.basename(p)[:-len(".bpf.c")] for p in glob.glob(os.path.join(HERE, "*.bpf.c")))
    if arguments[:1] == ["--check"]:
        return check(names)
    unknown = [a for a in arguments if a not in names]
    if unknown:
        sys.exit(f"no {unknown[0]}.bpf.c in {HERE}")
    if not shutil.which(CLANG):
        sys.exit(f"{CLANG} is not installed")
    os.makedirs(DIST, exist_ok=True)
    try:
        for name in arguments or names:
            write(name)
    except Unable as e:
        sys.exit(str(e))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
