/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tracefs/tracefs_formats.h"

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "format/tracefs/print_check.h"
#include "format/tracefs/print_short.h"

enum {
    RAW_MAX = 65536,        /* a record's size is 16 bits, so are a dynamic field's offset and length */
    SCRATCH_SIZE = 1 << 20, /* more than the checked formats let the library reach */
    FORMAT_MAX = 1 << 20,   /* bytes; the kernel's largest are some 50 KB */
    FIELDS_MAX = 256,       /* of an event */
};

struct length {
    uint32_t offset, size; /* of the field in the raw data */
};

struct known_event {
    struct tep_event *event;        /* NULL: not printable */
    uint32_t type_size;             /* bytes of common_type, which is at the start */
    uint32_t needed;                /* bytes of raw data that its fields take */
    uint32_t first_length, lengths; /* in formats.lengths: fields that say how long something is */
};

struct tracefs_formats {
    const struct tracing_data *td;
    tracefs_symbol_fn *symbol;
    void *symbol_ctx;
    struct tep_handle *tep; /* NULL until the first print */
    struct trace_seq seq;
    uint8_t *scratch; /* zero but for the record being printed */
    struct hash_map by_id;
    VEC(struct known_event) events;
    VEC(struct length) lengths;
};

struct tracefs_formats *tracefs_formats_new(const struct tracing_data *td, tracefs_symbol_fn *symbol,
                                            void *ctx, struct err *err) {
    struct tracefs_formats *f = calloc(1, sizeof *f);
    if (!f) {
        err_memory(err, "tracepoint formats");
        return NULL;
    }
    f->td = td;
    f->symbol = symbol;
    f->symbol_ctx = ctx;
    return f;
}

void tracefs_formats_free(struct tracefs_formats *f) {
    if (!f)
        return;
    if (f->tep) {
        trace_seq_destroy(&f->seq);
        tep_free(f->tep);
    }
    free(f->scratch);
    hash_map_fini(&f->by_id);
    vec_fini(&f->events);
    vec_fini(&f->lengths);
    free(f);
}

/* The library's way to ask for a function's name. It does not change the text. */
static char *resolve(void *priv, unsigned long long *address, char **module) {
    struct tracefs_formats *f = priv;
    uint64_t start = *address;
    const char *name = f->symbol(f->symbol_ctx, *address, &start);
    *module = NULL;
    *address = start;
    return (char *)name;
}

/*
 * Tells the library the kernel's constant strings, which records give by address: lines of "0xADDRESS :
 * "TEXT"". The library cuts \n" off the end of each, and looks in front of texts that are shorter than that:
 * so it is put there.
 */
static void register_strings(struct tep_handle *tep, struct bytes printk) {
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return;
    struct bytes line;
    while (tracing_line_next(&printk, &line)) {
        const uint8_t *colon = line.size ? memchr(line.data, ':', line.size) : NULL;
        size_t at = colon ? (size_t)(colon - line.data) + 1 : line.size;
        while (at < line.size && (line.data[at] == ' ' || line.data[at] == '"'))
            at++;
        size_t end = line.size;
        while (end > at && line.data[end - 1] == '"')
            end--;
        if (!colon || memchr(line.data, 0, line.size))
            continue;
        text.len = 0;
        out_mem(&text, (const char *)line.data + at, end - at);
        if (end - at < 2 || memcmp(line.data + end - 2, "\\n", 2) != 0)
            out_str(&text, "\\n");
        out_char(&text, '"');
        char digits[24] = "";
        memcpy(digits, line.data, at < sizeof digits ? at : sizeof digits - 1);
        if (tep_register_print_string(tep, out_text(&text), strtoull(digits, NULL, 16)) != 0)
            break;
    }
    out_fini(&text);
}

