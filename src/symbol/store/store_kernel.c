/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the names of kernels. A kernel is relocated at boot, and every machine has one: a list or image that
 * does not fit the recorded one is never used.
 */
#include "symbol/store/store_kernel.h"

#include <elf.h>

#include "os/files/place.h"
#include "os/rights.h"
#include "symbol/elf_symbols.h"

const char STORE_LIVE_LIST[] = "/proc/kallsyms", STORE_LIVE_CORE[] = "/proc/kcore",
           STORE_KEPT_LIST[] = "the recording's own kallsyms";

const struct symbol_kernel_options *store_kernel_options(const struct symbol_store *s,
                                                         const struct store_image *im) {
    return im->known.space == SYMBOL_GUEST_KERNEL ? &s->options.guest : &s->options.host;
}

static bool refuse(struct store_image *im, const char *path, const char *why) {
    store_tried(im, path, why);
    return store_fail(im, SYMBOL_CONTRADICTED, path, why);
}

/* ---- from lists ---- */

/* Page rounding allowed for the end of the kernel's text. The recorded map only says where it ends if it is
 * short: some perfs extend it to the modules or to the last address. */
enum { ROUNDED_BYTES = 1 << 16 };

static bool ends_otherwise(const struct symbol_image *kernel, uint64_t etext) {
    uint64_t end = kernel->end;
    if (end - kernel->start > (uint64_t)1 << 30)
        return false;
    return end > etext + ROUNDED_BYTES || etext > end + ROUNDED_BYTES;
}

const struct symbol_image *store_kernel_of(const struct symbol_store *s, const struct store_image *im) {
    bool guest = im->known.space == SYMBOL_GUEST_KERNEL || im->known.space == SYMBOL_GUEST_USER;
    if (im->known.kind == SYMBOL_IMAGE_KERNEL)
        return &im->known;
    for (size_t i = 0; i < s->images.count; i++) {
        const struct symbol_image *known = &s->images.items[i]->known;
        if (known->kind == SYMBOL_IMAGE_KERNEL && (known->space == SYMBOL_GUEST_KERNEL) == guest)
            return known;
    }
    return NULL;
}

static bool has_reference(const struct symbol_image *kernel) {
    return kernel && kernel->reference && *kernel->reference;
}

/* What the recording says about the kernel beyond its map; NULL: nothing, as for guests. */
static const struct perfdata_kernel_facts *facts_of(const struct symbol_store *s,
                                                    const struct symbol_image *kernel) {
    return kernel && kernel->space == SYMBOL_KERNEL ? s->options.kernel : NULL;
}

/* Whether most modules that both the list and the recording have lie elsewhere; a single one may have been
 * reloaded. */
static bool modules_lie_elsewhere(const struct symbol_store *s, struct store_image *im,
                                  const struct symbol_image *kernel, const struct kernel_list *list) {
    enum { COMPARED_MAX = 64 };
    size_t here = 0, elsewhere = 0;
    for (size_t i = 0; i < s->images.count && here + elsewhere < COMPARED_MAX; i++) {
        const struct symbol_image *known = &s->images.items[i]->known;
        uint64_t start;
        if (known->kind != SYMBOL_IMAGE_MODULE || known->space != kernel->space || !known->start ||
            !kernel_list_module_start(list, store_module_name(im, known->name), &start))
            continue;
        bool in = start >= known->start && start < known->end;
        here += in;
        elsewhere += !in;
    }
    return elsewhere > here;
}

/* Whether most recorded code that the kernel made and whose name is listed lies elsewhere: programs come and
 * go, but those loaded at each boot keep their names. */
static bool made_code_lies_elsewhere(const struct symbol_store *s, const struct symbol_image *kernel,
                                     const struct kernel_list *list) {
    enum { COMPARED_MAX = 64 };
    size_t here = 0, elsewhere = 0;
    for (size_t i = 0; i < s->images.count && here + elsewhere < COMPARED_MAX; i++) {
        const struct symbol_image *known = &s->images.items[i]->known;
        if (known->kind != SYMBOL_IMAGE_NAMED || known->space != kernel->space || !known->start)
            continue;
        enum kernel_list_made made = kernel_list_made(list, known->name, known->start);
        here += made == KERNEL_LIST_THERE;
        elsewhere += made == KERNEL_LIST_ELSEWHERE;
    }
    return elsewhere > here;
}

