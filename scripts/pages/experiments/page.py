"""The page docs/experiments.md with its figures, from the stored answers.

The page has a place for each experiment, between `<!-- begin NAME -->` and `<!-- end NAME -->`, one for the table of
all (`overview`) and one for the rules of the verdicts (`verdicts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from epsilond.witness.presets import PresetSimulation, plan
from epsilond.witness.tally import RULES
from scripts.pages.experiments import figure, stored, tables
from scripts.pages.experiments.panels import Panel, panels
from scripts.pages.experiments.spread import separation
from scripts.pages.experiments.stored import Stored
from scripts.pages.markdown import text_table

PAGE = stored.FOLDER.parent / "experiments.md"
OVERVIEW, VERDICTS = "overview", "verdicts"
PLACE = re.compile(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def section(answer: Stored) -> str:
    """Write the section of an experiment: its source, the verdicts on claims, its figures, and all numbers.

    Args:
        answer: the stored answer of the experiment.

    Returns:
        The section in Markdown.
    """
    preset = answer.preset
    claims = [
        (finding.claim, f"**{finding.verdict}**", f"{_sentence(finding.told)} {finding.words}")
        for finding in answer.findings
    ]
    images = "\n".join(
        f"![{_alt(figure.describe(panel))}]({stored.FOLDER.name}/{name})" for name, panel in by_file(answer).items()
    )
    source = f"**{preset.source}.** {preset.stands_in_for or ''}".strip()
    run = f"{answer.repetitions} repetitions, seed {answer.seed}, engine {answer.engine_version}; bands of 95 %."
    summary = f"<summary>Every figure of {preset.name}, with its band</summary>"
    parts = (
        source,
        f"`{preset.command}`: {run}{at_the_edge(answer)}{separation(answer)}",
        text_table(("claim", "verdict", "counts, and what was measured"), claims),
        f'<div class="panels" markdown="1">\n\n{images}\n\n</div>',
        f'<details markdown="1">\n{summary}\n\n{tables.table(answer)}\n\n</details>',
    )
    return "\n\n".join(parts)


def at_the_edge(answer: Stored) -> str:
    """Return a sentence about a tuned step: its values, and the number of runs in which the largest is the best.

    Args:
        answer: the stored answer of an experiment.

    Returns:
        The sentence with a leading space; empty if nothing is tuned.
    """
    axis = answer.preset.tuned
    if axis is None:
        return ""
    values = {float(cell.place[axis.name]) for cell in answer.preset.cells(answer.repetitions, answer.seed)}
    chosen = [float(value) for cell in answer.cells for value in (cell.tuned or {}).values()]
    largest = chosen.count(max(values))
    choices = ", ".join(f"{value:g}" for value in sorted(values))
    sentence = f" {axis.title[0].upper()}{axis.title[1:]}: the best of {choices}"
    # The largest value is a concern only if it is the best.
    if not largest:
        return f"{sentence}."
    return f"{sentence}; the largest of them in {largest} of {len(chosen)} runs, where a larger one may be better."


def _sentence(text: str) -> str:
    """Return words as a sentence, with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _alt(text: str) -> str:
    """Return words for square brackets, without square brackets of their own."""
    return text.replace("[", "(").replace("]", ")").replace("\n", " ")


def by_file(answer: Stored) -> Mapping[str, Panel]:
    """Return the panels by the names of their files."""
    return {f"{answer.preset.name}-{place}.svg": panel for place, panel in enumerate(panels(answer), start=1)}


def overview(answers: Mapping[str, Stored], page: str) -> str:
    """Write one row for each experiment: its source, its title, its verdicts, its command and its time."""
    rows = []
    for name, answer in answers.items():
        verdict_counts = ", ".join(f"{count} {verdict}" for verdict, count in _count_verdicts(answer))
        link = f"[{answer.preset.source}](#{_anchor(page, name)})"
        command, minutes = f"`{answer.preset.command}`", f"{_minutes(name)} min"
        rows.append((link, answer.preset.title, verdict_counts, command, minutes))
    return text_table(("stands for", "experiment", "verdicts", "command", "one core, about"), rows)


def _minutes(name: str) -> str:
    """Return the estimated time of an experiment [min], as `epsilond simulate --list` has it in seconds."""
    return f"{plan(PresetSimulation(preset=name)).seconds / 60.0:.2g}"  # type: ignore[arg-type]


def _count_verdicts(answer: Stored) -> Iterator[tuple[str, int]]:
    """Yield the verdicts that occur, in the order of the rules, with their counts."""
    counts = Counter(finding.verdict for finding in answer.findings)
    return ((verdict, counts[verdict]) for verdict in RULES if counts[verdict])


def _anchor(page: str, name: str) -> str:
    """Return the anchor of the heading above the place of an experiment."""
    above = page[: page.index(f"<!-- begin {name} -->")]
    heading = re.findall(r"^##+ (.+)$", above, flags=re.MULTILINE)[-1]
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def verdicts() -> str:
    """Write the table of the rules of the verdicts."""
    return text_table(("verdict on a claim", "given where"), ((f"**{name}**", rule) for name, rule in RULES.items()))


def files(page: str) -> Mapping[Path, str]:
    """Write the page of experiments and all of its figures.

    Args:
        page: the present page, with a place for each experiment.

    Returns:
        The text of each file, by its path.

    Raises:
        FileNotFoundError: the page has a place for an experiment without a stored answer.
    """
    answers = {name: stored.load(name) for name in PLACE.findall(page) if name not in (OVERVIEW, VERDICTS)}
    parts = {name: section(answer) for name, answer in answers.items()}
    parts |= {OVERVIEW: overview(answers, page), VERDICTS: verdicts()}
    texts = {PAGE: PLACE.sub(lambda match: _place(match[1], parts[match[1]]), page)}
    for answer in answers.values():
        for name, panel in by_file(answer).items():
            texts[stored.FOLDER / name] = figure.render(panel, answer.preset.title)
    return texts


def _place(name: str, text: str) -> str:
    return f"<!-- begin {name} -->\n\n{text}\n\n<!-- end {name} -->"


def stale_files() -> list[Path]:
    """Return the files that differ from their new texts, and the figures that belong to no experiment."""
    texts = files(PAGE.read_text(encoding="utf-8"))
    changed = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return changed + [path for path in stored.FOLDER.glob("*.svg") if path not in texts]


def write() -> None:
    """Write the page and the figures from the stored answers."""
    for path, text in files(PAGE.read_text(encoding="utf-8")).items():
        path.write_text(text, encoding="utf-8")
