"""The work that one answer of the lattice engine may take, fixed before the start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TransformLimits:
    """Sizes fixed before the start: points of one FFT, and terms of all direct sums."""

    points: int
    terms: int


@dataclass(frozen=True)
class Budget:
    """How much work one answer may take, counted and fixed before the start.

    Attributes:
        cells: cells of all laws together (at least a 48th of it for each law), read from the profiles once per band of
            tilts.
        points: points of one FFT; with many different laws, fewer.
        terms: terms of all direct sums of one transform.
        relative_width: width of the enclosure of δ, relative, below which no more work is spent.
        parts: most different pairs in one composition.
    """

    cells: int = 6000
    points: int = 2**19
    terms: int = 30_000_000
    relative_width: float = 1e-4
    parts: int = 2048

    @classmethod
    def coarse(cls) -> Budget:
        """For root searching: about a fifth of the work, widths of half a per cent."""
        return cls(cells=1200, points=2**17, terms=8_000_000, relative_width=5e-3)

    @classmethod
    def fine(cls) -> Budget:
        """About five times the work, widths of 1e-6 where the pair is smooth."""
        return cls(cells=60_000, points=2**20, terms=100_000_000, relative_width=1e-6)

    def cells_for(self, parts: int) -> int:
        """Cells of all laws together."""
        return max(self.cells, parts * self.cells // 48)

    def limits_for(self, parts: int) -> TransformLimits:
        """Sizes of one transform."""
        return TransformLimits(points=min(self.points, max(2**12, 16 * self.points // parts)), terms=self.terms)
