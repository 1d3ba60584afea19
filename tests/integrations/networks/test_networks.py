"""Experiments with networks are run with torch, on small files of the formats of the originals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.commands.line import line
from epsilond.questions.simulate import simulate
from epsilond.simulators.networks.backend import VARIABLE
from epsilond.witness.experiments.networks import bietti_figure_1d, das_arms, das_tables
from epsilond.witness.presets import PresetSimulation, find_preset
from epsilond.witness.trials import trials
from epsilond.witness.trials.trials import TrialResult

TABLES = {
    2: das_tables.TABLE_2,
    3: das_tables.TABLE_3,
    4: das_tables.TABLE_4,
    5: das_tables.TABLE_5,
}
NAMES = (*(f"das-table-{number}" for number in range(2, 7)), "bietti-figure-1d")


def of(name: str, data: dict[str, Path]) -> dict[str, Path]:
    """Return the folders that an experiment reads."""
    return {folder: data[folder] for folder in find_preset(PresetSimulation(preset=name)).data}


@pytest.mark.parametrize("number", TABLES)
def test_a_table_has_the_curve_of_every_arm_and_the_printed_error_at_its_end(
    number: int, data: dict[str, Path]
) -> None:
    answer = simulate(f"das-table-{number}", repetitions=2, data=of(f"das-table-{number}", data))
    assert [(cell.place["arm"], cell.place["rounds"]) for cell in answer.cells] == [
        (arm, rounds) for arm in TABLES[number] for rounds in (3, 6)
    ]
    for cell in answer.cells:
        printed = TABLES[number][str(cell.place["arm"])]
        assert 0.0 <= cell.scores["test_error"].mean <= 1.0
        assert cell.scores["training_loss"].mean > 0.0
        if cell.place["rounds"] == 6:
            assert cell.scores["last_test_error"].mean >= 0.0
            assert cell.published == (None if printed.error is None else {"private": printed.error})
        else:
            assert cell.published is None
            assert set(cell.scores) == {"test_error", "training_loss"}
    assert len(answer.findings) == 2
    privacy = answer.findings[1]
    assert privacy.verdict == "refuted"


def test_normalised_and_plain_averaging_are_compared_on_both_data_sets(data: dict[str, Path]) -> None:
    answer = simulate("das-table-6", repetitions=2, data=of("das-table-6", data))
    assert {cell.place["images"] for cell in answer.cells} == {"Fashion-MNIST", "CIFAR-10"}
    assert len(answer.cells) == 2 * 2 * 2
    assert len(answer.findings) == 2
    assert all(cell.epsilon is None for cell in answer.cells)


def test_figure_1d_has_every_noise_personalization_and_number_of_rounds(data: dict[str, Path]) -> None:
    answer = simulate("bietti-figure-1d", repetitions=2, data=of("bietti-figure-1d", data))
    assert len(answer.cells) == 8 * 9 * 2
    for cell in answer.cells:
        assert 0.0 <= cell.scores["test_accuracy"].mean <= 1.0
        assert (cell.epsilon is None) == (
            cell.place["noise_multiplier"] == 0.0 or cell.place["personalization"] == "all own"
        )
    local = {
        cell.scores["test_accuracy"].mean
        for cell in answer.cells
        if cell.place["personalization"] == "all own" and cell.place["rounds"] == 4
    }
    assert len(local) == 1, "noise of the shared weights reaches nobody"
    assert len(answer.findings) == 2


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_experiment_goes_on_to_the_same_answer(
    name: str, data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bietti_figure_1d, "NOISE_MULTIPLIERS", (0.0, 1.0))
    whole = simulate(name, repetitions=2, data=of(name, data))
    kept = tmp_path / "kept.jsonl"
    run, count = trials.TRIALS.run_block, 0

    def stop_in_the_middle(prepared: Any, index: int) -> TrialResult:
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt
        return run(prepared, index)

    object.__setattr__(trials.TRIALS, "run_block", stop_in_the_middle)
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate(name, repetitions=2, data=of(name, data), resume=kept)
        assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 3
        resumed = simulate(name, repetitions=2, data=of(name, data), resume=kept)
    finally:
        object.__setattr__(trials.TRIALS, "run_block", run)
    assert as_json(resumed) == as_json(whole)
    assert count == len(kept.read_text(encoding="utf-8").splitlines()), "the header, and one more trial than finished"


def test_the_seed_determines_the_run(data: dict[str, Path]) -> None:
    folders = of("das-table-4", data)
    first, again = (as_json(simulate("das-table-4", repetitions=2, seed=3, data=folders)) for _ in range(2))
    assert first == again
    other = as_json(simulate("das-table-4", repetitions=2, seed=4, data=folders))
    assert [cell["scores"] for cell in other["cells"]] != [cell["scores"] for cell in first["cells"]]


def test_the_command_reads_folders_and_draws_the_curves(data: dict[str, Path], tmp_path: Path) -> None:
    figure = tmp_path / "figure.svg"
    arguments = ["simulate", "das-table-3", "--repetitions", "2", "--workers", "1"]
    folder = ["--data", f"fashion-mnist={data['fashion-mnist']}"]
    ran = CliRunner().invoke(line, [*arguments, *folder, "--json"])
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["preset"] == "das-table-3"
    shown = CliRunner().invoke(line, [*arguments, *folder, "--out", str(figure)])
    assert shown.exit_code == 0, shown.output
    assert "clipping, C = 0.5" in figure.read_text(encoding="utf-8")


def test_an_unknown_or_missing_device_is_a_fault_before_any_trial(
    data: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(das_arms.DasArm, "run", lambda *_: pytest.fail("a trial has started"))
    for device in ("abacus", "mps"):
        monkeypatch.setenv(VARIABLE, device)
        with pytest.raises(InvalidInput, match=f"EPSILOND_DEVICE={device}"):
            simulate("das-table-3", repetitions=2, data=of("das-table-3", data))


def test_an_altered_file_is_a_fault_before_any_trial(data: dict[str, Path]) -> None:
    batch = data["cifar-10"] / "data_batch_3.bin"
    batch.write_bytes(batch.read_bytes()[:-1])
    with pytest.raises(InvalidInput, match=r"data_batch_3\.bin"):
        simulate("das-table-2", repetitions=2, data=of("das-table-2", data))
