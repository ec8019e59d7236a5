#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`diff --tui`, as a person would use it, in tmux: the rows, numbers and order of the text, its callers and verdict.

diff_tui_test.py SONDE OBJECT
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import compared
import perfdata as pd
import screen as terminal
import support
from screen import HINT, Screen

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
report = support.Report("diff_tui")
folder = tempfile.TemporaryDirectory(prefix="sonde-diff-tui-")
Screen.setup(SONDE, report, folder.name)
RED, GREEN, DIM = r"\x1b\[31m", r"\x1b\[32m", r"\x1b\[2m"


def path(name):
    return os.path.join(folder.name, name)


def paths(options):
    """The options with the recordings' names made whole."""
    return [",".join(path(x) if x.endswith(".data") else x for x in word.split(",")) for word in options]


def text(*options):
    r = support.run([SONDE, "diff", "-f", *paths(options)])
    report.check(f"text of {options}", r.status == 0, r)
    return r.out.decode()


def rows_of_text(shown):
    """The rows of the first table."""
    first = shown.split("\n\n# Event")[0]
    return [" ".join(line.split()) for line in first.splitlines() if line.strip() and line[0] != "#"]


def rows_of_screen(shown):
    """The rows, and lines below them, without markers and the bar at the right."""
    lines = [re.sub(r"[▒◆:#]$", "", line[2:]) for line in shown.splitlines()[2:-1]]
    lines = [re.sub(r"  [-+] <- ", "  <- ", line) for line in lines]
    return [" ".join(line.split()) for line in lines if line.strip()]


def opened(*options, size=(260, 60), **more):
    made = Screen("diff", "-f", "--tui", *paths(options), size=size, **more)
    what = " ".join(options)
    shown = made.wait(what, lambda s: HINT in s and s.startswith("Event '") or "Available samples" in s)
    if "Available samples" in shown:
        made.keys("Enter")
        shown = made.wait(f"{what}: the first event", lambda s: HINT in s and s.startswith("Event '"))
    return made, shown


def make(name, samples, obj=OBJECT, **more):
    compared.recording(path(name), obj, samples, **more)


def make_all():
    compared.make(folder.name, OBJECT)
    usual = {"alpha": 30, "beta": 30, "gamma": 30, "delta": 9.9, "zeta": 0.03}
    for i in range(2):
        make(f"same{i}.data", compared.shares(6000, i, **usual))
        make(f"slow{i}.data", compared.shares(6000, 10 + i, **dict(usual, alpha=40)))
    functions, _ = pd.functions(OBJECT)
    for name, samples in (("calls0.data", [("alpha", "beta", "delta", 40), ("alpha", "gamma", "delta", 40), ("zeta", "delta", 20)]),
                          ("calls1.data", [("alpha", "beta", "delta", 40), ("alpha", "gamma", "delta", 140), ("zeta", "delta", 20)])):
        r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
        r.comm(7, "prog")
        compared.map_object(r, 7, OBJECT)
        for *chain, period in samples:
            ips = [compared.BASE + functions[f][0] + (4 if i else 0) for i, f in enumerate(chain)]
            r.sample(7, ips[0], chain=[pd.CONTEXT_USER, *ips], period=period)
        r.write(path(name))


# ---- the same as text ----

def same_as_text():
    for options in compared.INVOCATIONS:
        if "--stream" in options or "-t" in options:
            continue
        wanted = rows_of_text(text(*options))
        if not wanted:
            continue
        _, shown = opened(*options)
        got = rows_of_screen(shown)
        report.check(f"rows of {' '.join(options)}", got == wanted, lambda g=got, w=wanted: f"{g}\n{w}")
    for options in (("--verdict", "same0.data", "slow0.data"), ("--per", "100", "same0.data", "slow0.data"),
                    ("--by-time", "same0.data", "slow0.data"), ("--base", "same0.data,same1.data", "--new", "slow0.data,slow1.data")):
        wanted = rows_of_text(text(*options))
        _, shown = opened(*options)
        report.check(f"rows of {options}", wanted and rows_of_screen(shown) == wanted, lambda g=shown, w=wanted: f"{g}\n{w}")
        report.check(f"titles of {options}", re.search("Base +New +Change +95 % interval +Relative +Proved", shown), shown)


