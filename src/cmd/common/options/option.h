/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as tables: a command describes them in const rows, and they are parsed once into the command's own
 * struct. Help, man pages and completion are made from the same rows. The syntax is perf's: bundled short
 * options (-fv), -F99 and -F 99, --long=v and --long v, unambiguous prefixes of long names, --no-X (and --X
 * for an option named no-X), options and operands in any order unless the command forbids it, "--" ends
 * options.
 *
 *     struct evlist_options { bool force; int verbose; const char *input; };
 *     static const struct option options[] = {
 *         OPTION_BOOL('f', "force", struct evlist_options, force, "don't complain, do it"),
 *         OPTION_COUNT('v', "verbose", struct evlist_options, verbose, "Show all event attr details"),
 *         OPTION_STRING('i', "input", struct evlist_options, input, "file", "Input file name"),
 *         OPTION_END,
 *     };
 */
#ifndef SONDE_CMD_COMMON_OPTION_H
#define SONDE_CMD_COMMON_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_kind {
    OPTION_KIND_END = 0,
    OPTION_KIND_BOOL,   /* bool; --no-X sets false */
    OPTION_KIND_COUNT,  /* int, incremented by each -v; --no-X sets 0 */
    OPTION_KIND_INT,    /* int, decimal */
    OPTION_KIND_U64,    /* uint64_t, decimal */
    OPTION_KIND_STRING, /* const char *, borrowed from argv; the last one counts; --no-X sets NULL */
    OPTION_KIND_LIST,   /* struct option_list, which keeps all values; --no-X empties it */
    OPTION_KIND_CALL,   /* the row's function decides */
};

enum option_flags {
    OPTION_NO_VALUE = 1,       /* for calls: takes no value (other kinds imply it) */
    OPTION_VALUE_OPTIONAL = 2, /* only attached: --x=v, -xv; else the row's fallback */
    OPTION_VALUE_ADOPT = 4,    /* as OPTIONAL, but takes the next argument too if it starts with no dash */
    OPTION_NO_NEGATION = 8,    /* there is no --no-X */
    OPTION_HIDDEN = 16,        /* works, but is not listed */
};

/* The vocabulary of an option's value, for help and completion; see words.h. */
enum option_words {
    OPTION_WORDS_NONE,      /* none is known: completes file names */
    OPTION_WORDS_KEYS,      /* sort keys of report */
    OPTION_WORDS_FIELDS,    /* fields of script */
    OPTION_WORDS_VARIABLES, /* of the configuration */
    OPTION_WORDS_EVENTS,    /* this machine's events; the program itself can list the words up to here */
    OPTION_WORDS_COMMS,     /* from here on, words are in the recording */
    OPTION_WORDS_DSOS,
    OPTION_WORDS_COUNT,
};

struct option;

/* The function of OPTION_CALL: `field` is the row's field inside the caller's struct; `value` is the given
 * text, else the row's fallback (may be NULL); NULL when negated. False: `e` has one line. */
typedef bool option_fn(const struct option *row, void *field, const char *value, bool negated, struct err *e);

struct option {
    char letter;      /* 0: no short form */
    const char *name; /* without dashes; NULL: no long form */
    enum option_kind kind;
    size_t offset;    /* of the field inside the caller's struct */
    const char *arg;  /* name of the value in help; shown as <arg> */
    const char *help; /* lower- or upper-case phrase; may hold newlines. After a colon at its end help lists
                         the words */
    unsigned flags;   /* enum option_flags */
    const char *fallback; /* the value when an optional one is absent */
    option_fn *call;
    enum option_words words; /* several may be given, separated by commas */
};

struct option_list {
    const char **items; /* an owned array of borrowed texts */
    size_t count, cap;
};
void option_list_fini(struct option_list *l);

/* Returns the field's offset; does not compile if the field is not of type `want`. */
#define OPTION_AT(type, field, want) _Generic(((type *)0)->field, want : offsetof(type, field))

#define OPTION_ROW(l, n, k, off, a, h, ...) \
    { .letter = (l), .name = (n), .kind = (k), .offset = (off), .arg = (a), .help = (h), __VA_ARGS__ }

/* Rows. Further members may follow the help: ", .flags = OPTION_HIDDEN". */
#define OPTION_BOOL(l, n, type, field, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_BOOL, OPTION_AT(type, field, bool), NULL, h, __VA_ARGS__)
#define OPTION_COUNT(l, n, type, field, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_COUNT, OPTION_AT(type, field, int), NULL, h, __VA_ARGS__)
#define OPTION_INT(l, n, type, field, a, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_INT, OPTION_AT(type, field, int), a, h, __VA_ARGS__)
#define OPTION_U64(l, n, type, field, a, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_U64, OPTION_AT(type, field, uint64_t), a, h, __VA_ARGS__)
#define OPTION_STRING(l, n, type, field, a, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_STRING, OPTION_AT(type, field, const char *), a, h, __VA_ARGS__)
#define OPTION_LIST(l, n, type, field, a, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_LIST, OPTION_AT(type, field, struct option_list), a, h, __VA_ARGS__)
#define OPTION_CALL(l, n, type, field, a, h, fn, ...) \
    OPTION_ROW(l, n, OPTION_KIND_CALL, offsetof(type, field), a, h, .call = (fn), __VA_ARGS__)
/* An option of perf's that sonde does not have yet: using it is an error that says so (--no-x is fine). */
#define OPTION_ABSENT(l, n, a, h, ...) \
    OPTION_ROW(l, n, OPTION_KIND_CALL, 0, a, h " (not there yet)", .call = option_absent, __VA_ARGS__)
#define OPTION_ABSENT_FLAG(l, n, h, ...) OPTION_ABSENT(l, n, NULL, h, .flags = OPTION_NO_VALUE, __VA_ARGS__)
#define OPTION_END \
    { 0 }

enum option_parse_flags {
    OPTION_STOP_AT_OPERAND = 1, /* options end at the first operand (record, test -w) */
    OPTION_KEEP_UNKNOWN = 2,    /* options end at an unknown one, which is the first operand */
};

enum option_status {
    OPTION_DONE,       /* all parsed; the operands are in argv[0 .. argc) */
    OPTION_HELP,       /* -h: the operands are words to search for, if any */
    OPTION_LIST_WORDS, /* a value is "help": list the words of option `row` */
    OPTION_BAD,        /* err says why */
};

struct option_result {
    enum option_status status;
    int argc;                 /* operands */
    char **argv;              /* inside the caller's argv, in the order given, NULL-terminated */
    struct err err;           /* code ERR_USAGE (or ERR_MEMORY); the whole line, without "Error: " */
    const struct option *row; /* the option that `err` is about, or NULL */
    bool row_only;            /* the message is about that option only: usage need not show others */
};

/* Parses argv[1 .. argc) by `rows` (ended by OPTION_END; NULL: no options) into `into`, in which the caller
 * has set the defaults. Permutes argv. argv[argc] must be NULL. */
struct option_result option_parse(const struct option *rows, void *into, unsigned flags, int argc,
                                  char **argv);

option_fn option_absent; /* function of OPTION_ABSENT; the error is ERR_UNSUPPORTED */

/* Reads a number followed by ns, us, ms or s. `bare`: how many ns a number without a unit counts; 0: it needs
 * one. False: it is none, or too large. */
bool option_time_ns(const char *text, uint64_t bare, uint64_t *ns);

/* Whether the row takes a value at all, and whether it can be negated. */
bool option_takes_value(const struct option *row);
bool option_negatable(const struct option *row);

#endif
