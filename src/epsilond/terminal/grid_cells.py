"""Table rows of the cells of an experiment's grid, and texts of measured numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.memberships.request import ATTACKS

DIGITS = 4
"""Significant digits of a printed measurement."""


def coordinates(body: JsonObject, cell: JsonObject) -> dict[str, str]:
    """Return the coordinates of one point of an experiment's grid as texts, by the names of the axes.

    Args:
        body: answer of the experiment in its JSON form, which defines up to three axes.
        cell: answer at the point.
    """
    axes = [body[name]["name"] for name in ("panels", "lines", "across") if name in body]
    return {name: short_number(cell["place"][name]) for name in axes}


def _audit_row(cell: JsonObject) -> Mapping[str, str]:
    """Return the table row of an audit at one point of an experiment's grid.

    An audit attacks a mechanism, and proves lower bounds on its ε from the outputs.

    Args:
        cell: answer at one point of the grid, in its JSON form. It may have a claim, that is, a stated ε that the audit
            may disprove, such as the ε of a paper.

    Returns:
        The text of each column by its heading. Without a claim, the columns about it are empty.
    """
    row = {
        "by its test": short_number(cell["test_epsilon_lower"]),
        "proved at least": short_number(cell["epsilon_lower"]),
        "certified": interval_text(cell["epsilon"]),
        "claimed": "",
        "violated": "",
        "δ there at least": "",
    }
    claim = cell.get("claim")
    if claim is not None:
        row["claimed"] = short_number(claim["epsilon"])
        row["violated"] = claim["violated"]
        row["δ there at least"] = short_number(claim["delta_lower"])
    for name, value in cell.get("log10_deltas", {}).items():
        row[f"δ, {name}"] = f"10^{value:.4g}"
    return row


def _membership_row(cell: JsonObject) -> Mapping[str, str]:
    """Return the table row of a membership inference: the certified ε, and the lower bound on ε of each attack."""
    row = {"certified": interval_text(cell["epsilon"])}
    for name in ATTACKS:
        row[name] = f"ε ≥ {short_number(cell['attacks'][name])}" if name in cell["attacks"] else ""
    return row


def _risk_row(cell: JsonObject, references: Sequence[str]) -> Mapping[str, str]:
    """Return the table row of a measured excess risk at one point of an experiment's grid.

    Args:
        cell: answer at one point of the grid, in its JSON form.
        references: names of the reference runs. Each has a column, which is empty if the point lacks the run.

    Returns:
        Texts by heading: ε, the measured mean with its confidence band, and the reference runs. Then the least of the
        bounds that the measurement is compared with, and whether that bound holds; both are empty without a bound.
    """
    final = cell["final_excess"]
    epsilon = short_number(cell["epsilon"]["upper"]) if "epsilon" in cell else ""
    row = {"ε": epsilon, "measured": short_number(final["mean"]), "band": interval_text(final)}
    measurements = cell.get("beside", {})
    for name in references:
        row[name] = short_number(measurements[name]["mean"]) if name in measurements else ""

    least_bound = min(_compared_bounds(cell["bounds"]), key=lambda bound: bound["value"], default=None)
    if least_bound is None:
        row["least bound"] = row["holds"] = ""
    else:
        row["least bound"] = f"{short_number(least_bound['value'])} ({least_bound['theorem']})"
        row["holds"] = least_bound["holds"]
    return row


def _score_row(cell: JsonObject, references: Sequence[str], measure: str) -> Mapping[str, str]:
    """Return the table row of a score on held-out records at one point of an experiment's grid.

    Args:
        cell: answer at one point of the grid, in its JSON form.
        references: names of the reference runs. Each has a column, which is empty if the point lacks the run.
        measure: name of the score, such as `test_accuracy`.

    Returns:
        Texts by heading: the ε that a paper states and the certified one, the score with its confidence band, the
        reference runs, and the mean excess risk if it was measured. An ε that is not known is an empty text.
    """
    claimed_epsilon = short_number(cell["claimed_epsilon"]) if "claimed_epsilon" in cell else ""
    certified_epsilon = interval_text(cell["epsilon"]) if "epsilon" in cell else ""
    row = {
        "claimed ε": claimed_epsilon,
        "certified ε": certified_epsilon,
        measure.replace("_", " "): with_band(cell["scores"][measure]),
    }
    scores = cell.get("scores_beside", {})
    for name in references:
        row[name] = short_number(scores[name][measure]["mean"]) if name in scores else ""
    if "final_excess" in cell:
        row["excess"] = short_number(cell["final_excess"]["mean"])
    return row


def cell_columns(cell: JsonObject, kind: str, references: Sequence[str], measure: str | None) -> Mapping[str, str]:
    """Return the table row of one point of an experiment's grid, with columns for the measured quantity.

    Args:
        cell: answer at one point of the grid, in its JSON form.
        kind: kind of the experiment, such as "audit" or "membership".
        references: names of the reference runs.
        measure: name of a score on held-out records; None if the excess risk is measured.

    Returns:
        The text of each column by its heading.
    """
    if kind == "audit":
        return _audit_row(cell)
    if kind == "membership":
        return _membership_row(cell)
    if measure is None:
        return _risk_row(cell, references)
    return _score_row(cell, references, measure)


def _compared_bounds(bounds: Sequence[JsonObject]) -> list[JsonObject]:
    """Select the bounds on the excess risk that the measurement is compared with."""
    return [bound for bound in bounds if bound["compared"] and bound["quantity"] == "excess"]


def interval_text(bounds: JsonObject) -> str:
    """Return an interval as a text, such as "[0.5, 1]".

    Args:
        bounds: object with the members `lower` and `upper`: numbers, or words such as "unbounded".
    """
    return f"[{short_number(bounds['lower'])}, {short_number(bounds['upper'])}]"


def with_band(score: JsonObject) -> str:
    """Return the mean of a measurement with its confidence band as a text, such as "0.7 [0.5, 1]".

    Args:
        score: object with the members `mean`, `lower` and `upper`.
    """
    return f"{short_number(score['mean'])} {interval_text(score)}"


def short_number(value: object) -> str:
    """Return a number as a text with `DIGITS` significant digits, and a word such as "unbounded" unchanged.

    Args:
        value: a number or a word.
    """
    if isinstance(value, str):
        return value
    return f"{value:.{DIGITS}g}"
