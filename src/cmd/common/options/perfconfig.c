/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/perfconfig.h"

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

enum { NAME_MAX_BYTES = PERFCONFIG_NAME_BYTES, VALUE_MAX_BYTES = PERFCONFIG_VALUE_BYTES };

#define SYSTEM_CONFIG "/etc/perfconfig"
#define USER_CONFIG   ".perfconfig"

struct reader {
    const uint8_t *start, *at, *end;
    unsigned line;
    const uint8_t *behind; /* the last value's text, without the blanks and comment that follow it */
};

void perfconfig_fini(struct perfconfig *c) {
    vec_fini(&c->entries);
    vec_fini(&c->sections);
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
    r->behind = r->at;
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
            r->behind = r->at;
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
        if (blank)
            continue;
        keep = n;
        r->behind = r->at;
    }
    text[keep] = 0;
    return !quoted;
}

static bool add(struct perfconfig *c, const char *name, const char *text, size_t at, size_t end) {
    const char *section_name = c->sections.items[c->sections.count - 1].name;
    size_t ns = strlen(section_name), nn = strlen(name);
    char *key = arena_alloc(&c->arena, ns + nn + 2);
    const char *copy = text ? arena_strndup(&c->arena, text, strlen(text)) : NULL;
    if (!key || (text && !copy))
        return false;
    snprintf(key, ns + nn + 2, "%s.%s", section_name, name);
    struct perfconfig_entry *slot = vec_push(&c->entries);
    if (!slot)
        return false;
    *slot = (struct perfconfig_entry){key, copy, at, end};
    return true;
}

static bool add_section(struct perfconfig *c, const char *name) {
    const char *copy = arena_strndup(&c->arena, name, strlen(name));
    struct perfconfig_section *slot = copy ? vec_push(&c->sections) : NULL;
    if (slot)
        slot->name = copy;
    return slot;
}

static bool variable(struct perfconfig *c, struct reader *r, bool in_section) {
    char name[NAME_MAX_BYTES], text[VALUE_MAX_BYTES];
    size_t n = 0, at = (size_t)(r->at - r->start);
    if (!isalpha(peek(r)) || !in_section)
        return false;
    while (isalnum(peek(r)) || peek(r) == '-' || peek(r) == '_') {
        if (n == sizeof name - 1)
            return false;
        name[n++] = (char)take(r);
    }
    name[n] = 0;
    r->behind = r->at;
    while (peek(r) == ' ' || peek(r) == '\t')
        take(r);
    int sep = take(r);
    bool bare = sep < 0 || sep == '\n';
    if (!bare && (sep != '=' || !value(r, text)))
        return false;
    return add(c, name, bare ? NULL : text, at, (size_t)(r->behind - r->start));
}

bool perfconfig_parse(struct perfconfig *c, struct bytes text, const char *path, struct err *e) {
    struct reader r = {.start = text.data, .at = text.data, .line = 1};
    char section_name[NAME_MAX_BYTES];
    bool in_section = false;
    if (text.size == 0)
        return true;
    r.end = text.data + text.size;
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
            ok = in_section = section(&r, section_name) && add_section(c, section_name);
        } else {
            ok = variable(c, &r, in_section);
        }
        if (!ok)
            return err_set(e, ERR_BROKEN, "", "bad config file line %u in %s", line, path);
        if (in_section && !isspace(ch) && ch != '#' && ch != ';')
            c->sections.items[c->sections.count - 1].end = (size_t)(r.at - r.start);
    }
    return true;
}

/* Opens a file that is ours or root's; -1 and *err (ERR_ABSENT when there is none). */
static int open_trusted(const char *path, struct err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        err_set(err, ERR_ABSENT, "", "there is no %s", path);
        return -1;
    }
    if (fd < 0) {
        err_set(err, ERR_IO, "", "failed to open %s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid() || S_ISCHR(st.st_mode)))
        return fd;
    err_set(err, ERR_PERMISSION, "", "File %s not owned by current user or root, ignoring it.", path);
    close(fd);
    return -1;
}

bool perfconfig_read_file(const char *path, struct bytes *text, struct err *err) {
    struct err why = ERR_INIT;
    *text = (struct bytes){NULL, 0};
    int fd = open_trusted(path, &why);
    if (fd < 0 && why.code == ERR_ABSENT)
        return true;
    if (fd < 0)
        return err_set(err, why.code, "", "%s", why.message);
    uint8_t *buf = malloc(PERFCONFIG_BYTES_MAX);
    size_t n = 0;
    ssize_t got = 0;
    while (buf && n < PERFCONFIG_BYTES_MAX && (got = read(fd, buf + n, PERFCONFIG_BYTES_MAX - n)) > 0)
        n += (size_t)got;
    int code = errno;
    close(fd);
    *text = (struct bytes){buf, n};
    if (buf && got == 0)
        return true;
    free(buf);
    *text = (struct bytes){NULL, 0};
    if (!buf)
        return err_memory(err, path);
    return got > 0 ? err_set(err, ERR_UNSUPPORTED, "", "%s is too large for a config file", path)
                   : err_set(err, ERR_IO, "", "failed to read %s: %s", path, strerror(code));
}

void perfconfig_load_file(struct perfconfig *c, const char *path) {
    struct bytes text;
    struct err e = ERR_INIT;
    if (!perfconfig_read_file(path, &text, &e) || !perfconfig_parse(c, text, path, &e)) {
        log_line(LOG_WARN, "%s", e.message);
        c->damaged = true;
    }
    free((void *)text.data);
}

const char *perfconfig_given(void) {
    const char *given = getenv("PERF_CONFIG");
    return given && *given ? given : NULL;
}

const char *perfconfig_path(enum perfconfig_file which, char *room, size_t size) {
    const char *home = getenv("HOME");
    if (which == PERFCONFIG_SYSTEM)
        return SYSTEM_CONFIG;
    return home && snprintf(room, size, "%s/%s", home, USER_CONFIG) < (int)size ? room : NULL;
}

void perfconfig_load(struct perfconfig *c) {
    char room[4096];
    if (perfconfig_given()) {
        perfconfig_load_file(c, perfconfig_given());
        return;
    }
    perfconfig_load_file(c, perfconfig_path(PERFCONFIG_SYSTEM, NULL, 0));
    const char *user = perfconfig_path(PERFCONFIG_USER, room, sizeof room);
    if (user)
        perfconfig_load_file(c, user);
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

int perfconfig_truth(const char *text) {
    static const struct {
        const char *word;
        bool means;
    } words[] = {{"true", true},   {"yes", true}, {"on", true},   {"1", true},
                 {"false", false}, {"no", false}, {"off", false}, {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i].word) == 0)
            return words[i].means;
    return -1;
}

bool perfconfig_bool(const struct perfconfig *c, const char *key, bool fallback) {
    const struct perfconfig_entry *entry = find(c, key);
    if (!entry)
        return fallback;
    int truth = entry->value ? perfconfig_truth(entry->value) : 1;
    if (truth < 0)
        log_line(LOG_WARN, "bad config value for '%s', ignoring...", key);
    return truth < 0 ? fallback : truth;
}
