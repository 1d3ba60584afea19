"""The rounds of a process of TensorFlow Federated, with the status that its states support."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import PrivacyCurve, require_setting
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, require_unit
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.setting import StatedSetting, find_curve
from epsilond.integrations.stated import Stated
from epsilond.integrations.tff.rounds import Output, compare_round
from epsilond.integrations.tff.states import Sampling, spec_from_tff_state
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import COHORT, EVENT, NOISE, OUTSIDE_CLIENTS, ROUNDS, UPDATES, Premise

if TYPE_CHECKING:
    from tensorflow_federated.learning.templates import LearningAlgorithmState

    from epsilond.integrations.budget import LedgerBudget

PREMISES: Final = (COHORT, UPDATES, NOISE, EVENT, ROUNDS)
"""Premises of the theorems that cover the rounds of a private aggregator."""
_COMPILED: Final = "the aggregator clips and adds noise inside a federated computation, and only its event is seen"
_TYPED: Final = "the sampling of the clients was typed by hand, and the aggregator does not see how they were chosen"
_NO_MODEL: Final = "the state has no global_model_weights, so that rounds cannot be compared with each other"
_REMEDY: Final = "Call process.next with the state that take_round passes, once in each round."
_COUNTERS: Final = ("round_num", "round")
"""Names of the round counter in states that have one."""


class TffRunState(TypedDict):
    """State of a `TffRun`, as JSON values.

    Attributes:
        rounds: number of rounds.
        models: checksums of the models so far, in hexadecimal digits.
        evidence: observations of the run, as `Evidence.state_dict` returns them.
    """

    rounds: int
    models: Sequence[str]
    evidence: Mapping[str, object]


class TffRun(Stated):
    """The privacy account of a training process of TensorFlow Federated, round by round.

    The mechanism of a round is read from the first state, and ε is that of all rounds so far. The state after each
    round must contain the privacy event of the same mechanism. The status of the account is at most `declared`, not
    `certified`: a program cannot observe the clipping and the noise inside a compiled computation.

    Attributes:
        round: spec of one round.
        rounds: number of rounds.
        state: state after the latest round; pass it to nothing but `process.next`.

    Example:
        >>> run = TffRun(process.initialize(), unit="client", observer="released-models", rate=0.02)  # doctest: +SKIP
        >>> for _ in range(100):  # doctest: +SKIP
        ...     run.take_round(lambda state: process.next(state, clients()))
    """

    @require_setting
    def __init__(
        self,
        state: LearningAlgorithmState,
        *,
        relation: Relation,
        unit: ProtectedUnit,
        observer: Observer,
        budget: LedgerBudget | None = None,
        **sampling: Unpack[Sampling],
    ) -> None:
        """Start the account of a run of TensorFlow Federated from the first state, which `initialize` returned.

        Args:
            state: the state of `initialize`; its event describes the planned rounds.
            relation: neighbouring relation.
            unit: the protected unit, `client` if a client is a person.
            observer: the adversary, named by its observations, such as `released-models`.
            budget: pays for each round before it is run, and is informed of the first contradiction.
            **sampling: how the clients are chosen, as for `spec_from_tff_state`.

        Raises:
            InvalidInput: no spec describes the state, or the budget has another neighbouring relation.
        """
        if budget is not None and budget.relation != relation:
            raise InvalidInput.at("/relation", f"is {relation}", allowed=budget.relation)
        self.round = spec_from_tff_state(state, relation=relation, planned=True, **sampling)
        self._evidence = Evidence(PREMISES, outside=OUTSIDE_CLIENTS, budget=budget)
        self.rounds = 0
        self.state = state
        self._sampling = sampling
        self._budget = budget
        self._setting: StatedSetting = {"relation": relation, "unit": require_unit(unit), "observer": observer}
        # Checksums of all models so far, with the first one: a round must not return any of them again.
        first_model = _model_digest(state)
        self._models = set() if first_model is None else {first_model}
        # Number of rounds for which the privacy curve was last computed, and this curve.
        self._curve: tuple[int, PrivacyCurve | None] | None = None

    def take_round(self, run_round: Callable[[LearningAlgorithmState], Output]) -> Output:
        """Run one round, after paying for it if there is a budget, and check its new state.

        Args:
            run_round: function that calls `process.next` with its argument, the present state, and returns the result.

        Returns:
            The result of `run_round`; its `state` is the state of this run from now on.

        Raises:
            LedgerExhausted: the ledger has too little left for the round, which was not run.
            NotInPlan: the ledger's plan has another mechanism next, and the round was not run.
            RunDiffers: the new state contradicts the account. If an earlier state did, the round was not run.
            InvalidInput: the new state has no privacy event.
        """
        self._evidence.require_consistent()
        # The budget pays before the round runs, so that no unpaid model can be released.
        if self._budget is not None:
            self._budget.pay(self.round)
        state_before = self.state
        output = run_round(state_before)
        self.state = output.state
        self.rounds += 1
        self.evidence.count_step(self._check_round(state_before))
        self.evidence.require_consistent()
        return output

    def _check_round(self, state_before: LearningAlgorithmState) -> set[Premise]:
        """Check the state after a round, and note which conditions of the privacy theorem the caller must vouch for.

        A round is one compiled computation, so a program cannot observe how it clips updates and adds noise.

        Args:
            state_before: state of the process before the round.

        Returns:
            The conditions that the new state allows to check. A contradicted condition may be among them, because the
            contradiction is recorded separately.
        """
        observed = set()
        relation = self._setting["relation"]
        if compare_round(self.evidence, self.state, self.round, relation=relation, **self._sampling):
            observed.add(EVENT)
        if self._compare_models(state_before):
            observed.add(ROUNDS)

        # The choice of the clients is only known if all of them take part.
        is_subsampled = any(value not in (None, 1.0) for value in self._sampling.values())
        if is_subsampled:
            self.evidence.rest_on_caller(COHORT, _TYPED)
        else:
            observed.add(COHORT)

        for premise in (UPDATES, NOISE):
            self.evidence.rest_on_caller(premise, _COMPILED)
        return observed

    def _compare_models(self, state_before: LearningAlgorithmState) -> bool:
        """Compare the state after a round with earlier states, and report a repeated one.

        The round counter must have grown, and the model must differ from all earlier ones.

        Args:
            state_before: state of the process before the round.

        Returns:
            True if the models were compared, even if one was repeated. False if the state has no model.
        """
        count_before = _read_round_counter(state_before)
        count = _read_round_counter(self.state)
        if count_before is not None and count is not None and count <= count_before:
            message = "the round counter of the state did not grow: the state of an earlier round was used"
            self.evidence.contradict(ROUNDS, message, remedy=_REMEDY)

        digest = _model_digest(self.state)
        if digest is None:
            self.evidence.rest_on_caller(ROUNDS, _NO_MODEL)
            return False
        if digest in self._models:
            message = "a round returned the model of an earlier round, which noise makes impossible"
            self.evidence.contradict(ROUNDS, message, remedy=_REMEDY)
        self._models.add(digest)
        return True

    # Conclusions ------------------------------------------------------------------------------------------------------
    @property
    def spec(self) -> Spec | None:
        """Composition of all rounds so far; None before the first."""
        return run_of([(self.round, self.rounds)])

    def _open_observations(self) -> tuple[Observation, ...]:
        """Return the observation that no round was run by `take_round`, if that is so."""
        if self.rounds:
            return ()
        return (Observation(ROUNDS.id, "no round was seen", remedy="Run each round by take_round."),)

    def _find_curve(self) -> PrivacyCurve | None:
        """Return the privacy curve of all rounds so far; None before the first round.

        The latest curve is kept, and computed again only after another round.
        """
        if self._curve is not None:
            rounds_of_curve, computed_curve = self._curve
            if rounds_of_curve == self.rounds:
                return computed_curve

        curve = find_curve([(self.round, self.rounds)], self._setting)
        self._curve = (self.rounds, curve)
        return curve

    # Checkpoints ------------------------------------------------------------------------------------------------------
    def state_dict(self) -> TffRunState:
        """Return the account as JSON values, for a checkpoint next to the state of the process."""
        return {"rounds": self.rounds, "models": sorted(self._models), "evidence": self.evidence.state_dict()}

    def load_state_dict(self, saved: TffRunState, *, state: LearningAlgorithmState) -> None:
        """Restore this account from a checkpoint, with the state of the process at that time.

        Args:
            saved: the result of `state_dict`.
            state: the state of the process at that time.

        Raises:
            InvalidInput: `saved` does not come from `state_dict`.
        """
        try:
            rounds = int(saved["rounds"])
            models = set(map(str, saved["models"]))
            self.evidence.load_state_dict(saved["evidence"])
        except (KeyError, TypeError, ValueError):
            raise InvalidInput.at("", "is not the account of a checkpoint") from None
        self.rounds = rounds
        self._models = models
        self.state = state


def _read_round_counter(state: LearningAlgorithmState) -> int | None:
    """Return the number of rounds that a state of the learning process has counted.

    Args:
        state: state of the process.

    Returns:
        The number; None if the state has no counter, or an empty one.
    """
    for name in _COUNTERS:
        if hasattr(state, name):
            value = getattr(state, name)
            return None if value is None else int(value)
    return None


def _model_digest(state: LearningAlgorithmState) -> str | None:
    """Return a checksum of the model in a state of the learning process.

    Two rounds with fresh noise practically never give the same model. An equal checksum thus shows a repeated round.

    Args:
        state: state of the process.

    Returns:
        The checksum, 16 hexadecimal digits; None if the state has no attribute `global_model_weights`.
    """
    weights = getattr(state, "global_model_weights", None)
    if weights is None:
        return None
    # With 64 bits, two different models have equal checksums with a probability of about 2⁻⁶⁴.
    digest = hashlib.blake2b(digest_size=8)
    for array in _iterate_arrays(weights):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _iterate_arrays(value: object) -> Iterator[NDArray[np.generic]]:
    """Yield the arrays of weights in nested tuples, lists, dictionaries and objects with attributes.

    Args:
        value: a container, an object with the attribute `trainable` and perhaps `non_trainable`, or an array.

    Yields:
        The arrays, depth first. Of an object with attributes, the trainable arrays come first.
    """
    if isinstance(value, Mapping):
        members = list(value.values())
    elif isinstance(value, list | tuple):
        members = list(value)
    elif hasattr(value, "trainable"):
        members = [value.trainable, getattr(value, "non_trainable", ())]
    else:
        yield np.asarray(value)
        return
    for member in members:
        yield from _iterate_arrays(member)
