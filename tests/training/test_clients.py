"""What one record can move: clipping, losses and their constants, of clients that are functions and of tables."""

import itertools

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.training import Client, huber, least_squares, logistic, softmax, tabular
from epsilond.training.clients.batches import Batch
from epsilond.training.clients.callables import CallableClients

LOSSES = {
    "logistic": (logistic(), [-1.0, 1.0]),
    "softmax": (softmax(4), [0.0, 1.0, 2.0, 3.0]),
    "least-squares": (least_squares(), [-1.0, -0.3, 0.9]),
    "huber": (huber(0.4), [-1.0, 0.2, 1.0]),
}


def table(name, *, strong_convexity=0.0, feature_norm=1.0, seed=0, sizes=(5, 5, 5)):
    generator = np.random.default_rng(seed)
    loss, labels = LOSSES[name]
    parts = [(generator.standard_normal((size, 3)), generator.choice(labels, size)) for size in sizes]
    return tabular(parts, loss=loss, strong_convexity=strong_convexity, feature_norm=feature_norm)


def value(clients, model, row):
    shaped = model.reshape(clients.loss.outputs, -1)
    ridge = 0.5 * clients.strong_convexity * float(model @ model)
    return float(clients.loss.values(shaped @ clients.features[row], clients.targets[row])) + ridge


def gradient(clients, model, row, bound=np.inf):
    client = int(np.searchsorted(clients.starts, row, side="right")) - 1
    batch = Batch(np.array([client]), np.array([[row - clients.starts[client]]]))
    return clients.sums(model, batch, np.array([bound]))[0][0]


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_the_values(name, ridge):
    clients, generator = table(name, strong_convexity=ridge), np.random.default_rng(1)
    for row in range(6):
        model = generator.standard_normal(clients.dimension)
        step = 1e-6 * np.eye(clients.dimension)
        slopes = [(value(clients, model + each, row) - value(clients, model - each, row)) / 2e-6 for each in step]
        assert np.allclose(gradient(clients, model, row), slopes, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("name", LOSSES)
def test_constants_hold_and_are_nearly_met(name, ridge):
    clients, generator, radius = table(name, strong_convexity=ridge, feature_norm=1.7), np.random.default_rng(2), 2.0
    steep, curved = 0.0, 0.0
    for _ in range(400):
        row = int(generator.integers(15))
        features = np.tile(clients.features[row], clients.loss.outputs)
        models = generator.standard_normal((2, clients.dimension))
        models[0] += generator.choice([-20.0, 20.0]) * features * generator.choice([0, 1], len(features))
        models[0] *= radius / np.linalg.norm(models[0])
        models[1] = models[0] + 1e-4 * models[1]
        found = [gradient(clients, model, row) for model in models]
        steep = max(steep, float(np.linalg.norm(found[0])))
        curved = max(curved, float(np.linalg.norm(found[0] - found[1]) / np.linalg.norm(models[0] - models[1])))
    assert 0.3 * clients.lipschitz(radius) < steep <= clients.lipschitz(radius) * (1.0 + 1e-12)
    assert 0.05 * clients.smoothness < curved <= clients.smoothness * (1.0 + 1e-6)


def test_least_squares_is_lipschitz_on_balls_only():
    assert table("least-squares").lipschitz(np.inf) == np.inf
    assert table("logistic", strong_convexity=0.1).lipschitz(np.inf) == np.inf
    assert table("logistic").lipschitz(np.inf) == 1.0


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("bound", [0.05, 0.5, np.inf])
def test_tables_and_functions_clip_alike(name, ridge, bound):
    clients, generator = table(name, strong_convexity=ridge, sizes=(5, 3, 4)), np.random.default_rng(3)

    def one(client):
        def answer(model, places):
            return np.stack([gradient(clients, model, clients.starts[client] + place) for place in places])

        return Client(gradient=answer, records=int(clients.sizes[client]))

    functions = CallableClients(tuple(map(one, range(3))), clients.dimension)
    batch = Batch.of(np.array([2, 0, 1]), [np.array([1, 3, 1]), np.array([4]), np.array([], dtype=np.int64)])
    for models in (generator.standard_normal(clients.dimension), generator.standard_normal((3, clients.dimension))):
        summed, met = clients.sums(models, batch, np.full(3, bound))
        expected, told = functions.sums(models, batch, np.full(3, bound))
        assert np.allclose(summed, expected, rtol=1e-12, atol=1e-13)
        assert met.largest_norm == pytest.approx(told.largest_norm, rel=1e-9)
        assert (met.clipped, met.not_finite) == (told.clipped, told.not_finite)
        assert not summed[2].any()


@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_no_record_of_a_table_is_longer_than_its_bound(ridge):
    generator = np.random.default_rng(4)
    features = generator.standard_normal((200, 3)) * 10.0 ** generator.integers(-8, 9, (200, 1))
    clients = tabular([(features, np.where(features[:, 0] > 0, 1, -1))], strong_convexity=ridge)
    assert np.max(np.linalg.norm(clients.features, axis=1)) <= 1.0
    for row, scale in itertools.product(range(200), (1e-3, 1.0, 1e8)):
        model = scale * generator.standard_normal(3)
        assert np.linalg.norm(gradient(clients, model, row, bound=0.01)) <= 0.01


def test_hostile_functions_move_a_sum_by_the_bound_at_most():
    hostile = [np.full(3, 1e308), np.array([1e-320, 0, 0]), np.full(3, np.nan), np.array([np.inf, 0, 0]), np.ones(3)]
    for given in hostile:
        clients = CallableClients((Client(gradient=lambda *_, given=given: given[None], records=1),), 3)
        summed, met = clients.sums(np.zeros(3), Batch(np.array([0]), np.array([[0]])), np.array([0.5]))
        assert np.linalg.norm(summed) <= 0.5
        assert met.not_finite == (not np.isfinite(given).all())


def test_records_that_are_no_numbers_count_as_zeros():
    features, labels = np.array([[np.nan, 1.0], [np.inf, 0.5]]), np.array([1, -1])
    assert np.allclose(tabular([(features, labels)]).features, [[0.0, 1.0], [0.0, 0.5]], rtol=1e-12)
    assert tabular([(features, np.array([np.nan, 7.0]))], loss="least-squares").targets.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("parts", "more", "pointer"),
    [
        ([], {}, "/clients"),
        ([([[1.0]], [1]), ([[1.0, 2.0]], [1])], {}, "/clients"),
        ([([[1.0]], [0])], {}, "/clients"),
        ([([[1.0]], [1, 1])], {}, "/clients/0"),
        ([([1.0], [1])], {}, "/clients/0"),
        ([(np.zeros((0, 2)), [])], {}, "/clients/0"),
        ([3.0], {}, "/clients/0"),
        ([([["a"]], [1])], {}, "/clients/0"),
        ([([[1.0]], [1])], {"loss": "hinge"}, "/loss"),
        ([([[1.0]], [1])], {"feature_norm": 0.0}, "/feature_norm"),
        ([([[1.0]], [1])], {"strong_convexity": -1.0}, "/strong_convexity"),
    ],
)
def test_tables_that_do_not_fit_are_refused(parts, more, pointer):
    with pytest.raises(InvalidInput) as refused:
        tabular(parts, **more)
    assert refused.value.faults[0].pointer == pointer
