/* SPDX-License-Identifier: Apache-2.0 */
#include "os/uevents.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

int os_uevents_open(void) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool os_uevents_is_module(struct bytes text) {
    static const char FOLDER[] = "@/module/";
    const uint8_t *at = text.size ? memchr(text.data, '@', text.size) : NULL;
    size_t n = sizeof FOLDER - 1;
    return at && (size_t)(text.data + text.size - at) > n && memcmp(at, FOLDER, n) == 0;
}

bool os_uevents_modules(int fd) {
    uint8_t room[4096];
    bool any = false;
    for (;;) {
        ssize_t n = recv(fd, room, sizeof room, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return any || errno == ENOBUFS; /* more came than there was room for: better look */
        any |= os_uevents_is_module((struct bytes){room, (size_t)n});
    }
}
