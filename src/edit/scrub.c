/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/scrub.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/perfdata/header/feature.h"

#define KERNEL_FROM 0xffff000000000000u
#define FIXED_FROM  0xffffffffff000000u /* vsyscall, context markers of callchains */
#define USER_FROM   ((uint64_t)1 << 36)
#define USER_TO     ((uint64_t)1 << 57) /* five-level page tables */

enum { LENGTH_MAX = 256, WORD = sizeof(uint64_t) };

struct edit_scrub {
    struct stream *in;
    uint64_t user_up, kernel_down;
    struct hash_map words;       /* name of a folder -> its number among those of its length */
    uint32_t counts[LENGTH_MAX]; /* how many names of each length */
    struct hash_map highs;       /* the upper halves of the user addresses at which something was mapped */
    uint64_t low_start, low_end; /* what was mapped below USER_FROM */
    struct copy_editor editor;
    uint64_t left_out; /* records */
    bool no_memory;
};

/* ---- paths ---- */

/* Replaces a word by another one of its length. All one-letter words become the same. */
static void rename_word(struct edit_scrub *s, uint8_t *text, size_t size) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    enum { BASE = sizeof digits - 1 };
    uint64_t key = hash_bytes(text, size) ^ size;
    uint32_t number = hash_map_get(&s->words, key);
    if (number == HASH_ABSENT) {
        number = s->counts[size < LENGTH_MAX ? size : 0]++;
        s->no_memory |= !hash_map_set(&s->words, key, number);
    }
    for (size_t i = size; i-- > 0; number /= BASE)
        text[i] = (uint8_t)(i || size == 1 ? digits[number % BASE] : 'x');
}

static bool begins(const uint8_t *text, size_t size, const char *with) {
    size_t n = strlen(with);
    return size >= n && !memcmp(text, with, n);
}

/* True of names given by the kernel, and those by which readers recognise what is no file. */
static bool is_special(const uint8_t *text, size_t size) {
    static const char *const kept[] = {"//",      "/dev/zero", "/anon_hugepage", "/SYSV",
                                       "/memfd:", "/[aio]",    "/lib/modules/",  "/tmp/perf-"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (begins(text, size, kept[i]))
            return true;
    return false;
}

void edit_scrub_path(struct edit_scrub *s, uint8_t *text, size_t size, bool whole) {
    if (!size || *text != '/' || is_special(text, size))
        return;
    for (size_t at = 1; at < size;) {
        const uint8_t *slash = memchr(text + at, '/', size - at);
        size_t end = slash ? (size_t)(slash - text) : size;
        if (end > at && (slash || whole))
            rename_word(s, text + at, end - at);
        at = end + 1;
    }
}

void edit_scrub_strings(struct edit_scrub *s, uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        const uint8_t *slash = memchr(bytes + at, '/', size - at);
        if (!slash)
            return;
        size_t start = (size_t)(slash - bytes), end = start;
        while (end < size && bytes[end] > ' ' && bytes[end] < 0x7f)
            end++;
        bool begun = start && bytes[start - 1] > ' ' && bytes[start - 1] < 0x7f;
        if (!begun && end - start > 1 && (end == size || !bytes[end] || bytes[end] == '\n'))
            edit_scrub_path(s, bytes + start, end - start, false);
        at = end + 1;
    }
}

/* ---- addresses ---- */

uint64_t edit_scrub_address(const struct edit_scrub *s, uint64_t a) {
    if (a >= USER_FROM && a < USER_TO)
        return a + s->user_up;
    if (a >= USER_TO && !(a >> 63)) /* not an address on any CPU: text that was taken for a caller's */
        return USER_TO;
    return a >= KERNEL_FROM + s->kernel_down && a < FIXED_FROM ? a - s->kernel_down : a;
}

static uint64_t load(const uint8_t *at) {
    return bytes_load64(at, false);
}

static void store(uint8_t *at, uint64_t v) {
    memcpy(at, &v, WORD);
}

static void move_word(const struct edit_scrub *s, uint8_t *at) {
    store(at, edit_scrub_address(s, load(at)));
}

static int digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void edit_scrub_digits(const struct edit_scrub *s, uint8_t *text, size_t size) {
    enum { DIGITS = 16 };
    for (size_t at = 0; at < size;) {
        uint64_t address = 0;
        size_t end = at;
        for (; end < size && digit(text[end]) >= 0; end++)
            address = address << 4 | (uint64_t)digit(text[end]);
        if (end - at == DIGITS && address >= KERNEL_FROM) {
            address = edit_scrub_address(s, address);
            for (unsigned i = 0; i < DIGITS; i++)
                text[at + i] = (uint8_t) "0123456789abcdef"[address >> 4 * (DIGITS - 1 - i) & 15];
        }
        at = end + 1;
    }
}

