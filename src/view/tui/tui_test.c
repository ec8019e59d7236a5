/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the browser on a surface in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/utf8.h"
#include "view/tui/flame.h"
#include "view/tui/popup.h"
#include "view/tui/times.h"

static struct tui_surface screen;
static char shown[8192];

static void start(int rows, int cols, bool utf8) {
    struct err err = ERR_INIT;
    assert_true(tui_surface_resize(&screen, rows, cols, &err));
    screen.utf8 = utf8;
    screen.colored = utf8;
}

/* A line of the screen, without blanks at its end. */
static const char *line(int y) {
    size_t n = 0;
    for (int x = 0; x < screen.cols; x++)
        if (tui_at(&screen, y, x)->ch)
            n += utf8_put(tui_at(&screen, y, x)->ch, shown + n);
    while (n && shown[n - 1] == ' ')
        n--;
    shown[n] = '\0';
    return shown;
}

/* Returns whether any line has the text. */
static bool has(const char *text) {
    for (int y = 0; y < screen.rows; y++)
        if (strstr(line(y), text))
            return true;
    return false;
}

/* ---- the surface ---- */

static const char *put(const char *text, size_t n, int columns) {
    start(1, 40, screen.utf8);
    int used = tui_text(&screen, 0, 0, columns, tui_style(TUI_NORMAL), text, n);
    assert_true(used <= columns);
    return line(0);
}

static void texts_are_visible(void **state) {
    (void)state;
    start(1, 40, true);
    assert_string_equal(put("a\033[31mb", 7, 40), "a\\x1b[31mb");
    assert_string_equal(put("a\0b\n", 4, 40), "a\\x00b\\x0a");
    assert_string_equal(put("x\xe2\x80\xaey", 5, 40), "x\\u202ey");
    assert_string_equal(put("e\xcc\x81", 3, 40), "e\\u0301");
    assert_string_equal(put("\xff\xc3", 2, 40), "\\xff\\xc3");
    assert_string_equal(put("abcdef", 6, 4), "abc\xe2\x80\xa6");
    assert_string_equal(put("abcdef", 6, 6), "abcdef");
    assert_string_equal(put("abc\033def", 7, 5), "abc\xe2\x80\xa6");
    assert_string_equal(put("\xe6\xbc\xa2\xe5\xad\x97", 6, 4), "\xe6\xbc\xa2\xe5\xad\x97");
    assert_string_equal(put("\xe6\xbc\xa2\xe5\xad\x97", 6, 3), "\xe6\xbc\xa2\xe2\x80\xa6");
    screen.utf8 = false;
    assert_string_equal(put("\xc3\xa9t\xc3\xa9", 5, 40), "\\xe9t\\xe9");
    assert_string_equal(put("abcdef", 6, 4), "ab..");
    assert_string_equal(put("abcdef", 6, 1), ".");
    assert_string_equal(put("abcdef", 6, 0), "");
    /* Nothing beyond the edges, however long. */
    size_t n = 1 << 20;
    char *huge = malloc(n);
    assert_non_null(huge);
    memset(huge, 'x', n);
    start(3, 10, true);
    assert_int_equal(tui_text(&screen, 1, 4, 1 << 30, tui_style(TUI_NORMAL), huge, n), 6);
    assert_int_equal(tui_text(&screen, 3, 0, 10, tui_style(TUI_NORMAL), huge, n), 0);
    assert_int_equal(tui_text(&screen, 0, -1, 10, tui_style(TUI_NORMAL), huge, n), 0);
    tui_fill(&screen, 2, -3, 100, '#', tui_style(TUI_NORMAL));
    assert_string_equal(line(0), "");
    assert_string_equal(line(1), "    xxxxx\xe2\x80\xa6");
    assert_string_equal(line(2), "##########");
    free(huge);
}

/* ---- filters ---- */

static void filters_pop_in_order(void **state) {
    (void)state;
    struct tui_filter f = {0};
    assert_true(tui_filter_set(&f, TUI_BY_SYMBOL, "work", 4));
    assert_true(tui_filter_set(&f, TUI_BY_DSO, "libc.so", 7));
    assert_true(tui_filter_passes(&f, TUI_BY_SYMBOL, "rework", 6));
    assert_false(tui_filter_passes(&f, TUI_BY_SYMBOL, "rest", 4));
    assert_false(tui_filter_passes(&f, TUI_BY_DSO, "libc.so.6", 9));
    assert_true(tui_filter_passes(&f, TUI_BY_THREAD, "any", 3));
    assert_true(tui_filter_set(&f, TUI_BY_SYMBOL, "x", 1)); /* it is the last one now */
    assert_true(tui_filter_pop(&f));
    assert_null(f.text[TUI_BY_SYMBOL]);
    assert_non_null(f.text[TUI_BY_DSO]);
    assert_true(tui_filter_set(&f, TUI_BY_DSO, "[kernel]", 8));
    f.kernel = true;
    assert_true(tui_filter_passes(&f, TUI_BY_DSO, "[kernel.kallsyms]", 17));
    assert_false(tui_filter_passes(&f, TUI_BY_DSO, "[vdso]", 6));
    assert_true(tui_filter_pop(&f));
    assert_false(f.kernel);
    assert_false(tui_filter_pop(&f));
    tui_filter_fini(&f);
}

