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
    """A theorem's bound on a measured quantity of a run, at the run's own parameters."""

    theorem: str
    status: Status
    value: float
    quantity: str = "excess"
    """Quantity with the bounded mean: `excess`, the excess risk of the output, or the name of a diagnostic."""
    constant: Literal["explicit", "hidden"]
    """Kind of the constant. A bound with a hidden constant is displayed and never compared."""
    conditions: tuple[ConditionResult, ...] = ()
    """Conditions at the problem's exact constants. A bound is compared only if all of them hold."""


@dataclass(frozen=True)
class Allowance:
    """Expected time of a calibration on one core, in seconds: at δ = 1, and added for each decade of δ below 1."""

    seconds: float
    seconds_per_decade: float = 0.0

    def of(self, target: Target) -> float:
        """Return the expected time for the target, in seconds."""
        return self.seconds - self.seconds_per_decade * target.log10_delta


@dataclass(frozen=True, kw_only=True)
class Join:
    """The functions that connect a simulated algorithm with theory: they calibrate, account for, and bound its runs.

    `algorithm` is its name in the list of algorithms. A problem is the learning problem with its exact constants, and a
    run the algorithm with its parameters.
    """

    algorithm: str
    noise: tuple[str, ...] = ("noise_std",)
    """Fields of the run that state its noise. All are absent from a run with a target."""
    calibrate: Callable[[AnyProblem, AnyRun, Target], tuple[AnyRun, Parameters]]
    """Takes a problem, a run without noise, and a target (ε, δ).

    It returns the run with the least certified noise, and the calibrator's answer. `InvalidInput` or `NoCertificate` is
    raised as by the calibrator."""
    allowance: Allowance = Allowance(0.05)
    """Expected time of `calibrate`, for the plan of a simulation."""
    account: Callable[[AnyProblem, AnyRun, float], Interval] | None = None
    """Takes a problem, a run with noise, and log δ, and returns an enclosure of the run's ε at δ.

    It certifies the same guarantee as `calibrate`, for given noise. None means that only calibrated noise is certified.
    """
    bounds: Callable[[AnyProblem, AnyRun], tuple[PromisedBound, ...]]
    """Takes a problem and a run with noise, and returns every known bound on a measured quantity of the run."""
