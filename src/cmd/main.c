/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/toplevel.h"

int main(int argc, char **argv) {
    return toplevel_run(argc, argv);
}
