#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Makefile in a tree that was copied or moved with its build folder: make_test.py TOP

A program of one line stands in sonde's place: what is tried is how the build folder is made ready.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

TOP = os.path.abspath(sys.argv[1])
SECONDS = 60  # for one make: a guard against endless loops only
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "BUILD", "PREFIX", "DESTDIR")}


def plant(tree):
    """A small project with sonde's Makefile."""
    os.makedirs(tree)
    shutil.copy(os.path.join(TOP, "Makefile"), tree)
    shutil.copytree(os.path.join(TOP, "scripts"), os.path.join(tree, "scripts"))
    with open(os.path.join(tree, "meson.build"), "w") as f:
        f.write("project('small', 'c')\nexecutable('small', 'small.c', install: true)\n")
    say(tree, 1)


def say(tree, number):
    with open(os.path.join(tree, "small.c"), "w") as f:
        f.write(f"int main(void) {{ return {number}; }}\n")


def make(tree, *arguments):
    """(status, what it printed); a status of None: it did not end."""
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(["make", "OPTIONS=", *arguments], cwd=tree, env=ENV, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, start_new_session=True)
        try:
            p.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            p.wait()
            p.returncode = None
        out.seek(0)
        return p.returncode, out.read().decode(errors="replace")[-2000:]


def returns(program):
    return subprocess.call([program]) if os.path.exists(program) else None


def age(tree):
    """As a copy without times: the build's description is later than what it made."""
    earlier = os.stat(os.path.join(tree, "meson.build")).st_mtime - 100  # a time in the future would be skew to meson
    os.utime(os.path.join(tree, "build", "build.ninja"), (earlier, earlier))


def check(t, folder):
    old, new, moved, link = (os.path.join(folder, name) for name in ("old", "new, é", "moved", "link"))
    plant(old)
    status, text = make(old)
    t.check("make", status == 0 and returns(f"{old}/build/small") == 1, text)
    status, text = make(old)
    t.check("make again has nothing to do", status == 0 and "Meson" not in text and "no work to do" in text, text)

    shutil.copytree(old, new, symlinks=True)
    age(new)
    say(new, 2)
    say(old, 3)
    status, text = make(new, "install", f"PREFIX={folder}/to")
    t.check("make install in a copy installs what the copy has", status == 0 and returns(f"{folder}/to/bin/small") == 2,
            (status, text))
    t.check("it says that the folder was another tree's", f"build was set up for {old}: setting it up anew\n" in text, text)
    t.check("the first tree is left alone", returns(f"{old}/build/small") == 1, "it was built")
    status, text = make(new)
    t.check("once", status == 0 and "set up" not in text, text)

    os.rename(old, moved)
    status, text = make(moved)
    t.check("make in a moved tree", status == 0 and returns(f"{moved}/build/small") == 3 and "anew" in text, (status, text))
    os.symlink(moved, link)
    status, text = make(link)
    t.check("a tree by another name is the same", status == 0 and "anew" not in text, text)


def main():
    for program in ("make", "meson", "ninja"):
        if not shutil.which(program):
            print(f"SKIP: {program} is not installed")
            sys.exit(support.SKIP)
    t = support.Report("make")
    with tempfile.TemporaryDirectory() as folder:
        check(t, os.path.realpath(folder))
    t.finish()


main()
