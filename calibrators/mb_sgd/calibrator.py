"""mb-sgd: noisy distributed mini-batch SGD, Algorithm 1 of Lowy and Razaviyayn.

In each of R rounds, M of N clients send the mean of K per-record gradients plus N(0, σ²) per coordinate; the server
averages and takes a projected step. The guarantee is local: it holds for every record of every client against a server
that sees every message, whichever clients it picks; so clients may differ, each with its own target. This file states
the family σ ↦ Spec; the problem, the members, the printed formulas, the schedule, the search and the mathematics each
have their own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import account
from epsilond.accountants.quantities import LARGEST_COUNT, NOISE_MULTIPLIER
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.federated_risk import FEDERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import EXCESS_RISK_BOUND
from epsilond.accountants.trust import draws_of
from epsilond.calibrators.answer import (
    Calibration,
    Communication,
    GuaranteeAnswer,
    Served,
    TrueFigures,
    derivation_of,
)
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer, true_figures
from epsilond.calibrators.mb_sgd.groups import (
    GroupParameters,
    common,
    group_parameters,
    guarantee_of_all,
    numerical_of_all,
)
from epsilond.calibrators.mb_sgd.members import (
    Member,
    contribution_norm,
    members_of,
    release_of,
    root_mean_square,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.printed import printed_readings
from epsilond.calibrators.mb_sgd.problem import BITS_PER_COORDINATE, MbSgdProblem, MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.schedule import Averaging, choose_run, likely_noise_multiplier, plan_of
from epsilond.calibrators.mb_sgd.warnings import warnings_of
from epsilond.calibrators.risk.baseline import measured
from epsilond.calibrators.search import TRIALS_KEPT, Certified, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.specs import Spec

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


def run_spec(problem: MiniBatchProblem, member: Member, rounds: int, noise_multiplier: float) -> Spec:
    """What one client releases over the whole run.

    For the unit `client` its whole message is one contribution, and drawing a batch amplifies nothing.
    """
    release = Gaussian(noise_multiplier=noise_multiplier)
    if problem.unit == "client":
        return Repeated(times=rounds, mechanism=release)
    full = problem.sampling == "full"
    batch = Subsampled(
        sampling=problem.sampling,
        batch_size=None if full else member.batch_size,
        population=None if full else member.samples_per_client,
        mechanism=release,
    )
    return Repeated(times=rounds, mechanism=batch)


def certify(problem: MiniBatchProblem, member: Member, rounds: int) -> Certified:
    """The smallest certified noise multiplier of a client in a run."""

    @functools.lru_cache(maxsize=TRIALS_KEPT)
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        return account(
            run_spec(problem, member, rounds, noise_multiplier),
            relation=problem.relation,
            unit=problem.unit,
            observer=problem.observer,
            effort=effort,
        ).guarantee

    return smallest_noise(family, member.target, guess=likely_noise_multiplier(problem, member, rounds))


class _Certificates:
    """Certified noise and its guarantee, computed once for members that release the same."""

    def __init__(self, problem: MbSgdProblem) -> None:
        self.problem = problem
        self._certified: dict[object, Certified] = {}
        self._answers: dict[object, GuaranteeAnswer] = {}
        self._truths: dict[object, TrueFigures] = {}

    def of(self, member: Member, rounds: int) -> Certified:
        """The smallest certified noise multiplier."""
        key = release_of(self.problem, member, rounds)
        if key not in self._certified:
            self._certified[key] = certify(self.problem, member, rounds)
        return self._certified[key]

    def noise_std(self, member: Member, rounds: int) -> float:
        """σ."""
        return self.of(member, rounds).noise * contribution_norm(self.problem, member)

    def mean_noise_std(self, run: Run) -> float:
        """Root mean square of σ over clients."""
        members = members_of(self.problem, run)
        return root_mean_square(tuple((self.noise_std(member, run.rounds), member.clients) for member in members))

    def answer(self, member: Member, rounds: int) -> GuaranteeAnswer:
        """The guarantee, in the sensitivity of this member."""
        key = release_of(self.problem, member, rounds)
        if key not in self._answers:
            self._answers[key] = guarantee_answer(
                self.of(member, rounds),
                member.target,
                definition="local",
                sampling=self.problem.sampling,
                sensitivity=1.0,
                draws=draws_of(run_spec(self.problem, member, rounds, 1.0), self.problem.unit),
            )
        sensitivity = sensitivity_factor(self.problem.relation) * contribution_norm(self.problem, member)
        return replace(self._answers[key], sensitivity=sensitivity).read_from(self._answers[key].curve)

    def truth(self, member: Member, rounds: int, noise_multiplier: float) -> TrueFigures | None:
        """The truth at printed noise, for a record under replace-one: what the theorems speak of.

        None for more rounds, or another size of noise, than is ever accounted for.
        """
        if rounds > LARGEST_COUNT or not NOISE_MULTIPLIER.contains(noise_multiplier):
            return None
        key = (release_of(self.problem, member, rounds), noise_multiplier)
        if key not in self._truths:
            spec = run_spec(self.problem, member, rounds, noise_multiplier)
            self._truths[key] = true_figures(account(spec, relation="replace-one").guarantee, member.target)
        return self._truths[key]


def solve(problem: MbSgdProblem) -> Calibration:
    """The smallest certified noise of every client, the schedule to run it with, and the printed theorems beside it.

    Guarantees: for every client `guarantee.epsilon.upper` ≤ its ε at its δ, and `guarantee.delta.upper` ≤ its δ at
    its ε. With client groups the guarantee at the top is the weakest that covers all clients, and figures in which
    groups differ stand with each group alone.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no noise that is offered meets the target.
    """
    found = _Certificates(problem)
    choice = choose_run(problem, found.mean_noise_std)
    run = choice.run
    members = members_of(problem, run)
    certified = tuple(found.of(member, run.rounds) for member in members)
    noise_stds = tuple(found.noise_std(member, run.rounds) for member in members)
    answers = tuple(found.answer(member, run.rounds) for member in members)
    printed = printed_readings(problem, run, found.truth)
    plan = plan_of(problem, run, found.mean_noise_std)
    answer = Calibration(
        algorithm="mb-sgd",
        parameters=MbSgdParameters(
            noise_std=common(noise_stds),
            noise_multiplier=common(one.noise for one in certified),
            batch_size=run.batch_size,
            rounds=run.rounds,
            step_size=plan.step_size if plan else None,
            averaging=plan.averaging if plan else None,
            envelope_smoothness=plan.envelope_smoothness if plan else None,
            groups=group_parameters(problem, run, certified, answers) if problem.client_groups else None,
        ),
        guarantee=guarantee_of_all(answers),
        numerical=numerical_of_all(
            numerical_answer(one.guarantee, member.target) for one, member in zip(certified, members, strict=True)
        ),
        as_printed=printed,
        risk=plan.risk if plan else None,
        communication=_communication(problem, run),
        frontier=choice.frontier,
        derivation=derivation_of(*dict.fromkeys(one.guarantee.derivation for one in certified)),
        declared_conditions=declared_answers((*CONDITIONS, *(plan.declared if plan else ()))),
        warnings=warnings_of(problem, certified, noise_stds, printed),
        engine_version=ENGINE_VERSION,
    )
    return measured(answer, start_of_run(problem, "population"))


def _communication(problem: MbSgdProblem, run: Run) -> Communication:
    random = len(problem.counts) > 1
    return Communication(
        bits_per_coordinate=float(BITS_PER_COORDINATE),
        bits_per_round_per_client=BITS_PER_COORDINATE * problem.dimension,
        total_bits=problem.bits_per_round * run.rounds,
        expected_total_bits=problem.expected_bits_per_round * run.rounds if random else None,
    )


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
    by_hand=solve,
    cost=cost,
    theorems=("lowy.2.1", "lowy.2.2", "lowy.appendix-h", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
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
