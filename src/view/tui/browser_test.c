/* SPDX-License-Identifier: Apache-2.0 */
/* The whole browser on a surface in memory, over profiles made up in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/text/utf8.h"
#include "profile/profile_test_session.h"
#include "view/tui/browser.h"

/* A source whose profile is that of a session, and can be exchanged for another one. */
struct fake {
    struct session session;
    struct report_text_options text;
    uint64_t generation;
    const struct tui_rows *const *tables; /* one; NULL: the profile is shown */
};

static struct tui_surface screen;
static char shown[8192];

static uint64_t generation(void *ctx) {
    return ((struct fake *)ctx)->generation;
}

static struct tui_data data(void *ctx) {
    struct fake *f = ctx;
    return (struct tui_data){f->session.profile, &f->text, NULL, f->tables, f->tables != NULL};
}

/* a <- b <- c: 40, a <- c: 20, d of another thread: 10 and, if `more`, 130. */
static void fill(struct fake *f, bool more) {
    struct session *s = &f->session;
    session_start(s);
    put_sample(s, &(struct test_sample){7, 40, 5, 3, {0, 1, 2}});
    put_sample(s, &(struct test_sample){7, 20, 6, 2, {0, 2}});
    put_sample(s, &(struct test_sample){8, 10, 7, 1, {3}});
    if (more)
        put_sample(s, &(struct test_sample){8, 130, 8, 1, {3}});
    session_run(s,
                (struct profile_options){
                    .children = true, .chain_mode = PROFILE_CHAIN_GRAPH, .chain_order = PROFILE_CALLER},
                (struct profile_column_options){.sort = "comm,sym", .children = true});
    f->text = (struct report_text_options){.columns = &s->columns,
                                           .chain_mode = PROFILE_CHAIN_GRAPH,
                                           .chain_order = PROFILE_CALLER,
                                           .children = true,
                                           .events = stream_events(s->stream)};
    f->generation++;
}

static const char *line(int y) {
    size_t n = 0;
    for (int x = 0; x < screen.cols - 1; x++)
        if (tui_at(&screen, y, x)->ch)
            n += utf8_put(tui_at(&screen, y, x)->ch, shown + n);
    while (n && shown[n - 1] == ' ')
        n--;
    shown[n] = '\0';
    return shown;
}

static void draw(struct tui_browser *b) {
    struct err err = ERR_INIT;
    assert_true(tui_surface_resize(&screen, 24, 80, &err));
    assert_true(tui_browser_draw(b, &screen, &err));
}

static enum tui_state press(struct tui_browser *b, uint32_t key) {
    enum tui_state state = tui_browser_key(b, (struct tui_press){.key = key});
    draw(b);
    return state;
}

/* The line of the cursor; -1: there is none. */
static int cursor(void) {
    for (int y = 0; y < screen.rows; y++)
        if (tui_at(&screen, y, 0)->style.color == TUI_CURSOR)
            return y;
    return -1;
}

static void the_table_folds_and_filters(void **state) {
    (void)state;
    struct fake f = {0};
    struct err err = ERR_INIT;
    fill(&f, false);
    const struct tui_source source = {.ctx = &f, .generation = generation, .data = data};
    struct tui_browser *b = tui_browser_new(&source, true, &err);
    assert_non_null(b);
    draw(b);
    assert_non_null(strstr(line(0), "Event count (approx.): 70"));
    assert_string_equal(line(1), "  Children      Self  Command  Symbol");
    assert_string_equal(line(2), "+   85.71%    85.71%  seven    [k] a");
    assert_string_equal(line(3), "+   85.71%     0.00%  seven    [k] c");
    assert_string_equal(line(4), "+   57.14%     0.00%  seven    [k] b");
    assert_string_equal(line(5), "+   14.29%    14.29%  eight    [k] d");
    assert_string_equal(line(6), "");
    assert_int_equal(cursor(), 2);
    press(b, TUI_KEY_DOWN);
    assert_int_equal(press(b, '+'), TUI_GO_ON);
    assert_string_equal(line(3), "-   85.71%     0.00%  seven    [k] c");
    assert_string_equal(line(4), "   + c");
    press(b, TUI_KEY_DOWN);
    press(b, '+');
    assert_string_equal(line(5), "      + 57.14% b");
    assert_string_equal(line(6), "        28.57% a");
    press(b, '-');
    assert_string_equal(line(4), "   + c");
    press(b, 'E');
    assert_string_equal(line(cursor()), "-   85.71%     0.00%  seven    [k] c");
    press(b, TUI_KEY_HOME);
    assert_int_equal(cursor(), 2);
    press(b, TUI_KEY_END);
    assert_string_equal(line(cursor()), "     d");
    press(b, 'C');
    press(b, 't');
    assert_non_null(strstr(line(0), "Thread: eight"));
    assert_string_equal(line(2), "+   14.29%    14.29%  eight    [k] d");
    assert_string_equal(line(3), "");
    press(b, 'F');
    assert_string_equal(line(2), "+  100.00%   100.00%  eight    [k] d");
    press(b, TUI_KEY_ESC);
    assert_string_equal(line(5), "+   14.29%    14.29%  eight    [k] d");
    press(b, 'F');
    assert_int_equal(press(b, 'f'), TUI_GO_ON); /* this source has no stacks: it says so, and stays */
    assert_non_null(strstr(line(23), "no whole stacks"));
    assert_int_equal(press(b, 'q'), TUI_QUIT);
    tui_browser_free(b);
    session_end(&f.session);
}

