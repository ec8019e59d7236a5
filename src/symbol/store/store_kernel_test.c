/* SPDX-License-Identifier: Apache-2.0 */
/* The store's kernels and modules: which list or file of symbols is taken, and which refused. */
#include "tests/support/elf_image.h"
#include "tests/support/fail_alloc.h"

#include "os/core.h"
#include "symbol/store/store_kernel.h"
#include "symbol/store/store_test.h"

/* ---- kernels ---- */

static const char KALLSYMS[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff9b600000 T _text\n"
                               "ffffffff9b600000 T startup\n"
                               "ffffffff9b600100 t one\n"
                               "ffffffff9b600180 r no_code\n"
                               "ffffffff9b600200 W two\n"
                               "ffffffff9b601000 T _etext\n"
                               "ffffffff9b700000 T _sinittext\n"
                               "ffffffff9b700010 t start_kernel\n"
                               "ffffffff9b700100 T _einittext\n"
                               "ffffffffc0000000 t mod_one\t[a_b]\n"
                               "ffffffffc0000040 t mod_two\t[a_b]\n"
                               "ffffffffc0002000 d mod_data\t[a_b]\n";

static void test_kallsyms(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct symbol_image image = KERNEL;
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600000), "startup"); /* the last of them */
    assert_string_equal(at(&s, 0xffffffff9b6001ff), "one");
    assert_string_equal(grade_at(&s, 0xffffffff9b6001ff), "inferred none kallsyms");
    assert_string_equal(at(&s, 0xffffffff9b600fff), "two"); /* to the map's end and no further */
    assert_string_equal(at(&s, 0xffffffff9b601000), "");
    assert_string_equal(at(&s, 0xffffffff9b700020), "start_kernel"); /* stacks of the idle tasks begin here */
    assert_string_equal(at(&s, 0xffffffff9b700100), "");
    assert_string_equal(at(&s, 0xffffffffc0000000), "");
    assert_int_equal(symbol_table_bind(s.table, symbol_table_find(s.table, 0xffffffff9b600200)), SYMBOL_WEAK);
    symbol_store_free(s.store);

    image.reference_address += 0x1000; /* another boot's */
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "another boot"));
    assert_string_equal(grade_at(&s, 0xffffffff9b6001ff), "stale none none");
    symbol_store_free(s.store);

    image = KERNEL; /* at the same place by chance, but of another length */
    image.end += 0x100000;
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);

    put(t, "/kallsyms", text_bytes("0000000000000000 T _text\n0000000000000000 t one\n"));
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_HIDDEN);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "copied without the right"));
    symbol_store_free(s.store);

    remove(path);
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_BROKEN);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), path)); /* the user named it */
    symbol_store_free(s.store);

    put(t, "/kallsyms", text_bytes("nothing of the kind\n"));
    s = ask(&o, &KERNEL);
    assert_int_equal(s.source.status, SYMBOL_BROKEN);
    symbol_store_free(s.store);
}

/* Where it was linked; KERNEL was relocated. */
static const struct recipe VMLINUX = {.type = ET_EXEC,
                                      .id = ID_A,
                                      .table = SHT_SYMTAB,
                                      .functions = {{"_text", 0xffffffff81000000, 0, 1},
                                                    {"one", 0xffffffff81000100, 0x20, 1},
                                                    {"_etext", 0xffffffff81001000, 0, 1},
                                                    {"far", 0xffffffff82000000, 8, 1}}};

static void test_vmlinux(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/vmlinux", t->root);
    put_elf(t, "/vmlinux", &VMLINUX, NULL);
    struct symbol_options o = {.host = {.vmlinux = path}};
    struct symbol_image image = KERNEL;
    image.build_id = text_bytes(ID_A);
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    assert_string_equal(at(&s, 0xffffffff9b600120), "");
    assert_string_equal(at(&s, 0xffffffff9c600000), "");
    assert_true(s.source.proved && s.source.has_slide);
    assert_int_equal(s.source.slide, 0x1a600000);
    assert_int_equal(symbol_table_address(s.table, 0xffffffff9b600110), 0xffffffff81000110);
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_B);
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
    o.ignore_vmlinux_buildid = true;
    s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    assert_false(s.source.proved);
    symbol_store_free(s.store);

    o.ignore_vmlinux_buildid = false;
    image.build_id = (struct bytes){0}; /* nothing recorded proves it, but its length contradicts */
    image.end += 0x100000;
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* What of nothing but its symbols contradicts an image that the user names, where no build-id was recorded.
 */
