#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build sonde, through the system's package manager: deps.sh build|check|fuzz|vm
# Says nothing and asks nothing when all is there. Knows Debian and Ubuntu, Fedora, Arch.
set -eu

want=${1:-build}

# Is it there? One line per thing: what it is tried by, and its packages for apt, dnf and pacman.
has_program() { command -v "$1" >/dev/null 2>&1; }
has_library() { has_program pkg-config && pkg-config --exists "$1"; }
has_compiler() {
    has_program cc && printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' |
        cc -x c - -o /dev/null 2>/dev/null
}
has_demangler() {
    printf '#include <libiberty/demangle.h>\nint main(void) { return !dlang_demangle("", 0); }\n' |
        cc -x c - -o /dev/null -liberty 2>/dev/null
}
has_sanitizers() { echo 'int main(void) { return 0; }' | cc -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null; }
has_fuzzer() {
    has_program clang && printf '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const char *p, size_t n) { return p && n > 99; }\n' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

apt='' dnf='' pacman='' missing=''
need() { # what, test, its argument, apt names, dnf names, pacman names
    "$2" $3 && return 0
    missing="$missing $1" apt="$apt $4" dnf="$dnf $5" pacman="$pacman $6"
}

survey() {
    apt='' dnf='' pacman='' missing=''
    need 'C-compiler' has_compiler '' 'gcc libc6-dev' 'gcc glibc-devel' 'gcc'
    need 'meson' has_program meson 'meson' 'meson' 'meson'
    need 'ninja' has_program ninja 'ninja-build' 'ninja-build' 'ninja'
    need 'pkg-config' has_program pkg-config 'pkg-config' 'pkgconf-pkg-config' 'pkgconf'
    need 'zstd' has_library libzstd 'libzstd-dev' 'libzstd-devel' 'zstd'
    need 'zlib' has_library zlib 'zlib1g-dev' 'zlib-devel' 'zlib'
    need 'liblzma' has_library liblzma 'liblzma-dev' 'xz-devel' 'xz'
    need 'xxhash' has_library libxxhash 'libxxhash-dev' 'xxhash-devel' 'xxhash'
    need 'libiberty' has_demangler '' 'libiberty-dev' 'binutils-devel' 'binutils'
    need 'libdw' has_library libdw 'libdw-dev' 'elfutils-devel' 'libelf'
    need 'capstone' has_library capstone 'libcapstone-dev' 'capstone-devel' 'capstone'
    need 'ncurses' has_library ncursesw 'libncurses-dev' 'ncurses-devel' 'ncurses'
    need 'sqlite' has_library sqlite3 'libsqlite3-dev' 'sqlite-devel' 'sqlite'
    need 'libtraceevent' has_library libtraceevent 'libtraceevent-dev' 'libtraceevent-devel' 'libtraceevent'
    [ "$want" = build ] && return 0
    need 'cmocka' has_library cmocka 'libcmocka-dev' 'libcmocka-devel' 'cmocka'
    need 'python3' has_program python3 'python3' 'python3' 'python'
    need 'nm' has_program nm 'binutils' 'binutils' 'binutils'
    if [ "$want" = vm ]; then
        need 'QEMU-x86' has_program qemu-system-x86_64 'qemu-system-x86' 'qemu-system-x86-core' 'qemu-system-x86'
        need 'QEMU-arm64' has_program qemu-system-aarch64 'qemu-system-arm' 'qemu-system-aarch64-core' 'qemu-system-aarch64'
        need 'QEMU-s390x' has_program qemu-system-s390x 'qemu-system-misc' 'qemu-system-s390x-core' 'qemu-system-s390x'
        # On a machine of the other kind the compiler is its own.
        [ "$(uname -m)" = aarch64 ] || need 'arm64-compiler' has_program aarch64-linux-gnu-gcc \
            'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' 'gcc-aarch64-linux-gnu' 'aarch64-linux-gnu-gcc'
        need 's390x-compiler' has_program s390x-linux-gnu-gcc 'gcc-s390x-linux-gnu libc6-dev-s390x-cross' \
            'gcc-s390x-linux-gnu' 's390x-linux-gnu-gcc'
    elif [ "$want" = check ]; then
        # They read what `sonde export` writes.
        need 'protoc' has_program protoc 'protobuf-compiler' 'protobuf-compiler' 'protobuf'
        need 'go' has_program go 'golang-go' 'golang' 'go'
        need 'callgrind_annotate' has_program callgrind_annotate 'valgrind' 'valgrind' 'valgrind'
        need 'tmux' has_program tmux 'tmux' 'tmux' 'tmux'
        need 'llvm-symbolizer' has_program llvm-symbolizer 'llvm' 'llvm' 'llvm'
        need 'sanitizers' has_sanitizers '' 'gcc' 'libasan libubsan' 'gcc'
        need 'clang' has_program clang 'clang llvm' 'clang llvm' 'clang llvm' # these three: bpf/build.py --check
        need 'bpftool' has_program bpftool 'bpftool' 'bpftool' 'bpf'
        need 'libbpf' has_library libbpf 'libbpf-dev' 'libbpf-devel' 'libbpf'
        need 'node' has_program node 'nodejs' 'nodejs' 'nodejs'
        need 'npm' has_program npm 'npm' 'nodejs-npm' 'npm'
        need 'chromium' has_program chromium 'chromium' 'chromium' 'chromium'
    else
        need 'clang-with-fuzzer' has_fuzzer '' 'clang libclang-rt-dev' 'clang compiler-rt' 'clang compiler-rt'
    fi
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif has_program sudo; then
        sudo "$@"
    else
        echo "not root, and no sudo: please run: $*" >&2
        exit 1
    fi
}

# A name may differ between releases: what apt does not know is left out, and noticed by the survey afterwards.
known_to_apt() {
    for p in $apt; do
        if apt-cache show "$p" >/dev/null 2>&1; then
            echo "$p"
        elif [ "$p" = libclang-rt-dev ]; then
            apt-cache search --names-only '^libclang-rt-[0-9]+-dev$' | sort -V | tail -1 | cut -d' ' -f1
        fi
    done
}

# As long as the lists name everything wanted there is no need to fetch them anew.
install_apt() {
    first=$(known_to_apt)
    # shellcheck disable=SC2086
    if [ -n "$first" ] && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $first >/dev/null 2>&1; then
        survey
        [ -z "$missing" ] && return 0
    fi
    as_root apt-get update -qq
    # shellcheck disable=SC2046
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(known_to_apt)
}

# Tests on another kernel skip without it: nothing fails when it cannot be had.
optional_qemu() {
    if [ "$want" = check ] && has_program apt-get && ! has_program qemu-system-x86_64; then
        qemu='env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends qemu-system-x86'
        # shellcheck disable=SC2086
        { as_root $qemu || { as_root apt-get update -qq && as_root $qemu; }; } >/dev/null 2>&1 ||
            echo "QEMU cannot be installed (qemu-system-x86): tests on other kernels will skip"
    fi
}

survey
[ -z "$missing" ] && optional_qemu && exit 0
echo "missing:$missing"
# shellcheck disable=SC2086
if has_program apt-get; then
    install_apt
elif has_program dnf; then
    as_root dnf install -y -q $dnf
elif has_program pacman; then
    as_root pacman -S --needed --noconfirm $pacman || as_root pacman -Sy --needed --noconfirm $pacman
else
    echo "no apt-get, dnf or pacman here: please install$missing" >&2
    exit 1
fi
survey
[ -z "$missing" ] && optional_qemu && exit 0
echo "still missing after installing:$missing" >&2
exit 1
