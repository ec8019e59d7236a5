/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the loaders of kernels and of their modules. */
#ifndef SONDE_SYMBOL_STORE_KERNEL_H
#define SONDE_SYMBOL_STORE_KERNEL_H

#include "symbol/store/store_internal.h"

/* The options for the host's kernel or the guest's, whichever the image belongs to. */
const struct symbol_kernel_options *store_kernel_options(const struct symbol_store *s,
                                                         const struct store_image *im);

/* The recorded kernel that an image belongs to (a module, a vdso, or the kernel itself); NULL: not known. */
const struct symbol_image *store_kernel_of(const struct symbol_store *s, const struct store_image *im);

/*
 * Whether `list` may be of the recorded kernel, as it was relocated then: the reference symbol has its
 * recorded address, the text the recorded length, and modules lie where they were, as far as all this is
 * known. Else the image fails. *proved becomes true if the recording proves the list.
 */
bool store_list_matches(struct symbol_store *s, struct store_image *im, const char *path,
                        const struct kernel_list *list, bool *proved);

/* The kernel's name for a module, in the image's arena: /lib/modules/V/kernel/net/nf-nat.ko.xz -> nf_nat,
 * [ext4] -> ext4. */
struct bytes store_module_name(struct store_image *im, const char *path);

/* The next file that the user vouches for: start with *rest = options.force_images. NULL: there is no more.
 * *of is the image (a name or path) that it is for; NULL: only the file was given. */
const char *store_next_forced(struct store_image *im, const char **rest, const char **of);

/* Fails the image if a file that the user named does not exist, so that there is a warning. Returns false. */
bool store_fail_given(struct store_image *im, const char *path);

/* Why the running kernel cannot be the recorded one; NULL: it has the same build-id or, if none was recorded
 * (*proved is then false), the same release. Does not compare the boot. */
const char *store_not_running(struct symbol_store *s, struct store_image *im,
                              const struct symbol_image *kernel, bool *proved);

/* /proc/kallsyms, if the running kernel is the recorded one and lies where it did; may lack what modules
 * added, unless `whole`. NULL: the image fails. */
const struct kernel_list *store_live_list(struct symbol_store *s, struct store_image *im, bool whole,
                                          bool *proved);

/* The version in a kernel's banner ("Linux version 6.1.0-18-amd64 (...") if it is not `release`; NULL: it is,
 * or there is no banner. */
const char *store_other_release(struct store_image *im, struct bytes banner, const char *release);

/*
 * Whether the copy of the kernel's memory beside the list at `path` is of the recorded kernel: at the same
 * place, with its version and build-id. True if there is no copy; else the image fails. *proved becomes true
 * if the copy has the recorded build-id at the address that the list says.
 */
bool store_kcore_matches(struct symbol_store *s, struct store_image *im, const char *path, bool *proved);
/* store_returns_fit with the code in that copy; the image's table must be made. */
bool store_kcore_fits(struct symbol_store *s, struct store_image *im, const char *path);
/* The copy of the kernel's memory beside the list at `path`; NULL: there is none that can be read. */
struct symfile *store_kcore_beside(struct symbol_store *s, struct store_image *im, const char *path);
/* What the copy has from a recorded address on; empty: it does not have that. */
struct bytes store_kcore_memory(const struct symfile *copy, uint64_t address);
/* Reads the running kernel's memory. */
bool store_kcore_read_live(uint64_t address, uint8_t *to, size_t size, struct err *err);
/* The same from a given file. */
struct os_core;
bool store_kcore_read(const struct os_core *core, uint64_t address, uint8_t *to, size_t size,
                      struct err *err);
/* The code at offsets [start, end) of a module that was loaded from its file. False: it has none there. */
bool store_module_code(struct symbol_store *s, struct store_image *im, uint64_t start, uint64_t end,
                       struct symbol_machine_code *out);
/* The i-th list of the image's kernel in the build-id cache that has such a copy; NULL: there is no more. */
const char *store_kcore_list(struct symbol_store *s, struct store_image *im, size_t i);

extern const char STORE_LIVE_LIST[]; /* path of the running kernel's list */
extern const char STORE_LIVE_CORE[]; /* path of the running kernel's memory */
extern const char STORE_KEPT_LIST[]; /* name of the recording's own list in messages */

#endif