static void test_foreign_vmlinux(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/vmlinux", t->root);
    put_elf(t, "/vmlinux", &VMLINUX, NULL);
    static const struct {
        const char *arch;
        uint64_t off;
        const char *why; /* NULL: it is used */
    } cases[] = {
        {NULL, 0, NULL},
        {"x86_64", 0, NULL},
        {"i686", 0x1000, NULL}, /* as uname(2) says it to some programs */
        {"aarch64", 0, "another machine"},
        {"ppc64", 0, "another machine"},
        {"pdp11", 0, NULL}, /* of which nothing is known */
        {"x86_64", 0x198, "move by pages"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct symbol_options o = {.host = {.vmlinux = path}, .recorded_arch = cases[i].arch};
        struct symbol_image image = KERNEL;
        image.start += cases[i].off;
        image.end += cases[i].off;
        image.reference_address += cases[i].off;
        struct session s = ask(&o, &image);
        assert_int_equal(s.source.status, cases[i].why ? SYMBOL_CONTRADICTED : SYMBOL_FOUND);
        if (cases[i].why)
            assert_non_null(strstr(symbol_store_warning(s.store, 0), cases[i].why));
        symbol_store_free(s.store);
        o.force_images = path;
        s = ask(&o, &image);
        assert_string_equal(grade_at(&s, image.start + 0x110), "inferred none symtab");
        symbol_store_free(s.store);
    }
}

/* ---- copies of a kernel's memory ---- */

/* As /proc/kcore, with code from `from` on: calls every 16 bytes that return to 5 after; a banner and notes
 * after it. */
enum {
    CORE_CALLS = 64,
    CORE_EVERY = 16,
    CORE_BANNER = CORE_CALLS * CORE_EVERY,
    CORE_NOTES = CORE_BANNER + 64
};

static void put_core(struct tree *t, const char *path, uint64_t from, const char *release, const char *id) {
    struct writer w = writer_make(false);
    const size_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), size = CORE_NOTES + 16 + 20;
    Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_CORE,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof e,
                    .e_ehsize = sizeof e,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1};
    Elf64_Phdr load = {PT_LOAD, PF_R | PF_W | PF_X, at, from, 0, size, size, 4096};
    writer_put(&w, &e, sizeof e);
    writer_put(&w, &load, sizeof load);
    for (unsigned i = 0; i < CORE_CALLS; i++) {
        writer_put(&w, "\xe8\x01\x02\x03\x04", 5);
        writer_zero(&w, CORE_EVERY - 5);
    }
    char banner[64] = "";
    snprintf(banner, sizeof banner, "Linux version %s (a builder)", release);
    writer_put(&w, banner, sizeof banner);
    writer_u32(&w, 4);
    writer_u32(&w, 20);
    writer_u32(&w, 3); /* NT_GNU_BUILD_ID */
    writer_put(&w, "GNU", 4);
    writer_put(&w, id, 20);
    put(t, path, writer_bytes(&w));
    writer_fini(&w);
}

struct core_returns {
    struct symbol_return list[CORE_CALLS];
    unsigned off;
};

static struct symbol_returns core_returns(void *ctx, enum symbol_space space) {
    struct core_returns *r = ctx;
    (void)space;
    for (unsigned i = 0; i < CORE_CALLS; i++)
        r->list[i] = (struct symbol_return){KERNEL.start + CORE_EVERY * i + 5 + r->off, KERNEL.start + 0x10};
    return (struct symbol_returns){r->list, CORE_CALLS};
}

static void put_core_list(struct tree *t, const char *path) {
    char text[512];
    snprintf(
        text, sizeof text,
        "%lx T _text\n%lx T one\n%lx T two\n%lx R linux_banner\n%lx R __start_notes\n%lx R __stop_notes\n"
        "%lx T _etext\n",
        KERNEL.start, KERNEL.start + 0x100, KERNEL.start + 0x140, KERNEL.start + CORE_BANNER,
        KERNEL.start + CORE_NOTES, KERNEL.start + CORE_NOTES + 36, KERNEL.start + 0x1000);
    put(t, path, text_bytes(text));
}

