"""python -m benchmarks.everyday: each question is new, is answered, and its cost is written down as it was measured."""

import re
import subprocess
import sys

import pytest

import epsilond
from benchmarks import costs, document, everyday, everyday_cases, everyday_report, everyday_searched, growth
from benchmarks.costs import Cost
from benchmarks.everyday_reasons import REASONS, UNKNOWN, reason
from benchmarks.everyday_report import Line
from benchmarks.everyday_specs import SPECS
from epsilond.accountants.specs.runs import MOST_COMPOSED
from epsilond.calibrators.accounts import AccountProblem
from epsilond.reading import read


def numbers(asked):
    """Every number in it, by its place."""
    if isinstance(asked, dict):
        return {(name, *place): each for name, value in asked.items() for place, each in numbers(value).items()}
    if isinstance(asked, list | tuple):
        return {(index, *place): each for index, value in enumerate(asked) for place, each in numbers(value).items()}
    return {(): asked}


@pytest.mark.parametrize(
    "body",
    [*everyday_cases.EXAMPLES.values(), *everyday_cases.CLOSED.values(), everyday_cases.PLAN]
    + [setting.spec for setting in (*SPECS.values(), *everyday_searched.SETTINGS.values())]
    + [body for _, body in everyday_searched.CALIBRATIONS.values()],
    ids=lambda body: body.get("kind", ""),
)
def test_a_question_is_new_at_each_place_and_hardly_another(body):
    as_written, later = numbers(costs.moved(body, 0)), numbers(costs.moved(body, 3))
    assert as_written == numbers(body)
    changed = {place for place, value in later.items() if value != as_written[place]}
    assert changed
    for place in changed:
        assert set(place) & costs.MOVED
        assert later[place] / as_written[place] - 1.0 == pytest.approx(3 * costs.CHANGE, rel=1e-6)


def test_counts_and_words_stay():
    asked = {"epsilon": 1, "rounds": 7, "noise_schedule": {"kind": "constant", "value": 2.0}, "radius": 5.0}
    assert costs.moved(asked, 10**6) == {**asked, "noise_schedule": {"kind": "constant", "value": 2.0 * 1.01}}


@pytest.fixture
def seen(monkeypatch):
    """The places at which a question was asked that costs nothing."""
    monkeypatch.setattr(costs, "RUN_SECONDS", 1e-4)
    monkeypatch.setattr(costs, "ENOUGH_SECONDS", 1e-3)
    places = []
    costs.measured(places.append)
    return places


def test_no_place_is_asked_twice(seen):
    assert len(seen) > 2
    assert seen == list(range(len(seen)))


def test_a_long_question_is_asked_once(monkeypatch):
    monkeypatch.setattr(costs, "RUN_SECONDS", 0.0)
    monkeypatch.setattr(costs, "ENOUGH_SECONDS", 0.0)
    places = []
    found = costs.measured(places.append)
    assert places == [0]
    assert found.cpu == found.first


def for_ever(_):
    while True:
        pass


def refuses(_):
    raise ValueError("too small\nsecond line")


@pytest.mark.parametrize(
    ("ask", "said"),
    [(for_ever, "over 1 s of CPU"), (refuses, "ValueError: too small")],
    ids=["time", "an error"],
)
def test_what_has_no_cost_has_a_reason(ask, said):
    assert costs.cost(ask, seconds=1, megabytes=4000) == Cost(reason=said)


def test_memory_is_that_of_the_question():
    small = costs.cost(lambda _: None, seconds=60, megabytes=4000)
    large = costs.cost(lambda _: b"x" * 200_000_000, seconds=60, megabytes=4000)
    assert large.megabytes - small.megabytes == pytest.approx(200e6 / 2**20, rel=0.1)
    over = costs.cost(lambda _: bytearray(5_000_000_000), seconds=60, megabytes=4000)
    assert over.cpu is None
    assert over.reason.startswith("over the memory limit")


def test_every_algorithm_is_asked_for_its_example_a_picture_and_a_sweep():
    asked = everyday_cases.everything()
    for group in ("example", "picture", "sweep"):
        assert [each.name for each in asked if each.group == group] == [one.name for one in epsilond.CALIBRATORS]


@pytest.mark.parametrize("algorithm", everyday_cases.CLOSED)
def test_closed_forms_are_closed(algorithm):
    chosen = everyday_cases.calibrated(algorithm)
    assert chosen.cost(read(chosen.problem, everyday_cases.CLOSED[algorithm])) == "closed-form"


@pytest.mark.parametrize("name", everyday_searched.CALIBRATIONS)
def test_searched_calibrations_can_be_asked(name):
    algorithm, body = everyday_searched.CALIBRATIONS[name]
    assert read(everyday_cases.calibrated(algorithm).problem, body)


@pytest.mark.parametrize("name", [*SPECS, *everyday_searched.SETTINGS])
def test_specs_can_be_asked(name):
    spec, relation, observer = {**SPECS, **everyday_searched.SETTINGS}[name]
    body = {
        "spec": spec,
        "relation": relation,
        "observer": observer,
        "query": {"delta": everyday_cases.DELTA},
        "unit": "record",
    }
    assert read(AccountProblem, body).spec.kind == spec["kind"]


