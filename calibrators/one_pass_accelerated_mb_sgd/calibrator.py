"""one-pass-accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn, every record used at most once.

Each client deals its records into disjoint batches before the run. A record then stands in one message only, and all
messages of its client together are one Gaussian mechanism for it: nothing is composed and nothing is amplified. A
client as the unit stands in every message.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.quantities import NOISE_MULTIPLIER
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import DISJOINT, THEOREM_2_3, OnePassInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass_prescription import informal_rounds
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, answer, printed_reading
from epsilond.calibrators.accelerated.problem import READINGS
from epsilond.calibrators.answer import Calibration, PrintedReading, TrueFigures
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import true_figures
from epsilond.calibrators.mb_sgd.members import contribution_norm, only_member
from epsilond.calibrators.mb_sgd.problem import Reading, Run
from epsilond.calibrators.mb_sgd.schedule import likely_noise_multiplier
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.printed import Asked
from epsilond.calibrators.search import Certified, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.specs import Spec

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


def certify(problem: OnePassProblem, rounds: int) -> Certified:
    """The smallest certified noise multiplier; for records it does not depend on the rounds."""
    run = Run(batch_size=1, rounds=rounds)

    @functools.cache
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        return account(
            run_spec(problem, run, noise_multiplier),
            relation=problem.relation,
            unit=problem.unit,
            observer=problem.observer,
            effort=effort,
        ).guarantee

    return smallest_noise(family, problem.target, guess=_likely_noise_multiplier(problem, rounds))


def _likely_noise_multiplier(problem: OnePassProblem, rounds: int) -> float:
    """A guess, as for one full batch, or as many as there are rounds."""
    repeats = rounds if problem.unit == "client" else 1
    full = Run(batch_size=problem.samples_per_client, rounds=repeats)
    return likely_noise_multiplier(problem, only_member(problem, full), repeats)


def solve(problem: OnePassProblem) -> Calibration:
    """The smallest certified noise, the cut of the records and the stages to run it with, and Theorem 2.3 beside it.

    Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    by_rounds = functools.cache(functools.partial(certify, problem))

    def certified_for(run: Run) -> Certified:
        return by_rounds(run.rounds if problem.unit == "client" else 1)

    def noise_of(run: Run) -> float:
        return certified_for(run).noise * contribution_norm(problem, only_member(problem, run))

    def likely_noise_of(run: Run) -> float:
        return _likely_noise_multiplier(problem, run.rounds) * contribution_norm(problem, only_member(problem, run))

    choice = choose_run(problem, likely_noise_of if problem.unit == "client" else noise_of, noise_of)
    run = choice.run
    apart = () if problem.relation == "replace-one" else (FIXED_DIVISOR,)
    return answer(
        NAME,
        problem,
        choice,
        certified_for(run),
        draws=(),
        printed=printed_readings(problem),
        plan=plan_of(problem, run, noise_of(run)),
        objective="population",
        declared=(*CONDITIONS, *apart),
        unused=("empirical_gradient_std",),
    )


def printed_readings(problem: OnePassProblem) -> tuple[PrintedReading, ...]:
    """Theorem 2.3 at the request's batch or rounds, or else at those that the reading prescribes itself.

    `excess_risk_scale` is its risk up to the constants and logarithms that it hides, `informal_excess_risk_scale` that
    of the main text. It speaks of records: for the unit `client` there is nothing to print.
    """
    if problem.unit == "client":
        return ()
    asked = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, reading) for reading in READINGS if reading in asked)


def _reading(problem: OnePassProblem, reading: Reading) -> PrintedReading:
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
        true=_truth(problem, found["noise_multiplier"]),
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


def _truth(problem: OnePassProblem, noise_multiplier: float) -> TrueFigures | None:
    """At printed noise, for a record under replace-one: what the theorem speaks of; None for noise never offered."""
    if not NOISE_MULTIPLIER.contains(noise_multiplier):
        return None
    spec = Gaussian(noise_multiplier=noise_multiplier)
    return true_figures(account(spec, relation="replace-one").guarantee, problem.target)


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
    by_hand=solve,
    cost=cost,
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
