"""Experiments with networks where torch is not installed, and curves over rounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.questions.simulate import simulate
from epsilond.simulators.networks import backend
from epsilond.witness.cells import table_cells
from epsilond.witness.experiment import Cell
from epsilond.witness.experiments.networks import bietti_figure_1d, das_arms, das_tables
from epsilond.witness.presets import PresetSimulation, find_preset
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.curves import name_at, split_scores
from epsilond.witness.trials.trials import TrialsAnswer
from tests.simulators.files.small_files import write_digits

NAMES = (*(f"das-table-{number}" for number in range(2, 7)), "bietti-figure-1d")


def test_nothing_of_epsilond_imports_torch_before_a_network_is_trained(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('torch is imported')\n", encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import epsilond; from epsilond.witness.presets import PRESETS\n"
        "import epsilond.simulators.networks.federated, epsilond.simulators.networks.personal\n"
        "[preset.cells(2, 0) for preset in PRESETS]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    refused = subprocess.run([sys.executable, "-c", f"{program}import torch"], check=False, capture_output=True)
    assert refused.returncode == 1
    assert refused.stderr.strip() == b"torch is imported"


def test_without_torch_an_experiment_names_the_extra_before_any_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_digits(tmp_path, per_class=1, test=1)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InvalidInput, match=r"needs torch.*pip install 'epsilond\[networks\]'") as caught:
        simulate("das-table-3", repetitions=2, data={"fashion-mnist": tmp_path})
    assert [fault.pointer for fault in caught.value.faults] == ["/preset"]


def test_devices_are_cpu_unless_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Torch:
        """The part of torch that knows devices, on a machine with CUDA."""

        class cuda:  # noqa: N801
            is_available = staticmethod(lambda: True)

        class backends:  # noqa: N801
            class mps:  # noqa: N801
                is_available = staticmethod(lambda: False)

        device = staticmethod(lambda name: f"device {name}")

    monkeypatch.setitem(sys.modules, "torch", Torch)  # type: ignore[arg-type]
    monkeypatch.delenv(backend.VARIABLE, raising=False)
    assert backend.choose_device() == "device cpu"
    monkeypatch.setenv(backend.VARIABLE, "cuda")
    assert backend.choose_device() == "device cuda"
    monkeypatch.setenv(backend.VARIABLE, "mps")
    with pytest.raises(InvalidInput, match="not available") as caught:
        backend.choose_device()
    assert caught.value.faults[0].allowed == "cpu, cuda"


# The settings of the papers -------------------------------------------------------------------------------------------
def test_the_servers_steps_change_at_the_printed_rounds() -> None:
    arm = das_tables.TABLE_5["clipping, C = 0.1"].arm
    steps = arm._training().server_step_sizes
    assert [steps[index] for index in (0, 99, 100, 199, 200, 349, 350, 399)] == [10, 10, 5, 5, 1, 1, 0.5, 0.5]
    for panel, ratio in (("Fashion-MNIST", 50.0), ("CIFAR-10", 100.0)):
        training = das_tables.TABLE_6[panel][das_tables.NORMALISED].arm._training()
        assert training.server_step_sizes == [ratio * step for step in training.local_step_sizes]
        assert training.local_step_sizes[3] == pytest.approx(training.local_step_sizes[0] * 0.99**3)
        plain = das_tables.TABLE_6[panel][das_tables.FEDAVG].arm._training()
        assert set(plain.server_step_sizes) == {1.0}
        assert plain.local_step_sizes == training.local_step_sizes


def test_the_last_five_rounds_and_the_curve_are_measured() -> None:
    training = das_tables.TABLE_2["QTDL, s = 2^9"].arm._training()
    assert training.measured == [*range(40, 400, 40), 396, 397, 398, 399, 400]
    assert (training.participants, training.local_steps, training.batch_size) == (25, 20, 256)
    assert (training.hidden, training.weight_decay, training.momentum) == ((600, 600), 1e-4, 0.9)
    assert (das_arms.CLIENTS, das_arms.SHARDS_PER_CLIENT) == (50, 5)


def test_the_arms_of_figure_1d_have_the_grids_of_the_appendix() -> None:
    arms = [cell.simulation.arm for cell in bietti_figure_1d.cells(2, 0)]
    assert len(arms) == len(set(arms)) == 8 * 9
    assert arms[0].grids == {"step_size": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)}
    private = [arm for arm in arms if arm.certify({}) is not None]
    assert len(private) == 7 * 8
    epsilons = {arm.noise_multiplier: arm.certify({}).upper for arm in private}
    assert list(epsilons.values()) == sorted(epsilons.values(), reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_says_what_it_reproduces_and_what_it_reads(name: str) -> None:
    preset = find_preset(PresetSimulation(preset=name))  # type: ignore[arg-type]
    assert preset.stands_in_for is not None
    assert preset.stands_in_for.startswith("Reproduces ")
    assert preset.curve
    read = {data for cell in preset.cells(2, 0) for data in cell.simulation.arm.data}
    assert read == set(preset.data)
    assert preset.command == f"epsilond simulate {name}" + "".join(f" --data {data}=FOLDER" for data in preset.data)


# Curves ---------------------------------------------------------------------------------------------------------------
def measured(mean: float) -> Measured:
    """Return a mean without spread."""
    return Measured(mean=mean, lower=mean, upper=mean, standard_error=0.0)


def test_scores_are_split_by_their_places_and_others_stand_at_the_last() -> None:
    scores = {name_at("error", 20): 0.2, "final": 0.1, name_at("error", 3): 0.3, name_at("loss", 20): 2.0}
    assert split_scores(scores) == {3: {"error": 0.3}, 20: {"error": 0.2, "loss": 2.0, "final": 0.1}}
    assert list(split_scores(scores)) == [3, 20]


def test_a_curve_has_a_cell_for_each_place_and_the_printed_score_at_the_last() -> None:
    preset = find_preset(PresetSimulation(preset="das-table-3"))
    cell = Cell(place={"arm": "FedAvg"}, simulation=None, published={"private": 0.25})
    scores: Any = {name_at("test_error", rounds): measured(1.0 / rounds) for rounds in (2, 4, 8)}
    answer = TrialsAnswer(algorithm="fedavg", scores=scores, chosen={}, data_files=(), epsilon=None, warnings=())
    cells = table_cells(preset, [(cell, answer)])
    assert [dict(part.place) for part in cells] == [{"arm": "FedAvg", "rounds": rounds} for rounds in (2, 4, 8)]
    assert [part.scores["test_error"].mean for part in cells if part.scores] == [0.5, 0.25, 0.125]
    assert [part.published for part in cells] == [None, None, {"private": 0.25}]
