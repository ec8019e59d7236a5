#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guests of tests/vm: kernels of other machines under QEMU's emulation, made of Debian's packages.

guests.py setup [GUEST...]    fetches and unpacks what is needed to boot them (all of them without a name)
guests.py list                says which there are, and what each lacks

Everything lies in $SONDE_VM_CACHE (~/.cache/sonde-vm): nothing of the machine's own package state is touched, and no
rights are needed. A guest is a kernel and an initramfs with busybox and a few modules; what a test adds to it (sonde, a
script) goes into a second initramfs after the first. /out in the guest is a folder of ours, over 9p.
"""
import collections
import glob
import os
import platform
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tarfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.environ.get("SONDE_VM_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sonde-vm")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SETUP = "1"  # counted up when what setup makes changes

# The modules of the work: what must run first to reach /out, and what the tests load.
EARLY = {"pci": ["virtio_pci", "9pnet_virtio", "9p"], "ccw": ["virtio_ccw", "9pnet_virtio", "9p"]}
MODULES = ["zram", "lz4", "lz4_compress", "raid6_pq", "xor", "loop", "fuse"]

Guest = collections.namedtuple("Guest", "name machine debian suite kernel qemu console bus package")
TCG = ["-accel", "tcg,thread=multi", "-smp", "2", "-m", "1024"]
GUESTS = {g.name: g for g in (
    Guest("x86_64", "x86_64", "amd64", "bookworm", "linux-image-amd64",
          ["qemu-system-x86_64", "-M", "q35", "-cpu", "max", *TCG], "ttyS0", "pci", "qemu-system-x86"),
    # Since Linux 6.4 a module's code and data lie apart.
    Guest("x86_64-new", "x86_64", "amd64", "trixie", "linux-image-amd64",
          ["qemu-system-x86_64", "-M", "q35", "-cpu", "max", *TCG], "ttyS0", "pci", "qemu-system-x86"),
    Guest("arm64", "aarch64", "arm64", "bookworm", "linux-image-arm64",
          ["qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on", *TCG], "ttyAMA0", "pci",
          "qemu-system-arm"),
    Guest("s390x", "s390x", "s390x", "bookworm", "linux-image-s390x",
          ["qemu-system-s390x", "-M", "s390-ccw-virtio", "-cpu", "max", *TCG], "ttysclp0", "ccw", "qemu-system-misc"),
)}


class Absent(Exception):
    """Something that this machine lacks or the network did not give: a reason to skip, not to fail."""


def mirror():
    """Where this machine takes its Debian packages from: SONDE_VM_MIRROR, else what apt is set up for."""
    if os.environ.get("SONDE_VM_MIRROR"):
        return os.environ["SONDE_VM_MIRROR"].rstrip("/")
    r = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
                       capture_output=True, text=True)
    for uri in r.stdout.split():
        if uri.rstrip("/").endswith("/debian"):
            return uri.rstrip("/")
    raise Absent("apt has no archive of Debian's: name one in SONDE_VM_MIRROR")


def folder(guest, *names):
    return os.path.join(CACHE, guest.name, *names)


def native(guest):
    return platform.machine() == guest.machine


def lacking(guest):
    """Why the guest cannot be booted, or None."""
    if not shutil.which(guest.qemu[0]):
        return f"{guest.qemu[0]} is not installed ({guest.package})"
    if read(folder(guest, "ready")) != SETUP:
        return f"it is not set up: tests/vm/guests.py setup {guest.name}"
    return None


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return None


# --- packages ---


class Packages:
    """One suite and architecture of Debian, with an apt state of its own."""

    def __init__(self, suite, arch):
        self.at = os.path.join(CACHE, "apt", f"{suite}-{arch}")
        self.debs = os.path.join(self.at, "debs")
        for d in ("lists/partial", "cache/archives/partial", "parts", "debs"):
            os.makedirs(os.path.join(self.at, d), exist_ok=True)
        self.write("status", "")
        at = mirror()
        # Suites below the newest stable one: security updates lie apart.
        self.write("sources.list", "".join(
            f"deb [signed-by={KEYRING}] {at}{more} main\n"
            for more in (f" {suite}", f"-security {suite}-security")))
        self.write("apt.conf", "".join(f'{key} "{value}";\n' for key, value in (
            ("APT::Architecture", arch), ("APT::Architectures::", arch), ("APT::Sandbox::User", ""),
            ("Acquire::Languages", "none"), ("Acquire::Retries", "2"), ("Acquire::http::Timeout", "20"),
            ("Dir::State", self.at), ("Dir::State::lists", self.at + "/lists"),
            ("Dir::State::status", self.at + "/status"), ("Dir::Cache", self.at + "/cache"),
            ("Dir::Etc::sourcelist", self.at + "/sources.list"), ("Dir::Etc::sourceparts", "-"),
            ("Dir::Etc::preferences", "-"), ("Dir::Etc::preferencesparts", "-"), ("Dir::Etc::main", "-"),
            ("Dir::Etc::parts", self.at + "/parts"))))
        self.fresh = False

    def write(self, name, text):
        with open(os.path.join(self.at, name), "w", encoding="utf-8") as f:
            f.write(text)

    def apt(self, *command, cwd=None):
        r = subprocess.run(command, cwd=cwd, env=dict(os.environ, APT_CONFIG=self.at + "/apt.conf", LC_ALL="C"),
                           capture_output=True, text=True, timeout=900)
        if r.returncode != 0:
            raise Absent(f"{' '.join(command)}: {(r.stderr or r.stdout).strip()[-300:]}")
        return r.stdout

    def update(self):
        if not self.fresh:
            self.apt("apt-get", "-q", "update")
            self.fresh = True

    def forget(self):
        """What was fetched is unpacked: the lists and packages are large, and quickly had again."""
        shutil.rmtree(self.at, ignore_errors=True)

    def behind(self, name):
        """The package that a meta package stands for."""
        self.update()
        m = re.search(r"^\s*Depends: (linux-image-\d\S+)", self.apt("apt-cache", "depends", name), re.M)
        return m.group(1) if m else name

    def fetch(self, names):
        """Their files; the index of packages only when one is not there yet."""
        there = {n: glob.glob(os.path.join(self.debs, n + "_*.deb")) for n in names}
        missing = [n for n in names if not there[n]]
        if missing:
            self.update()
            self.apt("apt-get", "-q", "download", *missing, cwd=self.debs)
        return [sorted(glob.glob(os.path.join(self.debs, n + "_*.deb")))[-1] for n in names]


def unpack(deb, to, wanted):
    """Those files of a package whose path (without "./") `wanted` approves."""
    pipe = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=pipe.stdout, mode="r|") as tar:
        for member in tar:
            name = os.path.normpath(member.name)
            if not name.startswith(("/", "..")) and wanted(name):
                tar.extract(member, to, set_attrs=False)
    if pipe.wait() != 0:
        raise Absent(f"{os.path.basename(deb)} cannot be unpacked")


# --- the initramfs ---


class Initramfs:
    """A cpio archive of the kind "newc" (Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self):
        self.parts, self.count = [], 0

    def put(self, name, mode, data=b""):
        self.count += 1
        name = name.encode() + b"\0"
        head = b"070701" + b"".join(b"%08X" % v for v in (
            self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0))
        for part in (head + name, data):
            self.parts.append(part + bytes(-len(part) % 4))

    def folders(self, *names):
        for name in names:
            self.put(name, 0o40755)

    def link(self, name, to):
        self.put(name, 0o120777, to.encode())

    def file(self, name, data, mode=0o755):
        self.put(name, 0o100000 | mode, data)

    def copy(self, name, path, mode=0o755):
        with open(path, "rb") as f:
            self.file(name, f.read(), mode)

    def bytes(self):
        self.put("TRAILER!!!", 0)
        data = b"".join(self.parts)
        return data + bytes(-len(data) % 512)


