/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/code.h"

#include "format/perfdata/header/bpf_info.h"

/* ---- BPF programs ---- */

/* Where the image's code began; UINT64_MAX: it was never mapped. */
static uint64_t start_of(const struct model *m, uint32_t image) {
    for (uint32_t i = 0; i < model_mapping_count(m); i++) {
        struct model_mapping mapping = model_mapping(m, i);
        if (mapping.image == image)
            return mapping.start;
    }
    return UINT64_MAX;
}

/* The code of the function at that address, of that name (which has a hash of the program). */
static struct bytes bpf_code(const struct perfdata_bpf_progs *progs, bool swap, uint64_t address,
                             struct perfdata_btf_names *names, const char *name) {
    struct bytes none = {NULL, 0};
    struct perfdata_bpf_info info;
    for (uint32_t i = 0; i < progs->count; i++) {
        if (!perfdata_bpf_info_decode(&progs->items[i], swap, &info))
            continue;
        for (uint32_t k = 0; k < info.function_count; k++)
            if (perfdata_u64_at(&info.addresses, k) == address &&
                strcmp(perfdata_bpf_info_function(&info, names, k).name, name) == 0)
                return perfdata_bpf_info_code(&info, k);
    }
    return none;
}

static bool find_bpf(const struct annotate_profile *p, const struct annotate_function *f,
                     struct symbol_machine_code *out, struct err *err) {
    const struct perfdata_header *h = stream_header(p->in->recording->stream);
    const struct model_image *image = model_image(p->in->model, f->image);
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value progs, types;
    struct perfdata_btf_names names = {0};
    struct bytes code = {NULL, 0};
    uint64_t start = start_of(p->in->model, f->image);
    if (perfdata_feature_get(h, PERFDATA_FEATURE_BPF_PROG_INFO, &arena, &progs)) {
        bool typed = perfdata_feature_get(h, PERFDATA_FEATURE_BPF_BTF, &arena, &types);
        const struct perfdata_btfs no_types = {0};
        if (perfdata_btf_names_init(&names, typed ? &types.btfs : &no_types, h->swap))
            code = bpf_code(&progs.bpf_progs, h->swap, start, &names, image->recorded);
        perfdata_btf_names_fini(&names);
    }
    arena_fini(&arena);
    if (f->start >= code.size)
        return err_set(err, ERR_ABSENT, image->name,
                       "the recording does not have the program's machine code");
    uint64_t room = code.size - f->start, size = f->end - f->start;
    *out = (struct symbol_machine_code){.bytes = {code.data + f->start, (size_t)(size < room ? size : room)},
                                        .address = start + f->start,
                                        .delta = start,
                                        .proved = true};
    return true;
}

/* ---- all ---- */

/* The architecture of the recorded machine, as named by uname(2). */
static bool recorded_arch(const struct annotate_profile *p, enum disasm_arch *arch) {
    static const struct {
        const char *name;
        enum disasm_arch arch;
    } known[] = {{"x86_64", DISASM_X86_64}, {"i386", DISASM_I386}, {"i486", DISASM_I386},
                 {"i586", DISASM_I386},     {"i686", DISASM_I386}, {"aarch64", DISASM_ARM64}};
    char text[32];
    if (!perfdata_feature_text(stream_header(p->in->recording->stream), PERFDATA_FEATURE_ARCH, text,
                               sizeof text))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0) {
            *arch = known[i].arch;
            return true;
        }
    return false;
}

bool annotate_code_find(const struct annotate_profile *p, const struct annotate_function *f,
                        struct symbol_machine_code *out, enum disasm_arch *arch, struct err *err) {
    const struct model_image *image = model_image(p->in->model, f->image);
    bool ok = image->kind == MODEL_IMAGE_BPF
                  ? find_bpf(p, f, out, err)
                  : symbol_store_machine_code(p->in->naming->store,
                                              resolve_names_store_id(p->in->naming->names, f->image),
                                              f->start, f->end, out, err);
    if (!ok)
        return false;
    return (out->elf.size ? disasm_arch_of(out->elf, arch) : recorded_arch(p, arch)) ||
           err_set(err, ERR_UNSUPPORTED, image->name,
                   "it is for an architecture whose instructions are not known here: x86 and arm64 are");
}
