/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are no samples: every one is encoded in both byte orders and dumped; the decoded text must be
 * the same. */
#include "view/dump/dump_test.h"

#include <sys/mman.h>

#include "format/perfdata/cpu_map.h"

/* Records of `rec` in both byte orders must print `want`. Fields that lie in the file's byte order (lists,
 * entries) are made by `finish`. */
typedef void finish_fn(struct perfdata_record *rec, struct writer *room);

static void check_record(struct perfdata_record rec, uint64_t read_format, finish_fn *finish,
                         const char *want) {
    for (int swap = 0; swap < 2; swap++) {
        struct recording r;
        struct perfdata_attr attr = kernel_attr(read_format);
        struct writer w = writer_make(swap), room = writer_make(swap);
        struct out out;
        struct perfdata_record it = rec;
        recording_init(&r, &attr, 1, swap);
        if (it.type < PERFDATA_RECORD_USER_START)
            it.id = (struct perfdata_sample_id){
                .have = KERNEL_TYPE, .pid = 11, .tid = 12, .time = 1010, .cpu = 3, .identifier = 7};
        if (finish)
            finish(&it, &room);
        perfdata_record_encode(
            &it, it.type < PERFDATA_RECORD_USER_START ? &r.events.list.items[0].plan : NULL, &w);
        assert_true(writer_ok(&w));
        assert_string_equal(dump_text_of(&r, writer_bytes(&w), &out), want);
        out_fini(&out);
        writer_fini(&w);
        writer_fini(&room);
        recording_fini(&r);
    }
}

static void check(struct perfdata_record rec, const char *want) {
    check_record(rec, 0, NULL, want);
}
static void test_maps(void **state) {
    (void)state;
    struct perfdata_record m = {.type = PERFDATA_RECORD_MMAP,
                                .misc = PERFDATA_MISC_USER,
                                .mmap = {11, 12, 0x1000, 0x2000, 0x3000, TEXT("/a/b\0\0\0")}};
    check(m, "3 1010 0x1c8 [0x50]: PERF_RECORD_MMAP 11/12: [0x1000(0x2000) @ 0x3000]: x /a/b\n");
    m.misc |= PERFDATA_MISC_MMAP_DATA;
    m.mmap.pid = UINT32_MAX;
    m.mmap.pgoff = 0;
    check(m, "3 1010 0x1c8 [0x50]: PERF_RECORD_MMAP -1/12: [0x1000(0x2000) @ 0]: r /a/b\n");
    struct perfdata_record m2 = {.type = PERFDATA_RECORD_MMAP2,
                                 .mmap2 = {.pid = 11,
                                           .tid = 12,
                                           .addr = 0x1000,
                                           .len = 0x2000,
                                           .pgoff = 0x3000,
                                           .maj = 8,
                                           .min = 3,
                                           .ino = 77,
                                           .ino_generation = 88,
                                           .prot = PROT_READ | PROT_EXEC,
                                           .flags = MAP_PRIVATE,
                                           .filename = TEXT("/a/b2\0\0")}};
    check(
        m2,
        "3 1010 0x1c8 [0x70]: PERF_RECORD_MMAP2 11/12: [0x1000(0x2000) @ 0x3000 08:03 77 88]: r-xp /a/b2\n");
    m2.misc = PERFDATA_MISC_MMAP_BUILD_ID;
    m2.mmap2.has_build_id = true;
    m2.mmap2.build_id_size = 3;
    memcpy(m2.mmap2.build_id, "\x01\xab\xff", 3);
    m2.mmap2.prot = PROT_WRITE;
    m2.mmap2.flags = MAP_SHARED;
    check(m2,
          "3 1010 0x1c8 [0x70]: PERF_RECORD_MMAP2 11/12: [0x1000(0x2000) @ 0x3000 <01abff>]: -w-s /a/b2\n");
}

