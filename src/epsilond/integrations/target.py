"""A budget of one run, (ε, δ) or a risk, with the interface of `LedgerBudget`, for data without a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.targets import meets, upper_figure
from epsilond.accountants.errors import LedgerExhausted, Observation, RunDiffers
from epsilond.accountants.guarantee import PrivacyCurve, require_setting
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, require_unit
from epsilond.accountants.quantities.risks import TargetFields
from epsilond.accountants.specs import Spec
from epsilond.integrations.setting import StatedSetting, find_curve

if TYPE_CHECKING:
    from epsilond.ledgers.log.receipts import Receipt


class TargetBudget:
    """Steps of one run, paid for as long as a certified figure is at most a target. The budget is not stored.

    The target is ε at δ, or one risk of an attacker: an advantage, a true positive rate at a false positive rate, μ of
    Gaussian or ρ of zero-concentrated differential privacy.

    Guarantees: the steps that were paid for meet the target together, if no step was chosen by the results of other
    steps.

    Attributes:
        target: the target.
        delta: δ of the target, or 0 if it is too small for a double; with a risk, the δ at which statements give ε.
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
        >>> setting = {"relation": "add-or-remove-one", "unit": "client", "observer": "released-models"}
        >>> TargetBudget(advantage=0.1, **setting).reserve(step, 100)
        6
    """

    @require_setting
    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        log10_delta: float | None = None,
        advantage: float | None = None,
        true_positive_rate: float | None = None,
        false_positive_rate: float | None = None,
        gaussian_dp_mu: float | None = None,
        rho: float | None = None,
        relation: Relation,
        unit: ProtectedUnit,
        observer: Observer,
    ) -> None:
        """Set a privacy target for a run, and the neighbouring relation, unit and observer of its account.

        Args:
            epsilon: ε [nat] of all steps together, at least 0; give it with a δ, or give one risk.
            delta: δ of all steps together, in (0, 1). With a risk, the δ at which statements give ε, by default 1e-5.
            log10_delta: decimal logarithm of δ, instead of `delta`.
            advantage: largest advantage of an attacker, true minus false positive rate, in (0, 1).
            true_positive_rate: largest true positive rate of an attacker at `false_positive_rate`.
            false_positive_rate: false positive rate of `true_positive_rate`, below it.
            gaussian_dp_mu: μ of Gaussian differential privacy, positive.
            rho: ρ of zero-concentrated differential privacy, positive.
            relation: neighbouring relation of the account.
            unit: the protected unit, such as a record or a client.
            observer: the adversary, that is, the party from which the data is protected.

        Raises:
            InvalidInput: no target is given, or several, or a number is out of its range.
        """
        self.target = TargetFields(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
        ).target

        self.delta = self.target.delta or 0.0
        self.relation = relation
        self.unit = require_unit(unit)
        self.observer = observer
        self.taken = 0
        self.receipts: list[Receipt] = []
        self.observations: tuple[Observation, ...] = ()
        self._paid: Counter[Spec] = Counter()

    def reserve(self, step: Spec, count: int) -> int:
        """Return how many more runs of a step are certified to stay within the target, at most `count`.

        The number is found by bisection. Nothing is reserved.

        Args:
            step: mechanism of one run.
            count: largest number that is of interest.

        Returns:
            A number from 0 to `count`.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
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
        """Count runs of a step, which may then start, or raise an error if they would exceed the target.

        Args:
            step: mechanism of one run.
            count: number of runs.

        Raises:
            LedgerExhausted: the run would not be certified to stay within the target.
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._require_consistent()
        if self.would_exceed(step, count):
            raise LedgerExhausted(f"the certified {self._describe_target()}")
        self._paid[step] += count
        self.taken += count

    def would_exceed(self, step: Spec, count: int = 1) -> bool:
        """Return whether `count` more runs of a step are not certified to stay within the target.

        It is also True once the run was observed to differ from its recorded steps. Nothing changes.

        Args:
            step: mechanism of the further runs.
            count: number of further runs, at least 1.

        Returns:
            True if the target would not be certified after these runs.
        """
        if self.observations:
            return True
        curve = self._find_curve({**self._paid, step: self._paid[step] + count})
        if curve is None:
            return False
        if self.target.risk is None:
            return self._epsilon(curve) > self.target.epsilon
        return not meets(curve.natural, self.target)

    def spent(self) -> float:
        """Return a certified upper bound on the privacy loss so far, in the quantity that the target limits.

        It is ε [nat] at δ, or the risk that is the target. Before the first step it is 0, or the false positive rate.

        Returns:
            The bound, in the unit of the target.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._require_consistent()
        risk = self.target.risk
        curve = self._find_curve(self._paid)
        if risk is None:
            return 0.0 if curve is None else self._epsilon(curve)
        if curve is None:
            return risk.false_positive_rate
        return upper_figure(curve.natural, risk)

    def contradict(self, observations: Sequence[Observation]) -> None:
        """Reject all further payments, because observations contradict the record of the run.

        Args:
            observations: at least one observation; each later `RunDiffers` of this budget lists them.
        """
        self.observations = (*self.observations, *observations)

    def close(self) -> None:
        """Do nothing: this budget holds no reservation. The method is part of the interface of budgets."""

    @property
    def epsilon(self) -> float | None:
        """ε of the target, in nats; None if the target is a risk."""
        return self.target.epsilon if self.target.risk is None else None

    def _require_consistent(self) -> None:
        """Reject a run that an observation contradicts."""
        if self.observations:
            raise RunDiffers.of(self.observations)

    def _describe_target(self) -> str:
        """Return the end of an error message: the quantity that would exceed its limit, and this limit."""
        risk = self.target.risk
        if risk is None:
            return f"ε would pass {self.target.epsilon:g} at log10 δ = {self.target.log10_delta:g}"
        rate = ""
        if risk.false_positive_rate:
            rate = f" at a false positive rate of {risk.false_positive_rate:g}"
        return f"{risk.kind} would pass {risk.bound:g}{rate}"

    def _epsilon(self, curve: PrivacyCurve) -> float:
        """Return the certified upper bound on ε [nat] of a curve at the target's δ.

        Args:
            curve: privacy curve δ(ε) of the steps.
        """
        if self.target.given_delta is not None:
            return curve.epsilon(delta=self.target.given_delta).upper
        return curve.epsilon(log10_delta=self.target.log10_delta).upper

    def _find_curve(self, paid: Mapping[Spec, int]) -> PrivacyCurve | None:
        """Return the certified privacy curve of all runs together; None if there are none.

        Args:
            paid: number of runs of each step.
        """
        setting = StatedSetting(relation=self.relation, unit=self.unit, observer=self.observer)
        return find_curve(paid.items(), setting)
