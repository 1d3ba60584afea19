"""Runs of pfl's accountants as specs, and the parameter that completes them. pfl is not imported."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from epsilond.accountants.account import account as guarantee_of
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Composed, Gaussian, Laplace, Repeated, Spec, Subsampled
from epsilond.accountants.target import Target
from epsilond.calibrators.search import smallest_noise
from epsilond.integrations.numbers import build
from epsilond.integrations.setting import StatedSetting
from epsilond.questions.account import account

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee, PrivacyCurve

SETTING: Final[StatedSetting] = {"relation": "add-or-remove-one", "unit": "client", "observer": "released-models"}
"""The setting of pfl's own accountants: neighbours differ by one user more or less."""
SCALE_WARNING: Final = (
    "noise_scale = {scale:g} lowers the added noise below that of epsilon and delta. They hold for a cohort that is "
    "larger by 1/noise_scale. This run as it is has ε ≤ {epsilon:.6g} at δ = {delta:g}"
)


class PflPrivacyWarning(UserWarning):
    """A pfl run adds less noise than its stated ε and δ need."""


def spec_from_pfl(
    *, mechanism: str, noise_parameter: float, sampling_probability: float, num_compositions: int
) -> Spec:
    """Return the Spec (description for privacy accounting) of the run that an accountant of pfl describes.

    The neighbouring relation is `add-or-remove-one`, and the protected unit is the client.
    pfl divides the noise by the clipping bound. Its RDPPrivacyAccountant and PRVPrivacyAccountant ignore the sampling
    for Laplace noise; this Spec contains it.

    Args:
        mechanism: `gaussian` or `laplace`.
        noise_parameter: standard deviation or scale of the noise, over the clipping bound.
        sampling_probability: probability that a user is in a cohort, in (0, 1].
        num_compositions: number of rounds.

    Returns:
        The Spec, the description of all rounds together for privacy accounting.

    Example:
        >>> import epsilond
        >>> from epsilond.integrations.pfl import spec_from_pfl
        >>> run = spec_from_pfl(
        ...     mechanism="gaussian", noise_parameter=1.0, sampling_probability=0.01, num_compositions=1000
        ... )
        >>> account = epsilond.account(run, relation="add-or-remove-one", unit="client", observer="released-models")
        >>> print(f"{account.guarantee.curve.epsilon(delta=1e-5).upper:.4f}")
        1.8282

    Raises:
        InvalidInput: another mechanism, or numbers out of range.
    """
    # A spec is nested: the mechanism of one round, inside the sampling of users, inside the repetition.
    name = mechanism.lower()
    if name == "gaussian":
        names = {"noise_multiplier": "noise_parameter"}
        round_spec: Spec = build(Gaussian, "", names, noise_multiplier=noise_parameter)
    elif name == "laplace":
        round_spec = build(Laplace, "", {"scale_multiplier": "noise_parameter"}, scale_multiplier=noise_parameter)
    else:
        raise InvalidInput.at("/mechanism", "is unknown", allowed="gaussian, laplace")
    if sampling_probability < 1.0:
        names = {"rate": "sampling_probability"}
        round_spec = build(Subsampled, "", names, sampling="poisson", rate=sampling_probability, mechanism=round_spec)
    if num_compositions == 1:
        return round_spec
    return build(Repeated, "", {"times": "num_compositions"}, times=num_compositions, mechanism=round_spec)


def curve_of(*specs: Spec) -> PrivacyCurve:
    """Return the certified privacy curve of the composition of mechanisms that are fixed before the run.

    Args:
        *specs: description of each mechanism with its rounds, at least one.

    Returns:
        The curve of ε and δ, for one user more or less.
    """
    run = specs[0] if len(specs) == 1 else Composed(mechanisms=specs)
    return account(run, **SETTING).guarantee.curve


def complete_target(
    curve: PrivacyCurve, epsilon: float | None, delta: float | None, *, parameter: str
) -> tuple[float, float]:
    """Return ε and δ of a planned run, where a missing one is computed from the other.

    Args:
        curve: certified privacy curve of the run.
        epsilon: ε [nat]; None to compute its upper bound at δ.
        delta: δ; None to compute its upper bound at ε. At most one of the two is None.
        parameter: name of the noise parameter, for the error.

    Returns:
        ε [nat] and δ.

    Raises:
        InvalidInput: both are given, and the run is not certified to be (ε, δ)-private.
    """
    if delta is None:
        assert epsilon is not None
        return epsilon, curve.delta(epsilon=epsilon).upper
    if epsilon is None:
        return curve.epsilon(delta=delta).upper, delta
    if curve.delta(epsilon=epsilon).upper > delta:
        bound = curve.epsilon(delta=delta).upper
        raise InvalidInput.at(f"/{parameter}", f"gives ε = {bound:.7g} at this δ", allowed="more noise")
    return epsilon, delta


def noise_for(
    *, mechanism: str, sampling_probability: float, num_compositions: int, epsilon: float, delta: float
) -> float:
    """Return the smallest noise parameter at which a run is certified to be (ε, δ)-private.

    Args:
        mechanism: `gaussian` or `laplace`.
        sampling_probability: probability that a user is in a cohort, in (0, 1].
        num_compositions: number of rounds.
        epsilon: ε [nat] of the run.
        delta: δ of the run.

    Returns:
        The noise parameter, rounded up.

    Raises:
        Infeasible: no noise in the range of the search meets the target.
    """

    def guarantee_at(noise: float, effort: Effort) -> Guarantee:
        """Return the guarantee of all rounds together at a noise parameter."""
        spec = spec_from_pfl(
            mechanism=mechanism,
            noise_parameter=noise,
            sampling_probability=sampling_probability,
            num_compositions=num_compositions,
        )
        return guarantee_of(spec, **SETTING, effort=effort).guarantee

    log_delta = math.log(delta)
    # Start of the search: √(T log 1/δ) q/ε by the central limit theorem, plus ½. Any start is valid.
    least_epsilon = 1e-6  # avoids a division by zero
    log_inverse_delta = max(math.log(1.0 / delta), 1.0)
    normal_noise = math.sqrt(num_compositions * log_inverse_delta) / max(epsilon, least_epsilon)
    initial_estimate = 0.5 + normal_noise * sampling_probability

    target = Target(epsilon=epsilon, log_delta=log_delta)
    return smallest_noise(guarantee_at, target, guess=initial_estimate).noise
