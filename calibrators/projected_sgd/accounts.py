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
    """A cache of the privacy guarantees of runs, all for the relation, unit and observer of one request.

    A guarantee is δ as a certified function of ε. The relation says which data sets are neighbours, the unit is
    protected, and the observer is the attacker. Computing a guarantee is slow, and a search asks for the same one
    several times.

    Attributes:
        problem: the request.
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
        """Return the guarantee of a run for the relation, unit and observer of the request, with the theorems tried.

        Args:
            plan: the batch size and the schedules of step sizes and noise.
            effort: the work that compositions may take.
            only_at: the only ε at which the guarantee is needed, which takes less time; None for all ε.
            changes: fields of the run's spec that are replaced.

        Returns:
            The guarantee with its attempts, from the cache if it is there.
        """
        return self._cached_account(plan, effort, only_at, **changes)

    def _account(self, plan: RunSchedules, effort: Effort, only_at: float | None, **changes: Any) -> Account:
        """Compute the privacy guarantee of a run, without a look at stored results.

        Args:
            plan: the batch size and the schedules of the run.
            effort: the work that compositions may take.
            only_at: the only ε at which the guarantee is needed; None for all ε.
            changes: fields of the run's specification that are replaced.

        Returns:
            The guarantee under the relation, unit and observer of the request, with the theorems that were tried.
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
        """Return the guarantee of the request's run at a trial value of the number that is solved for.

        Args:
            effort: the work that compositions may take.
            numbers: the unknown by name: `noise_std`, `step_size` or `participants`. The names `clients` and
                `lipschitz` replace the values of the request.

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
            The certified figures at the target of the request, for comparison with those that a paper prints.
        """
        spec = self.problem.spec(plan)
        guarantee = account(spec, relation="replace-one", observer="final-model").guarantee
        return true_figures(guarantee, self.problem.target)
