"""Theorems E.1 and 2.4 as printed, reading by reading, beside what is true at their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_nonsmooth import (
    THEOREM_2_4,
    EnvelopedInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_smooth import (
    THEOREM_E_1,
    ReusedInputs,
    SmoothReusedInputs,
)
from epsilond.calibrators.accelerated.answer import printed_reading
from epsilond.calibrators.accelerated.problem import READINGS
from epsilond.calibrators.envelope import Asked, inputs_of
from epsilond.calibrators.mb_sgd.problem import Reading, Run

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth

SHOWN = (
    "noise_std",
    "noise_multiplier",
    "rounds",
    "regularization",
    "envelope_smoothness",
    "excess_risk_scale",
)


def printed_readings(problem: AcceleratedMbSgdProblem, run: Run, truth: Truth) -> tuple[PrintedReading, ...]:
    """Every reading asked for: Theorem E.1 if the loss is smooth, 2.4 if not, at the run's own batch size.

    Each is taken at the rounds the request gives, or else at those it prescribes itself; the corrected reading divides
    them by K, and counts the term for client sampling that the text leaves out. `excess_risk_scale` is the statement's
    risk up to the constants and logarithms that it hides. The theorems speak of records, and of batches of at most n.
    """
    if problem.unit == "client" or run.batch_size > problem.samples_per_client:
        return ()
    asked = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, run, reading, truth) for reading in READINGS if reading in asked)


def _reading(problem: AcceleratedMbSgdProblem, run: Run, reading: Reading, truth: Truth) -> PrintedReading:
    theorem = THEOREM_2_4 if problem.smoothness is None else THEOREM_E_1
    asked = Asked(theorem, _inputs(problem, run, reading), "corrected" if reading == "corrected" else "printed")
    found = asked.outputs
    printed = Run(batch_size=run.batch_size, rounds=found["rounds"])
    parameters = {name: found[name] for name in SHOWN if name in found} | {"batch_size": run.batch_size}
    return printed_reading(
        problem,
        asked,
        reading,
        parameters={name: value if value < LARGEST_COUNT else float(value) for name, value in parameters.items()},
        true=truth(printed, found["noise_multiplier"]) if printed.rounds <= LARGEST_COUNT else None,
    )


def _inputs(problem: AcceleratedMbSgdProblem, run: Run, reading: Reading) -> ReusedInputs:
    """The theorem's own inputs. Identical distributions do not make the data alike (E-14): v̂ is Φ̂, its largest."""
    spread = problem.lipschitz if problem.empirical_gradient_std is None else problem.empirical_gradient_std
    kind: type[ReusedInputs] = EnvelopedInputs if problem.smoothness is None else SmoothReusedInputs
    return inputs_of(
        kind,
        problem,
        variant="informal" if reading == "informal" else "complete",
        participants=problem.reporting,
        batch_size=run.batch_size,
        empirical_heterogeneity=spread,
        initial_gap=problem.gap,
        sampling="with-replacement" if problem.sampling == "with-replacement" else "without-replacement",
    )
