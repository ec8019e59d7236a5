# SPDX-License-Identifier: Apache-2.0
# A record that is too short, one without an end: what scripts look for in the messages.
. "$LIB"

record a.data -e cpu-clock:u perf test -w noploop 0.2
place=$(python3 - <<'P'
import struct
data = bytearray(open("a.data", "rb").read())
at = struct.unpack_from("<Q", data, 40)[0]
while struct.unpack_from("<I", data, at)[0] != 10:
    at += struct.unpack_from("<H", data, at + 6)[0]
struct.pack_into("<H", data, at + 6, 24)
open("short.data", "wb").write(data)
print(hex(at))
P
)
perf script -i short.data >out 2>err || true
has err "at offset $place: MMAP2 \\(10\\) "
head -c 3000 a.data >cut.data
perf script -i cut.data >out 2>err || true
[ -s err ] || die "a cut file is read without a word"
head -c 3000 /dev/zero >zero.data
! perf report -i zero.data --stdio >out 2>err || die "status 0 for zeros"
[ -s err ] || die "no reason is given"
