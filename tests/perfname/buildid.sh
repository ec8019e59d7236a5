# SPDX-License-Identifier: Apache-2.0
# buildid-list, buildid-cache, archive.
. "$LIB"

cache=$PWD/cache
record a.data -e cpu-clock:u perf test -w noploop 0.2
perf buildid-list -i a.data >list 2>err
has list '^[0-9a-f]{40} /'
perf buildid-list -i a.data --with-hits >hits 2>err
has hits '^[0-9a-f]{40} '
perf buildid-list -k >kernel 2>err || skip "no kernel build-id here"
has kernel '^[0-9a-f]{40}$'

cp /bin/true program
chmod 750 program
perf --buildid-dir "$cache" buildid-cache -a "$PWD/program" 2>err
perf --buildid-dir "$cache" buildid-cache -l >cached 2>err
has cached "^[0-9a-f]{40} $PWD/program\$"
id=$(cut -d' ' -f1 cached)
link=$cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
[ -L "$link" ] || die "no link for the build-id"
"$link/elf" || die "the cached program does not run"
[ "$(stat -c %a "$link/elf")" = 750 ] || die "the cached program has the mode $(stat -c %a "$link/elf"), not 750"
cmp program "$link/elf"
perf buildid-list -i program >own 2>err
[ "$(cut -d' ' -f1 own)" = "$id" ] || die "buildid-list of an ELF file says otherwise"
perf --buildid-dir "$cache" buildid-cache -r "$PWD/program" 2>err
perf --buildid-dir "$cache" buildid-cache -l >cached 2>err
[ ! -s cached ] || die "it is in the cache after -r"
perf --buildid-dir "$cache" buildid-cache -a "$PWD/program" 2>err
perf --buildid-dir "$cache" buildid-cache -p "$PWD/program" 2>err
perf --buildid-dir "$cache" buildid-cache -l >cached 2>err
[ ! -s cached ] || die "it is in the cache after -p"
echo text >plain
perf --buildid-dir "$cache" buildid-cache -a "$PWD/plain" >out 2>err || true
has err "ouldn't add"

# What a recording fills, archive packs.
perf --buildid-dir "$cache" record -q -e cpu-clock:u -o b.data perf test -w noploop 0.2 2>err
perf --buildid-dir "$cache" archive b.data >out 2>err
archive=$(ls b.data.tar.*)
tar tf "$archive" >names
has names '^\.build-id/../[0-9a-f]{38}' '/elf$'
mkdir other
tar xf "$archive" -C other
perf --buildid-dir "$PWD/other" report -i b.data --stdio --no-children -g none -s sym >text 2>err
has text ' noploop'
