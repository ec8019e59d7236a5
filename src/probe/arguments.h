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
    bool entry; /* before the function's first statement */
};

/*
 * Appends what `spec` wants recorded at `place`. Variables of $params and $vars that cannot be had are left
 * out, and logged with the reason. False and *err: an argument cannot be had (ERR_ABSENT, ERR_UNSUPPORTED,
 * ERR_USAGE), and why; ERR_IO: it is not in its memory yet at a function's entry; ERR_MEMORY.
 */
bool probe_arguments(struct probe_image *i, const struct probe_spec *spec, const struct probe_place *place,
                     struct arena *a, struct probe_event *out, struct err *err);

/* Appends the arguments that a marker's author wrote down for it (object/sdt.h), as arg1, arg2 ...; what is
 * none of the forms that the kernel can fetch is logged and left out. False and *err: out of memory. */
bool probe_marker_arguments(uint16_t machine, const struct probe_spec *spec, struct bytes text,
                            struct arena *a, struct probe_event *out, struct err *err);

/* A value, and what is wanted of it. */
struct probe_fetch_request {
    const struct object_value *v;
    uint16_t machine;     /* EM_ */
    int64_t linked_delta; /* what makes of an address of the image the OFFSET of the kernel's @+OFFSET, or */
    const char *linked_symbol; /* of @SYMBOL+OFFSET; NULL: the image is no kernel */
    const char *type;          /* what was asked for; NULL: nothing */
    bool user;                 /* loads are from the memory of the process, not the kernel's */
    struct arena *a;           /* for texts */
};
/* A value as the kernel fetches it. *note: what people should know of it (static text), or NULL. */
bool probe_value_fetch(const struct probe_fetch_request *r, struct probe_fetch *out, const char **note,
                       struct err *err);

#endif