static void test_tasks(void **state) {
    (void)state;
    struct perfdata_record c = {.type = PERFDATA_RECORD_COMM, .comm = {11, 12, TEXT("comm ex")}};
    check(c, "3 1010 0x1c8 [0x38]: PERF_RECORD_COMM: comm ex:11/12\n");
    c.misc = PERFDATA_MISC_COMM_EXEC;
    check(c, "3 1010 0x1c8 [0x38]: PERF_RECORD_COMM exec: comm ex:11/12\n");
    struct perfdata_record t = {.type = PERFDATA_RECORD_FORK, .task = {21, 11, 22, 12, 1234}};
    check(t, "3 1010 0x1c8 [0x40]: PERF_RECORD_FORK(21:22):(11:12)\n");
    t.type = PERFDATA_RECORD_EXIT;
    check(t, "3 1010 0x1c8 [0x40]: PERF_RECORD_EXIT(21:22):(11:12)\n");
}

static void test_losses(void **state) {
    (void)state;
    check((struct perfdata_record){.type = PERFDATA_RECORD_LOST, .lost = {7, 55}},
          "3 1010 0x1c8 [0x38]: PERF_RECORD_LOST: id:7: lost:55\n");
    struct perfdata_record l = {.type = PERFDATA_RECORD_LOST_SAMPLES, .lost_samples = {66}};
    check(l, "3 1010 0x1c8 [0x30]: PERF_RECORD_LOST_SAMPLES: id:7: lost samples :66\n");
    l.misc = 1u << 15;
    check(l, "3 1010 0x1c8 [0x30]: PERF_RECORD_LOST_SAMPLES: id:7: lost samples :66 (BPF)\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_THROTTLE, .throttle = {1, 7, 8}},
          "3 1010 0x1c8 [0x40]: PERF_RECORD_THROTTLE: unhandled!\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_UNTHROTTLE, .throttle = {1, 7, 8}},
          "3 1010 0x1c8 [0x40]: PERF_RECORD_UNTHROTTLE: unhandled!\n");
}

static void finish_read(struct perfdata_record *rec, struct writer *room) {
    for (uint64_t i = 0; i < 5; i++) /* value, the two times, id, lost */
        writer_u64(room, (uint64_t[]){5, 6, 8, 7, 2}[i]);
    rec->read.values.entries = room->data;
    rec->read.values.swap = room->swap;
}

static void test_read(void **state) {
    (void)state;
    const uint64_t all = PERFDATA_FORMAT_TOTAL_TIME_ENABLED | PERFDATA_FORMAT_TOTAL_TIME_RUNNING |
                         PERFDATA_FORMAT_ID | PERFDATA_FORMAT_LOST;
    struct perfdata_record r = {
        .type = PERFDATA_RECORD_READ,
        .read = {11, 12, {.format = all, .count = 1, .time_enabled = 6, .time_running = 8}}};
    check_record(r, all, finish_read,
                 "3 1010 0x1c8 [0x58]: PERF_RECORD_READ: 11 12 cycles 5\n... time enabled : 6\n"
                 "... time running : 8\n... id           : 7\n... lost         : 2\n");
}

static void test_aux(void **state) {
    (void)state;
    struct perfdata_record a = {.type = PERFDATA_RECORD_AUX, .aux = {0, 0x20, 0}};
    check(a, "3 1010 0x1c8 [0x40]: PERF_RECORD_AUX offset: 0 size: 0x20 flags: 0 []\n");
    a.aux = (struct perfdata_aux){0x10, 0x20, 0x10f};
    check(a, "3 1010 0x1c8 [0x40]: PERF_RECORD_AUX offset: 0x10 size: 0x20 flags: 0x10f [TOPC]\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_ITRACE_START, .itrace_start = {11, 12}},
          "3 1010 0x1c8 [0x30]: PERF_RECORD_ITRACE_START pid: 11 tid: 12\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_AUX_OUTPUT_HW_ID, .aux_output_hw_id = {0x1234}},
          "3 1010 0x1c8 [0x30]: PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0x1234\n");
}

