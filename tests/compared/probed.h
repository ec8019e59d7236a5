/* SPDX-License-Identifier: Apache-2.0 */
/* What probed.cc and probed_other.cc share. */
#ifndef SONDE_TESTS_COMPARED_PROBED_H
#define SONDE_TESTS_COMPARED_PROBED_H

#include <cstdio>
#include <string>
#include <vector>

enum class kind : unsigned char { low = 3, high = 200 };
struct bits {
    unsigned a : 5;
    int b : 6;
    unsigned long c : 40;
    bool d : 1;
};
struct base {
    int id = 99;
    virtual ~base() {}
    virtual int run(int n, double d) = 0;
};
struct derived : base {
    long extra;
    kind k = kind::high;
    struct bits bits = {17, -9, 0x123456789aul, true};
    std::string name = "derived";
    float f = 1.5f;
    explicit derived(long e) : extra(e) {}
    int run(int n, double d) override;
};

int other(derived &d, kind k, const std::vector<int> &v, unsigned char c, short s, const char *text,
          long long big);
extern volatile long sink;

#endif
