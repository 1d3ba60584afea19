"""From a spec to the attack on it: for each kind the neighbours that its definition makes easiest to tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.accountants.specs import Shuffled as ShuffledSpec
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.simulators.audits.descent import descent
from epsilond.simulators.audits.integer_draws import MOST_LEVELS
from epsilond.simulators.audits.noise import Added, IntegerNoise, Normal, TwoSided, additive, shifted
from epsilond.simulators.audits.outcomes import canonical, response
from epsilond.simulators.audits.participation import Participation
from epsilond.simulators.audits.sampling import FixedSizeDraw, HiddenDraw, RepeatedDraw, SeenDraw
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.shuffling import Shuffled, ShuffledResponses
from epsilond.simulators.audits.worlds import PARTICIPANT_SEEN, Attacked, LogLikelihoodRatio, Setting, Target

MOST_CANDIDATES = 4096
"""Sizes of a shift that are tried."""
LARGEST_COUNTED = 500.0
"""ε of reports that are attacked by their counts: beyond, lies have no probability that a double holds."""


def target(spec: Any, setting: Setting) -> Target:
    """What is attacked: losses wherever the likelihood of an output is known, and else another statistic.

    Raises:
        InvalidInput: the spec has no neighbours in the relation that an attack can be stated for.
    """
    if spec.kind == "projected_sgd":
        return descent(spec, setting)
    return LogLikelihoodRatio(attacked(spec, setting))


def attacked(spec: Any, setting: Setting) -> Attacked:
    """The mechanism on its worlds."""
    return BUILDERS[spec.kind](spec, setting)


def _gaussian(spec: Gaussian, setting: Setting) -> Attacked:
    return additive(Normal(), setting.relation, 1.0 / spec.noise_multiplier)


def _laplace(spec: Laplace, setting: Setting) -> Attacked:
    """All of the ℓ1 norm in one coordinate."""
    return additive(TwoSided(), setting.relation, 1.0 / spec.scale_multiplier)


def _discrete_laplace(spec: DiscreteLaplace, setting: Setting) -> Attacked:
    """All of the distance in one coordinate."""
    return shifted(IntegerNoise(spec.decay_rate, None), setting.relation, spec.sensitivity)


def _truncated_discrete_laplace(spec: TruncatedDiscreteLaplace, setting: Setting) -> Attacked:
    exact = setting.attack == "implemented"
    most = MOST_NOISE_LEVELS if exact else MOST_LEVELS
    if spec.noise_levels > most:
        raise InvalidInput.at("/noise_levels", "is more than an audit can draw", allowed=f"≤ {most}")
    noise = IntegerNoise(spec.decay_rate, spec.noise_levels, exact)
    parts = [(shifted(noise, setting.relation, size), count) for size, count in realised_shift(spec)]
    return in_sequence(parts or [(shifted(noise, setting.relation, 0), 1)])


def realised_shift(spec: TruncatedDiscreteLaplace) -> tuple[tuple[int, int], ...]:
    """An integer vector within the spec's norms, as (size, number of coordinates of that size).

    Coordinates of one size and a remainder; of all sizes the one that moves furthest in ℓ1, and of those the largest.
    """
    l1, linf = math.floor(spec.l1_sensitivity), math.floor(spec.linf_sensitivity)
    square = math.inf if spec.l2_sensitivity is None else math.floor(Fraction(spec.l2_sensitivity) ** 2)
    best: tuple[int, int, int] = (0, 0, 0)
    largest = min(l1, linf) if square == math.inf else min(l1, linf, math.isqrt(int(square)))
    for size in range(largest, max(0, largest - MOST_CANDIDATES), -1):
        count = int(min(spec.dimension, l1 // size, square // size**2))
        rest = 0
        if count < spec.dimension:
            left = square - count * size**2
            rest = min(size, l1 - count * size, math.isqrt(int(left)) if left < math.inf else size)
        if count * size + rest > best[0] * best[1] + best[2]:
            best = (size, count, rest)
    size, count, rest = best
    return tuple((step, times) for step, times in ((size, count), (rest, 1)) if step and times)


def _randomized_response(spec: RandomizedResponse, setting: Setting) -> Attacked:
    """Zeroing a record: it is answered as one of the second category would be."""
    if setting.relation == "add-or-remove-one":
        message = "whether a record reports is seen by everyone"
        raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")
    return response(spec.epsilon, spec.categories)


def _approximate(spec: Approximate, setting: Setting) -> Attacked:
    return canonical(spec.epsilon, spec.delta, 2 if setting.relation == "replace-one" else 3)


def _repeated(spec: Repeated, setting: Setting) -> Attacked:
    return in_sequence([(attacked(spec.mechanism, setting), spec.times)])


def _composed(spec: Composed, setting: Setting) -> Attacked:
    return in_sequence([(attacked(mechanism, setting), 1) for mechanism in spec.mechanisms])


def _shuffled(spec: ShuffledSpec, setting: Setting) -> Attacked:
    """For whoever knows which report is the victim's the order hides nothing, and other clients know their own."""
    if setting.relation != "replace-one":
        raise InvalidInput.at("/relation", "the number of reports is seen", allowed="replace-one")
    if spec.clients == 1 or setting.observer in ("server", "other-clients"):
        return attacked(spec.mechanism, setting)
    if spec.mechanism.kind == "randomized_response" and spec.mechanism.epsilon <= LARGEST_COUNTED:
        return ShuffledResponses(spec.mechanism.epsilon, spec.mechanism.categories, spec.clients)
    return Shuffled(attacked(spec.mechanism, setting), spec.clients)


