/* SPDX-License-Identifier: Apache-2.0 */
/* How to get debugging information here: from a server, or as a package of the system. */
#include <stdio.h>
#include <string.h>

#include "cmd/doctor/doctor.h"

/* The value of a line NAME=VALUE of os-release(5), without quotes. */
static const char *release_value(struct doctor *d, const char *text, const char *name) {
    size_t len = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) || line[len] != '=')
            continue;
        const char *value = line + len + 1;
        value += *value == '"';
        return doctor_text(d, "%.*s", (int)strcspn(value, "\"\n"), value);
    }
    return "";
}

/* True when one of the list's lines is the path, with or without /usr (merged since). */
static bool lists(const char *list, const char *path) {
    size_t len = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at += len)
        if ((at == list || at[-1] == '\n' || (at - list >= 4 && !strncmp(at - 4, "/usr", 4))) &&
            (at[len] == '\n' || !at[len]))
            return true;
    return false;
}

/* The Debian package that brought a file, or NULL: /var/lib/dpkg/info/PACKAGE[:ARCH].list has its path. */
static const char *package_of(struct doctor *d, const struct sysfs *system, const char *path) {
    static const char folder[] = "/var/lib/dpkg/info";
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    const char *found = NULL, *bare = strncmp(path, "/usr/", 5) ? path : path + 4;
    bool listed = *path && system->list(system, folder, &scratch, &names, NULL);
    for (size_t i = 0; listed && !found && i < names.count; i++) {
        size_t len = strlen(names.items[i]);
        if (len < 6 || strcmp(names.items[i] + len - 5, ".list"))
            continue;
        struct arena text = ARENA_INIT;
        char whole[512];
        snprintf(whole, sizeof whole, "%s/%s", folder, names.items[i]);
        const char *list = system->read(system, whole, &text, NULL);
        if (list && lists(list, bare))
            found = doctor_text(d, "%.*s", (int)strcspn(names.items[i], ":"), names.items[i]);
        if (found && strlen(found) == len) /* without an architecture */
            found = doctor_text(d, "%.*s", (int)len - 5, found);
        arena_fini(&text);
    }
    arena_fini(&scratch);
    return found;
}

/* The text of apt's lists of sources, one after the other. */
static const char *apt_sources(struct doctor *d, const struct sysfs *system) {
    static const char folder[] = "/etc/apt/sources.list.d";
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    const char *all = system->read(system, "/etc/apt/sources.list", &d->texts, NULL);
    all = all ? all : "";
    bool listed = system->list(system, folder, &scratch, &names, NULL);
    for (size_t i = 0; listed && i < names.count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names.items[i]);
        const char *text = system->read(system, path, &scratch, NULL);
        if (text)
            all = doctor_text(d, "%s\n%s", all, text);
    }
    arena_fini(&scratch);
    return all;
}

/* The Debian mirror that apt uses: the first address of `sources` that ends with /debian; NULL: none. */
static const char *debian_mirror(struct doctor *d, const char *sources) {
    static const char end[] = "/debian";
    for (const char *at = sources; (at = strstr(at, "http")); at++) {
        size_t len = strcspn(at, " \t\n");
        while (len && at[len - 1] == '/')
            len--;
        if (len > sizeof end && !strncmp(at + len - (sizeof end - 1), end, sizeof end - 1))
            return doctor_text(d, "%.*s", (int)len, at);
    }
    return NULL;
}

/* ---- repositories of debugging information ---- */

/* What makes apt find the package, and installs it; NULL: it is not known where that system keeps them. A
 * library's own -dbg package is in the main archive. Packages named -dbgsym are in archives that nobody has
 * by default: https://wiki.debian.org/HowToGetABacktrace (beside the mirror's own, as debian-debug),
 * https://documentation.ubuntu.com/server (debug symbol packages). */
static const char *apt_advice(struct doctor *d, const struct sysfs *system, const char *release,
                              const char *package) {
    static const char list[] = "/etc/apt/sources.list.d/debug.list";
    const char *codename = release_value(d, release, "VERSION_CODENAME"),
               *ubuntu = release_value(d, release, "UBUNTU_CODENAME"), *sources = apt_sources(d, system);
    if (!strcmp(package, "libc6"))
        return "sudo apt install libc6-dbg";
    const char *install = doctor_text(d, "sudo apt install %s-dbgsym", package);
    if (*ubuntu)
        return strstr(sources, "ddebs.ubuntu.com")
                   ? install
                   : doctor_text(d,
                                 "sudo apt install ubuntu-dbgsym-keyring && printf 'deb "
                                 "http://ddebs.ubuntu.com %%s main restricted universe multiverse\\n' %s "
                                 "%s-updates | sudo tee %s && sudo apt update && %s",
                                 ubuntu, ubuntu, list, install);
    if (strcmp(release_value(d, release, "ID"), "debian"))
        return NULL;
    const char *mirror = debian_mirror(d, sources);
    if (strstr(sources, "debian-debug"))
        return install;
    return mirror ? doctor_text(d, "echo 'deb %s-debug %s-debug main' | sudo tee %s && sudo apt update && %s",
                                mirror, *codename ? codename : "unstable", list, install)
                  : doctor_text(d,
                                "with Debian's archive debian-debug among apt's sources "
                                "(https://wiki.debian.org/HowToGetABacktrace), %s",
                                install);
}

const char *doctor_debug_advice(struct doctor *d, const struct sysfs *system, const char *path) {
    static const struct {
        const char *id, *url;
    } servers[] = {
        {"debian", "https://debuginfod.debian.net"},        {"ubuntu", "https://debuginfod.ubuntu.com"},
        {"fedora", "https://debuginfod.fedoraproject.org"}, {"arch", "https://debuginfod.archlinux.org"},
        {"opensuse", "https://debuginfod.opensuse.org"},
    };
    const char *text = system->read(system, "/etc/os-release", &d->texts, NULL);
    const char *id = text ? release_value(d, text, "ID") : "",
               *like = text ? release_value(d, text, "ID_LIKE") : "";
    const char *url = "https://debuginfod.elfutils.org";
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (!strncmp(id, servers[i].id, strlen(servers[i].id)))
            url = servers[i].url;
    const char *server = doctor_text(d, "export DEBUGINFOD_URLS=%s", url);
    const char *package = package_of(d, system, path), *more = NULL;
    if (package)
        more = apt_advice(d, system, text ? text : "", package);
    else if (*path && (!strcmp(id, "fedora") || strstr(like, "rhel") || strstr(like, "fedora")))
        more =
            doctor_text(d, "sudo dnf debuginfo-install %s (which turns its debuginfo repositories on)", path);
    return more ? doctor_text(d, "%s, or %s", server, more) : server;
}
