/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of branches (-b): of one branch of a sample's branch stack. */
#include "profile/profile_internal.h"

/* ---- values ---- */

static uint64_t value_from(struct profile_builder *b, const struct profile_taken *x,
                           const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? x->from : 0;
}

static uint64_t value_to(struct profile_builder *b, const struct profile_taken *x,
                         const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? x->to : 0;
}

/* perf groups by both flags. */
static uint64_t value_mispredict(struct profile_builder *b, const struct profile_taken *x,
                                 const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? (uint64_t)x->branch->mispred << 1 | x->branch->predicted : 0;
}

static uint64_t value_in_tx(struct profile_builder *b, const struct profile_taken *x,
                            const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? x->branch->in_tx : 0;
}

static uint64_t value_abort(struct profile_builder *b, const struct profile_taken *x,
                            const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? x->branch->abort : 0;
}

static uint64_t value_cycles(struct profile_builder *b, const struct profile_taken *x,
                             const struct profile_column *c) {
    (void)b, (void)c;
    return x->branch ? x->branch->cycles : 0;
}

/* ---- what tells rows apart, and sorts them ---- */

static unsigned words_address(const struct profile *p, const struct profile_row *row, uint32_t frame,
                              uint64_t value, uint64_t *words) {
    (void)row, (void)value;
    words[0] = p->places.items[frame].dso;
    words[1] = p->b.frames.list.items[frame].offset;
    return 2;
}

static uint64_t rank_symbol(const struct profile *p, const struct profile_row *row, const uint64_t *words) {
    uint32_t name = (uint32_t)words[0];
    (void)row;
    return name == PROFILE_NONE ? p->list.count : p->name_places.items[name];
}

/* Ranks all equal: other columns decide first. */
static uint64_t rank_cycles(const struct profile *p, const struct profile_row *row, const uint64_t *words) {
    (void)p, (void)row, (void)words;
    return 0;
}

/* ---- texts ---- */

/* Appends function and offset, or the address. */
static void put_address(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                        const struct profile_column *c, struct out *o) {
    uint32_t frame = profile_key_frame(p, c, row);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    const struct profile_name *name = profile_name_of(p, frame);
    (void)t;
    profile_put_level(o, row->cpumode);
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
static uint32_t room_address(const struct profile *p, const struct profile_row *row,
                             const struct profile_column *c) {
    enum { LEVEL = 4, ADDRESS = 18 };
    const struct profile_name *name = profile_name_of(p, profile_key_frame(p, c, row));
    return LEVEL + (name ? name->text_len : ADDRESS);
}

static void put_mispredict(const struct profile *p, const struct profile_table *t,
                           const struct profile_row *row, const struct profile_column *c, struct out *o) {
    (void)t;
    out_char(o, profile_key_word(p, c, row) >> 1 ? 'Y' : 'N');
}

static void put_in_tx(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                      const struct profile_column *c, struct out *o) {
    (void)t;
    out_char(o, profile_key_word(p, c, row) ? 'T' : '.');
}

static void put_abort(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                      const struct profile_column *c, struct out *o) {
    (void)t;
    out_char(o, profile_key_word(p, c, row) ? 'A' : '.');
}

static void put_cycles(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                       const struct profile_column *c, struct out *o) {
    uint64_t cycles = profile_key_word(p, c, row);
    (void)t;
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
