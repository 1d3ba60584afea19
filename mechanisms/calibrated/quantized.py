"""Integer messages: updates rounded to a grid, with truncated discrete Laplace noise, packed into the charged bits.

Source: Das et al. 2021, Algorithm 1. Rounding and noise have exactly the stated distributions: no floating point is
used between the random bits and the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import Array, flatten
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
    """Encoding of a client's vector u in [−1, 1]^d as d integers from −(s + m) to s + m, and its decoding.

    Each coordinate is rounded at random to a multiple of 1/s, without bias. Truncated discrete Laplace noise is added.

    Attributes:
        quantization_levels: s, number of grid points in (0, 1].
        noise_levels: m, largest absolute value of the noise in units of 1/s.
        decay_rate: α > 0; the noise y has probability proportional to e^(−α|y|).
        normalised: whether the client divides its update by its norm first. A zero update stays zero.
        dimension: number of coordinates of a message; None if the answer does not have it. The guarantee holds only for
            this dimension.
    """

    quantization_levels: int
    noise_levels: int
    decay_rate: float
    normalised: bool
    dimension: int | None

    @property
    def bits_per_coordinate(self) -> int:
        """Bits of one coordinate, ⌈log2(2(s + m) + 1)⌉."""
        return (2 * self._largest).bit_length()

    @property
    def extra_bits_per_coordinate(self) -> int:
        """Bits of one coordinate in excess of a message without noise."""
        bits_without_noise = (2 * self.quantization_levels).bit_length()
        return self.bits_per_coordinate - bits_without_noise

    @property
    def _largest(self) -> int:
        """Largest integer of a message, s + m."""
        return self.quantization_levels + self.noise_levels

    def integers(self, update: Array | Sequence[Array], source: RandomSource | None = None) -> Integers:
        """Return an update as integers: rounded at random to the grid, with truncated discrete Laplace noise.

        They are the message before it is packed into bytes.

        Args:
            update: an array of any shape, or a list of layers.
            source: source of the random bits; the operating system if None.

        Returns:
            A vector of integers, one for each coordinate, in units of the grid.

        Raises:
            InvalidInput: the update has another dimension, or is not normalised and has a coordinate outside [−1, 1].
        """
        values, _ = flatten(update, records=False, pointer="/update")
        if self.dimension is not None and values.size != self.dimension:
            raise InvalidInput.at("/update", f"has {values.size} coordinates", allowed=f"{self.dimension}")
        if self.normalised:
            # Normalising in doubles may leave a norm slightly above 1; clipping removes the excess.
            values = clip(unit_vectors(values), 1.0).values
        return quantized_messages(
            values,
            levels=self.quantization_levels,
            noise_levels=self.noise_levels,
            decay_rate=self.decay_rate,
            source=source or secure(),
        )

    def encode(self, update: Array | Sequence[Array], source: RandomSource | None = None) -> bytes:
        """Encode a client's update as a message: round it to the grid, add noise, and pack the integers.

        Args:
            update: an array of any shape, or a list of layers.
            source: source of the random bits; the operating system if None.

        Returns:
            ⌈d · bits_per_coordinate/8⌉ bytes, for an update of d coordinates.

        Raises:
            InvalidInput: the update has another dimension, or is not normalised and has a coordinate outside [−1, 1].
        """
        # The integers are shifted, so that none is negative.
        shifted = self.integers(update, source) + self._largest
        return pack(shifted, self.bits_per_coordinate)

    def decode_integers(self, message: bytes, count: int | None = None) -> Integers:
        """Unpack the integers of a message.

        Args:
            message: the bytes of `encode`.
            count: number of coordinates. Required if `dimension` is None.

        Returns:
            A vector of integers from −(s + m) to s + m, with s = `quantization_levels` and m = `noise_levels`.

        Raises:
            InvalidInput: the count is missing or differs from `dimension`, or `encode` cannot have written the message.
        """
        length = count if self.dimension is None else self.dimension
        if length is None or (count is not None and count != length):
            raise InvalidInput.at("/count", "must be the number of coordinates", allowed=f"{length or 'an integer'}")

        # The message has integers from 0 to 2(s + m), which were shifted by s + m.
        shifted = unpack(message, length, self.bits_per_coordinate)
        largest_shifted = 2 * self._largest
        if shifted.size and int(shifted.max()) > largest_shifted:
            raise InvalidInput.at("/message", "has a number beyond the grid", allowed=f"≤ {largest_shifted}")
        return shifted - self._largest

    def decode(self, message: bytes, count: int | None = None) -> Floats:
        """Decode a message, on the server's side, to an unbiased estimate of the client's vector.

        The integers of the message are divided by the number of quantization levels. Rounding and noise have mean zero.

        Args:
            message: the bytes that the client's `encode` returned.
            count: number of coordinates. Required if `dimension` is None.

        Returns:
            The estimate, one number per coordinate.

        Raises:
            InvalidInput: the count is missing or wrong, or `encode` cannot have written the message.
        """
        return self.decode_integers(message, count) / self.quantization_levels

    def mean(self, messages: Sequence[bytes], count: int | None = None) -> Floats:
        """Decode several messages and return the mean of their vectors; the messages are added up as integers.

        Args:
            messages: at least one message of `encode`.
            count: number of coordinates. Required if `dimension` is None.

        Returns:
            The mean vector, one number per coordinate.

        Raises:
            InvalidInput: there is no message, the count is missing or wrong, or `encode` cannot have written a message.
        """
        if not messages:
            raise InvalidInput.at("/messages", "are needed", allowed="at least one message of `encode`")
        first_message, *further_messages = messages
        total = self.decode_integers(first_message, count)
        for message in further_messages:
            total += self.decode_integers(message, count)
        return np.asarray(total / (self.quantization_levels * len(messages)))

    def message_bytes(self, count: int) -> int:
        """Return the length, in bytes, of a message of `count` coordinates."""
        return packed_length(count, self.bits_per_coordinate)


def quantized_release(answer: Answer) -> QuantizedRelease:
    """Build the release (a mechanism with its guarantee) with the grid and the noise of a calibrator's answer.

    Args:
        answer: the answer of a calibrator with truncated discrete Laplace noise.

    Returns:
        The release. For norm-fedavg it normalises vectors, and `left_open` has one gap: the rounding of the direction.

    Raises:
        InvalidInput: the answer has too many levels for the sampler, or states another number of bits per coordinate.
    """
    parameters = answer.parameters
    levels = answer.integer(f"{parameters}/quantization_levels")
    noise_levels = answer.integer(f"{parameters}/noise_levels")
    _demand_at_most(f"{parameters}/quantization_levels", levels, MOST_QUANTIZATION_LEVELS)
    _demand_at_most(f"{parameters}/noise_levels", noise_levels, MOST_NOISE_LEVELS)

    # Normalisation is computed in doubles, which leaves a gap in the guarantee.
    is_normalised = answer.text("/algorithm") == "norm-fedavg"
    gaps = (DIRECTION,) if is_normalised else ()
    release = QuantizedRelease(
        **answer.release_fields(),
        left_open=gaps,
        quantization_levels=levels,
        noise_levels=noise_levels,
        decay_rate=answer.number(f"{parameters}/decay_rate"),
        normalised=is_normalised,
        dimension=_dimension(answer),
    )
    answer.demand("/communication/bits_per_coordinate", release.bits_per_coordinate)
    return release


def _demand_at_most(pointer: str, value: int, most: int) -> None:
    """Reject a number of levels that the sampler does not support.

    Args:
        pointer: JSON pointer to the number in the answer, for the error.
        value: the number of levels.
        most: largest number that the sampler supports.

    Raises:
        InvalidInput: the number is above the largest one.
    """
    if value > most:
        raise InvalidInput.at(pointer, "is more than can be drawn", allowed=f"≤ {most}")


def _dimension(answer: Answer) -> int | None:
    """Return the number of coordinates of a message, as its length in bits over the bits of one coordinate.

    Args:
        answer: the answer of a calibrator, which has found the noise for a target (ε, δ).

    Returns:
        The number of coordinates; None if the answer has no communication cost.

    Raises:
        InvalidInput: the quotient is not a whole number.
    """
    if answer.get("/communication") is None:
        return None
    bits_of_message = answer.integer("/communication/bits_per_round_per_client")
    bits_of_coordinate = answer.integer("/communication/bits_per_coordinate")
    if bits_of_message % bits_of_coordinate:
        raise InvalidInput.at("/communication/bits_per_round_per_client", "is not a whole number of coordinates")
    return bits_of_message // bits_of_coordinate
