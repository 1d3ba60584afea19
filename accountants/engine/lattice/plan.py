"""Choice of the transform of a composed lattice distribution, and whether it fits the budget.

Every frequency is accounted for, so distributions on a sublattice, where |φ| returns to one, need no special case. If
the number N of points is small, one FFT gives φ at all frequencies. If it is large, a shorter FFT with a second-order
Taylor bound proves |φ|^T negligible on whole blocks of frequencies, and φ is summed directly at the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import next_fast_len, rfft

from epsilond.accountants.engine.lattice.budget import TransformLimits
from epsilond.accountants.engine.lattice.cells.side_tails import BoolArray
from epsilond.accountants.engine.lattice.spectrum import Chernoff, Spectrum, estimate_period
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate
from epsilond.accountants.engine.lattice.tilted_line import (
    TiltedDistribution,
    TiltedLine,
    all_frequencies,
    build_spectrum,
    few_frequencies,
    wrap,
)

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.laws import LatticeComposition
    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray


_MOST_EXAMINED = 1e6
"""Number of frequencies that may always be examined one by one: a few arrays of 8 MB."""
_MOST_SUMMED = 2**18
"""Largest number of frequencies that are summed directly: as many as the largest FFT has, to bound the memory."""
_TERMS_EACH = 100
"""Cost of raising φ of one distribution at one frequency to its count, in terms of a sum."""
_FFT_EACH = 16
"""Cost of one point of an FFT, in terms of a sum."""
_CHEAP = 2**13
"""Points of an FFT that costs less than the arrays around it; a period may then be three times as long."""
_ROOM = 1.5
"""Largest size of an FFT, relative to the points of a period; the margin serves ε that are far from the tilt's own."""


class TooLarge(NamedTuple):
    """The result of a transform that does not fit the limits on its work.

    Attributes:
        factor: factor by which the lattice unit should grow.
    """

    factor: float


