"""What the contour engine needs to know of a privacy loss: K(z) = T log E_P[e^{zL}] on real tilts and on a line.

A `Part` is T independent copies of one loss. It answers on a `ResolvedPart`, a quadrature laid for a range of tilts
and of frequencies, and refuses to lay one that exceeds the budget.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.numerics.special import FloatArray


class NodeBudget(NamedTuple):
    """Most work of one evaluation, counted in nodes before it starts.

    Attributes:
        noise_nodes: nodes of one quadrature over the noise.
        frequencies: nodes on the contour.
        products: noise nodes times frequencies, summed over the parts; of one part.
        products_each: what every further part may add to that.
        products_most: and in all.
    """

    noise_nodes: int = 1 << 14
    frequencies: int = 1 << 14
    products: int = 3 << 23
    products_each: int = 1 << 20
    products_most: int = 1 << 28

    def products_of(self, parts: int) -> int:
        """Most products for so many parts."""
        return max(self.products, min(self.products + (parts - 1) * self.products_each, self.products_most))


class Moments(NamedTuple):
    """K, K′ and K″ at real tilts, elementwise; estimates, for searches."""

    cumulant: FloatArray
    mean: FloatArray
    variance: FloatArray


class LineValues(NamedTuple):
    """φ(t)^T = (M(λ + it)/M(λ))^T e^{−itc} at t = k · spacing, k = 0, …, n − 1, with c the centre.

    Guarantees: with φ̂ the value that `log_modulus` and `phase` describe up to the relative error `rounding`,
    |φ̂^T − φ^T| ≤ e^m (e^g − 1), m = max(log_modulus, …) and g = `log_growth`; the true K(λ) is within
    `cumulant_error` of `cumulant`.

    Attributes:
        log_modulus: T log max(|φ̂|, η), per node.
        phase: T arg φ̂, per node.
        log_growth: T log(1 + η/max(|φ̂|, η)), per node, η bounding |φ̂ − φ| for one copy (certificate, A4).
        rounding: bound on the rounding of T log φ̂ itself, per node.
        centre: c, the computed mean T E_λ[L].
        cumulant: K(λ).
        cumulant_error: bound on its error, quadrature included.
    """

    log_modulus: FloatArray
    phase: FloatArray
    log_growth: FloatArray
    rounding: FloatArray
    centre: float
    cumulant: float
    cumulant_error: float


class Line(NamedTuple):
    """Equispaced frequencies on Re z = tilt: t = k · spacing for k < nodes. The spacing has few significant bits."""

    tilt: float
    spacing: float
    nodes: int

    @property
    def frequencies(self) -> FloatArray:
        """Every frequency of the line."""
        return np.asarray(self.spacing * np.arange(self.nodes), dtype=np.float64)


class Joined(NamedTuple):
    """φ^T of several parts together, and Σ |K| over them for the rounding of their sum."""

    values: LineValues
    size: float

    @classmethod
    def of(cls, parts: Iterable[LineValues]) -> Joined:
        """The sums of all fields, formed one part at a time, with the rounding of forming them in `rounding`."""
        given = iter(parts)
        total = next(given)
        centres, cumulants = [total.centre], [total.cumulant]
        moved = np.zeros_like(total.rounding)
        for part in given:
            centres.append(part.centre)
            cumulants.append(part.cumulant)
            log_modulus, phase = total.log_modulus + part.log_modulus, total.phase + part.phase
            moved += np.abs(log_modulus) + np.abs(phase)
            total = LineValues(
                log_modulus,
                phase,
                total.log_growth + part.log_growth,
                total.rounding + part.rounding,
                0.0,
                0.0,
                total.cumulant_error + part.cumulant_error,
            )
        count = len(centres)
        total = total._replace(
            log_growth=total.log_growth * (1.0 + 2 * count * UNIT_ROUNDOFF),
            rounding=(total.rounding + UNIT_ROUNDOFF * moved) * (1.0 + 2 * count * UNIT_ROUNDOFF),
            centre=math.fsum(centres),
            cumulant=math.fsum(cumulants),
            cumulant_error=total.cumulant_error * (1.0 + 2 * count * UNIT_ROUNDOFF),
        )
        return cls(total, math.fsum(map(abs, cumulants)))


class Terms(NamedTuple):
    """M(l) = Σ e^{log_first + l · loss} of one copy, of which there are `copies`."""

    log_first: FloatArray
    loss: FloatArray
    copies: int


class ResolvedPart(Protocol):
    """A part with a quadrature that is certified for a range of tilts and frequencies."""

    @property
    def terms(self) -> Terms | None:
        """The sum behind `moments`, None for a closed form."""

    @property
    def noise_nodes(self) -> int:
        """Number of nodes, 0 for a closed form."""

    def moments(self, tilts: FloatArray) -> Moments:
        """K, K′, K″; estimates."""

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Upper bounds of K at tilts in the range."""

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Upper bounds of log |φ(t′)|^T, for all t′ ≥ t, at each frequency t (certificate, A3)."""

    def on_line(self, line: Line) -> LineValues:
        """φ^T on a line in the range, with its errors (certificate, A2 and A4)."""


class Part(Protocol):
    """T independent copies of one privacy loss."""

    @property
    def supremum(self) -> float:
        """T sup L rounded up; math.inf if the loss is unbounded."""

    @property
    def log_leak(self) -> float:
        """log of the probability of losses that the transform leaves out, to be charged as infinite; −inf if none."""

    def cut_at(self, log_leak: float) -> Part:
        """The part with giant losses of log probability `log_leak` left out, itself if it has none."""

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> ResolvedPart:
        """A quadrature for real tilts in [first, last] and frequencies up to the given one.

        Raises:
            ContourRefused: it takes more nodes than the budget has.
        """


# Why the contour engine declines to answer. The caller then composes on the lattice ---------------------------------
class RefusalReason(Enum):
    """What stood in the way of a certificate."""

    BEYOND_BUDGET = "work beyond the node budget"
    NO_DECAY = "integrand does not decay"
    NO_TILT = "no usable tilt"
    NOT_POSITIVE = "certificate not positive"
    TOO_WIDE = "certificate wider than asked"
    CLOSED_FORM = "delta is known in closed form"
    INCONSISTENT = "evaluations disagree"


class ContourRefused(EpsilondError):
    """No certificate from this engine; nothing is said about the mechanism.

    Attributes:
        reason: one of a fixed set, for the caller to act on.
        detail: the numbers, for a person.
    """

    def __init__(self, reason: RefusalReason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[ContourRefused], tuple[RefusalReason, str]]:
        return type(self), (self.reason, self.detail)


# φ(t)^T on equispaced frequencies from weighted losses: one matrix product, then powers in polar form ---------------
#
# Sums are taken of φ − 1: their roundings scale with E|e^{itd} − 1| ≤ t E|d|, so that T steps together err by O(√T)
# units of roundoff, not O(T) (docs/engine-certificate.md, A4).
ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_BLOCK = 4096
_ENTRIES = 1 << 16


def _rotation(frequencies: FloatArray, deviation: FloatArray) -> ComplexArray:
    """e^{itd} − 1 = 2 (iτ − τ²)/(1 + τ²), τ = tan(td/2), without cancellation; a column for each d of a row.

    Each part errs by at most twice the relative error of τ and four units of roundoff: a tangent within eight units
    is good enough, and is many times quicker than a sine and a cosine.
    """
    tangent = (0.5 * frequencies)[:, None] * deviation[..., None, :]
    np.tan(tangent, out=tangent)
    square = tangent * tangent
    shrunk = 2.0 / (1.0 + square)
    rotation = np.empty(tangent.shape, dtype=np.complex128)
    np.multiply(tangent, shrunk, out=rotation.imag)
    np.multiply(square, -shrunk, out=rotation.real)
    return rotation


def characteristic_change(weights: FloatArray, deviation: FloatArray, line: Line) -> ComplexArray:
    """φ(t_k) − 1 = Σ w (e^{it_k d} − 1) for all k."""
    return np.asarray(characteristic_changes(weights[None], deviation, line)[0])


def characteristic_changes(rows: FloatArray, deviation: FloatArray, line: Line) -> ComplexArray:
    """The same for each row of weights.

    With a baby step a and a giant step b, e^{i(a+b)} − 1 = (e^{ib} − 1) e^{ia} + (e^{ia} − 1).
    """
    babies, giants = _strides(line)
    total = np.zeros((len(rows), giants.size, babies.size), dtype=np.complex128)
    for start in range(0, deviation.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        small, large = _rotation(babies, deviation[block]), _rotation(giants, deviation[block])
        turned = (1.0 + small).T
        for row, weights in enumerate(rows[:, block]):
            total[row] += small @ weights
            total[row] += (large * weights) @ turned
    return np.asarray(total.reshape(len(rows), -1)[:, : line.nodes])


def _strides(line: Line) -> tuple[FloatArray, FloatArray]:
    """Frequencies of baby steps and of giant steps, whose sums are those of the line and a few beyond."""
    stride = max(math.isqrt(line.nodes - 1) + 1, 1)
    babies, giants = np.arange(stride), stride * np.arange(-(-line.nodes // stride))
    return line.spacing * babies.astype(np.float64), line.spacing * giants.astype(np.float64)


def changes_of_rows(weights: FloatArray, deviations: FloatArray, line: Line) -> ComplexArray:
    """The same where each row has deviations of its own."""
    babies, giants = _strides(line)
    total = np.zeros((len(weights), giants.size, babies.size), dtype=np.complex128)
    together = max(_ENTRIES // (weights.shape[1] * babies.size), 1)
    for first in range(0, len(weights), together):
        rows = slice(first, first + together)
        for start in range(0, weights.shape[1], _BLOCK):
            block = (rows, slice(start, start + _BLOCK))
            small, large = _rotation(babies, deviations[block]), _rotation(giants, deviations[block])
            weighed = weights[block]
            total[rows] += (small @ weighed[:, :, None].astype(np.complex128)).transpose(0, 2, 1)
            large *= weighed[:, None]
            small += 1.0
            total[rows] += large @ small.transpose(0, 2, 1)
    return np.asarray(total.reshape(len(weights), -1)[:, : line.nodes])


class OneStep(NamedTuple):
    """One step on a line: φ − 1 and a bound on its error per node, the mean loss, K and a bound on its error."""

    change: ComplexArray
    error: FloatArray
    mean: float
    cumulant: float
    cumulant_error: float


class OneCopy(NamedTuple):
    """log max(|φ̂|, η), arg φ̂, log(1 + η/max(|φ̂|, η)) and the rounding of log φ̂ of one step, per node."""

    log_modulus: FloatArray
    phase: FloatArray
    log_growth: FloatArray
    rounding: FloatArray


def polar(change: ComplexArray, error: FloatArray, mean: FloatArray | float, frequencies: FloatArray) -> OneCopy:
    """φ − 1 of one step in polar form, elementwise.

    Raises:
        ContourRefused: the error of some φ exceeds a half.
    """
    real, imaginary = change.real, change.imag
    square_less_one = 2.0 * real + real * real + imaginary * imaginary
    if float(error.max()) > 0.5:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"rounding of the transform {float(error.max()):.2g}")
    computed = np.hypot(1.0 + real, imaginary)
    modulus = np.maximum(computed, np.maximum(error, 1e-300))
    # Where |φ̂| < η the value of modulus η that stands for it is off by up to η^T + (2η)^T ≤ (4η)^T − η^T.
    ratio = np.where(computed < modulus, 3.0, error / modulus)
    log_modulus = np.where(square_less_one < -0.5, np.log(modulus), 0.5 * np.log1p(np.maximum(square_less_one, -0.9)))
    phase = np.arctan2(imaginary, 1.0 + real)
    scale = 2.0 * np.abs(real) + real * real + imaginary * imaginary
    rounding = UNIT_ROUNDOFF * (
        6.0 * scale + 6.0 * np.abs(log_modulus) + 6.0 * np.abs(phase) + 4.0 * frequencies * np.abs(mean)
    )
    return OneCopy(log_modulus, phase, np.log1p(ratio), rounding)


def power(step: OneStep, count: int, line: Line) -> LineValues:
    """φ^T in polar form, with the growth of the error under the power (A4)."""
    change, error, mean, cumulant, cumulant_error = step
    one = polar(change, error, mean, line.frequencies)
    return LineValues(
        log_modulus=count * one.log_modulus,
        phase=count * one.phase,
        log_growth=count * one.log_growth,
        rounding=count * one.rounding,
        centre=count * mean,
        cumulant=count * cumulant,
        cumulant_error=count * (cumulant_error + 2 * UNIT_ROUNDOFF * abs(cumulant)),
    )


# The trapezoidal rule with exact nodes, and the constants of error bounds -------------------------------------------
_STEP_BITS = 7


def exact_step(step: float) -> float:
    """The largest float with few significant bits that does not exceed `step` > 0.

    Its multiples by integers below 2^45 are exact, so that a grid of them is equispaced to the last bit.
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """γ_n = nu/(1 − nu): relative error of a sum of n products, in any order, against the sum of their moduli."""
    product = (terms + 10) * UNIT_ROUNDOFF
    return product / (1.0 - product)


