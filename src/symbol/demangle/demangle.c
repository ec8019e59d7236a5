/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/demangle.h"

#include <setjmp.h>
#include <stdlib.h>

#include "config.h"
#include "symbol/demangle/demangle_internal.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

enum {
    NAME_MAX_BYTES = 32 * 1024
}; /* longer ones are not tried; the longest of real programs have a third */

/* --- OCaml --------------------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* caml, then modules and a value parted by "__"; $ and two digits is any other character. The C runtime's own
 * functions begin with caml and a small letter or an underscore. */
bool demangle_ocaml(const char *name, struct demangle_text *t) {
    uint8_t first = strncmp(name, "caml", 4) == 0 ? (uint8_t)name[4] : 0;
    if (first < 'A' || (first > 'Z' && first < 0x80))
        return false;
    for (const char *s = name + 4; *s; s++) {
        int high = *s == '$' ? hex_digit(s[1]) : -1, low = high < 0 ? -1 : hex_digit(s[2]);
        if (low >= 0 && (high || low)) {
            demangle_put(t, &(char){(char)(high << 4 | low)}, 1);
            s += 2;
        } else if (s[0] == '_' && s[1] == '_') {
            demangle_puts(t, ".");
            s++;
        } else {
            demangle_put(t, s, 1);
        }
    }
    return !t->full;
}

/* --- Java: Lpackage/Class;method(types)type, the descriptors of JVMS 4.3, as JIT agents write them
 * ------------- */

/* What a class's name says with dots; up to ";". */
static const char *put_class(const char *s, struct demangle_text *t) {
    for (; *s && *s != ';' && *s != '('; s++)
        demangle_put(t, *s == '/' ? "." : s, 1);
    return *s == ';' ? s + 1 : NULL;
}

static const char *put_java_type(const char *s, struct demangle_text *t) {
    static const char letters[] = "BCDFIJSZV";
    static const char *const names[] = {"byte", "char",  "double",  "float", "int",
                                        "long", "short", "boolean", "void"};
    size_t arrays = strspn(s, "[");
    s += arrays;
    const char *basic = *s ? strchr(letters, *s) : NULL;
    if (*s == 'L') {
        s = put_class(s + 1, t);
    } else if (basic) {
        demangle_puts(t, names[basic - letters]);
        s++;
    } else {
        return NULL;
    }
    for (; arrays && !t->full; arrays--)
        demangle_puts(t, "[]");
    return s;
}

bool demangle_java(const char *name, struct demangle_text *t) {
    const char *s = *name == 'L' && name[1] != ';' ? put_class(name + 1, t) : NULL;
    if (!s || !*s || *s == '(')
        return false;
    if (*s != '<') /* <init>, <clinit> */
        demangle_puts(t, ".");
    while (*s && *s != '(')
        demangle_put(t, s++, 1);
    if (*s++ != '(')
        return false;
    demangle_puts(t, "(");
    for (bool first = true; *s != ')'; first = false) {
        if (!first)
            demangle_puts(t, ", ");
        s = put_java_type(s, t);
        if (!s)
            return false;
    }
    demangle_puts(t, ")");
    return !t->full;
}

/* --- C++ and D: libiberty ------------------------------------------------------------------------------- */

#ifdef HAVE_LIBIBERTY

struct cxx {
    struct demangle_text *text;
    jmp_buf too_long;
};

/* Too much text leaves libiberty, which has no other way to be stopped: a few hundred bytes of name, each
 * substitution doubling the one before, make more than there is memory. It holds nothing but stack meanwhile.
 */
static void append(const char *s, size_t n, void *opaque) {
    struct cxx *x = opaque;
    demangle_put(x->text, s, n);
    if (x->text->full)
        longjmp(x->too_long, 1);
}

/* Parameters and qualifiers, std::string and not its template: as perf prints. Recursion stays limited,
 * without DMGL_NO_RECURSE_LIMIT. */
static bool demangle_cxx(const char *name, struct demangle_text *t) {
    struct cxx x = {.text = t};
    if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_GLOBAL_", 8) != 0)
        return false;
    if (setjmp(x.too_long))
        return false;
    return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, &x);
}

enum { D_NAME_MAX = 1024, D_BACKREFS_MAX = 16 };

/* libiberty hands out D's text whole, so what could double it, back references (Q), is counted before. */
static bool demangle_d(const char *name, struct demangle_text *t) {
    size_t size = strlen(name), backrefs = 0;
    if (strncmp(name, "_D", 2) != 0 || name[2] < '0' || name[2] > '9' || size > D_NAME_MAX)
        return false;
    for (const char *s = name; *s; s++)
        backrefs += *s == 'Q';
    char *text = backrefs > D_BACKREFS_MAX ? NULL : dlang_demangle(name, 0);
    if (text)
        demangle_puts(t, text);
    bool ok = text && !t->full;
    free(text);
    return ok;
}

bool symbol_demangle_knows_cxx(void) {
    return true;
}
#else
static bool demangle_cxx(const char *name, struct demangle_text *t) {
    (void)name, (void)t;
    return false;
}

static bool demangle_d(const char *name, struct demangle_text *t) {
    return demangle_cxx(name, t);
}

bool symbol_demangle_knows_cxx(void) {
    return false;
}
#endif

/* Rust before C++: its legacy names are sound C++ ones too, with the hash for a last part. */
static const struct {
    const char *prefix;
    bool (*demangle)(const char *name, struct demangle_text *t);
} languages[] = {
    {"_ZN", demangle_rust}, {"_R", demangle_rust},    {"_Z", demangle_cxx}, {"_GLOBAL_", demangle_cxx},
    {"_D", demangle_d},     {"caml", demangle_ocaml}, {"L", demangle_java},
};

static const char *demangle_as(size_t language, const char *name, struct arena *arena) {
    struct demangle_text text;
    text.size = 0;
    text.full = false;
    if (!languages[language].demangle(name, &text) || !text.size)
        return NULL;
    return arena_strndup(arena, text.bytes, text.size);
}

const char *symbol_demangle(const char *name, struct arena *arena) {
    if (*name != '_' && *name != 'c' && *name != 'L')
        return NULL;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (strncmp(name, languages[i].prefix, strlen(languages[i].prefix)) != 0)
            continue;
        if (strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
            return NULL;
        const char *text = demangle_as(i, name, arena);
        if (text)
            return text;
    }
    return NULL;
}
