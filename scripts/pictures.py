#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py BUILD: makes the pictures of README (docs/pictures) anew: sonde, recorded while it reads recordings, in its
page and in the terminal browser. Wants chromium, tmux, and web/node_modules (npm ci --prefix web)."""
import glob
import html
import os
import re
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(TOP, "docs", "pictures")
COLUMNS, LINES = 110, 32
COLOURS = ["#1c1c1c", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d0d0"]


def shoot(url, name, width, height, *keys):
    path = os.path.join(OUT, name)
    subprocess.run(["node", "test/picture.mjs", url, path, str(width), str(height), *keys], cwd=os.path.join(TOP, "web"), check=True)
    print(f"{path}: {os.path.getsize(path)} bytes")


def colour(number):
    if number < 8:
        return COLOURS[number]
    if number < 16:
        return COLOURS[number - 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    n = number - 16
    return "#" + "".join(f"{(0 if x == 0 else 55 + 40 * x):02x}" for x in (n // 36, n // 6 % 6, n % 6))


def style(codes, now):
    """The style after some SGR codes."""
    codes, i = [int(c or 0) for c in codes.split(";")], 0
    while i < len(codes):
        c = codes[i]
        if c == 0:
            now = {}
        elif c in (1, 2, 4, 7):
            now = dict(now, **{{1: "bold", 2: "dim", 4: "under", 7: "reverse"}[c]: True})
        elif c == 27:
            now = dict(now, reverse=False)
        elif 30 <= c < 38 or 40 <= c < 48:
            now = dict(now, **{"fg" if c < 38 else "bg": colour(c % 10)})
        elif 90 <= c < 98:
            now = dict(now, fg=colour(c - 90))
        elif c in (38, 48) and codes[i + 1:i + 2] == [5]:
            now = dict(now, **{"fg" if c == 38 else "bg": colour(codes[i + 2])})
            i += 2
        elif c in (39, 49):
            now = {k: v for k, v in now.items() if k != ("fg" if c == 39 else "bg")}
        i += 1
    return now


def terminal_page(text):
    """What tmux captured, as a page."""
    rows = []
    now = {}
    for line in text.split("\n")[:LINES]:
        row = ""
        for piece in re.split(r"(\x1b\[[\d;]*m)", line):
            if piece.startswith("\x1b["):
                now = style(piece[2:-1], now)
            elif piece:
                fg, bg = now.get("fg", "#d0d0d0"), now.get("bg", "transparent")
                if now.get("reverse"):
                    fg, bg = ("#1c1c1c" if bg == "transparent" else bg), fg
                css = f"color:{fg};background:{bg};" + "font-weight:bold;" * bool(now.get("bold")) + \
                    "opacity:.6;" * bool(now.get("dim")) + "text-decoration:underline;" * bool(now.get("under"))
                row += f'<span style="{css}">{html.escape(piece)}</span>'
        rows.append(row)
    return ('<!doctype html><meta charset="utf-8"><body style="margin:0;background:#1c1c1c"><pre style="margin:14px;'
            'font:14px/18px \'DejaVu Sans Mono\',monospace">' + "\n".join(rows) + "</pre>")


def main(build):
    sonde = os.path.abspath(os.path.join(build, "sonde"))
    recordings = sorted(glob.glob(os.path.join(TOP, "tests", "recordings", "*.data")))
    os.makedirs(OUT, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data, page = os.path.join(folder, "perf.data"), os.path.join(folder, "page.html")
        work = "; ".join(f"'{sonde}' {command} -i '{r}' >/dev/null 2>&1" for r in recordings
                         for command in ("report", "script", "export folded", "inject -b -o /dev/null"))
        subprocess.run([sonde, "record", "-q", "-F", "5000", "-g", "-o", data, "--", "sh", "-c", f"for i in 1 2 3; do {work}; done"], check=True)
        subprocess.run([sonde, "view", "-q", "-o", page, data], check=True)
        shoot("file://" + page, "page.png", 1280, 760, *["ArrowDown"] * 4)
        subprocess.run(["tmux", "-L", "sonde-pictures", "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES),
                        f"TERM=screen-256color '{sonde}' report --tui --no-children -i '{data}'"], check=True)
        time.sleep(3)
        subprocess.run(["tmux", "-L", "sonde-pictures", "send-keys", "Enter", "Escape", "Down", "+"], check=True)
        time.sleep(1)
        shown = subprocess.run(["tmux", "-L", "sonde-pictures", "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True).stdout
        subprocess.run(["tmux", "-L", "sonde-pictures", "kill-server"], check=False)
        with open(os.path.join(folder, "terminal.html"), "w", encoding="utf-8") as f:
            f.write(terminal_page(shown))
        shoot("file://" + os.path.join(folder, "terminal.html"), "terminal.png", 960, 606)


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
