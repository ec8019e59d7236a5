/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/kernel_facts.h"

#include <stdio.h>
#include <stdlib.h>

static void put(struct writer *w, const char *text) {
    writer_put(w, text, strlen(text));
}

static void put_hex(struct writer *w, uint64_t v) {
    char text[20];
    snprintf(text, sizeof text, "\t%llx", (unsigned long long)v);
    put(w, text);
}

void perfdata_kernel_facts_encode(const struct perfdata_kernel_facts *f, struct writer *w) {
    if (*f->boot_id) {
        put(w, "boot\t");
        put(w, f->boot_id);
        put(w, "\n");
    }
    put(w, "kernel");
    put_hex(w, f->start);
    put_hex(w, f->end);
    put(w, f->build_id_size ? "\t" : "\t-");
    for (size_t i = 0; i < f->build_id_size; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", f->build_id[i]);
        put(w, two);
    }
    put(w, "\n");
    for (uint32_t i = 0; i < f->symbol_count; i++) {
        put(w, "symbol");
        put_hex(w, f->symbols[i].address);
        put(w, "\t");
        put(w, f->symbols[i].name);
        put(w, "\n");
    }
}

/* The next field of a line, as text in `room`; false when there is none or it is too long. */
static bool field(struct bytes *line, char *room, size_t cap) {
    const uint8_t *tab = line->size ? memchr(line->data, '\t', line->size) : NULL;
    size_t n = tab ? (size_t)(tab - line->data) : line->size;
    if (!n || n >= cap)
        return false;
    memcpy(room, line->data, n);
    room[n] = 0;
    size_t step = n + (tab != NULL);
    *line = (struct bytes){line->data + step, line->size - step};
    return true;
}

static bool hex_field(struct bytes *line, uint64_t *out) {
    char text[24], *end;
    bool ok = field(line, text, sizeof text);
    *out = ok ? strtoull(text, &end, 16) : 0;
    return ok && *end == 0;
}

static void take_build_id(struct perfdata_kernel_facts *f, const char *hex) {
    size_t n = strlen(hex) / 2;
    unsigned byte;
    f->build_id_size = 0;
    for (size_t i = 0; i < n && i < sizeof f->build_id && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
        f->build_id[f->build_id_size++] = (uint8_t)byte;
}

static void take_line(struct perfdata_kernel_facts *f, struct bytes line) {
    char what[16], id[2 * sizeof f->build_id + 1];
    uint64_t start, end;
    if (!field(&line, what, sizeof what))
        return;
    if (strcmp(what, "boot") == 0) {
        if (!field(&line, f->boot_id, sizeof f->boot_id))
            *f->boot_id = 0;
    } else if (strcmp(what, "kernel") == 0) {
        if (hex_field(&line, &start) && hex_field(&line, &end) && field(&line, id, sizeof id)) {
            f->start = start;
            f->end = end;
            take_build_id(f, id);
        }
    } else if (strcmp(what, "symbol") == 0 && f->symbol_count < PERFDATA_KERNEL_SYMBOLS) {
        struct perfdata_kernel_symbol *s = &f->symbols[f->symbol_count];
        f->symbol_count += hex_field(&line, &s->address) && field(&line, s->name, sizeof s->name);
    }
}

void perfdata_kernel_facts_decode(struct bytes text, struct perfdata_kernel_facts *out) {
    *out = (struct perfdata_kernel_facts){0};
    while (text.size) {
        const uint8_t *nl = memchr(text.data, '\n', text.size);
        size_t n = nl ? (size_t)(nl - text.data) : text.size, step = n + (nl != NULL);
        take_line(out, (struct bytes){text.data, n});
        text = (struct bytes){text.data + step, text.size - step};
    }
}
