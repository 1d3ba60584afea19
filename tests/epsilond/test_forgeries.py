"""Forged reports: every way to make `verify` confirm a page that the engine did not write, one test for each.

A forger knows everything that the engine knows, and computes both hashes anew. What remains is that the answer follows
from the request, and the page from the answer.
"""

import json
import re

import pytest

import epsilond
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.questions import report as reporting
from epsilond.witness.reports.canonical import canonical, digest
from epsilond.witness.reports.inert import is_inert
from epsilond.witness.reports.page import render
from epsilond.witness.reports.record import (
    _ESCAPES,
    CLOSING,
    NO_HASH,
    OPENING,
    open_page,
    seal_page,
    visible,
    without_data,
)
from tests.epsilond.test_reporting import setting

GAUSSIAN = next(dict(each.example) for each in CALIBRATORS if each.name == "gaussian")
ACCOUNT = {
    "spec": {"kind": "gaussian", "noise_multiplier": 2.0},
    "relation": "replace-one",
    "query": {"delta": 1e-5},
    "claim": {"epsilon": 5.0, "delta": 1e-5},
    "unit": "record",
    "observer": "server",
}
UNWITNESSED = {
    "spec": {
        "kind": "projected_sgd",
        "clients": 200,
        "participants": 2,
        "lipschitz": 1.0,
        "radius": 8.0,
        "smoothness": 1.0,
        "release": "random-stop",
    }
    | {"step_schedule": {"kind": "constant", "value": 0.5}, "noise_schedule": {"kind": "constant", "value": 1.0}},
    "relation": "replace-one",
    "observer": "final-model",
    "query": {"delta": 1e-5},
    "unit": "record",
}
OTHER = "0.0.9"
SCRIPT = "<script>document.querySelector('.headline').textContent = 'ε = 0.01'</script>"


@pytest.fixture(scope="module")
def page():
    return epsilond.report("calibration", "gaussian", request=GAUSSIAN, date="2026-01-31")


@pytest.fixture(scope="module")
def account():
    return epsilond.report("account", request=ACCOUNT, date="2026-01-31")


@pytest.fixture(scope="module")
def unwitnessed():
    return epsilond.report("account", request=UNWITNESSED)


def data_of(page):
    return {name: item for name, item in open_page(page).items() if name not in ("hash", "page")}


def forged(page, change=lambda _: None, *, shown=lambda text: text):
    """A page of changed data, its visible text changed too, with both hashes computed anew."""
    record = data_of(page)
    change(record)
    return seal_page(record, lambda *given: shown(render(*given)))


def resealed(text):
    """Any text with one place for the data in it, with both hashes computed anew, without the engine's own writing."""
    record = data_of(text)
    shown = visible(text).replace(open_page(text)["hash"], NO_HASH)
    with_page = {**record, "page": digest(shown)}
    seal = digest(canonical(with_page))
    data = canonical({**with_page, "hash": seal}).translate(_ESCAPES)
    return shown.replace(NO_HASH, seal).replace(OPENING + CLOSING, OPENING + data + CLOSING, 1)


def of_engine(version, *, answer=None):
    def change(record):
        record["engine_version"] = version
        record["answer"]["engine_version"] = answer or version

    return change


def both(*changes):
    def change(record):
        for each in changes:
            each(record)

    return change


def lie(text):
    return re.sub(
        r"(?s)<main>.*</main>", "<main><p>Everything is protected, with ε at most 0.01 at δ = 1e-12.</p></main>", text
    )


def test_what_is_not_forged_agrees_exactly(page, account, unwitnessed):
    for each in (page, account, unwitnessed):
        assert epsilond.verify(each).outcome == "exactly"
        assert resealed(each) == each


# The forgery that was found: another version in the record alone, and a page of one's own.


def test_a_record_that_names_another_engine_than_its_answer_is_broken(page):
    found = epsilond.verify(forged(page, setting("engine_version", to=OTHER), shown=lie))
    assert (found.outcome, found.agrees) == ("broken", False)
    assert "two engines" in found.reason


def test_a_page_of_ones_own_under_another_engines_name_is_not_confirmed(page):
    found = epsilond.verify(forged(page, of_engine(OTHER), shown=lie))
    assert (found.outcome, found.agrees) == ("broken", False)
    assert "writes a different page" in found.reason


@pytest.mark.parametrize("version", [epsilond.ENGINE_VERSION, OTHER])
def test_a_script_in_the_place_of_the_policy_is_broken(version, page):
    policy = re.search(r"<meta http-equiv[^>]*>", page)[0]
    found = epsilond.verify(forged(page, of_engine(version), shown=lambda text: text.replace(policy, SCRIPT)))
    assert found.outcome == "broken"


