"""Accounts of the runs of a request, each computed once."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.account import Account, account
from epsilond.calibrators.envelope import true_figures

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules


class Accounts:
    """A cache of the privacy guarantees of runs, because a search evaluates some slow ones several times.

    A guarantee is δ as a certified function of ε.

    Attributes:
        problem: the request, with the neighbouring relation, the protected unit and the adversary of all guarantees.
    """

    def __init__(self, problem: ProjectedSgdProblem) -> None:
        """Start with an empty cache.

        Args:
            problem: the request.
        """
        self.problem = problem
        self._cached_account = functools.cache(self._account)

    def of(
        self, plan: RunSchedules, effort: Effort = "default", only_at: float | None = None, **changes: object
    ) -> Account:
        """Return the guarantee of a run in the setting of the request, from the cache if it is there.

        Args:
            plan: the batch size and the schedules of step sizes and noise.
            effort: limit on the work of compositions.
            only_at: the only ε at which the guarantee is needed, which takes less time; None for all ε.
            changes: fields of the run's spec that are replaced.

        Returns:
            The guarantee, and the theorems that were tried for it.
        """
        return self._cached_account(plan, effort, only_at, **changes)

    def _account(self, plan: RunSchedules, effort: Effort, only_at: float | None, **changes: Any) -> Account:
        """Compute the guarantee of a run in the setting of the request, that is, for its relation, unit and observer.

        Args:
            plan: the batch size and the schedules of the run.
            effort: limit on the work of compositions.
            only_at: the only ε at which the guarantee is needed; None for all ε.
            changes: fields of the run's spec that are replaced.

        Returns:
            The guarantee, and the theorems that were tried for it. Unlike that of `of`, it is not stored.
        """
        problem = self.problem
        spec = replace(problem.spec(plan), **changes)
        return account(
            spec,
            relation=problem.relation,
            unit=problem.unit,
            observer=problem.observer,
            effort=effort,
            only_at=only_at,
        )

    def guarantee_at(self, *, effort: Effort = "default", **numbers: float) -> Guarantee:
        """Return the guarantee of the request's run at a trial value of the unknown.

        Args:
            effort: limit on the work of compositions.
            numbers: the trial value by the name of the unknown: `noise_std`, `step_size` or `participants`. The names
                `clients` and `lipschitz` replace values of the request.

        Returns:
            δ of the run as a certified function of ε.
        """
        replaced_names = [name for name in ("clients", "lipschitz") if name in numbers]
        changes = {name: numbers.pop(name) for name in replaced_names}
        return self.of(self.problem.plan(**numbers), effort, **changes).guarantee

    def truth(self, plan: RunSchedules) -> TrueFigures:
        """Certify the ε and δ of a run under the neighbouring relation replace-one, which the paper assumes.

        Args:
            plan: the batch size and the schedules of step sizes and noise.

        Returns:
            The certified ε at the target's δ and δ at the target's ε, for comparison with those that the paper prints.
        """
        spec = self.problem.spec(plan)
        guarantee = account(spec, relation="replace-one", observer="final-model").guarantee
        return true_figures(guarantee, self.problem.target)
