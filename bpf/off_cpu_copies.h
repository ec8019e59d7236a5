/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Copies of user stacks, which user space unwinds by tables (record --off-cpu --call-graph dwarf): for
 * off_cpu.bpf.c alone.
 *
 *     copies   {hash, generation} -> registers, first page, bytes
 *     pages    | generation 0: options.pages | generation 1: options.pages |
 *
 *     code     process -> where its code lies
 *
 * A stack is copied once in a generation. Two stacks are the same if they have the same instruction and
 * stack pointers and the same addresses of code in their innermost 4 KB: other contents, such as counters,
 * times and pointers to data, change without the callers being different. Until it is known where a process's
 * code lies, all that may be addresses must be the same.
 */
#ifndef SONDE_BPF_OFF_CPU_COPIES_H
#define SONDE_BPF_OFF_CPU_COPIES_H

enum {
    LOOKED_AT = 512,    /* words */
    PIECE = 16,         /* words that are read at a time if they cannot all be read at once */
    PAGES_MAX = 8,      /* of a copy */
    STEPS = 10,         /* halvings from a page down to a word */
    COMPAT_CODE = 0x23, /* the code segment of 32-bit programs on x86 */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_off_cpu_page);
} pages SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct bpf_off_cpu_copy_key);
    __type(value, struct bpf_off_cpu_copy);
} copies SEC(".maps");

struct mm_struct___code {
    unsigned long exec_vm; /* pages that may be executed */
} __attribute__((preserve_access_index));

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_off_cpu_code);
} code SEC(".maps");

struct copying {
    struct bpf_off_cpu_copy copy;
    __u64 words[LOOKED_AT];
    __u32 at, unused;
    struct bpf_off_cpu_code asked;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct copying);
} copying SEC(".maps");

/* The generation that is written to now; user space switches it. */
__u32 generation;
__u32 pages_used[2]; /* by generation; may exceed options.pages */

/* The registers with which the thread entered the kernel. Returns its stack pointer, 0 for none. */
static __u64 read_registers(struct task_struct *task, struct bpf_off_cpu_registers *to) {
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    to->mask = 0;
    if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax)) {
        struct pt_regs___x86 *x86 = (struct pt_regs___x86 *)regs;
        to->mask = BPF_OFF_CPU_REGS_X86;
        to->abi = BPF_CORE_READ(x86, cs) == COMPAT_CODE ? 1 : 2;
        to->values[0] = BPF_CORE_READ(x86, bx);
        to->values[1] = BPF_CORE_READ(x86, bp);
        to->values[2] = BPF_CORE_READ(x86, sp);
        to->values[3] = BPF_CORE_READ(x86, ip);
        to->values[4] = BPF_CORE_READ(x86, r12);
        to->values[5] = BPF_CORE_READ(x86, r13);
        to->values[6] = BPF_CORE_READ(x86, r14);
        to->values[7] = BPF_CORE_READ(x86, r15);
        return to->values[2];
    }
    if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->syscallno)) {
        struct pt_regs___arm64 *arm64 = (struct pt_regs___arm64 *)regs;
        to->mask = BPF_OFF_CPU_REGS_ARM64;
        to->abi = 2;
        bpf_probe_read_kernel(to->values, 12 * sizeof *to->values, &arm64->regs[19]);
        to->values[12] = BPF_CORE_READ(arm64, sp);
        to->values[13] = BPF_CORE_READ(arm64, pc);
        return to->values[12];
    }
    return 0;
}

static __u64 mix(__u64 hash, __u64 word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 32;
}

/* Whether the word may be an address: nothing is mapped below 64 KB, nor on x86 from 2^47 on. */
static bool may_be_address(__u64 word) {
    return word >> 16 && !(bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax) && word >> 47);
}

/* Whether the word lies in one of the ranges. */
static bool is_code(const struct bpf_off_cpu_code *where, __u64 word) {
    __u32 at = 0;
    for (__u32 step = BPF_OFF_CPU_RANGES / 2; step; step /= 2) {
        __u32 next = (at + step) & (BPF_OFF_CPU_RANGES - 1);
        at = where->ranges[next].start <= word ? next : at;
    }
    at &= BPF_OFF_CPU_RANGES - 1;
    return word - where->ranges[at].start < where->ranges[at].size;
}

/* The hash with another word of the stack. Not static: the verifier checks it once, not for each word. */
__attribute__((noinline)) __u64 mix_word(const struct bpf_off_cpu_code *where, __u64 hash, __u64 word) {
    if (!where || !may_be_address(word) || (where->filled && !is_code(where, word)))
        return hash;
    return mix(hash, word);
}

