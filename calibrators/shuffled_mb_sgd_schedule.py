"""The pace of a shuffled-mb-sgd run, ranked at a noise that is likely: to certify one run takes seconds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from accountants.errors import InvalidInput
from calibrators.mb_sgd_problem import Run
from calibrators.mb_sgd_schedule import GRADIENTS_PER_RECORD, Plan, plan_of
from calibrators.shuffled_mb_sgd_problem import ShuffledMbSgdProblem

GRID_RATIO = 2.0
BISECTIONS = 60
USUAL_EXCESS = 0.8
"""What is certified, over what the normal laws below suggest: their e^ε(c) takes a reach that is seldom needed."""


def contribution_norm(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """Bound on the ℓ2 norm of one protected contribution to a report: L/K for a record, L for a client."""
    return problem.lipschitz / (run.batch_size if problem.unit == "record" else 1)


def likely_noise_multiplier(problem: ShuffledMbSgdProblem, run: Run) -> float:
    """A guess at the noise multiplier, from normal laws; it decides nothing but where to look.

    A report tells ε(c) = c²/2 + c√(2 ln(M/δ)) at c = 2/z, one record of it or all K; among M reports that leaves
    s = 2 tanh(ε(2/z)/2) e^{ε(2K/z)/2}/√M, or 2/z if that is less. With μ what the target allows, q√(R(e^{s²} − 1)) = μ.
    """
    target, m = problem.target, problem.reporting
    spread = math.sqrt(-2.0 * target.log_delta)
    allowed = math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - spread
    records = problem.unit == "record"
    share = run.batch_size / problem.samples_per_client if records else 1.0
    whole = float(run.batch_size) if records else 1.0
    drawn = m / problem.clients
    reach = math.sqrt(2.0 * (math.log(m) - target.log_delta))

    def told(shift: float) -> float:
        return 0.5 * shift * shift + shift * reach

    def lost(rate: float, rounds: float, left: float) -> float:
        return rate * math.sqrt(rounds * math.expm1(min(left * left, 700.0)))

    def total(noise: float) -> float:
        crowd = math.exp(min(0.5 * told(2.0 * whole / noise), 300.0)) / math.sqrt(m)
        hidden = 2.0 * math.tanh(0.5 * told(2.0 * whole / noise)) * crowd
        own = 2.0 * math.tanh(0.5 * told(2.0 / noise)) * crowd
        thinned = lost(share, run.rounds * drawn, min(own, 2.0 / noise))
        return min(thinned, lost(share * drawn, run.rounds, min(hidden, 2.0 * whole / noise)))

    low, high = math.log(1e-2), math.log(1e12)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(math.exp(middle)) > allowed else (low, middle)
    return USUAL_EXCESS * math.exp(high)


def pace_of(problem: ShuffledMbSgdProblem, run: Run, noise_std: float) -> Plan | None:
    """Step size, averaging and the explicit risk bound at a noise: those of the same run without a shuffler."""
    return plan_of(problem.unshuffled(run), run, lambda _: noise_std)


def choose_run(problem: ShuffledMbSgdProblem) -> Run:
    """The run to calibrate: as the request says, the rest by the smallest bound at the likely noise.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    if problem.batch_size is not None and problem.rounds is not None:
        return Run(batch_size=problem.batch_size, rounds=problem.rounds)
    runs = list(_candidates(problem))
    if not runs:
        raise InvalidInput.at("/max_gradients", "does not pay for the rounds; its default is 1000 · samples_per_client")
    return min(runs, key=partial(_likely_risk, problem))


def _likely_risk(problem: ShuffledMbSgdProblem, run: Run) -> float:
    noise_std = likely_noise_multiplier(problem, run) * contribution_norm(problem, run)
    plan = pace_of(problem, run, noise_std)
    assert plan is not None
    assert plan.risk.upper is not None
    return plan.risk.upper.value


def _candidates(problem: ShuffledMbSgdProblem) -> Iterator[Run]:
    """A geometric grid of batch sizes and rounds within the budgets."""
    gradients = problem.max_gradients or GRADIENTS_PER_RECORD * problem.samples_per_client
    paid = problem.communication_budget
    for size in (problem.batch_size,) if problem.batch_size else _grid(problem.samples_per_client):
        most = gradients // size
        most = most if paid is None else min(most, paid // problem.bits_per_round)
        for rounds in (problem.rounds,) if problem.rounds else _grid(most):
            if rounds <= most:
                yield Run(batch_size=size, rounds=rounds)


def _grid(most: int) -> tuple[int, ...]:
    """Whole numbers from `most` downwards by halves, to 1; none if there is none."""
    values = [most] if most >= 1 else []
    while values and values[-1] > 1:
        values.append(int(values[-1] / GRID_RATIO))
    return tuple(values)
