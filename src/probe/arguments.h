/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe records: from arguments as people write them to what the kernel fetches. */
#ifndef SONDE_PROBE_ARGUMENTS_H
#define SONDE_PROBE_ARGUMENTS_H

#include "base/bytes.h"
#include "probe/event.h"
#include "probe/image.h"
#include "probe/syntax.h"

/* A place that a probe goes to. */
struct probe_place {
    object_vaddr addr;
    uint64_t offset;   /* in the file, or of the kernel's symbol */
    bool has_instance; /* DWARF knows whose code it is */
    uint32_t instance;
    bool kernel, returns;
    bool entry;            /* before the function's first statement */
    bool between;          /* see struct object_debug_place */
    bool leaves_unwritten; /* what is not in memory yet is left out of $params and $vars, too */
};

/*
 * Appends what `spec` wants recorded at `place`. Variables of $params and $vars that cannot be fetched are
 * left out, and the reason is logged. False and *err: an argument cannot be fetched (ERR_ABSENT,
 * ERR_UNSUPPORTED, ERR_USAGE); ERR_IO: its value is not in memory yet at the function's entry; ERR_MEMORY.
 */
bool probe_arguments(struct probe_image *i, const struct probe_spec *spec, const struct probe_place *place,
                     struct arena *a, struct probe_event *out, struct err *err);

/* Appends the arguments that a marker's author wrote down for it (object/sdt.h), as arg1, arg2 ...; an
 * argument in a form that the kernel cannot fetch is logged and left out. False and *err: out of memory. */
bool probe_marker_arguments(uint16_t machine, const struct probe_spec *spec, struct bytes text,
                            struct arena *a, struct probe_event *out, struct err *err);

/* A value, and how it is to be fetched. */
struct probe_fetch_request {
    const struct object_value *v;
    uint16_t machine;          /* EM_ */
    int64_t linked_delta;      /* address of the image + this = OFFSET of @+OFFSET or @SYMBOL+OFFSET */
    const char *linked_symbol; /* SYMBOL; NULL: the image is no kernel */
    const char *type;          /* the requested type; NULL: none */
    bool user;                 /* loads are from the memory of the process, not the kernel's */
    struct arena *a;           /* for texts */
};
/* A value as the kernel fetches it. *note: a remark for the user (static text), or NULL. */
bool probe_value_fetch(const struct probe_fetch_request *r, struct probe_fetch *out, const char **note,
                       struct err *err);

#endif
