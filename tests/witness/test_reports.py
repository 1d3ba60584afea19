"""Reports: whole pages, safe whatever is put into them, the same from the same data, broken by any change."""

import json
import re
from html.parser import HTMLParser
from typing import get_args, get_type_hints

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import Tightness
from epsilond.accountants.quantities import Observer, Relation, Sampling, Unit
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
THEOREM_IDS = {each.id for each in THEOREMS}
VOID = {"meta", "circle", "line", "polygon", "polyline", "br", "img", "link"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}\u2028"


def cases():
    for each in CALIBRATORS:
        marks = [pytest.mark.slow] if each.name in SLOW else []
        yield pytest.param("calibration", each.name, each.example, id=each.name, marks=marks)
    for name, example in EXAMPLES.items():
        yield pytest.param("account", "account", example, id=name)


CASES = pytest.mark.parametrize(("kind", "name", "example"), list(cases()))


@pytest.fixture(scope="module")
def page():
    """The page of an example, made once."""
    made = {}

    def of(kind, name, example):
        key = kind, name, json.dumps(dict(example))
        if key not in made:
            asked = question(kind, name)
            made[key] = make(asked, read(asked.problem, example), example, DATE)
        return made[key]

    return of


@pytest.fixture
def small(page):
    return page("account", "account", EXAMPLES["several-deltas"])


class Balanced(HTMLParser):
    """Refuses an element that is not closed, or closed out of order; gathers attributes and text."""

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


def parsed(page):
    reader = Balanced()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@CASES
def test_a_page_is_rendered_again_from_its_own_data(kind, name, example, page):
    made = page(kind, name, example)
    found = open_page(made)
    assert render(found, found["hash"]) == visible(made)
    assert (found["kind"], found["name"], found["date"]) == (kind, name, DATE)
    assert found["request"] == json.loads(json.dumps(dict(example)))
    assert len(found["profile"]) == STEPS + 1


@CASES
def test_a_page_is_whole_and_asks_for_nothing(kind, name, example, page):
    made = page(kind, name, example)
    reader = parsed(made)
    assert {"html", "head", "title", "main", "h1", "svg", "polygon", "footer"} <= set(reader.seen)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & set(reader.seen)
    assert reader.seen.count("script") == 1
    assert ("type", "application/json") in reader.attributes
    assert not [attribute for attribute, _ in reader.attributes if attribute.startswith("on")]
    assert not {"src", "href", "action", "srcset", "data"} & {attribute for attribute, _ in reader.attributes}
    assert not re.search(r"https?://|url\(|@import", made)


@CASES
def test_the_page_says_everything_of_the_answer(kind, name, example, page):
    made = page(kind, name, example)
    answer = open_page(made)["answer"]
    text = " ".join(" ".join(parsed(visible(made)).texts).split())
    wanted = [warning["message"] for warning in answer["warnings"]]
    wanted += [each["statement"] for each in answer.get("declared_conditions", ())]
    wanted += [step["theorem"] for step in answer["derivation"]]
    wanted += [answer["guarantee"][part] for part in ("unit", "relation", "observer")]
    wanted += [one["statement"] for each in answer.get("as_printed", ()) for one in each.get("conditions", ())]
    wanted += [
        one["statement"]
        for each in answer.get("as_printed", ())
        for details in each.get("by_reading", ())
        for one in details.get("conditions", ())
        if "statement" in one
    ]
    wanted += answer.get("risk", {}).get("declared_conditions", ())
    wanted += [str(value) for value in answer.get("parameters", {}).values() if isinstance(value, float | int)]
    wanted += [answer["engine_version"], DATE, *example]
    if "spec" in example:
        wanted += [describe_spec(open_page(made)["request"]["spec"], answer["guarantee"]["unit"]), meanings.ADVANTAGE]
    for each in wanted:
        assert " ".join(each.split()) in text, each


