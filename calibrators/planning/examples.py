"""Plans to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "one problem": {
        "epsilon": 1.0,
        "delta": 1e-5,
        "clients": 50,
        "participants": 25,
        "samples_per_client": 1000,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "trust": ["local"],
    },
    "what it takes to reach a risk": {
        "delta": 1e-5,
        "clients": 50,
        "samples_per_client": 1000,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "algorithms": ["one-pass-accelerated-mb-sgd", "mu2-sgd"],
        "reach": {"risk": 0.1, "solve_for": "epsilon"},
    },
}
"""By what they show."""
