"""Risk bounds of shuffled-mb-sgd: explicit at the run's noise, Theorem 4.1's order, and Theorem F.3 from below."""

from __future__ import annotations

from collections.abc import Iterator

from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1, ShuffledInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.cautions import assumed
from epsilond.calibrators.envelope import condition_answers, inputs_of
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import setting_of
from epsilond.calibrators.mb_sgd.schedule import risk_problem, risk_theorem
from epsilond.calibrators.risk.answer import UpperBound
from epsilond.calibrators.risk.part import Bounds, RiskPart
from epsilond.calibrators.risk.parts import SteppedRiskFields, check_run, explicit_bound
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem


@request
class ShuffledMbSgdRiskProblem(ShuffledMbSgdProblem, SteppedRiskFields):
    """A run of shuffled-mb-sgd, and which lower bounds to set beside its upper ones."""

    def check(self) -> None:
        """Check the fields of shuffled-mb-sgd, and that a given noise belongs to a given run."""
        super().check()
        check_run(self)


def bounds(asked: ShuffledMbSgdRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return the explicit bound at the run's noise, and the printed order.

    Args:
        asked: the request.
        run: the run.
        noise_std: σ per coordinate.
    """
    seen = risk_problem(asked, run)
    assert seen is not None  # batches are drawn without replacement
    found = explicit_bound(
        seen, objective=asked.problem, noise_std=noise_std, rounds=run.rounds, step_size=asked.step_size
    )
    theorem = risk_theorem(asked)
    return Bounds(
        upper=(found.answer(theorem, asked.smoothness or 0.0), *_printed(asked, run)),
        setting=setting_of(asked),
        start=start_of_run(asked, asked.problem),
        declared=theorem.conditions,
        step_size=found.step_size,
        envelope_smoothness=found.envelope_smoothness,
        cautions=tuple(assumed(asked, "initial_distance", "gradient_std")),
    )


def _printed(asked: ShuffledMbSgdRiskProblem, run: Run) -> Iterator[UpperBound]:
    """Yield the order (46), or (47) if strongly convex, for smooth losses and the expected loss.

    The scale is absent if RM² ≤ Nδ, for R rounds, M participants and N clients.
    """
    if asked.smoothness is None or asked.problem != "population" or asked.unit != "record":
        return
    inputs = inputs_of(ShuffledInputs, asked, participants=asked.reporting, rounds=run.rounds, noise_constant=None)
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


RISK = RiskPart(
    title="Excess risk of noisy mini-batch SGD for clients that trust a shuffler",
    summary=(
        "The explicit bound at the run's noise and Theorem 4.1's order, beside the least that central privacy costs "
        "(Lowy and Razaviyayn, Theorems 4.1, F.3, F.5, Section 3)."
    ),
    problem=ShuffledMbSgdRiskProblem,
    bounds=bounds,
    noise_std=lambda _asked, _run, parameters: parameters.noise_std,
    trust="shuffle",
    theorems=(THEOREM_4_1.id, EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    given={"noise_std": 2.6},
)
