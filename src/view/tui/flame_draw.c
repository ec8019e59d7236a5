/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "view/report/report_cell.h"
#include "view/tui/flame.h"

static const struct flame_node *node(const struct tui_flame *f, uint32_t id) {
    return &f->tree.nodes.items[id];
}

/* ---- layout ---- */

static bool add_span(struct tui_flame *f, uint32_t id, int depth, int from, int to) {
    struct tui_span *s = vec_push(&f->spans);
    if (s)
        *s = (struct tui_span){id, depth, from, to};
    return s;
}

/* Adds the callees of one span, which share its columns by their totals; those too narrow for one are merged
 * into a span without a node. */
static bool add_callees(struct tui_flame *f, struct tui_span above) {
    const struct flame_node *n = node(f, above.node);
    uint64_t sum = 0;
    int from = above.from, width = above.to - above.from;
    for (uint32_t id = n->first; id != STACKS_NONE; id = node(f, id)->next) {
        sum += node(f, id)->total;
        int to = above.from + (int)((double)width * (double)sum / (double)(n->total ? n->total : 1) + 0.5);
        if (to > from && node(f, id)->total) {
            if (!add_span(f, id, above.depth + 1, from, to))
                return false;
        }
        from = to;
    }
    return true;
}

/* Lists the spans from the root on: those above the zoomed frame are as wide as the screen. */
static bool list_spans(struct tui_flame *f) {
    int depth = (int)node(f, f->zoom)->depth;
    vec_clear(&f->spans);
    if (!vec_reserve(&f->spans, (size_t)depth + 1))
        return false;
    f->spans.count = (size_t)depth + 1;
    uint32_t id = f->zoom;
    for (int i = depth; i >= 0; i--, id = node(f, id)->caller)
        f->spans.items[i] = (struct tui_span){id, i, 0, f->width};
    for (size_t i = (size_t)depth; i < f->spans.count; i++) /* it grows: a line after the other */
        if (!add_callees(f, f->spans.items[i]))
            return false;
    return true;
}

/* ---- frames ---- */

static enum tui_color color_of(const struct tui_flame *f, const struct flame_node *n) {
    static const uint8_t colors[] = {
        [STACKS_USER] = TUI_FLAME_USER,        [STACKS_KERNEL] = TUI_FLAME_KERNEL,
        [STACKS_GUEST_USER] = TUI_FLAME_GUEST, [STACKS_GUEST_KERNEL] = TUI_FLAME_GUEST,
        [STACKS_HYPERVISOR] = TUI_FLAME_GUEST, [STACKS_JIT] = TUI_FLAME_JIT,
        [STACKS_INLINED] = TUI_FLAME_INLINED,
    };
    if (n->frame == STACKS_NONE)
        return TUI_FLAME_ROOT;
    const struct stacks_frame *x = &f->s->frames.items[n->frame];
    if (x->grade == STACKS_UNKNOWN)
        return TUI_FLAME_UNKNOWN;
    return x->level < sizeof colors ? (enum tui_color)colors[x->level] : TUI_FLAME_USER;
}

static const char *name_of(const struct tui_flame *f, uint32_t id) {
    return id ? stacks_str(f->s, node(f, id)->name) : "all";
}

/* A letter before the name says what is not certain: '!' stale, '?' unknown, '~' inferred without colours. */
static char grade_sign(const struct tui_flame *f, const struct flame_node *n, bool colored) {
    if (n->frame == STACKS_NONE)
        return ' ';
    switch (f->s->frames.items[n->frame].grade) {
    case STACKS_STALE:
        return '!';
    case STACKS_UNKNOWN:
        return '?';
    case STACKS_INFERRED:
        return colored ? ' ' : '~';
    default:
        return ' ';
    }
}

static void draw_span(struct tui_flame *f, struct tui_surface *s, int y, const struct tui_span *p, bool odd) {
    const struct flame_node *n = node(f, p->node);
    struct tui_style style = tui_style((enum tui_color)(color_of(f, n) + odd));
    bool found = f->found && f->found[p->node], at = p->node == f->at;
    int width = p->to - p->from;
    if (n->frame != STACKS_NONE && f->s->frames.items[n->frame].grade == STACKS_INFERRED)
        style.flags = TUI_UNDERLINE | TUI_DIM;
    if (found)
        style = (struct tui_style){TUI_FOUND, style.flags};
    if (at)
        style = (struct tui_style){TUI_CURSOR, 0};
    struct tui_style plain = {style.color, 0};
    tui_fill(s, y, p->from, width, ' ', plain);
    if (width > 2 || !s->colored) /* the shades tell narrow ones apart */
        tui_fill(s, y, p->from, 1, s->utf8 ? 0x258f : '|', plain);
    if (width < 2)
        return;
    char sign = grade_sign(f, n, s->colored);
    int x = p->from + 1, room = width - 1;
    if (sign != ' ') {
        tui_fill(s, y, x++, 1, (uint32_t)sign, plain);
        room--;
    }
    if (room > 1 || (room && !s->colored))
        tui_str(s, y, x, room, style, name_of(f, p->node));
}

