"""What compositions keep: transforms of few bytes, and nothing once they are let go."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice import transforms
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.periodic.sums import DirectSums, TabulatedSums
from epsilond.accountants.profiles.laplace import laplace_pair


@pytest.fixture
def uncollected() -> Any:
    """Objects die when the last name for them goes, or not at all."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def composed() -> Pair:
    return compose([(laplace_pair(0.5), 10), (laplace_pair(0.3), 7)], budget=Budget.coarse())


def test_a_composition_is_gone_after_its_epsilon_was_searched(uncollected: None) -> None:
    pair = composed()
    pair.epsilon(-10.0)
    order = weakref.ref(pair.forward)
    del pair
    assert order() is None


def test_transforms_are_kept_up_to_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """And answers do not depend on it."""
    points = np.linspace(0.5, 12.0, 12)
    plenty: Any = composed().forward
    before = plenty.log_delta(points)
    sizes = [spectrum.nbytes for _, spectrum in plenty._transforms.spectra.values()]
    assert len(sizes) > 2
    monkeypatch.setattr(transforms, "_KEPT_BYTES", 1)
    frugal: Any = composed().forward
    after = frugal.log_delta(points)
    assert len(frugal._transforms.spectra) == 2
    np.testing.assert_array_equal(before.lower, after.lower)
    np.testing.assert_array_equal(before.upper, after.upper)


@pytest.mark.parametrize("size", [64, 75])
def test_a_table_of_sums_holds_the_sums(size: int) -> None:
    generator = np.random.default_rng(size)
    frequencies = np.asarray(sorted({0, 3, 4, 17, 30, size // 2}), dtype=np.int64)
    terms = generator.normal(size=frequencies.size) + 1j * generator.normal(size=frequencies.size)
    # Without a mirror image a term counts for its real part alone.
    terms[0] = terms[0].real
    if size % 2 == 0:
        terms[-1] = terms[-1].real
    table, direct = TabulatedSums.of(size, frequencies, terms), DirectSums(size, frequencies, terms)
    for offset in range(size):
        assert table.at(offset) == pytest.approx(direct.at(offset), abs=1e-12)
