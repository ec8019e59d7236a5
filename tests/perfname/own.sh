# SPDX-License-Identifier: Apache-2.0
# What perf does not have: doctor and why, which name perf's commands when called so.
. "$LIB"

perf version | grep -q sonde || skip "this perf has neither"
record a.data -e cpu-clock:u -g perf test -w leafloop 0.2
perf doctor a.data >out 2>err || true
lacks out 'sonde (record|report|script|why|doctor|archive|buildid-cache)'
perf why -i a.data --symbol leaf >out 2>err
has out 'leaf'
lacks out 'sonde (record|report|script|why|doctor|archive|buildid-cache)'
perf report -i a.data --stdio >out 2>err
has out 'try: perf report'
