"""What every loop works with: the clients, the random bits, and the record of each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import RandomSource
from epsilond.training.arrays import Floats, Indices
from epsilond.training.clients.batches import Gradients, Met
from epsilond.training.steps.ball import on_ball

Problem: TypeAlias = Any
"""The problem of a calibration, of a class of the calibrators, which this package does not import."""
Parameters: TypeAlias = Any
"""The parameters that the calibration answers with; their class is the calibrator's too."""


@dataclass(frozen=True, kw_only=True)
class Unprotected:
    """Of one round, what is a function of the data or of secret draws: no guarantee covers it."""

    participants: tuple[int, ...]
    """Who took part."""
    largest_norm: float
    """The largest norm of what is clipped, before it is: of a record's gradient, or of a client's message."""
    clipped: int
    """How many were longer than their bound."""
    not_finite: int
    """How many records' gradients were no numbers, and counted as zeros."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """What is told of a round. It holds no time and nothing that the guarantee does not cover, but in `unprotected`."""

    number: int
    """From 1 on."""
    participants: tuple[int, ...] | None
    """Who took part, by place; None where that has to stay secret."""
    bits_per_client: int
    """Of one client's message, as the calibration counts them."""
    bits: int | None
    """Of all messages; None where their number has to stay secret."""
    unprotected: Unprotected | None = None
    """Only if it is asked for."""


OnRound = Callable[[Round, Floats | None], object]
"""Called after each round with its record and the model as it would be put out; True ends the run."""


@dataclass(frozen=True, kw_only=True)
class TrainingOutcome:
    """What a loop comes to."""

    model: Floats
    """(d,): what is put out."""
    personal_models: Floats | None = None
    """(N, …): of each client, for itself alone."""
    rounds: int
    """That were run."""


@dataclass(kw_only=True)
class Session:
    """One run: whose gradients, from which model on, with which random bits, and what is told of it."""

    clients: Gradients
    source: RandomSource
    start: Floats
    bits_per_client: int
    participants_seen: bool
    """Whether the guarantee is against someone who sees who takes part."""
    models_seen: bool
    """Whether the guarantee is against someone who sees the model after every round."""
    own_start: Floats | None = None
    """(p,), of ppsgd: where clients' own parts begin, if they are coordinates of their own behind the shared ones."""
    tell_unprotected: bool = False
    on_round: OnRound | None = None
    log: list[Round] = field(default_factory=list)

    @property
    def count(self) -> int:
        """N."""
        return len(self.clients.sizes)

    @property
    def dimension(self) -> int:
        """d."""
        return self.clients.dimension

    def around_start(self, radius: float) -> Callable[[Floats], Floats]:
        """The projection onto the ball of that radius around the start."""
        return lambda model: self.start + on_ball(model - self.start, radius)

    def done(self, model: Floats, participants: Indices, met: Met) -> bool:
        """Record a round, and tell of it: whether the run is to end.

        A model that the guarantee hides is not handed out, and then the run goes on, whatever is answered.
        """
        taken_part = tuple(map(int, participants))
        told = self.participants_seen
        unprotected = None
        if self.tell_unprotected:
            unprotected = Unprotected(
                participants=taken_part,
                largest_norm=met.largest_norm,
                clipped=met.clipped,
                not_finite=met.not_finite,
            )
        self.log.append(
            Round(
                number=len(self.log) + 1,
                participants=taken_part if told else None,
                bits_per_client=self.bits_per_client,
                bits=self.bits_per_client * len(taken_part) if told else None,
                unprotected=unprotected,
            )
        )
        if self.on_round is None:
            return False
        answer = self.on_round(self.log[-1], model.copy() if self.models_seen else None)
        return self.models_seen and answer is True


def require_records(sizes: Indices, wanted: Indices, *, exactly: bool) -> None:
    """Refuse clients that do not hold the records that the calibration is for.

    Raises:
        InvalidInput: at the first client.
    """
    wrong = np.flatnonzero(sizes != wanted if exactly else sizes < wanted)
    if wrong.size:
        first = int(wrong[0])
        sign = "=" if exactly else "≥"
        raise InvalidInput.at(
            f"/clients/{first}",
            "holds another number of records than was calibrated for",
            allowed=f"{sign} {wanted[first]}",
        )


def refuse_steps(algorithm: str, given: Mapping[str, float | None]) -> None:
    """Refuse step sizes that a run does not take from its caller.

    Raises:
        InvalidInput: at the first that is given.
    """
    for name, value in given.items():
        if value is not None:
            raise InvalidInput.at(f"/{name}", f"is no parameter of a run of {algorithm}")