void edit_scrub_lines(const struct edit_scrub *s, uint8_t *text, size_t size) {
    static const char boot[] = "boot\t";
    const uint8_t *found = memmem(text, size, boot, sizeof boot - 1);
    size_t at = found ? (size_t)(found - text) + sizeof boot - 1 : size;
    for (; at < size && text[at] != '\n'; at++)
        text[at] = text[at] == '-' ? '-' : '0';
    edit_scrub_digits(s, text, size);
}

/* True of a word of data that is the address of something mapped, or of a stack. */
static bool is_address(const struct edit_scrub *s, uint64_t word) {
    if (word < USER_FROM)
        return word >= s->low_start && word < s->low_end;
    return word >= KERNEL_FROM || (word < USER_TO && hash_map_get(&s->highs, word >> 32) != HASH_ABSENT);
}

static void clean_words(const struct edit_scrub *s, uint8_t *at, size_t count) {
    for (size_t i = 0; i < count; i++, at += WORD)
        store(at, is_address(s, load(at)) ? edit_scrub_address(s, load(at)) : 0);
}

/* ---- records: in a copy, which decoded values point into ---- */

static uint8_t *writable(const uint8_t *p) {
    return (uint8_t *)(uintptr_t)p;
}

static void scrub_name(struct edit_scrub *s, struct bytes area, bool whole) {
    edit_scrub_path(s, writable(area.data), bytes_text_len(area), whole);
}

static void note_mapping(struct edit_scrub *s, uint64_t start, uint64_t size) {
    enum { PARTS_MAX = 64 };
    if (start >= USER_FROM) {
        for (uint64_t i = start >> 32; i <= (start + size) >> 32 && i < (start >> 32) + PARTS_MAX; i++)
            s->no_memory |= !hash_map_set(&s->highs, i, 0);
    } else if (size < USER_FROM) {
        s->low_start = s->low_end && s->low_start < start ? s->low_start : start;
        s->low_end = s->low_end > start + size ? s->low_end : start + size;
    }
}

/* Scrubs a tracepoint's fields: numbers that may be addresses, texts that may be paths. */
static void scrub_raw(struct edit_scrub *s, struct bytes raw) {
    for (size_t at = 0; at + WORD <= raw.size; at += WORD) {
        uint64_t word = load(raw.data + at);
        if (word >= USER_FROM && is_address(s, word))
            move_word(s, writable(raw.data + at));
    }
    edit_scrub_strings(s, writable(raw.data), raw.size);
}

static void scrub_regs(const struct edit_scrub *s, const struct perfdata_regs *regs) {
    clean_words(s, writable(regs->values.data), regs->values.count);
}

/* Remembers the memory that registers point to: the stack pointer points to the stack. */
static void note_registers(struct edit_scrub *s, const struct perfdata_regs *regs) {
    for (uint64_t i = 0; i < regs->values.count; i++) {
        uint64_t v = perfdata_u64_at(&regs->values, i);
        if (v >= USER_FROM && v < USER_TO && v % WORD == 0)
            s->no_memory |= !hash_map_set(&s->highs, v >> 32, 0);
    }
}

/* Scrubs a sample. False: its contents are not known. */
static bool scrub_sample(struct edit_scrub *s, const struct perfdata_plan *plan, struct bytes body) {
    enum { BRANCH = 24, FROM = 0, TO = 8 };
    struct perfdata_sample x = {0};
    if (!plan || !perfdata_sample_decode(plan, body, UINT64_MAX, &x))
        return false;
    if (x.have & PERFDATA_SAMPLE_IP)
        move_word(s, writable(body.data + plan->ip_at));
    if (x.have & PERFDATA_SAMPLE_ADDR)
        move_word(s, writable(body.data + plan->addr_at));
    for (uint64_t i = 0; i < x.callchain.count; i++)
        move_word(s, writable(x.callchain.data + WORD * i));
    for (uint64_t i = 0; i < x.branch_count; i++) {
        move_word(s, writable(x.branches + BRANCH * i + FROM));
        move_word(s, writable(x.branches + BRANCH * i + TO));
    }
    note_registers(s, &x.regs_user);
    clean_words(s, writable(x.stack_user.data), x.stack_user.size / WORD);
    scrub_regs(s, &x.regs_user);
    scrub_regs(s, &x.regs_intr);
    scrub_raw(s, x.raw);
    return true;
}

/* Record types with an address at a fixed offset in the body. */
static const struct {
    uint32_t type;
    uint8_t at;
} places[] = {
    {PERFDATA_RECORD_MMAP, 8},      {PERFDATA_RECORD_MMAP2, 8},        {PERFDATA_RECORD_KSYMBOL, 0},
    {PERFDATA_RECORD_TEXT_POKE, 0}, {PERFDATA_RECORD_KMOD_SEC_MAP, 8},
};

