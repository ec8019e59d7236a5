#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py FILE NAME HEADER OUT.c: a file's bytes as the C array NAME and its length NAME_size, declared in HEADER."""
import sys

path, name, header, out = sys.argv[1:]
with open(path, "rb") as f:
    data = f.read()
with open(out, "w", encoding="ascii") as f:
    f.write(f'/* Made by scripts/embed.py. */\n#include "{header}"\n\n')
    f.write(f"const size_t {name}_size = {len(data)};\nconst char {name}[] = {{\n")
    for i in range(0, len(data), 24):
        f.write(", ".join(str(b if b < 128 else b - 256) for b in data[i:i + 24]) + ",\n")
    f.write("0};\n")
