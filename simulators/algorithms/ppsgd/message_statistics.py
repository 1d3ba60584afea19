"""Counts of the clients' messages in a run of PPSGD, and of those that are clipped."""

from __future__ import annotations

import numpy as np

from epsilond.simulators.algorithms.ppsgd.rounds import Rounds
from epsilond.simulators.problems.problem import Floats

ROUNDING = 1e-9
"""Relative excess over the clipping norm that does not count as clipped, because rounding causes it."""


class MessageStatistics:
    """Statistics of the clients' messages in each repetition: their number, the clipped ones, and the largest norm."""

    def __init__(self, repetitions: int, clipping_norm: float) -> None:
        """Start without messages.

        Args:
            repetitions: number of repetitions.
            clipping_norm: largest norm of a message; inf for no clipping.
        """
        self._clipping_norm = clipping_norm
        self._messages = np.zeros(repetitions)
        self._clipped = np.zeros(repetitions)
        self._largest = np.zeros(repetitions)

    def add(self, draws: Rounds, round_index: int, norms: Floats) -> None:
        """Count the messages of one round in all repetitions.

        Args:
            draws: participants of a chunk, that is, of some consecutive rounds.
            round_index: index of the round in the chunk, from 0.
            norms: norm of each message before clipping, one for each participant in each repetition.
        """
        is_clipped = norms > self._clipping_norm * (1.0 + ROUNDING)
        self._clipped += draws.per_repetition(round_index, is_clipped.astype(np.float64))
        self._messages += draws.per_repetition(round_index, np.ones_like(norms))
        np.maximum.at(self._largest, draws.repetition[draws.rows(round_index)], norms)

    def diagnostics(self, rounds: int) -> dict[str, Floats]:
        """Return the share of clipped messages, the largest norm, and the mean number of messages in a round.

        Args:
            rounds: number of rounds so far, at least 1.

        Returns:
            One number per repetition for each of the three names.
        """
        return {
            # Without any message, the share is 0/1 instead of 0/0.
            "clipped_share": self._clipped / np.maximum(self._messages, 1.0),
            "largest_message": self._largest,
            "mean_participants": self._messages / rounds,
        }
