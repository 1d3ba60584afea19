"""The ε spent so far, reported at a stop that was chosen: exact, over all paths and over counts."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import exp, log, mp, mpf

from epsilond.accountants.theorem import Status
from epsilond.ledgers.mathematics.theorems.adaptive_stop import SPEND_AT_A_STOP


def reported(rounds: int, once: Any, delta: Any) -> Any:
    """The least ε ≥ 0 with Σ (P − e^ε Q)₊ ≤ δ over the counts of answers kept, by bisection."""
    keep = 1 / (1 + exp(-once))
    p = [mp.binomial(rounds, k) * keep**k * (1 - keep) ** (rounds - k) for k in range(rounds + 1)]
    losses = [once * (2 * k - rounds) for k in range(rounds + 1)]

    def at(epsilon: Any) -> Any:
        return sum(a * (1 - exp(epsilon - loss)) for a, loss in zip(p, losses, strict=True) if loss > epsilon)

    low, high = mpf(0), once * rounds
    if at(low) <= delta:
        return low
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > delta else (low, middle)
    return high


def best_stop(rounds: int, once: Any, spent: list[Any]) -> Any:
    """The largest E[(1 − e^{ε_τ − L_τ})₊] over stopping times, counts of kept answers being all that matters."""
    keep, value = 1 / (1 + exp(-once)), []
    for done in range(rounds, 0, -1):
        here = [max(1 - exp(spent[done] - once * (2 * kept - done)), mpf(0)) for kept in range(done + 1)]
        if value:
            here = [max(now, keep * value[k + 1] + (1 - keep) * value[k]) for k, now in enumerate(here)]
        value = here
    return keep * value[1] + (1 - keep) * value[0]


def outputs(**fields: Any) -> Any:
    return SPEND_AT_A_STOP.evaluate(SPEND_AT_A_STOP.inputs(**fields)).outputs


@pytest.mark.erratum("L-4")
@pytest.mark.compares("epsilond.spend-at-adaptive-stop")
def test_who_stops_at_will_passes_what_is_reported() -> None:
    with mp.workdps(30):
        once, delta = log(exp(mpf("0.1"))), mpf("0.001")
        spent = [mpf(0), *(reported(done, once, delta) for done in range(1, 41))]
        wanted = best_stop(40, once, spent)
        wanted_delta, wanted_factor, last = float(wanted), float(wanted / delta), float(spent[40])
    found = outputs(round_epsilon=0.1, reported_delta=1e-3, rounds=40)
    assert found["true_delta"] == pytest.approx(wanted_delta, rel=1e-10)
    assert found["factor"] == pytest.approx(wanted_factor, rel=1e-10)
    assert found["full_epsilon"] == pytest.approx(last, rel=1e-10)
    assert outputs(round_epsilon=0.1, reported_delta=1e-3, rounds=400)["factor"] == pytest.approx(7.360, abs=5e-4)
    assert SPEND_AT_A_STOP.status is Status.REFUTED


def test_over_every_path_of_a_short_run() -> None:
    """By the paths themselves, not by counts: at each, stop or go on, whichever is worse in the end."""
    rounds, once = 9, mpf("0.1")
    with mp.workdps(25):
        spent = [mpf(0), *(reported(done, once, mpf("0.001")) for done in range(1, rounds + 1))]
        keep = 1 / (1 + exp(-once))

        def worst(path: tuple[int, ...]) -> Any:
            here = max(1 - exp(spent[len(path)] - once * sum(path)), mpf(0)) if path else mpf(0)
            if len(path) == rounds:
                return here
            return max(here, keep * worst((*path, 1)) + (1 - keep) * worst((*path, -1)))

        wanted = float(worst(()))
    found = outputs(round_epsilon=0.1, reported_delta=1e-3, rounds=rounds)
    assert found["true_delta"] == pytest.approx(wanted, rel=1e-11)
    assert wanted > 1.2e-3


def test_a_stop_that_is_fixed_has_what_is_reported_and_more_rounds_have_more() -> None:
    assert outputs(round_epsilon=0.1, reported_delta=1e-3, rounds=1)["factor"] == pytest.approx(1.0, rel=1e-12)
    factors = [outputs(round_epsilon=0.1, reported_delta=1e-3, rounds=rounds)["factor"] for rounds in (10, 50, 100)]
    assert factors == sorted(factors)
    assert factors[0] > 1.5