/* The name of recorded generated code inside of the supposed kernel's text, where none can be made; NULL:
 * there is none. */
static const char *code_inside(const struct symbol_store *s, const struct symbol_image *kernel, uint64_t text,
                               uint64_t end) {
    for (size_t i = 0; i < s->images.count; i++) {
        const struct symbol_image *known = &s->images.items[i]->known;
        if (known->kind == SYMBOL_IMAGE_NAMED && known->space == kernel->space && known->start >= text &&
            known->start < end)
            return known->name;
    }
    return NULL;
}

static bool refuse_code_inside(struct store_image *im, const char *path, const char *name) {
    return refuse(im, path, store_text(im, "its text covers the place of %s: another kernel", name));
}

enum { RELOCATION_BYTES = 4096 }; /* the smallest unit of relocation at boot of all architectures */

/*
 * How much higher the recorded kernel lay than a list says. A kernel moves as a whole at boot, so a list of
 * the same build (by build-id) from another boot is as good; but modules do not move with it. 0: the list is
 * used as it is, or refused.
 */
static uint64_t slide_of(struct symbol_store *s, struct store_image *im, const char *path,
                         const struct kernel_list *list) {
    const struct symbol_image *kernel = &im->known;
    uint64_t address;
    if (kernel->kind != SYMBOL_IMAGE_KERNEL || !kernel->build_id.size || !has_reference(kernel) ||
        !kernel->reference_address || !kernel_list_address(list, kernel->reference, &address))
        return 0;
    const char *cached = store_cache_path(s, im, "kallsyms");
    bool same_build = strcmp(path, STORE_LIVE_LIST) == 0 ? kernel->space == SYMBOL_KERNEL
                                                         : cached && strcmp(path, cached) == 0;
    uint64_t slide = kernel->reference_address - address;
    return same_build && slide % RELOCATION_BYTES == 0 ? slide : 0;
}

static bool has_facts(struct store_image *im, const char *path, const struct perfdata_kernel_facts *facts,
                      const struct kernel_list *list, uint64_t slide) {
    for (uint32_t i = 0; i < facts->symbol_count; i++)
        if (!kernel_list_has(list, facts->symbols[i].name, facts->symbols[i].address - slide))
            return refuse(im, path,
                          store_text(im,
                                     "it does not have %s at %#llx, where the recorded kernel had it: "
                                     "another boot or kernel",
                                     facts->symbols[i].name, (unsigned long long)facts->symbols[i].address));
    return true;
}

static bool has_the_reference(struct store_image *im, const char *path, const struct symbol_image *kernel,
                              const struct kernel_list *list, uint64_t slide) {
    uint64_t address, etext;
    if (!kernel_list_address(list, kernel->reference, &address))
        return refuse(im, path,
                      store_text(im, "it lacks the recorded kernel's symbol %s", kernel->reference));
    if (address + slide != kernel->reference_address)
        return refuse(im, path,
                      store_text(im,
                                 "it has %s at %#llx, the recorded kernel at %#llx: another boot or kernel",
                                 kernel->reference, (unsigned long long)address,
                                 (unsigned long long)kernel->reference_address));
    if (kernel_list_address(list, "_etext", &etext) && ends_otherwise(kernel, etext + slide))
        return refuse(im, path, "its text is not as long as the recorded kernel's: another kernel");
    return true;
}

/* Why the running kernel is not the recorded one; NULL: nothing recorded contradicts it. */
static const char *runs_another(struct symbol_store *s, struct store_image *im,
                                const struct symbol_image *kernel) {
    if (!kernel || kernel->space != SYMBOL_KERNEL)
        return NULL;
    const struct store_live *live = store_live(s);
    struct bytes id = {live->id.bytes, live->id.size}, want = kernel->build_id;
    if (want.size)
        return bytes_equal(id, want)
                   ? NULL
                   : store_text(im, "the running kernel's build-id is %s, the recorded one's %s",
                                id.size ? store_hex(im, id) : "not known", store_hex(im, want));
    return !kernel->release || strcmp(kernel->release, live->release) == 0
               ? NULL
               : store_text(im, "the running kernel is %s, the recorded one %s", live->release,
                            kernel->release);
}

