/* SPDX-License-Identifier: Apache-2.0 */
/* The program that was recorded, under whatever name each side has it. */
#ifndef SONDE_PROFILE_COMPARE_PROGRAM_H
#define SONDE_PROFILE_COMPARE_PROGRAM_H

#include "profile/compare/compare.h"

/* Fills names[count] with the file name of each side's program, if they differ and stand for one program: the
 * command of each side names one sampled image, which is no library, and none of these is an image of a side
 * that has another one; or else each side has sampled one whose name is the others' but for what tells builds
 * apart (compare_program_stem). Otherwise, and where all are one build, names[0] is NULL. The names live as
 * long as the profiles. False: out of memory. */
bool compare_programs_find(const struct compare_side *sides, uint32_t count, const char **names);

/* Returns the stem of an object's path or name (compare_library_stem), and its length; that of the base's
 * program for all names of it. */
const char *compare_object_stem(const struct compare *c, const char *path, size_t *len);

#endif