static void test_switches(void **state) {
    (void)state;
    struct perfdata_record s = {.type = PERFDATA_RECORD_SWITCH};
    check(s, "3 1010 0x1c8 [0x28]: PERF_RECORD_SWITCH IN         \n");
    s.misc = PERFDATA_MISC_SWITCH_OUT;
    check(s, "3 1010 0x1c8 [0x28]: PERF_RECORD_SWITCH OUT        \n");
    s.misc |= PERFDATA_MISC_SWITCH_OUT_PREEMPT;
    check(s, "3 1010 0x1c8 [0x28]: PERF_RECORD_SWITCH OUT preempt\n");
    struct perfdata_record w = {.type = PERFDATA_RECORD_SWITCH_CPU_WIDE, .switch_cpu_wide = {31, 32}};
    check(w, "3 1010 0x1c8 [0x30]: PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:    31/32   \n");
    w.misc = PERFDATA_MISC_SWITCH_OUT;
    check(w, "3 1010 0x1c8 [0x30]: PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:    31/32   \n");
}

static void finish_namespaces(struct perfdata_record *rec, struct writer *room) {
    for (uint64_t i = 0; i < 2 * rec->namespaces.nr; i++)
        writer_u64(room, i);
    rec->namespaces.links = words(room);
}

static void test_namespaces(void **state) {
    (void)state;
    struct perfdata_record n = {.type = PERFDATA_RECORD_NAMESPACES,
                                .namespaces = {.pid = 11, .tid = 12, .nr = 9}};
    check_record(n, 0, finish_namespaces,
                 "3 1010 0x1c8 [0xc8]: PERF_RECORD_NAMESPACES 11/12 - nr_namespaces: 9\n"
                 "\t\t[0/net: 0/0x1, 1/uts: 2/0x3, 2/ipc: 4/0x5, 3/pid: 6/0x7, \n"
                 "\t\t 4/user: 8/0x9, 5/mnt: 10/0xb, 6/cgroup: 12/0xd, 7/UNKNOWN: 14/0xf, \n"
                 "\t\t 8/UNKNOWN: 16/0x11]\n");
}

static void test_code(void **state) {
    (void)state;
    check((struct perfdata_record){.type = PERFDATA_RECORD_KSYMBOL,
                                   .ksymbol = {0xffffffff81000000, 100, 1, 2, TEXT("bpf_prog_xyz\0\0\0")}},
          "3 1010 0x1c8 [0x48]: PERF_RECORD_KSYMBOL addr ffffffff81000000 len 100 type 1 flags 0x2 name "
          "bpf_prog_xyz\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_BPF_EVENT, .bpf_event = {1, 2, 9, "ABCDEFG"}},
          "3 1010 0x1c8 [0x38]: PERF_RECORD_BPF_EVENT type 1, flags 2, id 9\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_CGROUP, .cgroup = {5, TEXT("/a/b\0\0\0")}},
          "3 1010 0x1c8 [0x38]: PERF_RECORD_CGROUP cgroup: 5 /a/b\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_TEXT_POKE,
                                   .text_poke = {0xffffffff81000000, 2, 18,
                                                 TEXT("ABabcdefghijklmnopqrstuvwxy")}},
          "3 1010 0x1c8 [0x50]: PERF_RECORD_TEXT_POKE ffffffff81000000  old len 2 new len 18\n"
          "            Old bytes: 41 42\n"
          "            New bytes: 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70\n"
          "            New bytes: 71 72\n");
}

static void finish_deferred(struct perfdata_record *rec, struct writer *room) {
    writer_u64(room, 0x1000);
    rec->callchain_deferred.ips = words(room);
}

