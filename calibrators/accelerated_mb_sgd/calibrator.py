"""accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn on the data at hand, records used again and again.

What a client releases is what it releases in mb-sgd, so the family σ ↦ Spec and its certificate are those of mb-sgd.
What the server does with it is accelerated, in stages; without smoothness it descends the loss's Moreau envelope.
"""

from __future__ import annotations

import functools

from epsilond.accountants.account import account
from epsilond.accountants.quantities import NOISE_MULTIPLIER
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.trust import draws_of
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, answer
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings
from epsilond.calibrators.accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.answer import Calibration, TrueFigures
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import true_figures
from epsilond.calibrators.mb_sgd.calibrator import certify, run_spec
from epsilond.calibrators.mb_sgd.calibrator import cost as cost_of_noise
from epsilond.calibrators.mb_sgd.members import contribution_norm, only_member
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.search import Certified

NAME = "accelerated-mb-sgd"
CONDITIONS = (INSIDE_DOMAIN, FRESH_NOISE)


def solve(problem: AcceleratedMbSgdProblem) -> Calibration:
    """The smallest certified noise, the stages to run it with, and the printed theorems beside it.

    Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no noise that is offered meets the target.
    """

    @functools.cache
    def certified_for(run: Run) -> Certified:
        return certify(problem, only_member(problem, run), run.rounds)

    def noise_of(run: Run) -> float:
        return certified_for(run).noise * contribution_norm(problem, only_member(problem, run))

    @functools.cache
    def truth(run: Run, noise_multiplier: float) -> TrueFigures | None:
        """At printed noise, for a record under replace-one, as the theorems say; None for noise never offered."""
        if not NOISE_MULTIPLIER.contains(noise_multiplier):
            return None
        spec = run_spec(problem, only_member(problem, run), run.rounds, noise_multiplier)
        return true_figures(account(spec, relation="replace-one").guarantee, problem.target)

    choice = choose_run(problem, noise_of)
    run = choice.run
    return answer(
        NAME,
        problem,
        choice,
        certified_for(run),
        draws=draws_of(run_spec(problem, only_member(problem, run), run.rounds, 1.0), problem.unit),
        printed=printed_readings(problem, run, truth),
        plan=plan_of(problem, run, noise_of(run)),
        objective="empirical",
        declared=CONDITIONS,
        unused=("gradient_std", "heterogeneity"),
    )


def cost(problem: AcceleratedMbSgdProblem) -> CostClass:
    """A closed form where the noise is one and the run is given."""
    return cost_of_noise(problem) if problem.quick else "search"


CALIBRATOR = Calibrator(
    name=NAME,
    title="Accelerated noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "The noise and privacy of mb-sgd, with accelerated steps in stages on the data at hand, and the Moreau "
        "envelope for losses that are not smooth (Lowy and Razaviyayn, Algorithm 2, Theorems E.1 and 2.4)."
    ),
    problem=AcceleratedMbSgdProblem,
    parameters=AcceleratedParameters,
    by_hand=solve,
    cost=cost,
    theorems=("lowy.e.1", "lowy.2.4", "lowy.algorithm-2", ACCELERATED_RISK_BOUND.id),
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
