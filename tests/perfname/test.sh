# SPDX-License-Identifier: Apache-2.0
# test: lists, workloads, JUnit.
. "$LIB"

perf test list >list 2>err || perf test list 2>list
has list '^ *[0-9]+: '
perf test --list-workloads >workloads 2>err || true
cat err >>workloads
has workloads '^noploop$' '^thloop$' '^leafloop$' '^sqrtloop$' '^brstack$' '^datasym$' '^inlineloop$' '^jitdump$'
for name in $(grep -E '^[a-z_]+$' workloads); do
	case $name in
	brstack | traploop | context_switch_loop) argument=100 ;;
	named_threads) argument=2 ;;
	landlock | deterministic) argument= ;;
	*) argument=0.05 ;;
	esac
	perf version | grep -q sonde || argument=1 # perf knows whole seconds only
	perf test -w "$name" $argument >out 2>err || die "workload $name: $(cat err)"
done
! perf test -w nosuch >out 2>err || die "status 0 for a workload that is not there"
has err 'No workload found: nosuch'
perf test -jempty.xml 'no test is called so' >out 2>err
has empty.xml '^<\?xml ' '<testsuite .*tests="0"'
perf test --junit Symbols >out 2>err || true
python3 -c 'import xml.etree.ElementTree as e; assert e.parse("test.xml").getroot().tag == "testsuites"'
