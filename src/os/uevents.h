/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's announcements of what comes and goes (netlink(7), NETLINK_KOBJECT_UEVENT; the texts are those
 * of Documentation/core-api/kobject.rst): of kernel modules here. */
#ifndef SONDE_OS_UEVENTS_H
#define SONDE_OS_UEVENTS_H

#include "base/bytes.h"

/* A descriptor that becomes readable when there is something; -1 where the kernel does not tell us (a network
 * namespace of a container). */
int os_uevents_open(void);

/* Takes all that has come; whether any of it is about a module, or some was lost. Does not wait. */
bool os_uevents_modules(int fd);

/* Whether one announcement is: it begins "ACTION@PATH", and modules' paths with /module/. */
bool os_uevents_is_module(struct bytes text);

#endif
