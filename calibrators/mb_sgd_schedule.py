"""The pace of an mb-sgd run and what it is worth: batch size, rounds, step size, averaging, and the excess risk.

Where the request leaves batch size or rounds open, runs within the gradient and communication budgets are ranked by
the explicit risk bound at an estimated noise, and the best few are ranked again at their certified noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from accountants.errors import InvalidInput
from accountants.theorems.lowy_excess_risk import Problem, excess_risk
from accountants.theorems.lowy_smooth import effective_samples
from accountants.theorems.lowy_step_size import EXCESS_RISK_BOUND, best_step_size, closed_step_size
from calibrators.answer import Risk, RiskBound, Served
from calibrators.mb_sgd_problem import MbSgdProblem, Run

if TYPE_CHECKING:
    from accountants.theorem import Condition

GRADIENTS_PER_RECORD = 1000
"""Default of max_gradients, times n."""
SHORTLIST = 3
GRID_RATIO = 1.3


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """The iterates w_1, …, w_R are averaged with weights growing by `ratio` from one to the next."""

    kind: Literal["uniform", "geometric"]
    ratio: Annotated[float, Served("weight of an iterate over that of the one before, 1 if uniform")]


@dataclass(frozen=True)
class Plan:
    """The step size that minimises the bound at the certified noise, and the bound."""

    step_size: float
    averaging: Averaging
    risk: Risk
    declared: tuple[Condition, ...]


def risk_problem(problem: MbSgdProblem, run: Run) -> Problem | None:
    """The problem as the risk bound sees it; None where that bound does not apply.

    It needs a smooth loss, and batches drawn without replacement. Gradient statistics are taken at their largest, as
    the request's heterogeneity is of the populations, which does not bound that of the data at hand.
    """
    if problem.smoothness is None or problem.sampling not in ("without-replacement", "full"):
        return None
    return Problem(
        clients=problem.clients,
        participants=problem.reporting,
        samples_per_client=problem.samples_per_client,
        batch_size=run.batch_size,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        smoothness=problem.smoothness,
        strong_convexity=problem.strong_convexity,
        initial_distance=problem.initial_distance or problem.diameter,
    )


def plan_of(problem: MbSgdProblem, run: Run, noise_std: float) -> Plan | None:
    """Step size, averaging and risk bound of a run at its certified noise; None where no bound applies."""
    seen = risk_problem(problem, run)
    if seen is None:
        return None
    step = best_step_size(seen, noise_std=noise_std, rounds=run.rounds)
    bound = excess_risk(seen, noise_std=noise_std, rounds=run.rounds, step_size=step)
    ratio = 1.0 / (1.0 - step * problem.strong_convexity) if step * problem.strong_convexity < 1.0 else math.inf
    upper = RiskBound(value=bound.total, constant="explicit", theorem=EXCESS_RISK_BOUND.id, terms=bound.terms)
    return Plan(
        step_size=step,
        averaging=Averaging(kind="geometric" if ratio > 1.0 else "uniform", ratio=ratio),
        risk=Risk(upper=upper),
        declared=EXCESS_RISK_BOUND.conditions,
    )


def likely_noise_multiplier(problem: MbSgdProblem, run: Run) -> float:
    """A guess at the noise multiplier, from the central limit of composition; it decides nothing but where to look.

    With μ the Gaussian parameter whose ε(δ) is about the target, q√(R(e^{(2/z)²} − 1)) ≈ μ.
    """
    target = problem.target
    spread = math.sqrt(-2.0 * target.log_delta)
    mu = math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - spread
    rate = min(run.batch_size / problem.samples_per_client, 1.0) if problem.unit == "record" else 1.0
    return 2.0 / math.sqrt(math.log1p((mu / rate) ** 2 / run.rounds))


def choose_run(problem: MbSgdProblem, certified_noise_std: Callable[[Run], float]) -> Run:
    """The run to calibrate: as the request says, the rest chosen.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    if problem.batch_size is not None and problem.rounds is not None:
        return Run(batch_size=problem.batch_size, rounds=problem.rounds)
    runs = list(candidate_runs(problem))
    if not runs:
        raise InvalidInput.at("/max_gradients", "does not pay for the rounds; its default is 1000 · samples_per_client")
    if risk_problem(problem, runs[0]) is None:
        return max(runs, key=lambda run: (run.batch_size, _prescribed(problem, run)))
    likely = sorted(runs, key=lambda run: _risk(problem, run, _likely_noise_std(problem, run), quick=True))
    return min(likely[:SHORTLIST], key=lambda run: _risk(problem, run, certified_noise_std(run), quick=False))


def most_rounds(problem: MbSgdProblem, batch_size: int) -> int:
    """Rounds that the gradient and communication budgets pay for."""
    gradients = problem.max_gradients or GRADIENTS_PER_RECORD * problem.samples_per_client
    affordable = gradients // batch_size
    if problem.communication_budget is not None:
        affordable = min(affordable, problem.communication_budget // problem.bits_per_round)
    return affordable


def candidate_runs(problem: MbSgdProblem) -> Iterator[Run]:
    """A geometric grid of batch sizes and rounds, ends included, within the budgets."""
    n = problem.samples_per_client
    full = problem.sampling == "full"
    sizes = (problem.batch_size,) if problem.batch_size else ((n,) if full else _grid(1, n, 2.0))
    for size in sizes:
        most = most_rounds(problem, size)
        if problem.rounds is not None:
            if problem.rounds <= most:
                yield Run(batch_size=size, rounds=problem.rounds)
        elif most >= 1:
            yield from (Run(batch_size=size, rounds=rounds) for rounds in _grid(1, most, GRID_RATIO))


def _grid(least: int, most: int, ratio: float) -> tuple[int, ...]:
    """Whole numbers from `most` downwards by `ratio`, to `least`."""
    values = [most]
    while values[-1] > least:
        values.append(max(least, min(values[-1] - 1, int(values[-1] / ratio))))
    return tuple(values)


def _prescribed(problem: MbSgdProblem, run: Run) -> float:
    """Without a risk bound: rounds as close as may be to M min{n, ε²n²/d}, which Theorem 2.2 prescribes (F-21)."""
    effective = effective_samples(
        samples_per_client=problem.samples_per_client, epsilon=problem.epsilon, dimension=problem.dimension
    )
    return -abs(math.log(run.rounds / max(1.0, problem.reporting * effective)))


def _likely_noise_std(problem: MbSgdProblem, run: Run) -> float:
    return likely_noise_multiplier(problem, run) * problem.lipschitz / run.batch_size


def _risk(problem: MbSgdProblem, run: Run, noise_std: float, *, quick: bool) -> float:
    seen = risk_problem(problem, run)
    if seen is None:
        return math.inf
    step = (closed_step_size if quick else best_step_size)(seen, noise_std=noise_std, rounds=run.rounds)
    return excess_risk(seen, noise_std=noise_std, rounds=run.rounds, step_size=step).total
