"""Demands on the outputs of every formula: no negative privacy or risk, no probability above 1, no crossed bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from epsilond.accountants.theorem import NEVER_INFINITE, Evaluation, Theorem
from epsilond.accountants.verdict import Verdict

SIGNED = {
    ("das.algorithm-1", "level_above"),
    ("das.algorithm-1", "level_below"),
    ("das.algorithm-1", "mean"),
    ("das.algorithm-1", "value_above"),
    ("das.algorithm-1", "value_below"),
    ("reshef.appendix-a.anytime", "excess_risk"),
    ("reshef.appendix-a.anytime", "weighted_regret"),
    ("reshef.appendix-a.regret", "plain_regret"),
    ("reshef.appendix-a.regret", "regret"),
}
"""Outputs that may be negative: values of a coordinate, and a regret, which compares losses with any other point's."""
PROBABILITY = re.compile(
    r"(^|_)(delta|probability|theta|total_variation|advantage|complement|escape|mass|share|cumulative|divergence"
    r"|pair_distance)(_|$)"
)
"""Names of outputs that are probabilities, or total variation and hockey-stick divergences, which are at most 1."""
UNBOUNDED = {
    ("lowy.appendix-h.settings", "delta_times_squared_samples"),
    ("reshef.algorithm-1-weights", "share"),
}
"""Outputs with such a name that are not probabilities."""
LARGEST_EXCESS = {
    "lowy.3.1": ("excess_risk_scale", "diameter"),
    "lowy.f.3": ("excess_risk_scale larger_scale", "radius"),
    "lowy.f.4": ("excess_risk_scale", "radius"),
    "lowy.f.5": ("excess_risk_scale", "radius"),
    "lowy.section-3": ("non_private_scale one_record_scale central_scale", "diameter"),
    "reshef.lower-bounds": ("excess_risk_scale", None),
}
"""Lower bounds on the excess risk: their outputs, and the field D with which the largest excess is LD (1 for None)."""
ROUNDING = 1e-12
"""Relative tolerance of comparisons between outputs, for a few roundings of each."""
PAIRS = (("lower_", "upper_"), ("lower_", ""), ("_lower", "_upper"), ("_lower_sequential", "_upper"))
"""Parts of names by which a lower bound names its upper bound."""


def applies(evaluation: Evaluation) -> bool:
    """Return whether no checked condition fails, so that the theorem claims its outputs."""
    return not any(condition.holds == Verdict.NO for condition in evaluation.conditions)


def list_numbers(outputs: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield every number of the outputs with the name of its output, lists and objects included."""
    for name, value in outputs.items():
        if isinstance(value, bool) or value is None or isinstance(value, str):
            continue
        if isinstance(value, int | float):
            yield name, value
        elif isinstance(value, Mapping):
            yield from list_numbers(value)
        else:
            for item in value:
                yield from list_numbers(item if isinstance(item, Mapping) else {name: item})


def list_faults(theorem: Theorem, body: Mapping[str, Any], evaluation: Evaluation) -> Iterator[str]:
    """Yield what is wrong with the outputs of a formula, in words.

    Args:
        theorem: the theorem.
        body: the fields of the request.
        evaluation: its outputs and conditions there.
    """
    claimed = applies(evaluation)
    for name, value in list_numbers(evaluation.outputs):
        if math.isnan(value):
            yield f"{name} is not a number"
        if math.isinf(value) and NEVER_INFINITE.search(name):
            yield f"{name} is {value}"
        if "log10_" in name:
            if claimed and PROBABILITY.search(name) and value > 0.0:
                yield f"{name} {value} is above 0, and no condition fails"
            continue
        if value < 0 and (theorem.id, name) not in SIGNED and (claimed or name.endswith("epsilon")):
            yield f"{name} {value} is negative"
        if claimed and value > 1.0 and is_probability(theorem, name):
            yield f"{name} {value} is above 1, and no condition fails"
    if claimed and evaluation.reading == theorem.readings[-1]:  # the printed reading keeps its errata
        yield from list_crossings(evaluation)
        yield from list_excesses(theorem, body, evaluation)


def is_probability(theorem: Theorem, name: str) -> bool:
    """Return whether an output is a probability or a divergence of at most 1."""
    if (theorem.id, name) in UNBOUNDED or "renyi" in name:
        return False
    return PROBABILITY.search(name) is not None


def list_crossings(evaluation: Evaluation) -> Iterator[str]:
    """Yield each lower bound that exceeds its upper bound."""
    outputs = evaluation.outputs
    for name, lower in outputs.items():
        for below, above in PAIRS:
            partner = outputs.get(name.replace(below, above, 1)) if below in name else None
            if not isinstance(lower, int | float) or not isinstance(partner, int | float):
                continue
            if lower > partner + ROUNDING * abs(partner):
                yield f"{name} {lower} is above {partner}"


def list_excesses(theorem: Theorem, body: Mapping[str, Any], evaluation: Evaluation) -> Iterator[str]:
    """Yield each lower bound on the excess risk that exceeds the largest possible one."""
    if theorem.id not in LARGEST_EXCESS:
        return
    names, size = LARGEST_EXCESS[theorem.id]
    largest = 1.0 if size is None else body["lipschitz"] * body[size]
    for name in names.split():
        if evaluation.outputs.get(name, 0.0) > largest * (1.0 + ROUNDING):
            yield f"{name} {evaluation.outputs[name]} is above the largest excess {largest}"
