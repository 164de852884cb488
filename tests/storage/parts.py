"""Taking a file apart, and putting it together with a checksum that is right."""

import hashlib
import json
import struct

from suffice.storage.format import DIGEST


def taken_apart(packed):
    """The header with its content parsed, and the body."""
    (length,) = struct.unpack("<Q", packed[:8])
    header = json.loads(packed[8 : 8 + length])
    header["__metadata__"]["content"] = json.loads(header["__metadata__"]["content"])
    return header, packed[8 + length :]


def put_together(header, body):
    header = dict(header)
    metadata = dict(header["__metadata__"])
    if not isinstance(metadata["content"], str):
        metadata["content"] = json.dumps(metadata["content"])
    header["__metadata__"] = metadata
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return with_checksum(struct.pack("<Q", len(text)) + text + body)


def with_checksum(packed):
    blank = bytearray(packed)
    if len(blank) >= DIGEST.stop:
        blank[DIGEST] = b"0" * 64
        blank[DIGEST] = hashlib.sha256(blank).hexdigest().encode()
    return bytes(blank)


def changed(packed, change):
    """The file after a change of its content, with the right checksum."""
    header, body = taken_apart(packed)
    change(header["__metadata__"]["content"])
    return put_together(header, body)


def with_tensor(packed, name, array):
    """The file with one tensor replaced."""
    header, body = taken_apart(packed)
    dtypes = {"f8": "F64", "i8": "I64", "i4": "I32", "u1": "U8", "b1": "BOOL"}
    tensors = {}
    for key, entry in header.items():
        if key != "__metadata__":
            start, stop = entry["data_offsets"]
            tensors[key] = (entry["dtype"], entry["shape"], body[start:stop])
    tensors[name] = (dtypes[array.dtype.str[1:]], list(array.shape), array.tobytes())
    parts, place = [], 0
    fresh = {"__metadata__": header["__metadata__"]}
    for key, (dtype, shape, data) in tensors.items():
        fresh[key] = {"dtype": dtype, "shape": shape, "data_offsets": [place, place + len(data)]}
        parts.append(data)
        place += len(data)
    return put_together(fresh, b"".join(parts))
