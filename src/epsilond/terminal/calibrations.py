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
    from epsilond.calibrators.risk.answer import RiskBoundsAnswer, UpperBound
    from epsilond.questions.sweep import AtValue, Sweep

MEASURES = {"excess-risk": "Excess risk", "gradient-norm": "Gradient norm", "squared-error": "Squared error"}
"""Title of the table of bounds, by the bounded quantity."""


def calibration(answer: Calibration) -> RenderableType:
    """Show a calibration: its parameters, guarantee, risk, assumptions and warnings.

    Formulas of papers, taken literally, are shown in a table next to the certified values.

    Args:
        answer: the calibration.

    Returns:
        The tables and texts, which rich can print.
    """
    parameters = {name: value for name, value in as_json(answer.parameters).items() if name != "frontier"}
    parts: list[RenderableType] = [
        pairs("Run with", parameters),
        _guarantee_table(answer.guarantee),
        Text(answer.guarantee.in_words),
    ]

    if answer.readings:
        rows = [_certified_row(answer), *map(_printed_row, answer.readings)]
        parts.append(table("As printed, compared with the certified figures", rows))

    # Each of these parts is shown if the algorithm has it.
    if answer.risk is not None:
        parts.append(_risk_table(answer.risk))
    if answer.communication is not None:
        parts.append(pairs("Communication", as_json(answer.communication)))
    if answer.frontier is not None:
        parts.append(frontier(answer.frontier))
    rounds_runs = getattr(answer.parameters, "frontier", None)  # of dp-fedavg
    if rounds_runs is not None:
        parts.append(rounds_frontier(rounds_runs))

    parts += remarks(answer.all_declared, answer.warnings)
    parts.append(proof(answer.derivation))
    return Group(*parts)


def frontier(runs: Sequence[FrontierRun]) -> RenderableType:
    """Show risk against rounds and traffic. A bound at an estimated noise is marked as an estimate."""
    return table("Risk against rounds and traffic", map(_frontier_row, runs))


def _frontier_row(run: FrontierRun) -> Mapping[str, str]:
    """Return the table row of one possible run, with its bound on the excess risk and its traffic.

    A risk without certified noise is an estimate ("about"). A risk is vacuous if it is no better than the bound on the
    risk of the first model. The run with the mark "the answer" is the one that the calibration returns.

    Args:
        run: the run, at one point of the trade-off between risk and traffic.

    Returns:
        The text of each column by its heading.
    """
    marks = []
    if run.chosen:
        marks.append("the answer")
    if run.vacuous:
        marks.append("no better than the start")
    estimate_mark = "" if run.certified else "about "
    return {
        "rounds": str(run.rounds),
        "batch_size": str(run.batch_size),
        "risk at most": estimate_mark + format_rounded(run.risk),
        "bits per client": format_rounded(run.bits_per_client),
        "bits in all": format_rounded(run.total_bits),
        "": ", ".join(marks),
    }


def rounds_frontier(runs: Sequence[RoundsRun]) -> RenderableType:
    """Show the certified noise of DP-FedAvg for several numbers of rounds, with the traffic of each.

    The columns are:
    - "noise_multiplier": standard deviation of the noise over the clipping norm.
    - "noise_norm_of_mean": norm of the noise in the mean update of a round.
    - "share left": upper bound on the excess risk after all rounds, divided by clipping norm times diameter.

    Args:
        runs: runs with different numbers of rounds at the same guarantee.

    Returns:
        The table, which rich can print.
    """
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
    """Show bounds on the risk of a run: the run, upper and lower bounds, and conditions that do not surely hold.

    Args:
        answer: the bounds, with reference values for comparison if the algorithm has them.

    Returns:
        The tables and lists, which rich can print.
    """
    reference: JsonObject = {} if answer.reference is None else as_json(answer.reference)
    rates = {name: value for name, value in reference.items() if name != "free_privacy"}
    violations: list[str] = []
    for upper in answer.upper:
        violations.extend(_violations(upper.theorem, upper.conditions))
    for lower in answer.lower:
        violations.extend(_violations(lower.theorem, lower.conditions))
    parts: list[RenderableType] = [
        pairs("Run", as_json(answer.run)),
        table(f"{MEASURES[answer.measure]} ({answer.objective})", _risk_bound_rows(answer)),
    ]
    if answer.no_upper_bound:
        parts.extend(bullets("No upper bound", [answer.no_upper_bound]))
    if rates:
        parts.append(pairs("Compare", rates))
    parts.extend(bullets("Does not hold here", violations))
    parts.extend(bullets("Undecidable here", _undecidable_lines(answer)))
    parts.extend(remarks(answer.declared_conditions, answer.warnings))
    return Group(*parts)


