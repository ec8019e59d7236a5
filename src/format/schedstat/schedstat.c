/* SPDX-License-Identifier: Apache-2.0 */
#include "format/schedstat/schedstat.h"

#include <stdio.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/text/hex.h"
#include "format/perfdata/abi.h"

enum { RECORD_HEADER = 8, CPU_BODY = 64, DOMAIN_BODY = 200 };

void schedstat_fini(struct schedstat *s) {
    vec_fini(&s->lines);
}

/* ---- text ---- */

/* The next word of a line; empty: there is none. */
static struct bytes word(struct bytes *line) {
    size_t at = 0;
    while (at < line->size && line->data[at] == ' ')
        at++;
    size_t end = at;
    while (end < line->size && line->data[end] != ' ')
        end++;
    struct bytes w = {at < end ? line->data + at : NULL, end - at};
    if (end)
        *line = (struct bytes){line->data + end, line->size - end};
    return w;
}

static bool number(struct bytes w, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < w.size; i++) {
        if (w.data[i] < '0' || w.data[i] > '9' || *out > (UINT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (w.data[i] - '0');
    }
    return w.size > 0;
}

/* The number behind a prefix: "cpu12". */
static bool numbered(struct bytes w, const char *prefix, uint64_t *out) {
    size_t n = strlen(prefix);
    return w.size > n && memcmp(w.data, prefix, n) == 0 &&
           number((struct bytes){w.data + n, w.size - n}, out) && *out <= UINT16_MAX;
}

static bool values(struct bytes rest, unsigned count, struct schedstat_line *l) {
    for (unsigned i = 0; i < count; i++)
        if (!number(word(&rest), &l->values[i]))
            return false;
    return true;
}

/* What has been read so far. */
struct parsing {
    uint64_t version, timestamp, cpu;
    bool any_cpu;
};

static bool is(struct bytes w, const char *text) {
    return w.size == strlen(text) && memcmp(w.data, text, w.size) == 0;
}

static bool parse_line(struct bytes line, struct parsing *p, struct schedstat *s, struct err *err) {
    struct bytes rest = line, first = word(&rest);
    uint64_t n = 0;
    if (is(first, "version"))
        return number(word(&rest), &p->version) ||
               err_set(err, ERR_BROKEN, "schedstat", "the version is no number");
    if (is(first, "timestamp"))
        return number(word(&rest), &p->timestamp) ||
               err_set(err, ERR_BROKEN, "schedstat", "the timestamp is no number");
    bool cpu = numbered(first, "cpu", &n), domain = !cpu && numbered(first, "domain", &n);
    if (!cpu && !domain)
        return true; /* what later versions may add */
    if (!schedstat_kind_fields((unsigned)p->version))
        return err_set(err, ERR_UNSUPPORTED, "schedstat", "version %llu is not known",
                       (unsigned long long)p->version);
    if (domain && !p->any_cpu)
        return err_set(err, ERR_BROKEN, "schedstat", "a domain before the first CPU");
    struct schedstat_line *l = vec_push(&s->lines);
    if (!l)
        return err_memory(err, "schedstat");
    p->cpu = cpu ? n : p->cpu;
    p->any_cpu = true;
    l->cpu = (uint32_t)p->cpu;
    l->is_domain = domain;
    l->domain = domain ? (uint16_t)n : 0;
    l->version = (uint16_t)p->version;
    l->timestamp = p->timestamp;
    if (domain && p->version >= 17)
        l->name = word(&rest);
    if (domain)
        l->mask = word(&rest);
    return values(rest, domain ? schedstat_domain_fields(l->version) : SCHEDSTAT_CPU_FIELDS, l) ||
           err_set(err, ERR_BROKEN, "schedstat", "a line has too few numbers");
}

bool schedstat_parse(struct bytes text, struct schedstat *s, struct err *err) {
    struct parsing p = {0};
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t n = end ? (size_t)(end - text.data) : text.size;
        if (!parse_line((struct bytes){text.data, n}, &p, s, err))
            return false;
        n += end != NULL;
        text = (struct bytes){text.data + n, text.size - n};
    }
    return s->lines.count || err_set(err, ERR_BROKEN, "schedstat", "it has no CPU");
}

/* ---- records ---- */

static void encode(const struct schedstat_line *l, struct writer *w) {
    size_t begin = w->size, size = RECORD_HEADER + (l->is_domain ? DOMAIN_BODY : CPU_BODY);
    writer_u32(w, l->is_domain ? PERFDATA_RECORD_SCHEDSTAT_DOMAIN : PERFDATA_RECORD_SCHEDSTAT_CPU);
    writer_u16(w, 0);
    writer_u16(w, (uint16_t)size);
    writer_u64(w, l->timestamp);
    writer_u32(w, l->cpu);
    writer_u16(w, l->version);
    writer_u16(w, l->domain);
    unsigned count = l->is_domain ? schedstat_domain_fields(l->version) : SCHEDSTAT_CPU_NARROW;
    for (unsigned i = 0; i < count; i++)
        writer_u32(w, (uint32_t)l->values[i]);
    for (unsigned i = count; !l->is_domain && i < SCHEDSTAT_CPU_FIELDS; i++)
        writer_u64(w, l->values[i]);
    writer_zero(w, size - (w->size - begin));
}

