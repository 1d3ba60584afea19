"""The quantities ε and δ of a guarantee."""

from __future__ import annotations

from dataclasses import replace

from epsilond.accountants.quantity import Quantity

EPSILON = Quantity(symbol="ε", unit="nat", gt=0, le=1e9, description="ε of the (ε, δ) guarantee")
ANY_EPSILON = replace(EPSILON, gt=None, ge=0.0)
"""Quantity of an ε that may be 0. δ(0) is the largest advantage of an attacker."""
DELTA = Quantity(symbol="δ", gt=0, lt=1, description="δ of the (ε, δ) guarantee")
LOG10_DELTA = Quantity(
    symbol="log10 δ",
    lt=0,
    ge=-1e9,
    description="log₁₀ δ in place of delta; δ may be below every double",
)
