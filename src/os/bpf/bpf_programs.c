/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc/proc_internal.h"

static long call(int command, union bpf_attr *attr) {
    return syscall(SYS_bpf, command, attr, sizeof *attr);
}

/* Asks for a program's facts; the arrays get as many items as `info` says there is room for. */
static bool get_info(int fd, struct bpf_prog_info *info) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.info.bpf_fd = (uint32_t)fd;
    attr.info.info_len = sizeof *info;
    attr.info.info = (uintptr_t)info;
    return call(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
}

static bool read_program(int fd, struct os_bpf_program *out) {
    uint64_t addresses[OS_BPF_FUNCTIONS_MAX] = {0};
    uint32_t sizes[OS_BPF_FUNCTIONS_MAX] = {0};
    uint8_t tags[OS_BPF_FUNCTIONS_MAX][BPF_TAG_SIZE] = {0};
    struct bpf_prog_info info = {
        .nr_jited_ksyms = OS_BPF_FUNCTIONS_MAX,
        .jited_ksyms = (uintptr_t)addresses,
        .nr_jited_func_lens = OS_BPF_FUNCTIONS_MAX,
        .jited_func_lens = (uintptr_t)sizes,
        .nr_prog_tags = OS_BPF_FUNCTIONS_MAX,
        .prog_tags = (uintptr_t)tags,
    };
    if (!get_info(fd, &info))
        return false;
    memcpy(out->tag, info.tag, sizeof out->tag);
    memcpy(out->name, info.name, sizeof info.name);
    uint32_t n =
        info.nr_jited_ksyms < info.nr_jited_func_lens ? info.nr_jited_ksyms : info.nr_jited_func_lens;
    out->function_count = n < OS_BPF_FUNCTIONS_MAX ? n : OS_BPF_FUNCTIONS_MAX;
    for (uint32_t i = 0; i < out->function_count; i++) {
        out->functions[i].address = addresses[i];
        out->functions[i].size = sizes[i];
        memcpy(out->functions[i].tag, i < info.nr_prog_tags ? tags[i] : info.tag, BPF_TAG_SIZE);
    }
    return true;
}

int os_bpf_next(void *ctx, uint32_t after, struct os_bpf_program *out) {
    union bpf_attr attr;
    (void)ctx;
    memset(out, 0, sizeof *out);
    memset(&attr, 0, sizeof attr);
    attr.start_id = after;
    if (call(BPF_PROG_GET_NEXT_ID, &attr) != 0)
        return 0;
    out->id = attr.next_id;
    memset(&attr, 0, sizeof attr);
    attr.prog_id = out->id;
    long fd = call(BPF_PROG_GET_FD_BY_ID, &attr);
    if (fd < 0)
        return -1;
    bool ok = read_program((int)fd, out);
    close((int)fd);
    return ok ? 1 : -1;
}

/* --- all about a program --- */

enum { DATA_MAX = 16 << 20, BTF_MAX = 64 << 20 };

/* Arrays that struct bpf_prog_info points at; the bits are those found in files of perf record. */
#define AT(field) offsetof(struct bpf_prog_info, field)
static const struct {
    uint8_t bit, item; /* item: bytes; 0: as the field at size_at says */
    uint16_t count_at, pointer_at, size_at;
} ARRAYS[] = {
    {0, 1, AT(jited_prog_len), AT(jited_prog_insns), 0},
    {3, 8, AT(nr_jited_ksyms), AT(jited_ksyms), 0},
    {4, 4, AT(nr_jited_func_lens), AT(jited_func_lens), 0},
    {5, 0, AT(nr_func_info), AT(func_info), AT(func_info_rec_size)},
    {6, 0, AT(nr_line_info), AT(line_info), AT(line_info_rec_size)},
    {7, 0, AT(nr_jited_line_info), AT(jited_line_info), AT(jited_line_info_rec_size)},
    {8, BPF_TAG_SIZE, AT(nr_prog_tags), AT(prog_tags), 0},
};
enum { ARRAY_COUNT = sizeof ARRAYS / sizeof *ARRAYS };

