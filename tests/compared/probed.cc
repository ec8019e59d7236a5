/* SPDX-License-Identifier: Apache-2.0 */
/* C++ that says of itself what its functions are called with: "C FUNCTION ARGUMENT=VALUE ...", the arguments
 * as `sonde probe` takes them. With probed_other.cc, built with link-time optimisation. */
#include "probed.h"

volatile long sink;

namespace space {
template <typename T, int N> struct box {
    T items[N];
    T sum(T start, const T *more) const __attribute__((noinline));
};
template <typename T, int N> T box<T, N>::sum(T start, const T *more) const {
    printf("C space::box<int,4>::sum start=%d more[2]=%d this->items[3]=%d\n", start, more[2], items[3]);
    T s = start;
    for (int i = 0; i < N; i++)
        s += items[i] + more[i];
    return s;
}
} // namespace space

__attribute__((noinline)) int derived::run(int n, double d) {
    printf("C derived::run this->id=%d this->extra=%ld this->k=%d this->bits.a=%u this->bits.c=%lu "
           "this->name._M_dataplus._M_p:string=%s this->f=%a n=%d d=%a\n",
           id, extra, (int)k, bits.a, (unsigned long)bits.c, name.c_str(), (double)f, n, d);
    sink += n;
    return n * (int)d + (int)extra;
}

static __attribute__((noinline)) long local(struct bits b, const derived *d, int i) {
    printf("C local b.a=%u b.c=%lu d->id=%d d->bits.d=%d i=%d\n", b.a, (unsigned long)b.c, d->id, d->bits.d,
           i);
    return b.a + b.b + d->id + i;
}

int main(int argc, char **) {
    for (int k = 0; k < 3; k++) {
        derived d(1000L * argc + k);
        std::vector<int> v{1, 2, k};
        space::box<int, 4> b{{1, 2, 3, k}};
        const int more[4] = {9, 8, 7 + k, 6};
        base *p = &d;
        sink += p->run(k + 5, 2.5 + k);
        sink += other(d, k ? kind::low : kind::high, v, (unsigned char)(200 + k), (short)(-300 - k),
                      k ? "yes" : "no", -1234567890123LL - k);
        sink += local(d.bits, &d, k) + b.sum(k + 100, more);
    }
}