INIT = """#!/bin/sh
export PATH=/sonde:/bin HOME=/tmp TERM=dumb LC_ALL=C TZ=UTC
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mount -t tracefs t /sys/kernel/tracing; mount -t debugfs d /sys/kernel/debug
for m in EARLY; do modprobe $m; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,access=any out /out || { echo "no /out"; poweroff -f; }
echo -1 >/proc/sys/kernel/perf_event_paranoid; echo 0 >/proc/sys/kernel/kptr_restrict
cd /tmp; sh /sonde/run.sh >/out/log 2>&1; echo $? >/out/status
sync; poweroff -f
"""
APPLETS = """awk basename cat chmod cmp cp cut date dd dmesg dirname echo env expr false find grep head insmod kill ln ls
lsmod losetup md5sum mkdir mkfs.minix mkfifo modprobe mount mv od poweroff ps readlink rm rmmod sed seq sh sleep sort stat
sync tail tar tee test timeout touch tr true umount uname wc xargs zcat""".split()


def module_name(path):
    return os.path.basename(path).split(".")[0].replace("-", "_")


def plain(path):
    """A module's bytes, uncompressed."""
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(".xz"):
        import lzma
        return lzma.decompress(data)
    if path.endswith((".gz", ".zst")):
        tool = ["gzip", "-dc"] if path.endswith(".gz") else ["zstd", "-dc"]
        return subprocess.run(tool, input=data, capture_output=True, check=True).stdout
    return data


