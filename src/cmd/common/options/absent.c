/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/absent.h"

#include <string.h>

#define AUX   "instruction traces (AUX data) are not decoded"
#define GUEST "give a guest's kernel with --guestvmlinux, --guestkallsyms and --guestmodules"

static const struct {
    const char *option, *why;
} reasons[] = {
    {"all-cpus", "it is for `script record`; use `record -a`"},
    {"call-ret-trace", AUX},
    {"call-trace", AUX},
    {"dump-symtab", "`nm -C FILE` lists the symbols of a file, /proc/kallsyms those of the kernel"},
    {"graph-function", "it follows calls and returns, and " AUX},
    {"gtk", "there is no graphical interface: leave --gtk out"},
    {"guest-code", GUEST},
    {"guestmount", GUEST},
    {"insn-trace", AUX},
    {"itrace", AUX},
    {"stitch-lbr", "each sample's LBR call stack is shown as it was recorded"},
    {"xed", AUX},
};

bool absent_err(struct err *err, const char *command, const char *option) {
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (!strcmp(reasons[i].option, option))
            return err_set(err, ERR_UNSUPPORTED, NULL, "%s --%s is not there yet: %s", command, option,
                           reasons[i].why);
    return err_set(err, ERR_UNSUPPORTED, NULL, "%s --%s is not there yet", command, option);
}
