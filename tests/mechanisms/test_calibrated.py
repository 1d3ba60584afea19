"""From every algorithm's answer to its release: the same parameters and guarantee, the bits charged, and refusals."""

import copy
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.mechanisms.calibrated import BUILDERS, from_calibration
from epsilond.mechanisms.calibrated.cancelled import CancelledRelease
from epsilond.mechanisms.calibrated.gaussian import GaussianRelease
from epsilond.mechanisms.calibrated.quantized import QuantizedRelease
from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.packing import pack
from epsilond.mechanisms.quantization import stochastic_rounding
from epsilond.mechanisms.randomness import seeded
from tests.answers import BY_NAME, example_answer

NAMES = list(BUILDERS)
FACTORS = {"replace-one": 2, "add-or-remove-one": 1, "zero-out-one": 1}
ONE_CONTRIBUTION = {
    "epsilon": 1.0, "delta": 1e-5, "samples_per_client": 1000, "clients": 50, "participants": 25, "dimension": 20,
    "lipschitz": 3.0, "diameter": 2.0, "smoothness": 1.0, "batch_size": 1000, "rounds": 10, "unit": "client",
    "sampling": "full", "relation": "replace-one", "observer": "server",
}  # fmt: skip


def told(name):
    """The JSON form."""
    return json.loads(json.dumps(as_json(example_answer(name))))


def build(answer, name):
    return from_calibration(answer, clipping_norm=0.7 if name == "gaussian" else None)


def seed(number=0):
    return seeded(number)


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_of_an_answer_give_the_same_release(name):
    answer, release = example_answer(name), build(example_answer(name), name)
    assert release.algorithm == name
    assert release.guarantee is answer.guarantee
    assert release.declared_conditions is answer.declared_conditions
    from_json = build(told(name), name)
    assert from_json.guarantee == told(name)["guarantee"]
    for field in vars(release):
        if field not in {"guarantee", "declared_conditions"}:
            assert getattr(from_json, field) == getattr(release, field)


def test_every_mechanism_is_that_of_an_algorithm():
    names = [each.name for each in CALIBRATORS]
    assert [name for name in names if name in BUILDERS] == NAMES
    for name in set(names) - set(NAMES):
        with pytest.raises(InvalidInput, match=f"{name} has no mechanism here"):
            build(example_answer(name), name)


@pytest.mark.parametrize("name", [name for name in NAMES if BY_NAME[name].name not in {"qtdl", "norm-fedavg"}])
def test_noise_covers_what_one_contribution_adds(name):
    """σ ≥ z · weight · bound in fractions: doubles of the release are never short of the certified ratio."""
    release, answer = build(example_answer(name), name), example_answer(name)
    std = release.base_std if isinstance(release, CancelledRelease) else release.noise_std
    moved = Fraction(release.weight) * Fraction(release.contribution_bound)
    assert Fraction(std) >= Fraction(answer.parameters.noise_multiplier) * moved
    assert std == pytest.approx(answer.parameters.noise_multiplier * float(moved), rel=1e-14)
    if name != "gaussian":
        told = answer.parameters
        own = told.noise_std_of_mean if name == "dp-fedavg" else told.noise_std
        assert std == pytest.approx(own, rel=1e-15)
        factor = FACTORS[answer.guarantee.relation]
        divided = told.participants if name == "dp-fedavg" else 1  # its sensitivity is that of the sum
        assert factor * float(moved) * divided == pytest.approx(answer.guarantee.sensitivity, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "bound", "weight", "added_by"),
    [
        ("mb-sgd", 1.0, 1 / 100, "client"),
        ("one-pass-accelerated-mb-sgd", 1.0, 1 / 671, "client"),
        ("accelerated-mb-sgd", 1.0, 1 / 200, "client"),
        ("shuffled-mb-sgd", 1.0, 1.0, "client"),
        ("projected-sgd", 1.0, 1.0, "client"),
        ("ppsgd", 1.0, 1 / (0.01 * 1000), "server"),
        ("mu2-sgd", 40.0 + 2 * 392.5 * 0.1, 1.0, "client"),
        ("dp-fedavg", 1.0, 1 / 10000, "server"),
        ("gaussian", 0.7, 1.0, "server"),
    ],
)
def test_the_bound_and_the_weight_are_the_problems_own(name, bound, weight, added_by):
    """L and 1/K; 1/(qN); S = G + 2LD: from the example's fields, not from the answer."""
    release = build(example_answer(name), name)
    assert release.contribution_bound == pytest.approx(bound, rel=1e-12)
    assert release.weight == pytest.approx(weight, rel=1e-12)
    assert release.added_by == added_by


