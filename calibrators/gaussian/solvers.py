"""Certified solutions for each of the five numbers of a run: noise multiplier, rounds, rate, ε and δ.

The result is rounded so that the guarantee holds: noise, ε and δ up, rounds and rates down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.estimates.noise import likely_noise, likely_rate, likely_rounds, likely_slope
from epsilond.accountants.estimates.runs import nearer_noise, nearer_rate, nearer_rounds
from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import Target, natural_log_delta
from epsilond.accountants.theorems.sampling.multiplicities import MOST_DRAWS
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.gaussian.numbers import Numbers, likely_share, spec_of
from epsilond.calibrators.gaussian.problem import GaussianProblem, Unknown
from epsilond.calibrators.gaussian.search import largest_count, largest_rate
from epsilond.calibrators.search import Certified, Trials, guarantee_of, smallest_noise
from epsilond.calibrators.targets.failures import nearest_of

LEAST_LOG_DELTA = -1e300
"""Least log δ that is answered, because a log δ of −∞ cannot be served."""


class Solved(NamedTuple):
    """A certified run of the Gaussian mechanism.

    Attributes:
        certified: the certificate, with the number that was solved for in `noise`.
        target: the target (ε, δ) or risk that the run meets.
        numbers: all numbers of the run.
    """

    certified: Certified
    target: Target
    numbers: Numbers


def _solve_for_noise(problem: GaussianProblem) -> Solved:
    """Return the smallest noise multiplier that meets the target.

    The search starts at an estimate. Its error costs time, but the result is certified in any case.

    Args:
        problem: the request, which leaves the noise multiplier open. Its target is (ε, δ) or an attacker's risk.

    Returns:
        The certificate, the target, and the numbers of the run with the certified noise multiplier.

    Raises:
        Infeasible: no noise in the range of the search meets the target.
    """
    target = problem.target
    family = Trials(problem, lambda noise: spec_of(problem, Numbers.of(problem, noise_multiplier=noise)))

    # Start the search at an estimate by closed formulas, which a second estimate improves.
    rate = likely_share(problem)
    rounds = problem.rounds or 1
    sensitivity = sensitivity_factor(problem.relation)
    rough_noise = likely_noise(target, rate=rate, rounds=rounds, distance=sensitivity)
    noise = nearer_noise(
        target, rough_noise, sampling=problem.sampling, relation=problem.relation, rate=rate, rounds=rounds
    )
    slope = likely_slope(target, rate=rate, noise=noise, distance=sensitivity)

    certified = smallest_noise(family, target, guess=noise, slope=slope)
    return Solved(certified, target, Numbers.of(problem, noise_multiplier=certified.noise))


def _solve_for_rounds(problem: GaussianProblem) -> Solved:
    """Return the largest number of rounds that meets the target.

    The search starts at an estimate. Its error costs time, but the result is certified in any case.

    Args:
        problem: the request, which leaves the number of rounds open. Its target is (ε, δ) or an attacker's risk.

    Returns:
        The certificate, the target, and the numbers of the run with the certified rounds.

    Raises:
        Infeasible: even one round misses the target.
    """
    target = problem.target
    family = Trials(problem, lambda count: spec_of(problem, Numbers.of(problem, rounds=int(count))))

    # Start the search at an estimate by closed formulas, which a second estimate improves.
    noise = problem.noise_multiplier or 1.0
    rate = likely_share(problem)
    sensitivity = sensitivity_factor(problem.relation)
    rough_rounds = likely_rounds(target, noise=noise, rate=rate, distance=sensitivity)
    rounds = nearer_rounds(
        target, rough_rounds, sampling=problem.sampling, relation=problem.relation, rate=rate, noise=noise
    )

    certified = largest_count(family, target, most=LARGEST_COUNT, name="rounds", guess=rounds)
    certified_rounds = int(certified.noise)  # `noise` holds the parameter that was searched
    return Solved(certified, target, Numbers.of(problem, rounds=certified_rounds))


def _solve_for_rate(problem: GaussianProblem) -> Solved:
    """Return the largest sampling rate, or the largest batch of a population, that meets the target.

    The unknown is the rate if the request has no population or truncates Poisson batches. Otherwise it is the batch
    size.

    Args:
        problem: the request, which leaves the rate open. Its target is (ε, δ) or an attacker's risk.

    Returns:
        The certificate, the target, and the numbers of the run with the certified rate or batch size.

    Raises:
        Infeasible: even the smallest rate or batch misses the target.
    """
    target = problem.target
    likely = _likely_rate(problem)
    if problem.population is None or problem.largest_batch is not None:
        by_rate = Trials(problem, lambda rate: spec_of(problem, Numbers.of(problem, rate=rate)))
        certified = largest_rate(by_rate, target, guess=likely)
        certified_rate = certified.noise  # `noise` holds the parameter that was searched
        return Solved(certified, target, Numbers.of(problem, rate=certified_rate))

    by_size = Trials(problem, lambda count: spec_of(problem, Numbers.of(problem, batch_size=int(count))))
    most = problem.population
    if problem.sampling != "without-replacement":
        # Larger batches than MOST_DRAWS per record cannot be accounted for.
        most = min(LARGEST_COUNT, int(MOST_DRAWS * problem.population))
    certified = largest_count(by_size, target, most=most, name="batch_size", guess=likely * problem.population)
    return Solved(certified, target, Numbers.of(problem, batch_size=int(certified.noise)))


def _likely_rate(problem: GaussianProblem) -> float:
    """Return an estimate of the largest sampling rate that meets the target at the given noise and rounds.

    Args:
        problem: the request, which leaves the rate open.

    Returns:
        The estimate by closed formulas, improved by a second one. A poor estimate costs time, but changes no guarantee.
    """
    target = problem.target
    noise, rounds = problem.noise_multiplier or 1.0, problem.rounds or 1
    estimate = likely_rate(target, noise=noise, rounds=rounds, distance=sensitivity_factor(problem.relation))
    return nearer_rate(
        target, estimate, sampling=problem.sampling, relation=problem.relation, noise=noise, rounds=rounds
    )


def _solve_for_epsilon(problem: GaussianProblem) -> Solved:
    """Return the certified ε of the given run at the given δ.

    Args:
        problem: the request, which gives all numbers of the run and δ.

    Returns:
        The certificate, the point (ε, δ), and the numbers of the run. The ε is an upper bound on the true one.

    Raises:
        Infeasible: δ is not certified at any ε up to `LARGEST_EPSILON`.
    """
    log_delta = natural_log_delta(problem.delta, problem.log10_delta)
    numbers = Numbers.of(problem)
    guarantee = guarantee_of(problem, spec_of(problem, numbers))
    epsilon = guarantee.curve.bound_epsilon(log_delta).upper
    if math.isinf(epsilon):
        statement = f"δ is attained at some ε up to {LARGEST_EPSILON:g}"
        condition = ConditionResult("delta-attainable", statement, Verdict.NO, problem.log10_delta, None)
        nearest = nearest_of(guarantee, Target(LARGEST_EPSILON, log_delta, problem.delta))
        raise Infeasible("no ε meets the target δ", condition, nearest)
    # ε is read from the curve without a search, so that no smaller value has to be excluded (`slack` 0).
    return Solved(Certified(epsilon, guarantee, 0.0), Target(epsilon, log_delta, problem.delta), numbers)


def _solve_for_delta(problem: GaussianProblem) -> Solved:
    """Return the certified δ of the given run at the given ε.

    Args:
        problem: the request, which gives all numbers of the run and ε.

    Returns:
        The certificate, the point (ε, δ), and the numbers of the run. The δ is an upper bound on the true one, and log
        δ is at least `LEAST_LOG_DELTA`.
    """
    numbers = Numbers.of(problem)
    guarantee = guarantee_of(problem, spec_of(problem, numbers))
    epsilon = problem.epsilon or 0.0
    log_delta = max(guarantee.curve.upper_log_delta(epsilon), LEAST_LOG_DELTA)
    # δ is read from the curve without a search, so that no smaller value has to be excluded (`slack` 0).
    return Solved(Certified(epsilon, guarantee, 0.0), Target(epsilon, log_delta), numbers)


_SOLVERS: dict[Unknown, Callable[[GaussianProblem], Solved]] = {
    "noise_multiplier": _solve_for_noise,
    "rounds": _solve_for_rounds,
    "rate": _solve_for_rate,
    "epsilon": _solve_for_epsilon,
    "delta": _solve_for_delta,
}


def solve(problem: GaussianProblem) -> Solved:
    """Solve for the number that a request leaves open, and certify the run with it.

    Args:
        problem: the request, which names the unknown in `solve_for`.

    Returns:
        The certificate, the target that it meets, and all numbers of the run.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no value of the unknown meets the target.
    """
    return _SOLVERS[problem.solve_for](problem)
