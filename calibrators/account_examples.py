"""Accounts to try."""

from __future__ import annotations

from epsilond.accountants.json_types import JsonObject

EXAMPLES: dict[str, JsonObject] = {
    "sampled-gaussian": {
        "spec": {
            "kind": "repeated",
            "times": 1000,
            "mechanism": {
                "kind": "subsampled",
                "sampling": "poisson",
                "rate": 0.01,
                "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
            },
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-6},
        "claim": {"epsilon": 2.2, "delta": 1e-6},
    },
    "several-deltas": {
        "spec": {"kind": "repeated", "times": 10, "mechanism": {"kind": "gaussian", "noise_multiplier": 5.0}},
        "relation": "replace-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"log10_deltas": [-3, -6, -12, -300]},
    },
}
"""Requests to try, by name."""
