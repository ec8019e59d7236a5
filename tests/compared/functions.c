/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for made recordings of two builds: the second one is another version of the library, in which the
 * compiler made clones of some. */
#ifdef REBUILT
#define CLONE(name) name ".constprop.0"
#define PART(name)  name ".part.0"
#else
#define CLONE(name) name
#define PART(name)  name "_helper"
#endif

int alpha(int x), beta(int x), gamma_(int x) __asm__("gamma"), delta(int x), epsilon(int x), zeta(int x);
int eta(int x) __asm__(CLONE("eta")), theta(int x), theta_part(int x) __asm__(PART("theta"));

#define FUNCTION(name, factor)                 \
    int name(int x) {                          \
        for (int i = 0; i < 8 + (factor); i++) \
            x = x * (factor) + i;              \
        return x;                              \
    }
#ifdef INLINED /* this build has the code of `tiny` in `huge` */
static inline __attribute__((always_inline)) FUNCTION(tiny, 3)
#else
int tiny(int x);
__attribute__((noinline)) FUNCTION(tiny, 3)
#endif
    int huge(int x);
int huge(int x) {
    return tiny(x + 1) + 1;
}
FUNCTION(alpha, 3)
FUNCTION(beta, 5)
FUNCTION(gamma_, 7)
FUNCTION(delta, 9)
FUNCTION(epsilon, 11)
FUNCTION(zeta, 13)
FUNCTION(eta, 15)
FUNCTION(theta, 17)
FUNCTION(theta_part, 19)
