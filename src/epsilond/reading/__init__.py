"""Reader of requests from names and values, for HTTP bodies, the library and the command line.

The request dataclasses check their own ranges. The reader also checks for unknown names and missing names, and converts
structures (groups, mechanisms) that are given as plain mappings and sequences. It reports all faults at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantity import check_value, whole_number
from epsilond.calibrators.strict_json import MOST_FAULTS, is_numpy_scalar, step
from epsilond.reading.shapes import Shape, allowed_values, fields_of, shape_of
from epsilond.spelling import describe_unknown, not_named, quote_words, suggest

T = TypeVar("T")
_TYPE_MESSAGES = {
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
"""Message for a value of a wrong kind, by the expected kind."""
_INVALID: object = object()
"""Result of reading an invalid value."""


def read(request: type[T], given: JsonObject, *, at: str = "") -> T:
    """Make a request from the values of its fields, as a caller of the library or of the command line gives them.

    Args:
        request: the request class.
        given: the values by name. Nested requests may be instances, or mappings and sequences. None counts as an absent
            field if the field is optional.
        at: JSON pointer to the request, with which the pointers of errors begin.

    Returns:
        An instance of the request class.

    Raises:
        InvalidInput: a name, a type or a range is wrong; the error lists all such faults. If there are none,
            combinations of fields are checked.
    """
    reader = _Reader()
    instance: T = reader.result(reader.fields(request, given, at))
    return instance


def read_value(annotation: object, value: object, *, at: str) -> Any:
    """Convert a value that a caller of the library or of the command line gives to an annotated type.

    Args:
        annotation: the type, with its metadata, such as a range.
        value: a plain value; structures may be mappings, sequences or instances.
        at: JSON pointer to the value, with which the pointers of errors begin.

    Returns:
        A value of the annotated type.

    Raises:
        InvalidInput: the value has a wrong type or is out of range. The error lists all faults.
    """
    reader = _Reader()
    return reader.result(reader.read(shape_of(annotation), value, at))


def read_body(annotation: object, value: object) -> Any:
    """Convert the parsed JSON body of an HTTP request to an annotated type.

    Other than in `read_value`, null does not count as an absent field, errors propose no similar names, and at most
    `MOST_FAULTS` faults are reported.

    Args:
        annotation: the type, such as a request class.
        value: the parsed body.

    Returns:
        A value of the annotated type.

    Raises:
        InvalidInput: the body does not fit the type. The error has one fault for each JSON pointer.
    """
    reader = _Reader(is_body=True)
    try:
        return reader.result(reader.read(shape_of(annotation), value, ""))
    except InvalidInput as error:
        first_faults: dict[str, Fault] = {}
        for fault in error.faults:
            first_faults.setdefault(fault.pointer, fault)
        raise InvalidInput(*list(first_faults.values())[:MOST_FAULTS]) from None


def _forms_of_structures(shape: Shape) -> str:
    """Describe the request classes of a union, to be appended to its allowed values: `; or {"of": …, "window": …}`.

    Args:
        shape: shape of the union.

    Returns:
        The text; empty if the union has no request class.
    """
    forms = ""
    for member in shape.members:
        if member.kind == "request":
            field_forms = ", ".join(f'"{field.name}": …' for field in fields(member.bare))
            forms += "; or {" + field_forms + "}"
    return forms


class _Reader:
    """Converter of a value with everything nested in it, which collects all faults and does not stop at the first.

    Args:
        is_body: whether the value is the body of an HTTP request; see `read_body` for the differences.

    Attributes:
        faults: the faults so far.
    """

    def __init__(self, *, is_body: bool = False) -> None:
        self._is_body = is_body
        self.faults: list[Fault] = []

    def result(self, value: Any) -> Any:
        """Return the given result of `read` or `fields`, unless a fault was found.

        Raises:
            InvalidInput: there are faults; the error lists all of them.
        """
        if self.faults:
            raise InvalidInput(*self.faults)
        return value

    def read(self, shape: Shape, value: object, at: str, *, is_optional: bool = False) -> object:
        """Convert a value to the annotated type.

        Args:
            shape: shape of the expected type.
            value: a plain value; structures may be mappings, sequences or instances.
            at: JSON pointer to the value.
            is_optional: whether the value may be left out. The message for a null then says so.

        Returns:
            The converted value; `_INVALID` if it is invalid. The reason is then added to `faults`.
        """
        if value is None and shape.kind != "any":
            hint = "; leave it out" if is_optional else ""
            return self.add_fault(at, f"must not be null{hint}", shape)

        # Simple values, and unions of them.
        if shape.kind in ("float", "int"):
            return self._number(shape, value, at)
        if shape.kind in ("bool", "str", "literal"):
            return self._word(shape, value, at)
        if shape.kind == "union":
            return self._union(shape, value, at)
        if shape.kind == "any" or isinstance(value, shape.classes):
            return value

        # Sequences, and mappings that become requests.
        if shape.kind == "tuple" and isinstance(value, list | tuple):
            (item,) = shape.members
            return tuple([self.read(item, element, f"{at}/{index}") for index, element in enumerate(value)])
        if shape.kind == "tuple" or not isinstance(value, Mapping):
            return self.add_fault(at, _TYPE_MESSAGES[shape.kind], shape)
        if shape.kind == "tagged":
            return self._member(shape, value, at)
        return self.fields(shape.bare, value, at)

    def fields(self, request: Any, given: JsonObject, at: str) -> Any:
        """Make a request from the values of its fields.

        Args:
            request: the request class.
            given: values of the fields by name.
            at: JSON pointer to the request.

        Returns:
            An instance of the request class; `_INVALID` if it is invalid. The reasons are then added to `faults`.
        """
        declared = fields_of(request)
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
            # Most values pass a quick test. The others are checked in full, and converted.
            if not field.shape.has_no_fault(value):
                value = self.read(field.shape, value, f"{at}/{name}", is_optional=not field.is_required)
            values[name] = value
        self.faults += [self._unknown(name, declared, at) for name in given if name not in declared]
        if len(self.faults) > faults_before:
            return _INVALID
        try:
            return request(**values)
        except InvalidInput as error:
            self.faults += [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
            return _INVALID

    def add_fault(self, at: str, message: str, shape: Shape) -> object:
        """Add the fault of a value to `faults`, and return `_INVALID` as the result of its conversion.

        Args:
            at: JSON pointer to the value.
            message: description of the fault.
            shape: shape of the expected type, which has the allowed values.
        """
        if not self._is_body:
            allowed = allowed_values(shape.annotation)
        else:
            allowed = None if shape.quantity is None else shape.quantity.allowed or None
        self.faults.append(Fault(at, message, allowed))
        return _INVALID

    def _unknown(self, name: str, known: Mapping[str, object], at: str) -> Fault:
        """Return the fault of an unknown field name.

        It proposes similar names or, if there are none, lists all names; but not for the body of an HTTP request.

        Args:
            name: the unknown name.
            known: the fields of the request by name.
            at: JSON pointer to the request.
        """
        message = describe_unknown(name, known)
        if self._is_body:
            return Fault(step(at, name), message)
        proposal = suggest(name, known)
        return Fault(f"{at}/{name}", f"{message}{proposal}", None if proposal else ", ".join(known))

    def _number(self, shape: Shape, value: Any, at: str) -> Any:
        """Convert a number to int or float, and check its range.

        For floats, numbers beyond the largest double count as ±∞, and NaN counts as −∞.

        Args:
            shape: shape of the expected type.
            value: the value, which may be a numpy scalar.
            at: JSON pointer to the value.

        Returns:
            The number; `_INVALID` if it has a fault, which is added to `faults`.
        """
        number = value.item() if is_numpy_scalar(value) else value
        accepted: Any = int | float
        if shape.kind == "int":
            number = whole_number(number)
            accepted = int
        if isinstance(number, bool) or not isinstance(number, accepted):  # True is an int for Python
            return self.add_fault(at, _TYPE_MESSAGES[shape.kind], shape)
        if shape.kind == "float" and abs(number) <= sys.float_info.max:
            number = float(number)
        elif shape.kind == "float":
            number = math.inf if number > 0 else -math.inf
        if shape.quantity is None:
            return number
        fault = check_value(at, number, shape.bare, shape.quantity, shape.scale)
        if fault is None:
            return number
        self.faults.append(fault)
        return _INVALID

    def _word(self, shape: Shape, value: Any, at: str) -> Any:
        """Check a string, a truth value, or a word of a `Literal` type, and convert it to a plain Python value.

        Args:
            shape: shape of the expected type.
            value: the value, which may be a numpy scalar.
            at: JSON pointer to the value.

        Returns:
            The word; `_INVALID` if it has a fault, which is added to `faults`.
        """
        word = value.item() if is_numpy_scalar(value) else value
        if shape.kind == "literal":
            return self._literal(shape, word, at)
        return self._text_or_truth(shape, word, at)

    def _text_or_truth(self, shape: Shape, value: Any, at: str) -> Any:
        """Check a string or a truth value.

        A quantity is the description of a field, with the allowed values. If the type has one, its conversion is
        applied to the value first.

        Args:
            shape: the expected type, with its class as `bare` and its quantity.
            value: the value.
            at: JSON pointer to the value.

        Returns:
            The converted value; `_INVALID` if it has a fault, which is added to `faults`.
        """
        quantity = shape.quantity
        converted = value if quantity is None else quantity.convert(value)
        if not isinstance(converted, shape.bare):
            return self.add_fault(at, _TYPE_MESSAGES[shape.kind], shape)
        longest = None if quantity is None else quantity.longest
        if longest and len(converted) > longest:
            return self.add_fault(at, "is not valid", shape)
        return converted

    def _literal(self, shape: Shape, value: Any, at: str) -> Any:
        """Check that a value equals one of the words of a `Literal`, and has the same type.

        Args:
            shape: shape of the `Literal` type.
            value: the value.
            at: JSON pointer to the value.

        Returns:
            The value; `_INVALID` if it is none of the words. The fault is then added to `faults`.
        """
        # 1 == True and 1 == 1.0 in Python, so the types are compared too.
        if any(type(value) is type(word) and value == word for word in shape.words):
            return value
        # Some quantities have a message of their own for other words.
        if shape.quantity is not None and shape.quantity.choices:
            return self.add_fault(at, shape.quantity.not_a_choice, shape)
        allowed = quote_words(shape.words) if self._is_body else allowed_values(shape.annotation)
        self.faults.append(Fault(at, _TYPE_MESSAGES["literal"], allowed))
        return _INVALID

    def _member(self, shape: Shape, value: JsonObject, at: str) -> object:
        """Convert a mapping to one of several request classes, which a field such as `kind` names.

        Args:
            shape: shape of the union, with the name of this field as `tag`.
            value: fields of the request by name.
            at: JSON pointer to the value.

        Returns:
            The request; `_INVALID` if it has faults, which are added to `faults`.
        """
        pointer = f"{at}/{shape.tag}"
        if shape.tag not in value:
            all_names = None if self._is_body else ", ".join(shape.choices)
            self.faults.append(Fault(pointer, "is required", all_names))
            return _INVALID
        name = str(value[shape.tag])
        member = shape.choices.get(name)
        if member is not None:
            request_class = member.bare
            return self.fields(request_class, value, at)
        if self._is_body:
            quoted_names = ", ".join(f"'{choice}'" for choice in shape.choices)
            self.faults.append(Fault(pointer, _TYPE_MESSAGES["literal"], quoted_names))
        else:
            self.faults.append(not_named(name, shape.choices, at=pointer, noun=shape.tag))
        return _INVALID

    def _union(self, shape: Shape, value: object, at: str) -> object:
        """Convert a value to the first type of a union that it fits.

        A mapping or a dataclass is compared only with the request classes of the union if there are any, and another
        value only with the other types.

        Args:
            shape: shape of the union, with its types as `members`.
            value: the value.
            at: JSON pointer to the value.

        Returns:
            The converted value; `_INVALID` if it fits no type. The faults of all compared types are then added to
            `faults`.
        """
        is_structure = isinstance(value, Mapping) or is_dataclass(value)
        fitting = [member for member in shape.members if (member.kind == "request") == is_structure]
        candidates = fitting or shape.members
        faults: list[Fault] = []
        for member in candidates:
            # A separate reader for each type, because its faults do not count if a later type fits.
            reader = _Reader(is_body=self._is_body)
            result = reader.read(member, value, at)
            if not reader.faults:
                return result
            faults += reader.faults
        # The value might also have been a structure, so the errors list its possible forms.
        if fitting and not is_structure:
            forms = _forms_of_structures(shape)
            faults = [replace(fault, allowed=f"{fault.allowed or ''}{forms}") for fault in faults]
        self.faults += faults
        return _INVALID
