"""Search for the smallest noise or step size that meets a target; batch sizes are in `batch_search`.

δ is not monotone in the step size: it decreases while the contraction of the domain, a ball, dominates, and increases
where steps leave the ball. The whole range is therefore searched, not only a bracket.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, Infeasible
from epsilond.accountants.estimates.noise import central_mu
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.projected_sgd.accounts import Accounts
from epsilond.calibrators.projected_sgd.batch_search import BatchRanges, feasible_batches
from epsilond.calibrators.search import LEAST, SLACKS, Certified, smallest_noise
from epsilond.calibrators.targets.failures import LOG_10, nearest_of

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules

STEP_RANGE, STEPS_PER_DECADE = 1e9, 2
"""Range of the grid of step sizes, as a factor up and down from its centre, and its number of points per decade."""
LEAST_MU = 1e-9
"""Smallest Gaussian parameter in the initial estimate of the noise, to avoid a division by 0."""
STEP_WIDTH = 1e-9
"""Relative width of the bracket at which the bisection of a step size ends."""
TURN_MARGIN = 1e-12
"""Relative distance of a step size below a limit such as 2/β, so that the step meets the limit in spite of rounding."""
MOST_SCHEDULED, MOST_SCHEDULED_NOISES = 10**6, 2 * 10**5
"""Largest numbers of steps of changing size in a search; the second applies if the noise changes or the stop is random.
"""


def reject_long_searches(problem: ProjectedSgdProblem) -> None:
    """Reject a search that would evaluate runs with too many steps of changing size or noise.

    Runs with constant schedules are quick to evaluate, so that searches among them are never rejected.

    Args:
        problem: the request, with the clients, the schedules and the name of the unknown.

    Raises:
        BeyondBudget: the run has more steps than the limit.
    """
    plan = problem.plan()
    if problem.solve_for == "participants" or plan.is_constant:
        return
    steps = problem.clients // plan.participants
    # Constant noise and a released last model allow more steps.
    is_quick = problem.release == "last" and plan.noise_schedule.constant is not None
    most = MOST_SCHEDULED if is_quick else MOST_SCHEDULED_NOISES
    if steps > most:
        raise BeyondBudget(f"{steps} steps of changing size or noise are more than the {most} that are solved for")


def solve_unknown(
    problem: ProjectedSgdProblem, accounts: Accounts
) -> tuple[Certified, RunSchedules, BatchRanges | None]:
    """Solve for the number that the request leaves open: the noise, the step size or the batch size.

    Args:
        problem: the request, which names the unknown in `solve_for`.
        accounts: cache of the privacy guarantees of the request's runs.

    Returns:
        The certificate, whose field `noise` has the value of any unknown; the run with this value; and the batch sizes
        that meet the target, which are None unless the batch size is the unknown.

    Raises:
        Infeasible: no value of the unknown meets the target.
    """
    # The search for the noise is in units of the Lipschitz constant.
    if problem.solve_for == "noise_std":
        certified = _smallest_noise(problem, accounts)
        noise_std = certified.noise * problem.lipschitz
        return certified, problem.plan(noise_std=noise_std), None
    if problem.solve_for == "step_size":
        certified = StepSearch(problem, accounts).smallest()
        step_size = certified.noise
        return certified, problem.plan(step_size=step_size), None
    batches = feasible_batches(problem, accounts)
    certified = batches.certified
    batch_size = certified.noise
    return certified, problem.plan(participants=batch_size), batches


def _smallest_noise(problem: ProjectedSgdProblem, accounts: Accounts) -> Certified:
    """Find the smallest certified noise, in units of the Lipschitz constant.

    Several theorems bound δ, and the guarantee for all ε evaluates each of them. To save time, the search uses only the
    bound that is least at the target ε. The guarantee for all ε may be slightly worse there. If it misses the target,
    the search is repeated with it.

    Args:
        problem: the request, with the Lipschitz constant and the privacy target.
        accounts: the guarantees of its runs.

    Returns:
        The noise, with its guarantee for all ε.

    Raises:
        Infeasible: even the largest noise of the search misses the target.
    """
    target = problem.target

    def guarantee_at_noise(noise: float, effort: Effort = "default") -> Guarantee:
        """Return the guarantee of the run at a noise, in multiples of the Lipschitz constant, for all ε."""
        return accounts.guarantee_at(effort=effort, noise_std=noise * problem.lipschitz)

    @functools.cache
    def guarantee_at_target(noise: float, effort: Effort) -> Guarantee:
        """Return the guarantee of the run at a noise by the single bound that is least at the target ε."""
        plan = problem.plan(noise_std=noise * problem.lipschitz)
        return accounts.of(plan, effort, only_at=target.epsilon).guarantee

    smallest = smallest_noise(guarantee_at_target, target, guess=_estimate_noise(problem))
    guarantee = guarantee_at_noise(smallest.noise)
    if guarantee.curve.upper_log_delta(target.epsilon) <= target.log_delta:
        return replace(smallest, guarantee=guarantee)
    return smallest_noise(guarantee_at_noise, target, guess=smallest.noise)


def _estimate_noise(problem: ProjectedSgdProblem) -> float:
    """Estimate the noise, in units of the Lipschitz constant, as the start of the search.

    The estimate is Δ/(μ√m), which suffices for one use of a record in a mean over a batch of m clients. Δ is the
    sensitivity factor of the relation, and μ the parameter of a Gaussian mechanism with the target (ε, δ).

    Args:
        problem: the request, with the target, the relation and the batch size m.

    Returns:
        The estimate, at least `LEAST`.
    """
    mu = max(central_mu(problem.target), LEAST_MU)
    batch_size = problem.participants or 1
    noise = sensitivity_factor(problem.relation) / (mu * math.sqrt(batch_size))
    return max(noise, LEAST)


# The step size ------------------------------------------------------------------------------------------------------
class StepSearch:
    """Search for the smallest step size that meets the target at a given noise.

    δ depends on the step size, because steps of projected SGD contract distances between models, but it is not monotone
    in it. So the search tries a grid of step sizes from below, and then bisects below the first that meets the target.
    If the step size changes during a run, the unknown is its largest value.
    """

    def __init__(self, problem: ProjectedSgdProblem, accounts: Accounts) -> None:
        self._problem = problem
        self._target = problem.target
        self._guarantee = functools.cache(lambda step: accounts.guarantee_at(step_size=step))

    def smallest(self) -> Certified:
        """Return the smallest step size that meets the target.

        Returns:
            The step size, in the field `noise`, with its guarantee. If its `slack` is not None, the step size reduced
            by this relative amount is proved to miss the target.

        Raises:
            Infeasible: no step size on the grid meets the target.

        Guarantees:
            The guarantee of the returned step size was evaluated and meets the target.
        """
        steps = _offered_steps(self._problem)
        first_passing = next((index for index, step in enumerate(steps) if self._meets(step)), None)
        if first_passing is None:
            raise self._infeasible(steps)
        if first_passing == 0:
            least_step = steps[0]
            return Certified(least_step, self._guarantee(least_step), None)

        step = self._bisect(failing=steps[first_passing - 1], passing=steps[first_passing])
        proved_slacks = (slack for slack in SLACKS if self._provably_misses(step * (1.0 - slack)))
        return Certified(step, self._guarantee(step), next(proved_slacks, None))

    def _log_delta(self, step: float) -> float:
        """Return the certified upper bound on log δ at the target ε."""
        return self._guarantee(step).curve.upper_log_delta(self._target.epsilon)

    def _meets(self, step: float) -> bool:
        """Return whether the upper bound on δ of a run with this step size is at most the target's δ."""
        return self._log_delta(step) <= self._target.log_delta

    def _provably_misses(self, step: float) -> bool:
        """Return whether even the lower numerical bound on the certified δ at this step size exceeds the target."""
        return self._guarantee(step).curve.bound_log_delta(self._target.epsilon).lower > self._target.log_delta

    def _bisect(self, failing: float, passing: float) -> float:
        """Return a step size that meets the target, just above one that misses it.

        Bisection on a logarithmic scale ends when the two differ by at most a relative `STEP_WIDTH`.

        Args:
            failing: step size that misses the target, above 0.
            passing: larger step size that meets the target.

        Returns:
            The smallest evaluated step size that meets the target.
        """
        while passing / failing - 1.0 > STEP_WIDTH:
            middle = math.sqrt(failing * passing)
            if self._meets(middle):
                passing = middle
            else:
                failing = middle
        return passing

    def _infeasible(self, steps: list[float]) -> Infeasible:
        """Return the error that no step size on the grid meets the target, with the smallest δ on the grid.

        Args:
            steps: the step sizes of the grid, all of which miss the target.

        Returns:
            The error, with the smallest log₁₀ δ and the guarantee at the same step size.
        """
        best = min(steps, key=self._log_delta)
        log10_delta = self._log_delta(best) / LOG_10
        statement = "log10 δ is at most the target"
        failed = ConditionResult("target", statement, Verdict.NO, log10_delta, self._target.log10_delta)
        nearest = nearest_of(self._guarantee(best), self._target)
        return Infeasible("no step size that is offered meets the target", failed, nearest)


