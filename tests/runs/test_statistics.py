"""The tests on batches and noise: exact levels by enumeration, power, and no alarm on right runs."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilond.runs.batch_sizes import BatchSizes, _divergence
from epsilond.runs.false_alarms import PER_RUN, PER_TEST, log_threshold
from epsilond.runs.noise_samples import NoiseSamples

GROUPS = np.arange(0, 256, 32)


def test_the_levels_of_all_steps_sum_to_that_of_the_test():
    levels = [math.exp(-log_threshold(step)) for step in range(1, 20_000)]
    assert math.fsum(levels) <= PER_TEST
    assert math.fsum(levels) >= PER_TEST * (1 - 1e-4)
    assert 8 * 8 * PER_TEST <= PER_RUN


@pytest.mark.parametrize(("records", "rate"), [(5, 0.3), (12, 0.05), (40, 0.9), (1, 0.5)])
def test_the_wealth_of_the_bets_is_a_martingale(records, rate):
    """The expected wealth after one more batch equals the wealth before it and the new bet, by enumeration."""
    random = np.random.default_rng(records)
    tests = BatchSizes()
    for step in range(1, 30):
        before = tests._wealth
        expected = 0.0
        for size in range(records + 1):
            copy = BatchSizes()
            copy.__dict__.update({**tests.__dict__, "_counts": tests._counts.copy()})
            copy.observe(size, records=records, rate=rate)
            expected += stats.binom.pmf(size, records, rate) * copy._wealth
        assert expected == pytest.approx(before + 1 / (step * (step + 1)), rel=1e-9)
        tests.observe(int(random.binomial(records, rate)), records=records, rate=rate)


@pytest.mark.parametrize(("records", "rate"), [(20, 0.1), (300, 0.02), (1000, 0.5)])
def test_the_bound_on_the_tail_is_one(records, rate):
    for size in range(records + 1):
        exponent = records * _divergence(size / records, rate)
        upper = size > records * rate
        tail = stats.binom.sf(size - 1, records, rate) if upper else stats.binom.cdf(size, records, rate)
        assert tail <= math.exp(-exponent) * (1 + 1e-9)


def batches(sizes, records=1437, rate=1 / 12):
    tests = BatchSizes()
    for step, size in enumerate(sizes, 1):
        tests.observe(size, records=records, rate=rate)
        if tests.alarm:
            return step, tests.alarm
    return None


@pytest.mark.parametrize("size", [144, 180, 256, 360, 1437])
def test_equal_batches_with_a_smaller_last_one_are_noticed_within_three_epochs(size):
    count = math.ceil(1437 / size)
    epoch = [*[size] * (count - 1), 1437 - size * (count - 1)]
    step, message = batches(epoch * 15, rate=1 / count if count > 1 else 0.5)
    assert step <= max(3 * count, 15)
    assert "records" in message


def test_equal_batches_from_the_middle_of_a_run_are_noticed():
    random = np.random.default_rng(0)
    sizes = [int(each) for each in random.binomial(1437, 1 / 12, size=200)]
    step, message = batches([*sizes, *[120] * 20])
    assert 200 < step <= 220
    assert "Poisson batches differ in size" in message


def test_a_batch_of_all_records_is_noticed_at_once():
    assert batches([1437])[0] == 1
    assert batches([1500])[0] == 1
    assert BatchSizes().alarm is None


def test_full_batches_must_be_full():
    assert batches([50, 50, 50], records=50, rate=1.0) is None
    assert batches([50, 49], records=50, rate=1.0)[0] == 2


def test_poisson_batches_raise_no_alarm():
    random = np.random.default_rng(1)
    for _ in range(200):
        records, rate = int(random.integers(1, 3000)), float(random.uniform(1e-4, 1.0))
        assert batches([int(each) for each in random.binomial(records, rate, size=150)], records, rate) is None


@pytest.mark.parametrize("size", [2, 16, 64, 256])
@pytest.mark.parametrize("ratio", [0.0, 1e-3, 0.3, 0.9, 1.5, 5.0])
def test_the_bound_on_the_sum_of_squares_is_one(size, ratio):
    exponent = 0.5 * size * (ratio - 1.0 - math.log(ratio)) if ratio else math.inf
    chi = stats.chi2(size)
    tail = chi.cdf(size * ratio) if ratio < 1 else chi.sf(size * ratio)
    assert tail <= math.exp(-exponent) * (1 + 1e-9)


def noise(samples, groups=GROUPS):
    tests = NoiseSamples()
    for step, sample in enumerate(samples, 1):
        tests.observe(sample, groups)
        if tests.alarm:
            return step, tests.alarm
    return None


@pytest.mark.parametrize(("factor", "within"), [(0.0, 1), (0.5, 1), (0.9, 20), (1.1, 30), (2.0, 1)])
def test_other_noise_is_noticed(factor, within):
    random = np.random.default_rng(2)
    step, message = noise(factor * random.normal(size=256) for _ in range(100))
    assert step <= within
    assert "times the recorded one" in message


def test_noise_that_is_missing_in_one_tensor_is_noticed():
    random = np.random.default_rng(3)
    sample = random.normal(size=256)
    sample[32:64] = 0.0
    assert noise([sample])[0] == 1


def test_repeated_noise_is_noticed_also_when_it_is_scaled_or_negated():
    random = np.random.default_rng(4)
    samples = [random.normal(size=256) for _ in range(20)]
    assert noise([*samples, samples[3]])[0] == 21
    assert noise([*samples, -samples[7]])[0] == 21
    assert "generator was reset" in noise([*samples, samples[3]])[1]


@pytest.mark.parametrize("size", [6, 20, 85])
def test_noise_that_repeats_is_noticed_however_small_it_is(size):
    random = np.random.default_rng(13)
    for _ in range(200):
        sample = random.normal(size=size)
        rounded = (sample + 1e-6 * random.normal(size=size)) * random.choice([-1.0, 1.0])
        found = noise([sample, rounded], groups=np.zeros(1, dtype=np.intp))
        assert found is not None
        assert found[0] == 2


@pytest.mark.parametrize("size", [1, 2, 6])
def test_short_fresh_noise_of_single_precision_raises_no_alarm(size):
    random = np.random.default_rng(21)
    for _ in range(40):
        samples = random.normal(size=(300, size)).astype(np.float32).astype(np.float64)
        assert noise(samples, groups=np.zeros(1, dtype=np.intp)) is None


def test_what_is_no_number_is_noticed():
    assert noise([np.full(256, np.nan)])[0] == 1


def test_fresh_noise_raises_no_alarm():
    random = np.random.default_rng(5)
    for _ in range(100):
        assert noise(random.normal(size=256) for _ in range(150)) is None


def test_a_coordinate_that_is_exactly_zero_raises_no_alarm_and_one_that_stays_zero_does():
    random = np.random.default_rng(8)
    groups = np.arange(80)
    tests = NoiseSamples()
    for step in range(100):
        sample = random.normal(size=80)
        sample[step % 80] = 0.0
        tests.observe(sample, groups)
    assert tests.alarm is None
    for _ in range(8):
        sample = random.normal(size=80)
        sample[7] = 0.0
        tests.observe(sample, groups)
    assert tests.alarm is not None
