/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/feature_list.h"

#include <strings.h>

#include "config.h"

#ifdef HAVE_ZSTD
#define ZSTD true
#else
#define ZSTD false
#endif
#ifdef HAVE_ZLIB
#define ZLIB true
#else
#define ZLIB false
#endif
#ifdef HAVE_LZMA
#define LZMA true
#else
#define LZMA false
#endif
#ifdef HAVE_LIBDW
#define LIBDW true
#else
#define LIBDW false
#endif
#ifdef HAVE_CAPSTONE
#define CAPSTONE true
#else
#define CAPSTONE false
#endif
#ifdef HAVE_LIBPFM4
#define PFM true
#else
#define PFM false
#endif
#ifdef HAVE_SQLITE
#define SQLITE true
#else
#define SQLITE false
#endif
#ifdef HAVE_LIBTRACEEVENT
#define TRACEEVENT true
#else
#define TRACEEVENT false
#endif

#ifdef HAVE_NCURSES
#define TUI true
#else
#define TUI false
#endif

enum { NAME_WIDTH = 22 };

const struct feature_row feature_table[] = {
    {"aio", "HAVE_AIO_SUPPORT", false, NULL},
    {"bpf", "HAVE_LIBBPF_SUPPORT", false, NULL},
    {"bpf_skeletons", "HAVE_BPF_SKEL", false, NULL},
    {"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", true, NULL},
    {"dwarf", "HAVE_LIBDW_SUPPORT", LIBDW,
     "build again with libdw-dev (Debian), elfutils-devel (Fedora) or libelf (Arch)"},
    {"dwarf_getlocations", "HAVE_LIBDW_SUPPORT", false, NULL},
    {"dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", true, NULL},
    {"libbfd", "HAVE_LIBBFD_SUPPORT", false, NULL},
    {"babeltrace2-ctf-writer", "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT", false, NULL},
    {"libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", false, NULL},
    {"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", CAPSTONE,
     "build again with libcapstone-dev (Debian), capstone-devel (Fedora) or capstone (Arch)"},
    {"libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT", true, NULL},
    {"libelf", "HAVE_LIBELF_SUPPORT", true, NULL}, /* on: what perf uses it for works without a library */
    {"libLLVM", "HAVE_LIBLLVM_SUPPORT", false, NULL},
    {"libnuma", "HAVE_LIBNUMA_SUPPORT", false, NULL},
    {"libopencsd", "HAVE_CSTRACE_SUPPORT", false, NULL},
    {"libperl", "HAVE_LIBPERL_SUPPORT", false, NULL},
    {"libpfm4", "HAVE_LIBPFM", PFM, "build again with libpfm4-dev (Debian) or libpfm-devel (Fedora)"},
    {"libpython", "HAVE_LIBPYTHON_SUPPORT", true, NULL},
    /* What perf uses for its terminal browser; sonde's uses ncurses. */
    {"libslang", "HAVE_SLANG_SUPPORT", TUI,
     "build again with libncurses-dev (Debian), ncurses-devel (Fedora) or ncurses (Arch)"},
    {"libsqlite3", "HAVE_SQLITE", SQLITE,
     "build again with libsqlite3-dev (Debian), sqlite-devel (Fedora) or sqlite (Arch)"},
    {"libtraceevent", "HAVE_LIBTRACEEVENT", TRACEEVENT,
     "build again with libtraceevent-dev (Debian), libtraceevent-devel (Fedora) or libtraceevent (Arch)"},
    {"libunwind", "HAVE_LIBUNWIND_SUPPORT", false, NULL},
    {"lzma", "HAVE_LZMA_SUPPORT", LZMA,
     "build again with liblzma-dev (Debian), xz-devel (Fedora) or xz (Arch)"},
    {"numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", false, NULL},
    {"zlib", "HAVE_ZLIB_SUPPORT", ZLIB,
     "build again with zlib1g-dev (Debian), zlib-devel (Fedora) or zlib (Arch)"},
    {"zstd", "HAVE_ZSTD_SUPPORT", ZSTD,
     "build again with libzstd-dev (Debian), libzstd-devel (Fedora) or zstd (Arch)"},
    {"rust", "HAVE_RUST_SUPPORT", false, NULL},
    {NULL, NULL, false, NULL},
};

const struct feature_row *feature_find(const char *name, size_t len) {
    for (const struct feature_row *row = feature_table; row->name; row++)
        if ((strncasecmp(row->name, name, len) == 0 && !row->name[len]) ||
            (strncasecmp(row->macro, name, len) == 0 && !row->macro[len]))
            return row;
    return NULL;
}

void feature_print(struct out *o, const struct feature_row *row) {
    out_right(o, row->name, strlen(row->name), NAME_WIDTH);
    out_printf(o, ": [ %s ]  # %s", row->built_in ? "on " : "OFF", row->macro);
    if (!row->built_in && row->tip)
        out_printf(o, " ( tip: %s )", row->tip);
    out_char(o, '\n');
}