bool store_list_matches(struct symbol_store *s, struct store_image *im, const char *path,
                        const struct kernel_list *list, bool *proved) {
    enum { SYMBOLS_MIN = 8 }; /* this many matching symbols are proof */
    const struct symbol_image *kernel = store_kernel_of(s, im);
    const struct perfdata_kernel_facts *facts = facts_of(s, kernel);
    if (kernel_list_hidden(list)) {
        char advice[OS_RIGHTS_ROOM];
        const char *why =
            strcmp(path, STORE_LIVE_LIST) == 0
                ? store_text(im, "its addresses are hidden: %s", os_rights_show_addresses_here(advice))
                : "its addresses are hidden: it was copied without the right to see them";
        store_tried(im, path, why);
        return store_fail(im, SYMBOL_HIDDEN, path, why);
    }
    if (strcmp(path, STORE_LIVE_LIST) == 0) {
        const char *why = runs_another(s, im, kernel);
        if (why)
            return refuse(im, path, why);
    }
    const uint64_t slide = slide_of(s, im, path, list);
    if (facts && !has_facts(im, path, facts, list, slide))
        return false;
    if (facts && facts->symbol_count >= SYMBOLS_MIN)
        *proved = true;
    if (has_reference(kernel) && !has_the_reference(im, path, kernel, list, slide))
        return false;
    if (!kernel)
        return true;
    uint64_t text, end;
    const char *inside = NULL;
    if (kernel_list_address(list, "_stext", &text) && kernel_list_address(list, "_etext", &end))
        inside = code_inside(s, kernel, text + slide, end + slide);
    if (inside)
        return refuse_code_inside(im, path, inside);
    if (slide) /* of another boot: all but the kernel itself lies elsewhere anyway */
        return true;
    if (made_code_lies_elsewhere(s, kernel, list))
        return refuse(im, path, "BPF programs and the like lie elsewhere than they did: another boot");
    return !modules_lie_elsewhere(s, im, kernel, list) ||
           refuse(im, path, "modules lie elsewhere than they did: another boot");
}

/* Makes the kernel's table from its list. */
static bool use_list(struct symbol_store *s, struct store_image *im, const char *path,
                     const struct kernel_list *list, enum symbol_origin origin, bool proved) {
    struct err err = ERR_INIT;
    struct kernel_bounds bounds = {
        .from = im->known.start, .end = im->known.end, .slide = slide_of(s, im, path, list)};
    uint64_t init, init_end;
    if (kernel_list_address(list, "_sinittext", &init) &&
        kernel_list_address(list, "_einittext", &init_end)) {
        bounds.init_from = init + bounds.slide;
        bounds.init_end = init_end + bounds.slide;
    }
    im->source.has_slide = bounds.slide;
    im->source.slide = (int64_t)bounds.slide;
    im->table = im->owned =
        kernel_list_table(list, (struct bytes){0}, &bounds, store_raw_kernel_names(s), &err);
    return im->table ? store_found(im, origin, path, proved) : store_fail_err(im, path, &err);
}

static bool try_list(struct symbol_store *s, struct store_image *im, const char *path,
                     enum symbol_origin origin, bool proved) {
    struct err err = ERR_INIT;
    const struct kernel_list *list = symfile_kernel_list(&s->files, path, &err);
    if (!list)
        return store_fail_err(im, path, &err);
    return store_list_matches(s, im, path, list, &proved) && store_kcore_matches(s, im, path, &proved) &&
           use_list(s, im, path, list, origin, proved) && (proved || store_kcore_fits(s, im, path));
}

/* Tries the cache's lists with copies of the kernel's memory. */
static bool use_cached_kcore(struct symbol_store *s, struct store_image *im) {
    const char *path;
    for (size_t i = 0; (path = store_kcore_list(s, im, i)); i++)
        if (try_list(s, im, path, SYMBOL_FROM_CACHE, store_id_proves(&im->known)))
            return true;
    return false;
}

