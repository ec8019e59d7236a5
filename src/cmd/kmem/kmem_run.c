/* SPDX-License-Identifier: Apache-2.0 */
/* `kmem record` and `kmem script`: other commands, with what the allocators' events need. */
#include "cmd/common/forward.h"
#include "cmd/kmem/kmem.h"

int kmem_script(struct command_env *env, const struct kmem_options *o, int argc, char **argv) {
    return forward_script(env, o->input, o->force, false, argc, argv);
}

int kmem_record(struct command_env *env, const struct kmem_options *o, int argc, char **argv) {
    /* The first must be there; kernels before 6.1 have events of their own for allocations on a node. */
    static const char *const SLAB[] = {"kmem:kmalloc",          "kmem:kfree",
                                       "kmem:kmem_cache_alloc", "kmem:kmem_cache_free",
                                       "kmem:kmalloc_node",     "kmem:kmem_cache_alloc_node"};
    static const char *const PAGE[] = {"kmem:mm_page_alloc/call-graph=fp/", "kmem:mm_page_free"};
    static const char *const FIRST[] = {"-a", "-R", "-c", "1", NULL};
    enum { NEEDED = 4 };
    struct forward words;
    struct err err = ERR_INIT, absent = ERR_INIT;
    forward_record_begin(&words, FIRST);
    /* They may also stand after the verb. */
    bool page = o->choice.page, slab = o->choice.slab, ok = true;
    for (; argc > 1 && (!strcmp(argv[1], "--page") || !strcmp(argv[1], "--slab")); argc--, argv++)
        *(strcmp(argv[1], "--page") ? &slab : &page) = true;
    slab = slab || !page;
    for (size_t i = 0; slab && ok && i < sizeof SLAB / sizeof *SLAB; i++)
        ok = forward_event(&words, SLAB[i], i < NEEDED ? &err : &absent) || i >= NEEDED;
    for (size_t i = 0; page && ok && i < sizeof PAGE / sizeof *PAGE; i++)
        ok = forward_event(&words, PAGE[i], &err);
    if (o->verbose)
        forward_add(&words, "-v");
    return forward_record_run(env, &words, ok, &err, argc, argv);
}
