"""The budget of one run, an (ε, δ), with the words of a ledger's: for a loop whose data has no ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput, LedgerExhausted, Observation, RunDiffers
from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.accountants.specs import Spec
from epsilond.integrations.setting import StatedSetting, find_curve

if TYPE_CHECKING:
    from epsilond.ledgers.log.receipts import Receipt


class TargetBudget:
    """Steps of one run, paid for as long as their certified ε at δ is at most a target. It ends with this object.

    Guarantees: the steps that were paid for lose at most `epsilon` at `delta`, each of them fixed beforehand or not
    chosen by what the others gave.

    Attributes:
        taken: how many steps were paid for.
        receipts: none; a ledger's budget has them.
        observations: what contradicts the record of the run; empty while nothing does.

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
        unit: Unit,
        observer: Observer,
    ) -> None:
        """Of this target, for the neighbours, unit and observer that every step is accounted for.

        Raises:
            InvalidInput: ε is not positive, or δ is outside (0, 1).
        """
        if not epsilon > 0.0:
            raise InvalidInput.at("/epsilon", "must be positive")
        if not 0.0 < delta < 1.0:
            raise InvalidInput.at("/delta", "is out of range", allowed="> 0 and < 1")
        self.epsilon, self.delta = epsilon, delta
        self.relation, self.unit, self.observer = relation, unit, observer
        self.taken = 0
        self.receipts: list[Receipt] = []
        self.observations: tuple[Observation, ...] = ()
        self._paid: Counter[Spec] = Counter()

    def reserve(self, step: Spec, count: int) -> int:
        """How many of so many runs of a step may be paid for; nothing is held, as nobody else pays from it.

        Raises:
            RunDiffers: an observation contradicts the record of the run.
        """
        self._require_consistent()
        least, most = 0, max(count, 0)
        while least < most:
            middle = (least + most + 1) // 2
            least, most = (least, middle - 1) if self.would_exceed(step, middle) else (middle, most)
        return least

    def pay(self, step: Spec, count: int = 1) -> None:
        """Count so many runs of a step; once it returns they may be taken.

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
        """Whether so many more runs would pass the target; changes nothing."""
        if self.observations:
            return True
        return self._epsilon({**self._paid, step: self._paid[step] + count}) > self.epsilon

    def spent(self) -> float:
        """Certified upper end of ε [nat] at δ of what was paid for; 0 before the first step.

        Raises:
            RunDiffers: an observation contradicts the record of the run.
        """
        self._require_consistent()
        return self._epsilon(self._paid)

    def contradict(self, observations: Sequence[Observation]) -> None:
        """Accept no further payment, because observations contradict the record of the run.

        Args:
            observations: at least one; they accompany every `RunDiffers` of this budget.
        """
        self.observations = (*self.observations, *observations)

    def close(self) -> None:
        """Nothing is held that would have to be given back."""

    def _require_consistent(self) -> None:
        if self.observations:
            raise RunDiffers.of(self.observations)

    def _epsilon(self, paid: Mapping[Spec, int]) -> float:
        setting = StatedSetting(relation=self.relation, unit=self.unit, observer=self.observer)
        curve = find_curve(paid.items(), setting)
        return 0.0 if curve is None else curve.epsilon(delta=self.delta).upper
