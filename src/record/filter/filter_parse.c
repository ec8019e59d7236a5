/* SPDX-License-Identifier: Apache-2.0 */
#include "record/filter/filter_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Members of union perf_mem_data_src and of union perf_sample_weight (linux/perf_event.h). */
#define OP      0, 5
#define SNOOP   19, 5
#define LOCKED  24, 2
#define DTLB    26, 7
#define LEVEL   33, 4
#define REMOTE  37, 1
#define SNOOPX  38, 2
#define BLOCKED 40, 3
#define HOPS    43, 3

/* Names of values; a bit set is tested for its bits, a number compared. */
struct name {
    const char *text;
    uint64_t value;
    bool set;
    bool elsewhere; /* in `shift` and `bits`, not in those of the term */
    uint8_t shift, bits;
};

static const struct name OPS[] = {
    {"na", 1, true},     {"load", 2, true},  {"store", 4, true},
    {"pfetch", 8, true}, {"exec", 16, true}, {NULL, 0, false},
};
static const struct name LEVELS[] = {
    {"l1", 1, false},   {"l2", 2, false},    {"l3", 3, false},         {"l4", 4, false},
    {"cxl", 9, false},  {"io", 10, false},   {"any_cache", 11, false}, {"lfb", 12, false},
    {"ram", 13, false}, {"pmem", 14, false}, {NULL, 0, false},
};
static const struct name SNOOPS[] = {
    {"na", 1, true},
    {"none", 2, true},
    {"hit", 4, true},
    {"miss", 8, true},
    {"hitm", 16, true},
    {"fwd", 1, true, true, SNOOPX},
    {"peer", 2, true, true, SNOOPX},
    {NULL, 0, false},
};
static const struct name REMOTES[] = {{"remote", 1, false}, {NULL, 0, false}};
static const struct name LOCKS[] = {{"na", 1, true}, {"locked", 2, true}, {NULL, 0, false}};
/* NA, hit, miss, first and second level, walker, fault by the system */
static const struct name DTLBS[] = {
    {"na", 1, true},           {"l1_hit", 8 | 2, true}, {"l1_miss", 8 | 4, true}, {"l2_hit", 16 | 2, true},
    {"l2_miss", 16 | 4, true}, {"any_hit", 2, true},    {"any_miss", 4, true},    {"walk", 32, true},
    {"fault", 64, true},       {NULL, 0, false},
};
static const struct name BLOCKS[] = {
    {"na", 1, true}, {"by_data", 2, true}, {"by_addr", 4, true}, {NULL, 0, false}};
static const struct name HOP_NAMES[] = {
    {"hops0", 1, false}, {"hops1", 2, false}, {"hops2", 3, false}, {"hops3", 4, false}, {NULL, 0, false}};