def _subsampled(spec: Subsampled, setting: Setting) -> Attacked:
    level = _level(spec, setting)
    inner = replace(setting, within_clients=True) if level == "clients" else setting
    if spec.inclusion_probability >= 1.0 and spec.sampling != "with-replacement":
        return attacked(spec.mechanism, inner)
    if level == "records" and setting.unit == "client":
        # Everything of the client changes: whichever of its records are drawn, they are the changed ones.
        return attacked(spec.mechanism, setting)
    drawn = _participation(spec, setting)
    if level == "clients" and _seen(spec, setting):
        return SeenDraw(attacked(spec.mechanism, inner), drawn)
    if spec.sampling == "with-replacement":
        return _with_replacement(spec, inner)
    if spec.sampling == "poisson":
        return _hidden(spec, replace(inner, zero_others=True), drawn)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if setting.zero_others:
        return _hidden(spec, inner, drawn)
    return FixedSizeDraw(attacked(spec.mechanism, inner), drawn)


def _hidden(spec: Subsampled, setting: Setting, drawn: Participation) -> Attacked:
    inner = attacked(spec.mechanism, setting)
    if inner.worlds < 3:
        message = "what replacing a record does says nothing of leaving it out"
        raise InvalidInput.at("/sampling", message, allowed="without-replacement, full, or another relation")
    return HiddenDraw(inner, drawn, removal=setting.relation != "replace-one")


def _with_replacement(spec: Subsampled, setting: Setting) -> Attacked:
    inner = attacked(spec.mechanism, setting)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if not isinstance(inner, Added):
        message = "what a record that is drawn twice does is known of noise on one number"
        raise InvalidInput.at("/mechanism/kind", message, allowed="gaussian, laplace, discrete_laplace")
    return RepeatedDraw(inner, spec.batch_size or 1, spec.population or 1)


def _level(spec: Subsampled, setting: Setting) -> str:
    """As the spec says; left open it is the protected unit, but for a draw of something that draws again: clients."""
    if spec.level is not None:
        return spec.level
    if setting.within_clients:
        return "records"
    return "clients" if setting.unit == "client" or _draws(spec.mechanism) else "records"


def _draws(spec: Any) -> bool:
    """Whether it draws a batch anywhere."""
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        return True
    nested = spec.mechanisms if isinstance(spec, Composed) else (getattr(spec, "mechanism", None),)
    return any(_draws(part) for part in nested if part is not None)


def _seen(spec: Subsampled, setting: Setting) -> bool:
    """A server gets the messages; all other clients together know who was drawn if the number of them is fixed."""
    fixed = spec.sampling != "poisson"
    return setting.observer in PARTICIPANT_SEEN or (setting.observer == "other-clients" and fixed)


def _participation(spec: Subsampled, setting: Setting) -> Participation:
    """A coin; or the whole batch, where the implemented schedule is attacked and the spec has its counts."""
    rate = spec.inclusion_probability
    if setting.attack == "implemented" and spec.population is not None and spec.sampling != "with-replacement":
        batch_size = spec.batch_size if spec.sampling == "without-replacement" else None
        return Participation(rate, batch_size, spec.population)
    return Participation(rate)


def _nested(spec: ProjectedSgd, setting: Setting) -> Attacked:
    del spec, setting
    raise InvalidInput.at("/kind", "a run of projected SGD is audited by itself, not inside another mechanism")


BUILDERS: Mapping[str, Callable[[Any, Setting], Attacked]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "discrete_laplace": _discrete_laplace,
    "truncated_discrete_laplace": _truncated_discrete_laplace,
    "randomized_response": _randomized_response,
    "approximate": _approximate,
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "repeated": _repeated,
    "composed": _composed,
    "projected_sgd": _nested,
}
