# SPDX-License-Identifier: Apache-2.0
# evlist: names, frequencies, groups, attributes.
. "$LIB"

record a.data -F 999 -e cpu-clock:u -e '{task-clock:u,page-faults:u}' perf test -w noploop 0.2
perf evlist -i a.data >names 2>err
has names '^cpu-clock:u$' '^task-clock:u$' '^page-faults:u$'
perf evlist -F -i a.data >frequencies 2>err
has frequencies '^cpu-clock:u: sample_freq=999$'
perf evlist -g -i a.data >groups 2>err
has groups '^\{task-clock:u,page-faults:u\}$'
perf evlist -v -i a.data >attributes 2>err
has attributes '^cpu-clock:u: type: 1 ' 'sample_type: [A-Z|_]+' 'exclude_kernel: 1'
has names "^# Tip: use 'perf evlist -g'"
perf record -q -o - -e cpu-clock:u true 2>err | perf evlist -i - >piped 2>err
has piped 'cpu-clock'
