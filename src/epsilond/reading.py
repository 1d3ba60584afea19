"""From names and values to a checked request, with the faults an HTTP body would be given.

The request dataclasses check their own ranges. What they cannot see is checked here: names they do not have, names
that are missing, and structures (groups, mechanisms) given as plain mappings and sequences.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Tagged, quantity_of

T = TypeVar("T")
WORDS = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}


@functools.cache
def _hints(request: Hashable) -> dict[str, Any]:
    """The annotations of a request's fields."""
    return get_type_hints(request, include_extras=True)


@functools.cache
def _fields(request: Hashable) -> dict[str, Field[Any]]:
    """The fields of a request by their names."""
    return {field.name: field for field in fields(request)}  # type: ignore[arg-type]


def read(request: type[T], given: Mapping[str, Any], *, at: str = "") -> T:
    """The `request` whose fields are `given`. Structures may be mappings and lists, or instances already.

    None stands for an absent field where absence is allowed.

    Raises:
        InvalidInput: a fault for each unknown or missing name and each value that cannot be; pointers begin with `at`.
    """
    cls: Any = request
    shapes, known = _shapes(cls), _fields(cls)
    values: dict[str, Any] = {}
    faults = [
        Fault(f"{at}/{name}", "is not a field of this object" + near(name, known), ", ".join(known))
        for name in given
        if name not in known
    ]
    for name, field in known.items():
        if field.default is None and given.get(name) is None:
            continue
        if name in given:
            try:
                values[name] = _read_shape(shapes[name], given[name], f"{at}/{name}")
            except InvalidInput as error:
                faults.extend(error.faults)
        elif field.default is MISSING and field.default_factory is MISSING:
            faults.append(Fault(f"{at}/{name}", "is required", allowed(_hints(cls)[name])))
    if faults:
        raise InvalidInput(*faults)
    try:
        return request(**values)
    except InvalidInput as error:
        raise InvalidInput(*(Fault(at + it.pointer, it.message, it.allowed) for it in error.faults)) from None


class _Shape(NamedTuple):
    """An annotation taken apart, which is slow: once for each field.

    Attributes:
        annotation: the annotation itself, behind any aliases.
        bare: the type, None and metadata removed.
        tagged: the field that tells the members of a union of requests apart, where it is one.
        members: of such a union.
        item: of a tuple.
        checked_by_request: whether a request that holds the value checks it.
        structured: whether the type is a dataclass.
    """

    annotation: Any
    bare: Any
    tagged: str | None
    members: tuple[Any, ...]
    item: _Shape | None
    checked_by_request: bool
    structured: bool


@functools.cache
def _shapes(request: Hashable) -> dict[str, _Shape]:
    """The shapes of a request's fields."""
    return {name: _shape(annotation) for name, annotation in _hints(request).items()}


@functools.cache
def _shape_of(annotation: Hashable) -> _Shape:
    """The shape of an annotation that is asked for by itself, again and again."""
    return _shape(annotation)


def _shape(annotation: Any) -> _Shape:
    if isinstance(annotation, TypeAliasType):
        return _shape(annotation.__value__)
    bare, quantity = quantity_of(annotation)
    tagged = next((item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, Tagged)), None)
    if tagged is not None:
        return _Shape(annotation, bare, tagged.field, get_args(bare), None, False, False)
    if isinstance(bare, TypeAliasType):
        return _shape(bare)
    item = _shape(get_args(bare)[0]) if get_origin(bare) is tuple else None
    checked_by_request = quantity is not None and (bare in (float, int) or get_origin(bare) is Literal)
    structured = isinstance(bare, type) and is_dataclass(bare)
    return _Shape(annotation, bare, None, (), item, checked_by_request, structured)


def read_value(annotation: Any, value: Any, *, at: str) -> Any:
    """A value as its annotation wants it; quantities are left to the request that holds them, which checks them all.

    Raises:
        InvalidInput: the value is of another kind, or a structure in it is at fault.
    """
    return _read_shape(_shape_of(annotation), value, at)