def test_a_clipping_norm_that_moves_is_refused():
    asked = {**BY_NAME["dp-fedavg"].example, "adaptive_clipping": {"count_std": 500.0}}
    with pytest.raises(InvalidInput, match="round to round"):
        from_calibration(epsilond.calibrate("dp-fedavg", **asked))


def test_a_protected_clients_mean_is_one_contribution():
    release = from_calibration(epsilond.calibrate("mb-sgd", **ONE_CONTRIBUTION))
    assert release.contribution_bound == pytest.approx(3.0, rel=1e-12)
    assert release.weight == 1.0


def test_groups_have_releases_of_their_own():
    asked = ONE_CONTRIBUTION | {"unit": "record", "lipschitz": 1.0, "participants": None, "clients": 100}
    groups = [{"clients": 60, "samples_per_client": 1000}, {"clients": 40, "samples_per_client": 100, "epsilon": 0.5}]
    answer = epsilond.calibrate("mb-sgd", **{k: v for k, v in asked.items() if v is not None}, client_groups=groups)
    for form in (answer, json.loads(json.dumps(as_json(answer)))):
        first, second = (from_calibration(form, group=place) for place in range(2))
        assert (first.weight, second.weight) == (1 / 1000, 1 / 100)
        assert first.noise_std != second.noise_std
        assert second.guarantee == (
            answer.parameters.groups[1].guarantee if form is answer else form["parameters"]["groups"][1]["guarantee"]
        )
        for group in (None, 2, -1):
            with pytest.raises(InvalidInput):
                from_calibration(form, group=group)
    with pytest.raises(InvalidInput):
        from_calibration(example_answer("mb-sgd"), group=0)


# Gaussian noise ---------------------------------------------------------------------------------------------------
def test_a_client_releases_its_noisy_clipped_mean():
    release = build(example_answer("mb-sgd"), "mb-sgd")
    assert isinstance(release, GaussianRelease)
    gradients = np.random.default_rng(0).standard_normal((100, 3))
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    mean = (gradients * np.minimum(1.0, 1.0 / norms)).sum(axis=0) / 100
    noise = release.noise_std * np.random.default_rng(4).standard_normal(3)
    assert release(gradients, source=seed(4)) == pytest.approx(mean + noise, rel=1e-12)
    single = release(gradients.astype(np.float32), source=seed(4))
    assert single.dtype == np.float32
    assert single == pytest.approx(mean + noise, rel=1e-6)
    assert release(np.zeros((0, 3)), source=seed(4)) == pytest.approx(noise)
    assert not np.array_equal(release(gradients), release(gradients))
    assert release(np.zeros((100, 2, 3))).shape == (2, 3)
    whole = release(gradients, source=seed(4))
    first, second = release([gradients[:, :1], gradients[:, 1:].astype(np.float32)], source=seed(4))
    assert (first.shape, second.shape, second.dtype) == ((1,), (2,), np.float32)
    assert np.append(first, second) == pytest.approx(whole, rel=1e-6)
    for wrong in (1.0, [gradients, gradients[:50]]):
        with pytest.raises(InvalidInput):
            release(wrong)


