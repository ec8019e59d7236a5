/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cmd/kmem/kmem.h"

/* The fields of struct kmem_choice depend on the order of the options: their rows all point to it. */
static bool choose_slab(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    struct kmem_choice *c = field;
    (void)row, (void)value, (void)e;
    c->slab = !negated;
    c->last_page = negated && c->page;
    return true;
}

static bool choose_page(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    struct kmem_choice *c = field;
    (void)row, (void)value, (void)e;
    c->page = c->last_page = !negated;
    return true;
}

static bool choose_caller(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    struct kmem_choice *c = field;
    (void)row, (void)value, (void)e;
    c->caller = negated ? 0 : ++c->last;
    return true;
}

static bool choose_alloc(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct kmem_choice *c = field;
    (void)row, (void)value, (void)e;
    c->alloc = negated ? 0 : ++c->last;
    return true;
}

static bool choose_sort(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    struct kmem_choice *c = field;
    struct kmem_page_order pages;
    struct kmem_slab_order slab;
    struct bytes bad;
    bool callers = c->caller > c->alloc;
    (void)row;
    if (negated)
        return true;
    if (c->last_page ? !kmem_page_order_parse(value, &pages, &bad)
                     : !kmem_slab_order_parse(value, &slab, &bad))
        return err_set(e, ERR_USAGE, NULL, "Unknown %s --sort key: '%.*s'", c->last_page ? "page" : "slab",
                       (int)bad.size, (const char *)bad.data);
    if (c->last_page)
        *(callers ? &c->page_caller_sort : &c->page_alloc_sort) = value;
    else
        *(callers ? &c->slab_caller_sort : &c->slab_alloc_sort) = value;
    return true;
}

static bool choose_lines(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    struct kmem_choice *c = field;
    char *end = NULL;
    (void)row;
    if (negated)
        return true;
    unsigned long long n = strtoull(value, &end, 10);
    if (end == value || *end || *value == '-')
        return err_set(e, ERR_USAGE, NULL, "--line: %s is no number of rows", value);
    *(c->caller > c->alloc ? &c->caller_lines : &c->alloc_lines) = n;
    return true;
}

#define OWN struct kmem_options
#define ROWS                                                                                             \
    INPUT_OPTION(OWN, input), INPUT_FORCE_OPTION(OWN, force),                                            \
        OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),                                   \
        OPTION_CALL(0, "caller", OWN, choice, NULL, "sums by who asked for memory", choose_caller,       \
                    .flags = OPTION_NO_VALUE),                                                           \
        OPTION_CALL(0, "alloc", OWN, choice, NULL, "sums by address or page", choose_alloc,              \
                    .flags = OPTION_NO_VALUE),                                                           \
        OPTION_CALL(                                                                                     \
            's', "sort", OWN, choice, "key[,key2...]",                                                   \
            "sort what was named before by: ptr, callsite, bytes, hit, pingpong, frag; page, callsite, " \
            "bytes, hit, order, migtype, gfp",                                                           \
            choose_sort),                                                                                \
        OPTION_CALL('l', "line", OWN, choice, "num", "show so many rows of what was named before",       \
                    choose_lines),                                                                       \
        OPTION_BOOL(0, "raw-ip", OWN, raw_ip, "addresses instead of names of functions"),                \
        OPTION_CALL(0, "slab", OWN, choice, NULL, "the slab allocator (default)", choose_slab,           \
                    .flags = OPTION_NO_VALUE),                                                           \
        OPTION_CALL(0, "page", OWN, choice, NULL, "the page allocator", choose_page,                     \
                    .flags = OPTION_NO_VALUE),                                                           \
        OPTION_BOOL(0, "live", OWN, live, "with --page: only what was not freed"),                       \
        OPTION_STRING(0, "time", OWN, time, "str", "only this time (start,stop)"),                       \
        OPTION_STRING('k', "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),                \
        OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"), OPTION_END

static const struct option options[] = {ROWS};

static const char *const stat_usage[] = {"kmem stat [<options>]", NULL};

static int run(struct command_env *env, int argc, char **argv) {
    struct kmem_options o = {.choice = {.caller_lines = SIZE_MAX, .alloc_lines = SIZE_MAX}};
    int status;
    if (!command_options(env, &o, OPTION_STOP_AT_OPERAND, &argc, &argv, &status))
        return status;
    if (!argc)
        return command_usage(env, NULL);
    if (!strcmp(argv[0], "record"))
        return kmem_record(env, &o, argc, argv);
    if (!strcmp(argv[0], "script"))
        return kmem_script(env, &o, argc, argv);
    if (strcmp(argv[0], "stat") != 0)
        return command_usage(env, "unknown command: %s", argv[0]);
    if (!command_verb_options(env, options, stat_usage, &o, &argc, &argv, &status))
        return status;
    return kmem_stat(env, &o, argc, argv);
}

const struct command cmd_kmem = {
    .name = "kmem",
    .summary = "Analyse kernel memory allocation",
    .usage = (const char *const[]){"kmem [<options>] {record|stat|script} [<options>]", NULL},
    .options = options,
    .run = run,
};
