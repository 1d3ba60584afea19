"""The noise that a printed theorem prescribes for each kind of client, and the client for which it is worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.quantities import LARGEST_COUNT

if TYPE_CHECKING:
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem


@dataclass(frozen=True)
class PrintedNoise:
    """The noise that a paper prescribes for one kind of client, with the privacy that it gives.

    Attributes:
        member: the kind of client, with the batch size and rounds that the paper prescribes.
        std: the prescribed standard deviation σ of the noise per coordinate.
        true: the ε and δ certified at that σ; None if they are not computed.
    """

    member: Member
    std: float
    true: TrueFigures | None

    @property
    def multiplier(self) -> float:
        """Noise multiplier: σ over L/K, the norm bound of one record's contribution to the mean of K gradients."""
        return self.std * self.member.batch_size / self.member.lipschitz

    def epsilon_ratio(self) -> float:
        """Return the upper bound on the true ε, divided by the ε of the target.

        If the true ε is not computed, 1/multiplier replaces it, which orders clients roughly like their ε.

        Returns:
            The ratio. If the true ε is known and the ratio exceeds 1, the printed noise may miss the target.
        """
        epsilon = self.true.epsilon.upper if self.true else 1.0 / self.multiplier
        return epsilon / self.member.target.epsilon


def worst_client(members: Sequence[Member], stds: Sequence[float], truth: Truth[Member]) -> PrintedNoise:
    """Return the kind of client with the largest ratio of the true ε to the target ε at the noise of a paper.

    Args:
        members: one entry for each kind of client, with the printed batch size and rounds.
        stds: the printed standard deviation σ for each kind of client.
        truth: function that certifies a client's ε and δ at a printed noise multiplier. It returns None if it cannot,
            for example because there are more than `LARGEST_COUNT` rounds.

    Returns:
        This kind of client, with its printed noise and the ε and δ that are certified at it.
    """
    candidates = []
    for member, std in zip(members, stds, strict=True):
        multiplier = std * member.batch_size / member.lipschitz
        candidates.append(PrintedNoise(member, std, truth(member, multiplier)))
    return max(candidates, key=PrintedNoise.epsilon_ratio)


def noise_parameters(problem: MiniBatchProblem, printed: PrintedNoise, rounds: float) -> dict[str, float]:
    """Return the parameters that a paper prescribes for one kind of client, by their names in the answer.

    Args:
        problem: the request. If it has groups of clients, the index of the client's group is added.
        printed: the kind of client with its printed σ.
        rounds: the prescribed number of rounds.

    Returns:
        `noise_std`, `noise_multiplier`, `batch_size`, `rounds` and, with groups of clients, `group`.
    """
    parameters = {
        "noise_std": printed.std,
        "noise_multiplier": printed.multiplier,
        "batch_size": printed.member.batch_size,
        "rounds": rounds,
    }
    if problem.client_groups:
        parameters["group"] = printed.member.place
    return parameters


def served_rounds(rounds: int) -> float:
    """Return a prescribed number of rounds, as a float if it is too large for an integer field of the answer."""
    return rounds if rounds < LARGEST_COUNT else float(rounds)
