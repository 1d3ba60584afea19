"""From a record to the page: what stands in the template is words and tables made here, all of it escaped there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.bibliography.bibtex import bibtex
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.extras import extra
from epsilond.witness.reports import numbers, words
from epsilond.witness.reports.meanings import ADVANTAGE, meaning_of, name_of, true_positives
from epsilond.witness.reports.profile import drawing
from epsilond.witness.reports.questions import question
from epsilond.witness.reports.record import CONTRADICTED
from epsilond.witness.reports.spec_words import described

if TYPE_CHECKING:
    from jinja2 import Template

_SOURCES: Mapping[str, Theorem] = {each.id: each for each in THEOREMS}


def render(record: JsonObject, seal: str) -> str:
    """Return the visible page of a record, with an empty place for its data. The same record gives the same page."""
    if record["kind"] == CONTRADICTED:
        return _template("contradicted.html").render(record=record, seal=seal, run=record["run"])
    answer = record["answer"]
    guarantee = answer["guarantee"]
    asked = question(record["kind"], record["name"])
    return _template("report.html").render(
        record=record,
        status=record.get("run"),
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
def _template(name: str) -> Template:
    """Return the template of this name. Values are escaped in it, and a missing value is an error."""
    with extra("reports", "a report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (for those who make a report)

    environment = Environment(
        loader=PackageLoader("epsilond.witness.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _rows(members: object) -> list[tuple[str, str]]:
    return [(name_of(name), numbers.full(value)) for name, value in numbers.flat(members)]


def _run(members: JsonObject, declared: type | None) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of every parameter to run with."""
    for name, value in numbers.flat(members):
        yield name_of(name), numbers.full(value), meaning_of(declared, name)


def _meaning(found: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """What it means to an attacker: the name of each figure and its ends."""
    if found is not None:
        yield ADVANTAGE, found["advantage"]
        for each in found["true_positive_rates"]:
            yield true_positives(each["false_positive_rate"]), each["true_positive_rate"]


def _ordered(members: JsonObject, declared: Any) -> JsonObject:
    """The members in the order in which a class declares them; in the data they are in order of their names."""
    places = {field.name: place for place, field in enumerate(fields(declared))} if declared is not None else {}
    return dict(sorted(members.items(), key=lambda member: places.get(member[0], len(places))))


def _target(guarantee: JsonObject) -> tuple[float, float] | None:
    """Where the answer stands on the profile, if at a finite place."""
    if "target" in guarantee:
        return guarantee["target"]["epsilon"], guarantee["target"]["log10_delta"]
    place = guarantee["epsilon"]["upper"], guarantee["log10_delta"]["upper"]
    return place if all(isinstance(end, int | float) for end in place) else None


def _request(given: JsonObject, problem: Any) -> Iterator[tuple[str, str, str]]:
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


def declared(answer: JsonObject) -> Iterator[tuple[str, str]]:
    """List what only the caller can vouch for: ids and statements.

    An answer names the premises of its guarantee with their statements, and those of its risk bound by their ids in the
    bound's theorem. An account without a list has the declared conditions of the theorems used.
    """
    if "declared_conditions" in answer:
        yield from ((each["id"], each["statement"]) for each in answer["declared_conditions"])
        yield from _premises_of_the_risk(answer.get("risk", {}))
        return
    used = dict.fromkeys(step["theorem"] for step in answer["derivation"])
    conditions = [one for name in used if name in _SOURCES for one in _SOURCES[name].conditions]
    yield from dict.fromkeys((one.id, one.statement) for one in conditions if not one.checked)


def _premises_of_the_risk(risk: JsonObject) -> Iterator[tuple[str, str]]:
    """List the declared premises of a risk bound with the statements that its theorem gives them."""
    bounds = [risk[side] for side in ("upper", "lower") if side in risk]
    theorems = [_SOURCES[bound["theorem"]] for bound in bounds if bound["theorem"] in _SOURCES]
    statements = {one.id: one.statement for theorem in reversed(theorems) for one in theorem.conditions}
    yield from ((name, statements.get(name, name)) for name in risk.get("declared_conditions", ()))


def _readings(answer: JsonObject) -> Iterator[JsonObject]:
    """Describe each entry of printed readings: its parameters, its claims, the truth, and its open conditions."""
    for each in answer.get("as_printed", ()):
        true = each.get("true")
        claims = {**answer["guarantee"]["target"], **each.get("claims", {})}
        yield {
            "name": f"{each['theorem']}, {', '.join(each['readings'])} ({each['status']})",
            "parameters": "; ".join(f"{name} {numbers.short(value)}" for name, value in each["parameters"].items()),
            "claims": f"ε = {numbers.short(claims['epsilon'])} at δ = {numbers.delta(claims['log10_delta'])}",
            "true": numbers.outward(true["epsilon"]) if true else "prescribes nothing that can be run",
            "conditions": [*_open_conditions(each)],
        }


def _open_conditions(entry: JsonObject) -> Iterator[Mapping[str, str]]:
    """Describe the conditions of an entry that fail or are undecidable, each with the reading that it is of."""
    own = [
        (details["reading"], one) for details in entry.get("by_reading", ()) for one in details.get("conditions", ())
    ]
    listed = [("", one) for one in entry.get("conditions", ())] + own
    statements = {one["id"]: one["statement"] for _, one in listed if "statement" in one}
    for reading, one in listed:
        yield {
            "statement": statements[one["id"]] + (f" ({reading})" if reading else ""),
            "verdict": one["holds"],
            "left": numbers.short(one["left"]) if "left" in one else "",
            "right": numbers.short(one["right"]) if "right" in one else "",
        }


def _one_before(place: int) -> tuple[int, ...]:
    """Return the place, from 0, of the step before the one at a place from 1; the first has none."""
    return (place - 2,) if place > 1 else ()


def _considered(answer: JsonObject) -> Iterator[tuple[str, str, str]]:
    """Every theorem that was tried: which, whether it applies, and why not or what it gave."""
    for each in answer.get("considered", ()):
        gave = f"log10 δ at most {numbers.up(each['log10_delta'])}" if "log10_delta" in each else ""
        yield each["theorem"], each["applies"], each.get("reason", gave)


def _derivation(answer: JsonObject) -> Iterator[JsonObject]:
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
            "inputs": _rows(step.get("inputs", {})),
            "premises": ", ".join(str(premise + 1) for premise in step.get("premises", _one_before(place))),
        }
