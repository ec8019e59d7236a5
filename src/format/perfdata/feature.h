/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of header features as values (perf.data-file-format.txt), decode beside encode. */
#ifndef SONDE_FORMAT_PERFDATA_FEATURE_H
#define SONDE_FORMAT_PERFDATA_FEATURE_H

#include "format/perfdata/header.h"

#endif
