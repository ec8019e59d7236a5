# SPDX-License-Identifier: Apache-2.0
"""The data in a page that `view` wrote (docs/PAGE.md)."""
import base64
import gzip
import json
import re
import struct


def varints(data, count):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    assert len(values) == count and not shift
    return values


def block(page, name):
    """(header, {column: numbers}) of a block; (None, {}) if the page has none."""
    m = re.search(f'<script type="application/octet-stream" id="{name}">([A-Za-z0-9+/=]*)</script>', page)
    if not m:
        return None, {}
    data = gzip.decompress(base64.b64decode(m[1], validate=True))
    size, = struct.unpack_from("<I", data)
    header = json.loads(data[4:4 + size])
    columns, at = {}, 4 + size
    for column, count, length in header["columns"]:
        values = varints(data[at:at + length], count)
        at += length
        if column.endswith("+"):
            last = 0
            for i, v in enumerate(values):
                last += (v >> 1) ^ -(v & 1)
                values[i] = last
        columns[column.rstrip("+")] = values
    assert at == len(data)
    return header, columns
