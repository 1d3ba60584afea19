"""State of a training run: the clients, the randomness, and the log of the rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import RandomSource
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Gradients, GradientStatistics
from epsilond.training.steps.ball import on_ball

Problem: TypeAlias = Any
"""Problem of a calibration; this package does not import its class."""
Parameters: TypeAlias = Any
"""Parameters that a calibration returned; this package does not import their class."""


@dataclass(frozen=True, kw_only=True)
class Unprotected:
    """Facts about a round that depend on the data or on secret draws; no guarantee covers them.

    They help to find faults in a program, and must not be shown to the observer of the guarantee.
    """

    participants: tuple[int, ...]
    """Participants of the round."""
    largest_norm: float
    """Largest norm before clipping, of a record's gradient or of a client's message."""
    clipped: int
    """Number of vectors longer than their bound."""
    not_finite: int
    """Number of records' gradients with NaN or infinite entries, which counted as zeros."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """Log of one round. It has no time, and only `unprotected` has facts that the guarantee does not cover."""

    number: int
    """Number of the round, from 1 on."""
    participants: tuple[int, ...] | None
    """Indices of the participants among the clients; None if they must stay secret."""
    bits_per_client: int
    """Bits of one client's message, as the calibration counts them."""
    bits: int | None
    """Bits of all messages; None if the number of messages must stay secret."""
    unprotected: Unprotected | None = None
    """Unprotected facts; None unless they were requested."""


OnRound = Callable[[Round, Floats | None], object]
"""Callback after each round, with its log and the model that would be the output; returning True ends the run."""


@dataclass(frozen=True, kw_only=True)
class TrainingOutcome:
    """Result of a training run."""

    model: Floats
    """(d,): the output."""
    personal_models: Floats | None = None
    """(N, …): model of each client, for that client only."""
    rounds: int
    """Number of rounds that were run."""


@dataclass(kw_only=True)
class Session:
    """Clients, start, randomness and log of one run."""

    clients: Gradients
    source: RandomSource
    start: Floats
    bits_per_client: int
    participants_seen: bool
    """True if the guarantee assumes an observer who sees the participants."""
    models_seen: bool
    """True if the guarantee assumes an observer who sees the model after every round."""
    own_start: Floats | None = None
    """(p,): start of the own parts of ppsgd, if they are coordinates of their own after the shared ones."""
    log_unprotected: bool = False
    """True if the log includes facts that no guarantee covers."""
    on_round: OnRound | None = None
    """Callback after each round; None for no callback."""
    log: list[Round] = field(default_factory=list)
    """Log of the rounds so far."""

    @property
    def count(self) -> int:
        """Number of clients N."""
        return len(self.clients.sizes)

    @property
    def dimension(self) -> int:
        """Dimension d of a gradient."""
        return self.clients.dimension

    def projection_around_start(self, radius: float) -> Callable[[Floats], Floats]:
        """Return the function that projects models (…, d) onto the ball of that radius around the start."""
        return lambda model: self.start + on_ball(model - self.start, radius)

    def record_round(self, model: Floats, participants: Indices, statistics: GradientStatistics) -> bool:
        """Log a round, call the caller's `on_round`, and return whether the run is to end.

        The callback ends the run by returning True. If the guarantee assumes that intermediate models are not seen, the
        callback gets no model and cannot end the run.

        Args:
            model: model that would be the output if the run ended now.
            participants: clients of the round.
            statistics: statistics of their gradients, which are logged only with `log_unprotected`.

        Returns:
            True if the callback may end the run and has returned True.
        """
        entry = self._describe_round(tuple(map(int, participants)), statistics)
        self.log.append(entry)
        if self.on_round is None:
            return False
        answer = self.on_round(entry, model.copy() if self.models_seen else None)
        return self.models_seen and answer is True

    def _describe_round(self, participants: tuple[int, ...], statistics: GradientStatistics) -> Round:
        """Return the log entry of the next round, with the facts that the observer of the guarantee may see.

        The entry is a part of the result of the run, so that it must not reveal facts that the guarantee does not
        cover.

        Args:
            participants: indices of the clients of the round.
            statistics: statistics of their gradients, which the entry has only with `log_unprotected`.

        Returns:
            The entry. Facts that the observer may not see are None in it.
        """
        unprotected = None
        if self.log_unprotected:
            unprotected = Unprotected(
                participants=participants,
                largest_norm=statistics.largest_norm,
                clipped=statistics.clipped,
                not_finite=statistics.not_finite,
            )
        return Round(
            number=len(self.log) + 1,
            participants=participants if self.participants_seen else None,
            bits_per_client=self.bits_per_client,
            bits=self.bits_per_client * len(participants) if self.participants_seen else None,
            unprotected=unprotected,
        )


def require_records(sizes: Indices, wanted: Indices, *, exactly: bool) -> None:
    """Check that every client has the number of records that the noise was calibrated for.

    The sampling and the influence of one record, for which the noise was calibrated, depend on this number.

    Args:
        sizes: number of records of each client, (N,).
        wanted: number that the noise was calibrated for, (N,).
        exactly: whether a client with more records is an error, too.

    Raises:
        InvalidInput: a client has another number; the error points to the first such client.
    """
    is_wrong = sizes != wanted if exactly else sizes < wanted
    if np.any(is_wrong):
        first = int(np.argmax(is_wrong))
        sign = "=" if exactly else "≥"
        raise InvalidInput.at(
            f"/clients/{first}",
            "holds another number of records than was calibrated for",
            allowed=f"{sign} {wanted[first]}",
        )


def reject_steps(algorithm: str, caller_steps: Mapping[str, float | None]) -> None:
    """Check that the caller gives no step size that the algorithm does not have.

    Args:
        algorithm: name of the algorithm, for the message.
        caller_steps: step sizes by name; None if not given.

    Raises:
        InvalidInput: a step size is given; the error points to the first one.
    """
    for name, value in caller_steps.items():
        if value is not None:
            raise InvalidInput.at(f"/{name}", f"is not a parameter of a run of {algorithm}")
