"""Printed noise beside the truth, for the kind of client whose promise it keeps least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.calibrators.mb_sgd.members import Member

if TYPE_CHECKING:
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem


@dataclass(frozen=True)
class AtPrinted:
    """A member at the printed parameters, and the truth there."""

    member: Member
    std: float
    true: TrueFigures | None

    @property
    def multiplier(self) -> float:
        """σ over the norm bound of one record's contribution."""
        return self.std * self.member.batch_size / self.member.lipschitz

    @property
    def exceeded(self) -> float:
        """The true ε over the promised one; without the truth, as little as the noise is large."""
        true = self.true.epsilon.upper if self.true else 1.0 / self.multiplier
        return true / self.member.target.epsilon


def worst_of(found: Iterable[AtPrinted]) -> AtPrinted:
    """Of several groups the one whose promise is kept least."""
    return max(found, key=lambda one: one.exceeded)


def noise_parameters(problem: MiniBatchProblem, at: AtPrinted, rounds: float) -> dict[str, float]:
    """What a reading says to run with, of that member; and its place among the groups."""
    parameters = {
        "noise_std": at.std,
        "noise_multiplier": at.multiplier,
        "batch_size": at.member.batch_size,
        "rounds": rounds,
    }
    return parameters | ({"group": at.member.place} if problem.client_groups else {})


def worst_at(members: Sequence[Member], stds: Sequence[float], truth: Truth[Member], *, rounds: int) -> AtPrinted:
    """That member at its printed σ and the printed rounds; without the truth where these are beyond every count."""

    def at(member: Member, std: float) -> AtPrinted:
        true = None
        if rounds <= LARGEST_COUNT:
            true = truth(member, std * member.batch_size / member.lipschitz)
        return AtPrinted(member, std, true)

    return worst_of(map(at, (replace(member, rounds=rounds) for member in members), stds))
