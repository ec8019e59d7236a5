# SPDX-License-Identifier: Apache-2.0
# Workloads with threads, children and names of their own.
. "$LIB"

record a.data -e cpu-clock:u -g perf test -w thloop 0.4 3
perf script -i a.data -F tid,sym -S test_loop -G >tids 2>err
[ "$(awk '{ print $1 }' tids | sort -u | grep -c .)" = 3 ] || die "thloop 0.4 3 has other than 3 threads"
perf script -i a.data -F ip,sym >chains 2>err
has chains ' test_loop' ' thfunc'
perf report -i a.data --stdio --no-children -g none -s tid >rows 2>err || perf report -i a.data --stdio --no-children -g none -s pid >rows 2>err
record b.data -e cpu-clock:u perf test -w named_threads 2 30000000
perf report -i b.data --stdio --no-children -g none -s comm >comms 2>err
has comms ' thread1 *$' ' thread2 *$'
record c.data -e cpu-clock:u perf test -w sqrtloop 0.2
[ "$(perf script -i c.data -F pid | sort -u | grep -c .)" -gt 1 ] || die "the child is not recorded"
record d.data -e cpu-clock:u --no-inherit perf test -w sqrtloop 0.2
record e.data -e cpu-clock:u perf test -w noploop 0.2
perf report -i e.data --stdio --no-children -g none -s comm,sym >loop 2>err
has loop 'perf-noploop +\[\.\] noploop'
record f.data -e task-clock:u -e cpu-clock:u perf test -w brstack 100000
perf evlist -i f.data >out 2>err
has out '^task-clock:u$' '^cpu-clock:u$'
