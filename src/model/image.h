/* SPDX-License-Identifier: Apache-2.0 */
/* The table of images, which are distinguished by name and identity, and what their names mean. */
#ifndef SONDE_MODEL_IMAGE_H
#define SONDE_MODEL_IMAGE_H

#include "base/hash.h"
#include "base/strpool.h"
#include "model/model.h"

struct image_build_id {
    uint8_t size; /* 0: listed without one */
    uint8_t bytes[20];
    bool later; /* as perfdata_evidence.id_later */
};

struct special_name;

/* What is known of a name. */
struct image_name {
    const struct special_name *special; /* NULL: not looked up yet */
    uint32_t last;                      /* the image that had the name last in the file, or MODEL_NONE */
    uint32_t newest;                    /* the same in time, at newest_ns */
    uint64_t newest_ns;
};

struct image_table {
    VEC(struct model_image) list;
    VEC(struct image_name) names;   /* by text id */
    struct strpool texts;           /* all texts of the model, comms too */
    struct strpool keys;            /* identities as bytes; a key's id is its image's */
    struct hash_map listed_by_name; /* text id and space -> index in listed */
    VEC(struct image_build_id) listed;
    struct hash_map evidence_of; /* text id and state -> index in evidence */
    VEC(struct perfdata_evidence) evidence;
};

void image_table_fini(struct image_table *t);

/* What a map record says about the image. */
struct image_seen {
    struct bytes name; /* without a NUL */
    enum model_space space;
    uint32_t pid;     /* the process that maps it */
    uint64_t time_ns; /* when it does */
    bool executable;
    uint32_t maj, min;
    uint64_t ino, ino_generation;
    const struct perfdata_file_state *state; /* NULL: not recorded */
    struct bytes build_id;                   /* at most 20 bytes; empty without */
    bool id_later;                           /* as perfdata_evidence.id_later */
    int kind; /* enum model_image_kind if the name does not show it (KSYMBOL); -1: by name and space */
};

/* Whether an enum model_image_kind is memory without a file, which may contain code that was announced
 * before.
 */
bool image_kind_is_memory(unsigned kind);

/* The image's id, new or old; MODEL_NONE: memory or ids ran out. */
uint32_t image_intern(struct image_table *t, const struct image_seen *seen);

/* Notes a build-id that is known only for a name. `space`: from the record's cpumode; `later`: as
 * perfdata_evidence.id_later. False: out of memory. */
bool image_list(struct image_table *t, struct bytes name, enum model_space space, struct bytes build_id,
                bool later);

/* What image_list noted for the image's name, or NULL. Some perfs listed modules as user files: unless
 * `in_same_space`, these are found too. */
const struct image_build_id *image_listed(const struct image_table *t, const struct model_image *image,
                                          bool in_same_space);

/* The image that had this one's recorded name last in time. */
const struct model_image *image_last_named(const struct image_table *t, const struct model_image *image);

/* Notes what is known of files with a name and state (False: out of memory), and finds it again (NULL:
 * nothing). */
bool image_add_evidence(struct image_table *t, struct bytes name, const struct perfdata_evidence *e);
const struct perfdata_evidence *image_evidence(const struct image_table *t, const struct model_image *image);

/* Finds the reference symbol in a kernel image's recorded name ("_text" in "[kernel.kallsyms]_text"; may be
 * empty), as a text id. False: out of memory. */
bool image_kernel_symbol(struct image_table *t, uint32_t image, uint32_t *text);

#endif
