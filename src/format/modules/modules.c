/* SPDX-License-Identifier: Apache-2.0 */
#include "format/modules/modules.h"

#include <stdlib.h>

static struct bytes take(struct bytes *rest, uint8_t end) {
    const uint8_t *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
    struct bytes part = {rest->data, at ? (size_t)(at - rest->data) : rest->size};
    size_t step = part.size + (at != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return part;
}

static bool number(struct bytes text, int base, uint64_t *value) {
    char digits[24] = "";
    if (!text.size || text.size >= sizeof digits)
        return false;
    memcpy(digits, text.data, text.size);
    char *end;
    *value = strtoull(digits, &end, base);
    return *end == 0;
}

bool modules_next(struct bytes *rest, struct modules_entry *out) {
    while (rest->size) {
        struct bytes line = take(rest, '\n');
        *out = (struct modules_entry){.name = take(&line, ' ')};
        struct bytes size = take(&line, ' ');
        for (int i = 0; i < 2; i++) /* references, users */
            take(&line, ' ');
        out->loading = bytes_equal(take(&line, ' '), (struct bytes){(const uint8_t *)"Loading", 7});
        if (out->name.size && number(size, 10, &out->size) && number(take(&line, ' '), 16, &out->address))
            return true;
    }
    return false;
}

static bool same_name(struct bytes a, struct bytes b) {
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++) {
        uint8_t x = a.data[i] == '-' ? '_' : a.data[i], y = b.data[i] == '-' ? '_' : b.data[i];
        if (x != y)
            return false;
    }
    return true;
}

struct bytes modules_dep_path(struct bytes dep, struct bytes name) {
    while (dep.size) {
        struct bytes line = take(&dep, '\n');
        struct bytes path = take(&line, ':');
        const uint8_t *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;
        struct bytes file =
            slash ? (struct bytes){slash + 1, (size_t)(path.data + path.size - slash) - 1} : path;
        if (same_name(take(&file, '.'), name))
            return path;
    }
    return (struct bytes){NULL, 0};
}
