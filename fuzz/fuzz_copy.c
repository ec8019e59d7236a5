/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject's copy of any recording, into a file or (odd last byte) a pipe. The copy of a sound recording is
 * sound, and its copy is the same bytes.
 */
#include "fuzz.h"

#include "edit/copy.h"

enum { LARGEST = 64 << 20 };

static bool append(void *ctx, struct bytes b, struct err *err) {
    (void)err;
    struct writer *w = ctx;
    writer_bytes_put(w, b);
    return writer_ok(w) && w->size <= LARGEST;
}

static bool patch(void *ctx, uint64_t at, struct bytes b, struct err *err) {
    struct writer *w = ctx;
    if (at > w->size || b.size > w->size - at)
        return err_set(err, ERR_IO, "fuzz", "patched beyond what was written");
    memcpy(w->data + at, b.data, b.size);
    return true;
}

/* False when the input cannot be copied at all; *sound: everything of it was read. */
static bool copy(struct bytes in, bool pipe, struct writer *out, bool *sound) {
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory(in, &(struct stream_options){.keep_compressed = true}, &err);
    if (!s)
        return false;
    struct copy_sink sink = {append, pipe ? NULL : patch, out};
    struct copy_result result;
    bool ok = copy_recording(s, &sink, NULL, &result, &err);
    if (!ok)
        FUZZ_CHECK(err.code != ERR_NONE);
    *sound = stream_all_read(s);
    stream_close(s);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool pipe = size && data[size - 1] & 1, sound;
    struct writer first = writer_make(false), second = writer_make(false);
    if (copy((struct bytes){data, size}, pipe, &first, &sound)) {
        bool was_sound = sound, again = copy(writer_bytes(&first), pipe, &second, &sound);
        if (was_sound)
            FUZZ_CHECK(again && sound && bytes_equal(writer_bytes(&first), writer_bytes(&second)));
    }
    writer_fini(&first);
    writer_fini(&second);
    return 0;
}
