#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stat --vs: commands run by turns and judged. How long anything takes is never looked at, only what it means that one of them
works three times as much: stat_vs_test.py SONDE"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support

SONDE = os.path.abspath(sys.argv.pop(1))
USAGE_EXIT = 129
REGRESSION, NOT_JUDGED = 1, 2
NOTES = ("only times are compared", "only user space is counted")  # where not everything may be counted
TIMES = ["cpu time", "elapsed time", "user time", "system time"]


def work(times):
    return [sys.executable, "-S", "-c", f"for i in range({times} * 400000): pass"]


def text_of(argv):
    return " ".join(f"'{w}'" for w in argv)


def vs(*args, **more):
    r = support.run([SONDE, "stat", *args], env=support.ENV, **more)
    said = [line for line in r.err.splitlines(True) if not any(note in line for note in NOTES)]
    return r.status, r.out.decode(), "".join(said)


class Versus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "runs")

    def judged(self, *args, status=0):
        got, out, err = vs("-j", *args)
        self.assertEqual((got, err), (status, ""))
        return json.loads(out)

    def lines(self):
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="utf-8") as f:
            return f.read().split("\n")[:-1]

    def writes(self, word):
        """A command that leaves a word, and how large its environment was."""
        return ["sh", "-c", f"echo {word} ${{#SONDE_PADDING}} >>{self.file}"]

    def test_three_times_the_work(self):
        args = ["-r", "16", "--vs", text_of(work(3)), "--", *work(1)]
        r = self.judged("--gate", *args, status=REGRESSION)
        self.assertTrue(r["regression"])
        cpu = r["comparisons"][0]["measures"][0]
        self.assertEqual((cpu["name"], cpu["verdict"], cpu["primary"]), ("cpu time", "more", True))
        self.assertGreater(cpu["low"], 1)
        self.assertLess(cpu["low"], cpu["ratio"])
        self.assertLess(cpu["ratio"], cpu["high"])
        self.assertGreater(cpu["b"], cpu["a"])
        self.assertEqual((r["pairs"], r["end"]), (16, "pairs"))
        status, out, err = vs(*args)  # without --gate that is no failure
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^ cpu time +[0-9.]+ .?s +[0-9.]+ .?s +[0-9.]+ \([0-9.]+ to [0-9.]+\) +B (is [0-9.]+ % slower"
                              r"|takes [0-9.]+ times as long) \([0-9.]+ to [0-9.]+.*\)$")
        self.assertIn(" 16 pairs in ", out)
        faster = ["-r", "16", "--gate", "--vs", text_of(work(1)), "--", *work(3)]
        self.assertEqual(self.judged(*faster)["comparisons"][0]["measures"][0]["verdict"], "less")
        self.assertFalse(self.judged("--gate=900%", *args)["regression"])

    def test_form(self):
        r = self.judged("-r", "8", "-e", "cpu-migrations", "--vs", "true", "--vs", "true | cat", "--", "true")
        self.assertEqual(r["version"], 1)
        self.assertEqual(r["commands"], [{"command": "true", "shell": False}, {"command": "true", "shell": False},
                                         {"command": "true | cat", "shell": True}])
        self.assertEqual([(c["command"], c["against"]) for c in r["comparisons"]], [(1, 0), (2, 0)])
        self.assertEqual((r["level"], r["until"]), (0.95, 0.01))
        for c in r["comparisons"]:
            self.assertEqual([m["name"] for m in c["measures"]][:4], TIMES)
            self.assertEqual([m["primary"] for m in c["measures"]][:4], [True, True, False, False])
            for m in c["measures"]:
                if m["counted"]:
                    self.assertIn(m["verdict"], ("too few pairs", "no difference seen", "less", "more"))
                    self.assertTrue(0 <= m["p"] <= 1 and m["low"] <= m["ratio"])
        names = [m["name"] for m in r["comparisons"][0]["measures"]]
        if len(names) > 4:  # something may be counted here
            self.assertEqual(names[-1], "cpu-migrations")
        status, out, err = vs("-r", "8", "--vs", "true", "--vs", "true | cat", "--", "true")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("\n A: true\n B: true\n C: true | cat\n C needs a shell, whose start is measured too.\n", out)
        self.assertIn("   B/A\n", out)
        self.assertIn("   C/A\n", out)

    def test_null_compares_times(self):
        r = self.judged("-n", "-r", "7", "--vs", "true", "--", "true")
        self.assertEqual([m["name"] for m in r["comparisons"][0]["measures"]], TIMES)

    def test_too_few(self):
        status, out, err = vs("-r", "2", "--gate", "--vs", "true", "--", "true")
        self.assertEqual((status, err), (NOT_JUDGED, ""))
        self.assertIn("too few pairs to tell", out)
        r = self.judged("-r", "2", "--vs", "true", "--", "true")
        cpu = r["comparisons"][0]["measures"][0]
        self.assertEqual((cpu["verdict"], cpu["high"], cpu["visible"]), ("too few pairs", None, None))

    def test_budget(self):
        r = self.judged("--for", "1ms", "--vs", "true", "--", "true")
        self.assertEqual((r["end"], r["pairs"]), ("time", 0))
        r = self.judged("--for", "3s", "--until", "90%", "--vs", "true", "--", "true")
        self.assertIn(r["end"], ("precise", "time"))
        self.assertEqual(r["until"], 0.9)

    def test_runs(self):
        """Order and environment change; the first round does not count; nothing comes in, and no output out."""
        r = self.judged("-r", "24", "--vs", text_of(self.writes("b")), "--", *self.writes("a"))
        runs = [line.split() for line in self.lines()]
        self.assertEqual(r["pairs"], 24)
        self.assertEqual(len(runs), 2 * 25)
        rounds = {runs[i][0] + runs[i + 1][0] for i in range(0, len(runs), 2)}
        self.assertEqual(rounds, {"ab", "ba"})
        self.assertGreater(len({size for _, size in runs}), 10)
        talk = ["sh", "-c", "cat; echo said; echo failed >&2"]
        status, out, err = vs("-r", "3", "--vs", text_of(talk), "--", "true", stdin=b"typed")
        self.assertEqual(status, 0)
        self.assertNotIn("said\n", out.replace(text_of(talk), ""))
        self.assertNotIn("typed", out)
        self.assertEqual(err, "failed\n")  # once, so that the reason of a failure is seen

    def test_hooks_and_output(self):
        count = f"echo x >>{self.file}"
        report = self.file + ".txt"
        status, out, err = vs("-r", "3", "--pre", count, "--post", count, "-o", report, "--vs", "true", "--", "true")
        self.assertEqual((status, out, err), (0, "", ""))
        self.assertEqual(len(self.lines()), 2 * 2 * 4)
        with open(report, encoding="utf-8") as f:
            self.assertIn("\n cpu time ", f.read())

    def test_failures(self):
        why = "false: ended with status 1, so that its times mean little; --ignore-status counts them nevertheless\n"
        for gate, want in (([], 1), (["--gate"], NOT_JUDGED)):
            self.assertEqual(vs(*gate, "-r", "3", "--vs", "false", "--", "true"), (want, "", why))
            status, out, err = vs(*gate, "-r", "3", "--vs", "/no/such/program", "--", "true")
            self.assertEqual((status, out), (want, ""))
            self.assertIn("/no/such/program: cannot run the command", err)
        self.assertEqual(vs("--quiet", "-r", "3", "--ignore-status", "--vs", "false", "--", "true")[0], 0)

    def test_mistakes(self):
        for args in (["--vs", "true"], ["--until", "1%", "--", "true"], ["--gate", "--", "true"],
                     ["--for", "1s", "--", "true"], ["--ignore-status", "--", "true"],
                     ["-a", "--vs", "true", "--", "true"], ["-I", "100", "--vs", "true", "--", "true"],
                     ["-x", ",", "--vs", "true", "--", "true"], ["-d", "--vs", "true", "--", "true"],
                     ["-e", "task-clock", "-G", "x", "--vs", "true", "--", "true"], ["-r", "0", "--vs", "true", "--", "true"],
                     ["--until", "x", "--vs", "true", "--", "true"], ["--until", "0", "--vs", "true", "--", "true"],
                     ["--for", "1y", "--vs", "true", "--", "true"], ["--for", "-1s", "--vs", "true", "--", "true"],
                     ["--gate=x", "--vs", "true", "--", "true"], ["--vs", "", "--", "true"],
                     ["--vs", "a 'b", "--", "true"]):
            status, out, err = vs(*args)
            self.assertEqual((status, out), (USAGE_EXIT, ""), (args, err))
            self.assertTrue(err)

    def test_interrupted(self):
        """What there is, is judged."""
        p = subprocess.Popen([SONDE, "stat", "-j", "--for", "1h", "--until", "0.000001%", "--vs", text_of(self.writes("b")),
                              "--", *self.writes("a")], env=support.ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        try:
            while p.poll() is None and len(self.lines()) < 40:
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            out, err = p.communicate(timeout=support.HANG_SECONDS)
        finally:
            p.kill()
        self.assertEqual(p.returncode, 130, err)
        r = json.loads(out)
        self.assertEqual(r["end"], "stopped")
        self.assertGreaterEqual(r["pairs"], 18)


if __name__ == "__main__":
    unittest.main(verbosity=1)
