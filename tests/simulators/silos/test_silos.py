"""Test training over silos against closed forms and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.simulators.silos import personal_models
from epsilond.simulators.silos.full_batches import balanced_schedule, noisy_full_batches
from epsilond.simulators.silos.personal_models import PersonalRun, PersonalTraining, SyntheticUsers, excess_risks
from epsilond.simulators.silos.sgd import SiloRun, count_draws, train
from epsilond.simulators.silos.silos import SiloRecords, split_silos
from epsilond.simulators.silos.single_pass import (
    LabelledRecords,
    SinglePass,
    accuracies,
    cancelled_noise,
    into_ball,
    mean_gradients,
    noisy_sgd,
)
from epsilond.simulators.silos.tuning import Search, choose

INF = math.inf


def slope(predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the derivative of the squared loss."""
    return predictions - targets


def value(predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the squared loss."""
    return 0.5 * np.square(predictions - targets)


def single_records(seed: int = 0) -> SiloRecords:
    """Return three silos with one record each, so that every batch is known."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((3, 1, 4))
    targets = generator.standard_normal((3, 1))
    return SiloRecords(tuple(features), tuple(targets), features[:, 0], targets[:, 0])


def silo_run(algorithm: str, **changes: object) -> SiloRun:
    """Return two runs over all three silos without noise."""
    settings = {
        "rounds": 3,
        "participants": 3,
        "gradients": 2,
        "step_sizes": np.array([0.1, 0.3]),
        "clipping_norms": np.array([INF, 0.5]),
        "noise_stds": np.zeros((2, 3)),
    }
    return SiloRun(algorithm=algorithm, **(settings | changes))  # type: ignore[arg-type]


def clipped(silos: SiloRecords, silo: int, model: np.ndarray, norm: float) -> np.ndarray:
    """Return the clipped gradient of a silo's only record."""
    features, target = silos.features[silo][0], silos.targets[silo][0]
    gradient = (features @ model - target) * features
    return gradient * min(1.0, norm / np.linalg.norm(gradient))


# SiloRecords ----------------------------------------------------------------------------------------------------------------
def test_a_split_keeps_every_record_once_and_rounds_the_test_share_up() -> None:
    features = [np.arange(7.0)[:, None], np.arange(10.0, 21.0)[:, None]]
    silos = split_silos(features, [part[:, 0] for part in features], 0.2, seed=3)
    assert silos.sizes == (5, 8)
    assert sorted([*np.concatenate(silos.targets), *silos.test_targets]) == [*range(7), *range(10, 21)]
    assert all(np.array_equal(part[:, 0], targets) for part, targets in zip(silos.features, silos.targets, strict=True))


def test_counts_are_of_draws_with_replacement() -> None:
    counts = count_draws(np.random.default_rng(0), 200, 30, 4)
    assert np.all(counts.sum(axis=1) == 30)
    assert np.mean(counts[:, 0]) == pytest.approx(7.5, abs=4.0 * math.sqrt(30 * 3 / 16 / 200))
    assert np.var(counts[:, 0]) == pytest.approx(30 * 3 / 16, rel=0.5)


def test_mini_batches_of_single_records_are_gradient_steps() -> None:
    silos = single_records()
    models = train(silos, slope, silo_run("mini-batch"), np.random.default_rng(0))
    for run, (step, norm) in enumerate(((0.1, INF), (0.3, 0.5))):
        model = np.zeros(4)
        for _ in range(3):
            model = model - step * np.mean([clipped(silos, silo, model, norm) for silo in range(3)], axis=0)
        assert models[run] == pytest.approx(model, rel=1e-12)


def test_local_steps_on_single_records_are_gradient_steps_of_each_silo() -> None:
    silos = single_records()
    models = train(silos, slope, silo_run("local"), np.random.default_rng(0))
    for run, (step, norm) in enumerate(((0.1, INF), (0.3, 0.5))):
        model = np.zeros(4)
        for _ in range(3):
            local = [model.copy() for _ in range(3)]
            for silo in range(3):
                for _ in range(2):
                    local[silo] -= step * clipped(silos, silo, local[silo], norm)
            model = np.mean(local, axis=0)
        assert models[run] == pytest.approx(model, rel=1e-12)


@pytest.mark.parametrize(("algorithm", "variance"), [("mini-batch", 0.25 / 2.0), ("local", 2.0 * 0.25 / 2.0)])
def test_noise_has_the_stated_variance(algorithm: str, variance: float) -> None:
    zero = SiloRecords((np.zeros((2, 50)),) * 3, (np.zeros(2),) * 3, np.zeros((1, 50)), np.zeros(1))
    run = silo_run(
        algorithm,
        rounds=1,
        participants=2,
        step_sizes=np.ones(100),
        clipping_norms=np.full(100, INF),
        noise_stds=np.full((100, 3), 0.5),
    )
    models = train(zero, slope, run, np.random.default_rng(1))
    assert np.mean(np.square(models)) == pytest.approx(variance, rel=5.0 * math.sqrt(2.0 / models.size))


def test_the_output_is_the_mean_of_the_last_iterates() -> None:
    silos = single_records()
    outputs = [
        train(silos, slope, silo_run("mini-batch", rounds=rounds), np.random.default_rng(0)) for rounds in (2, 3)
    ]
    averaged = train(silos, slope, silo_run("mini-batch", averaged=2), np.random.default_rng(0))
    assert averaged == pytest.approx(np.mean(outputs, axis=0), rel=1e-12)


def test_the_choice_is_the_point_of_least_loss_and_never_a_diverged_one() -> None:
    silos = single_records()
    search = Search(
        algorithm="mini-batch",
        rounds=2000,
        participants=3,
        gradients=1,
        step_sizes=(1e-3, 0.1, 1e3),
        clipping_norms=(INF,),
        repetitions=2,
    )
    choice = choose(
        silos,
        value=value,
        slope=slope,
        search=search,
        noise_stds=lambda _: np.zeros(3),
        generator=np.random.default_rng(0),
    )
    assert choice.step_size == 0.1
    assert choice.training_loss < 1e-3


# One pass of softmax regression ---------------------------------------------------------------------------------------
def softmax_records(count: int, seed: int = 0) -> LabelledRecords:
    """Return random records with five features and three classes."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((count, 5)).astype(np.float32)
    return LabelledRecords(features, generator.integers(3, size=count))


def gradient_of(model: np.ndarray, records: LabelledRecords, rows: slice) -> np.ndarray:
    """Return the mean gradient of the cross-entropy in doubles, record by record."""
    total = np.zeros((5, 3))
    for features, label in zip(records.features[rows].astype(float), records.labels[rows], strict=True):
        logits = features @ model
        probabilities = np.exp(logits - logits.max())
        probabilities /= probabilities.sum()
        probabilities[label] -= 1.0
        total += np.outer(features, probabilities)
    return total / len(records.labels[rows])


def test_gradients_are_those_of_the_definition() -> None:
    records = softmax_records(6)
    models = np.random.default_rng(1).standard_normal((4, 5, 3)).astype(np.float32)
    gradients = mean_gradients(models, records.features, records.labels)
    for model, gradient in zip(models, gradients, strict=True):
        assert gradient == pytest.approx(gradient_of(model.astype(float), records, slice(None)), abs=1e-5)


def test_no_projected_model_is_longer_than_the_radius() -> None:
    models = np.random.default_rng(1).standard_normal((4, 5, 3)).astype(np.float32)
    models[0] *= 1e-3
    projected = into_ball(models, 0.5)
    assert np.all(np.linalg.norm(projected.reshape(4, -1), axis=1) <= 0.5 + 1e-6)
    assert np.array_equal(projected[0], models[0])


SETTINGS = SinglePass(machines=4, participants=2, radius=0.4, classes=3)


@pytest.mark.parametrize("base_std", [0.0, 0.5])
def test_the_pass_is_algorithm_1_with_noise_that_is_taken_back(base_std: float) -> None:
    records = softmax_records(12)
    steps = np.array([0.02, 0.3], dtype=np.float32)
    outputs = cancelled_noise(
        records, SETTINGS, step_sizes=steps, base_std=base_std, generator=np.random.default_rng(0)
    )
    for output, step in zip(outputs, steps.astype(float), strict=True):
        generator = np.random.default_rng(0)
        center = query = previous = momentum = np.zeros((5, 3))
        last_noise, reports = np.zeros((4, 5, 3)), np.zeros(4)
        for t in range(1, 7):
            machines = generator.permutation(4)[:2]
            noises = generator.standard_normal((2, 5, 3), dtype=np.float32)
            sent = []
            for machine, row, noise in zip(machines, range(2 * t - 2, 2 * t), noises, strict=True):
                reports[machine] += 1
                fresh = base_std * math.sqrt(reports[machine]) * noise
                own = slice(row, row + 1)
                correction = t * gradient_of(query, records, own) - (t - 1) * gradient_of(previous, records, own)
                sent.append(correction + fresh - last_noise[machine])
                last_noise[machine] = fresh
            momentum = momentum + np.mean(sent, axis=0)
            center = center - step * momentum
            center = center * min(1.0, 0.4 / max(float(np.linalg.norm(center)), 1e-300))
            share = (t + 1) / sum(range(1, t + 2))
            previous, query = query, (1.0 - share) * query + share * center
        assert output == pytest.approx(previous, abs=2e-5)


@pytest.mark.parametrize("output", ["last", "mean"])
def test_noisy_sgd_without_noise_is_projected_sgd(output: str) -> None:
    records = softmax_records(12)
    steps = np.array([0.5], dtype=np.float32)
    (result,) = noisy_sgd(
        records,
        SETTINGS,
        step_sizes=steps,
        noise_std=0.0,
        output=output,  # type: ignore[arg-type]
        generator=np.random.default_rng(0),
    )
    model, iterates = np.zeros((5, 3)), []
    for start in range(0, 12, 2):
        model = model - 0.5 * gradient_of(model, records, slice(start, start + 2))
        model = model * min(1.0, 0.4 / np.linalg.norm(model))
        iterates.append(model)
    assert result == pytest.approx(iterates[-1] if output == "last" else np.mean(iterates, axis=0), abs=1e-5)


def test_a_schedule_is_balanced_and_names_no_machine_twice_in_a_round() -> None:
    for machines, participants, rounds in ((5, 2, 13), (4, 4, 3), (7, 5, 20), (10, 3, 1)):
        schedule = balanced_schedule(machines, participants, rounds, np.random.default_rng(0))
        assert all(len(set(chosen)) == participants for chosen in schedule)
        counts = np.bincount(np.concatenate(schedule), minlength=machines)
        assert counts.max() <= math.ceil(rounds * participants / machines)


def test_full_batches_without_noise_are_gradient_descent() -> None:
    records = softmax_records(12)
    settings = SinglePass(machines=4, participants=4, radius=0.4, classes=3)
    (result,) = noisy_full_batches(
        records,
        settings,
        rounds=3,
        step_sizes=np.array([0.5], dtype=np.float32),
        noise_std=0.0,
        generator=np.random.default_rng(0),
    )
    model, iterates = np.zeros((5, 3)), []
    for _ in range(3):
        model = model - 0.5 * gradient_of(model, records, slice(None))
        model = model * min(1.0, 0.4 / np.linalg.norm(model))
        iterates.append(model)
    assert result == pytest.approx(np.mean(iterates, axis=0), abs=1e-5)


def test_accuracy_is_the_share_of_right_classes() -> None:
    records = softmax_records(50)
    models = np.random.default_rng(1).standard_normal((3, 5, 3)).astype(np.float32)
    shares = [np.mean(np.argmax(records.features @ model, axis=1) == records.labels) for model in models]
    assert accuracies(models, records.features, records.labels) == pytest.approx(shares)


# Personal models ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("chunk", [1, 16, 1000])
def test_the_excess_is_that_of_plain_loops_over_users(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_models, "CHUNK", chunk * 4 * 20)
    users = SyntheticUsers(users=37, dimension=4, own=2)
    training = PersonalTraining(clipping_norm=2.0, batch_size=2, measured=(1, 3))
    runs = [
        PersonalRun(step_size=step, personalization=personalization, noise_multiplier=noise)
        for personalization in (0.0, 0.1, 1.0, 10.0, INF)
        for noise in (0.0, 7.0)
        for step in (0.1, 0.4)
    ]
    risks = excess_risks(users, training, runs, seed=5)
    assert risks.shape == (2, len(runs))
    for place, run in enumerate(runs):
        assert risks[:, place] == pytest.approx(_looped(users, training, run, seed=5), rel=1e-5)


def _looped(users: SyntheticUsers, training: PersonalTraining, run: PersonalRun, seed: int) -> list[float]:
    """Return the excess risk after the measured rounds, user by user, from the same draws."""
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    optima = users.draw_optima(generator).astype(float)
    variances = 1.0 / np.arange(1, users.dimension + 1)
    times, step = run.personalization, run.step_size
    shared_step = step if math.isinf(times) or times > 1.0 else step * times
    personal_step = 0.0 if math.isinf(times) else (step if times <= 1.0 else step / times)
    shared, personal, excess = np.zeros(users.dimension), np.zeros((users.users, users.dimension)), []
    for index in range(1, 4):
        features = generator.standard_normal((users.users, 2, users.dimension), dtype=np.float32) * np.sqrt(variances)
        noises = generator.standard_normal((users.users, 2, 1), dtype=np.float32)
        reports = []
        for user in range(users.users):
            targets = features[user] @ optima[user] + users.target_std * noises[user, :, 0]
            gradient = features[user].T @ (features[user] @ (shared + personal[user]) - targets) / 2.0
            personal[user] -= personal_step * gradient
            reports.append(gradient * min(1.0, 2.0 / np.linalg.norm(gradient)))
        noise = generator.standard_normal((users.dimension, 1), dtype=np.float32)[:, 0]
        shared = shared - shared_step * (np.mean(reports, axis=0) + run.noise_multiplier * 2.0 / users.users * noise)
        if index in training.measured:
            excess.append(float(np.mean(np.sum(variances * np.square(shared + personal - optima), axis=1))))
    return excess
