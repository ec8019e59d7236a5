/* SPDX-License-Identifier: Apache-2.0 */
#include "record/off_cpu/copies.h"

#include "os/bpf/bpf_maps.h"
#include "record/plan/plan.h"

enum { WORD = 8, SIZE_MAX_BYTES = 65528, PROCESSES_MOST = 4096 };

/* How many pages a copy takes. */
static uint32_t pages_of(uint32_t bytes) {
    return (bytes + BPF_OFF_CPU_PAGE - 1) / BPF_OFF_CPU_PAGE;
}

void record_copies_init(struct record_copies *c, struct os_bpf_object *object, uint32_t bytes) {
    *c = (struct record_copies){.object = object,
                                .bytes = bytes < SIZE_MAX_BYTES ? bytes : SIZE_MAX_BYTES,
                                .page = writer_make(false),
                                .stack = writer_make(false),
                                .own_bytes = writer_make(false)};
    if (!c->bytes)
        return;
    c->pages = RECORD_COPIES_BYTES / 2 / BPF_OFF_CPU_PAGE;
    os_bpf_set_entries(object, OFF_CPU_MAP_PAGES, 2 * c->pages);
    os_bpf_set_entries(object, OFF_CPU_MAP_CODE, PROCESSES_MOST);
    os_bpf_set_entries(object, OFF_CPU_MAP_COPIES, 2 * c->pages / pages_of(c->bytes));
}

void record_copies_fini(struct record_copies *c) {
    writer_fini(&c->page);
    writer_fini(&c->stack);
    writer_fini(&c->own_bytes);
    vec_fini(&c->old);
    vec_fini(&c->own);
}

static struct bpf_off_cpu_bss *bss(const struct record_copies *c) {
    return os_bpf_data(c->object, OFF_CPU_MAP_BSS);
}

bool record_copies_due(const struct record_copies *c) {
    const struct bpf_off_cpu_bss *b = bss(c);
    uint32_t now = __atomic_load_n(&b->generation, __ATOMIC_RELAXED) & 1;
    return c->bytes && __atomic_load_n(&b->pages_used[now], __ATOMIC_RELAXED) >= c->pages / 2;
}

/* --- by hash --- */

static bool give(struct record_copies *c, struct bytes stack, struct perfdata_sample *s) {
    uint64_t count = (uint64_t)__builtin_popcountll(c->registers.mask);
    size_t size = stack.size & ~(size_t)(WORD - 1);
    if (!size || c->registers.mask != record_plan_off_cpu_regs())
        return false;
    s->regs_user = (struct perfdata_regs){.abi = c->registers.abi,
                                          .mask = c->registers.mask,
                                          .values = {(const uint8_t *)c->registers.values, count, false}};
    s->stack_user = (struct bytes){stack.data, size};
    s->stack_dyn_size = size;
    return true;
}

/* Puts the pages of a copy together. False: they are not all there, or memory ran out. */
static bool assemble(struct record_copies *c, const struct bpf_off_cpu_copy *copy) {
    const struct os_bpf *bpf = c->object->bpf;
    int fd = c->object->maps[OFF_CPU_MAP_PAGES].fd;
    uint32_t left = copy->bytes < c->bytes ? copy->bytes : c->bytes;
    writer_clear(&c->stack);
    writer_clear(&c->page);
    writer_zero(&c->page, BPF_OFF_CPU_PAGE);
    for (uint32_t i = copy->first_page; left && writer_ok(&c->page); i++) {
        uint32_t n = left < BPF_OFF_CPU_PAGE ? left : BPF_OFF_CPU_PAGE;
        if (os_bpf_lookup(bpf, fd, &i, c->page.data) < 0)
            return false;
        writer_put(&c->stack, c->page.data, n);
        left -= n;
    }
    return writer_ok(&c->page) && writer_ok(&c->stack);
}

