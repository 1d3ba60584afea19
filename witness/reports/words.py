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

    # A calibration has a target δ, and its guarantee is only for the calibrated parameters.
    if record["kind"] == "calibration":
        delta_words = numbers.delta(guarantee["target"]["log10_delta"])
        bound = f"with ε at most {numbers.up(guarantee['epsilon']['upper'])} at δ = {delta_words}"
        return (
            f"If the assumptions below hold, {protection}, {bound}.",
            *_protection_sentence(guarantee),
            "This is certified for a run with the parameters below, and for no others.",
        )

    # An account may have a claim to check.
    sentence = f"If the assumptions below hold, {protection}, {_bound_phrase(guarantee)}."
    return (sentence, *_protection_sentence(guarantee), *_claim_sentence(answer.get("claim")))


def _protection_sentence(guarantee: JsonObject) -> tuple[str, ...]:
    """Return the answer's own sentence on trust and sampling.

    Args:
        guarantee: JSON form of the guarantee.

    Returns:
        The sentence as the only entry; no entry for reports of earlier engines, which lack it.
    """
    if "in_words" not in guarantee:
        return ()
    return (guarantee["in_words"],)


def _bound_phrase(guarantee: JsonObject) -> str:
    """State the bound on ε at the requested δ, or the bound on δ at the requested ε.

    An account has one of the two as its input, and certified bounds on the other.

    Args:
        guarantee: `epsilon`, `delta` and `log10_delta`, each with `lower` and `upper`. If δ was requested, both bounds
            of `log10_delta` are this δ.

    Returns:
        A phrase that begins with "with". Bounds are rounded up.
    """
    epsilon, log10_delta = guarantee["epsilon"], guarantee["log10_delta"]
    upper_log10 = log10_delta["upper"]
    is_delta_requested = log10_delta["lower"] == upper_log10 and isinstance(upper_log10, int | float)
    if is_delta_requested:
        upper_epsilon = numbers.up(epsilon["upper"])
        bound = upper_epsilon if upper_epsilon == "unbounded" else f"at most {upper_epsilon}"
        return f"with ε {bound} at δ = {numbers.delta(upper_log10)}"

    # A δ below every double is stated by its logarithm.
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
    """Return a sentence with the verdict on the claimed (ε, δ).

    A claim is confirmed or refuted by the certified bounds, or stays open between them.

    Args:
        claim: JSON form of the claim and its verdict; None if nothing is claimed.

    Returns:
        The sentence as the only entry; no entry without a claim.
    """
    if claim is None:
        return ()
    epsilon_words, delta_words = numbers.short(claim["epsilon"]), numbers.delta(claim["log10_delta"])
    verdict_words = _CLAIM_VERDICTS[claim["holds"]]
    return (f"The claim ε = {epsilon_words} at δ = {delta_words} {verdict_words}.",)


def assumptions(guarantee: JsonObject) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of each field that defines the guarantee, such as its unit.

    The unit is the record or client that is protected. The relation says how neighbouring data sets differ, and the
    observer is the adversary.

    Args:
        guarantee: JSON form of the guarantee.

    Returns:
        Rows of a table. Fields that the guarantee does not have are left out.
    """
    unit = str(require_unit(guarantee["unit"]))
    rows = [
        ("unit", unit, f"protected unit: {_phrase_of_unit(guarantee['unit'])}"),
        ("relation", guarantee["relation"], RELATIONS[guarantee["relation"]].format(unit=unit)),
        ("observer", guarantee["observer"], f"the adversary: {OBSERVERS[guarantee['observer']]}"),
    ]
    # These fields exist only in some guarantees.
    if "sampling" in guarantee:
        rows.append(("sampling", guarantee["sampling"], SAMPLINGS[guarantee["sampling"]]))
    if "definition" in guarantee:
        rows.append(("definition", guarantee["definition"], DEFINITIONS[guarantee["definition"]]))
    return rows