static void test_deferred(void **state) {
    (void)state;
    struct perfdata_record d = {.type = PERFDATA_RECORD_CALLCHAIN_DEFERRED,
                                .misc = PERFDATA_MISC_USER,
                                .callchain_deferred = {.cookie = 0x55, .nr = 1}};
    check_record(d, 0, finish_deferred,
                 "3 1010 0x1c8 [0x40]: PERF_RECORD_CALLCHAIN_DEFERRED(IP, 0x2): 11/12: 0x55\n: unhandled!\n");
}

static void finish_id_index(struct perfdata_record *rec, struct writer *room) {
    for (uint64_t i = 1; i <= 3; i++)
        writer_u64(room, i);
    writer_u64(room, UINT64_MAX);
    rec->id_index.entries = words(room);
}

static void finish_guests(struct perfdata_record *rec, struct writer *room) {
    finish_id_index(rec, room);
    writer_u64(room, 9);
    writer_u64(room, 10);
    rec->id_index.entries = (struct perfdata_u64s){room->data, 4, room->swap};
    rec->id_index.guests = (struct perfdata_u64s){room->data + 32, 2, room->swap};
}

static void test_id_index(void **state) {
    (void)state;
    struct perfdata_record x = {.type = PERFDATA_RECORD_ID_INDEX, .id_index = {.nr = 1}};
    check_record(x, 0, finish_id_index,
                 "0 0 0x1c8 [0x30]: PERF_RECORD_ID_INDEX nr: 1\n ... id: 1  idx: 2  cpu: 3  tid: -1\n");
    check_record(x, 0, finish_guests,
                 "0 0 0x1c8 [0x40]: PERF_RECORD_ID_INDEX nr: 1\n"
                 " ... id: 1  idx: 2  cpu: 3  tid: -1  machine_pid: 9  vcpu: 10\n");
}

static void finish_threads(struct perfdata_record *rec, struct writer *room) {
    for (uint64_t i = 0; i < rec->thread_map.nr; i++) {
        writer_u64(room, i ? UINT64_MAX : 11);
        writer_put(room, "comm", 5);
        writer_zero(room, 11);
    }
    rec->thread_map.entries = writer_bytes(room);
}

static void finish_cpu_list(struct perfdata_record *rec, struct writer *room) {
    const uint16_t cpus[] = {6, 1, 2, 3, 8, 0xffff, 9};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        writer_u16(room, cpus[i]); /* the first is their number */
    rec->cpu_map.data = writer_bytes(room);
}

static void finish_cpu_range(struct perfdata_record *rec, struct writer *room) {
    writer_u8(room, 1);
    writer_u8(room, 0);
    writer_u16(room, 3);
    writer_u16(room, 9);
    rec->cpu_map.data = writer_bytes(room);
}

static void test_targets(void **state) {
    (void)state;
    struct perfdata_record t = {.type = PERFDATA_RECORD_THREAD_MAP, .thread_map = {.nr = 2}};
    check_record(t, 0, finish_threads,
                 "0 0 0x1c8 [0x40]: PERF_RECORD_THREAD_MAP nr: 2 threads: 11, -1\n: unhandled!\n");
    t.thread_map.nr = 1;
    check_record(t, 0, finish_threads,
                 "0 0 0x1c8 [0x28]: PERF_RECORD_THREAD_MAP nr: 1 thread: 11\n: unhandled!\n");
    struct perfdata_record c = {.type = PERFDATA_RECORD_CPU_MAP};
    check_record(c, 0, finish_cpu_list, "0 0 0x1c8 [0x18]: PERF_RECORD_CPU_MAP: 1-3,8,-1,9\n: unhandled!\n");
    c.cpu_map.map_type = 2;
    check_record(c, 0, finish_cpu_range, "0 0 0x1c8 [0x10]: PERF_RECORD_CPU_MAP: -1,3-9\n: unhandled!\n");
    c.cpu_map.map_type = 5;
    check_record(c, 0, finish_cpu_range,
                 "0 0 0x1c8 [0x10]: PERF_RECORD_CPU_MAP: failed to get cpumap from event\n: unhandled!\n");
}