def _read_shape(shape: _Shape, value: Any, at: str) -> Any:
    bare = shape.bare
    if shape.tagged is not None:
        return _read_tagged(shape.tagged, shape.members, value, at)
    if shape.structured:
        return _read_object(bare, value, at)
    if shape.item is not None:
        if not isinstance(value, list | tuple):
            raise InvalidInput.at(at, "must be an array")
        return tuple(_read_shape(shape.item, item, f"{at}/{place}") for place, item in enumerate(value))
    plain = value.item() if isinstance(value, np.generic) else value
    if not shape.checked_by_request and not _fits(bare, plain):
        raise InvalidInput.at(at, f"must be {words(bare)}", allowed=allowed(shape.annotation))
    return plain


def named(name: str, choices: Mapping[str, T], *, at: str, noun: str) -> T:
    """The choice of that name.

    Raises:
        InvalidInput: there is none; the message proposes names that are near.
    """
    if name in choices:
        return choices[name]
    proposal = near(name, choices)
    raise InvalidInput.at(
        at, f"there is no such {noun}{proposal}", allowed=None if proposal else ", ".join(map(str, choices))
    )


class _Asked(Protocol):
    """A calibrator, or an algorithm's risk bounds."""

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> type: ...


A = TypeVar("A", bound=_Asked)


def asked(by: Any, listed: Sequence[A], given: Mapping[str, Any]) -> tuple[A, Any]:
    """Of an algorithm's name: that algorithm, and the request of these fields. Of a request: who answers it, and it.

    Raises:
        InvalidInput: there is no such algorithm, nobody answers such requests, or no run can have the fields.
    """
    if isinstance(by, str):
        chosen = named(by, {each.name: each for each in listed}, at="/algorithm", noun="algorithm")
        return chosen, read(chosen.problem, given)
    answering = {each.problem: each for each in listed}
    if type(by) not in answering:
        classes = ", ".join(each.__name__ for each in answering)
        raise InvalidInput.at("/algorithm", "is neither the name of an algorithm nor a request", allowed=classes)
    return answering[type(by)], replace(by, **given)


def near(name: str, names: Iterable[str]) -> str:
    """A proposal to put behind a message about an unknown name: empty if nothing is near."""
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def allowed(annotation: Any) -> str | None:
    """What a field admits, in words: its literals or its range."""
    bare, quantity = quantity_of(annotation)
    if get_origin(bare) is Literal:
        return ", ".join(map(str, get_args(bare)))
    return (quantity.allowed or None) if quantity is not None else None


def words(bare: Any) -> str:
    """What kind of value a bare type is, in words."""
    if get_origin(bare) is Literal:
        return "one of the allowed values"
    members = [WORDS[member] for member in (bare, *get_args(bare)) if isinstance(member, type) and member in WORDS]
    return " or ".join(members) or "one of the allowed values"


def _fits(bare: Any, value: Any) -> bool:
    if get_origin(bare) is Literal:
        return any(value is choice or (type(value) is type(choice) and value == choice) for choice in get_args(bare))
    if bare in (float, int):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if bare in (bool, str):
        return isinstance(value, bare)
    members = get_args(bare) if get_origin(bare) is not None and not isinstance(get_origin(bare), type) else ()
    return not members or any(_fits(member, value) for member in members)


def _read_object(cls: type, value: Any, at: str) -> Any:
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput.at(at, "must be an object", allowed=", ".join(field.name for field in fields(cls)))
    return read(cls, value, at=at)


@functools.cache
def _kinds(field: str, choices: tuple[Hashable, ...]) -> dict[str, Any]:
    """The members of a union of requests by what tells them apart."""
    return {str(getattr(choice, field)): choice for choice in choices}


def _read_tagged(field: str, choices: tuple[Any, ...], value: Any, at: str) -> Any:
    if isinstance(value, choices):
        return value
    kinds = _kinds(field, choices)
    if not (type(value) is dict or isinstance(value, Mapping)) or field not in value:
        raise InvalidInput.at(f"{at}/{field}", "is required", allowed=", ".join(kinds))
    return read(named(str(value[field]), kinds, at=f"{at}/{field}", noun=field), value, at=at)
