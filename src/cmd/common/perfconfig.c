/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/perfconfig.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum { NAME_MAX_BYTES = 256, VALUE_MAX_BYTES = 4096, FILE_MAX_BYTES = 1 << 20 };

#define SYSTEM_CONFIG "/etc/perfconfig"
#define USER_CONFIG   ".perfconfig"

struct reader {
    const uint8_t *at, *end;
    unsigned line;
};

void perfconfig_fini(struct perfconfig *c) {
    vec_fini(&c->entries);
    arena_fini(&c->arena);
}

/* Returns the next character, with CRLF as LF; -1: the end. */
static int take(struct reader *r) {
    if (r->at == r->end)
        return -1;
    if (*r->at == '\r' && r->end - r->at > 1 && r->at[1] == '\n')
        r->at++;
    int c = *r->at++;
    r->line += c == '\n';
    return c;
}

static int peek(const struct reader *r) {
    return r->at == r->end ? -1 : *r->at;
}

static void skip_line(struct reader *r) {
    int c;
    do
        c = take(r);
    while (c >= 0 && c != '\n');
}

/* Reads "[section]" or "[section "sub"]" after the bracket; the two parts are joined by a dot. */
static bool section(struct reader *r, char *name) {
    size_t n = 0;
    bool quoted = false;
    for (;;) {
        int c = take(r);
        if (c < 0 || c == '\n' || n >= NAME_MAX_BYTES - 2)
            return false;
        if (c == ']' && !quoted)
            break;
        if (c == '"') {
            quoted = !quoted;
            continue;
        }
        if (!quoted && isspace(c)) {
            while (peek(r) == ' ' || peek(r) == '\t')
                take(r);
            c = peek(r) == '"' ? '.' : 0;
        } else if (c == '\\') {
            c = take(r);
            if (c != '"' && c != '\\')
                return false;
        }
        if (c)
            name[n++] = (char)c;
    }
    name[n] = 0;
    return n > 0;
}

static int escaped(int c) {
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case '"':
    case '\\':
        return c;
    default:
        return -1;
    }
}

/* Reads what follows "name =" up to the end of the line, without outer blanks and comments; quoted parts are
 * kept. */
static bool value(struct reader *r, char *text) {
    size_t n = 0, keep = 0; /* only blanks so far after `keep` */
    bool quoted = false;
    for (;;) {
        int c = take(r);
        if (c < 0 || c == '\n')
            break;
        if (!quoted && (c == '#' || c == ';')) {
            skip_line(r);
            break;
        }
        if (c == '"') {
            quoted = !quoted;
            keep = n;
            continue;
        }
        bool blank = !quoted && isspace(c);
        if (blank && n == 0)
            continue;
        if (c == '\\') {
            c = take(r);
            if (c == '\n')
                continue;
            c = escaped(c);
        }
        if (c < 0 || n >= VALUE_MAX_BYTES - 1)
            return false;
        text[n++] = (char)c;
        if (!blank)
            keep = n;
    }
    text[keep] = 0;
    return !quoted;
}

static bool add(struct perfconfig *c, const char *section_name, const char *name, const char *text) {
    size_t ns = strlen(section_name), nn = strlen(name);
    char *key = arena_alloc(&c->arena, ns + nn + 2);
    const char *copy = text ? arena_strndup(&c->arena, text, strlen(text)) : NULL;
    if (!key || (text && !copy))
        return false;
    snprintf(key, ns + nn + 2, "%s.%s", section_name, name);
    struct perfconfig_entry *slot = vec_push(&c->entries);
    if (!slot)
        return false;
    *slot = (struct perfconfig_entry){key, copy};
    return true;
}

