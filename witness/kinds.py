"""Everything that can be simulated."""

from __future__ import annotations

from epsilond.witness.kind import Kind
from epsilond.witness.presets import CELL_KINDS, PRESET

KINDS: tuple[Kind, ...] = (*CELL_KINDS, PRESET)
"""THE list of kinds of simulation."""
