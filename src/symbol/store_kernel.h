/* SPDX-License-Identifier: Apache-2.0 */
/* What modules need of what is known about their kernel. */
#ifndef SONDE_SYMBOL_STORE_KERNEL_H
#define SONDE_SYMBOL_STORE_KERNEL_H

#include "symbol/store_internal.h"

/* The host's or the guest's. */
const struct symbol_kernel_options *store_kernel_options(const struct symbol_store *s,
                                                         const struct store_image *im);

/* What the recording knows of the kernel that an image belongs to: itself, a module's, a vdso's; NULL:
 * nothing. */
const struct symbol_image *store_kernel_of(const struct symbol_store *s, const struct store_image *im);

/*
 * True when nothing says that `list` is not of the kernel that was recorded, as it was relocated then: it has
 * the reference symbol at its recorded address, its text has the recorded length and modules lie where they
 * were, where that is known. Else the image fails. *proved becomes true when the recording brings what proves
 * it.
 */
bool store_list_matches(struct symbol_store *s, struct store_image *im, const char *path,
                        const struct kernel_list *list, bool *proved);

/* The name of a module as the kernel has it, in the image's arena: /lib/modules/V/kernel/net/nf-nat.ko.xz ->
 * nf_nat, [ext4] -> ext4. */
struct bytes store_module_name(struct store_image *im, const char *path);

/* The next of the files that the user vouches for: start with *rest = options.force_images. NULL at the end.
 * *of is the image that it is said to be (a name, or a path), NULL where only the file was given. */
const char *store_next_forced(struct store_image *im, const char **rest, const char **of);

/* Fails the image for a file that the user named and that is not there: he should hear of that. Returns
 * false. */
bool store_fail_given(struct store_image *im, const char *path);

/* Why the running kernel cannot be the recorded one, or NULL: it has the same build-id or, when none was
 * recorded (*proved is false then), the same release. Says nothing about the boot. */
const char *store_not_running(struct symbol_store *s, struct store_image *im,
                              const struct symbol_image *kernel, bool *proved);

/* /proc/kallsyms, if the running kernel is the recorded one and was booted as it was then; unless `whole`, it
 * may lack what modules added. NULL: the image fails. */
const struct kernel_list *store_live_list(struct symbol_store *s, struct store_image *im, bool whole,
                                          bool *proved);

/* The version in a kernel's banner ("Linux version 6.1.0-18-amd64 (..."), where that is not the recorded
 * one's; NULL: it is, or there is no banner. */
const char *store_other_release(struct store_image *im, struct bytes banner, const char *release);

/*
 * Whether the copy of the kernel's memory beside the list at `path`, if there is one, is of the recorded
 * kernel, as it was relocated then: where it was, of its version and build-id; else the image fails. *proved
 * becomes true when the copy has the recorded build-id where the list says that it lies.
 */
bool store_kcore_matches(struct symbol_store *s, struct store_image *im, const char *path, bool *proved);
/* Whether what was returned to follows calls in that copy (store_returns_fit); the image's table is made. */
bool store_kcore_fits(struct symbol_store *s, struct store_image *im, const char *path);
/* The i-th list of the image's kernel that lies in the build-id cache beside such a copy; NULL at the end. */
const char *store_kcore_list(struct symbol_store *s, struct store_image *im, size_t i);

extern const char STORE_LIVE_LIST[]; /* its path */
extern const char STORE_KEPT_LIST[]; /* what to call the recording's own list */

#endif
