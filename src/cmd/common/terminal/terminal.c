/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal by way of ncursesw, which is loaded when it is needed (base/library.h). */
#define NCURSES_WIDECHAR 1
#include "cmd/common/terminal/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/library.h"
#include "cmd/common/map_guard.h"

/* Names of ncurses' macros that are members here. */
#undef getmaxx
#undef getmaxy
#undef mousemask

enum { ESCAPE_MS = 25, CLICK_MS = 150, MANY_COLORS = 256, FEW_COLORS = 8 };

/* The functions used, under their own names. */
struct curses {
    void *library;
    __typeof__(newterm) *newterm;
    __typeof__(endwin) *endwin;
    __typeof__(delscreen) *delscreen;
    __typeof__(cbreak) *cbreak;
    __typeof__(noecho) *noecho;
    __typeof__(nonl) *nonl;
    __typeof__(newwin) *newwin;
    __typeof__(delwin) *delwin;
    __typeof__(keypad) *keypad;
    __typeof__(wtimeout) *wtimeout;
    __typeof__(wget_wch) *wget_wch;
    __typeof__(wmove) *wmove;
    __typeof__(wadd_wch) *wadd_wch;
    __typeof__(setcchar) *setcchar;
    __typeof__(wrefresh) *wrefresh;
    __typeof__(werase) *werase;
    __typeof__(clearok) *clearok;
    __typeof__(curs_set) *curs_set;
    __typeof__(start_color) *start_color;
    __typeof__(use_default_colors) *use_default_colors;
    __typeof__(init_pair) *init_pair;
    __typeof__(tigetnum) *tigetnum;
    __typeof__(tigetstr) *tigetstr;
    __typeof__(mousemask) *mousemask;
    __typeof__(mouseinterval) *mouseinterval;
    __typeof__(getmouse) *getmouse;
    __typeof__(set_escdelay) *set_escdelay;
    __typeof__(define_key) *define_key;
    __typeof__(getmaxx) *getmaxx;
    __typeof__(getmaxy) *getmaxy;
};

struct terminal {
    struct curses c;
    SCREEN *screen;
    WINDOW *window;
    int colors; /* 0: none are used */
    bool utf8;
};

/* What a signal handler may touch: how the terminal was, and what gives it back. */
static struct {
    volatile sig_atomic_t taken, interrupted, ended;
    struct termios before;
    char restore[128];
    size_t restore_len;
} state;

