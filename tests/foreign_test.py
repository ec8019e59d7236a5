#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other kernels' recordings, opened here: not one kernel frame may be named from what happens to lie on this machine.

foreign_test.py SONDE

Over the corpus and the lab's recordings, each as it is and with this machine's /proc/kallsyms given; prints every frame
that has a name. SKIPs without either folder. Names that a recording brings along (KSYMBOL records) are its own.
"""
import collections
import json
import os
import platform
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support  # noqa: E402

KERNEL = re.compile(r"^\[(kernel|guest\.kernel|hypervisor)|\.ko(\.\w+)?$|kallsyms|vmlinux|kcore")
KERNEL_MODES = ("kernel", "guest-kernel", "hypervisor")


def recordings():
    found = []
    for folder in (support.corpus_dir(), support.lab_dir()):
        for at, _dirs, names in os.walk(folder or "/nonexistent"):
            found += [os.path.join(at, n) for n in names if n.endswith(".data")]
    return sorted(found)


def kernel_frames(sample):
    """[(address, name or None, object, is one of the callchain)] of all frames that are, or may be, a kernel's."""
    for i, f in enumerate([sample] + sample.get("callchain", [])):
        ip = int(f.get("ip", "0"), 16)
        if KERNEL.search(f.get("dso", "")) or ip >> 63 or not i and sample.get("mode") in KERNEL_MODES:
            yield hex(ip), f.get("sym"), f.get("dso", ""), i > 0


def look(sonde, path, *args):
    """(kernel frames, those of them that have names)."""
    r = support.run([sonde, "script", "-f", "--json", "-i", path, *args])
    seen, named = 0, collections.Counter()
    for line in r.out.splitlines():
        sample = json.loads(line)
        if sample["type"] != "sample":
            continue
        for address, name, dso, _chain in kernel_frames(sample):
            seen += 1
            if name and not dso.startswith("[bpf"):
                named[f"{address} {name} ({dso})"] += 1
    return seen, named


def main():
    sonde, report = os.path.abspath(sys.argv[1]), support.Report("foreign kernels")
    found = recordings()
    if not found:
        print("SKIP: recordings of other kernels are absent ($SONDE_CORPUS, $SONDE_LAB)")
        sys.exit(support.SKIP)
    total = 0
    for what, args in (("as it is", []), (f"with {platform.release()}'s own list", ["--kallsyms", "/proc/kallsyms"])):
        for path, result in support.parallel(lambda p, a=args: look(sonde, p, *a), found):
            if isinstance(result, Exception):
                report.bad(f"{path} {what}", str(result))
                continue
            seen, named = result
            total += seen
            report.check(f"{path} {what}", not named, lambda n=named: f"{sum(n.values())} named: {n.most_common(5)}")
    print(f"{total} kernel frames")
    report.check("there are kernel frames", total > 1000, total)
    report.finish()


if __name__ == "__main__":
    main()
