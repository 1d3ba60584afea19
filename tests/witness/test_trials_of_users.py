"""Test the experiments on users of Stack Overflow and federated EMNIST, on small files of the same formats."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.commands.line import line
from epsilond.questions.simulate import simulate
from epsilond.simulators.files import federated_emnist, stack_overflow
from epsilond.simulators.silos import federated_users
from epsilond.simulators.silos.federated_users import read_digit_writers, read_tagging_users
from epsilond.witness.experiments.own_data import bietti_users as users
from epsilond.witness.experiments.own_data.bietti_figure_2 import LINES
from epsilond.witness.experiments.ppsgd_grid import TIMES_PARTICIPANTS
from epsilond.witness.presets import PresetSimulation, find_preset
from epsilond.witness.trials import trials
from epsilond.witness.trials.trials import TrialResult
from tests.simulators.files.small_files import write_authors, write_writers

NAMES = ("bietti-figure-1b", "bietti-figure-1c", "bietti-figure-2")
CACHES = (
    federated_emnist.read_writers,
    stack_overflow.read_authors,
    federated_users.read_digit_writers,
    federated_users.read_tagging_users,
    users._train,
)


def read_few_authors(folder: Path) -> Any:
    """Return three users, with twelve words and four tags."""
    return read_tagging_users(folder, 3, words=12, tags=4)


def read_few_writers(folder: Path) -> Any:
    """Return three writers."""
    return read_digit_writers(folder, 3)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """Yield the folders of small data sets, and let the experiments be as small."""
    folders = {"stack-overflow": tmp_path / "so", "federated-emnist": tmp_path / "emnist"}
    write_authors(folders["stack-overflow"], authors=3, training=45, test=20)
    write_writers(folders["federated-emnist"], writers=3, training=40, test=10)
    small = {
        users.STACK_OVERFLOW: {"read": read_few_authors, "step_sizes": (0.5, 5.0), "clipping_norm": 1.0},
        users.EMNIST: {"read": read_few_writers, "step_sizes": (1e-4, 1e-3), "passes": 3},
    }
    for study, changes in small.items():
        settings = replace(users.STUDIES[study], noise_multipliers=(0.0, 5.0), **changes)  # type: ignore[arg-type]
        monkeypatch.setitem(users.STUDIES, study, settings)
    for cache in CACHES:
        cache.cache_clear()
    yield folders
    for cache in CACHES:
        cache.cache_clear()


def read_by(name: str, data: dict[str, Path]) -> dict[str, Path]:
    """Return the folders that an experiment reads."""
    return {each: data[each] for each in find_preset(PresetSimulation(preset=name)).data}  # type: ignore[arg-type]


def given(name: str, data: dict[str, Path]) -> list[str]:
    """Return the options that name the folders of an experiment."""
    return [word for each, folder in read_by(name, data).items() for word in ("--data", f"{each}={folder}")]


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_is_started_stopped_resumed_and_finished(
    data: dict[str, Path], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, run, count = tmp_path / "kept.jsonl", trials.TRIALS.run_block, 0
    arguments = ["simulate", name, "--repetitions", "2", "--workers", "1", "--json", *given(name, data)]
    whole = CliRunner().invoke(line, arguments)
    assert whole.exit_code == 0, whole.stderr

    def stop_in_the_middle(prepared: Any, index: int) -> TrialResult:
        nonlocal count
        count += 1
        if count == 12:
            raise KeyboardInterrupt
        return run(prepared, index)

    object.__setattr__(trials.TRIALS, "run_block", stop_in_the_middle)
    try:
        stopped = CliRunner().invoke(line, [*arguments, "--resume", str(kept)])
        assert stopped.exit_code == 130
        count_of_all = 2 * len(json.loads(whole.stdout)["cells"])
        kept_words = f"stopped; 11 of {count_of_all} trials are kept in {kept}; run the same command to go on"
        assert kept_words in stopped.stderr.splitlines()
        assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 11
        resumed = CliRunner().invoke(line, [*arguments, "--resume", str(kept)])
    finally:
        object.__setattr__(trials.TRIALS, "run_block", run)
    assert resumed.exit_code == 0, resumed.stderr
    assert json.loads(resumed.stdout) == json.loads(whole.stdout)
    assert count == 1 + 2 * len(json.loads(whole.stdout)["cells"])
    figure = tmp_path / "figure.svg"
    drawn = CliRunner().invoke(line, [*arguments, "--resume", str(kept), "--out", str(figure)])
    assert drawn.exit_code == 0, drawn.stderr
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_figure_over_rounds_has_every_noise_personalization_and_share(data: dict[str, Path], name: str) -> None:
    answer = simulate(name, repetitions=2, data=read_by(name, data))
    assert len(answer.cells) == 2 * len(TIMES_PARTICIPANTS) * len(users.SHARES)
    assert len(answer.findings) == 2
    local = [cell for cell in answer.cells if cell.place["personalization"] == "all own" and cell.place["share"] == 1.0]
    assert local[0].scores == local[1].scores, "noise of the shared model reaches nobody"
    assert all(cell.epsilon is None for cell in local)
    noiseless = [cell for cell in answer.cells if cell.place["noise_multiplier"] == 0.0 and cell.place["share"] == 1.0]
    assert max(float(cell.scores["test_accuracy"].mean) for cell in noiseless) > 0.5


def test_figure_2_has_certified_epsilons_and_the_best_of_all_personalizations(data: dict[str, Path]) -> None:
    answer = simulate("bietti-figure-2", repetitions=2, data=data)
    assert len(answer.cells) == 2 * 2 * len(LINES)
    assert len(answer.findings) == 3
    for panel, times in (("Stack Overflow", 45 // 10), ("federated EMNIST", 3 * (40 // 10))):
        cells = {
            cell.place["personalization"]: cell
            for cell in answer.cells
            if cell.place["data"] == panel and cell.place["noise_multiplier"] == 5.0
        }
        best = cells.pop("best")
        accuracies = [float(cell.scores["test_accuracy"].mean) for cell in cells.values()]
        assert float(best.scores["test_accuracy"].mean) >= max(accuracies)
        assert len(accuracies) == len(TIMES_PARTICIPANTS)
        assert set(best.tuned) == {"step_size", "personalization"}
        assert all(set(cell.tuned) == {"step_size"} for cell in cells.values())
        exact = gaussian_pair(2.0 * math.sqrt(times) / 5.0).epsilon(math.log(1e-4))
        for cell in (best, cells["1"], cells["all shared"]):
            assert cell.epsilon.lower <= exact.upper * (1.0 + 1e-9)
            assert cell.epsilon.upper >= exact.lower * (1.0 - 1e-9)
            assert cell.epsilon.upper - cell.epsilon.lower < 1e-6 * exact.upper


def test_the_grids_are_those_of_appendix_a() -> None:
    so, emnist = users.STUDIES[users.STACK_OVERFLOW], users.STUDIES[users.EMNIST]
    assert list(so.step_sizes) == [2, 5, 10, 20, 50, 100, 150, 200, 250]
    assert list(so.noise_multipliers) == [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100]
    assert list(emnist.step_sizes) == [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01]
    assert list(emnist.noise_multipliers) == [0, 0.1, 0.3, 1, 2, 3, 5, 10, 20, 30, 50, 100]
    assert list(TIMES_PARTICIPANTS) == [0, 0.1, 0.3, 1, 3, 10, 30, 100, math.inf]
    assert (so.passes, emnist.passes) == (1, 20)


@pytest.mark.parametrize(
    ("name", "study", "read", "message"),
    [
        ("bietti-figure-1b", users.STACK_OVERFLOW, users.read_stack_overflow, "word_count has 30 words, and 5000 are"),
        ("bietti-figure-1c", users.EMNIST, users.read_emnist, "train.h5 has 3 writers, and 1000 are needed"),
    ],
)
def test_files_that_are_too_small_are_a_fault_before_any_trial(
    data: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, study: Any, read: Any, message: str
) -> None:
    monkeypatch.setitem(users.STUDIES, study, replace(users.STUDIES[study], read=read))
    with pytest.raises(InvalidInput, match=message):
        simulate(name, repetitions=2, data=read_by(name, data))


def test_every_experiment_states_what_it_reproduces() -> None:
    for name in NAMES:
        preset = find_preset(PresetSimulation(preset=name))  # type: ignore[arg-type]
        assert preset.stands_in_for is not None
        assert preset.stands_in_for.startswith("Reproduces ")
