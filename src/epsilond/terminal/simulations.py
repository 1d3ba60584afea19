"""Answers of simulations for a reader at a terminal. They are read in their JSON form, which every kind has."""

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


def presets(listed: Sequence[Preset]) -> RenderableType:
    """One row for each experiment."""
    plans = [simulation_plan(PresetSimulation(preset=each.name)) for each in listed]  # type: ignore[arg-type]
    rows = (
        {
            "preset": each.name,
            "what it shows": each.summary,
            "from": each.source,
            "about, on one core": f"{plan.seconds:.0f} s",
        }
        for each, plan in zip(listed, plans, strict=True)
    )
    return table("Presets", rows)


def simulation(answer: object) -> RenderableType:
    """What was run, measured, and promised."""
    body = as_json(answer)
    return TABLES[body["kind"]](body)


def _risk(body: JsonObject) -> RenderableType:
    rows = (
        {
            "run": series["name"],
            "mean": _short(series["final"]["mean"]),
            f"{body['confidence']:.0%} band": _ends(series["final"]),
            "standard error": _short(series["final"]["standard_error"]),
            **{name.replace("_", " "): _with_band(score) for name, score in series.get("scores", {}).items()},
        }
        for series in body["series"]
    )
    return Group(
        pairs("Run with", body["parameters"]),
        *_guaranteed(body),
        table("Guaranteed to each group", map(_group, body.get("client_groups", ()))),
        table("Excess risk", rows),
        table("Bounds", map(_bound, body["bounds"])),
        *_mind(body),
    )


def _mind(body: JsonObject) -> list[RenderableType]:
    return bullets("Mind", [warning["message"] for warning in body["warnings"]])


def _guaranteed(body: JsonObject) -> list[RenderableType]:
    guarantee = body.get("guarantee")
    if guarantee is None:
        return []
    of_whom = f"{guarantee['unit']} ({guarantee['relation']}), against {guarantee['observer']}"
    return [pairs("Guaranteed", {"of whom": of_whom, "ε": _ends(guarantee["epsilon"])})]


def _group(group: JsonObject) -> Mapping[str, str]:
    return {
        "clients": str(group["clients"]),
        "records": str(group["samples_per_client"]),
        "noise_std": _short(group["noise_std"]),
        "ε": _ends(group["guarantee"]["epsilon"]),
        "log10 δ": _short(group["guarantee"]["target"]["log10_delta"]),
    }


def _bound(bound: JsonObject) -> Mapping[str, str]:
    of = "" if bound["quantity"] == "excess" else f" ({bound['quantity']})"
    return {
        "theorem": bound["theorem"] + of,
        "value": f"{_short(bound['value'])} ({bound['constant']} constant, {bound['status']})",
        "bound/measured": _short(bound.get("ratio", "")),
        "holds": bound["holds"] if bound["compared"] else f"not compared: {bound['reason']}",
    }


def _audit(body: JsonObject) -> RenderableType:
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
        rows["claimed"] = f"ε ≤ {_short(body['claim']['epsilon'])}; violated: {body['claim']['violated']}"
        rows["proved at the claimed ε"] = f"δ ≥ {_short(body['claim']['delta_lower'])}"
    return Group(pairs("Audit", rows), *bullets("That is", [body["meaning"]]))


def _membership(body: JsonObject) -> RenderableType:
    rows = (
        {
            "attack": attack["attack"],
            "proved": f"ε ≥ {_short(attack['epsilon_lower'])}",
            "by": f"{attack['right']} of {attack['guesses']} guesses right"
            if attack["method"] == "one-run"
            else f"{attack['true_positives']} true, {attack['false_positives']} false of {attack['trials']} each",
            "area": _short(attack["auc"]),
            "true positives at 0.01": _short(attack["true_positive_rate"]),
            "verdict": attack["verdict"],
        }
        for attack in body["attacks"]
    )
    told = {
        "of whom": f"{body['unit']} ({body['relation']})",
        "canaries": f"{body['canaries']} beside {body['members']} members",
        "runs": f"{body['runs']}, and {body['references']} references",
        "certified": f"ε in {_ends(body['certified'])}",
        "at δ": f"10^{body['log10_delta']:.6g}",
        "confidence": f"{body['confidence']:.6g}, of each attack by itself",
    }
    return Group(pairs("Membership inference", told), table("Attacks", rows), *bullets("That is", [body["meaning"]]))


def _escape(escape: JsonObject) -> str:
    """What outputs that the other data set cannot give prove."""
    if not escape["observed"]:
        return "none seen"
    proved = "so that no ε holds" if escape["epsilon_lower"] == "unbounded" else "not above δ"
    return f"{escape['observed']} seen: probability ≥ {_short(escape['probability_lower'])}, {proved}"


