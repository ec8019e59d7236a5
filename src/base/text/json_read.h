/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of JSON (RFC 8259) that goes through a text once, without making anything of it:
 *
 *   json_enter(&r, '{');
 *   while (json_member(&r, &name)) ...       name, then its value: read or skipped
 *   json_enter(&r, '[');
 *   while (json_element(&r)) ...             its value
 *
 * Failure is sticky, as a cursor's: everything reads as empty then, and loops end.
 */
#ifndef SONDE_BASE_JSON_READ_H
#define SONDE_BASE_JSON_READ_H

#include "base/bytes.h"
#include "base/text/out.h"

struct json_reader {
    const char *at, *end, *start;
    bool first; /* of the innermost brackets, nothing was read yet */
    bool failed;
};

static inline struct json_reader json_reader_make(struct bytes b) {
    const char *start = b.size ? (const char *)b.data : "";
    return (struct json_reader){.at = start, .end = start + b.size, .start = start};
}

/* Enters an object or array; `bracket`: '{' or '['. */
void json_enter(struct json_reader *r, char bracket);
/* Goes to the next member or element, or leaves after the last one: false. The key, as it is written, is
 * between its quotes in the text. */
bool json_member(struct json_reader *r, struct bytes *key);
bool json_element(struct json_reader *r);

/* A number from 0 to UINT64_MAX without a fraction; anything else fails. */
uint64_t json_read_number(struct json_reader *r);
/* The same, or null, which is `null`. */
uint64_t json_read_number_or(struct json_reader *r, uint64_t null);
/* Appends a text, as UTF-8. A character 0 ends it; what follows is left out. */
void json_read_text(struct json_reader *r, struct out *to);
/* Passes any value. Fails if it is nested too deeply. */
void json_skip(struct json_reader *r);

#endif
