# SPDX-License-Identifier: Apache-2.0
"""What is done to programs, and what may be asked of their recordings.

A case builds what it needs in its own folder, gives the command to record, and may do something when the recording
is finished. `need` is "right" where the evidence is there when `record` ends: then 99 % must be named, rightly.
"honest": names may be missing. A wrong name is never allowed.

Programs that end or change something wait until the recorder has looked at what they have mapped (burner.c, `settle`):
its only promise is to look as soon as it gets to run. What comes of it when it gets to run late is tested by cases of
their own, `late`: it is stopped before the program begins, until that has settled at its end, or has ended. There names
may be missing, but none may be wrong.
"""
import os
import re
import shutil
import subprocess

CC = os.environ.get("CC", "cc").split()
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "burner.c")
BURN = ["alpha", "beta", "gamma", "beta", "alpha", "gamma"]


class Skip(Exception):
    pass


class Case:
    def __init__(self, name, run, need="right", what="leaf", graph=False, late=None):
        self.name, self.run, self.need, self.what, self.graph, self.late = name, run, need, what, graph, late


class Place:
    """A case's folder and the means to fill it."""

    def __init__(self, folder, built):
        self.folder, self.built = folder, built  # programs are compiled once
        self.step = None  # what the program does at `step`
        self.after = None  # called when the recording is finished
        self.clean = []  # commands that undo what may not stay
        self.roots = None

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, name, second=False, build_id=True, library=False, flags=()):
        """Compiles a program or library; its path."""
        options = ["-w", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fcf-protection=none",
                   "-DVARIANT=" + ("two" if second else "one"), "-DSECOND=%d" % second,
                   "-Wl,--build-id=" + ("sha1" if build_id else "none"), *flags]
        if library:
            options += ["-DLIBRARY", "-shared", "-fPIC"]
        else:
            options += ["-rdynamic"] if "-rdynamic" in flags else []
            options += ["-ldl", "-lpthread"]
        key = " ".join(options)
        if key not in self.built:
            to = os.path.join(self.built[""], str(len(self.built)))
            command = CC + [SOURCE, "-o", to] + options
            r = subprocess.run(command, capture_output=True, text=True)
            if r.returncode:
                raise Skip("this compiler cannot build it: " + r.stderr.strip().splitlines()[-1])
            self.built[key] = to
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        shutil.copy(self.built[key], self.path(name))
        return self.path(name)

    def shell(self, command):
        subprocess.run(["sh", "-ec", command], check=True, capture_output=True)

    def need_root(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", self.folder],
                                               capture_output=True).returncode:
            raise Skip("it takes root and mount namespaces")


CASES = []
AT_ITS_END, AFTER_IT = "seen at its end", "seen after its end"


def unseen(place, argv):
    """Started by a program that asks that the recorder be stopped."""
    return [place.make("unseen", second=True), "unseen", "exec", shutil.which(argv[0]), *argv[1:]]


def case(name, need="right", ids=(True, False), late=(), **more):
    """A case for programs with and without a build-id; and with a recorder that is stopped meanwhile."""
    def add(function):
        for build_id in ids:
            full = name if len(ids) == 1 else f"{name}{'' if build_id else ', no build-id'}"
            n = need if isinstance(need, str) else need[0 if build_id else 1]
            run = lambda place, f=function, b=build_id: f(place, b)
            CASES.append(Case(full, run, n, **more))
            for when in late:
                CASES.append(Case(f"{full}, {when}", lambda place, r=run: unseen(place, r(place)), "honest", late=when, **more))
        return function
    return add


def simple(name, *flags, ids=(True, False), **more):
    @case(name, ids=ids, **more)
    def run(p, build_id):
        return [p.make("prog", build_id=build_id, flags=flags), *BURN]


# --- how a program is built ---

simple("PIE")
simple("not PIE", "-no-pie", "-fno-pie")
simple("static", "-static", "-no-pie", "-fno-pie")
simple("static PIE", "-static-pie")
simple("prelinked base", "-no-pie", "-fno-pie", "-Wl,-Ttext-segment=0x40000000", ids=(True,))
simple("PT_LOADs with gaps", "-no-pie", "-fno-pie", "-DFAR=__attribute__((section(\".far\")))",
       "-Wl,--section-start=.far=0x7000000", ids=(True, False))
simple("headers in text", "-Wl,-z,noseparate-code", ids=(False,))


@case("library with a base", ids=(True,))
def library_with_base(p, build_id):
    lib = p.make("lib.so", build_id=build_id, library=True, flags=("-Wl,-Ttext-segment=0x3000000",))
    return [p.make("prog"), "open:" + lib, "call:one_alpha", "call:one_gamma", "alpha", "call:one_beta"]


