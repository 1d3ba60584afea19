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
    transform_at_frequencies,
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
_POWER_COST = 100
"""Cost of raising φ of one distribution at one frequency to its count, in terms of a sum."""
_FFT_POINT_COST = 16
"""Cost of one point of an FFT, in terms of a sum."""
_CHEAP_POINTS = 2**13
"""Points of an FFT that costs less than the arrays around it. Up to this size a period is made three times as long."""
_LARGEST_OVERSIZE = 1.5
"""Largest size of a full FFT, relative to the points of a period. A longer period helps at ε far from the best one."""


class TooLarge(NamedTuple):
    """The result of a transform that does not fit the limits on its work.

    Attributes:
        factor: factor by which the lattice unit should grow.
    """

    factor: float


class TooManyFrequencies(NamedTuple):
    """The result of a search for relevant frequencies that found more than it may return.

    Attributes:
        frequencies: number of frequencies that are not proved to be negligible.
    """

    frequencies: float


@dataclass(frozen=True)
class TransformPlan:
    """The plan for computing the Fourier transform of a composition of lattice distributions at one tilt.

    Attributes:
        laws: the lattice distributions of the losses, with their numbers of rounds.
        coordinate: the tilt λ, the exponent of the weight e^{λL} of a loss L.
        chernoff: bounds on the alias, the error that a sum over frequencies has because its period is finite.
        log_width: log of the required width of the enclosure of δ, relative to an estimate of δ.
        points: number of lattice points in a period that is long enough for a negligible alias.
    """

    laws: LatticeComposition
    coordinate: TiltCoordinate
    chernoff: Chernoff
    log_width: float
    points: int

    @classmethod
    def of(cls, laws: LatticeComposition, coordinate: TiltCoordinate, log_width: float) -> TransformPlan:
        """Plan the transform of a lattice composition, with an alias of about 2 % of the required width of δ.

        The alias is the error that a sum over frequencies has because its period is finite. It stays as small at ε up
        to a standard deviation of the total loss away from the ε for which the tilt is best.

        Args:
            laws: the lattice distributions, with their numbers of rounds.
            coordinate: the tilt λ, the exponent of the weight e^{λL} of a loss L, as a real coordinate.
            log_width: log of the required width, relative to the saddle-point estimate of δ.

        Returns:
            The plan, with the Chernoff bounds on the alias and the number of lattice points in a period.

        Raises:
            ArithmeticError: a distribution has no positive mass that is a double.
        """
        if np.isneginf(laws.flat.largest(laws.flat.log_mass)).any():
            raise ArithmeticError("a lattice distribution has no mass")
        chernoff = Chernoff.around(laws.flat, coordinate)
        period = estimate_period(laws.flat, coordinate, log_width, chernoff)
        # 1e17 points are beyond every limit, and still convert to an integer.
        points = max(math.ceil(min(period / laws.unit, 1e17)), 16)
        # A longer period costs nothing if its points are few, and it serves more ε.
        points = max(points, min(3 * points, _CHEAP_POINTS))
        return cls(laws, coordinate, chernoff, log_width, points)

    def transform(self, limits: TransformLimits) -> Spectrum | TooLarge:
        """Compute the terms of the Fourier sum for δ at the frequencies where they are not negligible, or at all.

        One FFT gives the terms at all frequencies. This is cheaper than a selection if the number of frequencies is at
        most an eighth of the limit. It is also used if the selected frequencies need too much work, and the FFT is
        within the limit.

        Args:
            limits: limits on the number of points and of terms.

        Returns:
            The terms as a `Spectrum`. If both ways exceed the limits, a `TooLarge` with the factor by which the spacing
            of the lattice should grow.
        """
        line = TiltedLine.of(self.laws, self.coordinate)
        if self.points <= limits.points // 8:
            return self._full_spectrum(line, self.points)
        sparse = self._sparse_spectrum(line, limits)
        if isinstance(sparse, Spectrum):
            return sparse
        if self.points <= limits.points:
            return self._full_spectrum(line, self.points)
        # A coarser lattice needs fewer points. The way that needs less coarsening decides.
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
        """Divide at least `points` frequencies into blocks of equal size, of which a shorter FFT evaluates the middles.

        Args:
            least_blocks: least number of blocks. The number of blocks is the length of the shorter FFT.

        Returns:
            The number of blocks, and the odd number of frequencies in a block.
        """
        blocks = next_fast_len(least_blocks, real=True)
        per_block = self.points // blocks + 1
        # A block has a middle frequency only if its number of frequencies is odd.
        is_even = per_block % 2 == 0
        return blocks, per_block + is_even

    def _negligible_depth(self, size: int) -> float:
        """Return a limit e^−d, by its d, below which the Fourier terms of the composition can be left out together.

        Let |φ^T| be the modulus of its characteristic function at a frequency. If it is at most e^−d at some of the N
        frequencies, these moduli sum to at most N e^−d. With the required relative width w of δ, this is:

            N e^−d = e^−5 w, so that d = log N − log w + 5.

        Args:
            size: number N of frequencies.

        Returns:
            The number d in nats, above 0.
        """
        margin = 5.0
        return math.log(size) - self.log_width + margin

    @property
    def _terms_per_frequency(self) -> int:
        """Cost of direct sums over all distributions at one frequency, powers included, in terms of a sum."""
        return sum(law.index.size + _POWER_COST for law in self.laws.laws)

    @property
    def _largest_index(self) -> int:
        """Largest absolute value of a lattice index of any distribution."""
        return max(int(np.abs(law.index).max()) for law in self.laws.laws)

    def _sparse_spectrum(self, line: TiltedLine, limits: TransformLimits) -> Spectrum | TooLarge:
        """Compute the terms of the Fourier sum for δ at the frequencies where they may matter.

        A shorter FFT bounds the terms on blocks of frequencies, and blocks with negligible bounds are left out. The
        other terms are direct sums, or come from one FFT of all frequencies if there are many.

        Args:
            line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
            limits: limits on the number of points and of terms.

        Returns:
            The terms as a `Spectrum`. If the work exceeds the limits, a `TooLarge` with the factor by which the spacing
            of the lattice should grow.
        """
        blocks, per_block = self._block_layout(limits.points // 8)
        if per_block > limits.terms:
            return TooLarge(per_block / limits.terms)
        size = blocks * per_block

        most = max(_MOST_EXAMINED, limits.terms / self._terms_per_frequency)
        relevant = find_frequencies(line, blocks, per_block, self._negligible_depth(size), most)
        # A larger unit reduces the terms of each frequency more than the number of relevant frequencies. So the excess
        # is squared here and below. This is a heuristic: the caller tries again with the larger unit.
        if isinstance(relevant, TooManyFrequencies):
            return TooLarge((relevant.frequencies * self._terms_per_frequency / limits.terms) ** 2)
        frequencies, skipped = relevant

        # Use an FFT of all frequencies if it is cheaper than direct sums. It may be cut to 1.5 times the points of a
        # period; all its frequencies are then used.
        direct_work = frequencies.size * self._terms_per_frequency
        fft_work = _FFT_POINT_COST * size * len(self.laws.laws)
        if size <= limits.points and fft_work < direct_work:
            if size > _LARGEST_OVERSIZE * self.points:
                return self._full_spectrum(line, math.ceil(_LARGEST_OVERSIZE * self.points))
            return build_spectrum(line, size, all_frequencies(line, size, frequencies, skipped), self.chernoff)

        # Products of a frequency and an index must be exact doubles. A larger unit makes both smaller.
        largest_product = int(frequencies.max()) * self._largest_index
        if largest_product > 2**52:
            return TooLarge(math.sqrt(largest_product / 2**52))
        excess = max(direct_work / limits.terms, frequencies.size / _MOST_SUMMED)
        if excess > 1.0:
            return TooLarge(excess**2)
        return build_spectrum(line, size, transform_at_frequencies(line, size, frequencies, skipped), self.chernoff)


# Frequencies of a composed lattice distribution that matter; the others are proved negligible block by block --------
_ROUNDS_OUTSIDE = 3.0
"""Largest expected number of rounds with a loss outside the window on which φ is bounded."""
_MOST_OUTSIDE_MASS = 0.25
"""Largest mass of a distribution outside a window: with more, |φ| ≤ |φ_B| + w proves little."""


def find_frequencies(
    line: TiltedLine, blocks: int, per_block: int, depth: float, most: float
) -> tuple[IntArray, float] | TooManyFrequencies:
    """Find the frequencies at which the composed characteristic function φ^T is not proved to be negligible.

    A modulus of at most e^−depth is negligible. An FFT at the middle frequency of each block bounds |φ^T| on the block.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        blocks: number of blocks of neighbouring frequencies, the length of the FFT.
        per_block: number of frequencies of a block, which is odd.
        depth: minus the log |φ^T| of a negligible frequency.
        most: largest number of frequencies to return.

    Returns:
        The frequencies, and a bound on Σ |φ^T| over all others. Or only their number, if it is above `most`.
    """
    size = blocks * per_block
    log_bound = _bound_blocks(line, blocks)
    # The weights sum to one within 1e-12 for each round.
    rounds = float(sum(line.laws.counts))
    largest_negligible = -(depth + 1e-12 * rounds)
    is_negligible = log_bound <= largest_negligible
    open_blocks = np.flatnonzero(~is_negligible)
    if open_blocks.size * per_block > most:
        return TooManyFrequencies(float(open_blocks.size * per_block))

    # All frequencies of these blocks, as far as they are from 0 to half the number of points.
    half = per_block // 2
    frequencies = (open_blocks[:, None] * per_block + np.arange(-half, half + 1)).ravel()
    frequencies = frequencies[(frequencies >= 0) & (2 * frequencies <= size)].astype(np.int64)
    skipped = per_block * float(np.exp(log_bound[is_negligible]).sum())
    return frequencies, skipped


def _bound_blocks(line: TiltedLine, blocks: int) -> FloatArray:
    """Return upper bounds on the log modulus of the composed characteristic function φ^T on blocks of frequencies.

    Each block surrounds one frequency of an FFT. With distributions j and their numbers T_j of rounds:

        log |φ^T| = Σ_j T_j log |φ_j|,   |φ_j| ≤ 1.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        blocks: length of the FFT.

    Returns:
        One bound for each block with a frequency from 0 to half the length of the FFT.
    """
    log_bound = np.zeros(blocks // 2 + 1)
    laws = list(line.parts())
    for law in laws:
        most_outside = _largest_outside_mass(law, len(laws))
        bound = _bound_transform(law, line.laws.unit, blocks, most_outside)
        log_bound += law.count * np.log(np.minimum(bound, 1.0))
    return log_bound


def _bound_transform(law: TiltedDistribution, unit: float, blocks: int, most_outside: float) -> FloatArray:
    """Return upper bounds on the characteristic function |φ| of one distribution, on each block of frequencies.

    Let φ_B be the part of φ from a window of losses, and w the mass outside the window. Then |φ| ≤ |φ_B| + w. The
    function F(τ) = |φ_B(τ)|² has a second derivative of at most 2V in size. Here V is the second moment of the loss
    about the centre of the lattice. By Taylor's theorem, at a distance s from a frequency τ of the FFT:

        F(τ + s) ≤ F(τ) + |s F′(τ)| + s² V.

    Args:
        law: the distribution.
        unit: lattice unit, in nats.
        blocks: length of the FFT.
        most_outside: largest mass outside the window.

    Returns:
        One bound for each block with a frequency from 0 to half the length of the FFT.
    """
    by_distance = np.argsort(-np.abs(law.index), kind="stable")
    inside, outside_mass = _choose_window(law.weights, by_distance, most_outside)
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


def _largest_outside_mass(law: TiltedDistribution, laws: int) -> float:
    """Return the largest mass outside a window of losses, such that a few rounds at most are expected to be outside.

    Args:
        law: the distribution, with its number of rounds.
        laws: number of distributions of the composition, which share the expected number equally.

    Returns:
        A mass in (0, `_MOST_OUTSIDE_MASS`].
    """
    return min(_ROUNDS_OUTSIDE / (law.count * laws), _MOST_OUTSIDE_MASS)


def _choose_window(weights: FloatArray, order: IntArray, most_outside: float) -> tuple[BoolArray, float]:
    """Return the smallest window around the centre of a distribution that excludes at most a given mass.

    Args:
        weights: masses of the outcomes.
        order: indices of the outcomes by decreasing distance from the centre.
        most_outside: largest mass to exclude.

    Returns:
        A mask of the outcomes inside, and an upper bound on the mass outside.
    """
    mass_beyond = np.cumsum(weights[order])
    excluded = int(np.searchsorted(mass_beyond, most_outside, side="right"))
    inside = np.ones(weights.size, dtype=np.bool_)
    inside[order[:excluded]] = False
    if not excluded:
        return inside, 0.0
    rounding_factor = 1.0 + 1e-9  # far more than the error of a sum
    return inside, float(mass_beyond[excluded - 1]) * rounding_factor
