/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/scrub_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "edit/scrub.h"
#include "format/jitdump/jitdump.h"
#include "format/perfdata/added/kept.h"
#include "format/perfdata/header/feature.h"
#include "object/compressed.h"
#include "object/elf.h"
#include "os/files/files.h"
#include "os/files/output.h"
#include "os/files/place.h"

/* The parts of the copy: the input's head, its records, and what followed them up to the trailer. */
enum phase { HEAD, RECORDS, TAIL };

struct scrubbing {
    struct recording *recording;
    const char *path; /* of the output */
    struct edit_scrub *scrub;
    struct copy_editor editor; /* the scrub's, which also notes where the records end */
    struct os_output output;
    uint64_t at; /* bytes written */
    enum phase phase;
};

/* ---- features: what the header says of the machine and the command ---- */

/* Replaces texts that each follow the size of their buffer. */
static void replace_texts(uint8_t *content, size_t size, size_t at, const char *with) {
    while (at + sizeof(uint32_t) <= size) {
        uint32_t room = bytes_load32(content + at, false);
        at += sizeof room;
        room = room < size - at ? room : (uint32_t)(size - at);
        memset(content + at, 0, room);
        size_t n = strlen(with);
        memcpy(content + at, with, room > n ? n : room ? room - 1 : 0);
        at += room;
    }
}

static void scrub_build_ids(struct edit_scrub *s, uint8_t *content, size_t size) {
    enum { SIZE_AT = 6, NAME_AT = 36 };
    for (size_t at = 0; size - at >= NAME_AT;) {
        size_t entry = bytes_load16(content + at + SIZE_AT, false);
        if (entry < NAME_AT || entry > size - at)
            return;
        struct bytes name = {content + at + NAME_AT, entry - NAME_AT};
        edit_scrub_path(s, content + at + NAME_AT, bytes_text_len(name), false);
        at += entry;
    }
}

static void scrub_feature(struct edit_scrub *s, uint32_t id, uint8_t *content, size_t size) {
    switch (id) {
    case PERFDATA_FEATURE_HOSTNAME:
        replace_texts(content, size, 0, "host");
        break;
    case PERFDATA_FEATURE_CMDLINE:
        replace_texts(content, size, sizeof(uint32_t), "x");
        break;
    case PERFDATA_FEATURE_BUILD_ID:
        scrub_build_ids(s, content, size);
        break;
    case PERFDATA_FEATURE_BPF_PROG_INFO: /* the kernel's code and addresses */
    case PERFDATA_FEATURE_BPF_BTF:
        memset(content, 0, size);
        break;
    case PERFDATA_FEATURE_TRACING_DATA:
        edit_scrub_digits(s, content, size);
        break;
    default:
        break;
    }
}

/* Scrubs the features whose contents are in `part`, a copy of the input from `start` on. */
static void scrub_features(struct scrubbing *x, uint8_t *part, uint64_t start, size_t size) {
    const struct perfdata_header *h = stream_header(x->recording->stream);
    for (size_t i = 0; i < h->features.count; i++) {
        const struct perfdata_feature *f = &h->features.items[i];
        uint64_t at = f->section.offset - start;
        if (!f->broken && f->section.offset >= start && at <= size && f->content.size <= size - at)
            scrub_feature(x->scrub, f->id, part + at, f->content.size);
    }
}

/* ---- kept files ---- */

static void scrub_map(const struct edit_scrub *s, struct bytes text, struct writer *out) {
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t len = end ? (size_t)(end - text.data) + 1 : text.size;
        char *rest, line[17] = "";
        memcpy(line, text.data, len < sizeof line ? len : sizeof line - 1);
        uint64_t start = strtoull(line, &rest, 16);
        size_t digits = (size_t)(rest - line);
        char moved[24];
        int n = digits
                    ? snprintf(moved, sizeof moved, "%llx", (unsigned long long)edit_scrub_address(s, start))
                    : 0;
        writer_put(out, moved, (size_t)n);
        writer_put(out, text.data + digits, len - digits);
        text.data += len;
        text.size -= len;
    }
}

