"""Tables of the answers of simulations, made from their JSON form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.terminal.grid_cells import (
    cell_columns,
    coordinates,
    interval_text,
    short_number,
    with_band,
)
from epsilond.terminal.parts import bullets, pairs, table
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.simulation import plan as simulation_plan

if TYPE_CHECKING:
    from epsilond.witness.experiment import Preset


def presets(listed: Sequence[Preset]) -> RenderableType:
    """Return a table with a row for each experiment that can be simulated."""
    return table("Presets", map(_preset_row, listed))


def _preset_row(preset: Preset) -> Mapping[str, str]:
    """Return the table row of an experiment that can be simulated, with its estimated seconds on one core.

    Args:
        preset: the experiment.

    Returns:
        The text of each column by its heading.
    """
    plan = simulation_plan(PresetSimulation(preset=preset.name))  # type: ignore[arg-type]
    return {
        "preset": preset.name,
        "what it shows": preset.summary,
        "from": preset.source,
        "data": _kind_of_data(preset),
        "about, on one core": f"{plan.seconds:.0f} s",
    }


def _kind_of_data(preset: Preset) -> str:
    """Return the source of an experiment's data, for a table.

    Args:
        preset: the experiment.

    Returns:
        "stand-in" for data that replaces that of a paper, the names of the data sets that are read, or "drawn" for
        random data.
    """
    if preset.is_stand_in:
        return "stand-in"
    return ", ".join(preset.data) if preset.data else "drawn"


def simulation(answer: object) -> RenderableType:
    """Return the tables of a simulation's answer: the run, its measurements, and its bounds or guarantee."""
    body = as_json(answer)
    return TABLES[body["kind"]](body)


def _risk_tables(body: JsonObject) -> RenderableType:
    """Return the tables of a simulation of the excess risk.

    Args:
        body: the answer in its JSON form.

    Returns:
        Tables and texts for the package rich: parameters, guarantees, measured risk, bounds on it, and warnings.
    """
    band = f"{body['confidence']:.0%} band"
    parts = [pairs("Run with", body["parameters"]), *_guarantee_table(body)]
    parts.append(table("Guaranteed to each group", map(_group_row, body.get("client_groups", ()))))
    parts.append(table("Excess risk", [_series_row(series, band) for series in body["series"]]))
    parts.append(table("Bounds", map(_bound_row, body["bounds"])))
    return Group(*parts, *_warning_list(body))


def _series_row(series: JsonObject, band: str) -> Mapping[str, str]:
    """Return the table row of several equal training runs, of which the excess risk was measured.

    Args:
        series: the series in its JSON form, with the mean and the confidence band of its final excess risk.
        band: heading of the column of the confidence band.

    Returns:
        The text of each column by its heading.
    """
    final = series["final"]
    row = {
        "run": series["name"],
        "mean": short_number(final["mean"]),
        band: interval_text(final),
        "standard error": short_number(final["standard_error"]),
    }
    for name, score in series.get("scores", {}).items():
        row[name.replace("_", " ")] = with_band(score)
    return row


def _warning_list(body: JsonObject) -> list[RenderableType]:
    """Return a list of the warnings of a simulation, with its heading; empty if there are none."""
    return bullets("Mind", [warning["message"] for warning in body["warnings"]])


def _guarantee_table(body: JsonObject) -> list[RenderableType]:
    """Return a table with the certified ε of a simulated run; empty if the answer has no guarantee.

    Args:
        body: answer of a simulation as a JSON object.

    Returns:
        A list with the table, or an empty list.
    """
    guarantee = body.get("guarantee")
    if guarantee is None:
        return []
    of_whom = f"{guarantee['unit']} ({guarantee['relation']}), against {guarantee['observer']}"
    return [pairs("Guaranteed", {"of whom": of_whom, "ε": interval_text(guarantee["epsilon"])})]


def _group_row(group: JsonObject) -> Mapping[str, str]:
    """Return the table row of a group of clients with equal numbers of records: its noise and its guarantee.

    Args:
        group: the group in its JSON form.

    Returns:
        The text of each column by its heading.
    """
    return {
        "clients": str(group["clients"]),
        "records": str(group["samples_per_client"]),
        "noise_std": short_number(group["noise_std"]),
        "ε": interval_text(group["guarantee"]["epsilon"]),
        "log10 δ": short_number(group["guarantee"]["target"]["log10_delta"]),
    }


def _bound_row(bound: JsonObject) -> Mapping[str, str]:
    """Return the table row of a bound on a measured risk: its value, and whether the measurement is within it.

    Args:
        bound: the bound in its JSON form.

    Returns:
        The text of each column by its heading. "holds" has the reason instead if the bound was not compared.
    """
    quantity = "" if bound["quantity"] == "excess" else f" ({bound['quantity']})"
    verdict = bound["holds"] if bound["compared"] else f"not compared: {bound['reason']}"
    return {
        "theorem": bound["theorem"] + quantity,
        "value": f"{short_number(bound['value'])} ({bound['constant']} constant, {bound['status']})",
        "bound/measured": short_number(bound.get("ratio", "")),
        "holds": verdict,
    }


