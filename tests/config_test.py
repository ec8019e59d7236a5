#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sonde config: files read and written, what is unknown named: config_test.py SONDE"""
import os
import re
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
USAGE_EXIT = 129


class Config(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        self.file = os.path.join(self.home.name, ".perfconfig")

    def config(self, *args, **env):
        full = {k: v for k, v in support.ENV.items() if k not in ("PAGER", "PERF_PAGER", "PERF_CONFIG")}
        r = support.run([SONDE, "config", *args], env=dict(full, HOME=self.home.name, **env))
        return r.status, r.out.decode(), r.err

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, path=None):
        with open(path or self.file, encoding="utf-8") as f:
            return f.read()

    def test_set_get_list_unset(self):
        self.assertEqual(self.config("report.children=false", "call-graph.order=caller"), (0, "", ""))
        self.assertEqual(self.read(), "[report]\n\tchildren = false\n[call-graph]\n\torder = caller\n")
        self.assertEqual(self.config("report.children"), (0, "report.children=false\n", ""))
        self.assertEqual(self.config("--user", "-l"), (0, "report.children=false\ncall-graph.order=caller\n", ""))
        self.assertEqual(self.config("--user")[1], self.config("--user", "-l")[1])
        self.assertEqual(self.config("report.group"), (0, "", ""))  # not set
        self.assertEqual(self.config("--unset", "report.children"), (0, "", ""))
        self.assertEqual(self.config("--user", "-l"), (0, "call-graph.order=caller\n", ""))

    def test_what_is_there_stays(self):
        self.write("# mine\n[report]\n  children = yes ; really\n\n[colors]\n\ttop = red, default\n")
        os.chmod(self.file, 0o600)
        self.assertEqual(self.config("report.children=no", "report.group=no"), (0, "", ""))
        self.assertEqual(self.read(), "# mine\n[report]\n  children = no ; really\n\tgroup = no\n\n[colors]\n\ttop = red, default\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        self.assertEqual(os.listdir(self.home.name), [".perfconfig"])  # nothing half done

    def test_through_a_link(self):
        real = os.path.join(self.home.name, "real")
        os.symlink(real, self.file)
        with open(real, "w", encoding="utf-8"):
            pass
        self.assertEqual(self.config("report.children=no")[0], 0)
        self.assertTrue(os.path.islink(self.file))
        self.assertEqual(self.read(real), "[report]\n\tchildren = no\n")

    def test_unknown_is_named(self):
        self.write("[report]\n\tchldren = no\n[qq]\n\tzz = red\n")
        status, out, err = self.config("--user", "-l")
        self.assertEqual((status, out), (0, "report.chldren=no\nqq.zz=red\n"))
        self.assertEqual(err, "sonde reads no variable report.chldren: did you mean report.children?\n"
                              "sonde reads no variable qq.zz\n")
        self.assertEqual(self.config("report.chldren=yes"),
                         (0, "", "sonde reads no variable report.chldren: did you mean report.children?\n"))
        self.assertIn("chldren = yes", self.read())  # perf may read it

    def test_refused(self):
        for words, why in ((["report.children=maybe"], "report.children is true or false, not 'maybe'"),
                           (["record.build-id=keep"], "record.build-id is one of cache|no-cache|skip|mmap, not 'keep'"),
                           (["nope"], "The config variable does not contain a section name: nope"),
                           (["x=1"], "The config variable does not contain a section name: x"),
                           (["report.children="], "The config variable does not contain a value: report.children=")):
            status, out, err = self.config(*words)
            self.assertEqual((status, out, err), (USAGE_EXIT, "", why + "\n"), words)
        self.assertFalse(os.path.exists(self.file))
        # All or nothing.
        self.assertEqual(self.config("report.group=no", "report.children=maybe")[0], USAGE_EXIT)
        self.assertFalse(os.path.exists(self.file))
        for words in (["--user", "--system", "-l"], ["-l", "a.b"], ["--unset"], ["--keys", "a.b"]):
            self.assertEqual(self.config(*words)[0], USAGE_EXIT, words)

    def test_damaged_file(self):
        self.write("[report]\nchildren = no\nfoo bar\n")
        line = f"bad config file line 3 in {self.file}\n"
        self.assertEqual(self.config("--user", "-l"), (1, "report.children=no\n", line * 2))
        before = self.read()
        status, out, err = self.config("report.group=no")
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(err.endswith(line))
        self.assertEqual(self.read(), before)

    def test_other_file(self):
        other = os.path.join(self.home.name, "other")
        self.assertEqual(self.config("report.children=no", PERF_CONFIG=other), (0, "", ""))
        self.assertEqual(self.config("-l", PERF_CONFIG=other), (0, "report.children=no\n", ""))
        self.assertEqual(self.config("-l", PERF_CONFIG="/dev/null"), (0, "", ""))
        self.assertFalse(os.path.exists(self.file))
        self.assertEqual(self.config("--user", "report.group=no", PERF_CONFIG=other), (0, "", ""))
        self.assertEqual(self.read(), "[report]\n\tgroup = no\n")
        status, _, err = self.config("report.group=no", PERF_CONFIG=self.home.name + "/none/x")
        self.assertEqual(status, 1)
        self.assertIn("/none/x: cannot write: No such file or directory", err)

    def test_table(self):
        """Every variable that the source reads is in the table, and the other way round."""
        status, out, err = self.config("--keys")
        self.assertEqual((status, err), (0, ""))
        listed = {line.split()[0] for line in out.splitlines()}
        read = set()
        for folder, _, names in os.walk(SOURCE):
            for name in names:
                if not name.endswith(".c") or name.endswith("_test.c") or name == "config_keys.c":
                    continue
                text = self.read(os.path.join(folder, name))
                if "perfconfig_" in text:
                    read |= set(re.findall(r'"([a-z][a-z-]*\.[a-z][a-z_-]*(?:\.[a-z_-]+)?)"', text))
                    read |= {"pager.CMD"} if '"pager.%s"' in text else set()
        self.assertEqual(listed, read - {"perf.data"})
        self.config("report.children=no")
        self.assertRegex(self.config("--keys", PERF_CONFIG=self.file)[1], r"(?m)^report\.children +no .*\(default: true\)$")


if __name__ == "__main__":
    unittest.main(verbosity=1)
