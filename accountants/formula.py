"""Formulas with request classes that are made from their annotated keyword arguments.

    @formula(given="A guarantee for one record, and how many records shall be protected at once.")
    def group_privacy(*, epsilon: Epsilon, log_delta: GivenLogDelta, group_size: GroupSize) -> Outputs: ...

has a request of the fields delta, log10_delta, epsilon and group_size, and `Theorem(formula=group_privacy)` is
evaluated at such a request. A parameter annotated by a request class (`loss: LossFields`) represents the fields of that
class and receives the record itself. A parameter annotated `ReadFrom(DeltaFields)` also represents them and receives
the property of its name. `reading` is not a field, nor are the `outputs` that the test of a condition may take. A
formula with one positional parameter takes the whole request, whose class is written out. The name of the made class,
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
    """A mark of a parameter that is computed from the fields of a group, by its property of the parameter's name.

    Attributes:
        group: request class with the fields and the property.
    """

    group: type


@dataclass(frozen=True)
class _Described:
    """Description and checks of a request class that is made from the signature of a formula.

    Attributes:
        summary: docstring of the class, which describes the request.
        checks: checks that involve several fields, each a function of the request that raises an error.
    """

    summary: str = ""
    checks: Checks = ()


def in_doubles(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
    """Return the formula with a check that its results stay within the range of doubles.

    Inputs may each be in range while their combination leaves the doubles.

    Args:
        function: a formula, which returns its outputs by name.

    Returns:
        A function with the same arguments and outputs.

    Raises:
        InvalidInput: from the returned formula, instead of an arithmetic error or an output that is not a number.
    """
    message = "the figures leave the range of doubles; choose other units"

    @functools.wraps(function)
    def check_outputs(*arguments: P.args, **named: P.kwargs) -> _Outputs:
        """Evaluate the formula, and reject a result that is not a number or leaves the range of doubles.

        Args:
            arguments: positional arguments of the formula.
            named: named arguments of the formula.

        Returns:
            The outputs of the formula, unchanged.

        Raises:
            InvalidInput: the formula divides by 0 or overflows, or one of its outputs is not a number.
        """
        try:
            outputs = function(*arguments, **named)
        except (ZeroDivisionError, OverflowError) as error:
            raise InvalidInput.at("", message) from error
        # A result that is not a number comes from inputs that overflow together.
        if any(isinstance(value, float) and math.isnan(value) for value in outputs.values()):
            raise InvalidInput.at("", message)
        return outputs

    return check_outputs


def formula(
    *, given: str, checks: Checks = (), bounded: bool = True
) -> Callable[[Callable[P, _Outputs]], Callable[P, _Outputs]]:
    """Return a decorator for formulas of theorems, which describes the request class made from the signature.

    The decorated function keeps its arguments. `request_of` reads the description.

    Args:
        given: description of the fields, as the docstring of the class.
        checks: checks of the fields together, each a function of the request.
        bounded: whether results that leave the doubles are rejected (`in_doubles`).

    Returns:
        The decorator. It attaches the description to a formula, and adds the check of its results if `bounded`.
    """

    def describe(function: Callable[P, _Outputs]) -> Callable[P, _Outputs]:
        """Return the formula with its description attached, for `request_of`."""
        described = in_doubles(function) if bounded else function
        vars(described)["described"] = _Described(given, checks)
        return described

    return describe


@functools.cache
def _parameters(function: Callable[..., object]) -> JsonObject | None:
    """Return the annotations of a formula's keyword-only parameters that are fields of its request.

    The parameters in `APART` are left out.

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
    """Return the request class that a parameter represents by its fields; None if it represents no class.

    A group is a request class with several fields. The mark `ReadFrom` names the group of which a parameter is a
    property.

    Args:
        annotation: annotation of the parameter: a request class, or a type that is marked by `ReadFrom`.

    Returns:
        The request class; None if the parameter is a single field.
    """
    # Either the annotation is a request class, or its mark `ReadFrom` names one.
    if isinstance(annotation, type):
        is_request_class = hasattr(annotation, "__pydantic_config__")
        return annotation if is_request_class else None
    if get_origin(annotation) is not Annotated:
        return None
    _, *metadata = get_args(annotation)
    return next((mark.group for mark in metadata if isinstance(mark, ReadFrom)), None)


