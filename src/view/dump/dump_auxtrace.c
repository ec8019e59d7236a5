/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private words of an AUXTRACE_INFO record, by the kind of trace. There is
 * no document of them: names and order were learned from perf's dump of
 * recordings and of records made for the purpose.
 */
#include "view/dump/dump_internal.h"

#include <inttypes.h>

enum auxtrace_kind {
    AUXTRACE_INTEL_PT = 1,
    AUXTRACE_INTEL_BTS = 2,
    AUXTRACE_CS_ETM = 3,
    AUXTRACE_ARM_SPE = 4,
    AUXTRACE_HISI_PTT = 6,
    AUXTRACE_VPA_DTL = 7,
};

struct words {
    const struct perfdata_u64s *list;
    uint64_t at;
};

static bool more(const struct words *w) {
    return w->at < w->list->count;
}
static uint64_t next(struct words *w) {
    return more(w) ? perfdata_u64_at(w->list, w->at++) : 0;
}

struct field {
    const char *name; /* padded to the column of the value; NULL ends the list */
    bool hex;
};

static void field(struct out *o, const struct field *f, uint64_t v) {
    out_str(o, f->name);
    if (f->hex)
        record_text_hex(o, v);
    else
        out_dec(o, v, 0);
    out_char(o, '\n');
}

/* One word for each name, as far as there are words. */
static void fields(struct out *o, const struct field *f, struct words *w) {
    for (; f->name && more(w); f++)
        field(o, f, next(w));
}

static void intel_pt(struct out *o, struct words *w) {
    static const struct field rows[] = {
        {"  PMU Type            ", false}, {"  Time Shift          ", false},
        {"  Time Multiplier     ", false}, {"  Time Zero           ", false},
        {"  Cap Time Zero       ", false}, {"  TSC bit             ", true},
        {"  NoRETComp bit       ", true},  {"  Have sched_switch   ", false},
        {"  Snapshot mode       ", false}, {"  Per-cpu maps        ", false},
        {"  MTC bit             ", true},  {"  MTC freq bits       ", true},
        {"  TSC:CTC numerator   ", false}, {"  TSC:CTC denominator ", false},
        {"  CYC bit             ", true},  {"  Max non-turbo ratio ", false},
        {"  Filter string len.  ", false}, {NULL, false},
    };
    fields(o, rows, w);
    if (w->at < sizeof rows / sizeof *rows - 1)
        return;
    /* The filter's text follows its length, in whole words and ended by a NUL. */
    const uint8_t *text = w->list->data + 8 * w->at;
    out_str(o, "  Filter string       ");
    record_text_string(o, (struct bytes){text, (size_t)(8 * (w->list->count - w->at))});
    out_char(o, '\n');
}

static void intel_bts(struct out *o, struct words *w) {
    static const struct field rows[] = {
        {"  PMU Type           ", false},
        {"  Time Shift         ", false},
        {"  Time Multiplier    ", false},
        {"  Time Zero          ", false},
        {"  Cap Time Zero      ", false},
        {"  Snapshot mode      ", false},
        {NULL, false},
    };
    fields(o, rows, w);
}

static void pmu_type(struct out *o, struct words *w) {
    static const struct field rows[] = {{"  PMU Type           ", false}, {NULL, false}};
    fields(o, rows, w);
}

/* Two words, or from version 2 on a header and a block of words for each CPU. */
static void arm_spe(struct out *o, struct words *w) {
    static const struct field old[] = {
        {"  PMU Type           :", false}, {"  Per CPU mmaps      :", false}, {NULL, false}};
    static const struct field head[] = {
        {"  Header version     :", false},
        {"  Header size        :", false},
        {"  PMU type v2        :", false},
        {"  CPU number         :", false},
        {NULL, false},
    };
    static const struct field cpu[] = {
        {"    Magic            :", true},
        {"    CPU #            :", false},
        {"    Num of params    :", false},
        {NULL, false},
    };
    static const struct field params[] = {
        {"    MIDR             :", true},
        {"    PMU Type         :", false},
        {"    Min Interval     :", false},
        {"    Event Filter     :", true},
        {NULL, false},
    };
    if (w->list->count <= 2) {
        fields(o, old, w);
        return;
    }
    fields(o, head, w);
    while (more(w)) {
        fields(o, cpu, w);
        uint64_t count = w->at ? perfdata_u64_at(w->list, w->at - 1) : 0;
        for (uint64_t i = 0; i < count && more(w); i++) {
            if (i < sizeof params / sizeof *params - 1)
                field(o, &params[i], next(w));
            else
                next(w);
        }
    }
}