def _risk_bound_rows(answer: RiskBoundsAnswer) -> Iterator[Mapping[str, str]]:
    """Yield a table row for each upper bound on the excess risk, and then for each lower bound.

    "bound" is the value of an upper bound. "order" is the value of the formula up to its hidden constant factor. Lower
    bounds are known only up to this factor.

    Args:
        answer: the bounds on the risk.

    Yields:
        The text of each column by its heading, for one bound.
    """
    for upper in answer.upper:
        yield {
            "side": "upper",
            "theorem": f"{upper.theorem} ({upper.reading}, {upper.status}){_undecidable_clause(upper)}",
            "bound": upward(upper.value) + if_vacuous(upper.vacuous, answer.baseline),
            "order": "" if upper.scale is None else f"{upper.scale:.{DIGITS}g}",
        }
    for lower in answer.lower:
        yield {
            "side": "lower",
            "theorem": f"{lower.theorem} (trust {lower.trust})",
            "bound": "",
            "order": f"{lower.scale:.{DIGITS}g}",
        }


def _undecidable(upper: UpperBound) -> list[ConditionAnswer]:
    """Return the conditions of an upper bound that cannot be decided from the inputs."""
    return [condition for condition in upper.conditions if condition.holds == Verdict.UNDECIDABLE]


def _undecidable_clause(upper: UpperBound) -> str:
    """Return " if …" with the ids of the undecidable conditions of an upper bound; empty without any or a value."""
    names = [condition.id for condition in _undecidable(upper)]
    if not names or upper.value is None:
        return ""
    return f" if {', '.join(names)}"


def _undecidable_lines(answer: RiskBoundsAnswer) -> list[str]:
    """Return a line for each undecidable condition of the upper bounds on the risk that have a value.

    Args:
        answer: bounds on the excess risk, with their conditions.

    Returns:
        The lines, each once, in the order of the bounds.
    """
    lines: list[str] = []
    for upper in answer.upper:
        if upper.value is not None:
            lines += [f"{condition.id}: {condition.statement}" for condition in _undecidable(upper)]
    return list(dict.fromkeys(lines))


def _violations(theorem: str, conditions: Iterable[ConditionResult | ConditionAnswer]) -> Iterator[str]:
    """Yield a line for each condition of a theorem that does not hold.

    Args:
        theorem: id of the theorem.
        conditions: its conditions, with the results of their checks.

    Yields:
        The id of the theorem, with the condition and its verdict.
    """
    for condition in conditions:
        if condition.holds == Verdict.NO:
            yield f"{theorem}: {verdict(condition)}"


def sweep(answer: Sweep) -> RenderableType:
    """Show one row for each value of the field: noise, guarantee, risk and traffic, or the error at this value."""
    rows = ({answer.field: str(entry.value), **_sweep_columns(entry)} for entry in answer.answers)
    return table(f"{answer.algorithm}, by {answer.field}", rows)


def _sweep_columns(entry: AtValue) -> Mapping[str, str]:
    """Return the columns of one calibration of a sweep. If it failed, only the last column has text, the error.

    Args:
        entry: the swept value, with its answer or its error.

    Returns:
        The text of each column by its heading.
    """
    if entry.answer is None:
        return {"noise": "", "ε": "", "log10 δ": "", "risk at most": "", "bits": "", "": str(entry.error)}
    # Members that an algorithm does not have give empty texts.
    body: JsonObject = as_json(entry.answer)
    parameters = body["parameters"]
    risk = body.get("risk", {}).get("upper", {})
    hidden = " (order)" if risk.get("constant") == "hidden" else ""
    vacuous = " (no better than the start)" if risk.get("vacuous") else ""
    return {
        "noise": str(parameters.get("noise_std", parameters.get("noise_multiplier", ""))),
        "ε": outward(entry.answer.guarantee.epsilon),
        "log10 δ": outward(entry.answer.guarantee.log10_delta),
        "risk at most": f"{upward(risk.get('value'))}{hidden}{vacuous}",
        "bits": upward(body.get("communication", {}).get("total_bits")),
        "": "",
    }


