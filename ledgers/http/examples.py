"""Bodies of requests on ledgers, as the OpenAPI document shows them."""

from __future__ import annotations

from typing import Final

from fastapi.openapi.models import Example

from epsilond.accountants.json_types import JsonRecord

TRAINING: Final[JsonRecord] = {
    "kind": "repeated",
    "times": 1000,
    "mechanism": {
        "kind": "subsampled",
        "sampling": "poisson",
        "rate": 0.01,
        "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
    },
}
QUERY: Final[JsonRecord] = {"kind": "gaussian", "noise_multiplier": 20.0}
LEDGER: Final[JsonRecord] = {
    "name": "models of 2025",
    "dataset": "visits",
    "block": "2025",
    "unit": "record",
    "relation": "add-or-remove-one",
    "observer": "released-models",
    "target": {"epsilon": 8.0, "delta": 1e-6},
    "plan": [{"name": "train", "spec": TRAINING}],
    "slots": [{"kind": "gdp", "capacity": "largest"}],
    "declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": False},
}
OPEN: Final[dict[str, Example]] = {"plan-and-slot": {"value": LEDGER}}
JOB: Final[dict[str, Example]] = {
    "of-a-slot": {"value": {"spec": QUERY, "slot": "gdp", "count": 4}},
    "of-the-plan": {"value": {"item": "train", "count": 500}},
}
WITHIN: Final[dict[str, Example]] = {
    "gaussian-rounds": {
        "value": {"fields": {"sampling": "full", "rounds": 500}, "slot": "gdp"},
    }
}
MANY: Final[dict[str, Example]] = {
    "two-blocks": {
        "value": {"ledgers": ["ledger_0123456789abcdef", "ledger_fedcba9876543210"], "spec": QUERY, "slot": "gdp"}
    }
}
COMMIT: Final[dict[str, Example]] = {"a-part": {"value": {"count": 1}}}
AMEND: Final[dict[str, Example]] = {
    "another-training": {
        "value": {
            "add": [{"name": "train again", "spec": QUERY}],
            "lower": [{"name": "train", "planned": 500}],
            "declared": "independent-of-outputs",
        }
    }
}
CONTRADICT: Final[dict[str, Example]] = {
    "repeated-batches": {
        "value": {
            "observations": [
                {
                    "premise": "fresh-draw",
                    "message": "the model read a batch that an earlier step had used",
                    "remedy": "Use each batch of the returned loader for one step.",
                    "count": 12,
                }
            ],
            "reservations": ["reservation_0123456789abcdef"],
        }
    }
}
VOID: Final[dict[str, Example]] = {
    "a-crash": {"value": {"reservation": "reservation_0123456789abcdef", "count": 1, "declared": "no-output-observed"}}
}
RECONCILE: Final[dict[str, Example]] = {"accepted": {"value": {"declared": "missing-entries-are-accounted-for"}}}
