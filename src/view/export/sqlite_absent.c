/* SPDX-License-Identifier: Apache-2.0 */
/* Without SQLite. */
#include "view/export/export.h"

bool export_sqlite(const struct stacks *s, const struct export_options *o, struct out *out, struct err *err) {
    (void)s, (void)o, (void)out;
    return err_set(err, ERR_UNSUPPORTED, "sqlite",
                   "sonde was built without SQLite: install libsqlite3-dev and build again");
}
