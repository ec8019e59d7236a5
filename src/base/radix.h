/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stable sort of numbered 64-bit keys by their digits, in time that grows with their number alone: from the
 * highest digit down as long as many are left, each bucket by itself, and at the end from the lowest one up
 * (Seward 1954). Bits in which all keys of a bucket are equal cost nothing.
 */
#ifndef SONDE_BASE_RADIX_H
#define SONDE_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Packed: there may be millions, and what sorting takes is the time to move them. */
struct __attribute__((packed, aligned(4))) radix_item {
    uint64_t key;
    uint32_t value; /* the caller's */
};

/* Sorts items by key, fewer than 2^32; those with equal keys keep their order. `room` holds as many and is
 * left with anything. */
void radix_sort(struct radix_item *items, struct radix_item *room, size_t n);

#endif