/* ---- the running kernel ---- */

const char *store_not_running(struct symbol_store *s, struct store_image *im,
                              const struct symbol_image *kernel, bool *proved) {
    *proved = kernel && store_id_proves(kernel);
    if (kernel && kernel->space != SYMBOL_KERNEL)
        return "the running kernel is not the guest's";
    if (!kernel || (!kernel->build_id.size && !kernel->release))
        return "nothing recorded says which kernel it was";
    return runs_another(s, im, kernel);
}

static struct kernel_cache_key live_key(struct symbol_store *s) {
    const struct store_live *live = store_live(s);
    return kernel_cache_key((struct bytes){live->boot, live->boot_size},
                            (struct bytes){live->id.bytes, live->id.size});
}

/* The cached own symbols of the running kernel; NULL: they are not cached. */
static const struct kernel_list *kept_list(struct symbol_store *s, const struct kernel_cache_key *key) {
    pthread_mutex_lock(&s->lock);
    if (!s->kernel.asked)
        s->kernel.list = kernel_cache_load(s->options.own_cache, key, &s->kernel.map);
    s->kernel.asked = true;
    pthread_mutex_unlock(&s->lock);
    return s->kernel.list;
}

static const struct kernel_list *read_list(struct symbol_store *s, bool whole, struct err *err) {
    struct kernel_cache_key key = live_key(s);
    const struct kernel_list *list = whole ? NULL : kept_list(s, &key);
    if (list)
        return list;
    list = symfile_kernel_list(&s->files, STORE_LIVE_LIST, err);
    if (list && !whole)
        kernel_cache_save(s->options.own_cache, &key, list);
    return list;
}

const struct kernel_list *store_live_list(struct symbol_store *s, struct store_image *im, bool whole,
                                          bool *proved) {
    const struct symbol_image *kernel = store_kernel_of(s, im);
    const char *why = store_not_running(s, im, kernel, proved);
    struct err err = ERR_INIT;
    if (!why && (!has_reference(kernel) || !kernel->reference_address))
        why = "the recording does not say where its kernel was: its addresses were hidden from who recorded";
    if (why) {
        refuse(im, STORE_LIVE_LIST, why);
        return NULL;
    }
    const struct kernel_list *list = read_list(s, whole, &err);
    if (!list)
        store_fail_err(im, STORE_LIVE_LIST, &err);
    return list && store_list_matches(s, im, STORE_LIVE_LIST, list, proved) ? list : NULL;
}

static bool use_live(struct symbol_store *s, struct store_image *im) {
    bool proved;
    const struct kernel_list *list = store_live_list(s, im, false, &proved);
    return list && use_list(s, im, STORE_LIVE_LIST, list, SYMBOL_FROM_LIVE_KALLSYMS, proved);
}

/* Tries the recording's own list. */
static bool use_kept(struct symbol_store *s, struct store_image *im) {
    const struct kernel_list *list = store_kept_list(s, im->known.build_id);
    bool proved = true;
    return list && store_list_matches(s, im, STORE_KEPT_LIST, list, &proved) &&
           use_list(s, im, STORE_KEPT_LIST, list, SYMBOL_FROM_KEPT, true);
}

/* ---- from kernel images ---- */

struct relocated {
    uint64_t slide;
    struct kernel_bounds bounds;
};

static bool place_relocated(const void *ctx, const struct object_symbol *s, uint64_t value,
                            uint64_t *offset) {
    const struct relocated *r = ctx;
    (void)s;
    *offset = value + r->slide;
    return kernel_bounds_have(&r->bounds, *offset);
}

static uint64_t relocated_end(const void *ctx, uint64_t start) {
    return kernel_bounds_end(&((const struct relocated *)ctx)->bounds, start);
}

static bool find_symbol(const struct object_elf *e, const char *name, uint64_t *value) {
    struct object_symbols walk;
    size_t len = strlen(name);
    if (!object_symbols_open(e, SHT_SYMTAB, &walk, NULL))
        return false;
    for (struct object_symbol s; object_symbols_next(&walk, &s);)
        if (s.name.size == len && s.section && memcmp(s.name.data, name, len) == 0) {
            *value = s.value;
            return true;
        }
    return false;
}

