"""Figures: valid files with the right words, and the same bytes for the same answer."""

import io
import json
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.image import imread

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.witness.audits.request import AuditClaim, AuditSimulation
from epsilond.witness.drawings import style
from epsilond.witness.drawings.audit import audit as audit_figure
from epsilond.witness.drawings.grid import grid
from epsilond.witness.drawings.risk import risk
from epsilond.witness.experiment import Axis, Cell, Preset
from epsilond.witness.figures import draw
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.risks.request import RiskSimulation
from tests.witness import toy
from tests.witness.running import run_simulation


def json_answer(request):
    return json.loads(json.dumps(as_json(run_simulation(request)), allow_nan=False))


def risk_answer(monkeypatch, *bounds, **fields):
    toy.install(monkeypatch, bounds)
    run = toy.ToyRun(rounds=20, noise_std=0.1)
    return json_answer(RiskSimulation(**({"run": run, "problem": toy.ToyProblem(), "repetitions": 5} | fields)))


def preset_answer(monkeypatch, cells, **axes):
    preset = Preset(
        name="toys", title="Toys", summary="", source="", repetitions=5, cells=lambda *_: tuple(cells), **axes
    )
    monkeypatch.setattr("epsilond.witness.presets.find_preset", lambda _request: preset)
    return json_answer(PresetSimulation(preset="mb-sgd-bound"))


def toy_cells(**names):
    return [
        Cell(
            place={"epsilon": epsilon, "rounds": rounds, "problem": "toy"},
            simulation=RiskSimulation(
                run=toy.ToyRun(rounds=rounds), problem=toy.ToyProblem(), epsilon=epsilon, delta=1e-5, repetitions=5
            ),
        )
        for rounds in (5, 50)
        for epsilon in (1.0, 10.0)
    ]


def gaussian_audit(**fields):
    spec = {"kind": "gaussian", "noise_multiplier": 1.0}
    from epsilond.accountants.specs import Gaussian

    return AuditSimulation(
        spec=Gaussian(noise_multiplier=spec["noise_multiplier"]),
        relation="add-or-remove-one",
        unit="record",
        observer="released-models",
        delta=1e-3,
        samples=2000,
        **fields,
    )


def words_of(svg):
    """Return the text of an SVG file: it is an XML document with words as text, not as outlines."""
    return " ".join("".join(ET.fromstring(svg).itertext()).split())


def assert_draws(answer):
    png = draw(answer, "png")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    pixels = imread(io.BytesIO(png), format="png")
    assert min(pixels.shape[:2]) > 300
    assert np.std(pixels[..., :3]) > 0.01
    return words_of(draw(answer, "svg"))


def test_same_answer_gives_the_same_bytes_without_a_date(monkeypatch):
    answer = risk_answer(monkeypatch, toy.bound(3.0))
    svg = draw(answer, "svg")
    assert svg == draw(answer, "svg")
    assert draw(answer, "png") == draw(answer, "png")
    assert b"dc:date" not in svg


def test_measurement_is_drawn_with_its_bound_and_the_other_runs(monkeypatch):
    words = assert_draws(risk_answer(monkeypatch, toy.bound(3.0)))
    for phrase in (
        "measured",
        "bound 1: toy.1, on the output after round 20 (holds: yes)",
        "same steps, without",
        "louder",
        "communication rounds",
        "unit of the loss",
    ):
        assert phrase in words, phrase


def test_bound_on_the_output_is_marked_only_at_the_last_rounds(monkeypatch):
    answer = risk_answer(monkeypatch, toy.bound(3.0))
    (axes,) = risk(answer).axes
    marks = [line for line in axes.lines if list(line.get_ydata()) == [3.0, 3.0]]
    assert [list(mark.get_xdata()) for mark in marks] == [[pytest.approx(17.6), 20]]


def test_long_theorem_name_does_not_narrow_the_axes(monkeypatch):
    def width(answer):
        figure = risk(answer)
        figure.canvas.draw()
        return figure.axes[0].get_position().width

    answer = risk_answer(monkeypatch, toy.bound(3.0))
    usual = width(answer)
    answer["bounds"][0]["theorem"] = "epsilond.a-name-that-is-as-long-as-names-get"
    assert width(answer) == pytest.approx(usual)


def test_violated_bound_is_labelled(monkeypatch):
    assert "(holds: no)" in assert_draws(risk_answer(monkeypatch, toy.bound(1e-3)))


def test_bound_with_hidden_constant_is_not_drawn(monkeypatch):
    assert "toy.1" not in assert_draws(risk_answer(monkeypatch, toy.bound(3.0, constant="hidden")))


def test_bound_with_failing_conditions_is_labelled_not_compared(monkeypatch):
    assert "(not compared)" in assert_draws(risk_answer(monkeypatch, toy.bound(3.0, conditions=(toy.FAILS,))))


