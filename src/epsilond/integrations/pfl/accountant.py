"""A privacy accountant for pfl that solves for the missing number on the certified upper bound."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pfl.privacy.privacy_accountant import PrivacyAccountant

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.pfl.planned import PlannedRun
from epsilond.integrations.pfl.runs import SCALED, PflPrivacyWarning, curve_of, noise_for, spec_from_pfl
from epsilond.runs.statement import RunStatement


@dataclass(repr=False)
class EpsilondPrivacyAccountant(PlannedRun, PrivacyAccountant):
    """pfl's `PrivacyAccountant`, given two of epsilon, delta and noise_parameter, or all three.

    It takes the place of PLDPrivacyAccountant wherever an accountant is asked for, so in
    `GaussianMechanism.from_privacy_accountant`. pfl's own accountants search for the noise until δ is within a
    thousandth of the target, on either side of it; PRVPrivacyAccountant on an estimate besides.

    Guarantees: with the noise `noise_parameter` (over the clipping bound) in each of `num_compositions` cohorts, in
    which every user is with `sampling_probability` independently, what is released is certified to be
    (epsilon, delta)-private for one user more or less. A number that was missing is the certified upper end, or the
    smallest noise whose upper end meets the target. The bounds of pfl's search for the noise are not needed.

    A `noise_scale` below 1 is warned of, as pfl then adds `cohort_noise_parameter = noise_parameter · noise_scale` and
    goes on telling ε and δ of the larger noise; `epsilon_as_run` is what the smaller one gives.

    The accountant sees a plan, so its ε is `declared`. `observe(postprocessors)` lets it watch the mechanism, and the
    ε is that of a plan which the iterations kept. `epsilon`, `delta`, `curve` and `epsilon_as_run` raise
    `epsilond.RunDiffers` if an iteration contradicts the plan.

    Raises:
        InvalidInput: numbers that no run can have, or three of which the guarantee does not hold. It is a `ValueError`.
        AssertionError: pfl's own, of what its checks refuse.
        Infeasible: no noise that is offered meets the target.
    """

    if TYPE_CHECKING:  # pfl's field
        noise_parameter: Any

    def __post_init__(self) -> None:
        """Solve for the missing number, or check that nothing is missing."""
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
        elif self.delta is None:
            self.delta = self.curve.delta(epsilon=self.epsilon).upper
        elif self.epsilon is None:
            self.epsilon = self.curve.epsilon(delta=self.delta).upper
        elif self.curve.delta(epsilon=self.epsilon).upper > self.delta:
            true = self.curve.epsilon(delta=self.delta).upper
            raise InvalidInput.at("/noise_parameter", f"gives ε = {true:.7g} at this δ", allowed="more noise")
        self._prepare(self.num_compositions)
        if self.noise_scale < 1.0:
            self._note_scale(self.noise_scale, self.epsilon_as_run)
            told = SCALED.format(scale=self.noise_scale, epsilon=self.epsilon_as_run, delta=self.delta)
            warnings.warn(told, PflPrivacyWarning, stacklevel=3)

    # pfl's fields, which are the answers here
    @property
    def epsilon(self) -> Any:
        """ε [nat] of the plan; raises `RunDiffers` if an iteration contradicts it."""
        self._require_consistent()
        return self._epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Any) -> None:
        """Set ε, as pfl's checks do."""
        self._epsilon = epsilon

    @property
    def delta(self) -> Any:
        """δ of the plan; raises `RunDiffers` if an iteration contradicts it."""
        self._require_consistent()
        return self._delta

    @delta.setter
    def delta(self, delta: Any) -> None:
        """Set δ, as pfl's checks do."""
        self._delta = delta

    def statement(self, delta: float | None = None) -> RunStatement:
        """Return ε at δ with its status.

        Args:
            delta: δ of the statement; that of the plan if absent.

        Raises:
            RunDiffers: an observation contradicts the plan.
        """
        return self._state(self.curve, self.delta if delta is None else delta)

    @property
    def spec(self) -> Spec:
        """The planned run."""
        return self._spec(self.noise_parameter)

    @property
    def curve(self) -> PrivacyCurve:
        """The certified curve of `spec`; raises `RunDiffers` if an iteration contradicts it."""
        self._require_consistent()
        return self._curve

    @cached_property
    def _curve(self) -> PrivacyCurve:
        return curve_of(self.spec)

    @property
    def epsilon_as_run(self) -> float:
        """Certified upper bound on ε at δ, with the noise that is really added to these cohorts."""
        if math.isclose(self.noise_scale, 1.0):
            return self.curve.epsilon(delta=self.delta).upper
        self._require_consistent()
        return curve_of(self._spec(self.cohort_noise_parameter)).epsilon(delta=self.delta).upper

    def __repr__(self) -> str:
        return f"EpsilondPrivacyAccountant({self.spec!r}, {self.status})"

    def _plans(self) -> list[tuple[str, float, float, int]]:
        return [(self.mechanism, self.cohort_noise_parameter, self.sampling_probability, self.num_compositions)]

    def _spec(self, noise: float) -> Spec:
        return spec_from_pfl(
            mechanism=self.mechanism,
            noise_parameter=noise,
            sampling_probability=self.sampling_probability,
            num_compositions=self.num_compositions,
        )
