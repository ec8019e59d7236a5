/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far one job of a run has come, for another that needs what it made (pool.h): 0 at first, then ever
 * higher numbers, or that it has failed. What was written before a stage was told may be read behind it.
 */
#ifndef SONDE_BASE_STAGES_H
#define SONDE_BASE_STAGES_H

#include <pthread.h>
#include <stdbool.h>

struct stages {
    pthread_mutex_t lock;
    pthread_cond_t further;
    unsigned reached; /* these two guarded by the lock */
    bool failed;
};

void stages_init(struct stages *s);
void stages_fini(struct stages *s);

void stages_tell(struct stages *s, unsigned reached);
void stages_fail(struct stages *s);

/* Returns when that stage was told, or (false) the job has failed. */
bool stages_wait(struct stages *s, unsigned stage);

#endif
