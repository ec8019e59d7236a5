#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The terminal browser, as a person would use it, in tmux: what it shows is what report --stdio prints, its keys do what they
say, and the terminal is afterwards as it was.

tui_test.py SONDE
"""
import os
import re
import signal
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import made
import perfdata as pd
import screen as terminal
import support
from screen import HINT, Screen

SONDE = os.path.abspath(sys.argv[1])
RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings")
report = support.Report("tui")
folder = tempfile.TemporaryDirectory(prefix="sonde-tui-")
Screen.setup(SONDE, report, folder.name)


def recording(name):
    return os.path.join(RECORDINGS, name + ".data")


def stdio(path, *options):
    return support.run([SONDE, "report", "--stdio", "-f", "-i", path, *options]).out.decode("utf-8", "replace")


def rows_of_stdio(text):
    """The rows of the first table, blanks made one."""
    first = re.split(r"^# Samples:", text, flags=re.M)[1]
    return [" ".join(line.split()) for line in first.splitlines()[1:] if line and not line.startswith("#")]


def rows_of_screen(shown):
    """The rows without markers and the bar at the right."""
    lines = [re.sub(r"[▒◆:#]$", "", line[2:]) for line in shown.splitlines()[2:-1]]
    return [" ".join(line.split()) for line in lines if line.strip()]


FUNCTIONS = "do_syscall", "ksys_read", "vfs_read", "read_zero", "page_fault", "irq_enable"


def demo():
    """A program that reads in the kernel, with samples of a thread of another one. Its names are in it."""
    r = pd.Recording()
    r.comm(7, "program")
    r.comm(8, "other")
    r.kernel(0xffffffff80000000, 0x1000000)
    r.map(7, 0x400000, 0x1000, 0, "/nowhere/prog")
    at = {}
    for i, name in enumerate(FUNCTIONS):
        put_function(r, 0xffffffff80001000 + i * 0x2000, name)
        at[name] = 0xffffffff80001010 + i * 0x2000
    user = [pd.CONTEXT_USER, 0x400100]
    reads = [at[name] for name in ("read_zero", "vfs_read", "ksys_read", "do_syscall")]
    for _ in range(12):
        r.sample(7, reads[0], [pd.CONTEXT_KERNEL, *reads, *user], misc=pd.KERNEL)
    r.sample(7, at["irq_enable"], [pd.CONTEXT_KERNEL, at["irq_enable"], at["page_fault"], *reads, *user], misc=pd.KERNEL)
    r.sample(7, 0x400100, user)
    for _ in range(2):
        r.sample(8, at["irq_enable"], [pd.CONTEXT_KERNEL, at["irq_enable"]], misc=pd.KERNEL)
    path = os.path.join(folder.name, "demo.data")
    r.write(path)
    return path


# ---- the table ----

def same_as_text():
    for name in sorted(os.listdir(RECORDINGS)):
        path = os.path.join(RECORDINGS, name)
        if not name.endswith(".data"):
            continue
        for size in (80, 24), (200, 60):
            for options in ((), ("--no-children",)):
                text = stdio(path, "-g", "none", *options)
                if "# Samples:" not in text:  # there is nothing to browse
                    Screen("report", "-f", "-i", path, *options, size=size).ended(f"{name}: no samples", 0)
                    continue
                screen = Screen("report", "-f", "-i", path, "-g", "none", *options, size=size)
                if text.count("# Samples:") > 1:  # a menu of the events comes first
                    screen.wait(f"{name}: the events", "Available samples")
                    screen.keys("Enter")
                shown = screen.wait(f"{name} {size}: the table", lambda s: HINT in s and s.startswith("Samples:"))
                wanted = rows_of_stdio(text)[:size[1] - 3]
                got = rows_of_screen(shown)
                if size[0] == 80:  # commands and objects give way to the name
                    numbers = 1 if options or "Children" not in text else 2
                    wanted, got = ([row.split()[:numbers] for row in rows] for rows in (wanted, got))
                report.check(f"{name} {size} {options}", got == wanted, lambda: f"{got}\n{wanted}")


def names_have_room():
    r = pd.Recording()
    r.comm(7, "a-long-command")
    r.kernel(0xffffffff80000000, 0x1000000)
    put_function(r, 0xffffffff80001000, "function_" + "x" * 91)
    r.sample(7, 0xffffffff80001010, [pd.CONTEXT_KERNEL, 0xffffffff80001010], misc=pd.KERNEL)
    path = os.path.join(folder.name, "long.data")
    r.write(path)
    shown = Screen("report", "-f", "-i", path).wait("long names", HINT)
    report.check("the name keeps 40 columns at 80", "[k] function_" + "x" * 22 in shown, shown)


def keys():
    path = demo()
    names = {line.split()[-1].split("--")[-1] for line in stdio(path, "-g", "caller").splitlines() if line.strip()}
    screen = Screen("report", "-f", "-i", path, "-g", "caller", size=(120, 50))
    first = screen.wait("the table", HINT)
    screen.keys("E")
    shown = screen.wait("E opens all", "- 75.00% 0x400100")
    lines = [line for line in shown.splitlines()[2:-1] if line.startswith("   ") and line[:119].strip()]
    frames = {re.sub(r"^ *[-+]? *([\d.]+% )?", "", line).rstrip(" ▒◆") for line in lines}
    report.check("call graphs have the frames of text", frames and frames <= names, f"{frames}\n{names}")
    screen.keys("C")
    screen.wait("C closes all", lambda s: s == first)
    screen.keys("+")
    screen.wait("+ opens one level", "   + 0x400100")
    screen.keys("Down", "+")
    screen.wait("+ on a line opens that", "      + do_syscall")
    screen.keys("Down", "+")
    screen.wait("and so on", "      + read_zero")
    screen.keys("-")
    screen.wait("- closes it", lambda s: "      + do_syscall" in s and "+ read_zero" not in s)
    screen.keys("c")
    screen.wait("c closes the row", lambda s: "   - 0x400100" not in s)
    screen.keys("e")
    screen.wait("e opens all of it", "         - page_fault")
    screen.keys("e", "Home", "d")
    screen.wait("d zooms into the object", lambda s: "DSO: prog" in s and "[k]" not in s)
    screen.keys("d", "k")
    screen.wait("k zooms into the kernel", "nothing is left")  # code that is announced is no kernel
    screen.keys("Escape")
    screen.wait("ESC zooms out", lambda s: "DSO:" not in s and "[.]" in s)
    screen.keys("/")
    screen.wait("/ asks", "Symbol to show")
    screen.type("read")
    screen.keys("Enter")
    shown = screen.wait("/ filters", "Symbol: read")
    report.check("only what matches is left", len(rows_of_screen(shown)) == 3 and
                 all("read" in row for row in rows_of_screen(shown)), shown)
    screen.keys("F")
    shown = screen.wait("F: percentages of what is left", "percentages are of what the filters leave")
    report.check("they add up", "108.33% 100.00% program" in " ".join(shown.split()), shown)
    screen.keys("F", "t")
    screen.wait("t zooms into the thread", "Thread: program")
    screen.keys("Escape")
    screen.wait("ESC takes one", lambda s: "Thread" not in s and "Symbol:" in s)
    screen.keys("Escape")
    screen.wait("after the other", lambda s: "Symbol:" not in s)
    screen.keys("L")
    screen.wait("L asks", "Percent Limit")
    screen.type("50")
    screen.keys("Enter")
    screen.wait("L leaves rows out", lambda s: "81.25%" in s and "irq_enable" not in s)
    screen.keys("H")
    screen.wait("H hides the headings", lambda s: "Shared Object" not in s)
    screen.keys("Enter")
    screen.wait("ENTER opens the menu", "Zoom into")
    screen.keys("Escape")
    screen.wait("ESC closes it", "Samples:")
    screen.keys("i")
    screen.wait("i shows the header", "# header version")
    screen.keys("q", "a")
    screen.wait("what is not there says so", "does not have the program's machine code")
    screen.keys("x")
    screen.wait("so do keys without a meaning", "'x' key not associated")
    screen.keys("Home", "Down", "w")
    shown = screen.wait("w shows the evidence", "grade ")
    report.check("w is about the function", "Why it is called do_syscall" in shown, shown)
    screen.keys("q", "V")
    screen.wait("V shows addresses", lambda s: re.search(r"0x[0-9a-f]{3,}", s))
    screen.keys("q")
    screen.ended("q", 0)


def kernel_zoom():
    screen = Screen("report", "-i", recording("kernel"), size=(120, 30))
    screen.wait("the table", HINT)
    screen.keys("k")
    screen.wait("k zooms into the kernel", lambda s: "DSO: [kernel" in s and "[.]" not in s and "[kernel.kallsyms]" in s)
    screen.keys("k")
    screen.wait("k zooms out", lambda s: "DSO:" not in s and "[.]" in s)


def help_scrolls():
    screen = Screen("report", "-i", recording("flat"))
    screen.wait("the table", HINT)
    for key in "h", "?", "F1":
        screen.keys(key)
        screen.wait(f"{key} shows the help", "Show this window")
        screen.keys("End")
        screen.wait("the help scrolls", "Drop the range")
        screen.keys("x")
        screen.wait("any key closes it", "Samples:")


def events():
    screen = Screen("report", "-i", recording("group"), "--no-group", size=(120, 30))
    screen.wait("a menu of events", "Available samples")
    screen.keys("Enter")
    first = screen.wait("the first event", "Samples:").splitlines()[0]
    screen.keys("Tab")
    second = screen.wait("TAB shows the next", lambda s: s.startswith("Samples:") and s.splitlines()[0] != first)
    screen.keys("BTab")
    screen.wait("UNTAB goes back", lambda s: s.splitlines()[0] == first)
    report.check("two events", second.splitlines()[0] != first, first)
    screen.keys("Escape")
    screen.wait("ESC shows the menu", "Available samples")
    screen.keys("q")
    screen.ended("q in the menu", 0)


def hierarchy():
    path = recording("threads")
    screen = Screen("report", "-i", path, "--hierarchy", size=(120, 40))
    screen.wait("closed at first", lambda s: HINT in s and "[.]" not in s)
    screen.keys("E")
    shown = screen.wait("E opens all levels", "[.]")
    wanted = [" ".join(line.split()) for line in stdio(path, "--hierarchy", "-g", "none").splitlines()
              if line and not line.startswith("#") and "%" in line]
    report.check("the levels of text", rows_of_screen(shown) == wanted, f"{rows_of_screen(shown)}\n{wanted}")


def annotated():
    """Of sonde's own workload, which has source lines; the line that was hit most is in the middle."""
    functions = made.functions(SONDE)
    if "workload_leafloop" not in functions and "leaf" not in functions or os.uname().machine not in ("x86_64", "aarch64"):
        return
    name = "leaf" if "leaf" in functions else "workload_leafloop"
    path = os.path.join(folder.name, "annotated.data")
    with open(path, "wb") as f:
        f.write(made.recording(SONDE, [[functions[name]]] * 3))
    screen = Screen("report", "-f", "-i", path, size=(120, 12))
    screen.wait("the table", HINT)
    screen.keys("Home", "a")
    screen.wait("a shows instructions", lambda s: name in s.splitlines()[0] and "  100.00 :   " in s and "Press 'q'" in s)
    screen.keys("q", "Enter")
    screen.wait("the menu has it", f"Annotate {name}")
    screen.keys("Enter")
    screen.wait("and shows them", "  100.00 :   ")
    screen.keys("q", "q")
    screen.ended("annotated", 0)


