"""one-pass-accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn, every record used at most once.

Each client deals its records into disjoint batches before the run. A record then stands in one message only, and all
messages of its client together are one Gaussian mechanism for it: nothing is composed and nothing is amplified. A
client as the unit stands in every message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import (
    DISJOINT,
    THEOREM_2_3,
    one_pass_noise_std,
)
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, cautions_of
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.calibration import Calibrator, CostClass, Solution
from epsilond.calibrators.certificates import Family
from epsilond.calibrators.mb_sgd.groups import guarantee_of_all, numerical_of_all
from epsilond.calibrators.mb_sgd.members import Member, communication, contribution_norm, members_of, start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.solution import MembersSolution, find_each, released_by
from epsilond.calibrators.one_pass_accelerated_mb_sgd.plan import PLANS
from epsilond.calibrators.one_pass_accelerated_mb_sgd.printed import distinct_clients, printed_readings
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.risk import RISK
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.search import likely_noise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.specs import Spec

NAME = "one-pass-accelerated-mb-sgd"
FIXED_DIVISOR = Condition(
    "fixed-divisor",
    "if a record is added, removed or zeroed, the sum over its batch is still divided by batch_size, and the other "
    "records keep their rounds",
)
CONDITIONS = (INSIDE_DOMAIN, DISJOINT, Condition("fresh-noise", "fresh Gaussian noise in every message"))


def run_spec(problem: OnePassProblem, run: Run | Member, noise_multiplier: float) -> Spec:
    """What one client releases of a record, or of itself, over the whole run."""
    release = Gaussian(noise_multiplier=noise_multiplier)
    return Repeated(times=run.rounds, mechanism=release) if problem.unit == "client" else release


def likely_noise_multiplier(problem: OnePassProblem, member: Member) -> float:
    """A guess, as for one full batch, or as many as there are rounds."""
    return likely_noise(member.target, rate=1.0, rounds=member.rounds if problem.unit == "client" else 1, distance=2.0)


FAMILY = Family(
    spec=run_spec,
    guess=likely_noise_multiplier,
    contribution=contribution_norm,
    target=lambda _, member: member.target,
)
"""Of one member."""


def declared(solution: Solution) -> Iterator[Condition]:
    """The premises of the run, of a record that is absent, and of the risk bound."""
    yield from CONDITIONS
    if solution.problem.relation != "replace-one":
        yield FIXED_DIVISOR
    yield from solution.utility.declared


def printed_stds(problem: OnePassProblem, run: Run) -> tuple[float, ...]:
    """σ of each group by Theorem 2.3, whose proof of privacy is of one client."""
    return tuple(
        one_pass_noise_std(
            lipschitz=member.lipschitz,
            batch_size=member.batch_size,
            epsilon=member.target.epsilon,
            log_delta=member.target.log_delta,
        )
        for member in members_of(problem, run)
    )


def cautions(solution: MembersSolution) -> Iterator[Caution]:
    """Those of the accelerated algorithms, and that the printed theorem is for equal clients."""
    yield from cautions_of(solution, ("empirical_gradient_std",))
    if len(distinct_clients(solution.members)) > 1:
        yield Caution(
            code="printed-for-equal-clients",
            message="Theorem 2.3 is stated for equal clients, and has no reading where they differ",
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
    find=lambda problem: find_each(problem, FAMILY, choose_run, printed_stds),
    released=released_by(FAMILY),
    guarantee=lambda solution: guarantee_of_all(solution.answers),
    numerical=lambda solution: numerical_of_all(solution.members, solution.each),
    utility=lambda solution: plan_of(solution.problem, solution.run, solution.mean_noise_std),
    printed=lambda solution: printed_readings(solution.problem, solution.run, solution.truth),
    communication=communication,
    derivation=lambda solution: solution.derivation,
    declared=declared,
    cautions=cautions,
    start=lambda problem: start_of_run(problem, "population", gap=problem.initial_gap),
    theorems=(THEOREM_2_3.id, ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id),
    risk=RISK,
    plans=PLANS,
    plan_place=2,
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