def split_debug(p, prog, where):
    os.makedirs(os.path.dirname(p.path(where)), exist_ok=True)
    p.shell(f"cd {p.folder}; objcopy --only-keep-debug {prog} {where}; objcopy --strip-all "
            f"--add-gnu-debuglink={where} {prog}")


@case("stripped, debug file")
def stripped_debug(p, build_id):
    prog = p.make("prog", build_id=build_id)
    split_debug(p, "prog", ".debug/prog.debug")
    return [prog, *BURN]


@case("stripped, another build's debug file", need="honest")
def stripped_other_debug(p, build_id):
    prog = p.make("prog", build_id=build_id)
    split_debug(p, "prog", "prog.debug")
    p.make("two", second=True, build_id=build_id)
    p.shell(f"cd {p.folder}; objcopy --only-keep-debug two prog.debug")
    return [prog, *BURN]


@case("stripped", need="honest", ids=(True,))
def stripped(p, build_id):
    prog = p.make("prog", build_id=build_id, flags=("-s",))
    return [prog, *BURN]


@case("stripped, some exported", need="honest", ids=(False,))
def stripped_exported(p, build_id):
    """Its dynamic symbols are few and have sizes: nothing between them may get their names."""
    lib = p.make("lib.so", build_id=build_id, library=True)
    p.shell(f"cd {p.folder}; objcopy --strip-all --keep-symbol=none lib.so")
    return [p.make("prog", flags=("-s", "-rdynamic", "-fvisibility=hidden")), *BURN]


@case("stripped after recording")
def stripped_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    p.after = lambda: p.shell(f"strip --strip-all {prog}")
    return [prog, *BURN]


# --- what happens to its file ---

@case("replaced by rename while it runs", late=(AFTER_IT,))
def replaced_running(p, build_id):
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    p.step = f"mv {new} {prog}"
    return [prog, "alpha", "beta", "step", "gamma", "alpha", "exec", prog, "alpha", "beta", "gamma"]


@case("removed and made anew while it runs", late=(AFTER_IT,))
def recreated_running(p, build_id):
    """The new file often gets the old one's inode number."""
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    p.step = f"rm {prog}; cp {new} {prog}"
    return [prog, "alpha", "beta", "step", "gamma", "alpha", "exec", prog, "alpha", "beta", "gamma"]


@case("overwritten between two runs", need="honest", late=(AFTER_IT,))
def overwritten_between(p, build_id):
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    return ["sh", "-c", f"{prog} {' '.join(BURN)}; cat {new} >{prog}; {prog} {' '.join(BURN)}"]


@case("library overwritten in place while it runs", need="honest", late=(AT_ITS_END, AFTER_IT))
def overwritten_running(p, build_id):
    """Its code in memory changes with the file; no event tells of it."""
    return overwrite_library(p, p.make("lib.so", build_id=build_id, library=True), build_id)


@case("library in memory overwritten in place while it runs", need="honest", late=(AT_ITS_END,))
def overwritten_in_memory(p, build_id):
    """What lies in memory is copied as soon as it is looked at."""
    p.need_root()
    os.makedirs(p.path("memory"))
    r = subprocess.run(["mount", "-t", "tmpfs", "none", p.path("memory")], capture_output=True, text=True)
    if r.returncode:
        raise Skip("no tmpfs can be mounted: " + r.stderr.strip())
    p.clean.append(["umount", "-l", p.path("memory")])
    return overwrite_library(p, p.make("memory/lib.so", build_id=build_id, library=True), build_id)


def overwrite_library(p, lib, build_id):
    new = p.make("new.so", second=True, build_id=build_id, library=True)
    if first_function(p, lib) != first_function(p, new):
        raise Skip("this compiler puts the two builds' code at different places")
    p.step = f"cat {new} >{lib}"
    return [p.make("prog"), "open:" + lib, "call:one_alpha", "beta", "step", "again:two_gamma", "gamma", "again:two_gamma"]


def first_function(p, path):
    r = subprocess.run(["nm", "-S", path], check=True, capture_output=True, text=True)
    found = [line.split() for line in r.stdout.splitlines() if re.search(r" T (one|two)_", line)]
    return min(f[0] for f in found)


@case("deleted while it runs", late=(AT_ITS_END,))
def deleted_running(p, build_id):
    prog = p.make("prog", build_id=build_id)
    p.step = f"rm {prog}"
    return [prog, "alpha", "beta", "step", "gamma", "alpha", "beta"]