/* Makes the table of an accepted image, whose symbols lie `slide` higher than it says. */
static bool relocate(struct symbol_store *s, struct store_image *im, struct symfile *f, uint64_t slide) {
    struct relocated place = {slide, {.from = im->known.start, .end = im->known.end}};
    struct symbol_drafts d = {0};
    struct err err = ERR_INIT;
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_BEST,
                                 .limit = relocated_end,
                                 .ctx = &place,
                                 .slide = slide,
                                 .raw_names = store_raw_kernel_names(s)};
    uint64_t from, end;
    if (find_symbol(&f->elf, "_sinittext", &from) && find_symbol(&f->elf, "_einittext", &end)) {
        place.bounds.init_from = from + slide;
        place.bounds.init_end = end + slide;
    }
    if (elf_symbols_add(&f->elf, SHT_SYMTAB, place_relocated, &place, &d, &err))
        im->table = im->owned = symbol_table_build(&d, &rules, &err);
    symbol_drafts_fini(&d);
    return im->table || store_fail_err(im, f->path, &err);
}

/* The version of a kernel image by its banner, if that is not the recorded release; NULL: it is, or the image
 * has no banner. */
static const char *banner_of_another(struct store_image *im, const struct symfile *f) {
    const char *release = im->known.release;
    struct object_section sec;
    uint64_t at;
    uint32_t i = 0;
    if (!release || !find_symbol(&f->elf, "linux_banner", &at))
        return NULL;
    while (object_elf_section(&f->elf, i, &sec) && (at < sec.addr || at - sec.addr >= sec.size))
        i++;
    struct bytes text;
    if (i >= f->elf.section_count || !object_elf_section_bytes(&f->elf, &sec, &im->texts, &text, NULL) ||
        at - sec.addr >= text.size)
        return NULL;
    return store_other_release(
        im, (struct bytes){text.data + (at - sec.addr), text.size - (size_t)(at - sec.addr)}, release);
}

const char *store_other_release(struct store_image *im, struct bytes text, const char *release) {
    static const char begin[] = "Linux version ";
    size_t n = sizeof begin - 1, end = n;
    if (text.size < n || memcmp(text.data, begin, n) != 0)
        return NULL;
    while (end < text.size && text.data[end] > ' ')
        end++;
    return end - n == strlen(release) && memcmp(text.data + n, release, end - n) == 0
               ? NULL
               : store_text(im, "%.*s", (int)(end - n < 100 ? end - n : 100), (const char *)text.data + n);
}

/* Whether all recorded functions that the image has lie where they did. Several may have the same name. */
static bool symbols_fit(const struct symbol_store *s, const struct symfile *f, uint64_t slide) {
    const struct perfdata_kernel_facts *facts = s->options.kernel;
    bool seen[PERFDATA_KERNEL_SYMBOLS] = {0}, fits[PERFDATA_KERNEL_SYMBOLS] = {0};
    struct object_symbols walk;
    if (!facts || !object_symbols_open(&f->elf, SHT_SYMTAB, &walk, NULL))
        return true;
    for (struct object_symbol sym; object_symbols_next(&walk, &sym);)
        for (uint32_t i = 0; i < facts->symbol_count; i++) {
            const char *name = facts->symbols[i].name;
            if (!sym.section || sym.name.size != strlen(name) || memcmp(sym.name.data, name, sym.name.size))
                continue;
            seen[i] = true;
            fits[i] = fits[i] || sym.value + slide == facts->symbols[i].address;
        }
    for (uint32_t i = 0; i < facts->symbol_count; i++)
        if (seen[i] && !fits[i])
            return false;
    return true;
}

struct moved {
    const struct object_elf *e;
    uint64_t slide;
};

