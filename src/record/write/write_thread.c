/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/write_thread.h"

static bool write_job(struct record_write_thread *t, const struct record_write_job *job, struct err *err) {
    struct bytes all = writer_bytes(&job->bytes), out[2];
    size_t n = 0;
    struct bytes plain = {all.data, job->packed};
    if (t->compress && job->packed) {
        if (!record_compress_spans(t->compress, &plain, 1, err))
            return false;
        out[n++] = writer_bytes(&t->compress->out);
    } else if (job->packed) {
        out[n++] = plain;
    }
    if (all.size > job->packed)
        out[n++] = (struct bytes){all.data + job->packed, all.size - job->packed};
    return record_file_append(t->file, out, n, err);
}

static void *work(void *ctx) {
    struct record_write_thread *t = ctx;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->count && !t->stop)
            pthread_cond_wait(&t->todo, &t->lock);
        if (!t->count)
            break;
        struct record_write_job *job = &t->jobs[t->first];
        struct err err = ERR_INIT;
        bool failed = t->failed;
        pthread_mutex_unlock(&t->lock);
        failed = failed || !write_job(t, job, &err);
        if (failed)
            record_file_stopped(t->file, (struct perfdata_ending){.missing_bytes = job->bytes.size});
        uint64_t size = record_file_size(t->file);
        pthread_mutex_lock(&t->lock);
        if (failed && !t->failed)
            t->err = err;
        t->failed = failed;
        t->written_bytes = size;
        t->first = (t->first + 1) % t->buffers;
        t->count--;
        pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool record_write_thread_start(struct record_write_thread *t, struct record_file *file,
                               struct record_compress *compress, unsigned buffers) {
    *t = (struct record_write_thread){
        .file = file, .compress = compress, .buffers = buffers, .written_bytes = record_file_size(file)};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->todo, NULL);
    pthread_cond_init(&t->done, NULL);
    return pthread_create(&t->thread, NULL, work, t) == 0;
}

bool record_write_thread_put(struct record_write_thread *t, const struct bytes *spans, size_t count,
                             size_t packed, struct err *err) {
    pthread_mutex_lock(&t->lock);
    while (t->count == t->buffers)
        pthread_cond_wait(&t->done, &t->lock);
    /* Nobody but us fills buffers, and the thread looks only at those that count. */
    struct record_write_job *job = &t->jobs[(t->first + t->count) % t->buffers];
    bool failed = t->failed;
    if (failed && err)
        *err = t->err;
    pthread_mutex_unlock(&t->lock);
    if (failed)
        return false;
    writer_clear(&job->bytes);
    for (size_t i = 0; i < count; i++) {
        writer_bytes_put(&job->bytes, spans[i]);
        job->packed = i < packed ? job->bytes.size : i ? job->packed : 0;
    }
    if (!writer_ok(&job->bytes))
        return err_memory(err, "records");
    pthread_mutex_lock(&t->lock);
    t->count++;
    pthread_cond_signal(&t->todo);
    pthread_mutex_unlock(&t->lock);
    return true;
}

uint64_t record_write_thread_size(struct record_write_thread *t) {
    pthread_mutex_lock(&t->lock);
    uint64_t size = t->written_bytes;
    pthread_mutex_unlock(&t->lock);
    return size;
}

bool record_write_thread_stop(struct record_write_thread *t, struct err *err) {
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->todo);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    if (t->failed && err)
        *err = t->err;
    for (unsigned i = 0; i < RECORD_WRITE_BUFFERS_MAX; i++)
        writer_fini(&t->jobs[i].bytes);
    pthread_cond_destroy(&t->todo);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    return !t->failed;
}
