#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows what sonde does today, on a recording that the build made with sonde's own encoder: demo.sh BUILD
set -eu

build=$1
sonde=$build/sonde
data=$(find "$build/tests/fixtures" -name demo.data | head -1)

show() {
    printf '\n$ sonde %s\n' "$*"
    "$sonde" "$@" 2>&1 | { head -"$lines"; cat >/dev/null; }
}

lines=8
show version
if [ -z "$data" ]; then
    echo "this build has made no demo recording" >&2
    exit 1
fi
lines=30
show report --header-only -i "$data"
show report --stats -i "$data"
lines=20
show script -i "$data"
echo