def callers():
    for options in (("-g", "-s", "sym", "calls0.data", "calls1.data"), ("-g", "--verdict", "-s", "sym", "calls0.data", "calls1.data")):
        wanted = rows_of_text(text(*options))
        screen, first = opened(*options)
        report.check("closed at first", "<-" not in first and "\n+ " in first, first)
        screen.keys("E")
        screen.wait(f"E shows the callers of text, {wanted}", lambda s, w=wanted: rows_of_screen(s) == w)
        screen.keys("C")
        screen.wait("C closes all", lambda s, f=first: s == f)
    screen, first = opened("-g", "-s", "sym", "calls0.data", "calls1.data", size=(80, 24))
    screen.keys("Enter")
    shown = screen.wait("ENTER shows who brought it, first", lambda s: "+30.00%  + <- gamma" in s and "-20.00%  + <- beta" in s and "zeta" in s)
    report.check("not their callers yet", "<- delta" not in shown and shown.index("gamma") < shown.index("<- beta"), shown)
    screen.keys("Down", "+")
    screen.wait("+ shows the next level, with its numbers",
                lambda s: "- <- gamma" in s and re.search(r"40\.00% +\+30\.00% +<- delta", s))
    screen.keys("-")
    screen.wait("- closes it", lambda s: "+ <- gamma" in s and "<- delta" not in s)
    screen.keys("c")
    screen.wait("c closes the row", lambda s: "<- gamma" not in s and "\n- " not in s)
    screen.keys("Home", "m")
    screen.wait("m opens the menu", lambda s: "Expand or collapse [alpha]" in s and "Annotate" not in s and "Flame" not in s)
    screen.keys("Escape", "q")
    screen.ended("q", 0, gone="Event '")
    screen, _ = opened("a.data", "b.data")
    screen.keys("+")
    screen.wait("without -g there are none", "callers are not compared: use -g")
    screen.keys("Enter")
    screen.wait("ENTER is the menu then", "Zoom into")


# ---- keys ----

def keys():
    screen, first = opened("-s", "dso,sym", "a.data", "b.data", size=(80, 24))
    count = len(rows_of_screen(first))
    screen.keys("End")
    screen.wait("END", lambda _: "epsilon" in screen.cursor())
    screen.keys("Home", "/")
    screen.wait("/ asks", "Symbol to show")
    screen.type("eta")
    screen.keys("Enter")
    screen.wait("/ filters: only what matches is left", lambda s: "Symbol: eta" in s and 0 < len(rows_of_screen(s)) < count and
                all("eta" in row for row in rows_of_screen(s)))
    screen.keys("Escape")
    screen.wait("ESC takes the filter away", lambda s: rows_of_screen(s) == rows_of_screen(first) and "Symbol: eta" not in s)
    screen.keys("L")
    screen.wait("L asks", "Percent Limit")
    screen.type("21")
    screen.keys("Enter")
    screen.wait("L leaves out rows whose shares are less on all sides",
                lambda s: "zeta" in s and "Percent limit" in s and len(rows_of_screen(s)) == 3)
    screen.keys("d")
    screen.wait("d zooms into the object", "DSO: compared")
    screen.keys("i")
    screen.wait("i says what is compared", lambda s: "# Data files:" in s and re.search(r"\[0\].*a\.data", s) and "[1]" in s)
    screen.keys("q")
    for key, said in (("f", "no whole stacks"), ("a", "instructions are not to be had"), ("w", "evidence is not to be had"),
                      ("V", "not to be had here"), ("F", "use --percentage"), ("1", "no group")):
        screen.keys(key)
        screen.wait(f"{key} says what it lacks", said)
    screen.keys("h")
    screen.wait("the help", "Show this window")
    screen.keys("x", "P")
    where = os.readlink(f"/proc/{screen.pid()}/cwd")
    shown = screen.wait("P writes a file", "written!")
    written = os.path.join(where, re.search(r"perf\.hist\.\d+", shown)[0])
    with open(written, encoding="utf-8") as f:
        saved = f.read()
    os.remove(written)
    report.check("P writes what is shown", "Event 'cpu-clock'" in saved and saved.count("\n") == 2 + 3, saved)


def events():
    """Each event has its own table; as diff's text has them one after the other."""
    group = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings", "group.data")
    whole = support.run([SONDE, "diff", "-f", group, group]).out.decode()
    names = re.findall(r"^# Event '(.*)'", whole, re.M)
    screen = Screen("diff", "-f", "--tui", group, group, size=(200, 60))
    shown = screen.wait("a menu of events", "Available samples")
    report.check("all of text's", len(names) > 1 and all(name in shown for name in names), f"{names}\n{shown}")
    screen.keys("Enter")
    screen.wait("the first event", f"Event '{names[0]}'")
    screen.keys("Tab")
    wanted = rows_of_text("# Event " + re.split(r"^# Event ", whole, flags=re.M)[2])
    screen.wait(f"TAB shows the next, {wanted}", lambda s: s.startswith(f"Event '{names[1]}'") and rows_of_screen(s) == wanted[:57])
    screen.keys("Escape")
    screen.wait("ESC shows the menu", "Available samples")
    screen.keys("q")
    screen.ended("q in the menu", 0, gone="Event '")


