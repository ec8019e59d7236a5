# SPDX-License-Identifier: Apache-2.0
"""Which task a sample is of, and which frames it has: replays a recording in the order of time, with lists and loops only.

Nothing here is clever, so that it can be believed at first reading: report is compared with it.
"""
import reader

KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = 1, 2, 3, 4, 5  # the level of code: PERF_RECORD_MISC_CPUMODE_MASK
LEVEL_LETTERS = {KERNEL: "k", USER: ".", HYPERVISOR: "H", GUEST_KERNEL: "g", GUEST_USER: "u"}
LEVEL_BITS = 7
# PERF_CONTEXT_*: what kind of addresses follows in a callchain
MARKERS = {-32: HYPERVISOR, -128: KERNEL, -512: USER, -640: USER, -2176: GUEST_KERNEL, -2560: GUEST_USER}
DEFERRED, LAST_MARKER, USER_MARKER = -640, -4095, (1 << 64) - 512
NO_IMAGE, KERNEL_NAME = "[unknown]", "[kernel.kallsyms]"
KERNEL_TAIL = 64 << 20
EXEC_MAPS = 4


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def last_at(maps, address):
    """The last of the mappings that has the address, or None."""
    found = None
    for mapping in maps:
        if mapping.start <= address < mapping.start + mapping.size:
            found = mapping
    return found


class Comm:
    """What a thread is called. A name that was made up is replaced by the first recorded one, for what was before too."""

    def __init__(self, name, made_up):
        self.name, self.made_up = name, made_up


class Thread:
    def __init__(self, pid, tid, comm):
        self.pid, self.tid, self.comm = pid, tid, comm  # comm: the last one, once everything is read
        self.ended = False


class Place:
    """One address, and what lies there. `own`: the address by which a place without a function is told apart and shown."""

    def __init__(self, level, address, mapping, image, called):
        self.level, self.address, self.called = level, address, called
        self.dso = image.name if image else NO_IMAGE if not mapping else mapping.name.rsplit("/", 1)[-1]
        self.offset = address - mapping.start + mapping.offset if mapping else address
        self.function = image.find(self.offset - called) if image else None  # (start, size, name)
        self.own, self.mapping, self.image = self.offset, mapping, image


