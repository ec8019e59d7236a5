/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/kernel_names.h"

#include <stdio.h>

#include "os/files/files.h"

static const char PATH[] = "/proc/kallsyms";

bool kernel_names_read(struct kernel_names *n, struct err *err) {
    kernel_names_fini(n);
    n->text = writer_make(false);
    if (!os_files_real.read(os_files_real.ctx, PATH, &n->text, err))
        return false;
    struct bytes text = writer_bytes(&n->text);
    return (kallsyms_names_read(&n->functions, text, KALLSYMS_FUNCTIONS) &&
            kallsyms_names_read(&n->variables, text, KALLSYMS_VARIABLES)) ||
           err_memory(err, PATH);
}

static const char *text_of(struct kernel_names *n, const struct kallsyms_place *p) {
    snprintf(n->room, sizeof n->room, "%.*s", (int)p->name.size, (const char *)p->name.data);
    return n->room;
}

const char *kernel_names_function(struct kernel_names *n, uint64_t address, uint64_t *offset) {
    const struct kallsyms_place *p = kallsyms_names_find(&n->functions, address);
    if (p && offset)
        *offset = address - p->address;
    return p ? text_of(n, p) : NULL;
}

const char *kernel_names_variable(struct kernel_names *n, uint64_t address) {
    const struct kallsyms_place *p = kallsyms_names_find(&n->variables, address);
    return p && p->address == address ? text_of(n, p) : NULL;
}

void kernel_names_fini(struct kernel_names *n) {
    kallsyms_names_fini(&n->functions);
    kallsyms_names_fini(&n->variables);
    writer_fini(&n->text);
}