@dataclass(frozen=True)
class TransformPlan:
    """The plan for computing the Fourier transform of a composition of lattice distributions at one tilt.

    Attributes:
        laws: the lattice distributions of the losses, with their numbers of rounds.
        coordinate: the tilt λ, the exponent of the weight e^{λL} of a loss L.
        chernoff: bounds of the alias, the error of a sum over frequencies by its period.
        log_width: log of the required width of the enclosure of δ, relative to δ.
        points: number of lattice points in a period with a negligible alias.
    """

    laws: LatticeComposition
    coordinate: TiltCoordinate
    chernoff: Chernoff
    log_width: float
    points: int

    @classmethod
    def of(cls, laws: LatticeComposition, coordinate: TiltCoordinate, log_width: float) -> TransformPlan:
        """Plan the transform of a lattice composition, with an alias of about 2 % of the required width of δ.

        The alias is the error that a sum over frequencies has by its period. It is as small at ε up to a standard
        deviation away from the ε for which the tilt is best.

        Args:
            laws: the lattice distributions, with their numbers of rounds.
            coordinate: the tilt λ, the exponent of the weight e^{λL} of a loss L, as a real coordinate.
            log_width: log of the required width, relative to the saddle-point estimate of δ.

        Returns:
            The plan, with the Chernoff bounds on the alias and the number of lattice points in a period.

        Raises:
            ArithmeticError: a distribution has no mass, as its losses leave the range of doubles.
        """
        if np.isneginf(laws.flat.largest(laws.flat.log_mass)).any():
            raise ArithmeticError("a lattice distribution has no mass")
        chernoff = Chernoff.around(laws.flat, coordinate)
        period = estimate_period(laws.flat, coordinate, log_width, chernoff)
        # 1e17 points are beyond every limit, and still convert to an integer.
        points = max(math.ceil(min(period / laws.unit, 1e17)), 16)
        # If points are cheap, a wider period costs nothing.
        points = max(points, min(3 * points, _CHEAP))
        return cls(laws, coordinate, chernoff, log_width, points)

    def transform(self, limits: TransformLimits) -> Spectrum | TooLarge:
        """Compute the terms of δ at the few frequencies that matter, or at all of them if that is cheaper.

        All frequencies are used if their number is at most an eighth of the limit. They are also used if their number
        is within the limit, but the computation for the few relevant ones is not.

        Args:
            limits: limits on the number of points and of terms.

        Returns:
            The terms as a `Spectrum`; or a factor by which the lattice unit should grow, if both ways exceed the
            limits.
        """
        line = TiltedLine.of(self.laws, self.coordinate)
        # A short FFT is cheaper than the selection of frequencies.
        if self.points <= limits.points // 8:
            return self._full_spectrum(line, self.points)
        sparse = self._sparse_spectrum(line, limits)
        if isinstance(sparse, Spectrum):
            return sparse
        if self.points <= limits.points:
            return self._full_spectrum(line, self.points)
        # Both ways exceed their limits: a coarser lattice needs fewer points. The cheaper one decides.
        return TooLarge(min(self.points / limits.points, sparse.factor))

    def _full_spectrum(self, line: TiltedLine, points: int) -> Spectrum:
        """Compute the terms of δ at all frequencies, by an FFT of each distribution.

        Args:
            line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
            points: least number of lattice points in a period; the FFT may have a few more, so that it is fast.

        Returns:
            The terms of δ at all frequencies, with their error bounds.
        """
        size = next_fast_len(points, real=True)
        return build_spectrum(line, size, all_frequencies(line, size), self.chernoff)

    def _block_layout(self, least_blocks: int) -> tuple[int, int]:
        """Return the number of blocks of neighbouring frequencies, and the odd number of frequencies in each block.

        Together they cover at least `points` frequencies. A shorter FFT with one frequency per block evaluates the
        middles of the blocks.

        Args:
            least_blocks: least number of blocks, the length of the shorter FFT.

        Returns:
            The number of blocks, and the number of frequencies in a block.
        """
        blocks = next_fast_len(least_blocks, real=True)
        per_block = self.points // blocks + 1
        # A block has a middle frequency only if its number of frequencies is odd.
        is_even = per_block % 2 == 0
        return blocks, per_block + is_even

    def _depth(self, size: int) -> float:
        """Return the number d of nats such that a frequency is negligible if |φ^T| is at most e^−d there.

        φ^T is the characteristic function of the composition. The values |φ^T| of all negligible frequencies sum to at
        most e^−5 of the required relative width of δ.

        Args:
            size: number of frequencies.

        Returns:
            The depth in nats, above 0.
        """
        return math.log(size) - self.log_width + 5.0

    @property
    def _work(self) -> int:
        """Number of terms of the direct sums of all distributions at one frequency."""
        return sum(law.index.size + _TERMS_EACH for law in self.laws.laws)

    @property
    def _widest(self) -> int:
        """Largest index of any distribution."""
        return max(int(np.abs(law.index).max()) for law in self.laws.laws)

    def _sparse_spectrum(self, line: TiltedLine, limits: TransformLimits) -> Spectrum | TooLarge:
        """Compute the terms of δ at the frequencies that a shorter FFT does not prove to be negligible.

        The values are direct sums, or come from a full FFT if there are many such frequencies.

        Args:
            line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
            limits: limits on the number of points and of terms.

        Returns:
            The terms as a `Spectrum`; or a factor by which the lattice unit should grow, if the work exceeds the
            limits.
        """
        blocks, per_block = self._block_layout(limits.points // 8)
        if per_block > limits.terms:
            return TooLarge(per_block / limits.terms)
        size = blocks * per_block

        # The relevant frequencies; if there are too many, `skipped` is their number.
        most = max(_MOST_EXAMINED, limits.terms / self._work)
        frequencies, skipped = find_frequencies(line, blocks, per_block, self._depth(size), most)
        if frequencies is None:
            return TooLarge((skipped * self._work / limits.terms) ** 2)

        # A full FFT, if it is cheaper than direct sums at these frequencies.
        direct_work = frequencies.size * self._work
        fft_work = _FFT_EACH * size * len(self.laws.laws)
        if size <= limits.points and fft_work < direct_work:
            if size > _ROOM * self.points:
                return self._full_spectrum(line, math.ceil(_ROOM * self.points))
            return build_spectrum(line, size, all_frequencies(line, size, frequencies, skipped), self.chernoff)

        # Products of a frequency and an index must be exact doubles.
        largest_product = int(frequencies.max()) * self._widest
        if largest_product > 2**52:
            return TooLarge(math.sqrt(largest_product / 2**52))
        excess = max(direct_work / limits.terms, frequencies.size / _MOST_SUMMED)
        if excess > 1.0:
            return TooLarge(excess**2)
        return build_spectrum(line, size, few_frequencies(line, size, frequencies, skipped), self.chernoff)


# Frequencies of a composed lattice distribution that matter; the others are proved negligible block by block --------
_LEFT_OUT = 3.0
"""Expected number of rounds outside the window on which φ is bounded."""
_MOST_LEFT_OUT = 0.25
"""Largest mass of a distribution outside a window: with more, |φ| ≤ |φ_B| + w proves little."""


def find_frequencies(
    line: TiltedLine, blocks: int, per_block: int, depth: float, most: float
) -> tuple[IntArray | None, float]:
    """Find the frequencies at which the composed characteristic function φ^T is not proved to be negligible.

    Negligible is a modulus below e^−depth. An FFT at the middle frequency of each block bounds |φ^T| on the block.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        blocks: number of blocks of neighbouring frequencies, the length of the FFT.
        per_block: number of frequencies of a block, which is odd.
        depth: minus the log |φ^T| of a negligible frequency.
        most: largest number of frequencies to return.

    Returns:
        The frequencies, and a bound of Σ |φ^T| over all others. If there are more than `most`: None, and their number.
    """
    size = blocks * per_block
    log_bound = _bound_blocks(line, blocks)
    # The weights sum to one within 1e-12 for each round.
    rounds = float(sum(line.laws.counts))
    largest_negligible = -(depth + 1e-12 * rounds)
    is_negligible = log_bound <= largest_negligible
    open_blocks = np.flatnonzero(~is_negligible)
    if open_blocks.size * per_block > most:
        return None, float(open_blocks.size * per_block)

    # All frequencies of the other blocks, from 0 to half the number of points.
    half = per_block // 2
    frequencies = (open_blocks[:, None] * per_block + np.arange(-half, half + 1)).ravel()
    frequencies = frequencies[(frequencies >= 0) & (2 * frequencies <= size)].astype(np.int64)
    skipped = per_block * float(np.exp(log_bound[is_negligible]).sum())
    return frequencies, skipped


def _bound_blocks(line: TiltedLine, blocks: int) -> FloatArray:
    """Return upper bounds on the log modulus of the composed characteristic function φ^T on blocks of frequencies.

    Each block surrounds one frequency of an FFT. The bound is the sum over the distributions of their numbers of rounds
    times log |φ|, with |φ| ≤ 1.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        blocks: length of the FFT.

    Returns:
        One bound for each block with a frequency from 0 to half the length of the FFT.
    """
    log_bound = np.zeros(blocks // 2 + 1)
    # The modulus of φ^T is the product of the moduli |φ_j|^{T_j}.
    laws = list(line.parts())
    for law in laws:
        left_out = _window_loss(law, len(laws))
        bound = _bound_transform(law, line.laws.unit, blocks, left_out)
        log_bound += law.count * np.log(np.minimum(bound, 1.0))
    return log_bound


def _bound_transform(law: TiltedDistribution, unit: float, blocks: int, left_out: float) -> FloatArray:
    """Return upper bounds on the characteristic function |φ| of one distribution, on each block of frequencies.

    Let φ_B be the part of φ from a window of losses. If the mass outside the window is w, |φ| ≤ |φ_B| + w. Let
    F = |φ_B|² at the FFT's frequency τ, and let V be the second moment of the centred loss in the window. By Taylor's
    theorem and |F″| ≤ 2V, for every s

        |φ_B(τ + s)|² ≤ F + |s F′| + s² V.

    Args:
        law: the distribution.
        unit: lattice unit, in nats.
        blocks: length of the FFT.
        left_out: largest mass outside the window.

    Returns:
        One bound for each block with a frequency from 0 to half the length of the FFT.
    """
    by_distance = np.argsort(-np.abs(law.index), kind="stable")
    inside, outside_mass = _window(law.weights, by_distance, left_out)
    index, weights = law.index[inside], law.weights[inside]
    losses = index * unit

    # φ_B and its derivative at the FFT's frequencies.
    transform = rfft(wrap(index, weights, blocks))
    derivative = rfft(wrap(index, weights * losses, blocks))
    half_slope = np.abs((np.conj(transform) * derivative).imag)  # |F′|/2
    second_moment = float(weights @ losses**2)

    # The Taylor bound at the end of a block, which is the largest |s| away.
    half_block = np.pi / (blocks * unit)
    square = np.abs(transform) ** 2 + 2.0 * half_block * half_slope
    square = square + half_block * half_block * second_moment
    square += 1e-12 * (1.0 + half_block * math.sqrt(second_moment))  # the roundings of the FFT
    return np.asarray(np.sqrt(square) + outside_mass)


def _window_loss(law: TiltedDistribution, laws: int) -> float:
    """Return the mass of a distribution that a window may leave out, so that few rounds are expected outside.

    Args:
        law: the distribution, with its number of rounds.
        laws: number of distributions of the composition.

    Returns:
        The largest mass that the window may leave out, in (0, 1).
    """
    return min(_LEFT_OUT / (law.count * laws), _MOST_LEFT_OUT)


def _window(weights: FloatArray, order: IntArray, left_out: float) -> tuple[BoolArray, float]:
    """Return the smallest window around the centre of a distribution that excludes at most a given mass.

    Args:
        weights: masses of the outcomes.
        order: indices of the outcomes by decreasing distance from the centre.
        left_out: largest mass to exclude.

    Returns:
        A mask of the outcomes inside, and an upper bound of the mass outside.
    """
    # Exclude the outermost outcomes as long as their total mass is at most `left_out`.
    mass_beyond = np.cumsum(weights[order])
    excluded = int(np.searchsorted(mass_beyond, left_out, side="right"))
    inside = np.ones(weights.size, dtype=np.bool_)
    inside[order[:excluded]] = False
    if not excluded:
        return inside, 0.0
    rounding_factor = 1.0 + 1e-9  # far more than the error of a sum
    return inside, float(mass_beyond[excluded - 1]) * rounding_factor
