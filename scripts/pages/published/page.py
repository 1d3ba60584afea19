"""The page docs/published-figures.md, and the requests and bounds of its figures as JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import Any, get_args

from epsilond.calibrators.answer import Ends, as_json
from scripts.pages.markdown import plain, table
from scripts.pages.published import evaluations, federated, methods, opacus_jax, tensorflow
from scripts.pages.published.comparison import TARGET_MARGIN, Comparison, Verdict, compare
from scripts.pages.published.figure import FigureGroup, PublishedFigure

DOCS = Path(__file__).parents[3] / "docs"
PAGE, DATA = DOCS / "published-figures.md", DOCS / "published-figures.json"
GROUPS: Sequence[FigureGroup] = (
    tensorflow.FIGURES,
    opacus_jax.FIGURES,
    evaluations.FIGURES,
    federated.FIGURES,
    methods.FIGURES,
)
DIGITS = 6
"""Digits of a bound on the page: the tightest bounds have nine that are equal."""
COLUMNS = ("figure", "source", "run", "accountant", "published", "our bounds on ε", "verdict")
HEAD = f"""# Published figures, computed again

<!-- written by python -m scripts.pages.published -->

Figures of papers, documents, tests and deployments, with our certified bounds on ε for the same run at the same δ.
Every figure was read at its source; files are linked at a commit. [published-figures.json](published-figures.json) has
the request of each figure, as `POST /v1/accounts` accepts it, with the bounds in full. The noise that the five papers
prescribe is on a [page of its own](tightness.md).

A figure above the truth is a valid guarantee for its run. Most come from an accountant that gives upper bounds; a
tighter one gives a smaller ε. A figure from the central limit theorem is an approximation, which is above the truth in
some runs and below it in others. A figure below the truth promises more than holds; its row has the reason.

A figure is a *result* or a *guarantee*. A result is the output of an accountant, rounded to its printed digits. It is
equal if a value between our bounds rounds to it. A guarantee claims that ε is at most this. It is equal if it holds and
exceeds our upper bound by at most {TARGET_MARGIN:.1%}.

