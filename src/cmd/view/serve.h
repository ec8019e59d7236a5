/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows one page to browsers of this machine, over HTTP on 127.0.0.1, until ^C.
 *
 * The page is at a path with a random part that only whoever reads our output knows. Any other path tells
 * nothing, the root neither. A request must name us in Host as our address or as localhost, with our port:
 * else it is a page elsewhere that had its own name point here (DNS rebinding). Requests that come from other
 * pages are refused, too.
 */
#ifndef SONDE_CMD_VIEW_SERVE_H
#define SONDE_CMD_VIEW_SERVE_H

#include "base/bytes.h"
#include "base/err.h"

enum { SERVE_TOKEN = 32 }; /* hex digits */

struct serve {
    struct bytes page; /* borrowed */
    uint16_t port;     /* 0: any */
    int fd;
    char token[SERVE_TOKEN + 1];
};

/* Opens s->fd and makes the token. False with *err. */
bool serve_open(struct serve *s, struct err *err);
/* Answers requests until SIGINT or SIGTERM. False with *err. Closes s->fd. */
bool serve_run(struct serve *s, struct err *err);

/* The answer to a request (its head up to the empty line): "200", "403", ... `s` has port and token. */
unsigned serve_judge(const struct serve *s, const char *request);

#endif
