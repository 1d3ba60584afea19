"""The reference of the Python interface, from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any, get_args, get_type_hints

import epsilond
from epsilond.accountants.quantity import quantity_of
from epsilond.accountants.specs.mechanisms import Mechanism
from scripts.pages.markdown import code, plain, table

QUALIFIED = re.compile(r"\b(?:epsilond|typing|collections\.abc)\.(?:\w+\.)*")
SECTION = re.compile(r"^(Raises|Returns|Args|Yields|Guarantees):\s*(.*)$")
GROUPS = {
    "Questions": "calibrate sweep plan account bound_risk evaluate simulate draw",
    "Budgets, reports and citations": "ledger report verify cite as_json",
    "What was run": " ".join(
        [*(each.__name__ for each in get_args(Mechanism)), "Subsampled Shuffled Repeated Composed ProjectedSgd Spec"]
    )
    + " spec_from_opacus_history spec_from_dp_event",
    "Answers": "Calibration PrivacyCurve Interval",
    "Refusals": (
        "EpsilondError InvalidInput Fault NoCertificate Infeasible ConditionViolated BeyondBudget LedgerExhausted"
        " MissingExtra"
    ),
    "Lists": "THEOREMS CALIBRATORS ENGINE_VERSION",
}
"""Every public name under a heading; what is in none stands under the last, "Other names"."""
MODULES = ("epsilond.mechanisms",)


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the one page."""
    yield "python.md", page()


def page() -> str:
    """Its text."""
    parts = [
        "# Python reference\n",
        "Everything that `import epsilond` offers, from the docstrings. Fields of the algorithms stand on the pages of",
        "the [algorithms](algorithms/index.md), and with types in `epsilond.requests`. A name is imported when it is",
        "first used.\n",
    ]
    for title, names in groups():
        parts.append(f"## {title}\n")
        parts += [entry(name, getattr(epsilond, name)) for name in names]
    for module in MODULES:
        found = import_module(module)
        parts += [f"## {code(module)}\n", docstring(found)]
        parts += [entry(name, getattr(found, name)) for name in found.__all__]
    return "\n".join(parts)


def groups() -> Iterator[tuple[str, list[str]]]:
    """Each heading with its names that are public."""
    left = list(epsilond.__all__)
    for title, listed in GROUPS.items():
        names = [name for name in listed.split() if name in left]
        left = [name for name in left if name not in names]
        yield title, names
    if left:
        yield "Other names", left


def entry(name: str, found: Any) -> str:
    """One name: its signature, what it says of itself, and of a class its members."""
    if not (inspect.isclass(found) or inspect.isroutine(found)):
        said = f"The version of the engine, {code(found)}." if isinstance(found, str) else _listed(found)
        return f"### {code(name)}\n\n{said}\n"
    parts = [f"### {code(name)}\n", f"```text\n{signature(name, found)}\n```\n", docstring(found)]
    if inspect.isclass(found):
        parts += _fields(found)
        parts += [member for part, value in vars(found).items() for member in _member(name, part, value)]
    return "\n".join(parts) + "\n"


def _listed(found: Any) -> str:
    """Describe a tuple of public objects, or the alias of a union by the names of its members."""
    if isinstance(found, tuple):
        return f"A tuple of {len(found)}, {plain(type(found[0]).__doc__ or '').partition('.')[0]} each."
    union, *_ = get_args(found.__value__)
    return f"One of {', '.join(code(member.__name__) for member in get_args(union))}."


def signature(name: str, found: Any) -> str:
    """The call, a line for each argument where one line is too long."""
    try:
        drawn = inspect.signature(found)
    except (TypeError, ValueError):
        return name
    shown = _bare(drawn)
    if len(name) + len(shown) <= 100 or not drawn.parameters:
        return name + shown
    lines = [_bare(each) for each in drawn.parameters.values()]
    first = next(
        (place for place, each in enumerate(drawn.parameters.values()) if each.kind is each.KEYWORD_ONLY), None
    )
    if first is not None:
        lines.insert(first, "*")
    end = shown.rpartition(") -> ")[2] if ") -> " in shown else ""
    return f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + ")" + (f" -> {end}" if end else "")


def _bare(shown: object) -> str:
    unquoted = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(shown))
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", QUALIFIED.sub("", unquoted))


def docstring(found: Any) -> str:
    """What it says of itself, as Markdown."""
    if dataclasses.is_dataclass(found) and (found.__doc__ or "").startswith(f"{getattr(found, '__name__', '')}("):
        return ""  # made by dataclasses
    return of_docstring(inspect.getdoc(found) or "")


def of_docstring(text: str) -> str:
    """Paragraphs, indented text as code, and sections such as `Raises:` in bold."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        if lines and lines[0] in ("Example:", "Examples:"):
            parts.append("```python\n" + inspect.cleandoc("\n".join(lines[1:])) + "\n```")
        elif lines and SECTION.match(lines[0]):
            parts.append(_section(lines))
        elif lines and all(line.startswith("    ") for line in lines):
            parts.append("```text\n" + inspect.cleandoc(block) + "\n```")
        else:
            parts.append(plain(block))
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(lines: list[str]) -> str:
    found = SECTION.match(lines[0])
    assert found is not None
    items: list[str] = []
    for line in lines[1:]:
        if re.match(r"^    \S", line) or not items:
            items.append(line.strip())
        else:
            items[-1] += f" {line.strip()}"
    told = "\n".join(f"- {plain(item)}" for item in items)
    return "\n\n".join(filter(None, (f"**{found[1]}** {plain(found[2])}".strip(), told)))


def _fields(found: type) -> list[str]:
    if not dataclasses.is_dataclass(found) or issubclass(found, Enum):
        return []
    rows = [
        (code(field.name), plain(_default(field)), plain(_described(found, field.name)))
        for field in dataclasses.fields(found)
    ]
    rows = [row for row in rows if not row[0].startswith("`_")]
    return [table(("field", "if absent", "what it is"), rows) + "\n"] if rows else []


def _default(field: Any) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "made anew" if field.default_factory is not dataclasses.MISSING else "must be given"


def _described(found: type, name: str) -> str:
    try:
        hint = get_type_hints(found, include_extras=True).get(name)
    except NameError:  # a hint for type checkers alone
        return ""
    declared = quantity_of(hint)[1] if hint is not None else None
    return declared.description if declared is not None else ""


def _member(owner: str, name: str, value: Any) -> Iterator[str]:
    inner = value.fget if isinstance(value, property) else getattr(value, "func", getattr(value, "__func__", value))
    if name.startswith("_") or not inspect.isfunction(inner):
        return
    told = of_docstring(inspect.getdoc(inner) or "")
    shown = (
        f"{owner}.{name}"
        if not inspect.isroutine(value) and not hasattr(value, "__func__")
        else signature(f"{owner}.{name}", inner)
    )
    yield f"#### {code(f'{owner}.{name}')}\n\n```text\n{shown}\n```\n\n{told}"
