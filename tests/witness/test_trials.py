"""Test experiments on the papers' own data, on small files of the same formats."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.commands.line import line
from epsilond.questions.simulate import simulate
from epsilond.simulating import stop_message
from epsilond.simulators.files import images, medical_costs
from epsilond.simulators.files.folders import VARIABLE
from epsilond.simulators.files.known import KnownFile
from epsilond.simulators.silos.personal_models import SyntheticUsers
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiments import mu2_digits
from epsilond.witness.experiments.own_data import (
    bietti_figure_1a,
    lowy_arms,
    lowy_insurance,
    lowy_mnist,
    reshef_claims,
    reshef_mnist,
)
from epsilond.witness.experiments.own_data.lowy_protocol import ArmSettings, certified_multiplier, log_delta
from epsilond.witness.findings import judge_printed_noise
from epsilond.witness.presets import PresetSimulation, find_preset, plan
from epsilond.witness.trials import trials
from epsilond.witness.trials.trials import TrialResult, trial_seed
from tests.simulators.files.small_files import write_costs, write_digits

CACHES = (
    images.read_images,
    medical_costs.read_medical_costs,
    lowy_mnist.read_components,
    lowy_mnist.deal_digits,
    lowy_insurance.sort_into_silos,
    lowy_mnist._run_trial,
    lowy_insurance._run_trial,
    reshef_mnist.read_features,
    bietti_figure_1a._train_all_runs,
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """Yield the folders of small data sets, and let experiments be as small."""
    folders = {"mnist": tmp_path / "mnist", "medical-costs": tmp_path / "costs"}
    write_digits(folders["mnist"], per_class=100, test=50)
    write_costs(folders["medical-costs"], records=1338)
    monkeypatch.setattr(images, "MNIST_FILES", images.FASHION_FILES)
    monkeypatch.setattr(medical_costs, "FILE", KnownFile(("insurance.csv",)))
    monkeypatch.setattr(reshef_mnist, "TRAINING_RECORDS", 1000)
    monkeypatch.setattr(reshef_mnist, "ROUNDS_PER_SQUARED_RHO", 1.0 / 16.0)
    monkeypatch.setattr(bietti_figure_1a, "ROUNDS", (1, 2, 3, 4))
    monkeypatch.setattr(bietti_figure_1a, "SyntheticUsers", lambda: SyntheticUsers(users=4, dimension=6, own=2))
    for cache in CACHES:
        cache.cache_clear()
    yield folders
    for cache in CACHES:
        cache.cache_clear()


def few_cells(monkeypatch: pytest.MonkeyPatch, module: Any, panels: tuple[str, ...], epsilons: list[float]) -> None:
    """Leave only some panels and values of ε of an experiment of Lowy and Razaviyayn."""
    monkeypatch.setattr(module, "PANELS", {name: module.PANELS[name] for name in panels})
    settings = {"lowy_mnist": "MNIST", "lowy_insurance": "INSURANCE"}[module.__name__.rpartition(".")[2]]
    monkeypatch.setattr(module, settings, {**getattr(module, settings), "epsilons": epsilons})


@pytest.fixture
def small_insurance(data: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Return the folders, with one panel and two values of ε of the experiment on medical costs."""
    few_cells(monkeypatch, lowy_insurance, ("3 of 3",), [0.5, 3.0])
    monkeypatch.setattr(lowy_insurance, "STEP_SIZES", {"mini-batch": (0.1, 1.0), "local": (0.01, 0.1)})
    monkeypatch.setattr(lowy_insurance, "CLIPPING_NORMS", (1e4, 1e32))
    return {"medical-costs": data["medical-costs"]}


