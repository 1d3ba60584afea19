"""Risk bounds of mb-sgd: explicit at the run's noise, Theorems 2.1 and 2.2 as printed, and Theorem 3.1 from below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import ConditionResult, Sides
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.federated_risk import FEDERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_prescription import Prescription, informal
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import EXCESS_RISK_BOUND
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.envelope import condition_answers, declared_answers
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.calibrators.mb_sgd.members import (
    federation_of,
    members_of,
    root_mean_square,
    scales_of,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.printed import inputs_of, printed_noise_std, registered, theorem_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.schedule import risk_problem
from epsilond.calibrators.risk.answer import (
    AggregatesAnswer,
    RiskBounder,
    RiskBoundsAnswer,
    RunAnswer,
    UpperBound,
)
from epsilond.calibrators.risk.baseline import measured_bounds
from epsilond.calibrators.risk.parts import (
    BOUNDS,
    Explicit,
    Setting,
    SteppedRiskFields,
    check_run,
    explicit_bound,
    lower_bound,
    ratios,
    reference_rates,
)

OF_THE_RISK = ("client-sampling", "claim-proved", "equal-shares")
"""Conditions of the printed theorems that are about the risk, beside the rounds."""


@request
class MbSgdRiskProblem(MbSgdProblem, SteppedRiskFields):
    """A run of mb-sgd, and which lower bounds to set beside its upper ones."""

    def check(self) -> None:
        """Those of mb-sgd; a given noise is that of a given run."""
        super().check()
        check_run(self)


def solve(asked: MbSgdRiskProblem) -> RiskBoundsAnswer:
    """Every bound that applies to the run. Its noise is the one given, or else the smallest certified one.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation, and no noise was given.
        Infeasible: no noise that is offered meets the target.
    """
    run, noise_std = _run_and_noise(asked)
    seen = risk_problem(asked, run)
    found = None
    if seen is not None:
        found = explicit_bound(
            seen, objective=asked.problem, noise_std=noise_std, rounds=run.rounds, step_size=asked.step_size
        )
    upper = (*_explicit(asked, found), *_printed(asked, run, noise_std))
    setting = setting_of(asked)
    lower = (lower_bound(asked, setting, asked.trust or "local"),)
    theorem = FEDERATED_RISK if asked.client_groups or asked.smoothness is None else EXCESS_RISK_BOUND
    answer = RiskBoundsAnswer(
        algorithm="mb-sgd",
        run=RunAnswer(
            noise_std=noise_std,
            noise_source="certified" if asked.noise_std is None else "given",
            batch_size=run.batch_size,
            rounds=run.rounds,
            step_size=found.step_size if found else None,
            envelope_smoothness=found.envelope_smoothness if found else None,
        ),
        aggregates=_aggregates(asked, run),
        upper=upper,
        lower=lower,
        reference=reference_rates(asked, setting),
        ratios=tuple(ratios(upper, lower)),
        declared_conditions=declared_answers(
            dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *(theorem.conditions if found else ())))
        ),
        warnings=tuple(_warnings(asked, found)),
        engine_version=ENGINE_VERSION,
    )
    return measured_bounds(answer, start_of_run(asked, asked.problem))


def setting_of(asked: MiniBatchProblem) -> Setting:
    """What lower bounds look at."""
    run = Run(batch_size=1, rounds=1)
    members = members_of(asked, run)
    return Setting(
        epsilon=max(member.target.epsilon for member in members),
        log10_delta=min(member.target.log10_delta for member in members),
        samples_per_client=max(member.samples_per_client for member in members),
        clients=asked.clients,
        dimension=asked.dimension,
        lipschitz=asked.lipschitz,
        diameter=asked.diameter,
        strong_convexity=asked.strong_convexity,
    )


def _run_and_noise(asked: MbSgdRiskProblem) -> tuple[Run, float]:
    if asked.noise_std is not None and asked.batch_size is not None and asked.rounds is not None:
        return Run(batch_size=asked.batch_size, rounds=asked.rounds), asked.noise_std
    parameters = mb_sgd.solve(replace(asked, readings=())).parameters
    run = Run(batch_size=parameters.batch_size, rounds=parameters.rounds)
    if parameters.groups is None:
        return run, parameters.noise_std
    return run, root_mean_square(tuple((group.noise_std, group.clients) for group in parameters.groups))


def _explicit(asked: MbSgdRiskProblem, found: Explicit | None) -> Iterator[UpperBound]:
    if found is None:
        return
    theorem = FEDERATED_RISK if asked.client_groups or asked.smoothness is None else EXCESS_RISK_BOUND
    yield found.answer(theorem, asked.smoothness or 0.0, heaviest=max(1.0, *scales_of(asked)))


def _printed(asked: MbSgdRiskProblem, run: Run, noise_std: float) -> Iterator[UpperBound]:
    """The complete statement at the run's rounds, as printed and corrected, and the informal one for equal clients.

    They are for the expected loss.
    """
    if asked.problem != "population" or asked.unit != "record":
        return
    inputs, theorem = inputs_of(asked, run, run.rounds), registered(asked)
    readings: tuple[tuple[TheoremReading, Literal["complete", "corrected"]], ...]
    readings = (("printed", "complete"), ("corrected", "corrected"))
    for formula, reading in readings:
        others = (one.at(inputs, formula) for one in theorem.conditions if one.id in OF_THE_RISK)
        yield _upper(asked, run, noise_std, inputs.prescription(formula), reading, others)
    federation = federation_of(asked, members_of(asked, run))
    if len(federation.groups) == 1 and len(federation.counts) == 1 and asked.smoothness is not None:
        found = informal(
            federation=federation,
            dimension=asked.dimension,
            lipschitz=asked.lipschitz,
            diameter=asked.diameter,
            smoothness=asked.smoothness,
            strong_convexity=asked.strong_convexity,
            rounds=run.rounds,
        )
        yield _upper(asked, run, noise_std, found, "informal")


def _upper(
    asked: MbSgdRiskProblem,
    run: Run,
    noise_std: float,
    found: Prescription,
    reading: Literal["informal", "complete", "corrected"],
    others: Iterable[ConditionResult] = (),
) -> UpperBound:
    members = members_of(asked, run)
    printed = root_mean_square(tuple((printed_noise_std(member, run.rounds), member.clients) for member in members))
    explicit = found.constants == "explicit"
    enough = Sides.at_least(run.rounds, found.prescribed_rounds)
    no_more = Sides.at_most(noise_std, printed)
    sides = (
        ("enough-rounds", "R is at least the prescribed number of rounds", enough),
        ("at-most-the-printed-noise", "σ is at most the printed one", no_more),
    )
    return UpperBound(
        theorem=theorem_of(asked),
        reading=reading,
        constant=found.constants,
        value=found.excess_risk if explicit else None,
        scale=None if explicit else found.excess_risk,
        terms={name: value for name, value in found.terms.items() if abs(value) < float("inf")},
        conditions=condition_answers(
            (
                *(ConditionResult(name, text, both.holds, both.left, both.right) for name, text, both in sides),
                *others,
            )
        ),
    )


def _aggregates(asked: MbSgdRiskProblem, run: Run) -> AggregatesAnswer:
    federation = federation_of(asked, members_of(asked, run))
    seen, moments = federation.aggregates(run.rounds), federation.participation
    squared = max(member.lipschitz for member in members_of(asked, run)) ** 2
    return AggregatesAnswer(
        participants=moments.mean,
        rms_participants=moments.rms,
        average_xi=seen.average_xi,
        largest_xi=seen.largest_xi,
        average_psi=squared * seen.average_xi,
        largest_psi=squared * seen.largest_xi,
        branch=seen.branch,
    )


def _warnings(asked: MbSgdRiskProblem, found: Explicit | None) -> Iterator[Caution]:
    yield Caution(
        code="hidden-constants",
        message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
    )
    if found is None:
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the excess-risk bound is proved for batches drawn without replacement",
        )
    if asked.client_groups:
        yield Caution(
            code="lower-bound-for-equal-clients",
            message="the lower bound is for equal clients; it is taken at the largest samples_per_client and epsilon",
        )
    if asked.initial_distance is None:
        yield Caution(code="assumed-initial-distance", message="initial_distance was taken to be the diameter")
    if asked.gradient_std is None:
        yield Caution(code="assumed-gradient-std", message="gradient_std was taken to be lipschitz, its largest value")


def cost(asked: MbSgdRiskProblem) -> CostClass:
    """With the noise of a smooth loss given there is nothing to search."""
    return "closed-form" if asked.noise_std is not None else mb_sgd.cost(asked)


RISK_BOUND = RiskBounder(
    name="mb-sgd",
    title="Excess risk of noisy mini-batch SGD for clients that trust nobody",
    summary=(
        "Upper bounds at the run's noise, explicit and as orders, beside the least that privacy against everyone costs "
        "(Lowy and Razaviyayn, Theorems 2.1, 2.2, 3.1, F.3 to F.5, Section 3)."
    ),
    problem=MbSgdRiskProblem,
    solve=solve,
    cost=cost,
    theorems=("lowy.2.1", "lowy.2.2", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id, *(bound.id for bound in BOUNDS)),
    example={**mb_sgd.CALIBRATOR.example, "noise_std": 0.02, "gradient_std": 0.5},
)
