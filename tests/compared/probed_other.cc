/* SPDX-License-Identifier: Apache-2.0 */
#include "probed.h"

__attribute__((noinline)) int other(derived &d, kind k, const std::vector<int> &v, unsigned char c, short s,
                                    const char *text, long long big) {
    printf("C other d.id=%d d.extra=%ld k=%d v._M_impl._M_start[0]=%d c=%d s=%d text:string=%s big=%lld\n",
           d.id, d.extra, (int)k, v[0], c, s, text, big);
    int r = 0;
    for (int x : v)
        r += x * c;
    sink += s;
    return r + (int)big + (int)k;
}
