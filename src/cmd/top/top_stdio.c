/* SPDX-License-Identifier: Apache-2.0 */
/* `top` as text: one screen after the other, and perf top's keys where standard input is a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/report/report_annotate.h"
#include "cmd/top/top.h"

enum { LINE_MAX_BYTES = 256 };

struct stdio_face {
    struct out out;
    struct command_sink sink;
    bool terminal; /* standard output is one */
    bool keys;     /* standard input is one: */
    struct termios before;
    char asks;                 /* the key whose value is being typed; 0: none */
    bool menu;                 /* the list of keys is shown, and the next key chooses */
    char line[LINE_MAX_BYTES]; /* what was typed so far */
    size_t length;
    char symbol[LINE_MAX_BYTES]; /* that was typed for --sym-annotate */
    struct out annotated;        /* --sym-annotate: the text of the samples that came last */
};

static void put(struct stdio_face *f, const char *text) {
    out_str(&f->out, text);
    out_flush(&f->out);
}

/* ---- keys ---- */

static void put_menu(struct stdio_face *f, const struct top *t) {
    const struct top_options *o = t->o;
    out_printf(&f->out, "\n\nMapped keys:\n");
    out_printf(&f->out, "\t[d]     display refresh delay.             \t(%g)\n", (double)o->delay_ms / 1000);
    out_printf(&f->out, "\t[e]     display entries (lines).           \t(%llu)\n",
               (unsigned long long)o->entries);
    out_printf(&f->out, "\t[f]     profile display filter (count).    \t(%llu)\n",
               (unsigned long long)o->count_filter);
    out_printf(&f->out, "\t[s]     annotate symbol.                   \t(%s)\n",
               o->sym_annotate ? o->sym_annotate : "NULL");
    out_printf(&f->out, "\t[S]     stop annotation.\n");
    out_printf(&f->out, "\t[K]     hide kernel symbols.               \t(%s)\n",
               o->hide_kernel ? "yes" : "no");
    out_printf(&f->out, "\t[U]     hide user symbols.                 \t(%s)\n", o->hide_user ? "yes" : "no");
    out_printf(&f->out, "\t[z]     toggle sample zeroing.             \t(%d)\n", o->zero);
    out_printf(&f->out, "\t[p]     freeze what is shown.              \t(%s)\n", t->frozen ? "yes" : "no");
    out_printf(&f->out, "\t[qQ]    quit.\n\nEnter selection, or unmapped key to continue: ");
    out_flush(&f->out);
}

/* From the next screen on a function's instructions are shown; NULL: the profile. */
static void annotate_symbol(struct stdio_face *f, struct top *t, const char *name) {
    snprintf(f->symbol, sizeof f->symbol, "%s", name ? name : "");
    t->o->sym_annotate = name ? f->symbol : NULL;
    f->annotated.len = 0;
}

/* A line was typed for a key. */
static void answer(struct stdio_face *f, struct top *t) {
    char *end;
    uint64_t ms;
    unsigned long long n = strtoull(f->line, &end, 10);
    bool number = end != f->line && !*end;
    if (f->asks == 'd' && top_delay_parse(f->line, &ms))
        t->o->delay_ms = ms;
    else if (f->asks == 'e' && number)
        t->o->entries = n;
    else if (f->asks == 'f' && number)
        t->o->count_filter = n;
    else if (f->asks == 's' && f->length)
        annotate_symbol(f, t, f->line);
    f->asks = 0;
    top_show_soon(t);
}

static void ask(struct stdio_face *f, char key, const char *question) {
    f->asks = key;
    f->length = 0;
    f->line[0] = '\0';
    put(f, question);
}

static void command(struct stdio_face *f, struct top *t, char key) {
    f->menu = false;
    switch (key) {
    case 'd':
        ask(f, key, "\nEnter display delay: ");
        return;
    case 'e':
        ask(f, key, "\nEnter display entries (lines): ");
        return;
    case 'f':
        ask(f, key, "\nEnter display event count filter: ");
        return;
    case 's':
        ask(f, key, "\nEnter symbol to annotate: ");
        return;
    case 'S':
        annotate_symbol(f, t, NULL);
        break;
    case 'K':
        t->o->hide_kernel = !t->o->hide_kernel;
        break;
    case 'U':
        t->o->hide_user = !t->o->hide_user;
        break;
    case 'z':
        t->o->zero = !t->o->zero;
        break;
    case 'p':
        t->frozen = !t->frozen;
        break;
    case 'q':
    case 'Q':
        t->stop = true;
        return;
    default:
        break;
    }
    top_show_soon(t);
}

