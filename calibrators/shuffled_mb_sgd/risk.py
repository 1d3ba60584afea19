"""Risk bounds of shuffled-mb-sgd: explicit at the run's noise, Theorem 4.1's order, and Theorem F.3 from below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1, ShuffledInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.federated_risk import FEDERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import EXCESS_RISK_BOUND
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.envelope import condition_answers, declared_answers
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import setting_of
from epsilond.calibrators.mb_sgd.schedule import risk_problem
from epsilond.calibrators.risk.answer import RiskBounder, RiskBoundsAnswer, RunAnswer, UpperBound
from epsilond.calibrators.risk.baseline import measured_bounds
from epsilond.calibrators.risk.parts import (
    BOUNDS,
    SteppedRiskFields,
    check_run,
    explicit_bound,
    lower_bound,
    ratios,
    reference_rates,
)
from epsilond.calibrators.shuffled_mb_sgd import calibrator as shuffled_mb_sgd
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem


@request
class ShuffledMbSgdRiskProblem(ShuffledMbSgdProblem, SteppedRiskFields):
    """A run of shuffled-mb-sgd, and which lower bounds to set beside its upper ones."""

    def check(self) -> None:
        """Those of shuffled-mb-sgd; a given noise is that of a given run."""
        super().check()
        check_run(self)


def solve(asked: ShuffledMbSgdRiskProblem) -> RiskBoundsAnswer:
    """Every bound that applies to the run. Its noise is the one given, or else the smallest certified one.

    Raises:
        ConditionViolated: no theorem covers this run under this relation, and no noise was given.
        Infeasible: no noise that is offered meets the target.
    """
    run, noise_std = _run_and_noise(asked)
    unshuffled = asked.unshuffled(run)
    seen = risk_problem(unshuffled, run)
    assert seen is not None  # batches are drawn without replacement
    found = explicit_bound(
        seen, objective=asked.problem, noise_std=noise_std, rounds=run.rounds, step_size=asked.step_size
    )
    theorem = EXCESS_RISK_BOUND if asked.smoothness is not None else FEDERATED_RISK
    upper = (found.answer(theorem, asked.smoothness or 0.0), *_printed(asked, run))
    setting = setting_of(unshuffled)
    lower = (lower_bound(asked, setting, asked.trust or "shuffle"),)
    answer = RiskBoundsAnswer(
        algorithm="shuffled-mb-sgd",
        run=RunAnswer(
            noise_std=noise_std,
            noise_source="certified" if asked.noise_std is None else "given",
            batch_size=run.batch_size,
            rounds=run.rounds,
            step_size=found.step_size,
            envelope_smoothness=found.envelope_smoothness,
        ),
        upper=upper,
        lower=lower,
        reference=reference_rates(asked, setting),
        ratios=tuple(ratios(upper, lower)),
        declared_conditions=declared_answers(dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *theorem.conditions))),
        warnings=tuple(_warnings(asked)),
        engine_version=ENGINE_VERSION,
    )
    return measured_bounds(answer, start_of_run(unshuffled, asked.problem))


def _run_and_noise(asked: ShuffledMbSgdRiskProblem) -> tuple[Run, float]:
    if asked.noise_std is not None and asked.batch_size is not None and asked.rounds is not None:
        return Run(batch_size=asked.batch_size, rounds=asked.rounds), asked.noise_std
    parameters = shuffled_mb_sgd.solve(replace(asked, readings=())).parameters
    return Run(batch_size=parameters.batch_size, rounds=parameters.rounds), parameters.noise_std


def _printed(asked: ShuffledMbSgdRiskProblem, run: Run) -> Iterator[UpperBound]:
    """(46), or (47) if strongly convex: an order, for smooth losses and the expected loss. No figure if RM² ≤ Nδ."""
    if asked.smoothness is None or asked.problem != "population" or asked.unit != "record":
        return
    inputs = ShuffledInputs(
        epsilon=asked.epsilon,
        delta=asked.delta,
        log10_delta=asked.log10_delta,
        samples_per_client=asked.samples_per_client,
        clients=asked.clients,
        participants=asked.reporting,
        dimension=asked.dimension,
        lipschitz=asked.lipschitz,
        diameter=asked.diameter,
        smoothness=asked.smoothness,
        strong_convexity=asked.strong_convexity,
        rounds=run.rounds,
    )
    found = THEOREM_4_1.evaluate(inputs)
    terms = ("statistical_term", "privacy_term")
    yield UpperBound(
        theorem=THEOREM_4_1.id,
        reading="statement",
        constant="hidden",
        scale=found.outputs.get("excess_risk_scale"),
        terms={name: found.outputs[name] for name in terms if name in found.outputs},
        conditions=condition_answers(found.conditions),
    )


def _warnings(asked: ShuffledMbSgdRiskProblem) -> Iterator[Caution]:
    yield Caution(
        code="hidden-constants",
        message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
    )
    if asked.initial_distance is None:
        yield Caution(code="assumed-initial-distance", message="initial_distance was taken to be the diameter")
    if asked.gradient_std is None:
        yield Caution(code="assumed-gradient-std", message="gradient_std was taken to be lipschitz, its largest value")


def cost(asked: ShuffledMbSgdRiskProblem) -> CostClass:
    """With the noise given there is nothing to search."""
    return "closed-form" if asked.noise_std is not None else "search"


RISK_BOUND = RiskBounder(
    name="shuffled-mb-sgd",
    title="Excess risk of noisy mini-batch SGD for clients that trust a shuffler",
    summary=(
        "The explicit bound at the run's noise and Theorem 4.1's order, beside the least that central privacy costs "
        "(Lowy and Razaviyayn, Theorems 4.1, F.3, F.5, Section 3)."
    ),
    problem=ShuffledMbSgdRiskProblem,
    solve=solve,
    cost=cost,
    theorems=(THEOREM_4_1.id, EXCESS_RISK_BOUND.id, FEDERATED_RISK.id, *(bound.id for bound in BOUNDS)),
    example={**shuffled_mb_sgd.CALIBRATOR.example, "noise_std": 2.6},
)