def needed_modules(root, wanted):
    """{path below `root`: [paths it needs, nearest last]} of the modules wanted and what they need, as "depends=" in
    their .modinfo says it. What is built in is not among them."""
    paths = {module_name(p): os.path.relpath(p, root) for p in
             glob.glob(os.path.join(root, "kernel", "**", "*.ko*"), recursive=True)}
    direct, order = {}, {}

    def visit(name):
        if name not in paths or name in order:
            return
        m = re.search(rb"(?:^|\0)depends=([^\0]*)\0", plain(os.path.join(root, paths[name])))
        direct[name] = [n.replace("-", "_") for n in m.group(1).decode().split(",") if n] if m else []
        order[name] = []
        for n in direct[name]:
            visit(n)
            if n in paths:
                order[name] += [n] + order[n]

    for name in wanted:
        visit(name)
    # modprobe loads them from the last to the first: of one that is needed twice the last mention counts.
    return {paths[n]: [paths[d] for d in reversed(dict.fromkeys(reversed(needs)))] for n, needs in order.items()}


def base_initramfs(guest, root, release):
    c = Initramfs()
    c.folders("bin", "proc", "sys", "dev", "tmp", "out", "sonde", "root", "mnt", "lib", "lib64", "lib/modules")
    c.copy("bin/busybox", os.path.join(root, "bin/busybox"))
    for a in APPLETS:
        c.link("bin/" + a, "busybox")
    at = os.path.join(root, "lib/modules", release)
    modules = needed_modules(at, EARLY[guest.bus] + MODULES)
    made = set()
    for name in [""] + sorted({os.path.dirname(p) for p in modules}):
        step = "lib/modules/" + release
        for part in [""] + name.split("/"):
            step = os.path.join(step, part) if part else step
            if step not in made:
                c.folders(step)
                made.add(step)
    for path in modules:
        c.copy(os.path.join("lib/modules", release, path), os.path.join(at, path), 0o644)
    dep = "".join(f"{path}: {' '.join(needs)}".rstrip() + "\n" for path, needs in modules.items())
    c.file(f"lib/modules/{release}/modules.dep", dep.encode(), 0o644)
    c.folders("sbin")
    c.link("sbin/modprobe", "../bin/busybox")  # what the kernel itself calls
    c.file("init", INIT.replace("EARLY", " ".join(EARLY[guest.bus])).encode())
    return c.bytes()


