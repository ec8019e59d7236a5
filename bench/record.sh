#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs, sonde's beside perf's in one run: bench/record.sh [BUILD]
#
#   PERF             the perf to compare with (default: the one in the PATH)
#   RECORD_SECONDS   a long and a short run (default 60-10): their difference is the steady state
#   RECORD_PAIRS     how often each is run, in turn (default 1)
#   RECORD_MODES     which of them (default "together steady fast start processes")
#   PROCESSES        for the last one (default 2000)
#
# "together" is the steady state of both at once, measured while they run: what else happens on the machine costs both
# the same. CPU time is the recorder's own, user and system, of all its threads. Plain figures, nothing is asserted.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build}
sonde=$(cd "$build" && pwd)/sonde
perf=${PERF:-perf}
seconds=${RECORD_SECONDS:-60-10}
pairs=${RECORD_PAIRS:-1}
[ "$(id -u)" = 0 ] || { echo "SKIP: recording the whole system needs root"; exit 0; }
command -v "${perf%% *}" >/dev/null || { echo "SKIP: no perf to compare with (set PERF)"; exit 0; }

run() {
    "$here/recorder_cpu" --pairs "$pairs" --workload "$here/workload.sh" "$@"
}
for mode in ${RECORD_MODES:-together steady fast start processes}; do
    case $mode in
    # sonde always records identities, and nothing turns that off; perf gets -N.
    together) run --together --seconds "$seconds" "record -a" "$perf record -B -N -a" "$sonde record -a -N" ;;
    steady) run --seconds "$seconds" "record -a" "$perf record -B -N -a" "$sonde record -a -N" ;;
    fast) run --seconds "$seconds" "record -a -g -F 20000" "$perf record -B -N -a -g -F 20000" "$sonde record -a -N -g -F 20000" ;;
    start) run --true "record true" "$perf record -B -N" "$sonde record -N" ;;
    processes) run --seconds 1 --processes "${PROCESSES:-2000}" "record -a, ${PROCESSES:-2000} processes" "$perf record -B -N -a" "$sonde record -a -N" ;;
    esac
done
