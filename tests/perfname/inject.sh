# SPDX-License-Identifier: Apache-2.0
# inject changes no sample: files, pipes, build-ids, jitdumps.
. "$LIB"

record a.data -e cpu-clock:u -g perf test -w leafloop 0.3
for options in "" -b --buildid-all --mmap2-buildid-all; do
	perf inject $options -i a.data -o b.data 2>err || { cat err >&2; die "inject $options"; }
	perf script -i a.data >one 2>/dev/null
	perf script -i b.data >two 2>/dev/null
	cmp one two || die "inject $options changes what script shows"
done
perf buildid-list -i b.data >ids 2>err
perf record -q -e cpu-clock:u -g -o - perf test -w leafloop 0.2 2>err | perf inject -b 2>err | perf report -i - --stdio --no-children -g none -s sym >rows 2>err
has rows ' leaf'
perf inject -b -o - <a.data 2>/dev/null | perf script -i - >two 2>/dev/null || true
! perf inject -i nosuch.data -o c.data >out 2>err || die "status 0 without a recording"