def test_an_experiment_on_costs_answers_with_every_arm_and_finding(small_insurance: dict[str, Path]) -> None:
    answer = simulate("lowy-insurance", repetitions=2, data=small_insurance)
    arms = [(cell.place["arm"], cell.place["epsilon"]) for cell in answer.cells]
    assert arms == [(arm, epsilon) for arm in lowy_arms.ARMS for epsilon in (0.5, 3.0)]
    for cell in answer.cells:
        assert 0.0 < cell.scores["test_rrmse"].mean < 1e3
        assert cell.tuned["step_size"] > 0.0
    naive, private = 3, 1
    assert len(answer.findings) == len(lowy_insurance.CLAIMS) + naive + private
    noiseless = [cell for cell in answer.cells if cell.place["arm"] == lowy_arms.MINI_BATCH]
    assert all(cell.scores["test_rrmse"].mean < 0.9 and cell.epsilon is None for cell in noiseless)


def test_certified_noise_has_the_epsilon_that_it_is_for(small_insurance: dict[str, Path]) -> None:
    answer = simulate("lowy-insurance", repetitions=2, data=small_insurance)
    for cell in answer.cells:
        if "certified" in str(cell.place["arm"]):
            assert cell.epsilon.lower <= cell.epsilon.upper <= cell.place["epsilon"]
            assert cell.epsilon.upper >= cell.place["epsilon"] * (1.0 - 1e-4)
            assert cell.claimed_epsilon is None
        if cell.place["arm"] == lowy_arms.NOISY_MINI_BATCH:
            assert cell.claimed_epsilon == cell.place["epsilon"]


