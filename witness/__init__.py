"""Measurements of the simulators beside what the theorems promise, the figures of them, and the papers' experiments."""

from __future__ import annotations

from witness.audit import AUDIT
from witness.presets import PRESET
from witness.risk import RISK
from witness.simulation import Kind

KINDS: tuple[Kind, ...] = (RISK, AUDIT, PRESET)
"""THE list of kinds of simulation."""