/* A store_code_fn for a kernel image that was moved as a whole. */
static bool code_of_image(const void *ctx, uint64_t address, struct bytes *code, size_t *at) {
    const struct moved *m = ctx;
    uint64_t there = address - m->slide;
    struct object_section sec;
    for (uint32_t i = 0; object_elf_section(m->e, i, &sec); i++)
        if ((sec.flags & SHF_EXECINSTR) && there > sec.addr && there - sec.addr <= sec.size) {
            *at = (size_t)(there - sec.addr);
            return object_elf_section_bytes(m->e, &sec, NULL, code, NULL);
        }
    return false;
}

static bool use_vmlinux(struct symbol_store *s, struct store_image *im, struct symfile *f, bool proved,
                        bool forced) {
    const struct symbol_image *kernel = &im->known;
    uint64_t value, etext;
    if (!f->is_elf) {
        store_tried(im, f->path, "not an ELF file");
        return store_fail(im, SYMBOL_BROKEN, f->path, "not an ELF file");
    }
    if (!has_reference(kernel) || !find_symbol(&f->elf, kernel->reference, &value))
        return refuse(im, f->path, "it lacks the symbol that the recording is related to");
    uint64_t slide = kernel->reference_address - value;
    if (!proved && !forced && slide % RELOCATION_BYTES)
        return refuse(
            im, f->path,
            store_text(im,
                       "kernels move by pages, and it has %s at %#llx, the recorded kernel at %#llx: "
                       "another kernel",
                       kernel->reference, (unsigned long long)value,
                       (unsigned long long)kernel->reference_address));
    const char *banner = proved || forced ? NULL : banner_of_another(im, f);
    if (banner)
        return refuse(im, f->path,
                      store_text(im, "it is %s, the recorded kernel %s", banner, kernel->release));
    if (!proved && !forced && !symbols_fit(s, f, slide))
        return refuse(im, f->path, "its functions do not lie where those of the recorded kernel did");
    if (!proved && !forced && find_symbol(&f->elf, "_etext", &etext) && ends_otherwise(kernel, etext + slide))
        return refuse(im, f->path, "its text is not as long as the recorded kernel's: another kernel");
    if (!proved && !forced && find_symbol(&f->elf, "_stext", &value) &&
        find_symbol(&f->elf, "_etext", &etext)) {
        const char *inside = code_inside(s, kernel, value + slide, etext + slide);
        if (inside)
            return refuse_code_inside(im, f->path, inside);
    }
    if (!relocate(s, im, f, slide))
        return false;
    struct moved moved = {&f->elf, slide};
    if (!proved && !forced && !store_returns_fit(s, im, f->path, &f->elf, code_of_image, &moved))
        return false;
    im->source.has_slide = true;
    im->source.slide = (int64_t)slide;
    im->source.shown_path = f->path;
    im->bytes.debug = f->bytes;
    return store_found(im, SYMBOL_FROM_VMLINUX, f->path, proved);
}

static bool try_vmlinux(struct symbol_store *s, struct store_image *im, const char *path) {
    struct symfile *f = store_open_proved(s, im, path);
    return f && use_vmlinux(s, im, f, store_id_proves(&im->known), false);
}

/* Uses --vmlinux; with ignore_vmlinux_buildid the user vouches for it. */
static bool use_given_vmlinux(struct symbol_store *s, struct store_image *im, const char *path) {
    if (!s->options.ignore_vmlinux_buildid)
        return try_vmlinux(s, im, path);
    struct symfile *f = symfile_open(&s->files, path);
    if (!f || f->err.code != ERR_NONE)
        return f && store_fail_err(im, path, &f->err);
    return use_vmlinux(s, im, f, symfile_has_id(f, im->known.build_id) && store_id_proves(&im->known), true);
}

/* Tries the places where distributions and kernel builds put it; those without a release in the path are
 * tried only with a build-id. */
