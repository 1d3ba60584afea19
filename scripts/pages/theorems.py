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
from scripts.pages.errata import erratum_facts
from scripts.pages.markdown import cite_source, code, paper, plain, table, text_table

MEANING = {
    Status.PROVED: "the statement holds as it is used here",
    Status.REFUTED: "the statement as printed is false",
    Status.UNPROVED: "nobody has shown it; no guarantee rests on it",
}
HEAD = ("theorem", "what it says", "status", "source", "errata")


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of each page."""
    yield "theorems/index.md", index()
    for theorem in THEOREMS:
        yield f"theorems/{theorem.id}.md", page(theorem)


def index() -> str:
    """Write the list of all theorems, by the work that they are from.

    Returns:
        The page in Markdown.
    """
    parts = [
        "# Theorems\n",
        "Every number of an answer rests on theorems of this list; its `derivation` names them. **Refuted** means that",
        "the statement as printed is false, **unproved** that no guarantee rests on it. The column of errata counts",
        "false statements and misprints, each shown by a test; remarks on unclear places and refinements are on the",
        "statements' pages, and are not counted. Those of this project are rules for ledgers that do not hold.\n",
        by_work(),
    ]
    for key, group in group_by_work().items():
        parts += [f"\n## {plain(paper(key))}\n", plain(WORKS[key].citation), "", table(HEAD, map(row, group))]
    return "\n".join(parts) + "\n"


def group_by_work() -> Mapping[str, Sequence[Theorem]]:
    """Return the theorems of each work, the work with most of them first, this project's last."""
    keys = dict.fromkeys(theorem.source.key for theorem in THEOREMS)
    groups = {key: [theorem for theorem in THEOREMS if theorem.source.key == key] for key in keys}
    return dict(sorted(groups.items(), key=lambda item: (item[0] == "epsilond", -len(item[1]))))


def by_work() -> str:
    """Write the counts of each work's theorems by status; works without a fault are one line."""
    groups = group_by_work()
    flawless = [key for key, group in groups.items() if not is_faulty(group) and key != "epsilond"]
    rows = [(paper(key), *counts(group)) for key, group in groups.items() if key not in flawless]
    in_flawless = [theorem for key in flawless for theorem in groups[key]]
    rows.append((f"{len(flawless)} other works", *counts(in_flawless)))
    rows.append(("all", *counts(THEOREMS)))
    return text_table(("work", *(status.value for status in Status), "errata"), rows)


def is_faulty(group: Sequence[Theorem]) -> bool:
    """Return True if a theorem of the work is not proved, or has an error in print."""
    return bool(error_ids(group)) or any(theorem.status is not Status.PROVED for theorem in group)


def error_ids(group: Sequence[Theorem]) -> set[str]:
    """Return the ids of the errata of these theorems that are errors: false statements and misprints."""
    return {erratum.id for theorem in group for erratum in theorem.errata if erratum.grade.is_error}


def own_error_ids(group: Sequence[Theorem]) -> set[str]:
    """Return the ids of errors of these theorems, without errors of other works that this project's theorems repeat."""
    ids = error_ids(group)
    if any(theorem.source.key != "epsilond" for theorem in group):
        return ids
    return ids - error_ids([theorem for theorem in THEOREMS if theorem.source.key != "epsilond"])


def counts(group: Sequence[Theorem]) -> Sequence[str]:
    """Count the theorems of each status and the distinct errors in print; a count of zero is an empty cell."""
    statuses = [theorem.status for theorem in group]
    numbers = [statuses.count(status) for status in Status]
    numbers.append(len(own_error_ids(group)))
    return [str(number) if number else "" for number in numbers]


def row(theorem: Theorem) -> tuple[str, ...]:
    """Make a theorem's line of the table, with a link to its page and the number of its errors in print."""
    link = f"[{code(theorem.id)}]({theorem.id}.md)"
    errata = str(len(error_ids([theorem])) or "")
    return link, plain(theorem.title), theorem.status.value, plain(cite_source(theorem.source)), errata


