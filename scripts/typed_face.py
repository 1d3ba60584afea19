"""Write the stubs for editors, and the options of the command line: python -m scripts.typed_face.

`src/epsilond/typed.pyi` has an overload of `calibrate` and `bound_risk` for each algorithm with its fields, the fields
of `plan`, and the ids that `evaluate` knows. `src/epsilond/requests.pyi` names the request classes.
`src/epsilond/options.json` lists the options of the command line. A test compares all three with the output of this
program.
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
    """A stub file under construction, with type annotations for editors and type checkers.

    Attributes:
        imports: names to import, by module.
    """

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = defaultdict(set)

    def name(self, cls: Any) -> str:
        """Return the name of a class, and import it."""
        self.imports[cls.__module__].add(cls.__name__)
        return str(cls.__name__)

    def type(self, annotation: Any) -> str:
        """Return an annotation as text, and import the names in it.

        The text admits mappings in place of data classes, and sequences in place of tuples.

        Args:
            annotation: the annotation.

        Returns:
            Python source text.
        """
        if isinstance(annotation, TypeAliasType):
            return self.type(annotation.__value__)
        origin = get_origin(annotation)
        members = get_args(annotation)
        if origin is Annotated:
            return self.type(members[0])
        if origin is Literal:
            if annotation in ALIASES:
                self.imports["epsilond.accountants.quantities"].add(ALIASES[annotation])
                return ALIASES[annotation]
            return f"Literal[{', '.join(map(repr, members))}]"
        # Nested unions are flattened, and repetitions removed.
        if origin in (Union, UnionType):
            parts = " | ".join(map(self.type, members)).split(" | ")
            return " | ".join(dict.fromkeys(parts))
        if origin is tuple:
            return f"Sequence[{self.type(members[0])}]"
        if is_dataclass(annotation):
            return f"{self.name(annotation)} | Mapping[str, object]"
        return "None" if annotation is NoneType else annotation.__name__

    def parameters(self, request: Any) -> str:
        """Return the fields of a request as keyword parameters."""
        hints = get_type_hints(request)
        return ", ".join(f"{field.name}: {self.type(hints[field.name])}{_default(field)}" for field in fields(request))

    def text(self, about: str, parts: list[str]) -> str:
        """Return the text of the file.

        Args:
            about: first line of the file.
            parts: definitions in their order.

        Returns:
            Formatted Python source text: a comment, the imports and the definitions.
        """
        imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in self.imports.items()]
        names = "Any, Literal, TypeAlias, overload"
        standard = ["from collections.abc import Callable, Mapping, Sequence", f"from typing import {names}"]
        sections = [[f"# {about} {WRITTEN}"], standard, imports, parts]
        return _format("\n\n".join("\n".join(lines) for lines in sections))


def _default(field: Field[Any]) -> str:
    """Return the default of a parameter as text; an empty text if the field is required."""
    if field.default is MISSING and field.default_factory is MISSING:
        return ""
    is_plain = field.default is None or isinstance(field.default, bool | int | float | str)
    return f" = {field.default!r}" if is_plain else " = ..."


def overloads() -> str:
    """Return the text of typed.pyi, the signatures of all questions with the fields of each algorithm.

    Returns:
        Python source text.
    """
    stub = Stub()
    parts: list[str] = []
    calibration = stub.name(Calibration)
    # One overload for each algorithm, and one for any other name.
    for calibrator in CALIBRATORS:
        answer = f"{calibration}[{stub.name(calibrator.parameters_type)}]"
        parts += _overloads("calibrate", calibrator.name, calibrator.problem, answer, stub)
    parts.append(f"@overload\ndef calibrate(algorithm: str, /, **fields: object) -> {calibration}[Any]: ...")
    bounds = stub.name(RiskBoundsAnswer)
    for bounder in RISK_BOUNDS:
        parts += _overloads("bound_risk", bounder.name, bounder.problem, bounds, stub)
    parts.append(f"@overload\ndef bound_risk(algorithm: str, /, **fields: object) -> {bounds}: ...")
    # A plan is for a problem, or within a ledger.
    execution = "executor: Executor | None = ..., progress: Callable[[int, int], None] = ..."
    stub.imports["concurrent.futures"].add("Executor")
    plan_answer = stub.name(PlanAnswer)
    parts.append(f"@overload\ndef plan(*, {execution}, {stub.parameters(PlanProblem)}) -> {plan_answer}: ...")
    within = "progress: Callable[[int, int], None] = ..., given: Ledger, **fields: object"
    parts.append(f"@overload\ndef plan(*, {within}) -> {plan_answer}: ...")
    stub.imports["epsilond.ledgers.client.ledgers"].add("Ledger")
    stub.imports["epsilond.accountants.theorem"].add("Reading")
    # Evaluations of theorems that have a formula.
    ids = ", ".join(repr(theorem.id) for theorem in THEOREMS if theorem.formula is not None)
    parts.append(f"TheoremId: TypeAlias = Literal[{ids}]")
    arguments = 'theorem_id: TheoremId | str, /, reading: Reading = "printed", **inputs: object'
    parts.append(f"def evaluate({arguments}) -> {stub.name(Evaluation)}: ...")
    return stub.text("The questions with the fields of every algorithm, for editors and type checkers.", parts)


def _overloads(function: str, name: str, problem: Any, answer: str, stub: Stub) -> Iterator[str]:
    """Yield the overload by the algorithm's name and fields, and the one by its request."""
    arguments = f"algorithm: Literal[{name!r}], /, *, {stub.parameters(problem)}"
    yield f"@overload\ndef {function}({arguments}) -> {answer}: ..."
    yield f"@overload\ndef {function}(request: {stub.name(problem)}, /) -> {answer}: ..."


def request_classes() -> str:
    """Return the text of requests.pyi, which re-exports the request classes."""
    lines = [
        f"from {value.__module__} import {name} as {name}"
        for name, value in vars(requests).items()
        if inspect.isclass(value)
    ]
    return _format("\n".join([f"# The request classes of all questions. {WRITTEN}", "", *lines]))


def command_options() -> str:
    """Return the commands with the fields of a request class as options, in JSON."""
    groups = {
        "calibrate": [_list_command(known.name, known.title, known.summary, known.problem) for known in CALIBRATORS],
        "risk-bound": [_list_command(known.name, known.title, known.summary, known.problem) for known in RISK_BOUNDS],
        "": [_list_command("plan", "", "", PlanProblem), _list_command("account", "", "", AccountProblem)],
    }
    return json.dumps(groups, ensure_ascii=False, indent=1) + "\n"


def _list_command(name: str, title: str, summary: str, problem: type) -> dict[str, Any]:
    """Return a command with the fields of its request class as options.

    Args:
        name: name of the command.
        title: one line about it.
        summary: description.
        problem: request class.

    Returns:
        The command as a JSON object.
    """
    options = tuple(describe_options(problem))
    return ListedCommand(name=name, title=title, summary=summary, options=options).as_json()


def _format(text: str) -> str:
    """Sort the imports of a text, and format it."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--fix-only", "--quiet", "--select", "F401,I"], ["format", "--quiet"]):
        options = [*ruff, *command, "--stdin-filename", str(FOLDER / "typed.pyi"), "-"]
        text = subprocess.run(options, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return text


def main() -> None:
    """Write the three files."""
    texts = {"typed.pyi": overloads(), "requests.pyi": request_classes(), "options.json": command_options()}
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
