"""What the contour engine needs to know of a privacy loss: K(z) = T log E_P[e^{zL}] on real tilts and on a line.

A `Part` is T independent copies of one loss. It answers on a `Resolved` form, a quadrature laid for a range of tilts
and of frequencies, and refuses to lay one that exceeds the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class NodeBudget:
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
        """All of them."""
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


class Resolved(Protocol):
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

    def scale_slope(self, tilt: float) -> float:
        """∂K/∂log s at a real tilt, s the shift; an estimate."""


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

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> Resolved:
        """A quadrature for real tilts in [first, last] and frequencies up to the given one.

        Raises:
            Refused: it takes more nodes than the budget has.
        """