/* ---- stacks ---- */

static uint32_t text(struct stacks *s, const char *t) {
    return stacks_text(s, t, strlen(t));
}

static uint32_t add_node(struct stacks *s, uint32_t caller, const char *name, const char *dso,
                         unsigned grade) {
    struct stacks_image image = {.name = text(s, dso)};
    struct stacks_frame frame = {.name = text(s, name),
                                 .image = stacks_image(s, &image),
                                 .level = STACKS_USER,
                                 .grade = (uint8_t)grade};
    return stacks_node(s, caller, stacks_frame(s, &frame));
}

static void add_sample(struct stacks *s, uint32_t comm, uint32_t node, uint32_t tid, uint64_t ns,
                       uint64_t period) {
    uint32_t row = stacks_row(s, 0, comm, node), thread = stacks_thread(s, tid, tid);
    stacks_add(s, row, 1, period);
    s->threads.items[thread].comm = comm;
    struct stacks_moment *m = vec_push(&s->moments);
    assert_non_null(m);
    *m = (struct stacks_moment){ns, period, row, thread, 0};
}

/* main -> work (60) -> inner (30), main -> rest (10, stale); thread 1 in [1000, 2000], 2 at 3000. */
static void make_stacks(struct stacks *s) {
    struct err err = ERR_INIT;
    *s = (struct stacks){0};
    assert_true(stacks_init(s, &err));
    struct stacks_event *e = vec_push(&s->events);
    assert_non_null(e);
    e->name = text(s, "cycles");
    e->unit = text(s, "cycles");
    uint32_t one = text(s, "one"), two = text(s, "two\033[2J");
    uint32_t entry = add_node(s, STACKS_NONE, "main", "prog", STACKS_EXACT),
             work = add_node(s, entry, "work", "prog", STACKS_INFERRED),
             inner = add_node(s, work, "inner", "libc.so", STACKS_EXACT),
             rest = add_node(s, entry, "[stale prog]", "prog", STACKS_STALE);
    add_sample(s, one, work, 1, 1000, 60);
    add_sample(s, one, inner, 1, 2000, 30);
    add_sample(s, two, rest, 2, 3000, 10);
    assert_true(stacks_finish(s, &err));
}

static void flames_are_as_wide_as_their_share(void **state) {
    (void)state;
    struct stacks s;
    struct tui_flame f = {0};
    struct tui_filter filter = {0};
    struct err err = ERR_INIT;
    make_stacks(&s);
    assert_true(tui_flame_open(&f, &s, 0, &filter, &err));
    start(12, 100, false);
    tui_flame_draw(&f, &screen, 0, 1);
    assert_string_equal(line(0), "Flame graph of 'cycles', 100 cycles");
    assert_true(strncmp(line(2), "|one", 4) == 0 && strcspn(line(2) + 1, "|") + 1 == 90);
    assert_non_null(strstr(line(2), "\\x1b"));
    assert_null(strstr(line(2), "\033"));
    assert_true(strncmp(line(4), "|~work", 6) == 0);
    assert_true(strncmp(line(5), "|inner", 6) == 0 && strlen(line(5)) < 40);
    assert_non_null(strstr(line(4), "|![stale")); /* of the second command */
    assert_string_equal(line(10), "all  total 100.00% (100), self 0.00% (0)");
    tui_flame_walk(&f, 'G');
    assert_string_equal(tui_flame_name(&f), "inner");
    tui_clear(&screen);
    tui_flame_draw(&f, &screen, 0, 1);
    assert_string_equal(line(10), "inner (libc.so)  total 30.00% (30), self 30.00% (30)");
    tui_flame_walk(&f, 'k');
    tui_flame_zoom(&f);
    tui_clear(&screen);
    tui_flame_draw(&f, &screen, 0, 1);
    assert_null(strstr(line(2), "x1b")); /* its line is as wide as the screen now */
    assert_true(tui_flame_back(&f) && f.zoom != 0);
    assert_true(tui_flame_search(&f, "^in+er$", &err) && tui_flame_next(&f, true));
    assert_string_equal(tui_flame_name(&f), "inner");
    assert_false(tui_flame_search(&f, "(", &err));
    assert_false(tui_flame_next(&f, true));
    /* A range of time, and a filter. */
    filter.ranged = true;
    filter.from_ns = 1500;
    filter.to_ns = 3000;
    assert_true(tui_flame_open(&f, &s, 0, &filter, &err));
    assert_int_equal(f.tree.nodes.items[0].total, 40);
    assert_string_equal(tui_flame_name(&f), "inner"); /* it is still there */
    assert_true(tui_filter_set(&filter, TUI_BY_DSO, "libc.so", 7));
    assert_true(tui_flame_open(&f, &s, 0, &filter, &err));
    assert_int_equal(f.tree.nodes.items[0].total, 30);
    assert_true(tui_filter_set(&filter, TUI_BY_THREAD, "two", 3));
    assert_true(tui_flame_open(&f, &s, 0, &filter, &err));
    assert_int_equal(f.tree.nodes.items[0].total, 0);
    tui_clear(&screen);
    tui_flame_draw(&f, &screen, 0, 1);
    assert_true(has("nothing is left"));
    tui_filter_fini(&filter);
    tui_flame_fini(&f);
    stacks_fini(&s);
}