/* As `top` has it. */
static void a_new_generation_is_shown(void **state) {
    (void)state;
    struct fake f = {0};
    struct err err = ERR_INIT;
    fill(&f, false);
    const struct tui_source source = {.ctx = &f, .generation = generation, .data = data};
    struct tui_browser *b = tui_browser_new(&source, false, &err);
    assert_non_null(b);
    draw(b);
    struct session old = f.session;
    fill(&f, true);
    session_end(&old); /* the browser must not look at it any more */
    draw(b);
    assert_non_null(strstr(line(0), "Event count (approx.): 200"));
    assert_string_equal(line(1), "+   70.00%    70.00%  eight    [k] d");
    assert_string_equal(line(2), "+   30.00%    30.00%  seven    [k] a");
    assert_int_equal(cursor(), 2); /* it stays on its function */
    tui_browser_free(b);
    session_end(&f.session);
}

static void wish(void *ctx, enum tui_live_wish what, const char *text, char *said, size_t size) {
    (void)ctx;
    snprintf(said, size, "wish %d of \"%s\"", (int)what, text);
}

/* Rows change places between generations: the cursor and what is open go with them. */
static void a_live_source(void **state) {
    (void)state;
    struct fake f = {0};
    struct err err = ERR_INIT;
    fill(&f, false);
    const struct tui_source source = {.ctx = &f, .generation = generation, .data = data, .live = wish};
    struct tui_browser *b = tui_browser_new(&source, false, &err);
    assert_non_null(b);
    draw(b);
    struct session old = f.session;
    fill(&f, true);
    session_end(&old);
    draw(b);
    assert_int_equal(cursor(), 1); /* on the first row until it is moved */
    press(b, TUI_KEY_DOWN);
    press(b, '+');
    assert_string_equal(line(2), "-   30.00%    30.00%  seven    [k] a");
    assert_string_equal(line(3), "   + c");
    press(b, TUI_KEY_DOWN);
    old = f.session;
    fill(&f, false);
    session_end(&old);
    draw(b);
    assert_string_equal(line(1), "-   85.71%    85.71%  seven    [k] a");
    assert_string_equal(line(2), "   + c");
    assert_int_equal(cursor(), 2);
    f.text.percent_limit = 0;
    press(b, 'E');
    old = f.session;
    fill(&f, true);
    session_end(&old);
    draw(b);
    assert_string_equal(line(1), "-   70.00%    70.00%  eight    [k] d"); /* all are open */
    assert_int_equal(cursor(), 1); /* the first row again, whatever that is */
    assert_int_equal(press(b, 'f'), TUI_GO_ON);
    assert_non_null(strstr(line(23), "wish 0 of \"\""));
    press(b, 'z');
    assert_non_null(strstr(line(23), "wish 1 of \"\""));
    assert_false(tui_browser_busy(b));
    press(b, 'D');
    assert_true(tui_browser_busy(b));
    press(b, '5');
    press(b, TUI_KEY_ENTER);
    assert_false(tui_browser_busy(b));
    assert_non_null(strstr(line(23), "wish 2 of \"5\""));
    press(b, 'T');
    assert_non_null(strstr(line(23), "single samples are not kept"));
    assert_int_equal(press(b, 'q'), TUI_QUIT);
    tui_browser_free(b);
    session_end(&f.session);
}

/* There may be nothing yet. */
static void a_live_source_without_samples(void **state) {
    (void)state;
    struct fake f = {0};
    struct err err = ERR_INIT;
    session_start(&f.session);
    session_run(&f.session, (struct profile_options){.relative = true},
                (struct profile_column_options){.sort = "comm,sym"});
    f.text = (struct report_text_options){.columns = &f.session.columns,
                                          .events = stream_events(f.session.stream)};
    f.generation++;
    const struct tui_source source = {.ctx = &f, .generation = generation, .data = data, .live = wish};
    struct tui_browser *b = tui_browser_new(&source, false, &err);
    assert_non_null(b);
    draw(b);
    assert_non_null(strstr(line(1), "there are no samples"));
    press(b, TUI_KEY_DOWN);
    press(b, TUI_KEY_ENTER);
    press(b, TUI_KEY_ESC);
    struct session old = f.session;
    fill(&f, true);
    session_end(&old);
    draw(b);
    assert_string_equal(line(1), "+   70.00%    70.00%  eight    [k] d");
    tui_browser_free(b);
    session_end(&f.session);
}

/* ---- a table that is no profile's ---- */

