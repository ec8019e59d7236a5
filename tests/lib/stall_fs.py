# SPDX-License-Identifier: Apache-2.0
"""A file system with one file, "program", which no longer answers once its server is stopped (SIGSTOP). Then close(2)
waits, too: where that would be in the way, have mount() leave only some kinds of requests unanswered.

By the kernel's FUSE protocol (linux/fuse.h).
"""
import ctypes
import os
import signal
import struct

libc = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 36, 42)
ROOT_ID, FILE_ID, ENOENT, ENOSYS = 1, 2, 2, 38


class Unable(Exception):
    """We may not mount it here."""


def attributes(node, data):
    mode, size = (0o40755, 0) if node == ROOT_ID else (0o100755, len(data))
    return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body, data):
    """The answer to a request: (error, bytes); None: it gets none. Nothing may be cached, not even attributes."""
    if opcode == INIT:
        return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 12, 9, 4096, 1, 1, 0, 0, *[0] * 7)
    if opcode in (FORGET, INTERRUPT, BATCH_FORGET):
        return None
    if opcode == LOOKUP:
        if body.rstrip(b"\0") != b"program":
            return -ENOENT, b""
        return 0, struct.pack("<4Q2I", FILE_ID, 0, 0, 0, 0, 0) + attributes(FILE_ID, data)
    if opcode == GETATTR:
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(node, data)
    if opcode in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 0, 0, 0)
    if opcode == READ:
        _fh, offset, size = struct.unpack_from("<QQI", body)
        return 0, data[offset:offset + size]
    if opcode in (RELEASE, FLUSH):
        return 0, b""
    return -ENOSYS, b""


def serve(fd, data, silent):
    while True:
        try:
            request = os.read(fd, 1 << 16)
        except InterruptedError:
            continue
        except OSError:
            os._exit(0)  # unmounted
        _length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        reply = None if opcode in silent else answer(opcode, node, request[40:], data)
        if reply:
            error, content = reply
            os.write(fd, struct.pack("<IiQ", 16 + len(content), error, unique) + content)


def mount(at, data, silent=()):
    """The server's pid. Requests of the kinds in `silent` are never answered."""
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError as e:
        raise Unable(f"/dev/fuse: {e.strerror}") from None
    options = f"fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    if libc.mount(b"stall", at.encode(), b"fuse", 0, options.encode()) != 0:
        os.close(fd)
        raise Unable(f"no file system can be mounted: {os.strerror(ctypes.get_errno())}")
    pid = os.fork()
    if pid == 0:
        serve(fd, data, silent)
    os.close(fd)
    return pid


def unmount(at, server):
    os.kill(server, signal.SIGCONT)
    libc.umount2(at.encode(), 2)  # MNT_DETACH
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