static void move_at(const struct edit_scrub *s, const uint8_t *field) {
    uint64_t v = edit_scrub_address(s, bytes_load64(field, false));
    memcpy((uint8_t *)(uintptr_t)field, &v, sizeof v);
}

static void scrub_lines(struct edit_scrub *s, struct bytes rest) {
    enum { ADDRESS_AT = 0 };
    const uint8_t *entry = rest.data;
    for (struct jitdump_line l; jitdump_line_next(&rest, false, &l); entry = rest.data) {
        edit_scrub_path(s, (uint8_t *)(uintptr_t)l.file.data, l.file.size, false);
        move_at(s, entry + ADDRESS_AT);
    }
}

static void scrub_inlines(struct edit_scrub *s, const struct jitdump_inlines *in) {
    struct bytes rest = in->source_texts;
    struct jitdump_source source;
    for (uint32_t i = 0; i < in->places; i++)
        move_at(s, in->place_bytes.data + i * (in->place_bytes.size / in->places));
    while (jitdump_source_next(&rest, &source))
        edit_scrub_path(s, (uint8_t *)(uintptr_t)source.file.data, source.file.size, false);
}

/* Scrubs a jitdump in place. False: it is left out, for its byte order is the other one, or a record cannot
 * be read. */
static bool scrub_jitdump(struct edit_scrub *s, struct bytes file) {
    enum { VMA_AT = 8, ADDRESS_AT = 16, NEW_ADDRESS_AT = 24 };
    struct jitdump_reader r;
    struct jitdump_header h;
    struct jitdump_record rec;
    struct err err;
    if (!jitdump_open(file, &r, &h, &err) || r.swap)
        return false;
    enum jitdump_status status;
    uint64_t at = r.at;
    for (; (status = jitdump_next(&r, &rec, &err)) == JITDUMP_RECORD; at = r.at) {
        const uint8_t *body = file.data + at + JITDUMP_RECORD_SIZE;
        if (r.at - rec.size != at) /* a record was skipped */
            return false;
        if (rec.type == JITDUMP_LOAD || rec.type == JITDUMP_MOVE) {
            move_at(s, body + VMA_AT);
            move_at(s, body + ADDRESS_AT);
        }
        if (rec.type == JITDUMP_MOVE)
            move_at(s, body + NEW_ADDRESS_AT);
        if (rec.type == JITDUMP_DEBUG_INFO) {
            move_at(s, body);
            scrub_lines(s, rec.debug_info.entries);
        }
        if (rec.type == JITDUMP_INLINES) {
            move_at(s, body);
            scrub_inlines(s, &rec.inlines);
        }
    }
    return status == JITDUMP_END && r.at == at;
}

/* True of sections of DWARF with sources, which are full of paths; unwind tables have none. */
static bool tells_sources(const struct object_section *sec) {
    static const char begin[] = ".debug_", frame[] = ".debug_frame", packed[] = ".zdebug_";
    struct bytes n = sec->name;
    return (n.size >= sizeof packed - 1 && !memcmp(n.data, packed, sizeof packed - 1)) ||
           (n.size >= sizeof begin - 1 && !memcmp(n.data, begin, sizeof begin - 1) &&
            !(n.size == sizeof frame - 1 && !memcmp(n.data, frame, sizeof frame - 1)));
}

/* Zeroes the kept parts of a section. Zeroing all of it could be far too much. */
static void clear_section(const struct object_section *sec, const struct perfdata_extent *extents,
                          uint32_t count, uint8_t *file) {
    for (uint32_t i = 0; i < count; i++) {
        const struct perfdata_extent *x = &extents[i];
        uint64_t from = x->offset > sec->offset ? x->offset : sec->offset;
        uint64_t x_end = x->offset + x->size, end = sec->offset + sec->size;
        end = x_end < end ? x_end : end;
        if (from < end)
            memset(file + from, 0, (size_t)(end - from));
    }
}