/* Where the process's code lies. Without ranges: not known now, and user space is asked for it. */
static struct bpf_off_cpu_code *code_of(struct task_struct *task, struct copying *c) {
    __u32 pid = task->tgid;
    struct mm_struct *mm = task->mm;
    __u64 pages = BPF_CORE_READ((struct mm_struct___code *)mm, exec_vm);
    struct bpf_off_cpu_code *where = bpf_map_lookup_elem(&code, &pid);
    if (where && where->memory == (__u64)mm && where->pages == pages)
        return where;
    c->asked.memory = (__u64)mm;
    c->asked.pages = pages;
    bpf_map_update_elem(&code, &pid, &c->asked, BPF_ANY);
    __sync_fetch_and_add(&news, 1);
    return &c->asked;
}

/* A hash that identifies this stack. */
static __u64 identify(struct task_struct *task, struct copying *c, __u64 sp) {
    struct bpf_off_cpu_code *where = code_of(task, c);
    __u64 hash = mix(0x9e3779b97f4a7c15ull, sp);
    bool x86 = c->copy.registers.mask == BPF_OFF_CPU_REGS_X86;
    __u64 pc = c->copy.registers.values[x86 ? 3 : 13], frame = c->copy.registers.values[x86 ? 1 : 10];
    hash = mix(hash, pc);
    hash = may_be_address(frame) && !where->filled ? mix(hash, frame) : hash;
    if (!x86) /* return address of leaf functions: in the link register */
        hash = mix(hash, c->copy.registers.values[11]);
    if (bpf_probe_read_user(c->words, sizeof c->words, (void *)sp)) /* the stack's end is near */
        for (__u32 i = 0; i < LOOKED_AT; i += PIECE)
            if (bpf_probe_read_user(c->words + i, PIECE * sizeof *c->words, (void *)(sp + 8 * i)))
                break;
    for (__u32 i = 0; i < LOOKED_AT; i++)
        hash = mix_word(where, hash, c->words[i]);
    return hash ? hash : 1;
}

/* Copies up to `n` bytes from `from` on. Returns how many could be read. */
static __u32 copy_page(struct copying *c, struct bpf_off_cpu_page *page, __u64 from, __u32 n) {
    if (n > BPF_OFF_CPU_PAGE)
        return 0;
    if (bpf_probe_read_user(page->bytes, n, (void *)from) == 0)
        return n;
    c->at = 0;
    for (__u32 i = 0, piece = BPF_OFF_CPU_PAGE / 2; i < STEPS; i++, piece /= 2) {
        volatile __u32 *at = &c->at; /* in memory: to the verifier all steps are alike */
        __u32 to = *at, last = BPF_OFF_CPU_PAGE - piece;
        barrier_var(to); /* the verifier of Linux 6.1 wants the same register to be compared and added */
        if (to <= last && to + piece <= n &&
            bpf_probe_read_user(page->bytes + to, piece, (void *)(from + to)) == 0)
            *at = to + piece;
    }
    return c->at;
}

/* Copies the stack into pages of this generation: false where there are none left. */
static bool copy_pages(struct copying *c, __u32 which, __u64 sp) {
    __u32 n = (options.copy_bytes + BPF_OFF_CPU_PAGE - 1) / BPF_OFF_CPU_PAGE, done = 0;
    if (pages_used[which] + n > options.pages)
        return false;
    __u32 first = __sync_fetch_and_add(&pages_used[which], n);
    if (first + n > options.pages)
        return false;
    c->copy.first_page = which * options.pages + first;
    for (__u32 i = 0; i < PAGES_MAX; i++) {
        __u32 index = c->copy.first_page + i, want = options.copy_bytes - done;
        struct bpf_off_cpu_page *page = i < n ? bpf_map_lookup_elem(&pages, &index) : NULL;
        want = want < BPF_OFF_CPU_PAGE ? want : BPF_OFF_CPU_PAGE;
        __u32 got = page ? copy_page(c, page, sp + done, want) : 0;
        done += got;
        if (got < BPF_OFF_CPU_PAGE)
            break;
    }
    c->copy.bytes = done;
    return true;
}

/* Copies the current thread's user stack. Returns the hash of the copy, 0 for none. Not static, so that the
 * verifier checks it once, however often it is called. */
__attribute__((noinline)) __u64 copy_user_stack(void) {
    struct task_struct *task = bpf_get_current_task_btf();
    struct copying *c = bpf_map_lookup_elem(&copying, &ZERO);
    struct bpf_off_cpu_counters *n = count();
    __u64 sp = c && n ? read_registers(task, &c->copy.registers) : 0;
    if (!c || !n || !sp)
        return 0;
    __u32 which = generation & 1;
    struct bpf_off_cpu_copy_key key = {.hash = identify(task, c, sp), .generation = which};
    if (bpf_map_lookup_elem(&copies, &key))
        return key.hash;
    if (!copy_pages(c, which, sp)) {
        n->lost_copies++;
        return 0;
    }
    if (!c->copy.bytes) /* its memory is not resident */
        return 0;
    if (bpf_map_update_elem(&copies, &key, &c->copy, BPF_NOEXIST) && !bpf_map_lookup_elem(&copies, &key)) {
        n->lost_copies++;
        return 0;
    }
    n->copies++;
    return key.hash;
}

#endif
