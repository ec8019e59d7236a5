/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a recording with their address spaces, as `report --mmaps` prints them. */
#ifndef SONDE_VIEW_MMAPS_H
#define SONDE_VIEW_MMAPS_H

#include "base/err.h"
#include "base/out.h"
#include "model/model.h"
#include "stream/stream.h"

/*
 * The tree of tasks.h, and below each thread what its process had mapped at the end (its own, or the
 * recording's). `m` is frozen and follows tasks and maps; `s` is the stream that it was made from: the
 * records say what the model does not keep. False: no memory.
 */
bool mmaps_print(const struct model *m, const struct stream *s, struct out *out, struct err *err);

#endif
