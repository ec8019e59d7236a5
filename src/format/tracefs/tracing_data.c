/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/tracing_data.h"

#include "base/cursor.h"

static const uint8_t MAGIC[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

/* A NUL-terminated text; without a NUL the cursor fails. */
static struct bytes read_text(struct cursor *c) {
    size_t left = cursor_left(c);
    size_t len = left ? strnlen((const char *)c->at, left) : 0;
    if (len == left) {
        cursor_take(c, (uint64_t)left + 1);
        return (struct bytes){NULL, 0};
    }
    struct bytes text = cursor_bytes(c, len);
    cursor_take(c, 1);
    return text;
}

static bool text_is(struct bytes b, const char *s) {
    return b.size == strlen(s) && memcmp(b.data, s, b.size) == 0;
}

/* The value of the line "KEY: value" that `text` starts with, or a span without data. */
static struct bytes line_value(struct bytes line, const char *key) {
    size_t n = strlen(key);
    if (line.size < n || memcmp(line.data, key, n) != 0)
        return (struct bytes){NULL, 0};
    while (n < line.size && line.data[n] == ' ')
        n++;
    return (struct bytes){line.data + n, line.size - n};
}

static bool decimal(struct bytes text, uint64_t *out) {
    uint64_t v = 0;
    if (text.size == 0 || text.size > 18)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = v;
    return true;
}

bool tracing_line_next(struct bytes *rest, struct bytes *line) {
    if (!rest->size)
        return false;
    const uint8_t *nl = memchr(rest->data, '\n', rest->size);
    *line = (struct bytes){rest->data, nl ? (size_t)(nl - rest->data) : rest->size};
    size_t step = line->size + (nl != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return true;
}

/* A format text opens with "name: NAME" and "ID: NUMBER"; the fields come after the line "format:". */
static void read_identity(struct tracing_event *event) {
    struct bytes rest = event->format, line;
    while (tracing_line_next(&rest, &line)) {
        struct bytes value = line_value(line, "name:");
        if (value.data)
            event->name = value;
        value = line_value(line, "ID:");
        if (value.data)
            event->has_id = decimal(value, &event->id);
        if (line_value(line, "format:").data)
            return;
    }
}

static bool add_event(struct tracing_data *td, struct cursor *c, struct bytes system) {
    uint64_t size = cursor_u64(c);
    struct bytes format = cursor_bytes(c, size);
    if (!cursor_ok(c))
        return true;
    struct tracing_event *event = vec_push(&td->events);
    if (!event)
        return false;
    event->format = format;
    event->system = system;
    read_identity(event);
    return !event->has_id || hash_map_set(&td->by_id, event->id, (uint32_t)(td->events.count - 1));
}

/* False when memory ran out; damage is in the cursor. */
static bool read_events(struct tracing_data *td, struct cursor *c) {
    static const char FTRACE[] = "ftrace";
    uint32_t count = cursor_u32(c);
    for (uint32_t i = 0; i < count && cursor_ok(c); i++)
        if (!add_event(td, c, (struct bytes){(const uint8_t *)FTRACE, sizeof FTRACE - 1}))
            return false;
    td->ftrace_count = (uint32_t)td->events.count;
    uint32_t systems = cursor_u32(c);
    for (uint32_t i = 0; i < systems && cursor_ok(c); i++) {
        struct bytes name = read_text(c);
        count = cursor_u32(c);
        if (!cursor_ok(c))
            break;
        struct tracing_system *system = vec_push(&td->systems);
        if (!system)
            return false;
        system->name = name;
        system->first = (uint32_t)td->events.count;
        for (uint32_t k = 0; k < count && cursor_ok(c); k++)
            if (!add_event(td, c, name))
                return false;
        system->count = (uint32_t)td->events.count - system->first;
    }
    return true;
}

/* A part that is announced by its name; another name fails the cursor. */
static struct bytes read_named(struct cursor *c, const char *name) {
    if (!text_is(read_text(c), name))
        cursor_take(c, UINT64_MAX);
    uint64_t size = cursor_u64(c);
    return cursor_bytes(c, size);
}

bool tracing_data_parse(struct bytes blob, struct tracing_data *td, struct err *err) {
    *td = (struct tracing_data){0};
    struct cursor c = cursor_make(blob, false);
    const uint8_t *magic = cursor_take(&c, sizeof MAGIC);
    if (!magic || memcmp(magic, MAGIC, sizeof MAGIC) != 0)
        return err_set(err, ERR_BROKEN, "tracing data", "the tracepoint descriptions lack their magic");
    td->version = read_text(&c);
    uint8_t endian = cursor_u8(&c);
    if (endian > 1)
        cursor_take(&c, UINT64_MAX); /* neither order */
    td->big_endian = endian == 1;
    c.swap = td->big_endian != BYTES_HOST_BIG;
    td->long_size = cursor_u8(&c);
    td->page_size = cursor_u32(&c);
    td->header_page = read_named(&c, "header_page");
    td->header_event = read_named(&c, "header_event");
    if (cursor_ok(&c) && !read_events(td, &c))
        return err_memory(err, "tracing data");
    td->kallsyms = cursor_bytes(&c, cursor_u32(&c));
    td->printk = cursor_bytes(&c, cursor_u32(&c));
    if (!text_is(td->version, "0.5"))
        td->cmdlines = cursor_bytes(&c, cursor_u64(&c));
    td->cut = !cursor_ok(&c);
    td->size = td->cut ? blob.size : cursor_pos(&c);
    return true;
}

void tracing_data_fini(struct tracing_data *td) {
    vec_fini(&td->events);
    vec_fini(&td->systems);
    hash_map_fini(&td->by_id);
}

const struct tracing_event *tracing_data_find(const struct tracing_data *td, uint64_t id) {
    uint32_t i = hash_map_get(&td->by_id, id);
    return i == HASH_ABSENT ? NULL : &td->events.items[i];
}

/* The value of "KEY:value" among the parts of a field's line, which end with semicolons. */
static struct bytes part_value(struct bytes line, const char *key) {
    size_t n = strlen(key), at = 0;
    while (at < line.size) {
        while (at < line.size && (line.data[at] == '\t' || line.data[at] == ' '))
            at++;
        const uint8_t *start = line.data + at, *end = memchr(start, ';', line.size - at);
        size_t size = end ? (size_t)(end - start) : line.size - at;
        if (size > n && memcmp(start, key, n) == 0 && start[n] == ':')
            return (struct bytes){start + n + 1, size - n - 1};
        at += size + 1;
    }
    return (struct bytes){NULL, 0};
}

static bool is_word(uint8_t c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* The last identifier before an array's bracket, if there is one after it: "__data_loc char[] name" too. */
static struct bytes declared_name(struct bytes declaration) {
    size_t end = declaration.size;
    while (end && !is_word(declaration.data[end - 1])) {
        if (declaration.data[--end] != ']')
            continue;
        while (end && declaration.data[end - 1] != '[')
            end--;
        end -= end > 0;
    }
    size_t start = end;
    while (start && is_word(declaration.data[start - 1]))
        start--;
    return (struct bytes){declaration.data + start, end - start};
}

bool tracing_field_next(struct bytes *rest, struct tracing_field *out) {
    static const char COMMON[] = "common_";
    struct bytes line;
    while (tracing_line_next(rest, &line)) {
        uint64_t offset, size, sign = 0;
        *out = (struct tracing_field){.declaration = part_value(line, "field")};
        if (!out->declaration.data || !decimal(part_value(line, "offset"), &offset) ||
            !decimal(part_value(line, "size"), &size) || offset > INT32_MAX || size > INT32_MAX)
            continue;
        out->has_sign = decimal(part_value(line, "signed"), &sign);
        out->name = declared_name(out->declaration);
        out->offset = (uint32_t)offset;
        out->size = (uint32_t)size;
        out->is_signed = sign != 0;
        out->common =
            out->name.size >= sizeof COMMON - 1 && memcmp(out->name.data, COMMON, sizeof COMMON - 1) == 0;
        return true;
    }
    return false;
}

static void write_text(struct writer *w, struct bytes text) {
    writer_bytes_put(w, text);
    writer_u8(w, 0);
}

static void write_sized(struct writer *w, struct bytes b) {
    writer_u64(w, b.size);
    writer_bytes_put(w, b);
}

void tracing_data_encode(const struct tracing_data *td, struct writer *w) {
    bool swap = w->swap;
    w->swap = td->big_endian != BYTES_HOST_BIG;
    writer_put(w, MAGIC, sizeof MAGIC);
    write_text(w, td->version);
    writer_u8(w, td->big_endian);
    writer_u8(w, td->long_size);
    writer_u32(w, td->page_size);
    writer_put(w, "header_page", sizeof "header_page");
    write_sized(w, td->header_page);
    writer_put(w, "header_event", sizeof "header_event");
    write_sized(w, td->header_event);
    writer_u32(w, td->ftrace_count);
    for (uint32_t i = 0; i < td->ftrace_count; i++)
        write_sized(w, td->events.items[i].format);
    writer_u32(w, (uint32_t)td->systems.count);
    for (size_t s = 0; s < td->systems.count; s++) {
        const struct tracing_system *system = &td->systems.items[s];
        write_text(w, system->name);
        writer_u32(w, system->count);
        for (uint32_t i = 0; i < system->count; i++)
            write_sized(w, td->events.items[system->first + i].format);
    }
    writer_u32(w, (uint32_t)td->kallsyms.size);
    writer_bytes_put(w, td->kallsyms);
    writer_u32(w, (uint32_t)td->printk.size);
    writer_bytes_put(w, td->printk);
    if (!text_is(td->version, "0.5"))
        write_sized(w, td->cmdlines);
    w->swap = swap;
}
