#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/TRUTH.md: every case, recorded and read by sonde and by two perfs.

table.py SONDE [--perf PROGRAM] [--newest PROGRAM] [--case TEXT]...

PROGRAM is a command with perf's `record` and `script`; one that is not there leaves its columns out. Behind the table: the
sums; what sonde names wrongly in recordings of others, and its grade; which cases were recorded again, as their recorder
died; which were not recorded.
"""
import argparse
import collections
import os
import shlex
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import truth  # noqa: E402

NO_ID = ", no build-id"
Column = collections.namedtuple("Column", "title recorder reader")


def parse():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("sonde")
    p.add_argument("--perf", default="perf")
    p.add_argument("--newest", default="")
    p.add_argument("--case", action="append", default=[])
    return p.parse_args()


def there(program):
    words = shlex.split(program)
    return bool(words and shutil.which(words[0]))


def columns(o):
    sonde = os.path.abspath(o.sonde)
    found = [Column("sonde", sonde, sonde)]
    for title, program in (("perf", o.perf), ("newest perf", o.newest)):
        if not there(program):
            continue
        found.append(Column(title, program, program))
        if program == o.perf and there(o.newest):
            found.append(Column(f"newest perf reads {title}'s", program, o.newest))
        found.append(Column(f"sonde reads {title}'s", program, sonde))
        found.append(Column(f"sonde --strict reads {title}'s", program, sonde + "::--strict"))
    return found


def cell(score):
    if isinstance(score, str):
        return score
    if isinstance(score, Exception):
        return "(failed)"
    return " / ".join(f"{score.percent(n):.0f}" for n in (score.right, sum(score.wrong.values()), score.refused))


def score_case(case, found, top, built, notes):
    """{column title: score, or why there is none}."""
    scores = {}
    for recorder in dict.fromkeys(c.recorder for c in found):
        mine = [c for c in found if c.recorder == recorder]
        try:
            got, died, _ = truth.run(recorder, [c.reader for c in mine], case, os.path.join(top, "case"), built,
                                  recorder != found[0].recorder)
            if died:
                notes.append(f"{case.name}: recorded again by {mine[0].title}, which died {died} times")
        except cases.Skip as e:
            return str(e)
        except (RuntimeError, truth.subprocess.SubprocessError, OSError) as e:
            notes.append(f"{case.name}: not recorded by {mine[0].title}: {e}")
            got = ["(lost)"] * len(mine)
        scores.update({c.title: s for c, s in zip(mine, got)})
    return scores


def main():
    o = parse()
    found, notes, rows = columns(o), [], {}
    shown = [c for c in found if "--strict" not in c.title]
    top = tempfile.mkdtemp(prefix="sonde-truth-")
    built = {"": os.path.join(top, "built")}
    os.makedirs(built[""])
    try:
        for case in (c for c in cases.CASES if not c.late and (not o.case or any(text in c.name for text in o.case))):
            scores = score_case(case, found, top, built, notes)
            if isinstance(scores, str):
                notes.append(f"{case.name}: not run: {scores}")
            else:
                rows[case.name] = scores
            print(".", end="", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print("\n| what happened | " + " | ".join(c.title for c in shown) + " |\n|---|" + "---|" * len(shown))
    for name in dict.fromkeys(n.removesuffix(NO_ID) for n in rows):
        pair = [rows[n] for n in (name, name + NO_ID) if n in rows]
        texts = [list(dict.fromkeys(cell(p[c.title]) for p in pair)) for c in shown]
        print(f"| {name} | " + " | ".join(" · ".join(t) for t in texts) + " |")
    total(found, rows)
    wrong(found, rows)
    for note in notes:
        print("- " + note)


def total(found, rows):
    print("\n| all samples | right | wrong | refused |\n|---|---|---|---|")
    for c in found:
        scores = [r[c.title] for r in rows.values() if not isinstance(r[c.title], (str, Exception))]
        print(f"| {c.title} | {sum(s.right for s in scores)} | {sum(sum(s.wrong.values()) for s in scores)} | "
              f"{sum(s.refused for s in scores)} |")


def wrong(found, rows):
    """What sonde got wrong, and how much of it under the grade exact."""
    print()
    for c in (c for c in found if c.title.startswith("sonde") and "--strict" not in c.title):
        strict = next((s.title for s in found if s.recorder == c.recorder and "--strict" in s.title), c.title)
        for name, r in rows.items():
            s, exact = r[c.title], r[strict]
            if not isinstance(s, (str, Exception)) and s.wrong:
                n = "?" if isinstance(exact, (str, Exception)) else sum(exact.wrong.values())
                print(f"- {c.title}: {name}: {sum(s.wrong.values())} of {s.judged} wrong, {n} of them graded exact")


if __name__ == "__main__":
    main()
