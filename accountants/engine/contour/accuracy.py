"""Numbers that several parts of the contour engine share: what an error may be, and how much work is allowed."""

from __future__ import annotations

import math

import numpy as np

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
"""−log of the normal density at 0."""
TINY = 1e-300
"""Stands for zero where a logarithm is taken: above the least normal double, and below all that is charged."""
LEAST_RATE = 1e-100
"""Rates below are rejected: products of three of them are no doubles."""
MOST_NODES = 1 << 14
"""Nodes of one rule: a megabyte of arrays, and with the most frequencies half a second."""
QUADRATURE_NATS = 31.0
"""T steps err by e^−31 together, a twentieth of what alias and truncation may."""
NEGLIGIBLE_NATS = 40.0
"""Nats of a share that is negligible: a ten-thousandth of what quadratures may err by."""
HEIGHTS = np.asarray([1.0, 0.8, 0.62, 0.48, 0.36, 0.27, 0.2, 0.14, 0.09, 0.05, 0.02, 0.007])
"""Half-widths of the strips that are tried, as shares of the highest."""