/* The code is what the copy has, or none of it if the copy was refused. */
static void check_core_code(struct session *s, bool used) {
    struct symbol_machine_code code;
    struct err err = ERR_INIT;
    uint64_t at = KERNEL.start + 0x100, offset;
    assert_int_equal(symbol_store_machine_code(s->store, 0, at, at + 0x20, &code, &err), used);
    if (!used) {
        assert_int_equal(err.code, ERR_ABSENT);
        return;
    }
    assert_true(code.address == at && code.bytes.size == 0x20 && code.elf.size);
    assert_memory_equal(code.bytes.data + CORE_EVERY, "\xe8\x01\x02\x03\x04", 5);
    assert_true(symbol_machine_code_offset(&code, at + 5, &offset) && offset == at + 5);
    /* It ends where the copy does. */
    assert_true(symbol_store_machine_code(s->store, 0, at, at + 0x10000, &code, &err));
    assert_int_equal(code.bytes.size, CORE_NOTES + 36 - 0x100);
}

/* As the running kernel's memory is read. */
static void test_kcore_read(void **state) {
    struct tree *t = *state;
    char path[128];
    struct os_core core;
    struct err err = ERR_INIT;
    uint8_t five[5], *much = malloc(CORE_NOTES + 37);
    snprintf(path, sizeof path, "%s/kcore", t->root);
    put_core(t, "/kcore", KERNEL.start, "6.1.0-a", ID_A);
    assert_true(os_core_open(path, &core, &err));
    assert_true(store_kcore_read(&core, KERNEL.start + 3 * CORE_EVERY, five, sizeof five, &err));
    assert_memory_equal(five, "\xe8\x01\x02\x03\x04", 5);
    assert_true(store_kcore_read(&core, KERNEL.start, much, CORE_NOTES + 36, &err));
    assert_false(store_kcore_read(&core, KERNEL.start, much, CORE_NOTES + 37, &err));
    assert_false(store_kcore_read(&core, KERNEL.start - 1, five, sizeof five, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    core.close(core.ctx);
    free(much);
    const struct bytes none = {NULL, 0}, text = text_bytes("no core");
    core = os_core_fake(&none);
    assert_false(store_kcore_read(&core, KERNEL.start, five, sizeof five, &err));
    core = os_core_fake(&text);
    assert_false(store_kcore_read(&core, KERNEL.start, five, sizeof five, &err));
}

static void test_kcore(void **state) {
    struct tree *t = *state;
    char list[128];
    static const struct {
        uint64_t moved;
        const char *release, *id; /* of the copy */
        bool has_id;              /* the recording says that it is ID_A */
        unsigned off;             /* of returns from after calls */
        const char *grade;        /* with which it is used, or */
        const char *why;          /* why it is not */
    } cases[] = {
        {0, "6.1.0-a", ID_A, false, 0, "inferred none kallsyms", NULL},
        {0, "6.1.0-a", ID_A, true, 0, "exact kernel kallsyms", NULL},
        {0, "6.1.0-a", ID_A, true, 3, "exact kernel kallsyms", NULL}, /* proved is proved */
        {0, "6.1.0-a", ID_A, false, 3, NULL, "0 of 64 return addresses in it follow calls"},
        {0, "6.1.0-a", ID_B, true, 0, NULL, "its kernel's build-id is 6262"},
        {0, "6.1.0-ab", ID_A, false, 0, NULL, "it is 6.1.0-ab, the recorded kernel 6.1.0-a"},
        {0x200000, "6.1.0-a", ID_A, true, 0, NULL, "it has nothing at 0xffffffff9b600000"},
    };
    snprintf(list, sizeof list, "%s/kallsyms", t->root);
    put_core_list(t, "/kallsyms");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct core_returns returns = {.off = cases[i].off};
        struct symbol_options o = {
            .host = {.kallsyms = list}, .returns = core_returns, .returns_ctx = &returns};
        struct symbol_image image = KERNEL;
        image.release = "6.1.0-a";
        if (cases[i].has_id)
            image.build_id = text_bytes(ID_A);
        put_core(t, "/kcore", KERNEL.start + cases[i].moved, cases[i].release, cases[i].id);
        struct session s = ask(&o, &image);
        if (cases[i].grade)
            assert_string_equal(grade_at(&s, KERNEL.start + 0x110), cases[i].grade);
        else
            assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
        if (cases[i].why)
            assert_non_null(strstr(s.source.text, cases[i].why));
        check_core_code(&s, cases[i].grade);
        if (cases[i].grade && !cases[i].has_id)
            assert_string_equal(symbol_store_provenance(s.store, 0, 0).support,
                                "64 of 64 return addresses in it follow calls");
        symbol_store_free(s.store);
    }
}

/* In the cache, by the kernel's build-id; of two boots the one that fits. */
static void test_cached_kcore(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.cache = t->root};
    struct symbol_image image = KERNEL;
    image.build_id = text_bytes(ID_A);
    image.release = "none-such";
    put_core_list(t, "/[kernel.kcore]/" HEX_A "/2026010100000000/kallsyms");
    put_core(t, "/[kernel.kcore]/" HEX_A "/2026010100000000/kcore", KERNEL.start, "no", ID_A);
    put(t, "/[kernel.kcore]/" HEX_A "/2026020200000000/kallsyms",
        text_bytes("ffffffff81000000 T _text\nffffffff81000100 T one\nffffffff81001000 T _etext\n"));
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED); /* of a kernel of another version */
    symbol_store_free(s.store);
    put_core(t, "/[kernel.kcore]/" HEX_A "/2026010100000000/kcore", KERNEL.start, "none-such", ID_A);
    s = ask(&o, &image);
    assert_string_equal(grade_at(&s, KERNEL.start + 0x110), "exact build-id kallsyms");
    bool refused = false;
    struct symbol_try tried;
    for (size_t i = 0; symbol_store_try(s.store, 0, i, &tried); i++)
        refused |= strstr(tried.path, "20260202") && tried.why && strstr(tried.why, "another boot");
    assert_true(refused);
    symbol_store_free(s.store);
}

