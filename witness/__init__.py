"""Measurements of the simulators beside what the theorems promise, the figures of them, and the papers' experiments."""

from __future__ import annotations

from witness.simulation import Kind

KINDS: tuple[Kind, ...] = ()
"""THE list of kinds of simulation."""