static bool start(struct tracefs_formats *f) {
    f->scratch = calloc(1, SCRATCH_SIZE);
    struct tep_handle *tep = f->scratch ? tep_alloc() : NULL;
    if (tep) {
        tep_set_loglevel(TEP_LOG_NONE);
        tep_set_file_bigendian(tep, f->td->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
        tep_set_local_bigendian(tep, BYTES_HOST_BIG ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
        tep_set_long_size(tep, f->td->long_size == 4 ? 4 : 8);
        tep_set_page_size(tep, (int)(f->td->page_size <= FORMAT_MAX ? f->td->page_size : 4096));
        if (f->symbol)
            tep_set_function_resolver(tep, resolve, f);
        register_strings(tep, f->td->printk);
        trace_seq_init(&f->seq);
    }
    f->tep = tep;
    return tep != NULL;
}

/* --- formats --- */

/*
 * The text after "print fmt:", which is the rest of the format. Tabs within quotes, which releases
 * before 1.8 cannot parse (maple_tree's formats have them), become the escape that they all know; short
 * signed fields get their conversions (print_short.h).
 */
static void write_print(struct out *o, struct bytes print, const struct tracing_field *fields, size_t count) {
    bool quoted = false, escaped = false;
    struct print_short next;
    print_short_init(&next, print, fields, count);
    bool more = print_short_next(&next);
    for (size_t i = 0; i < print.size; i++) {
        char c = (char)print.data[i];
        if (more && i == next.at) {
            out_str(o, next.modifier);
            more = print_short_next(&next);
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        if (c == '\t' && quoted)
            out_str(o, "\\t");
        else
            out_char(o, c);
    }
}

/* The size of an element of a probe's array ("s32 name[]"), of which the format gives neither that nor the
 * number of elements, and whose type the library does not know. 0: the field is no such array. */
static uint32_t probe_element(struct bytes declaration) {
    static const char *const TYPES[] = {"u8 ", "s8 ", "u16 ", "s16 ", "u32 ", "s32 ", "u64 ", "s64 "};
    if (declaration.size < 2 || memcmp(declaration.data + declaration.size - 2, "[]", 2) != 0)
        return 0;
    for (uint32_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (declaration.size > strlen(TYPES[i]) && !memcmp(declaration.data, TYPES[i], strlen(TYPES[i])))
            return 1u << i / 2;
    return 0;
}

static void write_fields(struct out *o, const struct tracing_field *fields, size_t count, bool common) {
    for (size_t i = 0; i < count; i++) {
        const struct tracing_field *f = &fields[i];
        if (f->common != common)
            continue;
        out_str(o, "\tfield:");
        uint32_t element = probe_element(f->declaration);
        out_mem(o, (const char *)f->declaration.data, f->declaration.size - (element ? 1 : 0));
        if (element)
            out_printf(o, "%u]", f->size / element);
        out_printf(o, ";\toffset:%u;\tsize:%u;", f->offset, f->size);
        if (f->has_sign)
            out_printf(o, "\tsigned:%d;", f->is_signed);
        out_char(o, '\n');
    }
    out_char(o, '\n');
}

static struct bytes print_text(struct bytes format) {
    static const char KEY[] = "print fmt:";
    struct bytes line;
    struct bytes rest = format;
    while (tracing_line_next(&rest, &line)) {
        if (line.size < sizeof KEY - 1 || memcmp(line.data, KEY, sizeof KEY - 1) != 0)
            continue;
        const uint8_t *start = line.data + sizeof KEY - 1;
        return (struct bytes){start, (size_t)(format.data + format.size - start)};
    }
    return (struct bytes){NULL, 0};
}

/* The fields that the library can be told of, common_type first among them; how many. */
static size_t read_fields(struct bytes format, struct tracing_field *fields, struct known_event *k) {
    size_t count = 0;
    struct tracing_field f;
    while (count < FIELDS_MAX && tracing_field_next(&format, &f)) {
        if (f.offset > RAW_MAX || f.size > RAW_MAX || !print_check_declaration(f.declaration))
            continue;
        if (f.offset == 0 && (f.size == 2 || f.size == 4))
            k->type_size = f.size;
        if (f.offset + f.size > k->needed)
            k->needed = f.offset + f.size;
        fields[count++] = f;
    }
    return count;
}

/*
 * What the library made of the arrays: it divides by the size of an element, and takes 16 bits of place and
 * 16 of length out of a dynamic one whatever its size.
 */
static bool arrays_are_tame(const struct tep_event *event) {
    for (const struct tep_format_field *f = event->format.fields; f; f = f->next) {
        if (f->flags & TEP_FIELD_IS_DYNAMIC) {
            if (f->size != 4)
                return false;
        } else if (f->flags & TEP_FIELD_IS_ARRAY && (f->arraylen > RAW_MAX || (f->size && !f->elementsize))) {
            return false;
        }
    }
    return true;
}

static bool keep_lengths(struct tracefs_formats *f, struct known_event *k, const struct print_check *c) {
    k->first_length = (uint32_t)f->lengths.count;
    for (uint32_t i = 0; i < c->length_count; i++) {
        struct length *length = vec_push(&f->lengths);
        if (!length)
            return false;
        *length = (struct length){c->fields[c->lengths[i]].offset, c->fields[c->lengths[i]].size};
        k->lengths++;
    }
    return true;
}

/*
 * Makes `k` of a format that is seen for the first time; k->event stays NULL when it is not to be printed.
 * The library gets a text written here, of what was checked alone. A print format that it is not to see is
 * left out, and the event marked as one that could not be parsed: the library then prints the fields, one by
 * one.
 */
static void meet(struct tracefs_formats *f, const struct tracing_event *described, struct known_event *k) {
    struct tracing_field fields[FIELDS_MAX];
    size_t count = read_fields(described->format, fields, k);
    struct print_check check = {.fields = fields, .field_count = count};
    struct bytes print = print_text(described->format);
    struct out text;
    if (described->id > UINT16_MAX || described->format.size > FORMAT_MAX || !k->type_size ||
        !out_init(&text, NULL, NULL))
        return;
    bool good = print_check_ok(&check, print) && keep_lengths(f, k, &check);
    out_printf(&text, "name: event_%u\nID: %u\nformat:\n", (unsigned)described->id, (unsigned)described->id);
    write_fields(&text, fields, count, true);
    write_fields(&text, fields, count, false);
    out_str(&text, "print fmt:");
    write_print(&text, good ? print : (struct bytes){(const uint8_t *)" \"\"\n", 4}, fields, count);
    if (!text.failed)
        tep_parse_event(f->tep, out_text(&text), text.len, "recorded");
    out_fini(&text);
    k->event = tep_find_event(f->tep, (int)described->id);
    if (k->event && !arrays_are_tame(k->event))
        k->event = NULL;
    if (k->event && !good)
        k->event->flags |= (int)TEP_EVENT_FL_FAILED;
}

static const struct known_event *find(struct tracefs_formats *f, uint64_t id) {
    uint32_t i = hash_map_get(&f->by_id, id);
    if (i != HASH_ABSENT)
        return &f->events.items[i];
    const struct tracing_event *described = tracing_data_find(f->td, id);
    if (!described || (!f->tep && !start(f)))
        return NULL;
    struct known_event *k = vec_push(&f->events);
    if (!k)
        return NULL;
    if (!hash_map_set(&f->by_id, id, (uint32_t)(f->events.count - 1))) {
        f->events.count--;
        return NULL;
    }
    meet(f, described, k);
    return k;
}

static uint64_t load(const struct tracefs_formats *f, struct bytes raw, uint32_t at, uint32_t size) {
    bool swap = f->td->big_endian != BYTES_HOST_BIG;
    switch (size) {
    case 1:
        return raw.data[at];
    case 2:
        return bytes_load16(raw.data + at, swap);
    case 4:
        return bytes_load32(raw.data + at, swap);
    case 8:
        return bytes_load64(raw.data + at, swap);
    default:
        return UINT64_MAX;
    }
}

/* The event that a record is of; NULL when the record cannot be read as one of it. */
static const struct known_event *event_of(struct tracefs_formats *f, uint64_t id, struct bytes raw) {
    const struct known_event *k = find(f, id);
    /* The record names its event again, in its common_type; the library goes by that. */
    bool good =
        k && k->event && raw.size >= k->needed && raw.size <= RAW_MAX && load(f, raw, 0, k->type_size) == id;
    return good ? k : NULL;
}

/* True when all was written; memory that ran out is for the next record to have again. */
static bool written(struct tracefs_formats *f) {
    if (f->seq.state == TRACE_SEQ__GOOD)
        return true;
    trace_seq_destroy(&f->seq);
    trace_seq_init(&f->seq);
    return false;
}

bool tracefs_formats_fields(struct tracefs_formats *f, uint64_t id, struct bytes raw, tracefs_field_fn *fn,
                            void *ctx) {
    const struct known_event *k = event_of(f, id, raw);
    if (!k)
        return false;
    memcpy(f->scratch, raw.data, raw.size);
    for (struct tep_format_field *field = k->event->format.fields; field; field = field->next) {
        trace_seq_reset(&f->seq);
        tep_print_field_content(&f->seq, f->scratch, (int)raw.size, field);
        if (written(f))
            fn(ctx, field->name, f->seq.buffer, f->seq.len);
    }
    memset(f->scratch, 0, raw.size);
    return true;
}

bool tracefs_formats_print(struct tracefs_formats *f, uint64_t id, int cpu, struct bytes raw, struct out *o) {
    const struct known_event *k = event_of(f, id, raw);
    if (!k)
        return false;
    int flags = k->event->flags;
    for (uint32_t i = 0; i < k->lengths; i++) {
        const struct length *l = &f->lengths.items[k->first_length + i];
        if (load(f, raw, l->offset, l->size) > PRINT_CHECK_LENGTH_MAX)
            k->event->flags |= (int)TEP_EVENT_FL_FAILED; /* for this record only */
    }
    memcpy(f->scratch, raw.data, raw.size);
    struct tep_record record = {.data = f->scratch, .size = (int)raw.size, .cpu = cpu};
    trace_seq_reset(&f->seq);
    tep_print_event(f->tep, &f->seq, &record, "%s", TEP_PRINT_INFO);
    memset(f->scratch, 0, raw.size);
    k->event->flags = flags;
    if (!written(f))
        return false;
    out_mem(o, f->seq.buffer, f->seq.len);
    return true;
}
