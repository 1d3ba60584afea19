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
"""Nodes of one rule, and frequencies of a line: a megabyte of arrays, and together half a second."""
ITERATIONS = 60
"""Halvings or doublings of a number: from a factor of four down to a double's last bit."""
RATIO = 1.25
"""Ratio of successive frequencies that are tried: a quarter more nodes than needed at most."""
GOOD_NATS = 22.0
"""Nats of a share of δ, e^−22 or 3e-10, that may be lost where that spares nodes."""
NATS = 28.0
"""Nats of what alias and truncation err by: e^−28 of δ, about a part in 10^12."""
QUADRATURE_NATS = 31.0
"""Nats of what T quadratures err by together, and roundings about: a twentieth of alias and truncation."""
NEGLIGIBLE_NATS = 40.0
"""Nats of a share that is negligible: a ten-thousandth of what quadratures err by."""
HEIGHTS = 0.8 ** np.arange(23.0)
"""Half-widths of the strips that are tried, as shares of the highest: the next is a fifth lower."""