/* The cache's list of the recorded build, made on another boot: the kernel lay elsewhere, and all of it by as
 * much. */
static void test_list_of_another_boot(void **state) {
    enum { SLIDE = 0x3200000 };
    struct tree *t = *state;
    struct symbol_options o = {.cache = t->root};
    struct symbol_image image = KERNEL;
    image.build_id = text_bytes(ID_A);
    image.start += SLIDE;
    image.end += SLIDE;
    image.reference_address += SLIDE;
    put(t,
        "/.build-id/61/"
        "61616161616161616161616161616161616161"
        "/kallsyms",
        text_bytes(KALLSYMS));
    struct session s = ask(&o, &image);
    assert_string_equal(at(&s, 0xffffffff9b6001ff + SLIDE), "one");
    assert_string_equal(at(&s, 0xffffffff9b6001ff), "");
    assert_string_equal(at(&s, 0xffffffff9b700020 + SLIDE), "start_kernel");
    assert_string_equal(grade_at(&s, 0xffffffff9b6001ff + SLIDE), "exact build-id kallsyms");
    assert_true(s.source.has_slide && s.source.slide == SLIDE);
    symbol_store_free(s.store);

    image.reference_address += 0x800; /* kernels move by pages */
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);

    image.reference_address -= 0x800;
    image.end += 0x100000; /* of another length */
    s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* What sonde keeps of a boot proves a list of its symbols, and contradicts those of all others. */