static uint32_t field32(const struct bpf_prog_info *info, uint16_t at) {
    return bytes_load32((const uint8_t *)info + at, false);
}

static uint64_t array_bytes(const struct bpf_prog_info *info, size_t i) {
    uint64_t item = ARRAYS[i].item ? ARRAYS[i].item : field32(info, ARRAYS[i].size_at);
    return (uint64_t)field32(info, ARRAYS[i].count_at) * item;
}

/* Asks for the counts first, then for everything there is. */
static bool read_all(int fd, struct os_bpf_info *out) {
    struct bpf_prog_info counts = {0}, info = {0};
    uint64_t offsets[ARRAY_COUNT], size = 0;
    if (!get_info(fd, &counts))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT; i++) {
        offsets[i] = size;
        size += (array_bytes(&counts, i) + 7) & ~7ull;
    }
    if (size > DATA_MAX || !writer_grow(&out->data, (size_t)size + 8))
        return false;
    memset(out->data.data, 0, (size_t)size);
    for (size_t i = 0; i < ARRAY_COUNT; i++) {
        uint64_t pointer = (uintptr_t)(out->data.data + offsets[i]);
        uint32_t count = field32(&counts, ARRAYS[i].count_at);
        if (!array_bytes(&counts, i))
            continue;
        out->arrays |= 1ull << ARRAYS[i].bit;
        memcpy((uint8_t *)&info + ARRAYS[i].count_at, &count, sizeof count);
        memcpy((uint8_t *)&info + ARRAYS[i].pointer_at, &pointer, sizeof pointer);
        if (ARRAYS[i].size_at)
            memcpy((uint8_t *)&info + ARRAYS[i].size_at, (uint8_t *)&counts + ARRAYS[i].size_at, 4);
    }
    if (!get_info(fd, &info))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        if (array_bytes(&counts, i))
            memcpy((uint8_t *)&info + ARRAYS[i].pointer_at, &offsets[i], sizeof offsets[i]);
    out->data.size = (size_t)size;
    writer_put(&out->info, &info, sizeof info);
    return writer_ok(&out->info);
}

static int open_id(int command, uint32_t id) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_id = id; /* in one union with btf_id */
    return (int)call(command, &attr);
}

bool os_bpf_info(void *ctx, uint32_t id, struct os_bpf_info *out) {
    (void)ctx;
    *out = (struct os_bpf_info){.info = writer_make(false), .data = writer_make(false)};
    int fd = open_id(BPF_PROG_GET_FD_BY_ID, id);
    bool ok = fd >= 0 && read_all(fd, out);
    if (fd >= 0)
        close(fd);
    if (!ok) {
        writer_fini(&out->info);
        writer_fini(&out->data);
    }
    return ok;
}

bool os_bpf_btf(void *ctx, uint32_t id, struct writer *into) {
    struct bpf_btf_info info = {0};
    union bpf_attr attr;
    size_t at = into->size;
    (void)ctx;
    int fd = open_id(BPF_BTF_GET_FD_BY_ID, id);
    bool ok = fd >= 0;
    for (int pass = 0; ok && pass < 2; pass++) { /* how long it is, then what it says */
        memset(&attr, 0, sizeof attr);
        attr.info.bpf_fd = (uint32_t)fd;
        attr.info.info_len = sizeof info;
        attr.info.info = (uintptr_t)&info;
        uint32_t size = info.btf_size;
        ok = !pass || (size && size <= BTF_MAX && writer_grow(into, size));
        info = (struct bpf_btf_info){.btf_size = pass ? size : 0,
                                     .btf = pass && ok ? (uintptr_t)(into->data + at) : 0};
        ok = ok && call(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
    }
    if (fd >= 0)
        close(fd);
    into->size = at + (ok ? info.btf_size : 0);
    return ok;
}
