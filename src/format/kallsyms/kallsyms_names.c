/* SPDX-License-Identifier: Apache-2.0 */
#include "format/kallsyms/kallsyms_names.h"

/* The place in the text decides among equals: that is the order of the list. */
static int compare(const void *a, const void *b) {
    const struct kallsyms_place *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->name.data < y->name.data ? -1 : x->name.data > y->name.data;
}

bool kallsyms_names_read(struct kallsyms_names *n, struct bytes text, const char *types) {
    for (struct kallsyms_symbol s; kallsyms_next(&text, &s);) {
        if (!s.address || !s.type || !strchr(types, s.type))
            continue;
        struct kallsyms_place *p = vec_push(&n->list);
        if (!p)
            return false;
        *p = (struct kallsyms_place){s.address, s.name};
    }
    if (n->list.count)
        qsort(n->list.items, n->list.count, sizeof *n->list.items, compare);
    return true;
}

const struct kallsyms_place *kallsyms_names_find(const struct kallsyms_names *n, uint64_t address) {
    size_t low = 0, high = n->list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->list.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct kallsyms_place *p = &n->list.items[low - 1];
    while (p > n->list.items && p[-1].address == p->address)
        p--;
    return p;
}

void kallsyms_names_fini(struct kallsyms_names *n) {
    vec_fini(&n->list);
}