def test_one_round_with_zero_excess_is_drawn(monkeypatch):
    toy.install(monkeypatch)

    def perfect(problem, run, generators, rounds):
        return toy.Curves(rounds=rounds, excess=np.zeros((len(generators), len(rounds))))

    monkeypatch.setattr(
        "epsilond.simulators.algorithms.kinds.ALGORITHMS", (toy.replace(toy.ALGORITHM, simulate=perfect),)
    )
    run = toy.ToyRun(rounds=1, noise_std=0.0)
    answer = json_answer(RiskSimulation(run=run, problem=toy.ToyProblem(), repetitions=2, alternatives=()))
    assert "measured" in assert_draws(answer)


def test_diverged_run_is_drawn(monkeypatch):
    answer = risk_answer(monkeypatch)
    for series in answer["series"]:
        series |= {name: ["unbounded"] * len(series["mean"]) for name in ("mean", "upper")}
    assert "excess risk" in assert_draws(answer)


@pytest.mark.parametrize("claim", [None, AuditClaim(epsilon=0.5), AuditClaim(epsilon=20.0)])
def test_audit_is_drawn_with_certificate_and_claim(claim):
    words = assert_draws(json_answer(gaussian_audit(claim=claim)))
    for phrase in ("certified", "proved by its test", "false positive rate", "at least"):
        assert phrase in words
    expected = {None: "proved", 0.5: "at most 0.5; violated: yes", 20.0: "at most 20; violated: no"}[
        claim and claim.epsilon
    ]
    assert expected in words


def test_distant_certificate_does_not_stretch_the_axis():
    """Draw a certified lower bound of 1e15, of a run without useful ε, which once put all other values at 0."""
    answer = json_answer(gaussian_audit(claim=AuditClaim(epsilon=1.0)))
    answer["certified"] = {"lower": 1e15, "upper": "unbounded"}
    words = assert_draws(answer)
    assert "off scale" in words
    assert "dashed" not in words
    assert audit_figure(answer).axes[1].get_xlim()[1] < 20.0
    answer["certified"] = {"lower": 1.5, "upper": 2.5}
    near = assert_draws(answer)
    assert "off scale" not in near
    assert "dashed" in near


def test_axis_of_a_grid_of_audits_is_limited_by_its_values(monkeypatch):
    cells = [
        Cell(place={"seed": seed}, simulation=gaussian_audit(seed=seed, claim=AuditClaim(epsilon=0.5)))
        for seed in (0, 1)
    ]
    answer = preset_answer(monkeypatch, cells, across=Axis(name="seed", title="seed"))
    proved = [cell["test_epsilon_lower"] for cell in answer["cells"]]
    low, high = grid(answer).axes[0].get_ylim()
    assert min(0.5, *proved) / 2 < low < min(0.5, *proved)
    assert high > max(style.number(cell["epsilon"]["upper"]) for cell in answer["cells"])
    words = assert_draws(answer)
    assert all(f"δ ≥ {cell['claim']['delta_lower']:.3g}" in words for cell in answer["cells"])


def test_grid_has_a_line_for_each_value_and_panels(monkeypatch):
    toy.install(monkeypatch, [toy.bound(30.0)])
    words = assert_draws(
        preset_answer(
            monkeypatch,
            toy_cells(),
            across=Axis(name="epsilon", title="ε (nats)", scale="log"),
            lines=Axis(name="rounds", title="rounds of the run"),
            panels=Axis(name="problem", title="problem"),
        )
    )
    for phrase in (
        "measured, with its band",
        "bound",
        "louder",
        "ε (nats)",
        "rounds of the run",
        "50",
        "problem: toy",
        "Toys",
    ):
        assert phrase in words, phrase


def test_grid_of_categories_without_lines_is_drawn(monkeypatch):
    toy.install(monkeypatch)
    cells = [
        Cell(place={"epsilon": str(cell.place["epsilon"])}, simulation=cell.simulation) for cell in toy_cells()[:2]
    ]
    assert "10.0" in assert_draws(preset_answer(monkeypatch, cells, across=Axis(name="epsilon", title="ε")))


def test_grid_of_audits_names_proved_certified_and_claimed_epsilon(monkeypatch):
    cells = [
        Cell(place={"seed": seed}, simulation=gaussian_audit(seed=seed, claim=AuditClaim(epsilon=1.0)))
        for seed in (0, 1)
    ]
    words = assert_draws(preset_answer(monkeypatch, cells, across=Axis(name="seed", title="seed")))
    for phrase in ("proved by its test", "certified: at most", "claimed: at most"):
        assert phrase in words


def test_unknown_kind_and_format_are_rejected(monkeypatch):
    answer = risk_answer(monkeypatch)
    with pytest.raises(InvalidInput) as unknown_kind:
        draw({"kind": "poem"}, "png")
    assert unknown_kind.value.faults[0].pointer == "/kind"
    with pytest.raises(InvalidInput) as wrong_format:
        draw(answer, "pdf")
    assert wrong_format.value.faults[0].pointer == "/format"


def test_labels_do_not_overlap():
    places = style._separate([0.5, 0.5, 0.51, 0.9], [0.06] * 4)
    ordered = sorted(places)
    assert all(high - low > 0.06 - 1e-6 for low, high in pairwise(ordered))
    assert places[3] == 0.9
