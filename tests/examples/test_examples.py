"""The examples that need no service are run as they stand; those that do are run by ./scripts/test-clients."""

import base64
import contextlib
import importlib.util
import io
import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import epsilond
from epsilond.ledgers.client.auditing import audited
from epsilond.training.loops import LOOPS
from scripts import notebooks

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def ran(name, *arguments, code=None):
    """What the example prints, run as a program that leaves with this exit code; None: it does not say."""
    leaves = contextlib.nullcontext() if code is None else pytest.raises(SystemExit)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as said, leaves as left:
        patch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert left is None or left.value.code == code
    return said.getvalue()


def interval(said):
    return tuple(map(float, re.search(r"\[(.*), (.*)\]", said).groups()))


@pytest.fixture(scope="module")
def loop():
    specification = importlib.util.spec_from_file_location("training_loop", EXAMPLES / "training_loop.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["training_loop"] = module  # where dataclasses look for annotations
    specification.loader.exec_module(module)
    yield module
    del sys.modules["training_loop"]


def test_every_example_is_run():
    here, there = (
        Path(__file__).read_text(encoding="utf-8"),
        (ROOT / "scripts/test-clients").read_text(encoding="utf-8"),
    )
    with_hosts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/integrations").rglob("test_*.py"))
    for path in EXAMPLES.glob("*.py"):
        elsewhere = f"examples/{path.name}" in there or f'EXAMPLES / "{path.name}"' in with_hosts
        assert f'ran("{path.name}"' in here or elsewhere
    assert "node dist/calibrate.js" in there


def test_the_training_loop_tells_what_is_spent_and_stays_within_its_target():
    lines = ran("training_loop.py").splitlines()
    told = [re.fullmatch(r"round +(\d+): ε ≤ ([\d.]+), accuracy ([\d.]+)", line) for line in lines[1:]]
    rounds, spent, accuracy = zip(*[map(float, found.groups()) for found in told], strict=True)
    assert list(rounds) == [30, 60, 90, 120, 150]
    assert sorted(spent) == list(spent)
    assert 1.999 < spent[-1] <= 2.0
    assert accuracy[-1] > 0.9


def test_twelve_models_fit_a_thirteenth_is_refused_and_the_log_verifies(tmp_path):
    lines = ran("ledger_twelve_models.py", str(tmp_path)).splitlines()
    told = [re.match(r"model (\d+): .* accuracy ([\d.]+) in (\d+) steps", line) for line in lines[:12]]
    numbers, accuracies, steps = zip(*[map(float, found.groups()) for found in told], strict=True)
    assert list(numbers) == list(range(1, 13))
    assert max(accuracies) > 0.8
    noise = re.match(r"model 13 is refused; it would fit with noise multiplier ([\d.]+)", lines[12])
    assert 1.0 < float(noise[1]) < 10.0
    credit = re.match(r"(\d+) steps of stopped models are credit", lines[13])
    assert int(credit[1]) == sum(1000 - count for count in steps) > 0
    verified = audited(tmp_path / "ledger.db", tmp_path / "ledger.db.keys")
    assert verified.holds
    assert len(list((tmp_path / "ledger.db.runs").glob("*.json"))) == sum(steps) / 250


def test_the_algorithms_of_five_papers_train_better_models_than_constants():
    lines = ran("train_five_papers.py").splitlines()
    said = r"(.*), (.*): the model (?:explains|is right in) (\d+)%, a constant (\d+)%; .* ε in \[([\d.]+), ([\d.]+)\]"
    told = [re.fullmatch(said, line).groups() for line in lines]
    assert len({paper for paper, *_ in told}) == 5
    assert {algorithm for _, algorithm, *_ in told} == set(LOOPS) - {"dp-fedavg"}  # which is of none of them
    assert all(int(good) >= int(trivial) + 10 for _, _, good, trivial, *_ in told)
    assert all(float(lower) <= float(upper) <= 8.0 for *_, lower, upper in told)


def test_one_record_moves_the_sum_of_gradients_by_the_clipping_norm_at_most(loop):
    generator = np.random.default_rng(1)
    hospitals, _ = loop.data(generator)
    hospital, model = hospitals[0], 10.0 * generator.standard_normal(31)
    everyone = np.ones(len(hospital.labels), dtype=bool)
    moved = []
    for record in range(len(everyone)):
        without = everyone.copy()
        without[record] = False
        moved.append(np.linalg.norm(hospital.clipped_sum(model, everyone) - hospital.clipped_sum(model, without)))
    assert loop.CLIPPING_NORM * 0.999 < max(moved) <= loop.CLIPPING_NORM * (1.0 + 1e-9)


def test_every_record_is_held_by_one(loop):
    hospitals, held_out = loop.data(np.random.default_rng(0))
    assert len(hospitals) == loop.HOSPITALS
    assert sum(len(each.labels) for each in [*hospitals, held_out]) == 569


def test_opacus_history_reads_a_state_dict(tmp_path):
    path = tmp_path / "accountant.json"
    path.write_text(json.dumps({"history": [[1.0, 0.01, 1000]], "mechanism": "prv"}), encoding="utf-8")
    lower, upper = interval(ran("opacus_history.py", str(path), "1e-6"))
    step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
    run = epsilond.account(
        epsilond.Repeated(times=1000, mechanism=step), relation="add-or-remove-one", unit="record", observer="server"
    )
    expected = run.guarantee.curve.epsilon(delta=1e-6)
    assert lower == pytest.approx(expected.lower, abs=1e-9)
    assert upper == pytest.approx(expected.upper, abs=1e-9)
    assert "zhu-dong-wang-2022.10" in ran("opacus_history.py")


def test_dp_event_certifies_the_ledger():
    lower, upper = interval(ran("dp_event.py"))
    step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
    laplace = epsilond.Laplace(scale_multiplier=10.0)
    run = epsilond.Composed(mechanisms=(epsilond.Repeated(times=1000, mechanism=step), laplace))
    expected = epsilond.account(
        run, relation="add-or-remove-one", unit="record", observer="server"
    ).guarantee.curve.epsilon(delta=1e-6)
    assert (lower, upper) == pytest.approx(expected, abs=1e-9)


def test_clients_and_records_stand_side_by_side():
    lines = [line.split() for line in ran("client_and_record.py").splitlines()[1:]]
    epsilons, noises, accuracies = (np.array([float(line[place]) for line in lines]) for place in (-3, -2, -1))
    assert np.all(epsilons <= 8.0)
    assert np.all(epsilons > 7.9)
    # A clinic moves its mean as far as nine patients do; a server that is trusted adds the noise of all clinics once.
    assert noises[1] == pytest.approx(9 * noises[0], rel=1e-3)
    assert noises[2] < noises[0]
    assert accuracies[0] > 0.8 < accuracies[2]


@pytest.mark.parametrize("path", sorted((EXAMPLES / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_print_what_they_hold(path):
    there = notebooks.without_pictures(json.loads(path.read_text(encoding="utf-8")))
    assert notebooks.without_pictures(notebooks.execute(there)) == there
    changed = json.loads(json.dumps(there))
    changed["cells"][-1]["outputs"] = []
    assert notebooks.without_pictures(notebooks.execute(changed)) == there


def test_pictures_of_notebooks_are_pictures():
    shown = [
        base64.b64decode(output["data"]["image/png"])
        for path in (EXAMPLES / "notebooks").glob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert len(shown) >= 2
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 5000 for picture in shown)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("a whole bundle", 0, "Verified"), ("an entry twice", 1, "entries"), ("no JSON", 2, "no evidence")],
)
def test_the_verifier_of_a_log_exits_as_the_page_says(tmp_path, name, code, said):
    vectors = json.loads((ROOT / "docs/ledger-format/vectors.json").read_text(encoding="utf-8"))
    (case,) = [each for each in vectors["cases"] if each["name"] == name]
    evidence, keys = tmp_path / "bundle.json", tmp_path / "keys.json"
    evidence.write_text(case["evidence"], encoding="utf-8")
    keys.write_text(json.dumps(vectors["keys"]), encoding="utf-8")
    printed = ran("verify_ledger.py", str(evidence), str(keys), code=code)
    assert said in printed
    assert ("Verified" in printed) == (code == 0)
