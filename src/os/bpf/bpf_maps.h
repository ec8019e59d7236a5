/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs in the kernel have written: maps looked up, read as a whole, exchanged while programs write
 * on, and iterators read to their end. Maps are descriptors (o->maps[N].fd, os_bpf_make_map). Negative
 * numbers are errnos.
 */
#ifndef SONDE_OS_BPF_BPF_MAPS_H
#define SONDE_OS_BPF_BPF_MAPS_H

#include "os/bpf/bpf_object.h"

/* The value of a key into `value`, which has the room (per-CPU maps: bpf->cpus() values of a multiple of 8
 * bytes each). 0, or -ENOENT and so on. */
int os_bpf_lookup(const struct os_bpf *bpf, int map, const void *key, void *value);
int os_bpf_update(const struct os_bpf *bpf, int map, const void *key, const void *value);
int os_bpf_delete(const struct os_bpf *bpf, int map, const void *key);

struct os_bpf_map_kind {
    const char *name;     /* at most 15 bytes */
    uint32_t type, flags; /* BPF_MAP_TYPE_..., BPF_F_... (linux/bpf.h) */
    uint32_t key_bytes, value_bytes, entries;
};

/* A map of our own, to be put into a map of maps: close it with bpf->close. A descriptor, or a negative
 * errno. */
int os_bpf_make_map(const struct os_bpf *bpf, const struct os_bpf_map_kind *kind);

/*
 * Puts the map `inner` into place `index` of an array of maps. Once it returns, no program writes to the map
 * that was there before (the kernel waits for those that are running, see maybe_wait_bpf_programs), so that
 * this map can be read, and nothing that was counted is lost or counted twice. 0 or a negative errno.
 */
int os_bpf_put_inner(const struct os_bpf *bpf, int outer, uint32_t index, int inner);

/* False ends the walk. Key and value are valid during the call. */
typedef bool os_bpf_entry_fn(void *ctx, const void *key, const void *value);

/*
 * Calls `fn` for each entry of a hash map that nobody writes to (os_bpf_put_inner, or programs detached), in
 * no particular order, in batches (Linux 5.6). `value_bytes`: of a per-CPU map those of all CPUs. 0 or a
 * negative errno.
 */
int os_bpf_each(const struct os_bpf *bpf, int map, size_t key_bytes, size_t value_bytes, os_bpf_entry_fn *fn,
                void *ctx);

/* Runs an iterator (OS_BPF_ATTACH_ITER; attached here) once, and calls `fn` with each of the rows of
 * `row_bytes` that it wrote; `fn` as above, with a NULL key. */
bool os_bpf_iterate(struct os_bpf_object *o, uint32_t program, size_t row_bytes, os_bpf_entry_fn *fn,
                    void *ctx, struct err *e);

#endif