static const struct {
    const char *number, *name;
    double share;
    struct tui_style style;
} own_rows[] = {{"+12.10%", "[.] work", 60, {TUI_TOP, 0}},
                {"-2.00%", "[.] rest", 20, {TUI_MEDIUM, 0}},
                {"", "[k] \033[2J", 1, {TUI_NORMAL, TUI_DIM}}};

static struct tui_style own_cell(void *ctx, uint32_t row, size_t column, struct out *out) {
    (void)ctx;
    out_str(out, column ? own_rows[row].name : own_rows[row].number);
    return own_rows[row].style;
}

static double own_share(void *ctx, uint32_t row) {
    (void)ctx;
    return own_rows[row].share;
}

/* The first row has main <- start below it, and other; the others have nothing. */
static bool own_below(void *ctx, uint32_t row, struct tui_below *out, struct err *err) {
    static const struct tui_below_cell cells[] = {{"+1%", {TUI_NORMAL, 0}}};
    static const struct tui_below_line lines[] = {
        {0, "main", cells}, {1, "start", cells}, {0, "other", cells}};
    (void)ctx, (void)err;
    for (size_t i = 0; !row && i < sizeof lines / sizeof *lines; i++) {
        struct tui_below_line *line = vec_push(&out->lines);
        assert_non_null(line);
        *line = lines[i];
    }
    return true;
}

static void a_table_of_its_own(void **state) {
    (void)state;
    struct fake f = {0};
    struct err err = ERR_INIT;
    fill(&f, false);
    const struct profile_column *symbol = &f.session.columns.out.items[f.session.columns.out.count - 1];
    const struct tui_rows_column columns[] = {{.title = "Delta", .width = 7, .right = true},
                                              {.is = symbol, .title = "Symbol", .width = 10}};
    struct tui_rows rows = {.name = "cycles",
                            .title = "Event 'cycles'",
                            .of = ": a, then b",
                            .about = "# about it\n",
                            .columns = columns,
                            .column_count = 2,
                            .row_count = 3,
                            .cell = own_cell,
                            .share = own_share,
                            .below = own_below,
                            .no_below = "nothing is below"};
    const struct tui_rows *tables[] = {&rows};
    f.tables = tables;
    const struct tui_source source = {.ctx = &f, .generation = generation, .data = data};
    struct tui_browser *b = tui_browser_new(&source, true, &err);
    assert_non_null(b);
    draw(b);
    assert_string_equal(line(0), "Event 'cycles': a, then b");
    assert_string_equal(line(1), "    Delta  Symbol");
    assert_string_equal(line(2), "+ +12.10%  [.] work");
    assert_string_equal(line(3), "+  -2.00%  [.] rest");
    assert_string_equal(line(4), "+          [k] \\x1b[2J");
    assert_int_equal(tui_at(&screen, 3, 4)->style.color, TUI_MEDIUM);
    assert_int_equal(tui_at(&screen, 4, 12)->style.flags, TUI_DIM);
    press(b, TUI_KEY_ENTER);
    assert_string_equal(line(2), "- +12.10%  [.] work");
    assert_string_equal(line(3), "      +1%  + <- main");
    assert_string_equal(line(4), "      +1%    <- other");
    press(b, TUI_KEY_DOWN);
    press(b, '+');
    assert_string_equal(line(3), "      +1%  - <- main");
    assert_string_equal(line(4), "      +1%      <- start");
    press(b, '-');
    assert_string_equal(line(4), "      +1%    <- other");
    press(b, 'E');
    assert_string_equal(line(4), "      +1%      <- start");
    assert_string_equal(line(6), "   -2.00%  [.] rest"); /* it turned out to have nothing below it */
    press(b, 'C');
    assert_string_equal(line(3), "+  -2.00%  [.] rest");
    press(b, '/');
    press(b, 'r');
    press(b, 'e');
    press(b, TUI_KEY_ENTER);
    assert_string_equal(line(0), "Event 'cycles', Symbol: re: a, then b");
    assert_string_equal(line(2), "+  -2.00%  [.] rest");
    assert_string_equal(line(3), "");
    press(b, TUI_KEY_ESC);
    press(b, 'L');
    press(b, '5');
    press(b, TUI_KEY_ENTER);
    assert_string_equal(line(3), "+  -2.00%  [.] rest");
    assert_string_equal(line(4), "");
    press(b, 'i');
    assert_string_equal(line(1), "# about it");
    press(b, 'q');
    rows.below = NULL;
    press(b, '+');
    assert_string_equal(line(23), "nothing is below");
    assert_string_equal(line(2), "  +12.10%  [.] work");
    press(b, '3');
    assert_non_null(strstr(line(23), "no group"));
    press(b, TUI_KEY_ENTER); /* the menu, as nothing can be opened */
    assert_true(tui_browser_busy(b));
    tui_browser_free(b);
    session_end(&f.session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_folds_and_filters),
        cmocka_unit_test(a_new_generation_is_shown),
        cmocka_unit_test(a_live_source),
        cmocka_unit_test(a_live_source_without_samples),
        cmocka_unit_test(a_table_of_its_own),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    tui_surface_fini(&screen);
    return status;
}
