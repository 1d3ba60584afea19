"""The page of a record: words and tables for the template, which escapes all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.bibliography.bibtex import bibtex
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import require_unit
from epsilond.accountants.theorem import Theorem
from epsilond.extras import extra
from epsilond.witness.reports import numbers, words
from epsilond.witness.reports.conditions import SOURCES, declared_conditions
from epsilond.witness.reports.meanings import ADVANTAGE, meaning_of, name_of, true_positives
from epsilond.witness.reports.profile import drawing
from epsilond.witness.reports.questions import question
from epsilond.witness.reports.record import CONTRADICTED
from epsilond.witness.reports.spec_words import describe_spec

if TYPE_CHECKING:
    from jinja2 import Template


def render(record: JsonObject, seal: str) -> str:
    """Write the visible page of a report in HTML, with an empty element for its data.

    A report states a certified guarantee with its assumptions, its derivation and its bounds. The same data give the
    same page.

    Args:
        record: data of the report, with its kind, the request and the answer. A run that an observation contradicts has
            reasons and no ε.
        seal: hash of the data, which the page shows.

    Returns:
        The HTML text, without the data.
    """
    if record["kind"] == CONTRADICTED:
        return _template("contradicted.html").render(record=record, seal=seal, run=record["run"])

    answer, request = record["answer"], record["request"]
    guarantee = answer["guarantee"]
    subject = question(record["kind"], record["name"])
    parameters = _order_members(answer.get("parameters", {}), subject.parameters)
    mechanism_words = ""
    if "spec" in request:
        mechanism_words = describe_spec(request["spec"], str(require_unit(guarantee["unit"])))

    # Theorems of other engine versions may have no source here.
    theorem_ids = [step["theorem"] for step in answer["derivation"]]
    citation = bibtex(theorem_id for theorem_id in theorem_ids if theorem_id in SOURCES)

    return _template("report.html").render(
        record=record,
        status=record.get("run"),
        seal=seal,
        answer=answer,
        guarantee=guarantee,
        title=subject.title,
        headline=words.headline(record),
        assumptions=words.assumptions(guarantee),
        declared=list(declared_conditions(answer)),
        tight=words.TIGHT[guarantee["tight"]],
        run=list(_parameters(parameters, subject.parameters)),
        ran=mechanism_words,
        request=list(_request_fields(request, subject.problem)),
        readings=list(_printed_readings(answer)),
        considered=list(_attempts(answer)),
        derivation=list(_proof_steps(answer)),
        citation=citation,
        extra=_extra_tables(answer),
        meaning=list(_attack_bounds(answer)),
        band=drawing(record["profile"], _marked_point(guarantee)),
        numbers=numbers,
    )


def _extra_tables(answer: JsonObject) -> dict[str, list[tuple[str, str]]]:
    """Return the answer's tables on risk and communication by name, without those that the answer lacks."""
    return {name: _rows(answer[name]) for name in ("risk", "communication") if name in answer}


@cache
def _template(name: str) -> Template:
    """Return a template of the reports. Values are escaped in it, and a missing value is an error.

    Args:
        name: file name of the template.

    Returns:
        The template, which is filled with the data of a report.
    """
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
    """Return all numbers and words inside a JSON value as rows of a table.

    Args:
        members: the value, which may contain objects and lists.

    Returns:
        The name and the value of each, as texts. The name is the path to the value.
    """
    return [(name_of(name), numbers.full(value)) for name, value in numbers.flat(members)]


def _parameters(members: JsonObject, declared: type | None) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of every parameter of the run, as texts for a table.

    Args:
        members: the parameters in JSON form.
        declared: dataclass that describes them; None if there is none.

    Yields:
        Three texts for each parameter.
    """
    for name, value in numbers.flat(members):
        yield name_of(name), numbers.full(value), meaning_of(declared, name)


def _attack_bounds(answer: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the name and the bounds of each measure of an attacker's success in an answer.

    The largest advantage and the usual true positive rates come first. The measures that the request named follow.

    Args:
        answer: answer of a calibrator or of the accountant.

    Yields:
        The name in words, and a lower and an upper bound.
    """
    if "meaning" in answer:
        meaning = answer["meaning"]
        yield ADVANTAGE, meaning["advantage"]
        for rate in meaning["true_positive_rates"]:
            yield true_positives(rate["false_positive_rate"]), rate["true_positive_rate"]
    yield from _requested_bounds(answer)


