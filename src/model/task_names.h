/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of threads as perf report shows them, which script does not: it knows them by later records as
 * well, and still when they have exited.
 */
#ifndef SONDE_MODEL_TASK_NAMES_H
#define SONDE_MODEL_TASK_NAMES_H

#include "model/model.h"

/* As model_comm_at, but names a thread by a later comm where there is none yet, and after its exit by the
 * comm that it had. */
struct model_comm_span model_task_name_at(const struct model *m, uint32_t pid, uint32_t tid,
                                          struct model_when when);
/* Returns the last comm of a thread (MODEL_NONE: none). If its process had other threads when it called exec,
 * the model has a new thread from there on, as any of them may have called it; to the user it is the same
 * one. */
const char *model_task_last_name(const struct model *m, uint32_t thread);

#endif