static bool find_vmlinux(struct symbol_store *s, struct store_image *im) {
    static const struct {
        const char *before, *after;
    } places[] = {
        {"/boot/vmlinux-", ""},
        {"/usr/lib/debug/boot/vmlinux-", ""},
        {"/lib/modules/", "/build/vmlinux"},
        {"/usr/lib/debug/lib/modules/", "/vmlinux"},
        {"/usr/lib/debug/boot/vmlinux-", ".debug"},
    };
    static const char *const nameless[] = {"vmlinux", "/boot/vmlinux"};
    const char *release = im->known.release;
    for (size_t i = 0; im->known.build_id.size && i < sizeof nameless / sizeof *nameless; i++)
        if (try_vmlinux(s, im, store_host_path(s, im, nameless[i])))
            return true;
    for (size_t i = 0; release && !strchr(release, '/') && i < sizeof places / sizeof *places; i++) {
        const char *path = store_text(im, "%s%s%s", places[i].before, release, places[i].after);
        if (try_vmlinux(s, im, store_host_path(s, im, path)))
            return true;
    }
    return false;
}

/* ---- in which order ---- */

bool store_fail_given(struct store_image *im, const char *path) {
    if (im->source.status == SYMBOL_ABSENT)
        store_fail(im, SYMBOL_BROKEN, path, im->source.text ? im->source.text : "cannot be used");
    return false;
}

const char *store_next_forced(struct store_image *im, const char **rest, const char **of) {
    if (!*rest || !**rest)
        return NULL;
    const char *one = *rest;
    size_t file, n = store_forced_length(one, &file);
    *of = file ? store_text(im, "%.*s", (int)(file - 1), one) : NULL;
    *rest += n + (one[n] == ',');
    return store_text(im, "%.*s", (int)(n - file), one + file);
}

/* Tries what the user vouches for, images and lists: not checked, and never proof. */
static bool use_forced(struct symbol_store *s, struct store_image *im) {
    const char *rest = s->options.force_images, *path, *of;
    while ((path = store_next_forced(im, &rest, &of))) {
        if (of && strcmp(of, im->known.name) != 0)
            continue;
        struct symfile *f = symfile_open(&s->files, path);
        struct err err = ERR_INIT;
        uint64_t text;
        const struct kernel_list *list =
            f && f->err.code == ERR_NONE && !f->is_elf ? symfile_kernel_list(&s->files, path, &err) : NULL;
        if (list && use_list(s, im, path, list, SYMBOL_FROM_KALLSYMS, false))
            return true;
        if (f && f->is_elf &&
            (find_symbol(&f->elf, "_text", &text) || find_symbol(&f->elf, "_stext", &text)) &&
            use_vmlinux(s, im, f, false, true))
            return true;
    }
    return false;
}

/* Whether the running kernel is the recorded one and its symbols are in our own cache: this is faster to read
 * than the build-id cache's list, which is text. */
static bool is_at_hand(struct symbol_store *s, struct store_image *im) {
    bool proved;
    if (store_not_running(s, im, &im->known, &proved) || !proved)
        return false;
    struct kernel_cache_key key = live_key(s);
    return kept_list(s, &key);
}

bool store_load_kernel(struct symbol_store *s, struct store_image *im) {
    const struct symbol_kernel_options *o = store_kernel_options(s, im);
    if (use_forced(s, im))
        return true;
    /* What the user names is used or refused; nothing is guessed in its place. */
    if (o->kallsyms)
        return try_list(s, im, o->kallsyms, SYMBOL_FROM_KALLSYMS, false) || store_fail_given(im, o->kallsyms);
    if (o->vmlinux)
        return use_given_vmlinux(s, im, o->vmlinux) || store_fail_given(im, o->vmlinux);
    const char *cached = store_cache_path(s, im, "elf"), *list = store_cache_path(s, im, "kallsyms");
    if (!s->options.ignore_vmlinux &&
        ((cached && try_vmlinux(s, im, cached)) || (im->known.space == SYMBOL_KERNEL && find_vmlinux(s, im))))
        return true;
    if (list && os_place_taken(list) && is_at_hand(s, im) && use_live(s, im))
        return true;
    /* A list has no build-id itself; the cache's path vouches for it. */
    if ((list && try_list(s, im, list, SYMBOL_FROM_CACHE, store_id_proves(&im->known))) ||
        use_cached_kcore(s, im) || use_kept(s, im) || use_live(s, im))
        return true;
    const char *downloaded = store_download(s, im, im->known.build_id, OS_DEBUGINFOD_DEBUGINFO);
    return downloaded && try_vmlinux(s, im, downloaded);
}
