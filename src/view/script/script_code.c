/* SPDX-License-Identifier: Apache-2.0 */
/* Prints instructions: the sampled one, and those between branches. The layout is perf 7.2's, observed. */
#include <inttypes.h>
#include <string.h>

#include "view/script/script_internal.h"

/* The code at an address. */
struct code {
    struct bytes bytes; /* from the address to the end of the file; empty: not known */
    struct object_insns *insns;
    struct model_hit hit;
};

/* Finds the code at an address. False: it is not known. */
static bool code_at(struct script_print *p, const struct script_sample *x, uint64_t address,
                    struct code *out) {
    *out = (struct code){{NULL, 0}, NULL, {MODEL_NONE, MODEL_NONE, 0, MODEL_SPACE_NONE}};
    if (!script_print_locate_address(p, x, address, &out->hit) || !p->names.names || !p->names.store)
        return false;
    uint8_t kind = model_image(p->model, out->hit.image)->kind;
    if (kind != MODEL_IMAGE_FILE && kind != MODEL_IMAGE_VDSO)
        return false;
    script_names_symbol_id(&p->names, &out->hit); /* loads the file */
    uint32_t id = resolve_names_store_id(p->names.names, out->hit.image);
    if (id == UINT32_MAX)
        return false;
    struct bytes image = symbol_store_bytes(p->names.store, id).code;
    if (out->hit.offset >= image.size)
        return false;
    out->bytes = (struct bytes){image.data + out->hit.offset, image.size - out->hit.offset};
    out->insns = object_insns_for(&p->insns, image);
    return out->insns;
}

static void put_bytes(struct out *o, struct bytes code, unsigned size) {
    out_str(o, "insn:");
    for (unsigned i = 0; i < size; i++) {
        out_char(o, ' ');
        out_hex0(o, code.data[i], 2);
    }
}

struct bytes script_print_insn(struct script_print *p, const struct script_sample *x) {
    struct code code;
    struct object_insn insn;
    if (!(x->s->have & PERFDATA_SAMPLE_IP) || !code_at(p, x, x->s->ip, &code) ||
        !object_insns_decode(code.insns, code.bytes, x->s->ip, &insn))
        return (struct bytes){NULL, 0};
    return (struct bytes){code.bytes.data, insn.size};
}

void script_code_sample(struct script_print *p, uint64_t fields, const struct script_sample *x) {
    struct bytes insn = script_print_insn(p, x);
    if (fields & SCRIPT_BIT(INSNLEN)) {
        out_str(p->out, " ilen: ");
        out_dec(p->out, insn.size, 0);
    }
    if (fields & SCRIPT_BIT(INSN) && insn.size) {
        out_char(p->out, ' ');
        put_bytes(p->out, insn, (unsigned)insn.size);
    }
}

/* ---- between branches ---- */

/* The state of printing the code between a sample's branches. */
struct way {
    const struct script_sample *x;
    uint64_t fields;
    struct resolve_symbol last; /* the function whose name was printed last */
    uint64_t cycles;            /* since the oldest branch */
};

/* Prints "\tleaf+15:" where a function begins to be shown. */
static void label(struct script_print *p, struct way *w, const struct model_hit *hit) {
    uint64_t offset = 0;
    struct resolve_symbol s = script_names_symbol_id(&p->names, hit);
    const char *name = script_names_symbol(&p->names, hit, &offset);
    if (!name || (s.image == w->last.image && s.index == w->last.index))
        return;
    w->last = s;
    out_char(p->out, '\t');
    out_str(p->out, name);
    if (offset) {
        out_char(p->out, '+');
        out_dec(p->out, offset, 0);
    }
    out_char(p->out, ':');
    struct object_line line;
    if (w->fields & SCRIPT_BIT(SRCLINE) && p->names.lines &&
        resolve_lines_find(p->names.lines, hit->image, hit->offset, &line)) {
        out_char(p->out, '\t');
        out_str(p->out, resolve_lines_file(&line, p->names.full_paths));
        out_char(p->out, ':');
        out_dec(p->out, line.line, 0);
    }
    out_char(p->out, '\n');
}

/* Prints one instruction. `branch`: the recorded branch, if it is one, or NULL. `insns`: the number of
 * instructions from the branch before up to this one, itself included; 0: not known. */
