#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Something of everything, for about $1 seconds, on two CPUs: a compiler, an interpreter, pipes, and very short processes.
seconds=${1:-10}
end=$((SECONDS + seconds))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

compile() {
    printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' >"$dir/a.c"
    for i in $(seq 200); do
        echo "int f$i(int x) { int s = 0; for (int k = 0; k < x; k++) s += k * $i % (x + 1); return s; }"
    done >>"$dir/a.c"
    echo 'int main(void) { return f7(1000) == 3; }' >>"$dir/a.c"
    while [ $SECONDS -lt $end ]; do
        cc -O2 -o "$dir/a" "$dir/a.c" && "$dir/a"
    done
}

interpret() {
    while [ $SECONDS -lt $end ]; do
        python3 -c 'd = {}
for i in range(200000):
    d[str(i * 7919 % 100003)] = d.get(str(i % 1000), 0) + 1
print(len(sorted(d)))'
        find /usr/lib -name "*.so*" 2>/dev/null | sort | cksum
        tar cf - /etc 2>/dev/null | gzip -1 | wc -c
    done
}

spawn() {
    while [ $SECONDS -lt $end ]; do
        for f in /etc/*; do
            basename "$f"
            env true
        done
    done
}

compile >/dev/null 2>&1 &
interpret >/dev/null 2>&1 &
spawn >/dev/null 2>&1 &
wait