/* A character of a line, as far as the terminal would edit it. */
static void type(struct stdio_face *f, struct top *t, char c) {
    enum { DELETE = 0x7f };
    if (c == '\n' || c == '\r') {
        answer(f, t);
    } else if ((c == DELETE || c == '\b') && f->length) {
        f->line[--f->length] = '\0';
        put(f, "\b \b");
    } else if (c >= ' ' && c < DELETE && f->length + 1 < sizeof f->line) {
        f->line[f->length++] = c;
        f->line[f->length] = '\0';
        put(f, f->line + f->length - 1);
    }
}

static bool is_mapped(char c) {
    return c && strchr("defsSKUzpqQ", c);
}

static bool take_keys(void *ctx, struct top *t, struct err *err) {
    struct stdio_face *f = ctx;
    char text[64];
    ssize_t n;
    (void)err;
    while (f->keys && (n = read(STDIN_FILENO, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (f->asks) {
                type(f, t, text[i]);
            } else if (is_mapped(text[i]) || f->menu) {
                command(f, t, text[i]);
            } else {
                f->menu = true;
                put_menu(f, t);
            }
        }
    return true;
}

/* ---- screens ---- */

/* What hit the function of --sym-annotate since the last screen. */
static bool annotate(void *ctx, struct top *t, struct err *err) {
    struct stdio_face *f = ctx;
    struct err why = ERR_INIT;
    uint64_t line;
    const struct report_annotate_wish wish = {.session = t->session,
                                              .recording = &t->live->recording,
                                              .options = &t->o->view,
                                              .live = t->live,
                                              .function = t->o->sym_annotate};
    if (!t->o->sym_annotate)
        return true;
    f->annotated.len = 0;
    if (report_annotate(&wish, &f->annotated, &line, &why))
        return true;
    out_printf(&f->annotated, "%s: %s\n", t->o->sym_annotate, why.message);
    return why.code != ERR_MEMORY || err_memory(err, "annotate");
}

static bool show(void *ctx, struct top *t, struct err *err) {
    struct stdio_face *f = ctx;
    struct winsize size = {0};
    struct top_screen screen = {.entries = (unsigned)t->o->entries};
    struct report_session_parts parts = report_session_parts(top_shown(t));
    if (f->asks || f->menu) /* somebody is typing */
        return true;
    if (f->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        screen.rows = size.ws_row;
        screen.cols = size.ws_col;
    }
    struct report_text_options text = *parts.text;
    if (t->o->count_filter) {
        uint64_t samples = 0;
        for (uint32_t i = 0; i < profile_event_count(parts.profile); i++)
            samples += profile_event(parts.profile, i)->total.samples;
        double percent = samples ? 100.0 * (double)t->o->count_filter / (double)samples : 0;
        text.percent_limit = percent > text.percent_limit ? percent : text.percent_limit;
    }
    out_str(&f->out, f->terminal ? "\033[H\033[2J" : "");
    bool ok = t->o->sym_annotate
                  ? top_text_screen(&f->annotated, &t->counts, &t->source, &screen, &f->out, err)
                  : top_text_print(parts.profile, &text, &t->counts, &t->source, &screen, &f->out, err);
    if (!f->terminal)
        out_str(&f->out, "\n\n");
    out_flush(&f->out);
    t->stop |= f->out.failed; /* whoever read it is gone */
    return ok;
}

/* ---- all ---- */

/* Keys come one by one, without being shown. */
static void open_keys(struct stdio_face *f) {
    f->keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &f->before) == 0;
    if (!f->keys)
        return;
    struct termios single = f->before;
    single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    single.c_cc[VMIN] = 0;
    single.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &single);
}

bool top_stdio(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
               char *const *argv, struct err *err) {
    struct stdio_face f = {.sink = {.fd = STDOUT_FILENO}, .terminal = isatty(STDOUT_FILENO)};
    if (!out_init(&f.out, command_write_fd, &f.sink) || !out_init(&f.annotated, NULL, NULL)) {
        out_fini(&f.out);
        return err_memory(err, "screen");
    }
    open_keys(&f);
    const struct top_face face = {
        .fd = f.keys ? STDIN_FILENO : -1, .listed = annotate, .show = show, .keys = take_keys};
    t->face = &face;
    t->face_ctx = &f;
    bool ok = top_run(t, src, events, argv, err);
    if (f.keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &f.before);
    if (ok && f.terminal)
        put(&f, "\n");
    out_fini(&f.annotated);
    out_fini(&f.out);
    return ok;
}
