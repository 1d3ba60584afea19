"""What an answer says, in words: what is protected, from whom, and under which assumptions."""

from __future__ import annotations

from collections.abc import Mapping

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer
from epsilond.accountants.statements import settings
from epsilond.accountants.verdict import Verdict
from epsilond.witness.reports import numbers

UNITS: Mapping[str, str] = {
    "record": "every single record",
    "client": "everything that any one client holds",
}
OBSERVERS: Mapping[Observer, str] = settings.OBSERVERS
RELATIONS: Mapping[str, str] = {
    "replace-one": "two data sets are neighbours if one {unit} of them has another value, their sizes being the same",
    "add-or-remove-one": "two data sets are neighbours if one has one {unit} more than the other",
    "zero-out-one": "two data sets are neighbours if one {unit} of them counts as nothing, their sizes being the same",
}
SAMPLINGS: Mapping[str, str] = {
    "poisson": "each is drawn independently, with the stated probability",
    "without-replacement": "a batch of the stated size is drawn uniformly, none twice",
    "with-replacement": "a batch of the stated size is drawn uniformly, the same possibly more than once",
    "full": "nothing is drawn: everything takes part",
}
DEFINITIONS: Mapping[str, str] = {
    "local": "what leaves a client must already be private; then no other party is trusted",
    "shuffle": "a shuffler is trusted to forget who sent what, and to pass on nothing else",
    "central": "the server is trusted with what it receives, and protects what it releases",
    "joint": "the server is trusted; each client may see its own results, and the others must not learn of its data",
}
TIGHT: Mapping[str, str] = {
    "proved": "The bound is attained: both ends differ by numerical error only.",
    "witnessed": "The lower end is what an instance of the mechanism really loses; the truth lies between both ends.",
    "unknown": "Nothing is known from below: the truth may be anywhere under the upper end.",
}


def headline(record: JsonObject) -> tuple[str, ...]:
    """The answer in one or two sentences: who is protected from whom, with what (ε, δ), and what to run."""
    answer = record["answer"]
    guarantee = answer["guarantee"]
    whom = f"{UNITS[guarantee['unit']]} is protected from {OBSERVERS[guarantee['observer']]}"
    if record["kind"] == "calibration":
        target = guarantee["target"]
        loss = (
            f"with ε at most {numbers.up(guarantee['epsilon']['upper'])} at δ = {numbers.delta(target['log10_delta'])}"
        )
        return (
            f"If the assumptions below hold, {whom}, {loss}.",
            *_sentence(guarantee),
            "This is certified for a run with the parameters below, and for no others.",
        )
    sentence = f"If the assumptions below hold, {whom}, {_at(guarantee)}."
    return (sentence, *_sentence(guarantee), *_verdict(answer.get("claim")))


def _sentence(guarantee: JsonObject) -> tuple[str, ...]:
    """Who is trusted and what the draws hide, as it was answered; reports of earlier engines have no such sentence."""
    return (guarantee["in_words"],) if "in_words" in guarantee else ()


def _at(guarantee: JsonObject) -> str:
    """Where the curve was read: what was asked has equal ends."""
    epsilon, log10_delta = guarantee["epsilon"], guarantee["log10_delta"]
    if log10_delta["lower"] == log10_delta["upper"] and isinstance(log10_delta["upper"], int | float):
        bound = numbers.up(epsilon["upper"])
        most = bound if bound == "unbounded" else f"at most {bound}"
        return f"with ε {most} at δ = {numbers.delta(log10_delta['upper'])}"
    top = log10_delta["upper"]
    most = (
        numbers.up(guarantee["delta"]["upper"]) if guarantee["delta"]["upper"] != 5e-324 else f"10^({numbers.up(top)})"
    )
    return f"with δ at most {most} at ε = {numbers.short(epsilon['upper'])}"


_CLAIM_VERDICTS = {
    Verdict.YES: "holds",
    Verdict.NO: "does not hold",
    Verdict.UNDECIDABLE: "can be neither confirmed nor refuted: it is between the proved and the witnessed bound",
}


def _verdict(claim: JsonObject | None) -> tuple[str, ...]:
    if claim is None:
        return ()
    said = f"The claim ε = {numbers.short(claim['epsilon'])} at δ = {numbers.delta(claim['log10_delta'])}"
    return (f"{said} {_CLAIM_VERDICTS[claim['holds']]}.",)


def assumptions(guarantee: JsonObject) -> list[tuple[str, str, str]]:
    """Name, value and meaning of everything that says what the guarantee is about."""
    unit = guarantee["unit"]
    found = [
        ("unit", unit, f"what is protected: {UNITS[unit]}"),
        ("relation", guarantee["relation"], RELATIONS[guarantee["relation"]].format(unit=unit)),
        ("observer", guarantee["observer"], f"the adversary: {OBSERVERS[guarantee['observer']]}"),
    ]
    if "sampling" in guarantee:
        found.append(("sampling", guarantee["sampling"], SAMPLINGS[guarantee["sampling"]]))
    if "definition" in guarantee:
        found.append(("definition", guarantee["definition"], DEFINITIONS[guarantee["definition"]]))
    return found
