# SPDX-License-Identifier: Apache-2.0
# Exit statuses of record, and what it leaves.
. "$LIB"

record a.data -e cpu-clock:u true
status 3 perf record -q -e cpu-clock:u -o b.data sh -c 'exit 3'
[ -s b.data ] || die "a command's status is no reason to drop its recording"
status 129 perf record --nosuch true
has err 'Error: unknown option .nosuch' 'Usage: perf record'
status 129 perf record -e cpu-clock:u -F x true
status 129 perf record -e nosuch_event -o c.data true
has err "event syntax error: 'nosuch_event'"
[ ! -e c.data ] || die "a recording without an event"
! perf record -q -e cpu-clock:u -o d.data /no/such/command >out 2>err || die "a command that is not there has status 0"
[ ! -s d.data ] || die "a recording of nothing"
! perf record -q -e cpu-clock:u -o /no/such/folder/x.data true >out 2>err || die "status 0 without a file"
! perf report -i nosuch.data >out 2>err || die "status 0 without a recording"
has err 'failed to open nosuch.data: No such file or directory'
: >empty.data
! perf script -i empty.data >out 2>err || die "status 0 for an empty file"
has err 'zero-sized'
! perf report --stdio -i /dev/null >out 2>err || die "status 0 for /dev/null"
! perf report >out 2>err || die "status 0 without perf.data"
has err "try 'perf record' first"
