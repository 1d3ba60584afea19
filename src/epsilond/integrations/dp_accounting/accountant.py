"""A `PrivacyAccountant` of dp-accounting with certified upper bounds on ε and δ."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import dp_accounting

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput, NoCertificate, Observation
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, SettingFields, base_unit
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.dp_accounting.events import parts_of
from epsilond.integrations.dp_accounting.placed import NotCovered, NotPrivate
from epsilond.integrations.dp_accounting.rejections import RELATIONS, follow_pointer, leaves_of, relations_in_words
from epsilond.integrations.setting import StatedSetting, find_curve
from epsilond.integrations.stated import Stated
from epsilond.questions.account import account
from epsilond.reading import read
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import EVENT, OUTSIDE_CLIENTS, OUTSIDE_RECORDS

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget

_Rejection = dp_accounting.PrivacyAccountant.CompositionErrorDetails
_REASON = "the program composed this event, and no mechanism was observed"


class EpsilondAccountant(Stated, dp_accounting.PrivacyAccountant):
    """An accountant for every function of dp-accounting, jax_privacy and others that takes a `PrivacyAccountant`.

    A noise multiplier is σ over the bound C on one record's norm, as in `GaussianDpEvent`. The relation gives the
    sensitivity: C, or 2C for REPLACE_ONE. dp-accounting's PLDAccountant does the same. Its RdpAccountant takes the
    multiplier as σ over the sensitivity, so its ε for REPLACE_ONE belongs to twice the noise of the event.

    An event that no spec describes, or that has no guarantee in this relation, is rejected: `supports` is False, and
    `compose` raises UnsupportedEventError with the event and the reason. An event with a number that no run can have
    makes `compose` raise an InvalidInput, which is a ValueError with the allowed range. A NonPrivateDpEvent, and an
    event without noise, makes ε infinite and δ one.

    The accountant sees events and no mechanism, so the status of its ε is `declared`, never `certified`.
    Guarantees: `get_epsilon` and `get_delta` return upper bounds of enclosures, which include all errors of the
    computation. They are never below the true values.

    Example:
        >>> import dp_accounting
        >>> from epsilond.integrations.dp_accounting import EpsilondAccountant
        >>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
        >>> relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        >>> accountant = EpsilondAccountant(relation, unit="record", observer="released-models")
        >>> print(f"{accountant.compose(step, 1000).get_epsilon(1e-5):.4f}")
        1.8282
        >>> accountant.supports(dp_accounting.UnsupportedDpEvent())
        False
    """

    def __init__(
        self,
        neighboring_relation: dp_accounting.NeighboringRelation,
        *,
        unit: ProtectedUnit | None = None,
        observer: Observer | None = None,
        budget: LedgerBudget | None = None,
    ) -> None:
        """Make an accountant for one neighbouring relation.

        Args:
            neighboring_relation: a member of `dp_accounting.NeighboringRelation`.
            unit: the protected unit; required without a budget.
            observer: the adversary, `released-models` for central DP-SGD; required without a budget.
            budget: budget in a ledger, with its unit and observer. `compose` pays from it, so `compose` must be called
                before the mechanism is run.

        Raises:
            InvalidInput: the unit or the observer is missing, or the budget is for another relation.
        """
        super().__init__(neighboring_relation)
        relation = RELATIONS[neighboring_relation]
        if budget is not None:
            if budget.relation != relation:
                raise InvalidInput.at("/neighboring_relation", f"is {relation}", allowed=budget.relation)
            unit, observer = budget.unit, budget.observer
        fields = {"relation": relation, "unit": unit, "observer": observer}
        setting = read(SettingFields, {name: value for name, value in fields.items() if value is not None})
        self._setting = StatedSetting(relation=setting.relation, unit=setting.unit, observer=setting.observer)
        self._budget = budget
        self._run: Counter[Spec] = Counter()
        self._accepted: set[Spec] = set()
        self._private = True
        self._curve: PrivacyCurve | None = None
        outside = OUTSIDE_RECORDS if base_unit(self._setting["unit"]) == "record" else OUTSIDE_CLIENTS
        self._evidence = Evidence((EVENT,), outside=outside, budget=budget)

    def _open_observations(self) -> tuple[Observation, ...]:
        """Return observations of differences from the recorded run that the budget has got from elsewhere."""
        if self._evidence.observations:
            return ()
        return tuple(getattr(self._budget, "observations", ()))

    def _enclose_epsilon(self, delta: float) -> Interval:
        """Return certified bounds on ε in nats at δ; both are ∞ if an event has no noise.

        Args:
            delta: δ, above 0 and below 1.

        Returns:
            The interval from a lower to an upper bound on the smallest ε at this δ.

        Raises:
            InvalidInput: δ is not between 0 and 1.
        """
        if not 0.0 < delta < 1.0:
            raise InvalidInput.at("/delta", "is out of range", allowed="> 0 and < 1")
        if not self._private:
            return Interval(math.inf, math.inf)
        return super()._enclose_epsilon(delta)

    @property
    def relation(self) -> Relation:
        """Neighbouring relation, by its name in epsilond."""
        return self._setting["relation"]

    @property
    def spec(self) -> Spec | None:
        """Mechanism that is the composition of all events so far; None before the first release.

        Raises:
            NotPrivate: an event has no noise.
        """
        if not self._private:
            raise NotPrivate.at("", "is not private: no ε is finite")
        return run_of(self._run.items())

    def compose(self, event: dp_accounting.DpEvent, count: int = 1) -> Self:
        """Add a privacy event to the account. If there is a budget, it pays for the event first.

        Args:
            event: an event of dp-accounting.
            count: number of times that the event is run.

        Returns:
            This accountant, so that calls can be chained.

        Raises:
            UnsupportedEventError: no spec describes the event, or it has no guarantee in this relation.
            InvalidInput: a number of the event is out of range. It is a ValueError that states the allowed range.
            LedgerExhausted: the budget does not allow it. The event is not counted.
            NotPrivate: there is a budget, and the event has no noise.
            RunDiffers: the run was observed to differ from the composed events.
        """
        self.require_consistent()
        self._require_valid_numbers(event)
        if self._budget is not None and self.supports(event):
            self._pay(self._budget, event, count)
        super().compose(event, count)
        return self

    def _require_valid_numbers(self, event: dp_accounting.DpEvent) -> None:
        """Reject an event with a number that no run can have, before anything is paid for or counted.

        Args:
            event: an event of dp-accounting. It is not rejected here if no theorem covers it or if it has no noise.

        Raises:
            InvalidInput: a number is out of range. The error states the field and the allowed range.
        """
        try:
            parts_of(event, relation=self.relation)
        except (NotCovered, NotPrivate):
            return

    def _pay(self, budget: LedgerBudget, event: dp_accounting.DpEvent, count: int) -> None:
        """Spend the budget of all mechanisms of an event before it is run.

        Nothing is paid for if a mechanism does not fit by itself. If only all together do not fit, some stay paid for.

        Args:
            budget: the budget that pays.
            event: the event that is about to be composed.
            count: number of runs of the event.

        Raises:
            LedgerExhausted: the budget rejects a mechanism.
        """
        parts = self._count_parts(event, count)
        if len(parts) > 1:
            rejected = self._find_rejected(parts)
            if rejected is not None:
                budget.pay(*rejected)  # raises the reason of the rejection
        for mechanism, runs in parts.items():
            budget.pay(mechanism, runs)

    def would_exceed(self, event: dp_accounting.DpEvent, count: int = 1) -> bool:
        """Return True if the budget would reject further runs of an event, and False without a budget.

        Args:
            event: the event of dp-accounting, which describes a mechanism.
            count: number of runs.

        Raises:
            InvalidInput: no spec describes the event, or it has no noise.
        """
        return self._find_rejected(self._count_parts(event, count)) is not None

    def _count_parts(self, event: dp_accounting.DpEvent, count: int) -> Counter[Spec]:
        """Count the runs of each mechanism in several runs of an event.

        Args:
            event: the event of dp-accounting, which may be composed of several mechanisms.
            count: number of runs of the event.
        """
        counts: Counter[Spec] = Counter()
        for mechanism, runs_per_event in parts_of(event, relation=self.relation):
            counts[mechanism] += runs_per_event * count
        return counts

    def _find_rejected(self, parts: Counter[Spec]) -> tuple[Spec, int] | None:
        """Find the first mechanism that the budget would reject, each one checked by itself.

        Args:
            parts: number of runs of each mechanism.

        Returns:
            The mechanism with its number of runs. None if the budget accepts all, or if there is no budget.
        """
        if self._budget is None:
            return None
        for mechanism, runs in parts.items():
            if self._budget.would_exceed(mechanism, runs):
                return mechanism, runs
        return None

    def _maybe_compose(
        self, event: dp_accounting.DpEvent, count: int, do_compose: bool
    ) -> dp_accounting.PrivacyAccountant.CompositionErrorDetails | None:
        """Add runs of an event to the account, or only check whether it can be added. dp-accounting calls this method.

        Args:
            event: the event. With `do_compose`, it was checked before.
            count: number of runs, at least 0.
            do_compose: whether to change the account.

        Returns:
            The reason why the event cannot be added; None if it can, and always with `do_compose`.
        """
        if do_compose:
            self._add(event, count)
            return None
        # Parts come first, so that the message names the smallest event at fault.
        for part in (*leaves_of(event), event):
            rejection = self._explain_rejection(part)
            if rejection is not None:
                return rejection
        return None

    def _add(self, event: dp_accounting.DpEvent, count: int) -> None:
        """Add `count` runs of an event to the account.

        An event without noise makes ε infinite from then on.

        Args:
            event: the event, which was checked before.
            count: number of runs, at least 0.
        """
        try:
            runs = self._count_parts(event, count)
        except NotPrivate:
            self._private = self._private and count == 0  # zero runs release nothing
            steps = count
        else:
            self._run += runs
            steps = sum(runs.values())
        if steps:
            self._evidence.count_step(count=steps)
            self._evidence.rest_on_caller(EVENT, _REASON, count=steps)
        self._curve = None

    def _explain_rejection(
        self, event: dp_accounting.DpEvent
    ) -> dp_accounting.PrivacyAccountant.CompositionErrorDetails | None:
        """Explain why no certified ε exists for an event of dp-accounting.

        Args:
            event: an event of dp-accounting.

        Returns:
            The part of the event that causes this, with a message. None if a certified ε exists, or if ε is infinite
            because something is released without noise.
        """
        try:
            self._require_guarantee(event)
        except NotPrivate:
            return None
        except InvalidInput as error:
            fault = error.faults[0]
            message = str(error) if fault.pointer else fault.message
            faulty_event = follow_pointer(event, fault.pointer)
            may_hold_in_other_relation = isinstance(error, NotCovered)
        except NoCertificate as error:
            message = str(error)
            faulty_event = event
            may_hold_in_other_relation = True
        else:
            return None
        if may_hold_in_other_relation:
            message = relations_in_words(faulty_event, self._setting) + message
        return _Rejection(invalid_event=faulty_event, error_message=message)

    def _require_guarantee(self, event: dp_accounting.DpEvent) -> None:
        """Check that each mechanism of an event has a certified guarantee, and store those that have one.

        Raises:
            NotPrivate: something is released without noise.
            InvalidInput: no theorem covers the event in this neighbouring relation, or a number is out of range.
            NoCertificate: no guarantee of a mechanism could be certified.
        """
        for mechanism, _ in parts_of(event, relation=self.relation):
            if mechanism not in self._accepted:
                account(mechanism, **self._setting)
                self._accepted.add(mechanism)

    def get_epsilon(self, target_delta: float) -> float:
        """Return the certified upper bound on ε in nats at δ.

        Args:
            target_delta: δ in [0, 1]. At δ = 0 the bound is finite only if every mechanism has a finite ε there. At
                δ = 1 it is 0. If an event has no noise, it is ∞ at every δ, as dp-accounting requires.

        Raises:
            ValueError: δ is outside [0, 1].
            NoCertificate: the computation would exceed its limit on the work.
            RunDiffers: the run was observed to differ from the composed events.
        """
        self.require_consistent()
        if not 0.0 <= target_delta <= 1.0:
            raise ValueError(f"target_delta must be in [0, 1]. Found {target_delta}.")
        if not self._private:
            return math.inf
        has_released = any(times > 0 for times in self._run.values())
        # Every mechanism is (0, 1)-private, and a run without releases is (0, 0)-private.
        if target_delta == 1.0 or not has_released:
            return 0.0
        if target_delta == 0.0:
            return self._pure_epsilon()
        return float(self._enclose_epsilon(target_delta).upper)

    def get_delta(self, target_epsilon: float) -> float:
        """Return the certified upper bound on δ at ε.

        Args:
            target_epsilon: ε in nats, at least 0.

        Raises:
            ValueError: ε is negative or NaN.
            NoCertificate: the computation would exceed its limit on the work.
            RunDiffers: the run was observed to differ from the composed events.
        """
        self.require_consistent()
        if not target_epsilon >= 0.0:
            raise ValueError(f"target_epsilon must be at least 0. Found {target_epsilon}.")
        if not self._private:
            return 1.0
        # At an infinite ε, every mechanism has δ = 0.
        if math.isinf(target_epsilon):
            return 0.0
        curve = self._find_curve()
        return 0.0 if curve is None else float(curve.delta(epsilon=target_epsilon).upper)

    def _find_curve(self) -> PrivacyCurve | None:
        """Return the privacy curve of all events, computed once after each change; None before the first release."""
        if self._curve is None:
            self._curve = find_curve(self._run.items(), self._setting)
        return self._curve

    def _pure_epsilon(self) -> float:
        """Return an upper bound on the ε in nats of the composition of all events at δ = 0; ∞ if none is known.

        It is the smaller of two upper bounds: that of the privacy curve of the composition, and the sum of the ε of all
        mechanisms (basic composition). The sum is computed exactly and rounded up.
        """
        log_zero_delta = -math.inf  # the logarithm of δ = 0
        bound_of_curve = math.inf
        curve = self._find_curve()
        if curve is not None:
            bound_of_curve = curve.natural.epsilon(log_zero_delta).upper
        exact_sum = Fraction(0)
        for mechanism, runs in self._run.items():
            curve_of_mechanism = account(mechanism, **self._setting).guarantee.curve
            bound_of_mechanism = curve_of_mechanism.natural.epsilon(log_zero_delta).upper
            if math.isinf(bound_of_mechanism):
                return bound_of_curve
            exact_sum += Fraction(bound_of_mechanism) * runs
        return min(bound_of_curve, round_up(exact_sum))