def printed():
    screen = Screen("report", "-f", "-i", demo(), size=(100, 30))
    screen.wait("the table", HINT)
    where = os.readlink(f"/proc/{screen.pid()}/cwd")
    screen.keys("P")
    shown = screen.wait("P writes a file", "written!")
    path = os.path.join(where, re.search(r"perf\.hist\.\d+", shown)[0])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    os.remove(path)
    report.check("P writes what is shown", "Samples: 16" in text and text.count("\n") == 11, text)


# ---- the other screens ----

def flame():
    path = demo()
    total = int(re.search(r"Event count \(approx\.\): (\d+)", stdio(path))[1])
    screen = Screen("report", "-f", "-i", path, size=(120, 30))
    screen.wait("the table", HINT)
    screen.keys("f")
    shown = screen.wait("f shows the flame graph", "Flame graph of 'cpu-clock'")
    report.check("its total is text's", f"{total} ns" in shown, shown)
    screen.keys("g", "G")
    screen.wait("G goes to the deepest", lambda s: re.search(r"^irq_enable .*total 6\.25%.*self 6\.25%", s, re.M))
    screen.keys("Enter")
    screen.wait("ENTER zooms", "zoomed into irq_enable")
    screen.keys("Escape")
    screen.wait("ESC zooms out", lambda s: "zoomed into irq" not in s)
    screen.keys("/")
    screen.type("^vfs_")
    screen.keys("Enter")
    screen.wait("/ finds", lambda s: re.search(r"^vfs_read .*total 81\.25%", s, re.M))
    screen.keys("q")
    screen.wait("q leads back to the table", "Samples:")
    screen.keys("w")
    screen.wait("the selection came along", "Why it is called vfs_read")
    screen.keys("q", "t", "f")
    screen.wait("filters are shared", lambda s: f"{total * 14 // 16} ns" in s and "other" not in s)
    screen.keys("d")
    screen.wait("a key without a meaning", "not associated")


