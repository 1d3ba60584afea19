"""Tables of accounts, and of verifications of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from epsilond.accountants.json_types import JsonObject
from epsilond.terminal.parts import at_delta, bullets, outward, pairs, proof, remarks, table
from epsilond.witness.reports import numbers
from epsilond.witness.reports.meanings import ADVANTAGE, true_positives

if TYPE_CHECKING:
    from epsilond.calibrators.accounting.claims import ClaimAnswer
    from epsilond.calibrators.accounts import AccountAnswer
    from epsilond.questions.verification import Verification

COLUMNS = {"ε": "epsilon", "δ": "delta", "log10 δ": "log10_delta"}
"""Attribute of a point of the privacy curve that each column shows, by the heading."""
NOT_CHECKED = (
    "the conditions under If, which only those who run it can vouch for",
    "that the described run is the run that took place",
    "the date",
)
UNSIGNED = "who made the report: a hash is not a signature"


def account(answer: AccountAnswer) -> RenderableType:
    """Show an account of a run: ε and δ, the check of a claim, the meaning for an attacker, theorems and warnings.

    Args:
        answer: the account.

    Returns:
        The tables and texts, which rich can print.
    """
    guarantee = answer.guarantee
    setting = f"of one {guarantee.unit} ({guarantee.relation}), against {guarantee.observer}"
    parts: list[RenderableType] = [
        table("Guaranteed", map(_point_row, answer.points or (guarantee,))),
        Text(f"{setting}; lower end {guarantee.tight}"),
        Text(guarantee.in_words),
    ]

    # The guarantee of one window of time also gives one for several windows.
    windows = answer.over_windows
    if windows is not None:
        parts += [table(f"Over {windows.windows} windows", [_point_row(windows)]), Text(windows.in_words)]
    if answer.claim is not None:
        parts.append(_claim_table(answer.claim))

    parts.append(pairs("Meaning", _meaning_rows(answer)))
    attacker_rows = _attacker_rows(answer)
    if attacker_rows:
        parts.append(pairs("Requested", attacker_rows))

    attempts = [
        {"theorem": attempt.theorem, "applies": attempt.applies.value, "why not": attempt.reason or ""}
        for attempt in answer.considered
    ]
    parts.append(table("Considered", attempts))
    parts += remarks(answer.declared_conditions, answer.warnings)
    parts.append(proof(answer.derivation))
    return Group(*parts)


def _attacker_rows(answer: AccountAnswer) -> dict[str, str]:
    """Return the table rows of the optional results that an account was requested to have.

    They are the error rates of an attacker, μ of Gaussian differential privacy, Rényi divergences, and δ of each
    direction. The directions are the data with against without the protected unit, and the reverse.

    Args:
        answer: the account.

    Returns:
        An interval that contains the true value, as text, by the name of each result. Empty if none was requested.
    """
    rows = {
        true_positives(rate.false_positive_rate): outward(rate.true_positive_rate) for rate in answer.trade_off or ()
    }
    if answer.gaussian_dp_mu is not None:
        rows["μ of Gaussian differential privacy"] = outward(answer.gaussian_dp_mu)
    for risk in answer.bayes_errors or ():
        rows[f"least error with the prior {risk.prior:g}"] = outward(risk.error)
    for divergence in answer.renyi_divergences or ():
        rows[f"Rényi divergence of order {divergence.order:g}"] = outward(divergence.divergence)
    for directions in answer.directions or ():
        at_epsilon = f"δ at ε = {directions.epsilon:g}"
        rows[f"{at_epsilon}, with against without"] = outward(directions.with_against_without.delta)
        rows[f"{at_epsilon}, without against with"] = outward(directions.without_against_with.delta)
    return rows


def _point_row(point: object) -> dict[str, str]:
    """Return the table row of a point of the privacy curve: intervals that contain ε, δ and log10 δ."""
    return {name: outward(getattr(point, attribute)) for name, attribute in COLUMNS.items()}


def _claim_table(claim: ClaimAnswer) -> RenderableType:
    """Return a table that says whether a claimed (ε, δ) holds, and by how much it differs from the certified figures.

    Both differences are intervals that contain the true difference, because the true ε and δ are known only as
    intervals.

    Args:
        claim: the claimed (ε, δ), whether it holds, and its differences from the certified ε and δ.

    Returns:
        The table, which rich can print.
    """
    return pairs(
        "Claim",
        {
            "holds": claim.holds.value,
            "claimed": f"ε = {claim.epsilon:g} at {at_delta(claim.delta, claim.log10_delta)}",
            "claimed ε minus the true one": outward(claim.margin_epsilon),
            "claimed log10 δ minus the true one": outward(claim.margin_log10_delta),
        },
    )


def _meaning_rows(answer: AccountAnswer) -> dict[str, str]:
    """Return the rows of a table about the best attacker: its advantage and its true positive rates, by their headings.

    The attacker decides from the output whether one person's data were used. Its advantage is the difference of its
    rates.

    Args:
        answer: account of a mechanism, with enclosures of these figures.

    Returns:
        Intervals as texts, rounded outward.
    """
    rows = {ADVANTAGE: outward(answer.meaning.advantage)}
    for rate in answer.meaning.true_positive_rates:
        rows[true_positives(rate.false_positive_rate)] = outward(rate.true_positive_rate)
    return rows


def verification(result: Verification) -> RenderableType:
    """Show the verification of a report: its outcome, differences, the recomputed answer, and what was not checked.

    Args:
        result: the verification.

    Returns:
        The tables and lists, which rich can print.
    """
    subject = [part for part in (result.kind, result.name) if part]
    rows = {
        "outcome": result.outcome,
        "that is": result.reason,
        "about": " ".join(dict.fromkeys(subject)),  # an account has the same kind and name
        "date": f"{result.date} (as given; not checked)" if result.date else "none",
        "made by engine": result.report_engine or "unknown",
        "today's engine": result.engine_version,
        "hash": result.hash or "unknown",
        "signed by": result.signed_by or "none of the given keys",
    }
    parts = [pairs("Report", rows), *bullets("Differs at", result.differences)]
    parts += bullets("Worded differently today, and not confirmed", result.explained_otherwise)
    unchecked = list(NOT_CHECKED)
    if not result.signed_by:
        unchecked.append(UNSIGNED)
    if result.recomputed:
        parts += bullets("Computed anew by today's engine from the request in the report", result.headline)
        parts.append(pairs("Its figures", _recomputed_rows(result.recomputed)))
        parts += bullets("If", result.declared_conditions)
        parts += bullets("Not checked", unchecked)
    elif result.headline:
        parts += bullets("It says", result.headline)
        parts += bullets("If", result.declared_conditions)
    return Group(*parts)


def _recomputed_rows(recomputed: JsonObject) -> JsonObject:
    """Return the table rows of an answer that was computed again to verify a report.

    They have the parameters, the target, bounds on ε and δ at each point of the privacy curve, and the claimed ε if the
    report has one. Without points, the bounds of the guarantee take their place.

    Args:
        recomputed: parts of the answer in JSON form; see `Verification.recomputed`.

    Returns:
        The rows by their names. Intervals are texts, rounded outward.
    """
    guarantee = recomputed["guarantee"]
    rows = dict(recomputed.get("parameters", {}))
    target = guarantee.get("target")
    if target:
        rows |= {"target ε": target["epsilon"], "target log10 δ": target["log10_delta"]}

    points = {f"point {number}: ": point for number, point in enumerate(recomputed.get("points", ()), start=1)}
    if not points:
        points[""] = guarantee
    for prefix, point in points.items():
        rows |= {f"{prefix}{name}": numbers.outward(point[key]) for name, key in COLUMNS.items()}

    claim = recomputed.get("claim")
    if claim:
        rows["claim"] = f"ε = {claim['epsilon']:g} at log10 δ = {claim['log10_delta']:g}: holds {claim['holds']}"
    return rows
