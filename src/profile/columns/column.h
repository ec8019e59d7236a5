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

/* The columns that code besides their own refers to; all others are PROFILE_COLUMN. */
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

/* What a column needs to be available. */
enum profile_need {
    PROFILE_NEEDS_NOTHING,
    PROFILE_NEEDS_BRANCHES, /* -b */
    PROFILE_NEEDS_MEMORY,   /* --mem-mode */
    PROFILE_NEEDS_HISTORY,  /* --branch-history */
    PROFILE_NEEDS_SWITCHES, /* context switches, as record --latency records */
};

enum profile_column_kind {
    PROFILE_MEASURE,     /* a sum; samples are not grouped by it */
    PROFILE_KEY_NUMBER,  /* samples are grouped by a value: a number, */
    PROFILE_KEY_TEXT,    /* a text (an id in builder.texts), */
    PROFILE_KEY_TEXTS,   /* two texts: the shown one and, in the upper half, the one to group by, */
    PROFILE_KEY_ADDRESS, /* or an address (an id in builder.frames) other than the sample's own */
    PROFILE_KEY_PLACE,   /* no value: it follows from the sample's own place */
};

/* How a column is laid out. */
enum {
    PROFILE_RIGHT = 1 << 0,        /* align a key to the right, as measures are */
    PROFILE_ALWAYS_RIGHT = 1 << 1, /* even with -t */
    PROFILE_RAGGED = 1 << 2,       /* no padding if it is the last column */
    PROFILE_CUT = 1 << 3,          /* cut to the column's width */
    PROFILE_DIGITS = 1 << 4,       /* -w sets the number of digits; the number is never cut */
    PROFILE_LEVEL = 1 << 5,        /* the text begins with "[k] "; an address after that is never cut */
    PROFILE_TITLE_WIDE = 1 << 6,   /* only as wide as its title; longer texts overflow, or are cut */
    PROFILE_WIDE_EMPTY = 1 << 7,   /* `width` counts in an empty table, too */
    PROFILE_PERCENT = 1 << 8,      /* measures: shown as a percentage of the event's */
    PROFILE_SHARE = 1 << 9,        /* measures: sorts first by default: see profile_columns_make */
    PROFILE_MEAN = 1 << 10,        /* measures: shown divided by the number of samples */
    PROFILE_OF_CHILDREN = 1 << 11, /* measures: includes what the row called */
};

/* What a column needs to know of frames or samples. */
enum {
    PROFILE_FINDS_LINES = 1 << 0,    /* their source lines, */
    PROFILE_FINDS_TYPES = 1 << 1,    /* types of data, */
    PROFILE_FINDS_EVIDENCE = 1 << 2, /* where their names are from, */
    PROFILE_FINDS_MAPPING = 1 << 3,  /* the size of their mapping */
    PROFILE_FINDS_OFFSET = 1 << 4,   /* frames are separate for each offset in a function, */
    PROFILE_FINDS_ADDRESS = 1 << 5,  /* or for each address */
    PROFILE_FINDS_WEIGHTS = 1 << 6,  /* samples: weights and latency are summed */
};

struct out;
struct perfdata_sample;
struct profile;
struct profile_builder;
struct profile_cell;
struct profile_column;
struct profile_taken;

typedef uint64_t profile_add_fn(const struct perfdata_sample *s);

/*
 * All that is known of a measure or a sort key, in one row of a table (column_*.c,
 * docs/HOWTO_ADD_SORT_KEY.md). NULL and 0 stand for the usual case.
 */
struct profile_key {
    const char *name;           /* as -s and -F take it */
    const char *const *aliases; /* other names, NULL after the last; NULL: none */
    const char *title;          /* the heading, with perf's blanks before it */
    const char *help;           /* what it shows */
    const char *later;          /* why it is not there yet */
    const char *same_as; /* another key with the same values: only the first one given becomes a column */
    uint8_t id;          /* enum profile_column_id */
    uint8_t need;        /* enum profile_need */
    uint8_t kind;        /* enum profile_column_kind */
    uint8_t finds;       /* PROFILE_FINDS_* */
    uint16_t layout;     /* PROFILE_RIGHT... */
    uint8_t width;       /* measures: of one number; keys: the minimum; 0: the title's */
    uint8_t width_ns;    /* the minimum with --ns */
    uint16_t cut_from;   /* -w cuts texts only from this width on; or PROFILE_NEVER_CUT */
    uint8_t blanks;      /* PROFILE_DIGITS: so much of -w's width is not for digits */
    bool of_thread;      /* the value follows from the event and the thread */
    bool one_thread;     /* only one thread may make values, in order of the samples */
    bool downwards;      /* without `rank`: the largest number first */
    bool by_address;     /* sorts rows of equal ranks by the second word, a signed number */
    bool word_decides;   /* sorts by the first word where nothing else tells rows apart */
    bool of_function;    /* likewise by the object, and by where in it the function lies */
    uint8_t sum; /* measures: offset in struct profile_sums; PROFILE_OF_CHILDREN: in struct profile_through */
    uint64_t wants; /* the sample bits (PERFDATA_SAMPLE_*) that the value needs */
    struct {
        const char *x86, *power; /* the title that -s gives it in recordings of these; NULL: `title` */
        bool nowhere_else;       /* on other processors there is no such column */
    } arch;