def times():
    path = recording("threads")
    all_samples = int(re.search(r"# Samples: (\d+)", stdio(path))[1])
    screen = Screen("report", "-i", path, size=(120, 30))
    screen.wait("the table", HINT)
    screen.keys("T")
    shown = screen.wait("T shows the threads", "Threads over time")
    report.check("with blocks", re.search("[▁▂▃▄▅▆▇█]", shown), shown)
    screen.keys("[", "Right", "Right", "Right", "Right", "Right", "Right")
    screen.keys("]")
    shown = screen.wait("[ and ] mark a range", "ENTER applies it")
    screen.keys("Enter")
    shown = screen.wait("ENTER applies it", "all screens show")
    screen.keys("q")
    shown = screen.wait("the table is of the range", ", Time: ")
    span = re.search(r"Time: ([\d.]+)-([\d.]+)", shown)
    text = stdio(path, "--time", f"{span[1]},{span[2]}", "-g", "none")
    some = int(re.search(r"# Samples: (\d+)", text)[1])
    # The title has microseconds, the range nanoseconds: a sample at its edge may be in one of them only.
    got = int(re.search(r"Samples: (\d+)", shown)[1])
    report.check("as --time has it", abs(got - some) <= 1 and 0 < got < all_samples, f"{got} {some} {all_samples}")
    screen.keys("f")
    flames = screen.wait("so is the flame graph", "Flame graph")
    period = re.search(r"Event count \(approx\.\): (\d+)", shown)[1]
    report.check("with the table's total", f" {period} ns" in flames, flames)
    screen.keys("q", "Escape")
    screen.wait("ESC shows all again", f"Samples: {all_samples} ")
    screen.keys("T", "S-Right", "S-Right")
    screen.wait("shift and arrows make a range", "ENTER applies it")