void schedstat_encode(const struct schedstat *s, struct writer *w) {
    for (size_t i = 0; i < s->lines.count && writer_ok(w); i++)
        encode(&s->lines.items[i], w);
}

bool schedstat_decode(const struct perfdata_raw *raw, bool swap, struct schedstat_line *out) {
    bool domain = raw->type == PERFDATA_RECORD_SCHEDSTAT_DOMAIN;
    struct cursor c = cursor_make(raw->body, swap);
    if (!domain && raw->type != PERFDATA_RECORD_SCHEDSTAT_CPU)
        return false;
    *out = (struct schedstat_line){.is_domain = domain};
    out->timestamp = cursor_u64(&c);
    out->cpu = cursor_u32(&c);
    out->version = cursor_u16(&c);
    out->domain = cursor_u16(&c);
    if (!cursor_ok(&c) || !schedstat_kind_fields(out->version))
        return false;
    unsigned count = domain ? schedstat_domain_fields(out->version) : SCHEDSTAT_CPU_NARROW;
    for (unsigned i = 0; i < count; i++)
        out->values[i] = cursor_u32(&c);
    for (unsigned i = count; !domain && i < SCHEDSTAT_CPU_FIELDS; i++)
        out->values[i] = cursor_u64(&c);
    return cursor_ok(&c);
}

/* ---- sums ---- */

static uint64_t key_of(const struct schedstat_line *l) {
    return (uint64_t)l->cpu << 17 | (uint64_t)l->is_domain << 16 | l->domain;
}

/* Counters of 32 bits go round. */
static void subtract(struct schedstat_line *first, const struct schedstat_line *last) {
    for (unsigned i = 0; i < SCHEDSTAT_DOMAIN_FIELDS; i++) {
        bool wide = !first->is_domain && i >= SCHEDSTAT_CPU_NARROW;
        uint64_t d = last->values[i] - first->values[i];
        first->values[i] = !wide ? (uint32_t)d : last->values[i] < first->values[i] ? 0 : d;
    }
    first->timestamp = last->timestamp >= first->timestamp ? last->timestamp - first->timestamp : 0;
}

bool schedstat_span(const struct schedstat *all, struct schedstat *out) {
    struct hash_map latest = {0}, places = {0};
    bool ok = true;
    for (size_t i = 0; i < all->lines.count && ok; i++) {
        const struct schedstat_line *l = &all->lines.items[i];
        if (hash_map_get(&places, key_of(l)) == HASH_ABSENT) {
            struct schedstat_line *first = vec_push(&out->lines);
            ok = first && hash_map_set(&places, key_of(l), (uint32_t)out->lines.count - 1);
            if (ok)
                *first = *l;
        }
        ok = ok && hash_map_set(&latest, key_of(l), (uint32_t)i);
    }
    for (size_t i = 0; i < out->lines.count && ok; i++) {
        struct schedstat_line *first = &out->lines.items[i];
        subtract(first, &all->lines.items[hash_map_get(&latest, key_of(first))]);
    }
    hash_map_fini(&latest);
    hash_map_fini(&places);
    return ok;
}

void schedstat_mask_list(struct bytes mask, char room[SCHEDSTAT_LIST_ROOM]) {
    size_t used = 0, cpu = 0, begin = SIZE_MAX;
    room[0] = 0;
    /* From the last digit on, and one bit beyond, which ends the last range. */
    for (size_t at = mask.size + 1; at-- > 0;) {
        if (at && mask.data[at - 1] == ',')
            continue;
        unsigned digit = at ? hex_digit(mask.data[at - 1]) : HEX_NONE, bits = digit == HEX_NONE ? 0 : digit;
        for (unsigned b = 0; b < 4; b++, cpu++) {
            bool is = bits >> b & 1;
            if (is && begin == SIZE_MAX)
                begin = cpu;
            if (is || begin == SIZE_MAX)
                continue;
            char one[48];
            int n = cpu - begin > 1 ? snprintf(one, sizeof one, "%s%zu-%zu", used ? "," : "", begin, cpu - 1)
                                    : snprintf(one, sizeof one, "%s%zu", used ? "," : "", begin);
            if (used + (size_t)n + sizeof "..." > SCHEDSTAT_LIST_ROOM) {
                memcpy(room + used, "...", sizeof "...");
                return;
            }
            memcpy(room + used, one, (size_t)n + 1);
            used += (size_t)n;
            begin = SIZE_MAX;
        }
    }
}
