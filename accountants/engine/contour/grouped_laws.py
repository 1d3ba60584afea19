"""Compositions of laws with counts: their steps grouped into parts, and properties that need no integral."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from epsilond.accountants.curve.facts import (
    DrawnGaussianLaw,
    DrawnMixtureLaw,
    GaussianLaw,
    GaussianMixtureLaw,
    LaplaceLaw,
    Law,
    MixedLaw,
    SampledGaussianLaw,
)
from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.contour.closed_forms import GaussianSteps, LaplaceSteps
from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
from epsilond.accountants.engine.contour.noise_steps import NoiseSteps
from epsilond.accountants.engine.contour.noise_sums import NEGLIGIBLE_NATS
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.part import Part

Laws: TypeAlias = Sequence[tuple[Law, int]]
"""Distributions of the losses of single steps, with the number of steps of each."""


def build_parts(laws: Laws) -> list[Part]:
    """Group the steps of a composition into parts, each of which evaluates the transform of its privacy loss.

    Steps with the same distribution become one part. So do all Gaussian steps without subsampling, because their total
    loss is Gaussian again. Their part is the last one.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.

    Returns:
        The parts. The list is empty if every loss is zero.

    Raises:
        ContourRefused: a distribution is a mixture over random sensitivities.
    """
    parts: list[Part] = []
    gaussian_squares: list[float] = []
    for law, count in _count_laws(laws).items():
        if isinstance(law, MixedLaw):
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, "mixtures are not integrated")
        if isinstance(law, LaplaceLaw):
            parts.append(LaplaceSteps(law.shift, count))
        elif isinstance(law, GaussianLaw) or law.rate == 1.0:
            gaussian_squares.append(count * law.distance * law.distance)
        else:
            parts.append(_build_subsampled_part(law, count))

    # The total loss of all Gaussian steps is that of one step with the sum of the squared shifts.
    square = math.fsum(gaussian_squares)
    if square > 0.0:
        parts.append(GaussianSteps(square))
    return parts


def _count_laws(laws: Laws) -> Counter[Law]:
    """Return the total number of steps of each distinct distribution, without those with a loss that is always zero.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
    """
    counts: Counter[Law] = Counter()
    for law, count in laws:
        if count > 0 and not law.is_silent:
            counts[law] += count
    return counts


def _build_subsampled_part(law: SampledGaussianLaw | DrawnGaussianLaw, count: int) -> NoiseSteps:
    """Build the part of a composition that consists of equal subsampled Gaussian steps.

    Args:
        law: distribution of the privacy loss of one step, with its inclusion rate and its shift.
        count: number of steps.

    Returns:
        The part. Its transform is an integral over the noise. No improbable noise is left out yet.
    """
    kind = "drawn" if isinstance(law, DrawnGaussianLaw) else law.direction
    return NoiseSteps(LikelihoodRatio(law.rate, law.shift), kind, count)


def transform_decays(laws: Laws) -> bool:
    """Return whether the characteristic function of the total privacy loss decays enough for numerical inversion.

    A batch without replacement has the loss 0 with a positive probability a, its atom. So the modulus of its
    characteristic function does not fall below about a, and that of T steps not below a^T. This is too large if all
    steps are such batches and the product of their a^T exceeds e^−`NEGLIGIBLE_NATS`. Any other step makes the function
    decay.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.

    Returns:
        False if the function certainly stays too large.

    Source: docs/engine-certificate.md, A8, What is rejected.
    """
    if any(isinstance(law, GaussianMixtureLaw) and not law.is_silent for law, _ in laws):
        return True

    # The atom a and the number T of steps of each kind of batch.
    atoms = [(law.atom, count) for law, count in laws if isinstance(law, DrawnMixtureLaw)]
    other_laws = [(law, count) for law, count in laws if not isinstance(law, DrawnMixtureLaw)]
    for part in build_parts(other_laws):
        if not isinstance(part, NoiseSteps):
            return True
        atoms.append((part.atom, part.count))
    # TINY replaces an atom that was rounded to 0, whose logarithm is not finite.
    log_product = math.fsum(count * math.log(max(atom, TINY)) for atom, count in atoms)
    return not atoms or log_product <= -NEGLIGIBLE_NATS


def supremum(laws: Laws) -> float:
    """Return the largest total privacy loss of a composition, rounded up.

    For ε at or above it, δ(ε) is zero.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.

    Returns:
        The upper bound on the total loss in nats; math.inf if the loss is unbounded, 0 if every loss is zero.
    """
    suprema = []
    other_laws = []
    for law, count in laws:
        if not isinstance(law, MixedLaw):
            other_laws.append((law, count))
        elif count and not law.is_silent:
            suprema.append(count * law.supremum)
    suprema += [part.supremum for part in build_parts(other_laws)]
    rounding = 4 * UNIT_ROUNDOFF * len(suprema)  # relative error of the sum
    return math.fsum(suprema) * (1.0 + rounding)
