/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a profile (perf-report(1), --sort and --fields): measures, which are sums, and keys, by
 * which samples are grouped.
 */
#ifndef SONDE_PROFILE_COLUMN_H
#define SONDE_PROFILE_COLUMN_H

#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events.h"

enum profile_column_id {
    /* measures */
    PROFILE_OVERHEAD,
    PROFILE_OVERHEAD_CHILDREN, /* "Children" */
    PROFILE_LATENCY,
    PROFILE_LATENCY_CHILDREN,
    PROFILE_OVERHEAD_SYS,
    PROFILE_OVERHEAD_US,
    PROFILE_OVERHEAD_GUEST_SYS,
    PROFILE_OVERHEAD_GUEST_US,
    PROFILE_SAMPLE,
    PROFILE_PERIOD,
    PROFILE_WEIGHT1,
    PROFILE_WEIGHT2,
    PROFILE_WEIGHT3,
    /* keys */
    PROFILE_PID, /* "tid:comm" under the title "Pid:Command" */
    PROFILE_KEY_FIRST = PROFILE_PID,
    PROFILE_TGID,
    PROFILE_COMM,
    PROFILE_COMM_NODIGIT,
    PROFILE_DSO,
    PROFILE_DSO_SIZE,
    PROFILE_SYMBOL,
    PROFILE_SYMBOL_SIZE,
    PROFILE_SYMBOL_OFFSET,
    PROFILE_IPC, /* instructions per cycle, which comes with an explicit symbol key; "-" without LBR */
    PROFILE_PARENT,
    PROFILE_CPU,
    PROFILE_SOCKET,
    PROFILE_PARALLELISM,
    PROFILE_SRCLINE,
    PROFILE_SRCFILE,
    PROFILE_GRADE,      /* symbol/grade.h */
    PROFILE_IDENTITY,   /* by what the file of the name was recognised */
    PROFILE_PROVENANCE, /* which list of which file gave the name */
    PROFILE_ADDR,       /* of the code */
    PROFILE_WEIGHT,
    PROFILE_LOCAL_WEIGHT,
    PROFILE_INS_LAT,
    PROFILE_LOCAL_INS_LAT,
    PROFILE_P_STAGE_CYC,
    PROFILE_LOCAL_P_STAGE_CYC,
    PROFILE_RETIRE_LAT,
    PROFILE_LOCAL_RETIRE_LAT,
    PROFILE_CGROUP,
    PROFILE_CGROUP_ID,
    PROFILE_TRANSACTION,
    PROFILE_TIME,
    PROFILE_CODE_PAGE_SIZE,
    PROFILE_SIMD,
    PROFILE_TYPE,
    PROFILE_TYPEOFF,
    PROFILE_TYPECLN,
    /* keys of branch mode */
    PROFILE_DSO_FROM,
    PROFILE_DSO_TO,
    PROFILE_SYMBOL_FROM,
    PROFILE_SYMBOL_TO,
    PROFILE_SRCLINE_FROM,
    PROFILE_SRCLINE_TO,
    PROFILE_ADDR_FROM,
    PROFILE_ADDR_TO,
    PROFILE_MISPREDICT,
    PROFILE_IN_TX,
    PROFILE_ABORT,
    PROFILE_CYCLES,
    PROFILE_CALLCHAIN_BRANCH_PREDICTED,
    PROFILE_CALLCHAIN_BRANCH_ABORT,
    PROFILE_CALLCHAIN_BRANCH_CYCLES,
    /* keys of --mem-mode */
    PROFILE_SYMBOL_DADDR,
    PROFILE_DSO_DADDR,
    PROFILE_SYMBOL_IADDR,
    PROFILE_LOCKED,
    PROFILE_TLB,
    PROFILE_MEM,
    PROFILE_SNOOP,
    PROFILE_DCACHELINE,
    PROFILE_PHYS_DADDR,
    PROFILE_DATA_PAGE_SIZE,
    PROFILE_BLOCKED,
    /* keys of tracepoints */
    PROFILE_TRACE,
    PROFILE_FIELD, /* the first field of a tracepoint that is asked for; profile_column.field; others follow
                    */
    PROFILE_FIELD_LAST = PROFILE_FIELD + 31,
    PROFILE_COLUMN_COUNT,
};

