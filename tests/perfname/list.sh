# SPDX-License-Identifier: Apache-2.0
# list and kallsyms.
. "$LIB"

perf list sw >sw 2>err
has sw '^  cpu-clock +\[Software event\]|cpu-clock' 'task-clock' 'page-faults' 'context-switches'
perf list hw >hw 2>err
perf list >all 2>err
has all 'cpu-clock'
perf list -j sw >json 2>err
python3 -c 'import json; assert any("cpu-clock" in str(e) for e in json.load(open("json")))'
perf list cpu-clock >one 2>err
has one 'cpu-clock'
first=$(awk '$3 ~ /^[a-z_]+$/ && $2 ~ /[Tt]/ && $1 !~ /^0+$/ { print $3; exit }' /proc/kallsyms)
[ -n "$first" ] || skip "no addresses in /proc/kallsyms: only list was tried"
perf kallsyms "$first" >symbol 2>err
has symbol "^$first: "
