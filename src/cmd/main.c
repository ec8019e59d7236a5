/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help/toplevel.h"

int main(int argc, char **argv) {
    return toplevel_run(argc, argv);
}
