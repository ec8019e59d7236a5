# SPDX-License-Identifier: Apache-2.0
# What scripts read of script: lines of samples, fields, filters.
. "$LIB"

record a.data --sample-cpu -e cpu-clock:u -g perf test -w leafloop 0.3
perf script -i a.data >text 2>err
has text '^perf +[0-9]+ +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: +[0-9]+ cpu-clock:u: *$' '^	 +[0-9a-f]+ leaf\+0x[0-9a-f]+ \(.*\)$'
perf script -i a.data -F comm,pid,tid,cpu,time,event,ip,sym,dso >fields 2>err
has fields '^perf +[0-9]+/[0-9]+ +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: +cpu-clock:u: *$'
perf script -i a.data -G -F ip,sym >flat 2>err
lacks flat '^$'
perf script -i a.data -F comm,period --ns >periods 2>err
has periods '^ *perf +[0-9]+ *$'
perf script -i a.data -F +srcline >/dev/null 2>err
perf script -i a.data --comms nosuch >none 2>err
[ ! -s none ] || die "--comms shows others"
perf script -i a.data --comms perf -F comm >comms 2>err
[ "$(sort -u comms | tr -d ' ')" = perf ] || die "--comms perf shows others"
perf script -i a.data --show-task-events --show-mmap-events -F comm,pid >events 2>err
has events 'PERF_RECORD_MMAP2 ' 'PERF_RECORD_EXIT' 'PERF_RECORD_COMM'
! perf script -i a.data -F nosuch >out 2>err || die "status 0 for a field that is not there"
has err 'nosuch'
perf script -i a.data --header-only >header 2>err
has header '^# cmdline : '
perf script -i a.data --max-stack 2 -F ip >two 2>err
awk 'NF { n++ } !NF { n = 0 } n > 2 { exit 1 }' two || die "--max-stack 2 shows more"
perf script -D -i a.data >dump 2>err
has dump 'PERF_RECORD_SAMPLE\(IP, 0x' 'FP chain: nr:'
perf script -l >list 2>err
has list 'List of available'

# From a pipe the same samples come out.
perf script -i - <a.data >piped 2>err || true
perf record -q -e cpu-clock:u -g -o - perf test -w leafloop 0.2 2>err | tee b.data | perf script >one 2>err
perf script -i b.data >two 2>err
[ -s one ] || die "record -o - | script shows nothing"
cmp one two || die "a kept pipe reads unlike the pipe"

# A recording may be named without -i, and the one in this folder is not taken for it.
record perf.data -e cpu-clock:u true
if perf version | grep -q sonde; then
	perf script a.data >named 2>err
	cmp text named || die "script a.data does not show a.data"
	perf script -i a.data event-counts >counts 2>err
	for words in "event-counts -i a.data" "report event-counts -i a.data" "event-counts --input=a.data" "a.data event-counts"; do
		perf script $words >named 2>err || die "script $words: $(cat err)"
		cmp counts named || die "script $words does not read a.data"
	done
	perf script event-counts >named 2>err
	! cmp -s counts named || die "a.data and perf.data are the same"
	status 129 perf script -i a.data perf.data
	status 129 perf script event-counts -i
fi
