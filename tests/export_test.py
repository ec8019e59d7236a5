#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export: the same stacks, weights and totals in every format, compared with what `script` prints, folded here.

export_test.py SONDE
"""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(HERE, "recordings")
report = support.Report("export")


def sonde(*args):
    """Runs sonde; its output as text."""
    r = support.run([SONDE, *args])
    return r._replace(out=r.out.decode("utf-8", "replace"))


def tidy(name):
    """A name as stackcollapse-perf.pl has it."""
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name, flags=re.S)
    return name.replace(";", ":").replace('"', "").replace("'", "")


def event_names(path):
    return [line.strip() for line in sonde("evlist", "-i", path).out.splitlines()]


def folded_of_script(path):
    """{event: {stack: period}} of what script prints."""
    text = sonde("script", "-i", path, "--no-inline", "-F", "comm,tid,event,period,ip,sym,dso").out
    stacks = {}
    blocks = []
    for line in text.splitlines():
        if line and not line.startswith("\t"):
            blocks.append([line])
        elif line:
            blocks[-1].append(line)
    for lines in blocks:
        head = re.match(r"\s*(.*?)\s+(-?\d+)\s+(\d+)\s+(\S+): (.*)$", lines[0])
        frames = ([head[5]] if head[5].strip() else []) + lines[1:]
        names = [head[1].replace(" ", "_").replace(";", "_")]
        for frame in reversed(frames):
            m = re.match(r"\s*([0-9a-f]+) (.*) \(([^()]*(?:\([^()]*\))?[^()]*)\)$", frame)
            name, dso = (m[2], m[3]) if m else ("[unknown]", "")
            if name == "[unknown]" or name.startswith("[stale]"):
                short = os.path.basename(dso) if dso.startswith("/") else dso
                name = short if short.startswith("[") else f"[{'stale ' if m[2] != '[unknown]' else ''}{short}]"
            names.append(tidy(name))
        stack = ";".join(names)
        by_stack = stacks.setdefault(head[4], {})
        by_stack[stack] = by_stack.get(stack, 0) + int(head[3])
    return stacks


def folded(path, event, *more):
    text = sonde("export", "folded", *more, "-e", event, path)
    lines = [line.rsplit(" ", 1) for line in text.out.splitlines()]
    return text, {stack: int(weight) for stack, weight in lines}


def compare(path):
    name = os.path.basename(path)
    want = folded_of_script(path)
    for event, stacks in want.items():
        said, have = folded(path, event)
        report.check(f"{name}, {event}: folded stacks are script's", said.status == 0 and have == stacks,
                     str(sorted(set(have.items()) ^ set(stacks.items()))[:6]) + said.err)
        report.check(f"{name}, {event}: in the order of texts", list(have) == sorted(have, key=str.encode), "")
        picture = sonde("export", "flamegraph", "-e", event, path)
        title = xml.fromstring(picture.out).find(".//*[@id='frames']/*[@data-d='0']/*").text
        report.check(f"{name}, {event}: the flame graph's total", title.split("\n")[1].split(" ")[0] ==
                     str(sum(stacks.values())), title)


def allow_small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


def errors():
    demo = os.path.join(RECORDINGS, sorted(f for f in os.listdir(RECORDINGS) if f.endswith(".data"))[0])
    formats = sonde("export")
    report.check("formats are listed", formats.status == 0 and "  folded " in formats.out, formats.out)
    wrong = sonde("export", "nonsense", demo)
    report.check("an unknown format", wrong.status == 129 and "use " in wrong.err and "folded" in wrong.err, wrong.err)
    none = sonde("export", "folded", "-e", "no-such-event", demo)
    report.check("an unknown event", none.status == 1 and "no samples of event no-such-event" in none.err, none.err)
    missing = sonde("export", "folded", "/no/such.data")
    report.check("a file that is not there", missing.status == 1 and "/no/such.data" in missing.err, missing.err)
    with tempfile.TemporaryDirectory() as folder:
        half = os.path.join(folder, "half.json")
        stopped = subprocess.run([SONDE, "export", "json", "-o", half, demo], capture_output=True, text=True, check=False,
                                 preexec_fn=allow_small_files)
        report.check("no half of a file is left", stopped.returncode == 1 and half in stopped.stderr and not os.path.exists(half),
                     stopped.stderr)
    full = sonde("export", "folded", "-o", "/dev/full", demo)
    report.check("a full disk", full.status == 1 and "/dev/full" in full.err, full.err)


def main():
    for name in sorted(os.listdir(RECORDINGS)):
        if name.endswith(".data"):
            compare(os.path.join(RECORDINGS, name))
    errors()
    report.finish()


main()
