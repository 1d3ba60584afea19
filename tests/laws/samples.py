"""One row per shape of spec; every law runs over all of them. Every kind has a row of its own."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds import NAMES, kind_named
from epsilond.accountants.quantities import Observer, Relation
from epsilond.accountants.rule import Effort
from epsilond.accountants.schedules import Constant, InverseTime
from epsilond.accountants.specs import (
    Composed,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomAllocation,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
    TruncatedDiscreteLaplace,
)

RELATIONS: tuple[Relation, ...] = ("replace-one", "add-or-remove-one", "zero-out-one")


def gaussian(noise: float) -> Any:
    return Gaussian(noise_multiplier=noise)


def drawn(sampling: Any, noise: float, **batch: float) -> Any:
    return Subsampled(sampling=sampling, mechanism=gaussian(noise), **batch)


def laplace(noise: float) -> Any:
    return Laplace(scale_multiplier=noise)


def truncated(noise: float, **norms: float) -> Any:
    return TruncatedDiscreteLaplace(noise_levels=300, decay_rate=1 / noise, dimension=3, **norms)


def descended(noise: float, **changes: Any) -> Any:
    run = {"clients": 60, "participants": 2, "lipschitz": 1.0, "radius": 1.0, "smoothness": 1.0}
    schedules = {"step_schedule": Constant(value=0.5), "noise_schedule": Constant(value=noise)}
    return ProjectedSgd(**(run | schedules | changes))


def clients_then(mechanism: Any) -> Any:
    return Subsampled(sampling="without-replacement", batch_size=3, population=10, level="clients", mechanism=mechanism)


def observer_of(spec: Any) -> Observer:
    """The observer a kind speaks of."""
    known: dict[str, Observer] = {"projected_sgd": "final-model", "shuffled": "shuffled-server"}
    return known.get(spec.kind, "server")


@dataclass(frozen=True)
class Sample:
    """A family of specs in one noise parameter, at a relation that has a theorem."""

    name: str
    noise: float
    relation: Relation
    build: Any

    @property
    def observer(self) -> Observer:
        """Who sees what, for kinds that speak of one observer."""
        return observer_of(self.spec())

    @property
    def composed(self) -> bool:
        """Whether the lattice engine made it."""
        made = ("repeated", "composed", "truncated_discrete_laplace")
        return self.spec().kind in made and self.name.split(" / ")[0] != "repeated gaussian"

    def spec(self, scale: float = 1.0) -> Any:
        return self.build(self.noise * scale)

    def guarantee(self, scale: float = 1.0, effort: Effort = "default") -> Guarantee:
        """The guarantee, computed once in each process."""
        return _kept(self, scale, effort)

    def anew(self, scale: float = 1.0, effort: Effort = "default") -> Guarantee:
        """The guarantee, with nothing computed before."""
        spec = self.spec(scale)
        return account(spec, relation=self.relation, observer=observer_of(spec), effort=effort).guarantee


@functools.cache
def _kept(sample: Sample, scale: float, effort: Effort) -> Guarantee:
    return sample.anew(scale, effort)


NOISES = {
    "gaussian": 1.3,
    "laplace": 0.8,
    "discrete_laplace": 2.0,
    "truncated_discrete_laplace": 2.0,
    "discrete_gaussian": 1.5,
}
"""Noise of the sample of a kind; 0.5 for every other kind."""
SHAPES: dict[str, tuple[float, Any]] = {
    **{name: (NOISES.get(name, 0.5), kind_named(name).at_noise) for name in NAMES},
    "full": (1.3, lambda z: drawn("full", z)),
    "poisson": (0.8, lambda z: drawn("poisson", z, rate=0.02)),
    "without-replacement": (1.5, lambda z: drawn("without-replacement", z, batch_size=30, population=1000)),
    "with-replacement": (2.5, lambda z: drawn("with-replacement", z, batch_size=30, population=100)),
    "poisson laplace": (0.8, lambda b: Subsampled(sampling="poisson", rate=0.1, mechanism=laplace(b))),
    "truncated discrete laplace with l2": (
        1.7,
        lambda z: truncated(z, l1_sensitivity=3.0, linf_sensitivity=1.0, l2_sensitivity=1.5),
    ),
    "clients then records": (
        0.9,
        lambda b: clients_then(Subsampled(sampling="poisson", rate=0.5, mechanism=laplace(b))),
    ),
    "projected sgd": (3.0, descended),
    "projected sgd, strongly convex": (3.0, lambda z: descended(z, strong_convexity=0.4, rounds=200)),
    "projected sgd, falling steps": (3.0, lambda z: descended(z, step_schedule=InverseTime(scale=1.5))),
    "projected sgd, full batches": (9.0, lambda z: descended(z, participants=60, rounds=100)),
    "shuffled gaussian": (2.0, lambda z: Shuffled(clients=1000, dimension=1, mechanism=gaussian(z))),
    "shuffled laplace": (2.0, lambda b: Shuffled(clients=1000, mechanism=laplace(b))),
    "shuffled randomized response": (
        1.0,
        lambda z: Shuffled(clients=300, mechanism=RandomizedResponse(epsilon=1 / z, categories=2)),
    ),
    "repeated gaussian": (7.0, lambda z: Repeated(times=50, mechanism=gaussian(z))),
    "repeated poisson": (0.9, lambda z: Repeated(times=300, mechanism=drawn("poisson", z, rate=0.01))),
    "repeated without replacement": (
        2.2,
        lambda z: Repeated(times=100, mechanism=drawn("without-replacement", z, rate=0.02)),
    ),
    "repeated with replacement": (
        4.0,
        lambda z: Repeated(times=20, mechanism=drawn("with-replacement", z, batch_size=5, population=50)),
    ),
    "composed": (
        2.0,
        lambda z: Composed(mechanisms=(gaussian(3 * z), drawn("poisson", z, rate=0.05), gaussian(2 * z))),
    ),
    "random allocation": (
        1.1,
        lambda z: RandomAllocation(steps=50, times_chosen=1, kept=False, epochs=2, mechanism=gaussian(z)),
    ),
    "random allocation, kept": (
        1.9,
        lambda z: RandomAllocation(steps=50, times_chosen=1, kept=True, epochs=3, mechanism=gaussian(z)),
    ),
    "random allocation to several": (
        2.1,
        lambda z: RandomAllocation(steps=20, times_chosen=3, kept=False, epochs=1, mechanism=gaussian(z)),
    ),
    "random allocation of pure noise": (
        2.3,
        lambda b: RandomAllocation(steps=5, times_chosen=1, kept=True, epochs=2, mechanism=laplace(b)),
    ),
    "random allocation of pure noise to several": (
        2.4,
        lambda b: RandomAllocation(steps=11, times_chosen=2, kept=False, epochs=1, mechanism=laplace(b)),
    ),
    "random allocation of two releases": (
        2.5,
        lambda z: RandomAllocation(
            steps=11,
            times_chosen=1,
            kept=False,
            epochs=1,
            mechanism=Composed(mechanisms=(gaussian(2.0 * z), laplace(3.0 * z))),
        ),
    ),
    "shuffled epochs": (
        1.2,
        lambda z: drawn("shuffled-epochs", z, batch_size=10, population=500, epochs=3),
    ),
    "shuffled epochs of laplace": (
        2.2,
        lambda b: Subsampled(sampling="shuffled-epochs", batch_size=10, population=505, epochs=2, mechanism=laplace(b)),
    ),
    "nested": (
        2.0,
        lambda z: Repeated(
            times=3,
            mechanism=Composed(
                mechanisms=(gaussian(3 * z), Repeated(times=4, mechanism=drawn("poisson", z, rate=0.05)))
            ),
        ),
    ),
}


COVERED = {"random allocation": RELATIONS, "shuffled epochs": ("replace-one", "zero-out-one")}
"""Relations that have a theorem, by how a shape's name begins: shapes whose accounts take long to begin."""


def _covered(shape: str, relation: Relation) -> bool:
    for beginning, relations in COVERED.items():
        if shape.startswith(beginning):
            return relation in relations
    noise, build = SHAPES[shape]
    try:
        account(build(noise), relation=relation, observer=observer_of(build(noise)))
    except ConditionViolated:
        return False
    return True


SAMPLES = [
    Sample(f"{shape} / {relation}", noise, relation, build)
    for shape, (noise, build) in SHAPES.items()
    for relation in RELATIONS
    if _covered(shape, relation)
]
