/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "os/loopback.h"

enum { REQUEST_MAX = 16384, CONNECTIONS_MAX = 32, PATIENCE_S = 20 };

/* ---- which requests are answered ---- */

/* Compares in a time that does not tell how much is right. */
static bool same_token(const char *token, const char *given) {
    unsigned differs = 0;
    for (size_t i = 0; i < SERVE_TOKEN; i++) /* the given one is as long */
        differs |= (unsigned char)token[i] ^ (unsigned char)given[i];
    return !differs;
}

/* Finds a header's value: trimmed, *len bytes of the request. NULL: it is not there, or there twice. */
static const char *header(const char *request, const char *name, size_t *len) {
    const char *found = NULL;
    size_t name_len = strlen(name);
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_len) || line[name_len] != ':')
            continue;
        if (found)
            return NULL;
        found = line + name_len + 1;
        found += strspn(found, " \t");
        *len = strcspn(found, "\r\n");
        while (*len && (found[*len - 1] == ' ' || found[*len - 1] == '\t'))
            --*len;
    }
    return found;
}

static bool is_one_of(const char *value, size_t len, const char *scheme, uint16_t port) {
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    char text[64];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        int n = snprintf(text, sizeof text, "%s%s:%u", scheme, hosts[i], port);
        if (len == (size_t)n && !memcmp(value, text, len))
            return true;
    }
    return false;
}

unsigned serve_judge(const struct serve *s, const char *request) {
    size_t len = 0;
    const char *host = header(request, "Host", &len);
    if (!host || !is_one_of(host, len, "", s->port))
        return 403;
    const char *origin = header(request, "Origin", &len);
    if (origin && !is_one_of(origin, len, "http://", s->port))
        return 403;
    const char *site = header(request, "Sec-Fetch-Site", &len);
    bool ours =
        site && ((len == 4 && !memcmp(site, "none", 4)) || (len == 11 && !memcmp(site, "same-origin", 11)));
    if (site && !ours)
        return 403;
    bool get = !strncmp(request, "GET /", 5), head = !strncmp(request, "HEAD /", 6);
    if (!get && !head)
        return 405;
    const char *path = request + (head ? 6 : 5);
    size_t path_len = strcspn(path, " \r\n");
    bool here = path_len == SERVE_TOKEN + 1 && path[SERVE_TOKEN] == '/' && same_token(s->token, path);
    return here ? 200 : 404;
}

/* ---- connections ---- */

struct connection {
    int fd;
    time_t until;
    size_t got; /* bytes of the request */
    char request[REQUEST_MAX + 1];
    char head[768];
    size_t head_len, body_len, sent;
    bool answering;
};

struct serving {
    struct serve *s;
    struct connection list[CONNECTIONS_MAX];
    size_t count;
};

static time_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void answer(const struct serve *s, struct connection *c) {
    unsigned code = c->got > REQUEST_MAX ? 431 : serve_judge(s, c->request);
    const char *words = code == 200   ? "OK"
                        : code == 403 ? "Forbidden"
                        : code == 404 ? "Not Found"
                        : code == 405 ? "Method Not Allowed"
                                      : "Request Header Fields Too Large";
    bool body = code == 200 && c->request[0] == 'G';
    c->head_len = (size_t)snprintf(
        c->head, sizeof c->head,
        "HTTP/1.1 %u %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\nConnection: "
        "close\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
        "X-Frame-Options: DENY\r\nCross-Origin-Opener-Policy: same-origin\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        code, words, code == 200 ? s->page.size : 0);
    c->body_len = body ? s->page.size : 0;
    c->answering = true;
}

/* Reads more of a request. False: the connection is over. */
static bool take(const struct serve *s, struct connection *c) {
    ssize_t n = read(c->fd, c->request + c->got, REQUEST_MAX - c->got);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    c->got += (size_t)n;
    c->request[c->got] = '\0';
    if (strstr(c->request, "\r\n\r\n"))
        answer(s, c);
    else if (c->got == REQUEST_MAX || memchr(c->request, '\0', c->got)) {
        c->got = REQUEST_MAX + 1;
        answer(s, c);
    }
    return true;
}

/* Writes more of an answer. False: the connection is over. */
static bool give(const struct serve *s, struct connection *c) {
    bool in_head = c->sent < c->head_len;
    const char *from = in_head ? c->head + c->sent : (const char *)s->page.data + (c->sent - c->head_len);
    size_t left = in_head ? c->head_len - c->sent : c->head_len + c->body_len - c->sent;
    ssize_t n = left ? write(c->fd, from, left) : 0;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->sent += (size_t)n;
    c->until = now() + PATIENCE_S;
    return c->sent < c->head_len + c->body_len;
}

static void accept_one(struct serving *v) {
    int fd = os_loopback_accept(v->s->fd);
    if (fd < 0)
        return;
    if (v->count == CONNECTIONS_MAX) {
        close(fd);
        return;
    }
    struct connection *c = &v->list[v->count++];
    c->fd = fd;
    c->until = now() + PATIENCE_S;
    c->got = c->sent = c->head_len = c->body_len = 0;
    c->answering = false;
}

static void serve_ready(struct serving *v, const struct pollfd *polled, size_t n) {
    for (size_t i = n; i-- > 0;) { /* from the end: the last one takes the place of one that is over */
        struct connection *c = &v->list[i];
        bool goes_on = now() < c->until;
        if (goes_on && polled[i].revents)
            goes_on = c->answering ? give(v->s, c) : take(v->s, c);
        if (goes_on)
            continue;
        close(c->fd);
        if (i != v->count - 1)
            *c = v->list[v->count - 1];
        v->count--;
    }
}

/* ---- until ^C ---- */

static volatile sig_atomic_t ended;

static void end(int sig) {
    (void)sig;
    ended = 1;
}

bool serve_open(struct serve *s, struct err *err) {
    unsigned char random[SERVE_TOKEN / 2];
    if (!os_random(random, sizeof random, err))
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    s->fd = os_loopback_listen(&s->port, err);
    return s->fd >= 0;
}

bool serve_run(struct serve *s, struct err *err) {
    struct serving *v = calloc(1, sizeof *v);
    struct sigaction stop = {.sa_handler = end}, ignore = {.sa_handler = SIG_IGN}, old_int, old_term,
                     old_pipe;
    bool ok = v || err_memory(err, "server");
    ended = 0;
    sigaction(SIGINT, &stop, &old_int);
    sigaction(SIGTERM, &stop, &old_term);
    sigaction(SIGPIPE, &ignore, &old_pipe);
    if (v)
        v->s = s;
    while (ok && !ended) {
        struct pollfd polled[CONNECTIONS_MAX + 1];
        size_t n = v->count;
        for (size_t i = 0; i < n; i++)
            polled[i] = (struct pollfd){v->list[i].fd, v->list[i].answering ? POLLOUT : POLLIN, 0};
        polled[n] = (struct pollfd){s->fd, POLLIN, 0};
        if (poll(polled, n + 1, 1000) < 0 && errno != EINTR)
            ok = err_errno(err, errno, NULL, "poll");
        if (!ok || ended)
            break;
        serve_ready(v, polled, n);
        if (polled[n].revents)
            accept_one(v);
    }
    for (size_t i = 0; v && i < v->count; i++)
        close(v->list[i].fd);
    close(s->fd);
    free(v);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
    return ok;
}
