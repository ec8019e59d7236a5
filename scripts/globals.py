#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for mutable global and static variables in the objects of a build: globals.py BUILD

Constant tables with addresses in them land in .data.rel.ro, which is fine; .data, .bss and the like are not,
except in src/cmd/ (the signal flag), src/base/log.c (the log sink), and the programs apart: src/workload/,
src/agents/.
"""
import glob
import os
import subprocess
import sys

EXEMPT = ("src_cmd_", "src_base_log.c", "src_workload_", "src_agents_")
MUTABLE = (".data", ".bss", ".tdata", ".tbss", "*COM*")


def mutable(section):
    return section.startswith(MUTABLE) and not section.startswith(".data.rel.ro")


def main(build):
    objects = sorted(glob.glob(os.path.join(build, "libsonde_core.a.p", "src_*.o")))
    checked = [o for o in objects if not os.path.basename(o).startswith(EXEMPT)]
    if not checked:
        print(f"no objects in {build}/libsonde_core.a.p")
        return 1
    text = subprocess.run(["nm", "-A", "-f", "sysv"] + checked, capture_output=True, text=True, check=True).stdout
    found = 0
    for line in text.splitlines():
        parts = [p.strip() for p in line.split("|")]
        if len(parts) == 7 and mutable(parts[6]):
            where, name = parts[0].rsplit(":", 1)
            print(f"{os.path.basename(where)}: {name} is mutable ({parts[6]})")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
