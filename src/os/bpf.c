/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc_internal.h"

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
