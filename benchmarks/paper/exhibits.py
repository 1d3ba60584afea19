"""All exhibits of the paper, their stored numbers, and the files that are made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.paper import engines, filters, models, peers, printed, truncated
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from benchmarks.paper.text import FOLDER, PAGE, TEMPLATE, fill

EXHIBITS = (
    Exhibit(
        "engines",
        "δ of six runs by both engines, and enclosures compared with fifty digits",
        engines.measure,
        engines.words,
    ),
    Exhibit(
        "peers",
        "the answers of other accountants, measured in benchmarks/rows.csv",
        peers.measure,
        peers.words,
        peers.figures,
    ),
    Exhibit(
        "printed",
        "true ε at the noise of Lowy and Razaviyayn's Theorem 2.1 and Appendix H",
        printed.measure,
        printed.words,
        printed.figures,
    ),
    Exhibit(
        "truncated",
        "claimed and true δ of Das et al.'s Theorem 1, and an attack on its noise",
        truncated.measure,
        truncated.words,
        truncated.figures,
    ),
    Exhibit(
        "models",
        "models of a thousand steps that a budget holds, by three ways of keeping it",
        models.measure,
        models.words,
        models.figures,
    ),
    Exhibit(
        "filters",
        "by how much three unsound rules exceed what they promise",
        filters.measure,
        filters.words,
        filters.figures,
    ),
)
STORED = Path(__file__).with_name("values.json")


def read_stored() -> dict[str, Measured]:
    """Return the stored numbers of the paper, from the last measurement."""
    return dict(json.loads(STORED.read_text(encoding="utf-8")))


def store(measured: Mapping[str, Measured]) -> None:
    """Write numbers, a line for each member of an exhibit."""
    texts = []
    for name, numbers in measured.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in numbers.items()]
        texts.append(f'"{name}": {{\n' + ",\n".join(lines) + "\n}")
    STORED.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def words(measured: Mapping[str, Measured]) -> Mapping[str, Words]:
    """Return the texts for the places of the template."""
    return {exhibit.name: exhibit.words(measured[exhibit.name]) for exhibit in EXHIBITS}


def files(measured: Mapping[str, Measured]) -> Mapping[Path, str]:
    """Return the paper and its figures."""
    texts = {PAGE: fill(TEMPLATE.read_text(encoding="utf-8"), words(measured))}
    for exhibit in EXHIBITS:
        for name, plot in exhibit.figures(measured[exhibit.name]).items():
            texts[FOLDER / f"{name}.svg"] = plot.render()
    return texts
