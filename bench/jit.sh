#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code made at run time, many functions of it: bench/jit.sh [BUILD [FUNCTIONS]]
#
#   PERF   the perf to compare with (default: the one in the PATH), with 5,000 functions, as it takes long
#
# Plain figures, nothing is asserted: elapsed and CPU seconds. x86-64, and a kernel that lets us record.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../build}" && pwd)
count=${2:-175000}
sonde=$build/sonde
perf=${PERF:-perf}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc -O2 -I"$here/../include" -o "$dir/jit_functions" "$here/jit_functions.c"

timed() { # LABEL COMMAND...
    local label=$1 times
    shift
    times=$({ TIMEFORMAT='%R %U %S'; time "$@" >/dev/null 2>"$dir/err"; } 2>&1) || { echo "$label: failed: $(tail -1 "$dir/err")"; return; }
    printf '%-44s %s\n' "$label" "$(echo "$times" | awk '{printf "%7.2f s elapsed %7.2f s CPU", $1, $2 + $3}')"
}

make() { # FUNCTIONS
    mkdir "$dir/$1"
    cd "$dir/$1"
    "$sonde" record -q -e cpu-clock:u -k mono -o jit.data -- "$dir/jit_functions" "$1"
    echo "$1 functions: $(cat jit-*.dump | wc -c) bytes of jitdump, $("$sonde" script -i jit.data -F ip | wc -l) samples"
}

make "$count"
timed "sonde report" "$sonde" report -i jit.data --stdio
timed "sonde script" "$sonde" script -i jit.data
timed "sonde inject --jit" "$sonde" inject --jit -i jit.data -o injected.data
echo "$(ls jitted-* | wc -l) file(s), $(cat jitted-* | wc -c) bytes"
timed "sonde report of the injected file" "$sonde" report -i injected.data --stdio
make 5000
timed "sonde inject --jit" "$sonde" inject --jit -i jit.data -o injected.data
rm -f jitted-*
if command -v "${perf%% *}" >/dev/null; then
    timed "perf inject --jit" $perf inject --jit -i jit.data -o theirs.data
    echo "$(ls jitted-* | wc -l) file(s)"
    timed "perf report of that" $perf report -i theirs.data --stdio
fi
