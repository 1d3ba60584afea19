"""Formulas that speak for themselves: the request class of a formula is made from its annotated keyword arguments.

    @formula(given="A guarantee for one record, and how many records shall be protected at once.")
    def group_privacy(*, epsilon: Epsilon, log_delta: GivenLogDelta, group_size: GroupSize) -> Outputs: ...

has a request of the fields delta, log10_delta, epsilon and group_size, and `Theorem(formula=group_privacy)` is
evaluated at such a request. A parameter annotated by a request class (`loss: LossFields`) stands for the fields of that
class and receives the record itself; one annotated `ReadFrom(DeltaFields)` stands for them too and receives the
property of its name. `reading` is no field, nor are the `outputs` that the test of a condition may take. A formula with
one positional parameter takes the whole request, of a class written out. `GroupPrivacyInputs`, the name of the made
class, is the formula's.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, ParamSpec, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantity import Checks, request

P = ParamSpec("P")
T = TypeVar("T")
_Outputs = JsonObject
FormulaRequest: TypeAlias = Any
"""A request of a class made from a formula's signature, whose fields the type checker does not know."""
APART = ("reading", "outputs")
"""Parameters of a formula, or of a condition's test, that are no fields of the request."""


@dataclass(frozen=True)
class ReadFrom:
    """Marks a parameter that is computed from the fields of `group`, as its property of the parameter's name."""

    group: type


@dataclass(frozen=True)
class _Described:
    """What a formula's signature does not say of its request class."""

    given: str = ""
    checks: Checks = ()


def in_doubles(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
    """The formula, refusing inputs that are each in range but whose combinations leave the doubles.

    Raises:
        InvalidInput: from the returned formula, instead of an arithmetic error or an output that is not a number.
    """

    @functools.wraps(function)
    def guarded(*arguments: P.args, **named: P.kwargs) -> _Outputs:
        try:
            outputs = function(*arguments, **named)
        except (ZeroDivisionError, OverflowError) as error:
            raise InvalidInput.at("", "the figures leave the range of doubles; choose other units") from error
        if any(isinstance(value, float) and math.isnan(value) for value in outputs.values()):
            raise InvalidInput.at("", "the figures leave the range of doubles; choose other units")
        return outputs

    return guarded


def formula(
    *, given: str, checks: Checks = (), bounded: bool = True
) -> Callable[[Callable[P, _Outputs]], Callable[P, _Outputs]]:
    """Describe the request class of a formula; where `bounded`, refuse what leaves the doubles (`in_doubles`).

    `given` says what the fields are, as the description of the class; `checks` are those of a request class.
    """

    def describe(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
        described = in_doubles(function) if bounded else function
        vars(described)["described"] = _Described(given, checks)
        return described

    return describe


@functools.cache
def _parameters(function: Callable[..., object]) -> JsonObject | None:
    """Annotations of the keyword-only parameters but those `APART`; None for a function of the whole request."""
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name not in APART]
    if not all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters):
        return None
    hints = get_type_hints(function, include_extras=True)
    return {each.name: hints[each.name] for each in parameters}


def _group_of(annotation: object) -> type | None:
    """The request class whose fields a parameter stands for, if it does."""
    if isinstance(annotation, type):
        return annotation if hasattr(annotation, "__pydantic_config__") else None
    metadata = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((each.group for each in metadata if isinstance(each, ReadFrom)), None)


@functools.cache
def request_of(function: Callable[..., object]) -> type:
    """The request class made from the signature of a formula, always the same one for one formula."""
    annotations = _parameters(function)
    if annotations is None:
        raise TypeError(f"{function.__name__} takes a request, whose class is written out and passed as `inputs`")
    groups = dict.fromkeys(filter(None, map(_group_of, annotations.values())))
    bases = [one for one in groups if not any(issubclass(other, one) for other in groups if other is not one)]
    own = {name: annotation for name, annotation in annotations.items() if _group_of(annotation) is None}
    parameters = inspect.signature(function).parameters
    given = {name: parameters[name].default for name in own}
    defaults = {name: default for name, default in given.items() if default is not inspect.Parameter.empty}
    described = vars(function).get("described", _Described())
    body = {
        **defaults,
        "__module__": function.__module__,
        "__doc__": described.given or None,
        "__annotations__": own,
        "__reduce__": functools.partialmethod(_reduced, function),
        "checks": described.checks,
    }
    name = "".join(part.capitalize() for part in function.__name__.split("_")) + "Inputs"
    return request(type(name, tuple(bases), body))


def _reduced(record: FormulaRequest, function: Callable[..., object]) -> tuple[object, ...]:
    """A made class is in no module, where pickle would look for it: its records are made again."""
    return _rebuilt, (function, {each.name: getattr(record, each.name) for each in fields(record)})


def _rebuilt(function: Callable[..., object], values: dict[str, object]) -> FormulaRequest:
    return request_of(function)(**values)


def applied(function: Callable[..., T], inputs: object, **further: object) -> T:
    """A formula, or the test of a condition, at the request `inputs`: at its fields by name, or at the whole."""
    fed = _fed(function)
    if fed is None:
        return function(inputs, **further)
    return function(**{name: inputs if whole else getattr(inputs, name) for name, whole in fed}, **further)


@functools.cache
def _fed(function: Callable[..., object]) -> tuple[tuple[str, bool], ...] | None:
    """The parameters of `_parameters`, each with whether it takes the whole request."""
    annotations = _parameters(function)
    if annotations is None:
        return None
    return tuple((name, isinstance(one, type) and bool(_group_of(one))) for name, one in annotations.items())
