"""Accuracies and budgets that several modules of the contour engine share."""

from __future__ import annotations

import math

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
"""−log of the normal density at 0."""
TINY = 1e-300
"""Replaces zero where a logarithm is taken: above the least normal double, and below every error that is charged."""
MOST_NODES = 1 << 14
"""Largest number of frequencies of a line, and half the largest number of nodes over the noise: a second together."""
ITERATIONS = 60
"""Bisections of a bracket: from a factor of four down to the last bit of a double."""
NATS = 28.0
"""Nats by which alias, truncation and leak are below δ: e^−28 is 1e-12, less than roundings of a million steps."""
QUADRATURE_NATS = 31.0
"""Nats by which T quadratures over the noise are below 1: a twentieth of e^−`NATS`."""
