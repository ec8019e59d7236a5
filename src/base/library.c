/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_load(const char *file, const struct library_function *functions, size_t count,
                   struct err *err) {
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        err_set(err, ERR_UNSUPPORTED, file, "it is not installed, and is needed for this");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].to, &found, sizeof found); /* dlsym(3): ISO C has no cast for it */
        if (!found) {
            err_set(err, ERR_UNSUPPORTED, file, "it has no %s: its version is not one that sonde knows",
                    functions[i].name);
            dlclose(library);
            return NULL;
        }
    }
    return library;
}

void library_unload(void *library) {
    if (library)
        dlclose(library);
}
