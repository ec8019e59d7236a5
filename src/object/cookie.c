/* SPDX-License-Identifier: Apache-2.0 */
#include "object/cookie.h"

#include <elf.h>
#include <xxhash.h>

#include "object/elf.h"

static bool add(XXH3_state_t *hash, const struct object_elf *e, const struct object_segment *s) {
    uint64_t head[3] = {htole64(s->offset), htole64(s->vaddr), htole64(s->file_size)};
    if (s->offset > e->file.size || s->file_size > e->file.size - s->offset)
        return false;
    return XXH3_128bits_update(hash, head, sizeof head) == XXH_OK &&
           XXH3_128bits_update(hash, e->file.data + s->offset, s->file_size) == XXH_OK;
}

bool object_cookie_read(struct bytes file, uint8_t out[OBJECT_COOKIE_BYTES]) {
    struct object_elf e;
    struct object_segment s;
    uint64_t budget = 4 * (uint64_t)file.size; /* segments of a hostile file may overlap */
    bool any = false, ok = object_elf_open(file, &e, NULL);
    XXH3_state_t *hash = ok ? XXH3_createState() : NULL;
    ok = hash && XXH3_128bits_reset(hash) == XXH_OK;
    for (uint32_t i = 0; ok && object_elf_segment(&e, i, &s); i++)
        if (s.type == PT_LOAD && s.flags & PF_X) {
            any = true;
            ok = s.file_size <= budget && add(hash, &e, &s);
            budget -= s.file_size;
        }
    if (ok && any) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
        memcpy(out, canonical.digest, OBJECT_COOKIE_BYTES);
    }
    XXH3_freeState(hash);
    return ok && any;
}