static bool variable(struct perfconfig *c, struct reader *r, const char *section_name) {
    char name[NAME_MAX_BYTES], text[VALUE_MAX_BYTES];
    size_t n = 0;
    if (!isalpha(peek(r)) || !*section_name)
        return false;
    while (isalnum(peek(r)) || peek(r) == '-' || peek(r) == '_') {
        if (n == sizeof name - 1)
            return false;
        name[n++] = (char)take(r);
    }
    name[n] = 0;
    while (peek(r) == ' ' || peek(r) == '\t')
        take(r);
    int sep = take(r);
    if (sep < 0 || sep == '\n')
        return add(c, section_name, name, NULL);
    return sep == '=' && value(r, text) && add(c, section_name, name, text);
}

bool perfconfig_parse(struct perfconfig *c, struct bytes text, const char *path, struct err *e) {
    struct reader r = {text.data, text.data + text.size, 1};
    char section_name[NAME_MAX_BYTES] = "";
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
        r.at += 3;
    while (peek(&r) >= 0) {
        int ch = peek(&r);
        unsigned line = r.line;
        bool ok = true;
        if (isspace(ch)) {
            take(&r);
        } else if (ch == '#' || ch == ';') {
            skip_line(&r);
        } else if (ch == '[') {
            take(&r);
            ok = section(&r, section_name);
        } else {
            ok = variable(c, &r, section_name);
        }
        if (!ok)
            return err_set(e, ERR_BROKEN, "", "bad config file line %u in %s", line, path);
    }
    return true;
}

/* Opens a file that is ours or root's; -1: it does not exist, or is somebody else's (reported). */
static int open_trusted(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            log_line(LOG_WARN, "failed to open %s: %s", path, strerror(errno));
        return -1;
    }
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid() || S_ISCHR(st.st_mode)))
        return fd;
    log_line(LOG_WARN, "File %s not owned by current user or root, ignoring it.", path);
    close(fd);
    return -1;
}

static void load_file(struct perfconfig *c, const char *path) {
    int fd = open_trusted(path);
    if (fd < 0)
        return;
    uint8_t *buf = malloc(FILE_MAX_BYTES);
    size_t n = 0;
    ssize_t got = 0;
    while (buf && n < FILE_MAX_BYTES && (got = read(fd, buf + n, FILE_MAX_BYTES - n)) > 0)
        n += (size_t)got;
    close(fd);
    struct err e = ERR_INIT;
    if (!buf || got < 0)
        log_line(LOG_WARN, "failed to read %s: %s", path, strerror(errno));
    else if (!perfconfig_parse(c, (struct bytes){buf, n}, path, &e))
        log_line(LOG_WARN, "%s", e.message);
    free(buf);
}

void perfconfig_load(struct perfconfig *c) {
    const char *given = getenv("PERF_CONFIG");
    if (given && *given) {
        load_file(c, given);
        return;
    }
    load_file(c, SYSTEM_CONFIG);
    const char *home = getenv("HOME");
    char path[4096];
    if (home && snprintf(path, sizeof path, "%s/%s", home, USER_CONFIG) < (int)sizeof path)
        load_file(c, path);
}

static const struct perfconfig_entry *find(const struct perfconfig *c, const char *key) {
    for (size_t i = c->entries.count; i-- > 0;)
        if (strcasecmp(c->entries.items[i].key, key) == 0)
            return &c->entries.items[i];
    return NULL;
}

const char *perfconfig_text(const struct perfconfig *c, const char *key) {
    const struct perfconfig_entry *entry = find(c, key);
    return entry ? entry->value : NULL;
}

bool perfconfig_bool(const struct perfconfig *c, const char *key, bool fallback) {
    static const struct {
        const char *word;
        bool means;
    } words[] = {{"true", true},   {"yes", true}, {"on", true},   {"1", true},
                 {"false", false}, {"no", false}, {"off", false}, {"0", false}};
    const struct perfconfig_entry *entry = find(c, key);
    if (!entry)
        return fallback;
    if (!entry->value)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(entry->value, words[i].word) == 0)
            return words[i].means;
    log_line(LOG_WARN, "bad config value for '%s', ignoring...", key);
    return fallback;
}
