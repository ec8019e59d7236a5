# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share. `perf` is the link that tests/perf_name_test.py puts first in PATH; the working
# directory is empty and the script's own.
set -eu

die() {
	echo "$0: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# status N COMMAND...: the command ends with status N. What it said is in the files out and err.
status() {
	want=$1
	shift
	set +e
	"$@" >out 2>err </dev/null
	got=$?
	set -e
	[ "$got" = "$want" ] || { cat err >&2; die "status $got, not $want: $*"; }
}

# has FILE PATTERN...: each pattern (grep -E) is in the file.
has() {
	file=$1
	shift
	for pattern; do
		grep -Eq -e "$pattern" "$file" || { head -20 "$file" >&2; die "$file lacks: $pattern"; }
	done
}

lacks() {
	! grep -Eq -e "$2" "$1" || { grep -E -e "$2" "$1" | head -5 >&2; die "$1 has: $2"; }
}

# record FILE OPTIONS...: a recording of a workload, which the options end with.
record() {
	file=$1
	shift
	perf record -q -o "$file" "$@" 2>err || {
		cat err >&2
		perf record -q -o probe.data -e cpu-clock:u true >/dev/null 2>&1 || skip "nothing may be recorded here"
		die "record fails: $*"
	}
	[ -s "$file" ] || die "$file is empty"
}

# The number of samples in a recording.
samples() {
	perf script -i "$1" -F event | grep -c .
}