def test_another_engines_report_without_its_warnings_and_conditions_is_not_confirmed(page):
    def change(record):
        record["answer"]["warnings"] = []
        record["answer"]["declared_conditions"] = []

    found = epsilond.verify(forged(page, both(of_engine(OTHER), change)))
    assert (found.outcome, found.agrees) == ("another-engine", False)
    assert "/answer/declared_conditions" in found.explained_otherwise
    assert found.declared_conditions == tuple(
        each["statement"] for each in open_page(page)["answer"]["declared_conditions"]
    )


@pytest.mark.parametrize("version", ["0.1.0, audited by the regulator", "0.1.\u043e", "", "1" * 50, "0.1.0\n"])
def test_what_stands_for_an_engine_is_a_version(version, page):
    assert epsilond.verify(forged(page, of_engine(version))).outcome == "broken"


@pytest.mark.parametrize("date", ["2026-01-31, approved", "\u202e31-01-2026", "20260131", "soon", " "])
@pytest.mark.parametrize("version", [epsilond.ENGINE_VERSION, OTHER])
def test_what_stands_for_the_date_is_one(date, version, page):
    found = epsilond.verify(forged(page, both(of_engine(version), setting("date", to=date))))
    assert (found.outcome, "date" in found.reason) == ("broken", True)


# Figures.


@pytest.mark.parametrize("part", ["epsilon", "delta", "log10_delta"])
def test_an_upper_end_that_was_lowered_contradicts_though_the_enclosures_meet(part, unwitnessed):
    record = data_of(unwitnessed)
    assert record["answer"]["guarantee"]["epsilon"]["lower"] == 0.0
    ends = record["answer"]["guarantee"][part]
    lowered = {"lower": ends["lower"], "upper": ends["upper"] / 10 if ends["upper"] > 0 else ends["upper"] * 1.1}
    if part != "epsilon":
        lowered = {"lower": lowered["upper"], "upper": lowered["upper"]}
    change = setting("answer", "guarantee", part, to=lowered)
    assert epsilond.verify(forged(unwitnessed, change)).outcome == "contradicts"


def test_an_upper_end_that_was_lowered_is_not_confirmed_of_another_engine_either(unwitnessed):
    ends = data_of(unwitnessed)["answer"]["guarantee"]["epsilon"]
    lowered = setting("answer", "guarantee", "epsilon", to={"lower": 0.0, "upper": ends["upper"] / 10})
    found = epsilond.verify(forged(unwitnessed, both(of_engine(OTHER), lowered)))
    assert (found.outcome, found.differences) == ("not-confirmed", ("/answer/guarantee/epsilon",))
    raised = setting("answer", "guarantee", "epsilon", to={"lower": 0.0, "upper": ends["upper"] * 10})
    assert epsilond.verify(forged(unwitnessed, both(of_engine(OTHER), raised))).outcome == "another-engine"


def test_a_profile_that_was_lowered_contradicts(unwitnessed):
    def change(record):
        for point in record["profile"]:
            upper = point["log10_delta"]["upper"]
            point["log10_delta"]["upper"] = upper * 1.5 if isinstance(upper, float) else upper

    assert epsilond.verify(forged(unwitnessed, change)).outcome == "contradicts"


def test_the_answer_to_another_request_contradicts(page):
    weaker = data_of(
        epsilond.report(
            "calibration", "gaussian", request={**GAUSSIAN, "epsilon": 8.0, "unit": "record", "observer": "server"}
        )
    )

    def change(record):
        record["answer"], record["profile"] = weaker["answer"], weaker["profile"]

    assert epsilond.verify(forged(page, change)).outcome == "contradicts"
    assert epsilond.verify(forged(page, setting("request", "epsilon", to=0.5))).outcome == "contradicts"


@pytest.mark.parametrize(
    "value", [10**300, 10**400, -1, True, "1", "unbounded", [], {}, {"upper": 1}, {"lower": 0.0, "upper": 0.0, "x": 0}]
)
def test_no_figure_can_be_something_else(value, page):
    for path in (("answer", "guarantee", "epsilon"), ("answer", "parameters", "noise_multiplier")):
        found = forged_bare(page, setting(*path, to=value))
        assert epsilond.verify(found).outcome in ("contradicts", "broken")


def forged_bare(page, change):
    """As `forged`, but the visible page is the old one: these data may have no page."""
    record = data_of(page)
    change(record)
    old = visible(page).replace(open_page(page)["hash"], NO_HASH)
    return seal_page(record, lambda _, seal: old.replace(NO_HASH, seal))


