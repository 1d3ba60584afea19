"""python -m benchmarks.everyday: each question is new, can be asked, and its cost is written as it was measured."""

import re
import subprocess
import sys

import pytest

import epsilond
from benchmarks import everyday, tables
from benchmarks.everyday import CSV, EXAMPLES, MOVED, PLAN, scale_body
from benchmarks.measuring import CHANGE
from benchmarks.rows import Row
from benchmarks.specs import SPECS
from epsilond.calibrators.accounts import AccountProblem
from epsilond.reading import read


def numbers(body):
    """Return every value in a body, by its place."""
    if isinstance(body, dict):
        return {(name, *place): each for name, value in body.items() for place, each in numbers(value).items()}
    if isinstance(body, list | tuple):
        return {(index, *place): each for index, value in enumerate(body) for place, each in numbers(value).items()}
    return {(): body}


@pytest.mark.parametrize(
    "body",
    [*EXAMPLES.values(), PLAN, *(setting.spec for setting in SPECS.values())],
    ids=lambda body: body.get("kind", ""),
)
def test_a_question_is_new_at_each_place_and_hardly_another(body):
    as_written, later = numbers(scale_body(body, 0)), numbers(scale_body(body, 3))
    assert as_written == numbers(body)
    changed = {place for place, value in later.items() if value != as_written[place]}
    assert changed
    for place in changed:
        assert set(place) & MOVED
        assert later[place] / as_written[place] - 1.0 == pytest.approx(3 * CHANGE, rel=1e-6)


def test_counts_and_words_stay():
    body = {"epsilon": 1, "rounds": 7, "noise_schedule": {"kind": "constant", "value": 2.0}, "radius": 5.0}
    assert scale_body(body, 10**6) == {**body, "noise_schedule": {"kind": "constant", "value": 2.0 * 1.01}}


def test_every_algorithm_is_asked_for_its_example_and_a_picture():
    for group in ("example", "picture"):
        asked = [name for kind, name in everyday.questions() if kind == group]
        assert asked == [each.name for each in epsilond.CALIBRATORS]


@pytest.mark.parametrize("name", SPECS)
def test_specs_can_be_asked(name):
    spec, relation, observer = SPECS[name]
    setting = {"relation": relation, "observer": observer, "unit": "record"}
    assert read(AccountProblem, {"spec": spec, "query": {"delta": everyday.DELTA}, **setting}).spec.kind == spec["kind"]


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


def test_what_takes_over_half_a_second_an_answer_is_named_and_what_lacks_too():
    def row(group, case, cpu, reason=""):
        outcome = "answered" if cpu else "over"
        known = {"outcome": outcome, "date": "2026-01-01", "megabytes": 100.0}
        return Row(group=group, case=case, accountant="epsilond", cpu=cpu, reason=reason, **known)

    (quick, slow), (first, *_) = list(SPECS)[:2], EXAMPLES
    rows = [
        row("ε", quick, 1e-3),
        row("account", quick, 0.7),
        row("picture", first, 6.0),
        row("ε", slow, None, "120 s"),
    ]
    section = everyday.section({(row.group, row.case): row for row in rows})
    assert f"Above 0.5 s of CPU an answer: account of {quick} (700 ms), ε of {slow} (120 s)." in section
    assert f"| {quick} | 1 ms | 700 ms | 700× | 100 MB |" in section
    assert f"example of {first}, " in section.partition("Not measured yet: ")[2].partition("**")[0]


def test_the_document_is_that_of_the_rows():
    """It has the tables of the rows; the line of the machine and the questions without rows may be others."""
    text = tables.DOCUMENT.read_text(encoding="utf-8")
    written = text.partition("<!-- begin everyday -->\n")[2].partition("\n<!-- end everyday -->")[0]
    assert _tables(written) == _tables(everyday.section(everyday.known_rows()))


def _tables(text: str) -> list[str]:
    """Return the lines below the line of the machine, without those that say what is not measured."""
    return [line for line in text.strip().splitlines()[1:] if line and not line.startswith("**Not measured yet")]


def test_the_short_form_measures_and_writes_nothing():
    """In a process of its own: a fork of this one, which may have threads, may wait forever."""
    files = (CSV, tables.DOCUMENT)
    before = [path.read_bytes() for path in files]
    command = [sys.executable, "-m", "benchmarks.everyday", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    for name in everyday.SHORT:
        assert re.search(rf"^\S+  {re.escape(name)}  [0-9.]+ .?s$", done.stdout, re.MULTILINE), name
    assert "Kinds of specs" in done.stdout
    assert [path.read_bytes() for path in files] == before
