# SPDX-License-Identifier: Apache-2.0
"""Texts of the newest perf for `report`, kept as sums: what was asked, and how a text becomes a sum."""
import hashlib
import os
import re

import equals

REPORTS = {
    "flat": ["--no-children", "-g", "none"],
    "children": ["--children"],
    "callees": ["--no-children", "-g", "callee"],
    "hierarchy": ["--hierarchy", "--no-children", "-g", "none"],
    "symbols": ["--no-children", "-g", "none", "-s", "symbol", "-n"],
}


def arguments(folder, options):
    """`folder` is empty: nothing has a name then."""
    empty = os.path.join(folder, "kallsyms")
    if not os.path.exists(empty):
        with open(empty, "wb"):
            pass
    return ["report", "-f", "--symfs", os.path.join(folder, "none"), "--kallsyms", empty, *options]


LEVEL = re.compile(rb"\[[.kguH]\] ")


def digest(options, text):
    """Equals may stand in any order: equals.py. Of the levels that the newest perf gives to callers' rows docs/differences.md says,
    rule `caller-levels`, that they are not kept to."""
    lines = [line for line in text.split(b"\n") if not line.startswith(b"# (Tip: ")]
    if options == "children":
        lines = [LEVEL.sub(b"[ ] ", line, 1) for line in lines]
    settled = equals.settle(b"\n".join(lines).decode("utf-8", "surrogateescape"))
    return hashlib.sha256(settled.encode("utf-8", "surrogateescape")).hexdigest()[:24]