Most sources do not say how batches are drawn. Our bounds are then for the sampling that the source's own accountant
assumes, so that both figures are of one run. Whether the training drew its batches like that is not part of the
comparison.
"""


def compute() -> list[Comparison]:
    """Return all figures in the order of the page, with newly computed bounds."""
    return [compare(figure) for group in GROUPS for figure in group.figures]


def load() -> list[Comparison]:
    """Return all figures in the order of the page, with the bounds of the stored data."""
    figures = [figure for group in GROUPS for figure in group.figures]
    entries = json.loads(DATA.read_text(encoding="utf-8"))
    bounds = [None if entry["epsilon"] is None else Ends(**entry["epsilon"]) for entry in entries]
    return [Comparison(figure=figure, bounds=ends) for figure, ends in zip(figures, bounds, strict=True)]


def page(comparisons: Sequence[Comparison]) -> str:
    """Write the page of published figures: a summary, and a table for each source.

    Args:
        comparisons: all figures with our bounds, in the order of the page.

    Returns:
        The page in Markdown.
    """
    parts = [HEAD, _summary(comparisons)]
    number = 1
    for group in GROUPS:
        rows = [_row(index, comparisons[index - 1]) for index in range(number, number + len(group.figures))]
        parts.append(f"\n## {group.title}\n\n{plain(group.introduction)}\n\n{table(COLUMNS, rows)}\n")
        number += len(group.figures)
    return "\n".join(parts)


def data(comparisons: Sequence[Comparison]) -> str:
    """Return all figures as JSON.

    Args:
        comparisons: all figures in the order of the page.
    """
    entries = [_entry(number, comparison) for number, comparison in enumerate(comparisons, start=1)]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    return f"[\n{lines}\n]\n"


def request(figure: PublishedFigure) -> Mapping[str, Any] | None:
    """Return the request to `POST /v1/accounts` that gives the bounds on a figure's ε.

    Args:
        figure: the published figure.

    Returns:
        The request as a JSON object; None if the source does not decide the run.
    """
    if figure.spec is None:
        return None
    return {
        "spec": as_json(figure.spec),
        "relation": figure.relation,
        "unit": figure.unit,
        "observer": figure.observer,
        "query": {"delta": figure.delta},
    }


def _summary(comparisons: Sequence[Comparison]) -> str:
    """Write a table of the number of figures with each verdict, for each source and for all.

    Args:
        comparisons: all figures with our bounds, in the order of the page.

    Returns:
        The table in Markdown.
    """
    rows = []
    first = 0
    for group in GROUPS:
        rows.append(_counts(group.title, comparisons[first : first + len(group.figures)]))
        first += len(group.figures)
    return table(("source", "figures", *get_args(Verdict)), [*rows, _counts("all", comparisons)])


def _counts(title: str, comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """Return a row of the summary.

    Args:
        title: the first cell.
        comparisons: the comparisons that are counted.
    """
    counts = Counter(comparison.verdict for comparison in comparisons)
    return (title, str(len(comparisons)), *(str(counts[verdict]) for verdict in get_args(Verdict)))


def _row(number: int, comparison: Comparison) -> tuple[str, ...]:
    """Return the cells of a figure for the table of its source.

    Args:
        number: number of the figure on the page.
        comparison: the figure with its bounds.

    Returns:
        Number, source, run with assumptions, accountant, published figure, our bounds, and the verdict.
    """
    figure = comparison.figure
    run = plain(figure.run)
    if figure.assumptions:
        run += f"<br>*assumed: {plain(figure.assumptions)}*" if figure.spec else f"<br>*{plain(figure.assumptions)}*"
    delta = plain(figure.delta_words) if figure.delta_words else f"{figure.delta:g}"
    return (
        str(number),
        f"[{plain(figure.source.name)}]({figure.source.url})<br>{plain(figure.place)}",
        run,
        plain(figure.accountant),
        f"{figure.claim}<br>ε = {figure.published}<br>δ = {delta}",
        _bounds(comparison),
        _verdict(comparison),
    )


def _bounds(comparison: Comparison) -> str:
    """Return the bounds, the lower one rounded down and the upper one rounded up."""
    if comparison.bounds is None:
        return ""
    lower = Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal(float(comparison.bounds.lower))
    upper = Context(prec=DIGITS, rounding=ROUND_CEILING).create_decimal(float(comparison.bounds.upper))
    return f"{_plain_decimal(lower)} to {_plain_decimal(upper)}" if lower > 0 else f"at most {_plain_decimal(upper)}"


def _plain_decimal(value: Decimal) -> str:
    """Return a decimal without exponent."""
    return f"{value:f}"


def _verdict(comparison: Comparison) -> str:
    """Write the verdict on a figure, with its distance from our bound and an explanation.

    Args:
        comparison: the figure with its bounds.

    Returns:
        The text in Markdown.
    """
    distance = comparison.distance
    if distance is None:
        reason = comparison.figure.explanation if comparison.verdict == "cannot be decided" else ""
        return f"**{comparison.verdict}**<br>{plain(reason)}" if reason else f"**{comparison.verdict}**"
    # From a distance of 100 % on, the text states a factor.
    is_large = distance >= 1.0
    if comparison.verdict == "above the truth":
        amount = f"{1.0 + distance:,.1f} times ours" if is_large else f"by {_percent(distance)} %"
        return f"**above the truth**<br>{amount}"
    amount = f"{1.0 + distance:,.1f} times the figure" if is_large else f"{_percent(distance)} % larger"
    return f"**below the truth**<br>ε is {amount}: {plain(comparison.figure.explanation)}"


def _percent(share: float) -> str:
    """Return a share in percent with two digits, without exponent."""
    percent = 100.0 * share
    decimals = max(0, 1 - math.floor(math.log10(percent)))
    return f"{percent:.{decimals}f}"


def _entry(number: int, comparison: Comparison) -> Mapping[str, Any]:
    """Return a figure and its verdict as a JSON object, for the file of all figures.

    Args:
        number: number of the figure on the page.
        comparison: the figure with its bounds.

    Returns:
        Source, published ε, request, certified bounds and verdict by name.
    """
    figure, bounds = comparison.figure, comparison.bounds
    return {
        "figure": number,
        "source": figure.source.url,
        "place": figure.place,
        "claim": figure.claim,
        "published": figure.published,
        "accountant": figure.accountant,
        "request": request(figure),
        "epsilon": None if bounds is None else {"lower": float(bounds.lower), "upper": float(bounds.upper)},
        "verdict": comparison.verdict,
    }


def write() -> None:
    """Compute all bounds, and write the data and the page."""
    comparisons = compute()
    DATA.write_text(data(comparisons), encoding="utf-8")
    PAGE.write_text(page(comparisons), encoding="utf-8")
