# SPDX-License-Identifier: Apache-2.0
# Code made at run time, by its jitdump.
. "$LIB"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "the workload jitdump makes code for x86-64 and arm64 only" ;;
esac
record a.data -k mono -e cpu-clock:u perf test -w jitdump 0.3
[ "$(ls jit-*.dump | grep -c .)" = 1 ] || die "not one jitdump"
perf inject --jit -i a.data -o b.data 2>err
perf report -i b.data --stdio --no-children -g none -s dso,sym >rows 2>err
has rows 'jitted-[0-9]+(-[0-9]+)?\.so +\[\.\] jit_workload'