# ---- terminals ----

def looks():
    path = recording("threads")
    screen = Screen("report", "-i", path, locale="C", NO_COLOR="1", size=(100, 30))
    shown = screen.wait("plain", HINT)
    for key, what in (("f", "Flame graph"), ("q", "Samples:"), ("T", "Threads over time"), ("h", "Show this window")):
        screen.keys(key)
        shown = screen.wait(f"plain: {what}", what)
        report.check(f"ASCII: {what}", shown.isascii(), shown)
        colors = re.findall(r"\x1b\[[0-9;]*m", screen.capture("-e"))
        report.check(f"no colours: {what}", not any(re.search(r"[\[;](3|4|9|10)[0-7]\b|[34]8;", c) for c in colors), str(colors))
    for term in "xterm", "vt100", "linux", "screen":
        screen = Screen("report", "-i", path, TERM=term, size=(100, 30))
        screen.wait(f"TERM={term}", HINT)
        screen.keys("f")
        screen.wait(f"TERM={term}: flame graph", "Flame graph")


def resize():
    screen = Screen("report", "-i", recording("kernel"), size=(80, 24))
    screen.wait("the table", HINT)
    for cols, rows in ((200, 60), (40, 10), (10, 3), (1, 1), (80, 24)):
        for key in "Escape", "f", "T", "h":
            screen.keys(key)
            screen.tmux("resize-window", "-x", str(cols), "-y", str(rows))
            if cols >= 40:
                screen.wait(f"{cols}x{rows} {key}", lambda s: s.strip())
        screen.keys("x", "q")
    shown = screen.wait("after all sizes", lambda s: s.startswith("Samples:") and len(s.splitlines()) == 24)
    report.check("it fits", all(len(line) <= 80 for line in shown.splitlines()), shown)


