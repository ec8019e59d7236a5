# SPDX-License-Identifier: Apache-2.0
# Commands that sonde does not have say so, and nothing else.
. "$LIB"

perf version | grep -q sonde || skip "this perf has them"
perf help | sed -n '/Not there yet:/,/^$/p' | sed 's/Not there yet://' >names
[ -s names ] || exit 0
for command in $(cat names); do
	status 1 perf "$command" -a -- sleep 1
	[ ! -s out ] || die "$command writes to standard output"
	has err "^perf $command is not there yet "
	[ "$(grep -c . err)" = 1 ] || die "$command says more than a line"
done