def colors():
    screen, _ = opened("a.data", "b.data", size=(80, 24))
    screen.keys("End")
    screen.wait("the cursor is away", lambda _: "epsilon" in screen.cursor())
    shown = screen.capture("-e")
    report.check("more is red", re.search(RED + r"\+25\.00%.*zeta", shown), repr(shown))
    report.check("less is green", re.search(GREEN + r"-15\.00%.*beta", shown), repr(shown))
    screen, _ = opened("--verdict", "same0.data", "slow0.data", size=(120, 24))
    screen.keys("Down")
    screen.wait("the cursor is on another row", lambda _: "[.]" in screen.cursor() and "alpha" not in screen.cursor())
    lines = screen.capture("-e").splitlines()
    alpha, zeta = (next(line for line in lines if name in line) for name in ("alpha", "zeta"))
    report.check("proved is red", re.search(RED + "more", alpha) and not re.search(DIM, alpha), repr(alpha))
    report.check("unproved is dim", re.search(DIM + "few", zeta) and re.search(DIM + r"\[\.\] zeta", zeta), repr(zeta))


def narrow():
    """Names stay on the screen, and what says whether a change is proved."""
    for size in (80, 24), (40, 10):
        _, shown = opened("--verdict", "same0.data", "slow0.data", size=size)
        first = shown.splitlines()[2]
        report.check(f"{size}: the row's name", "alpha" in first and "more" in first and re.search(r"[+]\d+\.\d\d ", first), shown)
        report.check(f"{size}: the interval", (" to +" in first) == (size[0] == 80), shown)
        report.check(f"{size}: it fits", all(len(line) <= size[0] for line in shown.splitlines()), shown)


# ---- where it is text, and hostile names ----

def text_where_it_should():
    wanted = text("a.data", "b.data")
    r = support.run([SONDE, "diff", "-f", "--tui", *paths(("a.data", "b.data"))])
    report.check("--tui without a terminal says so, and prints text", r.status == 0 and r.out.decode() == wanted and
                 "--tui: the terminal browser needs a terminal" in r.err, r)
    for what, options, term in (("TERM=dumb", ("--tui",), "dumb"), ("without --tui", (), "xterm"), ("--no-tui", ("--tui", "--no-tui"), "xterm"),
                                ("-t", ("--tui", "-t", ","), "xterm"), ("--json", ("--tui", "--json"), "xterm"),
                                ("--gate", ("--tui", "--gate", "500"), "xterm")):
        status, shown = support.on_terminal([SONDE, "--no-pager", "diff", "-f", *options, *paths(("same0.data", "slow0.data"))], TERM=term)
        report.check(f"text: {what}", status == 0 and "\x1b[?1049h" not in shown and "alpha" in shown, shown[:400])
        report.check(f"it says why: {what}", (term == "dumb") == ("--tui: " in shown), shown[:400])
    for what, options in (("no common event", ("--verdict", "a.data", "f.data")), ("no file", ("a.data", "nowhere.data"))):
        screen = Screen("diff", "-f", "--tui", *paths(options))
        screen.ended(what, 1, gone="Event '")


def hostile():
    names = ["\x1b[2J\x1b[31mred", "rev\u202eersed", "bell\x07\r\n\tend", "wide漢字", "x" * 60000, "\x1b]0;title\x07"]
    for i in range(2):
        r = pd.Recording()
        r.comm(7, "prog")
        r.kernel(0xffffffff80000000, 0x1000000)
        for k, name in enumerate(names):
            address = 0xffffffff80001000 + k * 0x2000
            r.add(17, 0, pd.struct.pack("<QIHH", address, 0x1000, 1, 0) + pd.text(name) + r.tail(0, 0))
            for _ in range(3 + i * k):
                r.sample(7, address + 16, [pd.CONTEXT_KERNEL, address + 16, 0xffffffff80001010], misc=pd.KERNEL)
        r.write(path(f"hostile\x1b[7m{i}.data"))
    for locale in "C.UTF-8", "C":
        screen, shown = opened("-g", *(f"hostile\x1b[7m{i}.data" for i in range(2)), size=(100, 40), locale=locale)
        for key, what in (("E", "<- "), ("m", "Exit"), ("Escape", "Event '"), ("i", "# Data files"), ("q", "Event '")):
            screen.keys(key)
            shown = screen.wait(f"hostile names: {what}", lambda s, w=what: w in s)
            report.check(f"harmless: {what}", not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown) and
                         all(len(line) <= 100 for line in shown.splitlines()), repr(shown))
        shown = screen.wait("escaped", "\\x1b[2J\\x1b[31mred")
        report.check("all are escaped", "\\u202e" in shown and "\\x07\\x0d\\x0a\\x09end" in shown, shown)
        screen.keys("q")
        screen.ended("hostile names", 0, gone="Event '")


def main():
    terminal.needed()
    make_all()
    for part in (same_as_text, callers, keys, events, colors, narrow, text_where_it_should, hostile):
        if len(sys.argv) < 4 or part.__name__ in sys.argv[3:]:
            part()
    if Screen.last:
        Screen.last.close()
    report.finish()


main()
