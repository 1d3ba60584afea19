"""gaussian: the Gaussian mechanism on random batches, over rounds; solves for any one of its five numbers.

σ ↦ ε(δ) has five unknowns: noise_multiplier, rounds, the rate, ε and δ. Given four and a relation, the fifth is the
largest or smallest that is certified: integers are rounded to the safe side.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import account
from epsilond.accountants.curve import LARGEST_EPSILON
from epsilond.accountants.errors import Infeasible, NoCertificate
from epsilond.accountants.quantities import DRAWN, LARGEST_COUNT, POPULATION, RATE, natural_log_delta
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.structure import DRAW_UNSEEN, definition_against, draws_of, loses_amplification
from epsilond.accountants.theorem import Condition, ConditionResult
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.calibrators.answer import Calibration, Served, Warning_, derivation_of
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer
from epsilond.calibrators.gaussian.problem import GaussianProblem, Unknown
from epsilond.calibrators.guesses import likely_noise, likely_rate, likely_rounds
from epsilond.calibrators.problem import Calibrator, CostClass, Target
from epsilond.calibrators.search import (
    LEAST,
    TRIALS_KEPT,
    Certified,
    largest_count,
    largest_rate,
    nearest_of,
    smallest_noise,
)
from epsilond.calibrators.unseen import not_amplified, rounded

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Effort

CONTRIBUTIONS_BOUNDED = Condition("bounded-contributions", "every contribution has ℓ2 norm at most the clipping norm")


@dataclass(frozen=True, kw_only=True)
class GaussianParameters:
    """All five numbers, the solved one among them."""

    noise_multiplier: Annotated[float, Served("σ over the norm bound of one contribution")]
    rounds: Annotated[int, Served("how often the mechanism is run")]
    rate: Annotated[float | None, Served.like(RATE)] = None
    batch_size: Annotated[int | None, Served.like(DRAWN)] = None
    population: Annotated[int | None, Served.like(POPULATION)] = None
    epsilon: Annotated[float, Served("certified ε")]
    delta: Annotated[float | None, Served("certified δ; absent where it is below every double")] = None
    log10_delta: float


def spec_of(problem: GaussianProblem, **solved: Any) -> Spec:
    """What is run, with the solved number in its place."""

    def value(name: str) -> Any:
        return solved.get(name, getattr(problem, name))

    release = Gaussian(noise_multiplier=value("noise_multiplier"))
    batch = Subsampled(
        sampling=problem.sampling,
        rate=value("rate"),
        batch_size=value("batch_size"),
        population=problem.population,
        mechanism=release,
    )
    return Repeated(times=value("rounds"), mechanism=batch)


def solve(problem: GaussianProblem) -> Calibration:
    """The unknown, certified on the safe end.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no value of the unknown meets the target.
    """
    certified, target, solved = _SOLVERS[problem.solve_for](problem)
    given = {
        name: solved.get(name, getattr(problem, name)) for name in ("noise_multiplier", "rounds", "rate", "batch_size")
    }
    draws = draws_of(spec_of(problem, **given), problem.unit)
    hidden = _unseen(problem, target, solved) if loses_amplification(draws, problem.observer, problem.unit) else ()
    return Calibration(
        algorithm="gaussian",
        parameters=GaussianParameters(
            noise_multiplier=given["noise_multiplier"],
            rounds=given["rounds"],
            rate=given["rate"],
            batch_size=given["batch_size"],
            population=problem.population,
            epsilon=target.epsilon,
            delta=target.delta,
            log10_delta=target.log10_delta,
        ),
        guarantee=guarantee_answer(
            certified,
            target,
            definition=definition_against(problem.observer),
            sampling=problem.sampling,
            sensitivity=sensitivity_factor(problem.relation),
            draws=draws,
        ),
        numerical=numerical_answer(certified.guarantee, target),
        as_printed=(),
        derivation=derivation_of(certified.guarantee.derivation),
        declared_conditions=declared_answers((CONTRIBUTIONS_BOUNDED,)),
        warnings=(*_warnings(certified), *hidden),
        engine_version=ENGINE_VERSION,
    )


def _guarantee(problem: GaussianProblem, effort: Effort, **solved: Any) -> Guarantee:
    return account(
        spec_of(problem, **solved),
        relation=problem.relation,
        unit=problem.unit,
        observer=problem.observer,
        effort=effort,
    ).guarantee


def _target(problem: GaussianProblem) -> Target:
    return Target.of(problem.epsilon or 0.0, problem.delta, problem.log10_delta)


def _for_noise(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    target = _target(problem)

    @functools.lru_cache(maxsize=TRIALS_KEPT)
    def family(noise: float, effort: Effort) -> Guarantee:
        return _guarantee(problem, effort, noise_multiplier=noise)

    guess = likely_noise(
        target, rate=_rate(problem), rounds=problem.rounds or 1, distance=sensitivity_factor(problem.relation)
    )
    certified = smallest_noise(family, target, guess=guess)
    return certified, target, {"noise_multiplier": certified.noise}


def _rate(problem: GaussianProblem) -> float:
    """The share of records in a batch."""
    if problem.batch_size is not None and problem.population is not None:
        return min(problem.batch_size / problem.population, 1.0)
    return problem.rate or 1.0


def _for_rounds(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    target = _target(problem)
    guarantee = functools.lru_cache(maxsize=TRIALS_KEPT)(
        lambda count, effort: _guarantee(problem, effort, rounds=count)
    )
    distance = sensitivity_factor(problem.relation)
    guess = likely_rounds(target, noise=problem.noise_multiplier or 1.0, rate=_rate(problem), distance=distance)
    certified = largest_count(guarantee, target, most=LARGEST_COUNT, name="rounds", guess=guess)
    return certified, target, {"rounds": int(certified.noise)}


def _for_rate(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    target = _target(problem)
    guess = likely_rate(
        target,
        noise=problem.noise_multiplier or 1.0,
        rounds=problem.rounds or 1,
        distance=sensitivity_factor(problem.relation),
    )
    if problem.population is not None:
        sized = functools.lru_cache(maxsize=TRIALS_KEPT)(
            lambda count, effort: _guarantee(problem, effort, batch_size=count)
        )
        most = problem.population if problem.sampling == "without-replacement" else LARGEST_COUNT
        certified = largest_count(sized, target, most=most, name="batch_size", guess=guess * problem.population)
        return certified, target, {"batch_size": int(certified.noise)}
    rated = functools.lru_cache(maxsize=TRIALS_KEPT)(lambda rate, effort: _guarantee(problem, effort, rate=rate))
    certified = largest_rate(rated, target, guess=guess)
    return certified, target, {"rate": certified.noise}


def _for_epsilon(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    log_delta = natural_log_delta(problem.delta, problem.log10_delta)
    guarantee = _guarantee(problem, "default")
    epsilon = guarantee.curve.bound_epsilon(log_delta).upper
    if math.isinf(epsilon):
        raise Infeasible(
            "no ε meets the target δ",
            ConditionResult(
                "delta-attainable",
                f"δ is attained at some ε up to {LARGEST_EPSILON:g}",
                False,
                problem.log10_delta,
                None,
            ),
            nearest_of(guarantee, Target(LARGEST_EPSILON, log_delta, problem.delta)),
        )
    return Certified(epsilon, guarantee, 0.0), Target(epsilon, log_delta, problem.delta), {}


def _for_delta(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    guarantee = _guarantee(problem, "default")
    epsilon = problem.epsilon or 0.0
    log_delta = max(guarantee.curve.bound_log_delta(epsilon).upper, -1e300)
    return Certified(epsilon, guarantee, 0.0), Target(epsilon, log_delta), {}


_SOLVERS: dict[Unknown, Callable[[GaussianProblem], tuple[Certified, Target, dict[str, Any]]]] = {
    "noise_multiplier": _for_noise,
    "rounds": _for_rounds,
    "rate": _for_rate,
    "epsilon": _for_epsilon,
    "delta": _for_delta,
}


def _unseen(problem: GaussianProblem, target: Target, solved: dict[str, Any]) -> Iterator[Warning_]:
    """What the observer's sight of the draw costs: the same question against one who does not see it."""
    try:
        _, other, found = _SOLVERS[problem.solve_for](replace(problem, observer=DRAW_UNSEEN))
    except NoCertificate:
        yield not_amplified(problem.observer)
        return
    yield not_amplified(problem.observer, _figure(problem, target, solved), _figure(problem, other, found))


