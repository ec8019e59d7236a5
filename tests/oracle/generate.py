# SPDX-License-Identifier: Apache-2.0
"""Makes small recordings from a seed: tasks that come and go, a few images with known functions, samples of one kind or another."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import images as im
import perfdata as pd

KERNEL_AT, KERNEL_BYTES = 0xffffffff81000000, 0x2000
APP_AT, LIB_AT, GONE_AT = 0x400000, 0x7f0000000000, 0x10000000
SAMPLES = 150
COMMS = ["sh", "cc1", "worker/1", "worker/22", "maps"]
CPUS = 4


def make_images(folder):
    """A program, a library whose addresses are not its offsets, and the kernel. Functions touch, or leave gaps."""
    at = im.CODE_AT
    app = im.Image(os.path.join(folder, "app"), [
        (at, 0x40, "main"), (at + 0x40, 0x40, "outer"), (at + 0x80, 0x30, "middle_map"), (at + 0xc0, 0x40, "leaf"),
        (at + 0x200, 0x100, "sys_wrapper"), (at + 0x1000, 0x10, "tiny")], build_id=bytes(range(20)))
    lib = im.Image(os.path.join(folder, "lib.so"), [
        (at, 0x20, "lib_start"), (at + 0x20, 0x60, "lib_map_work"), (at + 0x100, 0x40, "leaf"), (at + 0x180, 0x40, "lib_end")],
        slide=0x2000, build_id=bytes(range(20, 40)))
    starts = [(KERNEL_AT, "_text"), (KERNEL_AT + 0x1000, "do_syscall_64"), (KERNEL_AT + 0x1100, "sys_read"),
              (KERNEL_AT + 0x1180, "vfs_read"), (KERNEL_AT + 0x1300, "do_page_fault"), (KERNEL_AT + 0x1800, "cpu_idle"), (KERNEL_AT + KERNEL_BYTES, "_etext")]
    kernel = im.Image("[kernel.kallsyms]", [(a, b - a, name) for (a, name), (b, _) in zip(starts, starts[1:])])
    return app, lib, kernel


def topology():
    """CPU_TOPOLOGY: no names of siblings, then core and socket of each CPU."""
    return struct.pack("<II", 0, 0) + b"".join(struct.pack("<II", cpu, cpu // 2) for cpu in range(CPUS))


class Generator:
    def __init__(self, seed, kind, folder):
        self.rnd, self.kind = random.Random(f"{kind} {seed}"), kind
        self.images = self.app, self.lib, self.kernel = make_images(folder)
        self.pids, self.tids = [10, 11, 12], {10: [10], 11: [11, 111], 12: [12]}
        self.code = {}  # (base, image or None) by pid
        self.cookie, self.ended = 0, set()
        bits = pd.IP | pd.TID | pd.TIME | pd.CPU | pd.PERIOD
        more = {}
        if kind in ("chains", "latency", "calls", "deferred", "group"):
            bits |= pd.CALLCHAIN
        if kind == "branches":
            bits |= pd.BRANCH_STACK
        if kind == "calls":
            bits |= pd.BRANCH_STACK
            more["branches"] = pd.BRANCH_CALL_STACK
        if kind == "memory":
            bits |= pd.ADDR | pd.WEIGHT_STRUCT | pd.DATA_SRC | pd.PHYS_ADDR | pd.DATA_PAGE_SIZE | pd.CODE_PAGE_SIZE
        if kind == "latency":
            more["flags"] = pd.CONTEXT_SWITCH
        if kind in ("group", "events"):
            bits |= pd.ID
            more["counters"] = [(pd.SOFTWARE, 0), (pd.SOFTWARE, 2), (pd.SOFTWARE, 3)]
        self.bits = bits
        self.rec = pd.Recording(bits, **more)
        self.rec.features.update({7: struct.pack("<II", CPUS, CPUS), 13: topology()})
        if kind == "branches":
            self.rec.features[pd.HEADER_BRANCH_STACK] = b""

    # ---- tasks ----

    def map_code(self, pid):
        """What a program maps when it begins; the library may lie elsewhere each time."""
        lib = LIB_AT + 0x100000 * self.rnd.randrange(2)
        for base, image in (APP_AT, self.app), (lib, self.lib):
            self.rec.map(pid, base + im.CODE_AT, im.CODE_BYTES, im.CODE_AT, image.path, image.build_id)
        for i in range(self.rnd.choice([1, 1, 4])):
            self.rec.map(pid, GONE_AT + 0x2000 * i, 0x1000, 0, "/gone/plain")
        self.code[pid] = [(APP_AT, self.app), (lib, self.lib), (GONE_AT, None)]

    def start(self):
        self.rec.kernel(KERNEL_AT, KERNEL_BYTES)
        for pid in self.pids:
            if self.rnd.random() < 0.8:
                self.rec.comm(pid, self.rnd.choice(COMMS), exec_=True)
            self.map_code(pid)

    def change(self):
        """A task is born, ends, becomes another program or gets another name."""
        what, pid = self.rnd.randrange(5), self.rnd.choice(self.pids)
        if what == 0:
            new = self.rnd.choice([n for n in (13, 14, 15) if n != pid])
            self.rec.fork(new, pid)
            self.code[new] = self.code[pid]
            self.tids[new] = [new]
            self.pids = sorted(set(self.pids) | {new})
        elif what == 1:
            tid = pid + 200
            self.rec.fork(pid, pid, tid, self.rnd.choice([t for t in self.living(pid) if t != tid]))
            self.ended.discard(tid)
            self.tids[pid] = sorted(set(self.tids[pid]) | {tid})
        elif what == 2:
            self.rec.comm(pid, self.rnd.choice(COMMS), exec_=True)
            self.ended |= set(self.tids[pid]) - {pid}
            self.map_code(pid)
        elif what == 3:
            self.rec.comm(pid, self.rnd.choice(COMMS), tid=self.rnd.choice(self.living(pid)))
        elif len(self.living(pid)) > 1:
            self.rec.exit(pid, self.living(pid)[-1])
            self.ended.add(self.living(pid)[-1])

    def living(self, pid):
        """Samples of a thread may come after its end, but nothing else."""
        return [tid for tid in self.tids[pid] if tid not in self.ended]

    # ---- addresses ----

    def user_address(self, pid):
        base, image = self.rnd.choice(self.code[pid])
        if self.rnd.random() < 0.05:
            return 0x123456789000 + 8 * self.rnd.randrange(2)  # nothing is there
        if image is None:
            return base + 0x100 * self.rnd.randrange(3)
        start, size, _ = self.rnd.choice(image.functions)
        return base + start + self.rnd.choice([0, 4, size // 2, size, size])

    def kernel_address(self):
        start, size, _ = self.rnd.choice(self.kernel.functions[1:])
        return start + self.rnd.choice([0, 4, 8, size])

    def chain(self, pid, in_kernel):
        """(the sample's own address, its callchain)."""
        user = [self.user_address(pid) for _ in range(self.rnd.randrange(1, 6))]
        if self.rnd.random() < 0.2:
            user = user + user  # recursion
        kernel = [self.kernel_address() for _ in range(self.rnd.randrange(1, 4))] if in_kernel else []
        own = kernel[0] if in_kernel else user[0]
        words = ([pd.CONTEXT_KERNEL] + kernel if in_kernel else []) + [pd.CONTEXT_USER] + user
        odd = self.rnd.random()
        if odd < 0.03:
            words = []
        elif odd < 0.06:
            words = user  # before any marker
        elif odd < 0.08:
            words = words + [(1 << 64) - 99, 0x1234]  # a marker that nobody knows
        elif odd < 0.12:
            words = [w for w in words if w != own]
        elif in_kernel and odd < 0.16:
            words = words[:1 + len(kernel)]
        return own, words

    # ---- samples ----

    def period(self):
        kind = self.rnd.random()
        if kind < 0.05:
            return 0
        if kind < 0.06:
            return (1 << 63) + self.rnd.randrange(9)
        return self.rnd.randrange(1, 2000)

    def memory_fields(self):
        source = 2 | self.rnd.choice([0, 1, 8 | 2, 16 | 4]) << 5 | self.rnd.choice([0, 1, 2, 16]) << 19
        source |= self.rnd.randrange(3) << 24 | self.rnd.choice([1, 8 | 2, 16 | 4]) << 26 | self.rnd.choice([0, 1, 2, 4, 6]) << 40
        return struct.pack("<IHHQQQQ", self.rnd.choice([0, 3, 70]), self.rnd.randrange(3), self.rnd.randrange(3), source,
                           self.rnd.choice([0, 0x7000, 0x7040]), self.rnd.choice([0, 4096, 2 << 20]), self.rnd.choice([0, 4096]))

    def branch_list(self, pid):
        return [(self.user_address(pid), self.rnd.choice([self.user_address(pid), self.kernel_address()]),
                 self.rnd.randrange(16) | self.rnd.choice([0, 7, 40000]) << 4) for _ in range(self.rnd.randrange(4))]

    def sample(self):
        pid = self.rnd.choice(self.pids)
        tid, in_kernel = self.rnd.choice(self.tids[pid]), self.rnd.random() < 0.3
        own, words = self.chain(pid, in_kernel)
        more = dict(misc=pd.KERNEL if in_kernel else pd.USER, tid=tid, cpu=self.rnd.randrange(CPUS), period=self.period())
        if self.bits & pd.BRANCH_STACK:
            more["branches"] = self.branch_list(pid)
        if self.kind == "memory":
            more.update(addr=self.user_address(pid), more=self.memory_fields())
        if self.bits & pd.ID:
            more["event"] = self.rnd.choice([1, 1, 1, 2, 2])
        if self.kind == "deferred" and in_kernel and pd.CONTEXT_USER in words:
            at = words.index(pd.CONTEXT_USER)
            self.cookie += 1
            later, words = words[at:], words[:at] + [pd.CONTEXT_USER_DEFERRED, self.cookie]
            self.rec.sample(pid, own, words, **more)
            if self.rnd.random() < 0.9:
                self.rec.later_chain(pid, tid, self.cookie, later)
            return
        self.rec.sample(pid, own, words, **more)

    def make(self):
        self.start()
        for _ in range(SAMPLES):
            if self.rnd.random() < 0.1:
                self.change()
            if self.rnd.random() < 0.1:
                self.rec.time -= 7000 if self.rnd.random() < 0.5 else 0
            if self.kind == "latency" and self.rnd.random() < 0.5:
                pid = self.rnd.choice(self.pids)
                self.rec.switch(pid, pid, self.rnd.random() < 0.5)
            self.sample()
        return self.rec
