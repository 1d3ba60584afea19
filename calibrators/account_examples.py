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
    "private-selection": {
        "spec": {
            "kind": "composed",
            "mechanisms": [
                {"kind": "exponential", "epsilon": 0.5, "monotonic": True},
                {"kind": "permute_and_flip", "epsilon": 0.5},
                {"kind": "report_noisy_max", "epsilon": 0.5, "noise": "laplace"},
            ],
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-6},
    },
    "several-deltas": {
        "spec": {"kind": "repeated", "times": 10, "mechanism": {"kind": "gaussian", "noise_multiplier": 5.0}},
        "relation": "replace-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"log10_deltas": [-3, -6, -12, -300]},
    },
    "random-allocation": {
        "spec": {
            "kind": "random_allocation",
            "steps": 100,
            "times_chosen": 1,
            "kept": False,
            "epochs": 10,
            "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-6},
    },
    "shuffled-epochs": {
        "spec": {
            "kind": "subsampled",
            "sampling": "shuffled-epochs",
            "batch_size": 600,
            "population": 60000,
            "epochs": 10,
            "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0},
        },
        "relation": "zero-out-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-6},
    },
    "records-of-a-client": {
        "spec": {
            "kind": "repeated",
            "times": 1000,
            "mechanism": {
                "kind": "subsampled",
                "sampling": "poisson",
                "rate": 0.01,
                "level": "records",
                "records_of_one_client": 8,
                "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0},
            },
        },
        "relation": "add-or-remove-one",
        "unit": "client",
        "observer": "released-models",
        "query": {"delta": 1e-6},
    },
    "truncated-batches": {
        "spec": {
            "kind": "repeated",
            "times": 1000,
            "mechanism": {
                "kind": "subsampled",
                "sampling": "poisson",
                "rate": 0.01,
                "population": 100000,
                "largest_batch": 1150,
                "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
            },
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-8},
    },
    "contributions-of-random-size": {
        "spec": {
            "kind": "gaussian_mixture",
            "sensitivities": [0.0, 1.0, 3.0],
            "probabilities": [0.5, 0.375, 0.125],
            "noise_multiplier": 4.0,
        },
        "relation": "replace-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"epsilon": 0.5},
    },
    "declared": {
        "spec": {
            "kind": "composed",
            "mechanisms": [
                {"kind": "zcdp", "rho": 0.05},
                {"kind": "rdp", "orders": [2.0, 8.0, 32.0], "epsilons": [0.02, 0.08, 0.4]},
                {"kind": "profile", "points": [[0.0, -1.0], [0.5, -3.0], [1.0, -7.0]]},
                {"kind": "approximate", "epsilon": 0.0, "delta": 1e-7},
            ],
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-5},
    },
    "tuning": {
        "spec": {
            "kind": "select_best",
            "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0},
            "repetitions": {"kind": "geometric", "mean": 10.0},
        },
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {"delta": 1e-5},
    },
    "attackers": {
        "spec": {"kind": "laplace", "scale_multiplier": 2.0},
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "query": {
            "false_positive_rates": [0.001, 0.1],
            "priors": [0.5],
            "orders": [2, 32],
            "signed_epsilons": [-0.25, 0.25],
        },
    },
}
"""Requests to try, by name."""
