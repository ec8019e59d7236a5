#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sonde against perf, side by side in one run: bench/run.sh [BUILD]
#
#   PERF           the perf to compare with (default: the one in the PATH)
#   BENCH_FILE     the recording to read (default: one made here with perf record, of a mixed workload of 10 s)
#   BENCH_PAIRS    runs of each (default 5)
#
# Plain figures, nothing is asserted: CPU seconds (user + system) and their ratio, sonde / perf, and the largest
# anonymous memory. Nothing else should run meanwhile.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build}
build=$(cd "$build" && pwd)
sonde=$build/sonde
perf=${PERF:-perf}
pairs=${BENCH_PAIRS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ -z "${BENCH_FILE:-}" ]; then
    command -v "${perf%% *}" >/dev/null || { echo "SKIP: no perf to compare with or to record with (set PERF, BENCH_FILE)"; exit 0; }
    BENCH_FILE=$dir/bench.data
    echo "recording 10 s of a mixed workload"
    perf record -q -B -F 12000 -a -g -m 1024 -o "$BENCH_FILE" -- "$here/workload.sh" 10 >/dev/null 2>&1 ||
        perf record -q -B -F 4000 -g -o "$BENCH_FILE" -- "$here/workload.sh" 10 >/dev/null
fi
file=$BENCH_FILE
"$here/strip_rounds.py" "$file" "$dir/rounds-stripped.data"
"$sonde" inject -f -i "$file" -o - >"$dir/pipe.data" || rm -f "$dir/pipe.data"

fields=comm,pid,tid,cpu,time,event,ip,period
echo "file: $(wc -c <"$file") bytes; perf: $($perf version 2>/dev/null || echo none); median of $pairs pairs"
printf '%-44s%10s%10s%9s%12s%12s\n' "" "CPU s" "" ratio "RssAnon MB" ""
printf '%-44s%10s%10s%9s%12s%12s\n' command perf sonde "" perf sonde

compare() { # arguments after the command's name
    "$here/cpu_ratio" -n "$pairs" "$*" "exec $perf $* -f -i $file" "exec $sonde $* -f -i $file"
}
compare report --stats
compare script -F $fields
compare script --no-inline
compare report --stdio --no-inline --no-children -g none
compare report --stdio --no-inline --no-children -g caller
compare report --stdio --no-inline --children
"$here/cpu_ratio" -n "$pairs" "cat | wc -c (the limit)" - "cat $file | wc -c"

echo
printf '%-44s%12s\n' "RssAnon MB of sonde" ""
rss() { # label, arguments
    label=$1
    shift
    "$here/cpu_ratio" --rss "$label" "$*"
}
for what in "report --stats" "script -F $fields"; do
    rss "${what%% -F*}" "exec $sonde $what -f -i $file"
    rss "${what%% -F*}, no FINISHED_ROUND" "exec $sonde $what -f -i $dir/rounds-stripped.data"
    [ -e "$dir/pipe.data" ] && rss "${what%% -F*}, through a pipe" "exec $sonde $what -f -i - < <(cat $dir/pipe.data)"
done
rss "inject of a file" "exec $sonde inject -f -i $file -o $dir/copy.data"