def _audit_tables(body: JsonObject) -> RenderableType:
    """Return the tables of an audit of a mechanism: lower bounds on ε, compared with the certified ε.

    An attacker guesses by a test which of two neighbouring data sets gave an output. The row "proved by its test" is
    the lower bound on ε from the error rates of this test. "proved of μ" is a lower bound on the parameter μ of
    Gaussian differential privacy. "impossible outputs" is about outputs that only one of the data sets can give.
    "verdicts rest on" says whether the verdicts use the test or these outputs.

    Args:
        body: the answer in its JSON form.

    Returns:
        The tables and lists, which rich can print.
    """
    rows = {
        "proved by its test": f"ε ≥ {short_number(body['epsilon']['lower'])}",
        "proved of μ": f"μ ≥ {short_number(body['gaussian']['mu_lower'])} of Gaussian differential privacy"
        f" (ε ≥ {short_number(body['gaussian']['epsilon_if_gaussian'])} if it is Gaussian)",
        "impossible outputs": _escape_conclusion(body["escape"]),
        "verdicts rest on": {"test": "the test", "escape": "impossible outputs"}[body["evidence"]],
        "certified": f"ε in {interval_text(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}",
        "verdict": body["verdict"],
    }
    if "claim" in body:
        rows["claimed"] = f"ε ≤ {short_number(body['claim']['epsilon'])}; violated: {body['claim']['violated']}"
        rows["proved at the claimed ε"] = f"δ ≥ {short_number(body['claim']['delta_lower'])}"
    return Group(pairs("Audit", rows), *bullets("That is", [body["meaning"]]))


def _membership_tables(body: JsonObject) -> RenderableType:
    """Return the tables of a membership inference, an attack that guesses which records were trained on.

    Canaries are records that are included in the training data at random. References are further training runs, for
    which the attacker knows the included canaries.

    Args:
        body: the answer in its JSON form.

    Returns:
        The tables and lists, which rich can print.
    """
    setting = {
        "of whom": f"{body['unit']} ({body['relation']})",
        "canaries": f"{body['canaries']} beside {body['members']} members",
        "runs": f"{body['runs']}, and {body['references']} references",
        "certified": f"ε in {interval_text(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}, of each attack by itself",
    }
    return Group(
        pairs("Membership inference", setting),
        table("Attacks", map(_attack_row, body["attacks"])),
        *bullets("That is", [body["meaning"]]),
    )


def _attack_row(attack: JsonObject) -> Mapping[str, str]:
    """Return the table row of a membership attack: its lower bound on ε, and the counts that prove the bound.

    An attack in one run counts right guesses. Other attacks count true and false positives over several runs.

    Args:
        attack: the attack in its JSON form.

    Returns:
        The text of each column by its heading.
    """
    if attack["method"] == "one-run":
        counts = f"{attack['right']} of {attack['guesses']} guesses right"
    else:
        counts = f"{attack['true_positives']} true, {attack['false_positives']} false of {attack['trials']} each"
    return {
        "attack": attack["attack"],
        "proved": f"ε ≥ {short_number(attack['epsilon_lower'])}",
        "by": counts,
        "area": short_number(attack["auc"]),
        "true positives at 0.01": short_number(attack["true_positive_rate"]),
        "verdict": attack["verdict"],
    }


def _escape_conclusion(escape: JsonObject) -> str:
    """Return the conclusion of an audit from escapes, that is, outputs that only one of the two data sets can give.

    If (ε, δ) holds for any ε, the probability of an escape is at most δ. So if it exceeds δ, no ε holds.

    Args:
        escape: number of escapes, lower bound on their probability, and lower bound on ε, in JSON form.

    Returns:
        The conclusion, as a text.
    """
    if not escape["observed"]:
        return "none seen"
    conclusion = "so that no ε holds" if escape["epsilon_lower"] == "unbounded" else "not above δ"
    return f"{escape['observed']} seen: probability ≥ {short_number(escape['probability_lower'])}, {conclusion}"


def _preset_tables(body: JsonObject) -> RenderableType:
    """Return the tables of a preset, that is, an experiment that repeats one of a paper on a grid of parameters.

    Args:
        body: the answer in its JSON form. All its cells (points of the grid) are of one kind.

    Returns:
        Tables for the package rich: a row for each cell, the verdicts on the paper's claims, and the data files. If
        risks or scores were measured, the warnings follow. A first table then says which data and sizes of the paper
        were replaced, if any.
    """
    cells = body["cells"]
    kind = cells[0]["kind"]
    measure = body.get("measure")

    # Columns of the reference runs, in the order of the first cell that has the run.
    references: list[str] = []
    for cell in cells:
        references.extend(name for name in cell.get("beside", {}) if name not in references)

    rows = [{**coordinates(body, cell), **cell_columns(cell, kind, references, measure)} for cell in cells]
    parts: list[RenderableType] = [table(body["title"], rows), *_finding_table(body)]
    parts.append(table("Data files", map(_data_file_row, body.get("data_files", ()))))
    if kind in ("audit", "membership"):
        return Group(*parts)
    if "stands_in_for" in body:
        parts.insert(0, pairs("Stands in for", {"": body["stands_in_for"]}))
    return Group(*parts, *_warning_list(body))


def _data_file_row(file: JsonObject) -> Mapping[str, str]:
    """Return the table row of a file that the experiment read, and whether it is known to be the original file."""
    original = "yes" if file.get("original") else "not known"
    return {"data set": file["data"], "file": file["name"], "MD5": file["md5"], "original": original}


def _finding_table(body: JsonObject) -> list[RenderableType]:
    """Return a table with the verdict on each claim of the preset's paper; empty if there are no claims."""
    rows = [
        {"claim": finding["claim"], "verdict": finding["told"], "measurement": finding["words"]}
        for finding in body.get("findings", ())
    ]
    return [table("The paper's claims", rows)] if rows else []


TABLES: Mapping[str, Callable[[JsonObject], RenderableType]] = {
    "risk": _risk_tables,
    "audit": _audit_tables,
    "membership": _membership_tables,
    "preset": _preset_tables,
}
