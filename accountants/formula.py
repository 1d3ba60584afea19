"""Formulas with request classes that are made from their annotated keyword arguments.

    @formula(given="A guarantee for one record, and how many records shall be protected at once.")
    def group_privacy(*, epsilon: Epsilon, log_delta: GivenLogDelta, group_size: GroupSize) -> Outputs: ...

has a request of the fields delta, log10_delta, epsilon and group_size, and `Theorem(formula=group_privacy)` is
evaluated at such a request. A parameter annotated by a request class (`loss: LossFields`) represents the fields of that
class and receives the record itself. A parameter annotated `ReadFrom(DeltaFields)` also represents them and receives
the property of its name. `reading` is not a field, nor are the `outputs` that the test of a condition may take. A
formula with one positional parameter takes the whole request. Its class is written out. The name of the made class,
`GroupPrivacyInputs`, is derived from the formula's.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Annotated, Any, ParamSpec, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantity import Checks
from epsilond.accountants.records import request

P = ParamSpec("P")
T = TypeVar("T")
_Outputs = JsonObject
FormulaRequest: TypeAlias = Any
"""A request of a class made from a formula's signature. The type checker does not know its fields."""
APART = ("reading", "outputs")
"""Parameters of a formula, or of a condition's test, that are not fields of the request."""


@dataclass(frozen=True)
class ReadFrom:
    """Annotation of a formula's parameter with a property of the request, not a field, as its value.

    Attributes:
        group: request class with this property, which has the parameter's name, and with the fields that it depends on.
    """

    group: type


@dataclass(frozen=True)
class _Described:
    """Description and checks of a request class that is made from the signature of a formula.

    Attributes:
        summary: docstring of the class, which describes the request.
        checks: checks of several fields together. Each is a function of the request that raises an error.
    """

    summary: str = ""
    checks: Checks = ()


def in_doubles(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
    """Add to a formula a check that its computation stays within the range of doubles.

    Inputs may each be in range while their combination overflows.

    Args:
        function: a formula, which returns its outputs by name.

    Returns:
        A function with the same arguments and outputs. It raises `InvalidInput` for a division by 0, an
        `OverflowError` or an output that is NaN. Infinite outputs are allowed.
    """
    message = "the figures leave the range of doubles; choose other units"

    @functools.wraps(function)
    def check_outputs(*arguments: P.args, **named: P.kwargs) -> _Outputs:
        """Evaluate the formula, and raise `InvalidInput` if it divides by 0, overflows or has an output that is NaN."""
        try:
            outputs = function(*arguments, **named)
        except (ZeroDivisionError, OverflowError) as error:
            raise InvalidInput.at("", message) from error
        # NaN is the result of operations with infinities, such as ∞ − ∞, after an overflow.
        if any(isinstance(value, float) and math.isnan(value) for value in outputs.values()):
            raise InvalidInput.at("", message)
        return outputs

    return check_outputs


def formula(
    *, given: str, checks: Checks = (), bounded: bool = True
) -> Callable[[Callable[P, _Outputs]], Callable[P, _Outputs]]:
    """Return a decorator that describes the request class of a formula, which `request_of` makes from its signature.

    Args:
        given: docstring of the request class, which describes its fields.
        checks: checks of several fields together. Each is a function of the request that raises an error.
        bounded: whether computations that leave the range of doubles are rejected (`in_doubles`).

    Returns:
        The decorator. The decorated formula keeps its arguments and its outputs.
    """

    def describe(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
        """Return the formula with its description attached, for `request_of`."""
        described = in_doubles(function) if bounded else function
        vars(described)["described"] = _Described(given, checks)
        return described

    return describe


@functools.cache
def _parameters(function: Callable[..., object]) -> JsonObject | None:
    """Return the annotations of a formula's keyword-only parameters, except for those in `APART`.

    Args:
        function: a formula, or the test of a condition.

    Returns:
        The annotations by name; None if the function has a positional parameter, which takes a whole request.
    """
    signature = inspect.signature(function)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name not in APART]
    if not all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters):
        return None
    hints = get_type_hints(function, include_extras=True)
    return {parameter.name: hints[parameter.name] for parameter in parameters}


