"""verify: whole reports agree, tampered ones are found whatever was altered, and other engines are told apart."""

import json
from dataclasses import replace

import pytest

import epsilond
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.questions import recomputation
from epsilond.questions import report as reporting
from epsilond.witness.reports import compare
from epsilond.witness.reports.page import render
from epsilond.witness.reports.record import LARGEST_PAGE, open_page, seal_page

GAUSSIAN = next(dict(each.example) for each in CALIBRATORS if each.name == "gaussian")
ACCOUNT = {
    "spec": {"kind": "gaussian", "noise_multiplier": 2.0},
    "relation": "replace-one",
    "query": {"delta": 1e-5},
    "claim": {"epsilon": 5.0, "delta": 1e-5},
    "unit": "record",
    "observer": "server",
}


@pytest.fixture(scope="module")
def page():
    return epsilond.report("calibration", "gaussian", request=GAUSSIAN, date="2026-01-31")


def forged(page, change):
    """The page of altered data, sealed anew: its hash and its text fit them."""
    record = {name: item for name, item in open_page(page).items() if name not in ("hash", "page")}
    change(record)
    return seal_page(record, render)


def setting(*path, to):
    def change(record):
        *outer, last = path
        for name in outer:
            record = record[name]
        record[last] = to

    return change


def test_a_report_agrees_exactly(page):
    found = epsilond.verify(page)
    assert (found.outcome, found.agrees, found.differences) == ("exactly", True, ())
    assert (found.kind, found.name, found.date) == ("calibration", "gaussian", "2026-01-31")
    assert found.hash == open_page(page)["hash"]
    assert epsilond.verify(epsilond.report("account", request=ACCOUNT)).outcome == "exactly"


def test_a_spec_and_its_json_give_the_same_page():
    spec = epsilond.Gaussian(noise_multiplier=2.0)
    assert epsilond.report("account", request={**ACCOUNT, "spec": spec}) == epsilond.report("account", request=ACCOUNT)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (setting("answer", "parameters", "noise_multiplier", to=0.5), "/answer/parameters/noise_multiplier"),
        (setting("answer", "guarantee", "epsilon", to={"lower": 0.1, "upper": 0.2}), "/answer/guarantee/epsilon"),
        (setting("answer", "guarantee", "epsilon", to={"lower": 3.0, "upper": 0.0}), "/answer/guarantee/epsilon"),
        (setting("answer", "guarantee", "unit", to="client"), "/answer/guarantee/unit"),
        (setting("answer", "guarantee", "minimal", to="searched"), "/answer/guarantee/minimal"),
        (setting("answer", "warnings", to=[{"code": "x", "message": "all is well"}]), "/answer/warnings"),
        (setting("request", "epsilon", to=2.0), "/answer/guarantee/target/epsilon"),
        (setting("profile", 3, "log10_delta", to={"lower": -9.0, "upper": -8.0}), "/profile/3/log10_delta"),
    ],
)
def test_data_that_were_altered_and_sealed_anew_contradict_todays_engine(page, change, pointer):
    found = epsilond.verify(forged(page, change))
    assert (found.outcome, found.agrees) == ("contradicts", False)
    assert pointer in found.differences


def test_a_page_that_shows_something_else_than_its_data_is_broken(page):
    record = {name: item for name, item in open_page(page).items() if name not in ("hash", "page")}
    lying = seal_page(record, lambda *given: render(*given).replace("at most", "at most about", 1))
    assert open_page(lying)["request"] == GAUSSIAN
    found = epsilond.verify(lying)
    assert found.outcome == "broken"
    assert "visible page" in found.reason


def other_engine(record):
    record["engine_version"] = record["answer"]["engine_version"] = "0.0.9"


def test_another_engine_is_confirmed_in_its_figures_alone(page):
    def change(record):
        other_engine(record)
        record["answer"]["parameters"]["noise_multiplier"] *= 1 + 1e-4
        record["answer"]["guarantee"]["epsilon"]["lower"] *= 0.9
        record["answer"]["warnings"] = [{"code": "x", "message": "told otherwise"}]

    found = epsilond.verify(forged(page, change))
    assert (found.outcome, found.report_engine, found.differences) == ("another-engine", "0.0.9", ())
    assert found.explained_otherwise == ("/answer/warnings",)
    assert not found.agrees


def test_another_engine_whose_noise_is_another_contradicts(page):
    def change(record):
        other_engine(record)
        record["answer"]["parameters"]["noise_multiplier"] *= 0.99

    found = epsilond.verify(forged(page, change))
    assert (found.outcome, found.differences) == ("contradicts", ("/answer/parameters/noise_multiplier",))


def test_the_page_of_another_engine_is_compared_too(page):
    record = {name: item for name, item in open_page(page).items() if name not in ("hash", "page")}
    other_engine(record)
    old = seal_page(record, lambda *given: render(*given).replace("at most", "no more than", 1))
    assert epsilond.verify(old).outcome == "broken"
    assert epsilond.verify(old.replace("no more than", "far less than", 1)).outcome == "broken"