/* Scrubs the paths among an image's texts: libraries, folders to search, sources. */
static void scrub_image(struct edit_scrub *s, const struct perfdata_kept *k,
                        const struct perfdata_extent *extents, uint8_t *file) {
    const size_t size = (size_t)k->file_size;
    struct object_elf e;
    struct object_section sec;
    if (!object_elf_open((struct bytes){file, size}, &e, NULL))
        return;
    for (uint32_t i = 0; object_elf_section(&e, i, &sec); i++) {
        if (sec.type == SHT_NOBITS || sec.offset > size || sec.size > size - sec.offset)
            continue;
        if (tells_sources(&sec))
            clear_section(&sec, extents, k->extent_count, file);
        else if (sec.type == SHT_STRTAB)
            edit_scrub_strings(s, file + sec.offset, sec.size);
    }
}

/* Scrubs an image as a whole, with zeros where nothing was kept. */
static bool scrub_extents(struct edit_scrub *s, const struct perfdata_kept *k, struct bytes plain,
                          const struct perfdata_extent *extents, struct writer *out) {
    uint8_t *file = calloc(1, (size_t)k->file_size + 1);
    const uint8_t *from = plain.data;
    for (uint32_t i = 0; file && i < k->extent_count; from += extents[i++].size)
        memcpy(file + extents[i].offset, from, extents[i].size);
    if (file)
        scrub_image(s, k, extents, file);
    for (uint32_t i = 0; file && i < k->extent_count; i++)
        writer_put(out, file + extents[i].offset, extents[i].size);
    free(file);
    return file;
}

/* Writes the scrubbed contents of a kept file to `out`. */
static bool scrub_content(struct edit_scrub *s, const struct perfdata_kept *k, struct bytes plain,
                          const struct perfdata_extent *extents, struct writer *out) {
    switch (k->kind) {
    case PERFDATA_KEPT_TABLES:
    case PERFDATA_KEPT_WHOLE:
    case PERFDATA_KEPT_DEBUG:
        return scrub_extents(s, k, plain, extents, out);
    case PERFDATA_KEPT_MAP:
        scrub_map(s, plain, out);
        return true;
    case PERFDATA_KEPT_KALLSYMS:
        writer_bytes_put(out, plain);
        if (writer_ok(out))
            edit_scrub_digits(s, out->data, out->size);
        return true;
    case PERFDATA_KEPT_JITDUMP:
        writer_bytes_put(out, plain);
        return writer_ok(out) && scrub_jitdump(s, writer_bytes(out));
    default:
        return false;
    }
}

static bool unpack(const struct perfdata_kept *k, struct arena *arena, struct bytes *plain) {
    *plain = k->packed;
    return k->packed.size == k->kept_size ||
           object_decompress_sized(OBJECT_ZSTD, k->packed, k->kept_size, arena, plain, NULL);
}

/* Scrubs a kept file. False: it is left out, as it cannot be read. */
static bool scrub_kept(struct edit_scrub *s, const struct perfdata_kept *k, struct writer *out) {
    struct arena arena = ARENA_INIT;
    struct bytes plain;
    struct writer content = writer_make(false), packed = writer_make(false);
    struct perfdata_extent *extents = calloc(k->extent_count + 1u, sizeof *extents);
    bool ok = extents && unpack(k, &arena, &plain);
    for (uint32_t i = 0; ok && i < k->extent_count; i++)
        extents[i] = perfdata_kept_extent(k, false, i);
    ok = ok && scrub_content(s, k, plain, extents, &content) && writer_ok(&content) &&
         object_compress(writer_bytes(&content), &packed);
    struct perfdata_kept copy = *k;
    uint8_t *name = ok ? arena_alloc(&arena, k->name.size + 1) : NULL;
    if (name) {
        memcpy(name, k->name.data, k->name.size);
        edit_scrub_path(s, name, k->name.size, false);
        copy.name.data = name;
        copy.packed = writer_bytes(&packed);
        copy.kept_size = content.size;
        if (k->kind == PERFDATA_KEPT_MAP) { /* moved addresses may have more digits */
            copy.file_size = content.size;
            extents[0] = (struct perfdata_extent){0, content.size};
        }
        perfdata_kept_encode(&copy, extents, k->extent_count, out);
    }
    writer_fini(&content);
    writer_fini(&packed);
    arena_fini(&arena);
    free(extents);
    return name;
}

