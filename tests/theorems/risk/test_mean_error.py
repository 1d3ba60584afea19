"""The squared error of a noisy mean: by enumeration of all batches, and by simulated messages."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.mean_error import MEAN_OF_MESSAGES, NOISY_MEAN


def error(**fields: Any) -> Any:
    return NOISY_MEAN.evaluate(NOISY_MEAN.request(**fields)).outputs


def batches(sampling: str, count: int, size: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every batch of the indices of the vectors, with its probability."""
    if sampling == "poisson":
        rate = Fraction(size, count)
        for drawn in product((False, True), repeat=count):
            chosen = tuple(index for index, is_in in enumerate(drawn) if is_in)
            yield chosen, rate ** len(chosen) * (1 - rate) ** (count - len(chosen))
    else:
        found = list(
            product(range(count), repeat=size) if sampling == "with-replacement" else combinations(range(count), size)
        )
        for chosen in found:
            yield chosen, Fraction(1, len(found))


@pytest.mark.compares("epsilond.noisy-mean-error")
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement", "full"])
@pytest.mark.parametrize(("count", "size"), [(4, 2), (4, 1), (4, 4), (2, 1)])
def test_the_error_of_every_batch(sampling: str, count: int, size: int) -> None:
    """Vectors ±C with mean 0, which are the worst: V is attained."""
    size = count if sampling == "full" else size
    norm, noise, rounds, dimension = Fraction(3, 4), Fraction(5, 8), 7, 3
    vectors = [norm if index % 2 else -norm for index in range(count)]
    wanted = sum(
        share * (sum(vectors[index] for index in chosen)) ** 2 for chosen, share in batches(sampling, count, size)
    )
    outputs = error(
        sampling=sampling,
        records=count,
        rate=size / count,
        dimension=dimension,
        contribution_norm=float(norm),
        noise_std=float(noise),
        rounds=rounds,
    )
    scale = size * size * rounds
    assert outputs["sampling_term"] == pytest.approx(float(wanted / scale), rel=1e-15)
    assert outputs["noise_term"] == pytest.approx(float(dimension * noise**2 / scale), rel=1e-15)
    assert outputs["squared_error"] == pytest.approx(float((wanted + dimension * noise**2) / scale), rel=1e-15)
    assert Fraction(outputs["squared_error"]) >= (wanted + dimension * noise**2) / scale
    assert outputs["squared_error_of_zero"] == float(norm**2)


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
def test_vectors_with_any_mean_have_no_larger_error(sampling: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        vectors = rng.uniform(-1.0, 1.0, 4)
        wanted = sum(
            float(share) * (vectors[list(chosen)].sum() - 2 * vectors.mean()) ** 2
            for chosen, share in batches(sampling, 4, 2)
        )
        outputs = error(
            sampling=sampling, records=4, rate=0.5, dimension=1, contribution_norm=1.0, noise_std=0.0, rounds=1
        )
        assert wanted / 4 <= outputs["squared_error"]


def test_a_single_vector_and_no_noise_have_no_error() -> None:
    for sampling in ("full", "poisson", "without-replacement"):
        outputs = error(sampling=sampling, records=1, dimension=10**15, contribution_norm=1.0, noise_std=0.0, rounds=1)
        assert outputs["squared_error"] == 0.0


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
def test_a_batch_of_a_fixed_size_has_a_whole_number_of_vectors(sampling: str) -> None:
    """100 of 10050 vectors: a sum over 100 of them that is divided by 100.5 is biased by far more than its noise."""
    run = {"dimension": 1, "contribution_norm": 1.0, "noise_std": 0.0, "rounds": 10**6}
    with pytest.raises(InvalidInput, match=r"0\.01 of 10050 records is 100\.5,") as caught:
        error(sampling=sampling, records=10_050, rate=0.01, **run)
    (fault,) = caught.value.faults
    assert fault.pointer == "/rate"
    assert fault.allowed is not None
    assert fault.allowed.endswith(f" {101 / 10_050}")
    whole = error(sampling=sampling, records=10_050, rate=101 / 10_050, **run)
    bias = Fraction(1, 201) ** 2  # of 100 equal vectors of norm 1 over 100.5, or of 101 of them
    assert whole["squared_error"] < bias / 1000


@pytest.mark.parametrize(("records", "size"), [(3, 1), (30, 3), (1_000_003, 999_999), (10**15, 10**15 - 1)])
def test_the_rounding_of_a_rate_does_not_change_its_batch(records: int, size: int) -> None:
    run = {"dimension": 1, "contribution_norm": 1.0, "noise_std": 0.0, "rounds": 1}
    outputs = error(sampling="without-replacement", records=records, rate=size / records, **run)
    wanted = Fraction(records - size, (records - 1) * size)
    assert wanted <= Fraction(outputs["squared_error"]) <= wanted * (1 + Fraction(1, 2**50))


def test_a_full_batch_has_all_vectors() -> None:
    with pytest.raises(InvalidInput, match="/rate"):
        error(sampling="full", records=4, rate=0.5, dimension=1, contribution_norm=1.0, noise_std=1.0, rounds=1)


@pytest.mark.compares("epsilond.mean-of-messages-error")
@pytest.mark.parametrize(("clients", "dimension", "levels"), [(1, 1, 1), (7, 12, 5), (10**6, 10**9, 2**40)])
def test_the_error_of_messages_from_its_definition(clients: int, dimension: int, levels: int) -> None:
    fields = {"participants": clients, "dimension": dimension, "quantization_levels": levels, "noise_std": 0.375}
    outputs = MEAN_OF_MESSAGES.evaluate(MEAN_OF_MESSAGES.request(**fields)).outputs
    # The worst coordinate is in the middle of a cell of width 1/s: its error is ±1/(2s).
    rounding = Fraction(dimension) * Fraction(1, 2 * levels) ** 2 / clients
    noise = Fraction(dimension) * Fraction(3, 8) ** 2 / clients
    assert Fraction(outputs["squared_error"]) >= rounding + noise
    assert outputs["squared_error_of_zero"] == 1.0  # the mean of unit vectors has norm at most 1
    for name, value in {"squared_error": rounding + noise, "rounding_term": rounding, "noise_term": noise}.items():
        assert outputs[name] == pytest.approx(float(value), rel=1e-15)


def test_simulated_messages_stay_below_the_bound() -> None:
    rng = np.random.default_rng(9)
    clients, dimension, levels, width, runs = 5, 40, 6, 3, 4000
    updates = rng.standard_normal((clients, dimension))
    updates /= np.linalg.norm(updates, axis=1, keepdims=True)
    scaled = updates * levels
    rounded = np.floor(scaled + rng.random((runs, clients, dimension)))
    noise = rng.integers(-width, width + 1, (runs, clients, dimension))
    means = (rounded + noise).mean(axis=1) / levels
    measured = float(np.mean(np.sum((means - updates.mean(axis=0)) ** 2, axis=1)))
    std = (width * (width + 1) / 3) ** 0.5 / levels
    fields = {"participants": clients, "dimension": dimension, "quantization_levels": levels, "noise_std": std}
    bound = MEAN_OF_MESSAGES.evaluate(MEAN_OF_MESSAGES.request(**fields)).outputs["squared_error"]
    assert 0.9 * bound < measured < bound
