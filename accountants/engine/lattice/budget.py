"""Limits on the work of one answer of the lattice engine, fixed before the start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TransformLimits:
    """Limits of one transform of a loss distribution, the discrete Fourier transform on a lattice of losses.

    Attributes:
        points: largest number of points of its FFT.
        terms: largest number of terms of all sums that it evaluates without an FFT.
    """

    points: int
    terms: int


@dataclass(frozen=True)
class Budget:
    """Limits on the work of one composition on a lattice of privacy losses, as counts that are fixed before the start.

    A cell is an interval of losses. Its mass is put on lattice points. Sums over the points use the fast Fourier
    transform (FFT) or are direct.

    Attributes:
        cells: largest number of cells of all loss distributions together. Each distribution may have at least one 48th
            of them, even if the total is then larger.
        points: largest number of points of one FFT. With more than 16 different distributions it is less, but at least
            2^12, to bound the total work.
        terms: largest number of terms of all direct sums of one transform.
        relative_width: width of the enclosure of δ, relative to δ, below which no more work is done.
        parts: largest number of different pairs in one composition.
    """

    cells: int = 6000
    points: int = 2**19
    terms: int = 30_000_000
    relative_width: float = 1e-4
    parts: int = 2048

    @classmethod
    def coarse(cls) -> Budget:
        """Return the budget for root searches: about a fifth of the default work, for a relative width of 0.5 %."""
        return cls(cells=1200, points=2**17, terms=8_000_000, relative_width=5e-3)

    @classmethod
    def fine(cls) -> Budget:
        """Return a budget above the default one, which gives enclosures of the relative width 1e-6 for smooth pairs."""
        return cls(cells=60_000, points=2**20, terms=100_000_000, relative_width=1e-6)

    def cells_for(self, parts: int) -> int:
        """Return the largest number of cells of all loss distributions together.

        A cell is an interval of losses. Its mass is put on lattice points. The number is `cells`, or 1/48 of `cells`
        for each pair if that is more.

        Args:
            parts: number of different pairs in the composition.
        """
        return max(self.cells, parts * self.cells // 48)

    def limits_for(self, parts: int) -> TransformLimits:
        """Return the limits on the points and the terms of direct sums of one Fourier transform of a composition.

        Args:
            parts: number of different pairs in the composition.

        Returns:
            The largest number of FFT points, and that of terms. With more than 16 pairs, the
            first one is 16/`parts` of `points`, but at least 2^12.
        """
        points_for_many_pairs = max(2**12, 16 * self.points // parts)
        return TransformLimits(points=min(self.points, points_for_many_pairs), terms=self.terms)
