"""The privacy of ppsgd, by the rules: every client against all others, and what an unseen draw would be worth."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from accountants.account import account
from accountants.curve import Interval
from accountants.specs import Gaussian, Repeated, Subsampled
from accountants.theorems.bietti_billboard import to_other_clients
from accountants.theorems.bietti_noise import least_noise_std
from accountants.theorems.gaussian import sensitivity_factor
from calibrators.answer import Ends, Served
from calibrators.guesses import likely_noise
from calibrators.search import LEAST, MOST, Certified, smallest_noise

if TYPE_CHECKING:
    from accountants.guarantee import Guarantee
    from accountants.quantities import Relation
    from accountants.rule import Effort
    from accountants.specs import Spec
    from accountants.theorems.bietti_federation import ClientSampling
    from calibrators.ppsgd_problem import PpsgdProblem

SLACK = 1e-6


@dataclass(frozen=True, kw_only=True)
class ParticipationFigures:
    """What drawing a fixed number of clients is worth to a client at the certified noise, at the target δ."""

    epsilon_against_other_clients: Annotated[
        Ends, Served("certified: the others know who was drawn, the number random")
    ]
    epsilon_of_expected_rounds: Annotated[
        Ends, Served("of a client that took part as often as expected, as the others know")
    ]
    epsilon_if_unseen: Annotated[Ends, Served("what independent draws that nobody sees would give; not true here")]
    expected_rounds: Annotated[float, Served("rounds that a client takes part in, in expectation")]


def run_spec(problem: PpsgdProblem, noise_multiplier: float, sampling: ClientSampling | None = None) -> Spec:
    """What is published over the whole run, with clients drawn as the request says, or in another way."""
    sampling = sampling or problem.sampling
    fixed = sampling == "without-replacement"
    batch = Subsampled(
        sampling=sampling,
        rate=problem.rate if sampling == "poisson" else None,
        batch_size=problem.participants if fixed else None,
        population=problem.clients if fixed else None,
        level="clients",
        mechanism=Gaussian(noise_multiplier=noise_multiplier),
    )
    return Repeated(times=problem.rounds, mechanism=batch)


def guarantee_at(
    problem: PpsgdProblem,
    noise_multiplier: float,
    effort: Effort = "default",
    *,
    sampling: ClientSampling | None = None,
    relation: Relation | None = None,
) -> Guarantee:
    """The joint guarantee at a noise.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
    """
    shared = account(
        run_spec(problem, noise_multiplier, sampling),
        relation=relation or problem.relation,
        unit=problem.unit,
        observer=problem.observer,
        effort=effort,
    ).guarantee
    return to_other_clients(shared)


def certify(
    problem: PpsgdProblem, *, sampling: ClientSampling | None = None, relation: Relation | None = None
) -> Certified:
    """The smallest certified noise multiplier: exact where all clients take part, else searched.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no noise that is offered meets the target.
    """

    @functools.cache
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        return guarantee_at(problem, noise_multiplier, effort, sampling=sampling, relation=relation)

    target = problem.target
    kind, factor = sampling or problem.sampling, sensitivity_factor(relation or problem.relation)
    exact = least_noise_std(
        clipping_norm=1.0,
        clients=1,
        rounds=problem.rounds if kind == "full" else 1,
        epsilon=target.epsilon,
        log_delta=target.log_delta,
        factor=factor,
    )
    if kind == "full":
        if LEAST < exact < MOST and (closed := _closed(problem, exact, family(exact, "default"))):
            return closed
        return smallest_noise(family, target, guess=min(max(exact, LEAST), MOST))
    if kind == "poisson":
        guess = likely_noise(target, rate=problem.rate, rounds=problem.rounds, distance=factor)
    else:  # of a client drawn about as often as any, but for a share δ of them
        expected = problem.rounds * problem.rate
        often = expected + math.sqrt(-2.0 * target.log_delta * expected) - target.log_delta / 3.0
        guess = exact * math.sqrt(min(often, problem.rounds))
    return smallest_noise(family, target, guess=min(max(guess, LEAST), MOST))


def _closed(problem: PpsgdProblem, noise: float, guarantee: Guarantee) -> Certified | None:
    """The exact noise, if the certified curve agrees: it meets the target, and a hair less does not."""
    target = problem.target
    if guarantee.curve.bound_log_delta(target.epsilon).upper > target.log_delta:
        return None
    less = guarantee_at(problem, noise * (1.0 - SLACK)).curve.bound_log_delta(target.epsilon).lower
    return Certified(noise, guarantee, SLACK) if less > target.log_delta else None


def participation_figures(problem: PpsgdProblem, certified: Certified) -> ParticipationFigures | None:
    """The figures at the certified noise, where the number of participants is fixed and below N."""
    if problem.sampling != "without-replacement" or problem.participants == problem.clients:
        return None
    target, expected = problem.target, problem.rounds * problem.rate
    unseen = guarantee_at(problem, certified.noise, sampling="poisson")
    rounds = account(
        Repeated(times=max(1, round(expected)), mechanism=Gaussian(noise_multiplier=certified.noise)),
        relation=problem.relation,
        unit=problem.unit,
        observer=problem.observer,
    ).guarantee
    against = certified.guarantee.curve.epsilon(target.log_delta)
    return ParticipationFigures(
        epsilon_against_other_clients=Ends.of(
            Interval(min(against.lower, target.epsilon), min(against.upper, target.epsilon))
        ),
        epsilon_of_expected_rounds=Ends.of(rounds.curve.epsilon(target.log_delta)),
        epsilon_if_unseen=Ends.of(unseen.curve.epsilon(target.log_delta)),
        expected_rounds=expected,
    )