def mouse():
    screen = Screen("report", "-f", "-i", demo(), TERM="xterm", size=(100, 30))
    screen.wait("the table", HINT)
    screen.type("\x1b[<0;30;7M\x1b[<0;30;7m")  # pressed and let go, at column 30, line 7: the fifth row
    screen.wait("a click selects", lambda _: "vfs_read" in screen.cursor())
    screen.keys("w")
    screen.wait("the clicked row", "Why it is called vfs_read")
    screen.keys("q", "Home")
    screen.type("\x1b[<65;30;7M")
    screen.wait("the wheel scrolls", lambda _: "ksys_read" in screen.cursor())


def restored():
    path = recording("kernel")
    for what, send, status in (("^C", lambda s: s.keys("C-c"), 0), ("q", lambda s: s.keys("q"), 0),
                               ("SIGTERM", lambda s: os.kill(s.pid(), signal.SIGTERM), 143),
                               ("SIGHUP", lambda s: os.kill(s.pid(), signal.SIGHUP), 129),
                               ("a crash", lambda s: os.kill(s.pid(), signal.SIGSEGV), 139)):
        screen = Screen("report", "-i", path)
        screen.wait("the table", HINT)
        send(screen)
        screen.ended(what, status)


def stopped():
    screen = Screen(shell=True, size=(100, 50))
    screen.wait("a shell", "$")
    screen.type(f"{SONDE} report -i {recording('kernel')}\n")
    before = screen.wait("the table", HINT)
    screen.keys("C-z")
    screen.wait("^Z stops it", lambda s: "Stopped" in s and HINT not in s)
    screen.type("clear; stty -a\n")
    held = screen.wait("the terminal is the shell's", lambda s: s.startswith("speed") and s.rstrip().endswith("$"))
    report.check("it echoes", " echo " in held and "-echo " not in held, held)
    screen.type("fg\n")
    screen.wait("fg draws it again", lambda s: s == before)
    screen.keys("Down", "q")
    screen.wait("and q ends it", lambda s: HINT not in s and s.rstrip().endswith("$"))
    screen.type("clear; stty -a\n")
    after = screen.wait("the terminal is given back", lambda s: s.startswith("speed") and "fg\n" not in s and s.rstrip().endswith("$"))
    settings = [text[text.index("speed"):] for text in (held, after)]
    report.check("as it was", settings[0] == settings[1], f"{held}\n{after}")


