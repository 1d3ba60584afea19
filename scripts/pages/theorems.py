"""A page for each theorem, and the page that lists them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.bibliography.bibtex import bibtex
from epsilond.accountants.theorem import Condition, Status, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app.theorem_detail import inputs_schema
from epsilond.calibrators import CALIBRATORS
from scripts.pages import formulas, schemas
from scripts.pages.markdown import cited, code, of_text, paper, plain, table

MEANING = {
    Status.PROVED: "the statement holds as it is used here",
    Status.REFUTED: "the statement as printed is false",
    Status.UNPROVED: "nobody has shown it; no guarantee rests on it",
}
HEAD = ("theorem", "what it says", "status", "source", "errata")


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "theorems/index.md", index()
    for each in THEOREMS:
        yield f"theorems/{each.id}.md", page(each)


def index() -> str:
    """Every theorem, by work."""
    parts = [
        "# Theorems\n",
        "Every number of an answer rests on theorems of this list; its `derivation` names them. **Refuted** means that",
        "the statement as printed is false, **unproved** that no guarantee rests on it. The column of errata counts",
        "false statements and misprints, each shown by a test; remarks on unclear places and refinements are on the",
        "statements' pages, and are not counted. Those of this project are rules for ledgers that do not hold.\n",
        by_work(),
    ]
    for key, group in grouped().items():
        parts += [f"\n## {plain(paper(key))}\n", plain(WORKS[key].citation), "", table(HEAD, map(row, group))]
    return "\n".join(parts) + "\n"


def grouped() -> Mapping[str, Sequence[Theorem]]:
    """The theorems of each work, the work with most of them first, this project's last."""
    keys = dict.fromkeys(each.source.key for each in THEOREMS)
    groups = {key: [each for each in THEOREMS if each.source.key == key] for key in keys}
    return dict(sorted(groups.items(), key=lambda item: (item[0] == "epsilond", -len(item[1]))))


def by_work() -> str:
    """How many theorems of each work are proved, refuted and unproved; works without a fault are one line."""
    flawless = {key: group for key, group in grouped().items() if not is_faulty(group) and key != "epsilond"}
    rows = [(paper(key), *counts(group)) for key, group in grouped().items() if key not in flawless]
    others = (f"{len(flawless)} other works", *counts([each for group in flawless.values() for each in group]))
    total = ("all", *counts(THEOREMS))
    return of_text(("work", *(status.value for status in Status), "errata"), [*rows, others, total])


def is_faulty(group: Sequence[Theorem]) -> bool:
    """Return True if a theorem of the work is not proved, or has an error in print."""
    return bool(error_ids(group)) or any(each.status is not Status.PROVED for each in group)


def error_ids(group: Sequence[Theorem]) -> set[str]:
    """Return the ids of the errata of these theorems that are errors: false statements and misprints."""
    return {erratum.id for each in group for erratum in each.errata if erratum.grade.is_error}


def own_error_ids(group: Sequence[Theorem]) -> set[str]:
    """Return the ids of errors of these theorems, without errors of other works that this project's theorems repeat."""
    ids = error_ids(group)
    if any(each.source.key != "epsilond" for each in group):
        return ids
    return ids - error_ids([each for each in THEOREMS if each.source.key != "epsilond"])


def counts(group: Sequence[Theorem]) -> Sequence[str]:
    """Count the theorems of each status and the distinct errors in print; a count of zero is an empty cell."""
    numbers = [*(sum(each.status is status for each in group) for status in Status), len(own_error_ids(group))]
    return [str(number) if number else "" for number in numbers]


def row(each: Theorem) -> tuple[str, ...]:
    """Make a theorem's line of the table, with a link to its page and the number of its errors in print."""
    errata = str(len(error_ids([each])) or "")
    return f"[{code(each.id)}]({each.id}.md)", plain(each.title), each.status.value, plain(cited(each.source)), errata


def page(each: Theorem) -> str:
    """Statement, source, conditions, status, errata and tests of one theorem."""
    parts = [
        f"# {plain(each.title)}\n",
        f"{code(each.id)} · **{each.status.value}**: {MEANING[each.status]}\n",
        "## Statement\n",
        f"{plain(each.statement)}\n",
        *formulas.side_by_side(each.id),
        *(["Its constants are hidden: it is a rate, never a bound.\n"] if each.constants == "hidden" else []),
        "## Source\n",
        f"{_source(each)}\n",
        "## Conditions\n",
        table(("condition", "statement", "who sees to it"), map(_condition, each.conditions))
        if each.conditions
        else "None beyond what the statement says.",
        *_errata(each),
        *_formula(each),
        *_users(each),
        *_citation(each),
    ]
    return "\n".join(parts) + "\n"


def _source(each: Theorem) -> str:
    if each.source.key != "epsilond":
        return f"{plain(each.source.item)} of: {plain(WORKS[each.source.key].citation)}"
    document, _, rest = each.source.item.partition(".md")
    if document.startswith("docs/") and rest:
        name = document.removeprefix("docs/")
        return f"This project, [{plain(name)}](../{name}.md){plain(rest)}"
    return f"This project, {plain(each.source.item)}"


def _condition(condition: Condition) -> tuple[str, str, str]:
    who = "nobody can: no finite input settles it" if condition.undecidable else "you vouch for it"
    return code(condition.id), plain(condition.statement), "it is checked" if condition.checked else who


def _errata(each: Theorem) -> list[str]:
    """Write the errata and remarks on a theorem, each with its grade and its test."""
    parts = ["\n## Errata and remarks\n"] if each.errata else []
    for erratum in each.errata:
        parts += [
            f"### {plain(erratum.id)}\n",
            f"- Grade: {erratum.grade.value}",
            f"- Printed: {plain(erratum.printed)}",
            f"- We find: {plain(erratum.truth)}",
            f"- Shown by {code(erratum.test)}\n",
        ]
    return parts


def _formula(each: Theorem) -> list[str]:
    if each.formula is None or each.inputs is None:
        return ["\n## Formula\n", "A rule between guarantees: there are no numbers to put into it."]
    readings = f", as {' or '.join(each.readings)} (`reading`)" if len(each.readings) > 1 else ""
    asked = f"\n## Formula\n\n`POST /v1/theorems/{each.id}/evaluations` evaluates it{readings}.\n"
    shown = (json.dumps({"inputs": dict(example)}, ensure_ascii=False, indent=2) for example in each.examples[:1])
    fields = schemas.fields(schemas.inlined(inputs_schema(each)))
    return [asked, fields, *(f"\n```json\n{text}\n```" for text in shown), *_live(each)]


def _live(each: Theorem) -> list[str]:
    """The place where docs/evaluate.js evaluates the formula, where the service shows the page."""
    example = html.escape(json.dumps(dict(each.examples[0]) if each.examples else {}, ensure_ascii=False), quote=True)
    readings = " ".join(each.readings)
    return [
        f'\n<div class="evaluate" data-theorem="{each.id}" data-readings="{readings}" data-example="{example}"></div>'
    ]


def _citation(each: Theorem) -> list[str]:
    return [f"\n## How to cite it\n\n```bibtex\n{bibtex([each.id])}\n```"]


def _users(each: Theorem) -> list[str]:
    names = [calibrator.name for calibrator in CALIBRATORS if each.id in calibrator.theorems]
    links = ", ".join(f"[{code(name)}](../algorithms/{name}.md)" for name in names)
    return [f"\n## Used by\n\n{links}"] if names else []
