"""Two hundred mechanisms of every kind with the least certified noise for a target (ε, δ), as audits."""

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

SOLVERS = {calibrator.name: calibrator for calibrator in CALIBRATORS}


@dataclass(frozen=True)
class Mechanism:
    """A target, and a function that finds the spec of the least noise for it; `audit` calls the function."""

    spec: Callable[[], Any]
    epsilon: float
    delta: float
    setting: dict[str, Any]

    def audit(self, samples: int, seed: int) -> AuditSimulation:
        """Return the audit of the mechanism, with the target ε as a claim."""
        return AuditSimulation(
            spec=self.spec(),
            delta=self.delta,
            samples=samples,
            seed=seed,
            claim=AuditClaim(epsilon=self.epsilon),
            **({"unit": "record", "observer": "server"} | self.setting),
        )


def mechanisms() -> list[Mechanism]:
    """Return all two hundred mechanisms."""
    families = (
        _gaussian_mechanisms,
        _sampled_mechanisms,
        _integer_mechanisms,
        _pure_mechanisms,
        _shuffled_mechanisms,
        _composed_mechanisms,
        _descent_mechanisms,
    )
    return [mechanism for family in families for mechanism in family()]


def solve(name: str, **problem: Any) -> Any:
    """Return the parameters of a calibrator's answer."""
    calibrator = SOLVERS[name]
    return calibrator.solve(calibrator.problem(**problem)).parameters


def least_noise_spec(make: Callable[[float], Any], epsilon: float, delta: float, setting: dict[str, Any]) -> Any:
    """Return the spec of the least noise on a logarithmic grid with a certified ε at δ of at most the target.

    Args:
        make: function from the noise to the spec.
        epsilon: target ε.
        delta: target δ.
        setting: relation, unit and observer of the account.
    """
    low, high = math.log(0.02), math.log(200.0)
    for _ in range(12):
        middle = (low + high) / 2
        guarantee = account(make(math.exp(middle)), effort="coarse", **setting).guarantee
        enough = guarantee.curve.log_delta(epsilon).upper <= math.log(delta)
        low, high = (low, middle) if enough else (middle, high)
    return make(math.exp(high))


def _noise(rounds: int, base: Callable[[Gaussian], Any], **target: Any) -> Repeated:
    setting = {"unit": "record", "observer": "released-models"}
    parameters = solve("gaussian", solve_for="noise_multiplier", rounds=rounds, **setting, **target)
    return Repeated(times=rounds, mechanism=base(Gaussian(noise_multiplier=parameters.noise_multiplier)))


def _gaussian_mechanisms() -> Iterator[Mechanism]:
    """Yield 48 mechanisms of the calibrator `gaussian` without sampling."""
    relations = ("replace-one", "add-or-remove-one", "zero-out-one")
    for relation, rounds, epsilon, delta in itertools.product(relations, (1, 8), (0.5, 1.0, 3.0, 8.0), (1e-5, 1e-2)):
        target = {"relation": relation, "epsilon": epsilon, "delta": delta}
        spec = partial(_noise, rounds, lambda base: base, sampling="full", **target)
        yield Mechanism(spec, epsilon, delta, {"relation": relation})


def _sampled_mechanisms() -> Iterator[Mechanism]:
    """Yield 40 mechanisms of the calibrator `gaussian` with sampling."""
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("add-or-remove-one", {"sampling": "poisson", "rate": 0.05}),
        ("zero-out-one", {"sampling": "poisson", "rate": 0.4}),
        ("replace-one", {"sampling": "poisson", "rate": 0.2}),
        ("replace-one", {"sampling": "without-replacement", "batch_size": 5, "population": 20}),
        ("replace-one", {"sampling": "with-replacement", "batch_size": 5, "population": 20}),
    )
    for (relation, batch), rounds, epsilon, delta in itertools.product(ways, (1, 10), (1.0, 4.0), (1e-5, 1e-2)):
        target = {"relation": relation, "epsilon": epsilon, "delta": delta}
        spec = partial(_noise, rounds, partial(_subsample, batch), **target, **batch)
        yield Mechanism(spec, epsilon, delta, {"relation": relation})


def _subsample(batch: dict[str, Any], base: Any) -> Subsampled:
    return Subsampled(mechanism=base, **batch)


