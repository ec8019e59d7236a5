#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records a workload for two seconds and shows what sonde says of it: demo.sh BUILD
# Where the system lets nobody record, a recording that the build made with sonde's own encoder is shown.
set -eu

build=$1
sonde=$build/sonde
data=$build/tests/fixtures/fixtures/demo.data
dir=$(mktemp -d)
text=$dir/text
trap 'rm -rf "$dir"' EXIT

# show LINES COMMAND...: runs it if it is there, and shows that many lines of what it says. Its failure is ours.
show() {
    lines=$1
    shift
    case " $("$sonde" --list-cmds) " in
    *" $1 "*) ;;
    *) return 0 ;;
    esac
    printf '\n$ sonde %s\n' "$*"
    "$sonde" "$@" >"$text" 2>&1 || {
        cat "$text"
        return 1
    }
    head -n "$lines" "$text"
    [ "$(wc -l <"$text")" -le "$lines" ] || echo "..."
}

show 2 version
printf '\n$ sonde record -g -- sonde test -w leafloop 2\n'
if "$sonde" record -g -o "$dir/perf.data" -- "$sonde" test -w leafloop 2; then
    data=$dir/perf.data
else
    echo "Nothing can be recorded here: on to a recording that sonde's encoder made."
fi
show 30 report --stdio --no-children -g none -i "$data"
show 45 report --stdio --children -i "$data"
show 25 script -i "$data"
show 20 report --stats -i "$data"
echo
