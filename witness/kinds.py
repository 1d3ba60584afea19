"""The list of all kinds of simulation."""

from __future__ import annotations

from epsilond.witness.kind import SimulationKind
from epsilond.witness.presets import CELL_KINDS, PRESET

KINDS: tuple[SimulationKind, ...] = (*CELL_KINDS, PRESET)
"""THE list of kinds of simulation."""
