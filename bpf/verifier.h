/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
#ifndef SONDE_BPF_VERIFIER_H
#define SONDE_BPF_VERIFIER_H

/* Masks `x` in a way that the verifier sees. The compiler may already know the bound and would optimise a
 * plain mask away; the verifier would then refuse the access as unbounded. */
#define BOUND(x, mask)              \
    do {                            \
        asm volatile("" : "+r"(x)); \
        (x) &= (mask);              \
    } while (0)

#endif
