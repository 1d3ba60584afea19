"""The join of an algorithm: it connects the simulation with the calibrator and the bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.simulators.algorithms.algorithm import AnyRun

AnyProblem: TypeAlias = Any
"""A problem of a kind that the algorithm runs on."""
Parameters: TypeAlias = Any
"""The parameters of a calibration's answer."""


@dataclass(frozen=True, kw_only=True)
class PromisedBound:
    """An upper bound of a theorem on the mean of a quantity that a simulated run measures.

    The bound is computed at the parameters of the run. It is compared with the measured mean only if its constant is
    explicit and all conditions hold.

    Attributes:
        theorem: id of the theorem.
        status: whether the theorem is proved.
        value: the bound, in the unit of the quantity.
        quantity: `excess` for the excess risk of the output, or the name of a diagnostic of the run.
        constant: whether the theorem states its constant factor (`explicit`) or not (`hidden`).
        conditions: conditions of the theorem, evaluated at the exact constants of the learning problem.
    """

    theorem: str
    status: Status
    value: float
    quantity: str = "excess"
    constant: Literal["explicit", "hidden"]
    conditions: tuple[ConditionResult, ...] = ()


@dataclass(frozen=True)
class Allowance:
    """Expected time of a calibration on one core, as a linear function of log₁₀ δ.

    Attributes:
        seconds: time at δ = 1, in seconds.
        seconds_per_decade: additional seconds for each power of ten by which δ is below 1.
    """

    seconds: float
    seconds_per_decade: float = 0.0

    def of(self, target: Target) -> float:
        """Return the expected time of a calibration for a target (ε, δ), in seconds. A smaller δ takes longer."""
        return self.seconds - self.seconds_per_decade * target.log10_delta


@dataclass(frozen=True, kw_only=True)
class Join:
    """The functions that connect a simulated algorithm with theory: they calibrate, account for, and bound its runs.

    A problem is the learning problem with its exact constants, and a run the algorithm with its parameters.

    Attributes:
        algorithm: name of the algorithm.
        noise: names of the fields of a run that state its noise. They are None if the noise is to be calibrated.
        calibrate: function of a problem, a run without noise, and a target (ε, δ). It returns the run with the least
            certified noise, and the answer of the calibrator. It raises the calibrator's errors.
        allowance: expected time of `calibrate`, for the plan of a simulation.
        account: function of a problem, a run with noise, and the natural logarithm of δ. It returns certified bounds on
            ε of the run at δ, in nats. None if only calibrated noise is certified.
        bounds: function of a problem and a run with noise. It returns all bounds of theorems on quantities that the run
            measures.
    """

    algorithm: str
    noise: tuple[str, ...] = ("noise_std",)
    calibrate: Callable[[AnyProblem, AnyRun, Target], tuple[AnyRun, Parameters]]
    allowance: Allowance = Allowance(0.05)
    account: Callable[[AnyProblem, AnyRun, float], Interval] | None = None
    bounds: Callable[[AnyProblem, AnyRun], tuple[PromisedBound, ...]]
