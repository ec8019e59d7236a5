#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The build-id cache: buildid_cache_test.py SONDE OBJECT

OBJECT is a shared object with a build-id and functions called start and stop.
"""
import io
import os
import re
import shutil
import struct
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
BASE, PAGE = 0x7f0000000000, 4096


def tree(top):
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


class Cache:
    def __init__(self, t, folder):
        self.t, self.folder = t, os.path.join(folder, "cache")

    def run(self, *options, **more):
        return support.run([SONDE, "--buildid-dir", self.folder, "buildid-cache", *options], **more)

    def expect(self, what, options, status=0, out="", err=None, **more):
        r = self.run(*options, **more)
        good = r.status == status and r.out.decode() == out and (err is None or err in r.err) and (status == 0 or r.err)
        self.t.check(f"{what}: buildid-cache {' '.join(options)}", good, r)

    def listed(self):
        return [line.split(" ", 1) for line in self.run("-l").out.decode().splitlines()]


def changed_copy(source, to, build_id):
    """A copy with another build-id."""
    with open(source, "rb") as f:
        data = f.read()
    other = bytes(b ^ 0xff for b in build_id)
    with open(to, "wb") as f:
        f.write(data.replace(build_id, other))
    return other.hex()


def check_files(t, folder, own):
    c = Cache(t, folder)
    a, b, plain = (os.path.join(folder, name) for name in ("a.so", "b.so", "plain"))
    shutil.copy(OBJECT, a)
    other = changed_copy(OBJECT, b, own)
    with open(plain, "w") as f:
        f.write("no ELF file")
    c.expect("no cache yet", ["-l"])
    os.chmod(a, 0o4750)
    c.expect("add", ["-v", "-a", a], err=f"Adding {own.hex()} {a}: Ok")
    t.check("layout", tree(c.folder) == [os.path.relpath(a, "/") + f"/{own.hex()}/elf"], tree(c.folder))
    link = os.path.join(c.folder, ".build-id", own.hex()[:2], own.hex()[2:])
    t.check("link", os.readlink(link) == f"../..{a}/{own.hex()}" and os.path.exists(link + "/elf"), os.listdir(c.folder))
    mode = os.stat(link + "/elf").st_mode & 0o7777
    t.check("its permissions, and no more", mode == 0o750, oct(mode))
    t.check("a copy, not a link", os.stat(a).st_nlink == 1, os.stat(a))
    c.expect("add again", ["-v", "-a", a], err="there already")
    c.expect("add two, from here", ["-a", "a.so,b.so"], cwd=folder)
    t.check("list", c.listed() == sorted([[own.hex(), a], [other, b]]), c.listed())
    c.expect("no file", ["-a", folder + "/none"], 1, err="Couldn't add")
    c.expect("no ELF file", ["-a", f"{plain},{a}"], 1, err="it is not an ELF file")
    c.expect("remove", ["-r", a])
    t.check("removed", c.listed() == [[other, b]] and len(tree(c.folder)) == 1, tree(c.folder))
    c.expect("remove again", ["-r", a], 1, err="not in the cache")
    c.expect("update what is not there", ["-u", a])
    os.utime(os.path.join(c.folder, ".build-id", other[:2], other[2:], "elf"), (1, 1))
    size = os.stat(a).st_size
    c.expect("limit", ["--limit", f"{size / 1024 + 1}K"])
    t.check("the oldest went", c.listed() == [[own.hex(), a]], c.listed())
    c.expect("purge", ["-p", a])
    t.check("purged", c.listed() == [] and os.listdir(c.folder) == [], os.listdir(c.folder))
    c.expect("purge again", ["-p", a], 1, err="not in the cache")
    c.run("-a", f"{a},{b}")
    os.remove(a)
    c.expect("purge a file that is gone", ["-p", a])
    c.expect("purge all", ["-P"])
    t.check("all purged", c.listed() == [] and tree(c.folder) == [], tree(c.folder))
    c.expect("target", ["--target-ns", str(os.getpid()), "-a", b])
    t.check("of a process", c.listed() == [[other, b]], c.listed())
    for options in ([], ["x"], ["--limit", "x"], ["--limit", "1Q"]):
        c.expect("usage", options, 129)


def check_missing(t, folder, own):
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    path = os.path.join(folder, "m.data")
    r = pd.Recording()
    _, (at, size) = pd.functions(OBJECT)
    r.map(7, BASE + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, OBJECT, own)
    r.sample(7, BASE + pd.functions(OBJECT)[0]["stop"][0], [])
    r.write(path)
    c.expect("missing", ["-f", "-M", path], out=f"{own.hex()} {OBJECT}\n")
    c.run("-a", OBJECT)
    c.expect("not missing", ["-f", "-M", path])
    c.expect("no recording", ["-M", folder + "/none"], 1)


KERNEL, NOTES = 0xffffffff81000000, 0xffffffff81002000


def write_kcore(folder, own):
    """A kernel's memory of three pages, the last one its notes, with the lists beside it."""
    os.mkdir(folder)
    note = struct.pack("=III4s", 4, len(own), 3, b"GNU") + own
    with open(folder + "/kcore", "wb") as f:
        f.write(b"\x7fELF\x02" + bytes([1 if sys.byteorder == "little" else 2]) + b"\1" + bytes(9))
        f.write(struct.pack("=HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
        f.write(struct.pack("=IIQQQQQQ", 1, 7, PAGE, KERNEL, 0, 3 * PAGE, 3 * PAGE, PAGE))
        f.seek(PAGE)
        f.write(b"\xcc" * (2 * PAGE) + note.ljust(PAGE, b"\0"))
    with open(folder + "/kallsyms", "w") as f:
        f.write(f"{KERNEL:x} T _text\n{KERNEL + 16:x} T schedule\n{KERNEL + PAGE:x} T _etext\n"
                f"{NOTES:x} R __start_notes\n{NOTES + len(note):x} R __stop_notes\n")


def check_kcore(t, folder, own):
    """Copies of kernels' memory, each once."""
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    live = os.path.join(folder, "live")
    write_kcore(live, own)
    for _ in range(2):
        c.expect("kcore", ["-k", live + "/kcore"])
        found = tree(c.folder)
        t.check("kcore is copied once", len(found) == 3 and all(
            re.fullmatch(rf"\[kernel\.kcore\]/{own.hex()}/\d{{16}}/{name}", f)
            for f, name in zip(found, ("kallsyms", "kcore", "modules"))), found)
    c.expect("no kcore", ["-k", folder + "/none/kcore"], 1)
    os.remove(live + "/kallsyms")
    c.expect("no list", ["-k", live + "/kcore"], 1)


def check_reading(t, folder, own):
    """Readers find what was added."""
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    moved = os.path.join(folder, "moved.so")
    shutil.copy(OBJECT, moved)
    path = os.path.join(folder, "r.data")
    functions, (at, size) = pd.functions(OBJECT)
    r = pd.Recording()
    r.map(7, BASE + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, moved, own)
    r.sample(7, BASE + functions["stop"][0], [pd.CONTEXT_USER, BASE + functions["stop"][0]])
    r.write(path)
    c.run("-a", moved)
    os.remove(moved)
    r = support.run([SONDE, "--buildid-dir", c.folder, "script", "-f", "-i", path, "--grades"])
    t.check("named from the cache", f"stop+0x0 ({moved}) {{exact}}" in r.out.decode(), r)


def check_archive(t, folder, own):
    """What was packed names the samples elsewhere."""
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    packed, gone, other = (os.path.join(folder, name) for name in ("packed.so", "gone.so", "other"))
    shutil.copy(OBJECT, packed)
    gone_id = bytes.fromhex(changed_copy(OBJECT, gone, own))
    path = os.path.join(folder, "p.data")
    functions, (at, size) = pd.functions(OBJECT)
    r = pd.Recording()
    for i, (name, build_id) in enumerate(((packed, own), (gone, gone_id), (folder + "/never.so", bytes(20)))):
        base = BASE + i * 0x10000000
        r.map(7, base + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, name, build_id)
        r.sample(7, base + functions["stop"][0], [pd.CONTEXT_USER, base + functions["stop"][0]])
    r.write(path)
    os.chmod(packed, 0o700)
    c.run("-a", gone)
    os.remove(gone)
    r = support.run([SONDE, "--buildid-dir", c.folder, "archive", "-f", path])
    t.check("archive", r.status == 0 and not r.out and "1 file not found here as recorded" in r.err and "2 files packed" in r.err, r)
    os.remove(packed)
    name = next((n for n in os.listdir(folder) if n.startswith("p.data.tar")), None)
    os.mkdir(other)
    with tarfile.open(os.path.join(folder, name)) as tar:
        tar.extractall(other)
    t.check("unpacked", tree(other) == sorted(f"{n[1:]}/{i.hex()}/elf" for n, i in ((packed, own), (gone, gone_id))), tree(other))
    mode = os.stat(f"{other}{packed}/{own.hex()}/elf").st_mode & 0o7777
    t.check("archived with its permissions", mode == 0o700, oct(mode))
    r = support.run([SONDE, "--buildid-dir", other, "script", "-f", "-i", path, "--grades"])
    text = r.out.decode()
    t.check("named elsewhere", f"stop+0x0 ({packed}) {{exact}}" in text and f"stop+0x0 ({gone}) {{exact}}" in text, r)
    r = support.run([SONDE, "--buildid-dir", c.folder, "archive", "-f", "--all", "-o", "-", path])
    with tarfile.open(fileobj=io.BytesIO(r.out)) as tar:
        inside = tar.extractfile("p.data").read()
    t.check("--all", inside == open(path, "rb").read(), len(inside))
    listed = os.path.join(folder, "excluded")
    with open(listed, "w") as f:
        f.write(f"{own.hex()[:-1]}\n{gone_id.hex()} {gone}\n")
    r = support.run([SONDE, "--buildid-dir", other, "archive", "-f", "--exclude-buildids", listed, "-o", "-", path])
    with tarfile.open(fileobj=io.BytesIO(r.out)) as tar:
        t.check("--exclude-buildids", [n for n in tar.getnames() if n.endswith("/elf")] ==
                [f"{packed[1:]}/{own.hex()}/elf"], tar.getnames())
    r = support.run([SONDE, "archive", "--unpack", name])
    t.check("--unpack", r.status != 0 and "tar xf" in r.err, r)
    r = support.run([SONDE, "archive", folder + "/none.data"])
    t.check("archive: no recording", r.status == 1 and not os.path.exists(folder + "/none.data.tar.gz"), r)
    r = support.run([SONDE, "archive", "a", "b"])
    t.check("archive: usage", r.status == 129, r)


def check_embed(t, folder, own):
    """A copy of the recording that names its samples when nothing else is there."""
    functions, (at, size) = pd.functions(OBJECT)
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    file, path, out = (os.path.join(folder, name) for name in ("embed.so", "e.data", "f.data"))
    shutil.copy(OBJECT, file)
    r = pd.Recording()
    for i, name in enumerate((file, folder + "/nowhere.so")):
        r.map(7, BASE + i * 0x10000000 + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, name,
              own if i == 0 else bytes(20))
        ip = BASE + i * 0x10000000 + functions["stop"][0]
        r.sample(7, ip, [pd.CONTEXT_USER, ip])
    r.write(path)

    def sonde(*options):
        return support.run([SONDE, "--buildid-dir", c.folder, *options])

    r = sonde("archive", "-f", "--embed", "-o", out, path)
    t.check("--embed", r.status == 0 and "1 object embedded" in r.err and "1 object could not" in r.err, r)
    with open(path, "rb") as f, open(out, "rb") as g:
        before, after = f.read(), g.read()
    t.check("--embed: the recording is as it was", after.startswith(before) and len(after) % 8 == 0, (len(before), len(after)))
    os.remove(file)
    r = sonde("script", "-f", "-i", path, "--grades")
    t.check("--embed: without it there is no name", f"[unknown] ({file}) {{unknown}}" in r.out.decode(), r)
    r = sonde("script", "-f", "-i", out, "-F", "ip,sym,dso,grade,identity")
    t.check("--embed: named", f"stop ({file}) {{exact, build-id}}" in r.out.decode(), r)
    again = os.path.join(folder, "g.data")
    r = sonde("archive", "-f", "--embed", "-o", again, out)
    with open(again, "rb") as f:
        t.check("--embed again adds nothing", r.status == 0 and f.read() == after, r)
    for options in (["--embed", "--all"], ["--embed", "-o", "-"], ["--scrub", "--exclude-buildids", path]):
        r = sonde("archive", "-f", *options, path)
        t.check(f"usage {options}", r.status == 129, r)
    os.mkdir(os.path.join(folder, "many"))
    shutil.copy(path, os.path.join(folder, "many", "data"))
    for option in ("--embed", "--scrub"):
        r = sonde("archive", "-f", option, "-o", again + ".many", os.path.join(folder, "many"))
        t.check(f"{option}: not of a folder", r.status == 1 and "inject -i" in r.err and not os.path.exists(again + ".many"), r)
    os.link(path, path + ".link")
    for options in (["--embed"], ["--scrub"], []):
        r = sonde("archive", "-f", *options, "-o", path + ".link", path)
        with open(path, "rb") as f:
            t.check(f"archive {options}: not over the recording", r.status == 129 and "is the input file too" in r.err and
                    r.err.count("\n") == 1 and f.read() == before, r)
    r = sonde("data", "convert", "-f", "--force", "--to-json", path + ".link", "-i", path)
    with open(path, "rb") as f:
        t.check("data convert: not over the recording", r.status == 129 and "is the input file too" in r.err and f.read() == before, r)


def check_embed_debug(t, folder, _):
    """What a separate debug file says goes with it: symbols, source lines, what was inlined; not for others to see."""
    source, whole, file = (os.path.join(folder, name) for name in ("lines.c", "whole.so", "lines.so"))
    path, out = os.path.join(folder, "l.data"), os.path.join(folder, "m.data")
    cache = os.path.join(folder, "debug-cache")
    with open(source, "w") as f:
        f.write("static int secret(int x)\n{\n\treturn x * 3;\n}\nint visible(int x)\n{\n\treturn secret(x + 1);\n}\n"
                "__attribute__((noinline)) static int hidden(int x)\n{\n\treturn x * x;\n}\n"
                "int other(int x)\n{\n\treturn hidden(x) + 1;\n}\n")
    compiler = shutil.which("gcc") or shutil.which("cc")
    made = compiler and shutil.which("objcopy") and all(
        support.subprocess.run(command, capture_output=True).returncode == 0 for command in
        ([compiler, "-g", "-O2", "-shared", "-fPIC", "-Wl,--build-id", "-o", whole, source],
         ["objcopy", "--strip-all", whole, file]))
    own = made and pd.build_id(whole)
    if not own:
        print("SKIP: no compiler, objcopy or build-ids for separate debug files")
        return
    kept = os.path.join(cache, ".build-id", own.hex()[:2], own.hex()[2:])
    os.makedirs(kept)
    support.subprocess.run(["objcopy", "--only-keep-debug", whole, os.path.join(kept, "debug")], check=True)
    functions, (at, size) = pd.functions(whole)
    r = pd.Recording()
    r.map(7, BASE + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, file, own)
    for name in ("hidden", "visible"):
        ip = BASE + functions[name][0]
        r.sample(7, ip, [pd.CONTEXT_USER, ip])
    r.write(path)

    def script(recording, *options):
        return support.run([SONDE, *options, "script", "-f", "-i", recording, "-F", "ip,sym,srcline,grade"]).out

    want = script(path, "--buildid-dir", cache)
    r = support.run([SONDE, "--buildid-dir", cache, "archive", "-f", "--embed", "-o", out, path])
    t.check("--embed: a file with a separate debug file", r.status == 0 and "1 object embedded" in r.err, r)
    bare = support.run([SONDE, "--buildid-dir", cache, "archive", "-f", "--embed", "--no-lines", "-o", out + "2", path])
    scrubbed = support.run([SONDE, "archive", "-f", "--scrub", "-o", out + "3", out])
    shutil.rmtree(cache)
    for name in (source, whole, file):
        os.remove(name)
    t.check("--embed: the debug file's symbols", b"hidden {exact}" in want and script(out) == want, (want, script(out)))
    lines = b"lines.c:" in want and b"secret" in want
    t.check("--embed: --no-lines", bare.status == 0 and b"hidden {exact}" in script(out + "2") and
            b"lines.c:" not in script(out + "2"), script(out + "2"))
    t.check("--scrub: no lines", scrubbed.status == 0 and b"hidden {exact}" in script(out + "3") and
            b"lines.c:" not in script(out + "3"), (scrubbed, script(out + "3")))
    if not lines:
        print("SKIP: no source lines here")


def check_scrub(t, folder, own):
    """A copy for others to see: it says the same of the profile, and nothing of where it was made."""
    functions, (at, size) = pd.functions(OBJECT)
    c = Cache(t, folder)
    shutil.rmtree(c.folder, ignore_errors=True)
    secret = os.path.join(folder, "secret-folder", "of-mine")
    os.makedirs(secret)
    file, path, out = os.path.join(secret, "scrub.so"), os.path.join(folder, "s.data"), os.path.join(folder, "t.data")
    shutil.copy(OBJECT, file)
    kernel = 0xffffffff9b600000
    addresses = {"map": BASE + at // PAGE * PAGE, "sample": BASE + functions["stop"][0], "caller": BASE + functions["start"][0] + 1,
                 "kernel": kernel, "kernel sample": kernel + 0x1230, "nothing": BASE + 0x123456789}
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD | pd.RAW)
    r.features[3] = struct.pack("<I", 64) + b"secret-host".ljust(64, b"\0")
    r.features[11] = struct.pack("<I", 2) + b"".join(struct.pack("<I", 64) + x.ljust(64, b"\0") for x in (b"sonde", b"secret-argument"))
    r.kernel(kernel, 0x1000000)
    r.comm(7, "prog")
    r.map(7, addresses["map"], (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, file, own)
    r.map(7, BASE + 0x10000000, PAGE, 0, secret + "/other.so", bytes(20))
    raw = struct.pack("<I", 60) + struct.pack("<Q", addresses["kernel sample"]) + b"/secret-field/x".ljust(52, b"\0")
    for ip in (addresses["sample"], addresses["sample"], BASE + 0x10000010, addresses["nothing"]):
        r.sample(7, ip, [pd.CONTEXT_KERNEL, addresses["kernel sample"], pd.CONTEXT_USER, ip, addresses["caller"]], more=raw)
    r.write(path)

    def sonde(*options):
        return support.run([SONDE, "--buildid-dir", c.folder, *options])

    def rows(file, *keys):
        # Where there is no name there is an address, which is another one.
        text = sonde("report", "-f", "-i", file, "--no-children", "-g", "none", *keys).out.decode()
        return sorted(" ".join("ADDRESS" if w.startswith("0x") else w for w in line.split())
                      for line in text.splitlines() if line.strip() and line[0] != "#")

    ways = [["-s", "sym,dso"], ["-s", "comm,sym,grade"], ["--children", "-s", "sym"]]
    was = [rows(path, *way) for way in ways]
    r = sonde("archive", "-f", "--scrub", "-o", out, path)
    t.check("--scrub", r.status == 0 and os.listdir(folder).count("t.data.whole") == 0, r)
    with open(path, "rb") as f, open(out, "rb") as g:
        before, after = f.read(), g.read()
    shutil.rmtree(os.path.join(folder, "secret-folder"))
    now = [rows(out, *way) for way in ways]
    t.check("--scrub: same symbols and percentages", now == was and "stop" in was[0][-1] and len(was[0]) == 3, (was, now))
    for word in (b"secret", b"of-mine", folder.encode()):
        t.check(f"--scrub: {word}", word in before and word not in after, after.count(word))
    for what, address in addresses.items():
        t.check(f"--scrub: the address of {what}", struct.pack("<Q", address) in before and
                struct.pack("<Q", address) not in after, what)
    r = sonde("script", "-f", "-i", out, "-F", "ip,sym,dso")
    t.check("--scrub: names of files stay", "stop (/x" in r.out.decode() and "/scrub.so)" in r.out.decode(), r)
    r = sonde("report", "-f", "-i", out, "--header-only")
    t.check("--scrub: the header", "# hostname : host\n" in r.out.decode() and "# cmdline : x x " in r.out.decode(), r)
    perf = shutil.which("perf")
    if perf:
        r = support.run([perf, "report", "-f", "-i", out, "--stdio", "--no-children", "-g", "none", "-s", "dso"])
        t.check("--scrub: perf reads it", r.status == 0 and b"50.00%  scrub.so" in r.out, r)
    again = os.path.join(folder, "u.data")
    r = sonde("archive", "-f", "--scrub", "-o", again, out)
    t.check("--scrub again", r.status == 0 and rows(again, *ways[0]) == was[0], r)


def main():
    t = support.Report("build-id cache")
    own = pd.build_id(OBJECT)
    if not own:
        print("SKIP: the compiler leaves no build-ids")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for check in (check_files, check_missing, check_kcore, check_reading, check_archive, check_embed, check_embed_debug,
                      check_scrub):
            check(t, folder, own)
    t.finish()


main()