@functools.cache
def request_of(function: Callable[..., object]) -> type:
    """Return the request class made from the signature of a formula. The same formula always gives the same class.

    A keyword-only parameter becomes a field, with its annotation and default. If its annotation is a request class, or
    names one by `ReadFrom`, the fields of that class are added instead, which becomes a base class.

    Args:
        function: the formula.

    Returns:
        A frozen dataclass that checks its fields, named after the formula.

    Raises:
        TypeError: the formula has a positional parameter for a request, so that a class of requests exists already.
    """
    annotations = _parameters(function)
    if annotations is None:
        raise TypeError(f"{function.__name__} takes a request, whose class is written out and passed as `inputs`")

    # Divide the parameters into fields of the new class and fields of base classes.
    group_of = {name: _group_of(annotation) for name, annotation in annotations.items()}
    groups = dict.fromkeys(group for group in group_of.values() if group is not None)
    # A class whose subclass is a base is inherited through the subclass.
    bases = [group for group in groups if not _has_subclass(group, groups)]
    own_fields = {name: annotation for name, annotation in annotations.items() if group_of[name] is None}
    defaults = _defaults_of(function, own_fields)

    # Build the class. Its name is that of the formula in camel case.
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
    """Return the default values of some parameters of a function, by name.

    Parameters without a default are left out.

    Args:
        function: a formula.
        names: names of the parameters.

    Returns:
        The default values by name.
    """
    parameters = inspect.signature(function).parameters
    defaults = {name: parameters[name].default for name in names}
    return {name: value for name, value in defaults.items() if value is not inspect.Parameter.empty}


def _has_subclass(group: type, groups: Collection[type]) -> bool:
    """Return whether a group has a proper subclass among the groups.

    Args:
        group: a request class.
        groups: request classes, which include the group.

    Returns:
        True if another class of `groups` is a subclass of the group.
    """
    return any(issubclass(candidate, group) for candidate in groups if candidate is not group)


def _reduce(record: FormulaRequest, function: Callable[..., object]) -> tuple[object, ...]:
    """Return the pickle of a record of a class that `request_of` made.

    It is the formula and the values of the fields. Such a class is not in any module, where pickle would look for it.

    Args:
        record: the record.
        function: the formula. The class was made from its signature.

    Returns:
        The function that rebuilds the record, and its arguments.
    """
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return _rebuild, (function, values)


def _rebuild(function: Callable[..., object], values: dict[str, object]) -> FormulaRequest:
    """Return a record of the request class of a formula from its pickled values."""
    return request_of(function)(**values)


def evaluate_formula(function: Callable[..., T], inputs: object, **further: object) -> T:
    """Evaluate a formula, or the test of a condition, with the values of a request's fields.

    A parameter with a request class as its annotation takes the whole request.

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
    # A parameter takes the whole request, or the field of its name.
    arguments = {}
    for name, takes_request in parameters:
        arguments[name] = inputs if takes_request else getattr(inputs, name)
    return function(**arguments, **further)


@functools.cache
def _parameter_kinds(function: Callable[..., object]) -> tuple[tuple[str, bool], ...] | None:
    """Return the names of a formula's parameters, each with whether it takes the whole request.

    The result is stored, because a formula is evaluated at many requests.

    Args:
        function: a formula, or the test of a condition.

    Returns:
        Pairs of name and whether the annotation is a request class. None if the function has a positional parameter.
    """
    annotations = _parameters(function)
    if annotations is None:
        return None
    kinds = []
    for name, annotation in annotations.items():
        takes_request = isinstance(annotation, type) and _group_of(annotation) is not None
        kinds.append((name, takes_request))
    return tuple(kinds)
