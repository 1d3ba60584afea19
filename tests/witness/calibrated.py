"""Two hundred mechanisms with the least certified noise for a target (ε, δ), of every kind, as audits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from epsilond.accountants.account import account
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.calibrators import CALIBRATORS
from epsilond.witness.audits.request import AuditClaim, AuditSimulation

SOLVERS = {one.name: one for one in CALIBRATORS}


@dataclass(frozen=True)
class Mechanism:
    """A target and how to find the spec that meets it; nothing is searched before `audit`."""

    spec: Callable[[], Any]
    epsilon: float
    delta: float
    setting: dict[str, Any]

    def audit(self, samples: int, seed: int) -> AuditSimulation:
        """Its audit, with the target ε as a claim."""
        return AuditSimulation(
            spec=self.spec(),
            delta=self.delta,
            samples=samples,
            seed=seed,
            claim=AuditClaim(epsilon=self.epsilon),
            **({"unit": "record", "observer": "server"} | self.setting),
        )


def mechanisms() -> list[Mechanism]:
    """All two hundred."""
    return [*_gaussian(), *_sampled(), *_integers(), *_pure(), *_shuffled(), *_lists(), *_descent()]


def solved(name: str, **given: Any) -> Any:
    """The parameters that a calibrator returns."""
    calibrator = SOLVERS[name]
    return calibrator.solve(calibrator.problem(**given)).parameters


def least(make: Callable[[float], Any], epsilon: float, delta: float, setting: dict[str, Any]) -> Any:
    """The spec of the least noise on a logarithmic scale whose certified ε at δ is at most the target."""
    low, high = math.log(0.02), math.log(200.0)
    for _ in range(12):
        middle = (low + high) / 2
        guarantee = account(make(math.exp(middle)), effort="coarse", **setting).guarantee
        enough = guarantee.curve.log_delta(epsilon).upper <= math.log(delta)
        low, high = (low, middle) if enough else (middle, high)
    return make(math.exp(high))


def _noise(rounds: int, base: Callable[[Gaussian], Any], **given: Any) -> Repeated:
    setting = {"unit": "record", "observer": "released-models"}
    found = solved("gaussian", solve_for="noise_multiplier", rounds=rounds, **setting, **given)
    return Repeated(times=rounds, mechanism=base(Gaussian(noise_multiplier=found.noise_multiplier)))


def _gaussian() -> Iterator[Mechanism]:
    """48, by the calibrator `gaussian`."""
    relations = ("replace-one", "add-or-remove-one", "zero-out-one")
    for relation, rounds, epsilon, delta in itertools.product(relations, (1, 8), (0.5, 1.0, 3.0, 8.0), (1e-5, 1e-2)):
        target = {"relation": relation, "epsilon": epsilon, "delta": delta}
        spec = partial(_noise, rounds, lambda base: base, sampling="full", **target)
        yield Mechanism(spec, epsilon, delta, {"relation": relation})


def _sampled() -> Iterator[Mechanism]:
    """40, by the same."""
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("add-or-remove-one", {"sampling": "poisson", "rate": 0.05}),
        ("zero-out-one", {"sampling": "poisson", "rate": 0.4}),
        ("replace-one", {"sampling": "poisson", "rate": 0.2}),
        ("replace-one", {"sampling": "without-replacement", "batch_size": 5, "population": 20}),
        ("replace-one", {"sampling": "with-replacement", "batch_size": 5, "population": 20}),
    )
    for (relation, batch), rounds, epsilon, delta in itertools.product(ways, (1, 10), (1.0, 4.0), (1e-5, 1e-2)):
        target = {"relation": relation, "epsilon": epsilon, "delta": delta}
        spec = partial(_noise, rounds, partial(_drawn, batch), **target, **batch)
        yield Mechanism(spec, epsilon, delta, {"relation": relation})


def _drawn(batch: dict[str, Any], base: Any) -> Subsampled:
    return Subsampled(mechanism=base, **batch)


def _integers() -> Iterator[Mechanism]:
    """24, by the calibrator `qtdl`."""
    norms = ((10, 10.0, 1.0), (30, 12.0, 4.0), (100, 40.0, 3.0))
    for (dimension, l1, linf), epsilon, delta in itertools.product(norms, (0.5, 1.0, 3.0, 8.0), (1e-5, 1e-2)):
        bounds = {"dimension": dimension, "l1_sensitivity": l1, "linf_sensitivity": linf}
        yield Mechanism(partial(_truncated, bounds, epsilon, delta), epsilon, delta, {"relation": "replace-one"})


def _truncated(bounds: dict[str, Any], epsilon: float, delta: float) -> TruncatedDiscreteLaplace:
    setting = {"relation": "replace-one", "unit": "record", "observer": "server"}
    found = solved("qtdl", epsilon=epsilon, delta=delta, quantization_levels=16, **setting, **bounds)
    return TruncatedDiscreteLaplace(noise_levels=found.noise_levels, decay_rate=found.decay_rate, **bounds)


def _pure() -> Iterator[Mechanism]:
    """32: noise and answers that are ε-private whatever δ is, and (ε, δ) itself."""
    for epsilon, delta in itertools.product((0.3, 1.0, 2.0, 4.0), (1e-5, 1e-2)):
        for spec in (
            partial(Laplace, scale_multiplier=2.0 / epsilon),
            partial(DiscreteLaplace, decay_rate=epsilon / 5, sensitivity=5),
            partial(RandomizedResponse, epsilon=epsilon, categories=6),
            partial(Approximate, epsilon=epsilon, delta=delta),
        ):
            yield Mechanism(spec, epsilon, delta, {"relation": "replace-one"})


def _searched(make: Callable[[float], Any], epsilon: float, delta: float, setting: dict[str, Any]) -> Mechanism:
    return Mechanism(partial(least, make, epsilon, delta, setting), epsilon, delta, setting)


def _shuffled() -> Iterator[Mechanism]:
    """16: the local noise that shuffling leaves enough."""
    setting = {"relation": "replace-one", "observer": "shuffled-server"}
    for clients, epsilon, delta in itertools.product((20, 100), (0.5, 2.0), (1e-4, 1e-2)):
        for local in (_response, _local_gaussian):
            yield _searched(partial(_reports, clients, local), epsilon, delta, setting)


def _reports(clients: int, local: Callable[[float], Any], noise: float) -> Shuffled:
    return Shuffled(clients=clients, mechanism=local(noise))


def _response(noise: float) -> RandomizedResponse:
    return RandomizedResponse(epsilon=8.0 / (1.0 + noise), categories=3)


def _local_gaussian(noise: float) -> Gaussian:
    return Gaussian(noise_multiplier=noise)


def _lists() -> Iterator[Mechanism]:
    """16: different mechanisms after one another, sampled or not."""
    for make, epsilon, delta in itertools.product((_listed, _batches), (0.5, 1.0, 2.0, 4.0), (1e-5, 1e-2)):
        yield _searched(make, epsilon, delta, {"relation": "replace-one"})


def _listed(noise: float) -> Composed:
    return Composed(mechanisms=(Gaussian(noise_multiplier=noise), Laplace(scale_multiplier=2 * noise)))


def _batches(noise: float) -> Repeated:
    batch = {"sampling": "without-replacement", "batch_size": 5, "population": 20}
    return Repeated(times=4, mechanism=_drawn(batch, Laplace(scale_multiplier=noise)))


def _descent() -> Iterator[Mechanism]:
    """24: the noise for a released model."""
    setting = {"relation": "replace-one", "observer": "final-model"}
    ways = (("shuffled", "last"), ("cyclic", "last"), ("shuffled", "random-stop"))
    for way, smoothness, epsilon, delta in itertools.product(ways, (None, 1.0), (1.0, 4.0), (1e-5, 1e-2)):
        yield _searched(partial(_run, *way, smoothness), epsilon, delta, setting)


def _run(batches: Any, release: Any, smoothness: float | None, noise: float) -> ProjectedSgd:
    return ProjectedSgd(
        clients=40,
        participants=4,
        batches=batches,
        release=release,
        smoothness=smoothness,
        lipschitz=1.0,
        radius=0.5,
        step_schedule=Constant(value=0.5),
        noise_schedule=Constant(value=noise),
    )
