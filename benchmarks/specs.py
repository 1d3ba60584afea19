"""Everyday specs: one of each kind, and lists of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Body = Mapping[str, Any]

GAUSSIAN: Body = {"kind": "gaussian", "noise_multiplier": 1.0}
LAPLACE: Body = {"kind": "laplace", "scale_multiplier": 10.0}
RESPONSE: Body = {"kind": "randomized_response", "epsilon": 1.0, "categories": 3}
DISCRETE: Body = {"kind": "discrete_laplace", "decay_rate": 0.5, "sensitivity": 1}
TRUNCATED: Body = {
    "kind": "truncated_discrete_laplace",
    "noise_levels": 40,
    "decay_rate": 0.5,
    "dimension": 3,
    "l1_sensitivity": 4.0,
    "linf_sensitivity": 2.0,
}
APPROXIMATE: Body = {"kind": "approximate", "epsilon": 0.01, "delta": 1e-12}
DESCENT: Body = {
    "kind": "projected_sgd",
    "clients": 100,
    "participants": 10,
    "lipschitz": 1.0,
    "radius": 50.0,
    "smoothness": 1.0,
    "step_schedule": {"kind": "constant", "value": 0.5},
    "noise_schedule": {"kind": "constant", "value": 2.0},
}


class Setting(NamedTuple):
    """A spec, the neighbouring relation and the observer."""

    spec: Body
    relation: str = "replace-one"
    observer: str = "server"


def repeated(times: int, mechanism: Body) -> Body:
    """Return so many runs of a mechanism."""
    return mechanism if times == 1 else {"kind": "repeated", "times": times, "mechanism": mechanism}


def composed(mechanisms: list[Body]) -> Body:
    """Return mechanisms that run one after another."""
    return {"kind": "composed", "mechanisms": mechanisms}


def poisson(mechanism: Body, rate: float = 0.01) -> Body:
    """Return a mechanism on a batch that each record joins with this probability."""
    return {"kind": "subsampled", "sampling": "poisson", "rate": rate, "mechanism": mechanism}


def batch(mechanism: Body, size: int = 10, population: int = 1000, **more: Any) -> Body:
    """Return a mechanism on a batch of fixed size, without replacement unless `more` says otherwise."""
    drawn = {"kind": "subsampled", "sampling": "without-replacement", "batch_size": size, "population": population}
    return {**drawn, "mechanism": mechanism, **more}


def with_replacement(mechanism: Body, size: int = 10, population: int = 1000) -> Body:
    """Return a mechanism on draws that may repeat."""
    return batch(mechanism, size, population, sampling="with-replacement")


def shuffled(mechanism: Body, clients: int = 1000) -> Body:
    """Return the shuffled reports of so many clients."""
    return {"kind": "shuffled", "clients": clients, "mechanism": mechanism}


def gaussians(count: int, times: int = 1) -> list[Body]:
    """Return different Poisson-sampled Gaussians, each run so often."""
    shares = [place / max(1, count - 1) for place in range(count)]
    return [
        repeated(times, poisson({"kind": "gaussian", "noise_multiplier": 0.8 + 0.8 * share}, 0.005 + 0.01 * share))
        for share in shares
    ]


def laplaces(count: int) -> list[Body]:
    """Return different Laplace mechanisms."""
    return [{"kind": "laplace", "scale_multiplier": 10.0 + 10.0 * place / count} for place in range(count)]


def _noisy(multiplier: float) -> Body:
    return {"kind": "gaussian", "noise_multiplier": multiplier}


ADDED, SHUFFLER = "add-or-remove-one", "shuffled-server"
B1 = Setting(repeated(1000, poisson(GAUSSIAN)), ADDED)
"""Rate 0.01, noise multiplier 1, 1000 steps."""

SPECS: Mapping[str, Setting] = {
    "gaussian T=1": Setting(GAUSSIAN, ADDED),
    "gaussian T=100": Setting(repeated(100, _noisy(10.0)), ADDED),
    "poisson gaussian T=1000 (b1)": B1,
    "poisson gaussian T=10": Setting(repeated(10, poisson(GAUSSIAN)), ADDED),
    "poisson gaussian T=10, replaced": Setting(repeated(10, poisson(GAUSSIAN))),
    "poisson gaussian T=1e12": Setting(repeated(10**12, poisson(_noisy(1000.0), 1e-4)), ADDED),
    "laplace T=1": Setting(LAPLACE, ADDED),
    "laplace T=10": Setting(repeated(10, LAPLACE), ADDED),
    "laplace T=1000": Setting(repeated(1000, LAPLACE), ADDED),
    "poisson laplace T=1000": Setting(repeated(1000, poisson(LAPLACE)), ADDED),
    "discrete laplace T=1000": Setting(repeated(1000, DISCRETE)),
    "truncated discrete laplace T=10": Setting(repeated(10, TRUNCATED)),
    "randomised response T=1": Setting(RESPONSE),
    "randomised response T=1000": Setting(repeated(1000, RESPONSE)),
    "randomised response T=1e6": Setting(repeated(10**6, RESPONSE)),
    "approximate T=1e6": Setting(repeated(10**6, APPROXIMATE)),
    "without replacement T=10": Setting(repeated(10, batch(GAUSSIAN))),
    "without replacement T=1000": Setting(repeated(1000, batch(GAUSSIAN))),
    "without replacement n=1e12 K=1 T=1e9": Setting(repeated(10**9, batch(GAUSSIAN, 1, 10**12))),
    "without replacement n=1e12 K=1e6 T=1e9": Setting(repeated(10**9, batch(GAUSSIAN, 10**6, 10**12))),
    "with replacement T=1": Setting(with_replacement(GAUSSIAN)),
    "with replacement T=10": Setting(repeated(10, with_replacement(GAUSSIAN))),
    "with replacement T=1000": Setting(repeated(1000, with_replacement(GAUSSIAN))),
    "shuffled gaussian T=1": Setting(shuffled(_noisy(5.0)), observer=SHUFFLER),
    "shuffled gaussian T=10": Setting(repeated(10, shuffled(_noisy(5.0))), observer=SHUFFLER),
    "shuffled gaussian T=500": Setting(repeated(500, shuffled(_noisy(5.0))), observer=SHUFFLER),
    "shuffled randomised response T=1": Setting(shuffled(RESPONSE), observer=SHUFFLER),
    "shuffled randomised response T=10": Setting(repeated(10, shuffled(RESPONSE)), observer=SHUFFLER),
    "shuffled laplace T=10": Setting(repeated(10, shuffled(LAPLACE)), observer=SHUFFLER),
    "sampled shuffled randomised response T=10": Setting(
        repeated(10, batch(shuffled(RESPONSE), 1000, 10_000, level="clients")), observer=SHUFFLER
    ),
    "clients, then their records": Setting(
        batch(batch(GAUSSIAN, 10, 100, level="records"), 10, 1000, level="clients"),
    ),
    "a batch of a batch": Setting(batch(batch(GAUSSIAN, 10, 100), 100, 1000)),
    "composed of 10 different, a step each": Setting(composed(gaussians(10)), ADDED),
    "composed of 100 different, a step each": Setting(composed(gaussians(100)), ADDED),
    "composed of 1000 different, a step each": Setting(composed(gaussians(1000)), ADDED),
    "composed of 10 different, 100 steps each": Setting(composed(gaussians(10, 100)), ADDED),
    "composed of 30 kinds of laplace": Setting(composed(laplaces(30)), ADDED),
    "composed of all plain kinds": Setting(composed([GAUSSIAN, LAPLACE, RESPONSE, DISCRETE, TRUNCATED, APPROXIMATE])),
    "projected_sgd": Setting(DESCENT, observer="final-model"),
    "projected_sgd, cyclic": Setting({**DESCENT, "batches": "cyclic"}, observer="final-model"),
    "projected_sgd, random stop of 1e6": Setting(
        {**DESCENT, "rounds": 10**6, "release": "random-stop"}, observer="final-model"
    ),
}
