"""Search for the smallest noise with a certified upper bound on δ that meets a target."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.account import account
from epsilond.accountants.attackers.targets import (
    meets,
    provably_misses,
)
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.estimates.noise import rise
from epsilond.accountants.rule import Effort
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.parameter_search import LIKELY_FALL, Limits
from epsilond.calibrators.targets.failures import nearest_of, require_figure
from epsilond.calibrators.targets.shortfalls import least_for_target

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Observer, Relation, SettingFields
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.target import Target

LEAST, MOST = 1e-2, 1e12
"""Smallest and largest noise multiplier that is offered."""
TRIALS_KEPT = 4
"""Number of guarantees that a search keeps; it is small, as each may hold grids and transforms."""
PAD = 1e-12
"""Relative increase of a noise known in closed form, so that rounding does not push its δ above the target."""
SLACKS = (1e-6, 1e-5, 1e-4, 1e-3)
"""Relative decreases of the noise at which a proof is tried that less noise misses the target, in ascending order."""
MISSES_KEPT = 2
"""Number of failed trials that a search keeps; it is small, as each may hold grids and transforms."""
NEAR_MISS = 0.999 * SLACKS[-1]
"""Largest decrease of log noise that counts as a near miss; it is less than the largest slack."""
EFFORTS: tuple[Effort, ...] = ("default", "coarse")
"""Efforts at which a slack is proved, in this order; a failed proof at one effort may succeed at the other."""
LIKELY_SLOPE = -1.7
"""Assumed derivative of log |log δ| with respect to log noise, with the opposite sign."""
_NOISES = Limits(math.log(LEAST), math.log(MOST))
"""Limits of log noise."""

Family = Callable[[float, "Effort"], "Guarantee"]
"""Function from a noise to its guarantee; more noise never raises δ."""


class Trials:
    """The privacy guarantees of a run at trial values of one unknown parameter, such as the noise.

    A guarantee is δ as a certified function of ε. A search calls an object of this class as a function of the value.
    The most recent guarantees are cached, because a search often needs the same value again.
    """

    def __init__(self, setting: SettingFields, spec_at: Callable[[float], Spec]) -> None:
        """Store how the mechanism of the run depends on the unknown parameter. Nothing is computed yet.

        Args:
            setting: the protected unit, the neighbouring relation and the observer.
            spec_at: function that returns the mechanism of the run at a value of the parameter.
        """
        self._setting = setting
        self._spec_at = spec_at
        self._cached_guarantee = functools.lru_cache(maxsize=TRIALS_KEPT)(self._guarantee)

    def __call__(self, value: float, effort: Effort) -> Guarantee:
        """Return the guarantee at a value of the unknown parameter, from the cache if it was computed recently.

        Args:
            value: value of the parameter, in its own unit.
            effort: the work that compositions may take; less work gives wider bounds.
        """
        return self._cached_guarantee(value, effort)

    def forget(self) -> None:
        """Clear the cache, because guarantees may hold large numerical arrays of their privacy loss distributions."""
        self._cached_guarantee.cache_clear()

    def _guarantee(self, value: float, effort: Effort) -> Guarantee:
        """Compute the privacy guarantee at a value of the unknown parameter."""
        return guarantee_of(self._setting, self._spec_at(value), effort)


def guarantee_of(
    setting: SettingFields,
    spec: Spec,
    effort: Effort = "default",
    *,
    relation: Relation | None = None,
    observer: Observer | None = None,
) -> Guarantee:
    """Compute the privacy guarantee of a mechanism for a protected unit, neighbouring relation and observer.

    Args:
        setting: the protected unit, the neighbouring relation and the observer.
        spec: the mechanism of the run.
        effort: the work that compositions may take; less work gives wider bounds.
        relation: neighbouring relation; None for the setting's.
        observer: observer; None for the setting's.

    Returns:
        The guarantee: δ as a certified function of ε, with its derivation.

    Raises:
        ConditionViolated: no theorem covers some part of the run under this relation.
    """
    return account(
        spec,
        relation=relation or setting.relation,
        unit=setting.unit,
        observer=observer or setting.observer,
        effort=effort,
    ).guarantee


@dataclass(frozen=True)
class Certified:
    """A noise that is certified to meet a target, and evidence that less noise misses the target.

    The evidence is a number s, the slack: the noise times 1 − s provably misses the target, because a lower bound on δ
    exceeds the target's δ. It is one of `SLACKS`, usually the smallest for which this is proved.

    Attributes:
        noise: the certified noise, or another number if that is the unknown of the search.
        guarantee: the guarantee at this noise, at least at the target.
        lazy_slack: the slack, None without a proof, or a function that computes either on first use. Most runs that are
            compared do not need it.
        full_guarantee: the guarantee for all ε, if `guarantee` has only the part that matters at the target; else None.
        missed: function that decides whether a slightly smaller noise, a trial of the search that failed, provably
            misses the target; None if no such trial was near enough (`NEAR_MISS`).
    """

    noise: float
    guarantee: Guarantee
    lazy_slack: Callable[[], float | None] | float | None
    full_guarantee: Guarantee | None = None
    missed: Callable[[], bool] | None = None

    @cached_property
    def slack(self) -> float | None:
        """Relative decrease at which the noise provably misses the target; None if there is no proof."""
        return self.lazy_slack() if callable(self.lazy_slack) else self.lazy_slack

    @property
    def minimal(self) -> Literal["proved", "searched"]:
        """`proved` if a noise smaller by a relative 1e-3 or less provably misses the target; else `searched`."""
        if self._near_miss_is_proved or self.slack is not None:
            return "proved"
        return "searched"

    @cached_property
    def _near_miss_is_proved(self) -> bool:
        """True if a slightly smaller noise failed in the search and provably misses the target."""
        return self.missed is not None and self.missed()


class _Misses:
    """The largest noises that missed the target in a search, with their guarantees.

    A noise just below the answer can prove that slightly less noise is not enough. At most `MISSES_KEPT` are stored,
    because each guarantee may hold large arrays.
    """

    def __init__(self) -> None:
        """Start without any noise that missed the target."""
        # Pairs of log noise and guarantee, in ascending order of the noise.
        self._misses: list[tuple[float, Guarantee]] = []

    def add(self, log_noise: float, guarantee: Guarantee) -> None:
        """Store a noise that misses the target; the smallest stored noise is dropped if there are too many.

        Args:
            log_noise: natural logarithm of the noise.
            guarantee: the guarantee at this noise.
        """
        misses = [*self._misses, (log_noise, guarantee)]
        misses.sort(key=lambda miss: miss[0])
        self._misses = misses[-MISSES_KEPT:]

    def near(self, log_noise: float) -> Guarantee | None:
        """Return the stored guarantee of a noise just below a given one, which misses the target.

        Its logarithm is below the given one by at most `NEAR_MISS`. If several are stored, that of the smallest noise
        is returned.

        Args:
            log_noise: natural logarithm of the given noise.

        Returns:
            The guarantee; None if no such noise is stored.
        """
        for failing_log_noise, guarantee in self._misses:
            if log_noise - NEAR_MISS <= failing_log_noise < log_noise:
                return guarantee
        return None


def smallest_noise(family: Family, target: Target, *, guess: float, slope: float | None = None) -> Certified:
    """Search for the least noise at which the upper bound on δ meets the target, and certify it.

    Gaussian guarantees are inverted in closed form. For other guarantees the noise is searched on a logarithmic scale,
    by interpolation of the certified bound. The result exceeds the least sufficient noise by at most a relative 1e-6 if
    the bound is computed exactly. Otherwise the excess is at most about 1e-3.

    Args:
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ) or risk.
        guess: initial estimate of the noise, above 0.
        slope: estimate, below 0, of −s, if |log δ| grows about like noise^s; None for a typical value.

    Returns:
        The noise with its guarantee. The proof that less noise misses the target is computed on first use.

    Guarantees: the upper bound on the answer's δ at the target ε is at most the target δ, by evaluation.

    Raises:
        Infeasible: even the largest noise multiplier `MOST` misses the target.
        ConditionViolated: the target is a risk, and no theorem bounds it at any noise.
    """
    closed = _closed_form(family, target, guess)
    if closed is not None:
        return closed

    def guarantee_at(log_noise: float) -> Guarantee:
        """Return the guarantee at a noise, which is given by its natural logarithm."""
        return family(math.exp(log_noise), "default")

    # Trials that miss the target are stored, because one just below the answer proves that less noise is not enough.
    misses = _Misses()
    # The assumed decrease, per unit of log noise, of the amount by which the target is missed.
    fall = LIKELY_FALL if slope is None else -slope / rise(target)
    log_noise = least_for_target(guarantee_at, target, math.log(guess), _NOISES, fall=fall, note=misses.add)
    if log_noise is None:
        # Even the largest noise misses the target. The error names the nearest target that it meets, if there is one.
        safest = family(MOST, "default")
        require_figure(safest, target)
        raise no_noise_suffices(safest, target)
    # There is no smaller noise in the range, so nothing has to be excluded.
    if log_noise == _NOISES.least:
        return Certified(LEAST, family(LEAST, "default"), None)

    noise = math.exp(log_noise)
    guarantee = family(noise, "default")

    def compute_slack() -> float | None:
        """Prove that slightly less noise misses the target, which only some callers need."""
        return _slack(family, target, noise, guarantee, slope=slope or LIKELY_SLOPE)

    near_miss = misses.near(log_noise)
    if near_miss is None:
        return Certified(noise, guarantee, compute_slack)
    return Certified(noise, guarantee, compute_slack, missed=functools.partial(_provably_misses, near_miss, target))


def no_noise_suffices(safest: Guarantee, target: Target) -> Infeasible:
    """Return the error for a run that misses its privacy target even at the largest noise multiplier of the search.

    Args:
        safest: the guarantee at this noise multiplier.
        target: the target: (ε, δ), or a bound on an attacker's risk.

    Returns:
        The error, with the nearest target that this guarantee meets, if there is one.
    """
    statement = "the noise multiplier that is needed is offered"
    condition = ConditionResult("noise-offered", statement, Verdict.NO, math.inf, MOST)
    return Infeasible("no noise that is offered meets the target", condition, nearest_of(safest, target))


def _provably_misses(guarantee: Guarantee, target: Target) -> bool:
    """Decide whether a lower numerical bound on δ, or on the risk of the target, exceeds the target."""
    return provably_misses(guarantee.curve, target)


def _closed_form(family: Family, target: Target, guess: float) -> Certified | None:
    """Compute the smallest noise in closed form and certify it, if the guarantee is that of a Gaussian mechanism.

    At the noise σ the parameter of Gaussian differential privacy is μ = c/σ, with a constant c of the run, which one
    evaluation gives. Let s be the standard deviation with which the Gaussian mechanism of sensitivity 1 meets the
    target. The target is met if μ ≤ 1/s, so the smallest noise is c·s. It is increased by the relative `PAD`, so that
    rounding does not raise its δ above the target.

    Args:
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ) or risk.
        guess: noise at which μ is evaluated; it is limited to the range from `LEAST` to `MOST`.

    Returns:
        The noise with its guarantee. None if the guarantee is not Gaussian, the target is outside the range of the
        inverse, or the noise is outside the range or cannot be certified.
    """
    initial_noise = min(max(guess, LEAST), MOST)
    mu = family(initial_noise, "default").curve.upper.gaussian_dp_mu
    if not mu:
        return None
    unit_std = _gaussian_std(target)
    if unit_std is None:
        return None
    noise = initial_noise * mu * unit_std * (1.0 + PAD)
    if not LEAST < noise < MOST:
        return None
    return confirm(family, target, noise, SLACKS[0])


def _gaussian_std(target: Target) -> float | None:
    """Return the standard deviation with which the Gaussian mechanism of sensitivity 1 meets a target.

    Args:
        target: the target (ε, δ) or risk.

    Returns:
        For (ε, δ), an upper bound on the least sufficient standard deviation, or None if the target is outside the
        range of the inverse. For a risk, 1/μ, where μ is the parameter of the Gaussian mechanism with this risk.
    """
    if target.risk is not None:
        return 1.0 / target.risk.gaussian_mu
    try:
        bounds = gaussian_noise_std_bounds(epsilon=target.epsilon, log_delta=target.log_delta, sensitivity=1.0)
    except InvalidInput:
        return None
    return bounds.upper


def confirm(family: Family, target: Target, noise: float, slack: float) -> Certified | None:
    """Certify a noise that is known in closed form or estimated closely.

    The noise must meet the target by its upper bound on δ. Slightly less noise must miss the target by its lower bound,
    so that an estimate that is too large is not accepted.

    Args:
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ).
        noise: the noise to certify, above 0.
        slack: relative decrease at which the noise must provably miss the target, in (0, 1).

    Returns:
        The noise with its guarantee; None if it misses the target, or if noise·(1 − slack) may meet it.
    """
    guarantee = family(noise, "default")
    if not meets(guarantee.curve, target):
        return None
    if not _provably_misses(family(noise * (1.0 - slack), "default"), target):
        return None
    return Certified(noise, guarantee, slack)


def _slack(family: Family, target: Target, noise: float, guarantee: Guarantee, *, slope: float) -> float | None:
    """Search for the smallest of `SLACKS` by which a noise can be reduced so that it provably misses the target.

    For (ε, δ), a candidate is tried only if the lower bound on δ, extrapolated by the slope, exceeds the target's δ
    there. If none qualifies, the largest one is tried if it would qualify with twice the slope. For a risk, all
    candidates are tried.

    Args:
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ) or risk.
        noise: the certified noise.
        guarantee: guarantee at this noise.
        slope: estimate of −d log |log δ| / d log noise, below 0.

    Returns:
        The decrease; None without a proof.
    """
    lower_log_delta = guarantee.curve.bound_log_delta(target.epsilon).lower

    def is_promising(slack: float, assumed_slope: float) -> bool:
        """Decide whether the lower bound on δ, extrapolated by a slope, exceeds the target at a slack."""
        return lower_log_delta + assumed_slope * slack * target.log_delta > target.log_delta

    slacks = [slack for slack in SLACKS if target.risk is not None or is_promising(slack, slope)]
    if not slacks and is_promising(SLACKS[-1], 2.0 * slope):
        slacks = [SLACKS[-1]]

    # A failed proof with one effort may succeed with the other.
    for effort in EFFORTS:
        for slack in slacks:
            if _provably_misses(family(noise * (1.0 - slack), effort), target):
                return slack
    return None