static void put_insn(struct script_print *p, struct way *w, uint64_t address, const struct code *code,
                     const struct object_insn *insn, const struct perfdata_branch *branch, unsigned insns) {
    enum { WIDTH = 30 };
    struct out *o = p->out;
    out_char(o, '\t');
    out_hex0(o, address, 16);
    out_char(o, '\t');
    uint64_t start = o->total + o->len;
    if (w->fields & SCRIPT_BIT(BRSTACKDISASM)) {
        out_str(o, insn->text);
    } else {
        put_bytes(o, code->bytes, insn->size);
        out_char(o, ' ');
    }
    if (branch) {
        uint64_t width = o->total + o->len - start;
        out_fill(o, ' ', width < WIDTH ? WIDTH - width : 0);
    }
    if (w->fields & SCRIPT_BIT(BRSTACKINSNLEN)) {
        out_str(o, "\tilen: ");
        out_dec(o, insn->size, 0);
    }
    struct object_line line;
    if (branch && w->fields & SCRIPT_BIT(SRCLINE) && p->names.lines &&
        resolve_lines_find(p->names.lines, code->hit.image, code->hit.offset, &line))
        out_printf(o, "\t srcline: %s:%" PRIu32, resolve_lines_file(&line, p->names.full_paths), line.line);
    if (branch) {
        out_str(o, "\t#");
        out_str(o, branch->predicted ? " PRED" : "");
        out_str(o, branch->mispred ? " MISPRED" : "");
        out_str(o, branch->in_tx ? " INTX" : "");
        out_str(o, branch->abort ? " ABORT" : "");
        if (branch->cycles) {
            w->cycles += branch->cycles;
            out_printf(o, " %u cycles [%" PRIu64 "]", branch->cycles, w->cycles);
            if (insns)
                out_printf(o, " %.2f IPC", (double)insns / branch->cycles);
        }
    }
    out_char(o, '\n');
}

/* Finds the instruction at `address`. False: it is not known. */
static bool insn_at(struct script_print *p, const struct script_sample *x, uint64_t address,
                    struct code *code, struct object_insn *insn) {
    return code_at(p, x, address, code) && object_insns_decode(code->insns, code->bytes, address, insn);
}

/* Prints the code from the target of one branch to the next branch. */
static void block(struct script_print *p, struct way *w, uint64_t start,
                  const struct perfdata_branch *branch) {
    enum { BLOCK_MAX = 16384 }; /* bytes: longer ones did not run without a branch */
    struct code code;
    struct object_insn insn;
    unsigned insns = 0;
    if (start > branch->from || branch->from - start > BLOCK_MAX)
        return;
    for (uint64_t at = start; at <= branch->from; at += insn.size) {
        if (!insn_at(p, w->x, at, &code, &insn))
            return;
        insns++;
        label(p, w, &code.hit);
        put_insn(p, w, at, &code, &insn, at == branch->from ? branch : NULL, insns);
    }
}

/* Prints the code from the target of the latest branch to the sample. */
static void last_block(struct script_print *p, struct way *w, uint64_t start) {
    enum { ASTRAY_MAX = 128 }; /* bytes to try if the sample is not soon after that target */
    uint64_t ip = w->x->s->ip, end = ip >= start && ip - start <= ASTRAY_MAX * 128 ? ip : start + ASTRAY_MAX;
    struct code code;
    struct object_insn insn;
    if (!insn_at(p, w->x, start, &code, &insn)) {
        if (insn_at(p, w->x, ip, &code, &insn))
            put_insn(p, w, ip, &code, &insn, NULL, 0);
        return;
    }
    for (uint64_t at = start; at <= end; at += insn.size) {
        if (!insn_at(p, w->x, at, &code, &insn))
            return;
        label(p, w, &code.hit);
        put_insn(p, w, at, &code, &insn, NULL, 0);
        if (at != ip && insn.leaves) {
            out_str(p->out, "\t... not reaching sample ...\n");
            return;
        }
    }
}

void script_code_branches(struct script_print *p, uint64_t fields, const struct script_sample *x) {
    uint64_t count = x->s->have & PERFDATA_SAMPLE_BRANCH_STACK ? x->s->branch_count : 0;
    /* At most this many blocks, and the branch that leads to the first. */
    if (p->options.max_blocks && count > (uint64_t)p->options.max_blocks + 1)
        count = (uint64_t)p->options.max_blocks + 1;
    if (!count)
        return;
    struct way w = {x, fields, {MODEL_NONE, SYMBOL_NONE}, 0};
    struct perfdata_branch before = perfdata_branch_at(x->s, count - 1);
    struct code code;
    struct object_insn insn;
    out_char(p->out, '\n');
    if (insn_at(p, x, before.from, &code, &insn)) {
        label(p, &w, &code.hit);
        put_insn(p, &w, before.from, &code, &insn, &before, 0);
    }
    for (uint64_t i = count - 1; i-- > 0;) {
        struct perfdata_branch branch = perfdata_branch_at(x->s, i);
        block(p, &w, before.to, &branch);
        before = branch;
    }
    /* After an abort the program is not at the branch's target. */
    if (!before.abort)
        last_block(p, &w, before.to);
}
