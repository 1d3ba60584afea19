"""Shuffled reports: which rules apply, and who may see what."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.numerics.compound_sum import CompoundSum
from epsilond.accountants.numerics.step_law import StepLaw, WeightedPoints
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.accountants.specs import (
    Approximate,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
)
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import RULES
from epsilond.accountants.theorems.shuffling.clones import response_bound
from epsilond.accountants.theorems.shuffling.finite import (
    blanket_outcomes,
    response_outcomes,
)
from epsilond.accountants.theorems.shuffling.statements import (
    APPROXIMATE_CLONES,
    BLANKET,
    CLONES,
    RESPONSE,
    STRONGER_CLONES,
)
from epsilond.accountants.theorems.shuffling.tails import scaled_pair
from tests.oracles import shuffling as oracle


def test_unproved_and_refuted_statements_are_no_rules() -> None:
    assert STRONGER_CLONES.status is Status.UNPROVED
    assert all(rule.theorem.status is Status.PROVED for rule in RULES if rule.kind == "shuffled")


# Specs and rules ----------------------------------------------------------------------------------------------------
def guarantee(
    spec: Any, *, observer: Observer = "shuffled-server", relation: Relation = "replace-one", unit: Unit = "record"
) -> Any:
    return account(spec, relation=relation, unit=unit, observer=observer)


def test_the_best_bound_wins_and_says_so() -> None:
    found = guarantee(Shuffled(clients=10_000, mechanism=RandomizedResponse(epsilon=1.0, categories=2)))
    assert found.guarantee.derivation.theorem == RESPONSE.id
    assert found.guarantee.tight == "witnessed"
    known = found.guarantee.curve.epsilon(math.log(1e-6))
    assert known.upper == pytest.approx(0.0432, rel=0.01)
    assert known.lower == pytest.approx(0.0357, rel=0.01)
    curves = {tried.theorem: tried.curve for tried in found.considered if tried.curve}
    given = {name: curve.upper.epsilon(math.log(1e-6)).upper for name, curve in curves.items()}
    assert given["feldman-mcmillan-talwar-2021.3.1"] == pytest.approx(0.0530, rel=0.01)
    assert given["lowy.f.2"] == pytest.approx(0.2140, rel=0.01)
    assert given["epsilond.shuffling-is-post-processing"] == pytest.approx(1.0, rel=1e-4)
    assert {tried.theorem for tried in found.considered if tried.applies == "no"} == {
        "epsilond.approximate-clones",
        "epsilond.batch-among-clones",
        "epsilond.gaussian-blanket",
    }


def test_a_pure_report_of_any_kind_has_clones() -> None:
    for mechanism in (Laplace(scale_multiplier=2.0), Approximate(epsilon=1.0, delta=0.0)):
        found = guarantee(Shuffled(clients=10_000, mechanism=mechanism)).guarantee
        assert found.derivation.theorem == CLONES.id
        assert found.curve.epsilon(math.log(1e-6)).upper == pytest.approx(0.0530, rel=0.01)


def test_an_approximate_report_has_clones_nearby() -> None:
    found = guarantee(Shuffled(clients=10_000, mechanism=Approximate(epsilon=1.0, delta=1e-12))).guarantee
    assert found.derivation.theorem == APPROXIMATE_CLONES.id
    assert found.curve.epsilon(math.log(1e-6)).upper == pytest.approx(0.0582, rel=0.01)


def test_many_categories_use_the_blanket() -> None:
    found = guarantee(Shuffled(clients=10_000, mechanism=RandomizedResponse(epsilon=1.0, categories=5))).guarantee
    assert BLANKET.id in found.theorems()
    assert 0.0235 < found.curve.epsilon(math.log(1e-6)).lower < found.curve.epsilon(math.log(1e-6)).upper < 0.0315


def test_a_server_that_knows_senders_sees_the_reports() -> None:
    response = RandomizedResponse(epsilon=1.0, categories=2)
    local = account(response, relation="replace-one").guarantee.curve
    for observer in ("server", "other-clients"):
        found = guarantee(Shuffled(clients=1000, mechanism=response), observer=observer)  # type: ignore[arg-type]
        assert found.guarantee.curve.log_delta(0.3).upper == pytest.approx(local.log_delta(0.3).upper, abs=1e-12)
        assert found.guarantee.tight == ("proved" if observer == "server" else "unknown")
    released = guarantee(Shuffled(clients=1000, mechanism=response), observer="released-models").guarantee
    assert released.derivation.theorem == RESPONSE.id
    assert released.tight == "unknown"
    assert "trusted-shuffler" in {condition.id for condition in released.declared}


def test_one_client_hides_among_no_one() -> None:
    gaussian = Gaussian(noise_multiplier=2.0)
    alone = guarantee(Shuffled(clients=1, dimension=1, mechanism=gaussian)).guarantee
    assert alone.derivation.theorem == "epsilond.shuffling-is-post-processing"
    assert alone.curve == account(gaussian, relation="replace-one").guarantee.curve


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_only_replacement_is_covered(relation: Relation) -> None:
    with pytest.raises(ConditionViolated, match="the number of reports is seen"):
        guarantee(Shuffled(clients=10, mechanism=Laplace(scale_multiplier=1.0)), relation=relation)


def test_a_record_among_several_is_not_a_contribution() -> None:
    """Theorem F.2 pays e^{nε₀} for n records; without a number there is no amplification for a record."""
    drawn = Subsampled(sampling="poisson", rate=0.1, level="records", mechanism=Gaussian(noise_multiplier=2.0))
    spec = Shuffled(clients=10_000, mechanism=drawn)
    found = guarantee(spec)
    assert found.guarantee.derivation.theorem == "epsilond.shuffling-is-post-processing"
    assert any("less than its contribution" in (tried.reason or "") for tried in found.considered)
    assert guarantee(spec, unit="client").guarantee.derivation.theorem == APPROXIMATE_CLONES.id


def test_clients_drawn_before_shuffling_amplify_where_they_are_hidden() -> None:
    shuffled = Shuffled(clients=1000, mechanism=RandomizedResponse(epsilon=1.0, categories=2))
    spec = Subsampled(
        sampling="without-replacement", level="clients", batch_size=1000, population=10**5, mechanism=shuffled
    )
    inner = guarantee(shuffled, unit="client").guarantee.curve
    hidden = guarantee(spec, unit="client").guarantee
    assert "balle-barthe-gaboardi-2018.9" in hidden.theorems()
    base = math.log1p(math.expm1(1e-4) * 100)
    assert hidden.curve.bound_log_delta(1e-4).upper == pytest.approx(
        inner.log_delta(base).upper + math.log(0.01), abs=1e-6
    )
    assert "trusted-shuffler" in {condition.id for condition in hidden.declared}
    seen = guarantee(spec, unit="client", observer="server").guarantee
    assert "epsilond.visible-selection" in seen.theorems()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"sampling": "poisson", "rate": 0.1, "level": "clients"}, "/sampling"),
        ({"sampling": "without-replacement", "rate": 0.1, "level": "clients"}, "/sampling"),
        ({"sampling": "without-replacement", "batch_size": 9, "population": 90, "level": "clients"}, "/batch_size"),
        ({"sampling": "without-replacement", "batch_size": 10, "population": 90}, "/level"),
        ({"sampling": "without-replacement", "batch_size": 10, "population": 90, "level": "records"}, "/level"),
    ],
)
def test_batches_that_cannot_be_shuffled(fields: dict[str, Any], pointer: str) -> None:
    inner = Shuffled(clients=10, mechanism=Laplace(scale_multiplier=1.0))
    for mechanism in (inner, Repeated(times=3, mechanism=inner)):
        with pytest.raises(InvalidInput) as caught:
            Subsampled(mechanism=mechanism, **fields)
        assert caught.value.faults[0].pointer == pointer


def test_what_is_not_local_is_not_shuffled() -> None:
    inner = Shuffled(clients=10, mechanism=Laplace(scale_multiplier=1.0))
    with pytest.raises(InvalidInput):
        Shuffled(clients=10, mechanism=Repeated(times=2, mechanism=inner))


def test_rounds_compose_above_their_instances() -> None:
    spec = Shuffled(clients=10_000, mechanism=RandomizedResponse(epsilon=1.0, categories=2))
    curve = guarantee(Repeated(times=100, mechanism=spec)).guarantee.curve
    ends = curve.epsilon(math.log(1e-6))
    assert ends.lower < ends.upper < 100 * guarantee(spec).guarantee.curve.epsilon(math.log(1e-8)).upper
    bound = curve.bound_epsilon(math.log(1e-6))
    assert bound.upper - bound.lower < 1e-3 * bound.upper
    # A hundred rounds are near a Gaussian of ten times one round's deviation, 2 tanh(1/2)/√(n · 2/(e + 1)).
    deviation = 10 * 2 * math.tanh(0.5) / math.sqrt(1e4 * 2 / (math.e + 1))
    gaussian = account(Gaussian(noise_multiplier=2 / deviation), relation="replace-one").guarantee.curve
    assert ends.upper == pytest.approx(gaussian.epsilon(math.log(1e-6)).upper, rel=0.02)


def test_response_outcomes_are_the_rows() -> None:
    rows = [[float(p) for p in row] for row in oracle.response_rows(3, 4)]
    grouped = np.asarray(response_outcomes(math.log(3), 4)[0])
    whole = np.asarray(blanket_outcomes(rows)[0])
    assert grouped.sum(axis=0) == pytest.approx(whole.sum(axis=0), rel=1e-14)
    assert grouped[0] == pytest.approx(whole[0], rel=1e-14)


@pytest.mark.parametrize(
    "rows", [[[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.4]], [[0.5, 0.5], [0.2, 0.3, 0.5]], [[1.5, -0.5], [0.5, 0.5]]]
)
def test_randomizers_that_are_none(rows: list[list[float]]) -> None:
    with pytest.raises(InvalidInput):
        BLANKET.inputs(clients=10, epsilon=0.1, probabilities=tuple(map(tuple, rows)))  # type: ignore[misc]


def test_pairs_are_symmetric() -> None:
    pair = scaled_pair(response_bound(100, 1.0, 2))
    assert isinstance(pair, Pair)
    assert pair.symmetric
    assert hash(pair) == hash(scaled_pair(response_bound(100, 1.0, 2)))


@pytest.mark.parametrize("local", [200.0, 355.0, 400.0, 709.0, 720.0, 744.0, 1e5])
@pytest.mark.parametrize("categories", [2, 3])
def test_reports_that_hide_next_to_nothing(local: float, categories: int) -> None:
    """Ratios past every double overflow nowhere: shuffling 3 reports without noise gains nothing to speak of."""
    spec = Shuffled(clients=3, mechanism=RandomizedResponse(epsilon=local, categories=categories))
    found = account(spec, relation="replace-one", observer="shuffled-server").guarantee.curve.epsilon(math.log(0.01))
    assert 0.0 <= found.lower <= found.upper <= local * (1.0 + 1e-9)
    assert found.upper > local - 5.0


@pytest.mark.parametrize("scale", [1e120, 2.0**900])
def test_a_sum_is_as_large_as_its_unit(scale: float) -> None:
    """E[(cS)₊] = c E[S₊], on either side of where places are scaled down."""

    def sum_of(unit: float) -> CompoundSum:
        places = unit * np.asarray([1.0, -0.75, 0.25])
        return CompoundSum(StepLaw(WeightedPoints(places, np.asarray([0.2, 0.3, 0.5]), np.zeros(3), np.zeros(3))), 40)

    small, large = sum_of(1.0).log_positive_part(), sum_of(scale).log_positive_part()
    assert large == pytest.approx([end + math.log(scale) for end in small], abs=1e-9)