/* ---- lines about it ---- */

static void draw_title(struct tui_flame *f, struct tui_surface *s, int y) {
    char line[320];
    const struct stacks_event *e = &f->s->events.items[f->event];
    snprintf(line, sizeof line, "Flame graph of '%.100s', %" PRIu64 " %.40s%s%.100s",
             stacks_str(f->s, e->name), node(f, 0)->total, stacks_str(f->s, e->unit),
             f->zoom ? ", zoomed into " : "", f->zoom ? name_of(f, f->zoom) : "");
    tui_fill(s, y, 0, s->cols, ' ', tui_style(TUI_HEAD));
    tui_str(s, y, 0, s->cols, tui_style(TUI_HEAD), line);
}

enum { ROOM_FOR_SUMS = 100 }; /* columns; names come first */

static void draw_status(struct tui_flame *f, struct tui_surface *s, int y) {
    static const char *const grades[] = {"", ", inferred", ", stale", ", unknown"};
    const struct flame_node *n = node(f, f->at);
    const struct stacks_frame *x = tui_flame_frame(f);
    const char *dso = x ? stacks_frame_dso(f->s, x) : "";
    char numbers[160], sums[2][32] = {"", ""};
    double all = (double)(node(f, 0)->total ? node(f, 0)->total : 1);
    if (s->cols >= ROOM_FOR_SUMS) {
        snprintf(sums[0], sizeof sums[0], " (%" PRIu64 ")", n->total);
        snprintf(sums[1], sizeof sums[1], " (%" PRIu64 ")", n->self);
    }
    snprintf(numbers, sizeof numbers, "total %.2f%%%s, self %.2f%%%s%s", 100 * (double)n->total / all,
             sums[0], 100 * (double)n->self / all, sums[1], x && x->grade < 4 ? grades[x->grade] : "");
    int room = s->cols - (int)strlen(numbers) - 2;
    struct tui_style bold = {TUI_NORMAL, TUI_BOLD};
    int used = tui_str(s, y, 0, room, bold, name_of(f, f->at));
    if (*dso && room - used > 6) {
        used += tui_str(s, y, used, 2, tui_style(TUI_NORMAL), " (");
        used += tui_str(s, y, used, room - used - 1, tui_style(TUI_NORMAL), dso);
        used += tui_str(s, y, used, 1, tui_style(TUI_NORMAL), ")");
    }
    tui_str(s, y, used + 2, s->cols - used - 2, tui_style(TUI_NORMAL), numbers);
}

/* ---- all ---- */

/* Scrolls as little as needed to have the cursor on the screen. */
static void follow(struct tui_flame *f) {
    int depth = (int)node(f, f->at)->depth;
    if (depth < f->top)
        f->top = depth;
    if (depth >= f->top + f->height)
        f->top = depth - f->height + 1;
}

/* Zooms out as far as needed to have the cursor among the frames that are drawn. */
static void show_cursor(struct tui_flame *f) {
    uint32_t id = f->at;
    while (id != f->zoom && id != STACKS_NONE)
        id = node(f, id)->caller;
    bool above = false;
    for (uint32_t z = f->zoom; z != STACKS_NONE && !above; z = node(f, z)->caller)
        above = z == f->at;
    if (id == STACKS_NONE && !above)
        f->zoom = 0;
}

/* Whether the cursor's frame is wide enough to be drawn. */
static bool is_drawn(const struct tui_flame *f) {
    for (size_t i = 0; i < f->spans.count; i++)
        if (f->spans.items[i].node == f->at)
            return true;
    return false;
}

/* Lists the spans; zooms in as far as needed to have the cursor's frame among them. */
static bool list_with_cursor(struct tui_flame *f) {
    if (!list_spans(f))
        return false;
    if (is_drawn(f))
        return true;
    f->zoom = node(f, f->at)->caller == STACKS_NONE ? f->at : node(f, f->at)->caller;
    if (!list_spans(f) || is_drawn(f))
        return true;
    f->zoom = f->at;
    return list_spans(f);
}

void tui_flame_draw(struct tui_flame *f, struct tui_surface *s, int y, int below) {
    if (!f->tree.nodes.count)
        return;
    f->width = s->cols;
    f->height = s->rows - y - 1 - below - 1 > 0 ? s->rows - y - 1 - below - 1 : 1;
    show_cursor(f);
    follow(f);
    draw_title(f, s, y);
    if (!list_with_cursor(f))
        return;
    int depth = -1;
    bool odd = false;
    for (size_t i = 0; i < f->spans.count; i++) {
        const struct tui_span *p = &f->spans.items[i];
        odd = p->depth != depth ? p->depth & 1 : !odd;
        depth = p->depth;
        if (p->depth >= f->top && p->depth < f->top + f->height)
            draw_span(f, s, y + 1 + p->depth - f->top, p, odd);
    }
    if (!node(f, 0)->total)
        tui_str(s, y + 2, 1, s->cols - 1, tui_style(TUI_NORMAL),
                "nothing is left: ESC takes the last filter away");
    draw_status(f, s, s->rows - below - 1);
}
