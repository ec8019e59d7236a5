/* SPDX-License-Identifier: Apache-2.0 */
/* The text buffer and the demanglers of the single languages. */
#ifndef SONDE_SYMBOL_DEMANGLE_INTERNAL_H
#define SONDE_SYMBOL_DEMANGLE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DEMANGLE_TEXT_MAX = 64 * 1024 }; /* bytes, without the NUL */

struct demangle_text {
    size_t size;
    bool full; /* some text did not fit and was dropped */
    char bytes[DEMANGLE_TEXT_MAX + 1];
};

static inline void demangle_put(struct demangle_text *t, const char *s, size_t n) {
    if (n > DEMANGLE_TEXT_MAX - t->size) {
        t->full = true;
        return;
    }
    memcpy(t->bytes + t->size, s, n);
    t->size += n;
}

static inline void demangle_puts(struct demangle_text *t, const char *s) {
    demangle_put(t, s, strlen(s));
}

/* Appends a code point as UTF-8. False: it is no code point. */
bool demangle_put_char(struct demangle_text *t, uint32_t c);

/* Each returns true, with the text appended, if all of `name` is validly mangled in that language. */
bool demangle_rust(const char *name, struct demangle_text *t); /* both manglings */
bool demangle_ocaml(const char *name, struct demangle_text *t);
bool demangle_java(const char *name, struct demangle_text *t);
/* Takes what follows _R, `size` bytes; *used is how many of them belong to the symbol, the rest is a suffix.
 */
bool demangle_rust_v0(const char *name, size_t size, struct demangle_text *t, size_t *used);

#endif
