"""The IDX format of MNIST: a magic number, the sizes of all axes, and unsigned bytes."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput

UNSIGNED_BYTES = 0x08
"""Code of the element type that MNIST uses."""


def parse_idx(content: bytes, *, axes: int, name: str, data: str) -> npt.NDArray[np.uint8]:
    """Parse the content of an IDX file of unsigned bytes.

    Args:
        content: content of the file.
        axes: expected number of axes: 1 for labels, 3 for images.
        name: name of the file, for an error.
        data: name of the data set, for the pointer of an error.

    Returns:
        The array, with the shape that the file states.

    Raises:
        InvalidInput: the file has another format, or its length does not agree with its header.
    """
    # The header has a magic number of 4 bytes, then the size of each axis as a big-endian integer of 4 bytes.
    header_bytes = 4 + 4 * axes
    if len(content) < header_bytes or content[:4] != bytes([0, 0, UNSIGNED_BYTES, axes]):
        message = f"{name} is not an IDX file of unsigned bytes with {axes} axes"
        raise InvalidInput.at(f"/data/{data}", message)
    shape = struct.unpack(f">{axes}I", content[4:header_bytes])
    expected = header_bytes + int(np.prod(shape, dtype=np.int64))
    if len(content) != expected:
        message = f"{name} has {len(content)} bytes, and its header says {expected}: it is truncated or altered"
        raise InvalidInput.at(f"/data/{data}", message)
    return np.frombuffer(content, dtype=np.uint8, offset=header_bytes).reshape(shape)
