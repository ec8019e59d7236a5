#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""configure.py FOLDER [options of meson setup]: makes a build folder ready for ninja.

One that is not there is set up. One that came with a copied or moved tree still belongs to the tree that it was set up
for: ninja would have Meson regenerate *that* one, find this one as old as before, and try again without end. Such a
folder is set up anew, with the options that it had. Anything else stays as it is.
"""
import json
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def same(recorded, here):
    """Whether both are one directory, by whatever names; what does not exist is another one."""
    try:
        return os.path.samefile(recorded, here)
    except OSError:
        return False


def set_up_for(folder):
    """The tree that a folder was set up for and the folder as it was called then; None: nobody knows."""
    try:
        with open(os.path.join(folder, "meson-info", "meson-info.json"), encoding="utf-8") as f:
            directories = json.load(f)["directories"]
        return directories["source"], directories["build"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def command(folder, options):
    """What must run before ninja can, or None; and why, if that is news to the user."""
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        return ["meson", "setup", folder, TOP] + options, None
    was = set_up_for(folder)
    if not was or (same(was[0], TOP) and same(was[1], folder)):
        return None, None
    other = was[0] if not same(was[0], TOP) else was[1]
    return ["meson", "setup", "--wipe", folder, TOP], f"{folder} was set up for {other}: setting it up anew"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not shutil.which("meson"):
        sys.exit("meson is missing: run 'make deps' (or 'make check')")
    what, why = command(sys.argv[1], sys.argv[2:])
    if why:
        print(why, flush=True)
    sys.exit(subprocess.call(what) if what else 0)


if __name__ == "__main__":
    main()
