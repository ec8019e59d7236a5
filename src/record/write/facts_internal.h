/* SPDX-License-Identifier: Apache-2.0 */
/* Between facts.c, topology.c and tracing.c. */
#ifndef SONDE_RECORD_WRITE_FACTS_INTERNAL_H
#define SONDE_RECORD_WRITE_FACTS_INTERNAL_H

#include "record/write/facts.h"

/* The text of a small file, in f's arena; NULL when it cannot be read. */
const char *record_facts_read(struct record_facts *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* How many numbers a list like "0-2,5" has; 0 for NULL. */
uint32_t record_facts_count_list(const char *list);

#endif
