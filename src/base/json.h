/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of JSON (RFC 8259): it sees to commas, quotes and escapes. A member of an object has a key, an
 * element of an array the key NULL. What is in the outermost brackets is a line.
 */
#ifndef SONDE_BASE_JSON_H
#define SONDE_BASE_JSON_H

#include "base/out.h"

struct json {
    struct out *out; /* borrowed */
    bool tabs;       /* perf's layout: each member on a line of its own after tabs, a space after keys */
    unsigned flush;  /* with tabs: members of so many outer levels begin their lines without any */
    unsigned depth;  /* brackets that are open */
    bool any;        /* the innermost of them has a member already */
};

/* `bracket`: '{' or '['. */
void json_open(struct json *j, const char *key, char bracket);
/* `bracket`: '}' or ']', the one that belongs to the innermost that is open. */
void json_close(struct json *j, char bracket);

/* Bytes that are no UTF-8 become U+FFFD. */
void json_text(struct json *j, const char *key, const char *text);
/* p may be NULL when n is 0. */
void json_bytes(struct json *j, const char *key, const char *p, size_t n);
void json_number(struct json *j, const char *key, uint64_t v);
void json_int(struct json *j, const char *key, int64_t v);
/* Addresses and words of bits, as a text that begins with 0x: many readers' numbers have no 64 bits. */
void json_hex(struct json *j, const char *key, uint64_t v);
/* A text of two hex digits for each byte. */
void json_digits(struct json *j, const char *key, const uint8_t *p, size_t n);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

#endif