# --- setting up ---


def setup(guest):
    """Fetches and makes what the guest lacks; nothing when it is ready. Absent when that cannot be had."""
    if not shutil.which(guest.qemu[0]):
        raise Absent(f"{guest.qemu[0]} is not installed ({guest.package})")
    if read(folder(guest, "ready")) == SETUP:
        return
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise Absent(f"there is no {program} here")
    if not os.path.exists(KEYRING):
        raise Absent(f"there is no {KEYRING} (debian-archive-keyring)")
    shutil.rmtree(folder(guest), ignore_errors=True)
    os.makedirs(folder(guest, "root"))
    packages = Packages(guest.suite, guest.debian)
    kernel, busybox = packages.fetch([packages.behind(guest.kernel), "busybox-static"])
    unpack(busybox, folder(guest, "root"), lambda n: n in ("bin/busybox", "usr/bin/busybox"))
    unpack(kernel, folder(guest, "root"), lambda n: re.match(r"boot/vmlinu|(usr/)?lib/modules/.*\.ko", n))
    for merged in ("bin", "lib"):
        inner = folder(guest, "root", "usr", merged)
        if os.path.exists(inner) and not os.path.exists(folder(guest, "root", merged)):
            os.symlink("usr/" + merged, folder(guest, "root", merged))
    release = os.listdir(folder(guest, "root", "lib/modules"))[0]
    image = glob.glob(folder(guest, "root", "boot", "vmlinu*"))[0]
    shutil.copy(image, folder(guest, "kernel"))
    with open(folder(guest, "base.cpio"), "wb") as f:
        f.write(base_initramfs(guest, folder(guest, "root"), release))
    # The modules' own files stay: names are looked up in them here, as in the guest's.
    keep = set(needed_modules(folder(guest, "root/lib/modules", release), EARLY[guest.bus] + MODULES))
    for path in glob.glob(folder(guest, "root/lib/modules", release, "**/*.ko*"), recursive=True):
        if os.path.relpath(path, folder(guest, "root/lib/modules", release)) not in keep:
            os.remove(path)
    packages.forget()
    for name, text in (("release", release), ("ready", SETUP)):
        with open(folder(guest, name), "w", encoding="utf-8") as f:
            f.write(text)


# --- sonde for it ---

LIBRARIES = ["libxxhash-dev", "libzstd-dev", "zlib1g-dev", "liblzma-dev"]


def cross_build(guest, into):
    """sonde for a guest of another kind than this machine, linked statically; the path of the program."""
    triplet = guest.machine + "-linux-gnu"
    if not shutil.which(triplet + "-gcc"):
        raise Absent(f"there is no {triplet}-gcc (gcc-{triplet.replace('_', '-')})")
    sysroot = os.path.join(CACHE, "sysroot-" + guest.machine)
    if read(os.path.join(sysroot, "ready")) != SETUP:
        packages = Packages(guest.suite, guest.debian)
        for deb in packages.fetch(LIBRARIES):
            unpack(deb, sysroot, lambda n: re.match(r"usr/(include|lib)/", n))
        packages.forget()
        with open(os.path.join(sysroot, "ready"), "w", encoding="utf-8") as f:
            f.write(SETUP)
    os.makedirs(into, exist_ok=True)
    cross = os.path.join(into, "cross.ini")
    with open(cross, "w", encoding="utf-8") as f:
        f.write(f"""[binaries]
c = {(['ccache'] if shutil.which('ccache') else []) + [triplet + '-gcc']!r}
ar = '{triplet}-ar'
strip = '{triplet}-strip'
pkgconfig = 'pkg-config'
[built-in options]
c_args = ['-I{sysroot}/usr/include', '-I{sysroot}/usr/include/{triplet}']
c_link_args = ['-static', '-L{sysroot}/usr/lib/{triplet}']
[properties]
sys_root = '{sysroot}'
pkg_config_libdir = '{sysroot}/usr/lib/{triplet}/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '{guest.machine}'
cpu = '{guest.machine}'
endian = '{'big' if guest.machine == 's390x' else 'little'}'
""")
    build = os.path.join(into, "build")
    options = ["--cross-file", cross, "-Dauto_features=disabled", "-Dzstd=enabled", "-Dzlib=enabled",
               "-Dlzma=enabled", "-Dprefer_static=true"]
    for step in [[os.path.join(TOP, "scripts", "configure.py"), build, *options], ["ninja", "-C", build, "sonde"]]:
        r = subprocess.run(step, capture_output=True, text=True)
        if r.returncode != 0:
            raise RuntimeError(f"{' '.join(step)}\n{(r.stdout + r.stderr)[-3000:]}")
    return os.path.join(build, "sonde")


