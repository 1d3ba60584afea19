"""Law: on the public face no number is positional, and every logarithm names its base.

The face is what `epsilond` exports, and the methods of what its functions give back.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import epsilond


def exported() -> Iterator[tuple[str, Any]]:
    for name in epsilond.__all__:
        if callable(each := getattr(epsilond, name)):
            yield name, each


def returned() -> Iterator[tuple[str, Any]]:
    """One of each: what the functions of the face give back, and what hangs on it."""
    noise = epsilond.Gaussian(noise_multiplier=1.0)
    account = epsilond.account(noise, relation="replace-one", delta=1e-5, unit="record", observer="server")
    full = {
        "relation": "replace-one",
        "sampling": "full",
        "noise_multiplier": 1.0,
        "rounds": 1,
        "delta": 1e-5,
        "unit": "record",
        "observer": "server",
    }
    sweep = epsilond.sweep("gaussian", "rounds", [1, 2], solve_for="epsilon", **{**full, "rounds": 1})
    theorem = epsilond.evaluate("balle-wang-2018.8", epsilon=1.0, noise_multiplier=1.0, relation="replace-one")
    yield from (
        ("account()", account),
        ("account().guarantee", account.guarantee),
        ("account().guarantee.curve", account.guarantee.curve),
        (
            "account without a question",
            epsilond.account(noise, relation="replace-one", unit="record", observer="server").guarantee,
        ),
        ("calibrate()", epsilond.calibrate("gaussian", solve_for="epsilon", **full)),
        ("sweep()", sweep),
        ("evaluate()", theorem),
        ("ends", account.guarantee.epsilon),
        ("THEOREMS", epsilond.THEOREMS[0]),
        ("CALIBRATORS", epsilond.CALIBRATORS[0]),
        ("interval", epsilond.Interval(0.0, 1.0)),
    )


OURS = {"epsilond", "accountants", "calibrators", "witness"}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, each in exported():
        if inspect.isfunction(each):
            yield name, each
    owners = {type(each): name for name, each in returned()}
    owners |= {each: name for name, each in exported() if inspect.isclass(each)}
    for owner, name in owners.items():
        own = (member for cls in owner.__mro__ if cls.__module__.split(".")[0] in OURS for member in vars(cls).items())
        for method, value in own:
            function = getattr(value, "__func__", value)
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{method}", function


METHODS = dict(methods())
RECORDS = [
    (name, each)
    for name, each in exported()
    if dataclasses.is_dataclass(each) and not issubclass(each, Exception)  # type: ignore[arg-type]
]


def written(annotation: Any) -> str:
    """An annotation as it stands in the file; a class by its name, nothing where there is none."""
    if isinstance(annotation, str):
        return annotation
    return "None" if annotation is inspect.Parameter.empty else getattr(annotation, "__name__", "None")


def is_number(annotation: str) -> bool:
    """A number, or perhaps none, or a list of them; a list of records in another project's form is none."""
    pending: list[Any] = [ast.parse(annotation, mode="eval").body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and node.id in ("int", "float"):
            return True
        if isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        if isinstance(node, ast.Subscript):
            members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            pending += [each for each in members if isinstance(each, ast.Name)]
    return False


def test_the_law_finds_a_number_where_there_is_one() -> None:
    numbers = ("float", "int | None", "float | Sequence[float] | None", "Annotated[float, DELTA]", "Sequence[float]")
    others = ("str", "Mapping[str, Any]", "Iterable[tuple[float, float, int]] | Mapping[str, Any]", "Interval")
    assert all(map(is_number, numbers))
    assert not any(map(is_number, others))


def test_the_face_is_not_empty() -> None:
    assert {"account", "calibrate", "evaluate", "plan", "sweep", "simulate"} <= set(METHODS)
    assert "account().guarantee.curve.epsilon" in METHODS or "PrivacyCurve.epsilon" in METHODS
    assert len(RECORDS) > 10


@pytest.mark.parametrize("name", METHODS)
def test_no_number_is_positional(name: str) -> None:
    for parameter in inspect.signature(METHODS[name]).parameters.values():
        named = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        assert named or not is_number(written(parameter.annotation)), f"{name}({parameter.name})"


@pytest.mark.parametrize("name", METHODS)
def test_a_logarithm_names_its_base(name: str) -> None:
    for word in (name.rpartition(".")[2], *inspect.signature(METHODS[name]).parameters):
        assert "log" not in word.removeprefix("natural_log").split("_"), f"{name}: {word}"


@pytest.mark.parametrize(("name", "record"), RECORDS, ids=[name for name, _ in RECORDS])
def test_records_with_numbers_are_built_by_name(name: str, record: type) -> None:
    for parameter in inspect.signature(record).parameters.values():
        positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        assert not (positional and is_number(written(parameter.annotation))), f"{name}({parameter.name})"