def _place(body: JsonObject, cell: JsonObject) -> dict[str, str]:
    """Where a cell of the grid stands."""
    axes = [body[name]["name"] for name in ("panels", "lines", "across") if name in body]
    return {name: _short(cell["place"][name]) for name in axes}


def _audited(cell: JsonObject) -> Mapping[str, str]:
    claim = cell.get("claim")
    return {
        "by its test": _short(cell["test_epsilon_lower"]),
        "proved at least": _short(cell["epsilon_lower"]),
        "certified": _ends(cell["epsilon"]),
        "claimed": "" if claim is None else _short(claim["epsilon"]),
        "violated": "" if claim is None else claim["violated"],
        "δ there at least": "" if claim is None else _short(claim["delta_lower"]),
        **{f"δ, {name}": f"10^{value:.4g}" for name, value in cell.get("log10_deltas", {}).items()},
    }


def _inferred(cell: JsonObject) -> Mapping[str, str]:
    attacks = cell["attacks"]
    proved: dict[str, str] = {name: f"ε ≥ {_short(attacks[name])}" if name in attacks else "" for name in ATTACKS}
    return {"certified": _ends(cell["epsilon"]), **proved}


def _measured(cell: JsonObject, beside: Sequence[str]) -> Mapping[str, str]:
    final, set_beside = cell["final_excess"], cell.get("beside", {})
    least = min(_compared(cell["bounds"]), key=lambda bound: bound["value"], default=None)
    return {
        "ε": _short(cell["epsilon"]["upper"]) if "epsilon" in cell else "",
        "measured": _short(final["mean"]),
        "band": _ends(final),
        **{name: _short(set_beside[name]["mean"]) if name in set_beside else "" for name in beside},
        "least bound": "" if least is None else f"{_short(least['value'])} ({least['theorem']})",
        "holds": "" if least is None else least["holds"],
    }


def _preset(body: JsonObject) -> RenderableType:
    cells = body["cells"]
    by_kind = {"audit": _audited, "membership": _inferred}.get(cells[0]["kind"])
    if by_kind is not None:
        shown = table(body["title"], ({**_place(body, cell), **by_kind(cell)} for cell in cells))
        return Group(shown, *_findings(body))
    beside = list(dict.fromkeys(name for cell in cells for name in cell.get("beside", {})))
    measure = body.get("measure")
    rows = ({**_place(body, cell), **_row(cell, beside, measure)} for cell in cells)
    told = [pairs("Stands in for", {"": body["stands_in_for"]})] if "stands_in_for" in body else []
    return Group(*told, table(body["title"], rows), *_findings(body), *_mind(body))


def _row(cell: JsonObject, beside: Sequence[str], measure: str | None) -> Mapping[str, str]:
    return _measured(cell, beside) if measure is None else _scored(cell, beside, measure)


def _scored(cell: JsonObject, beside: Sequence[str], measure: str) -> Mapping[str, str]:
    """A score on held-out records, what a paper claims of the noise, and what is true of it."""
    others = cell.get("scores_beside", {})
    return {
        "claimed ε": _short(cell["claimed_epsilon"]) if "claimed_epsilon" in cell else "",
        "certified ε": _ends(cell["epsilon"]) if "epsilon" in cell else "",
        measure.replace("_", " "): _with_band(cell["scores"][measure]),
        **{name: _short(others[name][measure]["mean"]) if name in others else "" for name in beside},
        "excess": _short(cell["final_excess"]["mean"]),
    }


def _findings(body: JsonObject) -> list[RenderableType]:
    rows = [
        {"claim": each["claim"], "verdict": each["told"], "what was measured": each["words"]}
        for each in body.get("findings", ())
    ]
    return [table("The paper's claims", rows)] if rows else []


def _compared(bounds: Sequence[JsonObject]) -> list[JsonObject]:
    """Those on the excess risk that are compared."""
    return [bound for bound in bounds if bound["compared"] and bound["quantity"] == "excess"]


TABLES: Mapping[str, Callable[[JsonObject], RenderableType]] = {
    "risk": _risk,
    "audit": _audit,
    "membership": _membership,
    "preset": _preset,
}


def _ends(ends: JsonObject) -> str:
    return f"[{_short(ends['lower'])}, {_short(ends['upper'])}]"


def _with_band(measured: JsonObject) -> str:
    return f"{_short(measured['mean'])} {_ends(measured)}"


def _short(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.{DIGITS}g}"
