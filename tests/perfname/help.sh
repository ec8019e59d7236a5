# SPDX-License-Identifier: Apache-2.0
# help, version, check: words and statuses.
. "$LIB"

status 0 perf --version
has out '^perf version [0-9]+\.[0-9]+'
cp out version
status 0 perf version
cmp out version || die "version and --version differ"
# What scripts do with it: compare the number.
major=$(sed -n 's/^perf version \([0-9]*\)\..*/\1/p' out)
[ "$major" -ge 6 ] || die "version $major"
status 0 perf version --build-options
has out '^ +zstd: \[ (on |OFF) \]  # HAVE_ZSTD_SUPPORT'
status 1 perf
has out 'usage: perf' '^   record +'
status 0 perf --help
status 129 perf record -h
has err 'Usage: perf record' '^    -e, --event'
status 0 perf --list-cmds
has out 'record' 'script'
status 0 perf --list-opts report
has out '--stdio'
! perf nosuch >out 2>err || die "status 0 for a command that is not there"
has err "perf: 'nosuch' is not a perf-command"
! perf recrod >out 2>err || die "status 0 for a command that is not there"
for feature in $(perf version --build-options | sed -n 's/^ *\([^ ]*\): \[ on .*/\1/p'); do
	status 0 perf check -q feature "$feature"
	[ ! -s out ] && [ ! -s err ] || die "check -q is not quiet"
done
for feature in $(perf version --build-options | sed -n 's/^ *\([^ ]*\): \[ OFF .*/\1/p'); do
	status 1 perf check feature -q "$feature"
done
perf check feature zstd,zlib >out 2>err || true
[ "$(grep -c . out)" = 2 ] || die "a line for each feature"
! perf check feature nosuch >out 2>err || die "an unknown feature is on"
! perf check feature zstd zlib >out 2>err || die "two words are taken"
[ -s err ] || [ -s out ] || die "no reason is given"
