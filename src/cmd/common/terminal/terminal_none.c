/* SPDX-License-Identifier: Apache-2.0 */
/* In place of terminal.c where ncurses was absent. */
#include "cmd/common/terminal/terminal.h"

const char *terminal_lacks(void) {
    return "this build has no terminal browser (build it again with libncurses-dev)";
}

struct terminal *terminal_open(struct err *err) {
    err_set(err, ERR_UNSUPPORTED, NULL, "%s", terminal_lacks());
    return NULL;
}

void terminal_close(struct terminal *t) {
    (void)t;
}

bool terminal_fit(struct terminal *t, struct tui_surface *s, struct err *err) {
    (void)t, (void)s;
    return err_set(err, ERR_UNSUPPORTED, NULL, "%s", terminal_lacks());
}

void terminal_show(struct terminal *t, const struct tui_surface *s) {
    (void)t, (void)s;
}

struct tui_press terminal_key(struct terminal *t, int timeout_ms) {
    (void)t, (void)timeout_ms;
    return (struct tui_press){0};
}

int terminal_ended(void) {
    return 0;
}
