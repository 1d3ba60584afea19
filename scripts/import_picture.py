"""Draw which package imports which, as docs/architecture.svg: python -m scripts.import_picture [--check].

An arrow points from an importing package to an imported one. An arrow that a chain of others implies is left out.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import fmean

import grimp
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/architecture.svg"
STYLE = {"svg.hashsalt": "epsilond", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
"""Settings of matplotlib that make equal pictures equal files."""
WIDTH = 9.0
"""Width of the picture, in inches."""
ROW = 0.55
"""Height of a row of boxes, in inches."""
EDGE = 0.27
"""Distance of a box's upper and lower edges from its centre, as a part of a row."""
PASSES = 8
"""Passes that move each box towards the boxes of the row above that import it."""
MOUNTED = {"epsilond.ledgers.http": "app", "epsilond.ledgers.commands": "commands"}
"""Packages that are drawn with the package that mounts them: they import it, so that two boxes would form a cycle."""

Imports = Mapping[str, frozenset[str]]
"""The packages that each package imports, by name."""


def box_of(module: str) -> str:
    """Return the package that a module of epsilond is drawn with."""
    mounted = (box for package, box in MOUNTED.items() if f"{module}.".startswith(f"{package}."))
    return next(mounted, module.split(".")[1])


def packages_imported(graph: grimp.ImportGraph) -> Imports:
    """Return the imports between the folders of epsilond, those for typing included."""
    folders = {child.split(".")[1] for child in graph.find_children("epsilond") if graph.find_children(child)}
    imports: dict[str, set[str]] = {folder: set() for folder in sorted(folders)}
    for module in graph.modules - {"epsilond"}:
        targets = graph.find_modules_directly_imported_by(module) - {"epsilond"}
        if box_of(module) in folders:
            imports[box_of(module)].update(map(box_of, targets))
    return {folder: frozenset(targets & folders - {folder}) for folder, targets in imports.items()}


def arrange_rows(imports: Imports) -> Sequence[Sequence[str]]:
    """Arrange the packages in rows, so that every import points to a lower row.

    Within a row, packages are sorted by the mean horizontal place of the packages that import them.

    Args:
        imports: the packages that each package imports.

    Returns:
        Names of packages, row by row from the top.

    Raises:
        graphlib.CycleError: packages import each other.
    """
    importers = {name: [importer for importer, targets in imports.items() if name in targets] for name in imports}
    row_numbers: dict[str, int] = {}
    # A package is one row below the lowest package that imports it.
    for name in reversed(list(TopologicalSorter(imports).static_order())):
        row_numbers[name] = max((row_numbers[importer] for importer in importers[name]), default=-1) + 1
    rows = [
        sorted(name for name, number in row_numbers.items() if number == row)
        for row in range(max(row_numbers.values()) + 1)
    ]
    places = {name: place for row in rows for name, place in _places_in_row(row).items()}
    # Sorting one row moves the places in the next, so that several passes are made.
    for _ in range(PASSES):
        for row in rows[1:]:
            row.sort(key=lambda name: fmean(places[importer] for importer in importers[name]))
            places.update(_places_in_row(row))
    return rows


def _places_in_row(row: Sequence[str]) -> dict[str, float]:
    """Return the horizontal place of each package of a row, between 0 and 1."""
    return {name: (column + 0.5) / len(row) for column, name in enumerate(row)}


def drop_implied(imports: Imports) -> Imports:
    """Remove the imports that a chain of other imports implies, to keep the picture readable.

    Args:
        imports: the packages that each package imports.

    Returns:
        The remaining imports of each package.
    """
    reachable: dict[str, frozenset[str]] = {}
    # Packages that each package reaches by any chain of imports. Imported packages come first.
    for name in TopologicalSorter(imports).static_order():
        reachable[name] = imports[name].union(*(reachable[target] for target in imports[name]))
    direct: dict[str, frozenset[str]] = {}
    for name, targets in imports.items():
        implied: set[str] = set()
        for target in targets:
            implied |= reachable[target]
        direct[name] = targets - implied
    return direct


def draw(imports: Imports, rows: Sequence[Sequence[str]]) -> str:
    """Draw packages as boxes and imports as arrows.

    Args:
        imports: the arrows to draw.
        rows: the packages from top to bottom.

    Returns:
        The picture as SVG. Equal arguments give equal texts.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, ROW * len(rows)))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0.0, 1.0), ylim=(-len(rows) + 0.5, 0.5))
        axes.axis("off")
        centres = {
            name: (place, -float(depth))
            for depth, row in enumerate(rows)
            for name, place in _places_in_row(row).items()
        }
        for importer, targets in sorted(imports.items()):
            for target in sorted(targets):
                _draw_arrow(axes, centres[importer], centres[target])
        for name, (x, y) in centres.items():
            box = {"boxstyle": "round,pad=0.3", "facecolor": "#eef3f8", "edgecolor": "#30506e", "linewidth": 0.8}
            axes.text(x, y, name, ha="center", va="center", color="#102030", bbox=box)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow from the lower edge of the box centred at `start` to the upper edge of that at `end`."""
    style = {"arrowstyle": "-|>", "color": "#7890a8", "linewidth": 0.8, "shrinkA": 0.0, "shrinkB": 0.0}
    axes.annotate("", xy=(end[0], end[1] + EDGE), xytext=(start[0], start[1] - EDGE), arrowprops=style)


def render() -> str:
    """Return the picture of the code as it is."""
    imports = packages_imported(grimp.build_graph("epsilond", exclude_type_checking_imports=False))
    return draw(drop_implied(imports), arrange_rows(imports))


def main(arguments: Sequence[str]) -> int:
    """Write the picture, or with --check compare it with the file.

    Args:
        arguments: arguments of the command line.

    Returns:
        The exit code: 1 if the file differs, and otherwise 0.
    """
    picture = render()
    if "--check" not in arguments:
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    if PICTURE.read_text(encoding="utf-8") == picture:
        return 0
    sys.stderr.write("docs/architecture.svg is not current: python -m scripts.import_picture writes it\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
