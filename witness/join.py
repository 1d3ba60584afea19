"""What joins one algorithm's simulation with its calibrator and its bounds; each algorithm has a file with its own."""

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
"""A problem of the kinds that an algorithm runs on."""
Parameters: TypeAlias = Any
"""The parameters that a calibration answers with."""


@dataclass(frozen=True, kw_only=True)
class PromisedBound:
    """What a theorem promises of the run that was measured, at the run's own parameters."""

    theorem: str
    status: Status
    value: float
    quantity: str = "excess"
    """What it bounds the mean of: the excess risk of what the run puts out, or the diagnostic of that name."""
    constant: Literal["explicit", "hidden"]
    """An order with a hidden constant is shown and never compared."""
    conditions: tuple[ConditionResult, ...] = ()
    """Checked at the problem's exact constants; a bound is only compared where all hold."""


@dataclass(frozen=True)
class Allowance:
    """Seconds that a calibration may take on one core: at an ordinary δ, and more for each decade of δ below 1."""

    seconds: float
    a_decade: float = 0.0

    def of(self, target: Target) -> float:
        """For this target."""
        return self.seconds - self.a_decade * target.log10_delta


@dataclass(frozen=True, kw_only=True)
class Join:
    """One algorithm's: `algorithm` is its name in both lists."""

    algorithm: str
    noise: tuple[str, ...] = ("noise_std",)
    """The run's fields that say how much noise: all absent where a target is to be met."""
    calibrate: Callable[[AnyProblem, AnyRun, Target], tuple[AnyRun, Parameters]]
    """(problem, run without noise, target) → the run with the least certified noise, and the calibration's answer.

    Raises `InvalidInput` or `NoCertificate` as the calibrator does.
    """
    allowance: Allowance = Allowance(0.05)
    """What `calibrate` may take, for the plan."""
    account: Callable[[AnyProblem, AnyRun, float], Interval] | None = None
    """(problem, run with noise, log δ) → the ε that is certified of this noise; None: noise is certified as calibrated.

    What `calibrate` certifies, of noise from elsewhere."""
    bounds: Callable[[AnyProblem, AnyRun], tuple[PromisedBound, ...]]
    """(problem, run with noise) → every bound that is known of what is measured of it."""
