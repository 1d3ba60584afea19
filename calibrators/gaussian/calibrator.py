"""gaussian: the Gaussian mechanism on random batches, over rounds; solves for any one of its five numbers.

σ ↦ ε(δ) has five unknowns: noise_multiplier, rounds, the rate, ε and δ. Given four and a relation, the fifth is the
largest or smallest that is certified: integers are rounded to the safe side.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from epsilond.accountants.curve import LARGEST_EPSILON
from epsilond.accountants.errors import Infeasible, NoCertificate
from epsilond.accountants.quantities import DRAWN, LARGEST_COUNT, POPULATION, RATE, natural_log_delta
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.structure import DRAW_UNSEEN, definition_against, draws_of, loses_amplification
from epsilond.accountants.theorem import Condition, ConditionResult
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.sampling.with_replacement import MOST_DRAWS
from epsilond.calibrators.answer import Served
from epsilond.calibrators.calibration import Calibrator, CostClass, Solution
from epsilond.calibrators.cautions import MINIMALITY_NOT_PROVED, noise_cautions, not_amplified, rounded
from epsilond.calibrators.certificates import guarantee_of
from epsilond.calibrators.gaussian.plan import PLANS
from epsilond.calibrators.gaussian.problem import GaussianProblem, Unknown
from epsilond.calibrators.problem import Target
from epsilond.calibrators.search import (
    TRIALS_KEPT,
    Certified,
    largest_count,
    largest_rate,
    likely_noise,
    likely_rate,
    likely_rounds,
    likely_slope,
    nearest_of,
    smallest_noise,
)

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Draw
    from epsilond.accountants.theorem import Effort
    from epsilond.calibrators.answer import Caution

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

    @classmethod
    def of(cls, solution: GaussianSolution) -> GaussianParameters:
        """What was given, and what was solved for."""
        names = ("noise_multiplier", "rounds", "rate", "batch_size", "population")
        return cls(
            **{name: getattr(solution.problem, name) for name in names} | dict(solution.solved),
            epsilon=solution.target.epsilon,
            delta=solution.target.delta,
            log10_delta=solution.target.log10_delta,
        )


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


@dataclass(frozen=True, kw_only=True)
class GaussianSolution(Solution):
    """With the number that was solved for, by its name; empty for ε and δ, which stand in the target."""

    solved: Mapping[str, Any]

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Of the run."""
        return draws_of(spec_of(self.problem, **self.solved), self.problem.unit)


def find(problem: GaussianProblem) -> GaussianSolution:
    """The unknown, certified on the safe end.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no value of the unknown meets the target.
    """
    certified, target, solved = _SOLVERS[problem.solve_for](problem)
    return GaussianSolution(problem=problem, target=target, certified=certified, solved=solved)


def _guarantee(problem: GaussianProblem, effort: Effort = "default", **solved: Any) -> Guarantee:
    return guarantee_of(problem, spec_of(problem, **solved), effort)


def _target(problem: GaussianProblem) -> Target:
    return Target.of(problem.epsilon or 0.0, problem.delta, problem.log10_delta)


def _for_noise(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    target = _target(problem)

    @functools.lru_cache(maxsize=TRIALS_KEPT)
    def family(noise: float, effort: Effort) -> Guarantee:
        return _guarantee(problem, effort, noise_multiplier=noise)

    rate, distance = _rate(problem), sensitivity_factor(problem.relation)
    guess = likely_noise(target, rate=rate, rounds=problem.rounds or 1, distance=distance)
    slope = likely_slope(target, rate=rate, noise=guess, distance=distance)
    certified = smallest_noise(family, target, guess=guess, slope=slope)
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
        # More draws than any theorem covers would be refused, though fewer of them may meet the target.
        with_replacement = min(LARGEST_COUNT, int(MOST_DRAWS * problem.population))
        most = problem.population if problem.sampling == "without-replacement" else with_replacement
        certified = largest_count(sized, target, most=most, name="batch_size", guess=guess * problem.population)
        return certified, target, {"batch_size": int(certified.noise)}
    rated = functools.lru_cache(maxsize=TRIALS_KEPT)(lambda rate, effort: _guarantee(problem, effort, rate=rate))
    certified = largest_rate(rated, target, guess=guess)
    return certified, target, {"rate": certified.noise}


def _for_epsilon(problem: GaussianProblem) -> tuple[Certified, Target, dict[str, Any]]:
    log_delta = natural_log_delta(problem.delta, problem.log10_delta)
    guarantee = _guarantee(problem)
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
    guarantee = _guarantee(problem)
    epsilon = problem.epsilon or 0.0
    log_delta = max(guarantee.curve.upper_log_delta(epsilon), -1e300)
    return Certified(epsilon, guarantee, 0.0), Target(epsilon, log_delta), {}


_SOLVERS: dict[Unknown, Callable[[GaussianProblem], tuple[Certified, Target, dict[str, Any]]]] = {
    "noise_multiplier": _for_noise,
    "rounds": _for_rounds,
    "rate": _for_rate,
    "epsilon": _for_epsilon,
    "delta": _for_delta,
}


def cautions(solution: GaussianSolution) -> Iterator[Caution]:
    """Of the number found, and what it costs that the observer sees the draw: asked again of one who does not."""
    problem = solution.problem
    if problem.solve_for == "noise_multiplier":
        yield from noise_cautions((solution.certified,))
    elif solution.certified.minimal == "searched":
        yield MINIMALITY_NOT_PROVED
    if not loses_amplification(solution.draws, problem.observer, problem.unit):
        return
    try:
        unseen = find(replace(problem, observer=DRAW_UNSEEN))
    except NoCertificate:
        yield not_amplified(problem.observer)
        return
    yield not_amplified(problem.observer, _figure(solution), _figure(unseen))


def _figure(solution: GaussianSolution) -> str:
    """The number that was solved for, rounded to the safe side."""
    if solution.problem.solve_for == "epsilon":
        return f"ε ≤ {rounded(solution.target.epsilon)}"
    if solution.problem.solve_for == "delta":
        return f"log10 δ ≤ {rounded(solution.target.log10_delta)}"
    ((name, value),) = solution.solved.items()
    return f"{name} = {rounded(value, up=name == 'noise_multiplier')}"


def cost(problem: GaussianProblem) -> CostClass:
    """A full batch is exactly Gaussian; everything else needs an engine."""
    return "closed-form" if problem.sampling == "full" else "search"


CALIBRATOR = Calibrator(
    name="gaussian",
    title="The Gaussian mechanism on random batches",
    summary="Solves for any one of noise_multiplier, rounds, rate, epsilon and delta, certified.",
    problem=GaussianProblem,
    parameters=GaussianParameters,
    cost=cost,
    find=find,
    definition=lambda problem: definition_against(problem.observer),
    draws=lambda solution: solution.draws,
    released=lambda solution: (spec_of(solution.problem, **solution.solved),),
    declared=lambda _: (CONTRIBUTIONS_BOUNDED,),
    cautions=cautions,
    theorems=("balle-wang-2018.8", "balle-barthe-gaboardi-2018.8", "zhu-dong-wang-2022.10"),
    plans=PLANS,
    plan_place=3,
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