def _figure(problem: GaussianProblem, target: Target, solved: dict[str, Any]) -> str:
    """The number that was solved for, rounded to the safe side."""
    if problem.solve_for == "epsilon":
        return f"ε ≤ {rounded(target.epsilon)}"
    if problem.solve_for == "delta":
        return f"log10 δ ≤ {rounded(target.log10_delta)}"
    ((name, value),) = solved.items()
    return f"{name} = {rounded(value, up=name == 'noise_multiplier')}"


def _warnings(certified: Certified) -> Iterator[Warning_]:
    if certified.noise == LEAST:
        yield Warning_(
            code="sampling-alone-suffices",
            message=f"δ is met at the least noise offered, {LEAST:g} contributions; a record that is drawn is hardly "
            "protected",
        )
    elif certified.slack is None:
        yield Warning_(
            code="minimality-not-proved",
            message="the answer is certified, but the bound is too coarse here to prove that it is the best",
        )


def cost(problem: GaussianProblem) -> CostClass:
    """A full batch is exactly Gaussian; everything else needs an engine."""
    return "closed-form" if problem.sampling == "full" else "search"


CALIBRATOR = Calibrator(
    name="gaussian",
    title="The Gaussian mechanism on random batches",
    summary="Solves for any one of noise_multiplier, rounds, rate, epsilon and delta, certified.",
    problem=GaussianProblem,
    parameters=GaussianParameters,
    solve=solve,
    cost=cost,
    theorems=("balle-wang-2018.8", "balle-barthe-gaboardi-2018.8", "zhu-dong-wang-2022.10"),
    example={
        "solve_for": "noise_multiplier",
        "relation": "add-or-remove-one",
        "sampling": "poisson",
        "rate": 0.01,
        "rounds": 1000,
        "epsilon": 1.0,
        "delta": 1e-6,
    },
)