def test_a_request_that_todays_engine_refuses_does_not_agree(page, monkeypatch):
    assert epsilond.verify(forged(page, setting("request", "epsilon", to=-1.0))).outcome == "refused"

    def refuse(*_, **__):
        raise Infeasible("no noise will do")

    asked = recomputation.question("calibration", "gaussian")  # type: ignore[attr-defined]
    monkeypatch.setattr(recomputation, "question", lambda *_: replace(asked, answer_problem=refuse))
    found = epsilond.verify(page)
    assert (found.outcome, found.agrees) == ("refused", False)
    assert "no noise will do" in found.reason


@pytest.mark.parametrize("text", ["", "<html>", "\x00" * 100, "[" * 10_000, "\ud800"])
def test_what_is_no_report_is_broken(text):
    assert epsilond.verify(text).outcome == "broken"


def test_a_file_is_read_within_bounds(tmp_path, page):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    assert reporting.read_page(file) == page
    file.write_bytes(b"\xff\xfe" + b"\x00" * 100)
    assert reporting.read_page(file) == ""
    with file.open("wb") as huge:
        huge.truncate(100 * LARGEST_PAGE)
    with pytest.raises(InvalidInput, match="too large"):
        reporting.read_page(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        reporting.read_page(tmp_path)


def answer(engine="1", **members):
    return {"answer": members, "profile": [], "engine_version": engine}


@pytest.mark.parametrize(
    ("ours", "theirs", "same", "other"),
    [
        ({"lower": 1.0, "upper": 3.0}, {"lower": 1.5, "upper": 2.0}, "contradicts", "within-the-certificate"),
        ({"lower": 1.0, "upper": 2.0}, {"lower": 1.5, "upper": 3.0}, "contradicts", "not-confirmed"),
        ({"lower": 1.0, "upper": 2.0}, {"lower": 2.5, "upper": 3.0}, "contradicts", "contradicts"),
        ({"lower": 1.0, "upper": "unbounded"}, {"lower": 2.5, "upper": 3.0}, "contradicts", "within-the-certificate"),
        ({"lower": 1.0, "upper": 2.0}, {"lower": 0.0, "upper": "unbounded"}, "contradicts", "not-confirmed"),
        ({"lower": "-unbounded", "upper": -2.0}, {"lower": -1.0, "upper": 0.0}, "contradicts", "contradicts"),
        ({"lower": "x", "upper": 2.0}, {"lower": 1.0, "upper": 2.0}, "contradicts", "contradicts"),
        ({"lower": 3.0, "upper": 2.0}, {"lower": 2.2, "upper": 2.4}, "contradicts", "contradicts"),
        ({"lower": 1.0, "upper": 2.0, "more": 1}, {"lower": 1.0, "upper": 2.0}, "contradicts", "contradicts"),
        (1.0, 1.0 + 1e-7, "within-the-certificate", "within-the-certificate"),
        (1.0, 1.0 + 1e-4, "contradicts", "within-the-certificate"),
        (1.0, 1.0 + 1e-2, "contradicts", "contradicts"),
        (1, 1.0, "exactly", "within-the-certificate"),
        (True, 1, "contradicts", "contradicts"),
        ("unbounded", "unbounded", "exactly", "within-the-certificate"),
        ("unbounded", 1e300, "contradicts", "contradicts"),
        ([1, 2], [1], "contradicts", "contradicts"),
        (None, 1, "contradicts", "contradicts"),
        pytest.param(10**400, 1.0, "contradicts", "contradicts", id="huge"),
    ],
)
def test_figures_are_compared(ours, theirs, same, other):
    signed = answer(guarantee={"x": ours})
    assert compare.compare_records(signed, answer(guarantee={"x": theirs}))[0] == same
    assert compare.compare_records(signed, answer("2", guarantee={"x": theirs}))[0] == other


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "outcome"),
    [
        ("delta", 1e-300, 1.001e-300, "within-the-certificate"),
        ("delta", 1e-300, 1.1e-300, "contradicts"),
        ("delta", 1e-12, 1.1e-12, "contradicts"),
        ("delta", 0.0, 1e-12, "contradicts"),
        ("epsilon", 0.0, 1e-16, "within-the-certificate"),
        ("epsilon", 0.0, 1e-6, "contradicts"),
        ("margin_epsilon", 1e-12, 3e-12, "within-the-certificate"),
        ("relative_width", 1e-15, 7e-14, "within-the-certificate"),
        ("relative_width", 1e-15, 1e-3, "contradicts"),
        ("noise_std", 1e-12, 3e-12, "contradicts"),
    ],
)
def test_what_rounding_leaves_is_judged_by_what_it_is_a_rounding_of(name, ours, theirs, outcome):
    signed, computed = answer(x={name: {"upper": ours}}), answer(x={name: {"upper": theirs}})
    assert compare.compare_records(signed, computed)[0] == outcome


def test_differences_are_few_and_json(page):
    many = {f"x{place}": place for place in range(100)}
    _, found = compare.compare_records(answer(**many), answer())
    assert len(found) == compare.MOST_DIFFERENCES
    assert json.loads(json.dumps(epsilond.as_json(epsilond.verify(page))))["outcome"] == "exactly"
