/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What DWARF 2 to 5 say of functions and variables, by name: where functions and their inlined copies begin,
 * which variables can be seen at an address, and where their values are there. For whoever sets probes.
 *
 *   name, pattern -> instances: [entry of a function or of an inlined copy of it]
 *   (instance, address, path) -> value: a register, memory reached from one, a constant; or why it is none
 *
 * All texts live as long as the object_debug. One thread at a time.
 */
#ifndef SONDE_OBJECT_DEBUG_DEBUG_H
#define SONDE_OBJECT_DEBUG_DEBUG_H

#include "base/vec.h"
#include "object/debug/location.h"
#include "object/dwarf/cfi.h"
#include "object/elf.h"

struct object_debug;

/*
 * `image`: the ELF image that has the DWARF; `alt`: the dwz file that it refers to (its build-id checked by
 * the caller), or empty; `cfi`: the unwind tables of the image that is mapped, NULL: none. All must outlive
 * the result. NULL and *err: as object_lines_new.
 */
struct object_debug *object_debug_new(struct bytes image, struct bytes alt, const struct object_cfi *cfi,
                                      struct err *err);
void object_debug_free(struct object_debug *d); /* NULL is allowed */
/* Whenever much was read that is not needed again soon, `rest` is called: pages of files may go. */
void object_debug_rest_by(struct object_debug *d, void (*rest)(void *ctx), void *ctx);

/* A file that has the rest of a unit's DWARF (-gsplit-dwarf), as the unit names it, and which some
 * answer lacked because it is not there; NULL: none. */
const char *object_debug_missing(const struct object_debug *d);

/* A function's code, or a copy of it that was inlined into another. */
struct object_instance {
    uint32_t id;        /* for questions about it */
    const char *name;   /* as in the source */
    const char *linked; /* as the linker knows it; NULL: the same, or not known */
    const char *outer;  /* the function in whose code it lies; `name` unless inlined; may be NULL */
    const char *file;   /* where it is declared; NULL: not known */
    uint32_t line;      /* likewise; 0: not known */
    object_vaddr entry, outer_entry; /* its first instruction; that of `outer` */
    object_vaddr body;               /* the first instruction after the prologue; `entry` where not known */
    bool inlined;
};
typedef VEC(struct object_instance) object_instances;

/* Which instances are wanted. */
struct object_debug_query {
    const char *name; /* as in the source, or as linked */
    bool pattern;     /* `name` is one of fnmatch(3) */
    bool no_inlines;
    const char *file; /* the end of the path of the file that declares it; NULL: any */
};
/* Appends the instances, by address. False and *err: out of memory. */
bool object_debug_functions(struct object_debug *d, const struct object_debug_query *q, object_instances *out,
                            struct err *err);

/* The function or inlined copy whose code an address is; `function`: inlined copies are passed over. False:
 * none is known. */
bool object_debug_at(struct object_debug *d, object_vaddr addr, bool function, struct object_instance *out);

/* --- Lines --------------------------------------------------------------------------------------------- */

/* A place where a statement of a line begins. */
struct object_debug_line {
    object_vaddr addr;
    const char *file; /* made absolute where possible */
    uint32_t line;
    uint32_t owner; /* of the lines whose statements begin there, the first; line tables of people count it
                       alone */
    bool last;      /* no statement of another line begins there after it: what variables are then is known */
};
typedef VEC(struct object_debug_line) object_debug_lines;

/* Which lines: [first, last] of the files whose path ends in `file`. */
struct object_debug_span {
    const char *file;
    uint32_t first, last;
    const struct object_instance *within; /* in its code alone; NULL: anywhere */
};
/* Appends their statements, by line and address. False and *err: out of memory. */
bool object_debug_statements(struct object_debug *d, const struct object_debug_span *span,
                             object_debug_lines *out, struct err *err);

/* Whether the path is `end`, or ends in it at the beginning of a name. */
bool object_debug_path_ends(const char *path, const char *end);

/* --- Variables ----------------------------------------------------------------------------------------- */

/* A step from a variable to a part of it: ->name, .name or [index]. */
struct object_debug_step {
    const char *name; /* NULL: an index */
    int64_t index;
    bool arrow;
};

/* A variable, or a part of it. */
struct object_debug_path {
    const char *name;
    const struct object_debug_step *steps;
    size_t count;
};

enum object_value_type {
    OBJECT_VALUE_SIGNED,
    OBJECT_VALUE_UNSIGNED,
    OBJECT_VALUE_POINTER,
    OBJECT_VALUE_FLOAT,
    OBJECT_VALUE_STRUCT, /* unions and classes too */
    OBJECT_VALUE_ARRAY,
    OBJECT_VALUE_OTHER,
};

struct object_value {
    struct object_place place;
    enum object_value_type type;
    uint64_t size;               /* bytes; of an array's element; 0: not known */
    uint64_t count;              /* of an array: all its elements; 0: not known */
    enum object_value_type item; /* of an array */
    bool text;                   /* a pointer to characters, or an array of them */
    bool counted;                /* such a text has a length, and no NUL at its end (Rust, Go) */
    uint32_t bit_size, bit_at;   /* a bit field: its bits, from the least significant of `size` bytes;
                                    bit_size 0: none */
    char type_name[160];         /* as C writes it */
};

/* Where a variable is asked for: before the instruction at `addr`. Several statements may begin there;
 * `entry`: before all of them (as is right where the function is entered), else after those that need no
 * instruction, or with `between` after some of them: what changes there is refused. */
struct object_debug_place {
    uint32_t instance; /* id */
    object_vaddr addr;
    bool entry, between;
};

/* Codes of failure beside the usual ones: ERR_ABSENT: no variable or member of that name; ERR_UNSUPPORTED: it
 * has no value that could be fetched there, and the message says where it is instead. ERR_IO (never anything
 * else here): it is in memory that the function has not yet written at its entry. */
bool object_debug_value(struct object_debug *d, struct object_debug_place at,
                        const struct object_debug_path *path, struct object_value *out, struct err *err);

/* A variable that can be seen at an address. */
struct object_variable {
    const char *name;
    char type_name[160];
    bool parameter;
    bool external; /* of the unit, not of the function */
    bool here;     /* has a value there, though perhaps none that can be fetched */
};
typedef VEC(struct object_variable) object_variables;
/* Appends the variables in the scopes of the address, innermost first, without those that an inner one hides;
 * with `externals` the unit's too. False and *err: out of memory. */
bool object_debug_variables(struct object_debug *d, struct object_debug_place at, bool externals,
                            object_variables *out, struct err *err);

/* Where a variable has a value: "[0-54,54-65]", bytes from the instance's entry (of its function, when it was
 * inlined). Empty: nowhere. */
void object_debug_ranges(struct object_debug *d, struct object_debug_place at, const char *name, char *to,
                         size_t room);

#endif