static const struct term {
    const char *name;
    uint8_t field, shift, bits;
    uint64_t samples; /* PERFDATA_SAMPLE_*: one of these must be sampled; 0: it is always known */
    const char *hint;
    const struct name *names; /* NULL: numbers only */
} TERMS[] = {
    {"ip", BPF_FILTER_IP, 0, 0, PERFDATA_SAMPLE_IP, "", NULL},
    {"id", BPF_FILTER_ID, 0, 0, PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_IDENTIFIER, ": add --sample-identifier",
     NULL},
    {"tid", BPF_FILTER_TID, 0, 0, PERFDATA_SAMPLE_TID, "", NULL},
    {"pid", BPF_FILTER_PID, 0, 0, PERFDATA_SAMPLE_TID, "", NULL},
    {"cpu", BPF_FILTER_CPU, 0, 0, 0, "", NULL},
    {"time", BPF_FILTER_TIME, 0, 0, PERFDATA_SAMPLE_TIME, ": add -T", NULL},
    {"addr", BPF_FILTER_ADDR, 0, 0, PERFDATA_SAMPLE_ADDR, ": add -d", NULL},
    {"period", BPF_FILTER_PERIOD, 0, 0, 0, "", NULL},
    {"txn", BPF_FILTER_TXN, 0, 0, PERFDATA_SAMPLE_TRANSACTION, ": add --transaction", NULL},
    {"weight", BPF_FILTER_WEIGHT, 0, 0, PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W",
     NULL},
    {"phys_addr", BPF_FILTER_PHYS_ADDR, 0, 0, PERFDATA_SAMPLE_PHYS_ADDR, ": add --phys-data", NULL},
    {"code_pgsz", BPF_FILTER_CODE_PAGE, 0, 0, PERFDATA_SAMPLE_CODE_PAGE_SIZE, ": add --code-page-size", NULL},
    {"data_pgsz", BPF_FILTER_DATA_PAGE, 0, 0, PERFDATA_SAMPLE_DATA_PAGE_SIZE, ": add --data-page-size", NULL},
    {"weight1", BPF_FILTER_WEIGHT, 0, 32, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"weight2", BPF_FILTER_WEIGHT, 32, 16, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"weight3", BPF_FILTER_WEIGHT, 48, 16, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"ins_lat", BPF_FILTER_WEIGHT, 32, 16, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"retire_lat", BPF_FILTER_WEIGHT, 48, 16, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"p_stage_cyc", BPF_FILTER_WEIGHT, 48, 16, PERFDATA_SAMPLE_WEIGHT_STRUCT, ": add -W", NULL},
    {"mem_op", BPF_FILTER_DATA_SRC, OP, PERFDATA_SAMPLE_DATA_SRC, ": add -d", OPS},
    {"mem_lvl", BPF_FILTER_DATA_SRC, LEVEL, PERFDATA_SAMPLE_DATA_SRC, ": add -d", LEVELS},
    {"mem_snoop", BPF_FILTER_DATA_SRC, SNOOP, PERFDATA_SAMPLE_DATA_SRC, ": add -d", SNOOPS},
    {"mem_remote", BPF_FILTER_DATA_SRC, REMOTE, PERFDATA_SAMPLE_DATA_SRC, ": add -d", REMOTES},
    {"mem_lock", BPF_FILTER_DATA_SRC, LOCKED, PERFDATA_SAMPLE_DATA_SRC, ": add -d", LOCKS},
    {"mem_locked", BPF_FILTER_DATA_SRC, LOCKED, PERFDATA_SAMPLE_DATA_SRC, ": add -d", LOCKS},
    {"mem_dtlb", BPF_FILTER_DATA_SRC, DTLB, PERFDATA_SAMPLE_DATA_SRC, ": add -d", DTLBS},
    {"mem_blk", BPF_FILTER_DATA_SRC, BLOCKED, PERFDATA_SAMPLE_DATA_SRC, ": add -d", BLOCKS},
    {"mem_hops", BPF_FILTER_DATA_SRC, HOPS, PERFDATA_SAMPLE_DATA_SRC, ": add -d", HOP_NAMES},
    {"uid", BPF_FILTER_UID, 0, 0, 0, "", NULL},
    {"gid", BPF_FILTER_GID, 0, 0, 0, "", NULL},
};

/* Longer ones first. */
static const struct {
    const char *text;
    uint8_t how;
} OPERATORS[] = {
    {"==", BPF_FILTER_EQUAL},   {"!=", BPF_FILTER_UNEQUAL}, {">=", BPF_FILTER_AT_LEAST},
    {"<=", BPF_FILTER_AT_MOST}, {">", BPF_FILTER_MORE},     {"<", BPF_FILTER_LESS},
    {"&", BPF_FILTER_ANY},
};

struct parser {
    const char *text, *at;
    const struct perfdata_attr *attr;
    struct err *err;
};

static void skip(struct parser *p) {
    p->at += strspn(p->at, " \t\n");
}

