/* SPDX-License-Identifier: Apache-2.0 */
/* The text of single instructions: each row's is objdump's (binutils 2.40), at address 0x1000, without
 * symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "object/disasm/disasm.h"

struct row {
    uint8_t length;
    const char *bytes, *att, *intel;
};

static const struct row rows_64[] = {
    {2, "\x89\xca", "mov    %ecx,%edx", "mov    edx,ecx"},
    {5, "\x48\x8b\x7c\x24\x10", "mov    0x10(%rsp),%rdi", "mov    rdi,QWORD PTR [rsp+0x10]"},
    {9, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", "mov    %fs:0x28,%rax", "mov    rax,QWORD PTR fs:0x28"},
    {7, "\x48\x8d\x1d\x10\x00\x00\x00", "lea    0x10(%rip),%rbx        # 0x1017",
     "lea    rbx,[rip+0x10]        # 0x1017"},
    {4, "\x48\x83\xc4\xff", "add    $0xffffffffffffffff,%rsp", "add    rsp,0xffffffffffffffff"},
    {3, "\x83\xc8\xff", "or     $0xffffffff,%eax", "or     eax,0xffffffff"},
    {4, "\x66\x83\xc8\xff", "or     $0xffff,%ax", "or     ax,0xffff"},
    {9, "\x48\xc7\x44\x24\x08\xff\xff\xff\xff", "movq   $0xffffffffffffffff,0x8(%rsp)",
     "mov    QWORD PTR [rsp+0x8],0xffffffffffffffff"},
    {6, "\xc7\x00\x01\x00\x00\x00", "movl   $0x1,(%rax)", "mov    DWORD PTR [rax],0x1"},
    {3, "\x80\x38\x3a", "cmpb   $0x3a,(%rax)", "cmp    BYTE PTR [rax],0x3a"},
    {5, "\xb8\xff\xff\xff\x7f", "mov    $0x7fffffff,%eax", "mov    eax,0x7fffffff"},
    {10, "\x48\xb8\x00\x01\x02\x03\x04\x05\x06\x07", "movabs $0x706050403020100,%rax",
     "movabs rax,0x706050403020100"},
    {9, "\xa1\x00\x01\x02\x03\x04\x05\x06\x07", "movabs 0x706050403020100,%eax",
     "movabs eax,ds:0x706050403020100"},
    {2, "\x6a\xff", "push   $0xffffffffffffffff", "push   0xffffffffffffffff"},
    {3, "\x66\x6a\xff", "pushw  $0xffff", "pushw  0xffff"},
    {5, "\x68\xff\xff\xff\xff", "push   $0xffffffffffffffff", "push   0xffffffffffffffff"},
    {2, "\xff\x30", "push   (%rax)", "push   QWORD PTR [rax]"},
    {3, "\x66\xff\x30", "pushw  (%rax)", "push   WORD PTR [rax]"},
    {2, "\x8f\x00", "pop    (%rax)", "pop    QWORD PTR [rax]"},
    {1, "\x55", "push   %rbp", "push   rbp"},
    {1, "\x5f", "pop    %rdi", "pop    rdi"},
    {1, "\xc3", "ret", "ret"},
    {3, "\xc2\x10\x00", "ret    $0x10", "ret    0x10"},
    {2, "\xf3\xc3", "repz ret", "repz ret"},
    {2, "\xf2\xc3", "bnd ret", "bnd ret"},
    {1, "\xc9", "leave", "leave"},
    {1, "\xcb", "lret", "retf"},
    {2, "\x48\xcb", "lretq", "retfq"},
    {1, "\xcf", "iret", "iret"},
    {2, "\x48\xcf", "iretq", "iretq"},
    {1, "\x9c", "pushf", "pushf"},
    {1, "\x9d", "popf", "popf"},
    {2, "\x66\x9c", "pushfw", "pushfw"},
    {4, "\xc8\x10\x00\x02", "enter  $0x10,$0x2", "enter  0x10,0x2"},
    {5, "\xe8\x10\x00\x00\x00", "call   0x1015", "call   0x1015"},
    {6, "\x67\xe8\x10\x00\x00\x00", "addr32 call 0x1016", "addr32 call 0x1016"},
    {8, "\x66\x66\x48\xe8\x10\x00\x00\x00", "data16 data16 rex.W call 0x1018",
     "data16 data16 rex.W call 0x1018"},
    {2, "\xeb\x02", "jmp    0x1004", "jmp    0x1004"},
    {2, "\x74\x02", "je     0x1004", "je     0x1004"},
    {3, "\x2e\x75\x02", "jne,pn 0x1005", "cs jne 0x1005"},
    {3, "\x3e\x75\x02", "jne,pt 0x1005", "ds jne 0x1005"},
    {3, "\xf2\x75\x02", "bnd jne 0x1005", "bnd jne 0x1005"},
    {2, "\xe3\x02", "jrcxz  0x1004", "jrcxz  0x1004"},
    {3, "\x67\xe3\x02", "jecxz  0x1005", "jecxz  0x1005"},
    {2, "\xff\xe0", "jmp    *%rax", "jmp    rax"},
    {3, "\x3e\xff\xe0", "notrack jmp *%rax", "notrack jmp rax"},
    {2, "\xff\x20", "jmp    *(%rax)", "jmp    QWORD PTR [rax]"},
    {6, "\xff\x15\x10\x00\x00\x00", "call   *0x10(%rip)        # 0x1016",
     "call   QWORD PTR [rip+0x10]        # 0x1016"},
    {9, "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", "nopw   0x0(%rax,%rax,1)", "nop    WORD PTR [rax+rax*1+0x0]"},
    {11, "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "data16 cs nopw 0x0(%rax,%rax,1)",
     "data16 cs nop WORD PTR [rax+rax*1+0x0]"},
    {9, "\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "cs nopl 0x0(%rax,%rax,1)",
     "cs nop DWORD PTR [rax+rax*1+0x0]"},
    {3, "\x0f\x1f\x00", "nopl   (%rax)", "nop    DWORD PTR [rax]"},
    {4, "\x0f\x1f\x40\x00", "nopl   0x0(%rax)", "nop    DWORD PTR [rax+0x0]"},
    {1, "\x90", "nop", "nop"},
    {2, "\x66\x90", "xchg   %ax,%ax", "xchg   ax,ax"},
    {3, "\x66\x66\x90", "data16 xchg %ax,%ax", "data16 xchg ax,ax"},
    {2, "\xf3\x90", "pause", "pause"},
    {1, "\x91", "xchg   %eax,%ecx", "xchg   ecx,eax"},
    {2, "\x41\x91", "xchg   %eax,%r9d", "xchg   r9d,eax"},
    {2, "\x87\xd8", "xchg   %ebx,%eax", "xchg   eax,ebx"},
    {7, "\x8b\x04\x65\x28\x00\x00\x00", "mov    0x28(,%riz,2),%eax", "mov    eax,DWORD PTR [riz*2+0x28]"},
    {3, "\x8b\x04\x24", "mov    (%rsp),%eax", "mov    eax,DWORD PTR [rsp]"},
    {3, "\x8b\x04\x64", "mov    (%rsp,%riz,2),%eax", "mov    eax,DWORD PTR [rsp+riz*2]"},
    {3, "\x8b\x04\x26", "mov    (%rsi,%riz,1),%eax", "mov    eax,DWORD PTR [rsi+riz*1]"},
    {4, "\x8b\x44\x26\x00", "mov    0x0(%rsi,%riz,1),%eax", "mov    eax,DWORD PTR [rsi+riz*1+0x0]"},
    {3, "\x8b\x40\x00", "mov    0x0(%rax),%eax", "mov    eax,DWORD PTR [rax+0x0]"},
    {7, "\x8b\x04\x25\xf8\xff\xff\xff", "mov    0xfffffffffffffff8,%eax",
     "mov    eax,DWORD PTR ds:0xfffffffffffffff8"},
    {7, "\x8b\x04\x05\xf8\xff\xff\xff", "mov    -0x8(,%rax,1),%eax", "mov    eax,DWORD PTR [rax*1-0x8]"},
    {4, "\x67\x67\x8b\x00", "addr32 mov (%eax),%eax", "addr32 mov eax,DWORD PTR [eax]"},
    {7, "\x67\x8b\x05\xf8\xff\xff\xff", "mov    -0x8(%eip),%eax        # 0xfff",
     "mov    eax,DWORD PTR [eip+0xfffffffffffffff8]        # 0xfff"},
    {2, "\xd1\xe0", "shl    %eax", "shl    eax,1"},
    {2, "\xd1\x20", "shll   (%rax)", "shl    DWORD PTR [rax],1"},
    {3, "\x48\xd1\xf8", "sar    %rax", "sar    rax,1"},
    {2, "\xd3\x20", "shll   %cl,(%rax)", "shl    DWORD PTR [rax],cl"},
    {3, "\xc0\x20\x03", "shlb   $0x3,(%rax)", "shl    BYTE PTR [rax],0x3"},
    {3, "\xc1\xe0\x01", "shl    $0x1,%eax", "shl    eax,0x1"},
    {2, "\xf3\xa4", "rep movsb %ds:(%rsi),%es:(%rdi)", "rep movs BYTE PTR es:[rdi],BYTE PTR ds:[rsi]"},
    {3, "\xf3\x48\xab", "rep stos %rax,%es:(%rdi)", "rep stos QWORD PTR es:[rdi],rax"},
    {2, "\xf2\xae", "repnz scas %es:(%rdi),%al", "repnz scas al,BYTE PTR es:[rdi]"},
    {2, "\xf3\xa6", "repz cmpsb %es:(%rdi),%ds:(%rsi)", "repz cmps BYTE PTR ds:[rsi],BYTE PTR es:[rdi]"},
    {2, "\x65\xa4", "movsb  %gs:(%rsi),%es:(%rdi)", "movs   BYTE PTR es:[rdi],BYTE PTR gs:[rsi]"},
    {2, "\x67\xa4", "movsb  %ds:(%esi),%es:(%edi)", "movs   BYTE PTR es:[edi],BYTE PTR ds:[esi]"},
    {2, "\x66\xa5", "movsw  %ds:(%rsi),%es:(%rdi)", "movs   WORD PTR es:[rdi],WORD PTR ds:[rsi]"},
    {1, "\xad", "lods   %ds:(%rsi),%eax", "lods   eax,DWORD PTR ds:[rsi]"},
    {1, "\x6c", "insb   (%dx),%es:(%rdi)", "ins    BYTE PTR es:[rdi],dx"},
    {1, "\x6f", "outsl  %ds:(%rsi),(%dx)", "outs   dx,DWORD PTR ds:[rsi]"},
    {1, "\xec", "in     (%dx),%al", "in     al,dx"},
    {1, "\xef", "out    %eax,(%dx)", "out    dx,eax"},
    {2, "\xe4\x10", "in     $0x10,%al", "in     al,0x10"},
    {2, "\xe7\x80", "out    %eax,$0x80", "out    0x80,eax"},
    {1, "\xd7", "xlat   %ds:(%rbx)", "xlat   BYTE PTR ds:[rbx]"},
    {4, "\xf0\x0f\xb1\x0a", "lock cmpxchg %ecx,(%rdx)", "lock cmpxchg DWORD PTR [rdx],ecx"},
    {5, "\xf2\xf0\x0f\xb1\x0a", "xacquire lock cmpxchg %ecx,(%rdx)",
     "xacquire lock cmpxchg DWORD PTR [rdx],ecx"},
    {4, "\xf3\xc6\x00\x00", "xrelease movb $0x0,(%rax)", "xrelease mov BYTE PTR [rax],0x0"},
    {3, "\x2e\x8b\x00", "cs mov (%rax),%eax", "cs mov eax,DWORD PTR [rax]"},
    {4, "\x64\x65\x8b\x00", "fs mov %gs:(%rax),%eax", "fs mov eax,DWORD PTR gs:[rax]"},
    {3, "\x64\x8b\xc0", "fs mov %eax,%eax", "fs mov eax,eax"},
    {3, "\x66\x88\xc8", "data16 mov %cl,%al", "data16 mov al,cl"},
    {5, "\xf2\x0f\x2a\x45\x08", "cvtsi2sdl 0x8(%rbp),%xmm0", "cvtsi2sd xmm0,DWORD PTR [rbp+0x8]"},
    {6, "\xf2\x48\x0f\x2a\x45\x08", "cvtsi2sdq 0x8(%rbp),%xmm0", "cvtsi2sd xmm0,QWORD PTR [rbp+0x8]"},
    {5, "\xf2\x48\x0f\x2a\xc0", "cvtsi2sd %rax,%xmm0", "cvtsi2sd xmm0,rax"},
    {4, "\x66\x0f\x6e\xc0", "movd   %eax,%xmm0", "movd   xmm0,eax"},
    {5, "\x66\x48\x0f\x6e\xc0", "movq   %rax,%xmm0", "movq   xmm0,rax"},
    {3, "\x0f\xb6\xc0", "movzbl %al,%eax", "movzx  eax,al"},
    {3, "\x0f\xbe\x00", "movsbl (%rax),%eax", "movsx  eax,BYTE PTR [rax]"},
    {4, "\x48\x0f\xbe\x00", "movsbq (%rax),%rax", "movsx  rax,BYTE PTR [rax]"},
    {3, "\x48\x63\xc6", "movslq %esi,%rax", "movsxd rax,esi"},
    {2, "\x48\x98", "cltq", "cdqe"},
    {2, "\x48\x99", "cqto", "cqo"},
    {2, "\xd8\xc1", "fadd   %st(1),%st", "fadd   st,st(1)"},
    {2, "\xdc\xc1", "fadd   %st,%st(1)", "fadd   st(1),st"},
    {2, "\xde\xe9", "fsubrp %st,%st(1)", "fsubp  st(1),st"},
    {2, "\xde\xf1", "fdivp  %st,%st(1)", "fdivrp st(1),st"},
    {2, "\xdf\xe9", "fucomip %st(1),%st", "fucomip st,st(1)"},
    {2, "\xda\xc1", "fcmovb %st(1),%st", "fcmovb st,st(1)"},
    {2, "\xd9\xc9", "fxch   %st(1)", "fxch   st(1)"},
    {2, "\xd9\x00", "flds   (%rax)", "fld    DWORD PTR [rax]"},
    {2, "\xdd\x00", "fldl   (%rax)", "fld    QWORD PTR [rax]"},
    {2, "\xdb\x28", "fldt   (%rax)", "fld    TBYTE PTR [rax]"},
    {2, "\xdf\x28", "fildll (%rax)", "fild   QWORD PTR [rax]"},
    {1, "\x9b", "fwait", "fwait"},
    {2, "\xdf\xe0", "fnstsw %ax", "fnstsw ax"},
    {4, "\x0f\x38\xcb\xd1", "sha256rnds2 %xmm0,%xmm1,%xmm2", "sha256rnds2 xmm2,xmm1,xmm0"},
    {5, "\x66\x0f\x38\x10\xc1", "pblendvb %xmm0,%xmm1,%xmm0", "pblendvb xmm0,xmm1,xmm0"},
    {6, "\x66\x0f\x3a\x44\xc1\x11", "pclmulhqhqdq %xmm1,%xmm0", "pclmulhqhqdq xmm0,xmm1"},
    {6, "\xc4\xe3\x71\x44\xc1\x10", "vpclmullqhqdq %xmm1,%xmm1,%xmm0", "vpclmullqhqdq xmm0,xmm1,xmm1"},
    {2, "\x0f\x0b", "ud2", "ud2"},
    {2, "\x0f\x05", "syscall", "syscall"},
    {4, "\xf3\x0f\x1e\xfa", "endbr64", "endbr64"},
    {6, "\xc7\xf8\x10\x00\x00\x00", "xbegin 0x1016", "xbegin 0x1016"},
    {2, "\xf7\xd8", "neg    %eax", "neg    eax"},
    {2, "\xf7\x1b", "negl   (%rbx)", "neg    DWORD PTR [rbx]"},
    {3, "\x0f\xb6\x00", "movzbl (%rax),%eax", "movzx  eax,BYTE PTR [rax]"},
    {4, "\x66\x0f\xbe\x00", "movsbw (%rax),%ax", "movsx  ax,BYTE PTR [rax]"},
    {3, "\x0f\x94\xc0", "sete   %al", "sete   al"},
    {4, "\x0f\x94\x45\x08", "sete   0x8(%rbp)", "sete   BYTE PTR [rbp+0x8]"},
    {2, "\x0f\xc8", "bswap  %eax", "bswap  eax"},
    {3, "\x0f\xa3\xc8", "bt     %ecx,%eax", "bt     eax,ecx"},
    {4, "\x0f\xba\x20\x05", "btl    $0x5,(%rax)", "bt     DWORD PTR [rax],0x5"},
    {4, "\x0f\xa4\xc2\x05", "shld   $0x5,%eax,%edx", "shld   edx,eax,0x5"},
    {3, "\x0f\xa5\xc2", "shld   %cl,%eax,%edx", "shld   edx,eax,cl"},
    {4, "\xf3\x0f\xb8\xc1", "popcnt %ecx,%eax", "popcnt eax,ecx"},
    {4, "\xf3\x0f\xbc\xc1", "tzcnt  %ecx,%eax", "tzcnt  eax,ecx"},
    {4, "\xc5\xfd\x6f\x06", "vmovdqa (%rsi),%ymm0", "vmovdqa ymm0,YMMWORD PTR [rsi]"},
    {3, "\xc5\xf8\x77", "vzeroupper", "vzeroupper"},
    {5, "\xc4\xe2\xf9\xf7\xc1", "shlx   %rax,%rcx,%rax", "shlx   rax,rcx,rax"},
    {2, "\x8e\xc0", "mov    %eax,%es", "mov    es,eax"},
    {2, "\x8c\x00", "mov    %es,(%rax)", "mov    WORD PTR [rax],es"},
};

static const struct row rows_32[] = {
    {1, "\x55", "push   %ebp", "push   ebp"},
    {1, "\x40", "inc    %eax", "inc    eax"},
    {4, "\x8b\x44\x24\x04", "mov    0x4(%esp),%eax", "mov    eax,DWORD PTR [esp+0x4]"},
    {5, "\xa1\x04\xc0\x04\x08", "mov    0x804c004,%eax", "mov    eax,ds:0x804c004"},
    {10, "\xc7\x05\x04\x00\x00\x00\x01\x00\x00\x00", "movl   $0x1,0x4", "mov    DWORD PTR ds:0x4,0x1"},
    {6, "\x8b\x0d\x04\xc0\x04\x08", "mov    0x804c004,%ecx", "mov    ecx,DWORD PTR ds:0x804c004"},
    {7, "\x8d\xb4\x26\x00\x00\x00\x00", "lea    0x0(%esi,%eiz,1),%esi", "lea    esi,[esi+eiz*1+0x0]"},
    {4, "\x8d\x74\x26\x00", "lea    0x0(%esi,%eiz,1),%esi", "lea    esi,[esi+eiz*1+0x0]"},
    {6, "\x65\xa1\x14\x00\x00\x00", "mov    %gs:0x14,%eax", "mov    eax,gs:0x14"},
    {5, "\xe8\xfb\xff\xff\xff", "call   0x1000", "call   0x1000"},
    {3, "\x66\x8b\x00", "mov    (%eax),%ax", "mov    ax,WORD PTR [eax]"},
    {4, "\x67\x8b\x40\x02", "mov    0x2(%bx,%si),%eax", "mov    eax,DWORD PTR [bx+si+0x2]"},
    {3, "\x67\x8b\x00", "mov    (%bx,%si),%eax", "mov    eax,DWORD PTR [bx+si]"},
    {3, "\x2e\x8b\x00", "mov    %cs:(%eax),%eax", "mov    eax,DWORD PTR cs:[eax]"},
    {2, "\xf3\xa5", "rep movsl %ds:(%esi),%es:(%edi)", "rep movs DWORD PTR es:[edi],DWORD PTR ds:[esi]"},
    {3, "\x66\x8c\xcb", "mov    %cs,%bx", "mov    bx,cs"},
    {7, "\xff\x24\x85\x04\x00\x00\x0a", "jmp    *0xa000004(,%eax,4)", "jmp    DWORD PTR [eax*4+0xa000004]"},
    {3, "\x0f\xb6\x06", "movzbl (%esi),%eax", "movzx  eax,BYTE PTR [esi]"},
    {1, "\x60", "pusha", "pusha"},
    {1, "\x06", "push   %es", "push   es"},
    {7, "\x9a\x00\x00\x00\x00\x07\x00", "lcall  $0x7,$0x0", "call   0x7:0x0"},
    {2, "\xcd\x80", "int    $0x80", "int    0x80"},
    {1, "\xc3", "ret", "ret"},
    {2, "\x66\x90", "xchg   %ax,%ax", "xchg   ax,ax"},
    {7, "\x2e\xff\x25\x00\x00\x00\x00", "jmp    *%cs:0x0", "jmp    DWORD PTR cs:0x0"},
    {3, "\x3e\xff\xe3", "notrack jmp *%ebx", "notrack jmp ebx"},
    {3, "\xc5\xf8\x77", "vzeroupper", "vzeroupper"},
    {6, "\x62\xf1\x7c\x48\x10\x01", "vmovups (%ecx),%zmm0", "vmovups zmm0,ZMMWORD PTR [ecx]"},
    {3, "\xd9\x04\x24", "flds   (%esp)", "fld    DWORD PTR [esp]"},
};

static void check(enum disasm_arch arch, bool intel, const struct row *rows, size_t count) {
    struct disasm *d = disasm_new(&(struct disasm_options){.arch = arch, .intel = intel}, NULL);
    size_t wrong = 0;
    assert_non_null(d);
    for (size_t i = 0; i < count; i++) {
        struct disasm_list l = {0};
        struct bytes code = {(const uint8_t *)rows[i].bytes, rows[i].length};
        const char *want = intel ? rows[i].intel : rows[i].att;
        assert_true(disasm_function(d, code, 0x1000, &l, NULL));
        const struct disasm_instruction *in = l.instructions.items;
        if (l.instructions.count != 1 || strcmp(in->text, want) != 0 ||
            in->unknown != !strcmp(want, "(bad)")) {
            print_error("%zu: \"%s\" for \"%s\"\n", i, in->text, want);
            wrong++;
        }
        disasm_list_fini(&l);
    }
    disasm_free(d);
    assert_int_equal(wrong, 0);
}

static void test_64(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    check(DISASM_X86_64, false, rows_64, sizeof rows_64 / sizeof *rows_64);
    check(DISASM_X86_64, true, rows_64, sizeof rows_64 / sizeof *rows_64);
}

static void test_32(void **state) {
    (void)state;
    if (!disasm_supported())
        skip();
    check(DISASM_I386, false, rows_32, sizeof rows_32 / sizeof *rows_32);
    check(DISASM_I386, true, rows_32, sizeof rows_32 / sizeof *rows_32);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_64), cmocka_unit_test(test_32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
