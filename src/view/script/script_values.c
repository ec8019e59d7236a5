/* SPDX-License-Identifier: Apache-2.0 */
/* Values of samples in words. Bit meanings: include/uapi/linux/perf_event.h; words and layout as perf 7.2's.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/perfdata/data_src.h"
#include "view/script/script_internal.h"

void script_value_regs(struct out *o, const struct dump_regs *names, const struct perfdata_regs *regs) {
    if (!regs->abi)
        return;
    out_str(o, " ABI:");
    out_dec(o, regs->abi, 0);
    out_char(o, ' ');
    uint64_t mask = regs->mask;
    for (uint64_t i = 0; mask && i < regs->values.count; i++, mask &= mask - 1) {
        const char *name = dump_regs_name(names, (unsigned)__builtin_ctzll(mask));
        out_right(o, name, strlen(name), 5);
        out_str(o, ":0x");
        out_hex(o, perfdata_u64_at(&regs->values, i), 0);
        out_char(o, ' ');
    }
}

void script_value_page_size(struct out *o, uint64_t bytes) {
    static const char units[] = "BKMG";
    if (!bytes) {
        out_str(o, " N/A");
        return;
    }
    unsigned unit = 0;
    for (; bytes / 1024 > 1 && units[unit + 1]; unit++)
        bytes /= 1024;
    out_char(o, ' ');
    out_dec(o, bytes, 0);
    out_char(o, units[unit]);
}

/* ---- branches ---- */

void script_value_branch(struct out *o, const struct perfdata_branch *b) {
    enum { EXTENDED = 15 }; /* PERF_BR_EXTEND_ABI: new_type says more */
    static const char *const types[EXTENDED] = {"",         "COND", "UNCOND",  "IND",    "CALL",
                                                "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                                "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};
    static const char *const new_types[16] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                              "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};
    static const char *const specs[4] = {"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                         "SPEC_CORRECT_PATH"};
    bool not_taken = b->flags >> 33 & 1;
    out_char(o, '/');
    if (b->predicted || b->mispred)
        out_char(o, b->predicted ? 'P' : 'M');
    if (not_taken)
        out_char(o, 'N');
    if (!b->predicted && !b->mispred && !not_taken)
        out_char(o, '-');
    out_str(o, b->in_tx ? "/X" : "/-");
    out_str(o, b->abort ? "/A/" : "/-/");
    out_dec(o, b->cycles, 0);
    out_char(o, '/');
    const char *type = (b->type & 15) == EXTENDED ? new_types[b->new_type & 15] : types[b->type & 15];
    out_str(o, type ? type : "-");
    out_char(o, '/');
    out_str(o, specs[b->spec & 3]);
    out_char(o, ' ');
}

/* ---- memory sources ---- */

void script_value_data_src(struct out *o, uint64_t v, unsigned *width) {
    /* perf cuts the number and the words at 99 chars together. */
    enum { TEXT_MAX = 99 - 17 };
    struct out w;
    if (!out_init(&w, NULL, NULL))
        return;
    out_str(&w, "|OP ");
    perfdata_src_operation(&w, v);
    out_str(&w, "|LVL ");
    perfdata_src_level(&w, v);
    out_str(&w, "|SNP ");
    perfdata_src_snoop(&w, v);
    out_str(&w, "|TLB ");
    perfdata_src_tlb(&w, v);
    out_str(&w, "|LCK ");
    perfdata_src_locked(&w, v);
    out_str(&w, "|BLK ");
    perfdata_src_blocked(&w, v);
    size_t len = w.len < TEXT_MAX ? w.len : TEXT_MAX;
    if (len > *width)
        *width = (unsigned)len;
    out_hex(o, v, 16);
    out_char(o, ' ');
    out_left(o, w.buf, len, *width);
    out_fini(&w);
}

/* ---- bpf-output ---- */

/* True of printable chars, at least one, with only NULs after them. */
static bool is_text(struct bytes raw) {
    size_t len = bytes_text_len(raw);
    if (len == raw.size)
        return false;
    for (size_t i = 0; i < len; i++)
        if (raw.data[i] < 0x20 || raw.data[i] > 0x7e)
            return false;
    for (size_t i = len; i < raw.size; i++)
        if (raw.data[i])
            return false;
    return true;
}

void script_value_bpf(struct out *o, struct bytes raw) {
    enum { ROW = 8 };
    out_char(o, '\n');
    for (size_t at = 0; at < raw.size; at += ROW) {
        size_t n = raw.size - at < ROW ? raw.size - at : ROW;
        out_right(o, at ? "" : "BPF output:", at ? 0 : 11, 17);
        out_char(o, ' ');
        out_hex0(o, at, 4);
        out_char(o, ':');
        for (size_t i = 0; i < ROW; i++) {
            out_char(o, ' ');
            if (i < n)
                out_hex0(o, raw.data[at + i], 2);
            else
                out_str(o, "  ");
        }
        out_str(o, "  ");
        for (size_t i = 0; i < ROW; i++) {
            uint8_t c = i < n ? raw.data[at + i] : ' ';
            out_char(o, c >= 0x20 && c <= 0x7e ? (char)c : '.');
        }
        out_char(o, '\n');
    }
    if (raw.size && is_text(raw)) {
        out_right(o, "BPF string:", 11, 17);
        out_str(o, " \"");
        out_mem(o, (const char *)raw.data, bytes_text_len(raw));
        out_str(o, "\"\n");
    }
}

void script_value_clock(struct out *o, uint64_t wall_ns, bool ns) {
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    unsigned rest = (unsigned)(wall_ns % 1000000000u);
    struct tm tm;
    char text[64] = "";
    if (localtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    out_str(o, text);
    out_char(o, '.');
    out_dec0(o, ns ? rest : rest / 1000, ns ? 9 : 6);
    out_char(o, ' ');
}
