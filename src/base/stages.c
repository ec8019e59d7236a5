/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stages.h"

void stages_init(struct stages *s) {
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->further, NULL);
    s->reached = 0;
    s->failed = false;
}

void stages_fini(struct stages *s) {
    pthread_cond_destroy(&s->further);
    pthread_mutex_destroy(&s->lock);
}

static void change(struct stages *s, unsigned reached, bool failed) {
    pthread_mutex_lock(&s->lock);
    s->reached = reached > s->reached ? reached : s->reached;
    s->failed |= failed;
    pthread_cond_broadcast(&s->further);
    pthread_mutex_unlock(&s->lock);
}

void stages_tell(struct stages *s, unsigned reached) {
    change(s, reached, false);
}

void stages_fail(struct stages *s) {
    change(s, 0, true);
}

bool stages_wait(struct stages *s, unsigned stage) {
    pthread_mutex_lock(&s->lock);
    while (s->reached < stage && !s->failed)
        pthread_cond_wait(&s->further, &s->lock);
    bool ok = s->reached >= stage;
    pthread_mutex_unlock(&s->lock);
    return ok;
}
