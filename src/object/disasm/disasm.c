/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/disasm.h"

#include <stdlib.h>

#include "base/library.h"
#include "object/disasm/arm64_extra.h"
#include "object/disasm/arm64_flow.h"
#include "object/disasm/arm64_text.h"
#include "object/disasm/disasm_internal.h"
#include "object/disasm/text.h"
#include "object/disasm/x86/x86_extra.h"
#include "object/disasm/x86/x86_text.h"
#include "object/disasm/x86/x86_vector.h"

bool disasm_supported(void) {
    return true;
}

static bool open_capstone(struct disasm *d, struct err *err) {
    static const struct {
        cs_arch arch;
        cs_mode mode;
    } as[] = {[DISASM_X86_64] = {CS_ARCH_X86, CS_MODE_64},
              [DISASM_I386] = {CS_ARCH_X86, CS_MODE_32},
              [DISASM_ARM64] = {CS_ARCH_ARM64, CS_MODE_ARM}};
    if (!capstone_load(&d->cs, err))
        return false;
    if (d->cs.open(as[d->o.arch].arch, as[d->o.arch].mode, &d->handle) != CS_ERR_OK)
        return err_memory(err, "instructions");
    if (d->o.arch != DISASM_ARM64)
        d->cs.option(d->handle, CS_OPT_SYNTAX, d->o.intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
    d->insn = d->cs.malloc(d->handle);
    return d->insn || err_memory(err, "instructions");
}

struct disasm *disasm_new(const struct disasm_options *options, struct err *err) {
    struct disasm *d = calloc(1, sizeof *d);
    if (!d) {
        err_memory(err, "instructions");
        return NULL;
    }
    d->o = *options;
    if (open_capstone(d, err))
        return d;
    disasm_free(d);
    return NULL;
}

void disasm_free(struct disasm *d) {
    if (!d)
        return;
    if (d->insn)
        d->cs.free(d->insn, 1);
    if (d->handle)
        d->cs.close(&d->handle);
    library_unload(d->cs.library);
    free(d);
}

/* Appends a copy of the text, and the instruction with it. */
static bool keep(struct disasm_list *list, struct disasm_instruction *i, const struct text *text) {
    i->text = arena_strndup(&list->texts, text->at, text->len);
    struct disasm_instruction *kept = i->text ? vec_push(&list->instructions) : NULL;
    if (!kept)
        return false;
    *kept = *i;
    list->unknown += i->unknown;
    return true;
}

static void capstone_text(const struct disasm *d, struct text *text) {
    text->len = 0;
    text_str(text, d->insn->mnemonic);
    if (!*d->insn->op_str)
        return;
    text_pad(text, 6);
    text_char(text, ' ');
    text_str(text, d->insn->op_str);
}

static void unknown(struct disasm_instruction *i, size_t length, struct text *text) {
    i->unknown = true;
    i->length = (uint8_t)length;
    text->len = 0;
    text_str(text, "(bad)");
}

/* One instruction at the start of `code`, which is not empty. */
typedef void decode_fn(struct disasm *d, struct bytes code, struct disasm_instruction *i, struct text *text);

/* FWAIT and one of those that do not wait themselves have a name together: FSTCW is 9B and FNSTCW. */
static bool join_wait(struct text *text) {
    static const char *const names[] = {"fnclex", "fninit", "fnstenv", "fnstcw", "fnsave", "fnstsw"};
    struct span line = {text->at, text->len};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!span_starts(line, names[i]) || (line.n > n && line.p[n] != ' '))
            continue;
        struct text joined = {0};
        text_char(&joined, 'f');
        text_mem(&joined, line.p + 2, n - 2);
        while (n < line.n && line.p[n] == ' ')
            n++;
        if (n < line.n) {
            text_pad(&joined, 6);
            text_char(&joined, ' ');
            text_mem(&joined, line.p + n, line.n - n);
        }
        *text = joined;
        return true;
    }
    return false;
}

static void decode_x86_one(struct disasm *d, struct bytes code, struct disasm_instruction *i,
                           struct text *text) {
    struct x86_code c;
    const uint8_t *at = code.data;
    size_t left = code.size;
    uint64_t address = i->address;
    if (!x86_code_read(code, d->o.arch == DISASM_X86_64, &c)) {
        unknown(i, 1, text);
        return;
    }
    struct x86_line line = {.o = &d->o, .c = &c, .bytes = code.data, .address = i->address};
    i->length = c.length;
    x86_flow(&c, code.data, i);
    /* Our own tables come before capstone but for VEX, of which it knows more. */
    if (c.encoding != X86_VEX && x86_vector_text(&line, text))
        return;
    if (c.encoding == X86_EVEX) {
        unknown(i, c.length, text);
        return;
    }
    if (!d->cs.disasm_iter(d->handle, &at, &left, &address, d->insn) || d->insn->size != c.length) {
        if (!x86_vector_text(&line, text) && !x86_extra(&line, text))
            unknown(i, c.length, text);
        return;
    }
    line.words =
        (struct x86_words){d->insn->mnemonic, d->cs.insn_name(d->handle, d->insn->id), d->insn->op_str};
    if (!x86_text(&line, text))
        capstone_text(d, text);
}

static void decode_x86(struct disasm *d, struct bytes code, struct disasm_instruction *i, struct text *text) {
    enum { FWAIT = 0x9b };
    if (*code.data == FWAIT && code.size > 1 && code.data[1] >= 0xd8 && code.data[1] <= 0xdf) {
        struct disasm_instruction next = {.address = i->address + 1};
        decode_x86_one(d, (struct bytes){code.data + 1, code.size - 1}, &next, text);
        i->length = (uint8_t)(next.length + 1);
        if (!next.unknown && join_wait(text))
            return;
    }
    decode_x86_one(d, code, i, text);
}

static void decode_arm64(struct disasm *d, struct bytes code, struct disasm_instruction *i,
                         struct text *text) {
    const uint8_t *at = code.data;
    size_t left = code.size;
    uint64_t address = i->address;
    if (code.size < 4) {
        unknown(i, code.size, text);
        return;
    }
    uint32_t word = bytes_load32(code.data, BYTES_HOST_BIG);
    i->length = 4;
    arm64_flow(word, i);
    if (d->cs.disasm_iter(d->handle, &at, &left, &address, d->insn))
        arm64_text(&d->o, i, d->insn->mnemonic, d->insn->op_str, text);
    else if (!arm64_extra(word, text))
        unknown(i, 4, text);
}

bool disasm_function(struct disasm *d, struct bytes code, uint64_t address, struct disasm_list *list,
                     struct err *err) {
    decode_fn *decode = d->o.arch == DISASM_ARM64 ? decode_arm64 : decode_x86;
    struct text text;
    for (size_t at = 0; at < code.size;) {
        struct disasm_instruction i = {.address = address + at, .bytes = code.data + at};
        decode(d, (struct bytes){code.data + at, code.size - at}, &i, &text);
        if (!keep(list, &i, &text))
            return err_memory(err, "instructions");
        at += i.length;
    }
    return true;
}