static const int ending[] = {SIGTERM, SIGHUP, SIGQUIT};
static const int crashing[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* ---- signals ---- */

static void on_interrupt(int sig) {
    (void)sig;
    state.interrupted = 1;
}

static void on_ending(int sig) {
    state.ended = sig;
}

/* The program is over: all that is left is to have the terminal usable again. A browser is open for long, and
 * files that it shows names of may be cut short meanwhile: it goes on. */
static void on_crash(int sig, siginfo_t *info, void *context) {
    (void)context;
    if (map_guard_fill(info))
        return;
    if (state.taken) {
        ssize_t written = write(STDOUT_FILENO, state.restore, state.restore_len);
        (void)written;
        tcsetattr(STDIN_FILENO, TCSANOW, &state.before);
        state.taken = 0;
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

static void handle(int sig, void (*handler)(int)) {
    struct sigaction act = {.sa_handler = handler};
    sigaction(sig, &act, NULL);
}

static void handle_all(bool taken) {
    handle(SIGINT, taken ? on_interrupt : SIG_DFL);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        handle(ending[i], taken ? on_ending : SIG_DFL);
    const struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof crashing / sizeof *crashing; i++)
        if (taken)
            sigaction(crashing[i], &crash, NULL);
        else
            handle(crashing[i], SIG_DFL);
}

int terminal_ended(void) {
    return state.ended;
}

/* ---- opening ---- */

const char *terminal_lacks(void) {
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return "the terminal browser needs a terminal as standard input and output";
    if (!term || !*term || !strcmp(term, "dumb"))
        return "the terminal browser needs a terminal that can do more than TERM says";
    return NULL;
}

static bool load(struct curses *c, struct err *err) {
#define FUNCTION(name) \
    { #name, &c->name }
    const struct library_function functions[] = {
        FUNCTION(newterm),       FUNCTION(endwin),   FUNCTION(delscreen),    FUNCTION(cbreak),
        FUNCTION(noecho),        FUNCTION(nonl),     FUNCTION(newwin),       FUNCTION(delwin),
        FUNCTION(keypad),        FUNCTION(wtimeout), FUNCTION(wget_wch),     FUNCTION(wmove),
        FUNCTION(wadd_wch),      FUNCTION(setcchar), FUNCTION(wrefresh),     FUNCTION(werase),
        FUNCTION(clearok),       FUNCTION(curs_set), FUNCTION(start_color),  FUNCTION(use_default_colors),
        FUNCTION(init_pair),     FUNCTION(tigetnum), FUNCTION(tigetstr),     FUNCTION(mousemask),
        FUNCTION(mouseinterval), FUNCTION(getmouse), FUNCTION(set_escdelay), FUNCTION(define_key),
        FUNCTION(getmaxx),       FUNCTION(getmaxy)};
#undef FUNCTION
    c->library = library_load("libncursesw.so." LIBRARY_TEXT(NCURSES_VERSION_MAJOR), functions,
                              sizeof functions / sizeof *functions, err);
    return c->library;
}

/* Foreground and background by enum tui_color: of few colours, and of many. */
static const struct look {
    short few[2], many[2];
    attr_t plain; /* without colours */
} looks[TUI_COLORS] = {
    [TUI_NORMAL] = {{-1, -1}, {-1, -1}, A_NORMAL},
    [TUI_HEAD] = {{COLOR_WHITE, COLOR_BLUE}, {15, COLOR_BLUE}, A_REVERSE},
    [TUI_CURSOR] = {{COLOR_BLACK, COLOR_YELLOW}, {0, 11}, A_REVERSE},
    [TUI_TOP] = {{COLOR_RED, -1}, {COLOR_RED, -1}, A_BOLD},
    [TUI_MEDIUM] = {{COLOR_GREEN, -1}, {COLOR_GREEN, -1}, A_NORMAL},
    [TUI_FOUND] = {{COLOR_WHITE, COLOR_MAGENTA}, {15, 127}, A_BOLD | A_UNDERLINE},
    [TUI_RANGE] = {{COLOR_BLACK, COLOR_CYAN}, {0, 80}, A_REVERSE},
    [TUI_FLAME_ROOT] = {{COLOR_BLACK, COLOR_WHITE}, {0, 252}, A_NORMAL},
    [TUI_FLAME_ROOT + 1] = {{COLOR_BLACK, COLOR_WHITE}, {0, 248}, A_NORMAL},
    [TUI_FLAME_USER] = {{COLOR_BLACK, COLOR_RED}, {0, 215}, A_NORMAL},
    [TUI_FLAME_USER + 1] = {{COLOR_BLACK, COLOR_RED}, {0, 209}, A_NORMAL},
    [TUI_FLAME_KERNEL] = {{COLOR_WHITE, COLOR_BLUE}, {0, 110}, A_NORMAL},
    [TUI_FLAME_KERNEL + 1] = {{COLOR_WHITE, COLOR_BLUE}, {0, 74}, A_NORMAL},
    [TUI_FLAME_JIT] = {{COLOR_BLACK, COLOR_GREEN}, {0, 114}, A_NORMAL},
    [TUI_FLAME_JIT + 1] = {{COLOR_BLACK, COLOR_GREEN}, {0, 71}, A_NORMAL},
    [TUI_FLAME_INLINED] = {{COLOR_BLACK, COLOR_CYAN}, {0, 187}, A_NORMAL},
    [TUI_FLAME_INLINED + 1] = {{COLOR_BLACK, COLOR_CYAN}, {0, 180}, A_NORMAL},
    [TUI_FLAME_GUEST] = {{COLOR_WHITE, COLOR_MAGENTA}, {0, 176}, A_NORMAL},
    [TUI_FLAME_GUEST + 1] = {{COLOR_WHITE, COLOR_MAGENTA}, {0, 140}, A_NORMAL},
    [TUI_FLAME_UNKNOWN] = {{COLOR_BLACK, COLOR_WHITE}, {0, 250}, A_NORMAL},
    [TUI_FLAME_UNKNOWN + 1] = {{COLOR_BLACK, COLOR_WHITE}, {0, 246}, A_NORMAL},
};

/* no-color.org: any value but an empty one. */
static bool wants_colors(void) {
    const char *no = getenv("NO_COLOR");
    return !no || !*no;
}

static void set_colors(struct terminal *t) {
    int n = t->c.tigetnum("colors");
    if (!wants_colors() || n < FEW_COLORS || t->c.start_color() == ERR)
        return;
    t->colors = n >= MANY_COLORS ? MANY_COLORS : FEW_COLORS;
    short fg = -1, bg = -1;
    bool own = t->c.use_default_colors() != ERR;
    for (short i = 1; i < TUI_COLORS; i++) {
        const short *look = t->colors == MANY_COLORS ? looks[i].many : looks[i].few;
        fg = look[0] < 0 && !own ? COLOR_WHITE : look[0];
        bg = look[1] < 0 && !own ? COLOR_BLACK : look[1];
        t->c.init_pair(i, fg, bg);
    }
}

/* Terminals whose TERM is not quite theirs are common: what their keys usually send counts, too. */
static void define_keys(struct terminal *t) {
    static const struct {
        const char *text;
        int code;
    } keys[] = {
        {"\033[1~", KEY_HOME}, {"\033[H", KEY_HOME},     {"\033OH", KEY_HOME},     {"\033[4~", KEY_END},
        {"\033[F", KEY_END},   {"\033OF", KEY_END},      {"\033[5~", KEY_PPAGE},   {"\033[6~", KEY_NPAGE},
        {"\033[Z", KEY_BTAB},  {"\033[A", KEY_UP},       {"\033[B", KEY_DOWN},     {"\033[C", KEY_RIGHT},
        {"\033[D", KEY_LEFT},  {"\033OA", KEY_UP},       {"\033OB", KEY_DOWN},     {"\033OC", KEY_RIGHT},
        {"\033OD", KEY_LEFT},  {"\033[1;2D", KEY_SLEFT}, {"\033[1;2C", KEY_SRIGHT}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        t->c.define_key(keys[i].text, keys[i].code);
}

/* Keeps what on_crash writes: no mouse, a cursor, the other screen. */
static void keep_restore(struct terminal *t) {
    static const char mouse_off[] = "\033[?1000l\033[?1002l\033[?1006l";
    const char *names[] = {"sgr0", "cnorm", "rmcup", "rmkx"};
    memcpy(state.restore, mouse_off, sizeof mouse_off - 1);
    state.restore_len = sizeof mouse_off - 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = t->c.tigetstr((NCURSES_CONST char *)names[i]);
        size_t n = text && text != (char *)-1 ? strlen(text) : 0;
        if (state.restore_len + n > sizeof state.restore)
            continue;
        memcpy(state.restore + state.restore_len, text ? text : "", n);
        state.restore_len += n;
    }
}

struct terminal *terminal_open(struct err *err) {
    struct terminal *t = calloc(1, sizeof *t);
    if (!t || !load(&t->c, err)) {
        if (!t)
            err_memory(err, "terminal");
        free(t);
        return NULL;
    }
    setlocale(LC_CTYPE, "");
    t->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
    tcgetattr(STDIN_FILENO, &state.before);
    t->c.set_escdelay(ESCAPE_MS);
    t->screen = t->c.newterm(NULL, stdout, stdin);
    t->window = t->screen ? t->c.newwin(0, 0, 0, 0) : NULL;
    if (!t->window) {
        const char *term = getenv("TERM");
        err_set(err, ERR_UNSUPPORTED, "TERM", "ncurses does not know the terminal \"%s\"", term ? term : "");
        terminal_close(t);
        return NULL;
    }
    keep_restore(t);
    state.ended = state.interrupted = 0;
    state.taken = 1;
    handle_all(true);
    t->c.cbreak();
    t->c.noecho();
    t->c.nonl();
    t->c.keypad(t->window, TRUE);
    t->c.curs_set(0);
    t->c.mousemask(
        BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    t->c.mouseinterval(CLICK_MS);
    define_keys(t);
    set_colors(t);
    return t;
}

void terminal_close(struct terminal *t) {
    if (!t)
        return;
    if (t->screen) {
        t->c.mousemask(0, NULL);
        t->c.endwin();
        state.taken = 0;
        handle_all(false);
        if (t->window)
            t->c.delwin(t->window);
        t->c.delscreen(t->screen);
    }
    setlocale(LC_CTYPE, "C");
    library_unload(t->c.library);
    free(t);
}

/* ---- drawing ---- */

bool terminal_fit(struct terminal *t, struct tui_surface *s, struct err *err) {
    s->utf8 = t->utf8;
    s->colored = t->colors;
    return tui_surface_resize(s, t->c.getmaxy(t->window), t->c.getmaxx(t->window), err);
}

void terminal_show(struct terminal *t, const struct tui_surface *s) {
    t->c.werase(t->window);
    for (int y = 0; y < s->rows; y++)
        for (int x = 0; x < s->cols; x++) {
            const struct tui_cell *cell = &s->cells[(size_t)y * (size_t)s->cols + (size_t)x];
            wchar_t text[2] = {(wchar_t)cell->ch, 0};
            cchar_t c;
            if (!cell->ch)
                continue;
            attr_t flags = t->colors ? A_NORMAL : looks[cell->style.color].plain;
            flags |= (cell->style.flags & TUI_BOLD ? A_BOLD : A_NORMAL) |
                     (cell->style.flags & TUI_DIM ? A_DIM : A_NORMAL) |
                     (cell->style.flags & TUI_UNDERLINE ? A_UNDERLINE : A_NORMAL);
            if (t->c.setcchar(&c, text, flags, t->colors ? cell->style.color : 0, NULL) == ERR ||
                t->c.wmove(t->window, y, x) == ERR)
                continue;
            t->c.wadd_wch(t->window, &c);
        }
    t->c.wrefresh(t->window);
}

/* ---- keys ---- */

static struct tui_press mouse_press(struct terminal *t) {
    MEVENT event;
    if (t->c.getmouse(&event) == ERR)
        return (struct tui_press){0};
    uint32_t key = event.bstate & BUTTON4_PRESSED                       ? TUI_KEY_WHEEL_UP
                   : event.bstate & BUTTON5_PRESSED                     ? TUI_KEY_WHEEL_DOWN
                   : event.bstate & BUTTON1_DOUBLE_CLICKED              ? TUI_KEY_DOUBLE_CLICK
                   : event.bstate & (BUTTON1_CLICKED | BUTTON1_PRESSED) ? TUI_KEY_CLICK
                                                                        : TUI_KEY_NONE;
    return (struct tui_press){key, event.y, event.x};
}

static uint32_t function_key(wint_t code) {
    static const struct {
        int code;
        uint32_t key;
    } keys[] = {{KEY_UP, TUI_KEY_UP},
                {KEY_DOWN, TUI_KEY_DOWN},
                {KEY_LEFT, TUI_KEY_LEFT},
                {KEY_RIGHT, TUI_KEY_RIGHT},
                {KEY_PPAGE, TUI_KEY_PAGE_UP},
                {KEY_NPAGE, TUI_KEY_PAGE_DOWN},
                {KEY_HOME, TUI_KEY_HOME},
                {KEY_END, TUI_KEY_END},
                {KEY_BTAB, TUI_KEY_UNTAB},
                {KEY_F(1), TUI_KEY_F1},
                {KEY_SLEFT, TUI_KEY_SHIFT_LEFT},
                {KEY_SRIGHT, TUI_KEY_SHIFT_RIGHT},
                {KEY_ENTER, TUI_KEY_ENTER},
                {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
                {KEY_RESIZE, TUI_KEY_RESIZE}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == (int)code)
            return keys[i].key;
    return TUI_KEY_NONE;
}

struct tui_press terminal_key(struct terminal *t, int timeout_ms) {
    enum { DELETE = 0x7f };
    wint_t code = 0;
    t->c.wtimeout(t->window, timeout_ms);
    int got = t->c.wget_wch(t->window, &code);
    if (state.interrupted) {
        state.interrupted = 0;
        return (struct tui_press){.key = TUI_KEY_CTRL_C};
    }
    if (got == KEY_CODE_YES && code == KEY_MOUSE)
        return mouse_press(t);
    if (got == KEY_CODE_YES)
        return (struct tui_press){.key = function_key(code)};
    if (got != OK)
        return (struct tui_press){0};
    if (code == TUI_KEY_CTRL_L)
        t->c.clearok(t->window, TRUE);
    return (struct tui_press){.key = code == '\r' || code == '\n' ? TUI_KEY_ENTER
                                     : code == DELETE             ? TUI_KEY_BACKSPACE
                                                                  : code};
}