    /* Measures: return what a sample adds to a sum of the column's own and, `per`, to the one that this is
     * divided by, for a percentage. NULL: `sum` says which sum it is; it is not divided. */
    profile_add_fn *add, *per;

    /* Returns the value of a sample (or of a branch of it). Keys with the same function share the value. */
    uint64_t (*value)(struct profile_builder *b, const struct profile_taken *x);
    /* Fills in one or two words that tell rows apart. NULL: the value. */
    unsigned (*words)(const struct profile *p, const struct profile_cell *x, uint64_t *words);
    /* Returns a rank: rows are sorted from low ranks to high ones. NULL: by the first word, a text or a
     * number. */
    uint64_t (*rank)(const struct profile *p, const uint64_t *words);
    /* Appends the text. NULL: that of the value, by its kind. */
    void (*put)(const struct profile *p, const struct profile_cell *x, struct out *o);
    /* Returns the width that perf reserves for a row's text; 0, or NULL: its length. */
    uint32_t (*room)(const struct profile *p, const struct profile_cell *x);
};

struct profile_column {
    const struct profile_key *key;
    uint32_t number;   /* distinct for each column of a set: below PROFILE_COLUMNS_MAX */
    uint8_t sum, per;  /* of a measure with `add`, `per`: index in profile_sums.own */
    const char *title; /* the heading: "Shared Object"; lives as long as the set */
    uint32_t event;    /* of a field: its event; other events' tables do not show the column. Else
                          PERFDATA_NO_EVENT */
    const char *field; /* its name; NULL: no field */
    bool raw;          /* of a field: show the number, not the pretty text */
    uint32_t width;    /* of a field: the minimum, by its type */
    bool dynamic;      /* of a field: widened to its longest text */
    bool joined;       /* of a field: trace_fields added it and the column before it; both are one level of a
                          hierarchy */
    bool shown;        /* false: groups and sorts only (-s without -F shows everything) */
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

typedef VEC(struct profile_column) profile_column_list;

struct profile_columns {
    struct arena arena;
    uint32_t count;            /* of distinct columns */
    uint32_t fields;           /* how many of them are fields */
    uint32_t sums;             /* number of columns' own sums */
    profile_column_list out;   /* in the order of printing */
    profile_column_list order; /* what decides the order of rows, most important first */
    const char *sort;          /* the keys as given, with defaults and those added automatically */
    bool fields_said;          /* -F was given */
};

/* One field of a tracepoint, from profile_field_fn. */
struct profile_field {
    const char *name; /* valid during the call only */
    size_t len;
    uint32_t width;
    bool dynamic;
};

/* Gives the i-th field that is the event's own; false after the last one. */
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

/* Returns the column of that id; NULL: none. */
const struct profile_column *profile_columns_find(const struct profile_columns *c, enum profile_column_id id);

/* Returns the i-th measure or sort key that -s and -F accept; NULL if there are not that many. Measures come
 * first; an abbreviated name means the first one in this order that begins with it. */
const struct profile_key *profile_key_at(size_t i);
/* Returns the measure or key with that id. */
const struct profile_key *profile_key_known(enum profile_column_id id);
/* Returns the mode that the key needs, as words for messages, such as "with --mem-mode"; NULL if none. */
const char *profile_key_condition(const struct profile_key *key);

/* A name and its key, for help and completion. */
struct profile_key_entry {
    const char *name;
    const struct profile_key *key;
};
/* Gives the i-th name that -s and -F take, measures first; false after the last. */
bool profile_key_listed(size_t i, struct profile_key_entry *out);

#endif