def _offered_steps(problem: ProjectedSgdProblem) -> list[float]:
    """Return the step sizes to try: a logarithmic grid, and step sizes at which δ may begin to increase.

    The grid is centred at ρ/L, at which a step along the largest gradient moves by the radius. δ may begin to increase
    at 2/β and 2/(β + λ), where the formula of a gradient step's Lipschitz constant changes.

    Args:
        problem: the request, with the constants L, β, λ of the loss and the radius ρ of the domain.

    Returns:
        The step sizes in ascending order.
    """
    unit = problem.radius / problem.lipschitz
    steps = set(_log_grid(unit / STEP_RANGE, unit * STEP_RANGE, STEPS_PER_DECADE))
    if problem.smoothness is not None:
        turns = (2.0 / problem.smoothness, 2.0 / (problem.smoothness + problem.strong_convexity))
        steps |= {turn * (1.0 - TURN_MARGIN) for turn in turns}
    return sorted(steps)


def _log_grid(low: float, high: float, per_decade: int) -> tuple[float, ...]:
    """Return numbers that are evenly spaced by logarithm.

    Args:
        low: the first number, above 0.
        high: the last number.
        per_decade: number of intervals for a factor of 10; the total number is rounded to the nearest integer.

    Returns:
        The numbers in ascending order, with `low` and `high`.
    """
    ratio = high / low
    count = max(1, round(per_decade * math.log10(ratio)))
    return tuple(low * ratio ** (index / count) for index in range(count + 1))
