"""Messages of integers: rounded to a grid, with truncated discrete Laplace noise, packed into the bits charged for.

Source: Das et al. 2021, Algorithm 1. Every random draw has exactly its law, and nothing is in floating point between
the random bits and the message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flattened
from epsilond.mechanisms.calibrated.answer import Answer
from epsilond.mechanisms.calibrated.release import Release
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.mechanisms.packing import pack, packed_length, unpack
from epsilond.mechanisms.quantization import MOST_QUANTIZATION_LEVELS, quantized_messages, unit_vectors
from epsilond.mechanisms.randomness import Floats, Integers, RandomSource, secure

DIRECTION = "the direction of an update is computed in doubles, and made no longer than 1 certainly"


@dataclass(frozen=True, kw_only=True)
class QuantizedRelease(Release):
    """A client's vector u in [−1, 1]^d as d integers between −(s + m) and s + m, and back.

    With `normalised` the client sends the direction of what it is given, a zero update as zeros.
    """

    quantization_levels: int
    noise_levels: int
    decay_rate: float
    normalised: bool
    dimension: int | None
    """Coordinates of one message, where the answer says; a message of another dimension has another guarantee."""

    @property
    def bits_per_coordinate(self) -> int:
        """⌈log2(2(s + m) + 1)⌉."""
        return (2 * self._largest).bit_length()

    @property
    def extra_bits_per_coordinate(self) -> int:
        """Beyond what the vector needs without noise."""
        return self.bits_per_coordinate - (2 * self.quantization_levels).bit_length()

    @property
    def _largest(self) -> int:
        return self.quantization_levels + self.noise_levels

    def integers(self, update: Array | Sequence[Array], source: RandomSource | None = None) -> Integers:
        """What is sent, before it is packed: (d,). The update is an array of any shape, or a list of layers.

        Raises:
            InvalidInput: the update has another dimension, or unless directions are sent, a coordinate outside [−1, 1].
        """
        values, _ = flattened(update, records=False, pointer="/update")
        if self.dimension is not None and values.size != self.dimension:
            raise InvalidInput.at("/update", f"has {values.size} coordinates", allowed=f"{self.dimension}")
        if self.normalised:
            values = clip(unit_vectors(values), 1.0).values
        return quantized_messages(
            values,
            levels=self.quantization_levels,
            noise_levels=self.noise_levels,
            decay_rate=self.decay_rate,
            source=source or secure(),
        )

    def encode(self, update: Array | Sequence[Array], source: RandomSource | None = None) -> bytes:
        """The client's side: the message, ⌈d · bits_per_coordinate/8⌉ bytes.

        Raises:
            InvalidInput: as `integers`.
        """
        return pack(self.integers(update, source) + self._largest, self.bits_per_coordinate)

    def decode_integers(self, message: bytes, count: int | None = None) -> Integers:
        """The integers of a message. `count` is the number of coordinates, where the answer does not say it.

        Raises:
            InvalidInput: the message is none that `encode` writes.
        """
        length = count if self.dimension is None else self.dimension
        if length is None or (count is not None and count != length):
            raise InvalidInput.at("/count", "must be the number of coordinates", allowed=f"{length or 'an integer'}")
        shifted = unpack(message, length, self.bits_per_coordinate)
        if shifted.size and int(shifted.max()) > 2 * self._largest:
            raise InvalidInput.at("/message", "has a number beyond the grid", allowed=f"≤ {2 * self._largest}")
        return shifted - self._largest

    def decode(self, message: bytes, count: int | None = None) -> Floats:
        """The server's side: the vector, in units of the update; unbiased.

        Raises:
            InvalidInput: as `decode_integers`.
        """
        return self.decode_integers(message, count) / self.quantization_levels

    def mean(self, messages: Sequence[bytes], count: int | None = None) -> Floats:
        """The mean of messages, added up as integers.

        Raises:
            InvalidInput: there is no message, or as `decode_integers`.
        """
        if not messages:
            raise InvalidInput.at("/messages", "are needed", allowed="at least one")
        total = self.decode_integers(messages[0], count)
        for message in messages[1:]:
            total += self.decode_integers(message, count)
        return np.asarray(total / (self.quantization_levels * len(messages)))

    def message_bytes(self, count: int) -> int:
        """Length of a message of so many coordinates."""
        return packed_length(count, self.bits_per_coordinate)


def quantized(answer: Answer) -> QuantizedRelease:
    """With the grid and the noise of the answer, whose bits must be those that it charges."""
    place = answer.place
    levels, noise_levels = (answer.integer(f"{place}/{name}") for name in ("quantization_levels", "noise_levels"))
    for name, value, most in (
        ("quantization_levels", levels, MOST_QUANTIZATION_LEVELS),
        ("noise_levels", noise_levels, MOST_NOISE_LEVELS),
    ):
        if value > most:
            raise InvalidInput.at(f"{place}/{name}", "is more than can be drawn", allowed=f"≤ {most}")
    normalised = answer.text("/algorithm") == "norm-fedavg"
    made = QuantizedRelease(
        **answer.common(),
        left_open=(DIRECTION,) if normalised else (),
        quantization_levels=levels,
        noise_levels=noise_levels,
        decay_rate=answer.number(f"{place}/decay_rate"),
        normalised=normalised,
        dimension=_dimension(answer),
    )
    answer.demand("/communication/bits_per_coordinate", made.bits_per_coordinate)
    return made


def _dimension(answer: Answer) -> int | None:
    """Bits of a message over bits of a coordinate."""
    if answer.get("/communication") is None:
        return None
    per_client = answer.integer("/communication/bits_per_round_per_client")
    per_coordinate = answer.integer("/communication/bits_per_coordinate")
    if math.gcd(per_client, per_coordinate) != per_coordinate:
        raise InvalidInput.at("/communication/bits_per_round_per_client", "is no whole number of coordinates")
    return per_client // per_coordinate