def test_an_experiment_on_digits_separates_them_without_noise(
    data: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_cells(monkeypatch, lowy_mnist, ("12", lowy_mnist.MIXED), [18.0])
    monkeypatch.setattr(lowy_mnist, "STEP_SIZES", {"mini-batch": (0.1, 1.0), "local": (0.01, 0.1)})
    answer = simulate("lowy-mnist", repetitions=2, data={"mnist": data["mnist"]})
    errors = {(cell.place["participants"], cell.place["arm"]): cell.scores["test_error"].mean for cell in answer.cells}
    for panel in ("12", lowy_mnist.MIXED):
        assert errors[panel, lowy_arms.LOCAL] < 0.2
        assert errors[panel, lowy_arms.MINI_BATCH] < 0.2
    assert len(answer.findings) == len(lowy_mnist.CLAIMS) + 1


def test_silos_of_digits_have_pairs_or_are_mixed(data: dict[str, Path]) -> None:
    paired = lowy_mnist.deal_digits(data["mnist"], 1, mixed=False)
    assert len(paired.sizes) == 25
    assert set(paired.sizes) == {2 * (100 // 7) - math.ceil(0.2 * 2 * (100 // 7))}
    mixed = lowy_mnist.deal_digits(data["mnist"], 1, mixed=True)
    assert mixed.sizes == paired.sizes
    assert not np.array_equal(mixed.features[0], paired.features[0])
    total = sorted(np.concatenate([*paired.features, paired.test_features])[:, 0])
    assert sorted(np.concatenate([*mixed.features, mixed.test_features])[:, 0]) == pytest.approx(total)


@pytest.mark.parametrize(("name", "findings"), [("reshef-table-1", 8), ("reshef-table-2", 9)])
def test_the_tables_of_reshef_and_levy_have_their_printed_figures(
    data: dict[str, Path], name: str, findings: int
) -> None:
    answer = simulate(name, repetitions=2, data={"mnist": data["mnist"]})
    assert len(answer.cells) == 9
    for cell in answer.cells:
        assert 0.0 <= cell.scores["test_accuracy"].mean <= 1.0
        assert 0.4 < cell.published["private"] < 0.7
    assert len({finding.claim for finding in answer.findings}) == len(answer.findings) == findings


def test_figure_1a_has_every_noise_personalization_and_number_of_rounds(data: dict[str, Path]) -> None:
    answer = simulate("bietti-figure-1a", repetitions=2)
    assert len(answer.cells) == 10 * 9 * 4
    local = [cell for cell in answer.cells if cell.place["personalization"] == "all own" and cell.place["rounds"] == 4]
    assert len({cell.scores["excess_risk"].mean for cell in local}) == 1, "noise of the shared model reaches nobody"
    assert len(answer.findings) == 3


def test_trials_have_seeds_of_their_own_and_arms_share_them() -> None:
    seeds = {trial_seed(seed, trial) for seed in range(5) for trial in range(5)}
    assert len(seeds) == 25
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_missing_folder_is_a_fault_before_any_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InvalidInput, match="/data/medical-costs"):
        simulate("lowy-insurance", repetitions=2)


def test_the_configured_folder_is_found(small_insurance: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = small_insurance["medical-costs"].parent
    (root / "medical-costs").symlink_to(small_insurance["medical-costs"])
    monkeypatch.setenv(VARIABLE, str(root))
    configured = simulate("lowy-insurance", repetitions=2, seed=4)
    given = simulate("lowy-insurance", repetitions=2, seed=4, data=small_insurance)
    assert as_json(configured) == as_json(given)


# Interruption ---------------------------------------------------------------------------------------------------------
def test_an_interrupted_experiment_goes_on_to_the_same_answer(
    small_insurance: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate("lowy-insurance", repetitions=2, data=small_insurance)
    kept = tmp_path / "kept.jsonl"
    run = trials.TRIALS.run_block
    count = 0

    def stop_in_the_middle(prepared: Any, index: int) -> TrialResult:
        nonlocal count
        count += 1
        if count == 8:
            raise KeyboardInterrupt
        return run(prepared, index)

    object.__setattr__(trials.TRIALS, "run_block", stop_in_the_middle)
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate("lowy-insurance", repetitions=2, data=small_insurance, resume=kept)
        assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 7
        with kept.open("a", encoding="utf-8") as file:
            file.write('{"index": 7, "sco')  # a line that the interruption cut off
        resumed = simulate("lowy-insurance", repetitions=2, data=small_insurance, resume=kept)
    finally:
        object.__setattr__(trials.TRIALS, "run_block", run)
    assert as_json(resumed) == as_json(whole)
    assert count == len(whole.cells) * 2 + 1


def test_a_file_of_another_experiment_is_refused(small_insurance: dict[str, Path], tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    simulate("lowy-insurance", repetitions=2, data=small_insurance, resume=kept)
    with pytest.raises(InvalidInput, match=r"belongs to another run: seed 0 there, 1 here$"):
        simulate("lowy-insurance", repetitions=2, seed=1, data=small_insurance, resume=kept)
    with pytest.raises(InvalidInput, match=r"belongs to another run: repetitions 2 there, 3 here$"):
        simulate("lowy-insurance", repetitions=3, data=small_insurance, resume=kept)
    default = find_preset(PresetSimulation(preset="lowy-insurance")).repetitions
    with pytest.raises(InvalidInput, match=f"repetitions 2 there, {default} here$"):
        simulate("lowy-insurance", data=small_insurance, resume=kept)
    first, *others = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, other, message in (
        ("engine_version", "0.0", r"engine_version 0\.0 there, "),
        ("blocks", 1, "run: blocks 1 there, "),
    ):
        kept.write_text(json.dumps({**json.loads(first), name: other}) + "\n" + "".join(others), encoding="utf-8")
        with pytest.raises(InvalidInput, match=message):
            simulate("lowy-insurance", repetitions=2, data=small_insurance, resume=kept)
    kept.write_text("no JSON\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="not a file of finished blocks"):
        simulate("lowy-insurance", repetitions=2, data=small_insurance, resume=kept)


def test_a_folder_that_the_experiment_does_not_read_is_refused(data: dict[str, Path]) -> None:
    for name in ("lowy-insurance", "mb-sgd-bound"):
        with pytest.raises(InvalidInput, match="is not read by this experiment") as error:
            simulate(name, repetitions=2, data={"mnist": data["mnist"]})
        assert [fault.pointer for fault in error.value.faults] == ["/data/mnist"]
    folders = [word for each in data for word in ("--data", f"{each}={data[each]}")]
    ran = CliRunner().invoke(line, ["simulate", "lowy-insurance", *folders])
    assert ran.exit_code == 2
    assert "mnist is not read by this experiment (allowed: medical-costs)" in ran.stderr


def test_a_stop_before_the_first_trial_is_told() -> None:
    assert stop_message((), "kept.jsonl").startswith("stopped before the first trial")


def test_only_trials_can_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="/resume"):
        simulate("mb-sgd-bound", repetitions=2, resume=tmp_path / "kept.jsonl")
    assert not (tmp_path / "kept.jsonl").exists()


def test_the_command_reads_folders_keeps_trials_and_prints_the_answer(
    small_insurance: dict[str, Path], tmp_path: Path
) -> None:
    arguments = ["simulate", "lowy-insurance", "--repetitions", "2", "--workers", "1", "--json"]
    folder, kept = small_insurance["medical-costs"], tmp_path / "kept.jsonl"
    ran = CliRunner().invoke(line, [*arguments, "--data", f"medical-costs={folder}", "--resume", str(kept)])
    assert ran.exit_code == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["preset"] == "lowy-insurance"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 1 + 2 * len(answer["cells"])
    figure = tmp_path / "figure.svg"
    shown = CliRunner().invoke(
        line,
        [*arguments[:-1], "--data", f"medical-costs={folder}", "--resume", str(kept), "--out", str(figure)],
    )
    assert shown.exit_code == 0, shown.output
    assert lowy_arms.CERTIFIED_LOCAL in shown.stdout
    assert figure.stat().st_size > 1000
    refused = CliRunner().invoke(line, [*arguments, "--data", "medical-costs"])
    assert refused.exit_code == 2
    assert "NAME=FOLDER" in refused.stderr


# Files ----------------------------------------------------------------------------------------------------------------
def test_the_answer_has_the_checksum_of_each_file(small_insurance: dict[str, Path]) -> None:
    answer = as_json(simulate("lowy-insurance", repetitions=2, data=small_insurance))
    content = (small_insurance["medical-costs"] / "insurance.csv").read_bytes()
    assert answer["data_files"] == [
        {"data": "medical-costs", "name": "insurance.csv", "md5": hashlib.md5(content).hexdigest()}
    ]


def test_the_answer_says_that_a_file_is_the_original(
    small_insurance: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (small_insurance["medical-costs"] / "insurance.csv").read_bytes()
    checksum = hashlib.md5(content).hexdigest()
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "insurance.csv.gz").write_bytes(gzip.compress(content))
    monkeypatch.setattr(medical_costs, "FILE", KnownFile(("insurance.csv",), checksum))
    for cache in CACHES:
        cache.cache_clear()
    (file,) = simulate("lowy-insurance", repetitions=2, data={"medical-costs": packed}).data_files
    assert (file.name, file.md5, file.original) == ("insurance.csv.gz", checksum, True)


def test_an_experiment_lists_every_file_of_its_data_once(data: dict[str, Path]) -> None:
    answer = simulate("reshef-table-1", repetitions=2, data={"mnist": data["mnist"]})
    assert [file.name.partition("-")[0] for file in answer.data_files] == ["train", "train", "t10k", "t10k"]
    assert len({file.md5 for file in answer.data_files}) == 4


def test_an_experiment_on_drawn_data_lists_no_file(data: dict[str, Path]) -> None:
    assert simulate("bietti-figure-1a", repetitions=2).data_files is None


def test_the_command_shows_the_files(small_insurance: dict[str, Path], tmp_path: Path) -> None:
    folder = small_insurance["medical-costs"]
    arguments = ["simulate", "lowy-insurance", "--repetitions", "2", "--workers", "1"]
    ran = CliRunner().invoke(
        line, [*arguments, "--data", f"medical-costs={folder}", "--out", str(tmp_path / "figure.svg")]
    )
    assert ran.exit_code == 0, ran.output
    assert "insurance.csv" in ran.stdout


# Choices --------------------------------------------------------------------------------------------------------------
def test_the_chosen_value_is_one_of_the_grid() -> None:
    """An even number of trials has two middle values, of which the lower one is served."""
    arm = ArmSettings(algorithm="mini-batch", noise="none", epsilon=1.0, participants=3)
    request = trials.TrialSimulation(arm=lowy_insurance.InsuranceArm(arm, 3), repetitions=4, seed=0)
    blocks = [
        TrialResult({"test_rrmse": 1.0}, {"step_size": step, "clipping_norm": 1e4}) for step in (0.1, 0.2, 0.3, 0.4)
    ]
    answer = trials.assemble(request, trials.PreparedTrials(request.arm, {}, 0), blocks)
    assert answer.chosen == {"step_size": 0.2, "clipping_norm": 1e4}


# Time -----------------------------------------------------------------------------------------------------------------
def test_equal_arms_cost_time_once() -> None:
    request = PresetSimulation(preset="lowy-insurance")
    cells = find_preset(request).cells(20, 0)
    costs = {cell.simulation.arm: 20 * cell.simulation.arm.seconds for cell in cells}
    assert len(costs) == 5 * (4 * 6 + 2)
    assert plan(request).seconds == pytest.approx(sum(costs.values()))


def test_the_work_of_the_tables_grows_with_their_rounds_and_machines() -> None:
    seconds = {
        (name, rho, size): reshef_mnist.ReshefArm(name, rho, size).seconds
        for name in reshef_claims.ARMS
        for rho in (4.0, 8.0)
        for size in (20, 80)
    }
    several, taken_back = reshef_claims.SEVERAL_PASSES, mu2_digits.TAKEN_BACK
    assert seconds[several, 8.0, 20] == pytest.approx(4.0 * seconds[several, 4.0, 20], rel=0.1)
    assert seconds[several, 8.0, 80] == pytest.approx(4.0 * seconds[several, 8.0, 20], rel=0.1)
    assert seconds[taken_back, 8.0, 20] > seconds[taken_back, 8.0, 80], "one pass has fewer rounds of more machines"


# Noise ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("algorithm", ["mini-batch", "local"])
def test_printed_noise_is_that_of_the_appendix(algorithm: Any) -> None:
    settings = ArmSettings(algorithm=algorithm, noise="printed", epsilon=3.0, participants=12)
    batch = math.ceil(1238 * math.sqrt(3.0) / (2.0 * math.sqrt(35)))
    times = 35 if algorithm == "mini-batch" else 35 * batch
    assert settings.gradients(1238) == batch
    assert settings.draws(batch) == ((batch, 35) if algorithm == "mini-batch" else (1, times))
    expected = 2.5 * math.sqrt(8.0 * times * math.log(1238**2)) / (1238 * 3.0)
    assert settings.noise_std(1238, 2.5, 2.0, gradients=batch) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("records", "ratio", "epsilon", "verdict"),
    [
        (1238, 2.0, 0.75, "confirmed"),
        (1238, 2.0, 12.0, "undecided"),
        (1238, 2.0, 18.0, "undecided"),
        (356, 1.0, 0.125, "confirmed"),
        (356, 1.0, 1.0, "undecided"),
        (356, 1.0, 2.0, "refuted"),
        (356, 1.0, 3.0, "refuted"),
    ],
)
def test_the_printed_noise_is_refuted_only_where_neighbours_exceed_the_claim(
    records: int, ratio: float, epsilon: float, verdict: str
) -> None:
    """Batches are drawn with replacement, as the proof of Lemma E.2 says."""
    settings = ArmSettings(algorithm="mini-batch", noise="printed", epsilon=epsilon, participants=3)
    bounds = settings.certify(records, ratio)
    cell = CellAnswer(place={}, kind="trials", claimed_epsilon=epsilon, epsilon=bounds)
    assert judge_printed_noise([cell], "private").verdict == verdict


def test_certified_noise_grows_when_the_target_shrinks() -> None:
    noises = [certified_multiplier(10, 200, 35, epsilon) for epsilon in (0.5, 1.0, 4.0)]
    assert noises == sorted(noises, reverse=True)
    assert log_delta(200) == pytest.approx(math.log(200.0**-2))


def test_every_experiment_on_files_states_what_it_reproduces() -> None:
    for name in ("lowy-mnist", "lowy-insurance", "reshef-table-1", "reshef-table-2", "bietti-figure-1a"):
        preset = find_preset(PresetSimulation(preset=name))
        assert preset.stands_in_for is not None
        assert preset.stands_in_for.startswith("Reproduces ")
