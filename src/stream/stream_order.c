/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_order.h"

#include <stdlib.h>
#include <string.h>

/* Merging temporarily needs half as much memory again; more items than this are sorted in place, to need only
 * 16 bytes per item. */
enum { MERGE_MAX = 1 << 21 };

/* A round is larger than the fast caches: records are prefetched this many items ahead. */
enum { AHEAD = 8 };

void order_queue_init(struct order_queue *q) {
    *q = (struct order_queue){0};
}

void order_queue_fini(struct order_queue *q) {
    free(q->items);
    *q = (struct order_queue){0};
}

static bool before(const struct order_item *a, const struct order_item *b) {
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->loc < b->loc;
}

bool order_queue_push(struct order_queue *q, uint64_t time_ns, uint64_t loc) {
    if (q->count == q->cap) {
        if (q->head > q->cap / 2) { /* the delivered half is enough memory */
            memmove(q->items, q->items + q->head, (q->count - q->head) * sizeof *q->items);
            q->count -= q->head;
            q->sorted -= q->head;
            q->head = 0;
        } else {
            /* Doubling would need far more than 16 bytes per event; realloc of large blocks moves pages, not
             * bytes. */
            size_t cap = q->cap ? q->cap + q->cap / 4 : 4096;
            struct order_item *p = realloc(q->items, cap * sizeof *p);
            if (!p)
                return false;
            q->items = p;
            q->cap = cap;
        }
    }
    if (time_ns > q->round_max_ns)
        q->round_max_ns = time_ns;
    if (time_ns < q->last_ns)
        q->unordered++;
    q->items[q->count] = (struct order_item){time_ns, loc};
    /* Most recordings are nearly in order: an item that continues the sorted part needs no sorting. */
    if (q->sorted == q->count &&
        (q->count == q->head || !before(&q->items[q->count], &q->items[q->count - 1])))
        q->sorted++;
    q->count++;
    return true;
}

/* Sorts a[0..n) in place by heapsort: it needs no memory, and hostile input cannot make it slow. */
static void heap_sort(struct order_item *a, size_t n) {
    for (size_t start = n / 2, end = n; end > 1;) {
        struct order_item v;
        if (start > 0) {
            v = a[--start];
        } else {
            v = a[--end];
            a[end] = a[0];
        }
        size_t i = start;
        for (size_t child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && before(&a[child], &a[child + 1]))
                child++;
            if (!before(&v, &a[child]))
                break;
            a[i] = a[child];
        }
        a[i] = v;
    }
}

