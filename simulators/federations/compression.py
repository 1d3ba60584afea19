"""Messages that clients compress after their noise: stochastic rounding to levels of a message's norm."""

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
    description="levels between 0 and a message's norm to which its coordinates are rounded at random after the noise; "
    "absent: messages are sent as they are",
)
ROUNDING_STREAM = 2
"""Part of the key of a repetition's draws for rounding: all its other draws are those of a run without it."""


class Compression:
    """Rounds every message of some repetitions, each from its own stream."""

    def __init__(self, levels: int, generators: Sequence[np.random.Generator]) -> None:
        self._levels = levels
        self._streams = [own_stream(generator, ROUNDING_STREAM) for generator in generators]

    def sent(self, messages: Floats) -> Floats:
        """(S, M, d): coordinate i becomes |m| sign(m_i) l/s, l a whole number next to s|m_i|/|m|, right in the mean."""
        norms = np.maximum(norms_of(messages), SMALLEST)[..., None]
        exact = self._levels * (np.abs(messages) / norms)
        below = np.floor(exact)
        uniform = np.stack([stream.random(messages.shape[1:]) for stream in self._streams])
        rounded: Floats = np.copysign(norms * ((below + (uniform < exact - below)) / self._levels), messages)
        return rounded
