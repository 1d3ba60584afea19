"""Shuffled batches: bounds against the laws themselves on a grid, what amplifies for whom, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from epsilond.accountants.account import Account, account
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.specs import Gaussian, Repeated, Shuffled, Spec, Subsampled
from epsilond.accountants.theorems.shuffling.batches import BATCH_AMONG_CLONES, BOTH_DRAWS

GRID = np.linspace(-14.0, 14.0, 561)
CELL = float(GRID[1] - GRID[0])


def federated(noise: float, *, reports: int, clients: int, batch: int, records: int) -> Spec:
    draw = Subsampled(
        sampling="without-replacement",
        batch_size=batch,
        population=records,
        level="records",
        mechanism=Gaussian(noise_multiplier=noise),
    )
    shuffled = Shuffled(clients=reports, dimension=2, mechanism=draw)
    if reports == clients:
        return shuffled
    return Subsampled(
        sampling="without-replacement", batch_size=reports, population=clients, level="clients", mechanism=shuffled
    )


def known(spec: Spec, observer: str = "shuffled-server") -> Account:
    return account(spec, relation="replace-one", observer=observer)  # type: ignore[arg-type]


def round_law(data: tuple[tuple[float, ...], ...], reports: int, batch: int, noise: float) -> FloatArray:
    """The law of a round of one or two reports of one coordinate, in random order, on a grid."""
    total = np.zeros((GRID.size,) * reports)
    chosen = list(itertools.permutations(range(len(data)), reports))
    for clients in chosen:
        laws = []
        for client in clients:
            sums = [sum(records) for records in itertools.combinations(data[client], batch)]
            laws.append(np.mean([np.exp(-0.5 * ((GRID - one) / noise) ** 2) for one in sums], axis=0))
        total += laws[0] if reports == 1 else laws[0][:, None] * laws[1][None, :]
    return np.asarray(total / len(chosen) * (CELL / (noise * math.sqrt(2.0 * math.pi))) ** reports)


@pytest.mark.parametrize(
    ("reports", "rest", "batch", "own"),
    [
        (1, ((0.0, 0.0), (1.0, -1.0)), 1, (0.0,)),
        (1, ((-1.0, -1.0), (-1.0, -1.0)), 1, (-1.0,)),
        (2, ((0.0, 0.0),), 1, (0.0,)),
        (2, ((-1.0, -1.0), (-1.0, -1.0)), 1, (-1.0,)),
        (2, ((1.0, 0.0, -1.0), (-1.0, -1.0, 1.0)), 2, (0.0, 1.0)),
        (2, ((-1.0, -1.0, -1.0),), 2, (-1.0, -1.0)),
    ],
)
def test_the_bound_is_never_below_the_law_itself(
    reports: int, rest: tuple[tuple[float, ...], ...], batch: int, own: tuple[float, ...]
) -> None:
    noise = 1.5
    spec = federated(noise, reports=reports, clients=len(rest) + 1, batch=batch, records=len(own) + 1)
    curve = known(spec).guarantee.curve
    first = round_law((*rest, (*own, 1.0)), reports, batch, noise)
    second = round_law((*rest, (*own, -1.0)), reports, batch, noise)
    for epsilon in (0.0, 0.1, 0.3, 0.8):
        truth = max(
            np.maximum(first - math.exp(epsilon) * second, 0.0).sum(),
            np.maximum(second - math.exp(epsilon) * first, 0.0).sum(),
        )
        assert math.exp(curve.upper.log_delta_bounds(epsilon).upper) >= truth * (1.0 - 1e-3)


@pytest.mark.parametrize(("reports", "clients"), [(1, 2), (2, 2), (2, 3)])
def test_the_lower_end_is_what_the_sum_of_the_reports_tells(reports: int, clients: int) -> None:
    """All other records at zero: the law of the sum is the witness's, and the reports tell at least as much."""
    noise, records = 1.5, 2
    spec = federated(noise, reports=reports, clients=clients, batch=1, records=records)
    curve = known(spec).guarantee.curve
    others = ((0.0,) * records,) * (clients - 1)
    first, second = (round_law((*others, (0.0, end)), reports, 1, noise) for end in (1.0, -1.0))
    rate = reports / clients / records
    std = noise * math.sqrt(reports)
    sums = [
        (1.0 - rate) * np.exp(-0.5 * (GRID / std) ** 2) + rate * np.exp(-0.5 * ((GRID - end) / std) ** 2)
        for end in (1.0, -1.0)
    ]
    for epsilon in (0.0, 0.1, 0.3):
        low = math.exp(curve.log_delta(epsilon).lower)
        of_sum = np.maximum(sums[0] - math.exp(epsilon) * sums[1], 0.0).sum() * CELL / (std * math.sqrt(2.0 * math.pi))
        assert low == pytest.approx(of_sum, rel=1e-3)
        assert low <= np.maximum(first - math.exp(epsilon) * second, 0.0).sum() * (1.0 + 1e-3)


