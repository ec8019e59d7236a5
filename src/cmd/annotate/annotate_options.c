/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate/annotate_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/input.h"
#include "cmd/common/options/absent.h"
#include "cmd/common/options/perfconfig.h"

#define OWN struct annotate_command_options

/* ---- functions of rows ---- */

static bool take_not(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)row, (void)value, (void)e;
    *(bool *)field = negated;
    return true;
}

static bool take_percent(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    const char *name;
    (void)row;
    for (unsigned i = 0; !negated && (name = annotate_percent_name(i)); i++)
        if (strcmp(name, value) == 0) {
            *(unsigned *)field = i;
            return true;
        }
    *(unsigned *)field = ANNOTATE_LOCAL_PERIOD;
    return negated || err_set(e, ERR_USAGE, "--percent-type",
                              "\"%s\": use local-period, global-period, local-hits or global-hits", value);
}

static bool take_limit(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    char *end = NULL;
    double limit = negated ? 0 : strtod(value, &end);
    (void)row;
    if (!negated && (end == value || *end || !(limit >= 0)))
        return err_set(e, ERR_USAGE, "--percent-limit", "\"%s\": use a percentage", value);
    *(double *)field = limit;
    return true;
}

static bool take_color(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    static const char *const modes[] = {
        [ANNOTATE_COLOR_AUTO] = "auto", [ANNOTATE_COLOR_ALWAYS] = "always", [ANNOTATE_COLOR_NEVER] = "never"};
    (void)row;
    for (int i = 0; !negated && i < (int)(sizeof modes / sizeof *modes); i++)
        if (strcmp(value, modes[i]) == 0) {
            *(int *)field = i;
            return true;
        }
    *(int *)field = ANNOTATE_COLOR_AUTO;
    return negated || err_set(e, ERR_USAGE, "--stdio-color", "\"%s\": use always, never or auto", value);
}

static bool take_group(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    (void)row, (void)value, (void)e;
    *(int *)field = negated ? ANNOTATE_GROUP_NONE : ANNOTATE_GROUP_ALL;
    return true;
}

/* ---- rows ---- */

#define DATA_TYPES "data types are shown by `report -s type`"

static bool refuse_types(const struct option *row, void *field, const char *value, bool negated,
                         struct err *e) {
    (void)field, (void)value;
    return negated ||
           err_set(e, ERR_UNSUPPORTED, NULL, "annotate --%s is not there yet: " DATA_TYPES, row->name);
}

static bool refuse_dump(const struct option *row, void *field, const char *value, bool negated,
                        struct err *e) {
    (void)field, (void)value, (void)row;
    return negated || err_set(e, ERR_UNSUPPORTED, NULL, "annotate -D is not there: use `report -D`");
}

static bool refuse_itrace(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    (void)field, (void)value;
    return negated || absent_err(e, "annotate", row->name);
}

