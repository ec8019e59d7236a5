/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/column.h"
#include "profile/profile.h"

void profile_columns_fini(struct profile_columns *c) {
    vec_fini(&c->out);
    vec_fini(&c->order);
    arena_fini(&c->arena);
}