static void test_kernel_facts(void **state) {
    struct tree *t = *state;
    char path[128], other[128];
    struct perfdata_kernel_facts facts = {.symbol_count = 8};
    for (size_t i = 0; i < 8; i++)
        facts.symbols[i] = (struct perfdata_kernel_symbol){0xffffffff9b600100, "one"};
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    snprintf(other, sizeof other, "%s/other", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/other",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b600108 T one\nffffffff9b601000 T _etext\n"));
    struct symbol_options o = {.host = {.kallsyms = path}, .kernel = &facts};
    struct session s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "exact kernel kallsyms");
    symbol_store_free(s.store);

    facts.symbol_count = 3; /* too few to prove anything */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "inferred none kallsyms");
    symbol_store_free(s.store);

    o.host.kallsyms = other; /* the reference is where it was, but nothing else */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600110), "stale none none");
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "one"));
    symbol_store_free(s.store);

    o.kernel = NULL;
    s = ask(&o, &KERNEL);
    assert_string_equal(at(&s, 0xffffffff9b600110), "one");
    symbol_store_free(s.store);

    const struct recipe vmlinux = {.type = ET_EXEC,
                                   .table = SHT_SYMTAB,
                                   .functions = {{"_text", 0xffffffff81000000, 0, 1},
                                                 {"one", 0xffffffff81000200, 0x20, 1},
                                                 {"_etext", 0xffffffff81001000, 0, 1}}};
    put_elf(t, "/vmlinux", &vmlinux, NULL);
    snprintf(path, sizeof path, "%s/vmlinux", t->root);
    o = (struct symbol_options){.host = {.vmlinux = path}, .kernel = &facts};
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600210), "stale none none");
    symbol_store_free(s.store);
    o.force_images = path; /* the user knows better */
    s = ask(&o, &KERNEL);
    assert_string_equal(grade_at(&s, 0xffffffff9b600210), "inferred none symtab");
    symbol_store_free(s.store);
}

/* A list of another boot of the same kernel, which was not relocated: its modules tell. */
static void test_modules_elsewhere(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b601000 T _etext\nffffffffc0a00000 t f\t[ext4]\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct symbol_image module = {.kind = SYMBOL_IMAGE_MODULE,
                                  .space = SYMBOL_KERNEL,
                                  .name = "[ext4]",
                                  .start = 0xffffffffc0a00000,
                                  .end = 0xffffffffc0a10000};
    for (int moved = 0; moved < 2; moved++) {
        struct symbol_store *s = symbol_store_new(&o, NULL);
        symbol_store_add(s, &KERNEL);
        module.start += moved ? 0x100000 : 0;
        module.end += moved ? 0x100000 : 0;
        symbol_store_add(s, &module);
        assert_int_equal(symbol_store_table(s, 0) == NULL, moved);
        symbol_store_free(s);
    }
}

/* A BPF program that the recording tells of, and what a list of another boot, or of a kernel with more text,
 * has there. */
static void test_made_code(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms",
        text_bytes("ffffffff9b600000 T _text\nffffffff9b600000 T _stext\nffffffff9b601000 T _etext\n"
                   "ffffffffc0a00000 t bpf_prog_1\t[bpf]\nffffffffc0a00400 t bpf_prog_1\t[bpf]\n"
                   "ffffffffc0a00800 t ftrace_trampoline\t[__builtin__ftrace]\n"
                   "ffffffffc0a00c00 t other\t[ext4]\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    const struct {
        const char *name;
        uint64_t start;
        bool refused;
    } cases[] = {
        {"bpf_prog_1", 0xffffffffc0a00400, false},       {"bpf_prog_1", 0xffffffffc0a00404, true},
        {"bpf_prog_2", 0xffffffffc0a00404, false},       {"ftrace_trampoline", 0xffffffffc0a00800, false},
        {"ftrace_trampoline", 0xffffffffc0a00000, true}, {"other", 0xffffffffc0a00000, false},
        {"bpf_prog_2", 0xffffffff9b600800, true}, /* inside of the kernel's text */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct symbol_image code = {.kind = SYMBOL_IMAGE_NAMED,
                                    .space = SYMBOL_KERNEL,
                                    .name = cases[i].name,
                                    .start = cases[i].start,
                                    .end = cases[i].start + 0x40};
        struct symbol_store *s = symbol_store_new(&o, NULL);
        symbol_store_add(s, &KERNEL);
        symbol_store_add(s, &code);
        assert_int_equal(symbol_store_table(s, 0) == NULL, cases[i].refused);
        assert_int_equal(symbol_store_source(s, 0).status == SYMBOL_CONTRADICTED, cases[i].refused);
        symbol_store_free(s);
    }
}

