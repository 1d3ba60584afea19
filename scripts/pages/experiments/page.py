"""docs/experiments.md with its figures, from the stored answers.

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
from scripts.pages.experiments.stored import Stored
from scripts.pages.markdown import of_text

PAGE = stored.FOLDER.parent / "experiments.md"
OVERVIEW, VERDICTS = "overview", "verdicts"
PLACE = re.compile(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def section(answer: Stored) -> str:
    """What the answer stands in for, what was found of the claims, its figures, and every measured number."""
    preset = answer.preset
    claims = ((each.claim, f"**{each.verdict}**", f"{_sentence(each.told)} {each.words}") for each in answer.findings)
    images = "\n".join(
        f"![{_alt(figure.described(panel))}]({stored.FOLDER.name}/{name})" for name, panel in named(answer).items()
    )
    stands = f"**{preset.source}.** {preset.stands_in_for or ''}".strip()
    run = f"{answer.repetitions} repetitions, seed {answer.seed}, engine {answer.engine_version}; bands of 95 %."
    summary = f"<summary>Every figure of {preset.name}, with its band</summary>"
    parts = (
        stands,
        f"`epsilond simulate {preset.name}`: {run}{at_the_edge(answer)}",
        of_text(("claim", "verdict", "counts, and what was measured"), claims),
        f'<div class="panels" markdown="1">\n\n{images}\n\n</div>',
        f'<details markdown="1">\n{summary}\n\n{tables.table(answer)}\n\n</details>',
    )
    return "\n\n".join(parts)


def at_the_edge(answer: Stored) -> str:
    """In how many cells the largest step that was tried is the best, where a larger one may be better still."""
    tuned = answer.preset.tuned
    if tuned is None:
        return ""
    tried = {float(cell.place[tuned.name]) for cell in answer.preset.cells(answer.repetitions, answer.seed)}
    chosen = [float(each) for cell in answer.cells for each in (cell.tuned or {}).values()]
    largest = sum(each == max(tried) for each in chosen)
    listed = ", ".join(f"{each:g}" for each in sorted(tried))
    told = f" {tuned.title[0].upper()}{tuned.title[1:]}: the best of {listed}"
    return told + (
        f"; the largest of them in {largest} of {len(chosen)} runs, where a larger one may be better."
        if largest
        else "."
    )


def _sentence(told: str) -> str:
    return f"{told[0].upper()}{told[1:]}."


def _alt(text: str) -> str:
    """Words in square brackets, which have none of their own."""
    return text.replace("[", "(").replace("]", ")").replace("\n", " ")


def named(answer: Stored) -> Mapping[str, Panel]:
    """The panels, by the names of their files."""
    return {f"{answer.preset.name}-{place}.svg": panel for place, panel in enumerate(panels(answer), start=1)}


def overview(answers: Mapping[str, Stored], page: str) -> str:
    """One row for each experiment: what it stands for, where, and its verdicts."""
    rows = (
        (
            f"[{answer.preset.source}](#{_anchor(page, name)})",
            answer.preset.title,
            ", ".join(f"{count} {verdict}" for verdict, count in _counted(answer)),
            f"`epsilond simulate {name}`",
            f"{_minutes(name)} min",
        )
        for name, answer in answers.items()
    )
    return of_text(("stands for", "experiment", "verdicts", "command", "one core, about"), rows)


def _minutes(name: str) -> str:
    """What `epsilond simulate --list` says of it."""
    return f"{plan(PresetSimulation(preset=name)).seconds / 60.0:.2g}"  # type: ignore[arg-type]


def _counted(answer: Stored) -> Iterator[tuple[str, int]]:
    found = Counter(finding.verdict for finding in answer.findings)
    return ((verdict, found[verdict]) for verdict in RULES if found[verdict])


def _anchor(page: str, name: str) -> str:
    """Of the heading that the experiment stands under."""
    above = page[: page.index(f"<!-- begin {name} -->")]
    heading = re.findall(r"^##+ (.+)$", above, flags=re.MULTILINE)[-1]
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def verdicts() -> str:
    """The rules, as the judges have them."""
    return of_text(("verdict on a claim", "given where"), ((f"**{name}**", rule) for name, rule in RULES.items()))


def files(page: str) -> Mapping[Path, str]:
    """The page and every figure, as they should stand.

    Raises:
        FileNotFoundError: the page has a place for what was never stored.
    """
    answers = {name: stored.read(name) for name in PLACE.findall(page) if name not in (OVERVIEW, VERDICTS)}
    parts = {name: section(answer) for name, answer in answers.items()}
    parts |= {OVERVIEW: overview(answers, page), VERDICTS: verdicts()}
    made = PLACE.sub(lambda found: f"<!-- begin {found[1]} -->\n\n{parts[found[1]]}\n\n<!-- end {found[1]} -->", page)
    drawn = {
        stored.FOLDER / name: figure.drawn(panel, answer.preset.title)
        for answer in answers.values()
        for name, panel in named(answer).items()
    }
    return {PAGE: made, **drawn}


def stale() -> list[Path]:
    """Files that are not what they should be, and figures of no experiment."""
    wanted = files(PAGE.read_text(encoding="utf-8"))
    other = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return other + [path for path in stored.FOLDER.glob("*.svg") if path not in wanted]


def write() -> None:
    """The page and the figures, from what is stored."""
    for path, text in files(PAGE.read_text(encoding="utf-8")).items():
        path.write_text(text, encoding="utf-8")