/* A CPU's trace unit, told by its magic number; names by perf's parameter numbers from 3 on. */
struct etm {
    uint64_t magic;
    unsigned old_count; /* parameters in version 0, which does not count them */
    unsigned count;
    const char *names[9];
};

static const struct etm etms[] = {
    {0x3030303030303030,
     4,
     4,
     {"\tETMCR\t\t\t       ", "\tETMTRACEIDR\t\t       ", "\tETMCCER\t\t\t       ", "\tETMIDR\t\t\t       "}},
    {0x4040404040404040,
     7,
     8,
     {"\tTRCCONFIGR\t\t       ", "\tTRCTRACEIDR\t\t       ", "\tTRCIDR0\t\t\t       ",
      "\tTRCIDR1\t\t\t       ", "\tTRCIDR2\t\t\t       ", "\tTRCIDR8\t\t\t       ",
      "\tTRCAUTHSTATUS\t\t       ", "\tTS_SOURCE\t\t       "}},
    {0x5050505050505050,
     9,
     9,
     {"\tTRCCONFIGR\t\t       ", "\tTRCTRACEIDR\t\t       ", "\tTRCIDR0\t\t\t       ",
      "\tTRCIDR1\t\t\t       ", "\tTRCIDR2\t\t\t       ", "\tTRCIDR8\t\t\t       ",
      "\tTRCAUTHSTATUS\t\t       ", "\tTRCDEVARCH                     ",
      "\tTS_SOURCE                      "}},
};

/* False when the magic number is of no known unit: nobody knows how long its block is. */
static bool etm_cpu(struct out *o, struct words *w, uint64_t version) {
    uint64_t magic = next(w);
    const struct etm *e = etms, *end = etms + sizeof etms / sizeof *etms;
    while (e < end && e->magic != magic)
        e++;
    if (e == end) {
        out_printf(o, "\tMagic number Unknown\t       %" PRIx64 "\n", magic);
        return false;
    }
    out_printf(o, "\tMagic number\t\t       %" PRIx64 "\n", magic);
    out_printf(o, "\tCPU\t\t\t       %" PRId64 "\n", (int64_t)next(w));
    uint64_t count = e->old_count;
    if (version > 0) {
        count = next(w);
        out_printf(o, "\tNR_TRC_PARAMS\t\t       %" PRIx64 "\n", count);
    }
    for (uint64_t i = 0; i < count && more(w); i++) {
        uint64_t v = next(w);
        if (i >= e->count)
            out_printf(o, "\tUnknown parameter [%" PRIu64 "]\t       %" PRIx64 "\n", i + 3, v);
        else if (strstr(e->names[i], "TS_SOURCE"))
            out_printf(o, "%s%" PRId64 "\n", e->names[i], (int64_t)v); /* -1: none */
        else
            out_printf(o, "%s%" PRIx64 "\n", e->names[i], v);
    }
    return true;
}

static void cs_etm(struct out *o, struct words *w) {
    uint64_t version = next(w);
    out_printf(o, "\tHeader version\t\t       %" PRIx64 "\n", version);
    out_printf(o, "\tPMU type/num cpus\t       %" PRIx64 "\n", next(w));
    out_printf(o, "\tSnapshot\t\t       %" PRIx64 "\n", next(w));
    while (more(w) && etm_cpu(o, w, version)) {
    }
}

void dump_auxtrace_info(const struct dump_line *l) {
    const struct perfdata_auxtrace_info *a = &l->rec->auxtrace_info;
    struct words w = {&a->priv, 0};
    out_printf(l->out, " type: %u\n", a->type);
    switch (a->type) {
    case AUXTRACE_INTEL_PT:
        intel_pt(l->out, &w);
        break;
    case AUXTRACE_INTEL_BTS:
        intel_bts(l->out, &w);
        break;
    case AUXTRACE_CS_ETM:
        cs_etm(l->out, &w);
        break;
    case AUXTRACE_ARM_SPE:
        arm_spe(l->out, &w);
        break;
    case AUXTRACE_HISI_PTT:
    case AUXTRACE_VPA_DTL:
        pmu_type(l->out, &w);
        break;
    default:
        break; /* the hex block has it all */
    }
}
