/* SPDX-License-Identifier: Apache-2.0 */
/* What the recordings here are of (make.sh): program WHAT [MILLIONS]. Without libraries, so that their tables
 * are not kept in the recordings: built with -static -nostdlib. */
static volatile unsigned long sum;

static inline __attribute__((always_inline)) void twice(unsigned long i) {
    sum += i;
    sum ^= i << 1;
}

__attribute__((noinline)) void leaf(unsigned long n) {
    for (unsigned long i = 0; i < n; i++)
        twice(i);
}

__attribute__((noinline)) void middle(unsigned long n) {
    leaf(n * 3 / 4);
    for (unsigned long i = 0; i < n / 4; i++)
        sum += i;
}

__attribute__((noinline)) void recursive(unsigned depth, unsigned long n) {
    if (depth)
        recursive(depth - 1, n);
    else
        middle(n);
    sum++;
}

__attribute__((noinline)) void outer(unsigned long n) {
    middle(n / 2);
    recursive(4, n / 2);
}

static long call(long number, long a, long b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}

/* Reads zeros, so that the kernel works. */
__attribute__((noinline)) void reads(unsigned long n) {
    static char room[1 << 20];
    long fd = call(2, (long)"/dev/zero", 0, 0);
    for (unsigned long i = 0; i < n; i++)
        call(0, fd, (long)room, sizeof room);
}

/* Touches pages that it has not touched before. */
__attribute__((noinline)) void touches(unsigned long n) {
    static char pages[64 << 20];
    for (unsigned long i = 0; i < n && i * 4096 < sizeof pages; i++)
        pages[i * 4096] = 1;
}

/* Two children that do the same and end. */
__attribute__((noinline)) void forks(unsigned long n) {
    for (int i = 0; i < 2; i++)
        if (call(57, 0, 0, 0) == 0) {
            middle(n);
            call(60, 0, 0, 0);
        }
    for (int i = 0; i < 2; i++)
        call(61, -1, 0, 0);
}

/* The file that it runs from is gone before it works. */
__attribute__((noinline)) void vanishes(const char *path, unsigned long n) {
    call(87, (long)path, 0, 0);
    outer(n);
}

__attribute__((used)) int begin(long *stack) {
    char **argv = (char **)(stack + 1);
    unsigned long n = 0;
    for (const char *p = stack[0] > 2 ? argv[2] : ""; *p; p++)
        n = n * 10 + (unsigned long)(*p - '0');
    switch (stack[0] > 1 ? argv[1][0] : 'o') {
    case 'r':
        reads(n);
        break;
    case 't':
        touches(n);
        break;
    case 'f':
        forks(n * 1000000);
        break;
    case 'x':
        vanishes(argv[0], n * 1000000);
        break;
    default:
        outer(n * 1000000);
    }
    return (int)call(60, 0, 0, 0);
}

__asm__(".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined rip\nxor %ebp, %ebp\n"
        "mov %rsp, %rdi\nand $-16, %rsp\ncall begin\nhlt\n.cfi_endproc\n.size _start, .-_start\n");