/* ---- boxes ---- */

static void scrub_images(struct edit_scrub *s, struct bytes rest) {
    struct bytes name;
    struct perfdata_evidence e;
    while (perfdata_image_evidence_next(&rest, false, &name, &e))
        edit_scrub_path(s, (uint8_t *)(uintptr_t)name.data, name.size, false);
}

/* Scrubs a part of a box into `out`, which is empty. False: it is left out. */
static bool scrub_part(struct edit_scrub *s, const struct perfdata_part *part, struct writer *out) {
    if (part->tag == PERFDATA_PART_KEPT) {
        struct bytes rest = part->content;
        for (struct perfdata_kept k; perfdata_kept_next(&rest, false, &k);)
            if (!scrub_kept(s, &k, out))
                log_line(LOG_WARN, "%.*s is left out: it cannot be read", (int)k.name.size,
                         (const char *)k.name.data);
        return true;
    }
    writer_bytes_put(out, part->content);
    if (!writer_ok(out))
        return true;
    switch (part->tag) {
    case PERFDATA_PART_IMAGES:
        scrub_images(s, writer_bytes(out));
        return true;
    case PERFDATA_PART_KERNEL:
    case PERFDATA_PART_SECTIONS:
    case PERFDATA_PART_MODULES:
        edit_scrub_lines(s, out->data, out->size);
        return true;
    default:
        return part->tag == PERFDATA_PART_CLOCK || part->tag == PERFDATA_PART_ENDING;
    }
}

/* Scrubs a box into `out`. False: out of memory. */
static bool scrub_box(struct edit_scrub *s, struct bytes box, struct writer *out) {
    enum { PARTS_MAX = 64 };
    struct perfdata_part parts[PARTS_MAX] = {0}, part;
    struct writer contents[PARTS_MAX];
    size_t count = 0;
    bool ok = true;
    for (uint32_t i = 0; box.size && count < PARTS_MAX && perfdata_box_part(box, false, i, &part); i++) {
        struct writer content = writer_make(false);
        bool kept = scrub_part(s, &part, &content);
        ok = ok && writer_ok(&content);
        if (!kept) {
            writer_fini(&content);
            continue;
        }
        contents[count] = content;
        parts[count++] = (struct perfdata_part){part.tag, writer_bytes(&content)};
    }
    if (ok)
        perfdata_box_encode(parts, count, out);
    for (size_t i = 0; i < count; i++)
        writer_fini(&contents[i]);
    return ok && writer_ok(out);
}

/* ---- the copy ---- */

static bool put(struct scrubbing *x, struct bytes b, struct err *err) {
    return os_output_put(&x->output, &x->at, b, x->path, err);
}

/* Scrubs the head. The preamble, which ends where the records begin, keeps its size. */
static bool scrub_head(struct scrubbing *x, struct writer *head, struct err *err) {
    struct bytes old = stream_box(x->recording->stream, true);
    struct writer box = writer_make(false);
    bool ok = !old.size || scrub_box(x->scrub, old, &box) || err_memory(err, x->path);
    if (ok && old.size && box.size != old.size)
        ok = err_set(err, ERR_UNSUPPORTED, stream_path(x->recording->stream),
                     "its preamble has parts of a later version");
    if (ok && old.size && old.size <= head->size)
        memcpy(head->data + (head->size - old.size), box.data, box.size);
    writer_fini(&box);
    return ok;
}

/* Writes what follows the records, up to the trailer, which is made anew. */
static bool write_tail(struct scrubbing *x, struct bytes tail, struct err *err) {
    static const uint8_t zeros[8];
    struct bytes old = stream_box(x->recording->stream, false);
    struct writer part = writer_make(false), box = writer_make(false);
    tail.size -= old.size < tail.size ? old.size : tail.size;
    writer_bytes_put(&part, tail);
    bool ok = (writer_ok(&part) && scrub_box(x->scrub, old, &box)) || err_memory(err, x->path);
    if (ok && part.size) {
        const struct perfdata_header *h = stream_header(x->recording->stream);
        scrub_features(x, part.data, h->data.offset + h->data.size, part.size);
    }
    ok = ok && put(x, writer_bytes(&part), err) &&
         put(x, (struct bytes){zeros, (size_t)(-x->at % sizeof zeros)}, err) &&
         put(x, writer_bytes(&box), err);
    writer_fini(&part);
    writer_fini(&box);
    return ok;
}