def text_where_it_should():
    path = recording("kernel")
    text = stdio(path)
    piped = support.run([SONDE, "report", "-i", path])
    report.check("a pipe gets text", piped.out.decode() == text, piped)
    forced = support.run([SONDE, "report", "--tui", "-i", path])
    report.check("--tui without a terminal says so", forced.out.decode() == text and
                 "--tui: the terminal browser needs a terminal" in forced.err, forced)
    config = os.path.join(folder.name, "config")
    with open(config, "w", encoding="utf-8") as f:
        f.write("[tui]\n\treport = off\n")
    plain = text.replace("\n\n", "\n")
    for what, args, env in (("TERM=dumb", (), {"TERM": "dumb"}), ("--stdio", ("--stdio",), {"TERM": "xterm"}),
                            ("tui.report", (), {"TERM": "xterm", "PERF_CONFIG": config}),
                            ("--json", ("--json",), {"TERM": "xterm"}), ("-D", ("-D",), {"TERM": "xterm"})):
        status, shown = support.on_terminal([SONDE, "--no-pager", "report", "-i", path, *args], **env)
        report.check(f"text with {what}", status == 0 and "\x1b[?1049h" not in shown and len(shown) > len(plain) // 4, shown[:300])


# ---- hostile names ----

def put_function(r, address, name):
    body = struct.pack("<QIHH", address, 0x1000, 1, 0) + pd.text(name)
    r.add(17, 0, body + r.tail(0, 0))


def hostile():
    r = pd.Recording()
    names = ["\x1b[2J\x1b[31mred", "rev\u202eersed", "bell\x07\r\n\tend", "wide漢字漢字", "zalgo\u0301\u0302", "x" * 60000,
             "\x1b]0;title\x07", "\x9b31mc1"]
    r.comm(7, "\x1b[7mco\u202emm")
    r.kernel(0xffffffff80000000, 0x1000000)
    for i, name in enumerate(names):
        address = 0xffffffff80001000 + i * 0x2000
        put_function(r, address, name)
        r.sample(7, address + 16, [pd.CONTEXT_KERNEL, address + 16, 0xffffffff80001010], misc=pd.KERNEL)
    path = os.path.join(folder.name, "hostile.data")
    r.write(path)
    for locale in "C.UTF-8", "C":
        screen = Screen("report", "-f", "-i", path, locale=locale, size=(100, 30))
        shown = screen.wait("hostile names", lambda s: HINT in s and s.startswith("Samples:"))
        for key, what in (("E", "Samples:"), ("f", "Flame graph"), ("T", "Threads over time"), ("q", "Samples:"), ("Enter", "Exit"),
                          ("Escape", "Samples:")):
            screen.keys(key)
            shown = screen.wait(f"hostile names: {what}", lambda s, w=what: w in s)
            report.check(f"harmless: {what}", not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown) and
                         all(len(line) <= 100 for line in shown.splitlines()), repr(shown))
        screen.keys("C", "Home")
        shown = screen.wait("escaped", "\\x1b[2J\\x1b[31mred")
        report.check("all are escaped", "\\u202e" in shown and "\\x07\\x0d\\x0a\\x09end" in shown and "zalgo\\u0301" in shown, shown)
        screen.keys("q")
        screen.ended("hostile names", 0)


def main():
    terminal.needed()
    for part in (same_as_text, names_have_room, keys, kernel_zoom, help_scrolls, events, hierarchy, annotated, printed, flame, times, looks, resize, mouse,
                 restored, stopped, text_where_it_should, hostile):
        if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
            part()
    if Screen.last:
        Screen.last.close()
    report.finish()


main()
