# SPDX-License-Identifier: Apache-2.0
# record of what runs already: by process, thread, everywhere; ended by SIGINT and SIGTERM.
. "$LIB"

record probe.data -e cpu-clock:u true
perf test -w noploop 60 &
victim=$!
trap 'kill $victim 2>/dev/null || true' EXIT
status 0 perf record -q -e cpu-clock:u -o p.data -p $victim sleep 0.4
[ "$(perf script -i p.data -F pid | sort -u | tr -d ' ')" = $victim ] || die "-p recorded another process"
status 0 perf record -q -e cpu-clock:u -o t.data -t $victim sleep 0.4
[ "$(samples t.data)" -gt 0 ] || die "-t recorded nothing"
for signal in INT TERM; do
	perf record -q -e cpu-clock:u -o $signal.data -p $victim 2>err &
	recorder=$!
	i=0
	while [ ! -s $signal.data ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
	sleep 0.3
	# sh starts background jobs with SIGINT ignored: what reads a terminal would not.
	kill -TERM $recorder
	wait $recorder || true
	[ "$(samples $signal.data)" -gt 0 ] || die "SIG$signal: nothing is left"
done