static void finish_config(struct perfdata_record *rec, struct writer *room) {
    for (uint64_t i = 0; i < 8; i++)
        writer_u64(room, (uint64_t[]){0, 1, 1, 1000, 2, 4, 77, 5}[i]);
    rec->stat_config.pairs = words(room);
}

static void test_stat(void **state) {
    (void)state;
    check_record(
        (struct perfdata_record){.type = PERFDATA_RECORD_STAT_CONFIG, .stat_config = {.nr = 4}}, 0,
        finish_config,
        "0 0 0x1c8 [0x50]: PERF_RECORD_STAT_CONFIG\n... aggr_mode 1\n... scale     4\n... interval  1000\n"
        ": unhandled!\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_STAT, .stat = {7, 1, 2, 100, 200, 300}},
          "0 0 0x1c8 [0x30]: PERF_RECORD_STAT\n... id 7, cpu 1, thread 2\n"
          "... value 100, enabled 200, running 300\n: unhandled!\n");
    struct perfdata_record r = {.type = PERFDATA_RECORD_STAT_ROUND, .stat_round = {0, 12345}};
    check(r, "0 0 0x1c8 [0x18]: PERF_RECORD_STAT_ROUND\n... time 12345, type INTERVAL\n: unhandled!\n");
    r.stat_round.round_type = 1;
    check(r, "0 0 0x1c8 [0x18]: PERF_RECORD_STAT_ROUND\n... time 12345, type FINAL\n: unhandled!\n");
}

static void finish_scale(struct perfdata_record *rec, struct writer *room) {
    const double scale = 0.001;
    uint64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    writer_u64(room, bits);
    rec->event_update.data = writer_bytes(room);
}

static void finish_update_cpus(struct perfdata_record *rec, struct writer *room) {
    writer_u16(room, PERFDATA_CPU_MAP_RANGE);
    writer_u8(room, 0);
    writer_u8(room, 0);
    writer_u16(room, 0);
    writer_u16(room, 15);
    rec->event_update.data = writer_bytes(room);
}

static void test_event_update(void **state) {
    (void)state;
    struct perfdata_record u = {.type = PERFDATA_RECORD_EVENT_UPDATE,
                                .event_update = {0, 7, TEXT("msec\0\0\0")}};
    check(u, "0 0 0x1c8 [0x20]: PERF_RECORD_EVENT_UPDATE\n... id:    7\n... unit:  msec\n");
    u.event_update.update_type = 2;
    check(u, "0 0 0x1c8 [0x20]: PERF_RECORD_EVENT_UPDATE\n... id:    7\n... name:  msec\n");
    u.event_update.update_type = 9;
    check(u, "0 0 0x1c8 [0x20]: PERF_RECORD_EVENT_UPDATE\n... id:    7\n... unknown type\n");
    u.event_update.update_type = 1;
    check_record(u, 0, finish_scale,
                 "0 0 0x1c8 [0x20]: PERF_RECORD_EVENT_UPDATE\n... id:    7\n... scale: 0.001000\n");
    u.event_update.update_type = 3;
    check_record(u, 0, finish_update_cpus,
                 "0 0 0x1c8 [0x20]: PERF_RECORD_EVENT_UPDATE\n... id:    7\n... 0-15\n");
}

static void test_time_conv(void **state) {
    (void)state;
    struct perfdata_record t = {.type = PERFDATA_RECORD_TIME_CONV,
                                .time_conv = {31, 827833476, UINT64_MAX, false, 0, 0, 0, 0}};
    check(t,
          "0 0 0x1c8 [0x20]: PERF_RECORD_TIME_CONV\n... Time Shift      31\n... Time Multiplier 827833476\n"
          "... Time Zero       18446744073709551615\n: unhandled!\n");
    t.time_conv = (struct perfdata_time_conv){1, 2, 3, true, 4, 5, 1, 0};
    t.tail = (struct bytes){(const uint8_t *)"\0\0\0\0\0\0", 6};
    check(t, "0 0 0x1c8 [0x38]: PERF_RECORD_TIME_CONV\n... Time Shift      1\n... Time Multiplier 2\n"
             "... Time Zero       3\n... Time Cycles     4\n... Time Mask       0x5\n... Cap Time Zero   1\n"
             "... Cap Time Short  0\n: unhandled!\n");
}

