# SPDX-License-Identifier: Apache-2.0
# A consumer of script's text as those that make flame graphs: a head line, frames, an empty line.
. "$LIB"

cat >collapse.awk <<'A'
# One line for each stack: comm;outermost;...;innermost count
/^#/ { next }
/^$/ { if (comm != "") count[comm stack]++; comm = ""; stack = ""; next }
comm == "" { if (!match($0, /^[^ ].* +[0-9]+(\/[0-9]+)? /)) bad++; comm = $1; next }
/^[ \t]+[0-9a-f]+ .* \(.*\)$/ {
	name = $0
	sub(/^[ \t]+[0-9a-f]+ /, "", name)
	sub(/ \([^()]*(\([^()]*\))?[^()]*\)$/, "", name)
	sub(/\+0x[0-9a-f]+$/, "", name)
	gsub(/;/, ":", name)
	stack = ";" name stack
	next
}
{ bad++ }
END { if (bad) { print bad " lines are not understood" > "/dev/stderr"; exit 1 } for (s in count) print s, count[s] }
A
record a.data --sample-cpu -e cpu-clock:u -g perf test -w leafloop 0.3
perf script -i a.data 2>err | awk -f collapse.awk >stacks || die "the text is not as consumers know it"
has stacks '^perf;.*;leafloop;parent;leaf [0-9]+$'
[ "$(awk '{ n += $NF } END { print n }' stacks)" = "$(samples a.data)" ] || die "stacks and samples do not come to the same"
perf script -i a.data -F comm,pid,tid,cpu,time,event,ip,sym,dso,trace 2>err | awk -f collapse.awk >all
has all ';leafloop;parent;leaf [0-9]+$'
perf script -i a.data --no-inline 2>err | awk -f collapse.awk >plain
has plain ';leafloop;parent;leaf [0-9]+$'
perf script --header -i a.data 2>err | awk -f collapse.awk >headed
cmp headed stacks 2>/dev/null || [ "$(sort headed)" = "$(sort stacks)" ] || die "--header changes the stacks"