def schedule(kind, **fields):
    answer = told("projected-sgd")
    answer["parameters"]["noise_schedule"] = {"kind": kind, **fields}
    return answer


def test_each_step_has_its_noise():
    std = example_answer("projected-sgd").parameters.noise_std
    falling = from_calibration(schedule("inverse-time", scale=10 * std))
    assert falling.noise_std_at(2) == 5 * std
    listed = from_calibration(schedule("explicit", values=[2 * std] * 9 + [std]))
    assert [listed.noise_std_at(step) for step in (1, 10)] == [2 * std, std]
    assert listed.noise_std == pytest.approx(std)
    alone = listed(np.zeros((1, 4)), step=1, source=seed())
    assert alone == pytest.approx(2 * std * np.random.default_rng(0).standard_normal(4))
    for step in (None, 0, 11):
        with pytest.raises(InvalidInput):
            listed.noise_std_at(step)
    for wrong in (
        schedule("constant", value=2 * std), schedule("explicit", values=[std]), schedule("explicit"),
        schedule("explicit", values=[2 * std] * 10), schedule("inverse-time", scale=std), schedule("odd"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            from_calibration(wrong)


# The grid ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rounding", ["towards-zero", "nearest", "stochastic"])
def test_the_grid_keeps_the_ratio_of_noise_to_norm(rounding):
    release = build(example_answer("ppsgd"), "ppsgd")
    grid = release.on_grid(2.0**-10, dimension=50, rounding=rounding)
    assert grid.guarantee is None
    assert "zero-concentrated" in grid.left_open[0]
    multiplier = Fraction(example_answer("ppsgd").parameters.noise_multiplier)
    assert Fraction(grid.noise_in_steps[0]) >= multiplier * Fraction(grid.norm_in_steps) * (1 - Fraction(1, 2**50))
    added = {"towards-zero": 0.0, "nearest": math.sqrt(50) / 2, "stochastic": math.sqrt(50)}[rounding]
    assert grid.norm_in_steps == pytest.approx(1024 + added, rel=1e-12)
    contributions = np.random.default_rng(1).standard_normal((30, 50))
    integers = grid.encode(contributions, seed(2))
    assert integers.dtype == np.int64
    for one in integers:
        assert sum(Fraction(int(each)) ** 2 for each in one) <= Fraction(grid.norm_in_steps) ** 2
    released = grid.release(integers.sum(axis=0), source=seed(3))
    assert released.dtype == np.int64
    assert grid.decode(released) == pytest.approx(grid.weight * grid.step * released)
    spread = [grid(contributions, source=seed(number)) for number in range(300)]
    assert np.std(spread, axis=0).mean() == pytest.approx(grid.noise_in_steps[0] * grid.step * grid.weight, rel=0.05)
    clipped = release.clip(contributions).values.sum(axis=0) * release.weight
    assert np.abs(np.mean(spread, axis=0) - clipped).max() < 30 * grid.weight * grid.step + 5 * np.std(spread) / 17


def test_the_grid_has_the_noise_of_each_step():
    std = example_answer("projected-sgd").parameters.noise_std
    grid = from_calibration(schedule("explicit", values=[2 * std] * 9 + [std])).on_grid(2.0**-8, dimension=3)
    assert grid.noise_in_steps_at(1) == pytest.approx(2 * grid.noise_in_steps_at(10))
    assert grid(np.zeros((1, 3)), step=3).shape == (3,)
    for step in (None, 11):
        with pytest.raises(InvalidInput):
            grid.noise_in_steps_at(step)


def test_what_the_grid_cannot_hold_is_refused():
    release = build(example_answer("ppsgd"), "ppsgd")
    grid = release.on_grid(2.0**-10, dimension=2)
    for call in (
        lambda: release.on_grid(0.3, dimension=2),
        lambda: release.on_grid(2.0**60, dimension=2),
        lambda: release.on_grid(2.0**-60, dimension=2),
        lambda: release.on_grid(2.0**-4, dimension=2, rounding="up"),
        lambda: grid.encode(np.zeros((2, 3))),
        lambda: grid.encode(1.0),
        lambda: grid.release(np.zeros(2)),
        lambda: grid.release(np.full(2, (1 << 62) + 1)),
        lambda: grid.release(np.full(2, -(1 << 62) - 1)),
        lambda: grid.release(np.full(2, np.iinfo(np.int64).min)),
    ):
        with pytest.raises(InvalidInput):
            call()


# Noise that is taken back -----------------------------------------------------------------------------------------
def test_releases_add_up_to_the_reports_and_the_last_noise():
    mechanism = build(example_answer("mu2-sgd"), "mu2-sgd")
    client, reports = mechanism.start(), np.random.default_rng(0).standard_normal((9, 1, 4)) * 100
    total = np.zeros(4)
    for number, report in enumerate(reports, start=1):
        total += client(report, seed(number))
        last = mechanism.base_std * math.sqrt(number) * np.random.default_rng(number).standard_normal(4)
        clipped = np.sum([mechanism.clip(one).values[0] for one in reports[:number]], axis=0)
        assert total == pytest.approx(clipped + last, abs=1e-9)
    assert np.linalg.norm(reports, axis=-1).max() > mechanism.contribution_bound
    assert client.releases == 9
    assert "last_noise" not in repr(client)


@pytest.mark.parametrize("asked", [{}, {"server": "trusted", "observer": "released-models"}])
def test_noise_on_a_grid_is_taken_back_exactly(asked):
    answer = epsilond.calibrate(
        "mu2-sgd",
        **(
            dict(BY_NAME["mu2-sgd"].example)
            | {"rounds": 4, "relation": "replace-one", "unit": "record", "observer": "server"}
            | asked
        ),
    )
    mechanism = from_calibration(answer)
    gridded = mechanism.on_grid(2.0**-6, dimension=5)
    assert gridded.guarantee is None
    assert "zero-concentrated" in gridded.left_open[0]
    (base,) = gridded.grid.noise_in_steps
    least = Fraction(answer.parameters.noise_multiplier) * Fraction(gridded.grid.norm_in_steps)
    assert least * (1 - Fraction(1, 2**50)) <= Fraction(base)
    assert base == pytest.approx(mechanism.base_std / mechanism.weight / gridded.grid.step, rel=1e-12)
    client, total, summed = gridded.start(), np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    for number in range(gridded.most_releases):
        encoded = gridded.grid.encode(100 * np.random.default_rng(number).standard_normal((3, 5))).sum(axis=0)
        total, summed = total + client.release(encoded, seed(number)), summed + encoded
        assert np.array_equal(total - summed, client.last_noise)
    assert "last_noise" not in repr(client)
    wide, spread = mechanism.on_grid(2.0**-6, dimension=4000).start(), []
    for number in range(2):
        wide(np.zeros((1, 4000)), seed(number))
        spread.append(np.std(wide.last_noise))
    assert spread[1] / spread[0] == pytest.approx(math.sqrt(2) if mechanism.grows else 1.0, rel=0.06)
    released = gridded.start()([np.zeros((1, 2), dtype=np.float32), np.zeros((1, 3))])
    assert [(one.shape, one.dtype) for one in released] == [((2,), np.float32), ((3,), np.float64)]
    for call in (
        lambda: client.release(encoded),
        lambda: gridded.start().release(encoded[:2]),
        lambda: gridded.start().release(encoded.astype(float)),
        lambda: mechanism.on_grid(0.3, dimension=5),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_a_trusted_servers_noise_does_not_grow():
    asked = dict(BY_NAME["mu2-sgd"].example) | {"server": "trusted", "observer": "released-models", "rounds": 3}
    answer = epsilond.calibrate("mu2-sgd", **asked)
    mechanism = from_calibration(answer)
    assert (mechanism.added_by, mechanism.grows) == ("server", False)
    assert mechanism.weight == pytest.approx(1 / 50)
    server, total = mechanism.start(), 0.0
    for number in range(answer.parameters.schedule.most_participations):
        total = total + server(np.zeros((50, 2)), seed(number))
        assert total == pytest.approx(mechanism.base_std * np.random.default_rng(number).standard_normal(2))
    with pytest.raises(InvalidInput):
        server(np.zeros((50, 2)))
    other = mechanism.start()
    other.noise((2,))
    with pytest.raises(InvalidInput):
        other.noise((3,))


# Messages ---------------------------------------------------------------------------------------------------------
GRIDS = [
    {
        "epsilon": 1.0,
        "delta": 1e-6,
        "dimension": 1000,
        "quantization_levels": levels,
        "sensitivity_rule": rule,
        "relation": "replace-one",
        "unit": "record",
        "observer": "server",
    }
    for levels in (1, 16, 512, 1 << 20)
    for rule in ({"kind": "relative", "relative_movement": 0.1}, {"kind": "unit-vector"})
]


@pytest.mark.parametrize("asked", GRIDS)
def test_a_message_has_the_bits_that_are_charged(asked):
    answer = epsilond.calibrate("qtdl", **asked)
    release = from_calibration(answer)
    assert isinstance(release, QuantizedRelease)
    assert release.bits_per_coordinate == answer.communication.bits_per_coordinate
    assert release.extra_bits_per_coordinate == answer.communication.extra_bits_per_coordinate
    assert release.dimension == 1000
    update = np.random.default_rng(0).standard_normal(1000)
    update /= np.linalg.norm(update)
    message = release.encode(update, seed(1))
    assert len(message) == -(-answer.communication.bits_per_round_per_client // 8)
    rounding, source = seed(1), seed(1)
    assert np.array_equal(release.decode_integers(message), release.integers(update, source))
    expected = stochastic_rounding(update, release.quantization_levels, rounding)
    expected = expected + truncated_discrete_laplace(release.decay_rate, release.noise_levels, (1000,), rounding)
    assert np.array_equal(release.decode(message), expected / release.quantization_levels)


def test_messages_are_unbiased_and_as_noisy_as_the_answer_says():
    answer = example_answer("qtdl")
    release = from_calibration(answer)
    update = np.random.default_rng(0).standard_normal(10000)
    update /= np.linalg.norm(update)
    errors = release.decode(release.encode(update, seed(5))) - update
    assert np.sum(errors**2) == pytest.approx(answer.parameters.mean_squared_error, rel=0.05)
    assert abs(errors.mean()) < 4 * errors.std() / 100
    messages = [release.encode(update, seed(number)) for number in range(4)]
    assert release.mean(messages) == pytest.approx(np.mean([release.decode(one) for one in messages], axis=0))


def test_directions_are_sent_where_the_algorithm_sends_them():
    release = from_calibration(example_answer("norm-fedavg"))
    update = np.random.default_rng(0).standard_normal(10000) * 1e150
    unit = update / np.linalg.norm(update / 1e150) / 1e150
    sent = release.integers(update.reshape(100, 100), seed(1))
    assert sent.shape == (10000,)
    assert np.array_equal(sent, release.integers([update[:4000], update[4000:].reshape(2, -1)], seed(1)))
    assert np.array_equal(sent, release.integers(unit, seed(1)))
    broken = update.copy()
    broken[3] = math.nan
    assert np.array_equal(release.integers(broken, seed(1)), release.integers(np.zeros(10000), seed(1)))


def test_a_malformed_message_is_refused():
    release = from_calibration(example_answer("qtdl"))
    most = 2 * (release.quantization_levels + release.noise_levels)
    beyond = pack(np.full(10000, most + 1), release.bits_per_coordinate)
    good = pack(np.full(10000, most), release.bits_per_coordinate)
    assert release.decode(good).max() * release.quantization_levels == most // 2
    assert release.message_bytes(10000) == len(good)
    for call in (
        lambda: release.decode(beyond),
        lambda: release.decode(good[:-1]),
        lambda: release.decode(good + b"\x00"),
        lambda: release.decode(good, count=9999),
        lambda: release.mean([]),
        lambda: release.encode(np.zeros(9999)),
        lambda: release.encode(np.full(10000, 1.1)),
        lambda: release.encode(np.full(10000, math.nan)),
    ):
        with pytest.raises(InvalidInput):
            call()
    answer = told("qtdl")
    del answer["communication"]
    open_dimension = from_calibration(answer)
    assert open_dimension.decode(open_dimension.encode(np.zeros(3)), count=3).shape == (3,)
    with pytest.raises(InvalidInput):
        open_dimension.decode(open_dimension.encode(np.zeros(3)))


# Refusals ---------------------------------------------------------------------------------------------------------
def changed(name, pointer, value):
    answer = copy.deepcopy(told(name))
    *path, last = pointer.split("/")[1:]
    place = answer
    for one in path:
        place = place[one]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return answer


@pytest.mark.parametrize(
    ("name", "pointer", "value"),
    [
        ("mb-sgd", "/algorithm", "mb-sgd-2"),
        ("mb-sgd", "/algorithm", None),
        ("mb-sgd", "/algorithm", 3),
        ("mb-sgd", "/parameters/noise_std", None),
        ("mb-sgd", "/parameters/noise_std", 0.0),
        ("mb-sgd", "/parameters/noise_std", "unbounded"),
        ("mb-sgd", "/parameters/noise_std", True),
        ("mb-sgd", "/parameters/noise_std", 0.08),
        ("mb-sgd", "/parameters/noise_multiplier", 8.0),
        ("mb-sgd", "/parameters/batch_size", 10.5),
        ("mb-sgd", "/guarantee/sensitivity", 0.01),
        ("mb-sgd", "/guarantee/relation", "add-or-remove-one"),
        ("mb-sgd", "/guarantee/relation", "other"),
        ("mb-sgd", "/guarantee/unit", None),
        ("ppsgd", "/parameters/clipping_norm", None),
        ("projected-sgd", "/parameters/noise_schedule", None),
        ("mu2-sgd", "/parameters/schedule/rule", "base_std * participations"),
        ("mu2-sgd", "/parameters/schedule/added_by", "nobody"),
        ("mu2-sgd", "/parameters/schedule/base_std", 1.0),
        ("mu2-sgd", "/parameters/clipping_norm", 1.0),
        ("qtdl", "/parameters/noise_levels", 20000),
        ("qtdl", "/parameters/noise_levels", 1 << 35),
        ("qtdl", "/parameters/quantization_levels", 1 << 41),
        ("qtdl", "/parameters/decay_rate", -1.0),
        ("qtdl", "/communication/bits_per_round_per_client", 140001),
        ("gaussian", "/parameters/noise_multiplier", None),
    ],
)
def test_an_answer_that_lacks_or_contradicts_something_is_refused(name, pointer, value):
    with pytest.raises(InvalidInput):
        build(changed(name, pointer, value), name)


@pytest.mark.parametrize("clipping_norm", [None, 0.0, -1.0, math.inf, math.nan])
def test_a_sum_needs_the_callers_bound(clipping_norm):
    with pytest.raises(InvalidInput):
        from_calibration(example_answer("gaussian"), clipping_norm=clipping_norm)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gaussian"])
def test_a_bound_that_follows_from_the_answer_is_not_asked_for(name):
    with pytest.raises(InvalidInput):
        from_calibration(example_answer(name), clipping_norm=1.0)


def test_huge_integers_are_read_in_full():
    answer = changed("mu2-sgd", "/parameters/schedule/most_participations", 2.0**53)
    answer["parameters"]["schedule"]["most_participations_exact"] = str(2**53 + 1)
    assert from_calibration(answer).most_releases == 2**53 + 1
