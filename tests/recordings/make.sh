#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the recordings of this folder anew: make.sh SONDE FOLDER, on x86-64, as root. Most are scrubbed: they hold what names them,
# and neither host name nor folders. Afterwards: recordings_test.py SONDE --update
set -eu
sonde=$1 to=$2 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$work/program
cc -g -O1 -fno-omit-frame-pointer -fasynchronous-unwind-tables -static -nostdlib -Wl,--build-id "$here/program.c" -o "$program"
take() { # name, options of record ... -- command
    name=$1
    shift
    "$sonde" record -q -o "$work/$name.data" "$@"
    "$sonde" archive -f --scrub -o "$to/$name.data" "$work/$name.data" 2> "$work/said" || cat "$work/said"
}
take flat -e cpu-clock:u -F 500 -- "$program" o 100
take frame-pointers -e cpu-clock:u -F 300 -g -- "$program" o 100
take dwarf -e cpu-clock:u -F 100 --call-graph dwarf,1024 -- "$program" o 60
take forks -e cpu-clock:u -F 500 -- "$program" f 50
take group -e '{cpu-clock,page-faults}:Su' -F 200 -- "$program" o 100
take counts -e cpu-clock:u,page-faults:u -c 1000000 -d -- "$program" o 50
take faults -e page-faults:u -c 100 -g -d -- "$program" t 4000
take compressed -z -e cpu-clock:u -F 1000 -g -- "$program" o 100
"$sonde" record -q --threads -o "$work/folder" -e cpu-clock:u -F 500 -- "$program" f 50
"$sonde" inject -i "$work/folder" -o "$work/threads.data"
"$sonde" archive -f --scrub -o "$to/threads.data" "$work/threads.data" 2> /dev/null
take switches --switch-events -e cpu-clock:u -F 200 -- "$program" f 30
cp "$program" "$work/victim"
take replaced -N -e cpu-clock:u -F 300 -- "$work/victim" x 200
cp "$program" "$work/victim"
take kept -N --keep=full -e cpu-clock:u -F 300 -- "$work/victim" x 200
"$sonde" record -q -e cpu-clock:u -F 300 -o - -- "$program" o 50 > "$to/pipe.data"
# "kallsyms" here is what these two need of the kernel's list: the functions in them, and those by which sonde tells kernels apart.
"$sonde" record -q -e cpu-clock -F 300 -g -o "$to/kernel.data" -- "$program" r 2000
"$sonde" record -q -e sched:sched_process_fork,sched:sched_process_exit -o "$to/tracepoint.data" -- "$program" f 1