@case("deleted before it maps")
def deleted_before(p, build_id):
    """Started by a descriptor whose name is gone."""
    prog = p.make("prog", build_id=build_id)
    return ["sh", "-c", f"exec 9<{prog}; rm {prog}; exec /proc/self/fd/9 {' '.join(BURN)}"]


@case("deleted after recording")
def deleted_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    p.after = lambda: os.remove(prog)
    return [prog, *BURN]


@case("rebuilt after recording")
def rebuilt_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    p.after = lambda: (os.remove(prog), p.make("prog", second=True, build_id=build_id))
    return [prog, *BURN]


@case("overwritten after recording")
def overwritten_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    p.after = lambda: p.shell(f"cat {new} >{prog}")
    return [prog, *BURN]


@case("overwritten after recording, same size and mtime")
def overwritten_mtime(p, build_id):
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    p.after = lambda: p.shell(f"touch -r {prog} {p.path('stamp')}; size=$(stat -c %s {prog}); cat {new} >{prog}; "
                              f"truncate -s $size {prog}; touch -r {p.path('stamp')} {prog}")
    return [prog, *BURN]


@case("touched after recording")
def touched_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    p.after = lambda: p.shell(f"touch {prog}; chmod 700 {prog}")
    return [prog, *BURN]


@case("moved elsewhere and another put there after recording")
def moved_after(p, build_id):
    prog = p.make("prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    p.after = lambda: p.shell(f"mv {prog} {prog}.old; mv {new} {prog}")
    return [prog, *BURN]


@case("caller rebuilt after recording", what="caller", graph=True)
def caller_rebuilt(p, build_id):
    """The library is in call stacks only: no sample hits it."""
    prog = p.make("prog")
    lib = p.make("lib.so", build_id=build_id, library=True)
    p.after = lambda: (os.remove(lib), p.make("lib.so", second=True, build_id=build_id, library=True))
    return [prog, "open:" + lib, "through:one_outer_alpha", "through:one_outer_gamma", "through:one_outer_beta"]


@case("caller replaced while it runs", what="caller", graph=True, late=(AT_ITS_END, AFTER_IT))
def caller_replaced(p, build_id):
    prog = p.make("prog")
    lib = p.make("lib.so", build_id=build_id, library=True)
    new = p.make("new.so", second=True, build_id=build_id, library=True)
    p.step = f"mv {new} {lib}"
    return [prog, "open:" + lib, "through:one_outer_alpha", "step", "through:one_outer_gamma",
            "through:one_outer_beta"]


@case("caller in its own program", what="caller", graph=True, ids=(True,))
def caller(p, build_id):
    return [p.make("prog", build_id=build_id), "chain:alpha", "chain:beta", "chain:gamma"]


# --- what happens to its address space ---

@case("another library at the same address", late=(AFTER_IT,))
def same_address(p, build_id):
    one = p.make("one.so", build_id=build_id, library=True)
    two = p.make("two.so", second=True, build_id=build_id, library=True)
    first = ["open:" + one, "call:one_alpha", "call:one_beta", "close"]
    second = ["open:" + two, "call:two_alpha", "call:two_gamma", "close"]
    return [p.make("prog"), *first, *second, *first, *second]


@case("library rebuilt between two loads", late=(AT_ITS_END, AFTER_IT))
def library_rebuilt(p, build_id):
    lib = p.make("lib.so", build_id=build_id, library=True)
    new = p.make("new.so", second=True, build_id=build_id, library=True)
    p.step = f"mv {new} {lib}"
    return [p.make("prog"), "open:" + lib, "call:one_alpha", "call:one_beta", "close", "step", "open:" + lib,
            "call:two_alpha", "call:two_gamma", "close"]


@case("fork without exec", ids=(True,))
def fork(p, build_id):
    one = p.make("one.so", library=True)
    two = p.make("two.so", second=True, library=True)
    return [p.make("prog"), "open:" + one, "fork:call:one_alpha+gamma+call:one_beta", "call:one_gamma",
            f"fork:close+open:{two}+call:two_alpha+fork:call:two_beta+call:two_gamma+wait", "close", "open:" + two,
            "call:two_gamma", "wait"]


@case("exec while sampling", late=(AFTER_IT,))
def exec_(p, build_id):
    """Same addresses, other functions, again and again."""
    flags = ("-no-pie", "-fno-pie")
    one = p.make("one", build_id=build_id, flags=flags)
    two = p.make("two", second=True, build_id=build_id, flags=flags)
    return [one, "alpha", "exec", two, "alpha", "exec", one, "gamma", "exec", two, "gamma", "exec", one, "beta",
            "exec", two, "beta"]


@case("threads rename themselves", what="comm", ids=(True,))
def rename(p, build_id):
    return [p.make("prog"), "alpha", "rename:first name", "thread:worker one:alpha+rename:changed+beta",
            "thread:(a) 7:gamma+rename:b:c+alpha", "alpha", "rename:x", "beta"]


@case("run in another mount namespace")
def mount_namespace(p, build_id):
    """Where the same path is another file's for everybody else."""
    p.need_root()
    prog = p.make("prog", second=True, build_id=build_id)
    inside = p.make("inside", build_id=build_id)
    return ["unshare", "-m", "sh", "-c", f"mount --bind {inside} {prog} && exec {prog} {' '.join(BURN)}"]


@case("tmpfs of its own mount namespace")
def namespace_tmpfs(p, build_id):
    """Gone with the process."""
    p.need_root()
    prog = p.make("dir/prog", second=True, build_id=build_id)
    inside = p.make("inside", build_id=build_id)
    return ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {p.path('dir')} && cp {inside} {prog} && "
            f"{prog} {' '.join(BURN)}; rm {prog}"]


