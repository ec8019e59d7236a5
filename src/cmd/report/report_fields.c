/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_fields.h"

#include <string.h>

#include "format/tracefs/print_check.h"

/* Returns a field's width: a text's size, or two digits a byte and "0x". */
static uint32_t width_of(const struct tracing_field *f) {
    bool text = memmem(f->declaration.data, f->declaration.size, "char", 4) &&
                memchr(f->declaration.data, '[', f->declaration.size);
    return text ? f->size : 2 * f->size + 2;
}

bool report_fields_of(void *ctx, const struct perfdata_attr *attr, size_t i, struct profile_field *out) {
    const struct recording *r = ctx;
    const struct tracing_event *e = tracing_data_find(&r->namer.tracing, attr->config);
    struct bytes rest = e ? e->format : (struct bytes){NULL, 0};
    struct tracing_field f;
    while (e && tracing_field_next(&rest, &f)) {
        if (f.common || i--)
            continue;
        *out = (struct profile_field){.name = (const char *)f.name.data,
                                      .len = f.name.size,
                                      .width = width_of(&f),
                                      .dynamic = print_check_is_dynamic(&f)};
        return true;
    }
    return false;
}

/* Finds "name=value" in a text of words. */
static bool find_value(const char *text, const char *name, const char **value, size_t *len) {
    size_t n = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strncmp(at, name, n) || at[n] != '=')
            continue;
        *value = at + n + 1;
        *len = strcspn(*value, " ");
        return true;
    }
    return false;
}

struct wanted {
    const char *name;
    struct out *out;
};

static void take_field(void *ctx, const char *name, const char *value, size_t len) {
    struct wanted *w = ctx;
    if (!strcmp(name, w->name))
        out_mem(w->out, value, len);
}

void report_fields_print(struct tracefs_formats *formats, const struct perfdata_attr *attr,
                         const struct perfdata_sample *s, const struct profile_column *column,
                         struct out *out) {
    struct wanted w = {column->field, out};
    struct out text;
    const char *value;
    size_t len;
    bool found = false;
    if (!column->raw && out_init(&text, NULL, NULL)) {
        if (tracefs_formats_print(formats, attr->config, (int)s->cpu, s->raw, &text) &&
            find_value(out_text(&text), column->field, &value, &len)) {
            out_mem(out, value, len);
            found = true;
        }
        out_fini(&text);
    }
    if (!found)
        tracefs_formats_fields(formats, attr->config, s->raw, take_field, &w);
}
