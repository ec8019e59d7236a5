#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for a set time: fuzz/run.sh SECONDS [TARGET...]
#
#   SONDE_FUZZ_DIR     where inputs are kept from run to run (default: ~/.cache/sonde-fuzz), outside the sources
#   SONDE_FUZZ_BUILD   the build folder (default: build-fuzz beside the sources; made if need be, with clang)
#   SONDE_FUZZ_JOBS    targets at a time (default 2)
#   SONDE_CORPUS       a folder of recordings, read as further seeds (default: ../shared/corpus); never copied into the sources
#
# Findings go to $SONDE_FUZZ_DIR/findings/TARGET-*. Ends with a table, and with status 1 when there are any.
set -eu

seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${SONDE_FUZZ_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sonde-fuzz}
build=${SONDE_FUZZ_BUILD:-$top/build-fuzz}
jobs=${SONDE_FUZZ_JOBS:-2}
recordings=${SONDE_CORPUS:-$top/../shared/corpus}

if ! command -v clang >/dev/null; then
    echo "SKIP: fuzzing needs clang"
    exit 77
fi
CC=clang "$top/scripts/configure.py" "$build" -Dfuzz=true -Dbuildtype=debugoptimized \
    -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
ninja -C "$build" >"$build/fuzz-build.log" || { tail -30 "$build/fuzz-build.log"; exit 2; }
mkdir -p "$dir/findings" "$dir/log"

# The seeds that a target starts from, beside what earlier runs left.
seeds() {
    [ -d "$top/tests/corpus/$1" ] && echo "$top/tests/corpus/$1"
    case $1 in
    annotate | copy | counts | model | script | stream | views)
        for d in types samples attrs damaged; do echo "$build/tests/fixtures/fixtures/$d"; done
        [ -d "$recordings" ] && echo "$recordings"
        ;;
    esac
    return 0
}

run_one() {
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    mkdir -p "$dir/inputs/$1"
    # A leak found at the end of a run counts too; 64 KiB reach everything but large recordings.
    # shellcheck disable=SC2046
    "$build/fuzz/fuzz_$1" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=25 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$dir/findings/$1-" "$dir/inputs/$1" $(seeds "$1") >"$dir/log/$1" 2>&1 || echo "$1" >>"$dir/failed.$$"
}

targets=${*:-$(for f in "$top"/fuzz/fuzz_*.c; do basename "$f" .c | sed 's/^fuzz_//'; done)}
: >"$dir/failed.$$"
running=0
for t in $targets; do
    run_one "$t" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait
        running=0
    fi
done
wait

printf '%-16s %8s %12s %8s %8s  %s\n' target seconds execs cov inputs findings
for t in $targets; do
    log=$dir/log/$t
    execs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    cov=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    inputs=$(find "$dir/inputs/$t" -type f | wc -l)
    failed=$(grep -cx "$t" "$dir/failed.$$" || true)
    printf '%-16s %8s %12s %8s %8s  %s\n' "$t" "$seconds" "${execs:-?}" "${cov:-?}" "$inputs" "$failed"
done
status=0
if [ -s "$dir/failed.$$" ]; then
    status=1
    echo "findings are in $dir/findings, logs in $dir/log"
fi
rm -f "$dir/failed.$$"
exit $status
