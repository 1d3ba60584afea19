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
    """Facts about a round that the privacy guarantee does not cover: they depend on the data or on secret draws.

    They help to debug a program. They must not be shown to the observer against whom the guarantee protects.

    Attributes:
        participants: indices of the clients that took part in the round.
        largest_norm: largest ℓ2 norm before clipping; of a record's gradient, or of a message if messages are clipped.
        clipped: number of gradients or messages longer than their clipping norm.
        not_finite: number of records' gradients with NaN or infinite entries, which counted as zeros.
    """

    participants: tuple[int, ...]
    largest_norm: float
    clipped: int
    not_finite: int


@dataclass(frozen=True, kw_only=True)
class Round:
    """Log entry of one round; the privacy guarantee covers all of it except `unprotected`.

    It has no time stamp.

    Attributes:
        number: number of the round, from 1 on.
        participants: indices of the participants among the clients; None if they must stay secret.
        bits_per_client: bits of one client's message, as the calibration counts them.
        bits: bits of all messages; None if the participants must stay secret.
        unprotected: facts that the guarantee does not cover; None unless `Session.log_unprotected` is set.
    """

    number: int
    participants: tuple[int, ...] | None
    bits_per_client: int
    bits: int | None
    unprotected: Unprotected | None = None


OnRound = Callable[[Round, Floats | None], object]
"""Callback after each round, with its log and the model that would be the output; returning True ends the run."""


@dataclass(frozen=True, kw_only=True)
class TrainingOutcome:
    """Result of a training run.

    Attributes:
        model: the output, of shape (d,) for d coordinates.
        personal_models: model of each of the N clients, of shape (N, …), for that client only; None if there is none.
        rounds: number of rounds that were run.
    """

    model: Floats
    personal_models: Floats | None = None
    rounds: int


@dataclass(kw_only=True)
class Session:
    """State of one training run: its clients, its start, its randomness, and the log of its rounds.

    Attributes:
        clients: the clients with their records, which compute gradients.
        source: source of all random numbers.
        start: first model, of shape (d,) for d coordinates.
        bits_per_client: bits of one client's message, as the calibration counts them.
        participants_seen: True if the guarantee assumes an observer who sees the participants.
        models_seen: True if the guarantee assumes an observer who sees the model after every round.
        own_start: start of the clients' own parts in ppsgd, of shape (p,), if they are coordinates of their own after
            the shared ones; None otherwise.
        log_unprotected: True if the log includes facts that the guarantee does not cover.
        on_round: callback after each round; None for no callback.
        log: log of the rounds so far.
    """

    clients: Gradients
    source: RandomSource
    start: Floats
    bits_per_client: int
    participants_seen: bool
    models_seen: bool
    own_start: Floats | None = None
    log_unprotected: bool = False
    on_round: OnRound | None = None
    log: list[Round] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of clients N."""
        return len(self.clients.sizes)

    @property
    def dimension(self) -> int:
        """Dimension d of a gradient."""
        return self.clients.dimension

    def projection_around_start(self, radius: float) -> Callable[[Floats], Floats]:
        """Return the projection onto the ball around the start of the run.

        Args:
            radius: radius of the ball, in the unit of the models.

        Returns:
            A function from models, of shape (…, d), for d coordinates, to the nearest models in the ball.
        """
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
        visible_model = model.copy() if self.models_seen else None
        answer = self.on_round(entry, visible_model)
        return self.models_seen and answer is True

    def _describe_round(self, participants: tuple[int, ...], statistics: GradientStatistics) -> Round:
        """Build the log entry of the next round, without the facts that must stay secret.

        Args:
            participants: indices of the clients of the round.
            statistics: statistics of their gradients, which are included only with `log_unprotected`.

        Returns:
            The entry. The participants and the bits of all messages are None unless `participants_seen` is set.
        """
        unprotected = None
        if self.log_unprotected:
            unprotected = Unprotected(
                participants=participants,
                largest_norm=statistics.largest_norm,
                clipped=statistics.clipped,
                not_finite=statistics.not_finite,
            )

        # The bits of all messages reveal the number of participants, so both are secret or neither is.
        visible_participants = None
        all_bits = None
        if self.participants_seen:
            visible_participants = participants
            all_bits = self.bits_per_client * len(participants)
        return Round(
            number=len(self.log) + 1,
            participants=visible_participants,
            bits_per_client=self.bits_per_client,
            bits=all_bits,
            unprotected=unprotected,
        )


def require_records(sizes: Indices, wanted: Indices, *, exactly: bool) -> None:
    """Require that every client has the number of records that the noise was calibrated for.

    The sampling of records, and thus the noise, depends on this number.

    Args:
        sizes: number of records of each client, (N,), for N clients.
        wanted: number that the noise was calibrated for, (N,).
        exactly: True if the numbers must be equal; False if a client may have more records.

    Raises:
        InvalidInput: a client has too few records, or too many if `exactly`. The error points to the first such
            client.
    """
    if exactly:
        is_wrong = sizes != wanted
        sign = "="
    else:
        is_wrong = sizes < wanted
        sign = "≥"
    if np.any(is_wrong):
        index = int(np.argmax(is_wrong))  # the first client with a wrong number
        raise InvalidInput.at(
            f"/clients/{index}",
            "holds another number of records than was calibrated for",
            allowed=f"{sign} {wanted[index]}",
        )


def reject_steps(algorithm: str, caller_steps: Mapping[str, float | None]) -> None:
    """Reject step sizes of the caller that the algorithm does not have.

    Args:
        algorithm: name of the algorithm, for the message.
        caller_steps: step sizes by name; None if not given.

    Raises:
        InvalidInput: a step size is given; the error points to the first one.
    """
    for name, value in caller_steps.items():
        if value is not None:
            raise InvalidInput.at(f"/{name}", f"is not a parameter of a run of {algorithm}")
