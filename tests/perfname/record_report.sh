# SPDX-License-Identifier: Apache-2.0
# record into a file and a pipe; report as text, by keys, filtered.
. "$LIB"

record a.data -e cpu-clock:u -g perf test -w leafloop 0.3
perf report -i a.data --stdio >text 2>err
has text '^# Samples: [0-9]+[KM]? +of event .cpu-clock:u' '^# Children +Self +Command' '% +[0-9.]+% .* leaf$' '---'
perf report -i a.data --stdio --no-children -g none -s sym >flat 2>err
has flat '^ +[0-9.]+% +\[\.\] leaf( |$)'
# Percentages come to 100.
awk '/^ +[0-9.]+%/ { sum += $1 } END { exit !(sum > 99 && sum < 101) }' flat || die "the rows come to something else than 100 %"
perf report -i a.data --stdio --no-children -g none -s comm,dso -t , >csv 2>err
has csv '^ *[0-9.]+% *,perf *,[^,]+$'
perf report -i a.data --stdio -q --no-children -g none -S leaf -s sym 2>err | grep % >one
[ "$(grep -c . one)" = 1 ] || die "-S leaf shows other rows"
perf report -i a.data --header-only >header 2>err
has header '^# hostname : ' '^# cmdline : .*record' '^# event : name = cpu-clock:u'
perf report -i a.data --stats >stats 2>err
has stats 'SAMPLE events: +[0-9]+'
! perf report --stdio <a.data >/dev/null 2>err || die "a file on standard input is no perf.data"

# The default name, and what was there before is kept.
record perf.data -e cpu-clock:u true
record perf.data -e cpu-clock:u true
[ -s perf.data.old ] || die "no perf.data.old"
perf report --stdio >/dev/null 2>err

perf record -q -e cpu-clock:u -g -o - perf test -w leafloop 0.3 2>err | perf report -i - --stdio >text 2>err
has text ' leaf$' ' parent'
