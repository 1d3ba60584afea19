"""The request of a membership inference: a training with canaries, the number of runs, and the attacks."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import DELTA, LOG10_DELTA, Quantity, request
from epsilond.accountants.target import natural_log_delta
from epsilond.simulators.memberships.training import CanaryTraining

MembershipAttack = Literal["every-model", "final-model", "likelihood-ratio", "offline-likelihood-ratio"]
ATTACKS: tuple[MembershipAttack, ...] = get_args(MembershipAttack)
LEAST_REFERENCES = 4
"""Least number of reference runs, with which the attacks estimate means and standard deviations."""
MOST_WORK = 1e13
"""Most numbers that all runs may read; they take hours."""

KIND = Quantity(description="name of the kind of simulation")
TRAINING = Quantity(description="training that is attacked, and the canaries that are put into its data")
RUNS = Quantity(
    description="number of trainings that are attacked. With several canaries, each is in the data of a "
    "training with probability ½, and one training is enough. With one canary, half of the "
    "trainings contain it",
    ge=1,
    le=100_000,
)
REFERENCES = Quantity(
    description="number of further trainings, for likelihood-ratio attacks. The attacker knows which canaries "
    "they contain",
    ge=0,
    le=10_000,
)
CHOSEN = Quantity(
    description="attacks to make. every-model: by log-likelihood ratios of all models. final-model: by the "
    "canary's loss under the last model. Likelihood-ratio attacks: by this loss, compared with the "
    "losses under reference models. Absent: all that are possible"
)
CONFIDENCE = Quantity(
    description="confidence level of each lower bound by itself: the probability that it holds", gt=0, lt=1
)
SEED = Quantity(description="seed of all randomness: the same seed gives the same answer", ge=0, le=2**53)


@request
class MembershipSimulation:
    """Request for trainings with canaries, inserted records or clients, that membership attacks try to detect.

    An attacker guesses from the released models which canaries were in the data. Exactly one of `delta` and
    `log10_delta` is given.
    """

    kind: Annotated[Literal["membership"], KIND] = "membership"
    training: Annotated[CanaryTraining, TRAINING]
    runs: Annotated[int, RUNS] = 1
    references: Annotated[int, REFERENCES] = 0
    attacks: Annotated[tuple[MembershipAttack, ...] | None, CHOSEN] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    confidence: Annotated[float, CONFIDENCE] = 0.95
    seed: Annotated[int, SEED] = 0

    def check(self) -> None:
        """Check that the fields of the request are consistent and that the simulation is not too long.

        A canary is a record or client that is inserted to be detected. References are further trainings, with which
        attacks by likelihood ratios are calibrated.

        Raises:
            InvalidInput: not exactly one of `delta` and `log10_delta` is given; an attack is unknown, repeated, or
                lacks references; there are a few references, but too few; the runs of a single canary are too few or
                odd in number; or the simulation would take too long.
        """
        natural_log_delta(self.delta, self.log10_delta)
        self._check_attacks()
        if 0 < self.references < LEAST_REFERENCES:
            raise InvalidInput.at("/references", "are too few", allowed=f"0, or ≥ {LEAST_REFERENCES}")
        has_single_canary = self.training.canaries == 1
        # Half of the runs of a single canary contain it.
        if has_single_canary and (self.runs < LEAST_PAIRED or self.runs % 2):
            message = "of one canary are counted one by one, half of them with it"
            raise InvalidInput.at("/runs", message, allowed=f"an even number ≥ {LEAST_PAIRED}")
        if self.work > MOST_WORK:
            work_of_run = self.work / (self.runs + self.references)
            largest = int(MOST_WORK / work_of_run)
            raise InvalidInput.at("/runs", "make the simulation too long", allowed=f"≤ {largest} with the references")

    def _check_attacks(self) -> None:
        """Check that each requested attack exists, is listed once, and has the reference trainings that it needs.

        Raises:
            InvalidInput: an attack is unknown or repeated, or an attack by likelihood ratios has too few references.
        """
        attacks = self.attacks or ()
        for index, name in enumerate(attacks):
            is_repeated = name in attacks[:index]
            if name not in ATTACKS or is_repeated:
                raise InvalidInput.at(
                    f"/attacks/{index}", "is not an attack, or is listed twice", allowed=", ".join(ATTACKS)
                )
        needs_references = any("likelihood" in name for name in attacks)
        if needs_references and self.references < LEAST_REFERENCES:
            raise InvalidInput.at("/references", "are needed by that attack", allowed=f"≥ {LEAST_REFERENCES}")

    @property
    def work(self) -> float:
        """Number of array entries that all runs read, a measure of the time they take."""
        return (self.runs + self.references) * self.training.rounds * self.training.entries

    @property
    def log_delta(self) -> float:
        """Natural logarithm of δ."""
        return natural_log_delta(self.delta, self.log10_delta)

    @property
    def made(self) -> tuple[MembershipAttack, ...]:
        """The requested attacks; by default all that are possible: those by likelihood ratios require references."""
        if self.attacks is not None:
            return self.attacks
        if self.references:
            return ATTACKS
        return ATTACKS[:2]  # those that need no references


LEAST_PAIRED = 40
"""Least number of runs with one canary; half of them contain it."""