static bool sink_write(void *ctx, struct bytes b, struct err *err) {
    struct scrubbing *x = ctx;
    if (x->phase == RECORDS)
        return put(x, b, err);
    if (x->phase == TAIL)
        return write_tail(x, b, err);
    struct writer head = writer_make(false);
    writer_bytes_put(&head, b);
    bool ok = writer_ok(&head) || err_memory(err, x->path);
    if (ok)
        scrub_features(x, head.data, 0, head.size);
    ok = ok && scrub_head(x, &head, err) && put(x, writer_bytes(&head), err);
    x->phase = RECORDS;
    writer_fini(&head);
    return ok;
}

static bool sink_patch(void *ctx, uint64_t at, struct bytes b, struct err *err) {
    struct scrubbing *x = ctx;
    int64_t n = x->output.write(x->output.ctx, at, &b, 1);
    return n == (int64_t)b.size || err_errno(err, n < 0 ? (int)-n : 0, x->path, "cannot write");
}

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct scrubbing *x = ctx;
    const struct copy_editor *e = edit_scrub_editor(x->scrub);
    if (!r)
        x->phase = TAIL;
    return e->edit(e->ctx, r, before, keep, err);
}

/* Makes a number that cannot be guessed. */
static bool random_number(uint64_t *number, struct err *err) {
    struct writer uuid = writer_make(false);
    bool ok = os_files_real.read(os_files_real.ctx, "/proc/sys/kernel/random/uuid", &uuid, err);
    *number = hash_bytes(uuid.data, uuid.size);
    writer_fini(&uuid);
    return ok;
}

static bool can_scrub(const struct scrubbing *x, struct err *err) {
    const struct stream *s = x->recording->stream;
    const struct perfdata_header *h = stream_header(s);
    bool foreign = false;
    for (size_t i = 0; i < h->features.count; i++)
        foreign = foreign || h->features.items[i].id >= PERFDATA_FEATURE_SIMPLEPERF_START ||
                  h->features.items[i].id == PERFDATA_FEATURE_AUXTRACE;
    if (stream_is_pipe(s) || stream_file(s)->fd < 0 || x->recording->events->swap)
        return err_set(
            err, ERR_UNSUPPORTED, stream_path(s),
            "only files in this machine's byte order can be scrubbed: convert it with `inject` first");
    return !foreign ||
           err_set(err, ERR_UNSUPPORTED, stream_path(s),
                   "it has AUX data, or simpleperf's own tables, in which addresses are not found");
}

static bool write_copy(struct scrubbing *x, struct err *err) {
    struct copy_sink sink = {sink_write, sink_patch, x};
    struct copy_result result;
    if (!os_output_create(x->path, &x->output, err))
        return false;
    bool ok = copy_recording(x->recording->stream, &sink, &x->editor, &result, err);
    int closed = x->output.close(x->output.ctx);
    if (ok && closed)
        ok = err_errno(err, -closed, x->path, "cannot write");
    if (!ok)
        os_place_remove(x->path, NULL);
    return ok;
}

bool edit_scrub_file(struct recording *r, const char *output, uint64_t *left_out, struct err *err) {
    struct scrubbing x = {.recording = r, .path = output, .editor = {edit, &x}};
    uint64_t random;
    bool ok = can_scrub(&x, err) && random_number(&random, err) &&
              (x.scrub = edit_scrub_new(random, r->stream, err)) != NULL && write_copy(&x, err);
    *left_out = x.scrub ? edit_scrub_left_out(x.scrub) : 0;
    edit_scrub_free(x.scrub);
    return ok;
}
