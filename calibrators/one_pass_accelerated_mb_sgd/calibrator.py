"""one-pass-accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn, every record used at most once.

Each client deals its records into disjoint batches before the run. A record then stands in one message only, and all
messages of its client together are one Gaussian mechanism for it: nothing is composed and nothing is amplified. A
client as the unit stands in every message.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import (
    DISJOINT,
    THEOREM_2_3,
    OnePassInputs,
    informal_rounds,
)
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, cautions_of, printed_reading
from epsilond.calibrators.accelerated.problem import READINGS
from epsilond.calibrators.answer import PrintedReading
from epsilond.calibrators.calibration import Calibrator, CostClass, Family, Solution
from epsilond.calibrators.guesses import likely_noise
from epsilond.calibrators.mb_sgd.members import communication, contribution_norm, only_member, start_of_run
from epsilond.calibrators.mb_sgd.problem import Reading, Run
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.printed import Asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.calibration import Truth

NAME = "one-pass-accelerated-mb-sgd"
FIXED_DIVISOR = Condition(
    "fixed-divisor",
    "if a record is added, removed or zeroed, the sum over its batch is still divided by batch_size, and the other "
    "records keep their rounds",
)
CONDITIONS = (INSIDE_DOMAIN, DISJOINT, Condition("fresh-noise", "fresh Gaussian noise in every message"))
SHOWN = ("noise_std", "noise_multiplier", "batch_size", "rounds", "regularization")


def run_spec(problem: OnePassProblem, run: Run, noise_multiplier: float) -> Spec:
    """What one client releases of a record, or of itself, over the whole run."""
    release = Gaussian(noise_multiplier=noise_multiplier)
    return Repeated(times=run.rounds, mechanism=release) if problem.unit == "client" else release


def likely_noise_multiplier(problem: OnePassProblem, run: Run) -> float:
    """A guess, as for one full batch, or as many as there are rounds."""
    return likely_noise(problem.target, rate=1.0, rounds=run.rounds if problem.unit == "client" else 1, distance=2.0)


FAMILY = Family(
    spec=run_spec,
    guess=likely_noise_multiplier,
    contribution=lambda problem, run: contribution_norm(problem, only_member(problem, run)),
)


def declared(solution: Solution) -> Iterator[Condition]:
    """The premises of the run, of a record that is absent, and of the risk bound."""
    yield from CONDITIONS
    if solution.problem.relation != "replace-one":
        yield FIXED_DIVISOR
    yield from solution.utility.declared


def printed_readings(problem: OnePassProblem, truth: Truth) -> tuple[PrintedReading, ...]:
    """Theorem 2.3 at the request's batch or rounds, or else at those that the reading prescribes itself.

    `excess_risk_scale` is its risk up to the constants and logarithms that it hides, `informal_excess_risk_scale` that
    of the main text. It speaks of records: for the unit `client` there is nothing to print.
    """
    if problem.unit == "client":
        return ()
    asked = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, reading, truth) for reading in READINGS if reading in asked)


def _reading(problem: OnePassProblem, reading: Reading, truth: Truth) -> PrintedReading:
    asked = Asked(THEOREM_2_3, _inputs(problem, reading), "corrected" if reading == "corrected" else "printed")
    found = asked.outputs
    informal = reading == "informal"
    return printed_reading(
        problem,
        asked,
        reading,
        parameters={
            name: found[name] for name in (*SHOWN, "informal_excess_risk_scale" if informal else "excess_risk_scale")
        },
        true=truth(None, found["noise_multiplier"]),
        beside=() if informal else ("informal-participation",),
    )


def _inputs(problem: OnePassProblem, reading: Reading) -> OnePassInputs:
    inputs = OnePassInputs(
        epsilon=problem.epsilon,
        delta=problem.delta,
        log10_delta=problem.log10_delta,
        samples_per_client=problem.samples_per_client,
        clients=problem.clients,
        participants=problem.reporting,
        batch_size=problem.batch_size,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        diameter=problem.diameter,
        smoothness=problem.smoothness,
        strong_convexity=problem.strong_convexity,
        gradient_std=problem.gradient_std,
        heterogeneity=problem.spread,
        initial_gap=problem.gap,
    )
    if problem.batch_size is not None:
        return inputs
    rounds = problem.rounds
    if rounds is None and reading == "informal":
        rounds = math.ceil(informal_rounds(inputs.run))
    return (
        inputs if rounds is None else replace(inputs, batch_size=max(1, problem.samples_per_client // max(1, rounds)))
    )


def cost(problem: OnePassProblem) -> CostClass:
    """The noise is exactly Gaussian, a closed form; the cut and the stages may have to be searched."""
    return "closed-form" if problem.quick else "search"


CALIBRATOR = Calibrator(
    name=NAME,
    title="One pass of accelerated noisy SGD for clients that trust nobody",
    summary=(
        "Every record is used once, so that the noise is that of one Gaussian mechanism; the cut of the records into "
        "rounds is optimised (Lowy and Razaviyayn, Theorem 2.3)."
    ),
    problem=OnePassProblem,
    parameters=AcceleratedParameters,
    cost=cost,
    family=FAMILY,
    choose=choose_run,
    draws=lambda _: (),
    utility=lambda solution: plan_of(solution.problem, solution.run, solution.noise_std),
    printed=lambda solution: printed_readings(solution.problem, solution.truth),
    communication=communication,
    declared=declared,
    cautions=lambda solution: cautions_of(solution, ("empirical_gradient_std",)),
    start=lambda problem: start_of_run(problem, "population", gap=problem.initial_gap),
    theorems=(THEOREM_2_3.id, ACCELERATED_RISK_BOUND.id),
    example={
        "epsilon": 1.0,
        "delta": 1e-6,
        "samples_per_client": 100_000,
        "clients": 50,
        "participants": 40,
        "dimension": 10,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "identically_distributed": False,
        "gradient_std": 0.5,
        "heterogeneity": 0.1,
    },
)