def page(theorem: Theorem) -> str:
    """Write the page of a theorem: statement, source, conditions, status, errata and tests.

    Args:
        theorem: the theorem.

    Returns:
        The page in Markdown.
    """
    parts = [
        f"# {plain(theorem.title)}\n",
        f"{code(theorem.id)} · **{theorem.status.value}**: {MEANING[theorem.status]}\n",
        "## Statement\n",
        f"{plain(theorem.statement)}\n",
        *formulas.side_by_side(theorem.id),
    ]
    if theorem.constants == "hidden":
        parts.append("Its constants are hidden: it is a rate, never a bound.\n")
    parts += ["## Source\n", f"{_source(theorem)}\n", "## Conditions\n"]
    if theorem.conditions:
        parts.append(table(("condition", "statement", "who sees to it"), map(_condition, theorem.conditions)))
    else:
        parts.append("None beyond what the statement says.")
    parts += [*_errata(theorem), *_formula(theorem), *_users(theorem), *_citation(theorem)]
    return "\n".join(parts) + "\n"


def _source(theorem: Theorem) -> str:
    """Write the source of a theorem: a place in a paper, or in a document of this project with a link.

    Args:
        theorem: the theorem.

    Returns:
        The text in Markdown.
    """
    source = theorem.source
    if source.key != "epsilond":
        return f"{plain(source.item)} of: {plain(WORKS[source.key].citation)}"
    document, _, rest = source.item.partition(".md")
    if document.startswith("docs/") and rest:
        name = document.removeprefix("docs/")
        return f"This project, [{plain(name)}](../{name}.md){plain(rest)}"
    return f"This project, {plain(source.item)}"


def _condition(condition: Condition) -> tuple[str, str, str]:
    """Return the cells of a condition: its id, its statement, and who has to make sure that it holds."""
    if condition.checked:
        kind = "it is checked"
    elif condition.undecidable:
        kind = "nobody can: no finite input settles it"
    else:
        kind = "you vouch for it"
    return code(condition.id), plain(condition.statement), kind


def _errata(theorem: Theorem) -> list[str]:
    """Write the errata and remarks on a theorem, each with its grade and its test.

    Args:
        theorem: the theorem.

    Returns:
        Parts of the page in Markdown; none if there are no errata.
    """
    parts = ["\n## Errata and remarks\n"] if theorem.errata else []
    for erratum in theorem.errata:
        parts += [
            f"### {plain(erratum.id)}\n",
            f"- Grade: {erratum.grade.value}",
            *(f"- {title}: {plain(text)}" for title, text in erratum_facts(erratum)),
            f"- Shown by {code(erratum.test)}\n",
        ]
    return parts


def _formula(theorem: Theorem) -> list[str]:
    """Write the inputs of a theorem's formula, an example, and the place for evaluations.

    Args:
        theorem: the theorem.

    Returns:
        Parts of the page in Markdown.
    """
    if theorem.formula is None or theorem.inputs is None:
        return ["\n## Formula\n", "A rule between guarantees: there are no numbers to put into it."]
    readings = f", as {' or '.join(theorem.readings)} (`reading`)" if len(theorem.readings) > 1 else ""
    parts = [
        f"\n## Formula\n\n`POST /v1/theorems/{theorem.id}/evaluations` evaluates it{readings}.\n",
        schemas.fields(schemas.inline(inputs_schema(theorem))),
    ]
    for example in theorem.examples[:1]:
        text = json.dumps({"inputs": dict(example)}, ensure_ascii=False, indent=2)
        parts.append(f"\n```json\n{text}\n```")
    return [*parts, _evaluation_place(theorem)]


def _evaluation_place(theorem: Theorem) -> str:
    """Return the HTML element in which docs/evaluate.js evaluates the formula, on pages of the service.

    Args:
        theorem: the theorem, with its examples and the ways to take its formula.

    Returns:
        The element, with the data that the script reads.
    """
    example = json.dumps(dict(theorem.examples[0]) if theorem.examples else {}, ensure_ascii=False)
    data = {
        "theorem": theorem.id,
        "readings": " ".join(theorem.readings),
        "example": html.escape(example, quote=True),
    }
    attributes = " ".join(f'data-{name}="{value}"' for name, value in data.items())
    return f'\n<div class="evaluate" {attributes}></div>'


def _citation(theorem: Theorem) -> list[str]:
    return [f"\n## How to cite it\n\n```bibtex\n{bibtex([theorem.id])}\n```"]


def _users(theorem: Theorem) -> list[str]:
    names = [calibrator.name for calibrator in CALIBRATORS if theorem.id in calibrator.theorems]
    links = ", ".join(f"[{code(name)}](../algorithms/{name}.md)" for name in names)
    return [f"\n## Used by\n\n{links}"] if names else []