def libraries_of(program):
    """What the dynamic linker would load: [path]."""
    r = subprocess.run(["ldd", program], capture_output=True, text=True)
    return re.findall(r"(/\S+) \(0x", r.stdout) if r.returncode == 0 else []


# --- booting ---


def boot(guest, out, script, files, append="", limit=600):
    """Boots, runs `script` (text) with `files` ({name: path or bytes}) in /sonde; its output and what it leaves in
    /out come to `out`. The seconds that took. RuntimeError when the script did not get to its end."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    c = Initramfs()
    c.file("sonde/run.sh", script.encode())
    placed = set()
    for name, source in files.items():
        if isinstance(source, bytes):
            c.file("sonde/" + name, source)
            continue
        c.copy("sonde/" + name, source)
        for library in libraries_of(source):
            if library not in placed:
                placed.add(library)
                parts = os.path.dirname(library).strip("/").split("/")
                c.folders(*("/".join(parts[:i + 1]) for i in range(len(parts))))
                c.copy(library.strip("/"), os.path.realpath(library))
    initrd = os.path.join(out, "initrd")
    with open(initrd, "wb") as f, open(folder(guest, "base.cpio"), "rb") as base:
        f.write(base.read())
        f.write(c.bytes())
    device = "virtio-9p-" + guest.bus
    command = [*guest.qemu, "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
               "-kernel", folder(guest, "kernel"), "-initrd", initrd,
               "-append", f"console={guest.console} panic=-1 quiet {append}".strip(),
               "-fsdev", f"local,id=out,path={out},security_model=none",
               "-device", f"{device},fsdev=out,mount_tag=out"]
    started = time.monotonic()
    with open(os.path.join(out, "console"), "wb") as console:
        try:
            subprocess.run(["nice", *command], stdin=subprocess.DEVNULL, stdout=console, stderr=console, timeout=limit)
        except subprocess.TimeoutExpired:
            pass
    os.remove(initrd)
    if read(os.path.join(out, "status")) is None:
        with open(os.path.join(out, "console"), "rb") as console:
            tail = console.read()[-1500:].decode("utf-8", "replace")
        raise RuntimeError(f"{guest.name} did not run to its end within {limit} s ({shlex.join(command)}): "
                           f"{tail}\n{(read(os.path.join(out, 'log')) or '')[-1500:]}")
    return time.monotonic() - started


def main():
    what, names = (sys.argv[1:2] or ["list"])[0], sys.argv[2:] or list(GUESTS)
    if what not in ("setup", "list") or not set(names) <= set(GUESTS):
        sys.exit(__doc__ + "\nguests: " + " ".join(GUESTS))
    lost = 0
    for name in names:
        started = time.monotonic()
        try:
            if what == "setup":
                setup(GUESTS[name])
            why = lacking(GUESTS[name])
        except Absent as e:
            why, lost = str(e), lost + 1
        print(f"{name}: {why or 'ready'}" + (f" ({time.monotonic() - started:.0f} s)" if what == "setup" else ""),
              flush=True)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