def normal_quantile(nats: float) -> float:
    """A c ≥ 0 with Φ(−c) ≤ e^{−nats}."""
    return max(-float(ndtri_exp(-nats)), 0.0) * (1.0 + 1e-9) + 1e-9


def upper_normal_tail(c: float) -> float:
    """Φ(−c), rounded up."""
    return math.exp(float(log_ndtr(-c)) * (1.0 - 1e-12)) * (1.0 + 1e-12)


def log_strip_error(heights: FloatArray, log_growth: FloatArray, step: float) -> FloatArray:
    """log of 2E/(e^{2πa/h} − 1): error of the trapezoidal rule for a function analytic in |Im x| < a.

    E = e^{log_growth} bounds ∫ |f(x + iy)| dx for |y| < a (Trefethen and Weideman 2014, Theorem 5.1; any offset).
    """
    exponent = 2.0 * math.pi * heights / step
    return np.asarray(math.log(2.0) + log_growth - exponent - np.log(-np.expm1(-exponent)) + 1e-9)


def widest_step(heights: FloatArray, log_growth: FloatArray, nats: float) -> float:
    """The largest step for which some strip gives an error of at most e^{−nats}."""
    return float(np.max(2.0 * math.pi * heights / np.logaddexp(0.0, log_growth + nats + math.log(2.0))))
