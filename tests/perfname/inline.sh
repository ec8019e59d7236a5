# SPDX-License-Identifier: Apache-2.0
# Functions that exist only as inlined ones, with their lines.
. "$LIB"

perf check -q feature dwarf || skip "built without DWARF"
record a.data -e cpu-clock:u -g perf test -w inlineloop 0.3
perf script -i a.data -F ip,sym,srcline --inline --comms perf-inlineloop >text 2>err
grep -q 'inlineloop' text || die "the workload was not recorded"
grep -q 'inlineloop.c' text || skip "this perf has no line tables"
has text '\(inlined\)' 'inlineloop\.c:[0-9]+'
perf report -i a.data --stdio --no-children -g caller --inline >graph 2>err
has graph 'inlineloop'
