"""accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn on the data at hand, records used again and again.

What a client releases is what it releases in mb-sgd, so the family σ ↦ Spec and its certificate are those of mb-sgd.
What the server does with it is accelerated, in stages; without smoothness it descends the loss's Moreau envelope.
"""

from __future__ import annotations

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, cautions_of
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.plan import PLANS
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.accelerated_mb_sgd.risk import RISK
from epsilond.calibrators.accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.mb_sgd.calibrator import cost as cost_of_noise
from epsilond.calibrators.mb_sgd.groups import guarantee_of_all, numerical_of_all
from epsilond.calibrators.mb_sgd.members import FAMILY, communication, start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.solution import find_each, released_by

NAME = "accelerated-mb-sgd"
CONDITIONS = (INSIDE_DOMAIN, FRESH_NOISE)


def cost(problem: AcceleratedMbSgdProblem) -> CostClass:
    """A closed form where the noise is one and the run is given."""
    return cost_of_noise(problem) if problem.quick else "search"


def printed_stds(problem: AcceleratedMbSgdProblem, run: Run) -> tuple[float, ...]:
    """σ of each group by Theorem E.1 or 2.4 as printed."""
    return theorem_inputs(problem, run, "complete", run.rounds).noise_stds(run.rounds, "printed")


CALIBRATOR = Calibrator(
    name=NAME,
    title="Accelerated noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "The noise and privacy of mb-sgd, with accelerated steps in stages on the data at hand, and the Moreau "
        "envelope for losses that are not smooth (Lowy and Razaviyayn, Algorithm 2, Theorems E.1 and 2.4)."
    ),
    problem=AcceleratedMbSgdProblem,
    parameters=AcceleratedParameters,
    cost=cost,
    find=lambda problem: find_each(problem, FAMILY, choose_run, printed_stds),
    released=released_by(FAMILY),
    guarantee=lambda solution: guarantee_of_all(solution.answers),
    numerical=lambda solution: numerical_of_all(solution.members, solution.each),
    utility=lambda solution: plan_of(solution.problem, solution.run, solution.mean_noise_std),
    printed=lambda solution: printed_readings(solution.problem, solution.run, solution.truth),
    communication=communication,
    derivation=lambda solution: solution.derivation,
    declared=lambda solution: (*CONDITIONS, *(solution.utility.declared if solution.utility else ())),
    cautions=lambda solution: cautions_of(solution, ("gradient_std", "heterogeneity")),
    start=lambda problem: start_of_run(problem, "empirical", gap=problem.initial_gap),
    theorems=("lowy.e.1", "lowy.2.4", "lowy.algorithm-2", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id),
    risk=RISK,
    plans=PLANS,
    plan_place=5,
    example={
        "epsilon": 1.0,
        "delta": 1e-5,
        "samples_per_client": 1000,
        "clients": 50,
        "participants": 50,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "strong_convexity": 0.1,
        "batch_size": 200,
        "rounds": 100,
    },
)
