# SPDX-License-Identifier: Apache-2.0
# data convert --to-json, checked by a parser.
. "$LIB"

record a.data -e cpu-clock:u -g perf test -w leafloop 0.3
perf data convert --to-json a.json -i a.data >out 2>err
python3 - "$(samples a.data)" <<'P' || die "the JSON is not as it should be"
import json, sys
with open("a.json") as f:
    whole = json.load(f)
assert whole["linux-perf-json-version"] == 1, whole["linux-perf-json-version"]
assert len(whole["samples"]) == int(sys.argv[1]), (len(whole["samples"]), sys.argv[1])
first = whole["samples"][0]
assert {"timestamp", "pid", "tid", "comm", "callchain"} <= set(first), first
assert all("ip" in frame for sample in whole["samples"] for frame in sample["callchain"])
P
! perf data convert --to-json a.json -i a.data >out 2>err || die "an existing file is written over without --force"
perf data convert --to-json a.json --force -i a.data >out 2>err
! perf data convert -i a.data >out 2>err || die "status 0 without a format"