/* Whatever runs here, it is not a kernel with this build-id, nor one that nothing is known of. */
static void test_foreign_kernel(void **state) {
    (void)state;
    struct symbol_options o = {.symfs = "/nonexistent"};
    struct symbol_image image = KERNEL;
    struct os_host host;
    os_host_read(&host);
    for (int i = 0; i < 3; i++) {
        image.build_id = i == 0 ? text_bytes(ID_A) : (struct bytes){0};
        image.release = i == 1 ? "2.6.39-other" : i == 2 ? NULL : host.release;
        struct session s = ask(&o, &image);
        assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
        assert_string_equal(s.source.path, "/proc/kallsyms");
        /* A kernel of another release is no candidate. */
        assert_string_equal(grade_at(&s, KERNEL.start), i == 0 ? "stale none none" : "unknown none none");
        symbol_store_free(s.store);
    }
    image.space = SYMBOL_GUEST_KERNEL;
    struct session s = ask(&o, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* Nor is the running kernel another one because the user says so. */
static void test_running_kernel_given(void **state) {
    (void)state;
    struct symbol_options o = {.host = {.kallsyms = "/proc/kallsyms"}};
    struct symbol_image image = KERNEL;
    image.reference = NULL; /* so that only its name can contradict */
    image.release = "2.6.39-other";
    struct session s = ask(&o, &image);
    if (s.source.status == SYMBOL_HIDDEN) {
        symbol_store_free(s.store);
        print_message("SKIP: addresses in /proc/kallsyms are hidden (kernel.kptr_restrict)\n");
        skip();
    }
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    assert_non_null(strstr(symbol_store_warning(s.store, 0), "2.6.39-other"));
    symbol_store_free(s.store);
}

/* ---- modules ---- */

static struct session ask_module(const struct symbol_options *o, const struct symbol_image *kernel,
                                 const struct symbol_image *module) {
    struct session s = {symbol_store_new(o, NULL)};
    symbol_store_add(s.store, kernel);
    uint32_t id = symbol_store_add(s.store, module);
    s.table = symbol_store_table(s.store, id);
    s.source = symbol_store_source(s.store, id);
    return s;
}

static const struct symbol_image MODULE = {.kind = SYMBOL_IMAGE_MODULE,
                                           .space = SYMBOL_KERNEL,
                                           .name = "/lib/modules/6.1.0/kernel/fs/a-b.ko.xz",
                                           .pid = UINT32_MAX,
                                           .start = 0xffffffffc0000000,
                                           .end = 0xffffffffc0001000,
                                           .release = "6.1.0"};

static void test_module_list(void **state) {
    struct tree *t = *state;
    char path[128], modules[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    snprintf(modules, sizeof modules, "%s/modules", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/modules",
        text_bytes("x 4096 0 - Live 0xffffffffc0000000\na_b 2048 0 - Live 0xffffffffc0000000\n"));
    struct symbol_options o = {.host = {.kallsyms = path}};
    struct session s = ask_module(&o, &KERNEL, &MODULE);
    assert_string_equal(at(&s, 0x3f), "mod_one");
    assert_string_equal(at(&s, 0xfff), "mod_two");
    assert_string_equal(at(&s, 0x1000), "");
    symbol_store_free(s.store);
    struct symbol_image endless = MODULE; /* as old perfs wrote the last module */
    endless.end = UINT64_MAX;
    s = ask_module(&o, &KERNEL, &endless);
    assert_string_equal(at(&s, 0x2fff), "mod_data");
    assert_string_equal(at(&s, 0x3000), "");
    symbol_store_free(s.store);
    o.host.modules = modules;
    s = ask_module(&o, &KERNEL, &endless);
    assert_string_equal(at(&s, 0x7ff), "mod_two");
    assert_string_equal(at(&s, 0x800), "");
    symbol_store_free(s.store);
    static const int64_t OFF[] = {0x10000, 0x1000, -0x1000}; /* of another boot, whose modules overlap ours */
    for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) {
        struct symbol_image elsewhere = MODULE;
        elsewhere.start += (uint64_t)OFF[i], elsewhere.end += (uint64_t)OFF[i];
        s = ask_module(&o, &KERNEL, &elsewhere);
        assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
        symbol_store_free(s.store);
    }
    struct symbol_image boot = KERNEL;
    boot.reference_address += 0x100000; /* the list is another boot's: nothing of it counts */
    s = ask_module(&o, &boot, &MODULE);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

static void test_module_file(void **state) {
    struct tree *t = *state;
    struct symbol_options o = {.symfs = t->root};
    const struct recipe ko = {.type = ET_REL,
                              .id = ID_A,
                              .table = SHT_SYMTAB,
                              .functions = {{"in_text", 0x10, 0x10, 1},
                                            {"in_init", 0, 0x10, 2},
                                            {"in_cold", 0, 0, 3},
                                            {"outside", 0x1000, 4, 1}}};
    struct symbol_image image = MODULE;
    image.name = "/lib/modules/6.1.0/kernel/fs/a-b.ko";
    put_elf(t, image.name, &ko, NULL);
    struct session s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x10), "in_text");
    assert_string_equal(at(&s, 0), "");
    assert_string_equal(at(&s, 0x100), "in_cold"); /* the next executable section that is not .init */
    assert_string_equal(at(&s, 0x13f), "in_cold");
    assert_string_equal(at(&s, 0x140), "");
    assert_int_equal(s.source.origin, SYMBOL_FROM_MODULE);
    symbol_store_free(s.store);
    image.release = "6.1.1"; /* a module of another release, which nothing proves */
    s = ask_module(&o, &KERNEL, &image);
    assert_null(s.table);
    symbol_store_free(s.store);
    image.build_id = text_bytes(ID_A);
    s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x10), "in_text");
    assert_false(s.source.proved); /* where its sections lie is a guess */
    symbol_store_free(s.store);

    /* Every section at its recorded place, code of loading too; what was not recorded nowhere. */
    static const char lines[] = "module\tffffffffc0a00000\tffffffffc0a10000\t-\ta_b\t[a_b]\n"
                                "section\tffffffffc0a02000\t.text.unlikely\n"
                                "section\tffffffffc0a00400\t.text\nsection\tffffffffc0900000\t.init.text\n"
                                "module\tffffffffc0c00000\tffffffffc0c10000\t-\tother\t[other]\n";
    const struct bytes texts[2] = {{0}, text_bytes(lines)};
    o.module_lines = texts;
    image.start = 0xffffffffc0a00000;
    image.end = 0xffffffffc0a10000;
    s = ask_module(&o, &KERNEL, &image);
    assert_string_equal(at(&s, 0x410), "in_text");
    assert_string_equal(at(&s, 0x10), "");
    assert_string_equal(at(&s, 0x2000), "in_cold");
    assert_string_equal(at(&s, PERFDATA_MODULE_INIT), "in_init");
    assert_true(s.source.proved);
    symbol_store_free(s.store);

    image.build_id = text_bytes(ID_B);
    s = ask_module(&o, &KERNEL, &image);
    assert_int_equal(s.source.status, SYMBOL_CONTRADICTED);
    symbol_store_free(s.store);
}

