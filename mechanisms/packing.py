"""Non-negative integers of a fixed number of bits, packed without a gap, most significant bit first.

Eight numbers of t bits are t bytes: they are packed and unpacked byte by byte for all groups of eight at once. The last
byte is filled with zeros.
"""

from __future__ import annotations

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Integers

MOST_BITS = 62


def packed_length(count: int, bits: int) -> int:
    """Bytes of `count` numbers of `bits` bits each."""
    return (count * bits + 7) // 8


def pack(numbers: Integers, bits: int) -> bytes:
    """⌈count · bits/8⌉ bytes. 1 ≤ bits ≤ 62.

    Raises:
        InvalidInput: a number is negative or has more bits.
    """
    _demand_bits(bits)
    flat = np.asarray(numbers, dtype=np.int64).ravel()
    if flat.size and (flat.min() < 0 or int(flat.max()) >> bits):
        raise InvalidInput.at("/numbers", "is out of range", allowed=f"≥ 0 and < 2^{bits}")
    groups = np.zeros((-(-flat.size // 8), 8), dtype=np.int64)
    groups.ravel()[: flat.size] = flat
    made = np.zeros((len(groups), bits), dtype=np.uint8)
    for byte in range(bits):
        for place, shift in _overlaps(byte, bits):
            part = groups[:, place] >> shift if shift >= 0 else groups[:, place] << -shift
            made[:, byte] |= (part & 0xFF).astype(np.uint8)
    return made.tobytes()[: packed_length(flat.size, bits)]


def unpack(message: bytes, count: int, bits: int) -> Integers:
    """The `count` numbers of a message.

    Raises:
        InvalidInput: the message is longer or shorter than so many numbers are, or is not filled with zeros.
    """
    _demand_bits(bits)
    length = packed_length(count, bits)
    if len(message) != length:
        raise InvalidInput.at("/message", f"has {len(message)} bytes", allowed=f"{length} bytes")
    filling = 8 * length - count * bits
    if length and message[-1] & ((1 << filling) - 1):
        raise InvalidInput.at("/message", f"has bits set after its {count} numbers")
    groups = -(-count // 8)
    given = np.zeros(groups * bits, dtype=np.uint8)
    given[:length] = np.frombuffer(message, dtype=np.uint8)
    by_group = given.reshape(groups, bits)
    found = np.zeros((groups, 8), dtype=np.uint64)
    for byte in range(bits):
        column = by_group[:, byte].astype(np.uint64)
        for place, shift in _overlaps(byte, bits):
            found[:, place] |= column << np.uint64(shift) if shift >= 0 else column >> np.uint64(-shift)
    return np.asarray(found.ravel()[:count] & np.uint64((1 << bits) - 1)).astype(np.int64)


def _overlaps(byte: int, bits: int) -> list[tuple[int, int]]:
    """Which of eight numbers have bits in that byte of their group, and how far left of it each ends."""
    first, last = 8 * byte // bits, min((8 * byte + 7) // bits, 7)
    return [(place, (place + 1) * bits - 8 * (byte + 1)) for place in range(first, last + 1)]


def _demand_bits(bits: int) -> None:
    if not 1 <= bits <= MOST_BITS:
        raise InvalidInput.at("/bits", "is out of range", allowed=f"1 to {MOST_BITS}")