static void insertion_sort(struct order_item *a, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct order_item v = a[i];
        size_t j = i;
        for (; j > 0 && before(&v, &a[j - 1]); j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

/* Sorts in place by quicksort with median of three; falls back to heapsort if it degenerates. */
static void sort_items(struct order_item *a, size_t n, unsigned budget) {
    while (n > 24) {
        if (budget-- == 0) {
            heap_sort(a, n);
            return;
        }
        struct order_item x = a[0], y = a[n / 2], z = a[n - 1], pivot;
        if (before(&x, &y))
            pivot = before(&y, &z) ? y : before(&x, &z) ? z : x;
        else
            pivot = before(&x, &z) ? x : before(&y, &z) ? z : y;
        size_t i = 0, j = n - 1;
        for (;; i++, j--) {
            while (before(&a[i], &pivot))
                i++;
            while (before(&pivot, &a[j]))
                j--;
            if (i >= j)
                break;
            struct order_item t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        size_t left = j + 1; /* [0, j] <= pivot <= [j + 1, n) */
        if (left < n - left) {
            sort_items(a, left, budget);
            a += left;
            n -= left;
        } else {
            sort_items(a + left, n - left, budget);
            n = left;
        }
    }
    insertion_sort(a, n);
}

/*
 * Merges the sorted runs [lo, mid) and [mid, hi) through a copy of the smaller one. False: out of memory.
 */
static bool merge_runs(struct order_item *a, size_t lo, size_t mid, size_t hi) {
    /* Items already in place at either end are left out: in nearly ordered input these are nearly all. */
    while (lo < mid && !before(&a[mid], &a[lo]))
        lo++;
    while (hi > mid && lo < mid && !before(&a[hi - 1], &a[mid - 1]))
        hi--;
    if (lo == mid || mid == hi)
        return true;
    bool left_small = mid - lo <= hi - mid;
    size_t n = left_small ? mid - lo : hi - mid;
    struct order_item *tmp = malloc(n * sizeof *tmp);
    if (!tmp)
        return false;
    memcpy(tmp, left_small ? a + lo : a + mid, n * sizeof *tmp);
    if (left_small) {
        size_t i = 0, j = mid, k = lo;
        while (i < n && j < hi)
            a[k++] = before(&a[j], &tmp[i]) ? a[j++] : tmp[i++];
        memcpy(a + k, tmp + i, (n - i) * sizeof *tmp);
    } else {
        size_t i = mid, j = n, k = hi;
        while (i > lo && j > 0)
            a[--k] = before(&tmp[j - 1], &a[i - 1]) ? a[--i] : tmp[--j];
        memcpy(a + k - j, tmp, j * sizeof *tmp);
    }
    free(tmp);
    return true;
}

/*
 * Sorts the waiting items, a sorted run and then new ones. New items are usually a few per-CPU runs, each in
 * order, which are merged in pairs; without such runs they are sorted from scratch. False: out of memory.
 */
static bool sort_waiting(struct order_queue *q) {
    size_t from = q->sorted, n = q->count - from;
    if (n == 0)
        return true;
    struct order_item *a = q->items + from;
    size_t runs = 1;
    for (size_t i = 1; i < n; i++)
        runs += before(&a[i], &a[i - 1]);
    if (runs > 1 && (runs > n / 16 + 1 || n > MERGE_MAX)) {
        sort_items(a, n, 2 * (64 - (unsigned)__builtin_clzll(n)));
    } else if (runs > 1) {
        /* Bottom-up merging of natural runs; the ends are found again in each pass, which needs no memory. */
        while (runs > 1) {
            runs = 0;
            for (size_t lo = 0; lo < n; runs++) {
                size_t mid = lo + 1;
                while (mid < n && !before(&a[mid], &a[mid - 1]))
                    mid++;
                size_t hi = mid < n ? mid + 1 : n;
                while (hi < n && !before(&a[hi], &a[hi - 1]))
                    hi++;
                if (mid < n && !merge_runs(a, lo, mid, hi))
                    return false;
                lo = hi;
            }
        }
    }
    if (from - q->head > MERGE_MAX && n > MERGE_MAX)
        sort_items(q->items + q->head, q->count - q->head, 2 * (64 - (unsigned)__builtin_clzll(q->count)));
    else if (!merge_runs(q->items, q->head, from, q->count))
        return false;
    q->sorted = q->count;
    return true;
}

bool order_queue_round(struct order_queue *q) {
    if (!sort_waiting(q))
        return false;
    q->limit_ns = q->next_limit_ns;
    q->next_limit_ns = q->round_max_ns;
    q->open = true;
    return true;
}

bool order_queue_finish(struct order_queue *q) {
    q->limit_ns = UINT64_MAX;
    q->open = true;
    return sort_waiting(q);
}

bool order_queue_pop(struct order_queue *q, struct order_item *out) {
    if (!q->open || q->head == q->sorted || q->items[q->head].time_ns > q->limit_ns) {
        q->open = false;
        return false;
    }
    *out = q->items[q->head++];
    if (out->time_ns > q->last_ns)
        q->last_ns = out->time_ns;
    if (q->head == q->count)
        q->head = q->count = q->sorted = 0;
    return true;
}

void order_init(struct order *o, struct stream *s, order_want_fn *want, void *want_ctx, bool disabled) {
    *o = (struct order){.stream = s, .want = want, .want_ctx = want_ctx, .disabled = disabled};
    order_queue_init(&o->queue);
}

void order_fini(struct order *o) {
    order_queue_fini(&o->queue);
}

/*
 * In the queue a loc is combined with the number of its event, which keeps the order: locs are below 2^48,
 * and nearly all recordings have fewer than 2^16 events.
 */
enum { EVENT_BITS = 16, NO_EVENT = (1 << EVENT_BITS) - 1 };

static bool push(struct order *o, const struct stream_record *r) {
    size_t events = stream_events(o->stream)->list.count;
    o->events = o->events ? o->events : events;
    uint32_t event = r->event < NO_EVENT && o->events == events ? r->event : NO_EVENT;
    return order_queue_push(&o->queue, r->time_ns, r->loc << EVENT_BITS | event);
}

static void get(const struct order *o, const struct order_item *item, struct stream_record *out) {
    uint32_t event = item->loc & NO_EVENT;
    bool known = event != NO_EVENT && stream_events(o->stream)->list.count == o->events;
    stream_record_again(o->stream, item->loc >> EVENT_BITS, known ? event : PERFDATA_NO_EVENT, out);
}

struct tied {
    struct order_item item;
    uint32_t key;
};

static int compare_tied(const void *x, const void *y) {
    const struct tied *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->item.loc < b->item.loc ? -1 : a->item.loc > b->item.loc;
}

/* Sorts the next items by `tie` if several have one time; all of them are popped before any is pushed. False:
 * out of memory. */
static bool sort_tied(struct order *o) {
    struct order_queue *q = &o->queue;
    if (!o->tie || o->tied || !q->open || q->sorted - q->head < 2 ||
        q->items[q->head + 1].time_ns != q->items[q->head].time_ns || q->items[q->head].time_ns > q->limit_ns)
        return true;
    struct order_item *items = q->items + q->head;
    size_t n = 2;
    while (n < q->sorted - q->head && items[n].time_ns == items[0].time_ns)
        n++;
    struct tied *list = malloc(n * sizeof *list);
    if (!list)
        return false;
    struct stream_record r;
    for (size_t i = 0; i < n; i++) {
        get(o, &items[i], &r);
        list[i] = (struct tied){items[i], o->tie(o->want_ctx, &r)};
    }
    qsort(list, n, sizeof *list, compare_tied);
    for (size_t i = 0; i < n; i++)
        items[i] = list[i].item;
    free(list);
    o->tied = n;
    return true;
}

/* Takes the next item. False: there is none, or (*failed) out of memory. */
static bool pop(struct order *o, struct order_item *item, bool *failed) {
    *failed = !sort_tied(o);
    if (*failed || !order_queue_pop(&o->queue, item))
        return false;
    o->tied -= o->tied > 0;
    return true;
}

enum stream_status order_next(struct order *o, struct stream_record *out, struct err *err) {
    struct order_item item;
    bool failed;
    for (;;) {
        if (pop(o, &item, &failed)) {
            if (o->queue.head + AHEAD < o->queue.sorted)
                stream_prefetch(o->stream, o->queue.items[o->queue.head + AHEAD].loc >> EVENT_BITS);
            get(o, &item, out);
            out->has_time = true;
            out->time_ns = item.time_ns;
            return STREAM_RECORD;
        }
        if (failed) {
            err_memory(err, "ordering");
            return STREAM_FAILED;
        }
        if (o->ended)
            return STREAM_END;
        enum stream_status status = stream_next(o->stream, out, err);
        if (status == STREAM_FAILED)
            return status;
        if (status == STREAM_RECORD)
            stream_tell(o->stream, out->loc);
        bool sorted_in = true;
        if (status == STREAM_END && stream_goes_on(o->stream))
            return status;
        if (status == STREAM_END) {
            o->ended = true;
            sorted_in = order_queue_finish(&o->queue);
        } else {
            bool wanted = !o->want || o->want(o->want_ctx, out);
            bool placed = out->has_time && out->time_ns != 0 && out->time_ns != UINT64_MAX;
            if (out->raw.type == PERFDATA_RECORD_FINISHED_ROUND && !o->disabled)
                sorted_in = order_queue_round(&o->queue);
            if (sorted_in && wanted && (o->disabled || !placed)) {
                if (!out->has_time)
                    out->time_ns = stream_when_ns(o->stream, out);
                return STREAM_RECORD;
            }
            if (sorted_in && wanted)
                sorted_in = push(o, out);
        }
        if (!sorted_in) {
            err_memory(err, "ordering");
            return STREAM_FAILED;
        }
    }
}
