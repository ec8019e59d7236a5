/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a profile (perf-report(1), --sort and --fields): measures, which are sums, and keys, by
 * which samples are grouped.
 */
#ifndef SONDE_PROFILE_COLUMNS_COLUMN_H
#define SONDE_PROFILE_COLUMNS_COLUMN_H

#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"

/* The columns that other code than their own speaks of; all others are PROFILE_COLUMN. */
enum profile_column_id {
    PROFILE_COLUMN,
    PROFILE_OVERHEAD,
    PROFILE_OVERHEAD_CHILDREN, /* "Children" */
    PROFILE_OVERHEAD_SYS,
    PROFILE_OVERHEAD_US,
    PROFILE_LATENCY,
    PROFILE_LATENCY_CHILDREN,
    PROFILE_SAMPLE,
    PROFILE_PERIOD,
    PROFILE_COMM,
    PROFILE_COMM_NODIGIT,
    PROFILE_PID,
    PROFILE_DSO,
    PROFILE_SYMBOL,
    PROFILE_IPC, /* instructions per cycle, which comes with an explicit symbol key */
    PROFILE_PARENT,
};

/* When a column can be had. */
enum profile_need {
    PROFILE_NEEDS_NOTHING,
    PROFILE_NEEDS_BRANCHES, /* -b */
    PROFILE_NEEDS_MEMORY,   /* --mem-mode */
    PROFILE_NEEDS_HISTORY,  /* --branch-history */
    PROFILE_NEEDS_SWITCHES, /* context switches, as record --latency has them */
};

enum profile_column_kind {
    PROFILE_MEASURE,     /* a sum, not what samples are grouped by */
    PROFILE_KEY_NUMBER,  /* of a sample: its value is a number, */
    PROFILE_KEY_TEXT,    /* a text (an id in builder.texts), */
    PROFILE_KEY_TEXTS,   /* two: what is shown and, in the upper half, what it is told apart by, */
    PROFILE_KEY_ADDRESS, /* or an address (an id in builder.frames) that is not where the sample lies */
    PROFILE_KEY_PLACE,   /* no value: follows from where the sample lies */
};

/* How a column is laid out. */
enum {
    PROFILE_RIGHT = 1 << 0,        /* align a key to the right, as measures are */
    PROFILE_ALWAYS_RIGHT = 1 << 1, /* even with -t */
    PROFILE_RAGGED = 1 << 2,       /* no padding if it is the last column */
    PROFILE_CUT = 1 << 3,          /* cut to the column's width */
    PROFILE_DIGITS = 1 << 4,       /* -w sets the number of digits; the number is never cut */
    PROFILE_LEVEL = 1 << 5,        /* the text begins with "[k] "; an address after that is never cut */
    PROFILE_TITLE_WIDE = 1 << 6,   /* as wide as its title; longer texts stand out, or are cut */
    PROFILE_WIDE_EMPTY = 1 << 7,   /* `width` counts in an empty table, too */
    PROFILE_PERCENT = 1 << 8,      /* measures: a percentage of the event's */
    PROFILE_SHARE = 1 << 9,        /* and what sorts by itself: see profile_columns_make */
    PROFILE_MEAN = 1 << 10,        /* measures: divided by the number of samples */
    PROFILE_OF_CHILDREN = 1 << 11, /* measures: of callers' rows, with what they called */
};

/* What must be known of frames before a column's values are. */
enum {
    PROFILE_FINDS_LINES = 1 << 0,    /* their source lines, */
    PROFILE_FINDS_TYPES = 1 << 1,    /* types of data, */
    PROFILE_FINDS_EVIDENCE = 1 << 2, /* what their names rest on, */
    PROFILE_FINDS_MAPPING = 1 << 3,  /* the size of their mapping */
    PROFILE_FINDS_OFFSET = 1 << 4,   /* frames are to be separate for each offset in a function, */
    PROFILE_FINDS_ADDRESS = 1 << 5,  /* or for each address */
    PROFILE_FINDS_WEIGHTS = 1 << 6,  /* samples: weights and latency are summed */
};

struct out;
struct perfdata_sample;
struct profile;
struct profile_builder;
struct profile_column;
struct profile_row;
struct profile_table;
struct profile_taken;

typedef uint64_t profile_add_fn(const struct perfdata_sample *s);

/*
 * A measure or a sort key: all that is known of it, in one row of a table (column_*.c,
 * docs/HOWTO_ADD_SORT_KEY.md). What is NULL or 0 is as for most.
 */
