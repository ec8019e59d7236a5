/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of branches (-b): of one branch of a sample's branch stack. */
#include "profile/profile_internal.h"

/* ---- values ---- */

PROFILE_VALUE(from, x->branch ? x->from : 0)
PROFILE_VALUE(to, x->branch ? x->to : 0)

/* perf groups by both flags. */
PROFILE_VALUE(mispredict, x->branch ? (uint64_t)x->branch->mispred << 1 | x->branch->predicted : 0)
PROFILE_VALUE(in_tx, x->branch ? x->branch->in_tx : 0)
PROFILE_VALUE(abort, x->branch ? x->branch->abort : 0)
PROFILE_VALUE(cycles, x->branch ? x->branch->cycles : 0)

/* ---- what tells rows apart, and sorts them ---- */

static unsigned words_address(const struct profile *p, const struct profile_cell *x, uint64_t *words) {
    words[0] = p->places.items[x->frame].dso;
    words[1] = p->b.frames.list.items[x->frame].offset;
    return 2;
}

static uint64_t rank_symbol(const struct profile *p, const uint64_t *words) {
    uint32_t name = (uint32_t)words[0];
    return name == PROFILE_NONE ? p->list.count : p->name_places.items[name];
}

/* Ranks all equal: other columns decide first. */
static uint64_t rank_cycles(const struct profile *p, const uint64_t *words) {
    (void)p, (void)words;
    return 0;
}

/* ---- texts ---- */

/* Appends function and offset, or the address. */
static void put_address(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint32_t frame = x->frame;
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    const struct profile_name *name = profile_name_of(p, frame);
    profile_put_level(o, x->row->cpumode);
    if (!name) {
        profile_put_address(o, f->offset, 16);
        return;
    }
    out_str(o, name->text);
    if (f->offset != name->start) {
        out_str(o, "+0x");
        out_hex(o, f->offset - name->start, 0);
    }
}

/* The offset overflows the column. */
static uint32_t room_address(const struct profile *p, const struct profile_cell *x) {
    enum { LEVEL = 4, ADDRESS = 18 };
    const struct profile_name *name = profile_name_of(p, x->frame);
    return LEVEL + (name ? name->text_len : ADDRESS);
}

static void put_mispredict(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_char(o, profile_cell_word(p, x) >> 1 ? 'Y' : 'N');
}

static void put_in_tx(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_char(o, profile_cell_word(p, x) ? 'T' : '.');
}

static void put_abort(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_char(o, profile_cell_word(p, x) ? 'A' : '.');
}

static void put_cycles(const struct profile *p, const struct profile_cell *x, struct out *o) {
    uint64_t cycles = profile_cell_word(p, x);
    if (cycles)
        out_dec(o, cycles, 0);
    else
        out_char(o, '-');
}

/* ---- sums over the branch stacks of a row's samples ---- */

static uint64_t add_branches(const struct perfdata_sample *s) {
    return s->branch_count;
}

static uint64_t add_predicted(const struct perfdata_sample *s) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->branch_count; i++)
        n += perfdata_branch_at(s, i).predicted;
    return n;
}

#define OF_BRANCHES .need = PROFILE_NEEDS_BRANCHES, .wants = PERFDATA_SAMPLE_BRANCH_STACK
#define NOT_SUMMED  "branch details are not summed up for callchains"

static const struct profile_key rows[] = {
    {PROFILE_NAMES("dso_from", "Source Shared Object", "the object that was branched from"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_CUT | PROFILE_TITLE_WIDE, .value = value_from,
     .words = profile_words_dso, .rank = profile_rank_dso_backwards, .put = profile_put_text},
    {PROFILE_NAMES("dso_to", "Target Shared Object", "the object that was branched to"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_CUT | PROFILE_TITLE_WIDE, .value = value_to,
     .words = profile_words_dso, .rank = profile_rank_dso_backwards, .put = profile_put_text},
    {PROFILE_NAMES("symbol_from", "Source Symbol", "the function that was branched from"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_RAGGED, .value = value_from,
     .words = profile_words_symbol, .rank = rank_symbol, .by_address = true, .put = profile_put_symbol},
    {PROFILE_NAMES("symbol_to", "Target Symbol", "the function that was branched to"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_RAGGED, .value = value_to, .words = profile_words_symbol,
     .rank = rank_symbol, .by_address = true, .put = profile_put_symbol},
    {PROFILE_NAMES("mispredict", "Branch Mispredicted", "Y: the processor had not expected the branch"),
     OF_BRANCHES, .kind = PROFILE_KEY_NUMBER, .value = value_mispredict, .put = put_mispredict},
    {PROFILE_NAMES("abort", "Transaction abort", "A: the branch aborted a transaction"), OF_BRANCHES,
     .kind = PROFILE_KEY_NUMBER, .value = value_abort, .put = put_abort},
    {PROFILE_NAMES("in_tx", "Branch in transaction", "T: the branch was taken in a transaction"), OF_BRANCHES,
     .kind = PROFILE_KEY_NUMBER, .value = value_in_tx, .put = put_in_tx},
    {PROFILE_NAMES("cycles", "Basic Block Cycles", "cycles since the branch before"), OF_BRANCHES,
     .kind = PROFILE_KEY_NUMBER, .width = 18, .value = value_cycles, .rank = rank_cycles,
     .word_decides = true, .put = put_cycles},
    {PROFILE_NAMES("srcline_from", "From Source:Line", "the source line that was branched from"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .finds = PROFILE_FINDS_LINES, .value = value_from,
     .words = profile_words_line, .rank = profile_rank_text, .put = profile_put_text},
    {PROFILE_NAMES("srcline_to", "To Source:Line", "the source line that was branched to"), OF_BRANCHES,
     .kind = PROFILE_KEY_ADDRESS, .finds = PROFILE_FINDS_LINES, .value = value_to,
     .words = profile_words_line, .rank = profile_rank_text, .put = profile_put_text},
    {PROFILE_NAMES("addr_from", "Source Address", "the address that was branched from, as function+offset"),
     OF_BRANCHES, .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_RAGGED, .value = value_from,
     .words = words_address, .rank = profile_rank_dso_backwards, .by_address = true, .put = put_address,
     .room = room_address},
    {PROFILE_NAMES("addr_to", "Target Address", "the address that was branched to, as function+offset"),
     OF_BRANCHES, .kind = PROFILE_KEY_ADDRESS, .layout = PROFILE_RAGGED, .value = value_to,
     .words = words_address, .rank = profile_rank_dso_backwards, .by_address = true, .put = put_address,
     .room = room_address},
    {PROFILE_NAMES("callchain_branch_predicted", "Predicted",
                   "share of the branches that the processor had expected"),
     .need = PROFILE_NEEDS_HISTORY, .wants = PERFDATA_SAMPLE_BRANCH_STACK, .width = 8, .add = add_predicted,
     .per = add_branches},
    {.name = "callchain_branch_abort", .title = "Abort", .kind = PROFILE_KEY_NUMBER, .later = NOT_SUMMED},
    {.name = "callchain_branch_cycles", .title = "Cycles", .kind = PROFILE_KEY_NUMBER, .later = NOT_SUMMED},
};

const struct profile_key_list profile_branch_keys = {rows, sizeof rows / sizeof *rows};
