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
 * were, where that is known. Else the image fails. *proved (may be NULL) becomes true when the recording
 * brings what proves it.
 */
bool store_list_matches(struct symbol_store *s, struct store_image *im, const char *path,
                        const struct kernel_list *list, bool *proved);

/* The name of a module as the kernel has it, in the image's arena: /lib/modules/V/kernel/net/nf-nat.ko.xz ->
 * nf_nat, [ext4] -> ext4. */
struct bytes store_module_name(struct store_image *im, const char *path);

/* The next of the files that the user vouches for: start with *rest = options.force_images. NULL at the end.
 */
const char *store_next_forced(struct store_image *im, const char **rest);

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

extern const char STORE_LIVE_LIST[]; /* its path */
extern const char STORE_KEPT_LIST[]; /* what to call the recording's own list */

#endif
