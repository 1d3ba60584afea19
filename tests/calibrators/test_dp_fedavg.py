"""dp-fedavg: its noise against composition in ball arithmetic, its figures, its rounds, limits and warnings."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

import epsilond
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.dp_fedavg.rounds import WITHIN, WORSE, ladder
from tests.answers import codes, remembered
from tests.oracles.contour import Step, by_contour
from tests.oracles.hockey_stick import theta

DEVICES: dict[str, Any] = {
    "epsilon": 2.0,
    "delta": 1e-8,
    "clients": 10**6,
    "participants": 10**4,
    "dimension": 10**6,
    "clipping_norm": 1.0,
    "relation": "add-or-remove-one",
    "unit": "client",
    "observer": "released-models",
}


@remembered
def solved(**changes: Any) -> Calibration:
    found: Calibration = epsilond.calibrate("dp-fedavg", **DEVICES | changes)
    return found


def delta_of(rate: float, noise_multiplier: float, rounds: int, epsilon: float) -> mp.mpf:
    """The larger δ of both orders, for clients drawn by coins and added or removed."""
    steps = (Step(rate, 1 / noise_multiplier, direction, rounds) for direction in ("remove", "add"))
    return max(by_contour([one], epsilon, tilt=12.0, period=16.0, count=300, spacing=0.1) for one in steps)


def test_the_noise_of_a_million_devices() -> None:
    found = solved(rounds=2000).parameters
    assert found.noise_multiplier == pytest.approx(1.4212, rel=1e-5)
    assert found.participation_rate == 0.01
    with mp.workdps(40):
        assert delta_of(0.01, found.noise_multiplier, 2000, 2.0) <= mp.mpf("1e-8")
        assert delta_of(0.01, found.noise_multiplier * (1 - 2e-6), 2000, 2.0) > mp.mpf("1e-8")


def test_the_sensitivity_is_that_of_the_relation() -> None:
    everyone = solved(rounds=3, clients=100, participants=None, sampling="full").guarantee
    assert (everyone.relation, everyone.sampling, everyone.sensitivity) == ("add-or-remove-one", "full", 1.0)
    asked = solved(rounds=3, clients=100, participants=None, sampling="full", relation="replace-one")
    assert asked.guarantee.sensitivity == 2.0
    assert {kind: getattr(asked.guarantee, kind) for kind in ("definition", "unit", "observer")} == {
        "definition": "central",
        "unit": "client",
        "observer": "released-models",
    }


@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one", "zero-out-one"])
@pytest.mark.parametrize("sampling", ["poisson", "full"])
def test_everybody_in_every_round_is_one_gaussian(relation: str, sampling: str) -> None:
    found = solved(clients=50, participants=50, rounds=7, sampling=sampling, relation=relation, delta=1e-5)
    distance = (2.0 if relation == "replace-one" else 1.0) * math.sqrt(7) / found.parameters.noise_multiplier
    assert found.guarantee.sampling == "full"
    assert float(theta(2.0, distance)[0]) == pytest.approx(1e-5, rel=1e-5)
    assert theta(2.0, distance)[0] <= 1e-5


def test_noise_of_the_sum_and_of_the_mean() -> None:
    found = solved(rounds=2000, clipping_norm=0.3).parameters
    z, c = Fraction(found.noise_multiplier), Fraction(0.3)
    assert found.noise_multiplier == solved(rounds=2000).parameters.noise_multiplier
    for told, exact in (
        (found.noise_std_of_sum, z * c),
        (found.noise_std_of_mean, z * c / 10**4),
        (found.noise_norm_of_mean, 1000 * z * c / 10**4),
        (found.noise_to_signal, z / 10),
    ):
        assert exact <= Fraction(told) <= exact * (1 + Fraction(1, 2**50))
    assert (found.reports_per_client, found.bytes_per_client) == (20.0, 80e6)
    # E K²/M² = 1 + (1 − q)/M for coins.
    share = math.sqrt((1 + 0.99 / 10**4 + (found.noise_multiplier / 10) ** 2) / 2000)
    assert found.remaining_share == pytest.approx(share, rel=1e-12)


def test_traffic() -> None:
    drawn, fixed = solved(rounds=30), solved(rounds=30, sampling="without-replacement", relation="replace-one")
    assert drawn.communication is not None
    assert fixed.communication is not None
    assert drawn.communication.expected_total_bits == fixed.communication.total_bits == 32 * 10**6 * 10**4 * 30
    assert drawn.communication.total_bits == 100 * fixed.communication.total_bits  # every coin may fall for its client


def adaptive(count_std: float, **changes: Any) -> Calibration:
    found: Calibration = epsilond.calibrate(
        "dp-fedavg", **{**DEVICES, "rounds": 2000, "adaptive_clipping": {"count_std": count_std}, **changes}
    )
    return found


@pytest.mark.parametrize("count_std", [1.0, 500.0])
def test_adaptive_clipping_splits_the_noise(count_std: float) -> None:
    found, plain = adaptive(count_std).parameters, solved(rounds=2000).parameters
    whole = found.adaptive_clipping.whole_noise_multiplier
    assert whole == plain.noise_multiplier
    assert found.noise_multiplier > plain.noise_multiplier
    assert found.noise_multiplier**-2 + (2 * count_std) ** -2 == pytest.approx(whole**-2, rel=1e-14)
    assert found.adaptive_clipping.noise_std_of_share == pytest.approx(count_std / 10**4, rel=1e-15)


def test_adaptive_clipping_is_in_the_derivation_and_demands_the_shifted_bits() -> None:
    found = adaptive(500.0)
    assert "andrew-2021.1" in [step.theorem for step in found.derivation]
    assert "shifted-bits" in {condition.id for condition in found.all_declared}
    assert found.communication is not None
    assert found.communication.bits_per_round_per_client == 32 * 10**6 + 1
    assert adaptive(500.0, lipschitz=1.0, diameter=2.0).risk is None  # its clipping norm may fall below a gradient's


def test_too_little_noise_on_the_count_is_refused_with_one_that_does() -> None:
    with pytest.raises(Infeasible) as caught:
        adaptive(0.7)
    assert caught.value.condition is not None
    assert caught.value.condition.id == "count-noise-left"
    assert adaptive(caught.value.nearest["count_std"]).guarantee.epsilon.upper <= 2.0


@pytest.mark.parametrize("most", [1, 2, 9, 10, 11, 1999, 2000, 123456])
def test_the_ladder_goes_down_from_the_limit(most: int) -> None:
    steps = ladder(most)
    assert steps[0] == most
    assert steps[-1] == 1
    assert all(low < high <= 2 * low + 1 for high, low in zip(steps, steps[1:], strict=False))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"clients": 20, "participants": None, "sampling": "full", "delta": 1e-6, "dimension": 100},
        {"clients": 1000, "participants": 500, "dimension": 10, "epsilon": 0.2, "max_rounds": 5000},
    ],
    ids=["signal", "flat", "noise"],
)
def test_the_fewest_rounds_that_are_within_a_tenth_of_the_best(changes: dict[str, Any]) -> None:
    found = solved(**changes)
    runs = found.parameters.frontier
    assert [one.rounds for one in runs] == sorted(one.rounds for one in runs)
    best = min(Fraction(one.remaining_share) for one in runs)
    good = [one for one in runs if Fraction(one.remaining_share) <= WITHIN * best]
    assert [one for one in runs if one.chosen] == [good[0]]
    assert found.parameters.rounds == good[0].rounds
    assert runs[0].rounds == 1 or Fraction(runs[0].remaining_share) > WORSE * best
    for one in (runs[0], runs[-1], good[0]):
        alone = solved(**{**changes, "rounds": one.rounds, "max_rounds": None}).parameters
        assert alone.frontier is None
        names = ("noise_multiplier", "noise_std_of_mean", "noise_norm_of_mean", "remaining_share", "bytes_per_client")
        assert [getattr(alone, name) for name in names] == [getattr(one, name) for name in names]


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ({"max_rounds": 150}, 150),
        ({"communication_budget": 32 * 10**6 * 10**4 * 77 + 1}, 77),
        ({"max_bytes_per_client": 40000 * 77 + 1}, 77),
        ({"max_reports_per_client": 0.775}, 77),
        ({"max_reports_per_client": 0.775, "max_rounds": 30}, 30),
    ],
)
def test_limits_bind(limit: dict[str, Any], most: int) -> None:
    runs = solved(**limit).parameters.frontier
    assert runs[-1].rounds == most
    assert solved(**limit, rounds=most).parameters.rounds == most
    with pytest.raises(InvalidInput) as caught:
        solved(**limit, rounds=most + 1)
    assert caught.value.faults[0].pointer == "/rounds"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 10**6 + 1}, "/participants"),
        ({"sampling": "full"}, "/participants"),
        ({"communication_budget": 32 * 10**10 - 1}, "/communication_budget"),
        ({"max_bytes_per_client": 39999}, "/max_bytes_per_client"),
        ({"max_reports_per_client": 0.009}, "/max_reports_per_client"),
        ({"observer": "server"}, "/observer"),
    ],
)
def test_runs_that_cannot_be(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        solved(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_the_risk_of_one_gradient_step_a_round() -> None:
    found = solved(rounds=2000, lipschitz=0.5, diameter=10.0)
    assert found.risk is not None
    assert found.risk.upper is not None
    assert found.risk.baseline is not None
    noise = found.parameters.noise_norm_of_mean
    assert found.risk.upper.value == pytest.approx(
        10 * math.sqrt((0.25 * (1 + 0.99 / 10**4) + noise**2) / 2000), rel=1e-12
    )
    assert (found.risk.objective, found.risk.baseline.value, found.risk.upper.vacuous) == ("empirical", 5.0, False)
    assert found.parameters.step_size == pytest.approx(100.0 / (2000 * found.risk.upper.value), rel=1e-9)
    assert solved(rounds=2000, lipschitz=1.1, diameter=10.0).risk is None  # gradients are clipped: no bound is known


def test_pitfalls_of_training_loops_are_warnings() -> None:
    drawn = solved(rounds=2000)
    assert codes(drawn) == {"fixed-denominator", "equal-weights", "server-not-covered"}
    assert {"clipped-updates", "fixed-denominator", "secret-draw"} <= {one.id for one in drawn.all_declared}
    everyone = solved(clients=20, participants=None, sampling="full", rounds=5)
    assert codes(everyone) == {"fixed-denominator", "equal-weights", "noise-drowns-signal"}
    assert "assumed-max-rounds" in codes(solved())
    assert "assumed-max-rounds" not in codes(solved(max_rounds=150))


def test_an_observer_who_sees_who_takes_part_gives_no_amplification() -> None:
    run: dict[str, Any] = {"rounds": 5, "clients": 1000, "participants": 100, "sampling": "without-replacement"}
    run["relation"] = "replace-one"
    seen, unseen = solved(**run, observer="other-clients"), solved(**run)
    everyone = solved(rounds=5, clients=100, participants=None, sampling="full", relation="replace-one")
    # Who is drawn is seen, but not beforehand: it is the mean of δ over how often a client is drawn.
    noises = [each.parameters.noise_multiplier for each in (unseen, seen, everyone)]
    assert 1.5 * noises[0] < noises[1] < noises[2]
    binomial = [math.comb(5, k) * 0.1**k * 0.9 ** (5 - k) for k in range(6)]
    mean = sum(p * float(theta(2.0, 2 * math.sqrt(k) / noises[1])[0]) for k, p in enumerate(binomial) if k)
    assert mean == pytest.approx(1e-8, rel=1e-3)
    (told,) = (one.message for one in seen.warnings if one.code == "amplification-not-counted")
    assert "noise_multiplier" in told
    assert "amplification-not-counted" not in codes(unseen)
    assert seen.guarantee.definition == "joint"


def test_it_is_the_gaussian_mechanism_on_drawn_clients() -> None:
    same = epsilond.calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        relation="add-or-remove-one",
        sampling="poisson",
        rate=0.01,
        rounds=2000,
        epsilon=2.0,
        delta=1e-8,
        unit="client",
        observer="released-models",
    )
    assert same.parameters.noise_multiplier == pytest.approx(solved(rounds=2000).parameters.noise_multiplier, rel=1e-7)
