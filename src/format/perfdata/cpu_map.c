/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/cpu_map.h"

bool perfdata_cpu_map_decode(struct bytes data, bool swap, struct perfdata_cpu_map *out) {
    struct cursor c = cursor_make(data, swap);
    out->map_type = cursor_u16(&c);
    out->data = cursor_rest(&c);
    return cursor_ok(&c);
}

bool perfdata_cpu_iter_init(struct perfdata_cpu_iter *it, const struct perfdata_cpu_map *map, bool swap) {
    struct cursor c = cursor_make(map->data, swap);
    *it = (struct perfdata_cpu_iter){.map_type = map->map_type, .swap = swap};
    uint32_t nr = 0;
    if (map->map_type == PERFDATA_CPU_MAP_LIST) {
        nr = cursor_u16(&c);
        it->entries = cursor_take(&c, 2 * nr);
    } else if (map->map_type == PERFDATA_CPU_MAP_MASK) {
        nr = cursor_u16(&c);
        uint16_t long_size = cursor_u16(&c);
        if (long_size != 4 && long_size != 8)
            return false;
        it->long_size = (uint8_t)long_size;
        /* Eight-byte words are aligned within the record: u16 type, nr and long_size lie before them. */
        cursor_take(&c, long_size == 8 ? 4 : 0);
        it->entries = cursor_take(&c, (uint64_t)nr * long_size);
        nr *= 8 * long_size;
    } else if (map->map_type == PERFDATA_CPU_MAP_RANGE) {
        it->any = cursor_u8(&c);
        cursor_u8(&c);
        it->next = cursor_u16(&c);
        nr = cursor_u16(&c) + 1u;
    } else
        return false;
    if (!cursor_ok(&c)) {
        it->any = false;
        return false;
    }
    it->end = nr;
    return true;
}

bool perfdata_cpu_iter_next(struct perfdata_cpu_iter *it, uint32_t *cpu) {
    if (it->any) {
        it->any = false;
        *cpu = PERFDATA_CPU_ANY;
        return true;
    }
    while (it->next < it->end) {
        uint32_t i = it->next++;
        if (it->map_type == PERFDATA_CPU_MAP_LIST)
            *cpu = bytes_load16(it->entries + 2 * i, it->swap);
        else
            *cpu = i;
        if (it->map_type != PERFDATA_CPU_MAP_MASK)
            return true;
        uint32_t bits = 8u * it->long_size;
        const uint8_t *word = it->entries + (size_t)(i / bits) * it->long_size;
        uint64_t v = it->long_size == 8 ? bytes_load64(word, it->swap) : bytes_load32(word, it->swap);
        if (v >> i % bits & 1)
            return true;
    }
    return false;
}