static void finish_metadata(struct perfdata_record *rec, struct writer *room) {
    writer_put(room, "prog", 4);
    writer_zero(room, 508);
    writer_u64(room, 2);
    for (char c = '0'; c < '2'; c++) {
        writer_u8(room, 'k');
        writer_u8(room, (uint8_t)c);
        writer_zero(room, 62);
        writer_u8(room, 'v');
        writer_zero(room, 255);
    }
    rec->opaque.data = writer_bytes(room);
}

static void test_user_others(void **state) {
    (void)state;
    check((struct perfdata_record){.type = PERFDATA_RECORD_FINISHED_ROUND},
          "0 0 0x1c8 [0x8]: PERF_RECORD_FINISHED_ROUND\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_FINISHED_INIT},
          "0 0 0x1c8 [0x8]: PERF_RECORD_FINISHED_INIT: unhandled!\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_AUXTRACE,
                                   .auxtrace = {0x12a70, 0, 0x55, 1, UINT32_MAX, 3, 0}},
          "0 0 0x1c8 [0x30]: PERF_RECORD_AUXTRACE size: 0x12a70  offset: 0  ref: 0x55  idx: 1  tid: -1  cpu: "
          "3\n");
    check((struct perfdata_record){.type = PERFDATA_RECORD_HEADER_BUILD_ID,
                                   .build_id = {.filename = TEXT("/x\0")}},
          "0 0 0x1c8 [0x28]: PERF_RECORD_BUILD_ID");
    check_record(
        (struct perfdata_record){.type = PERFDATA_RECORD_BPF_METADATA}, 0, finish_metadata,
        "0 0 0x1c8 [0x490]: PERF_RECORD_BPF_METADATA prog prog\n  entry 0:                   k0 = v\n"
        "  entry 1:                   k1 = v\n: unhandled!\n");
    check((struct perfdata_record){.type = 200, .opaque = {TEXT("1234567")}},
          "0 0 0x1c8 [0x10]: PERF_RECORD_UNKNOWN type 200 size 16\n");
    check(
        (struct perfdata_record){
            .type = PERFDATA_RECORD_HEADER_ATTR,
            .header_attr = {.attr = {.type = 1, .size = 64, .known_size = 64, .config = 1}}},
        "0 0 0x1c8 [0x48]: PERF_RECORD_ATTR, type = 1 (PERF_TYPE_SOFTWARE), size = 64, "
        "config = 0x1 (PERF_COUNT_SW_TASK_CLOCK)");
}

static void finish_words(struct perfdata_record *rec, struct writer *room) {
    uint64_t first = rec->auxtrace_info.reserved; /* how many words: the tests pass it here */
    for (uint64_t i = 0; i < first; i++)
        writer_u64(room, rec->auxtrace_info.type == 3 && i == 3   ? 0x4040404040404040
                         : rec->auxtrace_info.type == 3 && i == 5 ? 9
                                                                  : i);
    if (rec->auxtrace_info.type == 1 && first > 17) /* the last of an Intel PT record's is text */
        memcpy(room->data + 8 * 17, "abc", 4);
    rec->auxtrace_info.priv = words(room);
    rec->auxtrace_info.reserved = 0;
}

