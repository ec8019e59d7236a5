/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in which the time goes. */
#ifndef SONDE_BASE_HOT_H
#define SONDE_BASE_HOT_H

/*
 * In front of a function: it is compiled twice, for every x86-64 and for those with AVX2 and BMI (x86-64-v3:
 * most since 2013), and the loader takes what the processor has (GNU indirect functions). What is inlined
 * into it comes along. It is called through a pointer and never inlined itself: for what does much in each
 * call. Nothing where the compiler or the C library cannot, and in all but the program itself (meson.build).
 */
#ifdef SONDE_CLONES
#define HOT __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define HOT
#endif

#endif
