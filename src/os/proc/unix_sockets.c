/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected with whom among unix sockets: sock_diag(7), which any user may ask. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/proc/proc_internal.h"

enum { ANSWER_ROOM = 64 << 10 };

static bool ask(int fd, struct err *err) {
    const struct {
        struct nlmsghdr head;
        struct unix_diag_req body;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.sdiag_family = AF_UNIX,
                 .udiag_states = UINT32_MAX,
                 .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_NAME},
    };
    ssize_t n = TEMP_FAILURE_RETRY(send(fd, &request, sizeof request, 0));
    return n == sizeof request || err_errno(err, errno, "unix sockets", "cannot ask for sockets");
}

static void take_name(struct os_unix_socket *s, const char *name, size_t n) {
    n = n < sizeof s->name ? n : sizeof s->name - 1;
    if (n)
        memcpy(s->name, name, n);
    if (n && !s->name[0])
        s->name[0] = '@';
}

static bool take(os_unix_sockets *out, const struct nlmsghdr *head) {
    const struct unix_diag_msg *m = NLMSG_DATA(head);
    if (head->nlmsg_len < NLMSG_LENGTH(sizeof *m))
        return true;
    struct os_unix_socket *s = vec_push(out);
    if (!s)
        return false;
    s->ino = m->udiag_ino;
    int left = (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof *m));
    for (const struct rtattr *a = (const struct rtattr *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof s->peer_ino)
            memcpy(&s->peer_ino, RTA_DATA(a), sizeof s->peer_ino);
        else if (a->rta_type == UNIX_DIAG_NAME)
            take_name(s, RTA_DATA(a), RTA_PAYLOAD(a));
    }
    return true;
}

/* 1: go on; 0: that was all; -1: *err says why. */
static int take_answer(os_unix_sockets *out, const void *answer, ssize_t size, struct err *err) {
    size_t left = (size_t)size;
    for (const struct nlmsghdr *h = answer; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *e = NLMSG_DATA(h);
            err_errno(err, h->nlmsg_len >= NLMSG_LENGTH(sizeof *e) ? -e->error : EIO, "unix sockets",
                      "cannot ask for sockets");
            return -1;
        }
        if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY && !take(out, h)) {
            err_memory(err, "sockets");
            return -1;
        }
    }
    return 1;
}

bool os_unix_sockets_read(void *ctx, os_unix_sockets *out, struct err *err) {
    (void)ctx;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return err_errno(err, errno, "unix sockets", "cannot ask for sockets");
    void *room = malloc(ANSWER_ROOM);
    bool asked = room ? ask(fd, err) : err_memory(err, "sockets");
    int more = asked ? 1 : -1;
    while (more > 0) {
        ssize_t n = TEMP_FAILURE_RETRY(recv(fd, room, ANSWER_ROOM, 0));
        if (n <= 0) {
            err_errno(err, n < 0 ? errno : EIO, "unix sockets", "cannot ask for sockets");
            more = -1;
        } else {
            more = take_answer(out, room, n, err);
        }
    }
    free(room);
    close(fd);
    return more == 0;
}