static void test_auxtrace_info(void **state) {
    (void)state;
    struct perfdata_record a = {.type = PERFDATA_RECORD_AUXTRACE_INFO,
                                .auxtrace_info = {.type = 2, .reserved = 6}};
    check_record(
        a, 0, finish_words,
        "0 0 0x1c8 [0x40]: PERF_RECORD_AUXTRACE_INFO type: 2\n  PMU Type           0\n  Time Shift         "
        "1\n"
        "  Time Multiplier    2\n  Time Zero          3\n  Cap Time Zero      4\n  Snapshot mode      5\n");
    a.auxtrace_info = (struct perfdata_auxtrace_info){.type = 1, .reserved = 10};
    check_record(a, 0, finish_words,
                 "0 0 0x1c8 [0x60]: PERF_RECORD_AUXTRACE_INFO type: 1\n  PMU Type            0\n  Time Shift "
                 "         1\n"
                 "  Time Multiplier     2\n  Time Zero           3\n  Cap Time Zero       4\n  TSC bit       "
                 "      0x5\n"
                 "  NoRETComp bit       0x6\n  Have sched_switch   7\n  Snapshot mode       8\n  Per-cpu "
                 "maps        9\n");
    a.auxtrace_info = (struct perfdata_auxtrace_info){.type = 1, .reserved = 18};
    check_record(a, 0, finish_words,
                 "0 0 0x1c8 [0xa0]: PERF_RECORD_AUXTRACE_INFO type: 1\n  PMU Type            0\n  Time Shift "
                 "         1\n"
                 "  Time Multiplier     2\n  Time Zero           3\n  Cap Time Zero       4\n  TSC bit       "
                 "      0x5\n"
                 "  NoRETComp bit       0x6\n  Have sched_switch   7\n  Snapshot mode       8\n  Per-cpu "
                 "maps        9\n"
                 "  MTC bit             0xa\n  MTC freq bits       0xb\n  TSC:CTC numerator   12\n"
                 "  TSC:CTC denominator 13\n  CYC bit             0xe\n  Max non-turbo ratio 15\n"
                 "  Filter string len.  16\n  Filter string       abc\n");
    a.auxtrace_info = (struct perfdata_auxtrace_info){.type = 4, .reserved = 2};
    check_record(a, 0, finish_words,
                 "0 0 0x1c8 [0x20]: PERF_RECORD_AUXTRACE_INFO type: 4\n  PMU Type           :0\n  Per CPU "
                 "mmaps      :1\n");
    a.auxtrace_info = (struct perfdata_auxtrace_info){.type = 3, .reserved = 15};
    check_record(
        a, 0, finish_words,
        "0 0 0x1c8 [0x88]: PERF_RECORD_AUXTRACE_INFO type: 3\n\tHeader version\t\t       0\n"
        "\tPMU type/num cpus\t       1\n\tSnapshot\t\t       2\n\tMagic number\t\t       4040404040404040\n"
        "\tCPU\t\t\t       4\n\tTRCCONFIGR\t\t       9\n\tTRCTRACEIDR\t\t       6\n\tTRCIDR0\t\t\t       7\n"
        "\tTRCIDR1\t\t\t       8\n\tTRCIDR2\t\t\t       9\n\tTRCIDR8\t\t\t       a\n\tTRCAUTHSTATUS\t\t      "
        " b\n"
        "\tMagic number Unknown\t       c\n");
    a.auxtrace_info = (struct perfdata_auxtrace_info){.type = 99, .reserved = 2};
    check_record(a, 0, finish_words, "0 0 0x1c8 [0x20]: PERF_RECORD_AUXTRACE_INFO type: 99\n");
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),         cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_losses),       cmocka_unit_test(test_read),
        cmocka_unit_test(test_aux),          cmocka_unit_test(test_switches),
        cmocka_unit_test(test_namespaces),   cmocka_unit_test(test_code),
        cmocka_unit_test(test_deferred),     cmocka_unit_test(test_id_index),
        cmocka_unit_test(test_targets),      cmocka_unit_test(test_stat),
        cmocka_unit_test(test_event_update), cmocka_unit_test(test_time_conv),
        cmocka_unit_test(test_user_others),  cmocka_unit_test(test_auxtrace_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