def _guarantee_table(answer: GuaranteeAnswer) -> RenderableType:
    """Return a table of the guarantee of a calibration, with ε and δ as intervals.

    Rows with names that need an explanation:
    - "of whom": protected unit, neighbouring relation and observer.
    - "lower end": how the lower ends of the intervals are known.
    - "smallest": "proved" if the same theorem provably misses the target with a slightly smaller parameter.

    Args:
        answer: the guarantee.

    Returns:
        The table, which rich can print.
    """
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
    """Return the table row of a certified calibration, for comparison with the formulas of papers.

    The other rows of the table are printed readings: formulas of papers as printed, with their known errors. This row
    has the certified values of the parameters that the formulas prescribe.

    Args:
        answer: the calibration, with at least one printed reading.

    Returns:
        The text of each column by its heading.
    """
    parameters = as_json(answer.parameters)
    shared_names = [name for name in answer.readings[0].parameters if name in parameters]
    shared_values = [f"{name} {parameters[name]}" for name in shared_names]
    return {
        "reading": "certified",
        "parameters": ", ".join(shared_values),
        "claims ε": f"{answer.guarantee.target.epsilon:g}",
        "claims risk": "",
        "true ε": outward(answer.guarantee.epsilon),
        "conditions": "",
    }


def _printed_row(reading: PrintedReading) -> Mapping[str, str]:
    """Return the table row of a paper's formula as printed, with its known errors.

    The row has the parameters that the formula prescribes, the ε and the risk that it claims, and the true ε at these
    parameters.

    Args:
        reading: the formula, with its parameters, its claims and the certified ε at these parameters.

    Returns:
        The text of each column by its heading.
    """
    claims = reading.claims
    # Conditions that cannot be decided are shown too, because the formula rests on them.
    failing = [verdict(condition) for condition in reading.conditions if condition.holds != Verdict.YES]
    parameters = [f"{name} {value:.{DIGITS}g}" for name, value in reading.parameters.items()]
    true_epsilon = ""
    if reading.true is not None:
        true_epsilon = outward(reading.true.epsilon)
    return {
        "reading": f"{reading.theorem} {reading.reading} ({reading.status.value})",
        "parameters": ", ".join(parameters),
        "claims ε": f"{claims.epsilon:g}",
        "claims risk": upward(claims.excess_risk) + if_vacuous(claims.vacuous, claims.baseline),
        "true ε": true_epsilon,
        "conditions": "; ".join(failing) or "hold",
    }


def _risk_table(risk: Risk) -> RenderableType:
    """Show the upper and the lower bound on the excess risk: the upper bound rounded up, the lower bound down.

    "the order of" marks a bound with a hidden constant. "the start has at most" is the bound on the risk of the model
    before training.

    Args:
        risk: both bounds, each of which may be missing, and the bound at the first model.

    Returns:
        The table, which rich can print.
    """
    rows: dict[str, str] = {}
    if risk.objective is not None:
        rows["of"] = risk.objective
    for bound, side, is_upper in ((risk.upper, "at most", True), (risk.lower, "at least", False)):
        if bound is None:
            continue
        # Without an explicit constant, only the order of the bound is known.
        name = side if bound.constant == "explicit" else f"{side} the order of"
        value = format_rounded(bound.value, up=is_upper)
        source = f"({bound.constant} constant, {bound.theorem})"
        rows[name] = f"{value} {source}{if_vacuous(bound.vacuous, risk.baseline)}"
    if risk.baseline is not None:
        rows["the start has at most"] = str(risk.baseline)
    return pairs("Excess risk", rows)
