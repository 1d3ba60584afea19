"""Type annotations of requests, split into the parts by which values are checked."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged, quantity_of
from epsilond.accountants.quantity import Quantity
from epsilond.accountants.records import scale_of, sure_range
from epsilond.accountants.scale import Scale


@dataclass(frozen=True, kw_only=True)
class Shape:
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
    members: tuple[Shape, ...] = ()

    @functools.cached_property
    def _valid_range(self) -> tuple[float, float]:
        """An open interval of numbers that are valid without further checks; empty without a quantity."""
        empty = (1.0, 0.0)
        if self.kind not in ("float", "int") or self.quantity is None:
            return empty
        return sure_range(self.bare, self.quantity, self.scale)

    def has_no_fault(self, value: Any) -> bool:
        """Return, quickly for most values, whether a number or a word needs no further check.

        Args:
            value: value of a field.

        Returns:
            False means that the full check is needed.
        """
        if type(value) is self.bare and self.kind in ("float", "int"):
            above, below = self._valid_range
            return bool(above < value < below)
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
    def choices(self) -> dict[str, Shape]:
        """The members of a union of request classes, by the value of the tag."""
        return {str(getattr(member.bare, self.tag)): member for member in self.members}


@functools.cache
def shape_of(annotation: Hashable) -> Shape:
    """Return the shape of an annotation outside a request class, from a cache.

    Args:
        annotation: a type, with its metadata.
    """
    return _shape(annotation)


def _shape(annotation: object, request: type | None = None) -> Shape:
    """Return the parts of a type annotation: the kind of the type, its member types, and the range of its values.

    Args:
        annotation: a type, with its metadata.
        request: the request class that has the annotated field; None outside of request classes.

    Returns:
        The kind of the type, its unit and range, its member types and, for a number, the factor that converts its unit.
    """
    if isinstance(annotation, TypeAliasType):
        return _shape(annotation.__value__)
    bare, quantity = quantity_of(annotation)
    if isinstance(bare, TypeAliasType):
        return _shape(bare)
    parts = {"annotation": annotation, "bare": bare, "quantity": quantity}

    # Types that contain others: unions of request classes, tuples, and other unions.
    metadata = getattr(annotation, "__metadata__", ())
    tagged = next((item for item in metadata if isinstance(item, Tagged)), None)
    origin = get_origin(bare)
    if tagged is not None:
        return Shape(kind="tagged", tag=tagged.field, members=tuple(map(_shape, get_args(bare))), **parts)
    if origin is tuple:
        item_type = get_args(bare)[0]
        return Shape(kind="tuple", members=(_shape(item_type),), **parts)
    if origin in (Union, UnionType):
        members = [replace(member, quantity=member.quantity or quantity) for member in map(_shape, get_args(bare))]
        return Shape(kind="union", members=tuple(members), **parts)

    # Types without others inside.
    if origin is Literal:
        return Shape(kind="literal", **parts)
    if is_dataclass(bare):
        return Shape(kind="request", **parts)
    if isinstance(origin or bare, type) and issubclass(origin or bare, Mapping):
        return Shape(kind="mapping", **parts)
    if bare in (float, int, bool, str):
        scale = None if request is None or quantity is None else scale_of(annotation, quantity, request)
        return Shape(kind=bare.__name__, scale=scale, **parts)
    return Shape(kind="any", **parts)


@dataclass(frozen=True)
class FieldShape:
    """A field of a request class, in the form that the reader needs.

    Attributes:
        shape: parts of the annotation, by which values are checked.
        default: value of an absent field; `MISSING` if it has none.
        is_required: whether the field must be given.
    """

    shape: Shape
    default: object
    is_required: bool


@functools.cache
def fields_of(request: Hashable) -> dict[str, FieldShape]:
    """Return the fields of a request class by their names, from a cache.

    Args:
        request: the request class.

    Returns:
        For each field its type, its default, and whether it is required.
    """
    cls: Any = request
    hints = get_type_hints(cls, include_extras=True)
    shapes = {}
    for field in fields(cls):
        shapes[field.name] = FieldShape(
            shape=_shape(hints[field.name], cls),
            default=field.default,
            is_required=field.default is MISSING and field.default_factory is MISSING,
        )
    return shapes


def allowed_values(annotation: object) -> str | None:
    """Return the values that a field admits, in words: its literals or its range.

    Args:
        annotation: annotation of the field, with its metadata.

    Returns:
        The text; None if any value of the type is admitted.
    """
    bare, quantity = quantity_of(annotation)
    if quantity is not None and quantity.allowed:
        return quantity.allowed
    if get_origin(bare) is Literal:
        return ", ".join(map(str, get_args(bare)))
    return None