const struct option annotate_option_rows[] = {
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "only samples of these CPUs"),
    OPTION_STRING('d', "dsos", OWN, dsos, "dso[,dso...]", "only functions of these objects",
                  .words = OPTION_WORDS_DSOS),
    OPTION_CALL('D', "dump-raw-trace", OWN, ignored, NULL, "show every record (use `report -D`)", refuse_dump,
                .flags = OPTION_NO_VALUE),
    INPUT_FORCE_OPTION(OWN, force),
    INPUT_OPTION(OWN, input),
    OPTION_STRING('k', "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "force-image", OWN, symbols.force_images, "[object=]file[,...]",
                  "use these files even though nothing proves that they match"),
    OPTION_BOOL('l', "print-line", OWN, line_summary,
                "sum up source lines first, and name those whose text is not there"),
    OPTION_STRING('M', "disassembler-style", OWN, style, "disassembler style",
                  "syntax of assembly: att, intel"),
    OPTION_BOOL('m', "modules", OWN, live_modules, "load symbols of modules (they always are)"),
    OPTION_BOOL('n', "show-nr-samples", OWN, show_samples, "show numbers of samples, not percentages"),
    OPTION_BOOL('P', "full-paths", OWN, full_paths, "show whole paths"),
    OPTION_BOOL('q', "quiet", OWN, quiet, "print no warnings or messages"),
    OPTION_STRING('s', "symbol", OWN, symbol, "symbol", "only this function"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "show more: where code and names come from"),
    OPTION_STRING(0, "addr2line", OWN, ignored, "path",
                  "accepted for compatibility and ignored: no other program is run for line numbers"),
    OPTION_BOOL(0, "asm-raw", OWN, raw, "show the bytes of each instruction"),
    OPTION_CALL(0, "code-with-type", OWN, ignored, NULL, "show types of data (not there yet)", refuse_types,
                .flags = OPTION_NO_VALUE),
    OPTION_CALL(0, "data-type", OWN, ignored, "name", "annotate types of data (not there yet)", refuse_types,
                .flags = OPTION_VALUE_OPTIONAL),
    OPTION_CALL(0, "demangle", OWN, symbols.raw_names, NULL, "demangle symbols", take_not,
                .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "demangle-kernel", OWN, symbols.demangle_kernel, "demangle the kernel's symbols too"),
    OPTION_CALL(0, "group", OWN, group, NULL, "show all events side by side; recorded groups always are",
                take_group, .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "ignore-vmlinux", OWN, symbols.ignore_vmlinux, "use no vmlinux but that of -k"),
    OPTION_BOOL(0, "inlines", OWN, inlines, "show which inlined functions instructions are from"),
    OPTION_CALL(0, "insn-stat", OWN, ignored, NULL, "statistics of data types (not there yet)", refuse_types,
                .flags = OPTION_NO_VALUE),
    OPTION_CALL(0, "itrace", OWN, ignored, "opts", "decode instruction traces (not there yet)", refuse_itrace,
                .flags = OPTION_VALUE_OPTIONAL),
    OPTION_STRING(0, "jitdump-dir", OWN, jitdump_dir, "directory", "look for jitdumps here, too"),
    OPTION_BOOL(0, "jump", OWN, jump, "hottest source line first, each with its instructions that were hit"),
    OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "objdump", OWN, objdump, "path", "disassemble with this program"),
    OPTION_CALL(0, "percent-limit", OWN, percent_limit, "percent", "only functions with at least that share",
                take_limit),
    OPTION_CALL(0, "percent-type", OWN, percent, "local-period",
                "what percentages are of: local-period, global-period, local-hits or global-hits",
                take_percent),
    OPTION_STRING(0, "prefix", OWN, prefix, "prefix", "put this before the paths of source files"),
    OPTION_INT(0, "prefix-strip", OWN, strip, "N",
               "with --prefix: first remove N leading folders from these paths"),
    OPTION_BOOL(0, "show-total-period", OWN, show_period, "show sums of periods, not percentages"),
    OPTION_BOOL(0, "skip-empty", OWN, skip_empty, "of a group show no events without samples"),
    OPTION_BOOL(0, "skip-missing", OWN, skip_missing, "say nothing of functions whose code is not there"),
    OPTION_CALL(0, "source", OWN, no_source, NULL, "show source lines with their code (the default)",
                take_not, .flags = OPTION_NO_VALUE),
    OPTION_BOOL(0, "stdio", OWN, stdio, "as text (the default)"),
    OPTION_BOOL(0, "stdio2", OWN, stdio2, "as --stdio"),
    OPTION_CALL(0, "stdio-color", OWN, color, "mode",
                "colours: always (the default of the option), never or auto", take_color,
                .flags = OPTION_VALUE_ADOPT, .fallback = "always"),
    OPTION_STRING(0, "symfs", OWN, symbols.symfs, "directory", "look for files under this directory"),
    OPTION_BOOL(0, "tui", OWN, tui, "in the terminal: open `report`, and press a on a function"),
    OPTION_CALL(0, "type-stat", OWN, ignored, NULL, "statistics of data types (not there yet)", refuse_types,
                .flags = OPTION_NO_VALUE),
    OPTION_END,
};

void annotate_options_init(struct annotate_command_options *o, const struct perfconfig *config) {
    const char *color = perfconfig_text(config, "color.ui");
    int truth = color ? perfconfig_truth(color) : -1;
    *o = (struct annotate_command_options){
        .style = perfconfig_text(config, "annotate.disassembler_style"),
        .objdump = perfconfig_text(config, "annotate.objdump"),
        .usual_column = perfconfig_bool(config, "annotate.show_nr_samples", false)     ? ANNOTATE_SAMPLES
                        : perfconfig_bool(config, "annotate.show_total_period", false) ? ANNOTATE_PERIOD
                                                                                       : ANNOTATE_PERCENT,
    };
    if (color && strcmp(color, "always") == 0)
        o->color = ANNOTATE_COLOR_ALWAYS;
    else if (color && (strcmp(color, "never") == 0 || truth == 0))
        o->color = ANNOTATE_COLOR_NEVER;
}

bool annotate_options_check(const struct annotate_command_options *o, struct err *err) {
    if (o->show_samples && o->show_period)
        return err_set(err, ERR_USAGE, NULL,
                       "option `show-total-period' cannot be used with show-nr-samples");
    if (o->strip && !o->prefix)
        return err_set(err, ERR_USAGE, NULL, "--prefix-strip requires --prefix");
    if (o->strip < 0)
        return err_set(err, ERR_USAGE, "--prefix-strip", "%d: use a number of folders", o->strip);
    if (o->style && strcmp(o->style, "att") != 0 && strcmp(o->style, "intel") != 0)
        return err_set(err, ERR_USAGE, "-M", "\"%s\": use att or intel", o->style);
    return true;
}
