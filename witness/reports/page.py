"""From a record to the page: what stands in the template is words and tables made here, all of it escaped there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.bibtex import bibtex
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.extras import extra
from epsilond.witness.reports import numbers, words
from epsilond.witness.reports.meanings import ADVANTAGE, meaning_of, name_of, true_positives
from epsilond.witness.reports.profile import drawing
from epsilond.witness.reports.questions import question
from epsilond.witness.reports.spec_words import described

if TYPE_CHECKING:
    from jinja2 import Template

_SOURCES: Mapping[str, Theorem] = {each.id: each for each in THEOREMS}


def render(record: Mapping[str, Any], seal: str) -> str:
    """The visible page of a record, with an empty place for its data. The same record gives the same page."""
    answer = record["answer"]
    guarantee = answer["guarantee"]
    asked = question(record["kind"], record["name"])
    return _template().render(
        record=record,
        seal=seal,
        answer=answer,
        guarantee=guarantee,
        title=asked.title,
        headline=words.headline(record),
        assumptions=words.assumptions(guarantee),
        declared=list(declared(answer)),
        tight=words.TIGHT[guarantee["tight"]],
        run=list(_run(_ordered(answer.get("parameters", {}), asked.parameters), asked.parameters)),
        ran=described(record["request"]["spec"], guarantee["unit"]) if "spec" in record["request"] else "",
        request=list(_request(record["request"], asked.problem)),
        readings=list(_readings(answer)),
        considered=list(_considered(answer)),
        derivation=list(_derivation(answer)),
        citation=bibtex(step["theorem"] for step in answer["derivation"] if step["theorem"] in _SOURCES),
        extra={name: _rows(answer[name]) for name in ("risk", "communication") if name in answer},
        meaning=list(_meaning(answer.get("meaning"))),
        band=drawing(record["profile"], _target(guarantee)),
        numbers=numbers,
    )


@cache
def _template() -> Template:
    """The one template: whatever is put into it is escaped, and what is missing is an error."""
    with extra("reports", "a report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (for those who make a report)

    environment = Environment(
        loader=PackageLoader("epsilond.witness.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")


def _rows(members: Any) -> list[tuple[str, str]]:
    return [(name_of(name), numbers.full(value)) for name, value in numbers.flat(members)]


def _run(members: Mapping[str, Any], declared: type | None) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of every parameter to run with."""
    for name, value in numbers.flat(members):
        yield name_of(name), numbers.full(value), meaning_of(declared, name)


def _meaning(found: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What it means to an attacker: the name of each figure and its ends."""
    if found is not None:
        yield ADVANTAGE, found["advantage"]
        for each in found["true_positive_rates"]:
            yield true_positives(each["false_positive_rate"]), each["true_positive_rate"]


def _ordered(members: Mapping[str, Any], declared: Any) -> Mapping[str, Any]:
    """The members in the order in which a class declares them; in the data they are in order of their names."""
    places = {field.name: place for place, field in enumerate(fields(declared))} if declared is not None else {}
    return dict(sorted(members.items(), key=lambda member: places.get(member[0], len(places))))


def _target(guarantee: Mapping[str, Any]) -> tuple[float, float] | None:
    """Where the answer stands on the profile, if at a finite place."""
    if "target" in guarantee:
        return guarantee["target"]["epsilon"], guarantee["target"]["log10_delta"]
    place = guarantee["epsilon"]["upper"], guarantee["log10_delta"]["upper"]
    return place if all(isinstance(end, int | float) for end in place) else None


def _request(given: Mapping[str, Any], problem: Any) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of every field that was given, then of the defaults that stood in for others.

    A spec stands in words under what is run, with all its numbers.
    """
    for name, value in numbers.flat({name: item for name, item in _ordered(given, problem).items() if name != "spec"}):
        yield name_of(name), numbers.full(value), meaning_of(problem, name)
    if "spec" in given:
        yield "spec", "as above, under what is run", "what was run"
    for field in fields(problem):
        if field.name not in given and field.default not in (None, MISSING):
            default = f"{numbers.full(field.default)} (not given: the default)"
            yield field.name, default, meaning_of(problem, field.name)


def declared(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What only the caller can vouch for: the answer's own list, or what the theorems used leave to be declared."""
    if "declared_conditions" in answer:
        yield from ((each["id"], each["statement"]) for each in answer["declared_conditions"])
        return
    used = dict.fromkeys(step["theorem"] for step in answer["derivation"])
    conditions = [one for name in used if name in _SOURCES for one in _SOURCES[name].conditions]
    yield from dict.fromkeys((one.id, one.statement) for one in conditions if not one.checked)


def _readings(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Each printed reading: what it prescribes, what it claims, what is true there, and its conditions."""
    for each in answer.get("as_printed", ()):
        true, claims = each.get("true"), each["claims"]
        yield {
            "name": f"{each['theorem']}, {each['reading']} ({each['status']})",
            "parameters": "; ".join(f"{name} {numbers.short(value)}" for name, value in each["parameters"].items()),
            "claims": f"ε = {numbers.short(claims['epsilon'])} at δ = {numbers.delta(claims['log10_delta'])}",
            "true": numbers.outward(true["epsilon"]) if true else "prescribes nothing that can be run",
            "conditions": [
                {
                    "statement": one["statement"],
                    "verdict": {True: "holds", False: "fails"}.get(one["holds"], "undecidable"),
                    "left": numbers.short(one["left"]) if "left" in one else "",
                    "right": numbers.short(one["right"]) if "right" in one else "",
                }
                for one in each["conditions"]
            ],
        }


def _considered(answer: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Every theorem that was tried: which, whether it applies, and why not or what it gave."""
    for each in answer.get("considered", ()):
        gave = f"log10 δ at most {numbers.up(each['log10_delta'])}" if "log10_delta" in each else ""
        yield each["theorem"], "applies" if each["applies"] else "does not apply", each.get("reason", gave)


def _derivation(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every step: the theorem with its statement and source, its inputs, and the steps it rests on."""
    for place, step in enumerate(answer["derivation"], start=1):
        theorem = _SOURCES.get(step["theorem"])
        work = WORKS[theorem.source.key] if theorem is not None else None
        yield {
            "place": place,
            "id": step["theorem"],
            "title": theorem.title if theorem is not None else "",
            "statement": theorem.statement if theorem is not None else "",
            "status": theorem.status.value if theorem is not None else "unknown to this engine",
            "source": f"{work.citation} {theorem.source.item}." if theorem is not None and work is not None else "",
            "inputs": _rows(step["inputs"]),
            "premises": ", ".join(str(premise + 1) for premise in step["premises"]),
        }
