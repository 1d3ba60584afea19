"""Risk bounds of shuffled-mb-sgd: explicit at the run's noise, Theorem 4.1's order, and Theorem F.3 from below."""

from __future__ import annotations

from collections.abc import Iterator

from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1, ShuffledInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.cautions import absence_cautions
from epsilond.calibrators.envelope import condition_answers, inputs_of
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.risk import setting_of
from epsilond.calibrators.mb_sgd.schedule import risk_problem, risk_theorem
from epsilond.calibrators.risk.answer import UpperBound
from epsilond.calibrators.risk.mini_batch import MiniBatchRiskPart
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import SteppedRiskFields, check_run, explicit_bound
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem


@request
class ShuffledMbSgdRiskProblem(PairTarget, ShuffledMbSgdProblem, SteppedRiskFields):
    """A run of shuffled-mb-sgd, and the lower bounds to compare with its upper ones."""

    def check(self) -> None:
        """Check the fields of shuffled-mb-sgd, and that a noise comes with a batch size and rounds."""
        super().check()
        check_run(self)


def bounds(problem: ShuffledMbSgdRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return upper bounds on the excess risk of a shuffled run, and the quantities that they are compared with.

    They are the bound with explicit constants at the run's noise, and the order of Theorem 4.1 of Lowy and Razaviyayn.

    Args:
        problem: the request, with the losses and the clients.
        run: the batch size and the number of rounds.
        noise_std: standard deviation of a report's noise, per coordinate.

    Returns:
        The bounds, with the bound for the initial model, the conditions that the caller declares, and the warnings.
    """
    inputs = risk_problem(problem, run)
    assert inputs is not None  # batches are always drawn without replacement here
    explicit = explicit_bound(
        inputs, objective=problem.problem, noise_std=noise_std, rounds=run.rounds, step_size=problem.step_size
    )
    theorem = risk_theorem(problem)
    return Bounds(
        upper=(explicit.answer(theorem, problem.smoothness or 0.0), *_printed_bounds(problem, run)),
        setting=setting_of(problem),
        start=start_of_run(problem, problem.problem),
        declared=theorem.conditions,
        step_size=explicit.step_size,
        envelope_smoothness=explicit.envelope_smoothness,
        cautions=tuple(absence_cautions(problem, "initial_distance", "gradient_std")),
    )


def _printed_bounds(problem: ShuffledMbSgdRiskProblem, run: Run) -> Iterator[UpperBound]:
    """Yield the bound on the excess risk that Theorem 4.1 of Lowy and Razaviyayn claims, up to an unknown constant.

    It is equation (46) of the paper, or (47) for strongly convex losses. It is for smooth losses, the population risk
    and protected records. It has no value if R M² ≤ N δ, for R rounds, M participants and N clients.

    Args:
        problem: the request of a bound.
        run: rounds and batch size of the run.

    Yields:
        The bound with its terms and the conditions of the theorem; nothing in other cases.
    """
    if problem.smoothness is None or problem.problem != "population" or problem.unit != "record":
        return

    inputs = inputs_of(ShuffledInputs, problem, participants=problem.reporting, rounds=run.rounds, noise_constant=None)
    evaluation = THEOREM_4_1.evaluate(inputs)
    terms = ("statistical_term", "privacy_term")
    yield UpperBound(
        theorem=THEOREM_4_1.id,
        reading="statement",
        constant="hidden",
        scale=evaluation.outputs.get("excess_risk_scale"),
        terms={name: evaluation.outputs[name] for name in terms if name in evaluation.outputs},
        conditions=condition_answers(evaluation.conditions),
    )


RISK = MiniBatchRiskPart(
    title="Excess risk of noisy mini-batch SGD for clients that trust a shuffler",
    summary=(
        "The explicit bound at the run's noise and Theorem 4.1's order. Lower bounds on the cost of central privacy "
        "are given for comparison (Lowy and Razaviyayn, Theorems 4.1, F.3, F.5, Section 3)."
    ),
    problem=ShuffledMbSgdRiskProblem,
    bounds=bounds,
    noise_std=lambda _problem, _run, parameters: parameters.noise_std,
    trust="shuffle",
    theorems=(THEOREM_4_1.id, EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    example_fields={"noise_std": 2.6},
)
