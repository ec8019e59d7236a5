#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program around the commands: help, usage, exit codes, the name perf, the pager, workloads, manual pages and
completion: cli_test.py SONDE GENERATED"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import support

SONDE = os.path.abspath(sys.argv.pop(1))
GENERATED = os.path.abspath(sys.argv.pop(1))
TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "man")
USAGE_EXIT = 129


class Run:
    """One run of sonde, its output as text."""

    def __init__(self, *args, program=None, env=None, **more):
        full = {k: v for k, v in support.ENV.items() if k not in ("PAGER", "PERF_PAGER")}
        r = support.run([program or SONDE, *args], env=dict(full, **(env or {})), **more)
        self.status, self.out, self.err = r.status, r.out.decode(), r.err


def commands():
    return Run("--list-cmds").out.split()


class Help(unittest.TestCase):
    def test_overview(self):
        for args in (["help"], ["--help"], ["-h"]):
            r = Run(*args)
            self.assertEqual((r.status, r.err), (0, ""))
            self.assertIn(" usage: sonde [--version] [--help] [OPTIONS] COMMAND [ARGS]", r.out)
            for c in commands():
                self.assertRegex(r.out, rf"(?m)^   {c} +\S")

    def test_nothing_to_do_is_an_error_with_the_overview(self):
        r = Run()
        self.assertEqual(r.status, 1)
        self.assertEqual(r.out, Run("help").out)

    def test_beside_a_recording_it_says_what_can_be_done(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "perf.data"), "w").close()
            r = Run(cwd=folder)
        self.assertEqual(r.status, 1)
        self.assertTrue(r.out.startswith(Run("help").out))
        for command in ("view", "report", "doctor perf.data"):
            self.assertIn(f"   sonde {command} ", r.out)

    def test_every_command(self):
        for c in commands():
            shown = Run("help", c)
            self.assertEqual((shown.status, shown.err), (0, ""), c)
            self.assertIn(f" Usage: sonde {c}", shown.out)
            for other in (Run(c, "--help"), Run("--help", c)):
                self.assertEqual((other.status, other.out), (0, shown.out), c)
            usage = Run(c, "-h")
            self.assertEqual((usage.status, usage.out), (USAGE_EXIT, ""), c)
            self.assertIn(f" Usage: sonde {c}", usage.err)
            for option in Run("--list-opts", c).out.split():
                self.assertIn(option, usage.err, c)

    def test_usage_of_chosen_options(self):
        r = Run("test", "-h", "workload")
        self.assertEqual(r.status, USAGE_EXIT)
        self.assertIn("--list-workloads", r.err)
        self.assertNotIn("--dso", r.err)

    def test_words_of_values(self):
        """Help, the manual and "-s help" list the same words."""
        for command, option, some in (("report", "sort", {"dso", "symbol_from", "grade", "local_ins_lat", "blocked"}),
                                      ("script", "fields", {"comm", "brstackinsn", "provenance"})):
            r = Run(command, f"--{option}", "help")
            self.assertEqual((r.status, r.err), (0, ""))
            words = [line.split()[0] for line in r.out.splitlines()]
            self.assertTrue(some <= set(words) and len(words) == len(set(words)), words)
            shown = " ".join(Run(command, "-h", option).err.split())
            self.assertIn(", ".join(words), shown)
            with open(os.path.join(GENERATED, "man1", f"sonde-{command}.1"), encoding="utf-8") as f:
                page = f.read().replace("\\-", "-")
            self.assertIn(", ".join(words) + ".", " ".join(page.split()))
            page = re.sub(r"\\f[BIR]", "", page)
            for line in r.out.splitlines():  # the meanings are the same, too
                word, *meaning = line.split(None, 1)
                self.assertIn("".join(f".TP\n{word}\n{m}\n" for m in meaning).replace("`", ""), page)
        self.assertRegex(Run("report", "-F", "help").out, r"(?m)^dso_from +the object that was branched from \(with --branch-stack\)$")

    def test_list_opts(self):
        self.assertIn("--buildid-dir", Run("--list-opts").out.split())
        self.assertEqual(Run("--list-opts", "version").out, "--build-options \n")
        self.assertEqual(Run("--list-opts", "nosuch").status, 1)