@pytest.mark.parametrize("version", [epsilond.ENGINE_VERSION, OTHER])
@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "ε", "epsilon ", "\u0435psilon", ""])
def test_no_member_can_be_added(name, version, page):
    for outer in (("request",), ("answer",), ("answer", "guarantee"), ("answer", "parameters"), ("profile", 0)):
        found = epsilond.verify(forged_bare(page, both(of_engine(version), setting(*outer, name, to={"x": 1}))))
        assert not found.agrees
        assert found.outcome in ("contradicts", "refused", "broken") or found.explained_otherwise
    assert "do not describe a report" in epsilond.verify(forged_bare(page, setting(name or "x", to={}))).reason


@pytest.mark.parametrize("body", [{"claim": None}, {"claim": {**ACCOUNT["claim"], "log10_delta": None}}])
def test_a_request_that_no_service_takes_is_broken(body, account):
    def change(record):
        record["request"].update(body)
        if body["claim"] is None:
            del record["answer"]["claim"]

    assert epsilond.verify(forged(account, change)).outcome == "broken"


# The page. Each of these was a page that fits both its hashes.

HIDE = ".headline p { visibility: hidden; } .headline::before { content: 'ε at most 0.01'; }"
ADDITIONS = {
    "script": lambda text: text.replace("</body>", f"{SCRIPT}</body>"),
    "script in capitals": lambda text: text.replace("</body>", "<SCRIPT src=//x.example/a></SCRIPT></body>"),
    "script in the drawing": lambda text: text.replace("</svg>", "<script>alert(1)</script></svg>"),
    "second data": lambda text: text.replace("<main>", OPENING.replace("report", "other") + "{}" + CLOSING + "<main>"),
    "event handler": lambda text: text.replace("<body>", '<body onload="alert(1)">'),
    "event handler without quotes": lambda text: text.replace("<body>", "<body onload=alert(1)>"),
    "style attribute": lambda text: text.replace("<main>", '<main style="display:none">'),
    "refresh": lambda text: text.replace("<title>", '<meta http-equiv="refresh" content="0;url=//x.example"><title>'),
    "base": lambda text: text.replace("<title>", '<base href="//x.example"><title>'),
    "frame": lambda text: text.replace("<main>", '<iframe srcdoc="ε = 0.01"></iframe><main>'),
    "object": lambda text: text.replace("<main>", '<object data="//x.example"></object><main>'),
    "image": lambda text: text.replace("<main>", '<img src="//x.example/a.png"><main>'),
    "link": lambda text: text.replace("<title>", '<link rel="stylesheet" href="//x.example/a.css"><title>'),
    "form": lambda text: text.replace("<main>", '<form action="//x.example"><input></form><main>'),
    "template": lambda text: text.replace("<main>", "<template><main>").replace("</main>", "</main></template>"),
    "text area": lambda text: text.replace("<main>", "<textarea><main>"),
    "plain text": lambda text: text.replace("<main>", "<plaintext><main>"),
    "comment": lambda text: text.replace("<main>", "<!-- <main>").replace("</main>", "</main> -->"),
    "comment that a browser ends elsewhere": lambda text: text.replace("<main>", "<!--><main>"),
    "CDATA": lambda text: text.replace("</svg>", "<![CDATA[ε]]></svg>"),
    "processing instruction": lambda text: text.replace("<main>", "<?xml version='1.0'?><main>"),
    "foreign content": lambda text: text.replace("</svg>", "<foreignObject><p>ε = 0.01</p></foreignObject></svg>"),
    "animation": lambda text: text.replace("</svg>", '<animate attributeName="points"></animate></svg>'),
    "tag cut short": lambda text: text.replace("<main>", "<main <script>"),
    "attribute that breaks out": lambda text: text.replace("<main>", "<main class='\"><script>alert(1)</script>'>"),
    "another host in the style": lambda text: text.replace("</style>", "p { background: url(//x.example); }</style>"),
    "an escaped one": lambda text: text.replace("</style>", "p { background: \\75rl(//x.example); }</style>"),
    "imported style": lambda text: text.replace("<style>", "<style>@import '//x.example';"),
    "second style": lambda text: text.replace("</body>", f"<style>{HIDE}</style></body>"),
    "no policy": lambda text: re.sub(r"<meta http-equiv[^>]*>\n", "", text),
    "weaker policy": lambda text: text.replace("default-src 'none'", "default-src *"),
    "policy after the style": lambda text: re.sub(
        r"(?s)(<meta http-equiv[^>]*>\n)(.*?</style>\n)", r"\2\1", text, count=1
    ),
}
"""What is broken whatever engine it names."""
ALTERATIONS = {
    "second main": lambda text: text.replace("</main>", "</main><main><p>ε at most 0.01</p></main>"),
    "no main": lie,
    "hiding style": lambda text: text.replace("</style>", f"{HIDE}</style>"),
    "covering style": lambda text: text.replace("</style>", "footer { position: fixed; inset: 0; }</style>"),
    "another word": lambda text: text.replace("at most", "about", 1),
    "another digit": lambda text: re.sub(r"ε at most \d", "ε at most 0", text, count=1),
    "homoglyph": lambda text: text.replace("protected", "pr\u043etected", 1),
    "other normal form": lambda text: text.replace("ε", "\u03f5", 1),
    "right to left": lambda text: text.replace("at most", "\u202eat most\u202c", 1),
    "zero width": lambda text: text.replace("at most", "at mo\u200bst", 1),
    "title": lambda text: text.replace("<title>", "<title>Approved: ", 1),
    "kinder word": lambda text: text.replace("Sign the hash", "Trust the hash", 1),
    "white space": lambda text: text.replace("<main>", "<main> ", 1),
    "after the end": lambda text: text + "<p>ε at most 0.01</p>",
    "line after the end": lambda text: text + "\n",
    "before the beginning": lambda text: "\n" + text,
    "no end": lambda text: text.replace("</html>", ""),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "byte order mark": lambda text: "\ufeff" + text,
    "null": lambda text: text.replace("at most", "at\x00 most", 1),
    "entity": lambda text: text.replace("ε", "&epsilon;", 1),
}
"""What no engine of this version writes."""


