/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of JSON (RFC 8259) that takes care of commas, quotes and escapes. Members of objects have a key;
 * for elements of arrays the key is NULL. The contents of the outermost brackets are one line.
 */
#ifndef SONDE_BASE_JSON_H
#define SONDE_BASE_JSON_H

#include "base/text/out.h"

struct json {
    struct out *out; /* borrowed */
    bool tabs;       /* perf's layout: each member on a line of its own after tabs, a space after keys */
    unsigned flush;  /* with tabs: outer levels whose members begin their lines without tabs */
    unsigned depth;  /* number of open brackets */
    bool any;        /* the innermost open bracket has a member already */
};

/* Opens an object or array; `bracket`: '{' or '['. */
void json_open(struct json *j, const char *key, char bracket);
/* Closes the innermost object or array; `bracket`: its '}' or ']'. */
void json_close(struct json *j, char bracket);

/* Bytes that are not valid UTF-8 become U+FFFD. */
void json_text(struct json *j, const char *key, const char *text);
/* p may be NULL when n is 0. */
void json_bytes(struct json *j, const char *key, const char *p, size_t n);
void json_number(struct json *j, const char *key, uint64_t v);
void json_int(struct json *j, const char *key, int64_t v);
/* Writes v / 10^places, exactly. */
void json_decimal(struct json *j, const char *key, uint64_t v, unsigned places);
/* Writes the shortest number that is read back as `v`; null when it is infinite or no number. */
void json_real(struct json *j, const char *key, double v);
/* Writes an address or bit mask as a text that begins with 0x: the numbers of many JSON readers have less
 * than 64 bits. */
void json_hex(struct json *j, const char *key, uint64_t v);
/* Writes a text of two hex digits for each byte. */
void json_digits(struct json *j, const char *key, const uint8_t *p, size_t n);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

#endif
