/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/mapped_build_ids.h"

#include "format/perfdata/header/feature.h"

enum {
    /* Of an MMAP2's body: pid, tid, addr, len, pgoff, then size byte, three reserved, 20 bytes of id, prot.
     */
    ID_SIZE_AT = 32,
    ID_AT = 36,
    PROT_AT = 56,
    NAME_AT = 64,
    NAME_ROOM = 64,
    PROT_EXECUTE = 4,
    ID_MAX = 20,
};

void record_build_ids_fini(struct record_build_ids *b) {
    writer_fini(&b->content);
    hash_map_fini(&b->seen);
}

void record_build_ids_mmap2(struct record_build_ids *b, uint16_t misc, struct bytes body) {
    if (!(misc & PERFDATA_MISC_MMAP_BUILD_ID) || body.size <= NAME_AT)
        return;
    if (bytes_load32(body.data, false) == UINT32_MAX)
        return; /* the kernel's own: named after a symbol, not after a file; told in another way */
    struct perfdata_mmap2 m = {.has_build_id = true, .build_id_size = body.data[ID_SIZE_AT]};
    memcpy(m.build_id, body.data + ID_AT, sizeof m.build_id);
    perfdata_mmap2_settle(&m, false, false);
    uint8_t size = m.build_id_size;
    if (!(bytes_load32(body.data + PROT_AT, false) & PROT_EXECUTE) || size == 0 || size > ID_MAX)
        return;
    struct bytes name = {body.data + NAME_AT, body.size - NAME_AT};
    name.size = bytes_text_len(name);
    record_build_ids_add(b, misc & PERFDATA_MISC_CPUMODE_MASK, (struct bytes){body.data + ID_AT, size}, name);
}

void record_build_ids_add(struct record_build_ids *b, uint16_t misc, struct bytes id, struct bytes name) {
    uint64_t key = hash_bytes(name.data, name.size) ^ hash_u64(hash_bytes(id.data, id.size));
    uint8_t text[4096];
    if (name.size >= sizeof text || id.size > ID_MAX || hash_map_get(&b->seen, key) != HASH_ABSENT)
        return;
    size_t room = (name.size + NAME_ROOM) / NAME_ROOM * NAME_ROOM;
    memset(text, 0, room < sizeof text ? room : sizeof text);
    memcpy(text, name.data, name.size);
    struct perfdata_feature_build_id entry = {
        .type = PERFDATA_RECORD_HEADER_BUILD_ID,
        .misc = misc | PERFDATA_MISC_BUILD_ID_SIZE,
        .size = (uint16_t)(PERFDATA_HEADER_SIZE + 4 + 24 + room),
        .pid = -1,
        .id_size = (uint8_t)id.size,
        .name = {text, room},
    };
    memcpy(entry.id, id.data, id.size);
    entry.id[ID_MAX] = (uint8_t)id.size;
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_BUILD_ID, .build_ids = {&entry, 1}};
    if (hash_map_set(&b->seen, key, b->count)) {
        b->count++;
        perfdata_feature_encode(&v, &b->content);
    }
}
