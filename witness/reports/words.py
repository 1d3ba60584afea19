"""Sentences about an answer: the protected unit, the adversary, the assumptions, and the bound."""

from __future__ import annotations

from collections.abc import Mapping

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, WindowedUnit, require_unit
from epsilond.accountants.statements import settings
from epsilond.accountants.verdict import Verdict
from epsilond.witness.reports import numbers

SMALLEST_DOUBLE = 5e-324
"""Upper bound on a δ below every positive double; its logarithm is stated instead."""
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
    "local": "every message of a client must already be private; then no other party is trusted",
    "shuffle": "a shuffler is trusted to hide the senders, and to pass on only the messages",
    "central": "the server is trusted with its inputs, and protects its releases",
    "joint": "the server is trusted; each client may see its own results, and the others must not learn of its data",
}
TIGHT: Mapping[str, str] = {
    "proved": "The bound is attained: both bounds differ by numerical error only.",
    "witnessed": "An instance of the mechanism loses at least the lower bound. The true value is between both bounds.",
    "unknown": "Nothing is known from below: the true value may be anywhere below the upper bound.",
}


def _phrase_of_unit(unit: object) -> str:
    """Name the protected unit in words, such as "everything that any one client contributes within one day".

    Args:
        unit: JSON form of the unit.

    Returns:
        The phrase, as the subject of a sentence.
    """
    protected = require_unit(unit)
    if isinstance(protected, WindowedUnit):
        return f"everything that any one {protected.of} contributes within one {protected.window}"
    return UNITS[protected]


def headline(record: JsonObject) -> tuple[str, ...]:
    """Summarise the answer in one to three sentences: the protected unit, the adversary, (ε, δ), and the run.

    The ε is rounded up, so that the sentence never promises more privacy than is certified.

    Args:
        record: data of the report, with its kind and its answer.

    Returns:
        The sentences. A report on calibrated parameters says that it is valid only for them.
    """
    answer = record["answer"]
    guarantee = answer["guarantee"]
    protection = f"{_phrase_of_unit(guarantee['unit'])} is protected from {OBSERVERS[guarantee['observer']]}"

    if record["kind"] == "calibration":
        delta_words = numbers.delta(guarantee["target"]["log10_delta"])
        bound = f"with ε at most {numbers.up(guarantee['epsilon']['upper'])} at δ = {delta_words}"
        return (
            f"If the assumptions below hold, {protection}, {bound}.",
            *_protection_sentence(guarantee),
            "This is certified for a run with the parameters below, and for no others.",
        )

    sentence = f"If the assumptions below hold, {protection}, {_bound_phrase(guarantee)}."
    return (sentence, *_protection_sentence(guarantee), *_claim_sentence(answer.get("claim")))


def _protection_sentence(guarantee: JsonObject) -> tuple[str, ...]:
    """Return the sentence of the guarantee itself on trust and sampling, as a tuple.

    Args:
        guarantee: JSON form of the guarantee.

    Returns:
        One sentence; none for a report of an earlier engine, because its guarantee has no such sentence.
    """
    if "in_words" not in guarantee:
        return ()
    return (guarantee["in_words"],)


def _bound_phrase(guarantee: JsonObject) -> str:
    """State the bound on ε at the requested δ, or the bound on δ at the requested ε.

    Args:
        guarantee: `epsilon`, `delta` and `log10_delta`, each with `lower` and `upper`. The two are equal for the value
            that was requested.

    Returns:
        A phrase that begins with "with". The bound is rounded up.
    """
    epsilon, log10_delta = guarantee["epsilon"], guarantee["log10_delta"]
    upper_log10 = log10_delta["upper"]
    is_delta_requested = log10_delta["lower"] == upper_log10 and isinstance(upper_log10, int | float)
    if is_delta_requested:
        upper_epsilon = numbers.up(epsilon["upper"])
        bound = upper_epsilon if upper_epsilon == "unbounded" else f"at most {upper_epsilon}"
        return f"with ε {bound} at δ = {numbers.delta(upper_log10)}"

    # A δ below the smallest positive double is stated by its logarithm.
    upper_delta = numbers.up(guarantee["delta"]["upper"])
    if guarantee["delta"]["upper"] == SMALLEST_DOUBLE:
        upper_delta = f"10^({numbers.up(upper_log10)})"
    return f"with δ at most {upper_delta} at ε = {numbers.short(epsilon['upper'])}"


_CLAIM_VERDICTS = {
    Verdict.YES: "holds",
    Verdict.NO: "does not hold",
    Verdict.UNDECIDABLE: "can be neither confirmed nor refuted: it is between the proved and the witnessed bound",
}


def _claim_sentence(claim: JsonObject | None) -> tuple[str, ...]:
    """Return the sentence with the verdict on a claimed pair (ε, δ), as a tuple.

    Args:
        claim: JSON form of the claim and of its verdict by the certified bounds; None if nothing is claimed.

    Returns:
        One sentence; none without a claim.
    """
    if claim is None:
        return ()
    epsilon_words, delta_words = numbers.short(claim["epsilon"]), numbers.delta(claim["log10_delta"])
    verdict_words = _CLAIM_VERDICTS[claim["holds"]]
    return (f"The claim ε = {epsilon_words} at δ = {delta_words} {verdict_words}.",)


def assumptions(guarantee: JsonObject) -> list[tuple[str, str, str]]:
    """Return the name, the value and the meaning of each field that defines a guarantee.

    These are the protected unit, the neighbouring relation, the adversary and, if the guarantee has them, the sampling
    and the trust model.

    Args:
        guarantee: JSON form of the guarantee.

    Returns:
        Rows of a table, each with three texts.
    """
    unit = str(require_unit(guarantee["unit"]))
    rows = [
        ("unit", unit, f"protected unit: {_phrase_of_unit(guarantee['unit'])}"),
        ("relation", guarantee["relation"], RELATIONS[guarantee["relation"]].format(unit=unit)),
        ("observer", guarantee["observer"], f"the adversary: {OBSERVERS[guarantee['observer']]}"),
    ]
    if "sampling" in guarantee:
        rows.append(("sampling", guarantee["sampling"], SAMPLINGS[guarantee["sampling"]]))
    if "definition" in guarantee:
        rows.append(("definition", guarantee["definition"], DEFINITIONS[guarantee["definition"]]))
    return rows