static size_t word(const struct parser *p) {
    return strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static bool fail(const struct parser *p, const char *what) {
    return err_set(p->err, ERR_USAGE, "--filter", "%s at byte %zu of: %s", what, (size_t)(p->at - p->text),
                   p->text);
}

static bool is(const struct parser *p, size_t n, const char *name) {
    return strlen(name) == n && memcmp(p->at, name, n) == 0;
}

static const struct term *take_term(struct parser *p) {
    size_t n = word(p), i = 0;
    while (i < sizeof TERMS / sizeof *TERMS && !is(p, n, TERMS[i].name))
        i++;
    if (i == sizeof TERMS / sizeof *TERMS) {
        fail(p, "no term (ip, id, tid, pid, cpu, time, addr, period, uid, gid, weight ...: see the manual)");
        return NULL;
    }
    if (TERMS[i].samples && !(p->attr->sample_type & TERMS[i].samples)) {
        err_set(p->err, ERR_USAGE, "--filter", "%s is not in the event's samples%s", TERMS[i].name,
                TERMS[i].hint);
        return NULL;
    }
    p->at += n;
    return &TERMS[i];
}

static bool take_operator(struct parser *p, uint8_t *how) {
    skip(p);
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        size_t n = strlen(OPERATORS[i].text);
        if (strncmp(p->at, OPERATORS[i].text, n) == 0) {
            p->at += n;
            *how = OPERATORS[i].how;
            return true;
        }
    }
    return fail(p, "no operator (==, !=, >, >=, <, <=, &)");
}

static bool take_value(struct parser *p, const struct term *term, struct bpf_filter_term *t) {
    char *end;
    skip(p);
    size_t n = word(p);
    for (const struct name *v = term->names; v && v->text; v++) {
        if (!is(p, n, v->text))
            continue;
        p->at += n;
        t->value = v->value;
        if (v->elsewhere) {
            t->shift = v->shift;
            t->bits = v->bits;
        }
        if (v->set && t->how == BPF_FILTER_EQUAL)
            t->how = BPF_FILTER_ALL;
        else if (v->set && t->how == BPF_FILTER_UNEQUAL)
            t->how = BPF_FILTER_MISS;
        return true;
    }
    if (*p->at < '0' || *p->at > '9')
        return fail(p, term->names ? "no value of this term" : "no number");
    errno = 0;
    t->value = strtoull(p->at, &end, p->at[0] == '0' && (p->at[1] | 32) == 'x' ? 16 : 10);
    if (errno || end != p->at + n)
        return fail(p, "no number");
    p->at = end;
    return true;
}

/* True: another term follows. */
static bool take_joint(struct parser *p, struct bpf_filter_term *t, bool *ok) {
    skip(p);
    t->either = strncmp(p->at, "||", 2) == 0;
    bool both = strncmp(p->at, "&&", 2) == 0; /* as the filters of tracepoints spell it */
    *ok = t->either || both || *p->at == ',' || !*p->at || fail(p, "neither ',' nor '&&' nor '||'");
    bool more = *ok && *p->at;
    if (more)
        p->at += t->either || both ? 2 : 1;
    return more;
}

bool record_filter_parse(const char *text, const struct perfdata_attr *attr, struct bpf_filter *out,
                         struct err *err) {
    struct parser p = {text, text, attr, err};
    bool ok = true;
    *out = (struct bpf_filter){.count = 0};
    for (bool more = true; more;) {
        struct bpf_filter_term *t = &out->terms[out->count];
        skip(&p);
        if (out->count == BPF_FILTER_TERMS)
            return fail(&p, "too many terms");
        const struct term *term = take_term(&p);
        if (!term)
            return false;
        *t = (struct bpf_filter_term){.field = term->field, .shift = term->shift, .bits = term->bits};
        /* Without the struct, the weight is one number; with it the first part is what is shown as such. */
        if (term->field == BPF_FILTER_WEIGHT && !t->bits && attr->sample_type & PERFDATA_SAMPLE_WEIGHT_STRUCT)
            t->bits = 32;
        if (!take_operator(&p, &t->how) || !take_value(&p, term, t))
            return false;
        out->count++;
        more = take_joint(&p, t, &ok);
    }
    return ok;
}