class Mistakes(unittest.TestCase):
    def test_unknown_command(self):
        r = Run("versoin")
        self.assertEqual((r.status, r.out), (USAGE_EXIT, ""))
        self.assertEqual(r.err.splitlines()[0],
                         "sonde: 'versoin' is not a sonde-command. Did you mean 'version'?")
        self.assertIn(" Usage: sonde ", r.err)
        r = Run("qqqqqqqq")
        self.assertEqual(r.status, USAGE_EXIT)
        self.assertNotIn("Did you mean", r.err)
        self.assertIn("'record'", Run("recrod").err)  # whether it is there yet or not, it is what was meant

    def test_commands_that_are_not_there_yet(self):
        perfs = """annotate archive bench buildid-cache buildid-list c2c check config daemon data diff evlist ftrace help
            inject iostat kallsyms kmem kvm kwork list lock mem probe record report sched script stat test timechart top
            trace version""".split()
        there = commands()
        for c in perfs:
            if c in there:
                continue
            r = Run(c, "-a", "--", "sleep", "1")
            self.assertEqual((r.status, r.out), (1, ""), c)
            self.assertRegex(r.err, rf"\Asonde {c} is not there yet.*\n\Z")

    def test_unknown_option(self):
        r = Run("version", "--build-optoins")
        self.assertEqual((r.status, r.out), (USAGE_EXIT, ""))
        self.assertEqual(r.err.splitlines()[-1],
                         " Error: unknown option `build-optoins', did you mean `--build-options'?")
        self.assertIn(" Usage: sonde version", r.err)
        r = Run("report", "--srot", "dso")  # what is wrong is not pushed out of sight by all options
        self.assertEqual((r.status, r.err.splitlines()[-1]),
                         (USAGE_EXIT, " Error: unknown option `srot', did you mean `--sort'?"))
        self.assertLess(len(r.err.splitlines()), 8)
        self.assertIn("See 'sonde report -h' for the options.", r.err)
        self.assertEqual(Run("version", "-x").status, USAGE_EXIT)
        r = Run("--nosuch", "version")
        self.assertEqual(r.status, USAGE_EXIT)
        self.assertIn("unknown option `nosuch'", r.err)
        self.assertEqual(Run("--buildid-dir").status, USAGE_EXIT)

    def test_unwanted_operand(self):
        self.assertEqual(Run("help", "version", "x").status, USAGE_EXIT)

    def test_broken_configuration_is_said_and_survived(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("[report\nchildren = true\n")
            f.flush()
            r = Run("version", env={"PERF_CONFIG": f.name})
        self.assertEqual((r.status, r.err), (0, f"bad config file line 1 in {f.name}\n"))


class Names(unittest.TestCase):
    def test_called_perf(self):
        with tempfile.TemporaryDirectory() as d:
            perf = os.path.join(d, "perf")
            os.symlink(SONDE, perf)
            self.assertEqual(Run("help", program=perf).out, Run("help").out.replace("sonde", "perf"))
            r = Run("version", "-h", program=perf)
            self.assertEqual(r.status, USAGE_EXIT)
            self.assertIn(" Usage: perf version", r.err)
            self.assertIn("perf: 'versoin' is not a perf-command.", Run("versoin", program=perf).err)
            self.assertRegex(Run("version", program=perf).out, r"\Aperf version 7\.[0-9.]+ \(sonde [0-9.]+\)\n\Z")

    def test_messages_name_the_commands_of_the_program(self):
        """As sonde they name sonde's, through a link named perf those of perf."""
        with tempfile.TemporaryDirectory() as d:
            perf = os.path.join(d, "perf")
            os.symlink(SONDE, perf)
            for name, program in (("sonde", SONDE), ("perf", perf)):
                r = Run("report", program=program, cwd=d)
                self.assertIn(f"(try '{name} record' first)", r.err)
                r = Run("record", "-e", "nosuch", "--", "true", program=program, cwd=d)
                self.assertIn(f"{name} list shows what there is", r.err)
                r = Run("record", "-h", "-e", program=program)
                self.assertIn(f"use '{name} list'", r.err)

    def test_version(self):
        for args in (["version"], ["--version"], ["-v"]):
            r = Run(*args)
            self.assertEqual(r.status, 0)
            self.assertRegex(r.out, r"\Asonde version [0-9.]+\n\Z")

    def test_build_options(self):
        lines = Run("version", "--build-options").out.splitlines()
        self.assertEqual(Run("-vv").out.splitlines(), lines)
        self.assertGreater(len(lines), 20)
        for line in lines[1:]:
            self.assertRegex(line, r"\A *\S{1,22}: \[ (on |OFF) \]  # HAVE_[A-Z0-9_]+( \( tip: .* \))?\Z")

    def test_kallsyms(self):
        with open("/proc/kallsyms") as f:
            lines = [line.split() for line in f]
        code = sorted((int(x[0], 16), x[2]) for x in lines if x[1] in "tTwW" and len(x) == 3)
        if not code or not code[-1][0]:
            self.skipTest("the kernel hides its addresses")
        name = "vfs_read" if any(x[1] == "vfs_read" for x in code) else code[len(code) // 2][1]
        starts = [at for at, n in code if n == name]
        ends = [next((at for at, _ in code if at > start), None) for start in starts]
        run = Run("kallsyms", f"{name},no.such.symbol")
        self.assertEqual(run.status, 1)
        found = run.out.splitlines()
        self.assertEqual(found[-1], "no.such.symbol: not found")
        for line, start, end in zip(found, starts, ends):
            place = f"0x{start:x}-0x{end:x}"
            self.assertEqual(line, f"{name}: [kernel] [kernel.kallsyms] {place} ({place})")
        self.assertEqual(len(found), len(starts) + 1)
        self.assertEqual(Run("kallsyms").status, USAGE_EXIT)

    def test_check_feature(self):
        state = dict(re.findall(r"(\S+): \[ (on |OFF) \]", Run("version", "--build-options").out))
        for name, on in state.items():
            r = Run("check", "feature", name)
            self.assertEqual(r.status, 0 if on == "on " else 1, name)
            self.assertIn(f"{name}: [ {on} ]", r.out)
            quiet = Run("check", "feature", "-q", name)
            self.assertEqual((quiet.status, quiet.out + quiet.err), (r.status, ""))
        both = Run("check", "feature", "ZSTD,have_libtraceevent")
        self.assertEqual(both.status, 0 if state["zstd"] == state["libtraceevent"] == "on " else 1)
        self.assertEqual(len(both.out.splitlines()), 2)
        r = Run("check", "feature", "nosuch")
        self.assertEqual((r.status, r.out), (1, ""))
        self.assertIn("Unknown feature 'nosuch'", r.err)
        for args, why in ((["check"], ""), (["check", "feature"], "name a feature"), (["check", "nosuch"], "nosuch"),
                          (["check", "feature", "zstd", "zlib"], "commas between them")):
            r = Run(*args)
            self.assertEqual(r.status, USAGE_EXIT)
            self.assertIn(why, r.err)

    def test_features_by_what_they_are_for(self):
        """Of what perf takes from a library and sonde does by itself, scripts ask by perf's names."""
        for name in ("dwarf-unwind", "libdw-dwarf-unwind", "libpython", "debuginfod", "HAVE_DWARF_UNWIND_SUPPORT"):
            self.assertEqual(Run("check", "-q", "feature", name).status, 0, name)


class Output(unittest.TestCase):
    def test_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            r = subprocess.run([SONDE, "help"], stdout=full, stderr=subprocess.PIPE, text=True, env=support.ENV,
                               check=False)
        self.assertEqual((r.returncode, r.stderr),
                         (1, "writing standard output failed: No space left on device\n"))

    def closed_pipe(self, handler):
        read_end, write_end = os.pipe()
        os.close(read_end)
        p = subprocess.run([SONDE, "help"], stdout=write_end, stderr=subprocess.PIPE, text=True, env=support.ENV,
                           check=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
        os.close(write_end)
        return p

    def test_a_reader_that_went_away_is_no_news(self):
        p = self.closed_pipe(signal.SIG_IGN)
        self.assertEqual((p.returncode, p.stderr), (1, ""))
        p = self.closed_pipe(signal.SIG_DFL)
        self.assertEqual((p.returncode, p.stderr), (-signal.SIGPIPE, ""))

    def on_terminal(self, *args, env=None):
        """The status and what a terminal shows."""
        return support.on_terminal([SONDE, *args], **{"PERF_PAGER": "sed s/^/paged:/", **(env or {})})

    def test_pager_on_a_terminal(self):
        version = Run("version").out
        paged = "".join("paged:" + line for line in version.splitlines(True))
        self.assertEqual(self.on_terminal("version"), (0, paged))
        self.assertEqual(self.on_terminal("--no-pager", "version"), (0, version))
        for none in ("", "cat"):
            self.assertEqual(self.on_terminal("version", env={"PERF_PAGER": none}), (0, version))
        self.assertEqual(Run("version", env={"PERF_PAGER": "sed s/^/paged:/"}).out, version)  # no terminal

    def test_long_help_on_a_terminal_is_paged(self):
        status, shown = self.on_terminal("report", "-h", "stdio")
        self.assertEqual(status, USAGE_EXIT)
        self.assertTrue(all(line.startswith("paged:") for line in shown.splitlines()), shown)
        self.assertIn("paged:        --stdio  ", shown)

    def test_a_pager_that_is_left_early_is_no_failure(self):
        data = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.PERIOD)
        for _ in range(5000):  # far more text than a pipe holds
            data.sample(7, 0x1000)
        with tempfile.NamedTemporaryFile() as f:
            f.write(data.data())
            f.flush()
            for command in (["script", "-f", "-i", f.name], ["report", "-f", "-D", "-i", f.name]):
                whole = Run(*command).out
                status, shown = self.on_terminal(*command, env={"PERF_PAGER": "head -n 1"})
                self.assertEqual((status, shown.splitlines()), (0, whole.splitlines()[:1]), command)

    def test_pager_configured(self):
        version = Run("version").out
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("[pager]\n version = false\n help = sed s/^/mine:/\n")
            f.flush()
            env = {"PERF_CONFIG": f.name}
            self.assertEqual(self.on_terminal("version", env=env), (0, version))
            self.assertEqual(self.on_terminal("-p", "version", env=env)[1][:6], "paged:")
            self.assertEqual(self.on_terminal("help", env=env)[1][:5], "mine:")


class Workloads(unittest.TestCase):
    SYMBOLS = """brstack_bar brstack_foo brstack_bench buf1 callchain_leaf callchain_a callchain_b callchain_c
        context_switch_loop_ping context_switch_loop_pong datasym deterministic_one deterministic_two
        deterministic_four inlineloop landlock leaf parent leafloop named_threads_work noploop sqrtloop test_loop
        thfunc traploop_trap""".split()

    def test_list(self):
        listed = Run("test", "--list-workloads").out.split()
        for name in "noploop thloop leafloop sqrtloop brstack datasym inlineloop traploop landlock jitdump".split():
            self.assertIn(name, listed)
        r = Run("test", "-w", "nosuch")
        self.assertEqual((r.status, r.err), (1, "No workload found: nosuch\n"))

    def test_those_that_end_by_themselves(self):
        for args in (["brstack", "1000"], ["traploop", "10"], ["landlock"], ["context_switch_loop", "10"],
                     ["named_threads", "2", "1000"], ["deterministic"]):
            r = Run("test", "-w", *args)
            self.assertEqual((r.status, r.out, r.err), (0, "", ""), args)
        self.assertEqual(Run("test", "-w", "brstack", "many").status, 1)

    def test_fractions_of_seconds(self):
        for args in (["noploop", "0.01"], ["thloop", "0.01", "3"], ["sqrtloop", "1e-2"]):
            r = Run("test", "-w", *args)
            self.assertEqual((r.status, r.out, r.err), (0, "", ""), args)
        for bad in ("0", "-1", "nan", "1s", ""):
            r = Run("test", "-w", "leafloop", "--", bad)
            self.assertEqual(r.status, 1, bad)
            self.assertIn("is not a number of seconds", r.err)
        self.assertEqual(Run("test", "-w", "thloop", "0.01", "0").status, 1)

    def test_jitdump(self):
        with tempfile.TemporaryDirectory() as d:
            r = Run("test", "-w", "jitdump", "0.01", cwd=d)
            if os.uname().machine not in ("x86_64", "aarch64"):
                self.assertEqual(r.status, 1)
                return
            self.assertEqual((r.status, r.out, r.err), (0, "", ""))
            name, = os.listdir(d)
            self.assertRegex(name, r"\Ajit-[0-9]+\.dump\Z")
            with open(os.path.join(d, name), "rb") as f:
                self.assertIn(b"jit_workload\0", f.read())

    def test_comm_and_end(self):
        """A workload is called as perf's is, and an interrupt ends a timed one as the clock would."""
        interrupt = 1 << (signal.SIGINT - 1)
        own = {"noploop": "perf-noploop", "inlineloop": "perf-inlineloop"}
        for name in "noploop thloop leafloop datasym inlineloop callchain".split():
            with subprocess.Popen([SONDE, "test", "-w", name, "90"], env=support.ENV) as p:
                try:
                    deadline = time.monotonic() + support.HANG_SECONDS
                    comm, handled = "", False
                    while time.monotonic() < deadline and not handled:
                        with open(f"/proc/{p.pid}/status", encoding="utf-8") as f:
                            status = f.read()
                        comm = re.search(r"Name:\t(.*)", status).group(1)
                        handled = int(re.search(r"SigCgt:\t(\w+)", status).group(1), 16) & interrupt
                    self.assertEqual(comm, own.get(name, os.path.basename(SONDE)))
                    p.send_signal(signal.SIGINT)
                    self.assertEqual(p.wait(support.HANG_SECONDS), 0, name)
                finally:
                    p.kill()

    def test_junit(self):
        with tempfile.TemporaryDirectory() as d:
            for option, words, name, count in (("-j", ["Symbols"], "test.xml", 1), ("--junit=a.xml", ["Symbols"], "a.xml", 1),
                                               ("-jb.xml", ["no such test"], "b.xml", 0), ("-jc.xml", [], "c.xml", 1)):
                r = Run("test", option, *words, cwd=d)
                self.assertEqual((r.status, r.err), (0, f"Wrote junit XML output to {name}\n"))
                suite, = xml.etree.ElementTree.parse(os.path.join(d, name)).getroot()
                self.assertEqual((suite.get("tests"), suite.get("failures"), len(suite)), (str(count), "0", count))
            r = Run("test", "-jd.xml", "--dso", "/a<b>&\"c", "Symbols", cwd=d)
            self.assertEqual(r.status, 1)
            case, = xml.etree.ElementTree.parse(os.path.join(d, "d.xml")).getroot()[0]
            self.assertEqual(case.get("name"), "Symbols")
            self.assertIn('/a<b>&"c: ', case[0].get("message"))
            self.assertEqual(Run("test", "-j/none/x.xml", "Symbols").status, 1)

    def test_symbols(self):
        r = Run("test", "-vv", "-F", "Symbols")
        self.assertEqual(r.status, 0)
        listed = re.findall(r"(?m)^ [0-9a-f]+-[0-9a-f]+ [glw] (\S+)$", r.out)
        for name in self.SYMBOLS:
            self.assertIn(name, listed)
        self.assertRegex(r.out, r"(?m)^  1: Symbols +: Ok$")
        self.assertNotIn("start", Run("test", "Symbols").out)
        with tempfile.NamedTemporaryFile("wb") as f:
            f.write(b"\x7fELF no more")
            f.flush()
            r = Run("test", "Symbols", "--dso", f.name)
        self.assertEqual(r.status, 1)
        self.assertIn("FAILED!", r.out)

    def test_list_tests(self):
        self.assertEqual(Run("test").out, Run("test", "list").out)
        self.assertIn("Symbols", Run("test").out)


class List(unittest.TestCase):
    def test_what_has_no_name(self):
        shown = Run("list").out
        self.assertRegex(shown, r"(?m)^  rNNN +\[Raw event descriptor.*\]$")
        self.assertRegex(shown, r"(?m)^  mem:<addr>\[/len\]\[:access\] +\[Hardware breakpoint\]$")
        self.assertIn("mem:<addr>", Run("list", "mem:").out)

    def test_nothing_matches(self):
        r = Run("list", "nosuchevent")
        self.assertEqual((r.status, r.out, r.err),
                         (0, "", "list: no event of this machine has 'nosuchevent' in its name\n"))
        self.assertEqual(Run("list", "context-switches").err, "")

    def test_names_only(self):
        names = Run("list", "--raw-dump", "sw").out
        self.assertIn("context-switches ", names)
        self.assertNotIn("[", names)

    def test_marks_of_cached_programs(self):
        """Notes as <sys/sdt.h> makes them, in a file of the build-id cache."""
        if not shutil.which("gcc"):
            self.skipTest("SKIP: gcc is not installed")
        note = r"""asm(".pushsection .note.stapsdt,\"\",@note\n.balign 4\n.4byte 2f-1f,4f-3f,3\n1: .asciz \"stapsdt\"\n2: .balign 4\n"
            "3: .8byte main,0,0\n.asciz \"prov\"\n.asciz \"begun\"\n.byte 0\n4: .balign 4\n.popsection"); int main() {}"""
        with tempfile.TemporaryDirectory() as d:
            with open(f"{d}/x.c", "w") as f:
                f.write(note)
            if subprocess.run(["gcc", "-Wl,--build-id", "-o", f"{d}/x", f"{d}/x.c"], capture_output=True).returncode:
                self.skipTest("SKIP: this gcc makes no such notes")
            self.assertNotIn("sdt_prov:begun", Run("--buildid-dir", f"{d}/cache", "list", "sdt").out)
            self.assertEqual(Run("--buildid-dir", f"{d}/cache", "buildid-cache", "-a", f"{d}/x").status, 0)
            self.assertRegex(Run("--buildid-dir", f"{d}/cache", "list", "sdt").out,
                             r"(?m)^  sdt_prov:begun +\[SDT event\]$")


class Generated(unittest.TestCase):
    """What the build makes from the tables."""

    def page(self, name):
        with open(os.path.join(GENERATED, "man1", name), encoding="utf-8") as f:
            return f.read()

    def test_every_command_has_a_page_and_a_text(self):
        program = self.page("sonde.1")
        for c in commands():
            self.assertTrue(os.path.exists(os.path.join(TEXTS, f"sonde-{c}.md")), f"man/sonde-{c}.md is missing")
            page = self.page(f"sonde-{c}.1")
            plain = page.replace("\\-", "-")
            self.assertIn(f"\nsonde-{c} - ", plain)
            for option in Run("--list-opts", c).out.split():
                self.assertIn(f"\\fB{option}\\fR", plain)
            self.assertIn(f".BR sonde\\-{c.replace('-', chr(92) + '-')} (1)", program)

    def test_pages_are_clean(self):
        if not shutil.which("groff"):
            self.skipTest("SKIP: groff is not installed")
        pages = [os.path.join(GENERATED, "man1", p) for p in sorted(os.listdir(os.path.join(GENERATED, "man1")))]
        r = support.run(["groff", "-man", "-ww", "-z", "-Tutf8", *pages])
        self.assertEqual((r.status, r.err), (0, ""))

    def complete(self, *words):
        line = " ".join(words)
        script = f"""source '{GENERATED}/sonde'
            COMP_LINE='{line}'; COMP_POINT={len(line)}; _sonde
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        r = support.run(["bash", "-c", script], env=self.with_sonde())
        self.assertEqual((r.status, r.err), (0, ""))
        return r.out.decode().split()

    @staticmethod
    def with_sonde():
        return dict(support.ENV, PATH=os.path.dirname(SONDE) + ":" + os.environ["PATH"])

    def test_bash_completion(self):
        if not shutil.which("bash"):
            self.skipTest("SKIP: bash is not installed")
        self.assertEqual(self.complete("sonde", "vers"), ["version"])
        self.assertTrue(set(commands()) <= set(self.complete("sonde", "")))
        self.assertEqual(self.complete("sonde", "--no-pager", "--buildid-dir", "x", "version", "--b"), ["--build-options"])
        self.assertEqual(self.complete("sonde", "help", "vers"), ["version"])
        self.assertEqual(self.complete("sonde", "evlist", "-i", "perf"), [])  # left to file names
        for c in commands():
            self.assertTrue(set(Run("--list-opts", c).out.split()) <= set(self.complete("sonde", c, "--")), c)

    def test_bash_completion_of_values(self):
        if not shutil.which("bash"):
            self.skipTest("SKIP: bash is not installed")
        keys = {line.split()[0] for line in Run("report", "-s", "help").out.splitlines()}
        self.assertEqual(set(self.complete("sonde", "report", "-s", "")), keys)
        self.assertEqual(self.complete("sonde", "report", "-s", "dso,sym"),
                         ["dso," + line.split()[0] for line in Run("report", "-s", "help").out.splitlines()
                          if line.startswith("sym")])
        self.assertEqual(self.complete("sonde", "report", "--sort=+local_w"), ["+local_weight"])  # after the "="
        self.assertEqual(self.complete("sonde", "script", "-F", "+prov"), ["+provenance"])
        self.assertEqual(self.complete("sonde", "script", "-F", "comm,-brstacki"),
                         ["comm,-brstackinsn", "comm,-brstackinsnlen"])
        self.assertIn("cycles,context-switches", self.complete("sonde", "record", "-e", "cycles,context"))
        self.assertEqual(self.complete("sonde", "list", "context-sw"), ["context-switches"])
        self.assertEqual(self.complete("sonde", "config", "report.chil"), ["report.children"])

    def test_bash_completion_from_the_recording(self):
        if not shutil.which("bash"):
            self.skipTest("SKIP: bash is not installed")
        with tempfile.TemporaryDirectory() as d:
            data, evil = f"{d}/x.data", "$(touch x)"
            os.symlink(shutil.which("true"), f"{d}/{evil}")
            r = support.run([SONDE, "record", "-q", "-e", "dummy,task-clock", "-c", "10000", "-o", data, "--", f"{d}/{evil}"])
            if r.status:
                self.skipTest("SKIP: nothing can be recorded here")
            found = self.complete("sonde", "report", "-i", data, "-c", "")
            self.assertIn("\\$\\(touch\\", found)  # as a shell takes it back, and not run
            self.assertFalse(os.path.exists("x"))
            self.assertTrue(any("ld-linux" in x for x in self.complete("sonde", "report", "-i", data, "-d", "ld-")))

    def test_fish_completion(self):
        if not shutil.which("fish"):
            self.skipTest("SKIP: fish is not installed")

        def complete(line):
            with tempfile.TemporaryDirectory() as home:
                r = support.run(["fish", "-c", f"source '{GENERATED}/sonde.fish'; complete -C '{line}'"],
                                env=dict(self.with_sonde(), HOME=home))
            self.assertEqual((r.status, r.err), (0, ""))
            return [x.split("\t")[0] for x in r.out.decode().splitlines()]
        self.assertEqual(complete("sonde vers"), ["version"])
        self.assertEqual(complete("sonde report -s dso,symbol_f"), ["dso,symbol_from"])
        self.assertEqual(complete("sonde report --sort=dso,symbol_f"), ["--sort=dso,symbol_from"])
        self.assertEqual(complete("sonde script -F +prov"), ["+provenance"])
        self.assertIn("context-switches", complete("sonde record -e context"))
        self.assertEqual(complete("sonde config report.chil"), ["report.children"])

    def test_other_shells(self):
        for shell, name in (("zsh", "_sonde"), ("fish", "sonde.fish")):
            path = os.path.join(GENERATED, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for c in commands():
                for option in Run("--list-opts", c).out.split():
                    self.assertIn(option if shell == "zsh" else f"-l {option[2:]}", text)
            if shutil.which(shell):
                r = support.run([shell, "-n", path])
                self.assertEqual((r.status, r.err), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
