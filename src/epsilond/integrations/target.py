"""An (ε, δ) budget of one run, with the interface of `LedgerBudget`, for data without a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput, LedgerExhausted, Observation, RunDiffers
from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, require_unit
from epsilond.accountants.specs import Spec
from epsilond.integrations.setting import StatedSetting, find_curve

if TYPE_CHECKING:
    from epsilond.ledgers.log.receipts import Receipt


class TargetBudget:
    """Steps of one run, paid for as long as their certified ε at δ is at most a target. The budget is not stored.

    Guarantees: the steps that were paid for are (`epsilon`, `delta`)-private together, if no step was chosen by the
    results of other steps.

    Attributes:
        taken: number of steps that were paid for.
        receipts: always empty; a ledger's budget has receipts.
        observations: observations that contradict the record of the run; empty if there are none.

    Example:
        >>> import epsilond
        >>> from epsilond.integrations.target import TargetBudget
        >>> step = epsilond.Gaussian(noise_multiplier=10.0)
        >>> budget = TargetBudget(
        ...     epsilon=1.0, delta=1e-5, relation="add-or-remove-one", unit="client", observer="released-models"
        ... )
        >>> budget.reserve(step, 100)
        7
        >>> budget.pay(step, 7)
        >>> budget.would_exceed(step), f"{budget.spent():.4f}"
        (True, '0.9858')
    """

    @require_setting
    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        relation: Relation,
        unit: ProtectedUnit,
        observer: Observer,
    ) -> None:
        """Set the target, and the setting that every step is accounted for.

        Args:
            epsilon: ε [nat] of all steps together, positive.
            delta: δ of all steps together, in (0, 1).
            relation: neighbouring relation.
            unit: the protected unit.
            observer: the adversary.

        Raises:
            InvalidInput: ε is not positive, or δ is outside (0, 1).
        """
        if not epsilon > 0.0:
            raise InvalidInput.at("/epsilon", "must be positive")
        if not 0.0 < delta < 1.0:
            raise InvalidInput.at("/delta", "is out of range", allowed="> 0 and < 1")
        self.epsilon = epsilon
        self.delta = delta
        self.relation = relation
        self.unit = require_unit(unit)
        self.observer = observer
        self.taken = 0
        self.receipts: list[Receipt] = []
        self.observations: tuple[Observation, ...] = ()
        self._paid: Counter[Spec] = Counter()

    def reserve(self, step: Spec, count: int) -> int:
        """Return the largest number of runs of a step that the target has room for, by bisection. Nothing is reserved.

        Args:
            step: mechanism of one run.
            count: largest number that is of interest.

        Returns:
            A number from 0 to `count`.

        Raises:
            RunDiffers: an observation contradicts the record of the run.
        """
        self._require_consistent()
        lower = 0
        upper = max(count, 0)
        while lower < upper:
            middle = (lower + upper + 1) // 2
            if self.would_exceed(step, middle):
                upper = middle - 1
            else:
                lower = middle
        return lower

    def pay(self, step: Spec, count: int = 1) -> None:
        """Count runs of a step. The runs may start when this method returns.

        Args:
            step: mechanism of one run.
            count: number of runs.

        Raises:
            LedgerExhausted: the certified ε would pass the target.
            RunDiffers: an observation contradicts the record of the run.
        """
        self._require_consistent()
        if self.would_exceed(step, count):
            raise LedgerExhausted(f"the certified ε would pass {self.epsilon:g} at δ = {self.delta:g}")
        self._paid[step] += count
        self.taken += count

    def would_exceed(self, step: Spec, count: int = 1) -> bool:
        """Return whether the certified ε with `count` more runs of a step is above the target.

        It is true as well once observations contradict the run. Nothing changes.
        """
        if self.observations:
            return True
        return self._epsilon({**self._paid, step: self._paid[step] + count}) > self.epsilon

    def spent(self) -> float:
        """Return the certified upper bound on ε [nat] at δ of the steps that were paid for; 0 before the first.

        Raises:
            RunDiffers: an observation contradicts the record of the run.
        """
        self._require_consistent()
        return self._epsilon(self._paid)

    def contradict(self, observations: Sequence[Observation]) -> None:
        """Reject all further payments, because observations contradict the record of the run.

        Args:
            observations: at least one observation; each later `RunDiffers` of this budget lists them.
        """
        self.observations = (*self.observations, *observations)

    def close(self) -> None:
        """Do nothing: this budget holds no reservation. The method is part of the interface of budgets."""

    def _require_consistent(self) -> None:
        """Reject a run that an observation contradicts."""
        if self.observations:
            raise RunDiffers.of(self.observations)

    def _epsilon(self, paid: Mapping[Spec, int]) -> float:
        """Return the certified upper bound on ε [nat] at δ of steps, each with its number of runs; 0 without any."""
        setting = StatedSetting(relation=self.relation, unit=self.unit, observer=self.observer)
        curve = find_curve(paid.items(), setting)
        return 0.0 if curve is None else curve.epsilon(delta=self.delta).upper
