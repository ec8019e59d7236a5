# SPDX-License-Identifier: Apache-2.0
"""Texts of `report` in which the order of equals does not matter (docs/differences.md, rule `order-of-equals`).

Rows that follow each other with one percentage are sorted by their text, each as a block: with its call graph, and with what lies
below it in a hierarchy. Branches of a graph likewise, whose lines ("|") depend on the order and are left out. A text has no
periods: that rows of one percentage stand in the order of their periods the tests with --json see to.
"""
import itertools
import re

ROW = re.compile(r" +\d+\.\d\d%")
BRANCH = re.compile(r"[ |]*--(\d+\.\d\d)%--(.*)")
LINES = re.compile(r"[ |]*")


class Block:
    """A row or a branch, and what stands below it."""

    def __init__(self, column, share, text):
        self.column, self.share, self.lines, self.below = column, share, [text], []

    def text(self):
        return "\n".join(self.lines + settled(self.below))


def settled(blocks):
    """The blocks' texts, equals in the order of these."""
    return [text for _, run in itertools.groupby(blocks, lambda block: block.share) for text in sorted(b.text() for b in run)]


def settle_graph(lines):
    """What stands below a row: frames, and branches with frames of their own."""
    root = Block(-1, None, "")
    path = [root]
    for line in lines:
        m = BRANCH.match(line)
        if m:
            column = line.index("--" + m[1])
            while path[-1].column >= column:
                path.pop()
            path[-1].below.append(Block(column, m[1], f"{column} {m[1]} {m[2]}"))
            path.append(path[-1].below[-1])
        elif LINES.sub("", line, 1):
            path[-1].lines.append(LINES.sub("", line, 1))
    return root.lines[1:] + settled(root.below)


def settle(text):
    """The text, as described above."""
    out, root, graph = [], Block(0, None, ""), None
    path = [root]

    def end_table():
        out.extend(settled(root.below))
        root.below.clear()
        del path[1:]

    def end_row():
        if graph:
            path[-1].lines.extend(settle_graph(graph))

    for line in text.split("\n"):
        m = ROW.match(line)
        if m:
            end_row()
            graph = []
            while path[-1].column >= m.end():
                path.pop()
            path[-1].below.append(Block(m.end(), m[0].strip(), line))
            path.append(path[-1].below[-1])
        elif graph is not None and not line.startswith("#"):
            graph.append(line)
        else:
            end_row()
            graph = None
            end_table()
            out.append(line)
    end_row()
    end_table()
    return "\n".join(out)
