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
        [*(kind.__name__ for kind in get_args(Mechanism)), "Subsampled Shuffled Repeated Composed ProjectedSgd Spec"]
    )
    + " spec_from_opacus_history spec_from_dp_event",
    "Answers": "Calibration PrivacyCurve Interval",
    "Refusals": (
        "EpsilondError InvalidInput Fault NoCertificate Infeasible ConditionViolated BeyondBudget LedgerExhausted"
        " MissingExtra"
    ),
    "Lists": "THEOREMS CALIBRATORS ENGINE_VERSION",
}
"""Public names by heading; names without a heading come last, under "Other names"."""
MODULES = ("epsilond.mechanisms",)


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of the page."""
    yield "python.md", page()


def page() -> str:
    """Write the reference of all public names of the Python package, from their docstrings.

    Returns:
        The page in Markdown.
    """
    parts = [
        "# Python reference\n",
        "Everything that `import epsilond` offers, from the docstrings. Fields of the algorithms stand on the pages of",
        "the [algorithms](algorithms/index.md), and with types in `epsilond.requests`. A name is imported when it is",
        "first used.\n",
    ]
    for title, names in groups():
        parts.append(f"## {title}\n")
        parts += [entry(name, getattr(epsilond, name)) for name in names]
    for name in MODULES:
        module = import_module(name)
        parts += [f"## {code(name)}\n", docstring(module)]
        parts += [entry(member, getattr(module, member)) for member in module.__all__]
    return "\n".join(parts)


def groups() -> Iterator[tuple[str, list[str]]]:
    """Yield each heading with its public names."""
    left = list(epsilond.__all__)
    for title, text in GROUPS.items():
        names = [name for name in text.split() if name in left]
        left = [name for name in left if name not in names]
        yield title, names
    if left:
        yield "Other names", left


def entry(name: str, value: Any) -> str:
    """Write the entry of a public name: its signature, its docstring, and the members of a class.

    Args:
        name: the name.
        value: the class, function or other object that it names.

    Returns:
        The entry in Markdown.
    """
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        text = f"The version of the engine, {code(value)}." if isinstance(value, str) else _describe_value(value)
        return f"### {code(name)}\n\n{text}\n"
    parts = [f"### {code(name)}\n", f"```text\n{signature(name, value)}\n```\n", docstring(value)]
    if inspect.isclass(value):
        parts += _fields(value)
        for member, member_value in vars(value).items():
            parts += _member(name, member, member_value)
    return "\n".join(parts) + "\n"


def _describe_value(value: Any) -> str:
    """Describe a tuple of public objects, or the alias of a union by the names of its members."""
    if isinstance(value, tuple):
        return f"A tuple of {len(value)}, {plain(type(value[0]).__doc__ or '').partition('.')[0]} each."
    union, *_ = get_args(value.__value__)
    return f"One of {', '.join(code(member.__name__) for member in get_args(union))}."


def signature(name: str, value: Any) -> str:
    """Return the signature of a function or class, with a line for each argument if one line is too short.

    Args:
        name: name to begin with.
        value: the function or class.

    Returns:
        The signature as text; only the name if Python knows no signature.
    """
    try:
        call = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    text = _without_modules(call)
    if len(name) + len(text) <= 100 or not call.parameters:
        return name + text
    lines = []
    for parameter in call.parameters.values():
        # A single star separates the arguments that are given by name.
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        lines.append(_without_modules(parameter))
    arguments = "".join(f"    {line},\n" for line in lines)
    _, arrow, result = text.rpartition(") -> ")
    result_text = f" -> {result}" if arrow else ""
    return f"{name}(\n{arguments}){result_text}"


def _without_modules(annotated: object) -> str:
    """Return a signature or parameter as text, without quotes, addresses and names of modules."""
    unquoted = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(annotated))
    return re.sub(r"<function (\w+) at 0x\w+>", r"\1", QUALIFIED.sub("", unquoted))


def docstring(value: Any) -> str:
    """Return the docstring of an object as Markdown."""
    if dataclasses.is_dataclass(value) and (value.__doc__ or "").startswith(f"{getattr(value, '__name__', '')}("):
        return ""  # made by dataclasses
    return of_docstring(inspect.getdoc(value) or "")


def of_docstring(text: str) -> str:
    """Convert a docstring to Markdown: paragraphs, indented text as code, sections such as `Raises:` in bold.

    Args:
        text: the docstring without indentation.

    Returns:
        The Markdown text.
    """
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
    """Convert a section of a docstring to Markdown: its heading, and an item for each entry.

    Args:
        lines: lines of the section, the heading first.

    Returns:
        The Markdown text.
    """
    heading = SECTION.match(lines[0])
    assert heading is not None
    items: list[str] = []
    for line in lines[1:]:
        # A line with an indentation of four begins an entry; deeper ones continue it.
        if re.match(r"^    \S", line) or not items:
            items.append(line.strip())
        else:
            items[-1] += f" {line.strip()}"
    bullets = "\n".join(f"- {plain(item)}" for item in items)
    title = f"**{heading[1]}** {plain(heading[2])}".strip()
    return f"{title}\n\n{bullets}" if bullets else title


def _fields(cls: type) -> list[str]:
    """Write the table of a data class's public fields.

    Args:
        cls: the class.

    Returns:
        The table as the only entry; no entry for other classes, or without public fields.
    """
    if not dataclasses.is_dataclass(cls) or issubclass(cls, Enum):
        return []
    rows = [
        (code(field.name), plain(_default(field)), plain(_description(cls, field.name)))
        for field in dataclasses.fields(cls)
        if not field.name.startswith("_")
    ]
    return [table(("field", "if absent", "what it is"), rows) + "\n"] if rows else []


def _default(field: Any) -> str:
    """Return the default of a field in words."""
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "made anew" if field.default_factory is not dataclasses.MISSING else "must be given"


def _description(cls: type, name: str) -> str:
    """Return the description of a field's quantity; an empty text if it is none."""
    try:
        hint = get_type_hints(cls, include_extras=True).get(name)
    except NameError:  # a hint for type checkers only
        return ""
    quantity = quantity_of(hint)[1] if hint is not None else None
    return quantity.description if quantity is not None else ""


def _member(owner: str, name: str, value: Any) -> Iterator[str]:
    """Yield the entry of a public method or property of a class.

    Args:
        owner: name of the class.
        name: name of the member.
        value: the member.

    Yields:
        The entry in Markdown; nothing for private members and for other values.
    """
    function = _function_of(value)
    if name.startswith("_") or not inspect.isfunction(function):
        return
    full_name = f"{owner}.{name}"
    is_method = inspect.isroutine(value) or hasattr(value, "__func__")
    call = signature(full_name, function) if is_method else full_name
    text = of_docstring(inspect.getdoc(function) or "")
    yield f"#### {code(full_name)}\n\n```text\n{call}\n```\n\n{text}"


def _function_of(member: Any) -> Any:
    """Return the function behind a property, cached property, class method or static method; else the member."""
    if isinstance(member, property):
        return member.fget
    for attribute in ("func", "__func__"):
        if hasattr(member, attribute):
            return getattr(member, attribute)
    return member