/* ---- memory ---- */

static void try_all(const struct symbol_options *o) {
    static const struct symbol_image map = {.kind = SYMBOL_IMAGE_JIT, .name = "/tmp/perf-42.map", .pid = 42};
    const struct symbol_image *const images[] = {&FILE_IMAGE, &KERNEL, &MODULE, &map, &FILE_IMAGE};
    struct symbol_store *s = symbol_store_new(o, NULL);
    for (size_t i = 0; s && i < sizeof images / sizeof *images; i++) {
        uint32_t id = symbol_store_add(s, images[i]);
        if (id == UINT32_MAX)
            continue;
        const struct symbol_table *t = symbol_store_table(s, id);
        if (t)
            symbol_table_find(t, 0);
    }
    symbol_store_free(s);
}

static void test_memory(void **state) {
    struct tree *t = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/kallsyms", t->root);
    put(t, "/kallsyms", text_bytes(KALLSYMS));
    put(t, "/tmp/perf-42.map", text_bytes("10 10 f\n"));
    put_elf(t, "/bin/prog", &PROG, NULL);
    struct symbol_options o = {.symfs = t->root, .host = {.kallsyms = path}};
    FAIL_EACH_ALLOC(try_all(&o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TREE_TEST(test_kallsyms),
        TREE_TEST(test_vmlinux),
        TREE_TEST(test_foreign_vmlinux),
        TREE_TEST(test_kcore),
        TREE_TEST(test_kcore_read),
        TREE_TEST(test_cached_kcore),
        TREE_TEST(test_kernel_facts),
        TREE_TEST(test_modules_elsewhere),
        TREE_TEST(test_made_code),
        cmocka_unit_test(test_running_kernel_given),
        cmocka_unit_test(test_foreign_kernel),
        TREE_TEST(test_list_of_another_boot),
        TREE_TEST(test_module_list),
        TREE_TEST(test_module_file),
        TREE_TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
