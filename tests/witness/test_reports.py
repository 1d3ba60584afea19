"""Reports: complete pages, escaped strings, the same page from the same data, and rejection of every change."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import get_args, get_type_hints

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import Tightness
from epsilond.accountants.quantities import Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.answer import GuaranteeAnswer
from epsilond.reading import read
from epsilond.witness.reports import meanings, words
from epsilond.witness.reports.compare import compare_records
from epsilond.witness.reports.make import make, read_date
from epsilond.witness.reports.page import render
from epsilond.witness.reports.profile import STEPS, drawing, profile
from epsilond.witness.reports.questions import QUESTIONS, question
from epsilond.witness.reports.record import (
    CLOSING,
    LARGEST_PAGE,
    NO_HASH,
    OPENING,
    Broken,
    open_page,
    seal_page,
    visible,
)
from epsilond.witness.reports.spec_words import describe_spec

SLOW = {"shuffled-mb-sgd"}
DATE = "2026-01-31"
THEOREM_IDS = {theorem.id for theorem in THEOREMS}
VOID = {"meta", "circle", "line", "polygon", "polyline", "br", "img", "link"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}\u2028"


def cases():
    for calibrator in CALIBRATORS:
        marks = [pytest.mark.slow] if calibrator.name in SLOW else []
        yield pytest.param("calibration", calibrator.name, calibrator.example, id=calibrator.name, marks=marks)
    for name, example in EXAMPLES.items():
        yield pytest.param("account", "account", example, id=name)


CASES = pytest.mark.parametrize(("kind", "name", "example"), list(cases()))


@pytest.fixture(scope="module")
def page():
    """Return a function that makes the page of an example, once for each example."""
    pages = {}

    def of(kind, name, example):
        key = kind, name, json.dumps(dict(example))
        if key not in pages:
            subject = question(kind, name)
            pages[key] = make(subject, read(subject.problem, example), example, DATE)
        return pages[key]

    return of


@pytest.fixture
def small(page):
    return page("account", "account", EXAMPLES["several-deltas"])


class Balanced(HTMLParser):
    """A parser that rejects an element that is not closed, or closed out of order; it gathers attributes and text."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes, self.texts = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def parse_page(page):
    reader = Balanced()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@CASES
def test_page_is_a_function_of_its_data(kind, name, example, page):
    text = page(kind, name, example)
    record = open_page(text)
    assert render(record, record["hash"]) == visible(text)
    assert (record["kind"], record["name"], record["date"]) == (kind, name, DATE)
    assert record["request"] == json.loads(json.dumps(dict(example)))
    assert len(record["profile"]) == STEPS + 1


@CASES
def test_page_is_complete_and_loads_nothing(kind, name, example, page):
    text = page(kind, name, example)
    reader = parse_page(text)
    assert {"html", "head", "title", "main", "h1", "svg", "polygon", "footer"} <= set(reader.seen)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & set(reader.seen)
    assert reader.seen.count("script") == 1
    assert ("type", "application/json") in reader.attributes
    assert not [attribute for attribute, _ in reader.attributes if attribute.startswith("on")]
    assert not {"src", "href", "action", "srcset", "data"} & {attribute for attribute, _ in reader.attributes}
    assert not re.search(r"https?://|url\(|@import", text)


@CASES
def test_page_contains_every_statement_of_the_answer(kind, name, example, page):
    html = page(kind, name, example)
    answer = open_page(html)["answer"]
    text = " ".join(" ".join(parse_page(visible(html)).texts).split())
    statements = [warning["message"] for warning in answer["warnings"]]
    statements += [condition["statement"] for condition in answer.get("declared_conditions", ())]
    statements += [step["theorem"] for step in answer["derivation"]]
    statements += [answer["guarantee"][part] for part in ("unit", "relation", "observer")]
    for entry in answer.get("as_printed", ()):
        conditions = [*entry.get("conditions", ())]
        for details in entry.get("by_reading", ()):
            conditions += details.get("conditions", ())
        statements += [condition["statement"] for condition in conditions if "statement" in condition]
    statements += answer.get("risk", {}).get("declared_conditions", ())
    statements += [str(value) for value in answer.get("parameters", {}).values() if isinstance(value, float | int)]
    statements += [answer["engine_version"], DATE, *example]
    if "spec" in example:
        statements += [
            describe_spec(open_page(html)["request"]["spec"], answer["guarantee"]["unit"]),
            meanings.ADVANTAGE,
        ]
    for statement in statements:
        assert " ".join(statement.split()) in text, statement


def test_page_shows_the_requested_figures_and_what_follows_for_all_windows(page):
    figures = {"false_positive_rates": [0.2], "priors": [0.3], "orders": [4.0], "signed_epsilons": [-0.5]}
    request = {
        "spec": {"kind": "gaussian", "noise_multiplier": 4.0},
        "relation": "add-or-remove-one",
        "unit": {"of": "client", "window": "day"},
        "observer": "released-models",
        "windows": 30,
        "query": {"delta": 1e-6, **figures},
    }
    html = page("account", "account", request)
    text = " ".join(" ".join(parse_page(visible(html)).texts).split())
    for shown in (
        "true positives at 0.2 false ones",
        "μ of Gaussian differential privacy",
        "least error with the prior 0.3",
        "Rényi divergence of order 4",
        "δ at ε = -0.5, with against without",
        "δ at ε = -0.5, without against with",
        "ε over 30 windows",
        open_page(html)["answer"]["over_windows"]["in_words"],
    ):
        assert shown in text


