"""A privacy accountant for pfl that solves for the missing number on the certified upper bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pfl.privacy.privacy_accountant import PrivacyAccountant

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.pfl.mechanism import MechanismPlan
from epsilond.integrations.pfl.planned import PlannedFigure, PlannedRun
from epsilond.integrations.pfl.runs import complete_target, curve_of, noise_for, spec_from_pfl


@dataclass(repr=False)
class EpsilondPrivacyAccountant(PlannedRun, PrivacyAccountant):
    """pfl's `PrivacyAccountant`, with two of epsilon, delta and noise_parameter, or all three.

    It replaces PLDPrivacyAccountant in every function that takes an accountant, such as
    `GaussianMechanism.from_privacy_accountant`. pfl's own accountants search for the noise until δ is within a
    thousandth of the target, above or below it. PRVPrivacyAccountant also uses an estimate of δ.

    Guarantees: the releases of `num_compositions` cohorts are certified to be (epsilon, delta)-private for one user
    more or less. Each cohort has the noise `noise_parameter` (over the clipping bound) and contains every user
    independently with `sampling_probability`. A missing ε or δ is the certified upper bound. A missing noise is the
    smallest one with an upper bound that meets the target. The bounds of pfl's search for the noise are not needed.

    A `noise_scale` below 1 gives a warning, because pfl then adds `cohort_noise_parameter = noise_parameter ·
    noise_scale` and still reports ε and δ of the larger noise. `epsilon_as_run` is the ε of the smaller noise.

    The accountant sees a plan, so its ε is `declared`. `observe(postprocessors)` lets it watch the mechanism, and the ε
    is then that of a plan that the iterations kept. `epsilon`, `delta`, `curve` and `epsilon_as_run` raise
    `epsilond.RunDiffers` if an iteration contradicts the plan.

    Raises:
        InvalidInput: numbers out of range, or three numbers for which the guarantee does not hold. It is a
            `ValueError`.
        AssertionError: a check of pfl rejects the arguments.
        Infeasible: no noise in the range of the search meets the target.
    """

    if TYPE_CHECKING:  # pfl's field
        noise_parameter: Any
    epsilon = PlannedFigure()
    delta = PlannedFigure()

    def __post_init__(self) -> None:
        """Compute the one of noise, ε and δ that is missing. If all three are given, check that the guarantee holds.

        At least two of the three must be given.

        Raises:
            InvalidInput: the mechanism is unknown, a number is out of range, or the guarantee does not hold.
            Infeasible: no noise in the range of the search meets the target.
        """
        super().__post_init__()
        if self.mechanism not in {"gaussian", "laplace"}:
            raise InvalidInput.at("/mechanism", "is unknown", allowed="gaussian, laplace")
        if self.noise_parameter is None:
            self.noise_parameter = noise_for(
                mechanism=self.mechanism,
                sampling_probability=self.sampling_probability,
                num_compositions=self.num_compositions,
                epsilon=self.epsilon,
                delta=self.delta,
            )
        else:
            self.epsilon, self.delta = complete_target(
                self.curve, self.epsilon, self.delta, parameter="noise_parameter"
            )
        self._prepare(self.num_compositions)
        # A scale below 1 reduces the noise of the run, and so increases its ε.
        if self.noise_scale < 1.0:
            self._warn_of_scale(self.noise_scale, self.epsilon_as_run, stacklevel=3)

    @property
    def spec(self) -> Spec:
        """The planned run."""
        return self._spec(self.noise_parameter)

    @cached_property
    def _curve(self) -> PrivacyCurve:
        """The certified privacy curve of the planned run, computed once."""
        return curve_of(self.spec)

    def _find_curve(self) -> PrivacyCurve:
        """Return the certified privacy curve of the planned run."""
        return self._curve

    def _target_delta(self) -> float:
        """Return the δ at which the ε of a statement is given."""
        return float(self.delta)

    @property
    def epsilon_as_run(self) -> float:
        """Certified upper bound on ε at δ, with the noise that is really added to these cohorts."""
        if math.isclose(self.noise_scale, 1.0):
            planned = self.curve.epsilon(delta=self.delta)
            return planned.upper
        self.require_consistent()
        curve = curve_of(self._spec(self.cohort_noise_parameter))
        return curve.epsilon(delta=self.delta).upper

    def __repr__(self) -> str:
        return f"EpsilondPrivacyAccountant({self.spec!r}, {self.status})"

    def _plans(self) -> list[MechanismPlan]:
        """Return the planned mechanism of the run, with the noise that pfl adds to these cohorts."""
        noise = self.cohort_noise_parameter
        return [MechanismPlan(self.mechanism, noise, self.sampling_probability, self.num_compositions)]

    def _spec(self, noise: float) -> Spec:
        """Return the description of the planned run with a given noise, from which its privacy is computed.

        Args:
            noise: noise parameter of pfl's mechanism.

        Returns:
            The description of all iterations together.
        """
        return spec_from_pfl(
            mechanism=self.mechanism,
            noise_parameter=noise,
            sampling_probability=self.sampling_probability,
            num_compositions=self.num_compositions,
        )
