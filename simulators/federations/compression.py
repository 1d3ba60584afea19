"""Compression of messages after their noise: stochastic rounding to levels of a message's norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epsilond.accountants.quantities import Quantity
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import own_stream
from epsilond.training.steps.messages import SMALLEST, norms_of

LEVELS = Quantity(
    symbol="s",
    ge=1,
    le=2**31,
    description="number of levels between 0 and the norm of a noisy message. Its coordinates are rounded at "
    "random to these levels. Absent: messages are sent as they are",
)
ROUNDING_STREAM = 2
"""Part of the key of the stream for rounding; all other draws equal those of a run without compression."""


class Compression:
    """Compression of clients' messages by random rounding, with a random stream for each repetition."""

    def __init__(self, levels: int, generators: Sequence[np.random.Generator]) -> None:
        """Open a random stream for the rounding of each repetition.

        Args:
            levels: number s of levels between 0 and the norm of a message.
            generators: a generator per repetition, from which the stream is derived. Its other draws do not change.
        """
        self._levels = levels
        self._streams = [own_stream(generator, ROUNDING_STREAM) for generator in generators]

    def round_messages(self, messages: Floats) -> Floats:
        """Round the coordinates of messages at random to s levels between 0 and the message's norm, without bias.

        A coordinate c of a message m becomes ‖m‖ sign(c) l/s, with the Euclidean norm ‖m‖. Here l is the integer below
        or above s|c|/‖m‖, drawn at random so that its mean is s|c|/‖m‖.

        Args:
            messages: messages of M clients in S repetitions, (S, M, d), for d coordinates.

        Returns:
            The rounded messages, of the same shape.
        """
        norms = np.maximum(norms_of(messages), SMALLEST)[..., None]
        scaled_sizes = self._levels * (np.abs(messages) / norms)
        levels_below = np.floor(scaled_sizes)

        # Round up with the probability that makes the mean exact.
        uniform = np.stack([stream.random(messages.shape[1:]) for stream in self._streams])
        rounds_up = uniform < scaled_sizes - levels_below
        levels = levels_below + rounds_up

        sizes = norms * (levels / self._levels)
        rounded: Floats = np.copysign(sizes, messages)
        return rounded
