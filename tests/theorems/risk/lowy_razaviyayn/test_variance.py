"""The variance of one round's gradient, against enumeration of all draws."""

from itertools import combinations, product

import numpy as np
import pytest

from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.client_statistics import ClientFields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import (
    LEMMA_E6,
    fresh_gradient_variance,
    reused_gradient_variance_printed,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import EqualClientsRound, sampling_factor
from tests.oracles.lowy import two_level_variance


@pytest.mark.compares("lowy.lemma-e.6")
@pytest.mark.parametrize(("population", "drawn"), [(1, 1), (2, 1), (6, 2), (6, 5), (6, 6)])
def test_the_mean_of_a_subset(population: int, drawn: int) -> None:
    values = np.random.default_rng(1).normal(size=population)
    values -= values.mean()
    exact = np.mean([np.mean(chosen) ** 2 for chosen in combinations(values, drawn)])
    square = float((values**2).mean())
    assert sampling_factor(population=population, drawn=drawn) * square == pytest.approx(exact, rel=1e-12, abs=1e-30)
    inputs = LEMMA_E6.request(population=population, batch_size=drawn, mean_square=square)
    assert LEMMA_E6.evaluate(inputs, "corrected").outputs["variance"] == pytest.approx(exact, rel=1e-12, abs=1e-30)
    for reading in LEMMA_E6.readings:
        served = LEMMA_E6.evaluate(inputs, reading).outputs
        assert served["exact_variance"] == pytest.approx(exact, rel=1e-12, abs=1e-30)
        assert served["exact_variance"] <= served["variance"]
    assert LEMMA_E6.evaluate(inputs, "printed").outputs["variance"] == pytest.approx(
        square / drawn if drawn < population else 0.0, rel=1e-15, abs=0.0
    )
    if 1 < drawn < population:
        assert LEMMA_E6.evaluate(inputs, "printed").outputs["variance"] > 1.1 * exact


@pytest.mark.erratum("E-12")
def test_drawing_clients_first_refutes_the_printed_variance() -> None:
    """E-12: two clients of 100 records, one takes part with all of them; client gradients 1 and −1."""
    data = [[1.0] * 100, [-1.0] * 100]
    exact = float(two_level_variance(data, 1, 100))
    printed = reused_gradient_variance_printed(
        ClientFields(clients=2, participants=1).statistics(gradient_std=0.0, noise_std=0.0),
        batch_size=100,
        dimension=1,
        records=200,
        gradient_std=1.0,
    )
    ours = EqualClientsRound(
        clients=2,
        participants=1,
        samples_per_client=100,
        batch_size=100,
        dimension=1,
    ).reused_variance(gradient_std=1.0, heterogeneity=1.0, noise_std=0.0)
    assert exact == 1.0
    assert printed.total == pytest.approx(0.01)
    assert ours.total == pytest.approx(exact)
    # Divided by N, as in Theorem E.1, the sum over all records bounds the variance; and so does the mean if M = N.
    over_clients = sum(value**2 for client in data for value in client) / 2
    assert exact <= over_clients / (1 * 100)
    for drawn in (1, 2, 3):
        three = [[1.0, -0.5, 0.25], [-1.0, 2.0, 0.5]]
        center = np.mean(three)
        mean_square = np.mean(np.square(np.asarray(three) - center))
        assert float(two_level_variance(three, 2, drawn)) <= mean_square / (2 * drawn)


@pytest.mark.erratum("E-14")
def test_identical_distributions_leave_empirical_heterogeneity() -> None:
    """E-14: fair signs at every client. Population heterogeneity is 0; in the data it is 1/n on average."""
    n, clients = 2, 2
    spreads = [
        np.var([np.mean(draw[client * n : client * n + n]) for client in range(clients)])
        for draw in product((-1.0, 1.0), repeat=n * clients)
    ]
    assert np.mean(spreads) == pytest.approx((1 / n) * (1 - 1 / clients))
    # And a batch of K drawn from the n again with replacement has φ²(1/K + 1/n − 1/(nK)) about the expected gradient.
    for n_records, batch in ((2, 2), (3, 2), (3, 3)):
        total = [
            np.mean([data[index] for index in drawn]) ** 2
            for data in product((-1.0, 1.0), repeat=n_records)
            for drawn in product(range(n_records), repeat=batch)
        ]
        fresh = fresh_gradient_variance(
            ClientFields(clients=1).statistics(gradient_std=1.0, noise_std=0.0),
            clients=1,
            batch_size=batch,
            dimension=1,
            heterogeneity=0.0,
        ).total
        assert fresh == pytest.approx(1 / batch)
        assert np.mean(total) == pytest.approx(1 / batch + 1 / n_records - 1 / (n_records * batch))
        assert np.mean(total) > 1.2 * fresh


def test_unknown_statistics_are_taken_at_their_largest() -> None:
    """Over all splits of the same total variance between and within clients, the bound is attained and never passed."""
    rng = np.random.default_rng(5)
    largest = 0.0
    for share in np.linspace(0, 1, 9):
        data = share * rng.choice([-1.0, 1.0], size=(4, 1)) + (1 - share) * rng.normal(size=(4, 6))
        data -= data.mean()
        data /= np.sqrt((data**2).mean())
        largest = max(largest, float(two_level_variance(data.tolist(), 2, 2)))
    data = np.array([[1.0] * 6, [1.0] * 6, [-1.0] * 6, [-1.0] * 6])
    largest = max(largest, float(two_level_variance(data.tolist(), 2, 2)))
    bound = EqualClientsRound(
        clients=4,
        participants=2,
        samples_per_client=6,
        batch_size=2,
        dimension=1,
    ).reused_variance(gradient_std=1.0, heterogeneity=1.0, noise_std=0.0)
    assert largest == pytest.approx(bound.total)


def test_a_random_number_of_participants_enters_through_its_harmonic_mean() -> None:
    data = np.random.default_rng(6).normal(size=(4, 3))
    mixed = 0.5 * two_level_variance(data.tolist(), 1, 2) + 0.5 * two_level_variance(data.tolist(), 3, 2)
    harmonic = 1 / (0.5 / 1 + 0.5 / 3)
    means = data.mean(axis=1)
    found = EqualClientsRound(
        clients=4,
        participants=harmonic,
        samples_per_client=3,
        batch_size=2,
        dimension=1,
    ).reused_variance(gradient_std=float(data.std()), heterogeneity=float(means.std()), noise_std=0.0)
    assert found.total == pytest.approx(float(mixed), rel=1e-12)