class Machine:
    """The tasks and address spaces at one moment."""

    def __init__(self, images):
        self.images = {image.path: image for image in images}
        self.threads, self.spaces, self.before_exec, self.kernel = {}, {}, {}, []
        self.running = 1  # threads, for latencies

    # ---- tasks ----

    def thread(self, pid, tid):
        if tid not in self.threads:
            self.threads[tid] = Thread(pid, tid, Comm(f":{tid}", True))
        return self.threads[tid]

    def living(self, pid, tid):
        """A record about a thread proves that it lives: after its end it is another one."""
        if tid in self.threads and self.threads[tid].ended:
            del self.threads[tid]
        return self.thread(pid, tid)

    def take_comm(self, record):
        thread = self.living(record.pid, record.tid)
        if thread.comm.made_up:
            thread.comm.name, thread.comm.made_up = record.name, False
        else:
            thread.comm = Comm(record.name, False)
        if record.misc & reader.COMM_EXEC:
            self.before_exec[record.pid] = self.spaces.get(record.pid, [])
            self.spaces[record.pid] = []

    def take_fork(self, record):
        parent = self.living(record.parent_pid, record.parent_tid).comm
        name = f":{record.tid}" if parent.made_up else parent.name
        self.threads[record.tid] = Thread(record.pid, record.tid, Comm(name, parent.made_up))
        if record.pid != record.parent_pid:
            self.spaces[record.pid] = list(self.spaces.get(record.parent_pid, []))
            self.before_exec[record.pid] = []

    # ---- mappings ----

    def take_map(self, record):
        if record.misc & LEVEL_BITS == KERNEL:
            self.kernel.append(record)
            if record.name.startswith(KERNEL_NAME):
                record.name = KERNEL_NAME
        else:
            self.spaces.setdefault(record.pid, []).append(record)

    def take(self, record):
        if record.type == reader.COMM:
            self.take_comm(record)
        elif record.type == reader.FORK:
            self.take_fork(record)
        elif record.type in (reader.MMAP, reader.MMAP2):
            self.take_map(record)
        if record.type == reader.EXIT:
            self.thread(record.pid, record.tid).ended = True
        if record.type in (reader.SWITCH, reader.EXIT):
            self.running += -1 if record.type == reader.EXIT or record.misc & reader.SWITCH_OUT else 1

    def find(self, pid, level, address, in_kernel=False):
        """The mapping at an address: of several the one that was made last. `in_kernel`: the sample itself was taken there.
        While exec goes on, which maps a few things by itself, the kernel still shows the stack of the program before."""
        maps = self.kernel if level == KERNEL else self.spaces.get(pid, []) if level == USER else []
        found = last_at(maps, address)
        if not found and in_kernel and level == USER and len(maps) <= EXEC_MAPS:
            found = last_at(self.before_exec.get(pid, []), address)
        return found or (self.behind_kernel(address) if level == KERNEL else None)

    def behind_kernel(self, address):
        """The kernel's map ends with its text; the code that ran while it booted lies after it."""
        for mapping in self.kernel:
            if mapping.name == KERNEL_NAME and 0 <= address - mapping.start - mapping.size < KERNEL_TAIL:
                return mapping
        return None

    def place(self, pid, level, address, in_kernel=False):
        """Where the processor was."""
        mapping = self.find(pid, level, address, in_kernel)
        return Place(level, address, mapping, self.images.get(mapping.name) if mapping else None, 0)

    def caller(self, pid, level, address, in_kernel):
        """What called: the call lies before the address that it returns to, if that is of the same mapping."""
        mapping, before = self.find(pid, level, address, in_kernel), self.find(pid, level, address - 1, in_kernel)
        mapping = mapping or before
        called = int(mapping is not None and mapping is before)
        return Place(level, address, mapping, self.images.get(mapping.name) if mapping else None, called)

    def branch_end(self, pid, address):
        """Nothing says of which level an end of a branch is."""
        for level in (USER, KERNEL):
            if self.find(pid, level, address):
                return self.place(pid, level, address)
        return self.place(pid, HYPERVISOR, address)

    # ---- callchains ----

    def frames(self, sample, chain, later, most):
        """The frames of a callchain, innermost first, `most` at most. `later(cookie)`: the chain that was recorded later. A
        marker that nobody knows makes all of it worthless."""
        level, first, frames = USER, True, []
        words = list(chain)
        while words and len(frames) < most:
            word = words.pop(0)
            if signed(word) >= 0 or signed(word) < LAST_MARKER:
                place = self.place if first else self.caller
                frames.append(place(sample.pid, level, word, sample.misc & LEVEL_BITS == KERNEL))
                first = False
                continue
            if signed(word) not in MARKERS:
                return []
            level, first = MARKERS[signed(word)], True
            if signed(word) == DEFERRED and words:
                words = later(words.pop(0)) + words
        for frame in frames:
            frame.own = frame.address
        return frames

    def call_stack(self, sample, later, most):
        """The processor recorded the calls (LBR), innermost first: they take the place of the user part of the callchain."""
        user = sample.chain.index(USER_MARKER)
        kernel, rest = sample.chain[:user], sample.chain[user + 1:]
        leaf = sample.ip
        if sample.misc & LEVEL_BITS != USER:
            leaf = rest[0] if rest else sample.branches[0][1] if sample.branches else sample.ip
        addresses = [leaf] + [source for source, _, _ in sample.branches]
        places = [self.place(sample.pid, USER, address) for address in addresses]
        for place in places:
            place.own = place.address
        sample.kernel_frames = self.frames(sample, kernel, later, most)
        return sample.kernel_frames + places


def deferred_chain(records, sample, cookie):
    """The user part of a callchain, which was recorded on the way back to the user's code."""
    for record in sorted(records, key=lambda r: r.at):
        if record.type == reader.CALLCHAIN_DEFERRED and record.at > sample.at and record.cookie == cookie and \
                record.tail_tid == sample.tid:
            return list(record.chain)
    return []


def replay(records, images, most):
    """Gives each sample its task (`thread`, `comm`), its `place`, its `frames` (of a callchain, so many at most) and how many
    threads were `running`."""
    machine, samples = Machine(images), []
    for record in records:
        if record.type != reader.SAMPLE:
            machine.take(record)
            continue
        level = record.misc & LEVEL_BITS
        record.thread = machine.thread(record.pid, record.tid)
        record.comm = record.thread.comm
        record.leader = machine.thread(record.pid, record.pid)
        record.place = machine.place(record.pid, level, record.ip)
        record.running = max(machine.running, 1)
        later = lambda cookie, sample=record: deferred_chain(records, sample, cookie)
        record.kernel_frames = None  # of a call stack
        record.calls = reader.has(record.event, 11) and record.event.branches & reader.CALL_STACK
        record.frames = (machine.call_stack(record, later, most) if record.calls and USER_MARKER in record.chain else
                         machine.frames(record, record.chain, later, most))
        record.ends = [(machine.branch_end(record.pid, a), machine.branch_end(record.pid, b), flags)
                       for a, b, flags in record.branches]
        record.data = machine.place(record.pid, level, record.addr)
        samples.append(record)
    return samples
