/* SPDX-License-Identifier: Apache-2.0 */
#include "os/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

int os_loopback_listen(uint16_t *port, struct err *err) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int yes = 1;
    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) &&
        !bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, 16) &&
        !getsockname(fd, (struct sockaddr *)&at, &size)) {
        *port = ntohs(at.sin_port);
        return fd;
    }
    if (*port)
        err_errno(err, errno, NULL,
                  "cannot listen on port %u of 127.0.0.1 (use another one, or none for any)", *port);
    else
        err_errno(err, errno, NULL, "cannot listen on 127.0.0.1");
    if (fd >= 0)
        close(fd);
    return -1;
}

int os_loopback_accept(int fd) {
    return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool os_random(void *bytes, size_t n, struct err *err) {
    return getrandom(bytes, n, 0) == (ssize_t)n || err_errno(err, errno, NULL, "no random numbers");
}
