"""Write what editors complete, and the options of the command line: python -m scripts.typed_face.

`src/epsilond/typed.pyi` has an overload of `calibrate` and `bound_risk` for each algorithm with its fields, the fields
of `plan`, and the ids that `evaluate` knows. `src/epsilond/requests.pyi` names the request classes.
`src/epsilond/options.json` lists the options of the command line. A test demands that all three are what this program
writes.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypeAliasType

from epsilond import requests
from epsilond.accountants import quantities
from epsilond.accountants.theorem import Evaluation
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import AccountProblem
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.option_values import describe_options
from epsilond.options import ListedCommand

FOLDER = Path(__file__).parents[1] / "src/epsilond"
ALIASES = {getattr(quantities, name): name for name in ("Relation", "Unit", "Observer", "Sampling")}
"""Enumerations that have a name, by their values."""
WRITTEN = "Written by scripts/typed_face.py."


class Stub:
    """A file that is being written, and what it imports."""

    def __init__(self) -> None:
        self.imported: dict[str, set[str]] = defaultdict(set)

    def name(self, cls: Any) -> str:
        """A class by its name, which is imported."""
        self.imported[cls.__module__].add(cls.__name__)
        return str(cls.__name__)

    def type(self, annotation: Any) -> str:
        """An annotation as it is written where a structure may be a mapping, and a tuple any sequence."""
        if isinstance(annotation, TypeAliasType):
            return self.type(annotation.__value__)
        origin, members = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.type(members[0])
        if origin is Literal:
            if annotation in ALIASES:
                self.imported["epsilond.accountants.quantities"].add(ALIASES[annotation])
                return ALIASES[annotation]
            return f"Literal[{', '.join(map(repr, members))}]"
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(part for each in members for part in self.type(each).split(" | ")))
        if origin is tuple:
            return f"Sequence[{self.type(members[0])}]"
        if is_dataclass(annotation):
            return f"{self.name(annotation)} | Mapping[str, object]"
        return "None" if annotation is NoneType else annotation.__name__

    def parameters(self, request: Any) -> str:
        """The fields of a request as keyword parameters."""
        hints = get_type_hints(request)
        return ", ".join(f"{field.name}: {self.type(hints[field.name])}{_default(field)}" for field in fields(request))

    def text(self, about: str, parts: list[str]) -> str:
        """The file."""
        imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in self.imported.items()]
        names = "Any, Literal, TypeAlias, overload"
        standard = ["from collections.abc import Callable, Mapping, Sequence", f"from typing import {names}"]
        return _formatted("\n".join([f"# {about} {WRITTEN}", "", *standard, "", *imports, "", *parts]))


def _default(field: Field[Any]) -> str:
    required = field.default is MISSING and field.default_factory is MISSING
    plain = field.default is None or isinstance(field.default, bool | int | float | str)
    return "" if required else f" = {field.default!r}" if plain else " = ..."


def typed() -> str:
    """The overloads."""
    stub = Stub()
    parts: list[str] = []
    one = stub.name(Calibration)
    for each in CALIBRATORS:
        answer = f"{one}[{stub.name(each.parameters_type)}]"
        parts += _overloads("calibrate", each.name, each.problem, answer, stub)
    parts.append(f"@overload\ndef calibrate(algorithm: str, /, **fields: object) -> {one}[Any]: ...")
    bounds = stub.name(RiskBoundsAnswer)
    for bounder in RISK_BOUNDS:
        parts += _overloads("bound_risk", bounder.name, bounder.problem, bounds, stub)
    parts.append(f"@overload\ndef bound_risk(algorithm: str, /, **fields: object) -> {bounds}: ...")
    how = "executor: Executor | None = ..., progress: Callable[[int, int], None] = ..."
    stub.imported["concurrent.futures"].add("Executor")
    planned = stub.name(PlanAnswer)
    parts.append(f"@overload\ndef plan(*, {how}, {stub.parameters(PlanProblem)}) -> {planned}: ...")
    within = "progress: Callable[[int, int], None] = ..., given: Ledger, **fields: object"
    parts.append(f"@overload\ndef plan(*, {within}) -> {planned}: ...")
    stub.imported["epsilond.ledgers.client.ledgers"].add("Ledger")
    stub.imported["epsilond.accountants.theorem"].add("Reading")
    ids = ", ".join(repr(each.id) for each in THEOREMS if each.formula is not None)
    parts.append(f"TheoremId: TypeAlias = Literal[{ids}]")
    asked = 'theorem_id: TheoremId | str, /, reading: Reading = "printed", **inputs: object'
    parts.append(f"def evaluate({asked}) -> {stub.name(Evaluation)}: ...")
    return stub.text("The questions with the fields of every algorithm, for editors and type checkers.", parts)


def _overloads(function: str, name: str, problem: Any, answer: str, stub: Stub) -> Iterator[str]:
    """By the algorithm's name and fields, and by its request."""
    named = f"algorithm: Literal[{name!r}], /, *, {stub.parameters(problem)}"
    yield f"@overload\ndef {function}({named}) -> {answer}: ..."
    yield f"@overload\ndef {function}(request: {stub.name(problem)}, /) -> {answer}: ..."


def public() -> str:
    """The request classes, re-exported."""
    lines = [
        f"from {each.__module__} import {name} as {name}"
        for name, each in vars(requests).items()
        if inspect.isclass(each)
    ]
    return _formatted("\n".join([f"# What the questions are asked with. {WRITTEN}", "", *lines]))


def command_options() -> str:
    """Return the commands whose options are the fields of a request class, as JSON."""
    groups = {
        "calibrate": [_list_command(each.name, each.title, each.summary, each.problem) for each in CALIBRATORS],
        "risk-bound": [_list_command(each.name, each.title, each.summary, each.problem) for each in RISK_BOUNDS],
        "": [_list_command("plan", "", "", PlanProblem), _list_command("account", "", "", AccountProblem)],
    }
    return json.dumps(groups, ensure_ascii=False, indent=1) + "\n"


def _list_command(name: str, title: str, summary: str, problem: type) -> dict[str, Any]:
    options = tuple(describe_options(problem))
    return ListedCommand(name=name, title=title, summary=summary, options=options).as_json()


def _formatted(text: str) -> str:
    """As the linter wants it."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--fix-only", "--quiet", "--select", "F401,I"], ["format", "--quiet"]):
        options = [*ruff, *command, "--stdin-filename", str(FOLDER / "typed.pyi"), "-"]
        text = subprocess.run(options, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return text


def main() -> None:
    """Write the three files."""
    for name, text in (("typed.pyi", typed()), ("requests.pyi", public()), ("options.json", command_options())):
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
