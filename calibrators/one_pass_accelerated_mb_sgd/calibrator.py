"""one-pass-accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn, every record used at most once.

Each client divides its records into disjoint batches before the run. A record is then used in only one message, and all
messages of its client together are one Gaussian mechanism for it, without composition or amplification. A client as the
unit is used in every message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import DISJOINT, THEOREM_2_3
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.one_pass_run import one_pass_noise_std
from epsilond.calibrators.accelerated_mb_sgd.calibrator import AcceleratedCalibrator
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.certificates import Family
from epsilond.calibrators.mb_sgd.members import (
    Member,
    contribution_norm,
    divisor_conditions,
    members_of,
)
from epsilond.calibrators.mb_sgd.plan import ONE_PASS_PLANS
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.solution import MembersSolution
from epsilond.calibrators.one_pass_accelerated_mb_sgd.printed import distinct_clients, printed_readings
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.risk import RISK
from epsilond.calibrators.one_pass_accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.solution import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedPlan
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Certificates, Truth
    from epsilond.calibrators.frontier import Choice

SAME_ROUNDS = Condition("same-rounds", "if a record is added, removed or zeroed, the other records keep their rounds")
FRESH_NOISE = Condition("fresh-noise", "fresh Gaussian noise in every message")


def run_spec(problem: OnePassProblem, run: Run | Member, noise_multiplier: float) -> Spec:
    """Return the mechanism by which one client releases its messages over the whole run.

    A record is used in only one message, which is a Gaussian mechanism. A client is used in the messages of all rounds.

    Args:
        problem: the request, which names the protected unit.
        run: the run, or the kind of client, for its number of rounds.
        noise_multiplier: σ over the norm bound of one contribution.
    """
    release = Gaussian(noise_multiplier=noise_multiplier)
    if problem.unit == "client":
        return Repeated(times=run.rounds, mechanism=release)
    return release


def likely_noise_multiplier(problem: OnePassProblem, member: Member) -> float:
    """Estimate the noise multiplier that meets a client's target, as the start of the search for it.

    A protected record is used in one message, and a protected client in one message per round. Replacing a contribution
    moves a message by at most twice the norm bound of one contribution.

    Args:
        problem: the request, with the protected unit.
        member: the kind of client, with its target and rounds.

    Returns:
        The estimate: σ over the norm bound of one contribution.
    """
    messages = member.rounds if problem.unit == "client" else 1
    return likely_noise(member.target, rate=1.0, rounds=messages, distance=2.0)


FAMILY: Family[OnePassProblem, Member] = Family(
    spec=run_spec,
    guess=likely_noise_multiplier,
    contribution=contribution_norm,
    target=lambda _, member: member.target,
)
"""The mechanisms of one client at all noise multipliers, with the target that they have to meet."""


EXAMPLE = {
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
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class OnePassCalibrator(AcceleratedCalibrator[OnePassProblem]):
    """Calibrator of accelerated noisy SGD in one pass, in which every record is used at most once.

    A record then affects one message only, so that the noise is that of a single Gaussian mechanism. The calibrator
    divides the records into rounds and batches with the best bound on the population excess risk.
    """

    name = "one-pass-accelerated-mb-sgd"
    title = "One pass of accelerated noisy SGD without a trusted server"
    summary = (
        "Every record is used once, so that the noise is that of one Gaussian mechanism. The number of records in "
        "each round is optimised (Lowy and Razaviyayn, Theorem 2.3)."
    )
    problem = OnePassProblem
    theorems = (THEOREM_2_3.id, ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = ONE_PASS_PLANS
    plan_place = 2
    family = FAMILY
    objective = "population"
    unused = ("empirical_gradient_std",)

    def cost(self, problem: OnePassProblem) -> CostClass:
        """Return `closed-form` if batch size and rounds are given and a single stage is run, and `search` otherwise.

        The noise has a closed form, because it is that of one Gaussian mechanism. Only the run may need a search.
        """
        return "closed-form" if problem.quick else "search"

    def choose_run(self, problem: OnePassProblem, certificates: Certificates[OnePassProblem, Member]) -> Choice[Run]:
        """Return the best division of the records into rounds and batches, if the problem leaves it open."""
        return choose_run(problem, certificates)

    def printed_stds(self, problem: OnePassProblem, run: Run) -> tuple[float, ...]:
        """Return the standard deviation σ of each group's noise by Theorem 2.3, which is proved for one client.

        Args:
            problem: the request, with its client groups.
            run: the batch size and the rounds of the run.

        Returns:
            One σ per group of clients, or a single one without groups.
        """
        return tuple(
            one_pass_noise_std(
                lipschitz=member.lipschitz,
                batch_size=member.batch_size,
                epsilon=member.target.epsilon,
                log_delta=member.target.log_delta,
            )
            for member in members_of(problem, run)
        )

    def risk(self, solution: MembersSolution[OnePassProblem]) -> AcceleratedPlan | None:
        """Return the stages at the certified noise, with the bound on the excess risk; None without a theorem."""
        return plan_of(solution.problem, solution.run, solution.mean_noise_std)

    def readings(self, solution: MembersSolution[OnePassProblem], truth: Truth[Member]) -> tuple[PrintedReading, ...]:
        """Return the interpretations of Theorem 2.3, with the guarantee certified at the noise of each."""
        return printed_readings(solution.problem, solution.run, truth)

    def conditions(self, problem: OnePassProblem) -> tuple[Condition, ...]:
        """Return the conditions of the guarantee, among them those on the divisor of the batch means.

        If a neighbouring data set may lack a record, all other records must keep their rounds.

        Args:
            problem: the request, with the protected unit and the relation.

        Returns:
            Conditions on the data and the program, which only the caller can check.
        """
        may_be_absent = problem.unit == "record" and problem.relation != "replace-one"
        absence_conditions = (SAME_ROUNDS,) if may_be_absent else ()
        return (INSIDE_DOMAIN, DISJOINT, FRESH_NOISE, *divisor_conditions(problem), *absence_conditions)

    def warnings(self, outcome: Outcome[MembersSolution[OnePassProblem], AcceleratedPlan]) -> Iterator[Caution]:
        """Yield the cautions of accelerated algorithms, and one if unequal clients leave no printed reading."""
        yield from super().warnings(outcome)
        if len(distinct_clients(outcome.solution.members)) > 1:
            yield Caution(
                code="printed-for-equal-clients",
                message="Theorem 2.3 is stated for equal clients, and has no reading where they differ",
            )


CALIBRATOR = OnePassCalibrator()
