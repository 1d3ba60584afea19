"""Non-negative integers of a fixed number of bits, packed without gaps, most significant bit first.

Eight numbers of t bits are t bytes. All groups of eight numbers are packed and unpacked at once, byte by byte. Unused
bits of the last byte are zero.
"""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Integers, Words

MOST_BITS = 62
"""Largest number of bits per number; numbers are signed 64-bit integers."""


def packed_length(count: int, bits: int) -> int:
    """Return the length, in whole bytes, of `count` numbers of `bits` bits each."""
    all_bits = count * bits
    return (all_bits + 7) // 8


def pack(numbers: Integers, bits: int) -> bytes:
    """Pack integers into ⌈count · bits/8⌉ bytes.

    Args:
        numbers: integers from 0 to 2^bits − 1, in an array of any shape.
        bits: bits per number, from 1 to 62.

    Returns:
        The bytes; `unpack` inverts them.

    Raises:
        InvalidInput: `bits` is out of range, or a number is negative or has more bits.
    """
    _require_bits(bits)
    flat = np.asarray(numbers, dtype=np.int64).ravel()
    if flat.size and (flat.min() < 0 or int(flat.max()) >> bits):
        raise InvalidInput.at("/numbers", "is out of range", allowed=f"≥ 0 and < 2^{bits}")

    # Eight numbers of `bits` bits fill `bits` bytes. The last group is filled up with zeros.
    groups = np.zeros((math.ceil(flat.size / 8), 8), dtype=np.uint64)
    groups.ravel()[: flat.size] = flat

    octets = np.zeros((len(groups), bits), dtype=np.uint8)
    for byte in range(bits):
        for index, shift in _overlaps(byte, bits):
            aligned = _shift_left(groups[:, index], -shift)
            octets[:, byte] |= (aligned & np.uint64(0xFF)).astype(np.uint8)
    return octets.tobytes()[: packed_length(flat.size, bits)]


def unpack(message: bytes, count: int, bits: int) -> Integers:
    """Unpack the integers of a message that `pack` wrote.

    Args:
        message: the packed bytes.
        count: number of integers in the message.
        bits: bits per number, from 1 to 62.

    Returns:
        The integers, as a vector.

    Raises:
        InvalidInput: `bits` is out of range, the message has another length, or an unused bit is set.
    """
    _require_bits(bits)
    length = packed_length(count, bits)
    if len(message) != length:
        raise InvalidInput.at("/message", f"has {len(message)} bytes", allowed=f"{length} bytes")
    unused_bits = 8 * length - count * bits
    unused_mask = (1 << unused_bits) - 1
    if length and message[-1] & unused_mask:
        raise InvalidInput.at("/message", f"has bits set after its {count} numbers")

    # One row of bytes for each group of eight numbers. The last group is filled up with zeros.
    groups = math.ceil(count / 8)
    octets = np.zeros(groups * bits, dtype=np.uint8)
    octets[:length] = np.frombuffer(message, dtype=np.uint8)
    octets_by_group = octets.reshape(groups, bits)

    numbers = np.zeros((groups, 8), dtype=np.uint64)
    for byte in range(bits):
        column = octets_by_group[:, byte].astype(np.uint64)
        for index, shift in _overlaps(byte, bits):
            numbers[:, index] |= _shift_left(column, shift)

    # A byte that two numbers share has left bits of the first one in the second.
    number_mask = np.uint64((1 << bits) - 1)
    return np.asarray(numbers.ravel()[:count] & number_mask).astype(np.int64)


def _shift_left(words: Words, count: int) -> Words:
    """Shift the bits of each word to the left by `count`, or to the right by −`count` if it is negative."""
    if count >= 0:
        return words << np.uint64(count)
    return words >> np.uint64(-count)


def _overlaps(byte: int, bits: int) -> list[tuple[int, int]]:
    """Return the numbers that share bits with one byte of a group of eight packed numbers.

    Args:
        byte: index of the byte in the group, from 0 to `bits` − 1.
        bits: bits per number.

    Returns:
        For each number its index in the group, and how far the byte is to be shifted to the left to align with it.
    """
    first_bit = 8 * byte
    last_bit = first_bit + 7
    first_number = first_bit // bits
    last_number = min(last_bit // bits, 7)
    overlaps = []
    for index in range(first_number, last_number + 1):
        end_of_number = (index + 1) * bits
        end_of_byte = 8 * (byte + 1)
        overlaps.append((index, end_of_number - end_of_byte))
    return overlaps


def _require_bits(bits: int) -> None:
    """Reject a number of bits that a signed 64-bit integer cannot hold.

    Args:
        bits: bits per number.

    Raises:
        InvalidInput: it is not from 1 to 62.
    """
    if not 1 <= bits <= MOST_BITS:
        raise InvalidInput.at("/bits", "is out of range", allowed=f"1 to {MOST_BITS}")
