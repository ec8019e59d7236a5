# SPDX-License-Identifier: Apache-2.0
"""What the tests of probes share."""
import struct


def equal(printed, recorded):
    """What a program printed and what was recorded of it."""
    if recorded.startswith('"'):
        return recorded == f'"{printed}"'
    if "p" in printed and printed.lstrip("-").startswith("0x"):  # %a
        number = float.fromhex(printed)
        return int(recorded, 16) in (struct.unpack("Q", struct.pack("d", number))[0], struct.unpack("I", struct.pack("f", number))[0])
    number = int(recorded, 0)
    return any((int(printed) - number) % (1 << bits) == 0 and (bits == 64 or 0 <= number < 1 << bits or recorded[0] == "-")
               for bits in (8, 16, 32, 64)) if recorded.startswith("0x") else int(printed) == number
