"""Chernoff bounds of the kernel where rare giant losses rule the transform."""

from __future__ import annotations

from types import ModuleType

import pytest

GAP = 5.0
"""Most nats between log δ and its Chernoff bound at these places; that of a Gaussian loss is 2 to 3."""


@pytest.mark.parametrize(
    ("rate", "shift", "count", "log_delta"),
    [(6.28e-5, 0.0766, 102.0, -119.9), (4.71e-5, 0.139, 19.0, -106.7), (1.25e-4, 0.271, 14462.0, -102.4)],
)
def test_the_bound_is_close_where_giant_losses_rule(
    module: ModuleType, rate: float, shift: float, count: float, log_delta: float
) -> None:
    """Check that giant losses are left out: with them the bound was 80 to 110 nats above log δ."""
    composition = module.Composition(((rate, shift, 0, count),), 0.0, ())
    epsilon = composition.epsilon(log_delta, 1e-12)[1]
    bound, enclosure = composition.upper_log_delta(epsilon), composition.log_delta(epsilon)
    assert enclosure[0] <= bound <= log_delta + GAP


@pytest.mark.parametrize("log_delta", [-20.0, -60.0, -110.0])
def test_the_bound_is_close_to_add(module: ModuleType, log_delta: float) -> None:
    """Losses to add have no giant part: the bound at their own ε is close without any cut."""
    composition = module.Composition(((1e-3, 0.5, 1, 3000.0),), 0.0, ())
    epsilon = composition.epsilon(log_delta, 1e-12)[1]
    assert log_delta - 1e-6 <= composition.upper_log_delta(epsilon) <= log_delta + GAP
