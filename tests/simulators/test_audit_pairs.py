"""Every pair that is attacked: draws and losses against the exact law of the loss, from definitions written out here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, laplace, multinomial, norm

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.simulators.algorithms.batches import poisson_batches, without_replacement_batches
from epsilond.simulators.audits import shuffling
from epsilond.simulators.audits.build import target
from epsilond.simulators.audits.message import Message, QuantizedMessage
from epsilond.simulators.audits.primitives import realised_shift
from epsilond.simulators.audits.worlds import FIRST, SECOND, AttackSetting, LogLikelihoodRatio

COUNT = 40_000
Law = Mapping[float, tuple[float, float]]
"""Loss → its probability on the first and on the second data set."""


def losses(spec: Any, relation: Any = "replace-one", seed: int = 1, **setting: Any) -> tuple[Any, Any]:
    """The statistic on both data sets."""
    attack = target(spec, AttackSetting(relation=relation, **setting))
    generator = np.random.default_rng(seed)
    return attack.statistics(generator, COUNT, FIRST), attack.statistics(generator, COUNT, SECOND)


def agrees(successes: int, probability: float, trials: int = COUNT) -> bool:
    """Within five standard deviations, and a few counts where that is less than one."""
    spread = math.sqrt(trials * probability * (1 - probability))
    return abs(successes - trials * probability) <= 5 * spread + 3


def check_tails(drawn: tuple[Any, Any], tail: Any, points: Any) -> None:
    """P(loss > t) on both data sets; `tail(t)` gives the exact two."""
    for point in points:
        for sample, probability in zip(drawn, tail(point), strict=True):
            assert agrees(int((sample > point).sum()), probability), (point, probability, (sample > point).mean())


def check_atoms(drawn: tuple[Any, Any], outcomes: Any) -> None:
    """`outcomes`: pairs of probabilities of one output each; the law of the loss follows."""
    law: dict[float, list[float]] = {}
    for first, second in outcomes:
        if first or second:
            loss = math.inf if not second else -math.inf if not first else round(math.log(first / second), 6)
            law.setdefault(loss, [0.0, 0.0])
            law[loss][0] += first
            law[loss][1] += second
    assert sum(one[0] for one in law.values()) == pytest.approx(1)
    for sample, place in ((drawn[0], 0), (drawn[1], 1)):
        rounded = np.round(sample, 6)
        for loss, probabilities in law.items():
            near = rounded == loss if math.isinf(loss) else np.abs(rounded - loss) < 5e-6
            assert agrees(int(near.sum()), min(probabilities[place], 1.0)), (loss, probabilities)


def gaussian_tail(mu: float) -> Any:
    """The loss is N(±μ²/2, μ²)."""
    return lambda t: (norm.sf(t, mu * mu / 2, mu), norm.sf(t, -mu * mu / 2, mu))


@pytest.mark.parametrize(
    ("relation", "shift"), [("add-or-remove-one", 1.0), ("zero-out-one", 1.0), ("replace-one", 2.0)]
)
def test_gaussian(relation: str, shift: float) -> None:
    drawn = losses(Gaussian(noise_multiplier=1.6), relation)
    check_tails(drawn, gaussian_tail(shift / 1.6), (-2, -0.5, 0, 0.5, 1, 3))


@pytest.mark.parametrize(("relation", "shift"), [("add-or-remove-one", 1.0), ("replace-one", 2.0)])
def test_laplace(relation: str, shift: float) -> None:
    drawn = losses(Laplace(scale_multiplier=0.8), relation)
    s = shift / 0.8

    def tail(t: float) -> tuple[float, float]:
        # log p(y − s)/p(y) = |y| − |y − s| > t, for −s < t < s, is y > (s + t)/2.
        return float(laplace.sf((s + t) / 2 - s)), float(laplace.sf((s + t) / 2))

    check_tails(drawn, tail, (-0.9 * s, -0.3 * s, 0, 0.5 * s, 0.95 * s))


def integer_law(decay_rate: float, levels: int) -> dict[int, float]:
    weights = {y: math.exp(-decay_rate * abs(y)) for y in range(-levels, levels + 1)}
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def shifted_outcomes(law: Mapping[int, float], shift: int) -> list[tuple[float, float]]:
    places = range(min(law) - shift, max(law) + shift + 1)
    return [(law.get(y - shift, 0.0), law.get(y, 0.0)) for y in places]


def test_discrete_laplace() -> None:
    law = integer_law(0.4, 80)
    drawn = losses(DiscreteLaplace(decay_rate=0.4, sensitivity=3))
    check_atoms(drawn, [pair for pair in shifted_outcomes(law, 3) if min(pair) > 0])


@pytest.mark.parametrize("attack", ["mathematical", "implemented"])
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_truncated_discrete_laplace_escapes(attack: str, relation: str) -> None:
    spec = TruncatedDiscreteLaplace(
        noise_levels=4, decay_rate=0.3, dimension=5, l1_sensitivity=5.9, linf_sensitivity=2.5
    )
    assert realised_shift(spec.primitive.shift) == ((2, 2), (1, 1))
    law = integer_law(0.3, 4)
    coordinates = [shifted_outcomes(law, size) for size in (2, 2, 1)]
    outcomes = [
        (math.prod(one[0] for one in output), math.prod(one[1] for one in output))
        for output in itertools.product(*coordinates)
    ]
    check_atoms(losses(spec, relation, attack=attack), outcomes)


@pytest.mark.parametrize(
    ("norms", "shift"),
    [
        ((30.0, 8.0, None, 100), ((8, 3), (6, 1))),
        ((30.0, 8.0, None, 2), ((8, 2),)),
        ((30.0, 8.0, 5.5, 100), ((1, 30),)),
        ((30.0, 8.0, 9.0, 100), ((2, 15),)),
        ((0.5, 8.0, None, 3), ()),
    ],
)
def test_shift_within_the_norms(norms: tuple[Any, ...], shift: Any) -> None:
    l1, linf, l2, dimension = norms
    spec = TruncatedDiscreteLaplace(
        noise_levels=9, decay_rate=0.3, dimension=dimension, l1_sensitivity=l1, linf_sensitivity=linf, l2_sensitivity=l2
    )
    found = realised_shift(spec.primitive.shift)
    assert found == shift
    vector = [size for size, count in found for _ in range(count)]
    assert sum(vector) <= l1
    assert math.hypot(*vector) <= (l2 or math.inf)


@pytest.mark.parametrize("categories", [2, 3, 7])
def test_randomized_response(categories: int) -> None:
    total = math.exp(1.3) + categories - 1
    true, lie = math.exp(1.3) / total, 1 / total
    outcomes = [(true, lie), (lie, true), *[(lie, lie)] * (categories - 2)]
    check_atoms(losses(RandomizedResponse(epsilon=1.3, categories=categories)), outcomes)


def test_canonical_pair() -> None:
    true = 0.9 * math.exp(0.7) / (1 + math.exp(0.7))
    lie = 0.9 / (1 + math.exp(0.7))
    drawn = losses(Approximate(epsilon=0.7, delta=0.1))
    check_atoms(drawn, [(0.1, 0.0), (true, lie), (lie, true), (0.0, 0.1)])


def mixture_tail(first: Any, second: Any, low: float = -30, high: float = 30) -> Any:
    """Two mixtures of unit normals, as (weight, mean) lists, whose likelihood ratio rises in y."""

    def density(parts: Any, y: float) -> float:
        return float(sum(weight * norm.pdf(y, mean) for weight, mean in parts))

    def tail(t: float) -> tuple[float, float]:
        root = brentq(lambda y: math.log(density(first, y) / density(second, y)) - t, low, high)
        return tuple(float(sum(w * norm.sf(root, m) for w, m in parts)) for parts in (first, second))  # type: ignore[return-value]

    return tail


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one", "replace-one"])
def test_poisson_sampling(relation: str) -> None:
    spec = Subsampled(sampling="poisson", rate=0.3, mechanism=Gaussian(noise_multiplier=0.7))
    s = 1 / 0.7
    second = [(0.7, 0.0), (0.3, -s)] if relation == "replace-one" else [(1.0, 0.0)]
    check_tails(losses(spec, relation), mixture_tail([(0.7, 0.0), (0.3, s)], second), (-0.3, -0.1, 0, 0.3, 1, 1.5))


@pytest.mark.parametrize(("relation", "shift"), [("replace-one", 2.0), ("zero-out-one", 1.0)])
@pytest.mark.parametrize("attack", ["mathematical", "implemented"])
def test_fixed_size_batches(relation: str, shift: float, attack: str) -> None:
    spec = Subsampled(
        sampling="without-replacement", batch_size=3, population=12, mechanism=Gaussian(noise_multiplier=2.0)
    )
    tail = mixture_tail([(0.75, 0.0), (0.25, shift / 2)], [(1.0, 0.0)])
    check_tails(losses(spec, relation, attack=attack), tail, (-0.15, 0, 0.1, 0.4))


def test_drawn_several_times() -> None:
    spec = Subsampled(sampling="with-replacement", batch_size=4, population=5, mechanism=Gaussian(noise_multiplier=4.0))
    first = [(float(binom.pmf(k, 4, 0.2)), k * 0.5) for k in range(5)]
    check_tails(losses(spec), mixture_tail(first, [(1.0, 0.0)]), (-0.3, 0, 0.3, 1))


def test_seen_participation_only_thins() -> None:
    spec = Subsampled(
        sampling="without-replacement",
        level="clients",
        rate=0.4,
        mechanism=RandomizedResponse(epsilon=2.0, categories=2),
    )
    true = math.exp(2) / (1 + math.exp(2))
    outcomes = [(0.6, 0.6), (0.4 * true, 0.4 * (1 - true)), (0.4 * (1 - true), 0.4 * true)]
    check_atoms(losses(spec, unit="client", observer="server"), outcomes)
    hidden = [(0.4 * a + 0.6 * b, b) for a, b in ((true, 1 - true), (1 - true, true))]
    check_atoms(losses(spec, unit="client", observer="released-models"), hidden)


def test_a_clients_own_batch_hides_nothing_of_the_client() -> None:
    base = Gaussian(noise_multiplier=1.5)
    spec = Subsampled(sampling="poisson", rate=0.1, level="records", mechanism=base)
    check_tails(losses(spec, unit="client"), gaussian_tail(2 / 1.5), (-1, 0, 1, 2))


def counted(epsilon: float, categories: int, clients: int) -> list[tuple[float, float]]:
    """Every histogram of reports with its probability on either data set; others are of the third category, or second."""
    lie = 1 / (math.exp(epsilon) + categories - 1)

    def law(category: int) -> list[float]:
        return [lie * (math.exp(epsilon) if r == category else 1) for r in range(categories)]

    others = law(2 if categories > 2 else 1)
    histograms = [h for h in itertools.product(range(clients + 1), repeat=categories) if sum(h) == clients]

    def probability(histogram: tuple[int, ...], victim: int) -> float:
        total = 0.0
        for report, chance in enumerate(law(victim)):
            if histogram[report]:
                rest = [count - (r == report) for r, count in enumerate(histogram)]
                total += chance * float(multinomial.pmf(rest, clients - 1, others))
        return total

    return [(probability(h, 0), probability(h, 1)) for h in histograms]


@pytest.mark.parametrize(("categories", "clients"), [(2, 5), (3, 4), (5, 3)])
def test_shuffled_responses(categories: int, clients: int) -> None:
    spec = Shuffled(clients=clients, mechanism=RandomizedResponse(epsilon=1.1, categories=categories))
    check_atoms(losses(spec, observer="shuffled-server"), counted(1.1, categories, clients))


def test_shuffled_reports_of_any_kind() -> None:
    # The general way at two categories is the same attack as the counts.
    inner = target(RandomizedResponse(epsilon=1.1, categories=2), AttackSetting(relation="replace-one"))
    assert isinstance(inner, LogLikelihoodRatio)
    attack = LogLikelihoodRatio(shuffling.ShuffledReports(inner.mechanism, 5))
    generator = np.random.default_rng(5)
    drawn = tuple(attack.statistics(generator, COUNT, world) for world in (FIRST, SECOND))
    check_atoms(drawn, counted(1.1, 2, 5))  # type: ignore[arg-type]


def test_who_knows_senders_sees_one_report() -> None:
    spec = Shuffled(clients=9, mechanism=Gaussian(noise_multiplier=2.0))
    check_tails(losses(spec, observer="server"), gaussian_tail(1.0), (-1, 0, 1))


def test_repetitions_and_lists() -> None:
    base = Gaussian(noise_multiplier=4.0)
    check_tails(losses(Repeated(times=9, mechanism=base)), gaussian_tail(1.5), (-1, 0, 1, 3))
    parts = (RandomizedResponse(epsilon=0.5, categories=2), Approximate(epsilon=1.0, delta=0.05))
    t, u = 1 / (1 + math.exp(-0.5)), 0.95 / (1 + math.exp(-1))
    both = itertools.product([(t, 1 - t), (1 - t, t)], [(0.05, 0), (u, 0.95 - u), (0.95 - u, u), (0, 0.05)])
    outcomes = [(a[0] * b[0], a[1] * b[1]) for a, b in both]
    check_atoms(losses(Composed(mechanisms=parts)), outcomes)


def descent(**given: Any) -> ProjectedSgd:
    plain = {
        "clients": 12,
        "participants": 3,
        "lipschitz": 1.0,
        "radius": 100.0,
        "batches": "cyclic",
        "step_schedule": Constant(value=0.5),
        "noise_schedule": Constant(value=2.0),
    }
    return ProjectedSgd(**plain | given)


def test_last_model_of_a_run_is_a_sum() -> None:
    first, second = losses(descent(), observer="final-model")
    spread = 0.5 * 2.0 / math.sqrt(3) * math.sqrt(4)
    for sample, mean in ((first, 0.5 / 3), (second, -0.5 / 3)):
        for point in (-1.0, 0.0, 0.5):
            assert agrees(int((sample > point).sum()), float(norm.sf(point, mean, spread)))


def test_random_stop_is_a_mixture_and_secret_batches_average() -> None:
    spec = descent(batches="shuffled", release="random-stop")
    first, _ = losses(spec, observer="final-model")
    step = 0.5 * 2.0 / math.sqrt(3)
    exact = np.mean(
        [
            norm.sf(0.3, (0.5 / 3) * (place <= stop), step * math.sqrt(stop))
            for stop in range(1, 5)
            for place in range(1, 5)
        ]
    )
    assert agrees(int((first > 0.3).sum()), float(exact))


def test_models_stay_in_the_ball_and_strong_convexity_contracts() -> None:
    first, second = losses(descent(radius=0.25, strong_convexity=1.0, smoothness=1.0), observer="final-model")
    assert max(np.abs(first).max(), np.abs(second).max()) == 0.25
    loose = losses(descent(strong_convexity=0.01, smoothness=1.0), observer="final-model")[1]
    # L − λρ = 0: no gradient is left for the victim, and each step keeps 1 − ηλ of the last model.
    kept = sum((1 - 0.5 * 0.01) ** (2 * age) for age in range(4))
    assert loose.std() == pytest.approx(0.5 * 2.0 / math.sqrt(3) * math.sqrt(kept), rel=0.02)


@pytest.mark.parametrize("attack", ["mathematical", "implemented"])
def test_quantized_message(attack: Any) -> None:
    spec = QuantizedMessage(
        first=(0.6, -0.8), second=(0.35, 0.0), quantization_levels=3, noise_levels=3, decay_rate=0.5
    )
    law = integer_law(0.5, 3)

    def coordinate(value: float) -> dict[int, float]:
        floor = math.floor(3 * value)
        share = 3 * value - floor
        sums: dict[int, float] = {}
        for up, chance in ((0, 1 - share), (1, share)):
            for y, weight in law.items():
                sums[floor + up + y] = sums.get(floor + up + y, 0.0) + chance * weight
        return sums

    pairs = [(coordinate(a), coordinate(b)) for a, b in zip(spec.first, spec.second, strict=True)]
    places = [sorted({*a, *b}) for a, b in pairs]
    outcomes = [
        (
            math.prod(a.get(y, 0.0) for (a, _), y in zip(pairs, sent, strict=True)),
            math.prod(b.get(y, 0.0) for (_, b), y in zip(pairs, sent, strict=True)),
        )
        for sent in itertools.product(*places)
    ]
    attacked, generator = Message(spec, attack), np.random.default_rng(8)
    check_atoms((attacked.statistics(generator, COUNT, FIRST), attacked.statistics(generator, COUNT, SECOND)), outcomes)
    assert spec.distances == (1, 3)


@pytest.mark.parametrize("attack", ["mathematical", "implemented"])
def test_updates_within_a_rounding_of_the_grid_are_attacked_like_grid_points(attack: Any) -> None:
    def statistics(value: float) -> Any:
        spec = QuantizedMessage(first=(value,), second=(0.5,), quantization_levels=4, noise_levels=8, decay_rate=0.5)
        return Message(spec, attack).statistics(np.random.default_rng(8), 100, FIRST)

    on_grid = np.unique(statistics(0.0))
    for value in (-1e-20, 1e-20):
        assert set(np.unique(statistics(value))) <= set(on_grid)


GAUSSIAN, LAPLACE = Gaussian(noise_multiplier=1.0), Laplace(scale_multiplier=1.0)
INTEGERS, RESPONSE = DiscreteLaplace(decay_rate=0.2, sensitivity=2), RandomizedResponse(epsilon=1.0, categories=2)
SHUFFLED: dict[str, Any] = {"observer": "shuffled-server"}
FIXED, REPEATED = "without-replacement", "with-replacement"


def drawn(sampling: Any, mechanism: Any, **batch: Any) -> Subsampled:
    return Subsampled(sampling=sampling, mechanism=mechanism, **batch)


NESTED = drawn(FIXED, Composed(mechanisms=(LAPLACE, Approximate(epsilon=1.0, delta=0.1))), batch_size=2, population=6)
LAWFUL: tuple[tuple[Any, dict[str, Any]], ...] = (
    (NESTED, {}),
    (Repeated(times=3, mechanism=NESTED), {"attack": "implemented"}),
    (Shuffled(clients=6, mechanism=LAPLACE), SHUFFLED),
    (Shuffled(clients=6, mechanism=Approximate(epsilon=1.0, delta=0.2)), SHUFFLED),
    (drawn(FIXED, Shuffled(clients=4, mechanism=GAUSSIAN), batch_size=4, population=9, level="clients"), SHUFFLED),
    (drawn(REPEATED, INTEGERS, batch_size=9, population=4), {}),
    (
        drawn("poisson", drawn(FIXED, Gaussian(noise_multiplier=0.5), rate=0.3), rate=0.5),
        {"observer": "released-models"},
    ),
)


@pytest.mark.parametrize("place", range(len(LAWFUL)))
def test_draws_and_densities_fit_each_other(place: int) -> None:
    """E_P[1/(1 + e^L)] = E_Q[e^L/(1 + e^L)] whatever P and Q are, with infinite losses or without."""
    spec, setting = LAWFUL[place]
    first, second = losses(spec, **setting)
    left, right = 1 / (1 + np.exp(np.clip(first, -700, 700))), 1 / (1 + np.exp(-np.clip(second, -700, 700)))
    spread = math.sqrt((left.var() + right.var()) / COUNT)
    assert spread > 0
    assert abs(left.mean() - right.mean()) < 5 * spread


def test_batches_are_of_the_size_said_and_fair() -> None:
    generator = np.random.default_rng(2)
    drawn = without_replacement_batches(generator, 30_000, 7, 3)
    assert (drawn.sum(axis=1) == 3).all()
    for pair in itertools.combinations(range(7), 2):
        assert agrees(int(drawn[:, pair].all(axis=1).sum()), 1 / 7, 30_000)
    poisson = poisson_batches(generator, (30_000, 5), 0.2)
    assert all(agrees(int(poisson[:, place].sum()), 0.2, 30_000) for place in range(5))
    assert agrees(int((poisson.sum(axis=1) == 0).sum()), 0.8**5, 30_000)


MANY_LEVELS = TruncatedDiscreteLaplace(
    noise_levels=2**60, decay_rate=0.1, dimension=1, l1_sensitivity=1.0, linf_sensitivity=1.0
)
TWICE = {"batch_size": 2, "population": 2}


@pytest.mark.parametrize(
    ("spec", "setting", "pointer"),
    [
        (RESPONSE, {"relation": "add-or-remove-one"}, "/relation"),
        (Shuffled(clients=3, mechanism=GAUSSIAN), {"relation": "zero-out-one"}, "/relation"),
        (drawn(FIXED, GAUSSIAN, rate=0.5), {"relation": "add-or-remove-one"}, "/relation"),
        (drawn(REPEATED, GAUSSIAN, **TWICE), {"relation": "add-or-remove-one"}, "/relation"),
        (drawn(REPEATED, RESPONSE, **TWICE), {"relation": "replace-one"}, "/mechanism/kind"),
        (drawn("poisson", INTEGERS, rate=0.5), {"relation": "replace-one"}, "/sampling"),
        (descent(), {"relation": "add-or-remove-one", "observer": "final-model"}, "/relation"),
        (descent(), {"relation": "replace-one"}, "/observer"),
        (Repeated(times=2, mechanism=descent()), {"relation": "replace-one", "observer": "final-model"}, "/kind"),
        (MANY_LEVELS, {"relation": "replace-one"}, "/noise_levels"),
    ],
)
def test_what_cannot_be_attacked_is_refused(spec: Any, setting: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        target(spec, AttackSetting(**setting))
    assert refused.value.faults[0].pointer == pointer


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"first": ()}, "/first"),
        ({"first": (0.9, 0.9)}, "/first"),
        ({"first": (1.1, 0.0)}, "/first/0"),
        ({"second": (0.5,)}, "/second"),
        ({"second": (True, 0.0)}, "/second/0"),
        ({"noise_levels": 2**60}, "/noise_levels"),
        ({"quantization_levels": 0}, "/quantization_levels"),
    ],
)
def test_messages_are_of_unit_updates(change: dict[str, Any], pointer: str) -> None:
    good = {"first": (0.6, 0.8), "second": (0.0, 1.0), "quantization_levels": 4, "noise_levels": 9, "decay_rate": 0.2}
    QuantizedMessage(**good)
    with pytest.raises(InvalidInput) as refused:
        QuantizedMessage(**good | change)
    assert refused.value.faults[0].pointer == pointer
