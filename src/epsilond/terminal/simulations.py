"""Tables of the answers of simulations, made from their JSON form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.terminal.parts import bullets, pairs, table
from epsilond.witness.memberships.request import ATTACKS
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.simulation import plan as simulation_plan

if TYPE_CHECKING:
    from epsilond.witness.experiment import Preset

DIGITS = 4
"""Significant digits of a printed measurement."""


def presets(listed: Sequence[Preset]) -> RenderableType:
    """Show one row for each experiment."""
    return table("Presets", map(_preset_row, listed))


def _preset_row(preset: Preset) -> Mapping[str, str]:
    """Return the table row of an experiment that can be simulated, with its estimated seconds on one core."""
    plan = simulation_plan(PresetSimulation(preset=preset.name))  # type: ignore[arg-type]
    return {
        "preset": preset.name,
        "what it shows": preset.summary,
        "from": preset.source,
        "data": _kind_of_data(preset),
        "about, on one core": f"{plan.seconds:.0f} s",
    }


def _kind_of_data(preset: Preset) -> str:
    """Return the source of an experiment's data, as a word for a table.

    Args:
        preset: the experiment.

    Returns:
        A word for substitute data, the names of the data sets that are read, or "drawn" for random data.
    """
    if preset.is_stand_in:
        return "stand-in"
    return ", ".join(preset.data) if preset.data else "drawn"


def simulation(answer: object) -> RenderableType:
    """Show the run, its measurements, and its bounds or guarantee."""
    body = as_json(answer)
    return TABLES[body["kind"]](body)


def _risk(body: JsonObject) -> RenderableType:
    """Show a simulation of the excess risk: parameters, guarantees, measured risk, and bounds on it.

    Args:
        body: the answer in its JSON form.
    """
    band = f"{body['confidence']:.0%} band"
    parts = [pairs("Run with", body["parameters"]), *_guarantee(body)]
    parts.append(table("Guaranteed to each group", map(_group, body.get("client_groups", ()))))
    parts.append(table("Excess risk", [_series(series, band) for series in body["series"]]))
    parts.append(table("Bounds", map(_bound, body["bounds"])))
    return Group(*parts, *_warnings(body))


def _series(series: JsonObject, band: str) -> Mapping[str, str]:
    """Return the table row of several equal training runs, of which the excess risk was measured.

    Args:
        series: the series in its JSON form, with the mean and the confidence band of its final excess risk.
        band: heading of the column of the confidence band.
    """
    final = series["final"]
    row = {
        "run": series["name"],
        "mean": _short(final["mean"]),
        band: _interval(final),
        "standard error": _short(final["standard_error"]),
    }
    for name, score in series.get("scores", {}).items():
        row[name.replace("_", " ")] = _with_band(score)
    return row


def _warnings(body: JsonObject) -> list[RenderableType]:
    """List the warnings of a simulation; nothing if there are none."""
    return bullets("Mind", [warning["message"] for warning in body["warnings"]])


def _guarantee(body: JsonObject) -> list[RenderableType]:
    """Return a table with the certified ε of a simulated run; empty if the answer has no guarantee.

    Args:
        body: answer of a simulation as a JSON object.
    """
    guarantee = body.get("guarantee")
    if guarantee is None:
        return []
    of_whom = f"{guarantee['unit']} ({guarantee['relation']}), against {guarantee['observer']}"
    return [pairs("Guaranteed", {"of whom": of_whom, "ε": _interval(guarantee["epsilon"])})]


def _group(group: JsonObject) -> Mapping[str, str]:
    """Return the row of a group of clients with equal numbers of records: its noise and its guarantee."""
    return {
        "clients": str(group["clients"]),
        "records": str(group["samples_per_client"]),
        "noise_std": _short(group["noise_std"]),
        "ε": _interval(group["guarantee"]["epsilon"]),
        "log10 δ": _short(group["guarantee"]["target"]["log10_delta"]),
    }


def _bound(bound: JsonObject) -> Mapping[str, str]:
    """Return the table row of a bound (JSON object): its value, and whether the measurement is within it."""
    quantity = "" if bound["quantity"] == "excess" else f" ({bound['quantity']})"
    verdict = bound["holds"] if bound["compared"] else f"not compared: {bound['reason']}"
    return {
        "theorem": bound["theorem"] + quantity,
        "value": f"{_short(bound['value'])} ({bound['constant']} constant, {bound['status']})",
        "bound/measured": _short(bound.get("ratio", "")),
        "holds": verdict,
    }


def _audit(body: JsonObject) -> RenderableType:
    """Show an audit of a mechanism: lower bounds on ε that its outputs prove, compared with the certified ε.

    "proved by its test" is the bound from the error rates of a test which of two data sets was used. "proved of μ" is
    a lower bound on μ of Gaussian differential privacy. An escape is an output that only one of the two data sets can
    give. "verdicts rest on" names the one of test and escapes that counts. The first half of each
    sample decides this.

    Args:
        body: the answer in its JSON form.
    """
    rows = {
        "proved by its test": f"ε ≥ {_short(body['epsilon']['lower'])}",
        "proved of μ": f"μ ≥ {_short(body['gaussian']['mu_lower'])} of Gaussian differential privacy"
        f" (ε ≥ {_short(body['gaussian']['epsilon_if_gaussian'])} if it is Gaussian)",
        "impossible outputs": _escape(body["escape"]),
        "verdicts rest on": {"test": "the test", "escape": "impossible outputs"}[body["evidence"]],
        "certified": f"ε in {_interval(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}",
        "verdict": body["verdict"],
    }
    if "claim" in body:
        rows["claimed"] = f"ε ≤ {_short(body['claim']['epsilon'])}; violated: {body['claim']['violated']}"
        rows["proved at the claimed ε"] = f"δ ≥ {_short(body['claim']['delta_lower'])}"
    return Group(pairs("Audit", rows), *bullets("That is", [body["meaning"]]))


def _membership(body: JsonObject) -> RenderableType:
    """Show the answer of a membership inference: an attack that guesses which records were in the training data.

    Canaries are records that are put into the training data at random. References are further trainings of which the
    attacker knows the canaries in the data.

    Args:
        body: the answer in its JSON form.
    """
    setting = {
        "of whom": f"{body['unit']} ({body['relation']})",
        "canaries": f"{body['canaries']} beside {body['members']} members",
        "runs": f"{body['runs']}, and {body['references']} references",
        "certified": f"ε in {_interval(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}, of each attack by itself",
    }
    return Group(
        pairs("Membership inference", setting),
        table("Attacks", map(_attack, body["attacks"])),
        *bullets("That is", [body["meaning"]]),
    )


def _attack(attack: JsonObject) -> Mapping[str, str]:
    """Return the table row of a membership attack, with the counts from which its lower bound on ε follows."""
    if attack["method"] == "one-run":
        counts = f"{attack['right']} of {attack['guesses']} guesses right"
    else:
        counts = f"{attack['true_positives']} true, {attack['false_positives']} false of {attack['trials']} each"
    return {
        "attack": attack["attack"],
        "proved": f"ε ≥ {_short(attack['epsilon_lower'])}",
        "by": counts,
        "area": _short(attack["auc"]),
        "true positives at 0.01": _short(attack["true_positive_rate"]),
        "verdict": attack["verdict"],
    }


def _escape(escape: JsonObject) -> str:
    """Return the conclusion of an audit from escapes: outputs that only one of the two data sets can give.

    Their probability is at most δ for every ε. If its lower bound is above δ, no ε holds.

    Args:
        escape: number of escapes, lower bound on their probability, and lower bound on ε, in JSON form.
    """
    if not escape["observed"]:
        return "none seen"
    conclusion = "so that no ε holds" if escape["epsilon_lower"] == "unbounded" else "not above δ"
    return f"{escape['observed']} seen: probability ≥ {_short(escape['probability_lower'])}, {conclusion}"


def _coordinates(body: JsonObject, cell: JsonObject) -> dict[str, str]:
    """Return the coordinates of a cell in the grid of a preset, by the names of the axes."""
    axes = [body[name]["name"] for name in ("panels", "lines", "across") if name in body]
    return {name: _short(cell["place"][name]) for name in axes}


def _audit_cell(cell: JsonObject) -> Mapping[str, str]:
    """Return a table row for one cell, one point of the grid, of an experiment that audits a mechanism.

    Args:
        cell: a cell of the answer in its JSON form. The columns about a claimed ε are empty if it has no claim.
    """
    claim = cell.get("claim")
    row = {
        "by its test": _short(cell["test_epsilon_lower"]),
        "proved at least": _short(cell["epsilon_lower"]),
        "certified": _interval(cell["epsilon"]),
        "claimed": "" if claim is None else _short(claim["epsilon"]),
        "violated": "" if claim is None else claim["violated"],
        "δ there at least": "" if claim is None else _short(claim["delta_lower"]),
    }
    for name, value in cell.get("log10_deltas", {}).items():
        row[f"δ, {name}"] = f"10^{value:.4g}"
    return row


def _membership_cell(cell: JsonObject) -> Mapping[str, str]:
    """Return the columns of a membership inference in a grid."""
    row = {"certified": _interval(cell["epsilon"])}
    for name in ATTACKS:
        row[name] = f"ε ≥ {_short(cell['attacks'][name])}" if name in cell["attacks"] else ""
    return row


def _risk_cell(cell: JsonObject, references: Sequence[str]) -> Mapping[str, str]:
    """Return a table row for one cell, one point of the grid, of an experiment that measures the excess risk.

    Args:
        cell: a cell of the answer in its JSON form.
        references: names of the reference runs, a column each; it is empty in a cell that lacks the run.

    Returns:
        Texts by heading: ε, the measured mean with its confidence band, the reference runs, the least of the bounds
        that the measurement is compared with, and whether that bound holds.
    """
    final = cell["final_excess"]
    measurements = cell.get("beside", {})
    row = {
        "ε": _short(cell["epsilon"]["upper"]) if "epsilon" in cell else "",
        "measured": _short(final["mean"]),
        "band": _interval(final),
    }
    for name in references:
        row[name] = _short(measurements[name]["mean"]) if name in measurements else ""
    least = min(_risk_bounds(cell["bounds"]), key=lambda bound: bound["value"], default=None)
    if least is None:
        row["least bound"] = row["holds"] = ""
    else:
        row["least bound"] = f"{_short(least['value'])} ({least['theorem']})"
        row["holds"] = least["holds"]
    return row


def _score_cell(cell: JsonObject, references: Sequence[str], measure: str) -> Mapping[str, str]:
    """Return a table row for one cell of an experiment's grid, in which a score on held-out records is measured.

    Args:
        cell: a cell of the answer in its JSON form.
        references: names of the reference runs, a column each; it is empty in a cell that lacks the run.
        measure: name of the score, such as the accuracy.

    Returns:
        Texts by heading: the ε that a paper claims and the certified one, the score with its confidence band, the
        reference runs, and the mean excess risk.
    """
    scores = cell.get("scores_beside", {})
    row = {
        "claimed ε": _short(cell["claimed_epsilon"]) if "claimed_epsilon" in cell else "",
        "certified ε": _interval(cell["epsilon"]) if "epsilon" in cell else "",
        measure.replace("_", " "): _with_band(cell["scores"][measure]),
    }
    for name in references:
        row[name] = _short(scores[name][measure]["mean"]) if name in scores else ""
    if "final_excess" in cell:
        row["excess"] = _short(cell["final_excess"]["mean"])
    return row


def _preset(body: JsonObject) -> RenderableType:
    """Show a preset, an experiment that repeats a paper's: a row for each cell, and findings on the paper's claims.

    A cell is the simulation at one point of the grid of parameters. "Stands in for" says which data and sizes of the
    paper were replaced. It is shown, with the warnings, for measurements of risks and scores only.

    Args:
        body: the answer in its JSON form. All its cells are of one kind, which decides the columns.
    """
    cells = body["cells"]
    kind = cells[0]["kind"]
    measure = body.get("measure")
    references: list[str] = []
    for cell in cells:
        references.extend(name for name in cell.get("beside", {}) if name not in references)
    rows = [{**_coordinates(body, cell), **_cell_columns(cell, kind, references, measure)} for cell in cells]
    parts: list[RenderableType] = [table(body["title"], rows), *_findings(body)]
    parts.append(table("Data files", map(_data_file, body.get("data_files", ()))))
    if kind in ("audit", "membership"):
        return Group(*parts)
    if "stands_in_for" in body:
        parts.insert(0, pairs("Stands in for", {"": body["stands_in_for"]}))
    return Group(*parts, *_warnings(body))


def _data_file(file: JsonObject) -> Mapping[str, str]:
    """Return the row of a file that the experiment read."""
    original = "yes" if file.get("original") else "not known"
    return {"data set": file["data"], "file": file["name"], "MD5": file["md5"], "original": original}


def _cell_columns(cell: JsonObject, kind: str, references: Sequence[str], measure: str | None) -> Mapping[str, str]:
    """Return a table row for one cell, one point of an experiment's grid, with columns for the measured quantity.

    Args:
        cell: a cell of the answer in its JSON form.
        kind: kind of all cells.
        references: names of the reference runs.
        measure: name of a score on held-out records; None if the excess risk is measured.
    """
    if kind == "audit":
        return _audit_cell(cell)
    if kind == "membership":
        return _membership_cell(cell)
    if measure is None:
        return _risk_cell(cell, references)
    return _score_cell(cell, references, measure)


def _findings(body: JsonObject) -> list[RenderableType]:
    """Show the simulation's verdict on each claim of the preset's paper; nothing if there are no claims."""
    rows = [
        {"claim": finding["claim"], "verdict": finding["told"], "measurement": finding["words"]}
        for finding in body.get("findings", ())
    ]
    return [table("The paper's claims", rows)] if rows else []


def _risk_bounds(bounds: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the bounds on the excess risk that are compared with the measurement."""
    return [bound for bound in bounds if bound["compared"] and bound["quantity"] == "excess"]


TABLES: Mapping[str, Callable[[JsonObject], RenderableType]] = {
    "risk": _risk,
    "audit": _audit,
    "membership": _membership,
    "preset": _preset,
}


def _interval(bounds: JsonObject) -> str:
    """Return an interval as a text, such as "[0.5, 1]".

    Args:
        bounds: object with the members `lower` and `upper`: numbers, or words such as "unbounded".
    """
    return f"[{_short(bounds['lower'])}, {_short(bounds['upper'])}]"


def _with_band(score: JsonObject) -> str:
    """Return the mean of a measurement with its confidence band as a text, such as "0.7 [0.5, 1]".

    Args:
        score: object with the members `mean`, `lower` and `upper`.
    """
    return f"{_short(score['mean'])} {_interval(score)}"


def _short(value: object) -> str:
    """Return a number as a text with `DIGITS` significant digits, and a word such as "unbounded" unchanged.

    Args:
        value: a number or a word.
    """
    return value if isinstance(value, str) else f"{value:.{DIGITS}g}"
