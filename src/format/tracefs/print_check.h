/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the print format of an event is one that libtraceevent can be trusted with.
 *
 * The library parses and evaluates the C expressions of a format without
 * suspicion: malformed ones crash it, and some well-formed ones make it read
 * outside the record or divide by 0. So only formats of the following shape
 * reach it (all but a handful of the kernel's 2,300 have it):
 *
 *   format   := "text" { , expr }           as many as the text has conversions
 *   expr     := binary [ ? expr : expr ]
 *   binary   := unary { op unary }          / and % by numbers other than 0 only
 *   unary    := { ! | ~ | - | + | ( type ) } primary
 *   primary  := number | 'c' | CONSTANT | "text" | ( expr ) | call
 *             | REC->field | REC->field[ number ] | sizeof( type )
 *   call     := __print_flags( expr , "text" { , { expr , "text" } } )
 *             | __print_symbolic( expr { , { expr , "text" } } )
 *             | __print_hex( array , length ) | __print_hex_str( array , length )
 *             | __print_array( array , length , number )
 *             | __get_str( field ) | __get_bitmask( field ) | __get_cpumask( field )
 *             | __get_dynamic_array( field ) | __get_dynamic_array_len( field )
 *             | these with __get_rel_ | __builtin_expect( expr , expr )
 */
#ifndef SONDE_FORMAT_TRACEFS_PRINT_CHECK_H
#define SONDE_FORMAT_TRACEFS_PRINT_CHECK_H

#include "format/tracefs/tracing_data.h"

struct print_check {
    const struct tracing_field *fields; /* of the event, common ones included */
    size_t field_count;
    uint32_t lengths[8]; /* filled: indices of fields that say how long an array is; must be small to print */
    uint32_t length_count;
};

enum { PRINT_CHECK_LENGTH_MAX = 65536 }; /* what "small" means: a record is no longer */

/* `print` is what stands after "print fmt:". */
bool print_check_ok(struct print_check *c, struct bytes print);

/* Whether a field's declaration is nothing but words, stars and brackets. */
bool print_check_declaration(struct bytes declaration);

/* Dynamic fields hold offset and length of what is meant: "__data_loc char[] name". */
bool print_check_is_dynamic(const struct tracing_field *field);

#endif