def _group_of(annotation: object) -> type | None:
    """Return the request class whose fields a formula's parameter stands for; None if it is a single field.

    Args:
        annotation: annotation of the parameter. It is itself a request class, or names one by the metadata `ReadFrom`,
            or is the type of a single field.
    """
    if isinstance(annotation, type):
        is_request_class = hasattr(annotation, "__pydantic_config__")
        return annotation if is_request_class else None
    if get_origin(annotation) is not Annotated:
        return None
    _, *metadata = get_args(annotation)
    return next((mark.group for mark in metadata if isinstance(mark, ReadFrom)), None)


@functools.cache
def request_of(function: Callable[..., object]) -> type:
    """Make a request class from the signature of a formula. The same formula always gives the same class.

    A keyword-only parameter becomes a field, with its annotation and default. If its annotation is a request class, or
    names one by `ReadFrom`, that class becomes a base class, so that its fields are added instead.

    Args:
        function: the formula.

    Returns:
        A frozen dataclass that checks its fields, named after the formula.

    Raises:
        TypeError: the formula has a positional parameter for a whole request, with a class that is written by hand.
    """
    annotations = _parameters(function)
    if annotations is None:
        raise TypeError(f"{function.__name__} takes a request, whose class is written out and passed as `inputs`")

    group_of = {name: _group_of(annotation) for name, annotation in annotations.items()}
    groups = dict.fromkeys(group for group in group_of.values() if group is not None)
    # A class with a subclass among the bases is inherited through it. Both as bases could have no consistent order.
    bases = [group for group in groups if not _has_subclass(group, groups)]
    own_fields = {name: annotation for name, annotation in annotations.items() if group_of[name] is None}
    defaults = _defaults_of(function, own_fields)

    described = vars(function).get("described", _Described())
    body = {
        **defaults,
        "__module__": function.__module__,
        "__doc__": described.summary or None,
        "__annotations__": own_fields,
        "__reduce__": functools.partialmethod(_reduce, function),
        "checks": described.checks,
    }
    camel_case = "".join(word.capitalize() for word in function.__name__.split("_"))
    return request(type(f"{camel_case}Inputs", tuple(bases), body))


def _defaults_of(function: Callable[..., object], names: Collection[str]) -> dict[str, object]:
    """Return the default values of some parameters of a function.

    Args:
        function: a formula.
        names: names of the parameters.

    Returns:
        The default values by name, without parameters that have none.
    """
    parameters = inspect.signature(function).parameters
    defaults = {name: parameters[name].default for name in names}
    return {name: value for name, value in defaults.items() if value is not inspect.Parameter.empty}


def _has_subclass(group: type, groups: Collection[type]) -> bool:
    """Return whether a class has a subclass, other than itself, among the classes `groups`."""
    return any(issubclass(candidate, group) for candidate in groups if candidate is not group)


def _reduce(record: FormulaRequest, function: Callable[..., object]) -> tuple[object, ...]:
    """Return how to pickle a request of a class that `request_of` made: by the formula and the values of the fields.

    Pickle cannot store the class by its name, because no module has it.

    Args:
        record: the request.
        function: the formula from the signature of which the class was made.

    Returns:
        The function that rebuilds the request, and its arguments.
    """
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return _rebuild, (function, values)


def _rebuild(function: Callable[..., object], values: dict[str, object]) -> FormulaRequest:
    """Build a request of the class of a formula from the pickled values of its fields."""
    return request_of(function)(**values)


def evaluate_formula(function: Callable[..., T], inputs: object, **further: object) -> T:
    """Evaluate a formula, or the test of a condition, with the values of a request's fields.

    A parameter with a request class as its annotation gets the whole request.

    Args:
        function: takes the request's fields by name, or the whole request as its positional argument.
        inputs: the request.
        further: further keyword arguments, such as the version of the formula.

    Returns:
        The result of the function.
    """
    parameters = _parameter_kinds(function)
    if parameters is None:
        return function(inputs, **further)
    arguments = {}
    for name, takes_request in parameters:
        arguments[name] = inputs if takes_request else getattr(inputs, name)
    return function(**arguments, **further)


@functools.cache
def _parameter_kinds(function: Callable[..., object]) -> tuple[tuple[str, bool], ...] | None:
    """Return for each parameter of a formula whether it takes the whole request, or only the field of its name.

    Args:
        function: a formula, or the test of a condition.

    Returns:
        Pairs of a name and whether its annotation is a request class. None if the function has a positional parameter.
    """
    annotations = _parameters(function)
    if annotations is None:
        return None
    kinds = []
    for name, annotation in annotations.items():
        takes_request = isinstance(annotation, type) and _group_of(annotation) is not None
        kinds.append((name, takes_request))
    return tuple(kinds)