@CASES
def test_no_raw_key_of_the_data_stands_on_the_page(kind, name, example, page):
    texts = parsed(visible(page(kind, name, example))).texts
    assert not [
        text
        for text in texts
        if re.fullmatch(r"\w+(\.\w+)+", text.strip())
        and not text.strip()[0].isdigit()
        and text.strip() not in THEOREM_IDS
    ]


@CASES
def test_the_band_holds_the_answer_and_falls(kind, name, example, page):
    found = open_page(page(kind, name, example))
    ends = [(_end(point["log10_delta"]["lower"]), _end(point["log10_delta"]["upper"])) for point in found["profile"]]
    assert all(lower <= upper for lower, upper in ends)
    assert all(later[1] <= one[1] + 1e-7 for one, later in zip(ends, ends[1:], strict=False))
    if kind == "calibration":
        middle = found["profile"][STEPS // 2]
        guarantee = found["answer"]["guarantee"]
        assert middle["epsilon"] == pytest.approx(guarantee["target"]["epsilon"], rel=1e-12)
        assert _end(middle["log10_delta"]["upper"]) == pytest.approx(guarantee["log10_delta"]["upper"], rel=2e-8)


def _end(value):
    return value if isinstance(value, int | float) else float(value.replace("unbounded", "inf"))


def test_the_same_question_gives_the_same_bytes_and_the_date_is_the_callers(small):
    example = EXAMPLES["several-deltas"]
    asked = question("account")
    problem = read(asked.problem, example)
    assert make(asked, problem, example, DATE) == small
    undated = make(asked, problem, example)
    assert DATE not in undated
    assert "not given" in undated
    assert open_page(undated)["date"] == ""
    assert open_page(undated)["hash"] != open_page(small)["hash"]


@pytest.mark.parametrize("text", ["today", "2026-13-01", "", "2026-01-31T00:00", HOSTILE])
def test_a_date_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput, match="/date"):
        read_date(text)


def test_no_string_breaks_out_of_the_page(small):
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
    reader = parsed(made)
    assert reader.seen.count("script") == 1
    assert "img" not in reader.seen
    assert made.count("<script") == made.count("</script") == 1
    assert "".join(reader.texts).count("{{ 7 * 7 }}") > 8
    assert open_page(made)["request"] == hostile["request"]


@pytest.mark.parametrize(
    ("change", "said"),
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
        (lambda page: page.replace('"profile":', '"outline":', 1), "not those of a report"),
        (lambda page: page.replace("epsilond-report-1", "epsilond-report-9", 1), "format"),
        (lambda page: re.sub(r'"hash":"\w+"', '"hash":"x"', page, count=1), "hash is none"),
        (lambda page: re.sub(r'"hash":"\w+"', '"hash":7', page, count=1), "not those of a report"),
        (lambda page: page.replace(open_page(page)["hash"], NO_HASH), "do not fit their hash"),
        (lambda page: page.replace(f"<code>{open_page(page)['hash']}", f"<code>{NO_HASH}", 1), "visible page"),
        (lambda page: page + " " * LARGEST_PAGE, "longer than"),
        (lambda _: "", "holds no report"),
        (lambda _: OPENING + "[]" + CLOSING, "not those of a report"),
        (lambda _: OPENING + "null" + CLOSING, "not those of a report"),
    ],
)
def test_a_changed_page_is_broken(change, said, small):
    with pytest.raises(Broken, match=said):
        open_page(change(small))


def test_a_request_that_no_report_can_carry_is_refused():
    mechanism = {"kind": "gaussian", "noise_multiplier": 5.0}
    for _ in range(20):
        mechanism = {"kind": "repeated", "times": 1, "mechanism": mechanism}
    body = {"spec": mechanism, "relation": "replace-one", "query": {"delta": 1e-5}}
    body |= {"unit": "record", "observer": "released-models"}
    asked = question("account")
    with pytest.raises(InvalidInput, match="cannot be carried"):
        make(asked, read(asked.problem, body), body)


