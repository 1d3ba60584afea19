"""Every exhibit of the paper, their stored numbers, and the files that are made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.paper import engines, filters, models, peers, printed, truncated
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from benchmarks.paper.text import FOLDER, PAGE, TEMPLATE, filled

EXHIBITS: tuple[Exhibit, ...] = (
    engines.EXHIBIT,
    peers.EXHIBIT,
    printed.EXHIBIT,
    truncated.EXHIBIT,
    models.EXHIBIT,
    filters.EXHIBIT,
)
STORED = Path(__file__).with_name("values.json")


def stored() -> dict[str, Measured]:
    """The numbers of the paper as they were measured last."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def store(measured: Mapping[str, Measured]) -> None:
    """Keep numbers, a line for each member of an exhibit."""
    told = [
        f'"{name}": {{\n' + ",\n".join(f"  {json.dumps(key)}: {_line(value)}" for key, value in one.items()) + "\n}"
        for name, one in measured.items()
    ]
    STORED.write_text("{\n" + ",\n".join(told) + "\n}\n", encoding="utf-8")


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def words(measured: Mapping[str, Measured]) -> Mapping[str, Words]:
    """What the places are filled with."""
    return {each.name: each.words(measured[each.name]) for each in EXHIBITS}


def files(measured: Mapping[str, Measured]) -> Mapping[Path, str]:
    """The paper and its figures, as they should stand."""
    made = {PAGE: filled(TEMPLATE.read_text(encoding="utf-8"), words(measured))}
    for each in EXHIBITS:
        for name, plot in each.figures(measured[each.name]).items():
            made[FOLDER / f"{name}.svg"] = plot.written()
    return made