bool record_copies_find(struct record_copies *c, uint64_t hash, struct perfdata_sample *s) {
    struct bpf_off_cpu_copy copy;
    uint32_t now = bss(c)->generation & 1;
    for (uint32_t i = 0; i < 2; i++) {
        struct bpf_off_cpu_copy_key key = {.hash = hash, .generation = now ^ i};
        if (os_bpf_lookup(c->object->bpf, c->object->maps[OFF_CPU_MAP_COPIES].fd, &key, &copy) < 0)
            continue;
        if (!assemble(c, &copy))
            break;
        c->registers = copy.registers;
        return give(c, writer_bytes(&c->stack), s);
    }
    return false;
}

/* --- generations --- */

static bool note_old(void *ctx, const void *key, const void *value) {
    struct record_copies *c = ctx;
    struct bpf_off_cpu_copy_key k;
    (void)value;
    memcpy(&k, key, sizeof k);
    if (k.generation == (bss(c)->generation & 1))
        return true;
    struct bpf_off_cpu_copy_key *to = vec_push(&c->old);
    if (to)
        *to = k;
    return to;
}

bool record_copies_turn(struct record_copies *c) {
    const struct os_bpf *bpf = c->object->bpf;
    struct bpf_off_cpu_bss *b = bss(c);
    int fd = c->object->maps[OFF_CPU_MAP_COPIES].fd;
    uint32_t next = (b->generation & 1) ^ 1;
    if (!c->bytes)
        return true;
    vec_clear(&c->old);
    int status = os_bpf_each(bpf, fd, sizeof(struct bpf_off_cpu_copy_key), sizeof(struct bpf_off_cpu_copy),
                             note_old, c);
    for (size_t i = 0; i < c->old.count; i++)
        os_bpf_delete(bpf, fd, &c->old.items[i]);
    if (status < 0)
        return false;
    __atomic_store_n(&b->pages_used[next], 0, __ATOMIC_RELEASE);
    __atomic_store_n(&b->generation, next, __ATOMIC_RELEASE);
    return true;
}

/* --- of threads that still wait --- */

static uint64_t stack_pointer(const struct bpf_off_cpu_registers *r) {
    return r->mask == BPF_OFF_CPU_REGS_X86     ? r->values[2]
           : r->mask == BPF_OFF_CPU_REGS_ARM64 ? r->values[12]
                                               : 0;
}

/* As many bytes of `most` as can be read: stacks end somewhere. */
static size_t read_stack(const struct os_proc *proc, int32_t pid, uint64_t from, uint8_t *to, size_t most) {
    size_t at = 0, piece = 32768;
    if (proc->memory(proc->ctx, pid, from, to, most, NULL))
        return most;
    for (; piece >= WORD; piece /= 2)
        if (at + piece <= most && proc->memory(proc->ctx, pid, from + at, to + at, piece, NULL))
            at += piece;
    return at;
}

uint32_t record_copies_read(struct record_copies *c, const struct os_proc *proc,
                            const struct bpf_off_cpu_still *still) {
    uint64_t sp = stack_pointer(&still->registers);
    size_t start = c->own_bytes.size;
    if (!c->bytes || !sp)
        return 0;
    if (start + c->bytes > RECORD_COPIES_BYTES) {
        c->no_room++;
        return 0;
    }
    writer_zero(&c->own_bytes, c->bytes);
    if (!writer_ok(&c->own_bytes))
        return 0;
    size_t n = read_stack(proc, (int32_t)still->key.pid, sp, c->own_bytes.data + start, c->bytes);
    struct record_copies_own *to = n ? vec_push(&c->own) : NULL;
    c->own_bytes.size = start + (to ? n : 0);
    if (!to)
        return 0;
    *to = (struct record_copies_own){still->registers, start, n};
    return (uint32_t)c->own.count;
}

bool record_copies_own(struct record_copies *c, uint32_t number, struct perfdata_sample *s) {
    const struct record_copies_own *own = &c->own.items[number - 1];
    c->registers = own->registers;
    return give(c, (struct bytes){c->own_bytes.data + own->at, own->bytes}, s);
}

void record_copies_forget(struct record_copies *c) {
    vec_clear(&c->own);
    writer_clear(&c->own_bytes);
}
