/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions of the opaque types of <sonde/sonde.h>. */
#ifndef SONDE_API_API_SESSION_H
#define SONDE_API_API_SESSION_H

#include <sonde/sonde.h>

#include "recording/naming.h"
#include "resolve/sample.h"
#include "stream/stream_order.h"

/* A frame; those of a record have the index of their resolve_sample_frame. */
struct sonde_frame {
    struct sonde_session *session;
    uint32_t index;
};

struct sonde_record {
    struct sonde_session *session;
    struct stream_record raw;
    struct model_when when;
    struct perfdata_sample sample; /* `have` is 0 for other records than samples */
    bool framed;                   /* the frames are those of this record */
    bool chained;                  /* they come from its callchain */
    VEC(struct sonde_frame) frames;
};

struct sonde_session {
    struct recording recording;
    struct model *model;
    struct recording_names names;
    struct order order;
    bool ordering; /* `order` is open */
    bool file_order;
    struct resolve_locator locator;
    struct resolve_samples samples;  /* the frames of the record */
    struct resolve_samples resolved; /* the frame of sonde_resolve */
    struct sonde_record record;
    struct sonde_frame single; /* the frame in `resolved` */
    struct err err;
    char message[sizeof((struct err *)0)->message + sizeof((struct err *)0)->where + 2];
};

#endif