def test_both_draws_amplify_for_those_who_see_no_senders() -> None:
    spec = federated(2.0, reports=1000, clients=10_000, batch=1, records=10)
    amplified = known(Repeated(times=100, mechanism=spec)).guarantee
    assert BOTH_DRAWS.id in amplified.theorems()
    thinned = known(Repeated(times=100, mechanism=spec), "server").guarantee
    assert amplified.curve.bound_log_delta(0.3).upper < thinned.curve.bound_log_delta(0.3).lower - 5.0


@pytest.mark.parametrize(("batch", "records"), [(1, 10), (10, 100)])
def test_a_record_hides_among_reports(batch: int, records: int) -> None:
    noise = 2.0 * batch
    spec = federated(noise, reports=2000, clients=2000, batch=batch, records=records)
    found = known(spec)
    own = account(spec.mechanism, relation="replace-one").guarantee.curve.upper  # type: ignore[union-attr]
    hidden = found.guarantee.curve.upper
    assert BATCH_AMONG_CLONES.id in found.guarantee.theorems()
    assert hidden.log_delta_bounds(0.0).upper < own.log_delta_bounds(0.0).upper - 0.5


def test_a_full_batch_of_one_record_is_the_client() -> None:
    one = federated(3.0, reports=500, clients=500, batch=1, records=1)
    client = Shuffled(clients=500, dimension=2, mechanism=Gaussian(noise_multiplier=3.0))
    ours = known(one).guarantee.curve.upper.log_delta_bounds(0.2).upper
    assert ours == pytest.approx(known(client).guarantee.curve.upper.log_delta_bounds(0.2).upper, abs=0.05)


@pytest.mark.parametrize("theorem", [BATCH_AMONG_CLONES, BOTH_DRAWS])
@pytest.mark.parametrize("observer", ["server", "other-clients"])
def test_who_knows_senders_gains_neither(theorem: object, observer: str) -> None:
    spec = federated(2.0, reports=100, clients=200, batch=1, records=10)
    tried = {one.theorem: one.applies for one in known(spec, observer).considered}
    assert tried[theorem.id] == "no"  # type: ignore[attr-defined]


def test_what_is_refused_is_said() -> None:
    inner = Subsampled(sampling="poisson", rate=0.1, level="records", mechanism=Gaussian(noise_multiplier=2.0))
    other = federated(2.0, reports=100, clients=100, batch=1, records=10)
    poisson = Shuffled(clients=100, mechanism=inner)
    twice = Shuffled(clients=100, mechanism=Repeated(times=2, mechanism=Gaussian(noise_multiplier=2.0)))
    for spec, unit, reason in (
        (other, "client", "a client is protected, not one of its records"),
        (twice, "record", "clients do not draw among their records"),
        (poisson, "record", "batches are not a fixed number of records drawn without replacement"),
    ):
        tried = account(spec, relation="replace-one", unit=unit, observer="shuffled-server").considered  # type: ignore[arg-type]
        assert reason in {one.reason for one in tried if one.theorem == BATCH_AMONG_CLONES.id}
