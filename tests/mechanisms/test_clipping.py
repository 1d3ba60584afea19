"""Clipped contributions are within their bound in exact arithmetic, whatever the numbers are."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.clipping import clip, clip_layers, joint_bound

NORMS = ("l1", "l2", "linf")
ANY = st.floats(allow_nan=True, allow_infinity=True)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
BOUNDS = st.floats(2.0**-256, 2.0**256) | st.floats(0.1, 10.0) | st.just(1.0)


def within(vector, bound, norm):
    """In fractions, without a root."""
    sizes = [abs(Fraction(float(one))) for one in np.ravel(vector)]
    if norm == "l2":
        return sum(one * one for one in sizes) <= Fraction(bound) ** 2
    return (sum(sizes) if norm == "l1" else max(sizes, default=Fraction(0))) <= Fraction(bound)


@settings(max_examples=150, deadline=None)
@given(
    values=arrays.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(0, 7)), elements=ANY),
    bound=BOUNDS,
    norm=st.sampled_from(NORMS),
)
def test_no_contribution_is_longer_than_the_bound(values, bound, norm):
    clipped = clip(values, bound, norm=norm, records=True)
    assert clipped.values.shape == values.shape
    assert clipped.values.dtype == np.float64
    for before, after, unusable in zip(values, clipped.values, clipped.unusable, strict=True):
        assert unusable == (not np.isfinite(before).all())
        assert within(after, bound, norm)
        if unusable:
            assert not after.any()
        elif norm == "linf":
            assert np.array_equal(after, np.clip(before, -bound, bound))
        elif within(before, Fraction(bound) * (1 - Fraction(1, 2**40)), norm):
            assert np.array_equal(after, before)


@settings(max_examples=100, deadline=None)
@given(
    values=arrays.arrays(np.float32, st.integers(1, 9), elements=st.floats(width=32, allow_nan=False)),
    bound=BOUNDS,
    norm=st.sampled_from(NORMS),
)
def test_single_precision_is_rounded_towards_zero(values, bound, norm):
    clipped = clip(values, bound, norm=norm)
    assert clipped.values.dtype == np.float32
    assert within(clipped.values, bound, norm)


@settings(max_examples=60, deadline=None)
@given(values=arrays.arrays(np.float64, st.integers(1, 6), elements=st.floats(-1e3, 1e3)), bound=st.floats(0.1, 10.0))
def test_the_direction_is_kept_and_nearly_all_of_the_length(values, bound):
    for norm, order in (("l1", 1), ("l2", 2)):
        length = np.linalg.norm(values, order)
        expected = values * (bound / length) if length > bound else values
        assert clip(values, bound, norm=norm).values == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_long_vectors_near_the_bound():
    """Where roundings of a sum could matter most: many coordinates, norms within a few units of the bound."""
    generator = np.random.default_rng(0)
    for _ in range(8):
        vector = generator.standard_normal(700)
        vector /= np.linalg.norm(vector)
        for scale in (1 - 2e-16, 1.0, 1 + 2e-16, 1 + 1e-12):
            assert within(clip(vector * scale, 1.0).values, 1.0, "l2")
            assert within(clip(vector * scale / np.abs(vector).sum(), 1.0, norm="l1").values, 1.0, "l1")


def test_what_is_told_of_a_batch():
    values = np.array([[3.0, 4.0], [0.3, 0.4], [math.nan, 0.0], [1e200, 1e200]])
    clipped = clip(values, 1.0, records=True)
    assert clipped.norms[:2] == pytest.approx([5.0, 0.5])
    assert math.isnan(clipped.norms[2])
    assert clipped.norms[3] == pytest.approx(math.sqrt(2) * 1e200)
    assert clipped.exceeded.tolist() == [True, False, False, True]
    assert clipped.unusable.tolist() == [False, False, True, False]
    assert clipped.share == 0.75
    assert clip(np.array([1.7e308, 1.7e308]), 1.0).norms[0] == math.inf
    assert clip(np.zeros((0, 3)), 1.0, records=True).share == 0.0


def test_a_norm_at_the_bound_is_not_counted_as_clipped():
    assert clip([3.0, 4.0], 5.0).share == 0.0
    assert clip([0.0], 5.0).values.tolist() == [0.0]


def test_layers_have_one_norm_together_or_one_each():
    layers = [np.full((2, 2, 2), 3.0), np.full((2, 3), 3.0, dtype=np.float32)]
    together = clip(layers, 1.0, records=True)
    assert [one.shape for one in together.values] == [(2, 2, 2), (2, 3)]
    assert together.values[1].dtype == np.float32
    for record in range(2):
        assert within(np.concatenate([np.ravel(one[record]) for one in together.values]), 1.0, "l2")
    assert together.norms == pytest.approx([3.0 * math.sqrt(7)] * 2)
    each = clip_layers(layers, [1.0, 2.0], records=True)
    assert each[0].norms == pytest.approx([6.0, 6.0])
    assert each[1].norms == pytest.approx([math.sqrt(27)] * 2)
    joint = joint_bound([1.0, 2.0])
    assert 5 <= Fraction(joint) ** 2 <= 5 * (1 + Fraction(1, 2**40))
    for record in range(2):
        assert within(np.concatenate([np.ravel(one.values[record]) for one in each]), joint, "l2")
    assert joint_bound([1.0, 2.0], "linf") == 2.0
    assert joint_bound([0.1] * 10, "l1") >= 10 * Fraction(0.1)


@settings(max_examples=60, deadline=None)
@given(bounds=st.lists(st.floats(2.0**-256, 2.0**256), min_size=1, max_size=6))
def test_joint_bounds_are_rounded_up(bounds):
    assert Fraction(joint_bound(bounds)) ** 2 >= sum(Fraction(one) ** 2 for one in bounds)
    assert Fraction(joint_bound(bounds, "l1")) >= sum(Fraction(one) for one in bounds)


def take(made):
    """As other libraries do: memory that may not be written to is not taken."""
    assert made.flags.writeable
    return np.array(made)


class Tensor:
    """An array of another library, which hands its memory over and is asked to forget its gradients."""

    def __init__(self, numbers, *, forgotten=False):
        self.numbers, self.forgotten = numbers, forgotten

    @property
    def shape(self):
        return self.numbers.shape

    def detach(self):
        return Tensor(self.numbers, forgotten=True)

    def __array_namespace__(self):
        return SimpleNamespace(from_dlpack=lambda made: Tensor(take(made)))

    def __dlpack__(self, **asked):
        assert self.forgotten
        return self.numbers.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.numbers.__dlpack_device__()


def test_arrays_of_other_libraries_come_back_as_what_they_were():
    numbers = np.array([3.0, 4.0], dtype=np.float32)
    clipped = clip(Tensor(numbers), 1.0).values
    assert isinstance(clipped, Tensor)
    assert clipped.numbers.dtype == np.float32
    assert np.array_equal(clipped.numbers, clip(numbers, 1.0).values)
    first, second = clip([Tensor(numbers), numbers], 1.0).values
    assert isinstance(first, Tensor)
    assert np.array_equal(first.numbers, second)
    within = clip(Tensor(numbers), 10.0).values
    within.numbers[0] = 7.0
    assert numbers[0] == 3.0
    assert not np.shares_memory(clip(numbers, 10.0).values, numbers)


@pytest.mark.parametrize(
    "call",
    [
        lambda: clip([1.0], 0.0),
        lambda: clip([1.0], math.nan),
        lambda: clip([1.0], math.inf),
        lambda: clip([1.0], 2.0**300),
        lambda: clip(["a"], 1.0),
        lambda: clip([1j], 1.0),
        lambda: clip([[1.0], [1.0, 2.0]], 1.0),
        lambda: clip(object(), 1.0),
        lambda: clip(1.0, 1.0, records=True),
        lambda: clip([np.zeros((2, 1)), np.zeros((3, 1))], 1.0, records=True),
        lambda: clip_layers([np.zeros(1)], [1.0, 2.0]),
        lambda: clip_layers([np.zeros(1)], [0.0]),
        lambda: joint_bound([-1.0]),
    ],
)
def test_what_cannot_be_clipped_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