def test_every_kind_is_among_the_specs():
    kinds = {value for setting in SPECS.values() for place, value in numbers(setting.spec).items() if "kind" in place}
    assert kinds >= {
        "gaussian",
        "laplace",
        "discrete_laplace",
        "truncated_discrete_laplace",
        "randomized_response",
        "approximate",
        "subsampled",
        "shuffled",
        "repeated",
        "composed",
        "projected_sgd",
    }


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power):
    assert growth.exponent({n: 3.0 * n**power for n in (10, 100, 10_000)}) == pytest.approx(power, abs=1e-12)


def test_one_size_has_no_exponent():
    assert growth.exponent({10: 1.0}) is None


def test_series_grow():
    found = list(growth.series())
    assert {each.grows for each in found} == {"steps", "parts", "points", "groups", "clients", "records"}
    for each in found:
        assert list(each.sizes) == sorted(set(each.sizes))
        assert each.grows != "parts" or max(each.sizes) <= MOST_COMPOSED
    assert len({each.name + each.grows for each in found}) == len(found)


def line(group, name, cpu, size=1, reason=""):
    return Line(group=group, name=name, size=size, cpu=cpu, megabytes=100.0, reason=reason, date="2026-01-01")


LINES = [
    line("example", "gaussian", 7e-3),
    line("sweep", "gaussian", 120.0, 200),
    line("picture", "gaussian", 0.9, 30),
    line("ε alone", everyday_report.B1, 1e-3),
    line("whole account", everyday_report.B1, 4e-3),
    line("whole account", "other", None, reason="over 60 s of CPU"),
    line("growth", "laplace: steps", 0.1, 100),
    line("growth", "laplace: steps", 1.0, 1000),
]


def table(title):
    return next(of for name, _, of in everyday_report.all_tables(LINES) if name == title)


def test_aims_are_met_or_not():
    aims = {aim: (measured, met) for aim, _, measured, met in table("Aims of everyday questions")}
    assert aims["account of b1 with its meaning, over its ε"] == ("4×", "not yet")
    assert aims["slowest picture of 30 points, in all"][1] == "yes"
    assert aims["slowest sweep of 200 points, a point"] == ("600 ms (gaussian); 0 of 1 within", "not yet")
    assert aims["slowest whole account of a kind of spec"] == ("over 60 s of CPU (other); 1 of 2 within", "not yet")
    assert aims["σ for ε = 1, δ = 1e-6, rate 0.01, 1000 steps"][1] == "yes"


def test_what_takes_over_half_a_second_a_point_is_named():
    assert [row[:3] for row in table("Above half a second")] == [
        ("whole account", "other", "1"),
        ("growth", "laplace: steps = 1000", "1"),
        ("sweep", "gaussian", "200"),
    ]


def test_growth_has_its_exponent():
    ((name, at, exponent, _),) = table("Growth")
    assert (name, at, exponent) == ("laplace: steps", "1e2: 100 ms, 1e3: 1 s", "1.00")


def test_rows_are_read_as_they_were_written(tmp_path):
    everyday_report.write_lines(LINES, tmp_path / "rows.csv")
    assert everyday_report.read_lines(tmp_path / "rows.csv") == LINES
    again = line("example", "gaussian", 9e-3)
    everyday_report.add_line(again, tmp_path / "rows.csv")
    assert everyday_report.read_lines(tmp_path / "rows.csv") == [again, *LINES[1:]]


def test_the_reason_is_that_of_the_longest_beginning(monkeypatch):
    monkeypatch.setitem(REASONS, "shuffled", "one")
    monkeypatch.setitem(REASONS, "shuffled gaussian", "other")
    assert [reason(name) for name in ("shuffled gaussian T=1", "shuffled laplace", "x")] == ["other", "one", UNKNOWN]


def test_every_reason_is_of_something_that_is_asked():
    asked = {each.name for each in everyday.questions()}
    names = {*asked, *(growth.named(each) for each in growth.series())}
    for kind in REASONS:
        assert any(name.startswith(kind) for name in names), kind


def test_the_document_is_that_of_the_rows():
    """It has the tables of the rows; the line of the machine and the questions without rows may be others."""
    section = document.DOCUMENT.read_text(encoding="utf-8")
    written = section.partition("<!-- begin everyday -->\n")[2].partition("\n<!-- end everyday -->")[0]
    rows = everyday_report.markdown(everyday_report.read_lines(everyday_report.CSV))
    assert _tables(written) == _tables(rows)


def _tables(text: str) -> list[str]:
    """The lines below the head, without those that say what is not measured."""
    return [line for line in text.strip().splitlines()[4:] if line and not line.startswith("**Not measured yet")]


def test_what_is_not_measured_is_said():
    assert "Not measured yet, and in no aim: sweep of x." in everyday_report.markdown(LINES, ["sweep of x"])
    assert "Not measured" not in everyday_report.markdown(LINES)


def test_the_short_form_measures_and_writes_nothing():
    """In a process of its own: a fork of this one, which may have threads, may wait forever."""
    files = (everyday_report.CSV, document.DOCUMENT)
    before = [path.read_bytes() for path in files]
    command = [sys.executable, "-m", "benchmarks.everyday", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    for each in everyday_cases.short():
        assert re.search(
            rf"^{each.group}  {re.escape(each.name)}  {each.points}  [0-9.]+ .?s$", done.stdout, re.MULTILINE
        ), each
    assert "Kinds of specs" in done.stdout
    assert [path.read_bytes() for path in files] == before
