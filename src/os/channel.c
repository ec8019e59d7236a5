/* SPDX-License-Identifier: Apache-2.0 */
#include "os/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool take_number(const char *text, size_t len, int *fd, struct err *err) {
    char number[16], *end;
    snprintf(number, sizeof number, "%.*s", (int)len, text);
    long n = strtol(number, &end, 10);
    if (len == 0 || len >= sizeof number || *end || n < 0 || fcntl((int)n, F_GETFD) < 0)
        return err_set(err, ERR_USAGE, "--control", "'%.*s' is no open descriptor", (int)len, text);
    *fd = (int)n;
    return true;
}

/* For reading and writing: a FIFO opened so neither waits for the other side nor ends when that goes. */
static bool take_fifo(const char *text, size_t len, int *fd, struct err *err) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%.*s", (int)len, text) >= sizeof path)
        return err_set(err, ERR_USAGE, "--control", "the name is too long");
    *fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return *fd >= 0 || err_errno(err, errno, path, "cannot open the FIFO");
}

bool os_channel_open(struct os_channel *c, const char *text, struct err *err) {
    bool fifo = strncmp(text, "fifo:", 5) == 0;
    *c = (struct os_channel){-1, -1, fifo};
    if (!fifo && strncmp(text, "fd:", 3) != 0)
        return err_set(err, ERR_USAGE, "--control", "'%s' is neither fd:IN[,OUT] nor fifo:IN[,OUT]", text);
    const char *in = text + (fifo ? 5 : 3);
    size_t len = strcspn(in, ",");
    bool (*take)(const char *, size_t, int *, struct err *) = fifo ? take_fifo : take_number;
    if (take(in, len, &c->in, err) && (!in[len] || take(in + len + 1, strlen(in + len + 1), &c->out, err)))
        return true;
    os_channel_close(c);
    return false;
}

void os_channel_close(struct os_channel *c) {
    if (c->owned && c->in >= 0)
        close(c->in);
    if (c->owned && c->out >= 0)
        close(c->out);
    *c = (struct os_channel){-1, -1, false};
}

ssize_t os_channel_read(const struct os_channel *c, char *p, size_t n) {
    ssize_t got = read(c->in, p, n);
    return got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

void os_channel_write(const struct os_channel *c, const char *text) {
    size_t n = strlen(text);
    while (c->out >= 0 && n) {
        ssize_t done = write(c->out, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return; /* nobody listens */
        text += done;
        n -= (size_t)done;
    }
}
