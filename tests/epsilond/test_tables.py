"""What a reader sees is never safer than what is known."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import epsilond
from epsilond.calibrators.answer import Ends, FrontierRun
from epsilond.terminal.calibrations import calibration, frontier, risk_bounds
from epsilond.terminal.parts import outward

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_ends_are_printed_outward(one, other):
    low, high = sorted((one, other))
    shown = re.fullmatch(r"\[(.+), (.+)\]", outward(Ends(low, high)))
    assert shown is not None
    printed_low, printed_high = (float(end) for end in shown.groups())
    assert printed_low <= low
    assert high <= printed_high
    for end, printed in ((low, printed_low), (high, printed_high)):
        assert math.isinf(printed) or abs(printed - end) <= 1.1e-6 * abs(end) + 1e-300


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        (Ends(0.0, math.inf), "[0, unbounded]"),
        (Ends(-math.inf, -5.0), "[-unbounded, -5]"),
        (Ends(0.99999999, 0.99999999), "[0.9999999, 1]"),
        (Ends(0.0, 1.23456789e-300), "[0, 1.234568e-300]"),
    ],
)
def test_examples(ends, shown):
    assert outward(ends) == shown


def shown(answer):
    console = Console(width=300, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(answer)
    return captured.get()


def test_a_risk_that_says_nothing_is_marked_wherever_it_is_printed():
    run = {
        "epsilon": 0.05, "delta": 1e-5, "samples_per_client": 1000, "clients": 50, "dimension": 10**8, "lipschitz": 1.0,
        "diameter": 2.0, "smoothness": 1.0, "batch_size": 1000, "rounds": 100, "sampling": "full", "relation": "replace-one", "unit": "record", "observer": "server",
    }  # fmt: skip
    mark = "no better than the start (L·D = 2)"
    text = shown(calibration(epsilond.calibrate("mb-sgd", **run)))
    certified = next(line for line in text.splitlines() if line.startswith("at most"))
    assert mark in certified
    assert "population" in text
    printed = next(line for line in text.splitlines() if line.startswith("lowy.2.1 complete"))
    assert mark in printed
    assert mark in shown(risk_bounds(epsilond.bound_risk("mb-sgd", **run, noise_std=1.0)))
    learnt = shown(calibration(epsilond.calibrate("mb-sgd", **{**run, "epsilon": 5.0, "dimension": 5}, readings=())))
    assert mark not in learnt
    assert "claims risk" not in learnt
    assert "L·D = 2" in learnt


def test_groups_that_differ_have_no_common_noise_on_the_table():
    text = shown(
        calibration(
            epsilond.calibrate(
                "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=50, dimension=5, lipschitz=1.0,
                diameter=2.0, smoothness=1.0, batch_size=1000, rounds=10, sampling="full",
                client_groups=[
                    {"clients": 20, "samples_per_client": 1000, "epsilon": 0.5},
                    {"clients": 30, "samples_per_client": 100},
                ], relation="replace-one", unit="record", observer="server",
            )
        )
    )  # fmt: skip
    assert not any(line.startswith("noise_std") for line in text.splitlines())
    assert "groups.1.noise_std" in text
    assert "differs by group" in text


def test_the_frontier_says_what_is_certified_and_what_is_estimated():
    """Its bounds are rounded upward, and a bound at an estimated noise is never shown as certain."""
    shared = {"noise_std": 1.0, "bits_per_client": 2**60, "total_bits": 2**70}
    runs = (
        FrontierRun(rounds=1, batch_size=9, risk=0.123456789, certified=False, chosen=False, **shared),
        FrontierRun(rounds=20, batch_size=3, risk=0.1000000001, certified=True, chosen=True, **shared),
        FrontierRun(rounds=21, batch_size=3, risk=math.inf, certified=True, chosen=False, **shared),
    )
    console = Console(width=200)
    with console.capture() as captured:
        console.print(frontier(runs))
    first, second, third = captured.get().strip().splitlines()[-3:]
    assert first.split() == ["1", "9", "about", "0.1234568", "1.152922e+18", "1.180592e+21"]
    assert second.split() == ["20", "3", "0.1000001", "1.152922e+18", "1.180592e+21", "the", "answer"]
    assert third.split()[2] == "unbounded"
