/* SPDX-License-Identifier: Apache-2.0 */
#include "object/disasm/objdump_text.h"

#include "object/disasm/arm64_flow.h"
#include "object/disasm/text.h"
#include "object/disasm/x86/x86_text.h"

const char *disasm_objdump_machine(enum disasm_arch arch) {
    return arch == DISASM_X86_64 ? "i386:x86-64" : arch == DISASM_I386 ? "i386" : "aarch64";
}

/* Hex digits at the start of `s`, which is left behind them. */
static bool take_hex(struct span *s, uint64_t *value) {
    size_t n = 0;
    for (*value = 0; n < s->n && n < 16; n++) {
        char c = s->p[n];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            break;
        *value = *value << 4 | digit;
    }
    s->p += n;
    s->n -= n;
    return n > 0;
}

/* "  401126:<tab>push   %rbp". False: a line of another kind. */
static bool read_line(struct span line, uint64_t *address, struct span *words) {
    while (line.n && *line.p == ' ')
        line.p++, line.n--;
    if (!take_hex(&line, address) || !span_starts(line, ":\t"))
        return false;
    line.p += 2, line.n -= 2;
    while (line.n && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\t' || line.p[line.n - 1] == '\r'))
        line.n--;
    *words = line;
    return true;
}

/* Fills what the bytes say. */
static bool find_flow(struct disasm_instruction *i, size_t left, enum disasm_arch arch) {
    if (arch == DISASM_ARM64) {
        uint32_t word = left < 4 ? 0 : bytes_load32(i->bytes, BYTES_HOST_BIG);
        arm64_flow(word, i);
        return arm64_names_address(word);
    }
    struct x86_code c;
    if (x86_code_read((struct bytes){i->bytes, left}, arch == DISASM_X86_64, &c))
        x86_flow(&c, i->bytes, i);
    return false;
}

/* The words, with their address, which comes last or behind a #, printed our way. Tabs become spaces. */
static void print_words(struct span words, bool has_address, const struct disasm_options *o,
                        struct text *out) {
    size_t address = words.n;
    out->len = 0;
    for (size_t i = 0; i + 4 < words.n; i++)
        if (!memcmp(words.p + i, "# 0x", 4))
            address = i + 2;
    for (size_t i = words.n; has_address && address == words.n && i-- > 0;)
        if (words.p[i] == ' ' || words.p[i] == '\t' || words.p[i] == ',')
            address = i + 1;
    struct span rest = {words.p + address, words.n - address};
    uint64_t value;
    if (span_starts(rest, "0x"))
        rest.p += 2, rest.n -= 2;
    bool whole = address < words.n && take_hex(&rest, &value) && !rest.n;
    size_t plain = whole ? address : words.n;
    for (size_t i = 0; i < plain; i++)
        text_char(out, words.p[i] == '\t' ? ' ' : words.p[i]);
    if (whole)
        disasm_address_print(o, value, out);
}

struct reading {
    struct bytes code;
    uint64_t address;
    const struct disasm_options *o;
    struct disasm_list *list;
};

/* Ends the instruction before the one at offset `at`. False: that is no length an instruction has. */
static bool close_at(struct reading *r, size_t first, uint64_t at) {
    enum { LONGEST = 15 };
    if (r->list->instructions.count == first)
        return at == 0;
    struct disasm_instruction *last = &r->list->instructions.items[r->list->instructions.count - 1];
    uint64_t start = last->address - r->address;
    if (at <= start || at - start > LONGEST)
        return false;
    last->length = (uint8_t)(at - start);
    return true;
}

static bool add(struct reading *r, uint64_t at, struct span words, struct err *err) {
    struct disasm_instruction i = {.address = r->address + at, .bytes = r->code.data + at};
    struct text text;
    bool address = find_flow(&i, r->code.size - at, r->o->arch) || i.has_target;
    i.unknown = span_starts(words, "(bad)");
    print_words(words, address, r->o, &text);
    i.text = arena_strndup(&r->list->texts, text.at, text.len);
    struct disasm_instruction *kept = i.text ? vec_push(&r->list->instructions) : NULL;
    if (!kept)
        return err_memory(err, "objdump");
    *kept = i;
    return true;
}

static bool read_lines(struct reading *r, struct bytes text, size_t first, struct err *err) {
    struct span left = {(const char *)text.data, text.size};
    for (size_t number = 1; left.n; number++) {
        const char *end = memchr(left.p, '\n', left.n);
        struct span line = {left.p, end ? (size_t)(end - left.p) : left.n}, words;
        uint64_t address;
        left.p += line.n + (end != NULL);
        left.n -= line.n + (end != NULL);
        if (!read_line(line, &address, &words))
            continue;
        uint64_t at = address - r->address;
        if (at >= r->code.size || !close_at(r, first, at))
            return err_set(err, ERR_BROKEN, "objdump", "line %zu of its output is at an unexpected address",
                           number);
        if (!add(r, at, words, err))
            return false;
    }
    return close_at(r, first, r->code.size) ||
           err_set(err, ERR_BROKEN, "objdump", "its output does not cover the whole function");
}

bool disasm_objdump_read(struct bytes text, struct bytes code, uint64_t address,
                         const struct disasm_options *options, struct disasm_list *list, struct err *err) {
    size_t first = list->instructions.count;
    struct reading r = {.code = code, .address = address, .o = options, .list = list};
    if (!read_lines(&r, text, first, err)) {
        list->instructions.count = first;
        return false;
    }
    for (size_t i = first; i < list->instructions.count; i++)
        list->unknown += list->instructions.items[i].unknown;
    return true;
}