struct profile_column {
    enum profile_column_id id;
    const char *title; /* the heading: "Shared Object"; lives as long as the set */
    uint32_t event;    /* of a field: whose; in other events' tables the column is not shown. Else
                          PERFDATA_NO_EVENT */
    const char *field; /* its name; NULL: no field */
    bool raw;          /* of a field: the number, not the pretty text */
    uint32_t width;    /* of a field: the least, as its type has it */
    bool dynamic;      /* of a field: and as wide as its longest text */
    bool joined; /* of a field: trace_fields brought it, and the column before it: one level of a hierarchy */
    bool shown;  /* false: groups and sorts only (-s without -F shows everything) */
};

static inline bool profile_column_is_field(enum profile_column_id id) {
    return id >= PROFILE_FIELD && id <= PROFILE_FIELD_LAST;
}

static inline bool profile_column_is_key(enum profile_column_id id) {
    return id >= PROFILE_KEY_FIRST;
}

struct profile_columns {
    struct arena arena;
    uint32_t fields;                  /* how many columns are fields */
    VEC(struct profile_column) out;   /* in the order of printing */
    VEC(struct profile_column) order; /* what decides the order of entries, most important first */
    const char *sort;                 /* the keys as asked for, defaults and what came of itself included */
    bool fields_said;                 /* there is a -F */
};

/* One field of a tracepoint, as profile_field_fn tells it. */
struct profile_field {
    const char *name; /* dies with the call */
    size_t len;
    uint32_t width;
    bool dynamic;
};

/* The i-th field that is the event's own; false behind the last one. */
typedef bool profile_field_fn(void *ctx, const struct perfdata_attr *attr, size_t i,
                              struct profile_field *out);

/* What the defaults and the allowed keys depend on. */
struct profile_column_options {
    const char *sort;            /* -s; NULL: default; "+key,..." appends to the default */
    const char *fields;          /* -F; NULL: default; "+..." appends */
    bool children;               /* callchains are accumulated: Children and Self instead of Overhead */
    bool callerless;             /* they would be if there were any: Children in -s is no column then */
    bool branch, history, mem;   /* modes */
    const char *arch;            /* of the recording, as uname -m; NULL: not known */
    bool parent;                 /* -p: that key, too, behind all others of -s */
    bool latency;                /* --latency */
    bool latent;                 /* the recording has what latency follows from */
    profile_field_fn *fields_of; /* NULL: no field is known */
    void *fields_ctx;
    bool raw_fields;  /* --raw-trace: all fields as numbers */
    bool traces_only; /* every event is a tracepoint: the default key is `trace` */
    bool show_cpu_utilization, show_samples,
        show_total_period; /* --showcpuutilization, -n, --show-total-period */
};

/* Builds the columns; zeroed before, profile_columns_fini in any case. False: ERR_USAGE with perf's message
 * ("Unknown --sort key: `x'"), ERR_UNSUPPORTED for a key that sonde does not have, ERR_MEMORY. */
bool profile_columns_make(const struct profile_column_options *o, const struct perfdata_events *events,
                          struct profile_columns *out, struct err *err);
void profile_columns_fini(struct profile_columns *c);

/* The name that -s knows the column by: "dso". Of a tracepoint's field, "field". */
const char *profile_column_key(enum profile_column_id id);

/* What help and completion tell of a key. */
struct profile_column_entry {
    const char *name, *title;
    const char *condition; /* "with --mem-mode"; NULL: none */
};
/* The i-th name that -s and -F take, measures first; false after the last. */
bool profile_column_listed(size_t i, struct profile_column_entry *out);

#endif
