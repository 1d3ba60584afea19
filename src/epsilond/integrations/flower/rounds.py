"""Observations of a run of DP-FedAvg about the premises of its theorem, round by round."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.integrations.federated import FEDERATED
from epsilond.integrations.flower.cohorts import CohortWatch
from epsilond.integrations.flower.generators import GeneratorStates
from epsilond.integrations.flower.models import ReleasedModels
from epsilond.integrations.flower.parts import InitialValues
from epsilond.mechanisms.randomness import RandomSource, Secure
from epsilond.runs.evidence import Contradictable, Evidence
from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import (
    CLIPPING,
    COHORT,
    DIVISOR,
    NOISE,
    OUTSIDE_CLIENTS,
    PARAMETERS,
    RELEASES,
    ROUNDS,
    SAME_PARTS,
    UPDATES,
    Premise,
)

if TYPE_CHECKING:
    from flwr.app import ArrayRecord

PARTS: Final = {
    "strategy": SAME_PARTS,
    "budget": SAME_PARTS,
    "step": SAME_PARTS,
    "relation": SAME_PARTS,
    "cohort": COHORT,
    "population": COHORT,
    "adaptive": CLIPPING,
    "noise_multiplier": NOISE,
    "_noise": NOISE,
    "_source": NOISE,
    "participants": DIVISOR,
}
"""Attributes that must keep their values, with the premise that fails if they change."""

GIVEN_SOURCE: Final = "random bits came from a source that the caller gave, not from the operating system"
EVALUATED: Final = "metrics that clients reported in a federated evaluation were handed out without noise"
SELECTED: Final = "the strategy that chooses the clients has seen metrics that they reported"
CHANGED_NORM: Final = "the program changed the clipping norm during the run, perhaps depending on the clients' data"
FIX_NOISE: Final = "Give no source, so that the operating system's randomness is used, and let nothing reset it."
FIX_MODEL: Final = (
    "Hand out the models that aggregate_train returns, or the start, or declare parameters if the other model was"
    " computed from released models and public data."
)
FIX_ROUNDS: Final = (
    "Load the state of the strategy that ran the earlier rounds (load_state_dict), or number rounds from 1 on. Or "
    "declare rounds if no other model was released."
)
FIX_REWOUND: Final = "Load a state into a new strategy only, and let it be the latest one."


class RoundsState(TypedDict):
    """State of a `RoundWatch`, the observation of a run of DP-FedAvg, as JSON values for a checkpoint.

    Attributes:
        number: number of the latest configured round.
        models: digests of the released models.
        evidence: state of the record of the premises, that is, the conditions of the privacy theorem.
    """

    number: int
    models: Sequence[str]
    evidence: Mapping[str, object]


class StrategyState(TypedDict):
    """State of a `DpFedAvg`, Flower's strategy of this library, as JSON values for a checkpoint.

    Attributes:
        schema_version: version of this form of the state.
        settings: settings of the strategy; a strategy that resumes must have the same ones.
        clipping_norm: present clipping norm; adaptive clipping changes it.
        rounds: state of the observation of the rounds.
    """

    schema_version: int
    settings: Mapping[str, object]
    clipping_norm: float
    rounds: RoundsState


class RoundWatch:
    """Checks that each round of one `DpFedAvg` strategy fulfils the premises of its privacy theorem.

    Args:
        budget: is informed of the first contradiction; None without a budget.
        parts: initial values of the settings that must not change.
        source: source of the random bits for the noise.

    Attributes:
        evidence: record of the premises that were observed to hold or to fail.
        models: the models that were released, or the first model; clients may receive only these.
        number: number of the latest configured round; 0 before the first.
    """

    def __init__(self, *, budget: Contradictable | None, parts: InitialValues, source: RandomSource) -> None:
        """Start the observation of a run, before its first round.

        Args:
            budget: the budget that pays for the rounds, which is closed if an observation contradicts the record.
            parts: initial values of the attributes that must not change during the run.
            source: random source of the noise and of the choice of clients.
        """
        self.evidence = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS, budget=budget)
        self.models = ReleasedModels()
        self.number = 0
        self._parts = parts
        self._source = source
        self._cohorts = CohortWatch(self.evidence)
        self._noise = NoiseSamples()
        self._states = GeneratorStates()
        # Premises that were observed to hold, by the number of each round that is not aggregated yet.
        self._premises_of_round: dict[int, set[Premise]] = {}

    @property
    def pending(self) -> Collection[int]:
        """Numbers of the rounds that were configured and not aggregated."""
        return self._premises_of_round.keys()

    def begin(self, number: int, arrays: ArrayRecord) -> None:
        """Start a round, and check that it follows the previous one and starts from a released model.

        Args:
            number: number of the round.
            arrays: the model that the clients receive.
        """
        # Premises are conditions of the privacy theorem. These were observed to hold in this round.
        premises = check_start(self.evidence, self.models, arrays, number=number, previous=self.number)
        self.number = number
        starts_from_released_model = PARAMETERS in premises
        if starts_from_released_model:
            # Rounds that were started and never aggregated have released no model, so they do not matter any more.
            self._premises_of_round.clear()
        self._premises_of_round[number] = premises

    def take_cohort(self, number: int, cohort: Collection[int], nodes: Collection[int], *, step: Spec) -> None:
        """Test whether the clients of a round were sampled as the account of the run assumes, and note the result.

        If no statistical test has rejected the assumption so far, it is noted for the round as observed. If the caller
        gave the source of random bits, only the caller can ensure that the sample is random.

        Args:
            number: number of the round.
            cohort: the clients that received a message.
            nodes: the clients that were connected.
            step: mechanism of the round, with its sampling.
        """
        is_as_recorded = self._cohorts.observe(cohort, nodes, step=step)
        if isinstance(step, Subsampled) and type(self._source) is not Secure:
            self.evidence.rest_on_caller(COHORT, GIVEN_SOURCE)
        elif is_as_recorded:
            self._premises_of_round[number].add(COHORT)

    def drop(self, number: int) -> None:
        """Forget a round that ended without a release.

        Args:
            number: number of the round.
        """
        self._premises_of_round.pop(number, None)

    def check(self, number: int) -> None:
        """Check that no parameter of the run changed, and that its random generator was not reset.

        It is called before the noise of a round is drawn. A generator that was reset would repeat earlier noise.

        Args:
            number: number of the round.
        """
        if self._parts.check(self.evidence):
            self._premises_of_round.setdefault(number, set()).add(SAME_PARTS)
        # A generator without a readable state, such as the operating system's, cannot be reset.
        state = _generator_state(self._source)
        if state is not None and self._states.repeats(state):
            self._contradict_noise("the generator of the noise is in a state of an earlier round: it was reset")

    def release(self, number: int, sample: NDArray[np.float64], groups: NDArray[np.intp]) -> None:
        """Test the noise of a round, and count the round with the conditions of the privacy theorem that it fulfils.

        Those about updates, clipping, divisor and release count as fulfilled, because this library itself computes
        them. If the caller gave the source of random bits, only the caller can ensure that the noise is random.

        Args:
            number: number of the round.
            sample: noise at fixed coordinates, divided by its recorded standard deviation.
            groups: index in `sample` at which the coordinates of each array begin.
        """
        if len(sample):
            self._noise.observe(sample, groups)
        if self._noise.alarm:
            self._contradict_noise(self._noise.alarm)

        # Premises that this round fulfils: those that were noted before, and those that hold by construction.
        premises = {*self._premises_of_round.pop(number, set()), UPDATES, CLIPPING, DIVISOR, RELEASES}
        if type(self._source) is not Secure:
            self.evidence.rest_on_caller(NOISE, GIVEN_SOURCE)
        elif self._noise.alarm is None:
            premises.add(NOISE)
        self.evidence.count_step(premises)

    def take_evaluation(self, *, selects: bool) -> None:
        """Note that clients' metrics were released without noise.

        Only the caller can then ensure the premise that no other release was made. If the metrics may influence the
        choice of clients, the same is true for the premise about the sampling of clients.

        Args:
            selects: whether the strategy that gets the metrics chooses the clients.
        """
        self.evidence.rest_on_caller(RELEASES, EVALUATED)
        if selects:
            self.evidence.rest_on_caller(COHORT, SELECTED)

    def _contradict_noise(self, message: str) -> None:
        """Report an observation that contradicts the premise about the noise of the rounds.

        Args:
            message: the observation, in words.
        """
        self.evidence.contradict(NOISE, message, remedy=FIX_NOISE)

    # Checkpoints ------------------------------------------------------------------------------------------------------
    def state_dict(self) -> RoundsState:
        """Return the state of the observation as JSON values, for a checkpoint.

        Returns:
            The number of the latest round, the sorted digests of the released models, and the record of the premises.
        """
        return {
            "number": self.number,
            "models": sorted(self.models.digests),
            "evidence": self.evidence.state_dict(),
        }

    def load_state_dict(self, state: RoundsState) -> None:
        """Continue the observation of a run from a state that `state_dict` returned, such as one in a checkpoint.

        A state with fewer rounds than this object has seen contradicts the record of the run, because rounds would be
        missing.

        Args:
            state: number of the latest round, digests of the released models, and the record of the premises.

        Raises:
            InvalidInput: the state does not come from `state_dict`.
        """
        steps = self.evidence.steps
        try:
            number = int(state["number"])
            models = ReleasedModels(str(digest) for digest in state["models"])
            self.evidence.load_state_dict(state["evidence"])
        except (KeyError, TypeError, ValueError):
            raise InvalidInput.at("/rounds", "is not the state of a run") from None
        self.number, self.models = number, models
        if steps > self.evidence.steps:
            message = f"a state of {self.evidence.steps} rounds was loaded into a strategy that had released {steps}"
            self.evidence.contradict(SAME_PARTS, message, remedy=FIX_REWOUND)


def check_start(
    evidence: Evidence, models: ReleasedModels, arrays: ArrayRecord, *, number: int, previous: int
) -> set[Premise]:
    """Check that a new round follows the previous one and starts from a released model; report a deviation.

    Clients that train from a model which was not released could reveal more than the account covers.

    Args:
        evidence: receives the contradictions to the record of the run.
        models: the released models, and the first model.
        arrays: the model that the clients of the round receive.
        number: number of the round.
        previous: number of the round before it; 0 before the first.

    Returns:
        The premises (conditions of the privacy theorem) that hold. `ROUNDS` says that no round is missing, and
        `PARAMETERS` that the model was released.
    """
    premises: set[Premise] = set()
    # A gap in the numbers means that a round was not recorded.
    if number > previous + 1:
        message = f"round {number} follows round {previous}: the record lacks the rounds between"
        evidence.contradict(ROUNDS, message, remedy=FIX_ROUNDS)
    else:
        premises.add(ROUNDS)
    if models.contains(arrays):
        premises.add(PARAMETERS)
    else:
        message = "clients received a model that no round of this strategy released"
        evidence.contradict(PARAMETERS, message, remedy=FIX_MODEL)
    return premises


def _generator_state(source: RandomSource) -> object:
    """Return the state of the random generator of a source of random bits, to detect that it was reset.

    Args:
        source: source of random bits; a generator of numpy has a readable state.

    Returns:
        The state. None for a source without a readable state, such as the operating system's randomness.
    """
    generator = getattr(source, "generator", None)
    bit_generator = getattr(generator, "bit_generator", None)
    return getattr(bit_generator, "state", None)
