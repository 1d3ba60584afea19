"""Reader of requests from names and values, for HTTP bodies, the library and the command line.

The request dataclasses check their own ranges. The reader also checks for unknown names and missing names, and converts
structures (groups, mechanisms) that are given as plain mappings and sequences. It reports all faults at once.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import Tagged, quantity_of
from epsilond.accountants.quantity import Quantity, check_value, whole_number
from epsilond.accountants.records import scale_of, sure_range
from epsilond.accountants.scale import Scale
from epsilond.calibrators.strict_json import MOST_FAULTS, is_numpy_scalar, step
from epsilond.spelling import describe_unknown, not_named, quote_words, suggest

T = TypeVar("T")
_KINDS = {
    "float": "must be a number",
    "int": "must be a whole number",
    "bool": "must be true or false",
    "str": "must be a string",
    "literal": "is not one of the allowed values",
    "tuple": "must be an array",
    "mapping": "must be an object",
    "request": "must be an object",
    "tagged": "must be an object",
}
"""The message of a value of another kind, by kind."""
_FAULTY: object = object()
"""The result of reading a value at fault."""


def read(request: type[T], given: JsonObject, *, at: str = "") -> T:
    """Make a request from values of its fields, given by a caller of the library or on the command line.

    Args:
        request: the request class.
        given: the values by name. Nested requests may be instances, or mappings and sequences. None counts as an absent
            field if the field is optional.
        at: JSON pointer to the request, with which the pointers of errors begin.

    Raises:
        InvalidInput: with all faults of names, types and ranges. Combinations are checked if each field is valid.
    """
    reader = _Reader()
    instance: T = reader.result(reader.fields(request, given, at))
    return instance


def read_value(annotation: object, value: object, *, at: str) -> Any:
    """Convert a value, given by a caller of the library or on the command line, to an annotated type.

    Args:
        annotation: the type, with its metadata, such as a range.
        value: a plain value; structures may be mappings, sequences or instances.
        at: JSON pointer to the value, with which the pointers of errors begin.

    Raises:
        InvalidInput: the value has a wrong type or is out of range. The error lists all faults.
    """
    reader = _Reader()
    return reader.result(reader.read(_shape_of(annotation), value, at))


def read_body(annotation: object, value: object) -> Any:
    """Convert the parsed JSON body of an HTTP request to an annotated type.

    It differs from `read_value` in three ways: null does not count as an absent field, errors propose no similar names,
    and at most 16 faults are reported.

    Args:
        annotation: the type, such as a request class.
        value: the parsed body.

    Raises:
        InvalidInput: the body does not fit the type. The error has one fault for each JSON pointer.
    """
    reader = _Reader(is_body=True)
    try:
        return reader.result(reader.read(_shape_of(annotation), value, ""))
    except InvalidInput as error:
        first_faults: dict[str, Fault] = {}
        for fault in error.faults:
            first_faults.setdefault(fault.pointer, fault)
        raise InvalidInput(*list(first_faults.values())[:MOST_FAULTS]) from None


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """A type annotation, split into the parts by which values are checked. It is computed once for each field.

    Attributes:
        kind: kind of the values: "request" for a request class, "tagged" for a union of request classes with a tag.
        annotation: the annotation itself, behind any aliases.
        bare: the type without `None` and without metadata.
        quantity: meaning and range of the values; None if the annotation states neither.
        scale: range of a number in a request class in which results neither vanish nor overflow; None without one.
        tag: name of the field, such as `kind`, that distinguishes the members of a union of request classes.
        members: the shapes of the members of a union, or of the items of a tuple.
    """

    kind: Literal["float", "int", "bool", "str", "literal", "tuple", "mapping", "request", "tagged", "union", "any"]
    annotation: object
    bare: Any
    quantity: Quantity | None
    scale: Scale | None = None
    tag: str = ""
    members: tuple[_Shape, ...] = ()

    @functools.cached_property
    def _valid_range(self) -> tuple[float, float]:
        """An open interval of numbers that are valid without further checks; empty without a quantity."""
        is_number = self.kind in ("float", "int")
        return sure_range(self.bare, self.quantity, self.scale) if is_number and self.quantity else (1.0, 0.0)

    def has_no_fault(self, value: Any) -> bool:
        """Return, quickly for most values, whether a number or a word needs no further check."""
        if type(value) is self.bare and self.kind in ("float", "int"):
            return bool(self._valid_range[0] < value < self._valid_range[1])
        return type(value) is str and self.kind == "literal" and value in self.words

    @functools.cached_property
    def classes(self) -> tuple[type, ...]:
        """Classes of which an instance is a valid value that needs no conversion."""
        if self.kind == "tagged":
            return tuple(member.bare for member in self.members)
        if self.kind == "request":
            return (self.bare,)
        return (Mapping,) if self.kind == "mapping" else ()

    @functools.cached_property
    def words(self) -> tuple[object, ...]:
        """The words of a literal."""
        return get_args(self.bare)

    @functools.cached_property
    def choices(self) -> dict[str, _Shape]:
        """The members of a union of request classes, by the value of the tag."""
        return {str(getattr(member.bare, self.tag)): member for member in self.members}


@functools.cache
def _shape_of(annotation: Hashable) -> _Shape:
    """Return the shape of an annotation outside a request class, from a cache."""
    return _shape(annotation)


def _shape(annotation: object, request: type | None = None) -> _Shape:
    """Split a type annotation into the parts that the reader checks values by.

    Args:
        annotation: a type, with its metadata.
        request: the request class that has the annotated field; None outside of request classes.
    """
    if isinstance(annotation, TypeAliasType):
        return _shape(annotation.__value__)
    bare, quantity = quantity_of(annotation)
    if isinstance(bare, TypeAliasType):
        return _shape(bare)
    parts = {"annotation": annotation, "bare": bare, "quantity": quantity}
    tagged = next((item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, Tagged)), None)
    origin = get_origin(bare)
    if tagged is not None:
        return _Shape(kind="tagged", tag=tagged.field, members=tuple(map(_shape, get_args(bare))), **parts)
    if origin is tuple:
        return _Shape(kind="tuple", members=(_shape(get_args(bare)[0]),), **parts)
    if origin in (Union, UnionType):
        members = [replace(member, quantity=member.quantity or quantity) for member in map(_shape, get_args(bare))]
        return _Shape(kind="union", members=tuple(members), **parts)
    if origin is Literal:
        return _Shape(kind="literal", **parts)
    if is_dataclass(bare):
        return _Shape(kind="request", **parts)
    if isinstance(origin or bare, type) and issubclass(origin or bare, Mapping):
        return _Shape(kind="mapping", **parts)
    if bare in (float, int, bool, str):
        scale = None if request is None or quantity is None else scale_of(annotation, quantity, request)
        return _Shape(kind=bare.__name__, scale=scale, **parts)
    return _Shape(kind="any", **parts)


@dataclass(frozen=True)
class _Field:
    """A field of a request class: its shape, and its default value."""

    shape: _Shape
    default: object
    is_required: bool


@functools.cache
def _fields(request: Hashable) -> dict[str, _Field]:
    """Return the fields of a request class by their names."""
    cls: Any = request
    hints = get_type_hints(cls, include_extras=True)
    return {
        field.name: _Field(
            shape=_shape(hints[field.name], cls),
            default=field.default,
            is_required=field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(cls)
    }


class _Reader:
    """Converts one value with everything nested in it, and collects the faults instead of stopping at the first.

    Args:
        is_body: whether the value is the body of an HTTP request; see `read_body` for the differences.
    """

    def __init__(self, *, is_body: bool = False) -> None:
        self._is_body = is_body
        self.faults: list[Fault] = []

    def result(self, value: Any) -> Any:
        """Return the value that was read.

        Raises:
            InvalidInput: with all faults, if there are any.
        """
        if self.faults:
            raise InvalidInput(*self.faults)
        return value

    def read(self, shape: _Shape, value: object, at: str, *, is_optional: bool = False) -> object:
        """Convert a value to the annotated type. After an error, add it to `faults` and return `_FAULTY`.

        Args:
            shape: parts of the annotation of the value.
            value: a plain value; structures may be mappings, sequences or instances.
            at: JSON pointer to the value.
            is_optional: whether the value may be left out. The message of a null then says so.
        """
        if value is None and shape.kind != "any":
            return self.add_fault(at, f"must not be null{'; leave it out' if is_optional else ''}", shape)
        if shape.kind in ("float", "int"):
            return self._number(shape, value, at)
        if shape.kind in ("bool", "str", "literal"):
            return self._word(shape, value, at)
        if shape.kind == "union":
            return self._union(shape, value, at)
        if shape.kind == "any" or isinstance(value, shape.classes):
            return value
        if shape.kind == "tuple" and isinstance(value, list | tuple):
            (item,) = shape.members
            return tuple([self.read(item, element, f"{at}/{index}") for index, element in enumerate(value)])
        if shape.kind == "tuple" or not isinstance(value, Mapping):
            return self.add_fault(at, _KINDS[shape.kind], shape)
        return self._member(shape, value, at) if shape.kind == "tagged" else self.fields(shape.bare, value, at)

    def fields(self, request: Any, given: JsonObject, at: str) -> Any:
        """Convert the fields of a request, and return the request, or `_FAULTY` if a field has an error.

        Args:
            request: the request class.
            given: values of the fields by name.
            at: JSON pointer to the request.
        """
        declared = _fields(request)
        faults_before = len(self.faults)
        values: JsonRecord = {}
        for name, field in declared.items():
            if name not in given:
                if field.is_required:
                    self.add_fault(f"{at}/{name}", "is required", field.shape)
                continue
            value = given[name]
            if value is None and field.default is None and not self._is_body:
                continue  # None counts as absent
            if not field.shape.has_no_fault(value):  # a shortcut for most values
                value = self.read(field.shape, value, f"{at}/{name}", is_optional=not field.is_required)
            values[name] = value
        self.faults += [self._unknown(name, declared, at) for name in given if name not in declared]
        if len(self.faults) > faults_before:
            return _FAULTY
        try:
            return request(**values)
        except InvalidInput as error:
            self.faults += [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
            return _FAULTY

    def add_fault(self, at: str, message: str, shape: _Shape) -> object:
        """Report an error in a value: add it to `faults`, and return `_FAULTY` as the result of the conversion.

        Args:
            at: JSON pointer to the value.
            message: description of the fault.
            shape: parts of the annotation of the value, from which the fault states the allowed values.
        """
        of_body = None if shape.quantity is None else shape.quantity.allowed or None
        allowed = of_body if self._is_body else allowed_values(shape.annotation)
        self.faults.append(Fault(at, message, allowed))
        return _FAULTY

    def _unknown(self, name: str, known: Mapping[str, object], at: str) -> Fault:
        """Return the fault of an unknown field name. Except for bodies, it lists similar names or, without any, all."""
        message = describe_unknown(name, known)
        if self._is_body:
            return Fault(step(at, name), message)
        proposal = suggest(name, known)
        return Fault(f"{at}/{name}", f"{message}{proposal}", None if proposal else ", ".join(known))

    def _number(self, shape: _Shape, value: Any, at: str) -> Any:
        """Convert a number to int or float, and check its range; a float that is not finite counts as ±∞."""
        value = value.item() if is_numpy_scalar(value) else value
        number = whole_number(value) if shape.kind == "int" else value
        accepted = int if shape.kind == "int" else int | float
        if isinstance(number, bool) or not isinstance(number, accepted):  # True is an int for Python
            return self.add_fault(at, _KINDS[shape.kind], shape)
        if shape.kind == "float" and abs(number) <= sys.float_info.max:
            number = float(number)
        elif shape.kind == "float":
            number = math.inf if number > 0 else -math.inf
        fault = None if shape.quantity is None else check_value(at, number, shape.bare, shape.quantity, shape.scale)
        if fault is None:
            return number
        self.faults.append(fault)
        return _FAULTY

    def _word(self, shape: _Shape, value: Any, at: str) -> Any:
        """Check a string, a truth value, or a word of a `Literal`."""
        value = value.item() if is_numpy_scalar(value) else value
        return self._literal(shape, value, at) if shape.kind == "literal" else self._text(shape, value, at)

    def _text(self, shape: _Shape, value: Any, at: str) -> Any:
        """Check a string or a truth value, after converting it by its quantity, if it has one."""
        value = value if shape.quantity is None else shape.quantity.convert(value)
        if not isinstance(value, shape.bare):
            return self.add_fault(at, _KINDS[shape.kind], shape)
        longest = None if shape.quantity is None else shape.quantity.longest
        if longest and len(value) > longest:
            return self.add_fault(at, "is not valid", shape)
        return value

    def _literal(self, shape: _Shape, value: Any, at: str) -> Any:
        """Check that a value is one of the words of a `Literal`, of the same type."""
        if any(type(value) is type(word) and value == word for word in shape.words):
            return value
        if shape.quantity is not None and shape.quantity.choices:
            return self.add_fault(at, shape.quantity.not_a_choice, shape)
        allowed = quote_words(shape.words) if self._is_body else allowed_values(shape.annotation)
        self.faults.append(Fault(at, _KINDS["literal"], allowed))
        return _FAULTY

    def _member(self, shape: _Shape, value: JsonObject, at: str) -> object:
        """Convert a mapping, as `read` does, to one of several request classes, named by a field such as `kind`."""
        if shape.tag not in value:
            names = None if self._is_body else ", ".join(shape.choices)
            self.faults.append(Fault(f"{at}/{shape.tag}", "is required", names))
            return _FAULTY
        if (member := shape.choices.get(str(value[shape.tag]))) is not None:
            return self.fields(member.bare, value, at)
        if self._is_body:
            names = ", ".join(f"'{name}'" for name in shape.choices)
            self.faults.append(Fault(f"{at}/{shape.tag}", _KINDS["literal"], names))
        else:
            self.faults.append(not_named(str(value[shape.tag]), shape.choices, at=f"{at}/{shape.tag}", noun=shape.tag))
        return _FAULTY

    def _union(self, shape: _Shape, value: object, at: str) -> object:
        """Convert a value, as `read` does, to the first type of a union that it fits, or add the errors of all."""
        is_structure = isinstance(value, Mapping) or is_dataclass(value)
        fitting = [member for member in shape.members if (member.kind == "request") == is_structure]
        faults: list[Fault] = []
        for member in fitting or shape.members:
            reader = _Reader(is_body=self._is_body)
            result = reader.read(member, value, at)
            if not reader.faults:
                return result
            faults += reader.faults
        if not is_structure and fitting:
            forms = ""
            for member in shape.members:
                if member.kind == "request":
                    field_forms = ", ".join(f'"{field.name}": …' for field in fields(member.bare))
                    forms += "; or {" + field_forms + "}"
            faults = [replace(fault, allowed=f"{fault.allowed or ''}{forms}") for fault in faults]
        self.faults += faults
        return _FAULTY


def allowed_values(annotation: object) -> str | None:
    """Return the values that a field admits, in words: its literals or its range."""
    bare, quantity = quantity_of(annotation)
    if quantity is not None and quantity.allowed:
        return quantity.allowed
    return ", ".join(map(str, get_args(bare))) if get_origin(bare) is Literal else None