def each_of(changes):
    return pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in changes.items()])


@each_of(ADDITIONS)
@pytest.mark.parametrize("version", [epsilond.ENGINE_VERSION, OTHER])
def test_what_no_report_holds_is_broken_whatever_engine_it_names(change, version, account):
    altered = forged(account, of_engine(version), shown=change)
    assert visible(altered) != visible(forged(account, of_engine(version)))
    assert epsilond.verify(altered).outcome == "broken"


@each_of(ALTERATIONS)
def test_what_this_engine_does_not_write_is_broken(change, account):
    altered = forged(account, shown=change)
    assert visible(altered) != visible(account)
    found = epsilond.verify(altered)
    assert (found.outcome, found.agrees) == ("broken", False)


@each_of(ALTERATIONS)
def test_no_page_of_another_engine_is_confirmed(change, account):
    found = epsilond.verify(forged(account, of_engine(OTHER), shown=change))
    assert found.outcome == "broken"


@each_of(ADDITIONS | ALTERATIONS)
def test_without_new_hashes_every_change_is_broken(change, account):
    assert epsilond.verify(change(account)).outcome == "broken"


def test_two_records_or_one_within_the_other_are_broken(page):
    data = page.partition(OPENING)[2].partition(CLOSING)[0]
    for text in (page + OPENING + data + CLOSING, page.replace("<main>", OPENING + data + CLOSING + "<main>", 1)):
        assert epsilond.verify(text).outcome == "broken"
    assert epsilond.verify(page.replace(data, data[:-1] + ',"hash":"' + "0" * 64 + '"}')).outcome == "broken"


def test_a_page_in_another_encoding_is_broken(page, tmp_path):
    file = tmp_path / "report.html"
    for encoding in ("utf-16", "utf-8-sig", "utf-7", "iso8859_7"):
        file.write_bytes(page.encode(encoding, "xmlcharrefreplace"))
        assert epsilond.verify(reporting.read_page(file)).outcome == "broken"
    file.write_bytes(page.encode())
    assert epsilond.verify(reporting.read_page(file)).outcome == "exactly"


@pytest.mark.parametrize("name", EXAMPLES)
def test_reports_themselves_are_inert(name, page):
    assert is_inert(without_data(page))
    assert is_inert(without_data(epsilond.report("account", request=EXAMPLES[name])))


# What is said of it.


def test_what_was_verified_is_todays_and_not_the_reports(page):
    found = epsilond.verify(forged(page, setting("answer", "parameters", "noise_multiplier", to=0.5)))
    assert found.outcome == "contradicts"
    assert (
        found.recomputed["parameters"]["noise_multiplier"] == data_of(page)["answer"]["parameters"]["noise_multiplier"]
    )
    assert found.headline == epsilond.verify(page).headline != ()
    assert json.loads(json.dumps(epsilond.as_json(found)))["recomputed"]["guarantee"]["epsilon"]["upper"] < 1.0


def test_last_digits_of_another_processor_are_the_only_ones_that_may_differ(page):
    def shifted(factor):
        def change(record):
            for answer in (record["answer"], record["answer"]["guarantee"]):
                for name in ("parameters", "epsilon"):
                    for key, value in answer.get(name, {}).items():
                        answer[name][key] = value * factor if isinstance(value, float) else value

        return change

    assert epsilond.verify(forged(page, shifted(1 + 1e-13))).outcome == "within-the-certificate"
    assert epsilond.verify(forged(page, shifted(1 - 1e-4))).outcome == "contradicts"
