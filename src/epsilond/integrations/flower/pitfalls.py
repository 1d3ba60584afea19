"""Gaps in the guarantees of Flower's wrappers and mods, as figures and warnings. Flower is not imported.

Each statement is compared with the installed package in tests/integrations/flower/test_flower.py.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian
from epsilond.questions.account import account

if TYPE_CHECKING:
    from flwr.clientapp.mod import LocalDpMod
    from flwr.serverapp.strategy import (
        DifferentialPrivacyClientSideAdaptiveClipping,
        DifferentialPrivacyServerSideAdaptiveClipping,
        FedAvg,
        Strategy,
    )

    from epsilond.accountants.curve.enclosure import Interval

GENERATOR = (
    "its noise comes from numpy's global generator, which is not cryptographic and may be seeded. Floating-point "
    "Gaussian noise also reveals more than the Gaussian mechanism does"
)
UNWEIGHED = (
    "it has no accountant, so that nothing checks the weights of clients: FedAvg weighs updates by {key}, and"
    " the noise covers equal weights only. See weighted_noise_multiplier"
)
AFTERWARDS = (
    "{inner} changes the mean before the noise is added, which is scaled for the mean of FedAvg: nothing is known of"
    " the privacy. Wrap it with epsilond.integrations.flower.DpFedAvg, which adds the noise first"
)
COUNTED = (
    "the count of clipped updates has sensitivity 1, and the noise of both is split as if it were 1/2. For a client "
    "that sends no reply the noise multiplier of a round is {effective:.6g}, not {nominal:.6g}"
)
BACKWARDS = "the clipping norm shrinks where more updates than the target quantile are clipped, away from the quantile"
ABOVE_ONE = (
    "LocalDpMod: √(2 ln(1.25/δ))/ε is proved for ε at most 1 only; at ε = {epsilon:g} and δ = {delta:g} use"
    ' epsilond.calibrate("gaussian", …)'
)
TOO_SENSITIVE = (
    "LocalDpMod: the sensitivity {sensitivity:g} is less than twice the clipping norm {clipping_norm:g}, how far two"
    " clipped updates are apart"
)
TRULY = "; the noise that is added gives ε ≤ {upper:.6g}"


class FlowerPrivacyWarning(UserWarning):
    """A Flower program loses more privacy than it states, or an unknown amount."""


def weighted_noise_multiplier(noise_multiplier: float, weights: Sequence[float]) -> float:
    """Return the effective noise multiplier of Flower's fixed-clipping wrappers with unequal weights of clients.

    The wrappers add noise of standard deviation z C/m to the mean Σ w_k u_k of m updates. Each update u_k has a norm of
    at most C, and w_k is the weight of client k over the sum of weights. If one update becomes zero, the mean changes
    by up to C max w_k, and not only by C/m. So the effective multiplier is z/(m max w_k). For example, it is z/3.9 with
    1000, 10, 10 and 10 examples. This holds for the relation zero-out-one only. If a client is removed with its weight,
    the other weights change too, and the mean changes by up to 2 C max w_k.

    Args:
        noise_multiplier: noise multiplier z, as the wrapper takes it.
        weights: weights of the clients of a round, such as numbers of examples.

    Returns:
        The effective multiplier, at most z.

    Raises:
        InvalidInput: no weights, or one that is not positive and finite.
    """
    if not weights or not all(math.isfinite(weight) and weight > 0.0 for weight in weights):
        raise InvalidInput.at("/weights", "must be positive and finite")
    return noise_multiplier * math.fsum(weights) / (len(weights) * max(weights))


def adaptive_noise_multiplier(
    strategy: DifferentialPrivacyClientSideAdaptiveClipping | DifferentialPrivacyServerSideAdaptiveClipping,
) -> float:
    """Return the noise multiplier of a round of Flower's adaptive clipping, updates and count together.

    A round releases the sum of updates, clipped to norm C, with noise of standard deviation z C. It also releases the
    number of clipped updates, with noise of standard deviation s. A client that is left out changes the sum by up to C
    and the number by up to 1. So both together have the noise multiplier 1/√(z⁻² + s⁻²), for the relations
    add-or-remove-one and zero-out-one. Flower itself assumes that the number changes by 1/2. That is right only for
    replace-one, where both sensitivities are doubled.

    Args:
        strategy: an adaptive wrapper of Flower; z is its `noise_multiplier`, and s its `clipped_count_stddev`.

    Returns:
        The multiplier of both releases together; 0 if one of them has no noise.
    """
    return combine_multipliers(float(strategy.noise_multiplier), float(strategy.clipped_count_stddev))


def combine_multipliers(first: float, second: float) -> float:
    """Return the noise multiplier 1/√(z⁻² + s⁻²) of two Gaussian releases together; 0 if one of them has no noise.

    Args:
        first: noise multiplier z of one release.
        second: noise multiplier s of the other release.

    Returns:
        The multiplier of both releases together, at most the smaller of the two.
    """
    if first <= 0.0 or second <= 0.0:
        return 0.0
    return float((first**-2 + second**-2) ** -0.5)


def certified_local_epsilon(mod: LocalDpMod) -> Interval:
    """Return the certified ε [nat] of one round of Flower's `LocalDpMod`, at the δ of the mod.

    The guarantee holds for a client that may send any other update instead (replace-one). The true sensitivity is twice
    the clipping norm C: the largest distance of two clipped updates. So the noise multiplier is σ/C, where σ is the
    standard deviation of the noise. The attribute `sensitivity` of the mod only determines σ.

    Args:
        mod: Flower's client mod that clips an update and adds Gaussian noise.

    Returns:
        The interval from a lower to an upper bound on ε.

    Raises:
        InvalidInput: ε, δ or `sensitivity` of the mod is out of range, so that its noise is zero or infinite.
    """
    if not (mod.epsilon > 0.0 and 0.0 < mod.delta < 1.0 and mod.sensitivity > 0.0):
        raise InvalidInput.at("", "has no noise, or none that is finite", allowed="positive ε, δ < 1 and sensitivity")
    mechanism = Gaussian(noise_multiplier=local_noise_std(mod) / mod.clipping_norm)
    answer = account(mechanism, relation="replace-one", unit="client", observer="server")
    return answer.guarantee.curve.epsilon(delta=mod.delta)


def local_noise_std(mod: LocalDpMod) -> float:
    """Return the standard deviation of the noise that Flower's `LocalDpMod` adds to each coordinate of an update.

    Flower uses the classical formula σ = Δ √(2 ln(1.25/δ)) / ε of the Gaussian mechanism with sensitivity Δ.

    Args:
        mod: Flower's client mod; Δ is its attribute `sensitivity`. ε must not be 0, and δ must be in (0, 1).

    Returns:
        σ, in the unit of the update.
    """
    return float(mod.sensitivity * math.sqrt(2.0 * math.log(1.25 / mod.delta)) / mod.epsilon)


def check_local_dp(mod: LocalDpMod) -> list[str]:
    """Warn of the noise generator of a `LocalDpMod`, of an ε above 1, and of too small a sensitivity.

    The formula of the mod's noise is proved for ε at most 1 only.

    Args:
        mod: Flower's client-side mod for local differential privacy.

    Returns:
        The texts of the warnings.
    """
    fields = {name: getattr(mod, name) for name in ("epsilon", "delta", "sensitivity", "clipping_norm")}
    has_finite_noise = 0.0 < mod.delta < 1.0 and mod.sensitivity > 0.0
    messages = []
    if mod.epsilon > 1.0:
        messages.append(ABOVE_ONE.format(**fields))
    # Two clipped updates may differ by twice the clipping norm.
    if mod.sensitivity < 2.0 * mod.clipping_norm:
        messages.append(TOO_SENSITIVE.format(**fields))
    if messages and has_finite_noise:
        messages[-1] += TRULY.format(upper=certified_local_epsilon(mod).upper)
    return _warn([*messages, f"LocalDpMod: {GENERATOR}"])


def check_strategy(strategy: Strategy) -> list[str]:
    """Warn of the gaps in the guarantee of a differentially private wrapper of Flower.

    Args:
        strategy: `DifferentialPrivacy{Server,Client}Side{Fixed,Adaptive}Clipping` of `flwr.serverapp.strategy`.

    Returns:
        The texts of the warnings.

    Raises:
        InvalidInput: the strategy is not such a wrapper.
    """
    is_adaptive = "DifferentialPrivacyAdaptiveBase" in bases_of(strategy)
    messages = []
    inner = strategy.strategy
    if getattr(strategy, "accountant", None) is None:
        weight_key = getattr(inner, "weighted_by_key", "what they report")
        messages.append(UNWEIGHED.format(key=weight_key))

    # The scale of the noise is right for the plain mean of FedAvg only. A subclass may override this method.
    fedavg = averaging_of(inner)
    has_plain_mean = fedavg is not None and type(inner).aggregate_train is vars(fedavg)["aggregate_train"]
    if not has_plain_mean:
        messages.append(AFTERWARDS.format(inner=type(inner).__name__))
    if is_adaptive and strategy.noise_multiplier > 0.0:
        # Flower assumes that a client changes the count by 1/2 only, so for Flower its noise multiplier is 2s.
        nominal = combine_multipliers(float(strategy.noise_multiplier), 2.0 * float(strategy.clipped_count_stddev))
        messages.append(COUNTED.format(effective=adaptive_noise_multiplier(strategy), nominal=nominal))
        messages.append(BACKWARDS)
    messages.append(GENERATOR)
    return _warn([f"{type(strategy).__name__}: {message}" for message in messages])


def bases_of(wrapper: Strategy) -> set[str]:
    """Return the names of the class and all base classes of a differentially private wrapper of Flower.

    Args:
        wrapper: the strategy.

    Returns:
        The names, by which the kind of the wrapper is recognised.

    Raises:
        InvalidInput: the strategy is not such a wrapper.
    """
    bases = {base.__name__ for base in type(wrapper).__mro__}
    if not bases & {"DifferentialPrivacyAdaptiveBase", "DifferentialPrivacyFixedClippingBase"}:
        raise InvalidInput.at("", "is not a differentially private wrapper of Flower")
    return bases


def averaging_of(inner: Strategy) -> type[FedAvg] | None:
    """Return Flower's class `FedAvg` (federated averaging) if a strategy is derived from it.

    The class is recognised by its name, because this module does not import Flower.

    Args:
        inner: strategy of Flower.

    Returns:
        The class, or None if the strategy is not derived from it.
    """
    return next((base for base in type(inner).__mro__ if base.__name__ == "FedAvg"), None)


def _warn(messages: list[str]) -> list[str]:
    """Issue each message as a `FlowerPrivacyWarning`, and return the messages.

    The warnings point to the line of the user's program that called the public function (stack level 3).

    Args:
        messages: texts of the warnings.

    Returns:
        The same messages.
    """
    for message in messages:
        warnings.warn(message, FlowerPrivacyWarning, stacklevel=3)
    return messages
