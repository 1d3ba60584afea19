"""What a reader sees is never safer than what is known."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from calibrators.answer import Ends, FrontierRun
from epsilond.tables import frontier, outward

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
