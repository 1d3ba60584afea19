"""Observations of a run, premise by premise, and the status that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.runs.premises import PREMISES, Premise
from epsilond.runs.status import RunStatus


class Contradictable(Protocol):
    """A budget that can be informed that an observation contradicts the record of the run that it pays for."""

    def contradict(self, observations: Sequence[Observation]) -> None:
        """Pay for no more steps of the contradicted run, and mark the steps that were already paid for."""


class Evidence:
    """Record of the premises (conditions) of a privacy theorem that one training run was observed to fulfil.

    An integration counts each recorded step with the premises that it fulfils. The run is certified if every step was
    observed to fulfil every premise. It is declared if the caller must vouch for some of them. It is contradicted by
    the first observation that a premise fails, unless the caller has declared this premise.

    Attributes:
        premises: the premises of the theorem that covers the run.
        steps: number of recorded steps.
        outside: sentences about facts that no run can show.
        budget: informed of the first contradiction, if there is one.
    """

    def __init__(
        self, premises: Sequence[Premise], *, outside: Sequence[str], budget: Contradictable | None = None
    ) -> None:
        """Start the record of a training run of which no step was observed yet.

        Args:
            premises: the conditions of the privacy theorem that covers the run.
            outside: sentences for the statement about the run, on conditions that cannot be observed during a run.
            budget: informed of the first contradiction; None without a budget.
        """
        self.premises = tuple(premises)
        self.steps = 0
        self.outside = tuple(outside)
        self.budget = budget

        # By the id of a premise: number of steps in which it was observed, reasons why it was not, the caller's
        # declaration that it holds, and observations that contradict it.
        self._observed: Counter[str] = Counter()
        self._reasons: Counter[tuple[str, str]] = Counter()
        self._declarations: dict[str, str] = {}
        self._observations: dict[tuple[str, str], Observation] = {}

    # Recording --------------------------------------------------------------------------------------------------------
    def count_step(self, premises: Iterable[Premise] = (), *, count: int = 1) -> None:
        """Count recorded steps, and the premises that each of them was observed to fulfil.

        Args:
            premises: premises that were observed to hold for each of the steps.
            count: number of steps.
        """
        self.steps += count
        self.show(premises, count=count)

    def show(self, premises: Iterable[Premise], *, count: int = 1) -> None:
        """Count premises that steps were observed to fulfil. The steps themselves are counted already.

        Args:
            premises: premises that were observed to hold for each of the steps.
            count: number of these steps.
        """
        for premise in premises:
            self._observed[premise.id] += count

    def rest_on_caller(self, premise: Premise, reason: str, *, count: int = 1) -> None:
        """Add a reason why a premise (condition of the theorem) was not observed, so that the caller must vouch for it.

        Args:
            premise: the premise that was not observed.
            reason: why it was not observed, without a full stop.
            count: how often.
        """
        self._reasons[premise.id, reason] += count

    def contradict(
        self, premise: Premise, message: str, *, remedy: str, count: int = 1, declarable: bool = True
    ) -> None:
        """Record an observation that contradicts a premise of the run's account.

        A premise is a condition of the theorem that proves the run's ε. If the caller has vouched for it and the
        observation is declarable, the observation is only listed next to the ε. The budget is informed of the first
        contradiction.

        Args:
            premise: the premise that does not hold.
            message: the observation, without its count.
            remedy: change of the program, or declaration, that resolves the observation.
            count: how often it was observed.
            declarable: whether a declaration of the caller overrides the observation. It is false for statistical
                tests, which reject the record itself.
        """
        if declarable and premise.id in self._declarations:
            self.rest_on_caller(premise, message, count=count)
            return
        is_first = not self._observations
        earlier = self._observations.get((premise.id, message))
        total = count if earlier is None else earlier.count + count
        self._observations[premise.id, message] = Observation(premise.id, message, remedy=remedy, count=total)
        if is_first and self.budget is not None:
            self.budget.contradict(self.observations)

    def inform(self, budget: Contradictable | None) -> None:
        """Set the budget that is informed of the first contradiction. It is informed at once if there is one already.

        Args:
            budget: the budget that pays for the run; None for no budget.
        """
        self.budget = budget
        if budget is not None and self._observations:
            budget.contradict(self.observations)

    def vouch(self, premise: str, declaration: str) -> None:
        """Record that the caller vouches for a premise from now on.

        A premise is a condition of the theorem that proves the run's ε.

        Args:
            premise: id of a premise that can be declared.
            declaration: the caller's own words, which are printed next to the ε.

        Raises:
            InvalidInput: no such premise, one that no declaration can replace, or an empty declaration.
        """
        choices = [premise.id for premise in self.premises if premise.declaration]
        if premise not in choices:
            raise InvalidInput.at("/premise", "is not a premise that can be declared", allowed=", ".join(choices))
        if not declaration.strip():
            raise InvalidInput.at("/declaration", "must not be empty")
        self._declarations[premise] = declaration.strip()

    # Conclusions ------------------------------------------------------------------------------------------------------
    @property
    def observations(self) -> tuple[Observation, ...]:
        """Observations that contradict the record of the run."""
        return tuple(self._observations.values())

    @property
    def declared(self) -> tuple[str, ...]:
        """Sentences about the premises that were not observed in every step, so that the caller must vouch for them."""
        return tuple(self._declared_sentences())

    @property
    def shown(self) -> Mapping[str, int]:
        """Number of steps that were observed to fulfil each premise, by the id of the premise."""
        return {premise.id: self._observed[premise.id] for premise in self.premises}

    @property
    def status(self) -> RunStatus:
        """Status of the run so far: contradicted, declared or certified, as the class describes."""
        if self._observations:
            return RunStatus.CONTRADICTED
        return RunStatus.DECLARED if self.declared else RunStatus.CERTIFIED

    def require_consistent(self) -> None:
        """Reject a run that an observation contradicts.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps. The error lists all observations.
        """
        if self._observations:
            raise RunDiffers.of(self.observations)

    def _declared_sentences(self) -> Iterable[str]:
        """Yield sentences about each condition of the privacy theorem that the caller must vouch for.

        A sentence states the caller's declaration, a reason why the condition was not observed, or the number of steps
        in which it was observed.

        Yields:
            A sentence that begins with the condition it is about.
        """
        for premise in self.premises:
            declaration = self._declarations.get(premise.id)
            if declaration:
                yield f"{premise.statement} Declared by the caller: {declaration}"
            reasons = [(text, count) for (name, text), count in self._reasons.items() if name == premise.id]
            for text, count in reasons:
                times = "" if count == 1 else f" ({count} times)"
                yield f"{premise.statement} Not observed: {text}{times}."
            shown = self._observed[premise.id]
            if shown < self.steps and not reasons and not declaration:
                yield f"{premise.statement} Observed in {shown} of {self.steps} steps."

    # Checkpoints ------------------------------------------------------------------------------------------------------
    def state_dict(self) -> JsonRecord:
        """Return the observations and declarations of the run as JSON values, for a checkpoint.

        Returns:
            `steps`: number of recorded steps.
            `shown`: number of steps in which each condition was observed, by its id.
            `reasons`: condition, reason why it was not observed, and how often.
            `vouched`: declarations of the caller, by the id of the condition.
            `observations`: condition, message, remedy and number of each contradiction.
        """
        reasons = [[premise, text, count] for (premise, text), count in self._reasons.items()]
        return {
            "steps": self.steps,
            "shown": dict(self.shown),
            "reasons": reasons,
            "vouched": dict(self._declarations),
            "observations": [
                [observation.premise, observation.message, observation.remedy, observation.count]
                for observation in self.observations
            ],
        }

    def clear(self) -> None:
        """Remove all counted steps, observations and declarations. The premises and the budget stay."""
        self.load_state_dict(Evidence(self.premises, outside=()).state_dict())

    def copy(self) -> Evidence:
        """Return a copy of the evidence without its budget. A contradiction in the copy therefore blocks no budget."""
        copied = Evidence(self.premises, outside=self.outside)
        copied.load_state_dict(self.state_dict())
        return copied

    def load_state_dict(self, state: JsonObject) -> None:
        """Load the observations and declarations of a checkpoint in place of the present ones.

        Args:
            state: value of `state_dict`.

        Raises:
            InvalidInput: the state does not come from `state_dict`, or has a condition that this version does not know.
        """
        try:
            steps = int(state["steps"])
            shown = Counter({str(name): int(count) for name, count in state["shown"].items()})
            reasons = Counter({(str(name), str(text)): int(count) for name, text, count in state["reasons"]})
            vouched = {str(name): str(text) for name, text in state["vouched"].items()}
            observations = [_read_observation(*entry) for entry in state["observations"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput.at("/evidence", "is not the evidence of a checkpoint") from None
        names = {*shown, *vouched}
        names.update(name for name, _ in reasons)
        unknown = names - PREMISES.keys()
        if unknown or steps < 0:
            raise InvalidInput.at("/evidence", "is not the evidence of a checkpoint")
        self.steps, self._observed, self._reasons, self._declarations = steps, shown, reasons, vouched
        self._observations = {(observation.premise, observation.message): observation for observation in observations}


def _read_observation(premise: str, message: str, remedy: str, count: int) -> Observation:
    """Read an observation that contradicts the record of a run, from the values in a checkpoint.

    Args:
        premise: id of the premise (condition) that does not hold.
        message: the observation as a sentence.
        remedy: change of the program, or declaration, that resolves the observation.
        count: how often it was observed.

    Returns:
        The observation.

    Raises:
        ValueError, TypeError: the count is not a number.
    """
    return Observation(str(premise), str(message), remedy=str(remedy), count=int(count))
