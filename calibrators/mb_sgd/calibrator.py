"""mb-sgd: noisy distributed mini-batch SGD, Algorithm 1 of Lowy and Razaviyayn.

In each of R rounds, M of N clients send the mean of K per-record gradients plus N(0, σ²) per coordinate; the server
averages and takes a projected step. The guarantee is local: it holds for every record of every client against a server
that sees every message, whichever clients it picks; so clients may differ, each with its own target. The family
σ ↦ Spec stands with the members.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.answer import Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.mb_sgd.cautions import cautions_of
from epsilond.calibrators.mb_sgd.groups import (
    GroupParameters,
    common,
    group_parameters,
    guarantee_of_all,
    numerical_of_all,
)
from epsilond.calibrators.mb_sgd.members import FAMILY, communication, mean_noise_std, start_of_run
from epsilond.calibrators.mb_sgd.plan import PLANS
from epsilond.calibrators.mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.risk import RISK
from epsilond.calibrators.mb_sgd.schedule import (
    Averaging,
    Plan,
    choose_run,
    plan_of,
    prescribed_run,
    with_prescribed,
)
from epsilond.calibrators.mb_sgd.solution import MembersSolution, find_each, released_by

CONDITIONS = (INSIDE_DOMAIN, FRESH_NOISE)


@dataclass(frozen=True, kw_only=True)
class MbSgdParameters:
    """What to run with. A figure in which client groups differ stands in `groups` alone: none of them is everyone's."""

    noise_std: Annotated[
        float | None,
        Served("σ per coordinate, added by each client to its mean of batch_size gradients; absent if groups differ"),
    ] = None
    noise_multiplier: Annotated[
        float | None,
        Served("σ over the norm bound of one protected contribution to that mean; absent if groups differ"),
    ] = None
    batch_size: Annotated[int, Served("records of one client per round, of a client with samples_per_client records")]
    rounds: Annotated[int, Served("communication rounds")]
    step_size: Annotated[float | None, Served("absent where no risk bound applies")] = None
    averaging: Annotated[Averaging | None, Served("which average of the iterates to output")] = None
    envelope_smoothness: Annotated[
        float | None,
        Served("without smoothness: b of the Moreau envelope of each (weighted) loss, whose gradients are sent"),
    ] = None
    groups: Annotated[tuple[GroupParameters, ...] | None, Served("what each of client_groups is to run with")] = None

    @classmethod
    def of(cls, solution: MembersSolution) -> MbSgdParameters:
        """The run, its noise and its steps."""
        plan: Plan | None = solution.utility
        return cls(
            noise_std=common(solution.noise_stds),
            noise_multiplier=common(one.noise for one in solution.each),
            batch_size=solution.run.batch_size,
            rounds=solution.run.rounds,
            step_size=plan.step_size if plan else None,
            averaging=plan.averaging if plan else None,
            envelope_smoothness=plan.envelope_smoothness if plan else None,
            groups=group_parameters(solution) if solution.problem.client_groups else None,
        )


def printed_stds(problem: MbSgdProblem, run: Run) -> tuple[float, ...]:
    """σ of each group by Theorem 2.1 or 2.2 as printed."""
    return theorem_inputs(problem, run, run.rounds).noise_stds(run.rounds, "printed")


def utility_of(solution: MembersSolution) -> Plan | None:
    """Step size, averaging and risk bound at the certified noise; with the bound at the printed prescription too."""
    problem, run = solution.problem, solution.run
    plan = plan_of(problem, run, solution.mean_noise_std)
    prescribed = prescribed_run(problem, run) if plan else None
    if plan is None or prescribed is None:
        return plan
    assert solution.certificates is not None
    return with_prescribed(plan, problem, prescribed, mean_noise_std(solution.certificates, prescribed))


def cost(problem: MiniBatchProblem) -> CostClass:
    """Full batches, and clients as units, are exactly Gaussian: a closed form, for one group at a given pace."""
    amplified = problem.unit == "record" and problem.sampling != "full"
    several = problem.client_groups is not None and len(problem.client_groups) > 1
    paced = problem.rounds is not None and (problem.batch_size is not None or problem.sampling == "full")
    return "closed-form" if paced and not amplified and not several else "search"


CALIBRATOR = Calibrator(
    name="mb-sgd",
    title="Noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "Each client adds Gaussian noise to its own mini-batch gradients, so that everything it sends is private for "
        "each of its records (Lowy and Razaviyayn, Algorithm 1, Theorems 2.1 and 2.2)."
    ),
    problem=MbSgdProblem,
    parameters=MbSgdParameters,
    cost=cost,
    find=lambda problem: find_each(problem, FAMILY, choose_run, printed_stds),
    released=released_by(FAMILY),
    guarantee=lambda solution: guarantee_of_all(solution.answers),
    numerical=lambda solution: numerical_of_all(solution.members, solution.each),
    utility=utility_of,
    printed=lambda solution: printed_readings(solution.problem, solution.run, solution.members, solution.truth),
    communication=communication,
    derivation=lambda solution: solution.derivation,
    declared=lambda solution: (*CONDITIONS, *(solution.utility.declared if solution.utility else ())),
    cautions=lambda solution: cautions_of(solution.problem, solution.each, solution.noise_stds, solution.printed),
    start=lambda problem: start_of_run(problem, "population"),
    theorems=("lowy.2.1", "lowy.2.2", "lowy.appendix-h", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    risk=RISK,
    plans=PLANS,
    plan_place=6,
    example={
        "epsilon": 1.0,
        "delta": 1e-5,
        "samples_per_client": 1000,
        "clients": 50,
        "participants": 25,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "batch_size": 100,
        "rounds": 100,
    },
)
