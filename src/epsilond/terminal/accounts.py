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
    from epsilond.calibrators.accounts import AccountAnswer, ClaimAnswer
    from epsilond.questions.verification import Verification

FIGURES = {"ε": "epsilon", "δ": "delta", "log10 δ": "log10_delta"}
NOT_CHECKED = (
    "the conditions under If, which only those who run it can vouch for",
    "that the described run is the run that took place",
    "the date",
)
UNSIGNED = "who made the report: a hash is no signature"


def account(answer: AccountAnswer) -> RenderableType:
    """Show an account of a run: ε and δ, a checked claim, their meaning for an attacker, theorems and warnings.

    Args:
        answer: the account.
    """
    guarantee = answer.guarantee
    setting = f"of one {guarantee.unit} ({guarantee.relation}), against {guarantee.observer}"
    parts: list[RenderableType] = [
        table("Guaranteed", map(_point, answer.points or (guarantee,))),
        Text(f"{setting}; lower end {guarantee.tight}"),
        Text(guarantee.in_words),
    ]
    if answer.over_windows is not None:
        parts += [table(f"Over {answer.over_windows.windows} windows", [_point(answer.over_windows)])]
        parts.append(Text(answer.over_windows.in_words))
    if answer.claim is not None:
        parts.append(_claim(answer.claim))
    meaning = {ADVANTAGE: outward(answer.meaning.advantage)}
    for rate in answer.meaning.true_positive_rates:
        meaning[true_positives(rate.false_positive_rate)] = outward(rate.true_positive_rate)
    parts.append(pairs("Meaning", meaning))
    figures = _figures_of_attackers(answer)
    if figures:
        parts.append(pairs("Requested", figures))
    attempts = [
        {"theorem": attempt.theorem, "applies": attempt.applies.value, "why not": attempt.reason or ""}
        for attempt in answer.considered
    ]
    parts.append(table("Considered", attempts))
    parts += remarks(answer.declared_conditions, answer.warnings)
    parts.append(proof(answer.derivation))
    return Group(*parts)


def _figures_of_attackers(answer: AccountAnswer) -> dict[str, str]:
    """Return the requested figures of an attacker, and divergences, with their names."""
    figures = {
        true_positives(rate.false_positive_rate): outward(rate.true_positive_rate) for rate in answer.trade_off or ()
    }
    if answer.gaussian_dp_mu is not None:
        figures["μ of Gaussian differential privacy"] = outward(answer.gaussian_dp_mu)
    for risk in answer.bayes_errors or ():
        figures[f"least error with the prior {risk.prior:g}"] = outward(risk.error)
    for divergence in answer.renyi_divergences or ():
        figures[f"Rényi divergence of order {divergence.order:g}"] = outward(divergence.divergence)
    for both in answer.directions or ():
        figures[f"δ at ε = {both.epsilon:g}, with against without"] = outward(both.with_against_without.delta)
        figures[f"δ at ε = {both.epsilon:g}, without against with"] = outward(both.without_against_with.delta)
    return figures


def _point(point: object) -> dict[str, str]:
    """Return the row of a point of the curve: its enclosures of ε, δ and log10 δ."""
    return {name: outward(getattr(point, attribute)) for name, attribute in FIGURES.items()}


def _claim(claim: ClaimAnswer) -> RenderableType:
    """Show whether a claimed (ε, δ) holds, and by how much it differs from the certified figures."""
    return pairs(
        "Claim",
        {
            "holds": claim.holds.value,
            "claimed": f"ε = {claim.epsilon:g} at {at_delta(claim.delta, claim.log10_delta)}",
            "claimed ε minus the true one": outward(claim.margin_epsilon),
            "claimed log10 δ minus the true one": outward(claim.margin_log10_delta),
        },
    )


def verification(result: Verification) -> RenderableType:
    """Show the verification of a report: its outcome, the recomputed figures, differences, and unchecked facts.

    Args:
        result: the verification.
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
    if result.recomputed:
        parts += bullets("Computed anew by today's engine from the request in the report", result.headline)
        parts.append(pairs("Its figures", _figures(result.recomputed)))
        parts += bullets("If", result.declared_conditions)
        parts += bullets("Not checked", NOT_CHECKED if result.signed_by else (*NOT_CHECKED, UNSIGNED))
    elif result.headline:
        parts += bullets("It says", result.headline)
        parts += bullets("If", result.declared_conditions)
    return Group(*parts)


def _figures(recomputed: JsonObject) -> JsonObject:
    """Return parameters in full, then the enclosures of the guarantee, of further points and of a claim."""
    guarantee = recomputed["guarantee"]
    figures = dict(recomputed.get("parameters", {}))
    if target := guarantee.get("target"):
        figures |= {"target ε": target["epsilon"], "target log10 δ": target["log10_delta"]}
    points = {f"point {number}: ": point for number, point in enumerate(recomputed.get("points", ()), start=1)}
    for prefix, point in (points or {"": guarantee}).items():
        figures |= {f"{prefix}{name}": numbers.outward(point[key]) for name, key in FIGURES.items()}
    if claim := recomputed.get("claim"):
        figures["claim"] = f"ε = {claim['epsilon']:g} at log10 δ = {claim['log10_delta']:g}: holds {claim['holds']}"
    return figures