@case("run in a chroot")
def chroot(p, build_id):
    p.need_root()
    static = ("-static", "-no-pie", "-fno-pie")
    prog = p.make("prog", second=True, build_id=build_id, flags=static)
    p.make("root" + p.path("prog"), build_id=build_id, flags=static)
    start = p.make("start", second=True, flags=static)
    return [start, "chroot:" + p.path("root"), "exec", prog, *BURN]


def mount_overlay(p):
    p.need_root()
    for d in ("lower", "upper", "work", "merged"):
        os.makedirs(p.path(d), exist_ok=True)
    r = subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                        f"lowerdir={p.path('lower')},upperdir={p.path('upper')},workdir={p.path('work')}",
                        p.path("merged")], capture_output=True, text=True)
    if r.returncode:
        raise Skip("no overlay file system here: " + r.stderr.strip())
    p.clean.append(["umount", "-l", p.path("merged")])


@case("on an overlay")
def overlay(p, build_id):
    p.make("lower/prog", build_id=build_id)
    mount_overlay(p)
    return [p.path("merged/prog"), *BURN]


@case("on an overlay, copied up and replaced after recording")
def overlay_replaced(p, build_id):
    p.make("lower/prog", build_id=build_id)
    new = p.make("new", second=True, build_id=build_id)
    mount_overlay(p)
    p.after = lambda: p.shell(f"cat {new} >{p.path('merged/prog')}")
    return [p.path("merged/prog"), *BURN]


@case("run from a memfd")
def memfd(p, build_id):
    prog = p.make("prog", build_id=build_id)
    start = p.make("start", second=True)
    return [start, "memfd", prog, *BURN]


@case("text moved by mremap", need="honest", ids=(True,))
def moved_text(p, build_id):
    one = p.make("one.so", library=True)
    two = p.make("two.so", second=True, library=True)
    return [p.make("prog"), "open:" + one, "call:one_alpha", "move:one_beta", "open:" + two, "call:two_alpha",
            "call:two_beta"]


@case("text in anonymous huge pages", need="honest", ids=(True,))
def huge_text(p, build_id):
    one = p.make("one.so", library=True)
    return [p.make("prog"), "open:" + one, "call:one_alpha", "huge:one_beta", "call:one_alpha"]


@case("on a tmpfs of huge pages", ids=(True,))
def huge_tmpfs(p, build_id):
    """Text that the kernel maps by huge pages of a file."""
    p.need_root()
    os.makedirs(p.path("huge"))
    r = subprocess.run(["mount", "-t", "tmpfs", "-o", "huge=always", "none", p.path("huge")], capture_output=True, text=True)
    if r.returncode:
        raise Skip("no huge pages in tmpfs here: " + r.stderr.strip())
    p.clean.append(["umount", "-l", p.path("huge")])
    flags = ("-Wl,-z,max-page-size=0x200000", "-Wl,-z,common-page-size=0x200000")
    return [p.make("huge/prog", build_id=build_id, flags=flags), *BURN]


def vdso_is_named():
    """Whether all code of the vdso that tells the time lies in its functions with names. Where the clock is not the TSC (in
    many virtual machines), it is read by one that has none."""
    try:
        with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as f:
            return f.read().strip() == "tsc"
    except OSError:
        return False


@case("asking the vdso for the time", need="right" if vdso_is_named() else "honest", ids=(True,))
def vdso(p, build_id):
    return [p.make("prog"), "vdso", "vdso", "alpha", "vdso", "vdso"]


@case("kernel modules", ids=(True,))
def modules(p, build_id):
    raise Skip("that is tested in the virtual machines (tests/vm)")
