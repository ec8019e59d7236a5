/* SPDX-License-Identifier: Apache-2.0 */
/* So much work, and nothing else: verdict_work N does N thousand steps that each need the one before. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    uint64_t x = 1, n = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000 : 0;
    for (uint64_t i = 0; i < n; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x == 0;
}