def _requested_bounds(answer: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield name and bounds of each requested measure: an attacker's errors, a divergence, or δ in one direction.

    Args:
        answer: answer of the accountant in its JSON form.

    Yields:
        The name in words, and the certified lower and upper bound as a JSON object.
    """
    for rate in answer.get("trade_off", ()):
        yield true_positives(rate["false_positive_rate"]), rate["true_positive_rate"]
    if "gaussian_dp_mu" in answer:
        yield "μ of Gaussian differential privacy", answer["gaussian_dp_mu"]
    for risk in answer.get("bayes_errors", ()):
        yield f"least error with the prior {risk['prior']:g}", risk["error"]

    for divergence in answer.get("renyi_divergences", ()):
        yield f"Rényi divergence of order {divergence['order']:g}", divergence["divergence"]
    for deltas in answer.get("directions", ()):
        epsilon_words = f"δ at ε = {deltas['epsilon']:g}"
        yield f"{epsilon_words}, with against without", deltas["with_against_without"]["delta"]
        yield f"{epsilon_words}, without against with", deltas["without_against_with"]["delta"]


def _order_members(members: JsonObject, declared: Any) -> JsonObject:
    """Sort the members of a JSON object as the fields of a dataclass; unknown members come last.

    Args:
        members: the object.
        declared: the dataclass; None leaves the order as it is.

    Returns:
        The same members in their new order.
    """
    if declared is None:
        return members
    positions = {field.name: position for position, field in enumerate(fields(declared))}
    after_all_fields = len(positions)
    names = sorted(members, key=lambda name: positions.get(name, after_all_fields))
    return {name: members[name] for name in names}


def _marked_point(guarantee: JsonObject) -> tuple[float, float] | None:
    """Return the point (ε, log₁₀ δ) to mark in the drawing of the privacy profile.

    It is the target of a calibration, and otherwise the upper bounds of an account.

    Args:
        guarantee: JSON form of the guarantee.

    Returns:
        The point; None if it is not finite.
    """
    if "target" in guarantee:
        return guarantee["target"]["epsilon"], guarantee["target"]["log10_delta"]
    epsilon, log10_delta = guarantee["epsilon"]["upper"], guarantee["log10_delta"]["upper"]
    are_finite = isinstance(epsilon, int | float) and isinstance(log10_delta, int | float)  # infinities are words
    if not are_finite:
        return None
    return epsilon, log10_delta


def _request_fields(request: JsonObject, problem: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of each field of a request: first the given ones, then the defaults.

    The field `spec`, the mechanism, only gets a reference to the part of the page that describes it with all numbers.

    Args:
        request: the request as it was given.
        problem: the data class that was read from it, with the meanings of its fields.

    Yields:
        Three texts for each field.
    """
    ordered = _order_members(request, problem)
    members = {name: item for name, item in ordered.items() if name != "spec"}
    for name, value in numbers.flat(members):
        yield name_of(name), numbers.full(value), meaning_of(problem, name)
    if "spec" in request:
        yield "spec", "as above, under “The run”", "the run"

    # The defaults of the other fields are a part of the request, too.
    for field in fields(problem):
        has_default = field.default not in (None, MISSING)
        if field.name not in request and has_default:
            default = f"{numbers.full(field.default)} (not given: the default)"
            yield field.name, default, meaning_of(problem, field.name)


def _printed_readings(answer: JsonObject) -> Iterator[JsonObject]:
    """Yield texts about each set of noise parameters that a paper's theorem prescribes.

    A theorem may have several readings (interpretations): the formula as it is printed, or with its errors corrected.
    Readings that prescribe the same parameters are one set.

    Args:
        answer: answer of a calibrator.

    Yields:
        Texts by name, for one set of parameters at a time:
        `name`: theorem, readings, and whether they are proved;
        `parameters`: the parameters with their values;
        `claims`: the claimed ε and δ;
        `true`: the certified ε of these parameters;
        `conditions`: conditions that fail or are undecidable.
    """
    for reading in answer.get("as_printed", ()):
        # The paper claims the target of the answer, unless it claims a value of its own.
        claims = {**answer["guarantee"]["target"], **reading.get("claims", {})}
        parameters = (f"{name} {numbers.short(value)}" for name, value in reading["parameters"].items())

        certified_words = "prescribes nothing that can be run"
        certified = reading.get("true")
        if certified:
            certified_words = numbers.outward(certified["epsilon"])
        yield {
            "name": f"{reading['theorem']}, {', '.join(reading['readings'])} ({reading['status']})",
            "parameters": "; ".join(parameters),
            "claims": f"ε = {numbers.short(claims['epsilon'])} at δ = {numbers.delta(claims['log10_delta'])}",
            "true": certified_words,
            "conditions": list(_open_conditions(reading)),
        }


def _open_conditions(entry: JsonObject) -> Iterator[Mapping[str, str]]:
    """Yield texts about the conditions of a printed theorem that fail or are undecidable for its parameters.

    Args:
        entry: member of the answer's `as_printed`. Its `conditions` hold for all readings (interpretations) of the
            theorem that prescribe these parameters, and `by_reading` has those of single ones.

    Yields:
        For each condition its statement, its verdict, and both sides of its inequality if it has one.
    """
    # Conditions of all readings have no name of a reading.
    conditions = [("", condition) for condition in entry.get("conditions", ())]
    for details in entry.get("by_reading", ()):
        conditions += [(details["reading"], condition) for condition in details.get("conditions", ())]

    # A condition may be listed several times, but has its statement only once.
    statements = {condition["id"]: condition["statement"] for _, condition in conditions if "statement" in condition}
    for reading, condition in conditions:
        statement = statements[condition["id"]]
        if reading:
            statement += f" ({reading})"
        yield {
            "statement": statement,
            "verdict": condition["holds"],
            "left": _short_or_empty(condition, "left"),
            "right": _short_or_empty(condition, "right"),
        }


def _short_or_empty(members: JsonObject, name: str) -> str:
    """Return a number of a JSON object as a short text; an empty text if the object does not have it."""
    if name not in members:
        return ""
    return numbers.short(members[name])


def _attempts(answer: JsonObject) -> Iterator[tuple[str, str, str]]:
    """Yield each theorem that was tried for a guarantee, with its result.

    Args:
        answer: answer of a calibrator or of the accountant.

    Yields:
        The id of the theorem, whether it applies, and its bound on δ or the reason that it gives none.
    """
    for attempt in answer.get("considered", ()):
        result = f"log10 δ at most {numbers.up(attempt['log10_delta'])}" if "log10_delta" in attempt else ""
        yield attempt["theorem"], attempt["applies"], attempt.get("reason", result)


def _proof_steps(answer: JsonObject) -> Iterator[JsonObject]:
    """Yield texts about every step of the proof of a guarantee (its derivation).

    A step has its number, the words of its theorem, the theorem's inputs, and the numbers of the steps that it uses. In
    reports of earlier engine versions, each step uses the preceding one.

    Args:
        answer: answer of a calibrator or of the accountant.

    Yields:
        The texts by name, for one step at a time.
    """
    for index, step in enumerate(answer["derivation"]):
        preceding = () if index == 0 else (index - 1,)
        used_steps = step.get("premises", preceding)
        yield {
            "place": index + 1,
            "id": step["theorem"],
            **_theorem_words(SOURCES.get(step["theorem"])),
            "inputs": _rows(step.get("inputs", {})),
            "premises": ", ".join(str(used + 1) for used in used_steps),
        }


def _theorem_words(theorem: Theorem | None) -> dict[str, str]:
    """Return title, statement, status and source of a theorem, as texts for the page.

    The source is the paper, with the number of the statement in it.

    Args:
        theorem: the theorem; None if this engine does not know it, as with reports of other engines.

    Returns:
        The four texts by name. For an unknown theorem they are empty, except for the status.
    """
    if theorem is None:
        return {"title": "", "statement": "", "status": "unknown to this engine", "source": ""}
    citation = WORKS[theorem.source.key].citation
    return {
        "title": theorem.title,
        "statement": theorem.statement,
        "status": theorem.status.value,
        "source": f"{citation} {theorem.source.item}.",
    }