@pytest.mark.parametrize(
    ("kind", "name", "pointer"),
    [
        ("plan", None, "/kind"),
        ("calibration", None, "/algorithm"),
        ("calibration", "x", "/algorithm"),
        ("account", "gaussian", "/algorithm"),
    ],
)
def test_a_question_that_is_none_is_refused(kind, name, pointer):
    with pytest.raises(InvalidInput) as caught:
        question(kind, name)
    assert caught.value.faults[0].pointer == pointer


def test_every_calibrator_can_be_reported():
    assert {name for kind, name in QUESTIONS if kind == "calibration"} == {each.name for each in CALIBRATORS}


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
def test_there_are_words_for_every_value(table, literal):
    assert set(table) == set(get_args(literal))


def test_there_are_words_for_every_definition():
    assert set(get_args(get_type_hints(GuaranteeAnswer)["definition"])) == set(words.DEFINITIONS)


def test_a_claim_is_judged_in_words():
    example = EXAMPLES["sampled-gaussian"]
    asked = question("account")
    for epsilon, verdict in ((3.0, "holds."), (1.0, "does not hold.")):
        body = {**example, "claim": {"epsilon": epsilon, "delta": 1e-6}}
        assert f"The claim ε = {epsilon:g} at δ = 1e-6 {verdict}" in make(asked, read(asked.problem, body), body)


def test_a_verdict_of_an_earlier_engine_is_compared_in_the_words_of_this_one():
    def record(holds, version):
        return {"answer": {"claim": {"holds": holds, "epsilon": 3.0}}, "profile": [], "engine_version": version}

    for before, today in ((True, "yes"), (False, "no"), ("undecidable", "undecidable")):
        assert compare_records(record(before, "0.1.0"), record(today, "9.0.0")) == ("within-the-certificate", ())
    for before, today in ((True, "no"), (False, "yes"), (True, "undecidable"), ("no", "yes")):
        outcome = compare_records(record(before, "0.1.0"), record(today, "9.0.0"))
        assert outcome == ("contradicts", ("/answer/claim/holds",))
    assert compare_records(record(True, "9.0.0"), record("yes", "9.0.0"))[0] == "contradicts"


def test_a_profile_without_a_finite_part_is_not_drawn():
    points = [
        {"epsilon": float(place), "log10_delta": {"lower": "-unbounded", "upper": "-unbounded"}} for place in (0, 1)
    ]
    assert drawing(points, None) is None


def test_the_drawing_stays_in_its_frame_and_puts_the_target_on_the_curve():
    asked = question("calibration", "gaussian")
    answer = asked.answer_problem(
        read(asked.problem, next(each.example for each in CALIBRATORS if each.name == "gaussian"))
    )
    target = answer.answer["guarantee"]["target"]
    drawn = drawing(answer.profile, (target["epsilon"], target["log10_delta"]))
    places = [tuple(map(float, point.split(","))) for point in f"{drawn.band} {drawn.upper}".split()]
    assert all(drawn.left <= across <= drawn.right and drawn.top <= up <= drawn.bottom for across, up in places)
    line = [tuple(map(float, point.split(","))) for point in drawn.upper.split()]
    assert line[STEPS // 2] == pytest.approx(drawn.target, abs=0.02)


@pytest.mark.parametrize("epsilon", [0.0, float("inf"), 2.0])
def test_a_profile_has_finite_places_around_any_epsilon(epsilon):
    asked = question("account")
    curve = None
    from epsilond.accountants.account import account
    from epsilond.accountants.specs import Gaussian

    curve = account(Gaussian(noise_multiplier=2.0), relation="replace-one").guarantee.curve
    places = [point["epsilon"] for point in profile(curve, epsilon)]
    assert places[0] == 0.0
    assert places[-1] == (4.0 if epsilon == 2.0 else 2.0)
    assert asked.parameters is None
