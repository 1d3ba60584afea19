"""shuffled-mb-sgd: Algorithm 1 of Lowy and Razaviyayn with a trusted shuffler between clients and server.

In each of R rounds M of N clients are drawn, unseen; each sends the mean of K per-record gradients plus N(0, σ²) per
coordinate, and the shuffler passes on the M reports in random order. ε and δ are for whoever sees what it puts out.
Theorem 4.1 leaves its constant open, so the noise is certified by what `account` proves of the run: the draw of
clients, that of records and the order amplify as far as `accountants/theorems/shuffling*.py` go.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import account
from epsilond.accountants.quantities import NOISE_MULTIPLIER
from epsilond.accountants.specs import Gaussian, Repeated, Shuffled, Subsampled
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_noise import EXPLICIT_NOISE
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import EXCESS_RISK_BOUND
from epsilond.accountants.trust import POSSIBLE, draws_of
from epsilond.calibrators.answer import Calibration, Caution, Communication, Served, derivation_of
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer, true_figures
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.schedule import Averaging
from epsilond.calibrators.risk.baseline import measured
from epsilond.calibrators.shuffled_mb_sgd.printed import printed_readings
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.schedule import (
    choose_run,
    contribution_norm,
    likely_noise_multiplier,
    pace_of,
)
from epsilond.calibrators.shuffled_mb_sgd.search import smallest_noise_in_few_trials

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.answer import PrintedReading, TrueFigures
    from epsilond.calibrators.mb_sgd.problem import Run
    from epsilond.calibrators.search import Certified


@dataclass(frozen=True, kw_only=True)
class ShuffledMbSgdParameters:
    """What to run with."""

    noise_std: Annotated[float, Served("σ per coordinate, added by each client to its mean of batch_size gradients")]
    noise_multiplier: Annotated[float, Served("σ over the norm bound of one protected contribution to that mean")]
    batch_size: Annotated[int, Served("records of one client per round")]
    rounds: Annotated[int, Served("communication rounds")]
    step_size: Annotated[float | None, Served("absent where no risk bound applies")] = None
    averaging: Annotated[Averaging | None, Served("which average of the iterates to output")] = None
    envelope_smoothness: Annotated[
        float | None, Served("without smoothness: b of the Moreau envelope of each loss, whose gradients are sent")
    ] = None


def run_spec(problem: ShuffledMbSgdProblem, run: Run, noise_multiplier: float) -> Spec:
    """The whole run. For the unit `client` a whole report is one contribution."""
    report: Spec = Gaussian(noise_multiplier=noise_multiplier)
    if problem.unit == "record":
        report = Subsampled(
            sampling="without-replacement",
            batch_size=run.batch_size,
            population=problem.samples_per_client,
            level="records",
            mechanism=report,
        )
    shuffled: Spec = Shuffled(clients=problem.reporting, dimension=problem.dimension, mechanism=report)
    if problem.reporting < problem.clients:
        shuffled = Subsampled(
            sampling="without-replacement",
            batch_size=problem.reporting,
            population=problem.clients,
            level="clients",
            mechanism=shuffled,
        )
    return Repeated(times=run.rounds, mechanism=shuffled)


def certify(problem: ShuffledMbSgdProblem, run: Run) -> Certified:
    """The smallest certified noise multiplier of a run."""

    @functools.cache
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        return _guarantee(problem, run, noise_multiplier, effort)

    guess = likely_noise_multiplier(problem, run)
    return smallest_noise_in_few_trials(family, problem.target, guess=guess)


def _guarantee(problem: ShuffledMbSgdProblem, run: Run, noise_multiplier: float, effort: Effort) -> Guarantee:
    spec = run_spec(problem, run, noise_multiplier)
    return account(
        spec, relation=problem.relation, unit=problem.unit, observer=problem.observer, effort=effort
    ).guarantee


def solve(problem: ShuffledMbSgdProblem) -> Calibration:
    """The smallest certified noise, the schedule to run it with, and the printed theorem beside it.

    Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        ConditionViolated: no theorem covers this run under this relation.
        Infeasible: no noise that is offered meets the target.
    """
    certified_for = functools.cache(functools.partial(certify, problem))

    def noise_of(run: Run) -> float:
        return certified_for(run).noise * contribution_norm(problem, run)

    choice = choose_run(problem, noise_of)
    run = choice.run
    certified = certified_for(run)
    norm = contribution_norm(problem, run)
    noise_std = certified.noise * norm

    def truth(paced: Run, printed_std: float) -> TrueFigures | None:
        if not NOISE_MULTIPLIER.contains(printed_std / norm):
            return None
        return true_figures(_guarantee(problem, paced, printed_std / norm, "coarse"), problem.target)

    printed = printed_readings(problem, run, truth)
    plan = pace_of(problem, run, noise_std)
    guarantee = guarantee_answer(
        certified,
        problem.target,
        definition="shuffle" if problem.observer in POSSIBLE["shuffle"] else "local",
        sampling="without-replacement",
        sensitivity=sensitivity_factor(problem.relation) * norm,
        draws=draws_of(run_spec(problem, run, certified.noise), problem.unit),
    )
    bits = problem.bits_per_round
    declared = dict.fromkeys((INSIDE_DOMAIN, *certified.guarantee.declared, *(plan.declared if plan else ())))
    answer = Calibration(
        algorithm="shuffled-mb-sgd",
        parameters=ShuffledMbSgdParameters(
            noise_std=noise_std,
            noise_multiplier=certified.noise,
            batch_size=run.batch_size,
            rounds=run.rounds,
            step_size=plan.step_size if plan else None,
            averaging=plan.averaging if plan else None,
            envelope_smoothness=plan.envelope_smoothness if plan else None,
        ),
        guarantee=guarantee,
        numerical=numerical_answer(certified.guarantee, problem.target),
        as_printed=printed,
        risk=plan.risk if plan else None,
        communication=Communication(
            bits_per_coordinate=32.0,
            bits_per_round_per_client=bits // problem.reporting,
            total_bits=bits * run.rounds,
        ),
        frontier=choice.frontier,
        derivation=derivation_of(certified.guarantee.derivation),
        declared_conditions=declared_answers(declared),
        warnings=tuple(_warnings(problem, certified, noise_std, printed)),
        engine_version=ENGINE_VERSION,
    )
    return measured(answer, start_of_run(problem.unshuffled(run), "population"))


def _warnings(
    problem: ShuffledMbSgdProblem, certified: Certified, noise_std: float, printed: Sequence[PrintedReading]
) -> Iterator[Caution]:
    if certified.slack is None:
        yield Caution(
            code="minimality-not-proved",
            message="the noise is certified, but it is not proved that 0.1 % less would not do",
        )
    for reading in printed:
        name = f"{reading.theorem} ({reading.reading})"
        for condition in reading.conditions:
            if condition.holds is False:
                yield Caution(
                    code="printed-condition-fails",
                    message=f"{name} does not apply, {condition.statement} fails: {condition.left:.6g} against "
                    f"{condition.right:.6g}; the certified parameters stand",
                )
        if "noise_std" not in reading.parameters:
            yield Caution(
                code="printed-constant-unspecified",
                message=f"{name} leaves the constant C of its noise open; give noise_constant to have it compared",
            )
        elif reading.parameters["noise_std"] < noise_std:
            yield Caution(
                code="printed-noise-below-certified",
                message=f"the noise printed in {name} is below the smallest that is certified here",
            )
    if problem.observer not in POSSIBLE["shuffle"]:
        yield Caution(
            code="observer-not-the-shuffled-server",
            message="the figures are for the observer asked for: who knows senders gains nothing from the shuffler",
        )
    if problem.initial_distance is None:
        yield Caution(code="assumed-initial-distance", message="initial_distance was taken to be the diameter")


def cost(problem: ShuffledMbSgdProblem) -> CostClass:
    """Every bound of shuffled reports is composed numerically."""
    del problem
    return "search"


CALIBRATOR = Calibrator(
    name="shuffled-mb-sgd",
    title="Noisy mini-batch SGD for clients that trust a shuffler",
    summary=(
        "Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the reports "
        "of a round: central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, whose constant is not given)."
    ),
    problem=ShuffledMbSgdProblem,
    parameters=ShuffledMbSgdParameters,
    by_hand=solve,
    cost=cost,
    theorems=(THEOREM_4_1.id, EXPLICIT_NOISE.id, EXCESS_RISK_BOUND.id),
    example={
        "epsilon": 1.0,
        "delta": 1e-6,
        "samples_per_client": 10,
        "clients": 10_000,
        "participants": 2000,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "batch_size": 1,
        "rounds": 500,
    },
)
