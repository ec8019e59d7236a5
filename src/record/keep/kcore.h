/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a kernel's code as it lies in memory, patched as it runs (proc(5), /proc/kcore), with the list of
 * its symbols and that of its modules, so that whoever reads the recording later has what ran:
 *
 *     FOLDER/kcore      an ELF file of type ET_CORE: one PT_LOAD per range, at the addresses where it ran
 *     FOLDER/kallsyms, FOLDER/modules
 *
 * as perf lays it out in RECORDING/kcore_dir (perf.data-directory-format) and in the cache, in
 * [kernel.kcore]/BUILD-ID/DATE (perf-buildid-cache(1), --kcore). Copied are the kernel's text, its notes,
 * which hold the build-id, its banner, and modules; of what is listed as code elsewhere (BPF programs,
 * trampolines, modules' init) the pages.
 */
#ifndef SONDE_RECORD_KEEP_KCORE_H
#define SONDE_RECORD_KEEP_KCORE_H

#include "base/writer.h"
#include "object/build_id.h"
#include "os/core.h"
#include "os/files/output.h"

struct record_kcore {
    struct os_core core;
    struct writer kallsyms, modules; /* the texts */
};

/* Opens FILE ("/proc/kcore") and the lists in the same folder. False and *err when there is no such file, it
 * may not be read, or the list hides its addresses. */
bool record_kcore_open(struct record_kcore *k, const char *path, struct err *err);
void record_kcore_close(struct record_kcore *k);

/* The build-id in the kernel's notes; false when they are not there. */
bool record_kcore_id(const struct record_kcore *k, struct object_build_id *out);

/* Writes the ELF file. False and *err when nothing of the kernel's text is there, or writing failed. */
bool record_kcore_write(const struct record_kcore *k, const struct os_output *to, struct err *err);

/* The three files in a new folder. False and *err on failure. */
bool record_kcore_copy(const struct record_kcore *k, const char *folder, struct err *err);

/* Makes the folder of a new recording, where an older one makes way, with a copy of the kernel of FILE in it.
 * Where that cannot be had, an older recording stays as it is. */
bool record_kcore_begin(const char *from, const char *recording, struct err *err);

/* Puts it into the build-id cache; *added: it was not there yet, with the same modules at the same addresses.
 * `id`: the kernel's, in hexadecimal. */
bool record_kcore_cache(const struct record_kcore *k, const char *cache, const char *id, bool *added,
                        struct err *err);

#endif