static void times_have_ranges(void **state) {
    (void)state;
    struct stacks s;
    struct tui_times t = {0};
    struct tui_filter filter = {0};
    struct err err = ERR_INIT;
    uint64_t from, to;
    make_stacks(&s);
    assert_true(tui_times_open(&t, &s, 0, &filter, &err));
    start(8, 60, true);
    tui_times_draw(&t, &screen, 0, 1, &filter);
    assert_non_null(strstr(line(0), "2 threads"));
    assert_true(strncmp(line(2), "one", 3) == 0);
    assert_non_null(strstr(line(2), "\xe2\x96\x88")); /* full: the most of all cells */
    assert_non_null(strstr(line(2), "\xe2\x96\x84")); /* half of it */
    assert_true(strncmp(line(3), "two\\x1b", 7) == 0);
    assert_false(tui_times_range(&t, &from, &to));
    tui_times_move(&t, 1, 1000);
    assert_int_equal(t.at, 1);
    tui_times_mark(&t, 1);
    assert_true(tui_times_range(&t, &from, &to));
    assert_int_equal(from, 1000);
    assert_int_equal(to, 3000);
    tui_times_mark(&t, 0);
    assert_true(tui_times_range(&t, &from, &to) && from > 2000 && from <= 3000 && to == 3000);
    tui_times_extend(&t, -1); /* to the left: both columns are in */
    uint64_t one = from;
    assert_true(tui_times_range(&t, &from, &to) && from < one && to == 3000);
    assert_true(tui_times_unmark(&t) && !tui_times_unmark(&t));
    tui_times_fini(&t);
    stacks_fini(&s);
}

/* ---- popups ---- */

static enum tui_answer type(struct tui_popup *p, const char *keys) {
    enum tui_answer answer = TUI_OPEN;
    for (; *keys; keys++)
        answer = tui_popup_key(p, (struct tui_press){.key = (unsigned char)*keys}, 24);
    return answer;
}

static void popups_answer(void **state) {
    (void)state;
    struct tui_popup p = {0};
    start(24, 80, false);
    tui_popup_help(&p);
    tui_popup_draw(&p, &screen);
    assert_true(has("Show this window") && has("scroll"));
    for (int i = 0; i < 100; i++)
        assert_int_equal(tui_popup_key(&p, (struct tui_press){.key = TUI_KEY_DOWN}, 24), TUI_OPEN);
    tui_popup_draw(&p, &screen);
    assert_true(has("back to the table") && !has("Show this window"));
    assert_int_equal(type(&p, "x"), TUI_CLOSED);
    tui_popup_input(&p, "Symbol", "which", 7);
    assert_int_equal(type(&p, "mainx\b"), TUI_OPEN);
    tui_popup_draw(&p, &screen);
    assert_true(has("|main "));
    assert_int_equal(type(&p, "\n"), TUI_ANSWERED);
    assert_string_equal(p.input, "main");
    for (int i = 0; i < 1000; i++)
        type(&p, "y");
    assert_true(p.length < sizeof p.input);
    assert_int_equal(type(&p, "\033"), TUI_CLOSED);
    tui_popup_menu(&p, "Menu", 1);
    assert_true(tui_popup_item(&p, 5, "first") && tui_popup_item(&p, 6, "second"));
    tui_popup_draw(&p, &screen);
    assert_int_equal(tui_popup_key(&p, (struct tui_press){.key = TUI_KEY_PAGE_DOWN}, 24), TUI_OPEN);
    assert_int_equal(type(&p, "\n"), TUI_ANSWERED);
    assert_int_equal(p.items.items[p.at].action, 6);
    tui_popup_text(&p, "Text", "one\n\033two\n", 9);
    tui_popup_draw(&p, &screen);
    assert_true(has("one") && has("\\x1btwo"));
    tui_popup_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_visible),
        cmocka_unit_test(filters_pop_in_order),
        cmocka_unit_test(flames_are_as_wide_as_their_share),
        cmocka_unit_test(times_have_ranges),
        cmocka_unit_test(popups_answer),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    tui_surface_fini(&screen);
    return status;
}
