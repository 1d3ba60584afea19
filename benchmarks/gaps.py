"""How far the two ends of ε stand apart, over samplers, kinds and relations: now, and as recorded at an earlier state.

python -m benchmarks.gaps              print the table of what is known now
python -m benchmarks.gaps --record     write the figures to benchmarks/gaps_before.json, to compare with later
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.quantities import Observer, Relation, Sampling
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Spec,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.accountants.target import natural_log_delta

RECORDED = Path(__file__).resolve().parent / "gaps_before.json"
DELTA = 1e-6
KINDS: dict[str, Spec] = {
    "gaussian": Gaussian(noise_multiplier=0.8),
    "laplace": Laplace(scale_multiplier=0.7),
    "discrete_laplace": DiscreteLaplace(decay_rate=1.0, sensitivity=2),
    "truncated_discrete_laplace": TruncatedDiscreteLaplace(
        noise_levels=40, decay_rate=0.5, dimension=3, l1_sensitivity=4.0, linf_sensitivity=2.0
    ),
    "randomized_response": RandomizedResponse(epsilon=1.5, categories=3),
    "approximate": Approximate(epsilon=1.0, delta=1e-9),
    "two gaussians": Repeated(times=2, mechanism=Gaussian(noise_multiplier=1.5)),
}
SAMPLERS: dict[Sampling, dict[str, Any]] = {
    "full": {},
    "poisson": {"rate": 0.1},
    "without-replacement": {"batch_size": 10, "population": 100},
    "with-replacement": {"batch_size": 10, "population": 100},
}
TIMES = (1, 10)


class Case(NamedTuple):
    """A spec in its setting, and the δ at which ε is asked for."""

    name: str
    spec: Spec
    relation: Relation
    observer: Observer = "server"
    log_delta: float = math.log(DELTA)

    @property
    def label(self) -> str:
        """The name with the relation: the key of a recorded figure."""
        return f"{self.name}, {self.relation}"


def swept() -> Iterator[Case]:
    """Every kind under every sampling and relation, once and ten times."""
    for times, (sampling, batch), (kind, mechanism) in itertools.product(TIMES, SAMPLERS.items(), KINDS.items()):
        drawn = mechanism if sampling == "full" else Subsampled(sampling=sampling, mechanism=mechanism, **batch)
        spec = drawn if times == 1 else Repeated(times=times, mechanism=drawn)
        for relation in get_args(Relation):
            yield Case(f"{times} × {sampling} {kind}", spec, relation)


def descended(**changes: Any) -> ProjectedSgd:
    """A run of projected SGD with small noise against its ball."""
    run: dict[str, Any] = {
        "clients": 100,
        "participants": 10,
        "lipschitz": 1.0,
        "radius": 50.0,
        "smoothness": 1.0,
        "step_schedule": Constant(value=0.5),
        "noise_schedule": Constant(value=2.0),
    }
    return ProjectedSgd(**(run | changes))


def _one_large_step(times: int, rate: float, noise: float, log_delta: float, relation: Relation) -> Case:
    batch = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))
    name = f"{times} × poisson({rate:g}) gaussian({noise:g}) at log δ = {log_delta:g}"
    return Case(name, Repeated(times=times, mechanism=batch), relation, log_delta=log_delta)


def _shuffled(clients: int, epsilon: float, categories: int, delta: float) -> Case:
    local = RandomizedResponse(epsilon=epsilon, categories=categories)
    name = f"{clients} shuffled responses of ε = {epsilon:g} in {categories} categories at δ = {delta:g}"
    spec = Shuffled(clients=clients, mechanism=local)
    return Case(name, spec, "replace-one", "shuffled-server", math.log(delta))


def _approximate(delta: float) -> Case:
    return Case(f"approximate(1, {delta:g}) at its δ", Approximate(epsilon=1.0, delta=delta), "replace-one")._replace(
        log_delta=asked(delta)
    )


def asked(delta: float) -> float:
    """The logarithm with which a δ is asked for; it remembers the δ where the library has such logarithms."""
    return natural_log_delta(delta, None)


SINGLED_OUT = (
    _one_large_step(11978, 2.2e-8, 1.229, -150.48, "add-or-remove-one"),
    _one_large_step(1000, 1e-7, 1.0, -100.0, "add-or-remove-one"),
    _one_large_step(100, 1e-6, 0.8, -200.0, "replace-one"),
    *(_approximate(delta) for delta in (1e-300, 1e-12, 1e-6, 1e-3, 0.1)),
    _shuffled(3, 1.0, 3, 0.1),
    _shuffled(50, 3.0, 4, 1e-5),
    _shuffled(1000, 1.0, 5, 1e-6),
    Case(
        "20 × without-replacement gaussian(1)",
        Repeated(
            times=20,
            mechanism=Subsampled(
                sampling="without-replacement", batch_size=10, population=100, mechanism=Gaussian(noise_multiplier=1.0)
            ),
        ),
        "replace-one",
    ),
    Case("projected_sgd, one pass", descended(), "replace-one", "final-model"),
    Case("projected_sgd, cyclic", descended(batches="cyclic"), "replace-one", "final-model"),
    Case("projected_sgd, full batches", descended(participants=100, rounds=5), "replace-one", "final-model"),
    Case("projected_sgd, zeroed", descended(), "zero-out-one", "final-model"),
)


@functools.cache
def cases() -> tuple[Case, ...]:
    """What is measured; those singled out first."""
    return (*SINGLED_OUT, *swept())


def known(case: Case) -> Interval | None:
    """Both ends of ε; None where the question is refused."""
    try:
        curve = account(case.spec, relation=case.relation, observer=case.observer).guarantee.curve
        return curve.epsilon(case.log_delta)
    except NoCertificate:
        return None


def as_stored(interval: Interval | None) -> list[float | str] | None:
    """As JSON holds it."""
    return None if interval is None else [end if math.isfinite(end) else "unbounded" for end in interval]


def from_stored(stored: list[float | str] | None) -> Interval | None:
    """The other way."""
    if stored is None:
        return None
    lower, upper = (math.inf if end == "unbounded" else float(end) for end in stored)
    return Interval(lower, upper)


def before() -> dict[str, Interval | None]:
    """What was recorded."""
    stored = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {label: from_stored(ends) for label, ends in stored["ends"].items()}


def wide() -> tuple[Case, ...]:
    """The cases whose ends were more than 1 % apart."""
    recorded = before()
    found = [(case, recorded[case.label]) for case in cases()]
    return tuple(case for case, ends in found if ends is not None and not ends.upper * 0.99 <= ends.lower < math.inf)


def gap(interval: Interval | None) -> str:
    """1 − lower/upper, in per cent."""
    if interval is None:
        return "–"
    if interval.upper == 0.0:
        return "0 %"
    if math.isinf(interval.upper):
        return "unbounded"
    return f"{100.0 * (1.0 - interval.lower / interval.upper):.2g} %"


def main(arguments: list[str] | None = None) -> int:
    """Print the gaps, or record the ends; answers the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gaps", description=__doc__)
    parser.add_argument("--record", metavar="COMMIT", help="write the figures, naming the commit they are of")
    parser.add_argument("--only", default="", help="only cases whose label contains this")
    chosen = parser.parse_args(arguments)
    ends: dict[str, Interval | None] = {}
    for case in cases():
        if chosen.only in case.label:
            ends[case.label] = known(case)
            sys.stdout.write(f"{case.label}: {ends[case.label]} {gap(ends[case.label])}\n")
            sys.stdout.flush()
    if chosen.record:
        stored = {"commit": chosen.record, "ends": {label: as_stored(found) for label, found in ends.items()}}
        RECORDED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
