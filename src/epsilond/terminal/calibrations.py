"""Tables of calibrations, sweeps and bounds on a risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import as_json
from epsilond.terminal.parts import (
    DIGITS,
    at_delta,
    bullets,
    format_rounded,
    if_vacuous,
    outward,
    pairs,
    proof,
    remarks,
    table,
    upward,
    verdict,
)

if TYPE_CHECKING:
    from epsilond.accountants.attempts import ConditionResult
    from epsilond.calibrators.answer import (
        Calibration,
        ConditionAnswer,
        FrontierRun,
        GuaranteeAnswer,
        PrintedReading,
        Risk,
    )
    from epsilond.calibrators.dp_fedavg.rounds import RoundsRun
    from epsilond.calibrators.risk.answer import RiskBoundsAnswer
    from epsilond.questions.sweep import AtValue, Sweep


def calibration(answer: Calibration) -> RenderableType:
    """Show a calibration: its parameters, guarantee, risk, assumptions and warnings.

    Formulas of papers, taken literally, are shown in a table next to the certified figures.

    Args:
        answer: the calibration.
    """
    parameters = {name: value for name, value in as_json(answer.parameters).items() if name != "frontier"}
    parts: list[RenderableType] = [
        pairs("Run with", parameters),
        _guarantee(answer.guarantee),
        Text(answer.guarantee.in_words),
    ]
    if answer.readings:
        rows = [_certified_row(answer), *map(_reading, answer.readings)]
        parts.append(table("As printed, compared with the certified figures", rows))
    if answer.risk is not None:
        parts.append(_risk(answer.risk))
    if answer.communication is not None:
        parts.append(pairs("Communication", as_json(answer.communication)))
    if answer.frontier is not None:
        parts.append(frontier(answer.frontier))
    if (runs := getattr(answer.parameters, "frontier", None)) is not None:
        parts.append(rounds_frontier(runs))
    parts += remarks(answer.all_declared, answer.warnings)
    parts.append(proof(answer.derivation))
    return Group(*parts)


def frontier(runs: Sequence[FrontierRun]) -> RenderableType:
    """Show risk against rounds and traffic. A bound at an estimated noise is marked as an estimate."""
    return table("Risk against rounds and traffic", map(_frontier_row, runs))


def _frontier_row(run: FrontierRun) -> Mapping[str, str]:
    marks = []
    if run.chosen:
        marks.append("the answer")
    if run.vacuous:
        marks.append("no better than the start")
    return {
        "rounds": str(run.rounds),
        "batch_size": str(run.batch_size),
        "risk at most": ("" if run.certified else "about ") + format_rounded(run.risk),
        "bits per client": format_rounded(run.bits_per_client),
        "bits in all": format_rounded(run.total_bits),
        "": ", ".join(marks),
    }


def rounds_frontier(runs: Sequence[RoundsRun]) -> RenderableType:
    """Show the certified noise of the mean against rounds and traffic."""
    rows = [
        {
            "rounds": str(run.rounds),
            "noise_multiplier": format_rounded(run.noise_multiplier),
            "noise_norm_of_mean": format_rounded(run.noise_norm_of_mean),
            "share left": format_rounded(run.remaining_share),
            "reports per client": format_rounded(run.reports_per_client),
            "bytes per client": format_rounded(run.bytes_per_client),
            "": "the answer" if run.chosen else "",
        }
        for run in runs
    ]
    return table("Noise against rounds and traffic", rows)


def risk_bounds(answer: RiskBoundsAnswer) -> RenderableType:
    """Show bounds on the excess risk of a run: the run, upper and lower bounds, and conditions that do not hold.

    Args:
        answer: the bounds, with reference values for comparison.
    """
    rows = [
        {
            "side": "upper",
            "theorem": f"{above.theorem} ({above.reading})",
            "bound": upward(above.value) + if_vacuous(above.vacuous, answer.baseline),
            "order": "" if above.scale is None else f"{above.scale:.{DIGITS}g}",
        }
        for above in answer.upper
    ]
    rows += [
        {
            "side": "lower",
            "theorem": f"{below.theorem} (trust {below.trust})",
            "bound": "",
            "order": f"{below.scale:.{DIGITS}g}",
        }
        for below in answer.lower
    ]
    reference = {name: value for name, value in as_json(answer.reference).items() if name != "free_privacy"}
    failing: list[str] = []
    for above in answer.upper:
        failing.extend(_violations(above.theorem, above.conditions))
    for below in answer.lower:
        failing.extend(_violations(below.theorem, below.conditions))
    return Group(
        pairs("Run", as_json(answer.run)),
        table(f"Excess risk ({answer.objective})", rows),
        pairs("Compare", reference),
        *bullets("Does not hold here", failing),
        *remarks(answer.declared_conditions, answer.warnings),
    )


def _violations(theorem: str, conditions: Iterable[ConditionResult | ConditionAnswer]) -> Iterator[str]:
    """Yield a line for each condition of a theorem that does not hold."""
    for condition in conditions:
        if condition.holds == Verdict.NO:
            yield f"{theorem}: {verdict(condition)}"


def sweep(answer: Sweep) -> RenderableType:
    """Show one row for each value."""
    rows = ({answer.field: str(entry.value), **_figures(entry)} for entry in answer.answers)
    return table(f"{answer.algorithm}, by {answer.field}", rows)


def _figures(entry: AtValue) -> Mapping[str, str]:
    """Return the figures of a calibration in a sweep, or its error."""
    names = ("noise", "ε", "log10 δ", "risk at most", "bits")
    if entry.answer is None:
        return {**dict.fromkeys(names, ""), "": str(entry.error)}
    body: JsonObject = as_json(entry.answer)
    parameters, upper = body["parameters"], body.get("risk", {}).get("upper", {})
    hidden = " (order)" if upper.get("constant") == "hidden" else ""
    vacuous = " (no better than the start)" if upper.get("vacuous") else ""
    figures = (
        str(parameters.get("noise_std", parameters.get("noise_multiplier", ""))),
        outward(entry.answer.guarantee.epsilon),
        outward(entry.answer.guarantee.log10_delta),
        f"{upward(upper.get('value'))}{hidden}{vacuous}",
        upward(body.get("communication", {}).get("total_bits")),
    )
    return {**dict(zip(names, figures, strict=True)), "": ""}


def _guarantee(answer: GuaranteeAnswer) -> RenderableType:
    target = answer.target
    return pairs(
        "Guaranteed",
        {
            "definition": answer.definition,
            "of whom": f"{answer.unit} ({answer.relation}), against {answer.observer}; sampling {answer.sampling}",
            f"ε at {at_delta(target.delta, target.log10_delta)}": outward(answer.epsilon),
            f"δ at ε = {target.epsilon:.{DIGITS}g}": outward(answer.delta),
            "log10 δ": outward(answer.log10_delta),
            "lower end": answer.tight,
            "smallest": answer.minimal,
            "sensitivity": "differs by group" if answer.sensitivity is None else answer.sensitivity,
        },
    )


def _certified_row(answer: Calibration) -> Mapping[str, str]:
    """Return the row of the certified calibration in the table of printed readings."""
    parameters = as_json(answer.parameters)
    shared = [name for name in answer.readings[0].parameters if name in parameters]
    return {
        "reading": "certified",
        "parameters": ", ".join(f"{name} {parameters[name]}" for name in shared),
        "claims ε": f"{answer.guarantee.target.epsilon:g}",
        "claims risk": "",
        "true ε": outward(answer.guarantee.epsilon),
        "conditions": "",
    }


def _reading(reading: PrintedReading) -> Mapping[str, str]:
    claims = reading.claims
    failing = [verdict(condition) for condition in reading.conditions if condition.holds != Verdict.YES]
    return {
        "reading": f"{reading.theorem} {reading.reading} ({reading.status.value})",
        "parameters": ", ".join(f"{name} {value:.{DIGITS}g}" for name, value in reading.parameters.items()),
        "claims ε": f"{claims.epsilon:g}",
        "claims risk": upward(claims.excess_risk) + if_vacuous(claims.vacuous, claims.baseline),
        "true ε": outward(reading.true.epsilon) if reading.true is not None else "",
        "conditions": "; ".join(failing) or "hold",
    }


def _risk(risk: Risk) -> RenderableType:
    rows: dict[str, str] = {} if risk.objective is None else {"of": risk.objective}
    for side, bound in (("at most", risk.upper), ("at least", risk.lower)):
        if bound is not None:
            name = side if bound.constant == "explicit" else f"{side} the order of"
            value = format_rounded(bound.value, up=side == "at most")
            source = f"({bound.constant} constant, {bound.theorem})"
            rows[name] = f"{value} {source}{if_vacuous(bound.vacuous, risk.baseline)}"
    if risk.baseline is not None:
        rows["the start has at most"] = str(risk.baseline)
    return pairs("Excess risk", rows)