def _integer_mechanisms() -> Iterator[Mechanism]:
    """Yield 24 mechanisms of the calibrator `qtdl`."""
    norms = ((10, 10.0, 1.0), (30, 12.0, 4.0), (100, 40.0, 3.0))
    for (dimension, l1, linf), epsilon, delta in itertools.product(norms, (0.5, 1.0, 3.0, 8.0), (1e-5, 1e-2)):
        bounds = {"dimension": dimension, "l1_sensitivity": l1, "linf_sensitivity": linf}
        yield Mechanism(
            partial(_truncated_laplace, bounds, epsilon, delta), epsilon, delta, {"relation": "replace-one"}
        )


def _truncated_laplace(bounds: dict[str, Any], epsilon: float, delta: float) -> TruncatedDiscreteLaplace:
    setting = {"relation": "replace-one", "unit": "record", "observer": "server"}
    parameters = solve("qtdl", epsilon=epsilon, delta=delta, quantization_levels=16, **setting, **bounds)
    return TruncatedDiscreteLaplace(noise_levels=parameters.noise_levels, decay_rate=parameters.decay_rate, **bounds)


def _pure_mechanisms() -> Iterator[Mechanism]:
    """Yield 32 mechanisms: three that are ε-private for every δ, and one with the given (ε, δ)."""
    for epsilon, delta in itertools.product((0.3, 1.0, 2.0, 4.0), (1e-5, 1e-2)):
        for spec in (
            partial(Laplace, scale_multiplier=2.0 / epsilon),
            partial(DiscreteLaplace, decay_rate=epsilon / 5, sensitivity=5),
            partial(RandomizedResponse, epsilon=epsilon, categories=6),
            partial(Approximate, epsilon=epsilon, delta=delta),
        ):
            yield Mechanism(spec, epsilon, delta, {"relation": "replace-one"})


def _search(make: Callable[[float], Any], epsilon: float, delta: float, setting: dict[str, Any]) -> Mechanism:
    return Mechanism(partial(least_noise_spec, make, epsilon, delta, setting), epsilon, delta, setting)


def _shuffled_mechanisms() -> Iterator[Mechanism]:
    """Yield 16 mechanisms with the local noise that suffices after shuffling."""
    setting = {"relation": "replace-one", "observer": "shuffled-server"}
    for clients, epsilon, delta in itertools.product((20, 100), (0.5, 2.0), (1e-4, 1e-2)):
        for local in (_response, _local_gaussian):
            yield _search(partial(_reports, clients, local), epsilon, delta, setting)


def _reports(clients: int, local: Callable[[float], Any], noise: float) -> Shuffled:
    return Shuffled(clients=clients, mechanism=local(noise))


def _response(noise: float) -> RandomizedResponse:
    return RandomizedResponse(epsilon=8.0 / (1.0 + noise), categories=3)


def _local_gaussian(noise: float) -> Gaussian:
    return Gaussian(noise_multiplier=noise)


def _composed_mechanisms() -> Iterator[Mechanism]:
    """Yield 16 compositions of different mechanisms, with and without sampling."""
    for make, epsilon, delta in itertools.product(
        (_gaussian_and_laplace, _batches), (0.5, 1.0, 2.0, 4.0), (1e-5, 1e-2)
    ):
        yield _search(make, epsilon, delta, {"relation": "replace-one"})


def _gaussian_and_laplace(noise: float) -> Composed:
    return Composed(mechanisms=(Gaussian(noise_multiplier=noise), Laplace(scale_multiplier=2 * noise)))


def _batches(noise: float) -> Repeated:
    batch = {"sampling": "without-replacement", "batch_size": 5, "population": 20}
    return Repeated(times=4, mechanism=_subsample(batch, Laplace(scale_multiplier=noise)))


def _descent_mechanisms() -> Iterator[Mechanism]:
    """Yield 24 mechanisms with the noise for a released model."""
    setting = {"relation": "replace-one", "observer": "final-model"}
    ways = (("shuffled", "last"), ("cyclic", "last"), ("shuffled", "random-stop"))
    for way, smoothness, epsilon, delta in itertools.product(ways, (None, 1.0), (1.0, 4.0), (1e-5, 1e-2)):
        yield _search(partial(_run, *way, smoothness), epsilon, delta, setting)


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
