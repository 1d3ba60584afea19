"""A `PrivacyAccountant` of dp-accounting whose ε and δ are certified upper ends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self

import dp_accounting

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput, NoCertificate, Observation
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.quantities import Observer, Relation, SettingFields, Unit
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.dp_accounting.events import NotPrivate, name_of, parts_of
from epsilond.integrations.setting import StatedSetting, find_curve
from epsilond.integrations.stated import Stated
from epsilond.questions.account import account
from epsilond.reading import read
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import EVENT, OUTSIDE_CLIENTS, OUTSIDE_RECORDS

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget

_Relations = dp_accounting.NeighboringRelation
_Refused = dp_accounting.PrivacyAccountant.CompositionErrorDetails

RELATIONS: Mapping[dp_accounting.NeighboringRelation, Relation] = {
    _Relations.ADD_OR_REMOVE_ONE: "add-or-remove-one",
    _Relations.REPLACE_ONE: "replace-one",
    _Relations.REPLACE_SPECIAL: "zero-out-one",
}
"""Their neighbouring relations, by our names."""
_REASON = "the program composed this event, and no mechanism was observed"
_COMPOSITIONS = {"ComposedDpEvent": "events", "SelfComposedDpEvent": "event"}


class EpsilondAccountant(Stated, dp_accounting.PrivacyAccountant):
    """An accountant that stands wherever dp-accounting takes one: in `calibrate_dp_mechanism`, jax_privacy and others.

    A noise multiplier is σ over the bound C on one record's norm, as `GaussianDpEvent` says, and the relation gives the
    distance of neighbours: C, and 2C for REPLACE_ONE. So does their PLDAccountant. Their RdpAccountant takes σ over the
    distance itself there, so that its ε for REPLACE_ONE belongs to half the noise that the event names.

    An event that no spec says, or that has no guarantee in this relation, is refused: `supports` is False, and
    `compose` raises their UnsupportedEventError, which names it and says why. A NonPrivateDpEvent, and one without
    noise, makes ε infinite and δ one.

    The accountant sees events and no mechanism, so the status of its ε is `declared`, never `certified`.

    Guarantees: `get_epsilon` and `get_delta` are the upper ends of enclosures: never below the truth, all errors of the
    computation charged.

    Example:
        >>> import dp_accounting
        >>> from epsilond.integrations.dp_accounting import EpsilondAccountant
        >>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
        >>> relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        >>> accountant = EpsilondAccountant(relation, unit="record", observer="released-models")
        >>> print(f"{accountant.compose(step, 1000).get_epsilon(1e-5):.4f}")
        1.8282
        >>> accountant.supports(dp_accounting.ZCDpEvent(rho=0.1))
        False
    """

    def __init__(
        self,
        neighboring_relation: dp_accounting.NeighboringRelation,
        *,
        unit: Unit | None = None,
        observer: Observer | None = None,
        budget: LedgerBudget | None = None,
    ) -> None:
        """Account for one of dp-accounting's relations.

        With a budget, `compose` commits an event before it counts it: compose it before it is run.

        Args:
            neighboring_relation: a member of `dp_accounting.NeighboringRelation`.
            unit: whose data is protected; required without a budget.
            observer: the adversary, `released-models` for central DP-SGD; required without a budget.
            budget: gives the unit and the observer of its ledger.

        Raises:
            InvalidInput: the unit or the observer is missing, or the budget is one of another relation.
        """
        super().__init__(neighboring_relation)
        relation = RELATIONS[neighboring_relation]
        if budget is not None:
            if budget.relation != relation:
                raise InvalidInput.at("/neighboring_relation", f"is {relation}", allowed=budget.relation)
            unit, observer = budget.unit, budget.observer
        given = {"relation": relation, "unit": unit, "observer": observer}
        setting = read(SettingFields, {name: value for name, value in given.items() if value is not None})
        self._setting = StatedSetting(relation=setting.relation, unit=setting.unit, observer=setting.observer)
        self._budget = budget
        self._run: Counter[Spec] = Counter()
        self._accepted: set[Spec] = set()
        self._private = True
        self._curve: PrivacyCurve | None = None
        outside = OUTSIDE_RECORDS if self._setting["unit"] == "record" else OUTSIDE_CLIENTS
        self._evidence = Evidence((EVENT,), outside=outside, budget=budget)

    def _open_observations(self) -> tuple[Observation, ...]:
        """Observations that the budget was informed of by others."""
        return () if self._evidence.observations else tuple(getattr(self._budget, "observations", ()))

    def _enclose_epsilon(self, delta: float) -> Interval:
        if not 0.0 < delta < 1.0:
            raise InvalidInput.at("/delta", "is out of range", allowed="> 0 and < 1")
        return super()._enclose_epsilon(delta) if self._private else Interval(math.inf, math.inf)

    @property
    def relation(self) -> Relation:
        """The relation, by our name."""
        return self._setting["relation"]

    @property
    def spec(self) -> Spec | None:
        """Everything composed so far; None while nothing is released.

        Raises:
            NotPrivate: something of it has no noise.
        """
        if not self._private:
            raise NotPrivate.at("", "is not private: no ε is finite")
        return run_of(self._run.items())

    def compose(self, event: dp_accounting.DpEvent, count: int = 1) -> Self:
        """Count an event so many times; where there is a budget, it is committed first.

        Raises:
            UnsupportedEventError: no spec says it, or it has no guarantee in this relation.
            LedgerExhausted: the budget does not allow it; nothing is counted.
            NotPrivate: a budget pays for nothing without noise.
            RunDiffers: the budget was informed of an observation that contradicts the run.
        """
        self.require_consistent()
        if self._budget is not None and self.supports(event):
            parts = self._counted(event, count)
            if len(parts) > 1 and (refused := self._refused(parts)):
                self._budget.pay(*refused)  # it tells why, before anything else is paid for
            for part, times in parts.items():
                self._budget.pay(part, times)
        super().compose(event, count)
        return self

    def would_exceed(self, event: dp_accounting.DpEvent, count: int = 1) -> bool:
        """Whether the budget would refuse so many more of an event; never, without one.

        Raises:
            InvalidInput: no spec says it, or it has no noise.
        """
        return self._refused(self._counted(event, count)) is not None

    def _counted(self, event: dp_accounting.DpEvent, count: int) -> Counter[Spec]:
        counted: Counter[Spec] = Counter()
        for part, times in parts_of(event, relation=self.relation):
            counted[part] += times * count
        return counted

    def _refused(self, parts: Counter[Spec]) -> tuple[Spec, int] | None:
        """A part that the budget would refuse, if there is one."""
        if self._budget is None:
            return None
        return next((each for each in parts.items() if self._budget.would_exceed(*each)), None)

    def _maybe_compose(
        self, event: dp_accounting.DpEvent, count: int, do_compose: bool
    ) -> dp_accounting.PrivacyAccountant.CompositionErrorDetails | None:
        if not do_compose:
            return next((refused for each in _leaves(event) if (refused := self._refusal(each))), None)
        steps = count
        try:
            parts = self._counted(event, count)
        except NotPrivate:
            self._private = self._private and count == 0
        else:
            self._run += parts
            steps = sum(parts.values())
        if steps:
            self._evidence.count_step(count=steps)
            self._evidence.rest_on_caller(EVENT, _REASON, count=steps)
        self._curve = None
        return None

    def _refusal(self, event: dp_accounting.DpEvent) -> dp_accounting.PrivacyAccountant.CompositionErrorDetails | None:
        """Why an event has no account here; None where it has one."""
        try:
            for part, _ in parts_of(event, relation=self.relation):
                if part not in self._accepted:
                    account(part, **self._setting)
                    self._accepted.add(part)
        except NotPrivate:
            return None
        except (InvalidInput, NoCertificate) as error:
            found = _at(event, error.faults[0].pointer) if isinstance(error, InvalidInput) else event
            return _Refused(invalid_event=found, error_message=str(error))
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """The upper end of ε at a δ in [0, 1]; for δ = 0 what is proved of pure mechanisms, else infinite.

        Raises:
            ValueError: δ is outside [0, 1].
            NoCertificate: the work exceeds the fixed budget.
            RunDiffers: an observation contradicts the events.
        """
        self.require_consistent()
        if not 0.0 <= target_delta <= 1.0:
            raise ValueError(f"target_delta must be in [0, 1]. Found {target_delta}.")
        if target_delta == 1.0 or (self._private and not +self._run):
            return 0.0
        if not self._private:
            return math.inf
        if target_delta == 0.0:
            return self._pure_epsilon()
        return float(self._enclose_epsilon(target_delta).upper)

    def get_delta(self, target_epsilon: float) -> float:
        """The upper end of δ at an ε ≥ 0.

        Raises:
            ValueError: ε is negative.
            NoCertificate: the work exceeds the fixed budget.
            RunDiffers: an observation contradicts the events.
        """
        self.require_consistent()
        if not target_epsilon >= 0.0:
            raise ValueError(f"target_epsilon must be at least 0. Found {target_epsilon}.")
        if not self._private:
            return 1.0
        curve = None if math.isinf(target_epsilon) else self._find_curve()
        return 0.0 if curve is None else float(curve.delta(epsilon=target_epsilon).upper)

    def _find_curve(self) -> PrivacyCurve | None:
        if self._curve is None:
            self._curve = find_curve(self._run.items(), self._setting)
        return self._curve

    def _pure_epsilon(self) -> float:
        """The sum of what each part loses at δ = 0, rounded up."""
        total = 0.0
        for part, times in self._run.items():
            one = account(part, **self._setting).guarantee.curve.natural.epsilon(-math.inf).upper
            total = math.nextafter(total + math.nextafter(one * times, math.inf), math.inf)
        return total


def _leaves(event: dp_accounting.DpEvent) -> Iterator[dp_accounting.DpEvent]:
    """The events that a composition is made of, so that a refusal names the one that is refused."""
    inside = getattr(event, _COMPOSITIONS.get(name_of(event), ""), None)
    if inside is None:
        yield event
    elif isinstance(inside, list | tuple):
        for each in inside:
            yield from _leaves(each)
    else:
        yield from _leaves(inside)


def _at(event: dp_accounting.DpEvent, pointer: str) -> dp_accounting.DpEvent:
    """The innermost event on the way of a pointer."""
    found = event
    for name in pointer.split("/")[1:]:
        found = found[int(name)] if name.isdigit() else getattr(found, name, None)
        if isinstance(found, dp_accounting.DpEvent):
            event = found
        elif not isinstance(found, list | tuple):
            break
    return event
