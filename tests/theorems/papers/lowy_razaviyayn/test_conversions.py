"""Groups, clients and deletion."""

import math

import pytest

from epsilond.accountants.theorems.conversions.groups import (
    CLIENT_PRIVACY,
    GROUP_PRIVACY,
    HYBRID,
    group_log_delta,
    replacement_log_delta,
)


def randomized_response(flips: int, keep: float) -> list[float]:
    """P(number of ones) of independent reports of a client whose records are all one, each kept with `keep`."""
    return [math.comb(flips, ones) * keep**ones * (1 - keep) ** (flips - ones) for ones in range(flips + 1)]


def test_the_exact_sum_is_attained_by_leaking_with_probability_delta() -> None:
    """A chain of laws P_j on two points with P_{j+1}(A) = e^ε P_j(A) + δ attains (kε, δ Σ e^{jε})."""
    epsilon, delta, size = 0.1, 1e-3, 5
    mass = 0.01
    start = mass
    for _ in range(size):
        mass = math.exp(epsilon) * mass + delta
    attained = mass - math.exp(size * epsilon) * start
    exact = math.exp(group_log_delta(epsilon=epsilon, log_delta=math.log(delta), group_size=size))
    printed = math.exp(group_log_delta(epsilon=epsilon, log_delta=math.log(delta), group_size=size, reading="printed"))
    assert attained == pytest.approx(exact, rel=1e-12)
    assert printed > 1.2 * attained


@pytest.mark.erratum("E-29")
def test_a_client_pays_for_each_of_its_records() -> None:
    """E-29: (nε₀, n e^{(n−1)ε₀} δ₀) is the client's guarantee, and (ε₀, δ₀) the record's."""
    inputs = CLIENT_PRIVACY.request(epsilon=0.05, delta=1e-9, samples_per_client=20)
    found = CLIENT_PRIVACY.evaluate(inputs).outputs
    assert found["epsilon"] == pytest.approx(20 * 0.05)
    assert found["delta"] == pytest.approx(20 * math.exp(19 * 0.05) * 1e-9, rel=1e-12)
    # Read for the record itself, as the misprint has it, ε would be 20 times what the record is known to have:
    # n records that each report one bit with ε₀-randomized response lose nε₀ together, and ε₀ alone.
    keep = math.exp(0.05) / (1 + math.exp(0.05))
    ones, zeros = randomized_response(20, keep), randomized_response(20, 1 - keep)
    assert math.log(ones[20] / zeros[20]) == pytest.approx(found["epsilon"])
    assert math.log(keep / (1 - keep)) == pytest.approx(0.05)


@pytest.mark.erratum("E-18")
def test_an_equal_share_of_delta_is_too_much() -> None:
    """E-18: (ε/n, δ/n) leaves the client with 1.7 δ at ε = 1 and 29 δ at ε = 5, n = 100; at most e^ε δ."""
    for epsilon, factor in ((1.0, 1.72), (5.0, 29.0)):
        inputs = CLIENT_PRIVACY.request(epsilon=epsilon, delta=1e-6, samples_per_client=100)
        printed = HYBRID.evaluate(inputs, "printed").outputs
        assert printed["client_delta"] / 1e-6 == pytest.approx(factor, rel=0.02)
        assert printed["client_delta"] <= math.exp(epsilon) * 1e-6  # the reading up to a factor of e^ε
        corrected = HYBRID.evaluate(inputs, "corrected").outputs
        assert corrected["client_delta"] == pytest.approx(1e-6, rel=1e-12)
        assert corrected["delta"] < printed["delta"]


def test_a_delta_below_every_double_survives() -> None:
    inputs = GROUP_PRIVACY.request(epsilon=2.0, log10_delta=-1000.0, group_size=50)
    log_delta = group_log_delta(epsilon=2.0, log_delta=inputs.log_delta, group_size=50)
    assert log_delta == pytest.approx(-1000 * math.log(10) + 98 + math.log((1 - math.exp(-100)) / (1 - math.exp(-2))))


def test_replacement_is_attained() -> None:
    """Insertion after deletion: masses x → e^ε x + δ twice."""
    epsilon, delta = 0.5, 1e-6
    twice = math.exp(epsilon) * (math.exp(epsilon) * 0.2 + delta) + delta - math.exp(2 * epsilon) * 0.2
    assert math.exp(replacement_log_delta(epsilon=epsilon, log_delta=math.log(delta))) == pytest.approx(twice, rel=1e-9)