struct profile_key {
    const char *name;           /* as -s and -F take it */
    const char *const *aliases; /* other names, NULL after the last; NULL: none */
    const char *title;          /* the heading, blanks of perf's before it included */
    const char *help;           /* what it is */
    const char *later;          /* it is not there yet: why */
    const char *same_as;        /* another key with the same values: whichever comes first is the column */
    uint8_t id;                 /* enum profile_column_id */
    uint8_t need;               /* enum profile_need */
    uint8_t kind;               /* enum profile_column_kind */
    uint8_t finds;              /* PROFILE_FINDS_* */
    uint16_t layout;            /* PROFILE_RIGHT... */
    uint8_t width;              /* measures: of one number; keys: the least; 0: the title's */
    uint8_t width_ns;           /* the least with --ns */
    uint16_t cut_from;          /* -w cuts texts only where it is so wide at least: PROFILE_NEVER_CUT */
    uint8_t blanks;             /* PROFILE_DIGITS: so many columns of -w's are none */
    bool of_thread;             /* the value follows from the event and the thread */
    bool one_thread;            /* values can be had by one thread only, in order of the samples */
    bool downwards;             /* without `rank`: from the largest number on */
    bool by_address;            /* rows of equal ranks: by the second word, as signed numbers */
    bool word_decides;          /* rows that nothing else tells apart: by the first word */
    bool of_function;           /* likewise: by the object, and where in it the function lies */
    uint8_t sum;    /* measures: where in struct profile_sums; of callers, in struct profile_through */
    uint64_t wants; /* the sample bits (PERFDATA_SAMPLE_*) that the value needs */
    struct {
        const char *x86, *power; /* what -s calls it in recordings of these; NULL: `title` */
        bool nowhere_else;       /* on other processors there is no such column */
    } arch;

    /* Measures: what a sample adds to a sum of the column's own and, `per`, to one that this is divided by: a
     * percentage. NULL: `sum` says which sum it is; it is not divided. */
    profile_add_fn *add, *per;

    /* The value of a sample (or of a branch of it). Keys with one function share what it gives. */
    uint64_t (*value)(struct profile_builder *b, const struct profile_taken *x,
                      const struct profile_column *c);
    /* By what rows are told apart: one or two words (profile_key_words). NULL: the value. */
    unsigned (*words)(const struct profile *p, const struct profile_row *row, uint32_t frame, uint64_t value,
                      uint64_t *words);
    /* Compares: rows are sorted from low ranks to high ones. NULL: by the first word, a text or a number. */
    uint64_t (*rank)(const struct profile *p, const struct profile_row *row, const uint64_t *words);
    /* Appends the text. NULL: of the value, as its kind says. */
    void (*put)(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                const struct profile_column *c, struct out *o);
    /* What perf takes for the width of a row's text; 0, or NULL: its length. */
    uint32_t (*room)(const struct profile *p, const struct profile_row *row, const struct profile_column *c);
};

struct profile_column {
    const struct profile_key *key;
    uint32_t number;   /* distinct for each column of a set: below PROFILE_COLUMNS_MAX */
    uint8_t sum, per;  /* of a measure with `add`, `per`: which of profile_sums.own */
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

enum {
    PROFILE_COLUMNS_MAX = 160,
    PROFILE_FIELDS_MAX = 32,
    PROFILE_NEVER_CUT = UINT16_MAX,
    PROFILE_OWN_SUMS = 4
};

static inline bool profile_column_is_key(const struct profile_column *c) {
    return c->key->kind != PROFILE_MEASURE;
}

struct profile_columns {
    struct arena arena;
    uint32_t count;                   /* of distinct columns */
    uint32_t fields;                  /* how many of them are fields */
    uint32_t sums;                    /* that are columns' own */
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

/* The i-th field that is the event's own; false after the last one. */
typedef bool profile_field_fn(void *ctx, const struct perfdata_attr *attr, size_t i,
                              struct profile_field *out);

/* What the defaults and the allowed keys depend on. */
struct profile_column_options {
    const char *sort;            /* -s; NULL: default; "+key,..." appends to the default */
    const char *fields;          /* -F; NULL: default; "+..." appends */
    bool children;               /* show Children and Self instead of Overhead */
    bool callerless;             /* --children, but without callchains: a Children in -s is ignored */
    bool branch, history, mem;   /* modes */
    const char *arch;            /* of the recording, as uname -m; NULL: not known */
    bool parent;                 /* -p was given: add the key `parent` as the last one */
    bool latency;                /* --latency */
    bool latent;                 /* the recording has the context switches that latency needs */
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

/* The column of that id; NULL: none. */
const struct profile_column *profile_columns_find(const struct profile_columns *c, enum profile_column_id id);

/* The i-th measure or sort key that -s and -F accept; NULL if there are not that many. Measures come first;
 * an abbreviated name means the first one in this order that begins with it. */
const struct profile_key *profile_key_at(size_t i);
/* The measure or key with that id. */
const struct profile_key *profile_key_known(enum profile_column_id id);
/* Which mode the key needs, as words for messages, such as "with --mem-mode"; NULL if none. */
const char *profile_key_condition(const struct profile_key *key);

/* What help and completion tell of a name. */
struct profile_key_entry {
    const char *name;
    const struct profile_key *key;
};
/* The i-th name that -s and -F take, measures first; false after the last. */
bool profile_key_listed(size_t i, struct profile_key_entry *out);

#endif
