/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/module_lines.h"

#include <ctype.h>
#include <stdlib.h>

static struct bytes take(struct bytes *rest, char end) {
    const uint8_t *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
    struct bytes part = {rest->data, at ? (size_t)(at - rest->data) : rest->size};
    size_t step = part.size + (at != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return part;
}

static bool take_number(struct bytes *rest, int base, uint64_t *value) {
    struct bytes text = take(rest, '\t');
    char digits[24] = "", *end;
    if (!text.size || text.size >= sizeof digits || !isxdigit(text.data[0]))
        return false;
    memcpy(digits, text.data, text.size);
    *value = strtoull(digits, &end, base);
    return *end == 0;
}

static bool take_text(struct bytes *rest, struct bytes *out) {
    *out = take(rest, '\t');
    return out->size != 0;
}

/* Two hex digits for each byte, or "-". */
static bool take_build_id(struct bytes *rest, struct perfdata_module_line *out) {
    struct bytes text = take(rest, '\t');
    if (text.size == 1 && text.data[0] == '-')
        return true;
    if (!text.size || text.size % 2 || text.size / 2 > sizeof out->build_id)
        return false;
    for (size_t i = 0; i < text.size; i += 2) {
        char two[3] = {(char)text.data[i], (char)text.data[i + 1], 0};
        if (!isxdigit((unsigned char)two[0]) || !isxdigit((unsigned char)two[1]))
            return false;
        out->build_id[i / 2] = (uint8_t)strtoul(two, NULL, 16);
    }
    out->build_id_bytes = (uint8_t)(text.size / 2);
    return true;
}

static bool is(struct bytes text, const char *word) {
    return bytes_equal(text, (struct bytes){(const uint8_t *)word, strlen(word)});
}

static bool read_line(struct bytes line, struct perfdata_module_line *out) {
    struct bytes word = take(&line, '\t');
    *out = (struct perfdata_module_line){0};
    if (is(word, "module")) {
        out->kind = PERFDATA_MODULE_LINE_MODULE;
        return take_number(&line, 16, &out->start) && take_number(&line, 16, &out->end) &&
               take_build_id(&line, out) && take_text(&line, &out->name) && take_text(&line, &out->path);
    }
    if (is(word, "section")) {
        out->kind = PERFDATA_MODULE_LINE_SECTION;
        return take_number(&line, 16, &out->start) && take_text(&line, &out->name);
    }
    if (is(word, "loaded")) {
        out->kind = PERFDATA_MODULE_LINE_LOADED;
        return take_number(&line, 10, &out->time_ns);
    }
    out->kind = PERFDATA_MODULE_LINE_UNLOADED;
    return is(word, "unloaded") && take_number(&line, 10, &out->time_ns) &&
           take_number(&line, 16, &out->start) && take_number(&line, 16, &out->end) &&
           take_text(&line, &out->name);
}

bool perfdata_module_line_next(struct bytes *rest, struct perfdata_module_line *out) {
    while (rest->size)
        if (read_line(take(rest, '\n'), out))
            return true;
    return false;
}
