/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/compare/names.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Whether a part of a name, without its dot, says that the function is a clone. */
static bool is_suffix(const char *part, size_t len) {
    static const char *const words[] = {"constprop", "isra", "part",      "cold",
                                        "lto_priv",  "llvm", "localalias"};
    size_t digits = 0;
    while (digits < len && is_digit(part[digits]))
        digits++;
    if (len && digits == len)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (len == strlen(words[i]) && memcmp(part, words[i], len) == 0)
            return true;
    return false;
}

size_t compare_function_stem(const char *name, size_t len) {
    size_t end = len;
    bool word = false; /* numbers alone are another function of that name */
    for (size_t at = len; at > 1;) {
        size_t dot = at;
        while (dot > 0 && name[dot - 1] != '.')
            dot--;
        if (dot < 2 || !is_suffix(name + dot, at - dot))
            break;
        word |= !is_digit(name[dot]);
        at = dot - 1;
        if (word)
            end = at;
    }
    return end;
}

size_t compare_library_stem(const char *path, size_t *from) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *so = strstr(name, ".so");
    *from = (size_t)(name - path);
    if (!so || so == name || (so[3] && so[3] != '.'))
        return strlen(name);
    size_t end = (size_t)(so - name), at = end;
    while (at > 0 && (is_digit(name[at - 1]) || name[at - 1] == '.'))
        at--;
    return at > 1 && at < end && name[at - 1] == '-' ? at - 1 : end;
}

/* Whether the part of a program's name after a separator tells one build of it from another. */
static bool is_build(const char *part, size_t len) {
    static const char *const words[] = {"old",  "new",   "orig",    "bak",  "before", "after",
                                        "base", "head",  "main",    "slow", "fast",   "opt",
                                        "dbg",  "debug", "release", "prev", "cur"};
    size_t at = len && part[0] == 'v';
    if (at == len)
        return false;
    for (; at < len && is_digit(part[at]); at++)
        ;
    if (at == len)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (len == strlen(words[i]) && memcmp(part, words[i], len) == 0)
            return true;
    return false;
}

size_t compare_program_stem(const char *name, size_t len) {
    if (len > 1 && name[len - 1] == '~')
        len--;
    for (size_t at = len; at > 1;) {
        while (at > 0 && !strchr("-._", name[at - 1]))
            at--;
        if (at < 2 || !is_build(name + at, len - at))
            break;
        len = --at;
    }
    return len;
}