static void scrub_fields(struct edit_scrub *s, const struct perfdata_record *rec, uint8_t *body) {
    enum { PGOFF_AT = 24 };
    bool kernel = (rec->misc & PERFDATA_MISC_CPUMODE_MASK) != PERFDATA_MISC_USER;
    struct bytes section, file;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].type == rec->type)
            move_word(s, body + places[i].at);
    switch (rec->type) {
    case PERFDATA_RECORD_MMAP:
    case PERFDATA_RECORD_MMAP2:
        if (kernel)
            move_word(s, body + PGOFF_AT); /* in the kernel's own map: the reference symbol's address */
        scrub_name(s, rec->type == PERFDATA_RECORD_MMAP ? rec->mmap.filename : rec->mmap2.filename, false);
        if (kernel && rec->type == PERFDATA_RECORD_MMAP2)
            edit_scrub_lines(s, writable(rec->mmap2.filename.data), rec->mmap2.filename.size);
        break;
    case PERFDATA_RECORD_CGROUP:
        scrub_name(s, rec->cgroup.path, true);
        break;
    case PERFDATA_RECORD_HEADER_BUILD_ID:
        scrub_name(s, rec->build_id.filename, false);
        break;
    case PERFDATA_RECORD_CALLCHAIN_DEFERRED:
        for (uint64_t i = 0; i < rec->callchain_deferred.ips.count; i++)
            move_word(s, writable(rec->callchain_deferred.ips.data + WORD * i));
        break;
    case PERFDATA_RECORD_KMOD_SEC_MAP:
        if (perfdata_kmod_names(&rec->kmod_sec_map, &section, &file))
            scrub_name(s, file, false);
        break;
    default:
        break;
    }
}

static bool is_trace(uint32_t type) {
    return type == PERFDATA_RECORD_AUX || type == PERFDATA_RECORD_AUXTRACE ||
           type == PERFDATA_RECORD_AUXTRACE_INFO;
}

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_scrub *s = ctx;
    const struct perfdata_events *events = stream_events(s->in);
    if (!r)
        return !s->no_memory || err_memory(err, "archive --scrub");
    if (is_trace(r->raw.type) || r->raw.type >= PERFDATA_RECORD_SIMPLEPERF_START || r->legacy)
        return err_set(err, ERR_UNSUPPORTED, stream_path(s->in),
                       "its records of type %u may hold addresses that are not found", r->raw.type);
    *keep = false;
    writer_put(before, r->raw.body.data - PERFDATA_HEADER_SIZE, r->raw.size + r->raw.payload.size);
    if (!writer_ok(before))
        return err_memory(err, "archive --scrub");
    uint8_t *body = before->data + PERFDATA_HEADER_SIZE;
    struct perfdata_raw raw = r->raw;
    raw.body.data = body;
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    struct perfdata_record rec;
    bool known =
        raw.type == PERFDATA_RECORD_SAMPLE
            ? scrub_sample(s, plan, raw.body)
            : perfdata_record_known(raw.type) && perfdata_record_decode(&raw, plan, false, &rec, NULL);
    if (!known) { /* readers cannot use it, and its addresses cannot be found */
        s->left_out++;
        writer_clear(before);
    }
    if (!known || raw.type == PERFDATA_RECORD_SAMPLE)
        return true;
    if (rec.type == PERFDATA_RECORD_MMAP || rec.type == PERFDATA_RECORD_MMAP2)
        note_mapping(s, load(body + 8), load(body + 16));
    scrub_fields(s, &rec, body);
    return true;
}

uint64_t edit_scrub_left_out(const struct edit_scrub *s) {
    return s->left_out;
}

/* ---- making ---- */

struct edit_scrub *edit_scrub_new(uint64_t random, struct stream *in, struct err *err) {
    enum { PAGE_BITS = 12, USER_BITS = 36, KERNEL_SHIFT = 21, KERNEL_PLACES = 511 };
    struct edit_scrub *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(err, "archive --scrub");
        return NULL;
    }
    s->in = in;
    s->editor = (struct copy_editor){edit, s};
    s->user_up = (hash_u64(random) >> (64 - USER_BITS)) >> PAGE_BITS << PAGE_BITS;
    s->kernel_down = (1 + hash_u64(~random) % KERNEL_PLACES) << KERNEL_SHIFT;
    return s;
}

void edit_scrub_free(struct edit_scrub *s) {
    if (!s)
        return;
    hash_map_fini(&s->words);
    hash_map_fini(&s->highs);
    free(s);
}

const struct copy_editor *edit_scrub_editor(struct edit_scrub *s) {
    return &s->editor;
}
