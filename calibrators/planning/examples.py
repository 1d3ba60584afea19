"""Plans to try."""

from __future__ import annotations

from collections.abc import Mapping

from epsilond.accountants.json_types import JsonObject

EXAMPLES: Mapping[str, JsonObject] = {
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
        "relation": "replace-one",
        "unit": "record",
        "observers": ["server"],
        "trust": ["local"],
    },
    "what is needed to reach a target risk": {
        "delta": 1e-5,
        "clients": 50,
        "samples_per_client": 1000,
        "dimension": 20,
        "lipschitz": 1.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "relation": "replace-one",
        "unit": "record",
        "observers": ["server", "released-models"],
        "algorithms": ["one-pass-accelerated-mb-sgd", "mu2-sgd"],
        "reach": {"risk": 0.1, "solve_for": "epsilon"},
    },
}
"""Example plans, by their subject."""
