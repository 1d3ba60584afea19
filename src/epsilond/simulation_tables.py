"""Answers of simulations for a reader at a terminal. They are read in their JSON form, which every kind has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from epsilond.calibrators.answer import as_json
from epsilond.tables import bullets, new_table, pairs
from epsilond.witness.experiment import Preset
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.simulation import plan as simulation_plan

DIGITS = 4


def presets(listed: Sequence[Preset]) -> RenderableType:
    """One row for each experiment."""
    rows = new_table("Presets", "preset", "what it shows", "from", "about, on one core")
    for preset in listed:
        seconds = simulation_plan(PresetSimulation(preset=preset.name)).seconds  # type: ignore[arg-type]
        rows.add_row(preset.name, preset.summary, preset.source, f"{seconds:.0f} s")
    return rows


def simulation(answer: Any) -> RenderableType:
    """What was run, measured, and promised."""
    body = as_json(answer)
    return TABLES[body["kind"]](body)


def _risk(body: Mapping[str, Any]) -> RenderableType:
    rows = new_table("Excess risk", "run", "mean", f"{body['confidence']:.0%} band", "standard error")
    for series in body["series"]:
        final = series["final"]
        rows.add_row(series["name"], _short(final["mean"]), _ends(final), _short(final["standard_error"]))
    return Group(
        pairs("Run with", body["parameters"]),
        *_guaranteed(body),
        rows,
        _bounds(body["bounds"]),
        *bullets("Mind", [warning["message"] for warning in body["warnings"]]),
    )


def _guaranteed(body: Mapping[str, Any]) -> list[RenderableType]:
    guarantee = body.get("guarantee")
    if guarantee is None:
        return []
    of_whom = f"{guarantee['unit']} ({guarantee['relation']}), against {guarantee['observer']}"
    return [pairs("Guaranteed", {"of whom": of_whom, "ε": _ends(guarantee["epsilon"])})]


def _bounds(listed: Sequence[Mapping[str, Any]]) -> RenderableType:
    rows = new_table("Bounds", "theorem", "value", "bound/measured", "holds")
    for bound in listed:
        verdict = bound.get("holds") or f"not compared: {bound['reason']}"
        value = f"{_short(bound['value'])} ({bound['constant']} constant, {bound['status']})"
        theorem = bound["theorem"] if bound["quantity"] == "excess" else f"{bound['theorem']} ({bound['quantity']})"
        rows.add_row(theorem, value, _short(bound.get("ratio", "")), verdict)
    return rows


def _audit(body: Mapping[str, Any]) -> RenderableType:
    rows = {
        "proved by its test": f"ε ≥ {_short(body['epsilon']['lower'])}",
        "proved of μ": f"μ ≥ {_short(body['gaussian']['mu_lower'])} of Gaussian differential privacy"
        f" (ε ≥ {_short(body['gaussian']['epsilon_if_gaussian'])} if it is Gaussian)",
        "impossible outputs": _escape(body["escape"]),
        "verdicts rest on": {"test": "the test", "escape": "impossible outputs"}[body["evidence"]],
        "certified": f"ε in {_ends(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}",
        "verdict": body["verdict"],
    }
    if "claim" in body:
        verdict = {True: "disproved", False: "certified"}.get(body["claim"]["violated"], "undecidable")
        rows["claimed"] = f"ε ≤ {_short(body['claim']['epsilon'])}: {verdict}"
        rows["proved at the claimed ε"] = f"δ ≥ {_short(body['claim']['delta_lower'])}"
    return Group(pairs("Audit", rows), *bullets("That is", [body["meaning"]]))


def _escape(escape: Mapping[str, Any]) -> str:
    """What outputs that the other data set cannot give prove."""
    if not escape["observed"]:
        return "none seen"
    proved = "so that no ε holds" if escape["epsilon_lower"] == "unbounded" else "not above δ"
    return f"{escape['observed']} seen: probability ≥ {_short(escape['probability_lower'])}, {proved}"


def _audit_grid(body: Mapping[str, Any]) -> RenderableType:
    axes = [body[name] for name in ("panels", "lines", "across") if name in body]
    rows = new_table(
        body["title"],
        *(axis["name"] for axis in axes),
        "by its test",
        "proved at least",
        "certified",
        "claimed",
        "disproved",
        "δ there at least",
    )
    for cell in body["cells"]:
        claim = cell.get("claim")
        rows.add_row(
            *(_short(cell["place"][axis["name"]]) for axis in axes),
            _short(cell["test_epsilon_lower"]),
            _short(cell["epsilon_lower"]),
            _ends(cell["epsilon"]),
            "" if claim is None else _short(claim["epsilon"]),
            "" if claim is None else str(claim["violated"]).lower(),
            "" if claim is None else _short(claim["delta_lower"]),
        )
    return rows


def _preset(body: Mapping[str, Any]) -> RenderableType:
    if body["cells"][0]["kind"] == "audit":
        return _audit_grid(body)
    axes = [body[name] for name in ("panels", "lines", "across") if name in body]
    names = list(dict.fromkeys(name for cell in body["cells"] for name in cell.get("beside", {})))
    columns = [*(axis["name"] for axis in axes), "ε", "measured", "band", *names, "least bound", "holds"]
    rows = new_table(body["title"], *columns)
    for cell in body["cells"]:
        final, compared = cell["final_excess"], _compared(cell["bounds"])
        least = min(compared, key=lambda bound: bound["value"], default=None)
        rows.add_row(
            *(_short(cell["place"][axis["name"]]) for axis in axes),
            _short(cell["epsilon"]["upper"]) if "epsilon" in cell else "",
            _short(final["mean"]),
            _ends(final),
            *(_short(cell["beside"][name]["mean"]) if name in cell["beside"] else "" for name in names),
            "" if least is None else f"{_short(least['value'])} ({least['theorem']})",
            "" if least is None else least["holds"],
        )
    return Group(rows, *bullets("Mind", [warning["message"] for warning in body["warnings"]]))


def _compared(bounds: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those on the excess risk that are compared."""
    return [bound for bound in bounds if bound["compared"] and bound["quantity"] == "excess"]


TABLES: Mapping[str, Callable[[Mapping[str, Any]], RenderableType]] = {
    "risk": _risk,
    "audit": _audit,
    "preset": _preset,
}


def _ends(ends: Mapping[str, Any]) -> str:
    return f"[{_short(ends['lower'])}, {_short(ends['upper'])}]"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.{DIGITS}g}"
