#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows what sonde does today, on a recording that the build made with sonde's own encoder: demo.sh BUILD
set -eu

build=$1
sonde=$build/sonde
data=$build/tests/fixtures/fixtures/demo.data
text=$(mktemp)
trap 'rm -f "$text"' EXIT

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
show 40 report --header-only -i "$data"
show 40 report --stats -i "$data"
show 10 evlist -v -i "$data"
show 25 script -i "$data"
echo
