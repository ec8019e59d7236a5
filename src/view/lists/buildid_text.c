/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/buildid_text.h"

enum { ID_COLUMNS = 40 };

bool buildid_list_push(struct buildid_list *list, struct bytes id, struct bytes name, int32_t machine) {
    struct buildid_row *row = vec_push(&list->rows);
    if (!row)
        return false;
    *row = (struct buildid_row){id, name, machine, (uint32_t)(list->rows.count - 1)};
    return true;
}

bool buildid_list_add(struct buildid_list *list, const struct perfdata_feature_build_ids *ids) {
    for (uint32_t i = 0; i < ids->count; i++) {
        const struct perfdata_feature_build_id *e = &ids->items[i];
        struct bytes name = {e->name.data, bytes_text_len(e->name)};
        if (!buildid_list_push(list, (struct bytes){e->id, e->id_size}, name, e->pid))
            return false;
    }
    return true;
}

void buildid_list_fini(struct buildid_list *list) {
    vec_fini(&list->rows);
}

static int compare_bytes(struct bytes a, struct bytes b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int c = n ? memcmp(a.data, b.data, n) : 0;
    return c ? c : a.size < b.size ? -1 : a.size > b.size;
}

static int compare_rows(const void *x, const void *y) {
    const struct buildid_row *a = x, *b = y;
    if (a->machine != b->machine)
        return a->machine < b->machine ? -1 : 1;
    int c = compare_bytes(a->name, b->name);
    return c ? c : a->order < b->order ? -1 : a->order > b->order;
}

void buildid_list_sort(struct buildid_list *list, bool unique) {
    if (!list->rows.count)
        return;
    qsort(list->rows.items, list->rows.count, sizeof *list->rows.items, compare_rows);
    if (!unique)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < list->rows.count; i++) {
        const struct buildid_row *row = &list->rows.items[i];
        bool last = i + 1 == list->rows.count || row[1].machine != row->machine ||
                    compare_bytes(row[1].name, row->name) != 0;
        if (last)
            list->rows.items[kept++] = *row;
    }
    list->rows.count = kept;
}

void buildid_text_id(struct bytes id, size_t width, struct out *o) {
    for (size_t i = 0; i < id.size; i++)
        out_hex0(o, id.data[i], 2);
    if (2 * id.size < width)
        out_fill(o, ' ', width - 2 * id.size);
}

void buildid_text_write(const struct buildid_list *list, struct out *o) {
    for (size_t i = 0; i < list->rows.count; i++) {
        const struct buildid_row *row = &list->rows.items[i];
        buildid_text_id(row->id, ID_COLUMNS, o);
        out_char(o, ' ');
        out_mem(o, (const char *)row->name.data, row->name.size);
        out_char(o, '\n');
    }
}
