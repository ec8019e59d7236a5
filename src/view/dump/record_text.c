/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/record_text.h"

#include <sys/mman.h>

void record_text_hex(struct out *o, uint64_t v) {
    if (v)
        out_mem(o, "0x", 2);
    out_hex(o, v, 0);
}

void record_text_string(struct out *o, struct bytes b) {
    out_mem(o, (const char *)b.data, bytes_text_len(b));
}

void record_text_pair(struct out *o, uint32_t a, char separator, uint32_t b) {
    out_int(o, (int32_t)a, 0);
    out_char(o, separator);
    out_int(o, (int32_t)b, 0);
}

static void range(struct out *o, uint64_t addr, uint64_t len, uint64_t pgoff) {
    out_str(o, ": [");
    record_text_hex(o, addr);
    out_char(o, '(');
    record_text_hex(o, len);
    out_str(o, ") @ ");
    record_text_hex(o, pgoff);
}

void record_text_mmap(struct out *o, const struct perfdata_mmap *m, uint16_t misc) {
    record_text_pair(o, m->pid, '/', m->tid);
    range(o, m->addr, m->len, m->pgoff);
    out_str(o, misc & PERFDATA_MISC_MMAP_DATA ? "]: r " : "]: x ");
    record_text_string(o, m->filename);
}

static void identity(struct out *o, const struct perfdata_mmap2 *m) {
    if (m->has_build_id) {
        out_str(o, " <");
        for (unsigned i = 0; i < m->build_id_size && i < sizeof m->build_id; i++)
            out_hex0(o, m->build_id[i], 2);
        out_char(o, '>');
        return;
    }
    out_char(o, ' ');
    out_hex0(o, m->maj, 2);
    out_char(o, ':');
    out_hex0(o, m->min, 2);
    out_char(o, ' ');
    out_dec(o, m->ino, 0);
    out_char(o, ' ');
    out_dec(o, m->ino_generation, 0);
}

void record_text_mmap2(struct out *o, const struct perfdata_mmap2 *m) {
    record_text_pair(o, m->pid, '/', m->tid);
    range(o, m->addr, m->len, m->pgoff);
    identity(o, m);
    out_str(o, "]: ");
    out_char(o, m->prot & PROT_READ ? 'r' : '-');
    out_char(o, m->prot & PROT_WRITE ? 'w' : '-');
    out_char(o, m->prot & PROT_EXEC ? 'x' : '-');
    out_char(o, m->flags & MAP_SHARED ? 's' : 'p');
    out_char(o, ' ');
    record_text_string(o, m->filename);
}

const char *record_text_switch(uint16_t misc) {
    if (!(misc & PERFDATA_MISC_SWITCH_OUT))
        return "IN         ";
    return misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" : "OUT        ";
}

void record_text_namespaces(struct out *o, const struct perfdata_namespaces *n) {
    /* In the order of perf_event.h's NET_NS_INDEX and so on. */
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    enum { KNOWN = sizeof names / sizeof *names, PER_LINE = 4 };
    record_text_pair(o, n->pid, '/', n->tid);
    out_str(o, " - nr_namespaces: ");
    out_dec(o, n->nr, 0);
    out_str(o, "\n\t\t[");
    for (uint64_t i = 0; i < n->nr && 2 * i + 1 < n->links.count; i++) {
        if (i)
            out_str(o, i % PER_LINE ? ", " : ", \n\t\t ");
        out_dec(o, i, 0);
        out_char(o, '/');
        out_str(o, i < KNOWN ? names[i] : "UNKNOWN");
        out_str(o, ": ");
        out_dec(o, perfdata_u64_at(&n->links, 2 * i), 0);
        out_char(o, '/');
        record_text_hex(o, perfdata_u64_at(&n->links, 2 * i + 1));
    }
    out_char(o, ']');
}

void record_text_ksymbol(struct out *o, const struct perfdata_ksymbol *k) {
    out_str(o, "addr ");
    out_hex(o, k->addr, 0);
    out_str(o, " len ");
    out_dec(o, k->len, 0);
    out_str(o, " type ");
    out_dec(o, k->ksym_type, 0);
    out_str(o, " flags 0x");
    out_hex(o, k->flags, 0);
    out_str(o, " name ");
    record_text_string(o, k->name);
}

void record_text_bpf_event(struct out *o, const struct perfdata_bpf_event *b) {
    out_str(o, "type ");
    out_dec(o, b->type, 0);
    out_str(o, ", flags ");
    out_dec(o, b->flags, 0);
    out_str(o, ", id ");
    out_dec(o, b->id, 0);
}

void record_text_cgroup(struct out *o, const struct perfdata_cgroup *c) {
    out_str(o, "cgroup: ");
    out_dec(o, c->id, 0);
    out_char(o, ' ');
    record_text_string(o, c->path);
}

static void code_bytes(struct out *o, const char *heading, struct bytes b) {
    enum { PER_LINE = 16 };
    for (size_t at = 0; at < b.size; at += PER_LINE) {
        out_str(o, "\n            ");
        out_str(o, heading);
        for (size_t i = at; i < b.size && i < at + PER_LINE; i++) {
            out_char(o, ' ');
            out_hex0(o, b.data[i], 2);
        }
    }
}

void record_text_text_poke(struct out *o, const struct perfdata_text_poke *t) {
    out_hex(o, t->addr, 0);
    out_str(o, "  old len ");
    out_dec(o, t->old_len, 0);
    out_str(o, " new len ");
    out_dec(o, t->new_len, 0);
    size_t old_len = t->old_len < t->bytes.size ? t->old_len : t->bytes.size;
    size_t new_len = t->new_len < t->bytes.size - old_len ? t->new_len : t->bytes.size - old_len;
    code_bytes(o, "Old bytes:", (struct bytes){t->bytes.data, old_len});
    code_bytes(o, "New bytes:", (struct bytes){t->bytes.data + old_len, new_len});
}