@CASES
def test_page_contains_no_raw_key(kind, name, example, page):
    texts = parse_page(visible(page(kind, name, example))).texts
    assert not [
        text
        for text in texts
        if re.fullmatch(r"\w+(\.\w+)+", text.strip())
        and not text.strip()[0].isdigit()
        and text.strip() not in THEOREM_IDS
    ]


@CASES
def test_profile_contains_the_answer_and_is_monotone(kind, name, example, page):
    record = open_page(page(kind, name, example))
    bounds = [
        (_bound(point["log10_delta"]["lower"]), _bound(point["log10_delta"]["upper"])) for point in record["profile"]
    ]
    assert all(lower <= upper for lower, upper in bounds)
    assert all(later[1] <= earlier[1] + 1e-7 for earlier, later in pairwise(bounds))
    if kind == "calibration":
        middle = record["profile"][STEPS // 2]
        guarantee = record["answer"]["guarantee"]
        assert middle["epsilon"] == pytest.approx(guarantee["target"]["epsilon"], rel=1e-12)
        assert _bound(middle["log10_delta"]["upper"]) == pytest.approx(guarantee["log10_delta"]["upper"], rel=2e-8)


def _bound(value):
    return value if isinstance(value, int | float) else float(value.replace("unbounded", "inf"))


def test_same_question_gives_the_same_bytes(small):
    example = EXAMPLES["several-deltas"]
    subject = question("account")
    problem = read(subject.problem, example)
    assert make(subject, problem, example, DATE) == small
    undated = make(subject, problem, example)
    assert DATE not in undated
    assert "not given" in undated
    assert open_page(undated)["date"] == ""
    assert open_page(undated)["hash"] != open_page(small)["hash"]


@pytest.mark.parametrize("text", ["today", "2026-13-01", "", "2026-01-31T00:00", HOSTILE])
def test_invalid_date_is_rejected(text):
    with pytest.raises(InvalidInput, match="/date"):
        read_date(text)


def test_hostile_strings_are_escaped(small):
    record = {name: item for name, item in open_page(small).items() if name not in ("hash", "page")}
    answer = record["answer"]
    hostile = {
        **record,
        "date": HOSTILE,
        "request": {HOSTILE: HOSTILE, "query": {HOSTILE: [HOSTILE]}},
        "answer": {
            **answer,
            "warnings": [{"code": HOSTILE, "message": HOSTILE}],
            "derivation": [{"theorem": HOSTILE, "inputs": {HOSTILE: HOSTILE}, "premises": []}],
            "considered": [{"theorem": HOSTILE, "applies": False, "reason": HOSTILE}],
        },
        "engine_version": HOSTILE,
    }
    made = seal_page(hostile, render)
    reader = parse_page(made)
    assert reader.seen.count("script") == 1
    assert "img" not in reader.seen
    assert made.count("<script") == made.count("</script") == 1
    assert "".join(reader.texts).count("{{ 7 * 7 }}") > 8
    assert open_page(made)["request"] == hostile["request"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda page: page.replace("is protected from", "is not protected from", 1), "visible page"),
        (lambda page: page.replace('"times":10', '"times":11', 1), "do not fit their hash"),
        (lambda page: page.replace(f'"date":"{DATE}"', '"date":"2026-01-30"', 1), "do not fit their hash"),
        (lambda page: page.replace(f"<td>{DATE}", "<td>2026-01-30", 1), "visible page"),
        (lambda page: page + "<script>alert(1)</script>", "visible page"),
        (lambda page: page[: len(page) // 2], "holds no report"),
        (lambda page: page[: page.index(OPENING) + 500], "ends within"),
        (lambda page: page + OPENING + CLOSING, "several"),
        (lambda page: page.replace(OPENING, OPENING + " ", 1), "canonical"),
        (lambda page: page.replace('"kind":"account"', '"kind":"account","kind":"account"', 1), "not JSON"),
        (lambda page: page.replace('"times":10', '"times":NaN', 1), "not JSON"),
        (lambda page: page.replace('"times":10', '"times":1e999', 1), "not JSON"),
        (lambda page: page.replace('"times":10', '"times":' + "[" * 100_000, 1), "not JSON"),
        (lambda page: page.replace('"times":10', '"times":' + "9" * 100_000, 1), "not JSON"),
        (lambda page: page.replace('"profile":', '"outline":', 1), "do not describe a report"),
        (lambda page: page.replace("epsilond-report-1", "epsilond-report-9", 1), "format"),
        (lambda page: re.sub(r'"hash":"\w+"', '"hash":"x"', page, count=1), "hash is none"),
        (lambda page: re.sub(r'"hash":"\w+"', '"hash":7', page, count=1), "do not describe a report"),
        (lambda page: page.replace(open_page(page)["hash"], NO_HASH), "do not fit their hash"),
        (lambda page: page.replace(f"<code>{open_page(page)['hash']}", f"<code>{NO_HASH}", 1), "visible page"),
        (lambda page: page + " " * LARGEST_PAGE, "longer than"),
        (lambda _: "", "holds no report"),
        (lambda _: OPENING + "[]" + CLOSING, "do not describe a report"),
        (lambda _: OPENING + "null" + CLOSING, "do not describe a report"),
    ],
)
def test_altered_page_is_rejected(change, message, small):
    with pytest.raises(Broken, match=message):
        open_page(change(small))


def test_too_deep_request_is_rejected():
    mechanism = {"kind": "gaussian", "noise_multiplier": 5.0}
    for _ in range(20):
        mechanism = {"kind": "repeated", "times": 1, "mechanism": mechanism}
    body = {"spec": mechanism, "relation": "replace-one", "query": {"delta": 1e-5}}
    body |= {"unit": "record", "observer": "released-models"}
    subject = question("account")
    with pytest.raises(InvalidInput, match="cannot be carried"):
        make(subject, read(subject.problem, body), body)


@pytest.mark.parametrize(
    ("kind", "name", "pointer"),
    [
        ("plan", None, "/kind"),
        ("calibration", None, "/algorithm"),
        ("calibration", "x", "/algorithm"),
        ("account", "gaussian", "/algorithm"),
    ],
)
def test_unknown_question_is_rejected(kind, name, pointer):
    with pytest.raises(InvalidInput) as caught:
        question(kind, name)
    assert caught.value.faults[0].pointer == pointer


def test_every_calibrator_has_a_report():
    assert {name for kind, name in QUESTIONS if kind == "calibration"} == {
        calibrator.name for calibrator in CALIBRATORS
    }


@pytest.mark.parametrize(
    ("table", "literal"),
    [
        (words.UNITS, Unit),
        (words.OBSERVERS, Observer),
        (words.RELATIONS, Relation),
        (words.SAMPLINGS, Sampling),
        (words.TIGHT, Tightness),
    ],
)
def test_every_value_has_words(table, literal):
    assert set(table) == set(get_args(literal))


def test_every_definition_has_words():
    assert set(get_args(get_type_hints(GuaranteeAnswer)["definition"])) == set(words.DEFINITIONS)


def test_claim_is_judged_in_words():
    example = EXAMPLES["sampled-gaussian"]
    subject = question("account")
    for epsilon, verdict in ((3.0, "holds."), (1.0, "does not hold.")):
        body = {**example, "claim": {"epsilon": epsilon, "delta": 1e-6}}
        assert f"The claim ε = {epsilon:g} at δ = 1e-6 {verdict}" in make(subject, read(subject.problem, body), body)


def test_verdicts_of_earlier_engines_are_compared():
    def record(holds, version):
        return {"answer": {"claim": {"holds": holds, "epsilon": 3.0}}, "profile": [], "engine_version": version}

    for before, today in ((True, "yes"), (False, "no"), ("undecidable", "undecidable")):
        assert compare_records(record(before, "0.1.0"), record(today, "9.0.0")) == ("within-the-certificate", ())
    for before, today in ((True, "no"), (False, "yes"), (True, "undecidable"), ("no", "yes")):
        outcome = compare_records(record(before, "0.1.0"), record(today, "9.0.0"))
        assert outcome == ("contradicts", ("/answer/claim/holds",))
    assert compare_records(record(True, "9.0.0"), record("yes", "9.0.0"))[0] == "contradicts"


def test_profile_without_finite_points_is_not_drawn():
    points = [
        {"epsilon": float(place), "log10_delta": {"lower": "-unbounded", "upper": "-unbounded"}} for place in (0, 1)
    ]
    assert drawing(points, None) is None


def test_drawing_is_inside_its_frame_with_the_target_on_the_curve():
    subject = question("calibration", "gaussian")
    answer = subject.answer_problem(
        read(subject.problem, next(calibrator.example for calibrator in CALIBRATORS if calibrator.name == "gaussian"))
    )
    target = answer.answer["guarantee"]["target"]
    picture = drawing(answer.profile, (target["epsilon"], target["log10_delta"]))
    places = [tuple(map(float, point.split(","))) for point in f"{picture.band} {picture.upper}".split()]
    assert all(picture.left <= across <= picture.right and picture.top <= up <= picture.bottom for across, up in places)
    line = [tuple(map(float, point.split(","))) for point in picture.upper.split()]
    assert line[STEPS // 2] == pytest.approx(picture.target, abs=0.02)


@pytest.mark.parametrize("epsilon", [0.0, float("inf"), 2.0])
def test_profile_has_finite_epsilons(epsilon):
    curve = account(Gaussian(noise_multiplier=2.0), relation="replace-one").guarantee.curve
    places = [point["epsilon"] for point in profile(curve, epsilon)]
    assert places[0] == 0.0
    assert places[-1] == (4.0 if epsilon == 2.0 else 2.0)
