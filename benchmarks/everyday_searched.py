"""Questions that a random search over everything the service accepts found dear, so that what is slow stays in sight.

Each is one account with its meaning, or one calibration, of sizes and amounts far from what people usually ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.everyday_cases import Asked, calibration, changed, whole
from benchmarks.everyday_specs import (
    ADDED,
    DESCENT,
    SHUFFLER,
    TRUNCATED,
    Body,
    Setting,
    batch,
    composed,
    poisson,
    repeated,
    shuffled,
    with_replacement,
)

GROUP = "searched"


def _spread(low: float, high: float, count: int) -> list[float]:
    """So many values between two, at equal distances."""
    return [low + (high - low) * (place + 0.5) / count for place in range(count)]


def _gaussian(multiplier: float) -> Body:
    return {"kind": "gaussian", "noise_multiplier": multiplier}


def _laplace(multiplier: float) -> Body:
    return {"kind": "laplace", "scale_multiplier": multiplier}


def _response(epsilon: float, categories: int = 3) -> Body:
    return {"kind": "randomized_response", "epsilon": epsilon, "categories": categories}


def _discrete(decay_rate: float, sensitivity: int) -> Body:
    return {"kind": "discrete_laplace", "decay_rate": decay_rate, "sensitivity": sensitivity}


def _truncated(decay_rate: float) -> Body:
    return {**TRUNCATED, "decay_rate": decay_rate}


def _descent(noise: float) -> Body:
    return {**DESCENT, "noise_schedule": {"kind": "constant", "value": noise}}


def _different(kind: str) -> Body:
    """Lists of ten or a hundred, by what stands in them."""
    ten, hundred = _spread(0.0, 1.0, 10), _spread(0.0, 1.0, 100)
    parts: Mapping[str, list[Body]] = {
        "responses": [_response(0.1 + each, 2 + int(9 * each)) for each in ten],
        "discrete": [_discrete(0.01 + each / 10, 1 + int(9 * each)) for each in ten],
        "truncated": [_truncated(0.5 + each) for each in ten],
        "poisson laplaces": [poisson(_laplace(5 + 20 * each), 0.005 + 0.02 * each) for each in ten],
        "many poisson laplaces": [poisson(_laplace(5 + 20 * each), 0.005 + 0.02 * each) for each in hundred],
        "with replacement": [with_replacement(_gaussian(5 + 20 * each)) for each in hundred],
        "shuffled gaussians": [shuffled(_gaussian(3 + 2 * each)) for each in ten],
        "shuffled responses": [shuffled(_response(1 + 2 * each)) for each in ten],
        "descents": [_descent(2 + each) for each in ten],
    }
    return composed(parts[kind])


SETTINGS: Mapping[str, Setting] = {
    "with replacement, K > n, T=10": Setting(repeated(10, with_replacement(_gaussian(10.0), 10**6, 1000))),
    "with replacement, T=1e9": Setting(repeated(10**9, with_replacement(_gaussian(1.0), 100))),
    "with replacement, 100 different": Setting(_different("with replacement")),
    "without replacement n=1e12 K=1e3 T=10": Setting(repeated(10, batch(_gaussian(0.5), 1000, 10**12))),
    "without replacement n=1e12 K=1e3 T=1000": Setting(repeated(1000, batch(_gaussian(0.5), 1000, 10**12))),
    "without replacement n=1e12 K=1e3 T=1e9": Setting(repeated(10**9, batch(_gaussian(0.5), 1000, 10**12))),
    "without replacement z=0.3 T=1e9": Setting(repeated(10**9, batch(_gaussian(0.3), 50, 100))),
    "poisson gaussian q=1e-9 z=0.3 T=1000": Setting(repeated(1000, poisson(_gaussian(0.3), 1e-9)), ADDED),
    "laplace b=1e-3 T=1e6": Setting(repeated(10**6, _laplace(1e-3)), ADDED),
    "laplace b=1e-3 T=1e9": Setting(repeated(10**9, _laplace(1e-3)), ADDED),
    "poisson laplace, 10 different": Setting(_different("poisson laplaces"), ADDED),
    "poisson laplace, 100 different": Setting(_different("many poisson laplaces"), ADDED),
    "poisson of 100 different laplaces": Setting(
        poisson(composed([_laplace(each) for each in _spread(5.0, 25.0, 100)]), 0.1), ADDED
    ),
    "poisson approximate T=10": Setting(
        repeated(10, poisson({"kind": "approximate", "epsilon": 1.0, "delta": 1e-15}, 1e-3)), ADDED
    ),
    "poisson truncated discrete laplace T=10": Setting(repeated(10, poisson(TRUNCATED)), ADDED),
    "poisson discrete laplace T=1e9": Setting(repeated(10**9, poisson(_discrete(0.1, 3), 0.1)), ADDED),
    "randomised response, 10 different": Setting(_different("responses")),
    "discrete laplace, 10 different": Setting(_different("discrete")),
    "discrete laplace, decay rate 1e-3, sensitivity 1e6, T=1e6": Setting(repeated(10**6, _discrete(1e-3, 10**6))),
    "truncated discrete laplace, 10 different": Setting(_different("truncated")),
    "shuffled gaussian, 10 different": Setting(_different("shuffled gaussians"), observer=SHUFFLER),
    "shuffled randomised response, 10 different": Setting(_different("shuffled responses"), observer=SHUFFLER),
    "projected_sgd, 10 different": Setting(_different("descents"), observer="final-model"),
}
"""Accounts at δ = 1e-6."""

CALIBRATIONS: Mapping[str, tuple[str, Body]] = {
    "mb-sgd, a batch of one record": ("mb-sgd", changed("mb-sgd", batch_size=1)),
    "mb-sgd, a batch of one record, ε = 500": ("mb-sgd", changed("mb-sgd", batch_size=1, epsilon=500.0, delta=1e-6)),
    "shuffled-mb-sgd, δ = 1e-30": ("shuffled-mb-sgd", changed("shuffled-mb-sgd", delta=1e-30)),
    "shuffled-mb-sgd, 11 participants": ("shuffled-mb-sgd", changed("shuffled-mb-sgd", participants=11)),
    "shuffled-mb-sgd, rounds chosen": ("shuffled-mb-sgd", changed("shuffled-mb-sgd", "rounds")),
    "dp-fedavg, one participant, without replacement": (
        "dp-fedavg",
        changed("dp-fedavg", epsilon=0.1, delta=1e-6, participants=1, sampling="without-replacement"),
    ),
    "ppsgd, ε = 500": ("ppsgd", changed("ppsgd", epsilon=500.0, participation_rate=0.1)),
    "qtdl, ε = 1e-8": ("qtdl", changed("qtdl", epsilon=1e-8, delta=1e-3)),
    "norm-fedavg, ε = 3e-7": ("norm-fedavg", changed("norm-fedavg", epsilon=3e-7)),
}
"""The algorithm and what is asked of it, by what is unusual about it."""


def searched() -> Iterator[Asked]:
    """All of them."""
    for name, setting in SETTINGS.items():
        yield Asked(GROUP, name, whole(setting))
    for name, (algorithm, body) in CALIBRATIONS.items():
        yield Asked(GROUP, name, calibration(algorithm, body))
