"""Epochs of a shuffled loader: against enumerated orders, integrals from the definition, and closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from scipy.special import ndtr

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.allocation.maxima import largest_sum_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Gaussian, Laplace, Repeated, Subsampled
from epsilond.accountants.statements.settings import state_guarantee
from epsilond.accountants.structure.random_draws import draws_of
from tests.oracles.allocation import Law, adaptive_run, divergence, mixture, two_batches
from tests.oracles.hostile_kinds import _normal

GAMMAS = tuple(map(Fraction, ("1", "9/8", "3/2", "2", "4")))


def shuffled(noise: float, batch_size: int, population: int, epochs: int = 1, **fields: Any) -> Subsampled:
    counted = {"batch_size": batch_size, "population": population, "epochs": epochs}
    fields.setdefault("mechanism", Gaussian(noise_multiplier=noise))
    return Subsampled(sampling="shuffled-epochs", **counted, **fields)


def guarantee(spec: Any, relation: Any, **setting: Any) -> Guarantee:
    setting.setdefault("observer", "released-models")
    return account(spec, relation=relation, **setting).guarantee


@pytest.mark.parametrize(("relation", "sensitivity"), [("replace-one", 2.0), ("zero-out-one", 1.0)])
def test_the_upper_bound_is_one_contribution_for_each_epoch(relation: Any, sensitivity: float) -> None:
    for epochs in (1, 9):
        upper = guarantee(shuffled(4.0, 10, 1000, epochs), relation).curve.epsilon(math.log(1e-5)).upper
        closed = gaussian_pair(math.sqrt(epochs) * sensitivity / 4.0).epsilon(math.log(1e-5))
        assert upper == pytest.approx(closed.upper, rel=1e-9)


def test_other_mechanisms_compose_over_epochs() -> None:
    laplace = Laplace(scale_multiplier=3.0)
    upper = guarantee(shuffled(1.0, 10, 100, 4, mechanism=laplace), "replace-one").curve.epsilon(math.log(1e-6)).upper
    composed = guarantee(Repeated(times=4, mechanism=laplace), "replace-one").curve.epsilon(math.log(1e-6)).upper
    assert upper == composed


def run_of(data: tuple[int, ...], orders: tuple[tuple[int, ...], ...], batch_size: int, *, follows: bool) -> Law:
    """The law of all outputs, for one order in each epoch; contributions may change sign with the last output."""
    batches = [order[at : at + batch_size] for order in orders for at in range(0, len(order), batch_size)]

    def total(step: int, outputs: tuple[int, ...]) -> Fraction | None:
        if step == len(batches):
            return None
        sign = -1 if follows and outputs and outputs[-1] > 9 else 1
        return Fraction(sign * sum(data[place] for place in batches[step]))

    return adaptive_run(total, lambda centre: _normal(centre, Fraction(1)))


def law_of(data: tuple[int, ...], batch_size: int, epochs: int, *, follows: bool) -> Law:
    """The mixture over all orders."""
    orders = itertools.product(itertools.permutations(range(len(data))), repeat=epochs)
    return mixture([run_of(data, chosen, batch_size, follows=follows) for chosen in orders])


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize(("batch_size", "records", "epochs"), [(1, 2, 1), (2, 3, 1), (2, 4, 1), (2, 2, 2)])
def test_no_data_exceeds_the_upper_bound(batch_size: int, records: int, epochs: int, follows: bool) -> None:
    others = [(-1,) * (records - 1), (0,) * (records - 1)]
    curves = {
        name: guarantee(shuffled(1.0, batch_size, records, epochs), name).curve
        for name in ("replace-one", "zero-out-one")
    }
    for rest in others:
        laws = {value: law_of((value, *rest), batch_size, epochs, follows=follows) for value in (1, 0, -1)}
        for relation, values in (("replace-one", (1, -1)), ("zero-out-one", (1, 0))):
            for gamma, (first, second) in itertools.product(GAMMAS, (values, values[::-1])):
                upper = math.exp(curves[relation].log_delta(math.log(gamma)).upper)
                assert float(divergence(laws[first], laws[second], gamma)) <= upper * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_two_batches_attain_at_least_the_allocation(epsilon: float) -> None:
    """All others are zero, or equal to the replacing record: the order then hides which batch has the shift."""
    for relation, shift in (("replace-one", 2.0), ("zero-out-one", 1.0)):
        truth = max(two_batches(shift, epsilon))
        lower = math.exp(guarantee(shuffled(1.0, 5, 10), relation).curve.log_delta(epsilon).lower)
        assert lower >= 0.998 * truth
        if relation == "replace-one":
            assert lower <= truth


def test_a_remainder_is_a_smaller_last_batch() -> None:
    """S = (2 X₁ + X₂)/3 where all other records equal the replacing one, by one integral over X₁."""
    gamma, c = mp.e ** mp.mpf("0.3"), mp.mpf(2)

    def call(strike: Any) -> Any:
        if strike <= 0:
            return 1 - strike
        edge = mp.log(strike) / c + c / 2
        return mp.ncdf(c - edge) - strike * mp.ncdf(-edge)

    corner = mp.log(3 * gamma / 2) / c + c / 2
    truth = mp.quad(
        lambda z: mp.npdf(z) * call(3 * gamma - 2 * mp.exp(c * z - c * c / 2)) / 3, [-10, 0, corner, 6, 12, 30]
    )
    ends = guarantee(shuffled(1.0, 2, 3), "replace-one").curve.log_delta(0.3)
    lower = math.exp(ends.lower)
    assert lower >= 0.998 * float(truth)
    assert ends.lower <= ends.upper
    # The reversed direction may be larger; the forward direction is a floor of the witness, and the upper bound holds.
    assert float(truth) <= math.exp(ends.upper)


@pytest.mark.parametrize(
    ("shift", "second", "steps", "chosen"), [(2.0, 1.0, 10, 1), (5.0, 0.0, 4, 2), (0.5, 0.0, 1000, 1)]
)
def test_the_largest_sum_against_its_distribution_function(
    shift: float, second: float, steps: int, chosen: int
) -> None:
    """A test that rejects above x has the two rates that follow from the definition, so no δ is below theirs by much."""
    pair = largest_sum_pair(shift, second, steps, chosen)
    for epsilon in (0.1, 1.0, 2.0):
        best = 0.0
        for x in (0.01 * step for step in range(-300, 900)):
            rates = [1.0 - ndtr(x - at) ** chosen * ndtr(x) ** (steps - chosen) for at in (shift, second)]
            best = max(best, rates[0] - math.exp(epsilon) * rates[1])
        if best > 1e-9:
            ends = pair.forward.log_delta_bounds(epsilon)
            assert best * (1 - 2e-3) <= math.exp(ends.lower) <= best * (1 + 1e-3)


def test_one_batch_for_all_records_is_exact() -> None:
    ends = guarantee(shuffled(2.0, 7, 7, 3), "replace-one").curve.epsilon(math.log(1e-6))
    assert ends.upper - ends.lower < 1e-9 * ends.upper


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.05, 1e3, 1e7, 1e15])
@pytest.mark.parametrize("epochs", [1, 1000])
def test_extreme_noise_is_answered_in_order(noise: float, epochs: int) -> None:
    for relation in ("replace-one", "zero-out-one"):
        curve = guarantee(shuffled(noise, 3, 1000, epochs), relation, effort="coarse").curve
        for epsilon in (0.0, 0.5, 100.0):
            ends = curve.log_delta(epsilon)
            assert ends.lower <= ends.upper <= 0.0


def test_a_removed_record_is_refused_because_the_cut_moves() -> None:
    with pytest.raises(ConditionViolated, match="the cut of the order moves"):
        guarantee(shuffled(1.0, 10, 100), "add-or-remove-one")
    with pytest.raises(ConditionViolated, match="records are shuffled where a client is protected"):
        guarantee(shuffled(1.0, 10, 100, level="records"), "replace-one", unit="client")


def test_the_answer_says_what_the_gap_means() -> None:
    spec = shuffled(1.0, 10, 100)
    known = guarantee(spec, "replace-one")
    said = state_guarantee(
        definition=None,
        observer="released-models",
        unit="record",
        relation="replace-one",
        draws=draws_of(spec, "record"),
        declared=known.declared,
    )
    texts = [statement.text for statement in said if statement.about == "sampling"]
    assert len(texts) == 1
    assert "truth may be anywhere between the two bounds" in texts[0]
    assert "Poisson or random-allocation" in texts[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"sampling": "shuffled-epochs", "batch_size": 5, "population": 10},
        {"sampling": "shuffled-epochs", "batch_size": 11, "population": 10, "epochs": 1},
        {"sampling": "shuffled-epochs", "rate": 0.5, "batch_size": 5, "population": 10, "epochs": 1},
        {"sampling": "poisson", "rate": 0.5, "epochs": 1},
        {"sampling": "full", "epochs": 2},
    ],
)
def test_wrong_fields_are_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Subsampled(mechanism=Gaussian(noise_multiplier=1.0), **fields)


def test_shuffled_epochs_are_not_nested() -> None:
    inner = shuffled(1.0, 5, 10)
    for outer in ("poisson", "full"):
        with pytest.raises(InvalidInput, match="divides all units among batches"):
            Subsampled(sampling=outer, mechanism=inner, **({"rate": 0.1} if outer == "poisson" else {}))  # type: ignore[arg-type]
    drawn = Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=1.0))
    with pytest.raises(InvalidInput, match="not drawn from again"):
        shuffled(1.0, 5, 10, mechanism=drawn)
