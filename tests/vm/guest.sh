# SPDX-License-Identifier: Apache-2.0
# What a guest does, in a tmpfs at /tmp; /out comes back to us. Recordings are made here and copied: what lies on 9p cannot
# be mapped for writing.
set -u

# What the kernel says of itself at this moment.
facts() {
    mkdir -p "/out/$1"
    cat /proc/kallsyms >"/out/$1/kallsyms"
    cat /proc/modules >"/out/$1/modules"
    cat /sys/kernel/notes >"/out/$1/notes"
    for folder in /sys/module/*/sections; do
        name=${folder#/sys/module/}
        name=${name%/sections}
        # One read(2) for each file; most names begin with a dot.
        for file in "$folder"/* "$folder"/.[a-z_]*; do
            [ -f "$file" ] && echo "$name ${file##*/} $(cat "$file")"
        done
    done >"/out/$1/sections"
}

save() { cp "$@" /out/; }

# A moment that the recording itself tells of: a command of that name was begun.
for m in mark-load mark-loaded mark-unload mark-unloaded mark-end; do ln -s /bin/busybox $m; done
cat >work.sh <<'EOS'
mark() { "/tmp/mark-$1" 2>/dev/null; }
dd if=/tmp/noise of=/dev/zram0 bs=64k 2>/dev/null
dd if=/dev/zram0 of=/dev/null bs=64k count=64 2>/dev/null
mark load
modprobe raid6_pq # measures its functions while it loads: .text, called by .init.text
mark loaded
cat /proc/modules >/out/loaded.modules
cat /proc/kallsyms >/out/loaded.kallsyms
for f in /sys/module/raid6_pq/sections/* /sys/module/raid6_pq/sections/.[a-z_]*; do
    [ -f "$f" ] && echo "raid6_pq ${f##*/} $(cat "$f")"
done >/out/loaded.sections
mark unload
modprobe -r raid6_pq
mark unloaded
modprobe xor # measures too, often at the place where the other one was
mark end
dd if=/dev/zram0 of=/dev/null bs=64k count=64 2>/dev/null # samples of a time when all is over
exit 0
EOS

uname -r >/out/release
ls /sys/bus/event_source/devices >/out/pmus
case " $(cat /proc/cmdline) " in
*" vm=addresses "*) # only where the kernel would lie without relocation
    facts before
    exit 0
    ;;
esac

if grep -q vm=short /proc/cmdline; then # another boot to compare with
    facts before
    sonde record -a -g -e cpu-clock -F 500 -o work.data md5sum /bin/busybox 2>&1 || exit 1
    facts after
    save work.data
    # What lay where in another boot says nothing of this one.
    sonde inject --kmod-sections -i /sonde/other.data -o refused.data 2>/out/refused.err && exit 1
    exit 0
fi

modprobe lz4
modprobe zram
echo lz4 >/sys/block/zram0/comp_algorithm
echo 32M >/sys/block/zram0/disksize
od -An -tx1 -N1000000 /dev/urandom >noise
facts before

echo "work"
sonde record -a -g -e cpu-clock -F 500 -o work.data sh work.sh 2>&1 || exit 1
facts after
save work.data
sonde inject --kmod-sections -i work.data -o sections.data 2>&1 || exit 1
sonde inject --kmod-sections=rfc -i work.data -o rfc.data 2>&1 || exit 1
mkdir /out/injected && cp sections.data rfc.data /out/injected/

echo "programs that are replaced"
# Programs that know what they did (tests/truth), each another build in the other's place. NAME: with a build-id or without.
replaced() {
    mkdir -p "truth/$1" && cd "truth/$1"
    cp "/sonde/burner-$2-one" prog && cp "/sonde/burner-$2-two" new
    TRUTH_STEP="$3" sonde record -N -k CLOCK_MONOTONIC -e cpu-clock:u -F 1000 -o perf.data -- /tmp/truth/$1/prog \
        alpha beta step gamma alpha exec /tmp/truth/$1/prog alpha beta gamma >log || return 1
    eval "$4"
    mkdir -p "/out/truth/$1" && cp log perf.data "/out/truth/$1/"
    cd /tmp
}
if [ -f /sonde/burner-id-one ]; then
    for k in id plain; do
        replaced "renamed-$k" $k "mv new prog" "" || exit 1
        replaced "recreated-$k" $k "rm prog; cp new prog" "" || exit 1
        replaced "rebuilt-$k" $k "" "rm prog; cp new prog" || exit 1
        replaced "overwritten-$k" $k "" "cat new >prog" || exit 1
        replaced "deleted-$k" $k "" "rm prog" || exit 1
    done
fi

# Names as the guest itself finds them.
sonde script -i work.data -F comm,tid,time,ip,sym,dso >/out/work.script 2>/out/work.script.err || exit 1

echo "kprobe"
if echo 'p:vm/unlink do_unlinkat' >/sys/kernel/tracing/kprobe_events; then
    for i in $(seq 20); do : >"file$i"; done
    sonde record -e vm:unlink -o kprobe.data rm file1 file2 file3 file4 file5 file6 file7 file8 file9 file10 \
        file11 file12 file13 file14 file15 file16 file17 file18 file19 file20 2>&1 || exit 1
    save kprobe.data
fi

echo "tracepoint"
sonde record -e sched:sched_process_exec -o exec.data sh -c 'for i in 1 2 3; do /bin/true; done' 2>&1 || exit 1
save exec.data

echo "compressed, to a pipe, by stacks"
sonde record -z -a -e cpu-clock -F 500 -o z.data -- md5sum noise 2>&1 || exit 1
sonde record -e cpu-clock -F 500 -o - -- md5sum noise 2>pipe.err | cat >pipe.data
sonde record -e cpu-clock -F 500 --call-graph dwarf,2048 -o dwarf.data -- md5sum noise 2>&1 || exit 1
save z.data pipe.data dwarf.data

if sonde record -e cycles -o default.data true 2>/dev/null; then
    echo "hardware"
    sonde record -e cycles -c 1000000 -g -o hw.data -- md5sum noise noise noise 2>&1 || exit 1
    sonde record -e '{cycles,cpu-clock}:S' -c 1000000 -o group.data -- md5sum noise 2>&1 || exit 1
    save hw.data group.data
fi
